// mma.sync on fragments in vector registers, without taking the matrices apart. Of the 32 lanes, (g, t) = (l
// / 4, l % 4) holds rows g and g + 8 of A and C, and column g of B. So a row's element of A is in one of four
// neighbours, and B's row is the same for all g: a shuffle inside 128 bits and a permutation bring them where
// C is. Each element of C is summed in the order of k, as in multiplyMatrices, so the bits are the same.
#pragma once

#include "lib/VirtualGpu/MatrixParts.h"

#if defined(__AVX2__)

namespace joule::vgpu::JOULE_VGPU_ISA {
namespace {

// Of one vector: loads and stores, the element of a register that a step of k looks at (one per lane; of
// bytes, 0 and 2, or 1 and 3, as pairs of 16 bits), and arithmetic.

template <class E> struct Element;

#if defined(__AVX512F__)

using Part = __m512i;
constexpr int parts = 2;      // of a register's 32 lanes
constexpr int rowsAtOnce = 2; // of the two that a lane holds: as many as sums fit the machine's registers

JOULE_INLINE Part load(const u8 *p) { return _mm512_loadu_si512(p); }
JOULE_INLINE void store(u8 *p, Part x) { _mm512_storeu_si512(p, x); }
JOULE_INLINE Part zero() { return _mm512_setzero_si512(); }

template <> struct Element<f16> {
  JOULE_INLINE Part of(Part x, int e) {
    Part shifted = e ? _mm512_srli_epi32(x, 16) : x;
    return _mm512_castps_si512(_mm512_cvtph_ps(_mm512_cvtepi32_epi16(shifted)));
  }
};
template <> struct Element<bf16> {
  JOULE_INLINE Part of(Part x, int e) {
    return e ? _mm512_and_si512(x, _mm512_set1_epi32(s32(0xffff0000u))) : _mm512_slli_epi32(x, 16);
  }
};
template <> struct Element<Tf32> {
  JOULE_INLINE Part of(Part x, int) { return _mm512_and_si512(x, _mm512_set1_epi32(s32(0xffffe000u))); }
};
template <> struct Element<s8> {
  JOULE_INLINE Part of(Part x, int e) { return _mm512_srai_epi16(e ? x : _mm512_slli_epi16(x, 8), 8); }
};
template <> struct Element<u8> {
  JOULE_INLINE Part of(Part x, int e) {
    return e ? _mm512_srli_epi16(x, 8) : _mm512_and_si512(x, _mm512_set1_epi16(0xff));
  }
};

JOULE_INLINE Part multiplyReal(Part a, Part b, Part c) {
  return _mm512_castps_si512(
      _mm512_fmadd_ps(_mm512_castsi512_ps(a), _mm512_castsi512_ps(b), _mm512_castsi512_ps(c)));
}
JOULE_INLINE Part multiplyPairs(Part a, Part b, Part c) {
  return _mm512_add_epi32(c, _mm512_madd_epi16(a, b));
}
/// What does not fit stays at the end of the range.
JOULE_INLINE Part add(Part x, Part y, bool saturate) {
  Part both = _mm512_add_epi32(x, y);
  if (!saturate)
    return both;
  Part over =
      _mm512_and_si512(_mm512_xor_si512(both, x), _mm512_xor_si512(both, y)); // another sign than both
  Part end = _mm512_xor_si512(_mm512_srai_epi32(y, 31), _mm512_set1_epi32(0x7fffffff));
  return _mm512_mask_mov_epi32(both, _mm512_movepi32_mask(over), end);
}

/// The element of a register that lanes t = T hold, in all of their row.
template <int T> JOULE_INLINE Part ofNeighbour(Part x) {
  return _mm512_shuffle_epi32(x, _MM_PERM_ENUM(0x55 * T));
}

/// B's elements, one per lane.
struct Columns {
  Part v[2];
  JOULE_INLINE void turn(Columns &) {}
  /// Of column 2t + odd in the row that lanes t = `row` hold.
  JOULE_INLINE Part of(const Columns &b, int odd, int row) {
    Part lane = _mm512_set4_epi32(24, 16, 8, 0);
    return _mm512_permutex2var_epi32(b.v[0], _mm512_add_epi32(lane, _mm512_set1_epi32(4 * odd + row)),
                                     b.v[1]);
  }
};

#else

using Part = __m256i;
constexpr int parts = 4;
constexpr int rowsAtOnce = 1;

JOULE_INLINE Part load(const u8 *p) { return _mm256_loadu_si256(reinterpret_cast<const __m256i *>(p)); }
JOULE_INLINE void store(u8 *p, Part x) { _mm256_storeu_si256(reinterpret_cast<__m256i *>(p), x); }
JOULE_INLINE Part zero() { return _mm256_setzero_si256(); }

template <> struct Element<f16> {
  JOULE_INLINE Part of(Part x, int e) {
    Part low = e ? _mm256_srli_epi32(x, 16) : _mm256_and_si256(x, _mm256_set1_epi32(0xffff));
    Part packed = _mm256_permute4x64_epi64(_mm256_packus_epi32(low, low), 0x08);
    return _mm256_castps_si256(_mm256_cvtph_ps(_mm256_castsi256_si128(packed)));
  }
};
template <> struct Element<bf16> {
  JOULE_INLINE Part of(Part x, int e) {
    return e ? _mm256_and_si256(x, _mm256_set1_epi32(s32(0xffff0000u))) : _mm256_slli_epi32(x, 16);
  }
};
template <> struct Element<Tf32> {
  JOULE_INLINE Part of(Part x, int) { return _mm256_and_si256(x, _mm256_set1_epi32(s32(0xffffe000u))); }
};
template <> struct Element<s8> {
  JOULE_INLINE Part of(Part x, int e) { return _mm256_srai_epi16(e ? x : _mm256_slli_epi16(x, 8), 8); }
};
template <> struct Element<u8> {
  JOULE_INLINE Part of(Part x, int e) {
    return e ? _mm256_srli_epi16(x, 8) : _mm256_and_si256(x, _mm256_set1_epi16(0xff));
  }
};

JOULE_INLINE Part multiplyReal(Part a, Part b, Part c) {
  return _mm256_castps_si256(
      _mm256_fmadd_ps(_mm256_castsi256_ps(a), _mm256_castsi256_ps(b), _mm256_castsi256_ps(c)));
}
JOULE_INLINE Part multiplyPairs(Part a, Part b, Part c) {
  return _mm256_add_epi32(c, _mm256_madd_epi16(a, b));
}
/// What does not fit stays at the end of the range.
JOULE_INLINE Part add(Part x, Part y, bool saturate) {
  Part both = _mm256_add_epi32(x, y);
  if (!saturate)
    return both;
  Part over =
      _mm256_and_si256(_mm256_xor_si256(both, x), _mm256_xor_si256(both, y)); // another sign than both
  Part end = _mm256_xor_si256(_mm256_srai_epi32(y, 31), _mm256_set1_epi32(0x7fffffff));
  return _mm256_castps_si256(
      _mm256_blendv_ps(_mm256_castsi256_ps(both), _mm256_castsi256_ps(end), _mm256_castsi256_ps(over)));
}

/// The element of a register that lanes t = T hold, in all of their row.
template <int T> JOULE_INLINE Part ofNeighbour(Part x) { return _mm256_shuffle_epi32(x, 0x55 * T); }

/// B's elements, one per lane; once turned, v[t] has the row that lanes t held: its even columns, then its
/// odd ones.
struct Columns {
  Part v[4];
  JOULE_INLINE void turn(Columns &b) {
    Part low01 = _mm256_unpacklo_epi32(b.v[0], b.v[1]), high01 = _mm256_unpackhi_epi32(b.v[0], b.v[1]);
    Part low23 = _mm256_unpacklo_epi32(b.v[2], b.v[3]), high23 = _mm256_unpackhi_epi32(b.v[2], b.v[3]);
    b.v[0] = _mm256_unpacklo_epi64(low01, low23), b.v[1] = _mm256_unpackhi_epi64(low01, low23);
    b.v[2] = _mm256_unpacklo_epi64(high01, high23), b.v[3] = _mm256_unpackhi_epi64(high01, high23);
  }
  /// Of column 2t + odd in the row that lanes t = `row` hold.
  JOULE_INLINE Part of(const Columns &b, int odd, int row) {
    return _mm256_broadcastsi128_si256(_mm_loadu_si128(reinterpret_cast<const __m128i *>(&b.v[row]) + odd));
  }
};

#endif

struct MultiplyReal {
  JOULE_INLINE Part run(Part a, Part b, Part c) { return multiplyReal(a, b, c); }
};
struct MultiplyPairs {
  JOULE_INLINE Part run(Part a, Part b, Part c) { return multiplyPairs(a, b, c); }
};

struct Register {
  Part v[parts];
};

JOULE_INLINE Register loadRegister(const u8 *r, u32 offset) {
  Register x;
  for (int i = 0; i < parts; ++i)
    x.v[i] = load(r + offset + i * sizeof(Part));
  return x;
}

/// One row of B, the e-th that lanes t = T hold, times what A has for it.
template <class F, int T, int Rows, int Steps>
JOULE_INLINE void multiplyRow(const Register (&a)[Rows][Steps], const Columns (&b)[Steps], int e,
                              Register (&even)[Rows], Register (&odd)[Rows]) {
  Part evenColumns = Columns::of(b[e], 0, T), oddColumns = Columns::of(b[e], 1, T);
  for (int h = 0; h < Rows; ++h)
    for (int i = 0; i < parts; ++i) {
      Part x = ofNeighbour<T>(a[h][e].v[i]);
      even[h].v[i] = F::run(x, evenColumns, even[h].v[i]);
      odd[h].v[i] = F::run(x, oddColumns, odd[h].v[i]);
    }
}

/// sum[2h + odd] += A's rows g + 8h times B's columns 2t + odd, over the groups of four registers in k.
template <class F, class A, class B, int Groups, int Steps>
JOULE_INLINE void accumulate(const u8 *r, const u32 *a, const u32 *b, Register *sum) {
  Columns columns[Groups][Steps];
  for (int q = 0; q < Groups; ++q) {
    Register right = loadRegister(r, b[q]);
    for (int e = 0; e < Steps; ++e) {
      for (int i = 0; i < parts; ++i)
        columns[q][e].v[i] = Element<B>::of(right.v[i], e);
      Columns::turn(columns[q][e]);
    }
  }
  for (int first = 0; first < 2; first += rowsAtOnce) {
    Register even[rowsAtOnce], odd[rowsAtOnce];
    for (int h = 0; h < rowsAtOnce; ++h)
      even[h] = sum[2 * (first + h)], odd[h] = sum[2 * (first + h) + 1];
    for (int q = 0; q < Groups; ++q) {
      Register rows[rowsAtOnce][Steps];
      for (int h = 0; h < rowsAtOnce; ++h) {
        Register left = loadRegister(r, a[2 * q + first + h]);
        for (int e = 0; e < Steps; ++e)
          for (int i = 0; i < parts; ++i)
            rows[h][e].v[i] = Element<A>::of(left.v[i], e);
      }
#pragma GCC unroll 2
      for (int e = 0; e < Steps; ++e)
        multiplyRow<F, 0>(rows, columns[q], e, even, odd);
#pragma GCC unroll 2
      for (int e = 0; e < Steps; ++e)
        multiplyRow<F, 1>(rows, columns[q], e, even, odd);
#pragma GCC unroll 2
      for (int e = 0; e < Steps; ++e)
        multiplyRow<F, 2>(rows, columns[q], e, even, odd);
#pragma GCC unroll 2
      for (int e = 0; e < Steps; ++e)
        multiplyRow<F, 3>(rows, columns[q], e, even, odd);
    }
    for (int h = 0; h < rowsAtOnce; ++h)
      sum[2 * (first + h)] = even[h], sum[2 * (first + h) + 1] = odd[h];
  }
}

/// list: d0..d3, a registers, b registers, c0..c3.
template <class E, int K> Status multiplyInRegisters(const Op *op, u8 *r, Warp *w) {
  constexpr int perRegister = 4 / sizeof(E), groups = K / (4 * perRegister);
  const u32 *list = op->list;
  Register sum[4];
  for (int i = 0; i < 4; ++i)
    sum[i] = loadRegister(r, list[4 + 3 * groups + i]);
  accumulate<MultiplyReal, E, E, groups, perRegister>(r, list + 4, list + 4 + 2 * groups, sum);
  for (int i = 0; i < 4; ++i)
    for (int h = 0; h < parts; ++h)
      store(r + list[i] + h * sizeof(Part), sum[i].v[h]);
  JOULE_NEXT;
}

/// imm: bit 0 A signed, bit 1 B signed, bit 2 saturate. The products' sum fits 32 bits; c may not.
template <int K> Status multiplyBytesInRegisters(const Op *op, u8 *r, Warp *w) {
  constexpr int groups = K / 16;
  const u32 *list = op->list, *a = list + 4, *b = a + 2 * groups;
  Register sum[4];
  for (Register &s : sum)
    for (Part &part : s.v)
      part = zero();
  switch (op->imm & 3) {
  case 0:
    accumulate<MultiplyPairs, u8, u8, groups, 2>(r, a, b, sum);
    break;
  case 1:
    accumulate<MultiplyPairs, s8, u8, groups, 2>(r, a, b, sum);
    break;
  case 2:
    accumulate<MultiplyPairs, u8, s8, groups, 2>(r, a, b, sum);
    break;
  default:
    accumulate<MultiplyPairs, s8, s8, groups, 2>(r, a, b, sum);
  }
  Register c[4]; // before any result is written: it may be one of them
  for (int i = 0; i < 4; ++i)
    c[i] = loadRegister(r, b[groups + i]);
  for (int i = 0; i < 4; ++i)
    for (int h = 0; h < parts; ++h)
      store(r + list[i] + h * sizeof(Part), add(sum[i].v[h], c[i].v[h], op->imm & 4));
  JOULE_NEXT;
}

#define JOULE_MULTIPLY(E, K) multiplyInRegisters<E, K>
#define JOULE_MULTIPLY_BYTES(K) multiplyBytesInRegisters<K>

} // namespace
} // namespace joule::vgpu::JOULE_VGPU_ISA

#else
#define JOULE_MULTIPLY(E, K) multiplyMatrices<E, K, false>
#define JOULE_MULTIPLY_BYTES(K) multiplyByteMatrices<K>
#endif
