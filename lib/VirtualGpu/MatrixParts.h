// What the handlers of matrix products share: how fragments lie in registers. Included only by files that are
// compiled once per instruction set.
#pragma once

#include "lib/VirtualGpu/HandlerParts.h"

namespace joule::vgpu::JOULE_VGPU_ISA {
namespace {

struct Tf32 {
  u32 bits;
};
JOULE_INLINE f32 widen(Tf32 x) { return bitsOf<f32>(x.bits & 0xffffe000u); }

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
