// Passes on kernels: their schedules.
#pragma once

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace joule {

#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "passes/Tile/Passes.h.inc"

} // namespace joule
