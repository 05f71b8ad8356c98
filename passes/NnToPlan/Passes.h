// From values to buffers: the host program.
#pragma once

#include "dialects/Nn/NnDialect.h"
#include "dialects/Plan/PlanDialect.h"
#include "dialects/Tile/TileDialect.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace joule {

#define GEN_PASS_DECL
#include "passes/NnToPlan/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "passes/NnToPlan/Passes.h.inc"

} // namespace joule
