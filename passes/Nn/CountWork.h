// How many arithmetic operations a group performs.
#pragma once

#include "dialects/Nn/NnDialect.h"

namespace joule {

/// The arithmetic operations of one run of `fused`, an `index` value before it: two per multiply-add of a contraction
/// or convolution, one per element combined or computed pointwise. Data movement counts nothing.
mlir::Value countFlops(mlir::OpBuilder &builder, nn::FusedOp fused);

} // namespace joule
