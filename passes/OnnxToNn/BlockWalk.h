// The walk over one graph's nodes, on all ways that a run may take through them.
#pragma once

#include "passes/OnnxToNn/Paths.h"

#include "llvm/ADT/SetVector.h"

namespace joule::translate {

class BlockWalk {
public:
  BlockWalk(Translator &translator, mlir::Block &graph)
      : translator(translator), graph(graph), here(translator.builder.getInsertionBlock()) {}

  /// Translates the nodes where the builder stands. Goes on after one that fails, so that one run reports all that is
  /// wrong; what depends on it is left out.
  FailureOr<Path> run();

private:
  LogicalResult walk(mlir::Operation &op);
  LogicalResult translateOnce(mlir::Operation &op);
  LogicalResult translateOnEachPath(mlir::Operation &op);
  LogicalResult translateOn(Path &path, mlir::Operation &op);
  void fork(Path &path, mlir::Operation &op);
  bool dependsOnPath(mlir::Operation &op);
  LogicalResult checkPaths(mlir::Operation &op);
  void meetAfter(mlir::Operation &op);
  SmallVector<Value> stillNeeded(mlir::Operation &op);
  void poison(mlir::Operation &op);

  Translator &translator;
  mlir::Block &graph;
  Path here;
  /// The values that are not the same on all ways.
  llvm::SetVector<Value> diverged;
};

} // namespace joule::translate
