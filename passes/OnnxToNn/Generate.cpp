// Operators whose results follow from sizes and positions.
#include "passes/OnnxToNn/Maths.h"
#include "passes/OnnxToNn/RunSizes.h"
#include "passes/OnnxToNn/Tables.h"

#include "dialects/Onnx/ElementTypes.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace joule::translate;

namespace {

// Up to here a constant vector is taken for shape arithmetic.
constexpr int64_t maxHostElements = 64;

LogicalResult translateConstantOfShape(Node &node) {
  FailureOr<SmallVector<Index>> sizes = node.indices(0);
  if (failed(sizes))
    return failure();
  int dataType = Float;
  Attribute attribute = node.op.getNodeAttributes().get("value");
  auto value = dyn_cast_or_null<DenseElementsAttr>(attribute);
  if (attribute && (!value || value.getNumElements() != 1))
    return node.error() << "has a value that is not one element";
  if (value)
    dataType = joule::dataTypeOf(value.getElementType());
  Type element = nnElementType(node.builder.getContext(), dataType);
  auto scalarType = RankedTensorType::get({}, element);
  SmallVector<int64_t> shape;
  for (Index size : *sizes) {
    shape.push_back(IndexMath::known(size).value_or(ShapedType::kDynamic));
    if (shape.back() < 0 && !ShapedType::isDynamic(shape.back()))
      return node.error() << "makes a dimension of " << shape.back() << " elements";
  }
  if (failed(requireSizes(node, *sizes)))
    return failure();
  if (!value)
    return node.yield(node.splat(0, element, *sizes), *sizes, dataType);
  auto scalar = cast<DenseElementsAttr>(nnConstant(value)).reshape(scalarType);
  if (element.isSignlessInteger() && !ShapedType::isDynamicShape(shape) &&
      ShapedType::getNumElements(shape) <= maxHostElements) {
    APInt number = scalar.getSplatValue<APInt>();
    Index index = node.math.constant(isUnsignedType(dataType) ? number.getZExtValue() : number.getSExtValue());
    return node.yield({node.hostTensor(SmallVector<Index>(ShapedType::getNumElements(shape), index), shape, dataType)});
  }
  Value constant = node.translator.constant(scalar, scalarType);
  return node.yield(node.broadcast(constant, {}, *sizes), *sizes, dataType);
}

/// start + i * delta, for each i below ceil((limit - start) / delta).
LogicalResult translateRange(Node &node) {
  int dataType = node.input(0).dataType;
  for (int64_t input = 0; input < 3; ++input) {
    Tensor &bound = node.input(input);
    if (failed(node.wantNumber(input)) || failed(node.wantSameElement(0, input)))
      return failure();
    if (bound.rank() > 1 || (bound.rank() == 1 && bound.knownSize(0) != 1))
      return node.error() << "has a bound of type " << bound.type() << ", which is not one number";
  }
  auto scalar = [&](int64_t input) { return node.reshape(node.value(input), node.input(input).sizes, {}); };
  Index count;
  IndexMath &math = node.math;
  Location loc = node.loc;
  if (node.input(0).isInteger()) {
    Index bounds[3];
    for (int64_t input = 0; input < 3; ++input) {
      FailureOr<SmallVector<Index>> bound = node.indices(input);
      if (failed(bound))
        return failure();
      bounds[input] = bound->front();
    }
    if (IndexMath::known(bounds[2]) == 0)
      return node.error() << "has a delta of 0";
    count = math.ceilDiv(loc, math.sub(loc, bounds[1], bounds[0]), bounds[2]);
  } else {
    Maths m(node, {}, dataType);
    Value steps = m.div(m.sub(scalar(1), scalar(0)), scalar(2));
    Value whole = node.convert(node.builder.create<math::CeilOp>(steps), dataType, Int64);
    Value number = node.builder.create<tensor::ExtractOp>(whole, ValueRange());
    count = node.builder.create<arith::IndexCastOp>(node.builder.getIndexType(), number).getResult();
  }
  Sizes sizes = {math.max(loc, count, math.constant(0))};
  Maths m(node, sizes, dataType);
  Value position = node.iota(0, sizes, m.element);
  Value result = m.add(node.broadcast(scalar(0), {}, sizes), m.mul(position, node.broadcast(scalar(2), {}, sizes)));
  return node.yield(result, sizes, dataType);
}

/// Where `row + k` compares to `column` as `predicate` says.
Value diagonal(Node &node, ArrayRef<Index> sizes, Value k, arith::CmpIPredicate predicate) {
  int64_t rank = sizes.size();
  Type element = node.builder.getI64Type();
  Value row = node.iota(rank - 2, sizes, element), column = node.iota(rank - 1, sizes, element);
  Value shifted = node.builder.create<arith::AddIOp>(row, node.broadcast(k, {}, sizes));
  return node.builder.create<arith::CmpIOp>(predicate, shifted, column);
}

LogicalResult translateEyeLike(Node &node) {
  Tensor &x = node.input(0);
  if (failed(node.wantRank(0, 2, 2)))
    return failure();
  int dataType = int(node.integer("dtype", x.dataType));
  Type element = nnElementType(node.builder.getContext(), dataType);
  if (!element || !element.isIntOrFloat())
    return node.unsupported() << "of " << joule::dataTypeName(dataType) << " is not supported";
  Value k = node.scalar(node.integer("k", 0), node.builder.getI64Type());
  Value onDiagonal = diagonal(node, x.sizes, k, arith::CmpIPredicate::eq);
  return node.yield(node.convert(onDiagonal, Bool, dataType), x.sizes, dataType);
}

/// Keeps what is above (or below) diagonal `k` of each matrix; the rest is zero.
LogicalResult translateTrilu(Node &node) {
  Tensor &x = node.input(0);
  if (failed(node.wantRank(0, 2)))
    return failure();
  if (!x.element.isIntOrFloat())
    return node.unsupported() << "of " << joule::dataTypeName(x.dataType) << " is not supported";
  Value k = node.scalar(0, node.builder.getI64Type());
  if (node.has(1)) {
    Tensor &shift = node.input(1);
    if (shift.dataType != Int64 || shift.rank() > 1 || (shift.rank() == 1 && shift.knownSize(0) != 1))
      return node.error() << "has a k of type " << shift.type() << ", which is not one int64";
    k = node.reshape(node.value(1), shift.sizes, {});
  }
  auto predicate = node.flag("upper", true) ? arith::CmpIPredicate::sle : arith::CmpIPredicate::sge;
  Maths m(node, x.sizes, x.dataType);
  Value kept = diagonal(node, x.sizes, k, predicate);
  return node.yield(m.select(kept, node.value(0), m.constant(0)), x.sizes, x.dataType);
}

LogicalResult translateOneHot(Node &node) {
  Tensor &indices = node.input(0), &values = node.input(2);
  if (failed(node.wantNumber(0)) || failed(node.wantNumber(1)) || failed(node.wantRank(2, 1, 1)))
    return failure();
  FailureOr<int64_t> axis = node.axis("axis", -1, indices.rank() + 1);
  if (failed(axis))
    return failure();
  if (values.knownSize(0).value_or(2) != 2)
    return node.error() << "wants two values, off and on, but has " << values.type();
  Index isPair = node.math.compare(node.loc, arith::CmpIPredicate::eq, values.sizes[0], node.math.constant(2));
  if (failed(node.require(isPair, "wants two values, off and on")))
    return failure();
  // The depth is a size, whatever type states it.
  Index depth;
  if (node.input(1).isFloat() && !node.translator.hostElements(node.input(1))) {
    Tensor whole = node.tensor(node.convert(node.value(1), node.input(1).dataType, Int64), node.input(1).sizes, Int64);
    SmallVector<Index> *elements = node.translator.readElements(node.loc, whole);
    if (!elements || elements->size() != 1)
      return node.error() << "has a depth of type " << node.input(1).type() << ", which is not one number";
    depth = elements->front();
  } else {
    FailureOr<SmallVector<Index>> elements = node.indices(1);
    if (failed(elements))
      return failure();
    if (elements->size() != 1)
      return node.error() << "has a depth of " << elements->size() << " numbers";
    depth = elements->front();
  }
  if (IndexMath::known(depth).value_or(0) < 0)
    return node.error() << "has a depth of " << *IndexMath::known(depth);
  if (failed(requireSizes(node, {depth})))
    return failure();
  Sizes sizes = indices.sizes;
  sizes.insert(sizes.begin() + *axis, depth);
  SmallVector<int64_t> dims;
  for (int64_t dim = 0; dim < int64_t(sizes.size()); ++dim)
    if (dim != *axis)
      dims.push_back(dim);
  Value whole = node.convert(node.value(0), indices.dataType, Int64);
  Maths m(node, sizes, Int64);
  Value index = node.broadcastInDim(whole, indices.sizes, sizes, dims);
  Value fromEnd = m.add(index, node.broadcast(node.indexScalar(depth, Int64), {}, sizes));
  Value hot = m.equal(m.select(m.less(index, m.constant(0)), fromEnd, index), node.iota(*axis, sizes, m.element));
  auto choice = [&](int64_t at) {
    Value one = node.slice(node.value(2), {node.math.constant(at)}, {node.math.constant(1)}, {1});
    return node.broadcast(node.reshape(one, {node.math.constant(1)}, {}), {}, sizes);
  };
  return node.yield(m.select(hot, choice(1), choice(0)), sizes, values.dataType);
}

const Row rows[] = {
    {"", "ConstantOfShape", 9, 1, 1, translateConstantOfShape},
    {"", "EyeLike", 9, 1, 1, translateEyeLike},
    {"", "OneHot", 9, 3, 3, translateOneHot},
    {"", "Range", 11, 3, 3, translateRange},
    {"", "Trilu", 14, 1, 2, translateTrilu},
};

} // namespace

ArrayRef<Row> joule::translate::generateRows() { return rows; }
