/// A GPU, real or virtual.
#pragma once

#include "joule/Error.h"

#include <cstdint>
#include <memory>
#include <string>

namespace joule {

struct DeviceProperties {
  std::string name;         ///< as the driver says it
  int major = 0, minor = 0; ///< compute capability
  int multiprocessors = 0;
  int64_t memoryBytes = 0;
  int64_t clockHz = 0;    ///< the highest clock of the multiprocessors
  bool isVirtual = false; ///< computed on the CPU: its times and joules are modelled, never measured
};

/// Cheap to copy. Safe to use from several threads. Opening one name twice gives the same device.
class Device {
public:
  /// Opens "virtual", "virtual:a100", "cuda" (the first GPU) or "cuda:1".
  /// Errors: DeviceUnknown, DriverMissing, DriverFailed.
  static Result<Device> open(const std::string &name);

  /// The name it was opened by.
  const std::string &name() const;
  const DeviceProperties &properties() const;

  class Impl; ///< Joule's own side
  const std::shared_ptr<Impl> &impl() const { return shared; }
  explicit Device(std::shared_ptr<Impl> shared) : shared(std::move(shared)) {}

private:
  std::shared_ptr<Impl> shared;
};

} // namespace joule
