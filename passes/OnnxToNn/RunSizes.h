// Sizes that a run's data decide.
#pragma once

#include "passes/OnnxToNn/Translator.h"

namespace joule::translate {

/// A check, at run time unless it is known before, that each of `sizes` is one.
inline LogicalResult requireSizes(Node &node, llvm::ArrayRef<Index> sizes) {
  for (Index size : sizes) {
    Index isSize = node.math.compare(node.loc, mlir::arith::CmpIPredicate::sge, size, node.math.constant(0));
    if (failed(node.require(isSize, "makes a dimension of fewer than 0 elements")))
      return mlir::failure();
  }
  return mlir::success();
}

} // namespace joule::translate
