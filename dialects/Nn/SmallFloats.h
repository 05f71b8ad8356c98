// Floats of 8 bits and fewer: no arithmetic unit has them, so they are read into f32 and written from it.
#pragma once

#include "dialects/Nn/ElementBuilder.h"

namespace joule::nn {

/// Whether `type` is a float narrower than 16 bits.
bool isSmallFloat(mlir::Type type);

/// The integer type that holds a small float's bits.
mlir::IntegerType bitsTypeOf(mlir::Type smallFloat);

/// `value`, of a small float type, as f32; exact.
mlir::Value decodeSmallFloat(ElementBuilder &code, mlir::Value value);

/// The f32 `value` rounded to nearest even in the small float type `type`, to a power of two as `rule` says. Beyond its
/// largest value: that value where `rule.saturate`, else infinity, or NaN in a type without infinities.
mlir::Value encodeSmallFloat(ElementBuilder &code, mlir::Value value, mlir::Type type, const CastRule &rule);

} // namespace joule::nn
