// Matrix products, for translations that hold one.
#pragma once

#include "passes/OnnxToNn/Translator.h"

namespace joule::translate {

/// An operand of a contraction: its value, and its dimensions' sizes and labels.
struct Operand {
  Value value;
  Sizes sizes;
  SmallVector<int64_t> labels;
  int dataType;
};

/// The contraction of `lhs` and `rhs` into `out`, with elements of `resultType`.
Value contract(Node &node, const Operand &lhs, const Operand &rhs, llvm::ArrayRef<int64_t> out, int resultType);

/// The matrix product of numpy: batches are broadcast, vectors are rows on the left and columns on the right.
FailureOr<Tensor> matmul(Node &node, const Tensor &left, Value leftValue, const Tensor &right, Value rightValue,
                         int resultType);

} // namespace joule::translate
