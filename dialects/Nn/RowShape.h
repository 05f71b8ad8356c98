// Reductions seen as work on rows.
#pragma once

#include "dialects/Nn/NnDialect.h"

#include <optional>

namespace joule::nn {

/// The dimension of `tensor` along which its elements lie next to each other in memory, seen through
/// transposes and casts, dimensions of size 1 aside; none for a tensor of rank 0 or where that cannot be
/// told.
std::optional<unsigned> contiguousDim(mlir::Value tensor);

/// An op that combines elements along axes of its input (reduce, arg_reduce, softmax, normalize): a row is
/// all elements along the axes, there is one for every place off them.
struct RowShape {
  mlir::Operation *op = nullptr;
  mlir::Value input;
  llvm::SmallVector<int64_t> axes;

  /// Nothing where `op` is none of them.
  static std::optional<RowShape> of(mlir::Operation *op);

  bool isAxis(int64_t dim) const { return llvm::is_contained(axes, dim); }

  /// Whether neighbours in memory are of one row.
  bool isAlongMemory() const;

  /// `ShapedType::kDynamic` where they are not known.
  int64_t staticRows() const { return staticSize(false); }
  int64_t staticLength() const { return staticSize(true); }

private:
  int64_t staticSize(bool ofAxes) const;
};

} // namespace joule::nn
