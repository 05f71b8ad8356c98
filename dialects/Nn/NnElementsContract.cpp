// Elements of the ops that multiply and sum: contractions and convolutions.
#include "dialects/Nn/ElementBuilder.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace joule::nn;

namespace {

Type elementOf(Value value) { return cast<RankedTensorType>(value.getType()).getElementType(); }

/// How two operands are multiplied and their products summed.
struct Products {
  ElementBuilder &code;
  /// Operands are rounded to it; their product is not.
  Type compute;
  Type accumulate;
  bool unsignedLeft, unsignedRight;

  static Products of(ElementBuilder &code, Type operand, Type result, std::optional<PrecisionAttr> precision,
                     bool unsignedLeft, bool unsignedRight) {
    Type compute = precision ? precision->getCompute() : operand;
    Type accumulate = precision ? precision->getAccumulate() : defaultAccumulateType(result);
    return {code, isa<FloatType>(compute) ? compute : accumulate, accumulate, unsignedLeft, unsignedRight};
  }

  Value operand(Value value, bool isUnsigned) {
    CastRule rule{/*saturate=*/false, /*unsignedInput=*/isUnsigned, /*unsignedResult=*/false};
    return castNumber(code, castNumber(code, value, compute, rule), accumulate);
  }

  Value addTo(Value sum, Value left, Value right) {
    left = operand(left, unsignedLeft);
    right = operand(right, unsignedRight);
    if (isa<FloatType>(accumulate))
      return code.make<math::FmaOp>(left, right, sum);
    return code.add(sum, code.mul(left, right));
  }
};

} // namespace

Value ContractOp::emitElement(OpBuilder &builder, Location loc, ElementSource &source, unsigned,
                              ValueRange indices) {
  ElementBuilder code{builder, loc, source};
  llvm::SmallDenseMap<int64_t, Value> indexOf;
  for (auto [label, index] : llvm::zip(getOutLabels(), indices))
    indexOf[label] = index;
  SmallVector<int64_t> summed;
  SmallVector<Value> counts;
  auto collect = [&](Value tensor, ArrayRef<int64_t> labels) {
    for (auto [dim, label] : llvm::enumerate(labels))
      if (indexOf.try_emplace(label, Value()).second) {
        summed.push_back(label);
        counts.push_back(source.size(tensor, dim));
      }
  };
  collect(getLhs(), getLhsLabels());
  collect(getRhs(), getRhsLabels());
  auto element = [&](Value tensor, ArrayRef<int64_t> labels) {
    return source.element(tensor, llvm::map_to_vector(labels, [&](int64_t label) { return indexOf[label]; }));
  };
  Products products = Products::of(code, elementOf(getLhs()), elementOf(getResult()), getPrecision(),
                                   getUnsignedLhs(), getUnsignedRhs());
  Value sum = code.loops(counts, code.number(products.accumulate, 0),
                         [&](ValueRange along, ValueRange state) -> SmallVector<Value> {
                           for (auto [label, index] : llvm::zip(summed, along))
                             indexOf[label] = index;
                           return {products.addTo(state.front(), element(getLhs(), getLhsLabels()),
                                                  element(getRhs(), getRhsLabels()))};
                         })
                  .front();
  return castNumber(code, sum, elementOf(getResult()));
}

namespace {

/// A window position of a convolution along one spatial dimension: where in the input it lies and whether it
/// does.
struct Tap {
  Value at;
  Value inside;
};

Tap findTap(ElementBuilder &code, ConvOp op, unsigned dim, Value out, Value window) {
  int64_t dilation = op.getInputDilations()[dim];
  Value at = code.add(code.mul(out, op.getStrides()[dim]), code.mul(window, op.getDilations()[dim]));
  at = code.sub(at, op.getLow()[dim]);
  Value size = code.source.size(op.getInput(), dim + 2);
  if (dilation == 1)
    return {at, code.isInside(at, size)};
  Value spread = code.index(dilation);
  Value notBefore = code.make<arith::CmpIOp>(arith::CmpIPredicate::sge, at, code.index(0));
  Value onElement = code.make<arith::CmpIOp>(arith::CmpIPredicate::eq, code.rem(at, spread), code.index(0));
  at = code.div(at, spread);
  return {at, code.both(code.both(notBefore, onElement), code.isInside(at, size))};
}

/// Whether all taps along spatial dimension `dim` lie inside, as static sizes show.
bool neverOutside(ConvOp op, unsigned dim) {
  auto input = cast<RankedTensorType>(op.getInput().getType()), result = cast<RankedTensorType>(op.getType());
  int64_t size = input.getDimSize(dim + 2), out = result.getDimSize(dim + 2);
  int64_t window = cast<RankedTensorType>(op.getFilter().getType()).getDimSize(dim + 2);
  if (ShapedType::isDynamic(size) || ShapedType::isDynamic(out) || ShapedType::isDynamic(window))
    return false;
  return op.getLow()[dim] == 0 && op.getInputDilations()[dim] == 1 &&
         (out - 1) * op.getStrides()[dim] + (window - 1) * op.getDilations()[dim] < size;
}

/// The first input channel of output channel `k`'s group.
Value firstChannel(ElementBuilder &code, ConvOp op, Value k) {
  if (op.getGroups() == 1)
    return code.index(0);
  Value perGroup = code.div(code.source.size(op.getFilter(), 0), code.index(op.getGroups()));
  return code.mul(code.div(k, perGroup), code.source.size(op.getFilter(), 1));
}

} // namespace

Value ConvOp::emitElement(OpBuilder &builder, Location loc, ElementSource &source, unsigned,
                          ValueRange indices) {
  ElementBuilder code{builder, loc, source};
  unsigned spatial = indices.size() - 2;
  Products products = Products::of(code, elementOf(getInput()), elementOf(getResult()), getPrecision(),
                                   getUnsignedInput(), getUnsignedFilter());
  Value channel = firstChannel(code, *this, indices[1]);
  SmallVector<Value> counts;
  for (unsigned dim = 1; dim < spatial + 2; ++dim)
    counts.push_back(source.size(getFilter(), dim));

  auto addTap = [&](ValueRange along, ValueRange state) -> SmallVector<Value> {
    SmallVector<Value> at = {indices[0], code.add(channel, along.front())};
    SmallVector<Value> filterAt = {indices[1], along.front()};
    Value inside = code.number(builder.getI1Type(), 1);
    for (unsigned dim = 0; dim < spatial; ++dim) {
      Tap tap = findTap(code, *this, dim, indices[dim + 2], along[dim + 1]);
      at.push_back(tap.at);
      filterAt.push_back(along[dim + 1]);
      if (!neverOutside(*this, dim))
        inside = code.both(inside, tap.inside);
    }
    auto take = [&]() -> SmallVector<Value> {
      return {products.addTo(state.front(), source.element(getInput(), at),
                             source.element(getFilter(), filterAt))};
    };
    return code.choose(inside, products.accumulate, take,
                       [&]() -> SmallVector<Value> { return {state.front()}; });
  };
  Value sum = code.loops(counts, code.number(products.accumulate, 0), addTap).front();
  return castNumber(code, sum, elementOf(getResult()));
}
