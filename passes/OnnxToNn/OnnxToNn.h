// onnx → nn.
#pragma once

#include "dialects/Onnx/OnnxDialect.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace joule {

#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "passes/OnnxToNn/Passes.h.inc"

/// The nodes of `module`, in subgraphs too, whose operator has no translation in the version they ask for.
llvm::SmallVector<onnx::NodeOp> collectUnsupported(mlir::ModuleOp module);

} // namespace joule
