// No exception crosses into C.
#include "lib/Interface/Guard.h"

#include <gtest/gtest.h>
#include <stdexcept>

using namespace joule;

static int codeOf(joule_error *error) {
  int code = joule_error_code(error);
  joule_error_free(error);
  return code;
}

TEST(Guard, GivesErrorsAsObjects) {
  EXPECT_EQ(c::guarded([] { return Result<void>(); }), nullptr);
  joule_error *error = c::guarded([]() -> Result<void> {
    return Error{ErrorCode::InputShape, "three words here", "n"};
  });
  EXPECT_STREQ(joule_error_message(error), "three words here");
  EXPECT_STREQ(joule_error_node(error), "n");
  EXPECT_EQ(codeOf(error), JOULE_ERROR_InputShape);
}

TEST(Guard, CatchesWhatIsThrown) {
  auto throwing = [](auto thrown) { return c::guarded([&]() -> Result<void> { throw thrown; }); };
  EXPECT_EQ(codeOf(throwing(std::runtime_error("oops"))), JOULE_ERROR_Internal);
  // Needs no memory, is never freed, and is there again.
  for (int i = 0; i < 2; ++i)
    EXPECT_EQ(codeOf(throwing(std::bad_alloc())), JOULE_ERROR_HostMemoryFull);
}

TEST(Guard, NamesTheFirstArgumentThatIsNull) {
  int here = 0;
  EXPECT_TRUE(c::needAll({"a", "b"}, &here, &here));
  EXPECT_EQ(c::needAll({"a", "b"}, &here, static_cast<int *>(nullptr)).error().message,
            "the argument b is null");
}

TEST(Guard, TakesStructuresOfLaterVersions) {
  joule_run_options options = {};
  EXPECT_TRUE(c::needSize(static_cast<joule_run_options *>(nullptr), "joule_run_options"));
  EXPECT_FALSE(c::needSize(&options, "joule_run_options"));
  options.size = sizeof options + 8;
  EXPECT_TRUE(c::needSize(&options, "joule_run_options"));
}
