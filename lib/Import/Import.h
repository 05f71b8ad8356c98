// .onnx → the onnx level.
#pragma once

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

namespace joule {

/// Reads the model in the file at `path` as a module with one function `@main`. Its arguments carry `onnx.name` and
/// `onnx.dims` (an integer or a symbol's name per dimension, absent where the rank is unknown), its results
/// `onnx.name`; every operation's location is its node's name. Weights stay in the file. Null after an error, which
/// names the file or the node. Values of the main graph that `alsoOutputs` names are results, too, behind the others.
mlir::OwningOpRef<mlir::ModuleOp> importOnnx(mlir::MLIRContext &context, llvm::StringRef path,
                                             llvm::ArrayRef<std::string> alsoOutputs = {});

/// Reads the model that `bytes` hold. Its weights name `name` as their file; external data is looked for in `folder`.
mlir::OwningOpRef<mlir::ModuleOp> importOnnx(mlir::MLIRContext &context, llvm::StringRef bytes, llvm::StringRef name,
                                             llvm::StringRef folder,
                                             llvm::ArrayRef<std::string> alsoOutputs = {});

} // namespace joule
