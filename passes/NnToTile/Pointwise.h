// Pointwise ops of upstream dialects, made safe and exact for a GPU.
#pragma once

#include "dialects/Nn/ElementBuilder.h"

namespace joule {

/// `result` of an elementwise op on tensors, for one element each of its operands.
///
/// Floats narrower than f32 are computed in f32 and rounded after each op. What upstream leaves undefined
/// gets a meaning: division by zero gives 0, the least integer over -1 is itself, a shift by the
/// width or more shifts everything out, a float beyond an integer's range is clamped and NaN gives 0.
mlir::Value emitPointwise(nn::ElementBuilder &code, mlir::OpResult result,
                          mlir::ArrayRef<mlir::Value> operands);

} // namespace joule
