// If: a branch that a run decides becomes scf.if on tensors.
#include "passes/OnnxToNn/BlockWalk.h"
#include "passes/OnnxToNn/Handed.h"
#include "passes/OnnxToNn/Tables.h"

using namespace mlir;
using namespace joule;
using namespace joule::translate;

namespace {

FailureOr<Path> translateArm(Translator &translator, Block *into, Block &graph) {
  return attempt(translator, into, [&] { return BlockWalk(translator, graph).run(); });
}

/// Both branches are translated; where their results are of different kinds, what follows the node is translated in each.
LogicalResult translateUndecided(Node &node, Index condition, Block &thenGraph, Block &elseGraph) {
  Translator &translator = node.translator;
  Path path(translator.builder.getInsertionBlock());
  path.fork = startFork(translator, node.loc, isTrue(translator, node.loc, condition));
  Fork &fork = *path.fork;
  FailureOr<Path> thenPath = translateArm(translator, fork.thenPath.block, thenGraph);
  FailureOr<Path> elsePath = translateArm(translator, fork.elsePath.block, elseGraph);
  if (failed(thenPath) || failed(elsePath))
    return failure();
  fork.thenPath = std::move(*thenPath);
  fork.elsePath = std::move(*elsePath);
  return yieldPath(node, std::move(path));
}

LogicalResult translateIf(Node &node) {
  FailureOr<Block *> thenGraph = subgraph(node, "then_branch"), elseGraph = subgraph(node, "else_branch");
  if (failed(thenGraph) || failed(elseGraph))
    return failure();
  FailureOr<Index> condition = conditionOf(node, node.input(0));
  if (failed(condition))
    return failure();
  auto known = IndexMath::known(*condition);
  if (!known)
    return translateUndecided(node, *condition, **thenGraph, **elseGraph);
  FailureOr<Path> path = BlockWalk(node.translator, *known ? **thenGraph : **elseGraph).run();
  return failed(path) ? failure() : yieldPath(node, std::move(*path));
}

} // namespace

ArrayRef<Row> joule::translate::branchRows() {
  static const Row rows[] = {{"", "If", 1, 1, 1, translateIf}};
  return rows;
}
