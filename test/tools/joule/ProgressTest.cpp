// What a line of progress says.
#include "tools/joule/Progress.h"

#include <gtest/gtest.h>

using namespace joule::cli;

TEST(Progress, EstimatesFromWhatIsDone) {
  EXPECT_EQ(progressLine("running m", 3, 0.25), "running m: 25 %, about 9 s left");
  EXPECT_EQ(progressLine("running m", 10, 1.0), "running m: 100 %, about 0 s left");
}

TEST(Progress, SaysOnlyTheTimeWhereNobodyKnows) {
  EXPECT_EQ(progressLine("compiling m", 12.3, std::nullopt), "compiling m: 12 s");
  // An estimate from nothing would be a wild one.
  EXPECT_EQ(progressLine("compiling m", 5, 0.001), "compiling m: 5 s");
}

TEST(Progress, PrintsNothingWhereNobodyWatches) {
  testing::internal::CaptureStderr();
  {
    Progress progress("running m", [] { return 0.5; });
  }
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
}
