// Processes that run tests, so that one that crashes or hangs takes no other along.
#pragma once

#include "tools/joule-onnx-tests/TestCase.h"

#include <functional>

namespace joule::onnxtests {

struct WorkerOptions {
  unsigned workers = 2;
  double timeLimit = 60; ///< seconds a test may take
};

/// Runs one test; called in a worker, which has its own number.
using TestFunction = std::function<Outcome(const TestCase &test, unsigned worker)>;

/// Runs all tests and tells `report` their outcomes, in their order. A test whose process ends, or that takes
/// too long, has failed. Call it before anything has made a thread, since it forks.
void runAll(const std::vector<TestCase> &tests, const WorkerOptions &options, const TestFunction &run,
            const std::function<void(const TestCase &, const Outcome &)> &report);

} // namespace joule::onnxtests
