// Quantisation: small integers and floats that stand for reals.
#include "passes/OnnxToNn/Maths.h"
#include "passes/OnnxToNn/Tables.h"

using namespace mlir;
using namespace joule;
using namespace joule::translate;

namespace {

/// Each entry of `value` along `axis` repeated `block` times, as many as `to` has there.
Value repeatBlocks(Node &node, Value value, ArrayRef<Index> from, ArrayRef<Index> to, int64_t axis, int64_t block) {
  IndexMath &math = node.math;
  Sizes apart(from.begin(), from.begin() + axis + 1), spread;
  apart.push_back(math.constant(1));
  apart.append(from.begin() + axis + 1, from.end());
  spread = apart;
  spread[axis + 1] = math.constant(block);
  Sizes joined(from);
  joined[axis] = math.mul(node.loc, from[axis], math.constant(block));
  Value repeated = node.broadcast(node.reshape(value, from, apart), apart, spread);
  Value whole = node.reshape(repeated, spread, joined);
  if (math.same(joined[axis], to[axis]))
    return whole;
  SmallVector<int64_t> offsets(to.size(), 0), strides(to.size(), 1);
  return node.builder.create<nn::SliceOp>(node.type(to, getElementTypeOrSelf(value)), whole, ValueRange(),
                                          node.dynamic(to), offsets, strides);
}

/// A scale or zero point as a tensor of the sizes of `x`: one for all, one per place along the axis, or one per block.
FailureOr<Value> spreadParameter(Node &node, const Tensor &x, int64_t input, Value value) {
  Tensor &parameter = node.input(input);
  if (parameter.rank() == 0)
    return node.broadcast(value, {}, x.sizes);
  if (parameter.rank() == 1 && parameter.knownSize(0) == 1)
    return node.broadcast(node.reshape(value, parameter.sizes, {}), {}, x.sizes);
  FailureOr<int64_t> axis = node.axis("axis", 1, x.rank());
  if (failed(axis))
    return failure();
  if (parameter.rank() == 1) {
    if (!node.math.same(parameter.sizes[0], x.sizes[*axis]) && parameter.knownSize(0) && x.knownSize(*axis))
      return node.error() << "has " << *parameter.knownSize(0) << " scales along an axis of " << *x.knownSize(*axis);
    return node.broadcastInDim(value, parameter.sizes, x.sizes, {*axis});
  }
  int64_t block = node.integer("block_size", 0);
  if (block < 1 || parameter.rank() != x.rank())
    return node.error() << "has scales of rank " << parameter.rank() << " and blocks of " << block;
  return repeatBlocks(node, value, parameter.sizes, x.sizes, *axis, block);
}

/// The type of numbers that an attribute names; `fallback` where it names none.
FailureOr<int> namedType(Node &node, StringRef attribute, int fallback, bool wantsFloat) {
  int64_t given = node.integer(attribute, 0);
  int dataType = given == 0 ? fallback : int(given);
  Type element = nnElementType(node.builder.getContext(), dataType);
  if (dataType != given && given != 0)
    element = Type();
  if (!element || !element.isIntOrFloat() || (wantsFloat && !isa<FloatType>(element)))
    return node.error() << "has " << attribute << " " << given << ", which is no type of such numbers";
  return dataType;
}

LogicalResult translateDequantize(Node &node) {
  Tensor &x = node.input(0), &scale = node.input(1);
  if (failed(node.wantFloat(1)))
    return failure();
  int computed = scale.dataType;
  FailureOr<int> resultType = namedType(node, "output_dtype", computed, /*wantsFloat=*/true);
  FailureOr<Value> factor = spreadParameter(node, x, 1, node.value(1));
  if (failed(resultType) || failed(factor))
    return failure();
  Maths maths(node, x.sizes, computed);
  Value value = node.value(0);
  if (node.has(2) && x.isInteger()) {
    // Integers are subtracted exactly, before they become reals.
    FailureOr<Value> zero = spreadParameter(node, x, 2, node.convert(node.value(2), node.input(2).dataType, Int32));
    if (failed(zero))
      return failure();
    Value difference = Maths(node, x.sizes, Int32).sub(node.convert(value, x.dataType, Int32), *zero);
    value = node.convert(difference, Int32, computed);
  } else {
    value = node.convert(value, x.dataType, computed);
  }
  Value result = maths.mul(value, *factor);
  return node.yield(node.convert(result, computed, *resultType), x.sizes, *resultType);
}

LogicalResult translateQuantize(Node &node) {
  Tensor &x = node.input(0), &scale = node.input(1);
  if (failed(node.wantNumber(0)) || failed(node.wantFloat(1)))
    return failure();
  FailureOr<int> named = namedType(node, "output_dtype", UInt8, /*wantsFloat=*/false),
                 precision = namedType(node, "precision", scale.dataType, /*wantsFloat=*/true);
  if (failed(named) || failed(precision))
    return failure();
  int resultType = node.has(2) ? node.input(2).dataType : *named, computed = *precision;
  Type element = nnElementType(node.builder.getContext(), resultType);
  FailureOr<Value> divisor = spreadParameter(node, x, 1, node.convert(node.value(1), scale.dataType, computed));
  if (failed(divisor))
    return failure();
  Maths maths(node, x.sizes, computed);
  Value value = maths.div(node.convert(node.value(0), x.dataType, computed), *divisor);
  if (element.isSignlessInteger()) {
    value = node.builder.create<math::RoundEvenOp>(value);
    if (node.has(2)) {
      FailureOr<Value> zero = spreadParameter(node, x, 2, node.convert(node.value(2), resultType, computed));
      if (failed(zero))
        return failure();
      value = maths.add(value, *zero);
    }
  }
  bool saturate = element.isSignlessInteger() || node.flag("saturate", true);
  return node.yield(node.convert(value, computed, resultType, saturate), x.sizes, resultType);
}

/// Scale and zero point from the range of the tensor, which includes 0.
LogicalResult translateDynamicQuantize(Node &node) {
  Tensor &x = node.input(0);
  if (failed(node.wantFloat(0)))
    return failure();
  SmallVector<int64_t> all = llvm::to_vector(llvm::seq<int64_t>(0, x.rank()));
  Maths one(node, {}, x.dataType), maths(node, x.sizes, x.dataType);
  Value greatest = one.max(node.reduce(nn::Combiner::Max, node.value(0), all), one.constant(0));
  Value least = one.min(node.reduce(nn::Combiner::Min, node.value(0), all), one.constant(0));
  Value scale = one.div(one.sub(greatest, least), one.constant(255));
  Value place = node.builder.create<math::RoundEvenOp>(one.negate(one.div(least, scale)));
  Value zero = node.convert(place, x.dataType, UInt8, true);
  Value steps = node.builder.create<math::RoundEvenOp>(maths.div(node.value(0), node.broadcast(scale, {}, x.sizes)));
  Value shifted = maths.add(steps, node.broadcast(node.convert(zero, UInt8, x.dataType), {}, x.sizes));
  return node.yield({node.tensor(node.convert(shifted, x.dataType, UInt8, true), x.sizes, UInt8),
                     node.tensor(scale, {}, x.dataType), node.tensor(zero, {}, UInt8)});
}

} // namespace

ArrayRef<Row> joule::translate::quantizeRows() {
  static const Row rows[] = {
      {"", "DequantizeLinear", 10, 2, 3, translateDequantize},
      {"", "QuantizeLinear", 10, 2, 3, translateQuantize},
      {"", "DynamicQuantizeLinear", 11, 1, 1, translateDynamicQuantize},
  };
  return rows;
}
