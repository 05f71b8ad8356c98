// How nn's element types are stored, in ONNX's terms.
#pragma once

#include "mlir/IR/BuiltinTypes.h"

#include <string>

namespace joule {

/// The onnx.TensorProto.DataType of an element type; integers count as signed. 0 where there is none.
uint32_t onnxTypeOf(mlir::Type element);

/// Bytes of a dense tensor in memory; the last byte of a packed one is filled up.
uint64_t storedBytes(mlir::ShapedType type);

/// The bytes of `elements` in memory: splats expanded, booleans a byte each, narrow types packed.
std::string storedBytes(mlir::DenseElementsAttr elements);

} // namespace joule
