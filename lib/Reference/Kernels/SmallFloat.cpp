// Rounding to narrow floats, by arithmetic on doubles, which hold every number of every such format exactly.
#include "lib/Reference/Kernels/SmallFloat.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

namespace joule::reference {

static uint32_t allOnes(unsigned bits) { return (1u << bits) - 1; }

/// The bits of the greatest finite number.
static uint32_t largestBits(const FloatFormat &format) {
  uint32_t all = allOnes(format.exponentBits + format.fractionBits);
  switch (format.specials) {
  case Specials::InfinityAndNaN:
    return all - (1u << format.fractionBits); // the exponent below the highest
  case Specials::NaNOnly:
    return all - 1;
  default:
    return all;
  }
}

double FloatFormat::largest() const { return decodeFloat(*this, largestBits(*this)); }

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

/// The bits of the number nearest to a finite `magnitude`, of two the even one; what is larger than the
/// largest number has larger bits.
static uint64_t nearestBits(const FloatFormat &format, double magnitude) {
  uint64_t pattern;
  std::memcpy(&pattern, &magnitude, sizeof pattern);
  // A double too small for a leading one is far too small for every narrow format.
  int exponent = static_cast<int>(pattern >> 52) - 1023, least = 1 - format.bias;
  uint64_t significand = (pattern & ((1ull << 52) - 1)) | 1ull << 52;
  unsigned dropped = 52 - format.fractionBits + std::max(0, least - exponent);
  if (dropped > 53)
    return 0; // less than half of the least number
  uint64_t kept = significand >> dropped, rest = significand & ((1ull << dropped) - 1),
           half = 1ull << (dropped - 1);
  kept += rest > half || (rest == half && kept % 2 == 1);
  // The leading one of `kept` counts as one in the exponent, and so does a carry out of the fraction.
  return (static_cast<uint64_t>(std::max(0, exponent - least)) << format.fractionBits) + kept;
}

uint32_t encodeFloat(const FloatFormat &format, double x, bool saturate) {
  uint32_t sign = std::signbit(x) ? 1u << (format.exponentBits + format.fractionBits) : 0;
  if (std::isnan(x))
    return nanBits(format, sign);
  uint64_t bits = std::isinf(x) ? UINT64_MAX : nearestBits(format, std::fabs(x));
  if (bits > largestBits(format)) {
    if (!saturate && format.specials == Specials::InfinityAndNaN)
      return sign | allOnes(format.exponentBits) << format.fractionBits;
    if (!saturate && format.specials != Specials::None)
      return nanBits(format, sign);
    bits = largestBits(format);
  }
  return format.specials == Specials::NaNIsMinusZero && bits == 0 ? 0 : sign | static_cast<uint32_t>(bits);
}

double roundTo(const FloatFormat &format, double x) { return decodeFloat(format, encodeFloat(format, x)); }

double decodePower(uint8_t bits) {
  return bits == 255 ? std::numeric_limits<double>::quiet_NaN() : std::ldexp(1.0, bits - 127);
}

uint8_t encodePower(double x, PowerRounding rounding, bool saturate) {
  const uint8_t nan = 255;
  double magnitude = std::fabs(x);
  if (std::isnan(x) || x < 0 || (magnitude == 0 && !saturate))
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
