// In how many turns memory serves one access of a warp. Counting asks this of every access whose places are known
// only when the kernel runs, so all lanes are looked at together.
#include "lib/VirtualGpu/AccessTurns.h"
#include "lib/VirtualGpu/HandlerParts.h"

namespace joule::vgpu::JOULE_VGPU_ISA {
namespace {

template <class T> using OfLanes = T __attribute__((vector_size(warpSize * sizeof(T))));

template <class T> JOULE_INLINE OfLanes<T> loaded(const T *from) {
  OfLanes<T> v;
  memcpy(&v, from, sizeof v);
  return v;
}

/// One bit for each lane whose element is not 0.
template <class T> JOULE_INLINE u32 bitsOfLanes(const OfLanes<T> &v) {
  alignas(64) T elements[warpSize];
  memcpy(elements, &v, sizeof v);
  return differs(elements, T(0));
}

struct LaneNumbers {
  alignas(64) u64 of[warpSize] = {};
  constexpr LaneNumbers() {
    for (unsigned i = 0; i < warpSize; ++i)
      of[i] = i;
  }
};
constexpr LaneNumbers laneNumbers;

/// All ones for each lane whose bit is set.
JOULE_INLINE OfLanes<u64> maskOfLanes(u32 mask) {
  OfLanes<u64> bits = OfLanes<u64>{} + u64(mask);
  return 0 - (bits >> loaded(laneNumbers.of) & 1);
}

JOULE_INLINE u64 orOfLanes(const OfLanes<u64> &v) {
  u64 elements[warpSize], all = 0;
  memcpy(elements, &v, sizeof v);
  for (u64 element : elements)
    all |= element;
  return all;
}

/// The lanes whose key no lane before them has. No key is all ones.
template <class T> JOULE_INLINE u32 firstOfKeys(const OfLanes<u64> &wide) {
  OfLanes<T> keys = __builtin_convertvector(wide, OfLanes<T>), repeated = {};
  alignas(64) T elements[2 * warpSize];
  memset(elements, 0xff, sizeof keys);
  memcpy(elements + warpSize, &keys, sizeof keys);
  for (unsigned back = 1; back < warpSize; ++back)
    repeated |= OfLanes<T>(keys == loaded(elements + warpSize - back));
  return ~bitsOfLanes<T>(repeated);
}

/// Distinct sectors of 32 bytes. Accesses are aligned and at most 16 bytes: each lane touches one.
u64 sectors(const u64 *addresses, u32 mask) {
  u64 first = addresses[__builtin_ctz(mask)] >> 5;
  OfLanes<u64> sector = ((loaded(addresses) >> 5) ^ first) & maskOfLanes(mask); // lanes that do not run as the first
  u64 span = orOfLanes(sector);
  u32 distinct = span < 0x80         ? firstOfKeys<u8>(sector)
                 : span < 0x8000     ? firstOfKeys<u16>(sector)
                 : span < 0x80000000 ? firstOfKeys<u32>(sector)
                                     : firstOfKeys<u64>(sector);
  return u64(__builtin_popcount(distinct));
}

/// Of the groups of so many lanes, those with a lane in the mask.
JOULE_INLINE u64 groupsIn(u32 mask, unsigned lanes) {
  for (unsigned step = 1; step < lanes; step *= 2)
    mask |= mask >> step;
  return u64(__builtin_popcount(mask & (lanes == 8 ? 0x01010101u : lanes == 16 ? 0x00010001u : 1u)));
}

/// Each group of lanes that asks for up to 128 bytes takes as many turns as the most distinct words in one of the 32
/// banks. Here a word is as wide as the access, at least 4 bytes, and there are as many banks as lanes in a group.
u64 wavefronts(const u64 *addresses, u32 mask, unsigned bytes) {
  unsigned shift = bytes == 16 ? 4 : bytes == 8 ? 3 : 2, lanes = 128u >> shift;
  u64 first = addresses[__builtin_ctz(mask)];
  OfLanes<u64> address = loaded(addresses), runs = maskOfLanes(mask), row = ((address ^ first) >> 7) & runs;
  u64 span = orOfLanes(row);
  if (span == 0)
    return groupsIn(mask, lanes);
  OfLanes<u64> numbers = loaded(laneNumbers.of);
  OfLanes<u64> bank = ((address >> shift) & u64(lanes - 1)) | (numbers & ~u64(lanes - 1)); // of one group alone
  OfLanes<u64> key = (row << 5 | bank) | ~runs;
  u32 distinct = (span < 0x400 ? firstOfKeys<u16>(key) : firstOfKeys<u64>(key)) & mask;
  OfLanes<u64> counts = maskOfLanes(distinct);
  OfLanes<u8> own = __builtin_convertvector((bank & counts) | ((numbers | 0x80) & ~counts), OfLanes<u8>), others = {};
  alignas(64) u8 twice[2 * warpSize];
  memcpy(twice, &own, sizeof own);
  memcpy(twice + warpSize, &own, sizeof own);
  for (unsigned step = 1; step < warpSize; ++step)
    others -= OfLanes<u8>(own == loaded(twice + step));
  u64 turns = groupsIn(distinct, lanes);
  for (u8 met = 1; u32 more = bitsOfLanes<u8>(OfLanes<u8>(others >= met)); ++met)
    turns += groupsIn(more, lanes);
  return turns;
}

} // namespace

AccessTurns accessTurns() { return {sectors, wavefronts}; }

} // namespace joule::vgpu::JOULE_VGPU_ISA
