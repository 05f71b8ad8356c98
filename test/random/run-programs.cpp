// Runs programs that were made at random, each compiled on the virtual GPU and plainly by the reference, and compares.
//
// A case is a folder with program.mlir (of the nn level) or model.onnx, its inputs as input_0.pb, …, and where another
// program has computed them, the outputs as output_0.pb, …. tolerances.txt says how far apart the elements of each
// output may be. A model may be refused with an error that says why; a program may not, since its maker knows what is
// valid.
#include "joule/Compiler.h"
#include "joule/Session.h"
#include "lib/Compiler/RunReference.h"
#include "lib/TensorFile/Compare.h"
#include "lib/TensorFile/DataSet.h"
#include "lib/TensorFile/Elements.h"
#include "tools/joule-onnx-tests/Workers.h"
#include "tools/joule-onnx-tests/TemporaryFolder.h"

#include <CLI/CLI.hpp>
#include <cmath>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <thread>

using namespace joule;
using namespace joule::onnxtests;

namespace fs = std::filesystem;

using Tensors = std::map<std::string, Tensor>;

namespace {

struct Case {
  std::string path;
  bool isModel;
  DataSet data;
  std::vector<double> tolerances; ///< one per output, or none
};


} // namespace

static std::vector<TestCase> findCases(const std::string &root) {
  std::vector<TestCase> cases;
  for (const fs::directory_entry &entry : fs::directory_iterator(root))
    if (fs::exists(entry.path() / "program.mlir") || fs::exists(entry.path() / "model.onnx"))
      cases.push_back({entry.path().filename().string(), entry.path().string()});
  std::sort(cases.begin(), cases.end(), [](const TestCase &a, const TestCase &b) { return a.name < b.name; });
  return cases;
}

static Outcome failed(const std::string &reason) { return {Status::Failed, Origin::None, reason}; }

/// An error is an answer where the model may be at fault, and the message is not about Joule itself.
static Outcome refused(const Case &c, const Error &error) {
  bool isClear = error.message.find("internal") == std::string::npos && !error.message.empty() &&
                 error.code != ErrorCode::PlanInvalid && error.code != ErrorCode::KernelFailed &&
                 error.code != ErrorCode::OutOfBounds && error.code != ErrorCode::KernelUnloadable;
  if (c.isModel && isClear)
    return {Status::Passed, Origin::None, "refused: " + error.toString()};
  return failed(error.toString());
}

static Result<Session> compileCase(const Case &c, const Device &device, const std::string &scratch) {
  CompileOptions options;
  options.targets = {fmt::format("sm_{}{}", device.properties().major, device.properties().minor)};
  options.threads = 1;
  options.assemble = !device.properties().isVirtual;
  std::string path = scratch + "model.joule";
  if (Result<CompileSummary> done = compile(c.path, path, options); !done)
    return done.error();
  Result<Artifact> artifact = Artifact::open(path);
  if (!artifact)
    return artifact.error();
  return Session::create(*artifact, device);
}

/// What rounding may cost where no one has counted it, relative to the largest element: sums of large terms cancel.
static double precisionOf(ElementType type) {
  switch (type) {
  case ElementType::Float64:
  case ElementType::Float32:
    return 1e-4;
  case ElementType::Float16:
    return 4e-3;
  case ElementType::BFloat16:
    return 3e-2;
  case ElementType::Float8E4M3FN:
  case ElementType::Float8E4M3FNUZ:
  case ElementType::Float8E5M2:
  case ElementType::Float8E5M2FNUZ:
  case ElementType::Float4E2M1:
  case ElementType::Float8E8M0:
    return 0.15;
  default:
    return 0;
  }
}

static Tolerance toleranceOf(const Case &c, size_t output, const Tensor &wanted) {
  if (!c.tolerances.empty())
    return {0, c.tolerances.at(output)};
  double precision = precisionOf(wanted.type), largest = 1;
  if (precision > 0)
    for (double element : elementsOf(wanted))
      if (std::isfinite(element))
        largest = std::max(largest, std::fabs(element));
  return {10 * precision, precision * largest};
}

static std::vector<double> readTolerances(const std::string &path) {
  std::ifstream stream(path);
  std::vector<double> tolerances;
  for (double tolerance; stream >> tolerance;)
    tolerances.push_back(tolerance);
  return tolerances;
}

static Outcome compareAll(const Case &c, const Session &session, const Tensors &found, const Result<Tensors> &wanted) {
  if (!wanted && !c.isModel)
    return failed("the reference refuses: " + wanted.error().toString());
  for (size_t i = 0; i < session.outputs().size(); ++i) {
    const std::string &name = session.outputs()[i].name;
    auto compareWith = [&](const Tensor &other, const char *whose) {
      auto difference = explainDifference(found.at(name), other, toleranceOf(c, i, other));
      return difference ? fmt::format("{}, by {}: {}", name, whose, *difference) : "";
    };
    std::string difference = wanted ? compareWith(wanted->at(name), "the reference") : "";
    if (difference.empty() && i < c.data.outputs.size())
      difference = compareWith(c.data.outputs[i], "the other program");
    if (!difference.empty())
      return failed(difference);
  }
  // What only the reference notices, an index out of range above all.
  if (!wanted)
    return {Status::Passed, Origin::None, "refused by the reference: " + wanted.error().toString()};
  return {Status::Passed, Origin::Ptx, ""};
}

static Outcome runCase(const TestCase &test, const Device &device, const std::string &scratch) {
  bool isModel = fs::exists(test.folder + "/model.onnx");
  Result<DataSet> data = readDataSet(test.folder);
  if (!data)
    return failed(data.error().toString());
  Case c{test.folder + (isModel ? "/model.onnx" : "/program.mlir"), isModel, std::move(*data),
         readTolerances(test.folder + "/tolerances.txt")};
  Result<Session> session = compileCase(c, device, scratch);
  if (!session)
    return refused(c, session.error());
  if (session->inputs().size() != c.data.inputs.size())
    return failed(fmt::format("the program has {} inputs, the case {}", session->inputs().size(), c.data.inputs.size()));
  Tensors inputs;
  std::map<std::string, TensorView> views;
  for (size_t i = 0; i < c.data.inputs.size(); ++i) {
    const std::string &name = session->inputs()[i].name;
    inputs[name] = c.data.inputs[i];
    views[name] = c.data.inputs[i].view();
  }
  Result<Tensors> found = session->run(views);
  if (!found)
    return refused(c, found.error());
  return compareAll(c, *session, *found, runReference(c.path, inputs));
}

static int runAllCases(const std::string &root, const WorkerOptions &options) {
  std::vector<TestCase> cases = findCases(root);
  Result<cli::TemporaryFolder> folder = cli::TemporaryFolder::make();
  if (!folder || cases.empty()) {
    fmt::print(stderr, "run-programs: error: {}\n", folder ? "no case in " + root : folder.error().toString());
    return 1;
  }
  size_t count[3] = {};
  TestFunction run = [&](const TestCase &test, unsigned worker) {
    // Opened in the worker, and kept open there: a device does not live through a fork.
    static Result<Device> device = Device::open("virtual");
    if (!device)
      return failed(device.error().toString());
    return runCase(test, *device, *folder / fmt::format("{}-", worker));
  };
  runAll(cases, options, run, [&](const TestCase &test, const Outcome &outcome) {
    ++count[static_cast<int>(outcome.status)];
    fmt::print("{}\n", print(test, outcome));
    std::fflush(stdout);
  });
  return count[static_cast<int>(Status::Failed)] ? 1 : 0;
}

int main(int argc, char **argv) {
  CLI::App app("Compares what random programs compute on the virtual GPU and by the reference.", "run-programs");
  std::string root;
  WorkerOptions options;
  options.workers = std::max(1u, std::thread::hardware_concurrency());
  app.footer("example: run-programs build/test/random/nn --jobs 1");
  app.add_option("ROOT", root, "A folder of cases")->required();
  app.add_option("--jobs", options.workers, "Processes that run cases")->capture_default_str();
  app.add_option("--time-limit", options.timeLimit, "Seconds that a case may take")->capture_default_str();
  try {
    app.parse(argc, argv);
    return runAllCases(root, options);
  } catch (const CLI::ParseError &error) {
    return app.exit(error) == 0 ? 0 : 2;
  } catch (const std::exception &error) {
    fmt::print(stderr, "run-programs: error: {}\n", error.what());
    return 1;
  }
}
