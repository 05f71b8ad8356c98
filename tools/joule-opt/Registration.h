// What the tools that take any IR know: every dialect and pass, Joule's and MLIR's.
#pragma once

#include "mlir/IR/DialectRegistry.h"

namespace joule {

/// Registers all passes with MLIR's own registry of them.
void registerPasses();

/// Adds all dialects to `registry`.
void registerDialects(mlir::DialectRegistry &registry);

} // namespace joule
