// Runs one test on the virtual GPU and on the reference.
#pragma once

#include "joule/Device.h"
#include "tools/joule-onnx-tests/TestCase.h"

#include <string>

namespace joule::onnxtests {

/// Compiles the test's model, runs its data sets, and compares with what they expect; then the same with the
/// reference. `scratch` is the beginning of the names of temporary files.
Outcome runTest(const TestCase &test, Mode mode, const Device &device, const std::string &scratch);

} // namespace joule::onnxtests
