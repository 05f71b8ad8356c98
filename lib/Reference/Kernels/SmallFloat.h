/// Floats narrower than f32: what their bits mean, and how a number is rounded to them.
#pragma once

#include "lib/Reference/Kernels/ElementType.h"

#include <cstdint>

namespace joule::reference {

/// What a format has beside finite numbers.
enum class Specials {
  InfinityAndNaN, ///< as in IEEE 754: the highest exponent holds infinity and NaN
  NaNOnly,        ///< all bits but the sign set is NaN; no infinity
  NaNIsMinusZero, ///< the bits of minus zero are NaN; no infinity and no minus zero
  None,           ///< every bit pattern is a finite number
};

/// A binary float of a sign, an exponent and a fraction.
struct FloatFormat {
  unsigned exponentBits, fractionBits;
  int bias;
  Specials specials;

  /// The greatest finite number.
  double largest() const;
};

constexpr FloatFormat float16Format = {5, 10, 15, Specials::InfinityAndNaN};
constexpr FloatFormat bfloat16Format = {8, 7, 127, Specials::InfinityAndNaN};
constexpr FloatFormat tf32Format = {8, 10, 127, Specials::InfinityAndNaN};
constexpr FloatFormat float8E4M3FNFormat = {4, 3, 7, Specials::NaNOnly};
constexpr FloatFormat float8E4M3FNUZFormat = {4, 3, 8, Specials::NaNIsMinusZero};
constexpr FloatFormat float8E5M2Format = {5, 2, 15, Specials::InfinityAndNaN};
constexpr FloatFormat float8E5M2FNUZFormat = {5, 2, 16, Specials::NaNIsMinusZero};
constexpr FloatFormat float4E2M1Format = {2, 1, 1, Specials::None};

/// The number that `bits` hold.
double decodeFloat(const FloatFormat &format, uint32_t bits);

/// The bits of the number nearest to `x`, of two equally near the one with the even fraction. What is too
/// large, or infinite, becomes the largest number where `saturate`; otherwise infinity, or NaN where the
/// format has no infinity, or the largest number where it has neither. NaN becomes zero in a format without
/// NaN.
uint32_t encodeFloat(const FloatFormat &format, double x, bool saturate = false);

/// `x` rounded to `format` and back.
double roundTo(const FloatFormat &format, double x);

/// How a number between two powers of two becomes one of them in float8e8m0.
enum class PowerRounding { Up, Down, Nearest };

/// 2^(bits - 127); 255 is NaN.
double decodePower(uint8_t bits);

/// The power of two that `x` is rounded to, `Nearest` taking a half upward. Zero and numbers out of range
/// become the least or greatest power where `saturate`, else NaN. Negative numbers become NaN.
uint8_t encodePower(double x, PowerRounding rounding = PowerRounding::Nearest, bool saturate = false);

} // namespace joule::reference
