// Rounding to narrow floats, by arithmetic on doubles, which hold every number of every such format exactly.
#include "lib/Reference/Kernels/SmallFloat.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace joule::reference {

static uint32_t allOnes(unsigned bits) { return (1u << bits) - 1; }

double FloatFormat::largest() const {
  uint32_t bits = allOnes(exponentBits + fractionBits);
  if (specials == Specials::InfinityAndNaN)
    bits -= 1u << fractionBits; // the exponent below the highest
  if (specials == Specials::NaNOnly)
    bits -= 1;
  if (specials == Specials::InfinityAndNaN)
    bits |= allOnes(fractionBits);
  int exponent = static_cast<int>(bits >> fractionBits) - bias;
  uint32_t fraction = bits & allOnes(fractionBits);
  return std::ldexp(1.0 + std::ldexp(fraction, -static_cast<int>(fractionBits)), exponent);
}

double decodeFloat(const FloatFormat &format, uint32_t bits) {
  uint32_t magnitude = bits & allOnes(format.exponentBits + format.fractionBits);
  bool negative = bits >> (format.exponentBits + format.fractionBits) & 1;
  uint32_t exponent = magnitude >> format.fractionBits, fraction = magnitude & allOnes(format.fractionBits);
  const double nan = std::numeric_limits<double>::quiet_NaN(),
               infinity = std::numeric_limits<double>::infinity();

  double value;
  if (format.specials == Specials::InfinityAndNaN && exponent == allOnes(format.exponentBits))
    value = fraction == 0 ? infinity : nan;
  else if (format.specials == Specials::NaNOnly &&
           magnitude == allOnes(format.exponentBits + format.fractionBits))
    value = nan;
  else if (format.specials == Specials::NaNIsMinusZero && negative && magnitude == 0)
    return nan;
  else if (exponent == 0)
    value = std::ldexp(fraction, 1 - format.bias - static_cast<int>(format.fractionBits));
  else
    value = std::ldexp(fraction + (1u << format.fractionBits),
                       static_cast<int>(exponent) - format.bias - static_cast<int>(format.fractionBits));
  return negative ? -value : value;
}

/// The bits of NaN, without a sign where the format has one NaN only.
static uint32_t nanBits(const FloatFormat &format, uint32_t sign) {
  switch (format.specials) {
  case Specials::InfinityAndNaN:
    return sign | allOnes(format.exponentBits) << format.fractionBits | 1u << (format.fractionBits - 1);
  case Specials::NaNOnly:
    return sign | allOnes(format.exponentBits + format.fractionBits);
  case Specials::NaNIsMinusZero:
    return 1u << (format.exponentBits + format.fractionBits);
  case Specials::None:
    return 0;
  }
  return 0;
}

/// The bits of a number of the format, 0 or positive and at most the largest.
static uint32_t bitsOfExact(const FloatFormat &format, double magnitude) {
  int fractionBits = format.fractionBits, least = 1 - format.bias;
  if (magnitude < std::ldexp(1.0, least))
    return static_cast<uint32_t>(std::ldexp(magnitude, fractionBits - least));
  int exponent = std::ilogb(magnitude);
  auto significand = static_cast<uint32_t>(std::ldexp(magnitude, fractionBits - exponent));
  return static_cast<uint32_t>(exponent + format.bias) << fractionBits |
         (significand & allOnes(fractionBits));
}

uint32_t encodeFloat(const FloatFormat &format, double x, bool saturate) {
  uint32_t sign = std::signbit(x) ? 1u << (format.exponentBits + format.fractionBits) : 0;
  if (std::isnan(x))
    return nanBits(format, sign);
  double rounded = std::fabs(x);
  if (!std::isinf(x) && x != 0) {
    // Neighbours of x lie 2^grid apart.
    int grid = std::max(std::ilogb(rounded), 1 - format.bias) - static_cast<int>(format.fractionBits);
    rounded = std::ldexp(std::nearbyint(std::ldexp(rounded, -grid)), grid);
  }
  if (rounded > format.largest()) {
    if (!saturate && format.specials == Specials::InfinityAndNaN)
      return sign | allOnes(format.exponentBits) << format.fractionBits;
    if (!saturate && format.specials != Specials::None)
      return nanBits(format, sign);
    rounded = format.largest();
  }
  uint32_t bits = bitsOfExact(format, rounded);
  return format.specials == Specials::NaNIsMinusZero && bits == 0 ? 0 : sign | bits;
}

double roundTo(const FloatFormat &format, double x) { return decodeFloat(format, encodeFloat(format, x)); }

double decodePower(uint8_t bits) {
  return bits == 255 ? std::numeric_limits<double>::quiet_NaN() : std::ldexp(1.0, bits - 127);
}

uint8_t encodePower(double x, PowerRounding rounding, bool saturate) {
  const uint8_t nan = 255;
  double magnitude = std::fabs(x);
  if (std::isnan(x) || (magnitude == 0 && !saturate))
    return nan;
  if (magnitude == 0)
    return 0;
  if (std::isinf(x))
    return saturate ? 254 : nan;
  int exponent;
  double half = std::frexp(magnitude, &exponent); // magnitude = half * 2^exponent, half in [0.5, 1)
  int power = exponent - 1;
  bool exact = half == 0.5;
  if (!exact && (rounding == PowerRounding::Up || (rounding == PowerRounding::Nearest && half >= 0.75)))
    ++power;
  if (power < -127 || power > 127)
    return saturate ? (power < 0 ? 0 : 254) : nan;
  return static_cast<uint8_t>(power + 127);
}

} // namespace joule::reference
