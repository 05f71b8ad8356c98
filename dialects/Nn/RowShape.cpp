// Reductions seen as work on rows.
#include "dialects/Nn/RowShape.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace joule::nn;

/// The last dimension of row-major elements that is more than one long.
static unsigned innermostDim(RankedTensorType type) {
  for (unsigned dim = type.getRank(); dim-- > 0;)
    if (type.getDimSize(dim) != 1)
      return dim;
  return type.getRank() - 1;
}

std::optional<unsigned> joule::nn::contiguousDim(Value tensor) {
  auto type = cast<RankedTensorType>(tensor.getType());
  if (type.getRank() == 0)
    return std::nullopt;
  Operation *op = tensor.getDefiningOp();
  if (!op)
    return innermostDim(type);
  if (isa<CastOp, BitcastOp, tensor::CastOp>(op))
    return contiguousDim(op->getOperand(0));
  if (isPointwise(op))
    for (Value operand : op->getOperands())
      if (isa<RankedTensorType>(operand.getType()))
        return contiguousDim(operand);
  if (auto transpose = dyn_cast<TransposeOp>(op)) {
    std::optional<unsigned> inner = contiguousDim(transpose.getInput());
    if (!inner)
      return inner;
    const int64_t *found = llvm::find(transpose.getPermutation(), static_cast<int64_t>(*inner));
    return found - transpose.getPermutation().begin();
  }
  if (isa<ReshapeOp, SliceOp>(op))
    return innermostDim(type);
  return std::nullopt;
}

std::optional<RowShape> RowShape::of(Operation *op) {
  if (auto reduce = dyn_cast<ReduceOp>(op))
    return RowShape{op, reduce.getInput(), SmallVector<int64_t>(reduce.getAxes())};
  if (auto normalize = dyn_cast<NormalizeOp>(op))
    return RowShape{op, normalize.getInput(), SmallVector<int64_t>(normalize.getAxes())};
  if (auto reduce = dyn_cast<ArgReduceOp>(op))
    return RowShape{op, reduce.getInput(), {static_cast<int64_t>(reduce.getAxis())}};
  if (auto softmax = dyn_cast<SoftmaxOp>(op))
    return RowShape{op, softmax.getInput(), {static_cast<int64_t>(softmax.getAxis())}};
  return std::nullopt;
}

bool RowShape::isAlongMemory() const {
  auto type = cast<RankedTensorType>(input.getType());
  if (type.getRank() == 0)
    return true;
  std::optional<unsigned> inner = contiguousDim(input);
  return isAxis(inner ? *inner : innermostDim(type));
}

int64_t RowShape::staticSize(bool ofAxes) const {
  int64_t size = 1;
  for (auto [dim, length] : llvm::enumerate(cast<RankedTensorType>(input.getType()).getShape())) {
    if (isAxis(dim) != ofAxes)
      continue;
    if (ShapedType::isDynamic(length))
      return length;
    size *= length;
  }
  return size;
}
