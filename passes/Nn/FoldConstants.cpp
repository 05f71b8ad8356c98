// Computes what depends on constants alone, with the reference kernels.
#include "passes/Nn/Passes.h"

#include "lib/Reference/Evaluate/Evaluate.h"

namespace joule {
#define GEN_PASS_DEF_FOLDCONSTANTS
#include "passes/Nn/Passes.h.inc"
} // namespace joule

using namespace mlir;
using namespace joule;

namespace {

/// Results up to this many bytes are elements in the IR; MLIR never frees attributes, so larger ones are blobs.
constexpr size_t maxElementBytes = 1024;

struct FoldConstants : joule::impl::FoldConstantsBase<FoldConstants> {
  using FoldConstantsBase::FoldConstantsBase;
  explicit FoldConstants(reference::WeightStore &store) : store(&store) {}
  FoldConstants(const FoldConstants &other) : FoldConstantsBase(other), store(other.store) {
    if (store == &other.own)
      store = &own;
  }

  void runOnOperation() override {
    // In program order, so that a chain of constants folds in one walk.
    getOperation().walk<WalkOrder::PreOrder>([&](Operation *op) {
      if (isa<nn::FusedOp>(op))
        return WalkResult::skip();
      if (failed(fold(op))) {
        signalPassFailure();
        return WalkResult::interrupt();
      }
      return WalkResult::advance();
    });
  }

  /// A value that is constant: an nn.constant, or one repeated, which stays unfolded.
  bool isConstant(Value value) {
    if (auto broadcast = value.getDefiningOp<nn::BroadcastOp>())
      return broadcast.getSizes().empty() && isConstant(broadcast.getInput());
    return value.getDefiningOp<nn::ConstantOp>() != nullptr;
  }

  reference::Result<reference::Buffer> bufferOf(Value value) {
    if (auto broadcast = value.getDefiningOp<nn::BroadcastOp>()) {
      reference::Result<reference::Buffer> input = bufferOf(broadcast.getInput());
      if (!input)
        return input;
      auto result = reference::evaluate(broadcast, *input);
      if (!result)
        return reference::Failure{result.error()};
      return (*result)[0];
    }
    auto constant = value.getDefiningOp<nn::ConstantOp>();
    return reference::bufferOf(constant.getValue(), constant.getType(), *store);
  }

  static uint64_t bytesOf(Type type) {
    auto tensor = cast<RankedTensorType>(type);
    Type element = tensor.getElementType();
    return tensor.getNumElements() * (element.isIntOrFloat() ? std::max(element.getIntOrFloatBitWidth(), 8u) / 8 : 1);
  }

  /// True where the results are static tensors that are not much larger than what they are made of.
  bool isWorthFolding(Operation *op) {
    uint64_t operands = 0, results = 0;
    for (Value operand : op->getOperands()) {
      Operation *definition = operand.getDefiningOp();
      if (auto broadcast = dyn_cast<nn::BroadcastOp>(definition))
        operand = broadcast.getInput();
      operands += bytesOf(operand.getType());
    }
    for (Type type : op->getResultTypes()) {
      auto tensor = dyn_cast<RankedTensorType>(type);
      if (!tensor || !tensor.hasStaticShape())
        return false;
      results += bytesOf(type);
    }
    return results <= maxGrowth || results <= 2 * operands;
  }

  LogicalResult fold(Operation *op) {
    if (op->getNumOperands() == 0 || op->getNumResults() == 0 || isa<nn::ConstantOp>(op) || op->use_empty() ||
        !llvm::all_of(op->getOperands(), [&](Value operand) { return isConstant(operand); }) ||
        !reference::canEvaluate(op) || !isWorthFolding(op))
      return success();
    SmallVector<reference::Buffer> operands;
    for (Value operand : op->getOperands()) {
      reference::Result<reference::Buffer> buffer = bufferOf(operand);
      if (!buffer)
        return op->emitError() << buffer.error();
      operands.push_back(*buffer);
    }
    auto results = reference::evaluate(op, operands);
    // What the reference cannot compute now, the kernel will have to.
    if (!results)
      return success();
    OpBuilder builder(op);
    for (auto [value, buffer] : llvm::zip(op->getResults(), *results))
      value.replaceAllUsesWith(
          builder.create<nn::ConstantOp>(op->getLoc(), value.getType(), attributeOf(buffer, value.getType())));
    return success();
  }

  Attribute attributeOf(const reference::Buffer &buffer, Type type) {
    if (buffer.bytes.size() <= maxElementBytes)
      if (DenseElementsAttr elements = reference::denseAttribute(buffer, cast<RankedTensorType>(type)))
        return elements;
    return nn::WeightAttr::get(type.getContext(), store->add(buffer.bytes), 0, buffer.bytes.size());
  }

  reference::WeightStore own;
  reference::WeightStore *store = &own;
};

} // namespace

std::unique_ptr<Pass> joule::createFoldConstants(reference::WeightStore &store) {
  return std::make_unique<FoldConstants>(store);
}
