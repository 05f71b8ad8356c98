// Loop: a body that is repeated so many times, or until it says that it is enough.
#include "passes/OnnxToNn/Iteration.h"
#include "passes/OnnxToNn/Tables.h"

using namespace mlir;
using namespace joule;
using namespace joule::translate;

namespace {

/// Reads how often at most, and whether at all.
LogicalResult readBounds(Node &node, Iteration &iteration) {
  iteration.limit = node.math.constant(std::numeric_limits<int64_t>::max());
  iteration.start = node.math.constant(1);
  if (node.has(0)) {
    FailureOr<SmallVector<Index>> trips = node.indices(0);
    if (failed(trips))
      return failure();
    if (trips->size() != 1)
      return node.error() << "wants one integer as its number of iterations";
    iteration.limit = trips->front();
  }
  if (!node.has(1))
    return success();
  FailureOr<Index> condition = conditionOf(node, node.input(1));
  if (failed(condition))
    return failure();
  iteration.start = *condition;
  return success();
}

LogicalResult translateLoop(Node &node) {
  FailureOr<Block *> body = subgraph(node, "body");
  if (failed(body))
    return failure();
  int64_t numCarried = std::max<int64_t>(node.numInputs() - 2, 0);
  int64_t numScans = int64_t((*body)->getTerminator()->getNumOperands()) - 1 - numCarried;
  if (int64_t((*body)->getNumArguments()) != numCarried + 2)
    return node.error() << "has a body with " << (*body)->getNumArguments() << " inputs where " << numCarried + 2
                        << " are wanted";
  if (numScans < 0)
    return node.error() << "has a body with too few outputs";
  Iteration iteration(node);
  if (failed(readBounds(node, iteration)))
    return failure();
  for (int64_t number = 0; number < numCarried; ++number)
    iteration.initial.push_back(&node.input(number + 2));
  iteration.prepends.assign(numScans, false);
  llvm::append_range(iteration.statedTypes, llvm::drop_begin((*body)->getTerminator()->getOperandTypes(), 1 + numCarried));
  iteration.body = [&](Value number, Value alive, ArrayRef<Tensor> carried) -> FailureOr<Iteration::Step> {
    SmallVector<Tensor> arguments = {node.hostTensor({number}, {}, Int64), node.hostTensor({alive}, {}, Bool)};
    arguments.append(carried.begin(), carried.end());
    auto results = node.translator.translateBlock(node.loc, **body, arguments);
    if (failed(results))
      return failure();
    FailureOr<Index> goOn = conditionOf(node, *results->front());
    if (failed(goOn))
      return failure();
    return Iteration::Step{*goOn, SmallVector<Tensor *>(llvm::drop_begin(*results))};
  };
  FailureOr<SmallVector<Tensor>> results = iteration.run();
  return failed(results) ? failure() : node.yield(*results);
}

} // namespace

ArrayRef<Row> joule::translate::loopRows() {
  static const Row rows[] = {{"", "Loop", 1, 0, -1, translateLoop}};
  return rows;
}
