// How an op's element definition reaches its operands.
#pragma once

#include "mlir/IR/Value.h"
#include "mlir/IR/ValueRange.h"

namespace joule::nn {

/// Gives scalar code for elements of tensors, wherever they come from: memory, or the definition of the op that
/// makes them. A kernel emitter implements it; ops only call it.
class ElementSource {
public:
  virtual ~ElementSource() = default;

  /// The element of `tensor` at `indices` (`index` values in range, one per dimension).
  virtual mlir::Value element(mlir::Value tensor, mlir::ValueRange indices) = 0;

  /// The number of elements of `tensor` along `dim`, an `index`.
  virtual mlir::Value size(mlir::Value tensor, unsigned dim) = 0;

  /// The value in the kernel of an `index` operand (a size or an offset).
  virtual mlir::Value index(mlir::Value operand) = 0;
};

} // namespace joule::nn
