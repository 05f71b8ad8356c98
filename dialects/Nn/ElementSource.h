// How an op's element definition reaches its operands.
#pragma once

#include "mlir/IR/Value.h"
#include "mlir/IR/ValueRange.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SmallVector.h"

namespace joule::nn {

/// Gives scalar code for elements of tensors, wherever they come from: memory, or the definition of the op
/// that makes them. A kernel emitter implements it; ops only call it, with the builder it was made with.
class ElementSource {
public:
  virtual ~ElementSource() = default;

  /// The element of `tensor` at `indices` (`index` values in range, one per dimension).
  virtual mlir::Value element(mlir::Value tensor, mlir::ValueRange indices) = 0;

  /// The number of elements of `tensor` along `dim`, an `index`.
  virtual mlir::Value size(mlir::Value tensor, unsigned dim) = 0;

  /// The value in the kernel of an `index` operand (a size or an offset).
  virtual mlir::Value index(mlir::Value operand) = 0;

  /// The row-major position of the element of `tensor` at `indices`.
  virtual mlir::Value position(mlir::Value tensor, mlir::ValueRange indices) = 0;

  /// The inverse: the indices of the element of `tensor` at row-major `position`.
  virtual llvm::SmallVector<mlir::Value> coordinates(mlir::Value tensor, mlir::Value position) = 0;

  /// A value on the way to elements of `tensor` that many of them have in common, such as a row's maximum:
  /// the one numbered `part` that depends on `indices` alone. `emit` writes its code, once for equal indices,
  /// outside of the loops that do not change them.
  virtual mlir::Value shared(mlir::Value tensor, unsigned part, mlir::ValueRange indices,
                             llvm::function_ref<mlir::Value()> emit) = 0;
};

} // namespace joule::nn
