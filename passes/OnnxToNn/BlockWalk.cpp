// The walk over one graph's nodes.
#include "passes/OnnxToNn/BlockWalk.h"

using namespace mlir;
using namespace joule;
using namespace joule::translate;

// Each way repeats what follows; so many of them are no exporter's leftovers any more.
static constexpr size_t maxPaths = 32;

FailureOr<Path> BlockWalk::run() {
  OpBuilder::InsertionGuard guard(translator.builder);
  bool complete = true;
  for (Operation &op : graph.without_terminator()) {
    if (failed(walk(op))) {
      complete = false;
      poison(op);
    } else if (complete && here.fork) {
      meetAfter(op);
    }
  }
  if (!complete)
    return failure();
  SmallVector<Path *> live;
  here.collectLive(live);
  for (Path *path : live)
    for (Value value : graph.getTerminator()->getOperands()) {
      Tensor *special = path->tensors.lookup(value);
      path->results.push_back(special ? special : &translator.lookup(value));
    }
  return std::move(here);
}

LogicalResult BlockWalk::walk(Operation &op) {
  if (here.fork && dependsOnPath(op))
    return translateOnEachPath(op);
  return translateOnce(op);
}

/// Nodes that fork are repeated, too: two forks beside each other could not be told apart.
bool BlockWalk::dependsOnPath(Operation &op) {
  auto node = dyn_cast<onnx::NodeOp>(op);
  if (node && node.getOpType() == "If")
    return true;
  WalkResult found = op.walk([&](Operation *inner) {
    bool reads = llvm::any_of(inner->getOperands(), [&](Value operand) { return diverged.contains(operand); });
    return reads ? WalkResult::interrupt() : WalkResult::advance();
  });
  return found.wasInterrupted();
}

/// What is the same on all ways stands before they part.
LogicalResult BlockWalk::translateOnce(Operation &op) {
  if (here.fork)
    translator.builder.setInsertionPoint(here.fork->draft);
  else
    translator.builder.setInsertionPointToEnd(here.block);
  if (failed(translator.translateOperation(op)))
    return failure();
  if (translator.pendingFork)
    fork(here, op);
  return success();
}

/// The node has parted `path` into ways with results of their own.
void BlockWalk::fork(Path &path, Operation &op) {
  path.fork = std::move(translator.pendingFork);
  SmallVector<Path *> live;
  path.collectLive(live);
  for (Path *way : live) {
    way->tensors = path.tensors;
    for (auto [value, tensor] : llvm::zip(op.getResults(), way->results))
      way->tensors[value] = tensor;
    way->results.clear();
  }
  path.tensors.clear();
  diverged.insert(op.result_begin(), op.result_end());
}

LogicalResult BlockWalk::translateOnEachPath(Operation &op) {
  SmallVector<Path *> live;
  here.collectLive(live);
  // That no way goes on has been said.
  if (live.empty())
    return failure();
  for (Path *path : live)
    if (failed(translateOn(*path, op)))
      return failure();
  diverged.insert(op.result_begin(), op.result_end());
  return checkPaths(op);
}

LogicalResult BlockWalk::translateOn(Path &path, Operation &op) {
  for (auto [value, tensor] : path.tensors)
    translator.alias(value, *tensor);
  FailureOr<Path> outcome = attempt(translator, path.block, [&]() -> FailureOr<Path> {
    if (failed(translator.translateOperation(op)))
      return failure();
    return Path(path.block);
  });
  if (failed(outcome))
    return failure();
  if (outcome->contradiction) {
    path.contradiction = outcome->contradiction;
  } else if (translator.pendingFork) {
    fork(path, op);
  } else {
    for (Value result : op.getResults())
      path.tensors[result] = &translator.lookup(result);
  }
  return success();
}

LogicalResult BlockWalk::checkPaths(Operation &op) {
  if (const auto *end = here.deadEnd())
    return translator.contradiction(end->first) << end->second;
  SmallVector<Path *> live;
  here.collectLive(live);
  if (live.size() <= maxPaths)
    return success();
  return emitError(op.getLoc()) << "is reached on more than " << maxPaths
                                << " ways with tensors of different ranks, which is not supported";
}

/// The values with a use behind `op`, there or inside of a later node.
SmallVector<Value> BlockWalk::stillNeeded(Operation &op) {
  SmallVector<Value> needed;
  for (Value value : diverged) {
    bool isUsed = llvm::any_of(value.getUsers(), [&](Operation *user) {
      Operation *node = graph.findAncestorOpInBlock(*user);
      return node && op.isBeforeInBlock(node);
    });
    if (isUsed)
      needed.push_back(value);
  }
  return needed;
}

void BlockWalk::meetAfter(Operation &op) {
  SmallVector<Value> needed = stillNeeded(op);
  SmallVector<Path *> live;
  here.collectLive(live);
  for (Value value : needed)
    for (Path *path : ArrayRef(live).drop_front())
      if (!mayMeet(translator, *live.front()->tensors[value], *path->tensors[value]))
        return;
  SmallVector<Tensor *> met = meet(translator, here, [&](Path &path) {
    return llvm::map_to_vector(needed, [&](Value value) { return path.tensors[value]; });
  });
  for (auto [value, tensor] : llvm::zip(needed, met))
    translator.alias(value, *tensor);
  diverged.clear();
}

void BlockWalk::poison(Operation &op) {
  SmallVector<Path *> live;
  here.collectLive(live);
  for (Value result : op.getResults()) {
    Tensor tensor;
    tensor.poisoned = true;
    translator.define(result, tensor);
    for (Path *path : live)
      if (diverged.contains(result))
        path->tensors[result] = &translator.lookup(result);
  }
}
