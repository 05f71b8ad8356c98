// What the launches of a plan are expected to cost. Free of the driver, so that the compiler asks the same.
#pragma once

#include "lib/Artifact/plan.pb.h"
#include "lib/Energy/Predict.h"
#include "lib/Runtime/Program.h"

#include <functional>
#include <vector>

namespace joule {

/// The work that a launch states; `value` gives that of an index.
WorkCounts workOf(const plan::Launch &launch, const std::function<int64_t(const plan::Index &)> &value);

struct LaunchEstimate {
  const plan::Launch *launch = nullptr;
  WorkCounts work;
  Prediction prediction;
};

struct PlanEstimate {
  std::vector<LaunchEstimate> launches; ///< in the plan's order, each once: a loop's body counts as one turn
  WorkCounts work;                      ///< of all launches
  Prediction total;                     ///< of all launches, one after another
  bool isWhole = true; ///< false: some work follows only from data and is missing, or there are loops
};

/// Estimates a plan for one tuple of its symbols' values, at the device's highest clock. Of an If the branch
/// that costs more counts.
PlanEstimate estimate(const Program &program, const std::vector<int64_t> &symbols,
                      const DeviceEnergy &device);

} // namespace joule
