// Threads that combine what each of them has.
#pragma once

#include "passes/NnToTile/Emitter.h"

namespace joule {

/// How a block's threads are divided: `lines` lines (rows, results, …), each shared by `sharing` threads,
/// both powers of two. Where `along`, the threads of a line are neighbours, else the lines are.
///
///      along, 2 lines shared by 4:   0 0 0 0 1 1 1 1        not along:   0 1 0 1 0 1 0 1
class ThreadLines {
public:
  ThreadLines(KernelWriter &writer, int64_t lines, int64_t sharing, bool along);

  /// Of this thread: its line, and its number among those that share it.
  mlir::Value line() const { return ownLine; }
  mlir::Value part() const { return ownPart; }

  using Values = llvm::SmallVector<mlir::Value>;
  using Combine = llvm::function_ref<Values(llvm::ArrayRef<mlir::Value>, llvm::ArrayRef<mlir::Value>)>;

  /// Joins the values of all threads of a line; each of them then has the result. All threads of the block
  /// must come here: the values meet by shuffles within a warp and through shared memory beyond it.
  Values combine(Values values, Combine join);

private:
  KernelWriter &writer;
  int64_t lines, sharing;
  bool along;
  mlir::Value ownLine, ownPart;

  Values combineGroups(llvm::ArrayRef<mlir::Value> values, int64_t groups, Combine join);
};

} // namespace joule
