// The passes that turn nn into better nn, and group it into future kernels.
#pragma once

#include "dialects/Nn/NnDialect.h"
#include "dialects/Plan/PlanDialect.h"
#include "dialects/Tile/TileDialect.h"
#include "lib/Reference/Kernels/WeightStore.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace joule {

#define GEN_PASS_DECL
#include "passes/Nn/Passes.h.inc"

/// nn-fold-constants, with the store that receives large results. It must outlive the module's weights.
std::unique_ptr<mlir::Pass> createFoldConstants(reference::WeightStore &store);

/// Checks the contract of the nn level, at the head of VerifyNn.cpp, below `root`.
mlir::LogicalResult verifyNn(mlir::Operation *root);

#define GEN_PASS_REGISTRATION
#include "passes/Nn/Passes.h.inc"

} // namespace joule
