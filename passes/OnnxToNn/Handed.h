// Tensors that cross the border of a branch or an iteration.
//
// Such a tensor may have sizes that differ from one way to the next. A size of that kind is handed on beside the tensor,
// as an index value; on the other side an nn.reshape to the same type ties the two together again.
#pragma once

#include "passes/OnnxToNn/Translator.h"

#include "llvm/ADT/SmallBitVector.h"

namespace joule::translate {

/// Tensors on their way across, with their sizes.
class Handed {
public:
  Handed(Translator &translator, Location loc) : translator(translator), loc(loc) {}

  /// Plans a tensor of `sizes`; those in `varying` are handed on beside it.
  void add(int dataType, llvm::ArrayRef<Index> sizes, const llvm::SmallBitVector &varying);

  RankedTensorType type(size_t number) const;
  /// Types of the tensors, then of their sizes. Every dynamic size goes along, since the operation's results know no
  /// other.
  SmallVector<Type> types() const;
  /// The values to hand on where the builder stands.
  SmallVector<Value> values(llvm::ArrayRef<Tensor *> tensors);
  /// Values of the same types that nobody will read: the way here ends the run.
  SmallVector<Value> placeholders();
  /// The tensors that `values`, as `values` gave them, are on the other side. A size that does not vary keeps its name.
  SmallVector<Tensor> tensors(mlir::ValueRange values);

private:
  struct Entry {
    int dataType;
    Type element;
    Sizes sizes;
    llvm::SmallBitVector varying;
  };
  Value materializeAs(Tensor &tensor, RankedTensorType type);
  Value zero(const Entry &entry, llvm::ArrayRef<Value> sizes, RankedTensorType type);

  Translator &translator;
  Location loc;
  std::vector<Entry> entries;
};

/// `condition` is not 0, as a bool.
Value isTrue(Translator &translator, Location loc, Index condition);

/// The single element of a host condition.
FailureOr<Index> conditionOf(Node &node, Tensor &tensor);

/// The subgraph that the node calls `name`.
FailureOr<mlir::Block *> subgraph(Node &node, llvm::StringRef name);

/// An error unless `tensor` is one of numbers.
LogicalResult wantTensor(Node &node, const Tensor &tensor);

} // namespace joule::translate
