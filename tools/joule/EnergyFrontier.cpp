// `joule energy frontier`: an artifact's time and energy at every clock of a device and under its power caps.
#include "tools/joule/EnergyFrontier.h"

#include "joule/Artifact.h"
#include "lib/Artifact/ArtifactReader.h"
#include "lib/Energy/OperatingPoint.h"
#include "lib/File/AtomicFile.h"
#include "tools/joule/Charts.h"
#include "tools/joule/CountWork.h"
#include "tools/joule/Inputs.h"
#include "tools/joule/PlanWork.h"
#include "tools/joule/Units.h"

#include <algorithm>
#include <fmt/format.h>

namespace joule::cli {

using Json = nlohmann::ordered_json;

namespace {

struct Options {
  std::string artifact, device, objective = "energy", svg;
  std::vector<std::string> dims;
  double slowdown = 5, rate = 0;
  bool json = false;
};

} // namespace

static const std::map<std::string, Objective> objectives = {{"latency", Objective::Latency},
                                                            {"energy", Objective::Energy},
                                                            {"edp", Objective::EnergyDelay},
                                                            {"ed2p", Objective::EnergyDelaySquared}};

static Result<std::vector<WorkCounts>> kernelsOf(const Options &options) {
  Result<Artifact> artifact = Artifact::open(options.artifact);
  if (!artifact)
    return artifact.error();
  const plan::Plan &plan = artifact->impl()->plans.at(artifact->targets().front());
  Result<std::vector<LaunchWork>> launches = listLaunches(plan, parseDims(options.dims));
  if (!launches)
    return launches.error();
  if (Result<size_t> left = countWork(*artifact, *launches); !left)
    return left.error();
  std::vector<WorkCounts> kernels;
  for (const LaunchWork &launch : *launches)
    if (launch.work)
      kernels.push_back(*launch.work);
  if (kernels.size() < launches->size())
    fmt::print(stderr, "joule: {} launches depend on values that only a run knows and are left out\n",
               launches->size() - kernels.size());
  return kernels;
}

static Json describe(const OperatingPoint &point, const OperatingPoint &top) {
  Json json = {{"clockMHz", point.clock.value() / 1e6}, {"seconds", point.time.value()},
               {"joules", point.energy.value()},        {"watts", (point.energy / point.time).value()},
               {"slowdown", point.time / top.time - 1}, {"saved", 1 - point.energy / top.energy}};
  if (point.cap.value() > 0)
    json["capWatts"] = point.cap.value();
  return json;
}

static void printPoint(const Json &point, const char *mark) {
  std::string setting = point.contains("capWatts") ? fmt::format("cap {:.0f} W", point["capWatts"].get<double>())
                                                    : fmt::format("{:.0f} MHz", point["clockMHz"].get<double>());
  fmt::print("  {:>10} {:>9} {:>9} {:>7.1f} W {:>+7.1f} % time {:>+7.1f} % energy{}\n",
             setting, withPrefix(point["seconds"].get<double>(), "s"),
             withPrefix(point["joules"].get<double>(), "J"), point["watts"].get<double>(),
             100 * point["slowdown"].get<double>(), -100 * point["saved"].get<double>(), mark);
}

// At a request rate: whether to work fast and rest at the lowest clock, or to keep a clock.
static Json describeRate(const std::vector<OperatingPoint> &points, const DeviceEnergy &device, double rate) {
  Json json = {{"requestsPerSecond", rate}};
  for (bool drops : {false, true}) {
    std::vector<Duty> duties = dutyAt(points, device, Seconds(1 / rate), drops);
    if (!duties.empty())
      json[drops ? "raceToIdle" : "pace"] = {{"clockMHz", duties[0].point.clock.value() / 1e6},
                                             {"joulesPerRequest", duties[0].perRequest.value()}};
  }
  return json;
}

static void printRate(const Json &json) {
  if (!json.contains("pace")) {
    fmt::print("no clock keeps up with {:.4g} requests a second\n", json["requestsPerSecond"].get<double>());
    return;
  }
  for (const char *way : {"pace", "raceToIdle"})
    fmt::print("at {:.4g} requests a second, {}: {:.0f} MHz, {} a request\n",
               json["requestsPerSecond"].get<double>(),
               way == std::string("pace") ? "waiting at the same clock" : "dropping to the lowest clock",
               json[way]["clockMHz"].get<double>(),
               withPrefix(json[way]["joulesPerRequest"].get<double>(), "J"));
}

static ExitCode showFrontier(const Options &options) {
  Result<DeviceEnergy> device = openDevice(options.device);
  if (!device)
    return fail(device.error(), options.json);
  Result<std::vector<WorkCounts>> kernels = kernelsOf(options);
  if (!kernels)
    return fail(kernels.error(), options.json);
  std::vector<OperatingPoint> points = operatingPoints(*kernels, *device);
  if (points.front().time.value() <= 0)
    return fail({ErrorCode::FitImpossible, "the artifact launches nothing whose work is known", ""},
                options.json);
  std::vector<OperatingPoint> capped = pointsUnderCaps(*kernels, *device);
  points.insert(points.end(), capped.begin(), capped.end());
  OperatingPoint best = choose(points, objectives.at(options.objective), options.slowdown / 100);
  std::vector<OperatingPoint> front = paretoFront(points);
  Json json = {{"device", device->name},
               {"source", "modelled"},
               {"objective", options.objective},
               {"best", describe(best, points.front())},
               {"front", Json::array()}};
  for (const OperatingPoint &point : front)
    json["front"].push_back(describe(point, points.front()));
  if (options.rate > 0)
    json["rate"] = describeRate(points, *device, options.rate);
  if (!options.svg.empty()) {
    std::string title = fmt::format("Energy over time on {} (modelled)", device->name);
    if (Result<void> written = writeWholeFile(options.svg, frontChart(front, best, title)); !written)
      return fail(written.error(), options.json);
  }
  if (options.json) {
    print(json);
    return Succeeded;
  }
  fmt::print("{} launch{} on {} (modelled), against the highest clock:\n", kernels->size(),
             kernels->size() == 1 ? "" : "es", device->name);
  // The front has a point for each step of the clock; every tenth tells its shape.
  size_t step = std::max<size_t>(1, json["front"].size() / 10);
  for (size_t i = 0; i < json["front"].size(); i += step)
    printPoint(json["front"][i], "");
  printPoint(json["best"], fmt::format("   <- best for {}", options.objective).c_str());
  if (options.rate > 0)
    printRate(json["rate"]);
  return Succeeded;
}

Command addEnergyFrontier(CLI::App &energy) {
  auto options = std::make_shared<Options>();
  CLI::App *app = addSubcommand(
      energy, "frontier", "Show an artifact's modelled time and energy by clock and power cap",
      "joule energy frontier model.joule --device a100-sxm-80 --max-slowdown 5 --svg front.svg");
  app->add_option("ARTIFACT", options->artifact, "A file that joule compile wrote")->required();
  app->add_option("--device", options->device, "A device's name or a device file")->required();
  app->add_option("--objective", options->objective, "What the best clock or cap is best for")
      ->check(CLI::IsMember({"latency", "energy", "edp", "ed2p"}))
      ->capture_default_str();
  app->add_option("--max-slowdown", options->slowdown, "Percent of time that energy may cost")
      ->check(CLI::Range(0.0, 1000.0))
      ->capture_default_str();
  app->add_option("--rate", options->rate, "Requests a second: compare pacing with racing to idle")
      ->check(CLI::PositiveNumber);
  app->add_option("--svg", options->svg, "Write a plot of the front");
  addDims(*app, options->dims);
  addJson(*app, options->json);
  return {app, [options] { return showFrontier(*options); }};
}

} // namespace joule::cli
