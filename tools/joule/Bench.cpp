// `joule bench`: how long a program runs and what it draws, and what the model says of the GPUs that it knows.
#include "lib/Artifact/ArtifactReader.h"
#include "tools/joule/Command.h"
#include "tools/joule/CountWork.h"
#include "tools/joule/Inputs.h"
#include "tools/joule/Interrupt.h"
#include "tools/joule/MeasureEnergy.h"
#include "tools/joule/PlanCost.h"
#include "tools/joule/PlanWork.h"
#include "tools/joule/Program.h"
#include "tools/joule/Units.h"

#include <algorithm>
#include <chrono>
#include <fmt/format.h>

namespace joule::cli {

using Json = nlohmann::ordered_json;
using Tensors = std::map<std::string, Tensor>;

namespace {
struct Options {
  ProgramOptions program;
  InputOptions inputs;
  unsigned runs = 10;
  unsigned warmUp = 1;
  std::optional<double> energyWindow; ///< seconds; without it a real GPU gets the usual window, a virtual one none
  bool json = false;
};
} // namespace

/// The seconds of each run, ascending; those that warm up are not in it.
static Result<std::vector<double>> timeRuns(Session &session, const Tensors &inputs, const Options &options) {
  std::vector<double> seconds;
  for (unsigned i = 0; i < options.warmUp + options.runs; ++i) {
    auto start = std::chrono::steady_clock::now();
    if (Result<Tensors> outputs = session.run(viewsOf(inputs)); !outputs)
      return outputs.error();
    if (i >= options.warmUp)
      seconds.push_back(std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  }
  std::sort(seconds.begin(), seconds.end());
  return seconds;
}

/// The least of `sorted` that `percent` of all do not exceed.
static double percentile(const std::vector<double> &sorted, double percent) {
  auto rank = static_cast<size_t>(percent / 100 * static_cast<double>(sorted.size()) + 0.999999);
  return sorted[std::min(std::max<size_t>(rank, 1), sorted.size()) - 1];
}

static Json describeLatency(const std::vector<double> &sorted, bool isVirtual) {
  Json json = {
      {"source", isVirtual ? "virtual" : "measured"}, {"runs", sorted.size()}, {"min", sorted.front()}};
  for (int percent : {50, 90, 99})
    json[fmt::format("p{}", percent)] = percentile(sorted, percent);
  json["max"] = sorted.back();
  return json;
}

static Json describeModel(const std::vector<LaunchWork> &launches, const DeviceEnergy &device) {
  Json json = describeCost(launches, device);
  json["device"] = device.name;
  return json;
}

/// A board that has no sensors is no error, unless they were asked for.
static Result<Json> measureJoules(Loaded &loaded, const Tensors &inputs, const Options &options,
                                  const std::vector<LaunchWork> &launches) {
  constexpr double usual = 6;
  double seconds = options.energyWindow.value_or(loaded.device.properties().isVirtual ? 0 : usual);
  if (seconds == 0)
    return Json();
  EnergyWindow window{seconds, options.inputs.random ? "random" : "given"};
  Result<Json> measured = measureEnergy(loaded, inputs, window, launches);
  if (!measured && !options.energyWindow && measured.error().code == ErrorCode::DriverMissing)
    return Json{{"missing", measured.error().message}};
  return measured;
}

static void printResults(const Json &json) {
  const Json &latency = json["latencySeconds"];
  auto time = [&](const char *name) { return withPrefix(latency[name].get<double>(), "s"); };
  bool isVirtual = latency["source"] == "virtual";
  fmt::print("latency on {} ({}, {} runs): min {}, p50 {}, p90 {}, p99 {}, max {}\n",
             json["device"]["name"].get<std::string>(),
             isVirtual ? "virtual: wall time on this CPU, not a GPU's" : "measured",
             latency["runs"].get<size_t>(), time("min"), time("p50"), time("p90"), time("p99"), time("max"));
  if (json.contains("measuredPerInference")) {
    const Json &measured = json["measuredPerInference"];
    if (measured.contains("missing"))
      fmt::print("joules are not measured: {}\n", measured["missing"].get<std::string>());
    else
      printMeasured(measured);
  }
  for (const Json &model : json["perInference"]) {
    fmt::print("one inference");
    printCost(model, model["device"]);
    fmt::print("\n");
  }
  if (size_t unknown = json["launchesNotModelled"].get<size_t>())
    fmt::print("{} launches depend on values that only a run knows; the model leaves them out\n", unknown);
}

static ExitCode bench(const Options &options) {
  parseDims(options.inputs.dims); // what is malformed is said before anything is compiled
  Result<Loaded> loaded = load(options.program);
  if (!loaded)
    return fail(loaded.error(), options.json);
  Session &session = loaded->session;
  Result<Tensors> inputs = makeInputs(session.inputs(), options.inputs);
  if (!inputs)
    return fail(inputs.error(), options.json);
  InterruptOnSignal interrupt(session);
  Result<std::vector<double>> seconds = [&] {
    Progress progress("running " + options.program.path, fractionOf(*loaded, *inputs, options.warmUp + options.runs));
    return timeRuns(session, *inputs, options);
  }();
  if (!seconds)
    return fail(seconds.error(), options.json);
  const plan::Plan &plan = loaded->artifact.impl()->plans.at(session.target());
  Result<std::vector<LaunchWork>> launches = listLaunches(plan, sizesOf(session.inputs(), *inputs));
  if (!launches)
    return fail(launches.error(), options.json);
  if (Result<size_t> left = countWork(loaded->artifact, *launches); !left)
    return fail(left.error(), options.json);

  Result<Json> measured = measureJoules(*loaded, *inputs, options, *launches);
  if (!measured)
    return fail(measured.error(), options.json);

  const DeviceProperties &device = loaded->device.properties();
  auto isUnknown = [](const LaunchWork &row) { return !row.work; };
  Json json = {{"program", options.program.path},
               {"device", {{"name", device.name}, {"virtual", device.isVirtual}}},
               {"target", session.target()},
               {"latencySeconds", describeLatency(*seconds, device.isVirtual)},
               {"perInference", {describeModel(*launches, a100()), describeModel(*launches, h100())}},
               {"launchesNotModelled", std::count_if(launches->begin(), launches->end(), isUnknown)},
               {"counters", describe(session.counters())}};
  if (!measured->is_null())
    json["measuredPerInference"] = *measured;
  if (options.json)
    print(json);
  else
    printResults(json);
  return Succeeded;
}

Command addBench(CLI::App &parent) {
  auto options = std::make_shared<Options>();
  CLI::App *app = addSubcommand(parent, "bench",
                                "Time runs, and model the seconds and joules of one inference on known GPUs",
                                "joule bench model.onnx --random --dim batch=4 --runs 20");
  addProgram(*app, "PROGRAM", options->program);
  addInputs(*app, options->inputs);
  addRandom(*app, options->inputs);
  app->add_option("--runs", options->runs, "Runs that are timed")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  app->add_option("--warm-up", options->warmUp, "Runs before them")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  app->add_option("--energy-window", options->energyWindow,
                  "Seconds of runs between two readings of the board's sensors, 5 at least, 0 to measure no joules;\n"
                  "without it 6 on a real GPU")
      ->check(CLI::IsMember({0.0}) | CLI::Range(5.0, 3600.0));
  addJson(*app, options->json);
  return {app, [options] { return bench(*options); }};
}

} // namespace joule::cli
