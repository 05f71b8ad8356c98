// `joule report`: where an artifact's time, bytes and joules go, launch by launch.
#include "joule/Artifact.h"
#include "lib/Artifact/ArtifactReader.h"
#include "lib/File/AtomicFile.h"
#include "tools/joule/Command.h"
#include "tools/joule/CountWork.h"
#include "tools/joule/HtmlReport.h"
#include "tools/joule/Inputs.h"
#include "tools/joule/OutputFile.h"
#include "tools/joule/PlanCost.h"
#include "tools/joule/PlanWork.h"
#include "tools/joule/Units.h"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace joule::cli {

using Json = nlohmann::ordered_json;

namespace {
struct Options {
  std::string artifact;
  std::string node;
  std::string html;
  std::vector<std::string> dims;
  bool json = false;
};
} // namespace

/// The facts of a GPU that runs "sm_80" or "sm_90a".
static const DeviceEnergy *deviceFor(const std::string &architecture) {
  int number = architecture.rfind("sm_", 0) == 0 ? std::atoi(architecture.c_str() + 3) : 0;
  return findDeviceEnergy("", number / 10, number % 10);
}

static bool computes(const plan::Launch &launch, const std::string &node) {
  return node.empty() || std::count(launch.nodes().begin(), launch.nodes().end(), node) != 0;
}

static size_t countUnknown(const TargetReport &report) {
  auto isUnknown = [](const LaunchWork &row) { return !row.work; };
  return static_cast<size_t>(std::count_if(report.launches.begin(), report.launches.end(), isUnknown));
}

// Of all threads.
static Json describeCounts(const WorkCounts &work) {
  auto instructions = [&](InstructionClass which) { return work.instructions[static_cast<int>(which)]; };
  return {{"instructions", instructions(InstructionClass::Any)}, {"fp32", instructions(InstructionClass::Fp32)},
          {"integer", instructions(InstructionClass::Integer)},  {"special", instructions(InstructionClass::Special)},
          {"l2Bytes", work.l2Bytes.value()},                     {"sharedBytes", work.sharedBytes.value()},
          {"blocks", work.blocks}};
}

static Json describe(const LaunchWork &row, const DeviceEnergy *device) {
  Json json = {{"kernel", row.kernel->name()},
               {"nodes", std::vector<std::string>(row.launch->nodes().begin(), row.launch->nodes().end())},
               {"family", row.launch->cost().family()}};
  if (!row.work)
    return json;
  json["flops"] = row.work->totalFlops().value();
  json["bytes"] = row.work->dramBytes.value();
  if (row.work->blocks > 0)
    json["counted"] = describeCounts(*row.work);
  if (!device)
    return json;
  Prediction cost = joule::predict(*row.work, *device);
  json["seconds"] = cost.time.value();
  json["joules"] = cost.energy.value();
  json["plusMinus"] = cost.energy.value() > 0 ? cost.plusMinus / cost.energy : 0;
  json["bound"] = nameOf(cost.bound);
  json["source"] = nameOf(cost.source);
  for (const EnergyCause &cause : energyCauses())
    json["joulesByCause"][cause.name] = (cost.parts.*cause.part).value();
  return json;
}

static Json describe(const TargetReport &report) {
  Json launches = Json::array();
  for (const LaunchWork &row : report.launches)
    launches.push_back(describe(row, report.device));
  Json json = {{"target", report.target}, {"launches", launches}, {"launchesNotModelled", countUnknown(report)},
               {"launchesNotCounted", report.uncounted}};
  if (!report.device)
    return json;
  json["device"] = report.device->name;
  json["total"] = describeCost(report.launches, *report.device);
  return json;
}

static void printRow(const LaunchWork &row, const DeviceEnergy *device) {
  std::string flops = "?", bytes = "?", time = "?", energy = "?", bound = "?";
  if (row.work) {
    flops = withPrefix(row.work->totalFlops().value(), "flop");
    bytes = withPrefix(row.work->dramBytes.value(), "B");
  }
  if (row.work && device) {
    Prediction cost = joule::predict(*row.work, *device);
    time = withPrefix(cost.time.value(), "s");
    energy = withPrefix(cost.energy.value(), "J");
    bound = nameOf(cost.bound);
  }
  fmt::print("  {:<28} {:<9} {:>11} {:>9} {:>9} {:>9} {:<8} {}\n", row.kernel->name(),
             row.launch->cost().family(), flops, bytes, time, energy, bound,
             fmt::join(row.launch->nodes(), ", "));
}

static void printReport(const TargetReport &report) {
  fmt::print("target {}: {} launch{}", report.target, report.launches.size(),
             report.launches.size() == 1 ? "" : "es");
  if (report.device)
    printCost(describeCost(report.launches, *report.device), report.device->name);
  fmt::print("\n  {:<28} {:<9} {:>11} {:>9} {:>9} {:>9} {:<8} {}\n", "kernel", "family", "work", "bytes",
             "time", "energy", "bound by", "nodes");
  for (const LaunchWork &row : report.launches)
    printRow(row, report.device);
  if (report.uncounted > countUnknown(report))
    fmt::print("  {} of them do not end without their data: their instructions are not counted\n",
               report.uncounted - countUnknown(report));
  if (size_t unknown = countUnknown(report))
    fmt::print("  {} of them depend on values that only a run knows; the sum leaves them out\n", unknown);
}

static Result<std::vector<TargetReport>> makeReports(const Artifact &artifact, const Options &options) {
  std::vector<TargetReport> reports;
  SymbolSizes sizes = parseDims(options.dims);
  for (const std::string &target : artifact.targets()) {
    const plan::Plan &plan = artifact.impl()->plans.at(target);
    Result<std::vector<LaunchWork>> launches = listLaunches(plan, sizes);
    if (!launches)
      return launches.error();
    auto other = [&](const LaunchWork &row) { return !computes(*row.launch, options.node); };
    launches->erase(std::remove_if(launches->begin(), launches->end(), other), launches->end());
    if (launches->empty() && !options.node.empty())
      return Error{ErrorCode::NodeUnknown,
                   fmt::format("no launch for {} computes a node of this name", target), options.node};
    Result<size_t> uncounted = countWork(artifact, *launches);
    if (!uncounted)
      return uncounted.error();
    reports.push_back({target, deviceFor(plan.target()), std::move(*launches), *uncounted});
  }
  return reports;
}

static ExitCode report(const Options &options) {
  refuseToReplace("--html", options.html, options.artifact);
  Result<Artifact> artifact = Artifact::open(options.artifact);
  if (!artifact)
    return fail(artifact.error(), options.json);
  Result<std::vector<TargetReport>> reports = makeReports(*artifact, options);
  if (!reports)
    return fail(reports.error(), options.json);
  if (!options.html.empty()) {
    std::string page = htmlReport(artifact->modelName(), *reports);
    if (Result<void> written = writeWholeFile(options.html, page); !written)
      return fail(written.error(), options.json);
  }
  Json json = {{"model", artifact->modelName()}, {"targets", Json::array()}};
  for (const TargetReport &report : *reports) {
    if (options.json)
      json["targets"].push_back(describe(report));
    else
      printReport(report);
  }
  if (options.json)
    print(json);
  return Succeeded;
}

Command addReport(CLI::App &parent) {
  auto options = std::make_shared<Options>();
  CLI::App *app = addSubcommand(
      parent, "report", "Show each launch of an artifact: ONNX nodes, work, bytes, modelled time and energy",
      "joule report model.joule --dim batch=4");
  app->add_option("ARTIFACT", options->artifact, "A file that joule compile wrote")->required();
  app->add_option("--node", options->node, "Only launches that compute this ONNX node");
  app->add_option("--html", options->html, "Write the report as a page, with the energy roofline and the front");
  addDims(*app, options->dims);
  addJson(*app, options->json);
  return {app, [options] { return report(*options); }};
}

} // namespace joule::cli
