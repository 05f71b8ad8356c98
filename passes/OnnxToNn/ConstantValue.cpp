// Elements that are constant, whatever operations stand between them and the model's constants.
#include "passes/OnnxToNn/ConstantValue.h"

#include "lib/Reference/Evaluate/Evaluate.h"

using namespace mlir;
using namespace joule;
using namespace joule::translate;

namespace {

/// Larger tensors decide no size, and more operations than these are left to a pass.
constexpr int64_t maxElements = 1 << 16, maxOperations = 4096;

/// Computes what constants decide, each operation once.
class Evaluation {
public:
  std::optional<reference::Buffer> run(Value value);

private:
  /// Computes `op` where its operands are known; else asks for those. False where constants do not decide it.
  bool step(Operation *op);
  bool finish(Operation *op, ArrayRef<reference::Buffer> results);

  DenseMap<Value, reference::Buffer> known;
  SmallVector<Operation *> pending;
};

bool isSmall(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  return !type || (type.hasStaticShape() && type.getNumElements() <= maxElements);
}

std::optional<reference::Buffer> Evaluation::run(Value value) {
  if (!value.getDefiningOp())
    return std::nullopt;
  pending.push_back(value.getDefiningOp());
  for (int64_t steps = 0; !pending.empty(); ++steps)
    if (steps > maxOperations || !step(pending.back()))
      return std::nullopt;
  return known.lookup(value);
}

bool Evaluation::finish(Operation *op, ArrayRef<reference::Buffer> results) {
  for (auto [result, buffer] : llvm::zip(op->getResults(), results))
    known[result] = buffer;
  pending.pop_back();
  return true;
}

bool Evaluation::step(Operation *op) {
  // An operand of several operations was asked for several times.
  if (op->getNumResults() > 0 && known.contains(op->getResult(0))) {
    pending.pop_back();
    return true;
  }
  if (!llvm::all_of(op->getResults(), isSmall))
    return false;
  if (auto constant = dyn_cast<nn::ConstantOp>(op)) {
    reference::WeightStore files;
    auto buffer = reference::bufferOf(constant.getValue(), constant.getType(), files);
    return buffer && finish(op, *buffer);
  }
  if (!reference::canEvaluate(op) || op->getNumRegions() > 0)
    return false;
  SmallVector<reference::Buffer> operands;
  size_t waiting = pending.size();
  for (Value operand : op->getOperands()) {
    if (auto at = known.find(operand); at != known.end())
      operands.push_back(at->second);
    else if (operand.getDefiningOp())
      pending.push_back(operand.getDefiningOp());
    else
      return false;
  }
  if (pending.size() > waiting)
    return true;
  auto results = reference::evaluate(op, operands);
  return results && finish(op, *results);
}

} // namespace

std::optional<reference::Buffer> joule::translate::constantValue(Value value) { return Evaluation().run(value); }

FailureOr<SmallVector<double>> joule::translate::constantReals(Node &node, int64_t input) {
  std::optional<reference::Buffer> buffer = constantValue(node.value(input));
  if (!buffer)
    return node.unsupported() << "needs input " << input << " when compiling, but only a run brings it";
  SmallVector<double> reals;
  for (int64_t position = 0; position < buffer->count(); ++position)
    reals.push_back(buffer->number(position));
  return reals;
}
