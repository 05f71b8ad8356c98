// Elements of a kernel's tensors: loads of its arguments, inlined definitions of everything else.
#pragma once

#include "dialects/Nn/ElementBuilder.h"
#include "dialects/Tile/TileDialect.h"

#include <map>

namespace joule {

/// The element source of one kernel. It writes code into the kernel's new block, while the old block, which
/// holds the nn ops, still stands.
///
/// What has been written is remembered by what it computes: the tensor and the values of its indices, where
/// two index values count as one if they are computed alike. So a chain of diamonds stays linear. A
/// remembered value is used only where it is in scope. An element that does not depend on a loop is written
/// in front of it, so that a row's sum inside a loop over that row costs once.
class KernelElements : public nn::ElementSource {
public:
  KernelElements(mlir::OpBuilder &builder, mlir::Block &newBody) : builder(builder), newBody(newBody) {}

  mlir::Value element(mlir::Value tensor, mlir::ValueRange indices) override;
  mlir::Value size(mlir::Value tensor, unsigned dim) override;
  mlir::Value index(mlir::Value operand) override { return scalar(operand); }
  mlir::Value position(mlir::Value tensor, mlir::ValueRange indices) override;
  llvm::SmallVector<mlir::Value> coordinates(mlir::Value tensor, mlir::Value position) override;
  mlir::Value shared(mlir::Value tensor, unsigned part, mlir::ValueRange indices,
                     llvm::function_ref<mlir::Value()> emit) override;

  /// The value in the kernel of a scalar of the old body: an argument, or a copy of its computation.
  mlir::Value scalar(mlir::Value old);

  /// The kernel's argument for one of the old body.
  mlir::Value argument(mlir::BlockArgument old) { return newBody.getArgument(old.getArgNumber()); }

  /// Says that `position` of `tensor` is at `indices`, so that it need not be computed from them.
  void relate(mlir::Value tensor, mlir::ValueRange indices, mlir::Value position) {
    positions[positionKey(tensor, indices)] = position;
  }

  /// From now on `element(tensor, …)` reads what a kernel emitter holds, such as a tile in registers, through
  /// `read` instead of the tensor's definition.
  using Reader = std::function<mlir::Value(mlir::ValueRange indices)>;
  void provide(mlir::Value tensor, Reader read) { readers[tensor] = std::move(read); }

  /// True once something could not be written; the error has been reported.
  bool hasFailed() const { return failed; }

private:
  using Number = unsigned;
  using Key = std::vector<uintptr_t>;

  mlir::OpBuilder &builder;
  mlir::Block &newBody;
  bool failed = false;
  llvm::DenseMap<mlir::Value, Reader> readers;
  llvm::DenseMap<mlir::Value, mlir::Value> scalars;
  /// Numbers of values: computed alike, numbered alike.
  std::map<Key, Number> numberOfKey;
  llvm::DenseMap<mlir::Value, Number> numberOfValue;
  std::map<Key, mlir::Value> written;
  /// For index tuples that `coordinates` made: the position they came from.
  std::map<Key, mlir::Value> positions;

  Number number(mlir::Value value);
  Key keyOf(mlir::Value tensor, unsigned part, mlir::ValueRange indices);
  Key positionKey(mlir::Value tensor, mlir::ValueRange indices);
  llvm::SmallVector<mlir::Value> sizes(mlir::Value tensor);
  mlir::Value recall(const std::map<Key, mlir::Value> &memory, const Key &key);
  void leaveLoops(mlir::ValueRange indices);
  mlir::Value define(mlir::Value tensor, mlir::ValueRange indices);
  mlir::Value defineByOp(mlir::OpResult tensor, mlir::ValueRange indices);
  mlir::Value pick(mlir::Location loc, mlir::Value position, llvm::ArrayRef<mlir::Value> elements);
  mlir::Value constant(mlir::Operation *op, mlir::Attribute value, mlir::ValueRange indices);
  mlir::Value fail(mlir::Operation *op, mlir::Type type, const llvm::Twine &message);
};

} // namespace joule
