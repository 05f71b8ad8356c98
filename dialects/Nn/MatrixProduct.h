// Contractions and convolutions seen as matrix products.
#pragma once

#include "dialects/Nn/NnDialect.h"

#include <optional>

namespace joule::nn {

/// Neighbouring dimensions of a tensor that are walked as one.
struct Extent {
  mlir::Value tensor;
  unsigned dim = 0;
  unsigned count = 1;
  /// Only this part of them: the size is divided by it.
  int64_t divisor = 1;

  /// `ShapedType::kDynamic` where it is not known.
  int64_t staticSize() const;
};

/// An op that computes `out[row, column] = sum over depth of left[row, depth] * right[depth, column]` for
/// every batch, each of the four an index over one or several extents, the last one innermost:
///
///                     batches           rows          columns        depth
///   contract          labels of all     of left, out  of right, out  of no result
///   conv              groups            K / groups    N, spatial…    C / groups, window…
///
/// Rows and columns are such that columns run along the result's memory. A convolution's left operand is the
/// filter.
struct MatrixProduct {
  mlir::Operation *op = nullptr;
  mlir::Value left, right;
  /// Extents of the result, except for those of `depth`.
  llvm::SmallVector<Extent> batches, rows, columns, depth;
  /// Whether the left operand is the op's second one.
  bool swapped = false;
  /// Of a contraction: the labels of `depth`.
  llvm::SmallVector<int64_t> depthLabels;
  /// The groups of a convolution: batches besides the extents.
  int64_t groups = 1;

  /// Nothing where `op` is neither of the two.
  static std::optional<MatrixProduct> of(mlir::Operation *op);

  /// The product of the extents' sizes, `ShapedType::kDynamic` where one is not known.
  static int64_t staticSize(llvm::ArrayRef<Extent> extents);

  int64_t staticBatches() const;

  /// Whether an operand's neighbours in memory are neighbours along the depth.
  bool isAlongDepth(bool isLeft) const;
};

} // namespace joule::nn
