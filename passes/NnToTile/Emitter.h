// What a kernel family gets and gives: the interface between `nn-to-tile` and its emitters.
#pragma once

#include "passes/NnToTile/Elements.h"

namespace joule {

/// Whether two tensors have the same sizes by constants and SSA values.
bool haveSameSizes(mlir::Value a, mlir::Value b);

/// `flat`, a position in a tensor of `sizes`, taken apart. The first size that is not 1 needs no remainder.
llvm::SmallVector<mlir::Value> takeApart(nn::ElementBuilder &code, mlir::Value flat,
                                         llvm::ArrayRef<mlir::Value> sizes);

/// One kernel while it is being written. `builder` stands at the end of the kernel's new body, whose
/// arguments are the old ones (a buffer for each tensor) and a buffer per result.
struct KernelWriter {
  tile::KernelOp kernel;
  tile::ScheduleAttr schedule;
  mlir::Location loc;
  mlir::OpBuilder &builder;
  /// Scalar code for any element of the old body, at the insertion point of `builder`.
  KernelElements &elements;
  /// What the old body yields, and the buffer to store each in.
  llvm::SmallVector<mlir::Value> results;
  llvm::SmallVector<mlir::Value> buffers;

  nn::ElementBuilder code() { return {builder, loc, elements}; }

  /// The number of this thread in its block, and of the block in the grid.
  mlir::Value threadId() { return builder.create<mlir::gpu::ThreadIdOp>(loc, mlir::gpu::Dimension::x); }
  mlir::Value blockId(mlir::gpu::Dimension dimension = mlir::gpu::Dimension::x) {
    return builder.create<mlir::gpu::BlockIdOp>(loc, dimension);
  }

  /// The element of each result at `position` of the shape of `results[0]`, whose indices there are
  /// `indices`. The other results have as many elements.
  llvm::SmallVector<mlir::Value> computeResults(mlir::ValueRange indices, mlir::Value position);
  /// Stores one element of each result. Where several elements are computed, all loads must stand before all
  /// stores: a result may share its memory with an operand that is read at the same positions.
  void storeResults(mlir::ValueRange values, mlir::Value position);
};

/// The number of blocks of a launch. Written for the host: `builder` stands in the kernel's grid region,
/// `size` gives the sizes of tensors of the old body there.
struct GridWriter {
  tile::KernelOp kernel;
  tile::ScheduleAttr schedule;
  mlir::Location loc;
  mlir::OpBuilder &builder;
  mlir::ValueRange results;
  std::function<mlir::Value(mlir::Value tensor, unsigned dim)> size;

  mlir::Value index(int64_t value) { return builder.create<mlir::arith::ConstantIndexOp>(loc, value); }
  /// The number of elements of `tensor`.
  mlir::Value count(mlir::Value tensor);
};

/// A kernel family: how its kernels are written, and how many blocks a launch has (x, y, z).
struct KernelFamily {
  llvm::StringLiteral name;
  mlir::LogicalResult (*emit)(KernelWriter &writer);
  mlir::FailureOr<std::array<mlir::Value, 3>> (*grid)(GridWriter &writer);
};

/// The family called `name`, or null. A new family is a file of its own and a row in Families.cpp.
const KernelFamily *findFamily(llvm::StringRef name);

} // namespace joule
