// `joule-onnx-tests`: the official tests of ONNX, on the virtual GPU and on the reference.
#include "tools/joule-onnx-tests/ExpectedFailures.h"
#include "tools/joule-onnx-tests/RunTest.h"
#include "tools/joule-onnx-tests/Workers.h"
#include "tools/joule-onnx-tests/TemporaryFolder.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <thread>

using namespace joule;
using namespace joule::onnxtests;

namespace {

struct Options {
  std::string root;
  std::string filter;
  Mode mode = Mode::Static;
  std::string expectedFailures;
  std::string device = "virtual";
  unsigned floor = 0;
  WorkerOptions workers;
};

struct Totals {
  size_t passed = 0, failed = 0, skipped = 0;
  size_t byKernels = 0; // of those that passed

  void count(const Outcome &outcome) {
    passed += outcome.status == Status::Passed;
    failed += outcome.status == Status::Failed;
    skipped += outcome.status == Status::Skipped;
    byKernels += outcome.status == Status::Passed && outcome.origin == Origin::Ptx;
  }
};

} // namespace

static int fail(const std::string &message) {
  fmt::print(stderr, "joule-onnx-tests: error: {}\n", message);
  return 1;
}

/// Says which listed tests do not exist, where all were looked for; they count as failed.
static size_t reportMissing(const ExpectedFailures &expected, const std::vector<TestCase> &tests) {
  size_t missing = 0;
  for (const auto &[name, reason] : expected) {
    auto isIt = [name = name](const TestCase &test) { return test.name == name; };
    if (std::none_of(tests.begin(), tests.end(), isIt)) {
      fmt::print("{}: failed is in the list of expected failures and does not exist\n", name);
      ++missing;
    }
  }
  return missing;
}

static Totals runTests(const std::vector<TestCase> &tests, const ExpectedFailures &expected,
                       const Options &options, const cli::TemporaryFolder &folder) {
  Totals totals;
  TestFunction run = [&](const TestCase &test, unsigned worker) {
    // Opened in the worker, and kept open there: a device does not live through a fork.
    static Result<Device> device = Device::open(options.device);
    if (!device)
      return Outcome{Status::Failed, Origin::None, device.error().toString()};
    return runTest(test, options.mode, *device, folder / fmt::format("{}-", worker));
  };
  runAll(tests, options.workers, run, [&](const TestCase &test, const Outcome &outcome) {
    Outcome judged = judge(test, outcome, expected);
    totals.count(judged);
    fmt::print("{}\n", print(test, judged));
    std::fflush(stdout);
  });
  return totals;
}

static int runSuite(const Options &options) {
  Result<std::vector<TestCase>> tests = findTests(options.root, std::regex(options.filter));
  if (!tests)
    return fail(tests.error().toString());
  if (tests->empty())
    return fail(fmt::format("\"{}\" holds no test that the filter finds", options.root));
  ExpectedFailures expected;
  if (!options.expectedFailures.empty()) {
    Result<ExpectedFailures> read = readExpectedFailures(options.expectedFailures);
    if (!read)
      return fail(read.error().toString());
    expected = *read;
  }
  Result<cli::TemporaryFolder> folder = cli::TemporaryFolder::make();
  if (!folder)
    return fail(folder.error().toString());

  Totals totals = runTests(*tests, expected, options, *folder);
  if (options.filter.empty())
    totals.failed += reportMissing(expected, *tests);
  if (totals.byKernels < options.floor)
    fmt::print("only {} tests passed by kernels, fewer than the floor of {}\n", totals.byKernels,
               options.floor);
  fmt::print("{} passed, {} failed, {} skipped\n", totals.passed, totals.failed, totals.skipped);
  return totals.failed || totals.byKernels < options.floor ? 1 : 0;
}

static void addOptions(CLI::App &app, Options &options) {
  app.footer("example: joule-onnx-tests onnx/backend/test/data/node --filter '^test_conv_' --mode dynamic");
  app.add_option("ROOT", options.root, "A folder of tests, each a folder with model.onnx and test_data_set_0")
      ->required();
  app.add_option("--filter", options.filter, "A regular expression that is to be found in a test's name");
  std::map<std::string, Mode> modes = {
      {"static", Mode::Static}, {"dynamic", Mode::Dynamic}, {"constant", Mode::Constant}};
  app.add_option("--mode", options.mode,
                 "static: models as they are; dynamic: without the inputs' sizes; constant: with the inputs "
                 "as constants")
      ->transform(CLI::CheckedTransformer(modes));
  app.add_option("--xfail", options.expectedFailures,
                 "A file of lines NAME REASON: these tests must fail, and then count as skipped");
  app.add_option("--floor", options.floor, "Fail where fewer tests than this pass by running kernels")
      ->capture_default_str();
  app.add_option("--device", options.device, "virtual, virtual:<gpu>, cuda or cuda:<n>")
      ->capture_default_str();
  options.workers.workers = std::max(1u, std::thread::hardware_concurrency());
  app.add_option("--jobs", options.workers.workers, "Processes that run tests")->capture_default_str();
  app.add_option("--time-limit", options.workers.timeLimit, "Seconds that a test may take")
      ->capture_default_str();
}

int main(int argc, char **argv) {
  Options options;
  CLI::App app("Runs the official ONNX tests on the virtual GPU and on the reference.", "joule-onnx-tests");
  addOptions(app, options);
  try {
    app.parse(argc, argv);
    return runSuite(options);
  } catch (const CLI::ParseError &error) {
    return app.exit(error) == 0 ? 0 : 2;
  } catch (const std::regex_error &error) {
    fmt::print(stderr, "joule-onnx-tests: --filter: {}\n", error.what());
    return 2;
  } catch (const std::exception &error) {
    return fail(error.what());
  }
}
