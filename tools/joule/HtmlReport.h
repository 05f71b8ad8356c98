// `joule report --html`: the report as one page that needs nothing else.
#pragma once

#include "tools/joule/PlanWork.h"

#include <string>
#include <vector>

namespace joule::cli {

/// One target's launches, and the GPU that the model prices them for; null where no GPU is known for the
/// target.
struct TargetReport {
  std::string target;
  const DeviceEnergy *device;
  std::vector<LaunchWork> launches;
  size_t uncounted; ///< launches whose work is only what the plan says
};

/// For each target: the sum and how far it is to be trusted, joules by cause, the energy roofline, the front of
/// time and energy over clocks, and every launch with its ONNX nodes, the dearest first.
std::string htmlReport(const std::string &model, const std::vector<TargetReport> &reports);

} // namespace joule::cli
