/// What one operation of the nn level computes, on buffers: for folding, and for the interpreter.
#pragma once

#include "lib/Reference/Kernels/WeightStore.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Operation.h"

namespace joule::reference {

/// The element type that stores `type`, a scalar type; integers without a sign are stored as signed ones,
/// `i1` as bool, `index` as int64. Undefined for types that no buffer stores.
ElementType elementTypeOf(mlir::Type type);

/// The elements of a constant, or a scalar of rank 0. A splat is written out.
Result<Buffer> bufferOf(mlir::Attribute constant);

/// The same for what an `nn.constant` of `type` holds: elements, or a weight, whose bytes are not copied.
Result<Buffer> bufferOf(mlir::Attribute constant, mlir::RankedTensorType type, WeightStore &weights);

/// A dense attribute of `type` that holds the elements of `buffer`. Null where MLIR cannot hold such elements
/// (strings and the nn dialect's own types).
mlir::DenseElementsAttr denseAttribute(const Buffer &buffer, mlir::RankedTensorType type);

/// True where `evaluate` knows the operation; a constant that is a weight it knows not.
bool canEvaluate(mlir::Operation *op);

/// The results of `op` for the given operands, scalars being tensors of rank 0. Operations with regions are
/// the interpreter's. A failure is a sentence without the operation's name: sizes that do not fit, or an
/// operation or element type that has no reference.
Result<llvm::SmallVector<Buffer>> evaluate(mlir::Operation *op, llvm::ArrayRef<Buffer> operands);

} // namespace joule::reference
