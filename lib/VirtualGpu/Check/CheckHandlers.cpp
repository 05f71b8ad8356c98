// Operations that check mode puts around those that touch memory or synchronise. They change nothing that the
// program can see, but for cp.async, which they take over. What leaves its memory they pass over: the access
// itself fails.
#include "lib/VirtualGpu/BlockRunner.h"
#include "lib/VirtualGpu/Check/BlockChecker.h"
#include "lib/VirtualGpu/OnceHandlers.h"
#include "lib/VirtualGpu/Ptx.h"
#include "lib/VirtualGpu/TensorMap.h"
#include "lib/VirtualGpu/WarpgroupOperand.h"

#include <algorithm>
#include <cstring>

// Apart from the jump to the next operation: a compiler that knows no musttail makes one only where no local
// variable's address is taken.
#define JOULE_CHECK [[gnu::noinline]]

namespace joule::vgpu {
namespace {

BlockChecker &checkerOf(Warp *w) { return *static_cast<BlockRunner *>(w->runner)->checker(); }

template <class F> void eachLane(u32 mask, F f) {
  for (u32 rest = mask; rest; rest &= rest - 1)
    f(unsigned(__builtin_ctz(rest)));
}

u64 addressIn(u8 *r, u32 place, bool narrow, int64_t displacement, unsigned lane) {
  return narrow ? u64(u32(at<u32>(r, place)[lane] + u32(displacement)))
                : at<u64>(r, place)[lane] + u64(displacement);
}

BlockRunner &runnerOf(Warp *w) { return *static_cast<BlockRunner *>(w->runner); }

/// Shared memory, of any block of the cluster.
bool locateShared(Warp *w, u64 offset, CheckedAccess &a) {
  a.space = CheckedAccess::Shared;
  if (offset < w->sharedSize && a.bytes <= w->sharedSize - offset) {
    a.host = u64(w->shared) + offset;
    a.owner = &checkerOf(w);
  } else {
    a.host = offset > sharedOffsetMask ? sharedOfCluster(w, offset, a.bytes) : 0;
    BlockRunner *owner = a.host ? runnerOf(w).ownerOf(a.host) : nullptr;
    if (!owner)
      return false;
    a.owner = owner->checker();
  }
  a.range = a.owner->sharedRange();
  return true;
}

/// False for parameters and whatever is not aligned to `alignment` or leaves its memory.
bool locate(Warp *w, unsigned space, u64 given, CheckedAccess &a, unsigned alignment) {
  a.given = given;
  a.owner = nullptr;
  u64 offset = given;
  if (space == inGeneric) {
    u64 window = given >> 56;
    offset = given & ((1ull << 56) - 1);
    space = window == 0 ? inGlobal : window == 1 ? inShared : window == 2 ? inLocal : inParam;
  }
  if (space == inParam || (given & (alignment - 1)))
    return false;
  if (space == inShared)
    return locateShared(w, offset, a);
  if (space == inLocal) {
    if (offset >= w->localStride || a.bytes > w->localStride - offset)
      return false;
    a.host = u64(w->local) + offset + a.lane() * w->localStride;
    a.space = CheckedAccess::Local;
    a.range = checkerOf(w).localRange(w);
    return true;
  }
  a.host = given;
  a.space = CheckedAccess::Global;
  a.range = checkerOf(w).allocationOf(given);
  if (a.range && given + a.bytes <= a.range->high)
    return true;
  a.range = nullptr; // what the device itself keeps is not followed
  return runnerOf(w).isAllocated(given, given + a.bytes);
}
bool locate(Warp *w, unsigned space, u64 given, CheckedAccess &a) {
  return locate(w, space, given, a, a.bytes & (0 - a.bytes));
}
bool locate(const Op *op, u8 *r, Warp *w, unsigned lane, CheckedAccess &a) {
  a.lanes = 1u << lane;
  return locate(w, op->space, addressIn(r, op->a, op->flags & address32, op->imm, lane), a);
}

CheckedAccess accessOf(u64 bytes) {
  CheckedAccess a = {};
  a.bytes = unsigned(bytes);
  return a;
}

// --- loads and stores ---
// a, imm, space, flags: the address; d: bytes of a lane; guard: CheckFlags.

/// The lanes' addresses; the lowest and the highest, and all of their bits.
struct LaneAddresses {
  u64 given[warpSize], low = ~0ull, high = 0, bits = 0;

  LaneAddresses(const Op *op, u8 *r, u32 mask) {
    if (op->flags & address32)
      for (unsigned i = 0; i < warpSize; ++i)
        given[i] = at<u32>(r, op->a)[i] + u32(op->imm);
    else
      for (unsigned i = 0; i < warpSize; ++i)
        given[i] = at<u64>(r, op->a)[i] + u64(op->imm);
    u64 first = given[__builtin_ctz(mask)];
    for (unsigned i = 0; i < warpSize; ++i) {
      if (!(mask >> i & 1))
        given[i] = first;
      bits |= given[i];
      low = std::min(low, given[i]), high = std::max(high, given[i]);
    }
  }
};

/// Notes which bytes of the registers (n of them) nobody has written; false if none, or if nobody has written
/// any of a word.
bool noteUndefined(const Op *op, u8 *r, Warp *w) {
  BlockChecker &checker = checkerOf(w);
  unsigned bytes = op->d / op->n;
  bool any = false, none = false;
  eachLane(w->mask, [&](unsigned lane) {
    CheckedAccess a = accessOf(op->d);
    if (!locate(op, r, w, lane, a) || !a.range)
      return;
    for (unsigned k = 0; k < op->n; ++k) {
      u32 undefined = 0;
      for (unsigned i = 0; i < bytes; ++i)
        undefined |= u32(!a.range->isWritten(a.host + k * bytes + i, 1)) << i;
      checker.noteCopied(w, op->list[k], lane, undefined);
      any |= undefined != 0;
      none |= bytes >= 4 && undefined == (1u << bytes) - 1;
    }
  });
  return any && !none;
}

/// A lane alone; e: of ldmatrix, how many lanes give an address of what all read.
void readAlone(const Step &step, u8 *r, unsigned lane) {
  const Op *op = step.op;
  BlockChecker &checker = checkerOf(step.w);
  CheckedAccess a = accessOf(op->d);
  if (!locate(op, r, step.w, lane, a))
    return;
  if (op->guard & checkAtomic)
    checker.synchronise(step, a, op->guard, false);
  if (op->e != noRegister)
    a.lanes = step.w->mask;
  checker.read(step, a);
}

JOULE_CHECK void checkRead(const Op *op, u8 *r, Warp *w) {
  BlockChecker &checker = checkerOf(w);
  Step step = checker.stepOf(w, op, op->guard & ~checkCopies);
  if (op->e != noRegister || op->guard & checkAtomic) {
    eachLane(op->e != noRegister ? allLanes >> (warpSize - op->e) : w->mask,
             [&](unsigned lane) { readAlone(step, r, lane); });
    return;
  }
  LaneAddresses lanes(op, r, w->mask);
  CheckedAccess a = accessOf(op->d);
  a.lanes = w->mask;
  u64 span = lanes.high - lanes.low + a.bytes;
  bool together = !(lanes.bits & ((a.bytes & (0 - a.bytes)) - 1)) && op->space != inLocal &&
                  locate(w, op->space, lanes.low, a) && a.range && a.space != CheckedAccess::Local &&
                  a.host + span <= a.range->high;
  if (op->guard & checkCopies && (checker.anyUndefined() || !together || !a.range->isWritten(a.host, span)) &&
      noteUndefined(op, r, w))
    step.flags |= checkPartial;
  if (together)
    checker.readLanes(step, a, lanes.given, span);
  else
    eachLane(w->mask, [&](unsigned lane) { readAlone(step, r, lane); });
}

/// The value that a lane stores: op->n registers of op->b bytes, of each the first op->e.
void gatherValue(const Op *op, u8 *r, unsigned lane, u8 *value) {
  for (unsigned k = 0; k < op->n; ++k)
    memcpy(value + k * op->e, r + op->list[k] + lane * op->b, op->e);
}

/// Do two lanes write different values to one place? Those that rise from lane to lane need not be compared.
void compareLanes(const Step &step, u8 *r, const CheckedAccess *a, u32 mask) {
  const Op *op = step.op;
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
      checkerOf(step.w).conflictOfLanes(step, a[k], i);
    }
  });
}

/// What nobody has written stays so where it is copied to.
void keepUndefined(const Op *op, Warp *w, const CheckedAccess *a, u32 lanes) {
  eachLane(lanes, [&](unsigned lane) {
    for (unsigned k = 0; a[lane].range && k < op->n; ++k)
      for (u32 rest = checkerOf(w).undefinedBytes(w, op->list[k], lane); rest; rest &= rest - 1)
        a[lane].range->markUnwritten(a[lane].host + k * op->e + unsigned(__builtin_ctz(rest)), 1);
  });
}

JOULE_CHECK void checkWrite(const Op *op, u8 *r, Warp *w) {
  BlockChecker &checker = checkerOf(w);
  CheckedAccess all[warpSize];
  u32 good = 0;
  eachLane(w->mask, [&](unsigned lane) {
    all[lane].bytes = op->d;
    good |= u32(locate(op, r, w, lane, all[lane])) << lane;
  });
  if (op->guard & checkAtomic)
    eachLane(good, [&](unsigned lane) {
      checker.synchronise(checker.stepOf(w, op, op->guard), all[lane], op->guard, true);
    });
  Step step = checker.stepOf(w, op, op->guard & ~checkCopies);
  eachLane(good, [&](unsigned lane) {
    u8 value[16];
    gatherValue(op, r, lane, value);
    if (!checker.write(step, all[lane], value))
      good &= ~(1u << lane);
  });
  eachLane(good, [&](unsigned lane) { checker.noteWrite(step, all[lane]); });
  if (op->guard & checkCopies && checker.anyUndefined())
    keepUndefined(op, w, all, good);
  if (!(op->guard & checkAtomic))
    compareLanes(step, r, all, good);
}

/// Rows that all lanes write together: stmatrix. e: how many lanes give an address.
JOULE_CHECK void checkRows(const Op *op, u8 *r, Warp *w) {
  BlockChecker &checker = checkerOf(w);
  Step step = checker.stepOf(w, op, 0);
  eachLane(allLanes >> (warpSize - op->e), [&](unsigned lane) {
    CheckedAccess a = accessOf(16);
    if (!locate(op, r, w, lane, a))
      return;
    a.lanes = w->mask;
    if (checker.write(step, a, nullptr))
      checker.noteWrite(step, a);
  });
}

u64 sumOfValues(const Op *op, u8 *r, Warp *w) {
  u64 sum = 0;
  eachLane(w->mask, [&](unsigned lane) {
    CheckedAccess a = accessOf(op->d);
    u64 value = 0;
    if (locate(op, r, w, lane, a))
      memcpy(&value, reinterpret_cast<const void *>(a.host), a.bytes < 8 ? a.bytes : 8);
    sum = sum * 31 + value;
  });
  return sum;
}

/// atom and red.
JOULE_CHECK void checkUpdate(const Op *op, u8 *r, Warp *w) {
  BlockChecker &checker = checkerOf(w);
  eachLane(w->mask, [&](unsigned lane) {
    CheckedAccess a = accessOf(op->d);
    if (!locate(op, r, w, lane, a))
      return;
    checker.synchronise(checker.stepOf(w, op, op->guard), a, op->guard, true);
    Step step = checker.stepOf(w, op, op->guard);
    if (checker.write(step, a, nullptr))
      checker.noteWrite(step, a);
  });
  checker.changedBefore[w->index] = sumOfValues(op, r, w);
}
JOULE_CHECK void checkUpdated(const Op *op, u8 *r, Warp *w) {
  BlockChecker &checker = checkerOf(w);
  checker.launchChecker().changes += sumOfValues(op, r, w) != checker.changedBefore[w->index];
}

/// wmma.load and wmma.store; n: a store. Rows (or columns) of the matrix are contiguous.
JOULE_CHECK void checkMatrix(const Op *op, u8 *r, Warp *w) {
  const WmmaShape &s = *static_cast<const WmmaShape *>(op->data);
  unsigned lane = unsigned(__builtin_ctz(w->mask));
  u64 leading = at<u32>(r, op->c)[lane], start = addressIn(r, op->a, op->flags & address32, op->imm, lane);
  BlockChecker &checker = checkerOf(w);
  Step step = checker.stepOf(w, op, 0);
  int lines = s.rowMajor ? s.rows : s.columns, perLine = s.rowMajor ? s.columns : s.rows;
  for (int i = 0; i < lines; ++i) {
    CheckedAccess a = accessOf(u64(perLine) * s.elementBytes);
    a.lanes = 1u << lane;
    if (!locate(w, op->space, start + u64(i) * leading * s.elementBytes, a, s.elementBytes))
      continue;
    a.lanes = w->mask;
    if (!op->n)
      checker.read(step, a);
    else if (checker.write(step, a, nullptr))
      checker.noteWrite(step, a);
  }
}

// --- cp.async ---

/// In place of "cpasync", whose operands it has.
JOULE_CHECK Status startCopy(const Op *op, u8 *r, Warp *w) {
  BlockChecker &checker = checkerOf(w);
  Step step = checker.stepOf(w, op, 0);
  for (u32 rest = w->mask; rest; rest &= rest - 1) {
    unsigned lane = unsigned(__builtin_ctz(rest));
    u32 readable = op->c == noRegister ? op->n : at<u32>(r, op->c)[lane];
    CheckedAccess to = accessOf(op->n), from = accessOf(readable < op->n ? readable : op->n);
    to.lanes = from.lanes = 1u << lane;
    u64 target = addressIn(r, op->a, op->flags & address32, op->imm, lane);
    u64 source = addressIn(r, op->b, op->guard & address32, reinterpret_cast<int64_t>(op->data), lane);
    if (!locate(w, op->space, target, to) || to.owner != &checker)
      return raiseFault(w, op, target & (op->n - 1u) ? FaultKind::Misaligned : FaultKind::IllegalAddress,
                        target, lane);
    if (source & (op->n - 1u))
      return raiseFault(w, op, FaultKind::Misaligned, source, lane);
    if (from.bytes && !locate(w, op->e, source, from, 1))
      return raiseFault(w, op, FaultKind::IllegalAddress, source, lane);
    if (from.bytes)
      checker.read(step, from);
    checker.startCopy(step, to, from.host, from.bytes);
  }
  return Status::Step;
}
JOULE_CHECK void commitCopies(const Op *op, u8 *r, Warp *w) { checkerOf(w).commitCopies(w); }
/// imm: groups that may stay in flight; n: those not committed are waited for, too.
JOULE_CHECK void waitForCopies(const Op *op, u8 *r, Warp *w) {
  checkerOf(w).waitForCopies(w, u32(op->imm), op->n);
}

// --- mbarriers and the copy engine ---

/// Around an mbarrier instruction. n: before 0 init, 1 arrive (b: how often), 2 a test, 4 inval; 3: after a
/// test (d: where it was true).
JOULE_CHECK void checkBarrier(const Op *op, u8 *r, Warp *w) {
  BlockChecker &checker = checkerOf(w);
  Step step = checker.stepOf(w, op, 0);
  eachLane(w->mask, [&](unsigned lane) {
    CheckedAccess a = accessOf(8);
    if (!locate(op, r, w, lane, a) || !a.owner)
      return;
    unsigned scope = a.owner == &checker ? 0 : checkDevice;
    if (op->n == 0 || op->n == 4)
      return a.owner->initBarrier(step, a, op->n == 0);
    if (op->n == 3) {
      if (op->d == noRegister || *at<u32>(r, op->d) >> lane & 1)
        checker.synchronise(step, a, checkAtomic | checkAcquire, false);
      return checker.notePoll(step, lane);
    }
    checker.touchBarrier(step, a, op->n != 1 ? 0 : op->b == noRegister ? 1 : at<u32>(r, op->b)[lane]);
    if (op->n == 1)
      checker.synchronise(step, a, checkAtomic | checkRelease | scope, true);
    else
      a.owner->showCopied(a.host);
    a.owner->phaseOf(a.host);
  });
}

u64 addressOf(const AsyncAddress &a, u8 *r, unsigned lane) {
  return addressIn(r, a.place, a.narrow, a.displacement, lane);
}

/// One lane's part of a copy.
class CheckedCopy {
public:
  CheckedCopy(const Op *op, u8 *r, Warp *w, unsigned lane)
      : op(op), r(r), w(w), lane(lane), copy(*static_cast<const BulkCopy *>(op->data)), checker(checkerOf(w)),
        step(checker.stepOf(w, op, copy.toGlobal && copy.reduction ? checkAtomic | checkDevice : 0)) {
    if (isTensor())
      readMap();
    else
      bytes = copy.bytes == noRegister ? 0 : at<u32>(r, copy.bytes)[lane];
  }

  void before() {
    if (!bytes)
      return;
    Step reads = step;
    reads.flags = 0;
    CheckedAccess a;
    if (copy.toGlobal || !isTensor()) {
      if (locateBulk(copy.from, a)) {
        checker.read(reads, a);
        if (a.owner)
          checker.checkProxy(step, a, "the copy engine");
      }
    } else {
      eachRow([&](const CheckedAccess &row) { checker.read(reads, row); });
    }
    if (copy.toGlobal)
      return eachTarget([&](const CheckedAccess &target) { checker.write(step, target, nullptr); });
    eachBlock([&](const CheckedAccess &target, u64 barrier) {
      checker.write(step, target, nullptr);
      if (barrier)
        target.owner->phaseOf(barrier);
    });
  }

  void after() {
    if (!bytes)
      return;
    if (!copy.toGlobal)
      return eachBlock([&](const CheckedAccess &target, u64 barrier) {
        if (barrier) // the phase as it was before: this copy may have ended it
          target.owner->hideCopied(target.host, bytes, barrier, target.owner->phaseSeen(barrier), step.line);
        else
          target.owner->markShared(target.host, bytes);
      });
    CheckedAccess a;
    if (locateBulk(copy.from, a) && a.owner)
      checker.startReading(step, a, BlockChecker::Copying);
    eachTarget([&](const CheckedAccess &target) { checker.startStoring(step, target); });
  }

private:
  bool isTensor() const { return op->n & 2; }
  bool locateBulk(const AsyncAddress &address, CheckedAccess &a) {
    a = accessOf(bytes);
    a.lanes = 1u << lane;
    return address.place != noRegister && locate(w, address.space, addressOf(address, r, lane), a, 1);
  }
  /// The places in shared memory that a copy goes to, with their mbarriers (0: unknown).
  template <class F> void eachBlock(F f) {
    CheckedAccess a, barrier;
    if (copy.blocks == noRegister) {
      if (!locateBulk(copy.to, a) || !a.owner)
        return;
      barrier = accessOf(8);
      barrier.lanes = 1u << lane;
      bool known = copy.barrier.place != noRegister &&
                   locate(w, copy.barrier.space, addressOf(copy.barrier, r, lane), barrier) &&
                   barrier.owner == a.owner;
      return f(a, known ? barrier.host : 0);
    }
    for (u32 rest = at<u16>(r, copy.blocks)[lane]; rest; rest &= rest - 1) {
      u64 block = u64(__builtin_ctz(rest) + 1) << clusterRankShift;
      auto inBlock = [&](const AsyncAddress &address, CheckedAccess &to, u64 size) {
        to = accessOf(size);
        to.lanes = 1u << lane;
        to.given = block | (addressOf(address, r, lane) & sharedOffsetMask);
        return locateShared(w, to.given, to);
      };
      if (inBlock(copy.to, a, bytes))
        f(a, copy.barrier.place != noRegister && inBlock(copy.barrier, barrier, 8) ? barrier.host : 0);
    }
  }
  /// What of a box lies in the tensor.
  template <class F> void eachRow(F f) {
    int32_t start[mostDimensions] = {};
    uint16_t offsets[3] = {};
    for (unsigned i = 0; i < copy.rank; ++i)
      start[i] = int32_t(at<u32>(r, copy.coordinates[i])[lane]);
    for (unsigned i = 0; i < copy.numOffsets; ++i)
      offsets[i] = at<u16>(r, copy.offsets[i])[lane];
    TensorRows rows(map, start, copy.numOffsets ? offsets : nullptr);
    u64 element = tensorElementBytes(map.type);
    for (TensorRow row; rows.next(row);) {
      CheckedAccess a = accessOf(u64(row.end - row.first) * element);
      a.lanes = 1u << lane;
      if (a.bytes && locate(w, inGlobal, row.inGlobal + row.first * element, a, 1))
        f(a);
    }
  }
  template <class F> void eachTarget(F f) {
    if (isTensor())
      return eachRow(f);
    CheckedAccess a;
    if (locateBulk(copy.to, a))
      f(a);
  }
  void readMap() {
    CheckedAccess a = accessOf(sizeof map);
    a.lanes = 1u << lane;
    u64 given = addressOf(copy.map, r, lane), offset = given & ~paramWindow;
    bool inParameters =
        given >> 56 == paramWindow >> 56 && offset < w->paramSize && sizeof map <= w->paramSize - offset;
    if (!inParameters && !locate(w, copy.map.space, given, a))
      return;
    u64 host = inParameters ? u64(w->params) + offset : a.host;
    memcpy(&map, reinterpret_cast<const void *>(host), sizeof map);
    if (isUsable(map) && map.rank == copy.rank && (map.isIm2col != 0) == copy.isIm2col)
      bytes = tensorBoxBytes(map);
  }

  const Op *op;
  u8 *r;
  Warp *w;
  unsigned lane;
  const BulkCopy &copy;
  BlockChecker &checker;
  Step step;
  TensorMap map = {};
  u64 bytes = 0;
};

/// n: 1 after the copy, 2 of a tensor.
JOULE_CHECK void checkCopy(const Op *op, u8 *r, Warp *w) {
  eachLane(w->mask, [&](unsigned lane) {
    CheckedCopy copy(op, r, w, lane);
    op->n & 1 ? copy.after() : copy.before();
  });
}
/// Before st.async and red.async, and (n) after. What several add to one place is not hidden until it is
/// there.
JOULE_CHECK void checkStoreAsync(const Op *op, u8 *r, Warp *w) {
  const auto &copy = *static_cast<const BulkCopy *>(op->data);
  BlockChecker &checker = checkerOf(w);
  Step step = checker.stepOf(w, op, copy.reduction ? checkAtomic | checkDevice : 0);
  eachLane(w->mask, [&](unsigned lane) {
    CheckedAccess a = accessOf(u64(ptx::sizeOf(ptx::Type(copy.type))) * copy.rank), barrier = accessOf(8);
    a.lanes = barrier.lanes = 1u << lane;
    if (!locate(w, copy.to.space, addressOf(copy.to, r, lane), a, 1) || !a.owner)
      return;
    bool known = locate(w, copy.barrier.space, addressOf(copy.barrier, r, lane), barrier) &&
                 barrier.owner == a.owner && !copy.reduction;
    if (!op->n && !copy.reduction)
      checker.write(step, a, nullptr);
    if (!op->n && known)
      a.owner->phaseOf(barrier.host);
    if (op->n && known)
      a.owner->hideCopied(a.host, a.bytes, barrier.host, a.owner->phaseSeen(barrier.host), step.line);
    else if (op->n)
      a.owner->markShared(a.host, a.bytes);
  });
}

// --- groups of bulk stores and of matrix products; e: BlockChecker::Engine ---

JOULE_CHECK void commitGroup(const Op *op, u8 *r, Warp *w) {
  checkerOf(w).commitGroup(w, BlockChecker::Engine(op->e));
}
/// imm: groups that may stay under way; n: their sources are waited for, not their destinations.
JOULE_CHECK void waitForGroups(const Op *op, u8 *r, Warp *w) {
  checkerOf(w).waitForGroups(w, BlockChecker::Engine(op->e), u32(op->imm), op->n);
}
JOULE_CHECK void proxyFence(const Op *op, u8 *r, Warp *w) { checkerOf(w).proxyFence(w); }

// --- wgmma ---

/// The 16-byte chunks of `rows` rows of one operand.
template <class F> void eachChunk(u64 descriptor, u32 first, u32 rows, u32 bytes, bool kAlongMemory, F f) {
  WarpgroupOperand o(descriptor);
  for (u32 i = 0; kAlongMemory && i < rows; ++i)
    for (u32 j = 0; j < bytes / 16; ++j)
      f(o.alongK(first + i, j));
  for (u32 c = 0; !kAlongMemory && c < rows / 8; ++c)
    for (u32 k = 0; k < bytes / 2; ++k)
      f(o.alongRows(first / 8 + c, k));
}

/// Before a product: what it reads from shared memory. a, b: bytes of a row of A and of B.
JOULE_CHECK void checkProduct(const Op *op, u8 *r, Warp *w) {
  BlockChecker &checker = checkerOf(w);
  Step step = checker.stepOf(w, op, 0);
  const auto &tile = *static_cast<const MatrixTile *>(op->data);
  unsigned lane = unsigned(__builtin_ctz(w->mask));
  auto check = [&](u64 offset) {
    CheckedAccess a = accessOf(16);
    a.lanes = w->mask;
    a.given = offset;
    if (!locateShared(w, offset, a) || a.owner != &checker)
      return;
    checker.read(step, a);
    checker.checkProxy(step, a, "a matrix product");
    checker.startReading(step, a, BlockChecker::Multiplying);
  };
  if (tile.descriptorA != noRegister)
    eachChunk(at<u64>(r, tile.descriptorA)[lane], w->index % 4 * 16, 16, op->a, tile.rowsOfA, check);
  eachChunk(at<u64>(r, tile.descriptorB)[lane], 0, u32(tile.n), op->b, tile.columnsOfB, check);
}
/// The registers of its sums. list: b of them, by their numbers in the function.
JOULE_CHECK void startSums(const Op *op, u8 *r, Warp *w) {
  BlockChecker &checker = checkerOf(w);
  checker.startSums(checker.stepOf(w, op, 0), op->list, op->b);
}
/// Before another instruction that reads or (n) writes such registers.
JOULE_CHECK void touchSums(const Op *op, u8 *r, Warp *w) {
  BlockChecker &checker = checkerOf(w);
  checker.touchSums(checker.stepOf(w, op, 0), op->list, op->b, op->n);
}
JOULE_CHECK void fenceSums(const Op *op, u8 *r, Warp *w) { checkerOf(w).fenceSums(w); }

// --- synchronisation ---

JOULE_CHECK void fence(const Op *op, u8 *r, Warp *w) { checkerOf(w).fence(w, op->n); }

/// Before an instruction with member masks, b.
JOULE_CHECK void checkMembers(const Op *op, u8 *r, Warp *w) {
  const u32 *members = at<u32>(r, op->b);
  checkerOf(w).lanesArrive(w);
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
}
/// After it.
JOULE_CHECK void lanesMet(const Op *op, u8 *r, Warp *w) { checkerOf(w).lanesMet(w, at<u32>(r, op->b)); }

/// n: 0 arrives at the cluster's barrier (b: .relaxed), 1 has waited there.
JOULE_CHECK void checkCluster(const Op *op, u8 *r, Warp *w) {
  runnerOf(w).checkClusterBarrier(w, op->n, op->b);
}

/// Before an instruction that the whole warp must execute together. n: a barrier, which a short warp may
/// reach.
JOULE_CHECK void checkWhole(const Op *op, u8 *r, Warp *w) {
  u32 wanted = op->n ? w->initial : allLanes;
  if (w->mask != wanted) {
    char text[200];
    snprintf(text, sizeof text,
             "only the lanes 0x%08x of 0x%08x execute an instruction that is for a whole warp: %s", w->mask,
             wanted, w->mask == w->live ? "the others have exited" : "the others have gone another way");
    checkerOf(w).report(FindingKind::BarrierDivergence, w, op, unsigned(__builtin_ctz(w->mask)), 0, text);
  }
}

template <auto check> Status then(const Op *op, u8 *r, Warp *w) {
  if constexpr (std::is_void_v<decltype(check(op, r, w))>)
    check(op, r, w);
  else if (check(op, r, w) == Status::Fault)
    return Status::Fault;
  JOULE_TAIL return op[1].fn(op + 1, r, w);
}

const HandlerEntry entries[] = {
    {"check.barrier", then<checkBarrier>, ""},
    {"check.copy", then<checkCopy>, ""},
    {"check.storeasync", then<checkStoreAsync>, ""},
    {"check.commitgroup", then<commitGroup>, ""},
    {"check.waitgroups", then<waitForGroups>, ""},
    {"check.product", then<checkProduct>, ""},
    {"check.startsums", then<startSums>, ""},
    {"check.touchsums", then<touchSums>, ""},
    {"check.fencesums", then<fenceSums>, ""},
    {"check.rows", then<checkRows>, ""},
    {"check.cluster", then<checkCluster>, ""},
    {"check.proxy", then<proxyFence>, ""},
    {"check.read", then<checkRead>, ""},
    {"check.write", then<checkWrite>, ""},
    {"check.update", then<checkUpdate>, ""},
    {"check.updated", then<checkUpdated>, ""},
    {"check.matrix", then<checkMatrix>, ""},
    {"check.cpasync", then<startCopy>, ""},
    {"check.commit", then<commitCopies>, ""},
    {"check.wait", then<waitForCopies>, ""},
    {"check.fence", then<fence>, ""},
    {"check.members", then<checkMembers>, ""},
    {"check.met", then<lanesMet>, ""},
    {"check.whole", then<checkWhole>, ""},
};

} // namespace

HandlerTable handlersOfChecks() { return {entries, sizeof entries / sizeof entries[0]}; }

} // namespace joule::vgpu
