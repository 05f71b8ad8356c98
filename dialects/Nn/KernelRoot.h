// Which op of a group its kernel is built around.
#pragma once

#include "dialects/Nn/NnDialect.h"

namespace joule::nn {

/// The last op of `body` that is a matrix product or combines rows, if everything that depends on it follows
/// element by element (pointwise ops, casts, reshapes); null otherwise. What stands before it is computed as
/// it is loaded, what follows as it is stored.
mlir::Operation *findKernelRoot(mlir::Block &body);

} // namespace joule::nn
