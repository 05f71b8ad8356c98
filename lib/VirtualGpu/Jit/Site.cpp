// The way back from compiled code into handlers.
#include "lib/VirtualGpu/Jit/Site.h"

#include <cstring>

namespace joule::vgpu::jit {

Status stop(const Op *op, uint8_t *r, Warp *w) { return Status::Step; }

namespace {

/// Other lanes keep what they have: another value of the register may be theirs.
void fillAddress(const Site &site, uint8_t *r, uint64_t first, uint32_t mask) {
  const Op &op = site.pair[0];
  for (unsigned i = 0; i < warpSize; ++i) {
    if (!(mask >> i & 1))
      continue;
    uint64_t value = first + uint64_t(site.pattern ? site.pattern[i] : 0);
    if (op.flags & address32) {
      uint32_t narrow = uint32_t(value);
      memcpy(r + op.a + 4 * i, &narrow, 4);
    } else {
      memcpy(r + op.a + 8 * i, &value, 8);
    }
  }
}

bool areThere(const Site *site, Warp *w, const uint64_t *addresses) {
  for (const Site *last = site + site->more; site <= last; ++site, ++addresses)
    if (!findRange(w, &site->pair[0], *addresses, *addresses + site->span))
      return false;
  return true;
}

} // namespace

extern "C" uint32_t jouleVgpuRunSite(const Site *site, uint8_t *r, Warp *w, uint64_t first, uint64_t mask) {
  if (site->span)
    return uint32_t(areThere(site, w, reinterpret_cast<const uint64_t *>(first)) ? Status::Step
                                                                                 : Status::Fault);
  if (site->fillsAddress)
    fillAddress(*site, r, first, uint32_t(mask));
  if (uint32_t(mask) == allLanes)
    return uint32_t(site->pair[0].fn(site->pair, r, w));
  if (uint32_t(mask) == 0)
    return uint32_t(Status::Step);
  w->mask = uint32_t(mask);
  Status status = site->pair[0].masked(site->pair, r, w);
  w->mask = allLanes;
  return uint32_t(status);
}

} // namespace joule::vgpu::jit
