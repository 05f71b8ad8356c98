// ONNX's element types: TensorProto.DataType and what stands for each in MLIR.
#pragma once

#include "mlir/IR/BuiltinTypes.h"

namespace joule {

/// The type of an element of TensorProto.DataType `dataType`: unsigned integers are `ui8` and so on, others signless.
/// Null where ONNX has no such type.
mlir::Type elementTypeOf(mlir::MLIRContext *context, int dataType);

/// The inverse of `elementTypeOf`; 0 where no ONNX type is meant.
int dataTypeOf(mlir::Type elementType);

/// ONNX's name of `dataType`, as in `float16`.
llvm::StringRef dataTypeName(int dataType);

/// The width in bits of an element as files store it; 0 for strings and where ONNX has no such type.
unsigned storageBits(int dataType);

} // namespace joule
