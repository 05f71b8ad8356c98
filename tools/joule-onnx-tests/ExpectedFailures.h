// The tests that are known to fail, each with its reason.
#pragma once

#include "tools/joule-onnx-tests/TestCase.h"

#include <map>

namespace joule::onnxtests {

/// Reasons by the names of tests.
using ExpectedFailures = std::map<std::string, std::string>;

/// Reads lines of `NAME reason`; empty ones and those that begin with # are comments. Error: FileUnreadable,
/// also for a line without a reason and a name that stands twice.
Result<ExpectedFailures> readExpectedFailures(const std::string &path);

/// A failure that is expected is skipped, for the list's reason; a pass that is not expected has failed.
Outcome judge(const TestCase &test, const Outcome &outcome, const ExpectedFailures &expected);

} // namespace joule::onnxtests
