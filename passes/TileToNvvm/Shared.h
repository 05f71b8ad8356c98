// The shared memory of a kernel.
#pragma once

#include "dialects/Tile/TileDialect.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace joule {

/// Attributes of a kernel's `gpu.module`: the bytes of shared memory that the kernel declares, and those that
/// its launch must ask for.
inline constexpr llvm::StringLiteral staticSharedBytes = "tile.static_shared_bytes";
inline constexpr llvm::StringLiteral dynamicSharedBytes = "tile.dynamic_shared_bytes";

/// Places every `tile.alloc` of `function` in one array of shared memory and adds its pointer to `pointers`.
/// What a kernel may declare is limited to 48 KiB; beyond, the array is left to the launch.
void lowerSharedMemory(mlir::func::FuncOp function, mlir::IRMapping &pointers);

} // namespace joule
