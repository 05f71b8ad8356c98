// Control flow: If, Loop and Scan become scf on tensors.
//
// A value that a branch or an iteration hands on may have sizes that differ from one to the next. Such a size is handed on
// beside the tensor, as an index value; on the other side an nn.reshape to the same type ties the two together again.
#include "passes/OnnxToNn/Maths.h"
#include "passes/OnnxToNn/Tables.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace joule;
using namespace joule::translate;

namespace {

/// The subgraph that the node calls `name`.
FailureOr<Block *> subgraph(Node &node, StringRef name) {
  for (auto [number, graph] : llvm::enumerate(node.op.getGraphs().getAsRange<StringAttr>()))
    if (graph.getValue() == name && !node.op.getSubgraphs()[number].empty())
      return &node.op.getSubgraphs()[number].front();
  return node.error() << "lacks the subgraph " << name;
}

/// `tensor` as a value of `type`, whose dynamic sizes are the tensor's own.
Value materializeAs(Node &node, Tensor &tensor, RankedTensorType type) {
  Translator &translator = node.translator;
  Value value = translator.materialize(node.loc, tensor);
  if (value.getType() == type)
    return value;
  SmallVector<Value> sizes;
  for (auto [size, known] : llvm::zip(tensor.sizes, type.getShape()))
    if (ShapedType::isDynamic(known))
      sizes.push_back(node.math.materialize(node.loc, size));
  return translator.builder.create<nn::ReshapeOp>(node.loc, type, value, sizes);
}

/// Values handed on: tensors, and the sizes that go with them.
class Handed {
public:
  explicit Handed(Node &node) : node(node) {}

  /// Plans a tensor of `sizes`; those in `varying` are handed on beside it.
  void add(int dataType, ArrayRef<Index> sizes, const llvm::SmallBitVector &varying) {
    Entry entry{dataType, nnElementType(node.builder.getContext(), dataType), Sizes(sizes), varying};
    entries.push_back(std::move(entry));
  }

  size_t size() const { return entries.size(); }

  RankedTensorType type(size_t number) const {
    const Entry &entry = entries[number];
    SmallVector<int64_t> shape;
    for (auto [dim, size] : llvm::enumerate(entry.sizes))
      shape.push_back(entry.varying[dim] ? ShapedType::kDynamic
                                         : IndexMath::known(size).value_or(ShapedType::kDynamic));
    return RankedTensorType::get(shape, entry.element);
  }

  /// Types of the tensors, then of their sizes. Every dynamic size goes along, since the operation's results know no other.
  SmallVector<Type> types() const {
    SmallVector<Type> types;
    int64_t sizes = 0;
    for (size_t number = 0; number < entries.size(); ++number) {
      types.push_back(type(number));
      sizes += type(number).getNumDynamicDims();
    }
    types.append(sizes, node.builder.getIndexType());
    return types;
  }

  /// The values to hand on where the builder stands.
  SmallVector<Value> values(ArrayRef<Tensor *> tensors) {
    SmallVector<Value> values, sizes;
    for (auto [number, tensor] : llvm::enumerate(tensors)) {
      RankedTensorType to = type(number);
      values.push_back(materializeAs(node, *tensor, to));
      for (auto [size, known] : llvm::zip(tensor->sizes, to.getShape()))
        if (ShapedType::isDynamic(known))
          sizes.push_back(node.math.materialize(node.loc, size));
    }
    values.append(sizes.begin(), sizes.end());
    return values;
  }

  /// The tensors that `values`, as `values` gave them, are on the other side. A size that does not vary keeps its name.
  SmallVector<Tensor> tensors(ValueRange values) {
    SmallVector<Tensor> tensors;
    size_t nextSize = entries.size();
    for (auto [number, entry] : llvm::enumerate(entries)) {
      Sizes sizes;
      SmallVector<Value> dynamic;
      for (auto [dim, known] : llvm::enumerate(type(number).getShape())) {
        Index size = entry.sizes[dim];
        if (ShapedType::isDynamic(known)) {
          Value handed = values[nextSize++];
          if (entry.varying[dim]) {
            node.math.assumeNonNegative(handed);
            size = handed;
          }
          dynamic.push_back(node.math.materialize(node.loc, size));
        }
        sizes.push_back(size);
      }
      Value value = values[number];
      if (!dynamic.empty())
        value = node.translator.builder.create<nn::ReshapeOp>(node.loc, value.getType(), value, dynamic);
      tensors.push_back(node.tensor(value, sizes, entry.dataType));
    }
    return tensors;
  }

private:
  struct Entry {
    int dataType;
    Type element;
    Sizes sizes;
    llvm::SmallBitVector varying;
  };
  Node &node;
  std::vector<Entry> entries;
};

/// Not 0, as a bool.
Value isTrue(Node &node, Index condition) {
  OpBuilder &builder = node.translator.builder;
  Value zero = builder.create<arith::ConstantIndexOp>(node.loc, 0);
  return builder.create<arith::CmpIOp>(node.loc, arith::CmpIPredicate::ne, node.math.materialize(node.loc, condition),
                                       zero);
}

/// The single element of a host condition.
FailureOr<Index> conditionOf(Node &node, Tensor &tensor) {
  SmallVector<Index> *elements = node.translator.readElements(node.loc, tensor);
  if (!elements || elements->size() != 1)
    return node.error() << "wants one bool as its condition";
  return elements->front();
}

LogicalResult wantTensor(Node &node, const Tensor &tensor) {
  if (tensor.dataType != Absent && tensor.element && tensor.dataType != String)
    return success();
  return node.error() << "hands on a value that is no tensor of numbers, which is not supported";
}

//===- If ------------------------------------------------------------------------------------------------------------

LogicalResult yieldCopies(Node &node, ArrayRef<Tensor *> tensors) {
  SmallVector<Tensor> copies;
  for (Tensor *tensor : tensors)
    copies.push_back(*tensor);
  return node.yield(copies);
}

/// What both branches give: sizes that they agree on and that are known outside stay, others vary.
LogicalResult joinBranches(Node &node, ArrayRef<Tensor *> thens, ArrayRef<Tensor *> elses, Handed &handed) {
  if (thens.size() != elses.size())
    return node.error() << "has branches with " << thens.size() << " and " << elses.size() << " results";
  for (auto [a, b] : llvm::zip(thens, elses)) {
    if (failed(wantTensor(node, *a)) || failed(wantTensor(node, *b)))
      return failure();
    if (a->dataType != b->dataType)
      return node.error() << "has branches that give different element types";
    if (a->rank() != b->rank())
      return node.error() << "has branches that give tensors of rank " << a->rank() << " and " << b->rank()
                          << ", which is not supported";
    llvm::SmallBitVector varying(a->rank());
    for (int64_t dim = 0; dim < a->rank(); ++dim)
      varying[dim] = !(IndexMath::known(a->sizes[dim]) && node.math.same(a->sizes[dim], b->sizes[dim]));
    handed.add(a->dataType, a->sizes, varying);
  }
  return success();
}

LogicalResult translateIf(Node &node) {
  FailureOr<Block *> thenBlock = subgraph(node, "then_branch"), elseBlock = subgraph(node, "else_branch");
  if (failed(thenBlock) || failed(elseBlock))
    return failure();
  FailureOr<Index> condition = conditionOf(node, node.input(0));
  if (failed(condition))
    return failure();
  Translator &translator = node.translator;
  if (auto known = IndexMath::known(*condition)) {
    auto results = translator.translateBlock(*known ? **thenBlock : **elseBlock, {});
    return failed(results) ? failure() : yieldCopies(node, *results);
  }
  OpBuilder &builder = translator.builder;
  // The results' types are known only when both branches are translated: they are built in an operation without results.
  auto draft = builder.create<scf::IfOp>(node.loc, TypeRange(), isTrue(node, *condition), true);
  OpBuilder::InsertPoint outside = builder.saveInsertionPoint();
  auto enter = [&](Block *block) {
    if (!block->empty() && block->back().hasTrait<OpTrait::IsTerminator>())
      block->back().erase();
    builder.setInsertionPointToEnd(block);
  };
  enter(draft.thenBlock());
  auto thens = translator.translateBlock(**thenBlock, {});
  enter(draft.elseBlock());
  auto elses = translator.translateBlock(**elseBlock, {});
  Handed handed(node);
  bool complete = succeeded(thens) && succeeded(elses) && succeeded(joinBranches(node, *thens, *elses, handed));
  if (complete) {
    builder.create<scf::YieldOp>(node.loc, handed.values(*elses));
    builder.setInsertionPointToEnd(draft.thenBlock());
    builder.create<scf::YieldOp>(node.loc, handed.values(*thens));
  }
  builder.restoreInsertionPoint(outside);
  if (!complete)
    return failure();
  auto branch = builder.create<scf::IfOp>(node.loc, handed.types(), draft.getCondition(), true);
  branch.getThenRegion().takeBody(draft.getThenRegion());
  branch.getElseRegion().takeBody(draft.getElseRegion());
  draft->erase();
  return node.yield(handed.tensors(branch.getResults()));
}

//===- Loop ----------------------------------------------------------------------------------------------------------

/// The values that an iteration of a Loop hands to the next: which of their sizes vary is found by trying.
class LoopTranslation {
public:
  explicit LoopTranslation(Node &node) : node(node), translator(node.translator), builder(translator.builder) {}

  LogicalResult run() {
    outsideRegion = builder.getInsertionBlock()->getParent();
    FailureOr<Block *> found = subgraph(node, "body");
    if (failed(found) || failed(readInputs(**found)))
      return failure();
    // Each attempt finds sizes that vary, or none; it takes at most one per size, and one more for the scan outputs.
    for (;;) {
      FailureOr<bool> settled = attempt();
      if (failed(settled))
        return failure();
      if (*settled)
        return success();
    }
  }

private:
  LogicalResult readInputs(Block &graph) {
    body = &graph;
    numCarried = std::max<int64_t>(node.numInputs() - 2, 0);
    if (int64_t(body->getNumArguments()) != numCarried + 2)
      return node.error() << "has a body with " << body->getNumArguments() << " inputs where " << numCarried + 2
                          << " are wanted";
    numScans = int64_t(body->getTerminator()->getNumOperands()) - 1 - numCarried;
    if (numScans < 0)
      return node.error() << "has a body with too few outputs";
    limit = node.math.constant(std::numeric_limits<int64_t>::max());
    if (node.has(0)) {
      FailureOr<SmallVector<Index>> trips = node.indices(0);
      if (failed(trips) || trips->size() != 1)
        return node.error() << "wants one integer as its number of iterations";
      limit = trips->front();
    }
    start = node.math.constant(1);
    if (node.has(1)) {
      FailureOr<Index> condition = conditionOf(node, node.input(1));
      if (failed(condition))
        return failure();
      start = *condition;
    }
    for (int64_t number = 0; number < numCarried; ++number) {
      Tensor &initial = node.input(number + 2);
      if (failed(wantTensor(node, initial)))
        return failure();
      varying.push_back(llvm::SmallBitVector(initial.rank()));
    }
    return success();
  }

  /// The values of one place in the loop: the iteration's number, whether to go on, then the tensors and their sizes.
  SmallVector<Value> state(Value iteration, Value goOn, ArrayRef<Tensor *> tensors, Handed &handed) {
    SmallVector<Value> values = {iteration, goOn};
    llvm::append_range(values, handed.values(tensors));
    return values;
  }

  Handed plan() {
    Handed handed(node);
    for (int64_t number = 0; number < numCarried; ++number)
      handed.add(node.input(number + 2).dataType, node.input(number + 2).sizes, varying[number]);
    for (const Tensor &scan : scans) {
      Sizes sizes = {node.math.constant(0)};
      llvm::append_range(sizes, scan.sizes);
      llvm::SmallBitVector grows(sizes.size());
      grows[0] = true;
      handed.add(scan.dataType, sizes, grows);
    }
    return handed;
  }

  /// A scan output before the first iteration.
  Tensor emptyScan(const Tensor &scan) {
    Sizes sizes = {node.math.constant(0)};
    llvm::append_range(sizes, scan.sizes);
    Type element = scan.element;
    Value zero = isa<FloatType>(element) ? node.splat(0.0, element, sizes)
                                         : node.splat(APInt(element.getIntOrFloatBitWidth(), 0), element, sizes);
    return node.tensor(zero, sizes, scan.dataType);
  }

  /// Builds the loop with the sizes that are known to vary. False where more of them turn out to.
  FailureOr<bool> attempt() {
    Handed handed = plan();
    std::deque<Tensor> empties;
    SmallVector<Tensor *> initial;
    for (int64_t number = 0; number < numCarried; ++number)
      initial.push_back(&node.input(number + 2));
    for (const Tensor &scan : scans)
      initial.push_back(&empties.emplace_back(emptyScan(scan)));
    Value zero = builder.create<arith::ConstantIndexOp>(node.loc, 0);
    SmallVector<Value> inits = state(zero, isTrue(node, start), initial, handed);
    Value bound = node.math.materialize(node.loc, limit);
    SmallVector<Type> types(ValueRange(inits).getTypes());
    auto loop = builder.create<scf::WhileOp>(node.loc, types, inits);
    OpBuilder::InsertPoint outside = builder.saveInsertionPoint();
    SmallVector<Location> locations(types.size(), node.loc);
    Block *before = builder.createBlock(&loop.getBefore(), {}, types, locations);
    Value inside = builder.create<arith::CmpIOp>(node.loc, arith::CmpIPredicate::slt, before->getArgument(0), bound);
    Value goesOn = builder.create<arith::AndIOp>(node.loc, inside, before->getArgument(1));
    builder.create<scf::ConditionOp>(node.loc, goesOn, before->getArguments());
    Block *after = builder.createBlock(&loop.getAfter(), {}, types, locations);
    FailureOr<bool> settled = iterate(after, handed);
    builder.restoreInsertionPoint(outside);
    if (failed(settled) || !*settled) {
      // Later walks must not find its values; they are no longer part of the function.
      loop->remove();
      translator.discard(loop);
      return settled;
    }
    SmallVector<Tensor> results = handed.tensors(loop.getResults().drop_front(2));
    if (failed(node.yield(results)))
      return failure();
    return true;
  }

  FailureOr<bool> iterate(Block *after, Handed &handed) {
    Value iteration = after->getArgument(0), goOn = after->getArgument(1);
    SmallVector<Tensor> carried = handed.tensors(after->getArguments().drop_front(2));
    node.math.assumeNonNegative(iteration);
    Tensor number = node.hostTensor({iteration}, {}, Int64);
    Value condition = builder.create<arith::IndexCastUIOp>(node.loc, builder.getIndexType(), goOn);
    Tensor alive = node.hostTensor({condition}, {}, Bool);
    SmallVector<Tensor> arguments = {number, alive};
    arguments.append(carried.begin(), carried.begin() + numCarried);
    auto results = translator.translateBlock(*body, arguments);
    if (failed(results))
      return failure();
    FailureOr<Index> next = conditionOf(node, *results->front());
    if (failed(next))
      return failure();
    ArrayRef<Tensor *> outputs = ArrayRef(*results).drop_front();
    FailureOr<bool> settled = compare(outputs);
    if (failed(settled) || !*settled)
      return settled;
    std::deque<Tensor> grown;
    SmallVector<Tensor *> handedOn(outputs.take_front(numCarried));
    for (int64_t scan = 0; scan < numScans; ++scan)
      handedOn.push_back(&grown.emplace_back(append(carried[numCarried + scan], *outputs[numCarried + scan])));
    Value one = builder.create<arith::ConstantIndexOp>(node.loc, 1);
    Value following = builder.create<arith::AddIOp>(node.loc, iteration, one);
    builder.create<scf::YieldOp>(node.loc, state(following, isTrue(node, *next), handedOn, handed));
    return true;
  }

  /// Whether the body's results have the sizes that were assumed; marks those that have not.
  FailureOr<bool> compare(ArrayRef<Tensor *> outputs) {
    bool settled = true;
    for (int64_t number = 0; number < numCarried; ++number) {
      Tensor &from = node.input(number + 2), &to = *outputs[number];
      if (failed(wantTensor(node, to)))
        return failure();
      if (from.dataType != to.dataType || from.rank() != to.rank())
        return node.error() << "changes the type or rank of its value " << number << ", which is not supported";
      for (int64_t dim = 0; dim < to.rank(); ++dim)
        if (!varying[number][dim] && !node.math.same(from.sizes[dim], to.sizes[dim])) {
          varying[number][dim] = true;
          settled = false;
        }
    }
    if (!scans.empty() || numScans == 0)
      return settled;
    for (Tensor *scan : outputs.drop_front(numCarried)) {
      if (failed(wantTensor(node, *scan)))
        return failure();
      for (Index size : scan->sizes)
        if (auto value = dyn_cast<Value>(size); value && !value.getParentRegion()->isAncestor(outsideRegion))
          return node.error() << "collects values whose sizes change, which is not supported";
      scans.push_back(*scan);
    }
    return false;
  }

  /// `all` with `one` behind it.
  Tensor append(const Tensor &all, Tensor &one) {
    Sizes single = {node.math.constant(1)}, sizes = all.sizes;
    llvm::append_range(single, one.sizes);
    sizes[0] = node.math.add(node.loc, all.sizes[0], node.math.constant(1));
    auto type = [&](ArrayRef<Index> sizes) { return node.type(sizes, all.element); };
    auto dynamic = [&](ArrayRef<Index> sizes) {
      SmallVector<Value> values;
      for (Index size : sizes)
        if (!IndexMath::known(size))
          values.push_back(node.math.materialize(node.loc, size));
      return values;
    };
    Value row = builder.create<nn::ReshapeOp>(node.loc, type(single), translator.materialize(node.loc, one),
                                              dynamic(single));
    Value joined = builder.create<nn::ConcatOp>(node.loc, type(sizes), ValueRange{all.value, row}, dynamic(sizes), 0);
    return node.tensor(joined, sizes, all.dataType);
  }

  Node &node;
  Translator &translator;
  OpBuilder &builder;
  Region *outsideRegion = nullptr;
  Block *body = nullptr;
  int64_t numCarried = 0, numScans = 0;
  Index limit, start;
  SmallVector<llvm::SmallBitVector> varying;
  SmallVector<Tensor> scans; ///< one element of each scan output, once the body has been seen
};

LogicalResult translateLoop(Node &node) { return LoopTranslation(node).run(); }

} // namespace

ArrayRef<Row> joule::translate::controlRows() {
  static const Row rows[] = {
      {"", "If", 1, 1, 1, translateIf},
      {"", "Loop", 1, 1, -1, translateLoop},
  };
  return rows;
}
