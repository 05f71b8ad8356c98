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

constexpr int64_t mostRegisters = 4; // of one wide load that the lanes of a piece pick from

int64_t largest(const Pattern &p) { return *std::max_element(p.begin(), p.end()); }
int64_t smallest(const Pattern &p) { return *std::min_element(p.begin(), p.end()); }

bool isRamp(const int64_t *p, unsigned lanes, int64_t step) {
  for (unsigned i = 0; i < lanes; ++i)
    if (p[i] - p[0] != int64_t(i) * step)
      return false;
  return true;
}

} // namespace

// --- calls of handlers ---

llvm::Constant *Emitter::siteOf(const Operation &o, const Pattern *pattern, bool fillsAddress) {
  uint64_t index = image.sites.size();
  image.sites.push_back({uint32_t(o.op - graph.program->ops.data()), patternIndex(pattern), fillsAddress});
  return inTable(sizeof(CodeTable) + index * sizeof(Site));
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
  V site = siteOf(o, first ? shapeOf(uint32_t(o.a)).pattern : nullptr, first != nullptr);
  Type *i64 = b.getInt64Ty(), *pointer = PointerType::getUnqual(context);
  auto *type = FunctionType::get(i64, {pointer, pointer, pointer, pointer, i64, i64}, false);
  InlineAsm *call = InlineAsm::get(
      type, "callq *$1", "={rax},r,{rdi},{rsi},{rdx},{rcx},{r8},~{memory},~{dirflag},~{fpsr},~{flags}",
      /*hasSideEffects=*/true);
  V bits = lanes ? b.CreateZExt(maskBits(lanes), i64) : b.getInt64(allLanes);
  V given = first ? (first->getType() == i64 ? first : b.CreateZExt(first, i64)) : b.getInt64(0);
  V stub = fromTable(offsetof(CodeTable, rareCall), pointer);
  return b.CreateTrunc(b.CreateCall(type, call, {stub, site, frame, warp, given, bits}), b.getInt32Ty());
}

/// The handler's status.
Value *Emitter::callHandler(const Operation &o) {
  for (uint32_t slot : o.uses)
    spillAlways(slot);
  V site = siteOf(o);
  Type *i32 = b.getInt32Ty(), *i64 = b.getInt64Ty(), *pointer = PointerType::getUnqual(context);
  if (V lanes = currentMask()) {
    auto *type = FunctionType::get(i32, {pointer, pointer, pointer, i64, i64}, false);
    return b.CreateCall(type, fromTable(offsetof(CodeTable, runSite), pointer),
                        {site, frame, warp, b.getInt64(0), b.CreateZExt(maskBits(lanes), i64)});
  }
  auto *type = FunctionType::get(i32, {pointer, pointer, pointer}, false);
  V handler = b.CreateLoad(pointer, b.CreateConstGEP1_64(b.getInt8Ty(), site, offsetof(Op, fn)), true);
  return b.CreateCall(type, handler, {site, frame, warp});
}

/// Where handlers do the work.
void Emitter::emitHandler(const Operation &o) {
  checkStatus(callHandler(o));
  for (uint32_t slot : o.defs)
    if (o.kind == Kind::Handler && graph.slots[slot].inFrame)
      values[slot] = nullptr; // it kept the other lanes' values itself
    else
      define(o, int32_t(slot), resultShape.scalar() ? loadFirstActive(slot) : loadSlot(slot, false));
}

/// A handler that may want to be asked again later, or have others run before the next operation.
void Emitter::emitPoll(const Operation &o) {
  V status = callHandler(o);
  BasicBlock *yields = newBlock("yields"), *ran = newBlock("ran");
  b.CreateCondBr(b.CreateICmpEQ(status, b.getInt32(unsigned(Status::Yield))), yields, ran);
  for (uint32_t slot : o.defs)
    values[slot] = nullptr;
  b.SetInsertPoint(yields);
  leave(Status::Yield, *o.name == "cluster.wait" ? o.at : o.at + 1, graph.blocks[blockIndex].liveOut);
  b.SetInsertPoint(ran);
  checkStatus(status);
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
    storePieces(slot);
}

// --- addresses ---

bool Emitter::compilable(const Operation &o, Access &access) {
  AccessForm form = accessFormOf(*o.name);
  access.count = form.count;
  access.isSigned = form.isSigned;
  access.element = form.element;
  access.registerBytes = form.registerBytes;
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
  if (access.shape.kind == Shape::None)
    return false;
  if (access.shape.kind == Shape::Strided)
    for (int64_t x : *access.shape.pattern)
      if (x % int64_t(access.total))
        return false;
  return true;
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
  Type *element = access.lanes[0]->getType()->getScalarType();
  V limit =
      element == i64
          ? room
          : b.CreateTrunc(b.CreateBinaryIntrinsic(Intrinsic::umin, room, b.getInt64(0x7fffffff)), element);
  // A sum below 0 is wrong: an offset of 0 to the last one allowed leaves both of these above. The bits that
  // an aligned address lacks are collected beside them.
  V wrong = nullptr, odd = nullptr, m = currentMask();
  auto collect = [&](V &all, V more) { all = all ? b.CreateOr(all, more) : more; };
  V last = b.CreateVectorSplat(lanesOfPiece(), b.CreateSub(limit, ConstantInt::get(element, 1)));
  for (unsigned piece = 0; piece < numPieces(); ++piece) {
    V lanes = access.lanes[piece];
    V offsets = begin ? b.CreateSub(lanes, b.CreateVectorSplat(lanesOfPiece(), begin)) : lanes;
    V sum = b.CreateOr(offsets, b.CreateSub(last, offsets));
    if (m) {
      V running = b.CreateSExt(pieceOf(m, Shape(), 0, piece), lanes->getType());
      sum = b.CreateAnd(sum, running), lanes = b.CreateAnd(lanes, running);
    }
    collect(wrong, sum);
    collect(odd, lanes);
  }
  if (access.total > 1)
    collect(wrong, b.CreateNeg(b.CreateAnd(odd, ConstantInt::get(odd->getType(), access.total - 1))));
  V bits = b.CreateBitCast(b.CreateICmpSLT(wrong, llvm::Constant::getNullValue(wrong->getType())),
                           b.getIntNTy(lanesOfPiece()));
  return b.CreateICmpEQ(bits, llvm::Constant::getNullValue(bits->getType()));
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
  access.lanes = piecesOf(uint32_t(o.a));
  for (V &lanes : access.lanes) {
    uint64_t plus = narrow ? uint64_t(uint32_t(displacement)) : displacement;
    lanes = b.CreateAdd(lanes, ConstantInt::get(lanes->getType(), plus));
    if (narrow && !access.shared)
      lanes = b.CreateZExt(lanes, shapedLike(lanes, i64));
  }
  return access;
}

Value *Emitter::hostPointer(const Access &access, V offset) {
  if (access.shared)
    return b.CreateGEP(b.getInt8Ty(), access.host, offset);
  return b.CreateIntToPtr(offset, shapedLike(offset, PointerType::getUnqual(context)));
}

/// Where the first lane's access would go, so many bytes on.
Value *Emitter::placeAt(const Access &access, int64_t offset) {
  return hostPointer(access, offset ? b.CreateAdd(access.first, b.getInt64(uint64_t(offset))) : access.first);
}

/// Where one lane's access goes.
Value *Emitter::placeOf(const Access &access, unsigned lane) {
  if (access.shape.scalar())
    return placeAt(access, access.shape.pattern ? (*access.shape.pattern)[lane] : 0);
  V address = b.CreateExtractElement(access.lanes[lane / lanesOfPiece()], uint64_t(lane % lanesOfPiece()));
  return hostPointer(access, b.CreateZExt(address, b.getInt64Ty()));
}

Value *Emitter::extended(V raw, const Access &access) {
  Type *t = shapedLike(raw, b.getIntNTy(8 * access.registerBytes));
  return access.isSigned ? b.CreateSExt(raw, t) : b.CreateZExt(raw, t);
}

/// Rows of four elements, side by side in vectors of which each holds every so manieth row, to columns; and
/// back.
void Emitter::transpose(V (&rows)[4]) {
  unsigned lanes = lanesOfPiece();
  auto mix = [&](V x, V y, std::array<unsigned, 4> order) {
    std::vector<int> pick;
    for (unsigned group = 0; group < lanes; group += 4)
      for (unsigned i : order)
        pick.push_back(int(group + i % 4 + i / 4 * lanes));
    return b.CreateShuffleVector(x, y, pick);
  };
  V low01 = mix(rows[0], rows[1], {0, 4, 1, 5}), low23 = mix(rows[2], rows[3], {0, 4, 1, 5});
  V high01 = mix(rows[0], rows[1], {2, 6, 3, 7}), high23 = mix(rows[2], rows[3], {2, 6, 3, 7});
  rows[0] = mix(low01, low23, {0, 1, 4, 5});
  rows[1] = mix(low01, low23, {2, 3, 6, 7});
  rows[2] = mix(high01, high23, {0, 1, 4, 5});
  rows[3] = mix(high01, high23, {2, 3, 6, 7});
}

// --- loads ---

/// What some lanes load, element by element: one value for all, one wide load that lanes pick from, or a load
/// for each.
Emitter::Pieces Emitter::loadPiece(Access &access, unsigned piece) {
  unsigned lanes = lanesOfPiece();
  int64_t element = access.element;
  Type *type = b.getIntNTy(8 * access.element);
  Pieces result;
  if (access.shape.kind == Shape::Strided) {
    const int64_t *p = access.shape.pattern->data() + piece * lanes;
    int64_t low = *std::min_element(p, p + lanes), high = *std::max_element(p, p + lanes);
    int64_t span = (high - low) / element + access.count;
    if (low == high) {
      for (unsigned k = 0; k < access.count; ++k) {
        V &one = access.loaded[{low + k * element, 1}];
        if (!one)
          one = b.CreateVectorSplat(
              lanes, b.CreateAlignedLoad(type, placeAt(access, low + k * element), Align(access.element)));
        result.push_back(one);
      }
      return result;
    }
    bool rows = access.count == 4 && element == 4;
    if (span <= mostRegisters * int64_t(lanes) &&
        !(rows && isRamp(p, lanes, access.total) && !target.avx512)) {
      V &all = access.loaded[{low, span}];
      if (!all)
        all = b.CreateAlignedLoad(FixedVectorType::get(type, unsigned(span)), placeAt(access, low),
                                  Align(access.total));
      for (unsigned k = 0; k < access.count; ++k) {
        std::vector<int> pick;
        for (unsigned i = 0; i < lanes; ++i)
          pick.push_back(int((p[i] - low) / element) + int(k));
        bool whole = span == int64_t(lanes) && isRamp(p, lanes, element);
        result.push_back(whole ? all : b.CreateShuffleVector(all, all, pick));
      }
      return result;
    }
  }
  if (access.count == 4 && element == 4) {
    V rows[4];
    for (unsigned j = 0; j < 4; ++j) {
      Pieces parts;
      for (unsigned i = j; i < lanes; i += 4)
        parts.push_back(b.CreateAlignedLoad(FixedVectorType::get(type, 4), placeOf(access, piece * lanes + i),
                                            Align(access.total)));
      rows[j] = joined(parts);
    }
    transpose(rows);
    return {rows, rows + 4};
  }
  for (unsigned k = 0; k < access.count; ++k)
    result.push_back(llvm::PoisonValue::get(FixedVectorType::get(type, lanes)));
  for (unsigned i = 0; i < lanes; ++i) {
    V place = placeOf(access, piece * lanes + i);
    for (unsigned k = 0; k < access.count; ++k) {
      V at = k ? b.CreateConstInBoundsGEP1_32(type, place, k) : place;
      result[k] =
          b.CreateInsertElement(result[k], b.CreateAlignedLoad(type, at, Align(access.element)), uint64_t(i));
    }
  }
  return result;
}

/// By the machine's own instruction for loads from anywhere.
Emitter::Pieces Emitter::gatherPiece(const Access &access, unsigned piece) {
  Type *type = b.getIntNTy(8 * access.element);
  unsigned lanes = lanesOfPiece();
  V m = currentMask();
  Pieces result;
  for (unsigned k = 0; k < access.count; ++k) {
    V places;
    int64_t at = int64_t(k) * access.element;
    if (access.shape.kind == Shape::Strided)
      places =
          b.CreateGEP(b.getInt8Ty(), placeAt(access, at),
                      patternVector(access.shape.pattern->data() + piece * lanes, lanes, b.getInt32Ty()));
    else
      places =
          hostPointer(access, b.CreateAdd(access.lanes[piece],
                                          ConstantInt::get(access.lanes[piece]->getType(), uint64_t(at))));
    bool masked = m && access.shape.kind == Shape::Varying;
    result.push_back(b.CreateMaskedGather(FixedVectorType::get(type, lanes), places, Align(access.element),
                                          masked ? pieceOf(m, Shape(), 0, piece) : nullptr));
  }
  return result;
}

/// Each element: one scalar, or pieces.
std::vector<Emitter::Pieces> Emitter::loadElements(Access &access) {
  std::vector<Pieces> result(access.count);
  Type *type = b.getIntNTy(8 * access.element);
  if (access.shape.kind == Shape::Uniform) {
    for (unsigned k = 0; k < access.count; ++k)
      result[k] = {extended(
          b.CreateAlignedLoad(type, placeAt(access, k * access.element), Align(access.element)), access)};
    return result;
  }
  V m = currentMask();
  bool gathers = access.element >= 4;
  if (access.shape.kind == Shape::Varying && m && !gathers) // the others load what nobody looks at
    for (unsigned piece = 0; piece < numPieces(); ++piece) {
      V &lanes = access.lanes[piece];
      V harmless = access.shared ? (V)b.getInt64(0) : b.CreatePtrToInt(frame, b.getInt64Ty());
      harmless = b.CreateTrunc(harmless, lanes->getType()->getScalarType());
      lanes =
          b.CreateSelect(pieceOf(m, Shape(), 0, piece), lanes, b.CreateVectorSplat(lanesOfPiece(), harmless));
    }
  for (unsigned piece = 0; piece < numPieces(); ++piece) {
    bool scattered = access.shape.kind == Shape::Varying;
    if (access.shape.kind == Shape::Strided) {
      const int64_t *p = access.shape.pattern->data() + piece * lanesOfPiece();
      int64_t low = *std::min_element(p, p + lanesOfPiece()), high = *std::max_element(p, p + lanesOfPiece());
      scattered = (high - low) / access.element + access.count > mostRegisters * int64_t(lanesOfPiece());
    }
    Pieces elements = scattered && gathers ? gatherPiece(access, piece) : loadPiece(access, piece);
    for (unsigned k = 0; k < access.count; ++k)
      result[k].push_back(extended(elements[k], access));
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
  std::vector<Pieces> elements = loadElements(access);
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
  std::vector<Pieces> slow;
  for (uint32_t slot : targets)
    slow.push_back(scalar ? Pieces{loadFirstActive(slot)} : loadPieces(slot));
  BasicBlock *rareEnd = b.GetInsertBlock();
  b.CreateBr(loaded);

  b.SetInsertPoint(loaded);
  for (size_t k = 0; k < elements.size(); ++k)
    for (size_t piece = 0; piece < elements[k].size(); ++piece) {
      PHINode *phi = b.CreatePHI(elements[k][piece]->getType(), 2);
      phi->addIncoming(elements[k][piece], fastEnd);
      phi->addIncoming(slow[k][piece], rareEnd);
      elements[k][piece] = phi;
    }
  for (size_t k = 0; k < targets.size(); ++k)
    if (scalar)
      define(o, int32_t(targets[k]), elements[k][0]);
    else
      definePieces(o, targets[k], elements[k]);
}

// --- stores ---

/// Of the lanes that store to one place the last one's value stays, so stores keep the lanes' order.
void Emitter::storePiece(const Access &access, unsigned piece, const Pieces &elements) {
  unsigned lanes = lanesOfPiece();
  int64_t element = access.element;
  Type *type = b.getIntNTy(8 * access.element);
  if (access.count == 4 && element == 4) {
    V rows[4] = {elements[0], elements[1], elements[2], elements[3]};
    transpose(rows);
    for (unsigned i = 0; i < lanes; ++i) {
      int first = int(i / 4 * 4);
      V row = b.CreateShuffleVector(rows[i % 4], rows[i % 4], {first, first + 1, first + 2, first + 3});
      b.CreateAlignedStore(row, placeOf(access, piece * lanes + i), Align(access.total));
    }
    return;
  }
  if (access.shape.kind != Shape::Strided) {
    for (unsigned k = 0; k < access.count; ++k)
      for (unsigned i = 0; i < lanes; ++i) {
        V place = placeOf(access, piece * lanes + i);
        b.CreateAlignedStore(b.CreateExtractElement(elements[k], uint64_t(i)),
                             k ? b.CreateConstInBoundsGEP1_32(type, place, k) : place, Align(access.element));
      }
    return;
  }
  const int64_t *p = access.shape.pattern->data() + piece * lanes;
  for (unsigned k = 0; k < access.count; ++k) {
    std::map<int64_t, int> last; // the lane that stores to a place
    for (unsigned i = 0; i < lanes; ++i)
      last[p[i] + k * element] = int(i);
    for (auto it = last.begin(); it != last.end();) {
      int64_t begin = it->first;
      std::vector<int> run;
      for (; it != last.end() && it->first == begin + int64_t(run.size()) * element; ++it)
        run.push_back(it->second);
      for (size_t done = 0; done < run.size();) { // by powers of two
        size_t size = lanes;
        while (size > run.size() - done)
          size /= 2;
        std::vector<int> pick(run.begin() + ptrdiff_t(done), run.begin() + ptrdiff_t(done + size));
        bool whole = size == lanes && isRamp(p, lanes, element);
        V part = whole       ? elements[k]
                 : size == 1 ? b.CreateExtractElement(elements[k], uint64_t(pick[0]))
                             : b.CreateShuffleVector(elements[k], elements[k], pick);
        b.CreateAlignedStore(part, placeAt(access, begin + int64_t(done) * element), Align(access.element));
        done += size;
      }
    }
  }
}

/// Lane by lane, where only some store: the others write to a place that nobody reads.
void Emitter::storeMasked(const Access &access, unsigned piece, const Pieces &elements, V lanesThatStore) {
  if (!scratch) {
    IRBuilder<> top(&function->getEntryBlock(), function->getEntryBlock().begin());
    scratch = top.CreateAlloca(b.getInt64Ty(), b.getInt32(2));
  }
  V bits = maskBits(lanesThatStore);
  Type *type = b.getIntNTy(8 * access.element);
  for (unsigned i = 0; i < lanesOfPiece(); ++i) {
    unsigned lane = piece * lanesOfPiece() + i;
    V stores = b.CreateTrunc(b.CreateLShr(bits, lane), b.getInt1Ty());
    V place = b.CreateSelect(stores, placeOf(access, lane), scratch);
    for (unsigned k = 0; k < access.count; ++k)
      b.CreateAlignedStore(b.CreateExtractElement(elements[k], uint64_t(i)),
                           k ? b.CreateConstInBoundsGEP1_32(type, place, k) : place, Align(access.element));
  }
}

void Emitter::storeElements(const Access &access, const std::vector<Pieces> &pieces) {
  Type *type = b.getIntNTy(8 * access.element);
  V lanes = currentMask();
  auto cut = [&](V v) { return b.CreateTrunc(v, shapedLike(v, type)); };
  if (access.shape.kind == Shape::Uniform) { // the last lane's value stays
    for (unsigned k = 0; k < access.count; ++k) {
      V v = pieces[k].size() == 1 ? pieces[k][0]
                                  : b.CreateExtractElement(pieces[k].back(), uint64_t(lanesOfPiece() - 1));
      b.CreateAlignedStore(cut(v), placeAt(access, k * access.element), Align(access.element));
    }
    return;
  }
  for (unsigned piece = 0; piece < numPieces(); ++piece) {
    Pieces elements;
    for (const Pieces &whole : pieces)
      elements.push_back(cut(whole[piece]));
    const int64_t *p = access.shape.pattern ? access.shape.pattern->data() + piece * lanesOfPiece() : nullptr;
    if (!lanes) {
      storePiece(access, piece, elements);
    } else if (p && access.count == 1 && access.element >= 4 && isRamp(p, lanesOfPiece(), access.element)) {
      b.CreateMaskedStore(elements[0], placeAt(access, p[0]), Align(access.element),
                          pieceOf(lanes, Shape(), 0, piece));
    } else {
      storeMasked(access, piece, elements, lanes);
    }
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
  std::vector<Pieces> pieces; // made here, not on one of the two ways
  for (uint32_t slot : sources) {
    bool one = access.shape.kind == Shape::Uniform && shapeOf(slot).kind == Shape::Uniform;
    pieces.push_back(one ? Pieces{scalarOf(slot)} : piecesOf(slot));
  }
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
  storeElements(access, pieces);
  countMemory(o, access);
  b.CreateBr(stored);
  b.SetInsertPoint(stored);
}

} // namespace joule::vgpu::jit
