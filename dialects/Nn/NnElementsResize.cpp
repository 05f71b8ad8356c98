// Elements of nn.resize: along each dimension a coordinate, taps around it and their weights.
#include "dialects/Nn/ElementBuilder.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace joule::nn;

namespace {

/// Coordinates are computed in f64: in f32 a quotient that should lie just beside a whole number may hit it,
/// and `nearest` then takes another element.
struct Real {
  ElementBuilder &code;
  Type f64 = code.builder.getF64Type();

  Value number(double value) { return code.number(f64, value); }
  Value fromIndex(Value index) {
    return code.make<arith::SIToFPOp>(f64, code.make<arith::IndexCastOp>(code.builder.getI32Type(), index));
  }
  /// Of a whole number of moderate size.
  Value toIndex(Value value) {
    value = code.make<arith::MaximumFOp>(value, number(-2147483647.0));
    value = code.make<arith::MinimumFOp>(value, number(2147483647.0));
    Value whole = code.make<arith::FPToSIOp>(code.builder.getI32Type(), value);
    return code.make<arith::IndexCastOp>(code.builder.getIndexType(), whole);
  }
  Value add(Value a, Value b) { return code.make<arith::AddFOp>(a, b); }
  Value sub(Value a, Value b) { return code.make<arith::SubFOp>(a, b); }
  Value mul(Value a, Value b) { return code.make<arith::MulFOp>(a, b); }
  Value div(Value a, Value b) { return code.make<arith::DivFOp>(a, b); }
  Value test(arith::CmpFPredicate predicate, Value a, double b) {
    return code.make<arith::CmpFOp>(predicate, a, number(b));
  }
};

/// One dimension of a resize at one output coordinate.
struct Dimension {
  /// The taps lie at `base + first + n`, `n` below `count`, `base` the whole number left of the coordinate
  /// (never the coordinate itself: `ratio`, its distance to the base, is in (0, 1]).
  Value base, first, count;
  Value ratio;
  /// What distances are shrunk by: below 1 where an antialiasing filter is widened.
  Value filterScale;
  /// The sum of all weights, or null where it is 1.
  Value total;
  Value size;
};

class Resize {
public:
  Resize(ElementBuilder &code, ResizeOp op) : code(code), real{code}, op(op) {}

  Value element(ValueRange indices) {
    Type type = cast<RankedTensorType>(op.getInput().getType()).getElementType();
    Value outside = code.number(code.builder.getI1Type(), 0);
    for (auto [dim, index] : llvm::enumerate(indices)) {
      if (isUnchanged(dim)) {
        at.push_back(index);
        continue;
      }
      Value x = coordinate(dim, index);
      if (op.getCoordinate() == CoordinateMode::TfCropAndResize)
        outside = code.either(outside, isOutside(dim, x));
      if (op.getSample() == SampleMode::Nearest) {
        at.push_back(nearest(dim, x));
        continue;
      }
      at.emplace_back();
      sampled.push_back(dim);
      dimensions.push_back(prepare(dim, x));
    }
    auto extrapolate = [&]() -> SmallVector<Value> {
      Value constant = code.number(code.builder.getF32Type(), op.getExtrapolation().convertToFloat());
      return {castNumber(code, constant, type)};
    };
    return code.choose(outside, type, extrapolate, [&]() -> SmallVector<Value> { return {sample(type)}; })
        .front();
  }

private:
  ElementBuilder &code;
  Real real;
  ResizeOp op;
  /// The input's indices, null along the sampled dimensions.
  SmallVector<Value> at;
  SmallVector<unsigned> sampled;
  SmallVector<Dimension> dimensions;

  Value inputs(unsigned dim) { return real.fromIndex(code.source.size(op.getInput(), dim)); }
  Value outputs(unsigned dim) { return real.fromIndex(code.source.size(op.getResult(), dim)); }

  Value statedScale(unsigned dim) { return code.source.element(op.getScales(), code.index(dim)); }

  /// Whether the scale is what f32 makes of the sizes' ratio; then it stands for that ratio.
  Value isRatio(unsigned dim) {
    Value nearest = code.make<arith::TruncFOp>(code.builder.getF32Type(), real.div(outputs(dim), inputs(dim)));
    return code.make<arith::CmpFOp>(arith::CmpFPredicate::OEQ, nearest, statedScale(dim));
  }

  Value scale(unsigned dim) {
    Value stated = code.make<arith::ExtFOp>(real.f64, statedScale(dim));
    return code.select(isRatio(dim), real.div(outputs(dim), inputs(dim)), stated);
  }

  /// The output size as the scale has it, which may be fractional.
  Value width(unsigned dim) {
    return code.select(isRatio(dim), outputs(dim), real.mul(scale(dim), inputs(dim)));
  }

  Value region(unsigned number) {
    return castNumber(code, code.source.element(op.getRoi(), code.index(number)), real.f64);
  }

  /// Whether every coordinate is its own image, as constants show.
  bool isUnchanged(unsigned dim) {
    auto input = cast<RankedTensorType>(op.getInput().getType()),
         result = cast<RankedTensorType>(op.getType());
    if (op.getCoordinate() == CoordinateMode::TfCropAndResize || input.isDynamicDim(dim) ||
        input.getDimSize(dim) != result.getDimSize(dim))
      return false;
    FloatAttr constant;
    Value scale = code.source.element(op.getScales(), code.index(dim));
    return matchPattern(scale, m_Constant(&constant)) && constant.getValueAsDouble() == 1.0;
  }

  /// The input coordinate of output coordinate `index`, as ONNX Resize defines each mode.
  Value coordinate(unsigned dim, Value index) {
    Value x = real.fromIndex(index), in = inputs(dim);
    Value factor = scale(dim), out = width(dim), half = real.number(0.5), one = real.number(1);
    auto halfPixel = [&] { return real.sub(real.div(real.add(x, half), factor), half); };
    auto unlessSingle = [&](Value size, Value many, Value single) {
      return code.select(real.test(arith::CmpFPredicate::OEQ, size, 1), single, many);
    };
    auto stretched = [&] { return real.div(real.mul(x, real.sub(in, one)), real.sub(out, one)); };
    switch (op.getCoordinate()) {
    case CoordinateMode::HalfPixel:
      return halfPixel();
    case CoordinateMode::HalfPixelSymmetric: {
      Value adjustment = real.div(outputs(dim), out);
      Value offset = real.mul(real.mul(in, half), real.sub(one, adjustment));
      return real.add(offset, halfPixel());
    }
    case CoordinateMode::PytorchHalfPixel:
      return unlessSingle(outputs(dim), halfPixel(), real.number(0));
    case CoordinateMode::AlignCorners:
      return unlessSingle(out, stretched(), real.number(0));
    case CoordinateMode::Asymmetric:
      return real.div(x, factor);
    case CoordinateMode::TfHalfPixelForNn:
      return real.div(real.add(x, half), factor);
    case CoordinateMode::TfCropAndResize: {
      Value start = region(dim), end = region(dim + rank());
      Value last = real.sub(in, one), span = real.sub(end, start);
      Value many = real.div(real.mul(real.mul(x, span), last), real.sub(out, one));
      Value single = real.mul(real.mul(span, last), half);
      return real.add(unlessSingle(outputs(dim), many, single), real.mul(start, last));
    }
    }
    return {};
  }

  unsigned rank() { return cast<RankedTensorType>(op.getType()).getRank(); }

  Value isOutside(unsigned dim, Value x) {
    Value last = real.fromIndex(code.sub(code.source.size(op.getInput(), dim), 1));
    Value before = real.test(arith::CmpFPredicate::OLT, x, 0);
    return code.either(before, code.make<arith::CmpFOp>(arith::CmpFPredicate::OGT, x, last));
  }

  Value nearest(unsigned dim, Value x) {
    Value half = real.number(0.5), rounded;
    switch (op.getNearest()) {
    case NearestMode::RoundPreferFloor:
      rounded = code.make<math::CeilOp>(real.sub(x, half));
      break;
    case NearestMode::RoundPreferCeil:
      rounded = code.make<math::FloorOp>(real.add(x, half));
      break;
    case NearestMode::Floor:
      rounded = code.make<math::FloorOp>(x);
      break;
    case NearestMode::Ceil:
      rounded = code.make<math::CeilOp>(x);
      break;
    }
    return code.clampInto(real.toIndex(rounded), code.source.size(op.getInput(), dim));
  }

  Dimension prepare(unsigned dim, Value x) {
    Dimension result;
    result.size = code.source.size(op.getInput(), dim);
    Value base = real.sub(code.make<math::CeilOp>(x), real.number(1));
    result.base = real.toIndex(base);
    result.ratio = real.sub(x, base);
    int64_t support = op.getSample() == SampleMode::Cubic ? 2 : 1;
    result.first = code.index(1 - support);
    result.count = code.index(2 * support);
    result.filterScale = real.number(1);
    if (op.getAntialias()) {
      result.filterScale = code.make<arith::MinimumFOp>(scale(dim), real.number(1));
      Value reach = code.make<math::FloorOp>(real.div(real.number(-support), result.filterScale));
      result.first = code.add(real.toIndex(reach), 1);
      result.count = code.sub(code.index(2), code.mul(result.first, 2));
    }
    if (op.getAntialias() || op.getExcludeOutside())
      result.total = totalWeight(result);
    return result;
  }

  Value totalWeight(const Dimension &dimension) {
    return code
        .loops(dimension.count, real.number(0),
               [&](ValueRange along, ValueRange state) -> SmallVector<Value> {
                 return {real.add(state.front(), rawWeight(dimension, along.front()))};
               })
        .front();
  }

  Value position(const Dimension &dimension, Value tap) {
    return code.add(dimension.base, code.add(dimension.first, tap));
  }

  /// The filter at tap `tap`, before division by the sum of all.
  Value rawWeight(const Dimension &dimension, Value tap) {
    Value distance = real.sub(real.fromIndex(code.add(dimension.first, tap)), dimension.ratio);
    Value x = code.make<math::AbsFOp>(real.mul(distance, dimension.filterScale));
    Value weight = op.getSample() == SampleMode::Cubic ? cubic(x) : linear(x);
    if (op.getExcludeOutside())
      weight = code.select(code.isInside(position(dimension, tap), dimension.size), weight, real.number(0));
    return weight;
  }

  Value linear(Value x) { return code.make<arith::MaximumFOp>(real.sub(real.number(1), x), real.number(0)); }

  /// Keys' cubic: one polynomial up to 1, one up to 2.
  Value cubic(Value x) {
    double a = op.getCubicA().convertToFloat();
    auto polynomial = [&](std::initializer_list<double> coefficients) {
      Value sum = real.number(0);
      for (double coefficient : coefficients)
        sum = real.add(real.mul(sum, x), real.number(coefficient));
      return sum;
    };
    Value near = polynomial({a + 2, -(a + 3), 0, 1}), far = polynomial({a, -5 * a, 8 * a, -4 * a});
    far = code.select(real.test(arith::CmpFPredicate::OLT, x, 2), far, real.number(0));
    return code.select(real.test(arith::CmpFPredicate::OLE, x, 1), near, far);
  }

  Value sample(Type type) {
    if (dimensions.empty())
      return code.source.element(op.getInput(), at);
    Type wide = isa<FloatType>(type) ? computeTypeOf(type) : code.builder.getF32Type();
    SmallVector<Value> counts = llvm::map_to_vector(dimensions, [](Dimension &d) { return d.count; });
    auto addTap = [&](ValueRange along, ValueRange state) -> SmallVector<Value> {
      Value weight = real.number(1);
      SmallVector<Value> indices(at);
      for (auto [dim, dimension, tap] : llvm::zip(sampled, dimensions, along)) {
        indices[dim] = code.clampInto(position(dimension, tap), dimension.size);
        Value raw = rawWeight(dimension, tap);
        weight = real.mul(weight, dimension.total ? real.div(raw, dimension.total) : raw);
      }
      Value x = castNumber(code, code.source.element(op.getInput(), indices), wide);
      return {code.make<math::FmaOp>(castNumber(code, weight, wide), x, state.front())};
    };
    Value sum = code.loops(counts, code.number(wide, 0), addTap).front();
    return castNumber(code, sum, type);
  }
};

} // namespace

Value ResizeOp::emitElement(OpBuilder &builder, Location loc, ElementSource &source, unsigned,
                            ValueRange indices) {
  ElementBuilder code{builder, loc, source};
  return Resize(code, *this).element(indices);
}
