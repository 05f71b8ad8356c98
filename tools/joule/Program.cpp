// Tells models from artifacts, and compiles the former.
#include "tools/joule/Program.h"

#include "joule/Compiler.h"
#include "lib/Artifact/ArtifactReader.h"
#include "tools/joule/Inputs.h"
#include "tools/joule/PlanWork.h"

#include <atomic>
#include <fmt/format.h>
#include <fstream>

namespace joule::cli {

void addProgram(CLI::App &app, const std::string &name, ProgramOptions &options) {
  app.add_option(name, options.path,
                 name == "MODEL" ? "An ONNX file" : "An ONNX file, or what joule compile wrote")
      ->required();
  app.add_option("--device", options.device, "virtual, virtual:<gpu>, cuda or cuda:<n>")
      ->capture_default_str();
  app.add_option("--time-limit", options.timeLimit, "Seconds after which a run is ended; 0: never")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
}

void addCheckMemory(CLI::App &app, ProgramOptions &options) {
  app.add_flag("--check-memory", options.checkMemory,
               "Fail where a kernel races, reads what nobody wrote or breaks another rule; only on a virtual device");
}

bool isArtifact(const std::string &path) {
  // An artifact is a ZIP file. As ONNX, these bytes would be a field number that no model has.
  char magic[4] = {};
  std::ifstream(path, std::ios::binary).read(magic, sizeof magic);
  return std::string(magic, sizeof magic) == std::string("PK\x03\x04");
}

static Result<Artifact> openArtifact(const ProgramOptions &program, const DeviceProperties &device) {
  if (isArtifact(program.path))
    return Artifact::open(program.path);
  CompileOptions options;
  options.targets = {device.architecture()};
  options.assemble = !device.isVirtual; // which runs PTX
  options.alsoOutputs = program.alsoOutputs;
  std::atomic<double> done{0};
  options.progress = [&](double fraction) { done = fraction; };
  Progress progress("compiling " + program.path, [&] { return done.load(); });
  return compileInMemory(program.path, options);
}

static Result<Device> openDevice(const ProgramOptions &options) {
  if (!options.checkMemory)
    return Device::open(options.device);
  if (options.device.rfind("virtual", 0) != 0)
    return Error{ErrorCode::DeviceUnknown,
                 fmt::format("--check-memory needs a virtual device, not \"{}\"", options.device), ""};
  return Device::open(options.device + (options.device == "virtual" ? ":0,check" : ",check"));
}

Result<Loaded> load(const ProgramOptions &options) {
  Result<Device> device = openDevice(options);
  if (!device)
    return device.error();
  Result<Artifact> artifact = openArtifact(options, device->properties());
  if (!artifact)
    return artifact.error();
  Result<Session> session = Session::create(*artifact, *device);
  if (!session)
    return session.error();
  session->setTimeLimit(options.timeLimit);
  return Loaded{*artifact, *device, *session};
}

Progress::Fraction fractionOf(const Loaded &loaded, const std::map<std::string, Tensor> &inputs, size_t runs) {
  const plan::Plan &plan = loaded.artifact.impl()->plans.at(loaded.session.target());
  Result<std::vector<LaunchWork>> launches = listLaunches(plan, sizesOf(loaded.session.inputs(), inputs));
  std::vector<double> until = {0}; // modelled seconds until each launch's end
  for (const LaunchWork &launch : launches ? *launches : std::vector<LaunchWork>()) {
    if (!launch.work)
      return [] { return std::nullopt; };
    until.push_back(until.back() + joule::predict(*launch.work, a100()).time.value());
  }
  return [session = loaded.session, until, runs]() -> std::optional<double> {
    size_t count = session.counters().launches, each = until.size() - 1;
    if (each == 0 || count > each * runs)
      return std::nullopt;
    return (static_cast<double>(count / each) + until[count % each] / until.back()) / static_cast<double>(runs);
  };
}

nlohmann::ordered_json describe(const std::string &name, const Tensor &tensor) {
  return {{"name", name}, {"type", nameOf(tensor.type)}, {"shape", tensor.shape}};
}

nlohmann::ordered_json describe(const Counters &counters) {
  return {{"runs", counters.runs},
          {"launches", counters.launches},
          {"compiles", counters.compiles},
          {"deviceAllocations", counters.deviceAllocations},
          {"bytesCopied", counters.bytesCopied},
          {"arenaBytes", counters.arenaBytes}};
}

} // namespace joule::cli
