// Handlers for instructions in which the lanes of a warp look at each other, and for block barriers. They
// come in two forms each: for a whole warp, and for a part of it.
#include "lib/VirtualGpu/OnceHandlers.h"
#include "lib/VirtualGpu/Special.h"

#include <cstring>

namespace joule::vgpu {
namespace {

bool bit(u32 mask, unsigned lane) { return mask >> lane & 1; }

/// The lanes that lane `i` waits for, exited ones left out. Without .sync that is whoever is here.
u32 membersOf(const Warp *w, u8 *r, u32 members, unsigned lane) {
  return members == noRegister ? w->mask : at<u32>(r, members)[lane] & w->live;
}

/// Has every lane that any running lane waits for arrived? If not, the scheduler parks the group.
bool gathered(const Op *op, u8 *r, Warp *w, u32 members) {
  if (members == noRegister || w->mask == w->live)
    return true;
  for (u32 rest = w->mask; rest; rest &= rest - 1)
    if (membersOf(w, r, members, unsigned(__builtin_ctz(rest))) & ~w->mask)
      return w->pc = op, false;
  return true;
}

void setPredicate(Warp *w, u8 *r, u32 offset, u32 bits) {
  if (offset == noRegister)
    return;
  u32 *d = at<u32>(r, offset);
  *d = (bits & w->mask) | (*d & ~w->mask);
}

template <class T> void setLanes(Warp *w, u8 *r, u32 offset, const T *values) {
  T *d = at<T>(r, offset);
  for (unsigned i = 0; i < warpSize; ++i)
    if (bit(w->mask, i))
      d[i] = values[i];
}

struct ShuffleUp {
  static int source(int lane, int delta, int limit, u32) { return lane - delta >= limit ? lane - delta : -1; }
};
struct ShuffleDown {
  static int source(int lane, int delta, int limit, u32) { return lane + delta <= limit ? lane + delta : -1; }
};
struct ShuffleButterfly {
  static int source(int lane, int mask, int limit, u32) { return (lane ^ mask) <= limit ? lane ^ mask : -1; }
};
struct ShuffleIndex {
  static int source(int lane, int index, int limit, u32 segment) {
    int from = int((u32(lane) & segment) | (u32(index) & ~segment));
    return from <= limit ? from : -1;
  }
};

/// c packs a clamp (bits 0-4) and a segment mask (bits 8-12).
template <class F, bool Up, bool M> Status shuffle(const Op *op, u8 *r, Warp *w) {
  if (!gathered(op, r, w, op->list[0]))
    return Status::Sync;
  const u32 *a = at<u32>(r, op->a), *b = at<u32>(r, op->b), *c = at<u32>(r, op->c);
  u32 values[warpSize], inRange = 0;
  for (int i = 0; i < int(warpSize); ++i) {
    u32 clamp = c[i] & 31, segment = c[i] >> 8 & 31;
    int limit = int((u32(i) & segment) | (clamp & ~segment));
    int from = F::source(i, int(b[i] & 31), limit, segment);
    inRange |= u32(from >= 0) << i;
    values[i] = a[from >= 0 ? from : i];
  }
  setLanes(w, r, op->d, values);
  setPredicate(w, r, op->e, inRange);
  JOULE_NEXT;
}

template <class F> u32 forEachMember(Warp *w, F f) {
  u32 bits = 0;
  for (u32 rest = w->mask; rest; rest &= rest - 1) {
    unsigned lane = unsigned(__builtin_ctz(rest));
    bits |= u32(f(lane)) << lane;
  }
  return bits;
}

template <bool M> Status voteBallot(const Op *op, u8 *r, Warp *w) {
  if (!gathered(op, r, w, op->b))
    return Status::Sync;
  u32 values[warpSize], p = *at<u32>(r, op->a);
  for (unsigned i = 0; i < warpSize; ++i)
    values[i] = p & membersOf(w, r, op->b, i);
  setLanes(w, r, op->d, values);
  JOULE_NEXT;
}
template <bool M> Status voteAll(const Op *op, u8 *r, Warp *w) {
  if (!gathered(op, r, w, op->b))
    return Status::Sync;
  u32 p = *at<u32>(r, op->a);
  setPredicate(w, r, op->d,
               forEachMember(w, [&](unsigned i) { return (~p & membersOf(w, r, op->b, i)) == 0; }));
  JOULE_NEXT;
}
template <bool M> Status voteAny(const Op *op, u8 *r, Warp *w) {
  if (!gathered(op, r, w, op->b))
    return Status::Sync;
  u32 p = *at<u32>(r, op->a);
  setPredicate(w, r, op->d,
               forEachMember(w, [&](unsigned i) { return (p & membersOf(w, r, op->b, i)) != 0; }));
  JOULE_NEXT;
}
template <bool M> Status voteUniform(const Op *op, u8 *r, Warp *w) {
  if (!gathered(op, r, w, op->b))
    return Status::Sync;
  u32 p = *at<u32>(r, op->a);
  setPredicate(w, r, op->d, forEachMember(w, [&](unsigned i) {
                 u32 members = membersOf(w, r, op->b, i);
                 return (p & members) == 0 || (p & members) == members;
               }));
  JOULE_NEXT;
}

template <class T, bool All, bool M> Status match(const Op *op, u8 *r, Warp *w) {
  if (!gathered(op, r, w, op->b))
    return Status::Sync;
  const T *a = at<T>(r, op->a);
  u32 values[warpSize] = {}, all = 0;
  for (unsigned i = 0; i < warpSize; ++i) {
    u32 members = membersOf(w, r, op->b, i) & w->mask, same = 0;
    for (u32 rest = members; rest; rest &= rest - 1)
      same |= u32(a[__builtin_ctz(rest)] == a[i]) << __builtin_ctz(rest);
    all |= u32(same == members) << i;
    values[i] = !All ? same : same == members ? members : 0;
  }
  setLanes(w, r, op->d, values);
  setPredicate(w, r, op->e, all);
  JOULE_NEXT;
}

struct SumOf {
  static u32 run(u32 a, u32 b) { return a + b; }
};
struct AndOf {
  static u32 run(u32 a, u32 b) { return a & b; }
};
struct OrOf {
  static u32 run(u32 a, u32 b) { return a | b; }
};
struct XorOf {
  static u32 run(u32 a, u32 b) { return a ^ b; }
};
struct LeastOf {
  static u32 run(u32 a, u32 b) { return a < b ? a : b; }
};
struct MostOf {
  static u32 run(u32 a, u32 b) { return a > b ? a : b; }
};
struct SignedLeastOf {
  static u32 run(u32 a, u32 b) { return int32_t(a) < int32_t(b) ? a : b; }
};
struct SignedMostOf {
  static u32 run(u32 a, u32 b) { return int32_t(a) > int32_t(b) ? a : b; }
};

template <class F, bool M> Status reduce(const Op *op, u8 *r, Warp *w) {
  if (!gathered(op, r, w, op->b))
    return Status::Sync;
  const u32 *a = at<u32>(r, op->a);
  u32 values[warpSize] = {};
  for (unsigned i = 0; i < warpSize; ++i) {
    u32 rest = membersOf(w, r, op->b, i) & w->mask;
    if (!rest)
      continue;
    u32 total = a[__builtin_ctz(rest)];
    while (rest &= rest - 1)
      total = F::run(total, a[__builtin_ctz(rest)]);
    values[i] = total;
  }
  setLanes(w, r, op->d, values);
  JOULE_NEXT;
}

template <bool M> Status activeMask(const Op *op, u8 *r, Warp *w) {
  for (u32 rest = w->mask; rest; rest &= rest - 1)
    at<u32>(r, op->d)[__builtin_ctz(rest)] = w->mask;
  JOULE_NEXT;
}

template <bool M> Status elect(const Op *op, u8 *r, Warp *w) {
  if (!gathered(op, r, w, op->b))
    return Status::Sync;
  u32 values[warpSize] = {}, leaders = 0;
  for (u32 rest = w->mask; rest; rest &= rest - 1) {
    unsigned i = unsigned(__builtin_ctz(rest));
    u32 members = membersOf(w, r, op->b, i);
    values[i] = u32(__builtin_ctz(members ? members : 1));
    leaders |= u32(values[i] == i) << i;
  }
  setLanes(w, r, op->d, values);
  setPredicate(w, r, op->e, leaders);
  JOULE_NEXT;
}

template <bool M> Status warpSync(const Op *op, u8 *r, Warp *w) {
  if (!gathered(op, r, w, op->b))
    return Status::Sync;
  JOULE_NEXT;
}

/// imm of a barrier: what the scheduler does with it.
Status barrier(const Op *op, u8 *r, Warp *w) {
  unsigned lane = unsigned(__builtin_ctz(w->mask));
  w->pc = op;
  w->barrierId = at<u32>(r, op->a)[lane];
  w->barrierCount = op->b == noRegister ? 0 : at<u32>(r, op->b)[lane];
  return Status::Barrier;
}

template <class T, bool M> Status special(const Op *op, u8 *r, Warp *w) {
  T values[warpSize];
  for (unsigned i = 0; i < warpSize; ++i)
    values[i] = T(specialValue(w, unsigned(op->imm), i));
  setLanes(w, r, op->d, values);
  JOULE_NEXT;
}

#define JOULE_BOTH(name, ...)                                                                                \
  {name, __VA_ARGS__ false >, "own"}, { "masked." name, __VA_ARGS__ true >, "stop" }

const HandlerEntry entries[] = {
    JOULE_BOTH("shfl.up", shuffle < ShuffleUp, true, ),
    JOULE_BOTH("shfl.down", shuffle < ShuffleDown, false, ),
    JOULE_BOTH("shfl.bfly", shuffle < ShuffleButterfly, false, ),
    JOULE_BOTH("shfl.idx", shuffle < ShuffleIndex, false, ),
    JOULE_BOTH("vote.ballot", voteBallot <),
    JOULE_BOTH("vote.all", voteAll <),
    JOULE_BOTH("vote.any", voteAny <),
    JOULE_BOTH("vote.uni", voteUniform <),
    JOULE_BOTH("match.any.4", match < u32, false, ),
    JOULE_BOTH("match.any.8", match < u64, false, ),
    JOULE_BOTH("match.all.4", match < u32, true, ),
    JOULE_BOTH("match.all.8", match < u64, true, ),
    JOULE_BOTH("redux.add", reduce < SumOf, ),
    JOULE_BOTH("redux.and", reduce < AndOf, ),
    JOULE_BOTH("redux.or", reduce < OrOf, ),
    JOULE_BOTH("redux.xor", reduce < XorOf, ),
    JOULE_BOTH("redux.min", reduce < LeastOf, ),
    JOULE_BOTH("redux.max", reduce < MostOf, ),
    JOULE_BOTH("redux.min.s32", reduce < SignedLeastOf, ),
    JOULE_BOTH("redux.max.s32", reduce < SignedMostOf, ),
    JOULE_BOTH("activemask", activeMask <),
    JOULE_BOTH("elect", elect <),
    JOULE_BOTH("warpsync", warpSync <),
    JOULE_BOTH("special.2", special < u16, ),
    JOULE_BOTH("special.4", special < u32, ),
    JOULE_BOTH("special.8", special < u64, ),
    {"bar.sync", barrier, "stop"},
    {"bar.arrive", barrier, "stop"},
    {"bar.red.popc", barrier, "stop"},
    {"bar.red.and", barrier, "stop"},
    {"bar.red.or", barrier, "stop"},
};

} // namespace

HandlerTable handlersOfWarps() { return {entries, sizeof entries / sizeof entries[0]}; }

} // namespace joule::vgpu
