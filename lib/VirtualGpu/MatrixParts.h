// What the handlers of matrix products share: how fragments lie in registers. Included only by files that are
// compiled once per instruction set.
#pragma once

#include "lib/VirtualGpu/ExactProduct.h"

namespace joule::vgpu::JOULE_VGPU_ISA {
namespace {

struct Tf32 {
  u32 bits;
};
JOULE_INLINE f32 widen(Tf32 x) { return bitsOf<f32>(x.bits & 0xffffe000u); }

/// Four rows of four become columns; strides count floats.
JOULE_INLINE void turnFour(const f32 *from, int fromStride, f32 *to, int toStride) {
  using Row = f32 __attribute__((vector_size(16)));
  Row in[4];
  for (int i = 0; i < 4; ++i)
    in[i] = loadVector<Row>(from + i * fromStride);
  for (int k = 0; k < 4; ++k)
    storeVector(to + k * toStride, Row{in[0][k], in[1][k], in[2][k], in[3][k]});
}
JOULE_INLINE void turn(const f32 *from, int fromStride, int rows, int columns, f32 *to, int toStride) {
  for (int i = 0; i < rows; i += 4)
    for (int k = 0; k < columns; k += 4)
      turnFour(from + i * fromStride + k, fromStride, to + k * toStride + i, toStride);
}

/// Eight rows of eight 16-bit elements become columns.
JOULE_INLINE void turnEight(const u8 *const (&rows)[8], u8 *to) {
  using Row = u16 __attribute__((vector_size(16)));
  Row v[8], w[8];
  for (int i = 0; i < 8; ++i)
    v[i] = loadVector<Row>(rows[i]);
  // Three times, rows i and i + 4 are shuffled into each other like cards.
  for (int i = 0; i < 4; ++i) {
    w[2 * i] = __builtin_shufflevector(v[i], v[i + 4], 0, 8, 1, 9, 2, 10, 3, 11);
    w[2 * i + 1] = __builtin_shufflevector(v[i], v[i + 4], 4, 12, 5, 13, 6, 14, 7, 15);
  }
  for (int i = 0; i < 4; ++i) {
    v[2 * i] = __builtin_shufflevector(w[i], w[i + 4], 0, 8, 1, 9, 2, 10, 3, 11);
    v[2 * i + 1] = __builtin_shufflevector(w[i], w[i + 4], 4, 12, 5, 13, 6, 14, 7, 15);
  }
  for (int i = 0; i < 4; ++i) {
    storeVector(to + 32 * i, __builtin_shufflevector(v[i], v[i + 4], 0, 8, 1, 9, 2, 10, 3, 11));
    storeVector(to + 32 * i + 16, __builtin_shufflevector(v[i], v[i + 4], 4, 12, 5, 13, 6, 14, 7, 15));
  }
}

// --- wmma: fragments whose layout is the device's own affair ---
// Here element e of a matrix, counted by rows, lies in part e % P of lane (e / P) % 32 of register e / P /
// 32, where a register has P parts. Registers beyond the last element are left alone.

/// What one wmma instruction does; `list` of the operation names the registers.
template <class E> struct Fragment {
  static constexpr int parts = sizeof(E) >= 4 ? 1 : 4 / sizeof(E);
  JOULE_INLINE E *find(u8 *r, const u32 *list, int e) {
    return at<E>(r, list[e / parts / 32]) + (e / parts % 32) * parts + e % parts;
  }
};

} // namespace
} // namespace joule::vgpu::JOULE_VGPU_ISA
