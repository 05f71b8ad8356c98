// Handlers for control flow, and those that run other handlers for a part of a warp.
#include "lib/VirtualGpu/HandlerParts.h"

namespace joule::vgpu::JOULE_VGPU_ISA {
namespace {

// --- control ---

JOULE_INLINE bool spend(Warp *w, const Op *op, const Op *target) {
  if (target > op || --w->budget > 0)
    return false;
  w->pc = target;
  return true;
}

Status branch(const Op *op, u8 *r, Warp *w) {
  const Op *target = op->target;
  if (spend(w, op, target))
    return Status::Yield;
  JOULE_TAIL return target->fn(target, r, w);
}

/// n: the branch is taken where the predicate is false.
JOULE_INLINE u32 takenLanes(const Op *op, u8 *r, Warp *w) {
  u32 p = *at<u32>(r, op->a);
  return (op->n ? ~p : p) & w->mask;
}

Status branchIf(const Op *op, u8 *r, Warp *w) {
  u32 taken = takenLanes(op, r, w);
  if (taken == 0)
    JOULE_NEXT;
  const Op *target = op->target;
  if (taken != w->mask)
    return w->pc = op, w->taken = taken, Status::Diverged;
  if (spend(w, op, target))
    return Status::Yield;
  JOULE_TAIL return target->fn(target, r, w);
}

Status branchMasked(const Op *op, u8 *r, Warp *w) {
  const Op *target = op->target;
  if (spend(w, op, target))
    return Status::Yield;
  if (target <= op)
    return w->pc = target, Status::Join; // someone may wait in between
  JOULE_TAIL return target->masked(target, r, w);
}

Status branchIfMasked(const Op *op, u8 *r, Warp *w) {
  u32 taken = takenLanes(op, r, w);
  if (taken == 0)
    JOULE_TAIL return op[1].masked(op + 1, r, w);
  if (taken != w->mask)
    return w->pc = op, w->taken = taken, Status::Diverged;
  JOULE_TAIL return branchMasked(op, r, w);
}

JOULE_INLINE void countBlock(const Op *op, Warp *w) {
  if (op->imm < 0)
    return; // behind a guarded instruction, not a block's start
  BlockCount &count = w->blockCounts[op->imm];
  ++count.warps;
  count.lanes += u32(__builtin_popcount(w->mask));
}
Status label(const Op *op, u8 *r, Warp *w) {
  if (__builtin_expect(w->blockCounts != nullptr, 0))
    countBlock(op, w);
  JOULE_NEXT;
}
JOULE_INLINE bool mustJoin(const Op *op, Warp *w) {
  if (w->joinAt > op)
    return false;
  if (w->freeLabels == 0)
    return w->pc = op, true;
  --w->freeLabels;
  return false;
}
Status labelMasked(const Op *op, u8 *r, Warp *w) {
  if (mustJoin(op, w))
    return Status::Join;
  if (w->blockCounts)
    countBlock(op, w);
  JOULE_TAIL return op[1].masked(op + 1, r, w);
}

Status step(const Op *op, u8 *r, Warp *w) { return Status::Step; }

/// Runs one operation by itself: a copy with a stop behind it, so that its handler's jump to the next ends
/// there.
JOULE_INLINE Status runAlone(const Op *op, u8 *r, Warp *w) {
  Op pair[2];
  pair[0] = *op;
  pair[1].fn = step;
  return pair[0].fn(pair, r, w);
}

/// The operation looks at the mask itself.
Status maskedItself(const Op *op, u8 *r, Warp *w) {
  Status status = runAlone(op, r, w);
  if (status != Status::Step)
    return status;
  JOULE_TAIL return op[1].masked(op + 1, r, w);
}

/// Run for all lanes, then put the old values back where the mask is off.
template <class T> Status maskedResult(const Op *op, u8 *r, Warp *w) {
  T saved[32];
  memcpy(saved, r + op->d, sizeof saved);
  runAlone(op, r, w);
  select(at<T>(r, op->d), w->mask, at<T>(r, op->d), saved);
  JOULE_TAIL return op[1].masked(op + 1, r, w);
}
Status maskedResult128(const Op *op, u8 *r, Warp *w) {
  u64 saved[64];
  memcpy(saved, r + op->d, sizeof saved);
  runAlone(op, r, w);
  for (int i = 0; i < 64; ++i)
    if (!(w->mask >> (i / 2) & 1))
      at<u64>(r, op->d)[i] = saved[i];
  JOULE_TAIL return op[1].masked(op + 1, r, w);
}
Status maskedPredicate(const Op *op, u8 *r, Warp *w) {
  u32 saved = *at<u32>(r, op->d);
  runAlone(op, r, w);
  u32 *d = at<u32>(r, op->d);
  *d = (*d & w->mask) | (saved & ~w->mask);
  JOULE_TAIL return op[1].masked(op + 1, r, w);
}

/// Stands before an operation that has a predicate.
JOULE_INLINE Status runGuarded(const Op *op, u8 *r, Warp *w, u32 lanesOn) {
  Op pair[2];
  pair[0] = op[1];
  pair[1].fn = pair[1].masked = step;
  u32 mask = w->mask;
  w->mask = lanesOn;
  Status status = pair[0].masked(pair, r, w);
  w->mask = mask;
  return status;
}
Status guard(const Op *op, u8 *r, Warp *w) {
  u32 p = *at<u32>(r, op->a), on = (op->guard ? ~p : p) & w->mask;
  if (on == w->mask)
    JOULE_NEXT;
  if (on) {
    Status status = runGuarded(op, r, w, on);
    if (status != Status::Step)
      return status;
  }
  JOULE_TAIL return op[2].fn(op + 2, r, w);
}
Status guardMasked(const Op *op, u8 *r, Warp *w) {
  u32 p = *at<u32>(r, op->a), on = (op->guard ? ~p : p) & w->mask;
  if (on) {
    Status status = runGuarded(op, r, w, on);
    if (status != Status::Step)
      return status;
  }
  JOULE_TAIL return op[2].masked(op + 2, r, w);
}

Status exitLanes(const Op *op, u8 *r, Warp *w) { return w->pc = op, Status::Exited; }
Status returnLanes(const Op *op, u8 *r, Warp *w) { return w->pc = op, Status::Return; }
Status callFunction(const Op *op, u8 *r, Warp *w) { return w->pc = op, Status::Call; }
Status sleepWarp(const Op *op, u8 *r, Warp *w) { return w->pc = op + 1, Status::Yield; }
Status trapLanes(const Op *op, u8 *r, Warp *w) {
  return raiseFault(w, op, FaultKind(op->imm), 0, u32(__builtin_ctz(w->mask)));
}
Status nothing(const Op *op, u8 *r, Warp *w) { JOULE_NEXT; }

// --- the table ---

const HandlerEntry entries[] = {
    {"bra", branch, "bra"},
    {"bra.if", branchIf, "bra.if"},
    {"label", label, "label"},
    {"guard", guard, "guard"},
    {"exit", exitLanes, "stop"},
    {"ret", returnLanes, "stop"},
    {"call", callFunction, "stop"},
    {"sleep", sleepWarp, "stop"},
    {"trap", trapLanes, "stop"},
    {"nop", nothing, ""},
    // How results are merged: found under these names by the decoder.
    {"masked.2", maskedResult<u16>, ""},
    {"masked.4", maskedResult<u32>, ""},
    {"masked.8", maskedResult<u64>, ""},
    {"masked.16", maskedResult128, ""},
    {"masked.p", maskedPredicate, ""},
    {"masked.", maskedItself, ""},
    {"masked.bra", branchMasked, ""},
    {"masked.bra.if", branchIfMasked, ""},
    {"masked.label", labelMasked, ""},
    {"masked.guard", guardMasked, ""},
};

} // namespace

HandlerTable controlHandlers() { return {entries, sizeof entries / sizeof entries[0]}; }

} // namespace joule::vgpu::JOULE_VGPU_ISA
