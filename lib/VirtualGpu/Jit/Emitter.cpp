// Values, the frame, blocks and control flow of compiled code.
#include "lib/VirtualGpu/Jit/Emitter.h"

#include <llvm/IR/Intrinsics.h>
#include <llvm/IR/MDBuilder.h>

#include <cstddef>

namespace joule::vgpu::jit {

using namespace llvm;

Emitter::Emitter(const Graph &graph, const Shapes &shapes, const CompileRequest &request, Target target,
                 llvm::Module &module, std::deque<Site> &sites)
    : graph(graph), shapes(shapes), request(request), target(target), module(module), sites(sites),
      context(module.getContext()), b(context) {}

void Emitter::run(const std::string &name, std::vector<int32_t> &entryOf) {
  Type *pointer = PointerType::getUnqual(context), *i32 = b.getInt32Ty();
  function = Function::Create(FunctionType::get(i32, {pointer, pointer, i32}, false),
                              GlobalValue::ExternalLinkage, name, module);
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
  entryOf.assign(graph.program->ops.size(), -1);
  int32_t number = 0;
  for (uint32_t k = 0; k < n; ++k)
    if (isEntry[k])
      entryOf[graph.operations[graph.blocks[k].first].at] = number++;
}

BasicBlock *Emitter::newBlock(const char *name) { return BasicBlock::Create(context, name, function); }

// --- values ---

llvm::Type *Emitter::scalarType(unsigned width) { return width ? b.getIntNTy(8 * width) : b.getInt1Ty(); }
llvm::Type *Emitter::vectorType(unsigned width) { return FixedVectorType::get(scalarType(width), warpSize); }
Value *Emitter::splat(V scalar) { return b.CreateVectorSplat(warpSize, scalar); }

Value *Emitter::patternVector(const Pattern &p, llvm::Type *elementType) {
  std::vector<llvm::Constant *> parts;
  for (int64_t x : p)
    parts.push_back(ConstantInt::get(elementType, uint64_t(x), true));
  return ConstantVector::get(parts);
}

Value *Emitter::materialised(V scalar, const Shape &shape, unsigned width) {
  V vector = splat(scalar);
  return shape.kind == Shape::Strided ? b.CreateAdd(vector, patternVector(*shape.pattern, scalarType(width)))
                                      : vector;
}

/// The slot's value in the shape that the state says; null only for a slot that holds nothing yet.
Value *Emitter::current(uint32_t slot) {
  const Slot &s = graph.slots[slot];
  if (s.isConstant)
    return ConstantInt::get(scalarType(s.width), s.width ? s.constant : s.constant != 0);
  if (values[slot])
    return values[slot];
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
  return b.CreateBitCast(value, t->isVectorTy() ? FixedVectorType::get(element, warpSize) : element);
}
Value *Emitter::asInteger(V value) {
  Type *t = value->getType();
  Type *element = b.getIntNTy(t->getScalarSizeInBits());
  return b.CreateBitCast(value, t->isVectorTy() ? FixedVectorType::get(element, warpSize) : element);
}
Value *Emitter::intType(V like, unsigned bits, uint64_t value) {
  Type *t = b.getIntNTy(bits);
  return ConstantInt::get(like->getType()->isVectorTy() ? FixedVectorType::get(t, warpSize) : t, value);
}

/// 32 bits, one per lane.
Value *Emitter::maskBits(V m) {
  return m->getType()->isVectorTy() ? b.CreateBitCast(m, b.getInt32Ty()) : b.CreateSExt(m, b.getInt32Ty());
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

void Emitter::spill(uint32_t slot) {
  if (!graph.slots[slot].isConstant && !graph.slots[slot].inFrame && state[slot].kind != Shape::None)
    storeSlot(slot, vectorOf(slot));
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
}

Value *Emitter::operationPointer(uint32_t at) {
  return ConstantExpr::getIntToPtr(b.getInt64(reinterpret_cast<uint64_t>(graph.program->ops.data() + at)),
                                   PointerType::getUnqual(context));
}

// --- blocks ---

/// Where compiled code can be entered: at the start, behind whatever stops a warp, at outermost loops, and
/// where lanes meet that parted.
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
    bool stops = before &&
                 (before->kind == Kind::Barrier || before->kind == Kind::Call || before->kind == Kind::Sleep);
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
  if (shapes.parted[k] < 0)
    startBlock(k);
  else {
    mask = pending[k] ? pending[k] : llvm::Constant::getNullValue(vectorType(0));
    before = values;
    stateBefore = state;
    pendingBefore = pending;
    skipFrom = b.GetInsertBlock();
    BasicBlock *body = newBlock("some");
    skipTo = newBlock("past");
    b.CreateCondBr(b.CreateICmpNE(maskBits(mask), b.getInt32(0)), body, skipTo);
    b.SetInsertPoint(body);
  }
  const Block &block = graph.blocks[k];
  for (uint32_t i = block.first; i < block.last; ++i)
    emitOperation(graph.operations[i]);
  terminate(k);
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

/// A switch over the entries; each loads what is alive, and goes back where it does not look as supposed.
void Emitter::emitEntries() {
  BasicBlock *wrong = newBlock("wrong");
  SwitchInst *choice = b.CreateSwitch(function->getArg(2), wrong);
  uint32_t number = 0;
  for (uint32_t k = 0; k < graph.blocks.size(); ++k) {
    if (!isEntry[k])
      continue;
    BasicBlock *enter = newBlock("enter");
    choice->addCase(b.getInt32(number++), enter);
    b.SetInsertPoint(enter);
    state = shapes.atStart(k);
    std::fill(values.begin(), values.end(), nullptr);
    V differs = nullptr;
    for (uint32_t s = 0; s < graph.slots.size(); ++s) {
      if (!graph.blocks[k].liveIn[s])
        continue;
      const Shape &shape = state[s];
      if (!shape.scalar()) {
        if (!graph.slots[s].inFrame)
          values[s] = loadSlot(s, false);
        continue;
      }
      V vector = loadSlot(s, false), scalar = loadSlot(s, true);
      V bad = b.CreateICmpNE(vector, materialised(scalar, shape, graph.slots[s].width));
      bad = b.CreateICmpNE(maskBits(bad), b.getInt32(0));
      if (shape.align && shape.align < 8 * graph.slots[s].width && graph.slots[s].width)
        bad = b.CreateOr(bad, b.CreateICmpNE(b.CreateAnd(scalar, (1ull << shape.align) - 1),
                                             llvm::Constant::getNullValue(scalar->getType())));
      if (shape.high != unknownBound && graph.slots[s].width) {
        uint64_t span =
            shape.pattern ? uint64_t(*std::max_element(shape.pattern->begin(), shape.pattern->end())) : 0;
        bad = b.CreateOr(
            bad, b.CreateICmpUGT(scalar, ConstantInt::get(scalar->getType(),
                                                          shape.high >= span ? shape.high - span : 0)));
      }
      if (shape.known && graph.slots[s].width)
        bad = b.CreateOr(bad, b.CreateICmpNE(scalar, ConstantInt::get(scalar->getType(), shape.value)));
      differs = differs ? b.CreateOr(differs, bad) : bad;
      if (!graph.slots[s].inFrame)
        values[s] = scalar;
    }
    if (k == 0 || !differs) {
      addEdge(k);
      b.CreateBr(starts[k]);
      continue;
    }
    BasicBlock *not_ = newBlock("not");
    addEdge(k);
    b.CreateCondBr(differs, not_, starts[k]);
    b.SetInsertPoint(not_);
    b.CreateStore(operationPointer(graph.operations[graph.blocks[k].first].at),
                  warpPointer(offsetof(Warp, pc)));
    b.CreateRet(b.getInt32(unsigned(Status::Interpret)));
  }
  b.SetInsertPoint(wrong);
  b.CreateUnreachable();
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

void Emitter::terminate(uint32_t k) {
  const Operation &o = graph.operations[graph.blocks[k].last - 1];
  bool parts = shapes.joins[k] >= 0;
  if (parts || shapes.parted[k] >= 0) {
    uint32_t first = parts ? k : uint32_t(shapes.parted[k]), join = uint32_t(shapes.joins[first]);
    V here = mask ? mask : llvm::Constant::getAllOnesValue(vectorType(0));
    auto send = [&](uint32_t to, V lanes) {
      if (to != join)
        addPending(b, pending[to], lanes);
    };
    if (o.kind == Kind::BranchIf) {
      uint32_t target = uint32_t(graph.blockOfOp[size_t(o.op->target - graph.program->ops.data())]);
      V p = vectorOf(uint32_t(o.a));
      if (o.op->n)
        p = b.CreateNot(p);
      send(target, b.CreateAnd(here, p));
      send(k + 1, b.CreateAnd(here, b.CreateNot(p)));
    } else {
      send(graph.blocks[k].next[0], here);
    }
    if (!parts)
      finishMasked(k);
    if (k + 1 == shapes.ends[first])
      jump(k, join, o.at);
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
/// skipped.
void Emitter::finishMasked(uint32_t k) {
  std::vector<V> old(values.size(), nullptr);
  State after = state;
  SlotSet written(values.size(), false);
  for (uint32_t i = graph.blocks[k].first; i < graph.blocks[k].last; ++i)
    for (uint32_t d : graph.operations[i].defs)
      written[d] = true;
  std::vector<uint32_t> changed;
  for (uint32_t s = 0; s < values.size(); ++s) {
    if (!written[s]) { // what was read from the frame in here is not known behind
      values[s] = before[s];
      continue;
    }
    if (shapes.blends(k, s))
      after[s] = Shape(), after[s].kind = Shape::Varying;
    if (graph.slots[s].inFrame)
      values[s] = nullptr;
    else
      changed.push_back(s);
  }
  BasicBlock *body = b.GetInsertBlock();
  for (uint32_t s : changed) {
    bool blends = shapes.blends(k, s);
    bool vector = blends || values[s]->getType()->isVectorTy();
    Type *type = vector ? vectorType(graph.slots[s].width) : scalarType(graph.slots[s].width);
    b.SetInsertPoint(skipFrom->getTerminator());
    V was = before[s];
    if (!was || was->getType()->isVectorTy() > vector)
      was = llvm::Constant::getNullValue(type);
    else if (vector && !was->getType()->isVectorTy())
      was = materialised(was, stateBefore[s], graph.slots[s].width);
    old[s] = was;
    b.SetInsertPoint(body);
    if (blends) {
      V now = values[s]->getType()->isVectorTy() ? values[s]
                                                 : materialised(values[s], state[s], graph.slots[s].width);
      values[s] = b.CreateSelect(mask, now, was);
    }
  }
  b.CreateBr(skipTo);
  b.SetInsertPoint(skipTo);
  for (uint32_t s : changed) {
    PHINode *phi = b.CreatePHI(values[s]->getType(), 2);
    phi->addIncoming(values[s], body);
    phi->addIncoming(old[s], skipFrom);
    values[s] = phi;
  }
  for (uint32_t t = 0; t < pending.size(); ++t)
    if (pending[t] != pendingBefore[t]) {
      PHINode *phi = b.CreatePHI(vectorType(0), 2);
      phi->addIncoming(pending[t], body);
      phi->addIncoming(pendingBefore[t] ? pendingBefore[t] : llvm::Constant::getNullValue(vectorType(0)),
                       skipFrom);
      pending[t] = phi;
    }
  state = after;
  mask = nullptr;
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
  default:
    break;
  }
  guardMask = nullptr;
  state = std::move(next);
}

} // namespace joule::vgpu::jit
