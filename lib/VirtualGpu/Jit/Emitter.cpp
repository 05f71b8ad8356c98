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
  function->addFnAttr(Attribute::NoRedZone); // rare calls push below the stack's end
  frame = function->getArg(0), warp = function->getArg(1);
  function->getArg(0)->addAttr(Attribute::NoAlias);
  BasicBlock *top = BasicBlock::Create(context, "top", function);
  size_t n = graph.blocks.size();
  for (size_t i = 0; i < n; ++i)
    starts.push_back(nullptr);
  phis.resize(n);
  pending.assign(n, nullptr);
  values.assign(graph.slots.size(), nullptr);
  waits.assign(graph.slots.size(), -1);
  chooseEntries();
  for (uint32_t k = 0; k < n; ++k)
    if (!shapes.atStart(k).empty())
      starts[k] = newBlock("block");
  for (uint32_t k = 0; k < n; ++k)
    if (starts[k])
      emitBlock(k);
  b.SetInsertPoint(top);
  emitEntries();
  fillPhis();
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

/// The slot's value in the shape that the state says; null only for a slot that holds nothing yet.
Value *Emitter::current(uint32_t slot) {
  const Slot &s = graph.slots[slot];
  if (s.isConstant)
    return ConstantInt::get(scalarType(s.width), s.width ? s.constant : s.constant != 0);
  if (values[slot])
    return values[slot];
  if (waits[slot] >= 0)
    return values[slot] = joined(piecesOf(slot));
  bool scalar = state[slot].scalar();
  if (!s.inFrame)
    return llvm::Constant::getNullValue(scalar ? scalarType(s.width) : vectorType(s.width));
  return values[slot] = loadSlot(slot, scalar);
}

Value *Emitter::scalarOf(uint32_t slot) { return current(slot); }

Value *Emitter::vectorOf(uint32_t slot) {
  V v = current(slot);
  return v->getType()->isVectorTy() ? v : materialised(v, shapeOf(slot), graph.slots[slot].width);
}

Value *Emitter::asFloat(V value) {
  Type *t = value->getType();
  Type *element = t->getScalarSizeInBits() == 64 ? b.getDoubleTy() : b.getFloatTy();
  return b.CreateBitCast(value, shapedLike(value, element));
}
Value *Emitter::asInteger(V value) {
  Type *t = value->getType();
  Type *element = b.getIntNTy(t->getScalarSizeInBits());
  return b.CreateBitCast(value, shapedLike(value, element));
}
Value *Emitter::intType(V like, unsigned bits, uint64_t value) {
  Type *t = b.getIntNTy(bits);
  return ConstantInt::get(shapedLike(like, t), value);
}

/// 32 bits, one per lane.
Value *Emitter::maskBits(V m) {
  return m->getType()->isVectorTy() ? b.CreateBitCast(m, b.getInt32Ty()) : b.CreateSExt(m, b.getInt32Ty());
}

// --- pieces ---
//
// Operations on vectors wait until a result is needed. Then all that wait are worked out for the first few
// lanes, then for the next few, and so on: a chain of operations stays in the machine's registers, where
// whole warps would go through memory between any two of them.

void Emitter::wait(const Operation &o) {
  Waiting w;
  w.o = &o;
  const int32_t slots[3] = {o.a, o.b, o.c};
  for (int i = 0; i < 3; ++i) {
    if (slots[i] < 0)
      continue;
    uint32_t slot = uint32_t(slots[i]);
    if (waits[slot] >= 0) {
      w.in[i].waits = waits[slot];
    } else {
      w.in[i].value = current(slot);
      w.in[i].shape = shapeOf(slot);
      w.in[i].width = graph.slots[slot].width;
    }
  }
  waits[uint32_t(o.d)] = int32_t(waiting.size());
  values[uint32_t(o.d)] = nullptr;
  waiting.push_back(std::move(w));
}

/// Which of those that wait are worked out together, in their order. Few results at a time, with all that
/// leads to them: as many as registers hold.
std::vector<std::vector<uint32_t>> Emitter::groupsOfWaiting() const {
  std::vector<bool> isOperand(waiting.size()), isTaken(waiting.size());
  auto eachOperand = [&](uint32_t i, auto visit) {
    for (const auto &from : waiting[i].in)
      if (from.waits >= int32_t(workedOut) && waiting[size_t(from.waits)].o)
        visit(uint32_t(from.waits));
  };
  for (uint32_t i = uint32_t(workedOut); i < waiting.size(); ++i)
    eachOperand(i, [&](uint32_t k) { isOperand[k] = true; });
  std::vector<std::vector<uint32_t>> groups;
  unsigned results = target.avx512 ? 16 : 8, inGroup = results;
  for (uint32_t i = uint32_t(workedOut); i < waiting.size(); ++i) {
    if (isOperand[i] || !waiting[i].o)
      continue;
    if (inGroup == results)
      groups.emplace_back(), inGroup = 0;
    ++inGroup;
    for (std::vector<uint32_t> stack = {i}; !stack.empty();) {
      uint32_t k = stack.back();
      stack.pop_back();
      if (isTaken[k])
        continue;
      isTaken[k] = true;
      groups.back().push_back(k);
      eachOperand(k, [&](uint32_t operand) { stack.push_back(operand); });
    }
  }
  for (auto &group : groups)
    std::sort(group.begin(), group.end());
  return groups;
}

void Emitter::workOut() {
  std::vector<std::vector<uint32_t>> groups = groupsOfWaiting();
  for (unsigned piece = 0; piece < numPieces(); ++piece) {
    std::map<std::pair<V, const Pattern *>, V> cut;
    for (const auto &group : groups)
      for (uint32_t i : group) {
        V in[3] = {};
        for (int k = 0; k < 3; ++k) {
          const auto &from = waiting[i].in[k];
          if (from.waits >= 0)
            in[k] = waiting[size_t(from.waits)].pieces[piece];
          else if (from.value) {
            V &part = cut[{from.value, from.shape.pattern}];
            in[k] = part = part ? part : pieceOf(from.value, from.shape, from.width, piece);
          }
        }
        waiting[i].pieces.push_back(computed(*waiting[i].o, in[0], in[1], in[2]));
      }
  }
  workedOut = waiting.size();
}

/// Works out what these slots wait for, before ways part of which only some would do it.
void Emitter::settle(const SlotSet &slots) {
  for (uint32_t s = 0; s < slots.size(); ++s)
    if (slots[s] && waits[s] >= 0)
      current(s);
}

Value *Emitter::pieceOf(V value, const Shape &shape, unsigned width, unsigned piece) {
  unsigned lanes = lanesOfPiece();
  if (!value->getType()->isVectorTy()) {
    V all = b.CreateVectorSplat(lanes, value);
    return shape.kind == Shape::Strided
               ? b.CreateAdd(all,
                             patternVector(shape.pattern->data() + piece * lanes, lanes, scalarType(width)))
               : all;
  }
  std::vector<int> pick(lanes);
  for (unsigned i = 0; i < lanes; ++i)
    pick[i] = int(piece * lanes + i);
  return b.CreateShuffleVector(value, value, pick);
}

Emitter::Pieces Emitter::piecesOf(uint32_t slot) {
  if (waits[slot] >= 0) {
    workOut();
    return waiting[size_t(waits[slot])].pieces;
  }
  Pieces pieces;
  V value = current(slot);
  for (unsigned piece = 0; piece < numPieces(); ++piece)
    pieces.push_back(pieceOf(value, shapeOf(slot), graph.slots[slot].width, piece));
  return pieces;
}

Value *Emitter::joined(const Pieces &pieces) {
  Pieces parts = pieces;
  while (parts.size() > 1) {
    std::vector<int> all(2 * cast<FixedVectorType>(parts[0]->getType())->getNumElements());
    for (size_t i = 0; i < all.size(); ++i)
      all[i] = int(i);
    Pieces pairs;
    for (size_t i = 0; i < parts.size(); i += 2)
      pairs.push_back(b.CreateShuffleVector(parts[i], parts[i + 1], all));
    parts = pairs;
  }
  return parts[0];
}

/// As define(), of a value in pieces.
void Emitter::definePieces(const Operation &o, uint32_t slot, Pieces pieces) {
  if (!mayWait(o, int32_t(slot)))
    return define(o, int32_t(slot), joined(pieces));
  waits[slot] = int32_t(waiting.size());
  values[slot] = nullptr;
  waiting.emplace_back();
  waiting.back().pieces = std::move(pieces);
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

void Emitter::storeSlot(uint32_t slot, V vector) {
  const Slot &s = graph.slots[slot];
  if (s.width == 0)
    b.CreateAlignedStore(maskBits(vector), framePointer(s.offset), Align(4));
  else
    b.CreateAlignedStore(vector, framePointer(s.offset), Align(64));
}

/// Of a slot that is not in the frame already.
void Emitter::storePieces(uint32_t slot) {
  const Slot &s = graph.slots[slot];
  if (waits[slot] < 0 || s.width == 0)
    return storeSlot(slot, vectorOf(slot));
  Pieces pieces = piecesOf(slot);
  for (unsigned piece = 0; piece < pieces.size(); ++piece)
    b.CreateAlignedStore(pieces[piece], framePointer(s.offset + piece * lanesOfPiece() * s.width),
                         Align(std::min(64u, lanesOfPiece() * s.width)));
}

Emitter::Pieces Emitter::loadPieces(uint32_t slot) {
  const Slot &s = graph.slots[slot];
  Pieces pieces;
  for (unsigned piece = 0; piece < numPieces(); ++piece)
    pieces.push_back(b.CreateAlignedLoad(FixedVectorType::get(scalarType(s.width), lanesOfPiece()),
                                         framePointer(s.offset + piece * lanesOfPiece() * s.width),
                                         Align(std::min(64u, lanesOfPiece() * s.width))));
  return pieces;
}

void Emitter::spill(uint32_t slot) {
  if (!graph.slots[slot].isConstant && !graph.slots[slot].inFrame && state[slot].kind != Shape::None)
    storePieces(slot);
}

/// Gives the slot a new value. Where lanes do not take part, they keep what they had.
void Emitter::define(const Operation &o, int32_t slotIndex, V value) {
  uint32_t slot = uint32_t(slotIndex);
  const Slot &s = graph.slots[slot];
  if (o.guard >= 0) {
    bool scalar = state[slot].kind == Shape::Uniform && resultShape.kind == Shape::Uniform &&
                  shapeOf(uint32_t(o.guard)).kind == Shape::Uniform;
    V p = valueOf(o.guard, scalar);
    if (o.guardNegated)
      p = b.CreateNot(p);
    if (!scalar && !value->getType()->isVectorTy())
      value = materialised(value, resultShape, s.width);
    value = b.CreateSelect(p, value, scalar ? current(slot) : vectorOf(slot));
  }
  if (s.inFrame) {
    V whole = value->getType()->isVectorTy() ? value : nullptr;
    if (!whole)
      whole = materialised(value, resultShape, s.width);
    if (mask && shapes.blends(blockIndex, slot))
      whole = b.CreateSelect(mask, whole, loadSlot(slot, false));
    storeSlot(slot, whole);
  }
  values[slot] = value;
  waits[slot] = -1;
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
  if (shapes.parted[k] >= 0)
    return emitMasked(k);
  startBlock(k);
  emitOperations(k);
  terminate(k);
  forgetWaiting();
}

void Emitter::forgetWaiting() {
  waiting.clear();
  workedOut = 0;
  std::fill(waits.begin(), waits.end(), -1);
}

void Emitter::emitOperations(uint32_t k) {
  const Block &block = graph.blocks[k];
  for (uint32_t i = block.first; i < block.last; ++i)
    emitOperation(graph.operations[i]);
  settle(block.liveOut);
  if (const Operation &last = graph.operations[block.last - 1];
      last.kind == Kind::BranchIf && waits[uint32_t(last.a)] >= 0)
    current(uint32_t(last.a));
}

/// A block for some lanes. Where all of them turn out to be there, and it is worth a copy, nothing is masked,
/// and more can be tested: there is a way back.
void Emitter::emitMasked(uint32_t k) {
  V lanes = pending[k] ? pending[k] : llvm::Constant::getNullValue(vectorType(0));
  const std::vector<V> before = values, pendingBefore = pending;
  const State stateBefore = state;
  const Block &block = graph.blocks[k];
  bool copies = std::any_of(graph.operations.begin() + block.first, graph.operations.begin() + block.last,
                            [](const Operation &o) { return o.kind == Kind::Load || o.kind == Kind::Store; });
  BasicBlock *skipped = b.GetInsertBlock(), *some = newBlock("some"), *past = newBlock("past");
  BasicBlock *any = copies ? newBlock("any") : some, *all = copies ? newBlock("all") : nullptr;
  V bits = maskBits(lanes);
  b.CreateCondBr(b.CreateICmpNE(bits, b.getInt32(0)), any, past);
  if (copies) {
    b.SetInsertPoint(any);
    b.CreateCondBr(b.CreateICmpEQ(bits, b.getInt32(allLanes)), all, some);
  }
  std::vector<Way> ways;
  for (BasicBlock *start : {all, some}) {
    if (!start)
      continue;
    values = before, state = stateBefore, pending = pendingBefore;
    mask = start == some ? lanes : nullptr;
    b.SetInsertPoint(start);
    emitOperations(k);
    sendLanes(k);
    ways.push_back({b.GetInsertBlock(), mask, values, pending, state});
    forgetWaiting();
    b.CreateBr(past);
  }
  ways.push_back({skipped, nullptr, before, pendingBefore, stateBefore});
  joinWays(k, ways, past);
  mask = nullptr;
  uint32_t first = uint32_t(shapes.parted[k]);
  if (k + 1 == shapes.ends[first])
    jump(k, uint32_t(shapes.joins[first]), graph.operations[block.last - 1].at);
}

/// Every register that is alive here and lives in no frame gets a phi, unless there is one way in.
void Emitter::startBlock(uint32_t k) {
  b.SetInsertPoint(starts[k]);
  state = shapes.atStart(k);
  std::fill(values.begin(), values.end(), nullptr);
  phis[k].assign(graph.slots.size(), nullptr);
  const Edge *only = nullptr;
  unsigned ways = isEntry[k];
  for (uint32_t from = 0; from < graph.blocks.size(); ++from)
    if (starts[from])
      for (uint32_t to : shapes.next(from))
        ways += to == k;
  if (ways == 1 && !isEntry[k])
    for (const Edge &edge : edges)
      if (edge.to == k)
        only = &edge;
  for (uint32_t s = 0; s < graph.slots.size(); ++s) {
    if (!graph.blocks[k].liveIn[s] || graph.slots[s].inFrame)
      continue;
    bool scalar = state[s].scalar();
    unsigned width = graph.slots[s].width;
    if (only && only->values[s] && only->values[s]->getType()->isVectorTy() != scalar)
      values[s] = only->values[s];
    else
      values[s] = phis[k][s] = b.CreatePHI(scalar ? scalarType(width) : vectorType(width), 2);
  }
}

void Emitter::addEdge(uint32_t to) { edges.push_back({b.GetInsertBlock(), to, values, state}); }

void Emitter::fillPhis() {
  for (const Edge &edge : edges) {
    auto &list = phis[edge.to];
    for (uint32_t s = 0; s < list.size(); ++s) {
      PHINode *phi = list[s];
      if (!phi)
        continue;
      V value = edge.values[s];
      bool wantsVector = phi->getType()->isVectorTy();
      if (!value || value->getType()->isVectorTy() > wantsVector)
        value = llvm::Constant::getNullValue(phi->getType());
      else if (!value->getType()->isVectorTy() && wantsVector) {
        b.SetInsertPoint(edge.from->getTerminator());
        value = materialised(value, edge.state[s], graph.slots[s].width);
      }
      phi->addIncoming(value, edge.from);
    }
  }
}

/// A switch over the entries; each loads what is alive. Whoever enters has seen to it that everything looks
/// as supposed; the function's start supposes nothing.
void Emitter::emitEntries() {
  BasicBlock *wrong = newBlock("wrong");
  SwitchInst *choice = b.CreateSwitch(function->getArg(2), wrong);
  for (uint32_t k = 0; k < graph.blocks.size(); ++k) {
    if (!isEntry[k])
      continue;
    BasicBlock *enter = newBlock("enter");
    choice->addCase(b.getInt32(uint32_t(image.checks.size())), enter);
    image.checks.emplace_back();
    b.SetInsertPoint(enter);
    state = shapes.atStart(k);
    std::fill(values.begin(), values.end(), nullptr);
    for (uint32_t s = 0; s < graph.slots.size(); ++s) {
      if (!graph.blocks[k].liveIn[s])
        continue;
      if (!graph.slots[s].inFrame)
        values[s] = loadSlot(s, state[s].scalar());
      if (k > 0 && state[s].scalar())
        image.checks.back().push_back(checkOf(s, state[s]));
    }
    addEdge(k);
    b.CreateBr(starts[k]);
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

/// Everything that is alive goes into the frame, and the scheduler gets the word.
void Emitter::leave(Status status, uint32_t at, const SlotSet &alive, const std::vector<uint32_t> &also) {
  for (uint32_t s = 0; s < alive.size(); ++s)
    if (alive[s])
      spill(s);
  for (uint32_t s : also)
    if (!alive[s])
      spill(s);
  b.CreateStore(operationPointer(at), warpPointer(offsetof(Warp, pc)));
  b.CreateRet(b.getInt32(unsigned(status)));
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
    V bits = maskBits(vectorOf(uint32_t(o.a)));
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
  V here = mask ? mask : llvm::Constant::getAllOnesValue(vectorType(0));
  auto send = [&](uint32_t to, V lanes) {
    if (to != join)
      addPending(b, pending[to], lanes);
  };
  if (o.kind != Kind::BranchIf)
    return send(graph.blocks[k].next[0], here);
  uint32_t target = uint32_t(graph.blockOfOp[size_t(o.op->target - graph.program->ops.data())]);
  V p = vectorOf(uint32_t(o.a));
  if (o.op->n)
    p = b.CreateNot(p);
  send(target, b.CreateAnd(here, p));
  send(k + 1, b.CreateAnd(here, b.CreateNot(p)));
}

void Emitter::terminate(uint32_t k) {
  const Operation &o = graph.operations[graph.blocks[k].last - 1];
  if (shapes.joins[k] >= 0) {
    sendLanes(k);
    if (k + 1 == shapes.ends[k])
      jump(k, uint32_t(shapes.joins[k]), o.at);
    return;
  }
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
      V value = slot < 0 ? b.getInt32(0)
                : shapeOf(uint32_t(slot)).scalar()
                    ? scalarOf(uint32_t(slot))
                    : b.CreateExtractElement(vectorOf(uint32_t(slot)), uint64_t(0));
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
    if (!written[s]) { // what was read from the frame in here is not known behind
      values[s] = skipped.values[s];
      continue;
    }
    values[s] = nullptr;
    bool blends = shapes.blends(k, s);
    if (blends)
      after[s] = Shape(), after[s].kind = Shape::Varying;
    if (graph.slots[s].inFrame || (!blends && !graph.blocks[k].liveOut[s]))
      continue;
    bool vector = !after[s].scalar();
    Type *type = vector ? vectorType(graph.slots[s].width) : scalarType(graph.slots[s].width);
    auto fitted = [&](const Way &way) -> V {
      V value = way.values[s];
      if (!value || value->getType()->isVectorTy() > vector)
        return llvm::Constant::getNullValue(type);
      b.SetInsertPoint(way.end->getTerminator());
      return vector && !value->getType()->isVectorTy()
                 ? materialised(value, way.state[s], graph.slots[s].width)
                 : value;
    };
    V was = fitted(skipped);
    b.SetInsertPoint(past);
    PHINode *phi = b.CreatePHI(type, unsigned(ways.size()));
    phi->addIncoming(was, skipped.end);
    for (size_t i = 0; i + 1 < ways.size(); ++i) {
      V now = fitted(ways[i]);
      if (blends && ways[i].mask) {
        b.SetInsertPoint(ways[i].end->getTerminator());
        now = b.CreateSelect(ways[i].mask, now, was);
      }
      phi->addIncoming(now, ways[i].end);
    }
    values[s] = phi;
  }
  b.SetInsertPoint(past);
  for (uint32_t t = 0; t < pending.size(); ++t) {
    pending[t] = skipped.pending[t];
    if (ways[0].pending[t] == skipped.pending[t])
      continue;
    PHINode *phi = b.CreatePHI(vectorType(0), unsigned(ways.size()));
    for (const Way &way : ways)
      phi->addIncoming(way.pending[t] ? way.pending[t] : llvm::Constant::getNullValue(vectorType(0)),
                       way.end);
    pending[t] = phi;
  }
  state = after;
}

void Emitter::countBlock(const Operation &label) {
  if (!request.count || label.op->imm < 0)
    return;
  V counts = warpField(offsetof(Warp, blockCounts), PointerType::getUnqual(context), true);
  V place = b.CreateConstInBoundsGEP1_64(b.getInt64Ty(), counts, uint64_t(label.op->imm) * 2);
  V lanes = mask ? b.CreateZExt(b.CreateUnaryIntrinsic(Intrinsic::ctpop, maskBits(mask)), b.getInt64Ty())
                 : b.getInt64(warpSize);
  b.CreateStore(b.CreateAdd(b.CreateLoad(b.getInt64Ty(), place), b.getInt64(1)), place);
  V second = b.CreateConstInBoundsGEP1_64(b.getInt64Ty(), place, 1);
  b.CreateStore(b.CreateAdd(b.CreateLoad(b.getInt64Ty(), second), lanes), second);
}

// --- one operation ---

void Emitter::emitOperation(const Operation &o) {
  Result result;
  if (o.kind == Kind::Label)
    return countBlock(o);
  State next = state;
  result = shapes.apply(o, next, mask != nullptr);
  resultShape = result.d;
  if (o.kind != Kind::Pure)
    setGuard(o);
  switch (o.kind) {
  case Kind::Pure:
    guardExtension(o, result);
    emitPure(o);
    break;
  case Kind::Load:
    emitLoad(o);
    break;
  case Kind::Store:
    emitStore(o);
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
