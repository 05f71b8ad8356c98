// Finds tests and prints outcomes.
#include "tools/joule-onnx-tests/TestCase.h"

#include <algorithm>
#include <filesystem>
#include <fmt/format.h>

namespace joule::onnxtests {

namespace fs = std::filesystem;

Result<std::vector<TestCase>> findTests(const std::string &root, const std::regex &filter) {
  std::vector<TestCase> tests;
  std::error_code code;
  for (fs::directory_iterator entry(root, code), end; !code && entry != end; entry.increment(code)) {
    std::string name = entry->path().filename().string();
    std::error_code missing;
    if (fs::exists(entry->path() / "model.onnx", missing) && std::regex_search(name, filter))
      tests.push_back({name, entry->path().string()});
  }
  if (code)
    return Error{ErrorCode::FileUnreadable, fmt::format("cannot list \"{}\": {}", root, code.message()), ""};
  std::sort(tests.begin(), tests.end(), [](const TestCase &a, const TestCase &b) { return a.name < b.name; });
  return tests;
}

const char *nameOf(Status status) {
  switch (status) {
  case Status::Passed:
    return "passed";
  case Status::Failed:
    return "failed";
  case Status::Skipped:
    return "skipped";
  }
  return "";
}

const char *nameOf(Origin origin) {
  switch (origin) {
  case Origin::None:
    return "";
  case Origin::Ptx:
    return "ptx";
  case Origin::Host:
    return "host";
  case Origin::Folded:
    return "folded";
  }
  return "";
}

std::string print(const TestCase &test, const Outcome &outcome) {
  std::string line = fmt::format("{}: {}", test.name, nameOf(outcome.status));
  if (outcome.origin != Origin::None)
    line += fmt::format(" ({})", nameOf(outcome.origin));
  if (!outcome.reason.empty())
    line += " " + outcome.reason;
  // One line a test, whatever a message holds.
  std::replace(line.begin(), line.end(), '\n', ' ');
  return line;
}

} // namespace joule::onnxtests
