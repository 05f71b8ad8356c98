// Sums what launches cost.
#include "tools/joule/PlanCost.h"

#include "tools/joule/Units.h"

#include <fmt/format.h>

namespace joule::cli {

using Json = nlohmann::ordered_json;

WorkCounts workOf(const std::vector<LaunchWork> &launches) {
  WorkCounts work;
  for (const LaunchWork &row : launches)
    if (row.work)
      work += *row.work;
  return work;
}

Json describeCost(const std::vector<LaunchWork> &launches, const DeviceEnergy &device) {
  Prediction total = predict(launches, device);
  Json json = {{"seconds", total.time.value()},
               {"joules", total.energy.value()},
               {"plusMinus", total.energy.value() > 0 ? total.plusMinus / total.energy : 0},
               {"source", nameOf(total.source)}};
  if (total.energy.value() <= 0)
    return json;
  WorkCounts work = workOf(launches);
  json["watts"] = total.power().value();
  json["clockMHz"] = device.highestClock.value() / 1e6;
  json["powerCapWatts"] = device.powerCap.value();
  json["operands"] = "random";
  json["flopsPerJoule"] = work.totalFlops().value() / total.energy.value();
  json["timesTheFloor"] = total.energy / energyFloor(work, device);
  for (const EnergyCause &cause : energyCauses())
    json["joulesByCause"][cause.name] = (total.parts.*cause.part).value();
  return json;
}

void printCost(const Json &cost, const std::string &device) {
  fmt::print(", {} and {} +- {:.0f} % on {} ({}", withPrefix(cost["seconds"], "s"),
             withPrefix(cost["joules"], "J"), 100 * cost["plusMinus"].get<double>(), device,
             cost["source"].get<std::string>());
  if (!cost.contains("joulesByCause")) {
    fmt::print(")");
    return;
  }
  const char *separator = ": ";
  for (const auto &[cause, joules] : cost["joulesByCause"].items())
    if (double share = joules.get<double>() / cost["joules"].get<double>(); share >= 0.005) {
      fmt::print("{}{:.0f} % {}", separator, 100 * share, cause);
      separator = ", ";
    }
  fmt::print("; {}, {}, {:.2f} times the least possible)", withPrefix(cost["watts"], "W"),
             withPrefix(cost["flopsPerJoule"], "FLOPS/W"), cost["timesTheFloor"].get<double>());
}

} // namespace joule::cli
