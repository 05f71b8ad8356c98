// Operations that check mode puts around those that touch memory or synchronise. They change nothing that the
// program can see, but for cp.async, which they take over. What leaves its memory they pass over: the access
// itself fails.
#include "lib/VirtualGpu/BlockRunner.h"
#include "lib/VirtualGpu/Check/BlockChecker.h"
#include "lib/VirtualGpu/Ptx.h"
#include "lib/VirtualGpu/TensorMap.h"

#include <cstring>

#if defined(__clang__)
#define JOULE_TAIL [[clang::musttail]]
#else
#define JOULE_TAIL
#endif
#define JOULE_NEXT JOULE_TAIL return op[1].fn(op + 1, r, w)

namespace joule::vgpu {
namespace {

using u8 = uint8_t;
using u16 = uint16_t;
using u32 = uint32_t;
using u64 = uint64_t;

template <class T> T *at(u8 *r, u32 offset) { return reinterpret_cast<T *>(r + offset); }

BlockChecker &checkerOf(Warp *w) { return *static_cast<BlockRunner *>(w->runner)->checker(); }

template <class F> void eachLane(u32 mask, F f) {
  for (u32 rest = mask; rest; rest &= rest - 1)
    f(unsigned(__builtin_ctz(rest)));
}

u64 addressIn(u8 *r, u32 place, bool narrow, int64_t displacement, unsigned lane) {
  return narrow ? u64(u32(at<u32>(r, place)[lane] + u32(displacement)))
                : at<u64>(r, place)[lane] + u64(displacement);
}

/// False for parameters, other blocks' memory and whatever is not aligned or leaves its memory.
bool locate(Warp *w, unsigned space, u64 given, CheckedAccess &a) {
  a.given = given;
  a.shared = a.local = false;
  u64 offset = given;
  if (space == inGeneric) {
    u64 window = given >> 56;
    offset = given & ((1ull << 56) - 1);
    space = window == 0 ? inGlobal : window == 1 ? inShared : window == 2 ? inLocal : inParam;
  }
  if (space == inParam || (given & ((a.bytes & (0 - a.bytes)) - 1)))
    return false;
  a.shared = space == inShared, a.local = space == inLocal;
  if (a.shared || a.local) {
    u64 size = a.shared ? w->sharedSize : w->localStride;
    if (offset >= size || a.bytes > size - offset)
      return false;
    a.host = a.shared ? u64(w->shared) + offset : u64(w->local) + offset + a.lane * w->localStride;
    return true;
  }
  a.host = given;
  return static_cast<BlockRunner *>(w->runner)->isAllocated(given, given + a.bytes);
}
bool locate(const Op *op, u8 *r, Warp *w, unsigned lane, CheckedAccess &a) {
  a.lane = lane;
  return locate(w, op->space, addressIn(r, op->a, op->flags & address32, op->imm, lane), a);
}

/// Memory of any block of the cluster is written in a way that is not followed further.
void noteElsewhere(Warp *w, u64 address, u64 bytes) {
  u64 offset = address & ~sharedWindow;
  bool own = offset < w->sharedSize && bytes <= w->sharedSize - offset;
  u64 host = own ? u64(w->shared) + offset : sharedOfCluster(w, offset, bytes);
  if (BlockRunner *owner = host ? static_cast<BlockRunner *>(w->runner)->ownerOf(host) : nullptr)
    owner->checker()->markShared(host, bytes);
}

bool isShared(unsigned space, u64 address) {
  return space == inShared || (space == inGeneric && address >> 56 == sharedWindow >> 56);
}

// --- loads and stores ---
// a, imm, space, flags: the address; d: bytes of a lane; guard: CheckFlags.

/// e: of ldmatrix, how many lanes give an address.
Status checkRead(const Op *op, u8 *r, Warp *w) {
  BlockChecker &checker = checkerOf(w);
  unsigned flags = op->guard;
  CheckedAccess a = {};
  a.bytes = op->d;
  u64 previous = ~0ull;
  eachLane(op->e == noRegister ? w->mask : allLanes >> (warpSize - op->e), [&](unsigned lane) {
    u64 given = addressIn(r, op->a, op->flags & address32, op->imm, lane);
    a.lane = lane;
    bool together = given == previous; // neighbours that read one place
    previous = given;
    if (!locate(w, op->space, given, a))
      return;
    if (flags & checkAtomic)
      checker.synchronise(w, a.host, flags, false);
    if (!together || a.local)
      checker.read(w, op, a, flags);
    else
      checker.readAgain(w, op, a, flags);
  });
  JOULE_NEXT;
}

/// The value that a lane stores: op->n registers of op->b bytes, of each the first op->e.
void gatherValue(const Op *op, u8 *r, unsigned lane, u8 *value) {
  for (unsigned k = 0; k < op->n; ++k)
    memcpy(value + k * op->e, r + op->list[k] + lane * op->b, op->e);
}

/// Do two lanes write different values to one place? Those that rise from lane to lane need not be compared.
void compareLanes(const Op *op, u8 *r, Warp *w, const CheckedAccess *a, u32 mask) {
  u64 end = 0;
  bool rising = true;
  eachLane(mask, [&](unsigned lane) {
    rising &= a[lane].host >= end;
    end = a[lane].host + a[lane].bytes;
  });
  if (rising)
    return;
  eachLane(mask, [&](unsigned i) {
    for (unsigned k = i + 1; k < warpSize; ++k) {
      if (!(mask >> k & 1) || a[i].host >= a[k].host + a[k].bytes || a[k].host >= a[i].host + a[i].bytes)
        continue;
      u8 mine[16], theirs[16];
      gatherValue(op, r, i, mine);
      gatherValue(op, r, k, theirs);
      if (a[i].host == a[k].host && memcmp(mine, theirs, op->d) == 0)
        continue;
      checkerOf(w).conflictOfLanes(w, op, a[k], i);
    }
  });
}

Status checkWrite(const Op *op, u8 *r, Warp *w) {
  BlockChecker &checker = checkerOf(w);
  unsigned flags = op->guard;
  CheckedAccess all[warpSize];
  u32 good = 0;
  eachLane(w->mask, [&](unsigned lane) {
    CheckedAccess &a = all[lane];
    a.bytes = op->d;
    if (locate(op, r, w, lane, a))
      good |= 1u << lane;
    else if (isShared(op->space, a.given) && (a.given & ~sharedWindow) > sharedOffsetMask)
      noteElsewhere(w, a.given, a.bytes);
  });
  eachLane(good, [&](unsigned lane) {
    const CheckedAccess &a = all[lane];
    u8 value[16];
    gatherValue(op, r, lane, value);
    if (flags & checkAtomic)
      checker.synchronise(w, a.host, flags, true);
    if (!checker.write(w, op, a, flags, value))
      good &= ~(1u << lane);
  });
  eachLane(good, [&](unsigned lane) { checker.noteWrite(w, op, all[lane], flags); });
  if (!(flags & checkAtomic))
    compareLanes(op, r, w, all, good);
  JOULE_NEXT;
}

u64 sumOfValues(const Op *op, u8 *r, Warp *w) {
  u64 sum = 0;
  eachLane(w->mask, [&](unsigned lane) {
    CheckedAccess a = {};
    a.bytes = op->d;
    u64 value = 0;
    if (locate(op, r, w, lane, a))
      memcpy(&value, reinterpret_cast<const void *>(a.host), a.bytes < 8 ? a.bytes : 8);
    sum = sum * 31 + value;
  });
  return sum;
}

/// atom and red.
Status checkUpdate(const Op *op, u8 *r, Warp *w) {
  BlockChecker &checker = checkerOf(w);
  eachLane(w->mask, [&](unsigned lane) {
    CheckedAccess a = {};
    a.bytes = op->d;
    if (!locate(op, r, w, lane, a))
      return;
    checker.synchronise(w, a.host, op->guard, true);
    if (checker.write(w, op, a, op->guard, nullptr))
      checker.noteWrite(w, op, a, op->guard);
  });
  checker.changedBefore[w->index] = sumOfValues(op, r, w);
  JOULE_NEXT;
}
Status checkUpdated(const Op *op, u8 *r, Warp *w) {
  BlockChecker &checker = checkerOf(w);
  checker.launchChecker().changes += sumOfValues(op, r, w) != checker.changedBefore[w->index];
  JOULE_NEXT;
}

/// wmma.load and wmma.store; n: a store. Rows (or columns) of the matrix are contiguous.
Status checkMatrix(const Op *op, u8 *r, Warp *w) {
  const WmmaShape &s = *static_cast<const WmmaShape *>(op->data);
  unsigned lane = unsigned(__builtin_ctz(w->mask));
  u64 leading = at<u32>(r, op->c)[lane], start = addressIn(r, op->a, op->flags & address32, op->imm, lane);
  int lines = s.rowMajor ? s.rows : s.columns, perLine = s.rowMajor ? s.columns : s.rows;
  for (int i = 0; i < lines; ++i)
    for (int k = 0; k < perLine; ++k) {
      CheckedAccess a = {};
      a.bytes = s.elementBytes;
      a.lane = lane;
      if (!locate(w, op->space, start + (u64(i) * leading + u64(k)) * s.elementBytes, a))
        continue;
      if (!op->n)
        checkerOf(w).read(w, op, a, checkTogether);
      else if (checkerOf(w).write(w, op, a, checkTogether, nullptr))
        checkerOf(w).noteWrite(w, op, a, checkTogether);
    }
  JOULE_NEXT;
}

// --- cp.async ---

/// In place of "cpasync", whose operands it has.
Status startCopy(const Op *op, u8 *r, Warp *w) {
  BlockChecker &checker = checkerOf(w);
  for (u32 rest = w->mask; rest; rest &= rest - 1) {
    CheckedAccess to = {}, from = {};
    to.lane = from.lane = unsigned(__builtin_ctz(rest));
    to.bytes = op->n;
    u32 readable = op->c == noRegister ? op->n : at<u32>(r, op->c)[to.lane];
    from.bytes = readable < op->n ? readable : op->n;
    u64 target = addressIn(r, op->a, op->flags & address32, op->imm, to.lane);
    u64 source = addressIn(r, op->b, op->guard & address32, reinterpret_cast<int64_t>(op->data), to.lane);
    if (!locate(w, op->space, target, to) || !to.shared)
      return raiseFault(w, op, target & (op->n - 1u) ? FaultKind::Misaligned : FaultKind::IllegalAddress,
                        target, to.lane);
    if (source & (op->n - 1u))
      return raiseFault(w, op, FaultKind::Misaligned, source, to.lane);
    u32 whole = from.bytes;
    if (whole)
      from.bytes = 1; // alignment has been looked at
    if (whole && (!locate(w, op->e, source, from) ||
                  !static_cast<BlockRunner *>(w->runner)->isAllocated(source, source + whole)))
      return raiseFault(w, op, FaultKind::IllegalAddress, source, to.lane);
    from.bytes = whole;
    if (whole)
      checker.read(w, op, from, 0);
    checker.startCopy(w, op, to, from.host, whole);
  }
  JOULE_NEXT;
}
Status commitCopies(const Op *op, u8 *r, Warp *w) {
  checkerOf(w).commitCopies(w);
  JOULE_NEXT;
}
/// imm: groups that may stay in flight; n: those not committed are waited for, too.
Status waitForCopies(const Op *op, u8 *r, Warp *w) {
  checkerOf(w).waitForCopies(w, u32(op->imm), op->n);
  JOULE_NEXT;
}

// --- mbarriers and the copy engine ---

/// Before an mbarrier instruction. n: 0 init, 1 arrive (b: how often), 2 a test; 3: after a test.
Status checkBarrier(const Op *op, u8 *r, Warp *w) {
  BlockChecker &checker = checkerOf(w);
  eachLane(w->mask, [&](unsigned lane) {
    CheckedAccess a = {};
    a.bytes = 8;
    if (!locate(op, r, w, lane, a) || !a.shared)
      return;
    unsigned arrivals = op->n != 1 ? 0 : op->b == noRegister ? 1 : at<u32>(r, op->b)[lane];
    if (op->n == 0)
      return checker.initBarrier(w, op, a);
    if (op->n == 3)
      return checker.synchronise(w, a.host, checkAtomic | checkAcquire, false);
    checker.touchBarrier(w, op, a, arrivals);
    if (op->n == 1)
      checker.synchronise(w, a.host, checkAtomic | checkRelease, true);
    else
      checker.showCopied(a.host);
  });
  JOULE_NEXT;
}

u64 addressOf(const AsyncAddress &a, u8 *r, unsigned lane) {
  return addressIn(r, a.place, a.narrow, a.displacement, lane);
}

/// One lane's part of a copy.
class CheckedCopy {
public:
  CheckedCopy(const Op *op, u8 *r, Warp *w, unsigned lane)
      : op(op), r(r), w(w), lane(lane), copy(*static_cast<const BulkCopy *>(op->data)),
        checker(checkerOf(w)) {
    if (isTensor())
      readMap();
    else
      bytes = copy.bytes == noRegister ? 0 : at<u32>(r, copy.bytes)[lane];
  }

  void before() {
    bool reads = copy.toGlobal || !isTensor();
    CheckedAccess a = access(copy.from);
    if (bytes && reads && locateBulk(copy.from, a)) {
      checker.read(w, op, a, checkTogether);
      if (a.shared)
        checker.checkProxy(w, op, a);
    }
    a = access(copy.to);
    if (bytes && !copy.toGlobal && copy.blocks == noRegister && locateBulk(copy.to, a) && a.shared)
      checker.write(w, op, a, checkTogether, nullptr);
  }

  void after() {
    if (!bytes)
      return;
    if (copy.toGlobal)
      return toGlobal();
    CheckedAccess a = access(copy.to), barrier = access(copy.barrier);
    barrier.bytes = 8;
    bool own = copy.blocks == noRegister && locateBulk(copy.to, a) && a.shared &&
               copy.barrier.place != noRegister && locate(w, copy.barrier.space, barrier.given, barrier);
    if (own)
      return checker.hideCopied(w, op, a.host, bytes, barrier.host);
    for (u32 rest = copy.blocks == noRegister ? 0 : at<u16>(r, copy.blocks)[lane]; rest; rest &= rest - 1)
      noteElsewhere(w, u64(__builtin_ctz(rest) + 1) << clusterRankShift | (a.given & sharedOffsetMask),
                    bytes);
    if (copy.blocks == noRegister)
      noteElsewhere(w, a.given, bytes);
  }

private:
  bool isTensor() const { return op->n & 2; }
  CheckedAccess access(const AsyncAddress &address) const {
    CheckedAccess a = {};
    a.lane = lane;
    a.bytes = unsigned(bytes);
    a.given = address.place == noRegister ? 0 : addressOf(address, r, lane);
    return a;
  }
  /// Its size need not be a power of two.
  bool locateBulk(const AsyncAddress &address, CheckedAccess &a) {
    u64 given = a.given;
    a.bytes = 1;
    bool first = locate(w, address.space, given, a);
    CheckedAccess last = a;
    bool whole = first && locate(w, address.space, given + bytes - 1, last);
    a.bytes = unsigned(bytes);
    return whole;
  }
  void readMap() {
    CheckedAccess a = access(copy.map);
    a.bytes = sizeof map;
    u64 offset = a.given & ~paramWindow;
    bool inParameters =
        a.given >> 56 == paramWindow >> 56 && offset < w->paramSize && sizeof map <= w->paramSize - offset;
    if (!inParameters && !locate(w, copy.map.space, a.given, a))
      return;
    u64 host = inParameters ? u64(w->params) + offset : a.host;
    memcpy(&map, reinterpret_cast<const void *>(host), sizeof map);
    if (isUsable(map) && map.rank == copy.rank && (map.isIm2col != 0) == copy.isIm2col)
      bytes = tensorBoxBytes(map);
  }
  void toGlobal() {
    CheckedAccess a = access(copy.from);
    if (locateBulk(copy.from, a) && a.shared)
      checker.startReading(w, op, a);
    GlobalShadow &shadow = checker.launchChecker().shadow;
    if (!isTensor())
      return shadow.hostWrote(addressOf(copy.to, r, lane), bytes);
    int32_t start[mostDimensions] = {};
    uint16_t offsets[3] = {};
    for (unsigned i = 0; i < copy.rank; ++i)
      start[i] = int32_t(at<u32>(r, copy.coordinates[i])[lane]);
    for (unsigned i = 0; i < copy.numOffsets; ++i)
      offsets[i] = at<u16>(r, copy.offsets[i])[lane];
    TensorRows rows(map, start, copy.numOffsets ? offsets : nullptr);
    u64 element = tensorElementBytes(map.type);
    for (TensorRow row; rows.next(row);)
      shadow.hostWrote(row.inGlobal + row.first * element, (row.end - row.first) * element);
  }

  const Op *op;
  u8 *r;
  Warp *w;
  unsigned lane;
  const BulkCopy &copy;
  BlockChecker &checker;
  TensorMap map = {};
  u64 bytes = 0;
};

/// n: 1 after the copy, 2 of a tensor.
Status checkCopy(const Op *op, u8 *r, Warp *w) {
  eachLane(w->mask, [&](unsigned lane) {
    CheckedCopy copy(op, r, w, lane);
    op->n & 1 ? copy.after() : copy.before();
  });
  JOULE_NEXT;
}
/// After st.async and red.async.
Status checkStoreAsync(const Op *op, u8 *r, Warp *w) {
  const auto &copy = *static_cast<const BulkCopy *>(op->data);
  eachLane(w->mask, [&](unsigned lane) {
    noteElsewhere(w, addressOf(copy.to, r, lane), ptx::sizeOf(ptx::Type(copy.type)) * copy.rank);
  });
  JOULE_NEXT;
}
Status commitReads(const Op *op, u8 *r, Warp *w) {
  checkerOf(w).commitReads(w);
  JOULE_NEXT;
}
Status waitForReads(const Op *op, u8 *r, Warp *w) {
  checkerOf(w).waitForReads(w, u32(op->imm));
  JOULE_NEXT;
}
Status proxyFence(const Op *op, u8 *r, Warp *w) {
  checkerOf(w).proxyFence(w);
  JOULE_NEXT;
}

// --- synchronisation ---

Status fence(const Op *op, u8 *r, Warp *w) {
  checkerOf(w).fence(w, op->n);
  JOULE_NEXT;
}

/// Before an instruction with member masks, b.
Status checkMembers(const Op *op, u8 *r, Warp *w) {
  const u32 *members = at<u32>(r, op->b);
  u32 first = members[__builtin_ctz(w->mask)];
  for (u32 rest = w->mask; rest; rest &= rest - 1) {
    unsigned lane = unsigned(__builtin_ctz(rest));
    char text[160];
    if (!(members[lane] >> lane & 1)) {
      snprintf(text, sizeof text, "lane %u names the lanes 0x%08x, and not itself", lane, members[lane]);
      checkerOf(w).report(FindingKind::MemberMask, w, op, lane, members[lane], text);
    } else if (members[lane] != first && members[lane] & first) {
      snprintf(text, sizeof text, "lane %u names the lanes 0x%08x, where others that it meets name 0x%08x",
               lane, members[lane], first);
      checkerOf(w).report(FindingKind::MemberMask, w, op, lane, members[lane], text);
    }
  }
  JOULE_NEXT;
}
Status warpMet(const Op *op, u8 *r, Warp *w) {
  checkerOf(w).warpMet(w);
  JOULE_NEXT;
}

/// Before an instruction that the whole warp must execute together. n: a barrier, which a short warp may
/// reach.
Status checkWhole(const Op *op, u8 *r, Warp *w) {
  u32 wanted = op->n ? w->initial : allLanes;
  if (w->mask != wanted) {
    char text[200];
    snprintf(text, sizeof text,
             "only the lanes 0x%08x of 0x%08x execute an instruction that is for a whole warp: %s", w->mask,
             wanted, w->mask == w->live ? "the others have exited" : "the others have gone another way");
    checkerOf(w).report(FindingKind::BarrierDivergence, w, op, unsigned(__builtin_ctz(w->mask)), 0, text);
  }
  JOULE_NEXT;
}

const HandlerEntry entries[] = {
    {"check.barrier", checkBarrier, ""},
    {"check.copy", checkCopy, ""},
    {"check.storeasync", checkStoreAsync, ""},
    {"check.commitreads", commitReads, ""},
    {"check.waitreads", waitForReads, ""},
    {"check.proxy", proxyFence, ""},
    {"check.read", checkRead, ""},
    {"check.write", checkWrite, ""},
    {"check.update", checkUpdate, ""},
    {"check.updated", checkUpdated, ""},
    {"check.matrix", checkMatrix, ""},
    {"check.cpasync", startCopy, ""},
    {"check.commit", commitCopies, ""},
    {"check.wait", waitForCopies, ""},
    {"check.fence", fence, ""},
    {"check.members", checkMembers, ""},
    {"check.met", warpMet, ""},
    {"check.whole", checkWhole, ""},
};

} // namespace

HandlerTable handlersOfChecks() { return {entries, sizeof entries / sizeof entries[0]}; }

} // namespace joule::vgpu
