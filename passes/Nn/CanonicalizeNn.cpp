// Upstream's canonicalizer, for tensors whose sizes a run decides.
//
// Upstream folds `x - x` to a constant of x's type. Where that is tensor<?xi32>, the constant says nothing of its size,
// and no one can find it any more. So it becomes a scalar that is repeated to the size of what it replaces.
#include "passes/Nn/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace joule {
#define GEN_PASS_DEF_CANONICALIZENN
#include "passes/Nn/Passes.h.inc"
} // namespace joule

using namespace mlir;
using namespace joule;

namespace {

/// `elements`, all equal, repeated to `sizes`.
Value repeat(OpBuilder &builder, Location loc, DenseElementsAttr elements, RankedTensorType type,
             ArrayRef<OpFoldResult> sizes) {
  auto scalar = RankedTensorType::get({}, type.getElementType());
  auto value = DenseElementsAttr::get(scalar, elements.getSplatValue<Attribute>());
  SmallVector<Value> dynamic;
  for (auto [size, known] : llvm::zip(sizes, type.getShape()))
    if (ShapedType::isDynamic(known))
      dynamic.push_back(cast<Value>(size));
  auto constant = builder.create<nn::ConstantOp>(loc, scalar, value);
  return builder.create<nn::BroadcastOp>(loc, type, constant, dynamic, ArrayRef<int64_t>());
}

/// The driver makes a constant before the op that it folds, tells its listener, and then puts it in the op's place.
struct ConstantListener : RewriterBase::Listener {
  void notifyOperationInserted(Operation *op, OpBuilder::InsertPoint previous) override {
    auto constant = dyn_cast<arith::ConstantOp>(op);
    auto type = constant ? dyn_cast<RankedTensorType>(constant.getType()) : RankedTensorType();
    Operation *folded = op->getNextNode();
    if (!type || type.hasStaticShape() || !folded)
      return;
    for (Value result : folded->getResults()) {
      if (result.getType() != type || failed(nn::sizesOf(result)))
        continue;
      OpBuilder builder(folded);
      result.replaceAllUsesWith(repeat(builder, op->getLoc(), cast<DenseElementsAttr>(constant.getValue()), type,
                                       *nn::sizesOf(result)));
    }
  }
};

struct CanonicalizeNn : joule::impl::CanonicalizeNnBase<CanonicalizeNn> {
  LogicalResult initialize(MLIRContext *context) override {
    RewritePatternSet all(context);
    for (Dialect *dialect : context->getLoadedDialects())
      dialect->getCanonicalizationPatterns(all);
    for (RegisteredOperationName op : context->getRegisteredOperations())
      op.getCanonicalizationPatterns(all, context);
    patterns = std::move(all);
    return success();
  }

  void runOnOperation() override {
    ConstantListener listener;
    GreedyRewriteConfig config;
    config.listener = &listener;
    // As upstream: what has not come to rest after some rounds is still right.
    (void)applyPatternsAndFoldGreedily(getOperation(), patterns, config);
  }

  FrozenRewritePatternSet patterns;
};

} // namespace
