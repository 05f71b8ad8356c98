// The emitters of the kernel families, one file each.
#pragma once

#include "passes/NnToTile/Emitter.h"

namespace joule {

mlir::LogicalResult emitMap(KernelWriter &writer);
mlir::FailureOr<std::array<mlir::Value, 3>> gridOfMap(GridWriter &writer);

} // namespace joule
