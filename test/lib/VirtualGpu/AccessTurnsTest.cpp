// The turns of an access, against the rule as one would write it down.
#include "lib/VirtualGpu/AccessTurns.h"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <set>
#include <vector>

namespace joule::vgpu::test {
namespace {

struct Places {
  alignas(64) uint64_t of[warpSize];
  uint32_t mask;
  unsigned bytes;
};

uint64_t plainSectors(const Places &p) {
  std::set<uint64_t> sectors;
  for (unsigned i = 0; i < warpSize; ++i)
    if (p.mask >> i & 1)
      sectors.insert(p.of[i] / 32);
  return sectors.size();
}

uint64_t plainWavefronts(const Places &p) {
  unsigned lanes = p.bytes == 16 ? 8 : p.bytes == 8 ? 16 : 32;
  uint64_t sum = 0;
  for (unsigned first = 0; first < warpSize; first += lanes) {
    std::map<uint64_t, std::set<uint64_t>> words;
    for (unsigned i = first; i < first + lanes; ++i)
      for (uint64_t at = p.of[i]; (p.mask >> i & 1) && at < p.of[i] + p.bytes; ++at)
        words[at / 4 % 32].insert(at / 4);
    size_t most = 0;
    for (auto &[bank, distinct] : words)
      most = std::max(most, distinct.size());
    sum += most;
  }
  return sum;
}

/// Ramps, single places, and random ones of any extent.
Places randomPlaces(std::mt19937_64 &random) {
  Places p;
  p.bytes = 1u << random() % 5;
  p.mask = random() % 3 ? uint32_t(random()) : allLanes;
  if (random() % 8 == 0)
    p.mask &= uint32_t(random() & random());
  p.mask |= p.mask ? 0 : 1u << random() % warpSize;
  uint64_t base = (random() >> 20) / 16 * 16, step = random() % 80, extent = 1ull << random() % 44,
           kind = random() % 4;
  for (unsigned i = 0; i < warpSize; ++i)
    p.of[i] = base + p.bytes * (kind == 0 ? step * i : kind == 1 ? i % 4 * step + i / 8 : random() % extent);
  return p;
}

TEST(AccessTurns, FollowTheRule) {
  std::mt19937_64 random(1);
  for (const AccessTurns &turns : {accessTurns(), baseline::accessTurns()})
    for (unsigned round = 0; round < 20000; ++round) {
      Places p = randomPlaces(random);
      ASSERT_EQ(turns.sectors(p.of, p.mask), plainSectors(p)) << round;
      ASSERT_EQ(turns.wavefronts(p.of, p.mask, p.bytes), plainWavefronts(p)) << round << " of " << p.bytes;
    }
}

} // namespace
} // namespace joule::vgpu::test
