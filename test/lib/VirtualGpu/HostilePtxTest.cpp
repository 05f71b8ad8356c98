// Texts that no compiler writes: an error that says where, or a module; never a crash or a machine without memory.
#include "lib/VirtualGpu/Ptx.h"

#include <gtest/gtest.h>

using namespace joule::vgpu;

static const std::string header = ".version 8.0\n.target sm_80\n.address_size 64\n";

static std::string inKernel(const std::string &body) { return header + ".visible .entry k()\n{\n" + body + "\nret;\n}\n"; }

static std::string repeated(const std::string &text, int count) {
  std::string all;
  for (int i = 0; i < count; ++i)
    all += text;
  return all;
}

/// The error that the text ends with; empty where it has none.
static std::string errorOf(const std::string &text) {
  try {
    ptx::parse(text);
    return "";
  } catch (const ptx::ParseError &error) {
    return error.what();
  }
}

TEST(HostilePtx, TheLeastIntegerIsItsOwnNegative) {
  auto module = ptx::parse(inKernel(".reg .b64 %r<2>;\nmov.b64 %r1, -9223372036854775808;\n"
                                    "ld.global.b64 %r1, [%r0+-9223372036854775808+-1];"));
  EXPECT_EQ(module->functions[0]->operands[1].value, INT64_MIN);
  EXPECT_EQ(module->functions[0]->operands[3].offset, INT64_MAX);
  ptx::parse(header + ".global .s64 x = -9223372036854775808;\n.global .s64 y = -0xffffffffffffffff;\n");
}

TEST(HostilePtx, WhereADirectiveIsMissingIsSaid) {
  EXPECT_NE(errorOf(inKernel(".extern reg;")).find("unknown directive at 'reg'"), std::string::npos);
}

TEST(HostilePtx, NumbersWithoutEndAreReadAsFarAsTheyGo) {
  ptx::parse(".version " + repeated("9", 100) + "." + repeated("9", 100) + "\n.target sm_80\n");
  ptx::parse(inKernel(".reg .b64 %r<2>;\nmov.b64 %r1, " + repeated("9", 100) + ";"));
}

TEST(HostilePtx, NestsNotTooDeep) {
  for (const char *open : {"!", "{", "(", "[%r1,", "{!"})
    EXPECT_NE(errorOf(inKernel(".reg .b64 %r<2>;\nmov.b64 %r1, " + repeated(open, 100000))).find("braces nest too deep"),
              std::string::npos)
        << open;
  EXPECT_NE(errorOf(header + ".global .b8 x[] = " + repeated("{", 100000)).find("braces nest too deep"), std::string::npos);
}

TEST(HostilePtx, AsksNotForTooMuch) {
  const char *sizes[] = {"x[4611686018427387904]", "x[4294967296][4294967296]", "x[65536][65536]", "x[-1]"};
  for (const char *size : sizes)
    EXPECT_NE(errorOf(header + ".global .b32 " + size + ";").find("of that size"), std::string::npos) << size;
  for (const char *alignment : {"3", "0", "131072", "-1", "4294967296"})
    EXPECT_NE(errorOf(header + ".global .align " + alignment + " .b32 x;").find("an alignment must be"), std::string::npos)
        << alignment;
  for (const char *count : {"4294967295", "1048577", "-1"})
    EXPECT_NE(errorOf(inKernel(std::string(".reg .b64 %r<") + count + ">;")).find("registers are not supported"),
              std::string::npos)
        << count;
  EXPECT_NE(errorOf(inKernel(repeated(".reg .b64 %r<1048576>;\n", 100))).find("registers are not supported"),
            std::string::npos);
}

TEST(HostilePtx, EveryPrefixEnds) {
  std::string text = inKernel(".reg .b64 %r<2>;\n.reg .pred %p<2>;\n.shared .align 8 .b8 s[16];\n"
                              "$L: @!%p1 mov.b64 {%r0, %r1}, -0d3FF0000000000000;\nbra $L;\nld.shared.b64 %r1, [s+8];");
  for (size_t length = 0; length < text.size(); ++length)
    errorOf(text.substr(0, length));
}
