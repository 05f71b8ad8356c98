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
