// What a run costs in seconds and joules, by cause, as `joule report` and `joule bench` state it.
#pragma once

#include "tools/joule/PlanWork.h"

#include <nlohmann/json.hpp>

namespace joule::cli {

/// The sum of the work that is known.
WorkCounts workOf(const std::vector<LaunchWork> &launches);

/// The launches whose work is known, one after another at the device's highest clock: seconds, joules with
/// their uncertainty, watts, joules by cause (which sum to the total), FLOPS/W and how far from the least
/// possible.
nlohmann::ordered_json describeCost(const std::vector<LaunchWork> &launches, const DeviceEnergy &device);

/// The same as text behind a colon or comma: ", 12 us and 3 mJ +- 7 % on a100 (modelled: ...)".
void printCost(const nlohmann::ordered_json &cost, const std::string &device);

} // namespace joule::cli
