// A strict list: what is in it must fail.
#include "tools/joule-onnx-tests/ExpectedFailures.h"

#include <fmt/format.h>
#include <fstream>

namespace joule::onnxtests {

Result<ExpectedFailures> readExpectedFailures(const std::string &path) {
  std::ifstream stream(path);
  if (!stream)
    return Error{ErrorCode::FileUnreadable, fmt::format("cannot read \"{}\"", path), ""};
  ExpectedFailures expected;
  std::string line;
  for (int number = 1; std::getline(stream, line); ++number) {
    if (line.empty() || line[0] == '#')
      continue;
    size_t space = line.find(' ');
    if (space == line.npos || line.find_first_not_of(' ', space) == line.npos)
      return Error{ErrorCode::FileUnreadable,
                   fmt::format("{}:{}: a test is listed without a reason", path, number), ""};
    std::string name = line.substr(0, space);
    if (!expected.emplace(name, line.substr(line.find_first_not_of(' ', space))).second)
      return Error{ErrorCode::FileUnreadable, fmt::format("{}:{}: {} is listed twice", path, number, name),
                   ""};
  }
  return expected;
}

Outcome judge(const TestCase &test, const Outcome &outcome, const ExpectedFailures &expected) {
  auto entry = expected.find(test.name);
  if (entry == expected.end())
    return outcome;
  if (outcome.status == Status::Failed)
    return {Status::Skipped, outcome.origin, "fails as expected: " + entry->second};
  return {Status::Failed, outcome.origin, "is in the list of expected failures and does not fail"};
}

} // namespace joule::onnxtests
