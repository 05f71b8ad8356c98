// Products of small integers, and of the reals that small integers stand for.
#include "passes/OnnxToNn/Contract.h"
#include "passes/OnnxToNn/Maths.h"
#include "passes/OnnxToNn/Tables.h"
#include "passes/OnnxToNn/Window.h"

#include "dialects/Onnx/ElementTypes.h"

using namespace mlir;
using namespace joule;
using namespace joule::translate;

namespace {

/// Where the parameter of a row, a column or a filter stands in the tensor: the dimension that a vector runs along.
enum class Along { Rows, Columns, Filters };

LogicalResult wantBytes(Node &node, int64_t input) {
  int type = node.input(input).dataType;
  if (type == Int8 || type == UInt8)
    return success();
  return node.error() << "wants int8 or uint8 as input " << input << " but it is " << dataTypeName(type);
}

/// A vector holds one parameter for all, or one for each; a run may decide which.
LogicalResult requireOneOrEach(Node &node, Index parameters, Index size) {
  if (IndexMath::known(parameters))
    return node.requireEqual(parameters, size, "has parameters for");
  Index isOne = node.math.compare(node.loc, arith::CmpIPredicate::eq, parameters, node.math.constant(1));
  Index isEach = node.math.compare(node.loc, arith::CmpIPredicate::eq, parameters, size);
  return node.require(node.math.max(node.loc, isOne, isEach), "has parameters for sizes that differ");
}

/// `value`, the scale or zero point at `input`, repeated to `sizes`.
FailureOr<Value> spread(Node &node, int64_t input, Value value, ArrayRef<Index> sizes, Along along) {
  Tensor parameter = node.input(input);
  int64_t rank = sizes.size();
  if (parameter.rank() == 1 && parameter.knownSize(0) == 1)
    return node.broadcast(node.reshape(value, parameter.sizes, {}), {}, sizes);
  if (parameter.rank() == 1) {
    int64_t dim = along == Along::Rows ? std::max<int64_t>(rank - 2, 0) : along == Along::Columns ? rank - 1 : 0;
    if (failed(requireOneOrEach(node, parameter.sizes[0], sizes[dim])))
      return failure();
    return node.broadcastInDim(value, parameter.sizes, sizes, {dim});
  }
  Tensor whole;
  whole.sizes.assign(sizes.begin(), sizes.end());
  FailureOr<Sizes> joined = parameter.rank() > rank ? FailureOr<Sizes>(failure())
                                                    : node.broadcastSizes({&whole, &parameter});
  if (failed(joined))
    return parameter.rank() > rank ? FailureOr<Value>(node.error() << "has a parameter of rank " << parameter.rank()
                                                                   << " for a tensor of rank " << rank)
                                   : FailureOr<Value>(failure());
  for (auto [got, wanted] : llvm::zip(*joined, sizes))
    if (IndexMath::known(got) && IndexMath::known(wanted) && !node.math.same(got, wanted))
      return node.error() << "has a parameter of shape " << parameter.type() << " that is greater than its tensor";
  return node.broadcast(value, parameter.sizes, sizes);
}

/// The zero point at `input` is absent, or known to be zero.
bool hasNoZeroPoint(Node &node, int64_t input) {
  if (!node.has(input))
    return true;
  SmallVector<Index> *elements = node.translator.hostElements(node.input(input));
  return elements && llvm::all_of(*elements, [](Index element) { return IndexMath::known(element) == 0; });
}

/// The tensor at `input` less the zero point at `zeroInput`: the small integers themselves where there is none, so that
/// the matrix unit for them serves; else int32.
FailureOr<Tensor> centered(Node &node, int64_t input, int64_t zeroInput, Along along) {
  Tensor tensor = node.input(input);
  tensor.value = node.value(input);
  if (hasNoZeroPoint(node, zeroInput))
    return tensor;
  if (failed(node.wantSameElement(input, zeroInput)))
    return failure();
  Value zero = node.convert(node.value(zeroInput), tensor.dataType, Int32);
  FailureOr<Value> zeros = spread(node, zeroInput, zero, tensor.sizes, along);
  if (failed(zeros))
    return failure();
  Maths m(node, tensor.sizes, Int32);
  return node.tensor(m.sub(node.convert(tensor.value, tensor.dataType, Int32), *zeros), tensor.sizes, Int32);
}

/// Brings both operands to one width.
void widenBoth(Node &node, Tensor &a, Tensor &b) {
  if ((a.dataType == Int32) == (b.dataType == Int32))
    return;
  Tensor &narrow = a.dataType == Int32 ? b : a;
  narrow = node.tensor(node.convert(narrow.value, narrow.dataType, Int32), narrow.sizes, Int32);
}

/// The int32 product of the matrices at `a` and `b`, less their zero points.
FailureOr<Tensor> integerMatmul(Node &node, int64_t a, int64_t aZero, int64_t b, int64_t bZero) {
  if (failed(wantBytes(node, a)) || failed(wantBytes(node, b)) || failed(node.wantRank(a, 1)) ||
      failed(node.wantRank(b, 1)))
    return failure();
  FailureOr<Tensor> left = centered(node, a, aZero, Along::Rows), right = centered(node, b, bZero, Along::Columns);
  if (failed(left) || failed(right))
    return failure();
  widenBoth(node, *left, *right);
  return matmul(node, *left, left->value, *right, right->value, Int32);
}

FailureOr<Tensor> integerConvolution(Node &node, int64_t x, int64_t xZero, int64_t w, int64_t wZero) {
  if (failed(wantBytes(node, x)) || failed(wantBytes(node, w)))
    return failure();
  FailureOr<Tensor> input = centered(node, x, xZero, Along::Columns), filter = centered(node, w, wZero, Along::Filters);
  if (failed(input) || failed(filter))
    return failure();
  widenBoth(node, *input, *filter);
  return convolve(node, *input, *filter, Int32);
}

LogicalResult translateMatMulInteger(Node &node) {
  FailureOr<Tensor> product = integerMatmul(node, 0, 2, 1, 3);
  return failed(product) ? failure() : node.yield({*product});
}

LogicalResult translateConvInteger(Node &node) {
  FailureOr<Tensor> result = integerConvolution(node, 0, 2, 1, 3);
  return failed(result) ? failure() : node.yield({*result});
}

/// The scale at `input` as f32, repeated to `sizes`.
FailureOr<Value> scaleOf(Node &node, int64_t input, ArrayRef<Index> sizes, Along along) {
  if (failed(node.wantFloat(input)))
    return failure();
  return spread(node, input, node.convert(node.value(input), node.input(input).dataType, Float), sizes, along);
}

/// round(product * factor + zero point), clamped to the result's type: that of the zero point at `zeroInput`.
LogicalResult yieldQuantized(Node &node, const Tensor &product, Value factor, int64_t zeroInput) {
  if (failed(wantBytes(node, zeroInput)))
    return failure();
  int resultType = node.input(zeroInput).dataType;
  Value zero = node.convert(node.value(zeroInput), resultType, Float);
  FailureOr<Value> zeros = spread(node, zeroInput, zero, product.sizes, Along::Rows);
  if (failed(zeros))
    return failure();
  Maths m(node, product.sizes, Float);
  Value scaled = m.mul(node.convert(product.value, Int32, Float), factor);
  Value rounded = node.builder.create<math::RoundEvenOp>(m.add(scaled, *zeros));
  return node.yield(node.convert(rounded, Float, resultType), product.sizes, resultType);
}

/// a, a_scale, a_zero, b, b_scale, b_zero, y_scale, y_zero.
LogicalResult translateQLinearMatMul(Node &node) {
  FailureOr<Tensor> product = integerMatmul(node, 0, 2, 3, 5);
  if (failed(product))
    return failure();
  FailureOr<Value> a = scaleOf(node, 1, product->sizes, Along::Rows);
  FailureOr<Value> b = scaleOf(node, 4, product->sizes, Along::Columns);
  FailureOr<Value> y = scaleOf(node, 6, product->sizes, Along::Rows);
  if (failed(a) || failed(b) || failed(y))
    return failure();
  Maths m(node, product->sizes, Float);
  return yieldQuantized(node, *product, m.div(m.mul(*a, *b), *y), 7);
}

/// x, x_scale, x_zero, w, w_scale, w_zero, y_scale, y_zero, bias. The weight's scale may differ per filter, which the
/// result's channels follow.
LogicalResult translateQLinearConv(Node &node) {
  FailureOr<Tensor> result = integerConvolution(node, 0, 2, 3, 5);
  if (failed(result))
    return failure();
  Sizes channel = {result->sizes[1]};
  if (node.has(8)) {
    Tensor &bias = node.input(8);
    if (bias.dataType != Int32 || bias.rank() != 1)
      return node.error() << "wants a bias of int32 per filter but it is " << bias.type();
    if (failed(node.requireEqual(bias.sizes[0], channel[0], "has a bias and channels of")))
      return failure();
    Value spreadBias = node.broadcastInDim(node.value(8), bias.sizes, result->sizes, {1});
    result->value = Maths(node, result->sizes, Int32).add(result->value, spreadBias);
  }
  FailureOr<Value> x = scaleOf(node, 1, channel, Along::Filters), w = scaleOf(node, 4, channel, Along::Filters);
  FailureOr<Value> y = scaleOf(node, 6, channel, Along::Filters);
  if (failed(x) || failed(w) || failed(y))
    return failure();
  Maths m(node, channel, Float);
  Value factor = node.broadcastInDim(m.div(m.mul(*x, *w), *y), channel, result->sizes, {1});
  return yieldQuantized(node, *result, factor, 7);
}

const Row rows[] = {
    {"", "ConvInteger", 10, 2, 4, translateConvInteger},
    {"", "MatMulInteger", 10, 2, 4, translateMatMulInteger},
    {"", "QLinearConv", 10, 8, 9, translateQLinearConv},
    {"", "QLinearMatMul", 10, 8, 8, translateQLinearMatMul},
};

} // namespace

ArrayRef<Row> joule::translate::integerProductRows() { return rows; }
