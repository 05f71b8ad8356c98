// Reads and writes device files as text, without MLIR.
//
// A device file is a module in MLIR's syntax that carries `#device.gpu` and `#device.energy`
// (dialects/Device). Programs that may not hold MLIR (the runtime, the virtual GPU) need what it states, so
// this reader knows the little of the syntax that such files use and checks the same table of quantities.
#pragma once

#include "joule/Error.h"

#include <map>
#include <string>
#include <vector>

namespace joule {

/// Published by the maker; read off hardware; follows from measurements through a model; none of these.
enum class FactKind { Spec, Measured, Fit, Estimate };
const char *nameOf(FactKind kind);

/// A number, or a curve over the clock, in the unit that dialects/Device/Quantities.h gives it.
struct Fact {
  std::vector<double> clocks; ///< MHz; empty: one number
  std::vector<double> values; ///< one for each clock, or just one
  std::string unit;
  FactKind kind = FactKind::Estimate;
  double uncertainty = 0; ///< a share of the value, two standard deviations
  std::string source;
};

/// The facts of a device file by their names.
struct DeviceFile {
  std::string name;
  std::string comment; ///< the first line, without its slashes
  std::map<std::string, Fact> gpu, energy;

  /// The fact of that name in either map; nullptr: none.
  const Fact *find(const std::string &fact) const;

  /// The file's text; reading it gives this again.
  std::string toString() const;
};

/// Reads the text of a device file; `fileName` stands in messages. Error: DeviceFileInvalid.
Result<DeviceFile> readDeviceFile(const std::string &text, const std::string &fileName);

/// A slice of a GPU with `slices` of its `of` parts of memory and multiprocessors: rates, capacities and
/// power that belong to the parts shrink with them; the board's own stay. Error: DeviceFileInvalid.
Result<DeviceFile> sliceOf(const DeviceFile &whole, int slices, int of);

} // namespace joule
