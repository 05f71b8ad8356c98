// What the nn ops fold to: movement that moves nothing disappears, chains of movement become one.
#include "dialects/Nn/NnDialect.h"

#include "mlir/IR/PatternMatch.h"

using namespace mlir;
using namespace joule::nn;

/// True where both have one static type, so that equal shapes are known to be equal sizes.
static bool sameStaticType(Value input, Value result) {
  return input.getType() == result.getType() && cast<RankedTensorType>(input.getType()).hasStaticShape();
}

static bool all(ArrayRef<int64_t> values, int64_t wanted) {
  return llvm::all_of(values, [&](int64_t value) { return value == wanted; });
}

OpFoldResult BroadcastOp::fold(FoldAdaptor) {
  if (sameStaticType(getInput(), getResult()))
    return getInput();
  return {};
}

OpFoldResult ReshapeOp::fold(FoldAdaptor) {
  if (sameStaticType(getInput(), getResult()))
    return getInput();
  if (auto inner = getInput().getDefiningOp<ReshapeOp>()) {
    getInputMutable().assign(inner.getInput());
    return getResult();
  }
  return {};
}

OpFoldResult TransposeOp::fold(FoldAdaptor) {
  if (llvm::is_sorted(getPermutation()))
    return getInput();
  if (auto inner = getInput().getDefiningOp<TransposeOp>()) {
    SmallVector<int64_t> combined;
    for (int64_t dim : getPermutation())
      combined.push_back(inner.getPermutation()[dim]);
    getInputMutable().assign(inner.getInput());
    setPermutation(combined);
    return getResult();
  }
  return {};
}

OpFoldResult SliceOp::fold(FoldAdaptor) {
  if (sameStaticType(getInput(), getResult()) && all(getStaticOffsets(), 0) && all(getStrides(), 1))
    return getInput();
  return {};
}

OpFoldResult PadOp::fold(FoldAdaptor) {
  if (sameStaticType(getInput(), getResult()) && all(getLow(), 0))
    return getInput();
  return {};
}

OpFoldResult ConcatOp::fold(FoldAdaptor) {
  if (getInputs().size() == 1 && getInputs().front().getType() == getType())
    return getInputs().front();
  return {};
}

OpFoldResult CastOp::fold(FoldAdaptor) {
  bool sameMeaning = !getSaturate() || getUnsignedInput() == getUnsignedResult();
  if (getInput().getType() == getType() && sameMeaning)
    return getInput();
  return {};
}

/// True where `value` is a constant all of whose elements are zero (and not minus zero).
static bool isZero(Value value) {
  auto constant = value.getDefiningOp<ConstantOp>();
  auto elements = constant ? dyn_cast<DenseElementsAttr>(constant.getValue()) : DenseElementsAttr();
  return elements && llvm::all_of(elements.getRawData(), [](char byte) { return byte == 0; });
}

/// conv(pad(x)) with zeros around the spatial dimensions is a convolution with more padding of its own: the size of
/// the result says how far the window goes.
static LogicalResult takePadding(ConvOp conv, PatternRewriter &rewriter) {
  auto pad = conv.getInput().getDefiningOp<PadOp>();
  if (!pad || pad.getMode() != PadMode::Constant || !pad.getLows().empty())
    return rewriter.notifyMatchFailure(conv, "the input is not a constant padding");
  if (!isZero(pad.getValue()))
    return rewriter.notifyMatchFailure(conv, "the padding is not zero");
  auto from = cast<RankedTensorType>(pad.getInput().getType()), to = cast<RankedTensorType>(pad.getType());
  bool channelsKept = pad.getLow()[0] == 0 && pad.getLow()[1] == 0 && from.getShape().take_front(2) == to.getShape().take_front(2);
  if (!channelsKept || !all(conv.getInputDilations(), 1))
    return rewriter.notifyMatchFailure(conv, "the padding touches more than space");
  // Cropping or padding that ends before the window does would be read through.
  SmallVector<int64_t> low(conv.getLow());
  for (auto [dim, more] : llvm::enumerate(pad.getLow().drop_front(2))) {
    if (more < 0 || from.isDynamicDim(dim + 2) || to.getDimSize(dim + 2) - more < from.getDimSize(dim + 2))
      return rewriter.notifyMatchFailure(conv, "the padding crops");
    low[dim] += more;
  }
  rewriter.modifyOpInPlace(conv, [&] {
    conv.getInputMutable().assign(pad.getInput());
    conv.setLow(low);
  });
  return success();
}

void ConvOp::getCanonicalizationPatterns(RewritePatternSet &patterns, MLIRContext *) { patterns.add(takePadding); }
