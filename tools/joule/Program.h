// What `run`, `bench` and `verify` are given: a model or an artifact, made ready on a device.
#pragma once

#include "joule/Artifact.h"
#include "joule/Device.h"
#include "joule/Session.h"
#include "tools/joule/Command.h"
#include "tools/joule/Progress.h"

#include <string>

namespace joule::cli {

struct ProgramOptions {
  std::string path; ///< a model or an artifact
  std::string device = "virtual";
  double timeLimit = 0; ///< seconds of each run; 0: none
  bool checkMemory = false; ///< the virtual device's check mode: what it finds is an error of the run
  std::vector<std::string> alsoOutputs; ///< values of a model that become outputs, too
};

/// The argument `name` that says what to run, and the options --device and --time-limit.
void addProgram(CLI::App &app, const std::string &name, ProgramOptions &options);

/// The option --check-memory.
void addCheckMemory(CLI::App &app, ProgramOptions &options);

/// True where the file begins like an artifact; false for everything else, missing files too.
bool isArtifact(const std::string &path);

/// A program that is ready to run.
struct Loaded {
  Artifact artifact;
  Device device;
  Session session;
};

/// Opens an artifact as it is; a model is compiled for the device into a private temporary folder first,
/// which is gone when this returns.
Result<Loaded> load(const ProgramOptions &options);

/// How far `runs` runs of a program on these inputs are, from when the session was made.
Progress::Fraction fractionOf(const Loaded &loaded, const std::map<std::string, Tensor> &inputs, size_t runs);

/// {"name": …, "type": …, "shape": …}.
nlohmann::ordered_json describe(const std::string &name, const Tensor &tensor);

/// The counters of a session.
nlohmann::ordered_json describe(const Counters &counters);

} // namespace joule::cli
