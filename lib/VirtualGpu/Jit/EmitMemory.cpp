// Loads, stores, and calls of handlers. An access whose addresses are one value plus a pattern is tested as a
// whole and becomes scalar or whole vector accesses; all others, and what fails the test, go to the
// interpreter's handlers, which know about every fault.
#include "lib/VirtualGpu/Jit/Emitter.h"

#include <llvm/IR/Intrinsics.h>
#include <llvm/IR/MDBuilder.h>

#include <cstddef>

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

/// What a load writes or a store reads.
std::vector<uint32_t> registersOf(const Operation &o) {
  return o.list.empty() ? std::vector<uint32_t>{uint32_t(o.d)} : o.list;
}

int64_t displacementOf(const Operation &o) {
  return o.op->flags & address32 ? int64_t(int32_t(o.op->imm)) : o.op->imm;
}

/// Does every piece look like the first, from its first lane on?
bool isSteady(const Pattern &p, unsigned lanes) {
  for (unsigned i = 0; i < warpSize; ++i)
    if (p[i] - p[i / lanes * lanes] != p[i % lanes] - p[0])
      return false;
  return true;
}

} // namespace

// --- calls of handlers ---

llvm::Constant *Emitter::siteOf(const Operation &o, SiteImage site) {
  uint64_t index = image.sites.size();
  site.op = uint32_t(o.op - graph.program->ops.data());
  image.sites.push_back(site);
  return inTable(sizeof(CodeTable) + index * sizeof(Site));
}

/// Of an access whose address is a scalar.
llvm::Constant *Emitter::siteOf(const Operation &o, const Access &access) {
  SiteImage site;
  site.fillsAddress = true;
  site.pattern = patternIndex(access.shape.pattern);
  return siteOf(o, site);
}

Value *Emitter::currentMask() {
  V m = mask;
  if (guardMask)
    m = m ? b.CreateAnd(m, guardMask) : guardMask;
  return m;
}

void Emitter::checkStatus(V status) {
  if (!failed) {
    failed = newBlock("failed");
    ReturnInst::Create(context, b.getInt32(unsigned(Status::Fault)), failed);
  }
  BasicBlock *fine = newBlock("fine");
  MDBuilder weights(context);
  b.CreateCondBr(b.CreateICmpEQ(status, b.getInt32(unsigned(Status::Step))), fine, failed,
                 weights.createBranchWeights(8000, 1));
  b.SetInsertPoint(fine);
}

/// By way of the site: for some lanes, with an address that a scalar holds, or to look allocations up.
Value *Emitter::runSite(llvm::Constant *site, V first, V lanes) {
  Type *i32 = b.getInt32Ty(), *i64 = b.getInt64Ty(), *pointer = PointerType::getUnqual(context);
  auto *type = FunctionType::get(i32, {pointer, pointer, pointer, i64, i64}, false);
  V bits = lanes ? b.CreateZExt(lanes, i64) : b.getInt64(allLanes);
  return b.CreateCall(type, fromTable(offsetof(CodeTable, runSite), pointer),
                      {site, frame, warp, first, bits});
}

/// The handler's status.
Value *Emitter::callHandler(const Operation &o) {
  V lanes = currentMask();
  auto keep = [&](uint32_t slot) {
    storeScalar(slot);
    stored[slot] = isScalar(slot) && !mask;
  };
  // An address that is a scalar goes along as one.
  bool fills = (o.kind == Kind::Load || o.kind == Kind::Store) && isScalar(uint32_t(o.a)) &&
               !graph.slots[uint32_t(o.a)].isConstant && !graph.slots[uint32_t(o.a)].isAddress;
  for (uint32_t slot : o.uses)
    if (!fills || slot != uint32_t(o.a))
      keep(slot);
  if (lanes)
    std::for_each(o.defs.begin(), o.defs.end(), keep);
  SiteImage call;
  call.fillsAddress = fills;
  call.pattern = fills ? patternIndex(shapeOf(uint32_t(o.a)).pattern) : -1;
  llvm::Constant *site = siteOf(o, call);
  if (fills)
    return runSite(site, b.CreateZExt(scalarOf(uint32_t(o.a)), b.getInt64Ty()), lanes);
  if (lanes)
    return runSite(site, b.getInt64(0), lanes);
  Type *pointer = PointerType::getUnqual(context);
  auto *type = FunctionType::get(b.getInt32Ty(), {pointer, pointer, pointer}, false);
  V handler = b.CreateLoad(pointer, b.CreateConstGEP1_64(b.getInt8Ty(), site, offsetof(Op, fn)), true);
  return b.CreateCall(type, handler, {site, frame, warp});
}

/// Where handlers do the work.
void Emitter::emitHandler(const Operation &o) {
  checkStatus(callHandler(o));
  for (uint32_t slot : o.defs)
    if (shapes.of(next, slot).scalar())
      define(o, int32_t(slot), loadFirstActive(slot));
    else
      values[slot] = nullptr, stored[slot] = dirty[slot] = false; // it kept the other lanes' values itself
}

/// A handler that may want to be asked again later, or have others run before the next operation.
void Emitter::emitPoll(const Operation &o) {
  V status = callHandler(o);
  BasicBlock *yields = newBlock("yields"), *ran = newBlock("ran");
  b.CreateCondBr(b.CreateICmpEQ(status, b.getInt32(unsigned(Status::Yield))), yields, ran);
  for (uint32_t slot : o.defs)
    values[slot] = nullptr, stored[slot] = dirty[slot] = false;
  state = next;
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
  V lane =
      b.CreateAnd(b.CreateBinaryIntrinsic(Intrinsic::cttz, lanes, b.getFalse()), b.getInt32(warpSize - 1));
  const Slot &s = graph.slots[slot];
  if (s.width == 0)
    return b.CreateTrunc(b.CreateLShr(b.CreateLoad(b.getInt32Ty(), framePointer(s.offset)), lane),
                         b.getInt1Ty());
  return b.CreateLoad(scalarType(s.width), b.CreateGEP(scalarType(s.width), framePointer(s.offset), lane));
}

/// The lanes of an operation's own predicate; nothing may wait that gives it.
void Emitter::setGuard(const Operation &o) {
  if (o.guard < 0)
    return;
  guardMask = laneBits(uint32_t(o.guard));
  if (o.guardNegated)
    guardMask = b.CreateNot(guardMask);
}

// --- addresses ---

/// May the access wait, or run in compiled code at all? Then it is described.
bool Emitter::compilable(const Operation &o, Access &access) {
  AccessForm form = accessFormOf(*o.name);
  access.count = form.count;
  access.isSigned = form.isSigned;
  access.element = form.element;
  access.registerBytes = form.registerBytes;
  access.total = access.count * access.element;
  access.shared = o.op->space == inShared;
  access.shape = shapeOf(uint32_t(o.a));
  // Generic addresses may be of any space, lane by lane: the handler sees to that.
  if ((o.op->space != inGlobal && o.op->space != inShared) || !access.shape.scalar())
    return false;
  bool masked = mask || o.guard >= 0;
  // Where addresses are known only when the kernel runs, the handler counts.
  if (request.count && masked)
    return false;
  if (access.shape.kind == Shape::Strided) {
    const Pattern &p = *access.shape.pattern;
    if (std::any_of(p.begin(), p.end(), [&](int64_t x) { return x % int64_t(access.total); }))
      return false;
    if (!isSteady(p, lanesOfPiece()) && (o.kind == Kind::Store || access.element < 4))
      return false;
    bool ramp = access.count == 1 && access.element >= 4 && isRamp(p.data(), lanesOfPiece(), access.element);
    if (o.kind == Kind::Store && masked && !ramp)
      return false;
  } else if (o.kind == Kind::Store && masked) {
    return false;
  }
  Type *i64 = b.getInt64Ty();
  bool narrow = o.op->flags & address32;
  V given = scalarOf(uint32_t(o.a));
  access.key = graph.slots[uint32_t(o.a)].isAddress ? uintptr_t(o.a) : reinterpret_cast<uintptr_t>(given);
  access.given = narrow ? b.CreateZExt(given, i64) : given;
  access.displacement = displacementOf(o);
  access.start = access.shared
                     ? b.CreateGEP(b.getInt8Ty(),
                                   warpField(offsetof(Warp, shared), PointerType::getUnqual(context), true),
                                   access.given)
                     : b.CreateIntToPtr(access.given, PointerType::getUnqual(context));
  return true;
}

/// Where addresses have no pattern, or the code cannot keep the lanes apart, the handler does it.
void Emitter::emitAccess(const Operation &o) {
  Access access;
  if (!compilable(o, access)) {
    runPass(aliveBefore(opIndex));
    setGuard(o);
    return emitHandler(o);
  }
  bool uniform = access.shape.kind == Shape::Uniform;
  if (o.kind == Kind::Load)
    uniform ? emitUniformLoad(o, access) : emitLoad(o, access);
  else
    uniform ? emitUniformStore(o, access) : emitStore(o, access);
}

/// Where there is no way back, as under a mask, the handler does what is not in range. `handled` is emitted
/// behind it.
void Emitter::orHandler(const Operation &o, const Access &access, const std::function<void()> &inCode,
                        const std::function<void()> &handled) {
  BasicBlock *fast = newBlock("fast"), *rare = newBlock("rare"), *behind = newBlock("behind");
  MDBuilder weights(context);
  b.CreateCondBr(inRange(o, access), fast, rare, weights.createBranchWeights(8000, 1));
  b.SetInsertPoint(rare);
  for (uint32_t slot : registersOf(o))
    storeScalar(slot);
  checkStatus(runSite(siteOf(o, access), access.given, currentMask()));
  if (handled)
    handled();
  b.CreateBr(behind);
  b.SetInsertPoint(fast);
  inCode();
  b.CreateBr(behind);
  b.SetInsertPoint(behind);
}

Emitter::Reach Emitter::reachOf(const Operation &o, const Access &access) {
  Reach reach = {&o, access, access.displacement, access.displacement + access.total, access.displacement};
  if (const Pattern *p = access.shape.pattern)
    reach.low += smallest(*p), reach.high += largest(*p);
  // What is known of the address needs no test.
  bool aligned = (1ull << std::min<unsigned>(access.shape.align, 8)) >= access.total;
  reach.isAligned = aligned && access.displacement % int64_t(access.total) == 0;
  return reach;
}

/// Below 0 unless the bytes lie where the operation may go. Of two sums one is below 0 where an address lies
/// outside; an address that is below 0 itself cannot fool them. An offset that wraps around 32 bits fails
/// too.
Value *Emitter::rangeFault(const Reach &reach) {
  Type *i64 = b.getInt64Ty();
  const Access &access = reach.access;
  V from = b.CreateAdd(access.given, b.getInt64(uint64_t(reach.low))), fault = from, end;
  if (access.shared) {
    end = warpField(offsetof(Warp, sharedSize), i64, true);
  } else {
    V ranges = warpField(offsetof(Warp, ranges), PointerType::getUnqual(context), true);
    V range = b.CreateConstInBoundsGEP1_64(i64, ranges, uint64_t(reach.o->op->slot) * 2);
    fault = b.CreateOr(fault, b.CreateSub(from, b.CreateLoad(i64, range)));
    end = b.CreateLoad(i64, b.CreateConstInBoundsGEP1_64(i64, range, 1));
  }
  V last = b.CreateSub(end, b.getInt64(uint64_t(reach.high - reach.low)));
  return b.CreateOr(fault, b.CreateSub(last, from));
}

/// Below 0 unless the lanes' addresses are multiples of what they read or write.
Value *Emitter::alignmentFault(const Reach &reach) {
  if (reach.isAligned)
    return b.getInt64(0);
  V from = b.CreateAdd(reach.access.given, b.getInt64(uint64_t(reach.aligned)));
  return b.CreateNeg(b.CreateAnd(from, b.getInt64(reach.access.total - 1)));
}

Value *Emitter::inRange(const Operation &o, const Access &access) {
  Reach reach = reachOf(o, access);
  return b.CreateICmpSGE(b.CreateOr(rangeFault(reach), alignmentFault(reach)), b.getInt64(0));
}

/// Does testing the one test the other too?
bool Emitter::joins(Reach &all, const Reach &one) {
  if (all.access.key != one.access.key || all.access.shared != one.access.shared ||
      (all.aligned - one.aligned) % int64_t(std::min(all.access.total, one.access.total)) ||
      std::max(all.high, one.high) - std::min(all.low, one.low) >= (1 << 20))
    return false;
  Reach both = one.access.total > all.access.total ? one : all; // the strictest alignment implies the others
  both.low = std::min(all.low, one.low), both.high = std::max(all.high, one.high);
  both.isAligned = all.isAligned && one.isAligned;
  all = both;
  return true;
}

/// With whatever else the block will read or write from the same address.
Emitter::Reach Emitter::reachAhead(const Operation &o, const Access &access) {
  Reach all = reachOf(o, access);
  const Operation *end = graph.operations.data() + graph.blocks[blockIndex].last;
  for (const Operation *later = &o + 1; later < end; ++later) {
    if (std::find((later - 1)->defs.begin(), (later - 1)->defs.end(), uint32_t(o.a)) !=
        (later - 1)->defs.end())
      break;
    if ((later->kind != Kind::Load && later->kind != Kind::Store) || later->guard >= 0 || later->a != o.a ||
        later->op->space != o.op->space || (later->op->flags & address32) != (o.op->flags & address32))
      continue;
    Access other = access;
    AccessForm form = accessFormOf(*later->name);
    other.total = form.count * form.element;
    other.displacement = displacementOf(*later);
    joins(all, reachOf(*later, other));
  }
  return all;
}

/// Leaves unless all are in range. Where the bytes lie in other allocations than the last ones, those are
/// looked up.
void Emitter::test(const std::vector<Reach> &all) {
  V lasting = b.getInt64(0), passing = b.getInt64(0); // faults that no other allocation can mend, and others
  std::vector<const Reach *> global;
  for (const Reach &reach : all) {
    V &fault = reach.access.shared ? lasting : passing;
    fault = b.CreateOr(fault, rangeFault(reach));
    lasting = b.CreateOr(lasting, alignmentFault(reach));
    if (!reach.access.shared)
      global.push_back(&reach);
  }
  BasicBlock *rare = global.empty() ? backBlock() : newBlock("rare"), *fine = newBlock("fine");
  MDBuilder weights(context);
  V ok = b.CreateICmpSGE(b.CreateOr(lasting, passing), b.getInt64(0));
  b.CreateCondBr(ok, fine, rare, weights.createBranchWeights(8000, 1));
  if (!global.empty()) {
    b.SetInsertPoint(rare);
    V mended = b.CreateAnd(lookUp(global), b.CreateICmpSGE(lasting, b.getInt64(0)));
    b.CreateCondBr(mended, fine, backBlock());
  }
  b.SetInsertPoint(fine);
  tested.insert(tested.end(), all.begin(), all.end());
}

bool Emitter::isTested(const Reach &one) const {
  return std::any_of(tested.begin(), tested.end(), [&](const Reach &all) {
    Reach both = all;
    return joins(both, one) && both.low == all.low && both.high == all.high &&
           (one.isAligned || one.access.total <= all.access.total);
  });
}

/// In front of a pass: all accesses that wait, those from one address together. Counts them.
void Emitter::testAccesses() {
  std::vector<Reach> all;
  for (const Step &step : steps) {
    if (!step.access.given || step.isTested || isTested(reachOf(*step.o, step.access)))
      continue;
    Reach one = reachAhead(*step.o, step.access);
    if (std::none_of(all.begin(), all.end(), [&](Reach &r) { return joins(r, one); }))
      all.push_back(one);
  }
  if (!all.empty())
    test(all);
  for (const Step &step : steps)
    if (step.access.given && !step.isTested)
      countMemory(*step.o, step.access);
}

/// Are there allocations that hold these? Then they are the ones that are tested next time.
Value *Emitter::lookUp(const std::vector<const Reach *> &all) {
  constexpr unsigned most = 64;
  if (all.size() > most)
    return b.getFalse();
  if (!scratch) {
    IRBuilder<> top(&function->getEntryBlock(), function->getEntryBlock().begin());
    scratch = top.CreateAlloca(b.getInt64Ty(), b.getInt32(most));
  }
  llvm::Constant *first = nullptr;
  for (size_t i = 0; i < all.size(); ++i) {
    const Reach &reach = *all[i];
    SiteImage site;
    site.span = uint32_t(reach.high - reach.low);
    site.more = uint32_t(all.size() - 1 - i);
    llvm::Constant *place = siteOf(*reach.o, site);
    first = first ? first : place;
    b.CreateStore(b.CreateAdd(reach.access.given, b.getInt64(uint64_t(reach.low))),
                  b.CreateConstInBoundsGEP1_64(b.getInt64Ty(), scratch, i));
  }
  V status = runSite(first, b.CreatePtrToInt(scratch, b.getInt64Ty()), nullptr);
  return b.CreateICmpEQ(status, b.getInt32(unsigned(Status::Step)));
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
  V first = b.CreateAdd(access.given, b.getInt64(uint64_t(access.displacement)));
  V row = b.CreateGEP(b.getInt16Ty(), global, b.CreateAnd(first, b.getInt64(rows - 1)));
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

/// Where the access of the first of the lanes at hand goes.
Value *Emitter::baseOf(const Access &access) {
  V start = access.displacement
                ? b.CreateGEP(b.getInt8Ty(), access.start, b.getInt64(uint64_t(access.displacement)))
                : access.start;
  if (!access.shape.pattern)
    return start;
  const Pattern &p = *access.shape.pattern;
  int64_t lanes = lanesOfPiece(), step = p[lanesOfPiece()];
  std::vector<int64_t> first;
  bool even = step % lanes == 0;
  for (unsigned piece = 0; piece < numPieces(); ++piece) {
    first.push_back(p[piece * lanesOfPiece()]);
    even &= first.back() == piece * step;
  }
  V offset =
      even ? b.CreateMul(lane, b.getInt64(uint64_t(step / lanes))) : rowOf(first.data(), 1, b.getInt64Ty());
  return b.CreateGEP(b.getInt8Ty(), start, offset);
}

Value *Emitter::placeAt(const Access &access, V base, int64_t offset) {
  return offset ? b.CreateGEP(b.getInt8Ty(), base, b.getInt64(uint64_t(offset))) : base;
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

Value *Emitter::joined(std::vector<V> parts) {
  while (parts.size() > 1) {
    std::vector<int> all(2 * cast<FixedVectorType>(parts[0]->getType())->getNumElements());
    for (size_t i = 0; i < all.size(); ++i)
      all[i] = int(i);
    std::vector<V> pairs;
    for (size_t i = 0; i < parts.size(); i += 2)
      pairs.push_back(b.CreateShuffleVector(parts[i], parts[i + 1], all));
    parts = pairs;
  }
  return parts[0];
}

// --- loads ---

/// What the lanes at hand load: one value for all, one wide load that lanes pick from, rows of four, or each
/// its own.
void Emitter::loadPiece(Step &step) {
  const Access &access = step.access;
  unsigned lanes = lanesOfPiece();
  int64_t element = access.element;
  const Pattern &p = *access.shape.pattern;
  Type *type = b.getIntNTy(8 * access.element), *vector = FixedVectorType::get(type, lanes);
  step.results.clear();
  auto add = [&](V raw) { step.results.push_back(extended(raw, access)); };
  if (!isSteady(p, lanes)) {
    V row = rowOf(p.data(), lanes, b.getInt32Ty());
    for (unsigned k = 0; k < access.count; ++k)
      add(b.CreateMaskedGather(
          vector,
          b.CreateGEP(b.getInt8Ty(), placeAt(access, access.start, access.displacement + k * element), row),
          Align(access.element)));
    return;
  }
  V base = baseOf(access);
  int64_t low = *std::min_element(p.begin(), p.begin() + lanes),
          high = *std::max_element(p.begin(), p.begin() + lanes);
  int64_t span = (high - low) / element + access.count;
  bool rows = access.count == 4 && element == 4;
  if (low == high) {
    for (unsigned k = 0; k < access.count; ++k)
      add(b.CreateVectorSplat(
          lanes, b.CreateAlignedLoad(type, placeAt(access, base, k * element), Align(access.element))));
  } else if (span <= mostRegisters * int64_t(lanes) &&
             !(rows && isRamp(p.data(), lanes, access.total) && !target.avx512)) {
    V all = b.CreateAlignedLoad(FixedVectorType::get(type, unsigned(span)), placeAt(access, base, low),
                                Align(access.total));
    for (unsigned k = 0; k < access.count; ++k) {
      std::vector<int> pick;
      for (unsigned i = 0; i < lanes; ++i)
        pick.push_back(int((p[i] - low) / element) + int(k));
      bool whole = span == int64_t(lanes) && isRamp(p.data(), lanes, element);
      add(whole ? all : b.CreateShuffleVector(all, all, pick));
    }
  } else if (rows) {
    V row[4];
    for (unsigned j = 0; j < 4; ++j) {
      std::vector<V> parts;
      for (unsigned i = j; i < lanes; i += 4)
        parts.push_back(b.CreateAlignedLoad(FixedVectorType::get(type, 4), placeAt(access, base, p[i]),
                                            Align(access.total)));
      row[j] = joined(parts);
    }
    transpose(row);
    for (V column : row)
      add(column);
  } else if (element >= 4) {
    for (unsigned k = 0; k < access.count; ++k)
      add(b.CreateMaskedGather(vector,
                               b.CreateGEP(b.getInt8Ty(), placeAt(access, base, k * element),
                                           patternVector(p.data(), lanes, b.getInt32Ty())),
                               Align(access.element)));
  } else {
    for (unsigned k = 0; k < access.count; ++k) {
      V all = llvm::PoisonValue::get(vector);
      for (unsigned i = 0; i < lanes; ++i)
        all = b.CreateInsertElement(
            all, b.CreateAlignedLoad(type, placeAt(access, base, p[i] + k * element), Align(access.element)),
            uint64_t(i));
      add(all);
    }
  }
}

void Emitter::emitLoad(const Operation &o, const Access &access) {
  if (!mask && o.guard < 0) {
    wait(o, registersOf(o)).access = access;
    return;
  }
  runPass(aliveBefore(opIndex));
  setGuard(o);
  orHandler(o, access, [&] {
    Step &step = wait(o, registersOf(o));
    step.access = access, step.isTested = true;
    runPass(aliveBefore(opIndex + 1));
  });
}

/// One place for all lanes.
void Emitter::emitUniformLoad(const Operation &o, const Access &access) {
  std::vector<uint32_t> targets = registersOf(o);
  bool masked = mask || o.guard >= 0;
  if (masked || request.count) // nothing is counted twice
    runPass(aliveBefore(opIndex));
  std::vector<V> elements, slow;
  BasicBlock *fastEnd = nullptr, *slowEnd = nullptr;
  auto load = [&] {
    Type *type = b.getIntNTy(8 * access.element);
    for (unsigned k = 0; k < access.count; ++k) {
      V place = placeAt(access, access.start, access.displacement + k * access.element);
      elements.push_back(extended(b.CreateAlignedLoad(type, place, Align(access.element)), access));
    }
    countMemory(o, access);
    fastEnd = b.GetInsertBlock();
  };
  if (!masked) {
    if (!isTested(reachOf(o, access)))
      test({reachAhead(o, access)});
    load();
  } else {
    setGuard(o);
    orHandler(o, access, load, [&] {
      for (uint32_t slot : targets)
        slow.push_back(loadFirstActive(slot));
      slowEnd = b.GetInsertBlock();
    });
    for (size_t k = 0; k < targets.size(); ++k) {
      PHINode *phi = b.CreatePHI(elements[k]->getType(), 2);
      phi->addIncoming(elements[k], fastEnd);
      phi->addIncoming(slow[k], slowEnd);
      elements[k] = phi;
    }
  }
  for (size_t k = 0; k < targets.size(); ++k)
    define(o, int32_t(targets[k]), elements[k]);
}

// --- stores ---

/// Of the lanes that store to one place the last one's value stays, so stores keep the lanes' order.
void Emitter::storePiece(Step &step) {
  const Access &access = step.access;
  unsigned lanes = lanesOfPiece();
  int64_t element = access.element;
  const Pattern &p = *access.shape.pattern;
  Type *type = b.getIntNTy(8 * access.element);
  std::vector<V> elements;
  for (const Operand &operand : step.data) {
    V whole = pieceOf(operand, access.registerBytes);
    elements.push_back(b.CreateTrunc(whole, shapedLike(whole, type)));
  }
  V base = baseOf(access);
  if (V running = mask ? pieceOfMask(mask) : nullptr; running || step.o->guard >= 0) {
    if (step.o->guard >= 0) {
      V p = pieceOf(step.guard, 0);
      p = step.o->guardNegated ? b.CreateNot(p) : p;
      running = running ? b.CreateAnd(running, p) : p;
    }
    b.CreateMaskedStore(elements[0], base, Align(access.element), running);
    return;
  }
  if (access.count == 4 && element == 4) {
    V row[4] = {elements[0], elements[1], elements[2], elements[3]};
    transpose(row);
    for (unsigned i = 0; i < lanes; ++i) {
      int first = int(i / 4 * 4);
      V one = b.CreateShuffleVector(row[i % 4], row[i % 4], {first, first + 1, first + 2, first + 3});
      b.CreateAlignedStore(one, placeAt(access, base, p[i]), Align(access.total));
    }
    return;
  }
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
        bool whole = size == lanes && isRamp(p.data(), lanes, element);
        V part = whole       ? elements[k]
                 : size == 1 ? b.CreateExtractElement(elements[k], uint64_t(pick[0]))
                             : b.CreateShuffleVector(elements[k], elements[k], pick);
        b.CreateAlignedStore(part, placeAt(access, base, begin + int64_t(done) * element),
                             Align(access.element));
        done += size;
      }
    }
  }
}

void Emitter::emitStore(const Operation &o, const Access &access) {
  bool masked = mask || o.guard >= 0;
  if (masked || loadsWait()) // what other lanes load must not be overwritten
    runPass(aliveBefore(opIndex));
  auto put = [&] {
    std::vector<Operand> data;
    for (uint32_t slot : registersOf(o))
      data.push_back(operandOf(int32_t(slot)));
    Step &step = wait(o, {});
    step.access = access, step.isTested = masked;
    step.data = std::move(data);
    runPass(aliveBefore(opIndex + 1));
  };
  if (!masked)
    return put();
  setGuard(o);
  orHandler(o, access, put);
}

/// All lanes to one place: the last one's value stays.
void Emitter::emitUniformStore(const Operation &o, const Access &access) {
  runPass(aliveBefore(opIndex));
  std::vector<uint32_t> sources = registersOf(o);
  orHandler(o, access, [&] {
    Type *type = b.getIntNTy(8 * access.element);
    for (unsigned k = 0; k < access.count; ++k) {
      const Slot &s = graph.slots[sources[k]];
      Shape shape = shapeOf(sources[k]);
      V value = shape.scalar()
                    ? scalarOf(sources[k])
                    : b.CreateLoad(scalarType(s.width), framePointer(s.offset + (warpSize - 1) * s.width));
      if (shape.kind == Shape::Strided)
        value = b.CreateAdd(value, ConstantInt::get(value->getType(), uint64_t(shape.pattern->back()), true));
      b.CreateAlignedStore(b.CreateTrunc(value, type),
                           placeAt(access, access.start, access.displacement + k * access.element),
                           Align(access.element));
    }
    countMemory(o, access);
  });
}

} // namespace joule::vgpu::jit
