// Joules of a program on the device that it runs on, by the board's own sensors.
#pragma once

#include "tools/joule/PlanWork.h"
#include "tools/joule/Program.h"

#include <nlohmann/json.hpp>

namespace joule::cli {

struct EnergyWindow {
  double seconds = 0;
  std::string operands; ///< "random" or "given": how inputs are distributed changes a board's power
};

/// Repeats runs for a window between two readings of the sensors, and says what one run took: seconds, joules of the
/// whole board with their uncertainty, the sensor, clock and cap, FLOPS/W and how far from the least possible of
/// `launches` (these two only where the device has a file). Errors: those of the runs and of the sensors.
Result<nlohmann::ordered_json> measureEnergy(Loaded &loaded, const std::map<std::string, Tensor> &inputs,
                                             const EnergyWindow &window,
                                             const std::vector<LaunchWork> &launches);

/// The same as a line of text.
void printMeasured(const nlohmann::ordered_json &measured);

} // namespace joule::cli
