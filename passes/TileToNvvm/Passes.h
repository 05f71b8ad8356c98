// From kernels to instructions.
#pragma once

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace joule {

#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "passes/TileToNvvm/Passes.h.inc"

} // namespace joule
