// A program from a file, at the level that the file is written in.
#pragma once

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

namespace joule {

struct Program {
  mlir::OwningOpRef<mlir::ModuleOp> module; ///< null after an error
  bool isNn = false;                        ///< at the nn level already, else at the onnx level
};

/// Reads an ONNX model, or a module of the nn level where the name ends in ".mlir". Values of the model's main graph that
/// `alsoOutputs` names become outputs, too.
Program readProgram(mlir::MLIRContext &context, llvm::StringRef path, llvm::ArrayRef<std::string> alsoOutputs = {});

} // namespace joule
