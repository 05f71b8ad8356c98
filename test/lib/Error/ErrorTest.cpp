// Error codes and results.
#include "joule/Error.h"

#include <gtest/gtest.h>
#include <set>

using namespace joule;

TEST(Error, PrintsCodeAndNode) {
  EXPECT_EQ(toString(ErrorCode::FileUnreadable), "JL0101");
  EXPECT_EQ((Error{ErrorCode::CheckFailed, "sizes differ", "add_3"}.toString()),
            "add_3: JL0401: sizes differ");
  EXPECT_EQ((Error{ErrorCode::CheckFailed, "sizes differ", ""}.toString()), "JL0401: sizes differ");
}

TEST(Error, ExplainsEveryCode) {
  std::set<int> seen;
#define JOULE_ERROR(number, code, sense, remedy)                                                             \
  {                                                                                                          \
    EXPECT_TRUE(seen.insert(number).second) << "repeated: " << number;                                       \
    auto explanation = explain(toString(ErrorCode::code));                                                   \
    ASSERT_TRUE(explanation);                                                                                \
    EXPECT_STREQ(explanation->name, #code);                                                                  \
  }
#include "joule/ErrorCodes.def"
#undef JOULE_ERROR
}

TEST(Error, KnowsNoOtherCode) {
  for (const char *code : {"JL9999", "", "JL", "JLabc", "JL0101x", "JL00000101"})
    EXPECT_FALSE(explain(code)) << code;
}

TEST(Result, HoldsValueOrError) {
  Result<int> value = 3;
  ASSERT_TRUE(value);
  EXPECT_EQ(*value, 3);
  Result<int> error = Error{ErrorCode::CheckFailed, "no", ""};
  ASSERT_FALSE(error);
  EXPECT_EQ(error.error().message, "no");
  EXPECT_TRUE(Result<void>());
}
