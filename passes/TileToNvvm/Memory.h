// Loads and stores of a kernel's buffers as accesses through pointers.
#pragma once

#include "dialects/Tile/TileDialect.h"

namespace joule {

/// Replaces every `tile.load` and `tile.store` under `function`, whose buffers have become pointers.
void lowerAccesses(mlir::Operation *function, const mlir::IRMapping &pointers);

/// The same for `tile.load_tile` and `tile.store_tile`.
void lowerTileAccesses(mlir::Operation *function, const mlir::IRMapping &pointers);

} // namespace joule
