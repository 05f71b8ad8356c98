// The emitters of the kernel families, one file each.
#pragma once

#include "passes/NnToTile/Emitter.h"

namespace joule {

/// The op of a family that is one op's own; null, with an error, where the kernel yields something else.
template <typename Op> Op ownOp(mlir::Operation *kernel, mlir::ValueRange results) {
  auto op = results.front().getDefiningOp<Op>();
  if (!op)
    kernel->emitOpError() << "has a schedule for " << Op::getOperationName() << " but yields something else";
  return op;
}

// What families whose threads each own a line of the result share.

/// Runs `inside` where `condition` holds.
void onlyIf(nn::ElementBuilder &code, mlir::Value condition, llvm::function_ref<void()> inside);
/// Calls `body` with the number of this thread in the grid, for threads below `count`.
void forThread(KernelWriter &writer, mlir::Value count, llvm::function_ref<void(mlir::Value thread)> body);
/// Blocks for one thread per place of the dimensions `dims` of the first result.
std::array<mlir::Value, 3> gridOfThreads(GridWriter &writer, llvm::ArrayRef<unsigned> dims);

mlir::LogicalResult emitContract(KernelWriter &writer);
mlir::FailureOr<std::array<mlir::Value, 3>> gridOfContract(GridWriter &writer);

mlir::LogicalResult emitDot(KernelWriter &writer);
mlir::FailureOr<std::array<mlir::Value, 3>> gridOfDot(GridWriter &writer);

mlir::LogicalResult emitMap(KernelWriter &writer);
mlir::FailureOr<std::array<mlir::Value, 3>> gridOfMap(GridWriter &writer);

mlir::LogicalResult emitScatterElements(KernelWriter &writer);
mlir::FailureOr<std::array<mlir::Value, 3>> gridOfScatterElements(GridWriter &writer);
mlir::LogicalResult emitScatterNd(KernelWriter &writer);
mlir::FailureOr<std::array<mlir::Value, 3>> gridOfScatterNd(GridWriter &writer);
mlir::LogicalResult emitTopK(KernelWriter &writer);
mlir::FailureOr<std::array<mlir::Value, 3>> gridOfTopK(GridWriter &writer);
mlir::LogicalResult emitTriangularize(KernelWriter &writer);
mlir::FailureOr<std::array<mlir::Value, 3>> gridOfTriangularize(GridWriter &writer);
mlir::LogicalResult emitRecurrent(KernelWriter &writer);
mlir::FailureOr<std::array<mlir::Value, 3>> gridOfRecurrent(GridWriter &writer);

mlir::LogicalResult emitRow(KernelWriter &writer);
mlir::FailureOr<std::array<mlir::Value, 3>> gridOfRow(GridWriter &writer);

} // namespace joule
