// From fused groups to kernels.
#pragma once

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace joule {

#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "passes/NnToTile/Passes.h.inc"

} // namespace joule
