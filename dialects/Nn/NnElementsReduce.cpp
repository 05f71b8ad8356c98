// Elements of the ops that combine elements along axes.
#include "dialects/Nn/ElementBuilder.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace joule::nn;

namespace {

Type elementOf(Value value) { return cast<RankedTensorType>(value.getType()).getElementType(); }

/// A tensor along some of its axes, the coordinates off them fixed.
struct Fibre {
  ElementBuilder &code;
  Value tensor;
  ArrayRef<int64_t> axes;
  /// A full tuple; the entries at `axes` are replaced.
  SmallVector<Value> at;

  /// `indices` are the coordinates off the axes.
  static Fibre fromRest(ElementBuilder &code, Value tensor, ArrayRef<int64_t> axes, ValueRange indices) {
    SmallVector<Value> at;
    int64_t rank = cast<RankedTensorType>(tensor.getType()).getRank();
    for (int64_t dim = 0; dim < rank; ++dim) {
      bool fixed = !llvm::is_contained(axes, dim);
      at.push_back(fixed ? indices.front() : Value());
      indices = fixed ? indices.drop_front() : indices;
    }
    return {code, tensor, axes, at};
  }

  SmallVector<Value> sizes() {
    SmallVector<Value> sizes;
    for (int64_t axis : axes)
      sizes.push_back(code.source.size(tensor, axis));
    return sizes;
  }

  Value element(ValueRange along) {
    SmallVector<Value> indices(at);
    for (auto [axis, index] : llvm::zip(axes, along))
      indices[axis] = index;
    return code.source.element(tensor, indices);
  }

  /// The coordinates off the axes.
  SmallVector<Value> rest() {
    SmallVector<Value> indices;
    for (auto [dim, index] : llvm::enumerate(at))
      if (!llvm::is_contained(axes, static_cast<int64_t>(dim)))
        indices.push_back(index);
    return indices;
  }

  /// The combination in `type` of `map` of all elements.
  Value reduce(Combiner combiner, Type type, function_ref<Value(Value)> map) {
    return code
        .loops(sizes(), code.neutral(combiner, type),
               [&](ValueRange along, ValueRange state) -> SmallVector<Value> {
                 Value next = map(castNumber(code, element(along), type));
                 return {code.combine(combiner, state.front(), next)};
               })
        .front();
  }
};

Type accumulateTypeOf(Type element, std::optional<PrecisionAttr> precision) {
  return precision ? precision->getAccumulate() : defaultAccumulateType(element);
}

} // namespace

Value ReduceOp::emitElement(OpBuilder &builder, Location loc, ElementSource &source, unsigned,
                            ValueRange indices) {
  ElementBuilder code{builder, loc, source};
  Type element = elementOf(getInput());
  Fibre fibre = Fibre::fromRest(code, getInput(), getAxes(), indices);
  Value sum =
      fibre.reduce(getCombiner(), accumulateTypeOf(element, getPrecision()), [](Value x) { return x; });
  return castNumber(code, sum, element);
}

namespace {

bool isUnsigned(Combiner combiner) {
  return combiner == Combiner::UnsignedMax || combiner == Combiner::UnsignedMin;
}
bool isMax(Combiner combiner) { return combiner == Combiner::Max || combiner == Combiner::UnsignedMax; }

/// Whether `x` takes the place of `best`; an equal one does where `orEqual`. NaN beats everything but NaN.
Value beats(ElementBuilder &code, Combiner combiner, Value x, Value best, bool orEqual) {
  if (isa<FloatType>(x.getType())) {
    auto greater = orEqual ? arith::CmpFPredicate::OGE : arith::CmpFPredicate::OGT;
    auto less = orEqual ? arith::CmpFPredicate::OLE : arith::CmpFPredicate::OLT;
    Value wins = code.make<arith::CmpFOp>(isMax(combiner) ? greater : less, x, best);
    Value isNan = code.make<arith::CmpFOp>(arith::CmpFPredicate::UNO, x, x);
    if (!orEqual)
      isNan = code.both(isNan, code.make<arith::CmpFOp>(arith::CmpFPredicate::ORD, best, best));
    return code.either(wins, isNan);
  }
  using P = arith::CmpIPredicate;
  P greater = isUnsigned(combiner) ? (orEqual ? P::uge : P::ugt) : (orEqual ? P::sge : P::sgt);
  P less = isUnsigned(combiner) ? (orEqual ? P::ule : P::ult) : (orEqual ? P::sle : P::slt);
  return code.make<arith::CmpIOp>(isMax(combiner) ? greater : less, x, best);
}

} // namespace

Value joule::nn::isMoreExtreme(ElementBuilder &code, Combiner combiner, Value x, Value best) {
  return beats(code, combiner, x, best, /*orEqual=*/false);
}

Value ArgReduceOp::emitElement(OpBuilder &builder, Location loc, ElementSource &source, unsigned,
                               ValueRange indices) {
  ElementBuilder code{builder, loc, source};
  int64_t axis = getAxis();
  Fibre fibre = Fibre::fromRest(code, getInput(), axis, indices);
  Type type = computeTypeOf(elementOf(getInput()));
  // An axis of neutral elements alone has its first one at 0, which the state starts with.
  Value state[] = {code.neutral(getCombiner(), type), code.index(0)};
  SmallVector<Value> best =
      code.loops(fibre.sizes(), state, [&](ValueRange along, ValueRange state) -> SmallVector<Value> {
        Value x = castNumber(code, fibre.element(along), type);
        Value wins = beats(code, getCombiner(), x, state[0], getSelectLast());
        return {code.select(wins, x, state[0]), code.select(wins, along.front(), state[1])};
      });
  return code.make<arith::IndexCastOp>(elementOf(getResult()), best[1]);
}

Value CumulateOp::emitElement(OpBuilder &builder, Location loc, ElementSource &source, unsigned,
                              ValueRange indices) {
  ElementBuilder code{builder, loc, source};
  int64_t axis = getAxis();
  Type element = elementOf(getInput()), type = defaultAccumulateType(element);
  Fibre fibre{code, getInput(), axis, SmallVector<Value>(indices)};
  Value last = code.sub(source.size(getInput(), axis), 1);
  Value before = getReverse() ? code.sub(last, indices[axis]) : indices[axis];
  Value count = getExclusive() ? before : code.add(before, 1);
  Value sum = code.loops(count, code.neutral(getCombiner(), type),
                         [&](ValueRange along, ValueRange state) -> SmallVector<Value> {
                           Value at = getReverse() ? code.sub(last, along.front()) : along.front();
                           Value next = castNumber(code, fibre.element(at), type);
                           return {code.combine(getCombiner(), state.front(), next)};
                         })
                  .front();
  return castNumber(code, sum, element);
}

Value SoftmaxOp::emitElement(OpBuilder &builder, Location loc, ElementSource &source, unsigned,
                             ValueRange indices) {
  ElementBuilder code{builder, loc, source};
  int64_t axis = getAxis();
  Type element = elementOf(getInput()), type = computeTypeOf(element);
  Fibre fibre{code, getInput(), axis, SmallVector<Value>(indices)};
  Value greatest = source.shared(getResult(), 1, fibre.rest(), [&] {
    return fibre.reduce(Combiner::Max, type, [](Value x) { return x; });
  });
  auto shifted = [&](Value x) { return code.make<arith::SubFOp>(x, greatest); };
  Value sum = source.shared(getResult(), 2, fibre.rest(), [&] {
    return fibre.reduce(Combiner::Sum, type, [&](Value x) { return code.make<math::ExpOp>(shifted(x)); });
  });
  Value x = shifted(castNumber(code, source.element(getInput(), indices), type));
  Value result = getLog() ? code.make<arith::SubFOp>(x, code.make<math::LogOp>(sum))
                          : code.make<arith::DivFOp>(code.make<math::ExpOp>(x), sum);
  return castNumber(code, result, element);
}

Value NormalizeOp::emitElement(OpBuilder &builder, Location loc, ElementSource &source, unsigned,
                               ValueRange indices) {
  ElementBuilder code{builder, loc, source};
  Type element = elementOf(getInput()), type = computeTypeOf(element);
  Fibre fibre{code, getInput(), getAxes(), SmallVector<Value>(indices)};
  auto mean = [&](function_ref<Value(Value)> map) {
    Value count = code.index(1);
    for (Value size : fibre.sizes())
      count = code.mul(count, size);
    Value sum = fibre.reduce(Combiner::Sum, type, map);
    count = code.make<arith::IndexCastOp>(builder.getI64Type(), count);
    return code.make<arith::DivFOp>(sum, code.make<arith::SIToFPOp>(type, count));
  };
  Value centre;
  if (!getRms())
    centre = source.shared(getResult(), 1, fibre.rest(), [&] { return mean([](Value x) { return x; }); });
  auto centred = [&](Value x) { return centre ? code.make<arith::SubFOp>(x, centre) : x; };
  Value deviation = source.shared(getResult(), 2, fibre.rest(), [&] {
    Value variance = mean([&](Value x) {
      Value difference = centred(x);
      return code.make<arith::MulFOp>(difference, difference);
    });
    Value epsilon = code.number(type, getEpsilon().convertToDouble());
    return code.make<math::SqrtOp>(code.make<arith::AddFOp>(variance, epsilon));
  });
  Value x = centred(castNumber(code, source.element(getInput(), indices), type));
  return castNumber(code, code.make<arith::DivFOp>(x, deviation), element);
}
