// Iterations on tensors, as scf.while.
#include "passes/OnnxToNn/Iteration.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace joule;
using namespace joule::translate;

FailureOr<SmallVector<Tensor>> Iteration::run() {
  outside = builder.getInsertionBlock()->getParent();
  for (Tensor *tensor : initial) {
    if (failed(wantTensor(node, *tensor)))
      return failure();
    varying.push_back(llvm::SmallBitVector(tensor->rank()));
  }
  // Each attempt finds sizes that vary, or none; it takes at most one per size, and one more for what is collected.
  for (;;) {
    FailureOr<bool> settled = attempt();
    if (failed(settled))
      return failure();
    if (*settled)
      return std::move(results);
  }
}

/// The values of one place in the loop: the iteration's number, whether to go on, then the tensors and their sizes.
SmallVector<Value> Iteration::state(Value iteration, Value goOn, ArrayRef<Tensor *> tensors, Handed &handed) {
  SmallVector<Value> values = {iteration, goOn};
  llvm::append_range(values, handed.values(tensors));
  return values;
}

Handed Iteration::plan() {
  Handed handed(translator, node.loc);
  for (auto [tensor, sizes] : llvm::zip(initial, varying))
    handed.add(tensor->dataType, tensor->sizes, sizes);
  for (auto [scan, hidden] : llvm::zip(scans, hiddenSizes)) {
    Sizes sizes = {node.math.constant(0)};
    llvm::append_range(sizes, scan.sizes);
    llvm::SmallBitVector grows(hidden);
    grows.resize(sizes.size());
    grows <<= 1;
    grows[0] = true;
    handed.add(scan.dataType, sizes, grows);
  }
  return handed;
}

/// What is collected before the first iteration.
Tensor Iteration::emptyScan(const Tensor &scan) {
  Sizes sizes = {node.math.constant(0)};
  llvm::append_range(sizes, scan.sizes);
  Type element = scan.element;
  Value zero = isa<FloatType>(element) ? node.splat(0.0, element, sizes)
                                       : node.splat(APInt(element.getIntOrFloatBitWidth(), 0), element, sizes);
  return node.tensor(zero, sizes, scan.dataType);
}

/// Builds the loop with the sizes that are known to vary. False where more of them turn out to.
FailureOr<bool> Iteration::attempt() {
  node.builder.restoreInsertionPoint(builder.saveInsertionPoint());
  Handed handed = plan();
  std::deque<Tensor> empties;
  SmallVector<Tensor *> first = initial;
  for (const Tensor &scan : scans)
    first.push_back(&empties.emplace_back(emptyScan(scan)));
  Value zero = builder.create<arith::ConstantIndexOp>(node.loc, 0);
  SmallVector<Value> inits = state(zero, isTrue(translator, node.loc, start), first, handed);
  Value bound = node.math.materialize(node.loc, limit);
  SmallVector<Type> types(ValueRange(inits).getTypes());
  auto loop = builder.create<scf::WhileOp>(node.loc, types, inits);
  OpBuilder::InsertPoint behind = builder.saveInsertionPoint();
  SmallVector<Location> locations(types.size(), node.loc);
  Block *before = builder.createBlock(&loop.getBefore(), {}, types, locations);
  Value inside = builder.create<arith::CmpIOp>(node.loc, arith::CmpIPredicate::slt, before->getArgument(0), bound);
  Value goesOn = builder.create<arith::AndIOp>(node.loc, inside, before->getArgument(1));
  builder.create<scf::ConditionOp>(node.loc, goesOn, before->getArguments());
  Block *after = builder.createBlock(&loop.getAfter(), {}, types, locations);
  node.builder.setInsertionPointToEnd(after);
  FailureOr<bool> settled = iterate(after, handed);
  builder.restoreInsertionPoint(behind);
  node.builder.restoreInsertionPoint(behind);
  if (failed(settled) || !*settled) {
    // Later walks must not find its values; they are no longer part of the function.
    loop->remove();
    translator.discard(loop);
    return settled;
  }
  finish(loop.getResults().drop_front(2), handed);
  return true;
}

/// Takes over what comes out of the loop. Where no iteration may be the last, as many are collected as the limit says.
void Iteration::finish(ValueRange values, Handed &handed) {
  results = handed.tensors(values);
  bool isLimited = IndexMath::known(limit) != std::numeric_limits<int64_t>::max();
  if (!endsAtLimit || !isLimited || IndexMath::known(start).value_or(0) == 0)
    return;
  Index count = node.math.max(node.loc, limit, node.math.constant(0));
  for (Tensor &scan : MutableArrayRef(results).drop_front(initial.size())) {
    Sizes sizes = scan.sizes;
    sizes[0] = count;
    scan = node.tensor(node.reshape(scan.value, scan.sizes, sizes), sizes, scan.dataType);
  }
}

FailureOr<bool> Iteration::iterate(Block *after, Handed &handed) {
  Value iteration = after->getArgument(0), alive = after->getArgument(1);
  SmallVector<Tensor> carried = handed.tensors(after->getArguments().drop_front(2));
  node.math.assumeNonNegative(iteration);
  Value aliveIndex = builder.create<arith::IndexCastUIOp>(node.loc, builder.getIndexType(), alive);
  translator.iterations.push_back(iteration);
  FailureOr<Step> step = body(iteration, aliveIndex, ArrayRef(carried).take_front(initial.size()));
  translator.iterations.pop_back();
  if (failed(step))
    return failure();
  node.builder.restoreInsertionPoint(builder.saveInsertionPoint());
  endsAtLimit = IndexMath::known(step->goOn).value_or(0) != 0 || step->goOn == Index(aliveIndex);
  ArrayRef<Tensor *> outputs = step->tensors;
  FailureOr<bool> settled = compare(outputs);
  if (failed(settled) || !*settled)
    return settled;
  std::deque<Tensor> grown;
  SmallVector<Tensor *> handedOn(outputs.take_front(initial.size()));
  for (size_t scan = 0; scan < prepends.size(); ++scan) {
    size_t number = initial.size() + scan;
    handedOn.push_back(&grown.emplace_back(append(carried[number], *outputs[number], prepends[scan])));
  }
  Value one = builder.create<arith::ConstantIndexOp>(node.loc, 1);
  Value following = builder.create<arith::AddIOp>(node.loc, iteration, one);
  builder.create<scf::YieldOp>(node.loc,
                               state(following, isTrue(translator, node.loc, step->goOn), handedOn, handed));
  return true;
}

/// Whether the body's results have the sizes that were assumed; marks those that have not.
FailureOr<bool> Iteration::compare(ArrayRef<Tensor *> outputs) {
  bool settled = true;
  for (auto [number, from] : llvm::enumerate(initial)) {
    Tensor &to = *outputs[number];
    if (failed(wantTensor(node, to)))
      return failure();
    if (from->dataType != to.dataType || from->rank() != to.rank())
      return node.unsupported() << "changes the type or rank of its value " << number << ", which is not supported";
    for (int64_t dim = 0; dim < to.rank(); ++dim)
      if (!varying[number][dim] && !node.math.same(from->sizes[dim], to.sizes[dim])) {
        varying[number][dim] = true;
        settled = false;
      }
  }
  if (!scans.empty() || prepends.empty() || !settled)
    return settled;
  for (auto [number, scan] : llvm::enumerate(outputs.drop_front(initial.size()))) {
    if (failed(wantTensor(node, *scan)))
      return failure();
    collect(*scan, statedTypes[number]);
  }
  return false;
}

/// Notes what is collected. A size that only an iteration knows is the stated one, or 0, until the first says it.
void Iteration::collect(const Tensor &scan, Type statedType) {
  scans.push_back(scan);
  hiddenSizes.emplace_back(scan.rank());
  auto stated = dyn_cast<RankedTensorType>(statedType);
  bool isStated = stated && stated.getRank() == scan.rank();
  for (auto [dim, size] : llvm::enumerate(scans.back().sizes))
    if (auto value = dyn_cast<Value>(size); value && !value.getParentRegion()->isAncestor(outside)) {
      hiddenSizes.back()[dim] = true;
      size = node.math.constant(isStated && !stated.isDynamicDim(dim) ? stated.getDimSize(dim) : 0);
    }
}

/// `all` with the sizes of `one` along its other dimensions: they are the same, unless nothing has been collected yet.
Value Iteration::fit(const Tensor &all, const Tensor &one) {
  Sizes sizes = {all.sizes[0]};
  llvm::append_range(sizes, one.sizes);
  for (auto [found, wanted] : llvm::zip(ArrayRef(all.sizes).drop_front(), one.sizes)) {
    if (node.math.same(found, wanted))
      continue;
    auto equal = [&](Index a, Index b) {
      return node.math.compare(node.loc, arith::CmpIPredicate::eq, a, b);
    };
    Index zero = node.math.constant(0);
    Index fits = node.math.max(node.loc, equal(all.sizes[0], zero), equal(found, wanted));
    Value holds = isTrue(translator, node.loc, fits);
    builder.create<nn::AssertOp>(node.loc, holds,
                                 builder.getStringAttr(node.op.getOpType() + " collects values whose sizes differ"));
  }
  return node.reshape(all.value, all.sizes, sizes);
}

/// `all` with `one` behind it, or before it.
Tensor Iteration::append(const Tensor &all, Tensor &one, bool prepend) {
  Sizes single = {node.math.constant(1)}, sizes = {node.math.add(node.loc, all.sizes[0], node.math.constant(1))};
  llvm::append_range(single, one.sizes);
  llvm::append_range(sizes, one.sizes);
  Value row = node.reshape(translator.materialize(node.loc, one), one.sizes, single);
  SmallVector<Value> parts = {fit(all, one), row};
  if (prepend)
    std::swap(parts[0], parts[1]);
  Value joined = builder.create<nn::ConcatOp>(node.loc, node.type(sizes, all.element), parts, node.dynamic(sizes), 0);
  return node.tensor(joined, sizes, all.dataType);
}
