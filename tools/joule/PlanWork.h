// The launches of a plan and the work that each is expected to do.
#pragma once

#include "joule/Error.h"
#include "lib/Artifact/plan.pb.h"
#include "lib/Energy/Predict.h"

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace joule::cli {

/// What a kernel is launched with.
struct LaunchShape {
  std::array<uint32_t, 3> grid, block;
  uint32_t sharedBytes = 0;
  std::vector<int64_t> arguments; ///< 0 for a buffer
};

/// One launch of a run. Its fields point into the plan.
struct LaunchWork {
  const plan::Launch *launch = nullptr;
  const plan::Kernel *kernel = nullptr;
  std::optional<WorkCounts>
      work; ///< nothing where only a run knows its size, or whether and how often it comes
  std::optional<LaunchShape> shape; ///< nothing where only a run knows it
};

/// Sizes by the names of a plan's symbols.
using SymbolSizes = std::map<std::string, int64_t>;

/// The launches of a run in their order, loops unrolled as far as the symbols decide them. Of a branch that
/// only a run decides both sides are listed, of a loop one pass. Error: PlanInvalid, or a symbol that `sizes`
/// lacks.
Result<std::vector<LaunchWork>> listLaunches(const plan::Plan &plan, const SymbolSizes &sizes);

/// The time and energy of the launches whose work is known, one after another, each at the device's highest
/// clock.
Prediction predict(const std::vector<LaunchWork> &launches, const DeviceEnergy &device);

} // namespace joule::cli
