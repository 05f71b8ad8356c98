// Products of matrices as the matrix units compute them, bit for bit; MatrixRule.h says how. Included only by
// files that are compiled once per instruction set.
//
// Sixteen rows are computed at a time, one in each lane of a vector. Exponents are integers of their own, so
// that no product overflows; a cut term is a 32-bit integer, and two sums of at most 16 of them each cannot
// overflow.
#pragma once

#include "lib/VirtualGpu/HandlerParts.h"
#include "lib/VirtualGpu/MatrixRule.h"

namespace joule::vgpu::JOULE_VGPU_ISA {
namespace {

using Float16 = f32 __attribute__((vector_size(64)));
using Int16 = s32 __attribute__((vector_size(64)));
using Short16 = s16 __attribute__((vector_size(32)));

constexpr s32 exponentOfZero = -400; // of a factor: that of its product is below every other

template <class V, class T> JOULE_INLINE V loadVector(const T *from) {
  V v;
  memcpy(&v, from, sizeof v);
  return v;
}
template <class V, class T> JOULE_INLINE void storeVector(T *to, V v) { memcpy(to, &v, sizeof v); }
JOULE_INLINE Int16 larger(Int16 a, Int16 b) { return a > b ? a : b; }
JOULE_INLINE Short16 larger(Short16 a, Short16 b) { return a > b ? a : b; }

/// x = significand * 2^exponent, where the exponent is at least `smallest`; 0 has `ofZero`.
JOULE_INLINE void takeApart(Float16 x, s32 smallest, s32 ofZero, Float16 &significand, Int16 &exponent) {
  Int16 bits = (Int16)x, e = (bits >> 23 & 0xff) - 127;
  Float16 normal = (Float16)((bits & s32(0x807fffff)) | 0x3f800000);
  Float16 small = x * bitsOf<f32>(u32(127 - smallest) << 23);
  significand = (Float16)(e >= smallest ? (Int16)normal : (Int16)small);
  exponent = (bits & 0x7fffffff) == 0 ? Int16{} + ofZero : larger(e, Int16{} + smallest);
}
JOULE_INLINE void takeApart(const f32 *x, int count, s32 smallest, f32 *significands, s32 *exponents) {
  Float16 s;
  Int16 e;
  int i = 0;
  for (; i + 16 <= count; i += 16) {
    takeApart(loadVector<Float16>(x + i), smallest, exponentOfZero, s, e);
    storeVector(significands + i, s);
    storeVector(exponents + i, e);
  }
  if (i == count)
    return;
  Float16 rest = {};
  memcpy(&rest, x + i, sizeof(f32) * size_t(count - i));
  takeApart(rest, smallest, exponentOfZero, s, e);
  memcpy(significands + i, &s, sizeof(f32) * size_t(count - i));
  memcpy(exponents + i, &e, sizeof(s32) * size_t(count - i));
}

/// The exponents alone.
JOULE_INLINE void exponentsOf(const f32 *x, int count, s32 smallest, s16 *exponents) {
  for (int i = 0; i < count; ++i) {
    u32 magnitude = bitsOf<u32>(x[i]) & 0x7fffffffu;
    s32 e = s32(magnitude >> 23) - 127;
    e = e < smallest ? smallest : e;
    exponents[i] = s16(magnitude == 0 ? exponentOfZero : e);
  }
}

/// Is everything zero or so near to one that no product overflows or underflows?
JOULE_INLINE bool allModerate(const f32 *x, int count) {
  u32 far = 0;
  for (int i = 0; i < count; ++i) {
    u32 magnitude = bitsOf<u32>(x[i]) & 0x7fffffffu;
    far |= u32(magnitude != 0) & u32(magnitude - (77u << 23) >= 100u << 23); // 2^-50 to 2^50
  }
  return far == 0;
}

JOULE_INLINE bool allFinite(const f32 *x, int count) {
  u32 most = 0;
  for (int i = 0; i < count; ++i) {
    u32 e = bitsOf<u32>(x[i]) & 0x7f800000u;
    most = e > most ? e : most;
  }
  return most != 0x7f800000u;
}

/// An exact sum, rounded once; `value` is finite.
JOULE_INLINE f32 roundSum(f64 value, int resultFraction) {
  u64 bits = bitsOf<u64>(value);
  s64 exponent = s64(bits >> 52 & 0x7ff) - 1023, smallest = resultFraction == 10 ? -14 : -126;
  s64 kept = exponent < smallest ? smallest : exponent;
  f64 unit = bitsOf<f64>(u64(kept - resultFraction + 1023) << 52); // of the last place
  f64 steps = __builtin_fabs(value) / unit;                        // below 2^53
  f64 whole = resultFraction == 10 ? (steps + 0x1p52) - 0x1p52 : f64(s64(steps));
  f64 rounded = whole * unit;
  if (rounded >= (resultFraction == 10 ? 0x1p16 : 0x1p128))
    rounded = bitsOf<f64>(0x7ff0000000000000ull);
  return f32(value < 0 ? -rounded : rounded);
}

/// Any sums, lane by lane: (first + second) * 2^scale.
__attribute__((noinline)) inline void finishSlowly(const s32 *first, const s32 *second, const s32 *scale,
                                                   int resultFraction, f32 *out) {
  for (int i = 0; i < 16; ++i) {
    f64 power = bitsOf<f64>(u64(scale[i] + 1023) << 52);
    out[i] = roundSum((f64(first[i]) + f64(second[i])) * power, resultFraction);
  }
}

/// To the nearest f16: adding a number whose last place is that of the result rounds there. `x` has been cut
/// to odd.
JOULE_INLINE Float16 roundToHalf(Float16 x) {
  Int16 bits = (Int16)x, e = larger(bits >> 23 & 0xff, Int16{} + (127 - 14));
  Float16 large = (Float16)(((e + 13) << 23) | 0x400000);
  Int16 rounded = (Int16)((x + large) - large);
  rounded =
      (rounded & 0x7fffffff) >= 0x47800000 ? Int16{} + 0x7f800000 : rounded & 0x7fffffff; // from 2^16 on
  Int16 huge = Int16{} + 0x7f800000;
  return (Float16)((e >= 127 + 16 ? huge : rounded) | (bits & s32(0x80000000)));
}

JOULE_INLINE bool anyLane(Int16 mask) {
  Word8 pairs;
  static_assert(sizeof pairs == sizeof mask);
  memcpy(&pairs, &mask, sizeof mask);
  return any(pairs);
}

/// (first + second) * 2^scale, rounded. Sums that nearly overflow and results beyond the normal range go
/// slowly.
JOULE_INLINE Float16 finish(Int16 first, Int16 second, Int16 scale, int resultFraction) {
  Int16 sum = first + second, magnitude = sum < 0 ? -sum : sum;
  Int16 bad = (((first ^ sum) & (second ^ sum)) < 0) | (magnitude < 0) | (magnitude > 0x7fffff00);
  Float16 cut = __builtin_convertvector(magnitude, Float16);
  Int16 back = __builtin_convertvector(cut, Int16), bits = (Int16)cut;
  bits += back > magnitude; // one last place less
  if (resultFraction == 10) {
    Int16 odd = (back != magnitude) & 1; // in the last place: what was cut off then still decides
    bits |= odd;
  }
  Int16 exponent = (bits >> 23) + scale;
  bad |= (magnitude != 0) & ((exponent <= 0) | (exponent >= 255));
  Int16 result = (sum & s32(0x80000000)) | (magnitude == 0 ? magnitude : bits + (scale << 23));
  if (__builtin_expect(anyLane(bad), 0)) {
    f32 out[16];
    finishSlowly(reinterpret_cast<const s32 *>(&first), reinterpret_cast<const s32 *>(&second),
                 reinterpret_cast<const s32 *>(&scale), resultFraction, out);
    return loadVector<Float16>(out);
  }
  if (resultFraction == 10)
    return roundToHalf((Float16)result);
  return (Float16)(result & ~((1 << (23 - resultFraction)) - 1));
}

constexpr int mostOfA = 64 * 32, mostColumns = 8, mostOfK = 32;

/// Factors taken apart. A: by blocks of sixteen rows, in each k columns. B: up to eight columns of k.
/// Moderate factors are multiplied as they are, and only their exponents are here.
struct ApartFactors {
  alignas(64) f32 a[mostOfA];
  alignas(64) s32 exponentsOfA[mostOfA];
  alignas(64) f32 b[mostColumns * mostOfK];
  alignas(64) s32 exponentsOfB[mostColumns * mostOfK];
  alignas(64) s16 shortExponentsOfA[mostOfA];
  alignas(64) s16 shortExponentsOfB[mostColumns * mostOfK];
};

/// c as an integer, in units of 2^(top - fraction).
JOULE_INLINE Int16 cutAddend(Float16 significand, Int16 exponent, Int16 top, int fraction) {
  // Far below the last place a term is cut to nothing, so its power of two need not be smaller.
  Int16 power = larger(exponent - top, Int16{} - 60) + (fraction + 127);
  return __builtin_convertvector(significand * (Float16)(power << 23), Int16);
}

JOULE_INLINE Float16 sumOrOverflow(const MatrixRule &rule, Int16 first, Int16 second, Int16 top, Float16 c) {
  Int16 overflown = ((Int16)c & 0x7f800000) == 0x7f800000;
  Float16 sum = finish(first, second, top - rule.fraction, rule.resultFraction);
  return (Float16)(overflown ? (Int16)c : (Int16)sum);
}

/// Sixteen rows of one column: c plus K products.
template <int K>
JOULE_INLINE Float16 addProducts(const MatrixRule &rule, const f32 *a, const s32 *ea, const f32 *b,
                                 const s32 *eb, Float16 c) {
  Float16 sc;
  Int16 ec, x[K];
  takeApart(c, -126, -126, sc, ec);
  Int16 top = ec;
  for (int k = 0; k < K; ++k)
    top = larger(top, x[k] = loadVector<Int16>(ea + k * 16) + eb[k]);
  Int16 floor = top - 60, bias = top - (rule.fraction + 127);
  Int16 sums[2] = {Int16{}, cutAddend(sc, ec, top, rule.fraction)};
  for (int k = 0; k < K; ++k) {
    Float16 product = loadVector<Float16>(a + k * 16) * b[k];
    sums[k < K / 2] +=
        __builtin_convertvector(product * (Float16)((larger(x[k], floor) - bias) << 23), Int16);
  }
  return sumOrOverflow(rule, sums[0], sums[1], top, c);
}

/// The same of moderate factors, whose products are exact in f32; m is the distance of A's columns.
template <int K>
JOULE_INLINE Float16 addModerateProducts(const MatrixRule &rule, const f32 *a, int m, const s16 *ea,
                                         const f32 *b, const s16 *eb, Float16 c) {
  Float16 sc;
  Int16 ec;
  takeApart(c, -126, -126, sc, ec);
  Short16 most = loadVector<Short16>(ea) + eb[0];
  for (int k = 1; k < K; ++k)
    most = larger(most, loadVector<Short16>(ea + k * 16) + eb[k]);
  Int16 top = larger(ec, __builtin_convertvector(most, Int16));
  // The largest power of two is too small only where all products are zero.
  Float16 scale = (Float16)((rule.fraction + 127 - larger(top, Int16{} + (rule.fraction - 127))) << 23);
  Int16 sums[2] = {Int16{}, cutAddend(sc, ec, top, rule.fraction)};
  for (int k = 0; k < K; ++k)
    sums[k < K / 2] += __builtin_convertvector(loadVector<Float16>(a + k * m) * b[k] * scale, Int16);
  return sumOrOverflow(rule, sums[0], sums[1], top, c);
}

/// What infinities and NaNs among the terms make of a sum; `finite` if there are none.
inline f32 specialSum(f32 c, const f32 *a, int m, const f32 *b, int count, f32 finite) {
  f32 sum = c - c == 0 ? 0 : c;
  for (int k = 0; k < count; ++k)
    if (!(a[k * m] - a[k * m] == 0) || !(b[k] - b[k] == 0))
      sum += a[k * m] * b[k];
  return sum != sum ? bitsOf<f32>(0x7fffffffu) : sum == 0 ? finite : sum;
}

/// The operands of a product, or of some of its columns, as multiplyExactly takes them.
struct Factors {
  int m, n, k;
  const f32 *a, *b;
  bool finite;   // a, b and c
  bool moderate; // a and b
};

/// The products [first, first + K) of sixteen rows, to p.n columns of d. One column does not wait for the
/// other, so the processor works on several.
template <int K>
inline void addStep(const MatrixRule &rule, const ApartFactors &f, const Factors &p, int block, int first,
                    f32 *d) {
  int inA = (block * p.k + first) * 16;
  for (int j = 0; j < p.n; ++j) {
    int inB = j * p.k + first;
    Float16 c = loadVector<Float16>(d + j * p.m);
    storeVector(d + j * p.m, p.moderate ? addModerateProducts<K>(rule, p.a + first * p.m + block * 16, p.m,
                                                                 f.shortExponentsOfA + inA, p.b + inB,
                                                                 f.shortExponentsOfB + inB, c)
                                        : addProducts<K>(rule, f.a + inA, f.exponentsOfA + inA, f.b + inB,
                                                         f.exponentsOfB + inB, c));
  }
}

__attribute__((noinline)) inline void mendColumns(const Factors &p, int block, int first, int step,
                                                  const f32 *before, f32 *d) {
  for (int j = 0; j < p.n; ++j)
    for (int i = 0; i < 16; ++i)
      d[j * p.m + i] = specialSum(before[j * 16 + i], p.a + first * p.m + block * 16 + i, p.m,
                                  p.b + j * p.k + first, step, d[j * p.m + i]);
}

/// Up to eight columns, sixteen rows; d holds c.
template <int K>
JOULE_INLINE void addColumns(const MatrixRule &rule, const ApartFactors &f, const Factors &p, int block,
                             f32 *d) {
  f32 before[16 * mostColumns];
  for (int first = 0; first < p.k; first += K) {
    for (int j = 0; j < p.n && !p.finite; ++j)
      memcpy(before + j * 16, d + j * p.m, sizeof(f32) * 16);
    addStep<K>(rule, f, p, block, first, d);
    if (__builtin_expect(!p.finite, 0))
      mendColumns(p, block, first, K, before, d);
  }
}

inline void addBlock(const MatrixRule &rule, const ApartFactors &f, const Factors &p, int block, f32 *d) {
  switch (rule.step < p.k ? rule.step : p.k) {
  case 4:
    return addColumns<4>(rule, f, p, block, d);
  case 8:
    return addColumns<8>(rule, f, p, block, d);
  case 16:
    return addColumns<16>(rule, f, p, block, d);
  default:
    return addColumns<32>(rule, f, p, block, d);
  }
}

/// d = a * b + c. A lies as k columns of m rows, B as n columns of k rows, c and d as n columns of m rows;
/// each value is exact in f32 (tf32 already cut, an f16 result widened). m is a multiple of 16, m * k at most
/// 2048, k one of 4, 8, 16, 32. c and d may be the same.
inline void multiplyExactly(const MatrixRule &rule, int m, int n, int k, const f32 *a, const f32 *b,
                            const f32 *c, f32 *d) {
  ApartFactors f;
  bool finiteFactors = allFinite(a, m * k) && allFinite(b, n * k);
  bool finite = finiteFactors && allFinite(c, m * n);
  // Of f16 and fp8 all finite numbers are.
  bool moderate =
      finiteFactors && (rule.smallestExponent > -50 || (allModerate(a, m * k) && allModerate(b, n * k)));
  for (int block = 0; block < m / 16; ++block)
    for (int column = 0; column < k; ++column) {
      const f32 *from = a + column * m + block * 16;
      int to = (block * k + column) * 16;
      if (moderate)
        exponentsOf(from, 16, rule.smallestExponent, f.shortExponentsOfA + to);
      else
        takeApart(from, 16, rule.smallestExponent, f.a + to, f.exponentsOfA + to);
    }
  if (c != d)
    memmove(d, c, sizeof(f32) * size_t(m) * size_t(n));
  for (int j = 0; j < n; j += mostColumns) {
    Factors p = {m, n - j < mostColumns ? n - j : mostColumns, k, a, b + j * k, finite, moderate};
    if (moderate)
      exponentsOf(p.b, p.n * k, rule.smallestExponent, f.shortExponentsOfB);
    else
      takeApart(p.b, p.n * k, rule.smallestExponent, f.b, f.exponentsOfB);
    for (int block = 0; block < m / 16; ++block)
      addBlock(rule, f, p, block, d + j * m + block * 16);
  }
}

} // namespace
} // namespace joule::vgpu::JOULE_VGPU_ISA
