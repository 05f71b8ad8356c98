// Values, the frame, blocks and control flow of compiled code.
#include "lib/VirtualGpu/Jit/Emitter.h"

#include <llvm/IR/Intrinsics.h>
#include <llvm/IR/MDBuilder.h>

#include <algorithm>
#include <cstddef>

namespace joule::vgpu::jit {

using namespace llvm;

Emitter::Emitter(const Graph &graph, const Shapes &shapes, const CompileRequest &request, Target target,
                 llvm::Module &module, CodeImage &image)
    : graph(graph), shapes(shapes), request(request), target(target), module(module), image(image),
      context(module.getContext()), b(context) {}

void Emitter::run() {
  Type *pointer = PointerType::getUnqual(context), *i32 = b.getInt32Ty();
  function = Function::Create(FunctionType::get(i32, {pointer, pointer, i32}, false),
                              GlobalValue::ExternalLinkage, "kernel", module);
  table = new GlobalVariable(module, ArrayType::get(b.getInt8Ty(), 0), false, GlobalValue::ExternalLinkage,
                             nullptr, "table");
  for (const char *attribute : {"prefer-vector-width", "min-legal-vector-width"})
    function->addFnAttr(attribute, target.avx512 ? "512" : "256");
  function->addFnAttr("no-trapping-math", "true");
  function->addFnAttr(Attribute::NoUnwind);
  frame = function->getArg(0), warp = function->getArg(1);
  function->getArg(0)->addAttr(Attribute::NoAlias);
  BasicBlock *top = BasicBlock::Create(context, "top", function);
  size_t n = graph.blocks.size();
  for (size_t i = 0; i < n; ++i)
    starts.push_back(nullptr);
  pending.assign(n, nullptr);
  values.assign(graph.slots.size(), nullptr);
  stored.assign(graph.slots.size(), false);
  waits.assign(graph.slots.size(), {});
  chooseEntries();
  for (uint32_t k = 0; k < n; ++k)
    if (!shapes.atStart(k).empty())
      starts[k] = newBlock("block");
  for (uint32_t k = 0; k < n; ++k)
    if (starts[k])
      emitBlock(k);
  b.SetInsertPoint(top);
  emitEntries();
  for (BasicBlock *block : starts)
    if (block && block->empty()) { // of a block under a mask, which runs in line
      block->eraseFromParent();
    }
  placeTable();
  image.entryOf.assign(graph.program->ops.size(), -1);
  int32_t number = 0;
  for (uint32_t k = 0; k < n; ++k)
    if (isEntry[k])
      image.entryOf[graph.operations[graph.blocks[k].first].at] = number++;
}

BasicBlock *Emitter::newBlock(const char *name) { return BasicBlock::Create(context, name, function); }

// --- values ---

llvm::Type *Emitter::scalarType(unsigned width) { return width ? b.getIntNTy(8 * width) : b.getInt1Ty(); }
llvm::Type *Emitter::vectorType(unsigned width) { return FixedVectorType::get(scalarType(width), warpSize); }
llvm::Type *Emitter::pieceType(unsigned width) {
  return FixedVectorType::get(scalarType(width), lanesOfPiece());
}
Value *Emitter::splat(V scalar) { return b.CreateVectorSplat(warpSize, scalar); }

Value *Emitter::patternVector(const int64_t *offsets, unsigned lanes, llvm::Type *elementType) {
  std::vector<llvm::Constant *> parts;
  for (unsigned i = 0; i < lanes; ++i)
    parts.push_back(ConstantInt::get(elementType, uint64_t(offsets[i]), true));
  return ConstantVector::get(parts);
}

Value *Emitter::materialised(V scalar, const Shape &shape, unsigned width) {
  V vector = splat(scalar);
  return shape.kind == Shape::Strided
             ? b.CreateAdd(vector, patternVector(shape.pattern->data(), warpSize, scalarType(width)))
             : vector;
}

/// What all lanes have, or the first.
Value *Emitter::scalarOf(uint32_t slot) {
  const Slot &s = graph.slots[slot];
  if (s.isConstant)
    return ConstantInt::get(scalarType(s.width), s.width ? s.constant : s.constant != 0);
  if (s.isAddress)
    return loadSlot(slot, true);
  return values[slot] ? values[slot] : loadSlot(slot, true);
}

/// All lanes; nothing may wait that gives the slot its value.
Value *Emitter::vectorOf(uint32_t slot) {
  return isScalar(slot) ? materialised(scalarOf(slot), shapeOf(slot), graph.slots[slot].width)
                        : loadSlot(slot, false);
}

/// A predicate's lanes, a bit each.
Value *Emitter::laneBits(uint32_t slot) {
  return isScalar(slot)
             ? b.CreateSExt(scalarOf(slot), b.getInt32Ty())
             : b.CreateAlignedLoad(b.getInt32Ty(), framePointer(graph.slots[slot].offset), Align(4));
}

/// There and back is nowhere.
Value *Emitter::recast(V value, llvm::Type *type) {
  auto *cast = dyn_cast<BitCastInst>(value);
  return cast && cast->getSrcTy() == type ? cast->getOperand(0) : b.CreateBitCast(value, type);
}

Value *Emitter::asFloat(V value) {
  Type *t = value->getType();
  Type *element = t->getScalarSizeInBits() == 64 ? b.getDoubleTy() : b.getFloatTy();
  return recast(value, shapedLike(value, element));
}
Value *Emitter::asInteger(V value) {
  Type *t = value->getType();
  Type *element = b.getIntNTy(t->getScalarSizeInBits());
  return recast(value, shapedLike(value, element));
}
Value *Emitter::intType(V like, unsigned bits, uint64_t value) {
  Type *t = b.getIntNTy(bits);
  return ConstantInt::get(shapedLike(like, t), value);
}

/// 32 bits, one per lane.
Value *Emitter::maskBits(V m) { return b.CreateBitCast(m, b.getInt32Ty()); }

// --- passes ---
//
// Operations on vectors wait until somebody needs a result: a barrier, a store, a handler, the block's end.
// Then all that wait become a loop over the pieces of a warp. In it they are values of LLVM, and behind it
// those that are still alive lie in the frame. Loads wait too; whether they stay in range is tested in front
// of the loop. If not, the interpreter goes on from where the pass began, so nothing that waits may have
// changed anything.

Emitter::Operand Emitter::operandOf(int32_t slot) {
  Operand operand;
  if (slot < 0)
    return operand;
  uint32_t s = uint32_t(slot);
  if (waits[s].step >= 0)
    operand.step = waits[s].step, operand.result = waits[s].result;
  else if (isScalar(s))
    operand.value = scalarOf(s), operand.shape = shapeOf(s);
  else
    operand.slot = slot;
  return operand;
}

void Emitter::begin() {
  if (!isBegun)
    start = {opIndex, values, state, stored, dirty};
  isBegun = true;
}

/// Puts an operation off that gives these slots their values.
Emitter::Step &Emitter::wait(const Operation &o, std::vector<uint32_t> defs) {
  begin();
  Step step;
  step.o = &o;
  step.guard = operandOf(o.guard);
  if (o.guard >= 0)
    for (uint32_t d : defs)
      step.before.push_back(operandOf(int32_t(d)));
  for (unsigned k = 0; k < defs.size(); ++k) {
    waits[defs[k]] = {int32_t(steps.size()), k};
    values[defs[k]] = nullptr, stored[defs[k]] = dirty[defs[k]] = false;
  }
  step.defs = std::move(defs);
  steps.push_back(std::move(step));
  return steps.back();
}

bool Emitter::loadsWait() const {
  return std::any_of(steps.begin(), steps.end(), [](const Step &s) { return s.o->kind == Kind::Load; });
}

/// Which steps are worked out together, in their order. Few results at a time, with all that leads to them:
/// as many as registers hold. Steps that nobody needs are left out.
std::vector<std::vector<uint32_t>> Emitter::groupsOf(const SlotSet &alive) const {
  std::vector<bool> isNeeded(steps.size()), isOperand(steps.size()), isTaken(steps.size());
  for (uint32_t s = 0; s < alive.size(); ++s)
    if (waits[s].step >= 0 && alive[s])
      isNeeded[size_t(waits[s].step)] = true;
  for (uint32_t i = uint32_t(steps.size()); i-- > 0;) {
    isNeeded[i] = isNeeded[i] || steps[i].o->kind == Kind::Store;
    if (isNeeded[i])
      eachOperand(steps[i], [&](const Operand &from) {
        if (from.step >= 0)
          isNeeded[size_t(from.step)] = isOperand[size_t(from.step)] = true;
      });
  }
  std::vector<std::vector<uint32_t>> groups;
  size_t results = target.avx512 ? 16 : 8, inGroup = results;
  for (uint32_t i = 0; i < steps.size(); ++i) {
    if (!isNeeded[i] || isOperand[i])
      continue;
    if (inGroup >= results)
      groups.emplace_back(), inGroup = 0;
    inGroup += std::max<size_t>(1, steps[i].defs.size());
    for (std::vector<uint32_t> stack = {i}; !stack.empty();) {
      uint32_t k = stack.back();
      stack.pop_back();
      if (isTaken[k])
        continue;
      isTaken[k] = true;
      groups.back().push_back(k);
      eachOperand(steps[k], [&](const Operand &from) {
        if (from.step >= 0)
          stack.push_back(uint32_t(from.step));
      });
    }
  }
  for (auto &group : groups)
    std::sort(group.begin(), group.end());
  return groups;
}

/// Works out what waits. Behind it, slots that are alive lie in the frame.
void Emitter::runPass(const SlotSet &alive) {
  if (!steps.empty()) {
    std::vector<std::vector<uint32_t>> groups = groupsOf(alive);
    testAccesses();
    if (!groups.empty())
      emitLoop(groups, alive);
    std::fill(waits.begin(), waits.end(), Waits());
    steps.clear();
  }
  isBegun = false, back = nullptr;
}

void Emitter::emitLoop(const std::vector<std::vector<uint32_t>> &groups, const SlotSet &alive) {
  Type *i64 = b.getInt64Ty();
  BasicBlock *body = newBlock("piece"), *behind = newBlock("behind");
  beforePass = b.GetInsertBlock();
  b.CreateBr(body);
  b.SetInsertPoint(body);
  PHINode *first = b.CreatePHI(i64, 2);
  first->addIncoming(b.getInt64(0), beforePass);
  lane = first;
  isRead.assign(alive.size(), false);
  for (const Step &step : steps)
    eachOperand(step, [&](const Operand &from) {
      if (from.slot >= 0)
        isRead[size_t(from.slot)] = true;
    });
  for (const auto &group : groups) {
    for (uint32_t i : group)
      work(steps[i]);
    for (uint32_t i : group)
      storeResults(i, alive);
  }
  V after = b.CreateAdd(first, b.getInt64(lanesOfPiece()));
  first->addIncoming(after, body);
  b.CreateCondBr(b.CreateICmpULT(after, b.getInt64(warpSize)), body, behind);
  b.SetInsertPoint(behind);
  for (auto [slot, bits] : collected)
    storeBits(slot, bits);
  lane = nullptr, beforePass = nullptr;
  framePieces.clear(), splats.clear(), collected.clear();
}

/// Into the frame, of what is alive behind the pass.
void Emitter::storeResults(uint32_t step, const SlotSet &alive) {
  for (unsigned k = 0; k < steps[step].defs.size(); ++k) {
    uint32_t s = steps[step].defs[k];
    if (!alive[s] || waits[s].step != int32_t(step) || waits[s].result != k)
      continue;
    V value = steps[step].results[k];
    if (graph.slots[s].width == 0) {
      collect(s, value);
      continue;
    }
    if (mask && shapes.blends(blockIndex, s))
      value = b.CreateSelect(pieceOfMask(mask), value, framePiece(s));
    else if (isRead[s])
      framePiece(s); // a later group wants what was there
    storeFramePiece(s, value);
  }
}

/// A predicate's bits come together as the pass goes on: the frame gets them as a whole.
void Emitter::collect(uint32_t slot, V piece) {
  BasicBlock *body = b.GetInsertBlock();
  PHINode *bits = PHINode::Create(b.getInt32Ty(), 2, "", body->begin());
  bits->addIncoming(b.getInt32(0), beforePass);
  V more = b.CreateZExt(b.CreateBitCast(piece, b.getIntNTy(lanesOfPiece())), b.getInt32Ty());
  V all = b.CreateOr(bits, b.CreateShl(more, b.CreateTrunc(lane, b.getInt32Ty())));
  bits->addIncoming(all, body);
  collected.push_back({slot, all});
}

void Emitter::work(Step &step) {
  const Operation &o = *step.o;
  if (o.kind == Kind::Load) {
    loadPiece(step);
  } else if (o.kind == Kind::Store) {
    return storePiece(step);
  } else {
    V in[3];
    const int32_t slots[3] = {o.a, o.b, o.c};
    for (int k = 0; k < 3; ++k)
      in[k] = slots[k] < 0 ? nullptr : pieceOf(step.in[k], graph.slots[uint32_t(slots[k])].width);
    step.results = {computed(o, in[0], in[1], in[2])};
    if (step.defs.size() > 1)
      step.results.push_back(predicate(o, in[0], in[1], in[2], true));
  }
  if (o.guard < 0)
    return;
  V p = pieceOf(step.guard, 0);
  for (size_t k = 0; k < step.defs.size(); ++k) {
    V old = pieceOf(step.before[k], graph.slots[step.defs[k]].width);
    step.results[k] =
        b.CreateSelect(p, o.guardNegated ? old : step.results[k], o.guardNegated ? step.results[k] : old);
  }
}

Value *Emitter::pieceOf(const Operand &operand, unsigned width) {
  if (operand.step >= 0)
    return steps[size_t(operand.step)].results[operand.result];
  if (!operand.value)
    return framePiece(uint32_t(operand.slot));
  V &all = splats[operand.value];
  if (!all) {
    IRBuilder<>::InsertPointGuard guard(b);
    b.SetInsertPoint(beforePass->getTerminator());
    all = b.CreateVectorSplat(lanesOfPiece(), operand.value);
  }
  return operand.shape.kind == Shape::Strided
             ? b.CreateAdd(all, rowOf(operand.shape.pattern->data(), lanesOfPiece(), scalarType(width)))
             : all;
}

/// Of a table that has `each` numbers for every piece: one, or one for each lane.
Value *Emitter::rowOf(const int64_t *numbers, unsigned each, llvm::Type *element) {
  std::vector<int64_t> list(numbers, numbers + numPieces() * each);
  llvm::GlobalVariable *&table = rows[{list, element}];
  if (!table) {
    std::vector<llvm::Constant *> constants;
    for (int64_t x : list)
      constants.push_back(ConstantInt::get(element, uint64_t(x), true));
    auto *type = ArrayType::get(element, list.size());
    table = new GlobalVariable(module, type, true, GlobalValue::PrivateLinkage,
                               ConstantArray::get(type, constants));
    table->setAlignment(Align(64));
  }
  if (each == 1)
    return b.CreateLoad(element, b.CreateGEP(element, table, b.CreateUDiv(lane, b.getInt64(lanesOfPiece()))));
  return b.CreateAlignedLoad(FixedVectorType::get(element, each), b.CreateGEP(element, table, lane),
                             Align(std::min(64u, each * element->getScalarSizeInBits() / 8)));
}

Value *Emitter::framePiecePlace(const Slot &s) {
  V offset = s.width == 0 ? b.CreateUDiv(lane, b.getInt64(8)) : lane;
  return b.CreateGEP(s.width == 0 ? b.getInt8Ty() : scalarType(s.width), framePointer(s.offset), offset);
}

Value *Emitter::framePiece(uint32_t slot) {
  V &piece = framePieces[slot];
  if (piece)
    return piece;
  const Slot &s = graph.slots[slot];
  unsigned bytes = s.width == 0 ? lanesOfPiece() / 8 : lanesOfPiece() * s.width;
  Type *type = s.width == 0 ? b.getIntNTy(lanesOfPiece()) : pieceType(s.width);
  V loaded = b.CreateAlignedLoad(type, framePiecePlace(s), Align(std::min(64u, bytes)));
  return piece = s.width == 0 ? b.CreateBitCast(loaded, pieceType(0)) : loaded;
}

void Emitter::storeFramePiece(uint32_t slot, V value) {
  const Slot &s = graph.slots[slot];
  b.CreateAlignedStore(value, framePiecePlace(s), Align(std::min(64u, lanesOfPiece() * s.width)));
}

/// The lanes at hand of a mask.
Value *Emitter::pieceOfMask(V bits) {
  V shifted = b.CreateLShr(bits, b.CreateTrunc(lane, b.getInt32Ty()));
  return b.CreateBitCast(b.CreateTrunc(shifted, b.getIntNTy(lanesOfPiece())), pieceType(0));
}

// --- the frame and the warp ---

Value *Emitter::framePointer(uint32_t offset) {
  return b.CreateConstInBoundsGEP1_32(b.getInt8Ty(), frame, offset);
}
Value *Emitter::warpPointer(size_t offset) {
  return b.CreateConstInBoundsGEP1_32(b.getInt8Ty(), warp, unsigned(offset));
}

Value *Emitter::warpField(size_t offset, llvm::Type *type, bool fixed) {
  LoadInst *load = b.CreateLoad(type, warpPointer(offset));
  if (fixed)
    load->setMetadata(LLVMContext::MD_invariant_load, MDNode::get(context, {}));
  return load;
}

Value *Emitter::loadSlot(uint32_t slot, bool scalar) {
  const Slot &s = graph.slots[slot];
  if (s.width == 0) {
    V bits = b.CreateAlignedLoad(b.getInt32Ty(), framePointer(s.offset), Align(4));
    return scalar ? b.CreateTrunc(bits, b.getInt1Ty()) : b.CreateBitCast(bits, vectorType(0));
  }
  return b.CreateAlignedLoad(scalar ? scalarType(s.width) : vectorType(s.width), framePointer(s.offset),
                             Align(scalar ? s.width : 64));
}

/// Under a mask, lanes without it keep what they had.
void Emitter::storeBits(uint32_t slot, V bits) {
  V place = framePointer(graph.slots[slot].offset);
  if (mask && shapes.blends(blockIndex, slot)) {
    V old = b.CreateAlignedLoad(b.getInt32Ty(), place, Align(4));
    bits = b.CreateOr(b.CreateAnd(bits, mask), b.CreateAnd(old, b.CreateNot(mask)));
  }
  b.CreateAlignedStore(bits, place, Align(4));
}

/// As storeBits().
void Emitter::storeSlot(uint32_t slot, V vector) {
  if (graph.slots[slot].width == 0)
    return storeBits(slot, maskBits(vector));
  if (mask && shapes.blends(blockIndex, slot))
    vector = b.CreateSelect(b.CreateBitCast(mask, vectorType(0)), vector, loadSlot(slot, false));
  b.CreateAlignedStore(vector, framePointer(graph.slots[slot].offset), Align(64));
}

/// A scalar's lanes, for whoever looks at the frame.
void Emitter::storeScalar(uint32_t slot) {
  const Slot &s = graph.slots[slot];
  if (s.isConstant || s.isAddress || !isScalar(slot) || stored[slot])
    return;
  if (s.width == 0)
    storeBits(slot, laneBits(slot));
  else
    storeSlot(slot, vectorOf(slot));
}

/// Gives the slot a new value, in the shape that it has behind the operation. Where lanes do not take part,
/// they keep what they had.
void Emitter::define(const Operation &o, int32_t slotIndex, V value) {
  uint32_t slot = uint32_t(slotIndex);
  unsigned width = graph.slots[slot].width;
  bool scalar = shapes.of(next, slot).scalar();
  auto whole = [&](V v) { return v->getType()->isVectorTy() ? v : materialised(v, resultShape, width); };
  if (o.guard >= 0) {
    uint32_t guard = uint32_t(o.guard);
    V p = scalar ? scalarOf(guard) : b.CreateBitCast(laneBits(guard), vectorType(0));
    if (o.guardNegated)
      p = b.CreateNot(p);
    value =
        scalar ? b.CreateSelect(p, value, scalarOf(slot)) : b.CreateSelect(p, whole(value), vectorOf(slot));
  }
  waits[slot] = {}, stored[slot] = false, dirty[slot] = scalar;
  values[slot] = scalar ? value : nullptr;
  if (!scalar)
    storeSlot(slot, whole(value));
}

Value *Emitter::operationPointer(uint32_t at) {
  V ops = fromTable(offsetof(CodeTable, ops), PointerType::getUnqual(context));
  return b.CreateConstInBoundsGEP1_64(b.getInt8Ty(), ops, at * sizeof(Op));
}

// --- the table ---

llvm::Constant *Emitter::inTable(uint64_t offset) {
  return ConstantExpr::getGetElementPtr(b.getInt8Ty(), table, b.getInt64(offset));
}

/// Volatile: on rare paths alone, where a register that is kept for it all along would cost the others.
Value *Emitter::fromTable(uint64_t offset, llvm::Type *type) {
  return b.CreateLoad(type, inTable(offset), /*isVolatile=*/true);
}

/// Only now its size is known.
void Emitter::placeTable() {
  auto *type = ArrayType::get(b.getInt8Ty(), sizeof(CodeTable) + image.sites.size() * sizeof(Site));
  auto *placed = new GlobalVariable(module, type, false, GlobalValue::ExternalLinkage,
                                    llvm::Constant::getNullValue(type));
  placed->setAlignment(Align(alignof(CodeTable)));
  placed->setDSOLocal(true);
  table->replaceAllUsesWith(placed);
  placed->takeName(table);
  table->eraseFromParent();
}

int32_t Emitter::patternIndex(const Pattern *pattern) {
  if (!pattern)
    return -1;
  auto [it, isNew] = patternIndices.emplace(pattern, int32_t(image.patterns.size()));
  if (isNew)
    image.patterns.push_back(*pattern);
  return it->second;
}

// --- blocks ---

/// Where compiled code can be entered: at the start, at and behind whatever stops a warp, at outermost loops,
/// and where lanes meet that parted.
void Emitter::chooseEntries() {
  isEntry.assign(graph.blocks.size(), false);
  std::vector<bool> insideLoop(graph.blocks.size(), false);
  for (uint32_t k = 0; k < graph.blocks.size(); ++k)
    for (uint32_t to : graph.blocks[k].next)
      if (to <= k)
        for (uint32_t i = to + 1; i <= k; ++i)
          insideLoop[i] = true;
  for (uint32_t k = 0; k < graph.blocks.size(); ++k) {
    if (shapes.atStart(k).empty())
      continue;
    const Operation *before = k ? &graph.operations[graph.blocks[k].first - 1] : nullptr;
    auto stopsWarp = [](Kind kind) {
      return kind == Kind::Barrier || kind == Kind::Call || kind == Kind::Sleep || kind == Kind::Poll;
    };
    bool stops =
        (before && stopsWarp(before->kind)) || graph.operations[graph.blocks[k].first].kind == Kind::Poll;
    bool loop = false, meets = false;
    for (uint32_t from : graph.blocks[k].previous) {
      loop |= from >= k;
      const Operation &last = graph.operations[graph.blocks[from].last - 1];
      meets |= last.kind == Kind::BranchIf && shapes.joins[from] < 0 && !shapes.predicateIsUniform(from);
    }
    isEntry[k] =
        k == 0 || stops || (!insideLoop[k] && (loop || meets || graph.blocks[k].previous.size() > 1));
    if (shapes.parted[k] >= 0)
      isEntry[k] = false;
  }
}

void Emitter::emitBlock(uint32_t k) {
  blockIndex = k;
  mask = nullptr;
  findAlive();
  if (shapes.parted[k] >= 0)
    return emitMasked(k);
  startBlock(k);
  emitOperations(k);
  terminate(k);
}

/// What is read from each operation of the block on.
void Emitter::findAlive() {
  const Block &block = graph.blocks[blockIndex];
  alive.assign(block.last - block.first + 1, block.liveOut);
  for (uint32_t i = block.last; i-- > block.first;) {
    const Operation &o = graph.operations[i];
    SlotSet &before = aliveBefore(i);
    before = aliveBefore(i + 1);
    for (uint32_t d : o.defs)
      before[d] = o.guard >= 0;
    for (uint32_t use : o.uses)
      before[use] = true;
    if (o.guard >= 0)
      before[uint32_t(o.guard)] = true;
  }
}

void Emitter::emitOperations(uint32_t k) {
  const Block &block = graph.blocks[k];
  for (uint32_t i = block.first; i < block.last; ++i)
    emitOperation(i);
  runPass(block.liveOut);
}

/// A block for some lanes. Where all of them turn out to be there, and it is worth a copy, nothing is masked,
/// and more can be tested: there is a way back.
void Emitter::emitMasked(uint32_t k) {
  V lanes = pending[k] ? pending[k] : b.getInt32(0);
  const Block &block = graph.blocks[k];
  loadScalars();
  bool copies = false;
  for (uint32_t i = block.first; i < block.last; ++i) {
    const Operation &o = graph.operations[i];
    copies |= o.kind == Kind::Load || o.kind == Kind::Store;
    for (uint32_t d : o.defs)
      if (shapes.blends(k, d))
        storeScalar(d), stored[d] = true;
  }
  const std::vector<V> before = values, pendingBefore = pending;
  const State stateBefore = state;
  const SlotSet storedBefore = stored, dirtyBefore = dirty;
  BasicBlock *skipped = b.GetInsertBlock(), *some = newBlock("some"), *past = newBlock("past");
  BasicBlock *any = copies ? newBlock("any") : some, *all = copies ? newBlock("all") : nullptr;
  b.CreateCondBr(b.CreateICmpNE(lanes, b.getInt32(0)), any, past);
  if (copies) {
    b.SetInsertPoint(any);
    b.CreateCondBr(b.CreateICmpEQ(lanes, b.getInt32(allLanes)), all, some);
  }
  std::vector<Way> ways;
  for (BasicBlock *begin : {all, some}) {
    if (!begin)
      continue;
    values = before, state = stateBefore, pending = pendingBefore;
    stored = storedBefore, dirty = dirtyBefore;
    mask = begin == some ? lanes : nullptr;
    tested.clear();
    b.SetInsertPoint(begin);
    emitOperations(k);
    sendLanes(k);
    ways.push_back({b.GetInsertBlock(), mask, values, pending, state});
    b.CreateBr(past);
  }
  stored = storedBefore, dirty = dirtyBefore;
  tested.clear();
  ways.push_back({skipped, nullptr, before, pendingBefore, stateBefore});
  joinWays(k, ways, past);
  mask = nullptr;
  uint32_t first = uint32_t(shapes.parted[k]);
  if (k + 1 == shapes.ends[first])
    jump(k, uint32_t(shapes.joins[first]), graph.operations[block.last - 1].at);
}

/// Between blocks, scalars lie in the frame too, in their first lane's place; where there is one way in,
/// those of the block before are still at hand.
void Emitter::startBlock(uint32_t k) {
  b.SetInsertPoint(starts[k]);
  state = shapes.atStart(k);
  values.assign(graph.slots.size(), nullptr);
  stored.assign(graph.slots.size(), false);
  dirty.assign(graph.slots.size(), false);
  tested.clear();
  unsigned ways = isEntry[k];
  for (uint32_t from = 0; from < graph.blocks.size(); ++from)
    if (starts[from])
      for (uint32_t to : shapes.next(from))
        ways += to == k;
  if (ways == 1 && !isEntry[k])
    for (const Edge &edge : edges)
      if (edge.to == k)
        for (uint32_t s = 0; s < graph.slots.size(); ++s)
          if (state[s].scalar())
            values[s] = edge.values[s];
  loadScalars();
}

/// Those that the block reads.
void Emitter::loadScalars() {
  const Block &block = graph.blocks[blockIndex];
  SlotSet written(graph.slots.size(), false);
  auto read = [&](uint32_t s) {
    const Slot &slot = graph.slots[s];
    if (!written[s] && !values[s] && !slot.isConstant && !slot.isAddress && state[s].scalar())
      values[s] = loadSlot(s, true);
  };
  for (uint32_t i = block.first; i < block.last; ++i) {
    const Operation &o = graph.operations[i];
    std::for_each(o.uses.begin(), o.uses.end(), read);
    if (o.guard >= 0) {
      read(uint32_t(o.guard));
      std::for_each(o.defs.begin(), o.defs.end(), read);
    }
    for (uint32_t d : o.defs)
      written[d] = true;
  }
}

/// The frame gets what is new in them.
void Emitter::keepScalars(const SlotSet &alive) {
  for (uint32_t s = 0; s < alive.size(); ++s)
    if (alive[s] && dirty[s])
      keepScalar(s), dirty[s] = false;
}

void Emitter::keepScalar(uint32_t s) {
  const Slot &slot = graph.slots[s];
  if (stored[s])
    return;
  if (slot.width == 0)
    storeBits(s, laneBits(s));
  else
    b.CreateAlignedStore(scalarOf(s), framePointer(slot.offset), Align(slot.width));
}

/// A scalar that is none there goes to the frame as a whole.
void Emitter::addEdge(uint32_t to) {
  const State &there = shapes.atStart(to);
  for (uint32_t s = 0; s < graph.slots.size(); ++s)
    if (graph.blocks[to].liveIn[s] && !there[s].scalar())
      storeScalar(s);
  edges.push_back({to, values});
}

/// A switch over the entries. Whoever enters has seen to it that everything looks
/// as supposed; the function's start supposes nothing.
void Emitter::emitEntries() {
  BasicBlock *wrong = newBlock("wrong");
  SwitchInst *choice = b.CreateSwitch(function->getArg(2), wrong);
  for (uint32_t k = 0; k < graph.blocks.size(); ++k) {
    if (!isEntry[k])
      continue;
    choice->addCase(b.getInt32(uint32_t(image.checks.size())), starts[k]);
    image.checks.emplace_back();
    for (uint32_t s = 0; k > 0 && s < graph.slots.size(); ++s)
      if (graph.blocks[k].liveIn[s] && shapes.atStart(k)[s].scalar())
        image.checks.back().push_back(checkOf(s, shapes.atStart(k)[s]));
  }
  b.SetInsertPoint(wrong);
  b.CreateUnreachable();
}

EntryCheck Emitter::checkOf(uint32_t slot, const Shape &shape) {
  EntryCheck check;
  check.offset = graph.slots[slot].offset;
  check.width = graph.slots[slot].width;
  check.pattern = patternIndex(shape.pattern);
  check.align = shape.align;
  check.known = shape.known;
  check.value = shape.value;
  if (shape.high != unknownBound) {
    uint64_t span =
        shape.pattern ? uint64_t(*std::max_element(shape.pattern->begin(), shape.pattern->end())) : 0;
    check.most = shape.high >= span ? shape.high - span : 0;
  }
  return check;
}

// --- leaving and going on ---

/// The scheduler gets the word. Of scalars that are alive the first lane goes into the frame; the scheduler
/// fills in the others if somebody else is to go on.
void Emitter::leave(Status status, uint32_t at, const SlotSet &alive, const std::vector<uint32_t> &also) {
  std::vector<Expansion> expansions;
  std::vector<uint32_t> resume; // where the code may be entered next, without another look at the frame
  if (status == Status::Barrier || status == Status::Yield) {
    resume = graph.blocks[blockIndex].next;
    if (int32_t there = graph.blockOfOp[at]; there >= 0)
      resume.push_back(uint32_t(there));
  }
  auto keep = [&](uint32_t s) {
    const Slot &slot = graph.slots[s];
    if (slot.isConstant || slot.isAddress || !isScalar(s))
      return;
    bool whole = std::any_of(resume.begin(), resume.end(), [&](uint32_t to) {
      const State &there = shapes.atStart(to);
      return !there.empty() && !there[s].scalar();
    });
    if (whole)
      return storeScalar(s);
    if (dirty[s])
      keepScalar(s);
    if (slot.width && !stored[s])
      expansions.push_back({slot.offset, slot.width, patternIndex(shapeOf(s).pattern)});
  };
  for (uint32_t s = 0; s < alive.size(); ++s)
    if (alive[s])
      keep(s);
  for (uint32_t s : also)
    if (!alive[s])
      keep(s);
  b.CreateStore(operationPointer(at), warpPointer(offsetof(Warp, pc)));
  image.expansions.push_back(std::move(expansions));
  b.CreateRet(b.getInt32(unsigned(status) | uint32_t(image.expansions.size()) << expansionShift));
}

/// Where something turns out wrong that was supposed: the interpreter takes over at the last place from which
/// nothing has been changed.
BasicBlock *Emitter::backBlock() {
  begin();
  if (back)
    return back;
  IRBuilder<>::InsertPointGuard guard(b);
  back = newBlock("back");
  b.SetInsertPoint(back);
  auto exchange = [&] {
    std::swap(values, start.values), std::swap(state, start.state);
    std::swap(stored, start.stored), std::swap(dirty, start.dirty);
  };
  exchange();
  leave(Status::Interpret, graph.operations[start.index].at, aliveBefore(start.index));
  exchange();
  return back;
}

/// Goes to block `to`; a jump backward spends the warp's budget, as the interpreter's does.
void Emitter::jump(uint32_t from, uint32_t to, uint32_t at) {
  if (to > from) {
    addEdge(to);
    b.CreateBr(starts[to]);
    return;
  }
  V place = warpPointer(offsetof(Warp, budget));
  V budget = b.CreateSub(b.CreateLoad(b.getInt32Ty(), place), b.getInt32(1));
  b.CreateStore(budget, place);
  BasicBlock *spent = newBlock("spent");
  addEdge(to);
  MDBuilder weights(context);
  b.CreateCondBr(b.CreateICmpSGT(budget, b.getInt32(0)), starts[to], spent,
                 weights.createBranchWeights(8000, 1));
  b.SetInsertPoint(spent);
  leave(Status::Yield, graph.operations[graph.blocks[to].first].at, graph.blocks[to].liveIn);
}

void Emitter::branchIf(uint32_t k, const Operation &o) {
  uint32_t target = uint32_t(graph.blockOfOp[size_t(o.op->target - graph.program->ops.data())]);
  bool uniform = shapeOf(uint32_t(o.a)).kind == Shape::Uniform;
  if (k + 1 >= graph.blocks.size() || (graph.blocks[k].next.size() < 2 || target == k + 1))
    return jump(k, target, o.at);
  BasicBlock *taken = newBlock("taken"), *other = newBlock("other");
  if (uniform) {
    V p = scalarOf(uint32_t(o.a));
    b.CreateCondBr(o.op->n ? b.CreateNot(p) : p, taken, other);
  } else {
    V bits = laneBits(uint32_t(o.a));
    if (o.op->n)
      bits = b.CreateNot(bits);
    BasicBlock *some = newBlock("some"), *parts = newBlock("parts");
    b.CreateCondBr(b.CreateICmpEQ(bits, b.getInt32(0)), other, some);
    b.SetInsertPoint(some);
    b.CreateCondBr(b.CreateICmpEQ(bits, b.getInt32(allLanes)), taken, parts);
    b.SetInsertPoint(parts);
    b.CreateStore(bits, warpPointer(offsetof(Warp, taken)));
    leave(Status::Diverged, o.at, graph.blocks[k].liveOut);
  }
  b.SetInsertPoint(taken);
  auto savedValues = values;
  jump(k, target, o.at);
  values = savedValues;
  b.SetInsertPoint(other);
  jump(k, k + 1, o.at);
}

/// Lanes part here and meet again at the join: the blocks between run in order, each for its lanes.
static void addPending(IRBuilder<> &b, Value *&pending, Value *lanes) {
  pending = pending ? b.CreateOr(pending, lanes) : lanes;
}

/// To the blocks that the lanes go on to from here.
void Emitter::sendLanes(uint32_t k) {
  const Operation &o = graph.operations[graph.blocks[k].last - 1];
  uint32_t first = shapes.joins[k] >= 0 ? k : uint32_t(shapes.parted[k]),
           join = uint32_t(shapes.joins[first]);
  V here = mask ? mask : b.getInt32(allLanes);
  auto send = [&](uint32_t to, V lanes) {
    if (to != join)
      addPending(b, pending[to], lanes);
  };
  if (o.kind != Kind::BranchIf)
    return send(graph.blocks[k].next[0], here);
  uint32_t target = uint32_t(graph.blockOfOp[size_t(o.op->target - graph.program->ops.data())]);
  V p = laneBits(uint32_t(o.a));
  if (o.op->n)
    p = b.CreateNot(p);
  send(target, b.CreateAnd(here, p));
  send(k + 1, b.CreateAnd(here, b.CreateNot(p)));
}

void Emitter::terminate(uint32_t k) {
  const Operation &o = graph.operations[graph.blocks[k].last - 1];
  if (shapes.joins[k] >= 0) {
    sendLanes(k);
    keepScalars(graph.blocks[k].liveOut);
    if (k + 1 == shapes.ends[k])
      jump(k, uint32_t(shapes.joins[k]), o.at);
    return;
  }
  keepScalars(graph.blocks[k].liveOut);
  switch (o.kind) {
  case Kind::Branch:
    return jump(k, graph.blocks[k].next[0], o.at);
  case Kind::BranchIf:
    return branchIf(k, o);
  case Kind::Exit:
    b.CreateStore(operationPointer(o.at), warpPointer(offsetof(Warp, pc)));
    b.CreateRet(b.getInt32(unsigned(Status::Exited)));
    return;
  case Kind::Return:
    return leave(Status::Return, o.at, SlotSet(graph.slots.size()));
  case Kind::Call:
    return leave(Status::Call, o.at, graph.blocks[k].liveOut, o.uses);
  case Kind::Sleep:
    return leave(Status::Yield, o.at + 1, graph.blocks[k].liveOut);
  case Kind::Trap:
    b.CreateRet(b.getInt32(unsigned(Status::Fault)));
    return;
  case Kind::Barrier: {
    auto field = [&](int32_t slot, size_t offset) {
      V value = slot < 0                   ? b.getInt32(0)
                : isScalar(uint32_t(slot)) ? scalarOf(uint32_t(slot))
                                           : loadSlot(uint32_t(slot), true);
      b.CreateStore(value, warpPointer(offset));
    };
    field(o.a, offsetof(Warp, barrierId));
    field(o.b, offsetof(Warp, barrierCount));
    return leave(Status::Barrier, o.at, graph.blocks[k].liveOut, o.uses);
  }
  default:
    return jump(k, k + 1, o.at);
  }
}

/// The end of a block under a mask: new values for its lanes, the old ones for the others and where it was
/// skipped, which is the last way.
void Emitter::joinWays(uint32_t k, std::vector<Way> &ways, BasicBlock *past) {
  State after = state;
  SlotSet written(values.size(), false);
  for (uint32_t i = graph.blocks[k].first; i < graph.blocks[k].last; ++i)
    for (uint32_t d : graph.operations[i].defs)
      written[d] = true;
  const Way &skipped = ways.back();
  for (uint32_t s = 0; s < values.size(); ++s) {
    values[s] = skipped.values[s];
    if (!written[s])
      continue;
    values[s] = nullptr, stored[s] = dirty[s] = false;
    if (!shapes.blends(k, s)) // nobody reads it any more
      continue;
    after[s] = Shape(), after[s].kind = Shape::Varying;
    for (size_t i = 0; i + 1 < ways.size(); ++i) {
      if (!ways[i].state[s].scalar())
        continue;
      b.SetInsertPoint(ways[i].end->getTerminator());
      mask = ways[i].mask;
      storeSlot(s, materialised(ways[i].values[s], ways[i].state[s], graph.slots[s].width));
    }
  }
  b.SetInsertPoint(past);
  for (uint32_t t = 0; t < pending.size(); ++t) {
    pending[t] = skipped.pending[t];
    if (ways[0].pending[t] == skipped.pending[t])
      continue;
    PHINode *phi = b.CreatePHI(b.getInt32Ty(), unsigned(ways.size()));
    for (const Way &way : ways)
      phi->addIncoming(way.pending[t] ? way.pending[t] : b.getInt32(0), way.end);
    pending[t] = phi;
  }
  state = after;
}

void Emitter::countBlock(const Operation &label) {
  if (!request.count || label.op->imm < 0)
    return;
  V counts = warpField(offsetof(Warp, blockCounts), PointerType::getUnqual(context), true);
  V place = b.CreateConstInBoundsGEP1_64(b.getInt64Ty(), counts, uint64_t(label.op->imm) * 2);
  V lanes = mask ? b.CreateZExt(b.CreateUnaryIntrinsic(Intrinsic::ctpop, mask), b.getInt64Ty())
                 : b.getInt64(warpSize);
  b.CreateStore(b.CreateAdd(b.CreateLoad(b.getInt64Ty(), place), b.getInt64(1)), place);
  V second = b.CreateConstInBoundsGEP1_64(b.getInt64Ty(), place, 1);
  b.CreateStore(b.CreateAdd(b.CreateLoad(b.getInt64Ty(), second), lanes), second);
}

// --- one operation ---

void Emitter::emitOperation(uint32_t index) {
  const Operation &o = graph.operations[index];
  opIndex = index;
  if (o.kind == Kind::Label)
    return countBlock(o);
  next = state;
  Result result = shapes.apply(o, next, mask != nullptr);
  resultShape = result.d;
  bool exchanges = o.kind == Kind::Pure && (startsWith(*o.name, "shfl.") || startsWith(*o.name, "vote.") ||
                                            startsWith(*o.name, "redux."));
  bool scalar = !exchanges && std::all_of(o.defs.begin(), o.defs.end(),
                                          [&](uint32_t d) { return shapes.of(next, d).scalar(); });
  if (o.kind == Kind::Pure && !exchanges) {
    guardExtension(result);
    if (scalar) {
      emitScalar(o);
    } else {
      std::vector<uint32_t> defs = {uint32_t(o.d)};
      if (o.e >= 0)
        defs.push_back(uint32_t(o.e));
      Operand in[3] = {operandOf(o.a), operandOf(o.b), operandOf(o.c)};
      std::copy(in, in + 3, wait(o, std::move(defs)).in);
    }
    state = std::move(next);
    return;
  }
  bool simple = o.kind == Kind::Special || o.kind == Kind::LocalAddress || o.kind == Kind::LoadParameter;
  bool decides = o.kind == Kind::Load || o.kind == Kind::Store || o.kind == Kind::Nop; // when the pass is due
  if (!decides && !(simple && scalar))
    runPass(aliveBefore(index));
  if (!decides)
    setGuard(o);
  switch (o.kind) {
  case Kind::Pure:
    emitExchange(o);
    break;
  case Kind::Load:
  case Kind::Store:
    emitAccess(o);
    break;
  case Kind::LoadParameter:
    emitLoadParameter(o);
    break;
  case Kind::Special:
    emitSpecial(o);
    break;
  case Kind::LocalAddress: {
    V base = warpField(offsetof(Warp, localBase), b.getInt64Ty());
    define(o, o.d, b.CreateAdd(base, b.getInt64(uint64_t(o.op->imm))));
    break;
  }
  case Kind::Handler:
  case Kind::Trap:
    emitHandler(o);
    break;
  case Kind::Poll:
    emitPoll(o);
    break;
  default:
    break;
  }
  guardMask = nullptr;
  state = std::move(next);
}

} // namespace joule::vgpu::jit
