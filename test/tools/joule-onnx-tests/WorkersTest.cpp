// The processes that run tests, and the list of expected failures.
#include "tools/joule-onnx-tests/Workers.h"
#include "tools/joule-onnx-tests/ExpectedFailures.h"

#include "test/lib/TemporaryFolder.h"

#include <gtest/gtest.h>
#include <unistd.h>

using namespace joule;
using namespace joule::onnxtests;

namespace {

/// What a test called `name` does in these tests.
Outcome act(const TestCase &test, unsigned) {
  if (test.name == "crash") {
    fprintf(stderr, "first line\nprogram: file.cpp:1: Assertion `sound' failed.\nlast line\n");
    abort();
  }
  if (test.name == "leave")
    _exit(3);
  if (test.name == "hang")
    for (;;)
      pause();
  return {Status::Passed, Origin::Ptx, "by " + test.name};
}

std::vector<std::string> run(const std::vector<std::string> &names, unsigned workers) {
  std::vector<TestCase> tests;
  for (const std::string &name : names)
    tests.push_back({name, ""});
  std::vector<std::string> lines;
  runAll(tests, {workers, /*timeLimit=*/2}, act,
         [&](const TestCase &test, const Outcome &outcome) { lines.push_back(print(test, outcome)); });
  return lines;
}

TEST(Workers, ReportInTheTestsOrder) {
  std::vector<std::string> names, wanted;
  for (int i = 0; i < 50; ++i) {
    names.push_back("t" + std::to_string(i));
    wanted.push_back(names.back() + ": passed (ptx) by " + names.back());
  }
  EXPECT_EQ(run(names, 3), wanted);
}

TEST(Workers, OutliveCrashesAndHangs) {
  std::vector<std::string> lines = run({"a", "crash", "b", "hang", "leave", "c"}, 2);
  ASSERT_EQ(lines.size(), 6u);
  EXPECT_EQ(lines[0], "a: passed (ptx) by a");
  EXPECT_EQ(lines[1], "crash: failed crashed: Aborted: Assertion `sound' failed.");
  EXPECT_EQ(lines[2], "b: passed (ptx) by b");
  EXPECT_EQ(lines[3], "hang: failed took longer than the time limit");
  EXPECT_EQ(lines[4], "leave: failed crashed: ended early");
  EXPECT_EQ(lines[5], "c: passed (ptx) by c");
}

TEST(ExpectedFailures, AreStrict) {
  test::TemporaryFolder folder;
  test::writeFile(folder / "list.txt", "# comment\n\nbad it is random\n");
  auto expected = readExpectedFailures(folder / "list.txt");
  ASSERT_TRUE(expected) << expected.error().message;
  Outcome failed{Status::Failed, Origin::Ptx, "no"}, passed{Status::Passed, Origin::Ptx, ""};
  EXPECT_EQ(judge({"bad", ""}, failed, *expected).status, Status::Skipped);
  EXPECT_EQ(judge({"bad", ""}, failed, *expected).reason, "fails as expected: it is random");
  EXPECT_EQ(judge({"bad", ""}, passed, *expected).status, Status::Failed);
  EXPECT_EQ(judge({"good", ""}, failed, *expected).status, Status::Failed);
  EXPECT_EQ(judge({"good", ""}, passed, *expected).status, Status::Passed);
}

TEST(ExpectedFailures, EachNeedsAReason) {
  test::TemporaryFolder folder;
  for (const char *text : {"bad\n", "bad  \n", "bad one reason\nbad another\n"}) {
    test::writeFile(folder / "list.txt", text);
    EXPECT_FALSE(readExpectedFailures(folder / "list.txt")) << text;
  }
}

} // namespace
