// Elements that are constant, whatever operations stand between them and the model's constants.
#include "passes/OnnxToNn/ConstantValue.h"

#include "lib/Reference/Evaluate/Evaluate.h"

using namespace mlir;
using namespace joule;
using namespace joule::translate;

/// A larger tensor decides no size.
static constexpr int64_t maxElements = 4096;

std::optional<reference::Buffer> joule::translate::constantValue(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  Operation *op = value.getDefiningOp();
  if (!type || !type.hasStaticShape() || type.getNumElements() > maxElements || !op)
    return std::nullopt;
  if (auto constant = dyn_cast<nn::ConstantOp>(op)) {
    reference::WeightStore files;
    auto buffer = reference::bufferOf(constant.getValue(), type, files);
    return buffer ? std::optional(*buffer) : std::nullopt;
  }
  if (!reference::canEvaluate(op) || op->getNumOperands() == 0)
    return std::nullopt;
  SmallVector<reference::Buffer> operands;
  for (Value operand : op->getOperands()) {
    std::optional<reference::Buffer> buffer = constantValue(operand);
    if (!buffer)
      return std::nullopt;
    operands.push_back(*buffer);
  }
  auto results = reference::evaluate(op, operands);
  if (!results)
    return std::nullopt;
  return (*results)[cast<OpResult>(value).getResultNumber()];
}

FailureOr<SmallVector<double>> joule::translate::constantReals(Node &node, int64_t input) {
  std::optional<reference::Buffer> buffer = constantValue(node.value(input));
  if (!buffer)
    return node.error() << "needs input " << input << " when compiling, but only a run brings it";
  SmallVector<double> reals;
  for (int64_t position = 0; position < buffer->count(); ++position)
    reals.push_back(buffer->number(position));
  return reals;
}
