// Operators that choose: how much they give follows from data.
#include "passes/OnnxToNn/Maths.h"
#include "passes/OnnxToNn/Tables.h"

using namespace mlir;
using namespace joule;
using namespace joule::translate;

namespace {

/// `value` with dimension `axis` first, and its sizes in that order.
std::pair<Value, Sizes> axisFirst(Node &node, Value value, ArrayRef<Index> sizes, int64_t axis) {
  SmallVector<int64_t> permutation = {axis};
  Sizes permuted = {sizes[axis]};
  for (int64_t dim = 0; dim < int64_t(sizes.size()); ++dim)
    if (dim != axis) {
      permutation.push_back(dim);
      permuted.push_back(sizes[dim]);
    }
  return {node.transpose(value, permutation), permuted};
}

Value axisBack(Node &node, Value value, int64_t rank, int64_t axis) {
  SmallVector<int64_t> permutation = llvm::to_vector(llvm::seq<int64_t>(1, rank));
  permutation.insert(permutation.begin() + axis, 0);
  return node.transpose(value, permutation);
}

/// How often each number below `count` stands in `inverse`.
Value countEach(Node &node, Value inverse, Index length, Index count) {
  Type element = node.builder.getI64Type();
  Value zeros = node.splat(0, element, {count}), ones = node.splat(1, element, {length});
  return node.builder.create<nn::ScatterElementsOp>(zeros.getType(), nn::Update::Add, zeros, inverse, ones, 0);
}

/// The distinct slices along an axis; without one, the distinct elements.
LogicalResult translateUnique(Node &node) {
  Tensor &x = node.input(0);
  if (!x.isBool() && failed(node.wantNumber(0)))
    return failure();
  Value slices = node.value(0);
  Sizes sizes = x.sizes;
  int64_t axis = 0;
  if (node.hasAttribute("axis")) {
    FailureOr<int64_t> normal = node.axis("axis", 0, x.rank());
    if (failed(normal))
      return failure();
    axis = *normal;
    std::tie(slices, sizes) = axisFirst(node, slices, x.sizes, axis);
  } else {
    sizes = {node.math.product(node.loc, x.sizes)};
    slices = node.reshape(slices, x.sizes, sizes);
  }
  Type integer = node.builder.getI64Type();
  auto op = node.builder.create<nn::UniqueOp>(RankedTensorType::get({ShapedType::kDynamic}, integer),
                                              node.type({sizes[0]}, integer), node.builder.getIndexType(), slices,
                                              node.flag("sorted", true), x.isUnsigned() || x.isBool());
  Index count = op.getCount();
  node.math.assumeNonNegative(op.getCount());
  Value counts = countEach(node, op.getInverse(), sizes[0], count);
  Sizes distinct = sizes, back = x.sizes;
  distinct[0] = count;
  Value y = node.builder.create<nn::GatherOp>(node.type(distinct, x.element), slices, op.getFirst(),
                                              node.dynamic(distinct), 0);
  if (node.hasAttribute("axis"))
    back[axis] = count;
  else
    back = distinct;
  return node.yield({node.tensor(axisBack(node, y, back.size(), axis), back, x.dataType),
                     node.tensor(op.getFirst(), {count}, Int64), node.tensor(op.getInverse(), {sizes[0]}, Int64),
                     node.tensor(counts, {count}, Int64)});
}

/// An input of one number as a tensor of rank 0; `absent` where it is not there.
FailureOr<Value> oneNumber(Node &node, int64_t input, int dataType, double absent) {
  if (!node.has(input))
    return node.scalar(absent, nnElementType(node.builder.getContext(), dataType));
  Tensor &tensor = node.input(input);
  if (tensor.dataType != dataType || tensor.rank() > 1)
    return node.error() << "has a " << tensor.type() << " as input " << input << " where it wants one number";
  if (tensor.rank() == 1 && failed(node.requireEqual(tensor.sizes[0], node.math.constant(1), "wants one number, has")))
    return failure();
  return node.reshape(node.value(input), tensor.sizes, {});
}

LogicalResult translateNonMaxSuppression(Node &node) {
  Tensor &boxes = node.input(0), &scores = node.input(1);
  if (failed(node.wantFloat(0)) || failed(node.wantSameElement(0, 1)) || failed(node.wantRank(0, 3, 3)) ||
      failed(node.wantRank(1, 3, 3)) ||
      failed(node.requireEqual(boxes.sizes[0], scores.sizes[0], "has boxes and scores of batches")) ||
      failed(node.requireEqual(boxes.sizes[1], scores.sizes[2], "has boxes and scores in numbers of")) ||
      failed(node.requireEqual(boxes.sizes[2], node.math.constant(4), "wants boxes of 4 numbers, has")))
    return failure();
  FailureOr<Value> most = oneNumber(node, 2, Int64, 0), overlap = oneNumber(node, 3, Float, 0), least = Value();
  if (node.has(4))
    least = oneNumber(node, 4, Float, 0);
  if (failed(most) || failed(overlap) || failed(least))
    return failure();
  auto type = RankedTensorType::get({ShapedType::kDynamic, 3}, node.builder.getI64Type());
  auto op = node.builder.create<nn::NonMaxSuppressionOp>(type, node.builder.getIndexType(), node.value(0), node.value(1),
                                                         *most, *overlap, *least, node.flag("center_point_box"));
  node.math.assumeNonNegative(op.getCount());
  return node.yield(op.getSelected(), {op.getCount(), node.math.constant(3)}, Int64);
}

} // namespace

ArrayRef<Row> joule::translate::dataSizeRows() {
  static const Row rows[] = {
      {"", "NonMaxSuppression", 10, 2, 5, translateNonMaxSuppression},
      {"", "Unique", 11, 1, 1, translateUnique},
  };
  return rows;
}
