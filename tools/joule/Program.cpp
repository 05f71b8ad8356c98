// Tells models from artifacts, and compiles the former.
#include "tools/joule/Program.h"

#include "joule/Compiler.h"

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

bool isArtifact(const std::string &path) {
  // An artifact is a ZIP file. As ONNX, these bytes would be a field number that no model has.
  char magic[4] = {};
  std::ifstream(path, std::ios::binary).read(magic, sizeof magic);
  return std::string(magic, sizeof magic) == std::string("PK\x03\x04");
}

static Result<Artifact> openArtifact(const std::string &path, const DeviceProperties &device) {
  if (isArtifact(path))
    return Artifact::open(path);
  CompileOptions options;
  options.targets = {device.architecture()};
  options.assemble = !device.isVirtual; // which runs PTX
  return compileInMemory(path, options);
}

Result<Loaded> load(const ProgramOptions &options) {
  Result<Device> device = Device::open(options.device);
  if (!device)
    return device.error();
  Result<Artifact> artifact = openArtifact(options.path, device->properties());
  if (!artifact)
    return artifact.error();
  Result<Session> session = Session::create(*artifact, *device);
  if (!session)
    return session.error();
  session->setTimeLimit(options.timeLimit);
  return Loaded{*artifact, *device, *session};
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
