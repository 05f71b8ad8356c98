// Addresses as handlers that are compiled once look at them.
#pragma once

#include "lib/VirtualGpu/Program.h"

namespace joule::vgpu {

inline bool isSharedAddress(unsigned space, uint64_t address) {
  return space == inShared || (space == inGeneric && address >> 56 == sharedWindow >> 56);
}

/// The host's address of `bytes` at an address of a space; 0 if they are not all there.
inline uint64_t hostAddress(Warp *w, const Op *op, uint64_t address, unsigned space, uint64_t bytes,
                            unsigned lane) {
  uint64_t window = space == inGeneric ? address >> 56 : 0, offset = address & ~(0xffull << 56);
  auto inside = [&](uint64_t size) { return offset < size && bytes <= size - offset; };
  if (isSharedAddress(space, address))
    return inside(w->sharedSize) ? uint64_t(w->shared) + offset : sharedOfCluster(w, offset, bytes);
  if (space == inLocal || window == localWindow >> 56)
    return inside(w->localStride) ? uint64_t(w->local) + offset + lane * w->localStride : 0;
  if (space == inParam || window == paramWindow >> 56)
    return inside(w->paramSize) ? uint64_t(w->params) + offset : 0;
  return window == 0 && findRange(w, op, address, address + bytes) ? address : 0;
}

} // namespace joule::vgpu
