// Narrow floats: every bit pattern, every rounding boundary, and the special rules of ONNX's Cast.
#include "lib/Reference/Kernels/Kernels.h"

#include <cmath>
#include <gtest/gtest.h>

namespace joule::reference {
namespace {

struct Named {
  const char *name;
  FloatFormat format;
};

class SmallFloat : public testing::TestWithParam<Named> {
protected:
  FloatFormat format = GetParam().format;
  unsigned signBit = format.exponentBits + format.fractionBits;
};

TEST_P(SmallFloat, every_number_reads_back) {
  for (uint32_t bits = 0; bits < 2u << signBit; ++bits) {
    double value = decodeFloat(format, bits);
    if (!std::isnan(value))
      EXPECT_EQ(encodeFloat(format, value), bits) << value;
  }
}

TEST_P(SmallFloat, numbers_ascend_with_their_bits) {
  for (uint32_t bits = 1; bits < 1u << signBit; ++bits)
    if (!std::isnan(decodeFloat(format, bits)))
      EXPECT_LT(decodeFloat(format, bits - 1), decodeFloat(format, bits));
}

TEST_P(SmallFloat, between_two_numbers_the_nearer_wins_and_a_tie_goes_to_the_even) {
  for (uint32_t bits = 1; bits < 1u << signBit; ++bits) {
    double low = decodeFloat(format, bits - 1), high = decodeFloat(format, bits), middle = (low + high) / 2;
    if (!std::isfinite(high))
      continue;
    EXPECT_EQ(encodeFloat(format, std::nextafter(middle, 0)), bits - 1);
    EXPECT_EQ(encodeFloat(format, std::nextafter(middle, 1e300)), bits);
    EXPECT_EQ(encodeFloat(format, middle), bits % 2 == 0 ? bits : bits - 1);
    if (bits > 1 || format.specials != Specials::NaNIsMinusZero)
      EXPECT_EQ(encodeFloat(format, -middle), 1u << signBit | (bits % 2 == 0 ? bits : bits - 1));
  }
}

TEST_P(SmallFloat, saturates_where_asked) {
  double largest = format.largest();
  EXPECT_EQ(decodeFloat(format, encodeFloat(format, 2 * largest, true)), largest);
  EXPECT_EQ(decodeFloat(format, encodeFloat(format, -INFINITY, true)), -largest);
  double over = decodeFloat(format, encodeFloat(format, 2 * largest));
  if (format.specials == Specials::InfinityAndNaN)
    EXPECT_EQ(over, INFINITY);
  else if (format.specials == Specials::None)
    EXPECT_EQ(over, largest);
  else
    EXPECT_TRUE(std::isnan(over));
}

INSTANTIATE_TEST_SUITE_P(All, SmallFloat,
                         testing::Values(Named{"f16", float16Format}, Named{"bf16", bfloat16Format},
                                         Named{"e4m3fn", float8E4M3FNFormat},
                                         Named{"e4m3fnuz", float8E4M3FNUZFormat},
                                         Named{"e5m2", float8E5M2Format},
                                         Named{"e5m2fnuz", float8E5M2FNUZFormat},
                                         Named{"e2m1", float4E2M1Format}),
                         [](const auto &info) { return std::string(info.param.name); });

TEST(SmallFloatFacts, largest_numbers) {
  EXPECT_EQ(float16Format.largest(), 65504);
  EXPECT_EQ(float8E4M3FNFormat.largest(), 448);
  EXPECT_EQ(float8E4M3FNUZFormat.largest(), 240);
  EXPECT_EQ(float8E5M2Format.largest(), 57344);
  EXPECT_EQ(float8E5M2FNUZFormat.largest(), 57344);
  EXPECT_EQ(float4E2M1Format.largest(), 6);
}

TEST(SmallFloatFacts, known_bits) {
  EXPECT_EQ(encodeFloat(float16Format, 1.0), 0x3c00u);
  EXPECT_EQ(encodeFloat(bfloat16Format, -2.0), 0xc000u);
  EXPECT_EQ(encodeFloat(float8E4M3FNFormat, 1.0), 0x38u);
  EXPECT_EQ(encodeFloat(float8E4M3FNUZFormat, 1.0), 0x40u);
  EXPECT_EQ(encodeFloat(float8E4M3FNUZFormat, -0.0), 0u);
  EXPECT_EQ(encodeFloat(float8E4M3FNUZFormat, NAN), 0x80u);
  EXPECT_EQ(encodeFloat(float8E4M3FNFormat, NAN), 0x7fu);
  EXPECT_EQ(encodeFloat(float8E5M2Format, INFINITY), 0x7cu);
  EXPECT_EQ(encodeFloat(float4E2M1Format, 1.5), 3u);
  EXPECT_EQ(roundTo(tf32Format, 1.0 + 1.0 / 1024), 1.0 + 1.0 / 1024);
  EXPECT_EQ(roundTo(tf32Format, 1.0 + 1.0 / 4096), 1.0);
}

TEST(SmallFloatFacts, powers_of_two) {
  EXPECT_EQ(decodePower(127), 1);
  EXPECT_EQ(decodePower(0), std::ldexp(1, -127));
  EXPECT_TRUE(std::isnan(decodePower(255)));
  EXPECT_EQ(encodePower(5, PowerRounding::Up), 127 + 3);
  EXPECT_EQ(encodePower(5, PowerRounding::Down), 127 + 2);
  EXPECT_EQ(encodePower(5, PowerRounding::Nearest), 127 + 2);
  EXPECT_EQ(encodePower(6, PowerRounding::Nearest), 127 + 3); // a tie goes up
  EXPECT_EQ(encodePower(INFINITY, PowerRounding::Up, true), 254);
  EXPECT_EQ(encodePower(INFINITY), 255);
  EXPECT_EQ(encodePower(0, PowerRounding::Up, true), 0);
  EXPECT_EQ(encodePower(0), 255);
  EXPECT_EQ(encodePower(-1, PowerRounding::Up, true), 255);
}

//===- Cast --------------------------------------------------------------------------------------------------

TEST(Cast, float_to_integer_truncates_and_clamps) {
  Buffer input = makeFloats(ElementType::Float32, {6}, {-1.9, 2.9, 300, -300, NAN, 1e30});
  Buffer bytes = castTo(input, ElementType::UInt8);
  for (auto [i, expected] : {std::pair(0, 0), {1, 2}, {2, 255}, {3, 0}, {4, 0}, {5, 255}})
    EXPECT_EQ(bytes.integer(i), expected);
  EXPECT_EQ(castTo(input, ElementType::Int64).integer(5), INT64_MAX);
}

TEST(Cast, integer_to_integer_wraps_or_clamps) {
  Buffer input = makeIntegers(ElementType::Int32, {2}, {200, -300});
  EXPECT_EQ(castTo(input, ElementType::Int8).integer(0), -56);
  EXPECT_EQ(castTo(input, ElementType::Int8, {true, {}}).integer(0), 127);
  EXPECT_EQ(castTo(input, ElementType::UInt8, {true, {}}).integer(1), 0);
  EXPECT_EQ(castTo(input, ElementType::Int4, {true, {}}).integer(1), -8);
}

TEST(Cast, to_bool_asks_for_zero_and_wrap_takes_the_lowest_bit) {
  Buffer input = makeIntegers(ElementType::Int32, {3}, {0, 2, 3});
  Buffer cast = castTo(input, ElementType::Bool), bit = wrap(input, ElementType::Bool);
  EXPECT_EQ(cast.integer(1), 1);
  EXPECT_EQ(bit.integer(1), 0);
  EXPECT_EQ(bit.integer(2), 1);
  EXPECT_EQ(castTo(makeFloats(ElementType::Float32, {1}, {NAN}), ElementType::Bool).integer(), 1);
}

TEST(Cast, large_integers_round_once) {
  Buffer input = makeIntegers(ElementType::Int64, {1}, {(int64_t(1) << 60) + (int64_t(1) << 36) + 1});
  EXPECT_EQ(castTo(input, ElementType::Float32).number(), std::ldexp(1, 60) + std::ldexp(1, 37));
}

TEST(Cast, float8_follows_onnx) {
  Buffer input = makeFloats(ElementType::Float32, {3}, {INFINITY, 1000, -INFINITY});
  EXPECT_EQ(castTo(input, ElementType::Float8E4M3FN, {true, {}}).number(0), 448);
  EXPECT_TRUE(std::isnan(castTo(input, ElementType::Float8E4M3FN).number(1)));
  EXPECT_EQ(castTo(input, ElementType::Float8E5M2).number(2), -INFINITY);
}

TEST(Cast, small_elements_are_packed_lowest_first) {
  Buffer packed = makeIntegers(ElementType::Int4, {3}, {1, -2, 3});
  ASSERT_EQ(packed.bytes.size(), 2u);
  EXPECT_EQ(packed.bytes.data()[0], 0xe1);
  EXPECT_EQ(packed.bytes.data()[1], 0x03);
  Buffer pairs = makeIntegers(ElementType::UInt2, {5}, {1, 2, 3, 0, 3});
  EXPECT_EQ(pairs.bytes.data()[0], 0b00111001);
  EXPECT_EQ(pairs.integer(4), 3);
}

} // namespace
} // namespace joule::reference
