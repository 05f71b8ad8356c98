// A test of the official suite, and how it went.
#pragma once

#include "joule/Error.h"

#include <regex>
#include <string>
#include <vector>

namespace joule::onnxtests {

/// A folder with model.onnx and test_data_set_N.
struct TestCase {
  std::string name; ///< the folder's
  std::string folder;
};

/// The tests below `root` whose names `filter` finds something in, by name. Error: FileUnreadable.
Result<std::vector<TestCase>> findTests(const std::string &root, const std::regex &filter);

/// How the model is handed to the compiler.
enum class Mode {
  Static,  ///< as it is
  Dynamic, ///< no input's size is known before the run
  Constant ///< every input is a constant, so that all can be computed by the compiler
};

enum class Status { Passed, Failed, Skipped };
const char *nameOf(Status status);

/// What computed the result.
enum class Origin { None, Ptx, Host, Folded };
const char *nameOf(Origin origin);

struct Outcome {
  Status status = Status::Failed;
  Origin origin = Origin::None;
  std::string reason;
};

/// "test_add: passed (ptx)".
std::string print(const TestCase &test, const Outcome &outcome);

} // namespace joule::onnxtests
