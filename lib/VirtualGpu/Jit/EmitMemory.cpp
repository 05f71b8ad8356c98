// Loads, stores, and calls of handlers. An access whose addresses are one value plus a pattern is tested as a
// whole and becomes scalar or whole vector accesses; what fails the test goes through the interpreter's
// handler, which knows about every fault.
#include "lib/VirtualGpu/Jit/Emitter.h"

#include <llvm/IR/InlineAsm.h>
#include <llvm/IR/Intrinsics.h>
#include <llvm/IR/MDBuilder.h>

#include <cstddef>
#include <set>

namespace joule::vgpu::jit {

using namespace llvm;

namespace {

constexpr unsigned mostLoadedAtOnce = 256; // elements of one wide load that a pattern picks from

int64_t largest(const Pattern &p) { return *std::max_element(p.begin(), p.end()); }
int64_t smallest(const Pattern &p) { return *std::min_element(p.begin(), p.end()); }

unsigned distinct(const Pattern &p) { return unsigned(std::set<int64_t>(p.begin(), p.end()).size()); }

bool isRamp(const Pattern &p, int64_t step) {
  for (unsigned i = 0; i < warpSize; ++i)
    if (p[i] != int64_t(i) * step)
      return false;
  return true;
}

} // namespace

// --- calls of handlers ---

Site &Emitter::siteOf(const Operation &o) {
  sites.emplace_back();
  Site &site = sites.back();
  site.pair[0] = *o.op;
  memset(&site.pair[1], 0, sizeof(Op));
  site.pair[1].fn = site.pair[1].masked = stop;
  return site;
}

Value *Emitter::currentMask() {
  V m = mask;
  if (guardMask)
    m = m ? b.CreateAnd(m, guardMask) : guardMask;
  return m;
}

void Emitter::checkStatus(V status) {
  BasicBlock *failed = newBlock("failed"), *fine = newBlock("fine");
  MDBuilder weights(context);
  b.CreateCondBr(b.CreateICmpEQ(status, b.getInt32(unsigned(Status::Step))), fine, failed,
                 weights.createBranchWeights(8000, 1));
  b.SetInsertPoint(failed);
  b.CreateRet(b.getInt32(unsigned(Status::Fault)));
  b.SetInsertPoint(fine);
}

/// On a rare path: keeps all registers.
Value *Emitter::rareCall(const Operation &o, V first, V lanes) {
  Site &site = siteOf(o);
  if (first) {
    site.fillsAddress = true;
    const Shape shape = shapeOf(uint32_t(o.a));
    site.pattern = shape.pattern ? shape.pattern->data() : nullptr;
  }
  Type *i64 = b.getInt64Ty(), *pointer = PointerType::getUnqual(context);
  auto address = [&](const void *p) { return b.getInt64(reinterpret_cast<uint64_t>(p)); };
  void (*stub)() = target.avx512 ? jouleVgpuRareCallAvx512 : jouleVgpuRareCallAvx2;
  auto *type = FunctionType::get(i64, {i64, i64, pointer, pointer, i64, i64}, false);
  InlineAsm *call = InlineAsm::get(
      type, "callq *$1", "={rax},r,{rdi},{rsi},{rdx},{rcx},{r8},~{memory},~{dirflag},~{fpsr},~{flags}",
      /*hasSideEffects=*/true);
  V bits = lanes ? b.CreateZExt(maskBits(lanes), i64) : b.getInt64(allLanes);
  V given = first ? (first->getType() == i64 ? first : b.CreateZExt(first, i64)) : b.getInt64(0);
  V status = b.CreateCall(
      type, call, {address(reinterpret_cast<const void *>(stub)), address(&site), frame, warp, given, bits});
  return b.CreateTrunc(status, b.getInt32Ty());
}

/// Where handlers do the work.
void Emitter::emitHandler(const Operation &o) {
  for (uint32_t slot : o.uses)
    spillAlways(slot);
  Site &site = siteOf(o);
  Type *i32 = b.getInt32Ty(), *pointer = PointerType::getUnqual(context);
  auto constant = [&](const void *p) {
    return ConstantExpr::getIntToPtr(b.getInt64(reinterpret_cast<uint64_t>(p)), pointer);
  };
  V status;
  if (V lanes = currentMask()) {
    auto *type = FunctionType::get(i32, {pointer, pointer, pointer, b.getInt64Ty(), b.getInt64Ty()}, false);
    status = b.CreateCall(
        type, constant(reinterpret_cast<const void *>(&jouleVgpuRunSite)),
        {constant(&site), frame, warp, b.getInt64(0), b.CreateZExt(maskBits(lanes), b.getInt64Ty())});
  } else {
    auto *type = FunctionType::get(i32, {pointer, pointer, pointer}, false);
    status = b.CreateCall(type, constant(reinterpret_cast<const void *>(site.pair[0].fn)),
                          {constant(&site), frame, warp});
  }
  checkStatus(status);
  for (uint32_t slot : o.defs)
    if (o.kind == Kind::Handler && graph.slots[slot].inFrame)
      values[slot] = nullptr; // it kept the other lanes' values itself
    else
      define(o, int32_t(slot), resultShape.scalar() ? loadFirstActive(slot) : loadSlot(slot, false));
}

/// What one of the running lanes has in the frame.
Value *Emitter::loadFirstActive(uint32_t slot) {
  V lanes = currentMask();
  if (!lanes)
    return loadSlot(slot, true);
  V lane = b.CreateBinaryIntrinsic(Intrinsic::cttz, maskBits(lanes), b.getFalse());
  return b.CreateExtractElement(loadSlot(slot, false), b.CreateAnd(lane, b.getInt32(warpSize - 1)));
}

/// The lanes of an operation's own predicate.
void Emitter::setGuard(const Operation &o) {
  if (o.guard < 0)
    return;
  guardMask = vectorOf(uint32_t(o.guard));
  if (o.guardNegated)
    guardMask = b.CreateNot(guardMask);
}

/// Into the frame, for a handler that looks there.
void Emitter::spillAlways(uint32_t slot) {
  if (!graph.slots[slot].isConstant && !graph.slots[slot].inFrame)
    storeSlot(slot, vectorOf(slot));
}

// --- addresses ---

bool Emitter::compilable(const Operation &o, Access &access) {
  std::string kind = o.name->substr(3); // "4.u32.4": count, type in memory, bytes of the register
  access.count = unsigned(kind[0] - '0');
  access.isSigned = kind[2] == 's';
  access.element = unsigned(atoi(kind.c_str() + 3)) / 8;
  access.registerBytes = unsigned(kind.back() - '0');
  access.total = access.count * access.element;
  access.shared = o.op->space == inShared;
  bool known = o.op->space == inGlobal || o.op->space == inShared || o.op->space == inGeneric;
  if (!known)
    return false;
  access.shape = shapeOf(uint32_t(o.a));
  // Where addresses are known only when the kernel runs, the handler counts.
  bool countedHere = access.shape.scalar() && !currentMask() && o.op->space != inGeneric;
  if (request.count && !countedHere)
    return false;
  bool wide = access.element >= 4;
  if (access.shape.kind == Shape::Varying)
    return wide && (o.kind == Kind::Load || target.avx512) && access.element == access.registerBytes;
  if (access.shape.kind == Shape::None)
    return false;
  if (access.shape.kind == Shape::Uniform)
    return true;
  const Pattern &p = *access.shape.pattern;
  for (int64_t x : p)
    if (x % int64_t(access.total))
      return false;
  int64_t span = (largest(p) - smallest(p)) / access.element + access.count;
  if (o.kind == Kind::Load)
    return span <= int64_t(mostLoadedAtOnce) || distinct(p) <= 4 ||
           (wide && access.element == access.registerBytes);
  bool ramp = isRamp(p, access.total);
  return ramp ? access.count == 1 || !currentMask() : wide && target.avx512;
}

Value *Emitter::inRange(const Operation &o, Access &access) {
  Type *i64 = b.getInt64Ty();
  V size, begin = nullptr;
  if (access.shared) {
    access.host = warpField(offsetof(Warp, shared), PointerType::getUnqual(context), true);
    size = warpField(offsetof(Warp, sharedSize), i64, true);
  } else {
    V ranges = warpField(offsetof(Warp, ranges), PointerType::getUnqual(context), true);
    V range = b.CreateConstInBoundsGEP1_64(i64, ranges, uint64_t(o.op->slot) * 2);
    begin = b.CreateLoad(i64, range);
    size = b.CreateSub(b.CreateLoad(i64, b.CreateConstInBoundsGEP1_64(i64, range, 1)), begin);
  }
  bool scalar = access.shape.scalar();
  int64_t low = access.shape.pattern ? smallest(*access.shape.pattern) : 0;
  int64_t high = access.shape.pattern ? largest(*access.shape.pattern) : 0;
  uint64_t span = uint64_t(high - low) + access.total;
  V room = b.CreateBinaryIntrinsic(Intrinsic::usub_sat, size, b.getInt64(span - 1));
  if (scalar) {
    V offset = begin ? b.CreateSub(access.first, begin) : access.first;
    V ok = b.CreateICmpULT(low ? b.CreateAdd(offset, b.getInt64(uint64_t(low))) : offset, room);
    bool aligned = (1ull << std::min<unsigned>(access.shape.align, 8)) >= access.total &&
                   o.op->imm % int64_t(access.total) == 0;
    if (access.total > 1 && !aligned) {
      V odd = b.CreateAnd(access.first, b.getInt64(access.total - 1));
      ok = b.CreateAnd(ok, b.CreateICmpEQ(odd, b.getInt64(0)));
    }
    return ok;
  }
  V lanes = access.lanes;
  Type *element = lanes->getType()->getScalarType();
  V offsets = begin ? b.CreateSub(lanes, splat(begin)) : lanes;
  V limit =
      element == i64
          ? room
          : b.CreateTrunc(b.CreateBinaryIntrinsic(Intrinsic::umin, room, b.getInt64(0x7fffffff)), element);
  V bad = b.CreateICmpUGE(offsets, splat(limit));
  if (access.total > 1)
    bad =
        b.CreateOr(bad, b.CreateICmpNE(b.CreateAnd(lanes, splat(ConstantInt::get(element, access.total - 1))),
                                       llvm::Constant::getNullValue(lanes->getType())));
  if (V m = currentMask())
    bad = b.CreateAnd(bad, m);
  return b.CreateICmpEQ(maskBits(bad), b.getInt32(0));
}

/// Adds the access to the counters. How many sectors or wavefronts it takes depends on the first address's
/// low bits alone, so a table has the answers.
void Emitter::countMemory(const Operation &o, const Access &access) {
  if (!request.count)
    return;
  constexpr unsigned rows = 128;
  bool stores = o.kind == Kind::Store;
  std::vector<uint16_t> table;
  uint64_t bytes = 0;
  for (unsigned low = 0; low < rows; ++low) {
    alignas(64) uint64_t addresses[warpSize];
    Warp counting;
    MemoryCount count;
    memset(&counting, 0, sizeof counting);
    memset(&count, 0, sizeof count);
    constexpr uint64_t middle = 1ull << 40; // patterns may reach below the first lane
    counting.memory = &count;
    counting.shared = reinterpret_cast<uint8_t *>(access.shared ? middle / 2 : 0);
    counting.sharedSize = access.shared ? middle : 0;
    for (unsigned i = 0; i < warpSize; ++i)
      addresses[i] = middle + low + uint64_t(access.shape.pattern ? (*access.shape.pattern)[i] : 0);
    countAccess(&counting, o.op, addresses, allLanes, access.total);
    table.push_back(uint16_t(access.shared ? count.sharedLoadWavefronts + count.sharedStoreWavefronts
                                           : count.globalLoadSectors + count.globalStoreSectors));
    bytes = count.globalLoadBytes + count.globalStoreBytes + count.sharedLoadBytes + count.sharedStoreBytes;
  }
  auto *constants = ConstantDataArray::get(context, table);
  auto *global =
      new GlobalVariable(module, constants->getType(), true, GlobalValue::PrivateLinkage, constants);
  V row = b.CreateGEP(b.getInt16Ty(), global, b.CreateAnd(access.first, b.getInt64(rows - 1)));
  V turns = b.CreateZExt(b.CreateLoad(b.getInt16Ty(), row), b.getInt64Ty());
  V counters = warpField(offsetof(Warp, memory), PointerType::getUnqual(context), true);
  auto add = [&](size_t field, V amount) {
    V place = b.CreateConstInBoundsGEP1_64(b.getInt8Ty(), counters, field);
    b.CreateStore(b.CreateAdd(b.CreateLoad(b.getInt64Ty(), place), amount), place);
  };
  using M = MemoryCount;
  if (access.shared) {
    add(stores ? offsetof(M, sharedStoreBytes) : offsetof(M, sharedLoadBytes), b.getInt64(bytes));
    add(stores ? offsetof(M, sharedStoreWavefronts) : offsetof(M, sharedLoadWavefronts), turns);
  } else {
    add(stores ? offsetof(M, globalStoreBytes) : offsetof(M, globalLoadBytes), b.getInt64(bytes));
    add(stores ? offsetof(M, globalStoreSectors) : offsetof(M, globalLoadSectors), turns);
  }
}

/// Computes where the access goes.
Emitter::Access Emitter::resolve(const Operation &o) {
  Access access;
  compilable(o, access);
  bool narrow = o.op->flags & address32;
  uint64_t displacement = uint64_t(o.op->imm);
  Type *i64 = b.getInt64Ty();
  if (access.shape.scalar()) {
    access.given = scalarOf(uint32_t(o.a));
    access.first = narrow ? b.CreateZExt(b.CreateAdd(access.given, b.getInt32(uint32_t(displacement))), i64)
                          : b.CreateAdd(access.given, b.getInt64(displacement));
    return access;
  }
  V a = vectorOf(uint32_t(o.a));
  a = b.CreateAdd(a,
                  ConstantInt::get(a->getType(), narrow ? uint64_t(uint32_t(displacement)) : displacement));
  if (narrow && !access.shared)
    a = b.CreateZExt(a, vectorType(8));
  access.lanes = a;
  return access;
}

Value *Emitter::hostPointer(const Access &access, V offset) {
  if (access.shared)
    return b.CreateGEP(b.getInt8Ty(), access.host, offset);
  return b.CreateIntToPtr(offset,
                          offset->getType()->isVectorTy()
                              ? (Type *)FixedVectorType::get(PointerType::getUnqual(context), warpSize)
                              : PointerType::getUnqual(context));
}

Value *Emitter::extended(V raw, const Access &access) {
  Type *t = b.getIntNTy(8 * access.registerBytes);
  if (raw->getType()->isVectorTy())
    t = FixedVectorType::get(t, warpSize);
  return access.isSigned ? b.CreateSExt(raw, t) : b.CreateZExt(raw, t);
}

// --- loads ---

/// The k-th element of every lane, by one wide load, a few scalar ones, or a gather from known places.
Value *Emitter::loadStrided(Access &access, unsigned k) {
  const Pattern &p = *access.shape.pattern;
  int64_t low = smallest(p), element = access.element;
  Type *type = b.getIntNTy(8 * access.element);
  unsigned span = unsigned((largest(p) - low) / element) + access.count;
  if (span <= mostLoadedAtOnce && span <= distinct(p) * access.count * 4) {
    if (!access.whole) {
      V place = hostPointer(access, b.CreateAdd(access.first, b.getInt64(uint64_t(low))));
      access.whole = b.CreateAlignedLoad(FixedVectorType::get(type, span), place, Align(access.total));
    }
    std::vector<int> pick;
    for (int64_t x : p)
      pick.push_back(int((x - low) / element) + int(k));
    return b.CreateShuffleVector(access.whole, access.whole, pick);
  }
  if (distinct(p) <= 4 || access.element < 4) {
    V result = nullptr;
    std::set<int64_t> places(p.begin(), p.end());
    for (int64_t place : places) {
      V one = b.CreateAlignedLoad(
          type, hostPointer(access, b.CreateAdd(access.first, b.getInt64(uint64_t(place + k * element)))),
          Align(access.element));
      std::vector<llvm::Constant *> here;
      for (int64_t x : p)
        here.push_back(b.getInt1(x == place));
      result = result ? b.CreateSelect(ConstantVector::get(here), splat(one), result) : splat(one);
    }
    return result;
  }
  V base = hostPointer(access, b.CreateAdd(access.first, b.getInt64(uint64_t(k * element))));
  V places = b.CreateGEP(b.getInt8Ty(), base, patternVector(p, b.getInt32Ty()));
  return b.CreateMaskedGather(FixedVectorType::get(type, warpSize), places, Align(access.element));
}

std::vector<Value *> Emitter::loadElements(const Operation &o, Access &access) {
  std::vector<V> result;
  Type *type = b.getIntNTy(8 * access.element);
  for (unsigned k = 0; k < access.count; ++k) {
    V raw;
    uint64_t at = uint64_t(k) * access.element;
    if (access.shape.kind == Shape::Uniform)
      raw = b.CreateAlignedLoad(type, hostPointer(access, b.CreateAdd(access.first, b.getInt64(at))),
                                Align(access.element));
    else if (access.shape.kind == Shape::Strided)
      raw = loadStrided(access, k);
    else {
      V places =
          hostPointer(access, at ? b.CreateAdd(access.lanes, ConstantInt::get(access.lanes->getType(), at))
                                 : access.lanes);
      raw = b.CreateMaskedGather(FixedVectorType::get(type, warpSize), places, Align(access.element),
                                 currentMask());
    }
    result.push_back(extended(raw, access));
  }
  return result;
}

void Emitter::emitLoad(const Operation &o) {
  Access access;
  if (!compilable(o, access)) {
    emitHandler(o);
    return;
  }
  access = resolve(o);
  V ok = inRange(o, access);
  BasicBlock *fast = newBlock("fast"), *rare = newBlock("rare"), *loaded = newBlock("loaded");
  MDBuilder weights(context);
  b.CreateCondBr(ok, fast, rare, weights.createBranchWeights(8000, 1));
  b.SetInsertPoint(fast);
  std::vector<V> elements = loadElements(o, access);
  countMemory(o, access);
  BasicBlock *fastEnd = b.GetInsertBlock();
  b.CreateBr(loaded);

  b.SetInsertPoint(rare);
  std::vector<uint32_t> targets = o.list;
  if (access.count == 1)
    targets = {uint32_t(o.d)};
  bool scalar = access.shape.kind == Shape::Uniform;
  if (!access.shape.scalar())
    spillAlways(uint32_t(o.a));
  checkStatus(rareCall(o, access.given, currentMask()));
  std::vector<V> slow;
  for (uint32_t slot : targets)
    slow.push_back(scalar ? loadFirstActive(slot) : loadSlot(slot, false));
  BasicBlock *rareEnd = b.GetInsertBlock();
  b.CreateBr(loaded);

  b.SetInsertPoint(loaded);
  std::vector<PHINode *> joined;
  for (size_t k = 0; k < elements.size(); ++k) {
    joined.push_back(b.CreatePHI(elements[k]->getType(), 2));
    joined[k]->addIncoming(elements[k], fastEnd);
    joined[k]->addIncoming(slow[k], rareEnd);
  }
  for (size_t k = 0; k < targets.size(); ++k)
    define(o, int32_t(targets[k]), joined[k]);
}

// --- stores ---

void Emitter::storeElements(const Operation &o, Access &access) {
  Type *type = b.getIntNTy(8 * access.element);
  std::vector<uint32_t> sources = o.list;
  if (access.count == 1)
    sources = {uint32_t(o.d)};
  V lanes = currentMask();
  auto cut = [&](V v) {
    return b.CreateTrunc(v, v->getType()->isVectorTy() ? (Type *)FixedVectorType::get(type, warpSize) : type);
  };
  if (access.shape.kind == Shape::Uniform) { // the last lane's value stays
    for (unsigned k = 0; k < access.count; ++k) {
      V v = current(sources[k]);
      if (shapeOf(sources[k]).kind != Shape::Uniform)
        v = b.CreateExtractElement(vectorOf(sources[k]), uint64_t(warpSize - 1));
      b.CreateAlignedStore(cut(v),
                           hostPointer(access, b.CreateAdd(access.first, b.getInt64(k * access.element))),
                           Align(access.element));
    }
    return;
  }
  bool ramp = access.shape.kind == Shape::Strided && isRamp(*access.shape.pattern, access.total);
  if (ramp && access.count == 1) {
    V v = cut(vectorOf(sources[0])), place = hostPointer(access, access.first);
    if (lanes)
      b.CreateMaskedStore(v, place, Align(access.element), lanes);
    else
      b.CreateAlignedStore(v, place, Align(access.element));
    return;
  }
  if (ramp) {
    std::vector<V> parts;
    for (uint32_t slot : sources)
      parts.push_back(cut(vectorOf(slot)));
    std::vector<int> wide;
    for (int i = 0; i < int(2 * warpSize); ++i)
      wide.push_back(i);
    V all = b.CreateShuffleVector(parts[0], parts[1], wide);
    std::vector<int> order;
    if (access.count == 4) {
      V second = b.CreateShuffleVector(parts[2], parts[3], wide);
      std::vector<int> wider;
      for (int i = 0; i < int(4 * warpSize); ++i)
        wider.push_back(i);
      all = b.CreateShuffleVector(all, second, wider);
    }
    for (int i = 0; i < int(warpSize * access.count); ++i)
      order.push_back(i / int(access.count) + int(warpSize) * (i % int(access.count)));
    b.CreateAlignedStore(b.CreateShuffleVector(all, all, order), hostPointer(access, access.first),
                         Align(access.total));
    return;
  }
  for (unsigned k = 0; k < access.count; ++k) {
    uint64_t at = uint64_t(k) * access.element;
    V places;
    if (access.shape.kind == Shape::Strided)
      places = b.CreateGEP(b.getInt8Ty(), hostPointer(access, b.CreateAdd(access.first, b.getInt64(at))),
                           patternVector(*access.shape.pattern, b.getInt32Ty()));
    else
      places =
          hostPointer(access, at ? b.CreateAdd(access.lanes, ConstantInt::get(access.lanes->getType(), at))
                                 : access.lanes);
    b.CreateMaskedScatter(cut(vectorOf(sources[k])), places, Align(access.element), lanes);
  }
}

void Emitter::emitStore(const Operation &o) {
  Access access;
  bool oneOfSome = currentMask() && shapeOf(uint32_t(o.a)).kind == Shape::Uniform;
  if (oneOfSome || !compilable(o, access)) {
    emitHandler(o);
    return;
  }
  access = resolve(o);
  std::vector<uint32_t> sources = o.list;
  if (access.count == 1)
    sources = {uint32_t(o.d)};
  for (uint32_t slot : sources)
    current(slot); // read here, not on one of the two ways
  V ok = inRange(o, access);
  BasicBlock *fast = newBlock("fast"), *rare = newBlock("rare"), *stored = newBlock("stored");
  MDBuilder weights(context);
  b.CreateCondBr(ok, fast, rare, weights.createBranchWeights(8000, 1));
  b.SetInsertPoint(rare);
  for (uint32_t slot : sources)
    spillAlways(slot);
  if (!access.shape.scalar())
    spillAlways(uint32_t(o.a));
  checkStatus(rareCall(o, access.given, currentMask()));
  b.CreateBr(stored);
  b.SetInsertPoint(fast);
  storeElements(o, access);
  countMemory(o, access);
  b.CreateBr(stored);
  b.SetInsertPoint(stored);
}

} // namespace joule::vgpu::jit
