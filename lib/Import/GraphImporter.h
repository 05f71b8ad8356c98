// GraphProto → the operations of the onnx level.
#pragma once

#include "lib/Import/Tensors.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

namespace joule {

/// Builds the module of `model`, whose tensors' raw data are RawSpans of `bytes`. Null after an error.
mlir::OwningOpRef<mlir::ModuleOp> importModel(const ::onnx::ModelProto &model, const ModelBytes &bytes,
                                              mlir::Location loc);

} // namespace joule
