// Handlers of what came with sm_90: mbarriers, the copy engine (bulk copies, tensor boxes) and clusters.
// Copies are done when they are issued, so that waiting for a group of them needs nothing; their barriers
// count the bytes all the same.
#include "lib/VirtualGpu/DeviceMemory.h"
#include "lib/VirtualGpu/OnceHandlers.h"
#include "lib/VirtualGpu/Ptx.h"
#include "lib/VirtualGpu/Scalar.h"
#include "lib/VirtualGpu/Special.h"
#include "lib/VirtualGpu/TensorMap.h"

#include <algorithm>
#include <cstring>

namespace joule::vgpu {
namespace {

// --- addresses ---

u64 given(const AsyncAddress &a, u8 *r, unsigned lane) {
  return a.narrow ? u64(u32(at<u32>(r, a.place)[lane] + u32(a.displacement)))
                  : at<u64>(r, a.place)[lane] + u64(a.displacement);
}
AsyncAddress ownAddress(const Op *op) { return {op->a, op->imm, (op->flags & address32) != 0, op->space}; }

u8 *fail(Warp *w, const Op *op, FaultKind kind, u64 address, unsigned lane) {
  raiseFault(w, op, kind, address, lane);
  return nullptr;
}

/// The host's address of `bytes` there; null after a fault.
u8 *locate(Warp *w, const Op *op, u64 address, unsigned space, u64 bytes, u64 alignment, unsigned lane) {
  if (address & (alignment - 1))
    return fail(w, op, FaultKind::Misaligned, address, lane);
  u64 host = hostAddress(w, op, address, space, bytes, lane);
  return host ? reinterpret_cast<u8 *>(host) : fail(w, op, FaultKind::IllegalAddress, address, lane);
}
u8 *locate(Warp *w, const Op *op, const AsyncAddress &a, u8 *r, u64 bytes, u64 alignment, unsigned lane) {
  return locate(w, op, given(a, r, lane), a.space, bytes, alignment, lane);
}

// --- mbarriers ---
// One word: arrivals still awaited (20 bits), arrivals of each phase (20), bytes still awaited (23, signed),
// and the parity of the phase.

constexpr u64 countMask = 0xfffff, bytesMask = 0x7fffff, phaseBit = 1ull << 63;

struct Barrier {
  u64 *word;

  u64 pending() const { return *word & countMask; }
  u64 expected() const { return *word >> 20 & countMask; }
  u64 bytes() const { return *word >> 40 & bytesMask; }
  void set(u64 pending, u64 expected, u64 bytes, u64 phase) const {
    *word = (pending & countMask) | (expected & countMask) << 20 | (bytes & bytesMask) << 40 | phase;
  }
  u64 phase() const { return *word & phaseBit; }
  void endPhaseIfDone() const {
    if (pending() == 0 && bytes() == 0)
      set(expected(), expected(), 0, phase() ^ phaseBit);
  }
  void expectBytes(u64 n) const { set(pending(), expected(), bytes() + n, phase()); }
  void completeBytes(u64 n) const {
    set(pending(), expected(), bytes() - n, phase());
    endPhaseIfDone();
  }
  void arrive(u64 n, bool drop) const {
    set(pending() - n, expected() - (drop ? n : 0), bytes(), phase());
    endPhaseIfDone();
  }
};

Barrier barrierAt(Warp *w, const Op *op, u8 *r, const AsyncAddress &a, unsigned lane) {
  return {reinterpret_cast<u64 *>(locate(w, op, a, r, 8, 8, lane))};
}

template <bool M> Status initBarrier(const Op *op, u8 *r, Warp *w) {
  bool ok = eachLane(w, [&](unsigned lane) {
    Barrier barrier = barrierAt(w, op, r, ownAddress(op), lane);
    if (!barrier.word)
      return false;
    u64 count = op->n ? at<u32>(r, op->b)[lane] : 0; // n: 0 invalidates
    barrier.set(count, count, 0, 0);
    return true;
  });
  if (!ok)
    return Status::Fault;
  JOULE_NEXT;
}

/// b: arrivals, or one; c: bytes to expect first; n: the arrivals are dropped from all later phases.
template <bool M> Status arriveAtBarrier(const Op *op, u8 *r, Warp *w) {
  bool ok = eachLane(w, [&](unsigned lane) {
    Barrier barrier = barrierAt(w, op, r, ownAddress(op), lane);
    if (!barrier.word)
      return false;
    u64 before = *barrier.word;
    if (op->c != noRegister)
      barrier.expectBytes(at<u32>(r, op->c)[lane]);
    barrier.arrive(op->b == noRegister ? 1 : at<u32>(r, op->b)[lane], op->n);
    if (op->d != noRegister)
      at<u64>(r, op->d)[lane] = before;
    return true;
  });
  if (!ok)
    return Status::Fault;
  JOULE_NEXT;
}

/// n: 0 expects bytes, 1 completes them.
template <bool M> Status countBytes(const Op *op, u8 *r, Warp *w) {
  bool ok = eachLane(w, [&](unsigned lane) {
    Barrier barrier = barrierAt(w, op, r, ownAddress(op), lane);
    if (!barrier.word)
      return false;
    u64 bytes = at<u32>(r, op->b)[lane];
    op->n ? barrier.completeBytes(bytes) : barrier.expectBytes(bytes);
    return true;
  });
  if (!ok)
    return Status::Fault;
  JOULE_NEXT;
}

template <bool M> Status pendingCount(const Op *op, u8 *r, Warp *w) {
  eachLane(w, [&](unsigned lane) {
    at<u32>(r, op->d)[lane] = u32(at<u64>(r, op->a)[lane] & countMask);
    return true;
  });
  JOULE_NEXT;
}

/// Has the phase ended that b names, by an arrival's state or (n) by its parity? Who must wait lets others go
/// on.
template <bool M> Status testBarrier(const Op *op, u8 *r, Warp *w) {
  u32 done = 0;
  bool ok = eachLane(w, [&](unsigned lane) {
    Barrier barrier = barrierAt(w, op, r, ownAddress(op), lane);
    if (!barrier.word)
      return false;
    u64 awaited = op->n ? u64(at<u32>(r, op->b)[lane] & 1) << 63 : at<u64>(r, op->b)[lane] & phaseBit;
    done |= u32(barrier.phase() != awaited) << lane;
    return true;
  });
  if (!ok)
    return Status::Fault;
  u32 *d = at<u32>(r, op->d);
  *d = done | (*d & ~w->mask);
  if (done != w->mask)
    return w->pc = op + 1, Status::Yield;
  JOULE_NEXT;
}

// --- copies of bytes ---

struct Piece {
  u8 *to;
  const u8 *from;
  u64 bytes;
};

/// `reduction`: a scalar::Atomic that combines elements of `elementBytes`, or none.
void move(const Piece &piece, scalar::Atomic reduction, unsigned elementBytes) {
  if (reduction == scalar::noAtomic) {
    memmove(piece.to, piece.from, piece.bytes);
    return;
  }
  for (u64 i = 0; i + elementBytes <= piece.bytes; i += elementBytes) {
    u64 value = 0;
    memcpy(&value, piece.from + i, elementBytes);
    scalar::atomic(reduction, piece.to + i, value, 0);
  }
}

void moveMasked(const Piece &piece, u32 mask) {
  for (u64 i = 0; i < piece.bytes; ++i)
    if (mask >> (i % 16) & 1)
      piece.to[i] = piece.from[i];
}

void countCopy(Warp *w, bool toGlobal, u64 globalAddress, u64 bytes) {
  if (!w->memory || !bytes)
    return;
  noteCopy(w, toGlobal, globalAddress, bytes);
  u64 sectors = (globalAddress + bytes - 1) / 32 - globalAddress / 32 + 1;
  (toGlobal ? w->memory->globalStoreBytes : w->memory->globalLoadBytes) += bytes;
  (toGlobal ? w->memory->globalStoreSectors : w->memory->globalLoadSectors) += sectors;
  (toGlobal ? w->memory->sharedLoadBytes : w->memory->sharedStoreBytes) += bytes;
  (toGlobal ? w->memory->sharedLoadWavefronts : w->memory->sharedStoreWavefronts) += (bytes + 127) / 128;
}

/// The blocks that a copy to shared memory goes to, as addresses in each; the one that the address itself
/// names where there is no multicast.
template <class F> bool eachTarget(Warp *w, const BulkCopy &copy, u8 *r, unsigned lane, F f) {
  u64 to = given(copy.to, r, lane),
      barrier = copy.barrier.place == noRegister ? 0 : given(copy.barrier, r, lane);
  if (copy.blocks == noRegister)
    return f(to, barrier);
  for (u32 rest = at<u16>(r, copy.blocks)[lane]; rest; rest &= rest - 1) {
    u64 block = u64(__builtin_ctz(rest) + 1) << clusterRankShift;
    u64 window = copy.to.space == inGeneric ? sharedWindow : 0;
    if (!f(window | block | (to & sharedOffsetMask), window | block | (barrier & sharedOffsetMask)))
      return false;
  }
  return true;
}

bool completeOn(Warp *w, const Op *op, const BulkCopy &copy, u64 barrierAddress, u64 bytes, unsigned lane) {
  if (copy.barrier.place == noRegister)
    return true;
  u8 *word = locate(w, op, barrierAddress, copy.barrier.space, 8, 8, lane);
  if (word)
    Barrier{reinterpret_cast<u64 *>(word)}.completeBytes(bytes);
  return word != nullptr;
}

bool copyBytes(Warp *w, const Op *op, u8 *r, const BulkCopy &copy, unsigned lane) {
  u64 bytes = at<u32>(r, copy.bytes)[lane];
  if (bytes % 16)
    return fail(w, op, FaultKind::Misaligned, bytes, lane) != nullptr;
  const u8 *from = locate(w, op, copy.from, r, bytes, 16, lane);
  if (!from)
    return false;
  ptx::Type type = ptx::Type(copy.type);
  scalar::Atomic reduction =
      copy.reduction ? scalar::atomicNamed(copy.reduction, uint8_t(type)) : scalar::noAtomic;
  bool touchesGlobal = copy.toGlobal || !isSharedAddress(copy.from.space, given(copy.from, r, lane));
  if (touchesGlobal)
    countCopy(w, copy.toGlobal, given(copy.toGlobal ? copy.to : copy.from, r, lane), bytes);
  return eachTarget(w, copy, r, lane, [&](u64 to, u64 barrier) {
    u8 *target = locate(w, op, to, copy.to.space, bytes, 16, lane);
    if (!target)
      return false;
    if (copy.byteMask != noRegister)
      moveMasked({target, from, bytes}, at<u16>(r, copy.byteMask)[lane]);
    else
      move({target, from, bytes}, reduction, ptx::sizeOf(type));
    return completeOn(w, op, copy, barrier, bytes, lane);
  });
}

template <bool M> Status copyBulk(const Op *op, u8 *r, Warp *w) {
  const auto &copy = *static_cast<const BulkCopy *>(op->data);
  if (!eachLane(w, [&](unsigned lane) { return copyBytes(w, op, r, copy, lane); }))
    return Status::Fault;
  JOULE_NEXT;
}

// --- copies of tensor boxes ---

ptx::Type typeOfTensor(unsigned type) {
  using T = ptx::Type;
  static const T types[] = {T::U8,  T::U16, T::U32,  T::S32, T::U64,  T::S64, T::F16,
                            T::F32, T::F64, T::BF16, T::F32, T::TF32, T::TF32};
  return types[type];
}

/// What fills elements outside the tensor: zeros, or the NaN of all ones.
void fillOutside(u8 *to, u64 bytes, const TensorMap &map) { memset(to, map.fillsNan ? 0xff : 0, bytes); }

class TensorCopy {
public:
  TensorCopy(Warp *w, const Op *op, u8 *r, const BulkCopy &copy, unsigned lane)
      : w(w), op(op), r(r), copy(copy), lane(lane) {}

  bool run() {
    const u8 *object = locate(w, op, copy.map, r, sizeof(TensorMap), 64, lane);
    if (!object)
      return false;
    memcpy(&map, object, sizeof map);
    bool fits = isUsable(map) && map.rank == copy.rank && (map.isIm2col != 0) == copy.isIm2col;
    if (!fits)
      return fail(w, op, FaultKind::BadTensorMap, given(copy.map, r, lane), lane) != nullptr;
    for (unsigned i = 0; i < copy.rank; ++i)
      start[i] = int32_t(at<u32>(r, copy.coordinates[i])[lane]);
    for (unsigned i = 0; i < copy.numOffsets; ++i)
      offsets[i] = at<u16>(r, copy.offsets[i])[lane];
    return copy.toGlobal ? store() : eachTarget(w, copy, r, lane, [&](u64 to, u64 barrier) {
      return load(to) && completeOn(w, op, copy, barrier, tensorBoxBytes(map), lane);
    });
  }

private:
  const uint16_t *shift() const { return copy.numOffsets ? offsets : nullptr; }

  /// Locates the box's part of shared memory; the swizzle moves bytes inside of lines of 128.
  u8 *box(u64 address, unsigned space, u64 &inWindow) {
    inWindow = address & sharedOffsetMask;
    u64 line = map.swizzle ? 128 : 16, bytes = (tensorBoxBytes(map) + line - 1) / line * line;
    return locate(w, op, address, space, bytes, line, lane);
  }

  /// Visits the pieces of a row that stay together under the swizzle.
  template <class F> bool eachPiece(const TensorRow &row, u64 inWindow, F f) {
    u64 element = tensorElementBytes(map.type), begin = row.first * element, end = row.end * element;
    u64 most = map.swizzle ? 16 : end - begin;
    for (u64 i = begin; i < end;) {
      u64 bytes = std::min(most - (map.swizzle ? i % 16 : 0), end - i);
      if (!f(swizzled(map.swizzle, inWindow + row.inShared + i) - inWindow, row.inGlobal + i, bytes))
        return false;
      i += bytes;
    }
    return true;
  }

  bool reachable(const TensorRow &row) {
    u64 element = tensorElementBytes(map.type), low = row.inGlobal + row.first * element,
        high = row.inGlobal + row.end * element;
    if (row.first == row.end || findRange(w, op, low, high))
      return true;
    return fail(w, op, FaultKind::IllegalAddress, low, lane) != nullptr;
  }

  bool load(u64 to) {
    u64 inWindow;
    u8 *base = box(to, copy.to.space, inWindow);
    if (!base)
      return false;
    fillOutside(base, tensorBoxBytes(map), map);
    TensorRows rows(map, start, shift());
    for (TensorRow row; rows.next(row);) {
      if (!reachable(row))
        return false;
      countCopy(w, false, row.inGlobal, (row.end - row.first) * u64(tensorElementBytes(map.type)));
      eachPiece(row, inWindow, [&](u64 offset, u64 address, u64 bytes) {
        memcpy(base + offset, reinterpret_cast<const void *>(address), bytes);
        return true;
      });
    }
    return true;
  }

  bool store() {
    u64 inWindow;
    const u8 *base = box(given(copy.from, r, lane), copy.from.space, inWindow);
    if (!base)
      return false;
    scalar::Atomic reduction = scalar::noAtomic;
    if (copy.reduction) {
      reduction = scalar::atomicNamed(copy.reduction, uint8_t(typeOfTensor(map.type)));
      if (reduction == scalar::noAtomic)
        return fail(w, op, FaultKind::BadTensorMap, given(copy.map, r, lane), lane) != nullptr;
    }
    TensorRows rows(map, start, shift());
    for (TensorRow row; rows.next(row);) {
      if (!reachable(row))
        return false;
      countCopy(w, true, row.inGlobal, (row.end - row.first) * u64(tensorElementBytes(map.type)));
      eachPiece(row, inWindow, [&](u64 offset, u64 address, u64 bytes) {
        move({reinterpret_cast<u8 *>(address), base + offset, bytes}, reduction,
             tensorElementBytes(map.type));
        return true;
      });
    }
    return true;
  }

  Warp *w;
  const Op *op;
  u8 *r;
  const BulkCopy &copy;
  unsigned lane;
  TensorMap map;
  int32_t start[mostDimensions] = {};
  uint16_t offsets[3] = {};
};

template <bool M> Status copyTensor(const Op *op, u8 *r, Warp *w) {
  const auto &copy = *static_cast<const BulkCopy *>(op->data);
  if (!eachLane(w, [&](unsigned lane) { return TensorCopy(w, op, r, copy, lane).run(); }))
    return Status::Fault;
  JOULE_NEXT;
}

// --- stores and updates of another block's memory, counted by a barrier of that block ---

/// coordinates: the values' registers (`type` each), rank of them.
template <bool M> Status storeAsync(const Op *op, u8 *r, Warp *w) {
  const auto &copy = *static_cast<const BulkCopy *>(op->data);
  unsigned size = ptx::sizeOf(ptx::Type(copy.type));
  scalar::Atomic reduction =
      copy.reduction ? scalar::atomicNamed(copy.reduction, copy.type) : scalar::noAtomic;
  bool ok = eachLane(w, [&](unsigned lane) {
    u8 *to = locate(w, op, copy.to, r, size * copy.rank, size * copy.rank, lane);
    for (unsigned i = 0; to && i < copy.rank; ++i)
      move({to + i * size, r + copy.coordinates[i] + lane * size, size}, reduction, size);
    return to && completeOn(w, op, copy, given(copy.barrier, r, lane), size * copy.rank, lane);
  });
  if (!ok)
    return Status::Fault;
  JOULE_NEXT;
}

// --- changing a tensor map ---

enum Field : u8 {
  globalAddress,
  rankField,
  boxDim,
  globalDim,
  globalStride,
  elementStride,
  elementType,
  swizzleMode,
  fillMode
};

bool replaceField(TensorMap &map, Field field, unsigned i, u64 value) {
  bool inRange = i < mostDimensions && (field != globalStride || i + 1 < mostDimensions);
  if (!inRange)
    return false;
  switch (field) {
  case globalAddress:
    map.address = value;
    return true;
  case rankField: // one less
    map.rank = u8(value + 1);
    return value < mostDimensions;
  case boxDim:
    map.box[i] = u16(value);
    return value >= 1 && value <= 256;
  case globalDim:
    map.lastIndex[i] = u32(value) - 1;
    return true;
  case globalStride:
    map.strides[i] = value;
    return value % 16 == 0;
  case elementStride:
    map.elementStrides[i] = u8(value);
    return value >= 1 && value <= 8;
  case elementType: { // counted otherwise than on the host
    static const u8 types[] = {0, 1, 2, 3, 4, 5, 6, 7, 10, 8, 9, 11, 12};
    map.type = value < sizeof types ? types[value] : 0;
    return value < sizeof types;
  }
  case swizzleMode:
    map.swizzle = u8(value);
    return value <= 3;
  case fillMode:
    map.fillsNan = u8(value);
    return value <= 1;
  }
  return false;
}

/// n: the field; e: its index; b: a register with the value, c: its bytes.
template <bool M> Status replaceInMap(const Op *op, u8 *r, Warp *w) {
  bool ok = eachLane(w, [&](unsigned lane) {
    u8 *object = locate(w, op, ownAddress(op), r, sizeof(TensorMap), 64, lane);
    if (!object)
      return false;
    TensorMap map;
    memcpy(&map, object, sizeof map);
    u64 value = op->c == 8 ? at<u64>(r, op->b)[lane] : at<u32>(r, op->b)[lane];
    if (map.magic != TensorMap::theMagic || !replaceField(map, Field(op->n), op->e, value))
      return fail(w, op, FaultKind::BadTensorMap, value, lane) != nullptr;
    memcpy(object, &map, sizeof map);
    return true;
  });
  if (!ok)
    return Status::Fault;
  JOULE_NEXT;
}

/// Copies a tensor map of shared memory to global memory: a from, b to.
template <bool M> Status publishMap(const Op *op, u8 *r, Warp *w) {
  const auto &copy = *static_cast<const BulkCopy *>(op->data);
  bool ok = eachLane(w, [&](unsigned lane) {
    const u8 *from = locate(w, op, copy.from, r, sizeof(TensorMap), 64, lane);
    u8 *to = from ? locate(w, op, copy.to, r, sizeof(TensorMap), 64, lane) : nullptr;
    if (to)
      memcpy(to, from, sizeof(TensorMap));
    return to != nullptr;
  });
  if (!ok)
    return Status::Fault;
  JOULE_NEXT;
}

// --- clusters ---

template <bool M> Status clusterArrive(const Op *op, u8 *r, Warp *w) {
  arriveAtCluster(w);
  JOULE_NEXT;
}
template <bool M> Status clusterWait(const Op *op, u8 *r, Warp *w) {
  if (!clusterHasMet(w))
    return w->pc = op, Status::Yield;
  JOULE_NEXT;
}

/// The address a of this block's shared memory, in the block of rank b.
template <class T, bool M> Status mapAddress(const Op *op, u8 *r, Warp *w) {
  u64 own = rankInCluster(w);
  eachLane(w, [&](unsigned lane) {
    u64 address = at<T>(r, op->a)[lane], rank = at<u32>(r, op->b)[lane];
    u64 window = sizeof(T) == 8 ? address >> 56 << 56 : 0;
    u64 block = rank == own ? 0 : std::min<u64>(rank + 1, 0xff) << clusterRankShift;
    at<T>(r, op->d)[lane] = T(window | block | (address & sharedOffsetMask));
    return true;
  });
  JOULE_NEXT;
}
template <class T, bool M> Status rankOfAddress(const Op *op, u8 *r, Warp *w) {
  u32 own = rankInCluster(w);
  eachLane(w, [&](unsigned lane) {
    u32 block = u32(u64(at<T>(r, op->a)[lane]) >> clusterRankShift);
    at<u32>(r, op->d)[lane] = block ? block - 1 : own;
    return true;
  });
  JOULE_NEXT;
}

#define JOULE_BOTH(name, ...)                                                                                \
  {name, __VA_ARGS__ false >, "own"}, { "masked." name, __VA_ARGS__ true >, "stop" }

const HandlerEntry entries[] = {
    JOULE_BOTH("mbarrier.init", initBarrier <),        JOULE_BOTH("mbarrier.arrive", arriveAtBarrier <),
    JOULE_BOTH("mbarrier.bytes", countBytes <),        JOULE_BOTH("mbarrier.pending", pendingCount <),
    JOULE_BOTH("mbarrier.test", testBarrier <),        JOULE_BOTH("copy.bulk", copyBulk <),
    JOULE_BOTH("copy.tensor", copyTensor <),           JOULE_BOTH("store.async", storeAsync <),
    JOULE_BOTH("tensormap.replace", replaceInMap <),   JOULE_BOTH("tensormap.publish", publishMap <),
    JOULE_BOTH("cluster.arrive", clusterArrive <),     JOULE_BOTH("cluster.wait", clusterWait <),
    JOULE_BOTH("mapa.4", mapAddress < u32, ),          JOULE_BOTH("mapa.8", mapAddress < u64, ),
    JOULE_BOTH("getctarank.4", rankOfAddress < u32, ), JOULE_BOTH("getctarank.8", rankOfAddress < u64, ),
};

} // namespace

HandlerTable handlersOfAsync() { return {entries, sizeof entries / sizeof entries[0]}; }

} // namespace joule::vgpu
