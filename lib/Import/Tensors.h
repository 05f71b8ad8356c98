// TensorProto → a constant of the onnx level.
#pragma once

#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Diagnostics.h"

#include "onnx/onnx-ml.pb.h"

namespace joule {

/// A model's bytes and where they came from.
struct ModelBytes {
  llvm::StringRef bytes;
  llvm::StringRef file;   // what weights name
  llvm::StringRef folder; // external data is looked for here alone
};

/// A tensor's elements: an elements attribute or `#onnx.weight`, and the tensor's type.
struct TensorConstant {
  mlir::Attribute value;
  mlir::RankedTensorType type;
};

/// Reads `tensor`, whose `raw_data` is a RawSpan. Small tensors and those stored as typed fields become elements, the
/// others a weight that says where their bytes are. `dense` asks for elements whatever the size.
mlir::FailureOr<TensorConstant> readTensor(const ::onnx::TensorProto &tensor, const ModelBytes &model,
                                           mlir::Location loc, bool dense = false);

/// Reads a tensor that stands alone, outside of any model.
mlir::FailureOr<TensorConstant> readLoneTensor(const ::onnx::TensorProto &tensor, mlir::Location loc);

/// Reads a sparse tensor as elements of the dense one.
mlir::FailureOr<TensorConstant> readSparseTensor(const ::onnx::SparseTensorProto &tensor, const ModelBytes &model,
                                                 mlir::Location loc);

} // namespace joule
