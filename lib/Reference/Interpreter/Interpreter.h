/// Computes what a function of the nn level says: the ground truth that compiled models are compared with.
#pragma once

#include "lib/Reference/Kernels/WeightStore.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <functional>

namespace joule::reference {

/// Told the results of every operation, in the order in which they are computed.
using Observer = std::function<void(mlir::Operation *op, llvm::ArrayRef<Buffer> results)>;

/// Runs `function` on `inputs`. Symbols are bound by the inputs' shapes through the `nn.dims` attributes of
/// the arguments. Values are dropped after their last use. What fails is reported at the operation that
/// failed.
///
/// Integers come back as signed types, since the nn level knows no others.
mlir::FailureOr<llvm::SmallVector<Buffer>> interpret(mlir::func::FuncOp function,
                                                     llvm::ArrayRef<Buffer> inputs, WeightStore &weights,
                                                     Observer observe = nullptr);

} // namespace joule::reference
