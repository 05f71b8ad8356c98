// How the kernels of a matrix product reach its operands: where an element is, and what of that need not be
// computed again for each.
#pragma once

#include "dialects/Nn/MatrixProduct.h"
#include "passes/NnToTile/Emitter.h"

namespace joule {

/// How many runs of `size` cover `count`.
mlir::Value runsOf(nn::ElementBuilder code, mlir::Value count, int64_t size);

/// The number of indices of `extents`, on the host.
mlir::Value countOnHost(GridWriter &writer, llvm::ArrayRef<nn::Extent> extents);

/// Coordinates of a flat index over extents.
class ExtentIndex {
public:
  ExtentIndex(KernelWriter &writer, llvm::ArrayRef<nn::Extent> extents);

  /// The number of flat indices.
  mlir::Value count() { return total; }

  /// The coordinates along each extent of `flat + offset`, `flat` being a multiple of `run` and `offset`
  /// below it.
  llvm::SmallVector<mlir::Value> split(mlir::Value flat, int64_t offset = 0, int64_t run = 1);

  llvm::ArrayRef<nn::Extent> extents() const { return list; }

private:
  KernelWriter &writer;
  llvm::SmallVector<nn::Extent> list;
  llvm::SmallVector<mlir::Value> sizes;
  mlir::Value total;
};

/// The way along the depth, in steps of `step` elements.
///
/// Where a step lies within the first extent (the channels of a convolution), the walk goes step by step
/// through all positions of the other extents (the window) first: then these are the same for all elements of
/// a step, and so is the answer to whether the window's position lies inside the input.
class DepthWalk {
public:
  DepthWalk(KernelWriter &writer, const nn::MatrixProduct &product, int64_t step);

  mlir::Value steps();

  /// Whether all elements of a step have the same coordinates but for the first extent.
  bool isUniform() const { return uniform; }

  /// Coordinates along the depth's extents of element `local + offset` of a step.
  llvm::SmallVector<mlir::Value> at(mlir::Value step, mlir::Value local, int64_t offset);

  /// Whether that element exists; null if all do.
  mlir::Value exists(mlir::Value step, mlir::Value local, int64_t offset);

  /// The extent along which alone the elements of a step differ, if there is one.
  std::optional<unsigned> movingExtent() const { return moving; }

  /// Whether an aligned run of `run` elements exists wholly or not at all.
  bool keepsRuns(int64_t run) const;

private:
  KernelWriter &writer;
  ExtentIndex all, others;
  int64_t step, staticDepth;
  bool uniform = false;
  std::optional<unsigned> moving;
};

/// An operand: its `lines` are the product's rows (the left one) or columns (the right one).
///
/// The indices of an element are a part that its line gives plus a part that its place along the depth gives,
/// and so is its position in memory. Kernels compute the first part once in front of their loop.
class MatrixOperand {
public:
  MatrixOperand(KernelWriter &writer, const nn::MatrixProduct &product, bool isLeft);

  struct Part {
    /// One per dimension, null for zero.
    llvm::SmallVector<mlir::Value> at;
    mlir::Value position;
    /// What is to be added to the position last, since memory instructions take a constant.
    mlir::Value further;
  };

  mlir::Value lines() { return lineIndex.count(); }
  int64_t staticLines() const { return nn::MatrixProduct::staticSize(lineIndex.extents()); }

  /// The part of line `line + offset` (see ExtentIndex::split) of `batch`.
  Part line(mlir::Value batch, mlir::Value line, int64_t offset = 0, int64_t run = 1);
  Part depth(llvm::ArrayRef<mlir::Value> coordinates);
  /// The part of a place `further` along one depth extent.
  Part deeper(const Part &depth, unsigned extent, int64_t further);

  /// Whether the element is one of the tensor's and not padding; null if it always is.
  mlir::Value inside(const Part &line, const Part &depth);

  /// The element, in the type in which products are summed.
  mlir::Value element(const Part &line, const Part &depth);

  /// The type in which products are summed.
  mlir::Type type() const { return accumulate; }

  /// Whether neighbours along the innermost depth extent, or neighbouring lines, are neighbours in memory.
  bool isAlongDepth() const { return alongDepth; }
  bool isAlongLines() const { return alongLines; }

  /// Whether neighbouring lines are exactly the neighbours in memory, with no step and no edge between them.
  bool hasNeighbourLines() { return alongLines && (!conv || isPointwise()); }

  /// Whether some elements may not be the tensor's, so that `inside` must be asked.
  bool hasWindow();

private:
  KernelWriter &writer;
  const nn::MatrixProduct &product;
  mlir::Value tensor;
  bool isUnsigned = false;
  mlir::Type compute, accumulate;
  ExtentIndex lineIndex, batchIndex;
  /// For each dimension of the tensor, the result dimension whose index it has, or -1.
  llvm::SmallVector<int64_t> resultDim;
  /// For each dimension, the depth extent it runs along, or -1, and how fast.
  llvm::SmallVector<int64_t> depthExtent;
  bool alongDepth = false, alongLines = false;
  /// Set where the tensor is a convolution's input.
  nn::ConvOp conv;

  void setUpContract(nn::ContractOp op, bool isFirst);
  void setUpConv(nn::ConvOp op, bool isLeft);
  void findContiguous(bool isLeft);
  bool isWindowed(unsigned dim);
  bool isPointwise();
  mlir::Value stride(unsigned dim);
  void addSpan(Part &part, const nn::Extent &extent, mlir::Value coordinate);
  void addTerm(Part &part, unsigned dim, mlir::Value term, bool withPosition);
  mlir::Value index(const Part &line, const Part &depth, unsigned dim);
};

/// Where results go: the indices and the position of element (batch, row, column) of the product's result.
class MatrixResult {
public:
  MatrixResult(KernelWriter &writer, const nn::MatrixProduct &product);

  MatrixOperand::Part batch(mlir::Value batch);
  MatrixOperand::Part row(mlir::Value row);
  MatrixOperand::Part column(mlir::Value column, int64_t offset = 0, int64_t run = 1);

  /// The elements of the kernel's results where the product is `sum`.
  llvm::SmallVector<mlir::Value> finish(llvm::ArrayRef<const MatrixOperand::Part *> parts, mlir::Value sum);
  /// Stores them there.
  void store(llvm::ArrayRef<const MatrixOperand::Part *> parts, mlir::ValueRange values);

private:
  KernelWriter &writer;
  const nn::MatrixProduct &product;
  mlir::Value root;
  ExtentIndex rows, columns, batches;
  llvm::SmallVector<mlir::Value> strides;
  mlir::Value current;

  MatrixOperand::Part part(ExtentIndex &extents, llvm::ArrayRef<mlir::Value> coordinates);
};

} // namespace joule
