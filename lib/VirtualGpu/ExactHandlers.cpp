// The floating products of mma.sync and wmma, exact to the bit of one architecture's units.
#include "lib/VirtualGpu/ExactProduct.h"
#include "lib/VirtualGpu/MatrixParts.h"

namespace joule::vgpu::JOULE_VGPU_ISA {
namespace {

JOULE_INLINE MatrixRule ruleOf(const Op *op) { return bitsOf<MatrixRule>(op->imm); }

// Lane l: g = l/4, t = l%4. A (16 rows): register pairs hold rows g and g+8; B (8 columns): column g; C: rows
// g and g+8, columns 2t and 2t+1. A register of 16-bit elements holds two neighbours in k: so its elements,
// in the order they lie in, are eight rows (of A) or columns (of B) after each other.

JOULE_INLINE void widenRegister(const f16 *from, f32 *to) {
#if defined(__AVX2__)
  for (int i = 0; i < 64; i += 8)
    _mm256_storeu_ps(to + i, _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i *>(from + i))));
#else
  for (int i = 0; i < 64; ++i)
    to[i] = widen(from[i]);
#endif
}
JOULE_INLINE void widenRegister(const bf16 *from, f32 *to) {
  for (int i = 0; i < 64; ++i)
    to[i] = widen(from[i]);
}
JOULE_INLINE void widenRegister(const Tf32 *from, f32 *to) {
  for (int i = 0; i < 32; ++i)
    to[i] = widen(from[i]);
}

template <class E, int K>
JOULE_INLINE void gatherFactors(const u32 *inA, const u32 *inB, u8 *r, f32 *a, f32 *b) {
  constexpr int width = 16 / sizeof(E); // what the lanes of a row hold together
  f32 rows[64];
  for (int q = 0; q < K / width; ++q) {
    for (int h = 0; h < 2; ++h) {
      widenRegister(at<E>(r, inA[2 * q + h]), rows);
      turn(rows, width, 8, width, a + q * width * 16 + 8 * h, 16);
    }
    widenRegister(at<E>(r, inB[q]), rows);
    for (int g = 0; g < 8; ++g)
      memcpy(b + g * K + q * width, rows + g * width, sizeof(f32) * width);
  }
}

template <bool Half> JOULE_INLINE void gatherSums(const u32 *list, u8 *r, f32 *c) {
  f32 rows[64];
  for (int h = 0; h < 2 && Half; ++h) {
    widenRegister(at<f16>(r, list[h]), rows);
    turn(rows, 8, 8, 8, c + 8 * h, 16);
  }
  for (int i = 0; i < 4 && !Half; ++i)
    turn(at<f32>(r, list[i]), 4, 8, 4, c + i % 2 * 16 + i / 2 * 8, 32);
}
template <bool Half> JOULE_INLINE void scatterSums(const u32 *list, u8 *r, const f32 *d) {
  f32 rows[64];
  for (int h = 0; h < 2 && Half; ++h) {
    turn(d + 8 * h, 16, 8, 8, rows, 8);
    for (int i = 0; i < 64; ++i)
      at<f16>(r, list[h])[i] = narrow<f16>(rows[i]);
  }
  for (int i = 0; i < 4 && !Half; ++i)
    turn(d + i % 2 * 16 + i / 2 * 8, 32, 4, 8, at<f32>(r, list[i]), 4);
}

/// list: d registers, a registers, b registers, c registers.
template <class E, int K, bool Half> Status multiplyWarp(const Op *op, u8 *r, Warp *w) {
  constexpr int groups = K * int(sizeof(E)) / 16, sums = Half ? 2 : 4;
  const u32 *inA = op->list + sums, *inB = inA + 2 * groups, *inC = inB + groups;
  alignas(64) f32 a[16 * K], b[8 * K], c[16 * 8];
  gatherFactors<E, K>(inA, inB, r, a, b);
  gatherSums<Half>(inC, r, c);
  multiplyExactly(ruleOf(op), 16, 8, K, a, b, c, c);
  scatterSums<Half>(op->list, r, c);
  JOULE_NEXT;
}

JOULE_INLINE f32 widen(f32 x) { return x; }
JOULE_INLINE void narrowTo(f16 &to, f32 x) { to = narrow<f16>(x); }
JOULE_INLINE void narrowTo(f32 &to, f32 x) { to = x; }

/// wmma.mma. With fewer than 16 rows the transposed product is computed, which has more.
template <class E, class C, class D> Status multiplyFragmentsExactly(const Op *op, u8 *r, Warp *w) {
  const WmmaProduct &s = *static_cast<const WmmaProduct *>(op->data);
  bool turned = s.m < 16;
  int m = turned ? s.n : s.m, n = turned ? s.m : s.n;
  alignas(64) f32 a[32 * 16], b[32 * 16], sum[32 * 16];
  for (int e = 0; e < s.m * s.k; ++e) {
    f32 value = widen(*Fragment<E>::find(r, s.a, e));
    turned ? b[e] = value : a[e % s.k * m + e / s.k] = value;
  }
  for (int e = 0; e < s.k * s.n; ++e) {
    f32 value = widen(*Fragment<E>::find(r, s.b, e));
    turned ? a[e] = value : b[e % s.n * s.k + e / s.n] = value;
  }
  auto place = [&](int e) { return turned ? e : e % s.n * m + e / s.n; };
  for (int e = 0; e < m * n; ++e)
    sum[place(e)] = widen(*Fragment<C>::find(r, s.c, e));
  multiplyExactly(ruleOf(op), m, n, s.k, a, b, sum, sum);
  for (int e = 0; e < m * n; ++e)
    narrowTo(*Fragment<D>::find(r, s.d, e), sum[place(e)]);
  JOULE_NEXT;
}

// --- the table ---

const HandlerEntry entries[] = {
    {"exact.mma.k16.f16.f32", multiplyWarp<f16, 16, false>, ""},
    {"exact.mma.k8.f16.f32", multiplyWarp<f16, 8, false>, ""},
    {"exact.mma.k16.f16.f16", multiplyWarp<f16, 16, true>, ""},
    {"exact.mma.k8.f16.f16", multiplyWarp<f16, 8, true>, ""},
    {"exact.mma.k16.bf16.f32", multiplyWarp<bf16, 16, false>, ""},
    {"exact.mma.k8.bf16.f32", multiplyWarp<bf16, 8, false>, ""},
    {"exact.mma.k8.tf32.f32", multiplyWarp<Tf32, 8, false>, ""},
    {"exact.mma.k4.tf32.f32", multiplyWarp<Tf32, 4, false>, ""},
    {"exact.wmma.f16.f32.f32", multiplyFragmentsExactly<f16, f32, f32>, ""},
    {"exact.wmma.f16.f16.f16", multiplyFragmentsExactly<f16, f16, f16>, ""},
    {"exact.wmma.f16.f32.f16", multiplyFragmentsExactly<f16, f16, f32>, ""},
    {"exact.wmma.f16.f16.f32", multiplyFragmentsExactly<f16, f32, f16>, ""},
    {"exact.wmma.bf16.f32.f32", multiplyFragmentsExactly<bf16, f32, f32>, ""},
    {"exact.wmma.tf32.f32.f32", multiplyFragmentsExactly<Tf32, f32, f32>, ""},
};

/// For tests: the product alone.
void multiply(const MatrixRule &rule, int m, int n, int k, const float *a, const float *b, const float *c,
              float *d) {
  multiplyExactly(rule, m, n, k, a, b, c, d);
}

} // namespace

HandlerTable exactHandlers() { return {entries, sizeof entries / sizeof entries[0]}; }
ExactMultiply exactMultiply() { return multiply; }

} // namespace joule::vgpu::JOULE_VGPU_ISA
