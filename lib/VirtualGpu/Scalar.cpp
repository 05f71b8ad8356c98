// The rare instructions, one lane at a time. Compiled with -frounding-math, so that changes of the rounding
// mode are not moved around the arithmetic between them.
#include "lib/VirtualGpu/Scalar.h"
#include "lib/VirtualGpu/Ptx.h"

#include <cfenv>
#include <cmath>
#include <cstring>
#include <limits>

namespace joule::vgpu::scalar {
namespace {

using ptx::Type;
using Wide = __int128;

template <class To, class From> To bitsOf(From from) {
  static_assert(sizeof(To) == sizeof(From));
  To to;
  memcpy(&to, &from, sizeof to);
  return to;
}

Rule unpackRule(uint64_t packed) {
  Rule rule;
  rule.operation = uint8_t(packed);
  rule.to = uint8_t(packed >> 8);
  rule.from = uint8_t(packed >> 16);
  rule.rounding = Rounding(uint8_t(packed >> 24));
  rule.toIntegral = packed >> 32 & 1;
  rule.ftz = packed >> 33 & 1;
  rule.saturate = packed >> 34 & 1;
  rule.relu = packed >> 35 & 1;
  return rule;
}

/// Sets the unit's rounding for as long as it lives.
class RoundingScope {
public:
  explicit RoundingScope(Rounding rounding) : saved(fegetround()) {
    static const int modes[] = {FE_TONEAREST, FE_TOWARDZERO, FE_DOWNWARD, FE_UPWARD, FE_TONEAREST};
    fesetround(modes[int(rounding)]);
  }
  ~RoundingScope() { fesetround(saved); }

private:
  int saved;
};

/// A floating-point format below f32.
struct Format {
  int mantissa, exponent;
  bool hasInfinity;
};

Format formatOf(Type type) {
  switch (type) {
  case Type::F16:
    return {10, 5, true};
  case Type::BF16:
    return {7, 8, true};
  case Type::TF32:
    return {10, 8, true};
  case Type::E4M3:
  case Type::E4M3x2:
    return {3, 4, false};
  case Type::E5M2:
  case Type::E5M2x2:
    return {2, 5, true};
  default:
    return {23, 8, true};
  }
}

double decode(uint64_t bits, Format f) {
  int bias = (1 << (f.exponent - 1)) - 1, width = 1 + f.exponent + f.mantissa;
  uint64_t mantissa = bits & ((1ull << f.mantissa) - 1),
           exponent = bits >> f.mantissa & ((1ull << f.exponent) - 1);
  double sign = bits >> (width - 1) & 1 ? -1 : 1;
  bool allOnes = exponent == (1ull << f.exponent) - 1;
  if (allOnes && f.hasInfinity)
    return mantissa ? std::nan("") : sign * INFINITY;
  if (allOnes && mantissa == (1ull << f.mantissa) - 1)
    return std::nan("");
  if (exponent == 0)
    return sign * std::ldexp(double(mantissa), 1 - bias - f.mantissa);
  return sign * std::ldexp(double(mantissa | 1ull << f.mantissa), int(exponent) - bias - f.mantissa);
}

double roundIntegral(double x, Rounding rounding) {
  switch (rounding) {
  case Rounding::Zero:
    return std::trunc(x);
  case Rounding::Down:
    return std::floor(x);
  case Rounding::Up:
    return std::ceil(x);
  case Rounding::Away:
    return std::round(x);
  default:
    return std::nearbyint(x);
  }
}

double greatest(Format f) {
  int bias = (1 << (f.exponent - 1)) - 1;
  if (f.hasInfinity)
    return std::ldexp(2 - std::ldexp(1.0, -f.mantissa), bias);
  return std::ldexp(2 - std::ldexp(2.0, -f.mantissa), bias + 1);
}

uint64_t encode(double x, Format f, Rounding rounding, bool saturate) {
  int bias = (1 << (f.exponent - 1)) - 1, width = 1 + f.exponent + f.mantissa;
  uint64_t sign = std::signbit(x) ? 1ull << (width - 1) : 0;
  uint64_t quietNan = (1ull << (width - 1)) - 1;
  if (std::isnan(x))
    return quietNan;
  uint64_t top = f.hasInfinity ? ((1ull << f.exponent) - 1) << f.mantissa : quietNan;
  if (std::isinf(x))
    return (saturate ? top - 1 : top) | sign;
  if (x == 0)
    return sign;
  int exponent = std::max(std::ilogb(x), 1 - bias);
  double quantum = std::ldexp(1.0, exponent - f.mantissa),
         rounded = roundIntegral(x / quantum, rounding) * quantum;
  if (std::fabs(rounded) > greatest(f)) {
    bool stays = saturate || rounding == Rounding::Zero || (rounding == Rounding::Down && x > 0) ||
                 (rounding == Rounding::Up && x < 0);
    return (stays ? top - 1 : top) | sign;
  }
  if (rounded == 0)
    return sign;
  exponent = std::max(std::ilogb(rounded), 1 - bias);
  uint64_t mantissa = uint64_t(std::fabs(rounded) / std::ldexp(1.0, exponent - f.mantissa));
  if (!(mantissa >> f.mantissa))
    return sign | mantissa; // subnormal
  return sign | uint64_t(exponent + bias) << f.mantissa | (mantissa & ((1ull << f.mantissa) - 1));
}

float flush(float x) { return std::fabs(x) < std::numeric_limits<float>::min() ? std::copysign(0.f, x) : x; }

double floatValue(Type type, uint64_t bits, bool ftz) {
  if (type == Type::F64)
    return bitsOf<double>(bits);
  if (type == Type::F32)
    return ftz ? flush(bitsOf<float>(uint32_t(bits))) : bitsOf<float>(uint32_t(bits));
  return decode(bits, formatOf(type));
}

uint64_t floatBits(Type type, double x, const Rule &rule) {
  if (type == Type::F64)
    return bitsOf<uint64_t>(x);
  if (type == Type::F32) {
    RoundingScope scope(rule.rounding);
    volatile double held = x;
    float narrowed = float(held);
    return bitsOf<uint32_t>(rule.ftz ? flush(narrowed) : narrowed);
  }
  if (type == Type::TF32)
    return encode(x, formatOf(type), rule.rounding, rule.saturate) << 13;
  return encode(x, formatOf(type), rule.rounding, rule.saturate);
}

bool isFloatType(Type t) { return ptx::isFloat(t) || t == Type::E4M3 || t == Type::E5M2; }

struct Limits {
  Wide low, high;
};
Limits limitsOf(Type type) {
  unsigned bits = ptx::sizeOf(type) * 8;
  Wide one = 1;
  return ptx::isSigned(type) ? Limits{-(one << (bits - 1)), (one << (bits - 1)) - 1}
                             : Limits{0, (one << bits) - 1};
}

Wide integerValue(Type type, uint64_t bits) {
  unsigned shift = 64 - ptx::sizeOf(type) * 8;
  return ptx::isSigned(type) ? Wide(int64_t(bits << shift) >> shift) : Wide(bits << shift >> shift);
}

Wide clamp(Wide x, Limits limits) { return x < limits.low ? limits.low : x > limits.high ? limits.high : x; }

/// In the width of its type and extended, as an integer register holds it.
uint64_t integerBits(Type type, Wide x) { return uint64_t(integerValue(type, uint64_t(x))); }

uint64_t floatToInteger(const Rule &rule, Type to, double x) {
  if (std::isnan(x))
    return 0;
  Limits limits = limitsOf(to);
  x = roundIntegral(x, rule.rounding);
  if (x >= double(limits.high))
    return integerBits(to, limits.high);
  if (x <= double(limits.low))
    return integerBits(to, limits.low);
  return integerBits(to, Wide(x));
}

uint64_t integerToFloat(const Rule &rule, Type to, Wide x) {
  RoundingScope scope(rule.rounding);
  volatile int64_t asSigned = int64_t(x);
  volatile uint64_t asUnsigned = uint64_t(x);
  if (to == Type::F64)
    return bitsOf<uint64_t>(x < 0 ? double(asSigned) : double(asUnsigned));
  if (to == Type::F32)
    return bitsOf<uint32_t>(x < 0 ? float(asSigned) : float(asUnsigned));
  RoundingScope nearest(Rounding::Nearest);
  return encode(double(x), formatOf(to), rule.rounding,
                false); // 64-bit values overflow f16 long before they lose bits
}

template <class F, class U> uint64_t roundedFloat(const Rule &rule, uint64_t ab, uint64_t bb, uint64_t cb) {
  auto prepare = [&](uint64_t bits) {
    F x = bitsOf<F>(U(bits));
    return rule.ftz && std::fabs(x) < std::numeric_limits<F>::min() ? std::copysign(F(0), x) : x;
  };
  RoundingScope scope(rule.rounding);
  volatile F a = prepare(ab), b = prepare(bb), c = prepare(cb), d = 0;
  switch (rule.operation) {
  case addRounded:
    d = a + b;
    break;
  case subRounded:
    d = a - b;
    break;
  case mulRounded:
    d = a * b;
    break;
  case fmaRounded:
    d = std::fma(F(a), F(b), F(c));
    break;
  case divRounded:
    d = a / b;
    break;
  case rcpRounded:
    d = F(1) / a;
    break;
  default:
    d = std::sqrt(F(a));
    break;
  }
  F out = d;
  if (rule.ftz && std::fabs(out) < std::numeric_limits<F>::min())
    out = std::copysign(F(0), out);
  if (rule.saturate)
    out = !(out > 0) ? F(0) : out < 1 ? out : F(1);
  return bitsOf<U>(out);
}

uint32_t permuteBytes(uint8_t mode, uint64_t ab, uint32_t selector) {
  auto byteAt = [&](unsigned i) { return uint32_t(ab >> (i & 7) * 8 & 0xff); };
  unsigned s = selector & 3, pick[4];
  static const uint8_t rc16[2][4] = {{0, 1, 0, 1}, {2, 3, 2, 3}};
  for (unsigned i = 0; i < 4; ++i) {
    switch (mode) {
    case permuteF4e:
      pick[i] = s + i;
      break;
    case permuteB4e:
      pick[i] = (s - i) & 7;
      break;
    case permuteRc8:
      pick[i] = s;
      break;
    case permuteEcl:
      pick[i] = std::max(s, i);
      break;
    case permuteEcr:
      pick[i] = std::min(s, i);
      break;
    default:
      pick[i] = rc16[s & 1][i];
      break;
    }
  }
  uint32_t out = 0;
  for (unsigned i = 0; i < 4; ++i)
    out |= byteAt(pick[i]) << (8 * i);
  return out;
}

uint32_t permuteGeneral(uint64_t ab, uint32_t selector) {
  uint32_t out = 0;
  for (unsigned i = 0; i < 4; ++i) {
    unsigned nibble = selector >> (4 * i) & 15;
    uint32_t byte = uint32_t(ab >> ((nibble & 7) * 8) & 0xff);
    if (nibble & 8)
      byte = byte & 0x80 ? 0xff : 0;
    out |= byte << (8 * i);
  }
  return out;
}

uint64_t findHighest(Type type, uint64_t x, bool asShift) {
  unsigned width = ptx::sizeOf(type) * 8;
  if (width < 64)
    x &= (1ull << width) - 1;
  if (ptx::isSigned(type) && x >> (width - 1))
    x = ~x & (width == 64 ? ~0ull : (1ull << width) - 1);
  if (!x)
    return 0xffffffffu;
  unsigned position = 63 - unsigned(__builtin_clzll(x));
  return asShift ? width - 1 - position : position;
}

uint64_t insert(unsigned width, uint64_t a, uint64_t b, uint32_t position, uint32_t length) {
  position &= 0xff, length &= 0xff;
  for (unsigned i = 0; i < length && position + i < width; ++i) {
    uint64_t bit = 1ull << (position + i);
    b = a >> i & 1 ? b | bit : b & ~bit;
  }
  return b;
}

uint64_t maskOf(uint32_t position, uint32_t width, bool clampIt) {
  if (!clampIt)
    position &= 31, width &= 31;
  uint64_t ones = width >= 32 ? 0xffffffffull : (1ull << width) - 1;
  return position >= 32 ? 0 : uint32_t(ones << position);
}

uint64_t sizeExtend(Type type, uint32_t a, uint32_t n, bool clampIt) {
  if (!clampIt)
    n &= 31;
  if (n >= 32)
    return a;
  if (n == 0)
    return 0;
  return ptx::isSigned(type) ? uint32_t(int32_t(a << (32 - n)) >> (32 - n)) : a & ((1u << n) - 1);
}

uint32_t nthSetBit(uint32_t mask, uint32_t base, int32_t offset) {
  int step = offset >= 0 ? 1 : -1, wanted = std::abs(offset) - (offset != 0);
  if (offset == 0)
    return mask >> (base & 31) & 1 ? base & 31 : 0xffffffffu;
  for (int position = int(base & 31); position >= 0 && position < 32; position += step)
    if (mask >> position & 1 && wanted-- == 0)
      return uint32_t(position);
  return 0xffffffffu;
}

/// dp2a: `from` is a's type, `to` b's; `saturate` says that b's upper pair is meant.
uint32_t dot2(const Rule &rule, uint32_t a, uint32_t b, uint32_t c) {
  bool signedA = ptx::isSigned(Type(rule.from)), signedB = ptx::isSigned(Type(rule.to));
  if (rule.saturate)
    b >>= 16;
  for (int i = 0; i < 2; ++i) {
    int32_t x = signedA ? int16_t(a >> 16 * i) : int32_t(a >> 16 * i & 0xffff);
    int32_t y = signedB ? int8_t(b >> 8 * i) : int32_t(b >> 8 * i & 0xff);
    c += uint32_t(x * y);
  }
  return c;
}

/// cvt.pack: `to` holds the size, and 128 for a signed one. Two numbers and the lower part of c.
uint32_t packTwo(const Rule &rule, uint32_t a, uint32_t b, uint32_t c) {
  unsigned size = rule.to & 0x7f;
  bool isSigned = rule.to & 0x80;
  int64_t low = isSigned ? -(1ll << (size - 1)) : 0,
          high = isSigned ? (1ll << (size - 1)) - 1 : (1ll << size) - 1;
  auto part = [&](uint32_t x) {
    int64_t value = std::max(low, std::min(high, int64_t(int32_t(x))));
    return uint32_t(value) & uint32_t((1ull << size) - 1);
  };
  uint32_t both = part(a) << size | part(b);
  return size == 16 ? both : c << (2 * size) | both;
}

} // namespace

float log2(float x) { return ::log2f(x); }
float sine(float x) { return float(::sin(double(x))); }
float cosine(float x) { return float(::cos(double(x))); }
float tanh(float x) { return ::tanhf(x); }

uint64_t convert(uint64_t packed, uint64_t bits) {
  Rule rule = unpackRule(packed);
  Type to = Type(rule.to), from = Type(rule.from);
  if (!isFloatType(from)) {
    Wide x = integerValue(from, bits);
    if (isFloatType(to))
      return integerToFloat(rule, to, x);
    return integerBits(to, rule.saturate ? clamp(x, limitsOf(to)) : x);
  }
  double x = floatValue(from, bits, rule.ftz);
  if (!isFloatType(to))
    return floatToInteger(rule, to, x);
  if (rule.toIntegral)
    x = roundIntegral(x, rule.rounding);
  if (rule.relu && x < 0)
    x = 0;
  bool small = ptx::sizeOf(to) < 2 || to == Type::TF32;
  if (rule.saturate && !small)
    x = !(x > 0) ? 0 : x < 1 ? x : 1;
  return floatBits(to, x, rule);
}

uint64_t arithmetic(uint64_t packed, uint64_t a, uint64_t b, uint64_t c) {
  Rule rule = unpackRule(packed);
  Type type = Type(rule.to);
  bool isInteger = rule.operation != convertPack && !ptx::isFloat(type);
  Limits limits = isInteger ? limitsOf(type) : Limits{0, 0};
  switch (rule.operation) {
  case addRounded:
  case subRounded:
  case mulRounded:
  case fmaRounded:
  case divRounded:
  case rcpRounded:
  case sqrtRounded:
    return type == Type::F64 ? roundedFloat<double, uint64_t>(rule, a, b, c)
                             : roundedFloat<float, uint32_t>(rule, a, b, c);
  case addSaturated:
    return uint64_t(clamp(integerValue(type, a) + integerValue(type, b), limits));
  case subSaturated:
    return uint64_t(clamp(integerValue(type, a) - integerValue(type, b), limits));
  case mulHiAdd: {
    Wide x = integerValue(type, a), y = integerValue(type, b);
    Wide product = ptx::isSigned(type) ? x * y : Wide((unsigned __int128)x * (unsigned __int128)y);
    Wide sum = (product >> (ptx::sizeOf(type) * 8)) + integerValue(type, c);
    return uint64_t(rule.saturate ? clamp(sum, limits) : sum);
  }
  case mul24Hi: {
    int64_t x = ptx::isSigned(type) ? int32_t(uint32_t(a) << 8) >> 8 : int64_t(a & 0xffffff);
    int64_t y = ptx::isSigned(type) ? int32_t(uint32_t(b) << 8) >> 8 : int64_t(b & 0xffffff);
    return uint64_t(((x * y) >> 16) + int64_t(c));
  }
  case findBit:
    return findHighest(type, a, false);
  case findBitShift:
    return findHighest(type, a, true);
  case permute:
    return permuteGeneral(a | b << 32, uint32_t(c));
  case permuteF4e:
  case permuteB4e:
  case permuteRc8:
  case permuteEcl:
  case permuteEcr:
  case permuteRc16:
    return permuteBytes(rule.operation, a | b << 32, uint32_t(c));
  case maskClamp:
    return maskOf(uint32_t(a), uint32_t(b), true);
  case maskWrap:
    return maskOf(uint32_t(a), uint32_t(b), false);
  case sizeExtendClamp:
    return sizeExtend(type, uint32_t(a), uint32_t(b), true);
  case sizeExtendWrap:
    return sizeExtend(type, uint32_t(a), uint32_t(b), false);
  case nthSet:
    return nthSetBit(uint32_t(a), uint32_t(b), int32_t(c));
  case dotPair:
    return dot2(rule, uint32_t(a), uint32_t(b), uint32_t(c));
  case insertField:
    return insert(ptx::sizeOf(type) * 8, a, b, uint32_t(c) & 0xff, uint32_t(c >> 8) & 0xff);
  case convertPack:
    return packTwo(rule, uint32_t(a), uint32_t(b), uint32_t(c));
  default:
    return 0;
  }
}

bool testFloat(uint64_t rule, uint64_t bits) {
  double x = floatValue(Type(uint8_t(rule >> 8)), bits, false);
  double least = Type(uint8_t(rule >> 8)) == Type::F64 ? std::numeric_limits<double>::min()
                                                       : std::numeric_limits<float>::min();
  switch (FloatTest(uint8_t(rule))) {
  case finite:
    return std::isfinite(x);
  case infinite:
    return std::isinf(x);
  case isNumber:
    return !std::isnan(x);
  case notNumber:
    return std::isnan(x);
  case normal:
    return std::isfinite(x) && std::fabs(x) >= least;
  case subnormal:
    return x != 0 && std::fabs(x) < least;
  }
  return false;
}

// --- atomics ---

namespace {

template <class T, class F> uint64_t update(void *p, F f) {
  T *word = static_cast<T *>(p);
  T old = __atomic_load_n(word, __ATOMIC_RELAXED), wanted;
  do
    wanted = f(old);
  while (!__atomic_compare_exchange_n(word, &old, wanted, true, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED));
  return old;
}

template <class T> uint64_t compareExchange(void *p, uint64_t expected, uint64_t wanted) {
  T old = T(expected);
  __atomic_compare_exchange_n(static_cast<T *>(p), &old, T(wanted), false, __ATOMIC_SEQ_CST,
                              __ATOMIC_SEQ_CST);
  return old;
}

template <class T, class S> uint64_t updateMinimum(void *p, uint64_t b) {
  return update<T>(p, [=](T old) { return S(b) < S(old) ? T(b) : old; });
}
template <class T, class S> uint64_t updateMaximum(void *p, uint64_t b) {
  return update<T>(p, [=](T old) { return S(b) > S(old) ? T(b) : old; });
}

uint16_t addHalf(Type type, uint16_t a, uint16_t b) {
  Format f = formatOf(type);
  return uint16_t(encode(decode(a, f) + decode(b, f), f, Rounding::Nearest, false));
}
/// The one that is no NaN; -0 is below +0.
uint16_t leastHalf(Type type, uint16_t a, uint16_t b) {
  double x = decode(a, formatOf(type)), y = decode(b, formatOf(type));
  bool first = std::isnan(y) || x < y || (x == y && std::signbit(x));
  return std::isnan(x) || !first ? b : a;
}
uint16_t mostHalf(Type type, uint16_t a, uint16_t b) {
  double x = decode(a, formatOf(type)), y = decode(b, formatOf(type));
  bool first = std::isnan(y) || x > y || (x == y && !std::signbit(x));
  return std::isnan(x) || !first ? b : a;
}

using HalfUpdate = uint16_t (*)(Type, uint16_t, uint16_t);
uint64_t updateHalf(Type type, HalfUpdate f, void *p, uint64_t b) {
  return update<uint16_t>(p, [=](uint16_t old) { return f(type, old, uint16_t(b)); });
}
uint64_t updateHalves(Type type, HalfUpdate f, void *p, uint64_t b) {
  return update<uint32_t>(p, [=](uint32_t old) {
    return f(type, uint16_t(old), uint16_t(b)) | uint32_t(f(type, uint16_t(old >> 16), uint16_t(b >> 16)))
                                                     << 16;
  });
}

struct NamedAtomic {
  const char *name;
  Type type;
  Atomic atomic;
};
const NamedAtomic namedAtomics[] = {
    {"exch", Type::B32, atomExchange32},  {"exch", Type::B64, atomExchange64},
    {"cas", Type::B16, atomCas16},        {"cas", Type::B32, atomCas32},
    {"cas", Type::B64, atomCas64},        {"add", Type::U32, atomAdd32},
    {"add", Type::S32, atomAdd32},        {"add", Type::U64, atomAdd64},
    {"add", Type::S64, atomAdd64},        {"add", Type::F32, atomAddF32},
    {"add", Type::F64, atomAddF64},       {"add", Type::F16, atomAddF16},
    {"add", Type::BF16, atomAddBf16},     {"add", Type::F16x2, atomAddF16x2},
    {"add", Type::BF16x2, atomAddBf16x2}, {"and", Type::B32, atomAnd32},
    {"and", Type::B64, atomAnd64},        {"or", Type::B32, atomOr32},
    {"or", Type::B64, atomOr64},          {"xor", Type::B32, atomXor32},
    {"xor", Type::B64, atomXor64},        {"min", Type::U32, atomMinU32},
    {"min", Type::S32, atomMinS32},       {"min", Type::U64, atomMinU64},
    {"min", Type::S64, atomMinS64},       {"max", Type::U32, atomMaxU32},
    {"max", Type::S32, atomMaxS32},       {"max", Type::U64, atomMaxU64},
    {"max", Type::S64, atomMaxS64},       {"inc", Type::U32, atomInc32},
    {"dec", Type::U32, atomDec32},        {"min", Type::F16, atomMinF16},
    {"min", Type::BF16, atomMinBf16},     {"min", Type::F16x2, atomMinF16x2},
    {"min", Type::BF16x2, atomMinBf16x2}, {"max", Type::F16, atomMaxF16},
    {"max", Type::BF16, atomMaxBf16},     {"max", Type::F16x2, atomMaxF16x2},
    {"max", Type::BF16x2, atomMaxBf16x2},
};

bool isBitwise(const char *name) {
  for (const char *other : {"exch", "cas", "and", "or", "xor"})
    if (!strcmp(name, other))
      return true;
  return false;
}

} // namespace

Atomic atomicNamed(const char *operation, uint8_t typeNumber) {
  Type type = Type(typeNumber);
  if (isBitwise(operation)) // any type of the size
    type = ptx::sizeOf(type) == 8 ? Type::B64 : ptx::sizeOf(type) == 4 ? Type::B32 : Type::B16;
  for (const NamedAtomic &known : namedAtomics)
    if (known.type == type && !strcmp(known.name, operation))
      return known.atomic;
  return noAtomic;
}

uint64_t atomic(uint8_t operation, void *p, uint64_t b, uint64_t c) {
  using u32 = uint32_t;
  using u64 = uint64_t;
  switch (Atomic(operation)) {
  case atomExchange32:
    return __atomic_exchange_n(static_cast<u32 *>(p), u32(b), __ATOMIC_SEQ_CST);
  case atomExchange64:
    return __atomic_exchange_n(static_cast<u64 *>(p), b, __ATOMIC_SEQ_CST);
  case atomCas16:
    return compareExchange<uint16_t>(p, b, c);
  case atomCas32:
    return compareExchange<u32>(p, b, c);
  case atomCas64:
    return compareExchange<u64>(p, b, c);
  case atomAdd32:
    return __atomic_fetch_add(static_cast<u32 *>(p), u32(b), __ATOMIC_SEQ_CST);
  case atomAdd64:
    return __atomic_fetch_add(static_cast<u64 *>(p), b, __ATOMIC_SEQ_CST);
  case atomAddF32:
    return update<u32>(p, [=](u32 old) { return bitsOf<u32>(bitsOf<float>(old) + bitsOf<float>(u32(b))); });
  case atomAddF64:
    return update<u64>(p, [=](u64 old) { return bitsOf<u64>(bitsOf<double>(old) + bitsOf<double>(b)); });
  case atomAddF16:
    return updateHalf(Type::F16, addHalf, p, b);
  case atomAddBf16:
    return updateHalf(Type::BF16, addHalf, p, b);
  case atomAddF16x2:
    return updateHalves(Type::F16, addHalf, p, b);
  case atomAddBf16x2:
    return updateHalves(Type::BF16, addHalf, p, b);
  case atomMinF16:
    return updateHalf(Type::F16, leastHalf, p, b);
  case atomMinBf16:
    return updateHalf(Type::BF16, leastHalf, p, b);
  case atomMinF16x2:
    return updateHalves(Type::F16, leastHalf, p, b);
  case atomMinBf16x2:
    return updateHalves(Type::BF16, leastHalf, p, b);
  case atomMaxF16:
    return updateHalf(Type::F16, mostHalf, p, b);
  case atomMaxBf16:
    return updateHalf(Type::BF16, mostHalf, p, b);
  case atomMaxF16x2:
    return updateHalves(Type::F16, mostHalf, p, b);
  case atomMaxBf16x2:
    return updateHalves(Type::BF16, mostHalf, p, b);
  case noAtomic:
    return 0;
  case atomAnd32:
    return __atomic_fetch_and(static_cast<u32 *>(p), u32(b), __ATOMIC_SEQ_CST);
  case atomAnd64:
    return __atomic_fetch_and(static_cast<u64 *>(p), b, __ATOMIC_SEQ_CST);
  case atomOr32:
    return __atomic_fetch_or(static_cast<u32 *>(p), u32(b), __ATOMIC_SEQ_CST);
  case atomOr64:
    return __atomic_fetch_or(static_cast<u64 *>(p), b, __ATOMIC_SEQ_CST);
  case atomXor32:
    return __atomic_fetch_xor(static_cast<u32 *>(p), u32(b), __ATOMIC_SEQ_CST);
  case atomXor64:
    return __atomic_fetch_xor(static_cast<u64 *>(p), b, __ATOMIC_SEQ_CST);
  case atomMinU32:
    return updateMinimum<u32, u32>(p, b);
  case atomMinS32:
    return updateMinimum<u32, int32_t>(p, b);
  case atomMinU64:
    return updateMinimum<u64, u64>(p, b);
  case atomMinS64:
    return updateMinimum<u64, int64_t>(p, b);
  case atomMaxU32:
    return updateMaximum<u32, u32>(p, b);
  case atomMaxS32:
    return updateMaximum<u32, int32_t>(p, b);
  case atomMaxU64:
    return updateMaximum<u64, u64>(p, b);
  case atomMaxS64:
    return updateMaximum<u64, int64_t>(p, b);
  case atomInc32:
    return update<u32>(p, [=](u32 old) { return old >= u32(b) ? 0 : old + 1; });
  case atomDec32:
    return update<u32>(p, [=](u32 old) { return old == 0 || old > u32(b) ? u32(b) : old - 1; });
  }
  return 0;
}

} // namespace joule::vgpu::scalar
