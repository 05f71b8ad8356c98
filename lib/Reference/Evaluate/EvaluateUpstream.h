/// Operations of the arith, math and tensor dialects, on tensors and scalars alike.
#pragma once

#include "lib/Reference/Evaluate/Evaluate.h"

namespace joule::reference {

bool isUpstream(mlir::Operation *op);

/// As `evaluate`, for operations that `isUpstream` accepts.
Result<llvm::SmallVector<Buffer>> evaluateUpstream(mlir::Operation *op, llvm::ArrayRef<Buffer> operands);

} // namespace joule::reference
