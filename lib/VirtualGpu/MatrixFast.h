// mma.sync on fragments in AVX-512 registers, without taking the matrices apart. Of the 32 lanes, (g, t) = (l
// / 4, l % 4) holds rows g and g + 8 of A and C, and column g of B. So a row's element of A is in one of four
// neighbours, and B's row is the same for all g: a shuffle inside 128 bits and a permutation bring them where
// C is. Each element of C is summed in the order of k, as in multiplyMatrices, so the bits are the same.
#pragma once

#include "lib/VirtualGpu/MatrixParts.h"

#if defined(__AVX512F__)

namespace joule::vgpu::JOULE_VGPU_ISA {
namespace {

/// Half a register's 32 lanes each.
struct Halves {
  __m512i v[2];
};

JOULE_INLINE Halves loadHalves(u8 *r, u32 offset) {
  return {{_mm512_loadu_si512(r + offset), _mm512_loadu_si512(r + offset + 64)}};
}

/// The part of a register that a step of k looks at, one element per lane.
template <class E> JOULE_INLINE __m512i elementOf(__m512i x, int e);
template <> inline __attribute__((always_inline)) __m512i elementOf<f16>(__m512i x, int e) {
  __m512i shifted = e ? _mm512_srli_epi32(x, 16) : x;
  return _mm512_castps_si512(_mm512_cvtph_ps(_mm512_cvtepi32_epi16(shifted)));
}
template <> inline __attribute__((always_inline)) __m512i elementOf<bf16>(__m512i x, int e) {
  return e ? _mm512_and_si512(x, _mm512_set1_epi32(s32(0xffff0000u))) : _mm512_slli_epi32(x, 16);
}
template <> inline __attribute__((always_inline)) __m512i elementOf<Tf32>(__m512i x, int) {
  return _mm512_and_si512(x, _mm512_set1_epi32(s32(0xffffe000u)));
}
/// Bytes 0 and 2, or 1 and 3, as pairs of 16 bits.
template <> inline __attribute__((always_inline)) __m512i elementOf<s8>(__m512i x, int e) {
  return _mm512_srai_epi16(e ? x : _mm512_slli_epi16(x, 8), 8);
}
template <> inline __attribute__((always_inline)) __m512i elementOf<u8>(__m512i x, int e) {
  return e ? _mm512_srli_epi16(x, 8) : _mm512_and_si512(x, _mm512_set1_epi16(0xff));
}

JOULE_INLINE __m512i ofNeighbour(__m512i x, int t) {
  switch (t) { // the lane is part of the instruction
  case 0:
    return _mm512_shuffle_epi32(x, _MM_PERM_AAAA);
  case 1:
    return _mm512_shuffle_epi32(x, _MM_PERM_BBBB);
  case 2:
    return _mm512_shuffle_epi32(x, _MM_PERM_CCCC);
  default:
    return _mm512_shuffle_epi32(x, _MM_PERM_DDDD);
  }
}

/// B's element of column 2t + odd in the row that lanes t = `row` hold.
JOULE_INLINE __m512i ofColumn(const Halves &b, int odd, int row) {
  __m512i lane = _mm512_set4_epi32(24, 16, 8, 0);
  return _mm512_permutex2var_epi32(b.v[0], _mm512_add_epi32(lane, _mm512_set1_epi32(4 * odd + row)), b.v[1]);
}

struct MultiplyReal {
  JOULE_INLINE __m512i run(__m512i a, __m512i b, __m512i c) {
    return _mm512_castps_si512(
        _mm512_fmadd_ps(_mm512_castsi512_ps(a), _mm512_castsi512_ps(b), _mm512_castsi512_ps(c)));
  }
};
struct MultiplyPairs {
  JOULE_INLINE __m512i run(__m512i a, __m512i b, __m512i c) {
    return _mm512_add_epi32(c, _mm512_madd_epi16(a, b));
  }
};

/// sum[2h + odd] += A's rows g + 8h times B's columns 2t + odd, over the groups of four registers in k.
template <class F, class A, class B, int Groups, int Steps>
JOULE_INLINE void accumulate(u8 *r, const u32 *a, const u32 *b, Halves *sum) {
  for (int q = 0; q < Groups; ++q) {
    Halves low = loadHalves(r, a[2 * q]), high = loadHalves(r, a[2 * q + 1]), right = loadHalves(r, b[q]);
    Halves rows[Steps][2], columns[Steps];
    for (int e = 0; e < Steps; ++e)
      for (int i = 0; i < 2; ++i) {
        rows[e][0].v[i] = elementOf<A>(low.v[i], e);
        rows[e][1].v[i] = elementOf<A>(high.v[i], e);
        columns[e].v[i] = elementOf<B>(right.v[i], e);
      }
#pragma GCC unroll 4
    for (int t = 0; t < 4; ++t)
#pragma GCC unroll 2
      for (int e = 0; e < Steps; ++e) {
        __m512i even = ofColumn(columns[e], 0, t), odd = ofColumn(columns[e], 1, t);
        for (int h = 0; h < 2; ++h)
          for (int i = 0; i < 2; ++i) {
            __m512i x = ofNeighbour(rows[e][h].v[i], t);
            sum[2 * h].v[i] = F::run(x, even, sum[2 * h].v[i]);
            sum[2 * h + 1].v[i] = F::run(x, odd, sum[2 * h + 1].v[i]);
          }
      }
  }
}

/// list: d0..d3, a registers, b registers, c0..c3.
template <class E, int K> Status multiplyInRegisters(const Op *op, u8 *r, Warp *w) {
  constexpr int perRegister = 4 / sizeof(E), groups = K / (4 * perRegister);
  const u32 *list = op->list;
  Halves sum[4];
  for (int i = 0; i < 4; ++i)
    sum[i] = loadHalves(r, list[4 + 3 * groups + i]);
  accumulate<MultiplyReal, E, E, groups, perRegister>(r, list + 4, list + 4 + 2 * groups, sum);
  for (int i = 0; i < 4; ++i)
    for (int h = 0; h < 2; ++h)
      _mm512_storeu_si512(r + list[i] + 64 * h, sum[i].v[h]);
  JOULE_NEXT;
}

/// imm: bit 0 A signed, bit 1 B signed, bit 2 saturate. The products' sum fits 32 bits; c may not.
template <int K> Status multiplyBytesInRegisters(const Op *op, u8 *r, Warp *w) {
  constexpr int groups = K / 16;
  const u32 *list = op->list, *a = list + 4, *b = a + 2 * groups;
  Halves sum[4];
  for (Halves &s : sum)
    s.v[0] = s.v[1] = _mm512_setzero_si512();
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
  Halves c[4]; // before any result is written: it may be one of them
  for (int i = 0; i < 4; ++i)
    c[i] = loadHalves(r, b[groups + i]);
  for (int i = 0; i < 4; ++i)
    for (int h = 0; h < 2; ++h) {
      __m512i x = sum[i].v[h], y = c[i].v[h], both = _mm512_add_epi32(x, y);
      if (op->imm & 4) { // the sum has another sign than both: it went over the end
        __m512i over = _mm512_and_si512(_mm512_xor_si512(both, x), _mm512_xor_si512(both, y));
        __m512i end = _mm512_xor_si512(_mm512_srai_epi32(y, 31), _mm512_set1_epi32(0x7fffffff));
        both = _mm512_mask_mov_epi32(both, _mm512_movepi32_mask(over), end);
      }
      _mm512_storeu_si512(r + list[i] + 64 * h, both);
    }
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
