// Loop: iterations on tensors, as scf.while.
#include "passes/OnnxToNn/Handed.h"
#include "passes/OnnxToNn/Maths.h"
#include "passes/OnnxToNn/Tables.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace joule;
using namespace joule::translate;

namespace {
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
    Handed handed(translator, node.loc);
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
    SmallVector<Value> inits = state(zero, isTrue(translator, node.loc, start), initial, handed);
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
    auto results = translator.translateBlock(node.loc, *body, arguments);
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
    builder.create<scf::YieldOp>(node.loc, state(following, isTrue(translator, node.loc, *next), handedOn, handed));
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
        return node.unsupported() << "changes the type or rank of its value " << number << ", which is not supported";
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
          return node.unsupported() << "collects values whose sizes change, which is not supported";
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

ArrayRef<Row> joule::translate::loopRows() {
  static const Row rows[] = {
      {"", "Loop", 1, 1, -1, translateLoop},
  };
  return rows;
}
