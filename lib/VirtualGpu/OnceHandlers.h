// What handlers share that are compiled once, for every machine.
#pragma once

#include "lib/VirtualGpu/Program.h"

// Handlers are templates over M: M runs on with the masked form of the next operation.
#define JOULE_NEXT JOULE_TAIL return (M ? op[1].masked : op[1].fn)(op + 1, r, w)

namespace joule::vgpu {
namespace {

using u8 = uint8_t;
using u16 = uint16_t;
using u32 = uint32_t;
using u64 = uint64_t;

template <class T> T *at(u8 *r, u32 offset) { return reinterpret_cast<T *>(r + offset); }

/// Visits the running lanes until one fails.
template <class F> bool eachLane(Warp *w, F f) {
  for (u32 rest = w->mask; rest; rest &= rest - 1)
    if (!f(unsigned(__builtin_ctz(rest))))
      return false;
  return true;
}

} // namespace
} // namespace joule::vgpu
