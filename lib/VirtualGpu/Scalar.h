// Instructions worked one lane at a time, by functions compiled once for every machine: the rare ones, and
// those whose result must not depend on the instruction set.
#pragma once

#include <cstdint>

namespace joule::vgpu::scalar {

float log2(float x);
float sine(float x);
float cosine(float x);
float tanh(float x);

/// What `convert` and `arithmetic` do is packed into one constant.
enum class Rounding : uint8_t { Nearest, Zero, Down, Up, Away };
struct Rule {
  uint8_t operation = 0;    // Arithmetic, for `arithmetic`
  uint8_t to = 0, from = 0; // ptx::Type
  Rounding rounding = Rounding::Nearest;
  bool toIntegral = false; // .rni and its kin
  bool ftz = false, saturate = false, relu = false;
};
inline uint64_t pack(const Rule &rule) {
  return uint64_t(rule.operation) | uint64_t(rule.to) << 8 | uint64_t(rule.from) << 16 |
         uint64_t(rule.rounding) << 24 | uint64_t(rule.toIntegral) << 32 | uint64_t(rule.ftz) << 33 |
         uint64_t(rule.saturate) << 34 | uint64_t(rule.relu) << 35;
}

uint64_t convert(uint64_t rule, uint64_t bits);

enum Arithmetic : uint8_t {
  addRounded,
  subRounded,
  mulRounded,
  fmaRounded,
  divRounded,
  rcpRounded,
  sqrtRounded, // with a rounding other than nearest
  addSaturated,
  subSaturated,
  mulHiAdd,
  mul24Hi,
  insertField,
  findBit,
  findBitShift,
  permute,
  permuteF4e,
  permuteB4e,
  permuteRc8,
  permuteEcl,
  permuteEcr,
  permuteRc16,
  maskClamp,
  maskWrap,
  sizeExtendClamp,
  sizeExtendWrap,
  nthSet,
  dotPair, // dp2a
  convertPack
};
uint64_t arithmetic(uint64_t rule, uint64_t a, uint64_t b, uint64_t c);

enum FloatTest : uint8_t { finite, infinite, isNumber, notNumber, normal, subnormal };
/// The low byte of `rule` is a FloatTest, the next the type.
bool testFloat(uint64_t rule, uint64_t bits);

enum Atomic : uint8_t {
  atomExchange32,
  atomExchange64,
  atomCas16,
  atomCas32,
  atomCas64,
  atomAdd32,
  atomAdd64,
  atomAddF32,
  atomAddF64,
  atomAddF16,
  atomAddBf16,
  atomAddF16x2,
  atomAddBf16x2,
  atomAnd32,
  atomAnd64,
  atomOr32,
  atomOr64,
  atomXor32,
  atomXor64,
  atomMinU32,
  atomMinS32,
  atomMinU64,
  atomMinS64,
  atomMaxU32,
  atomMaxS32,
  atomMaxU64,
  atomMaxS64,
  atomInc32,
  atomDec32,
  atomMinF16,
  atomMinBf16,
  atomMinF16x2,
  atomMinBf16x2,
  atomMaxF16,
  atomMaxBf16,
  atomMaxF16x2,
  atomMaxBf16x2,
  noAtomic
};
/// "add" on a ptx::Type; noAtomic where there is none.
Atomic atomicNamed(const char *operation, uint8_t type);
/// Applies to the memory at `p` in one step and returns what was there.
uint64_t atomic(uint8_t operation, void *p, uint64_t b, uint64_t c);

/// `bfe`: `length` bits of `value` from bit `position`; the sign is the highest bit taken.
template <class T>
inline __attribute__((always_inline)) T extractField(T value, uint32_t position, uint32_t length) {
  constexpr uint32_t width = sizeof(T) * 8;
  position &= 0xff, length &= 0xff;
  constexpr bool isSigned = T(-1) < 0;
  T sign = isSigned && value < 0 ? T(-1) : T(0);
  if (length == 0)
    return 0;
  T shifted = position >= width ? sign : T(value >> position);
  if (length >= width || (isSigned && position + length > width))
    return shifted;
  uint32_t rest = width - length;
  T raised = T(uint64_t(shifted) << rest);
  return T(raised >> rest);
}

} // namespace joule::vgpu::scalar
