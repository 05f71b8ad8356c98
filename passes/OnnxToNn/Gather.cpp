// Operators that read at positions which other tensors hold.
#include "passes/OnnxToNn/Maths.h"
#include "passes/OnnxToNn/Tables.h"

#include "dialects/Onnx/ElementTypes.h"

using namespace mlir;
using namespace joule::translate;

namespace {

LogicalResult wantIndices(Node &node, int64_t input) {
  int type = node.input(input).dataType;
  if (type == Int32 || type == Int64)
    return success();
  return node.error() << "wants int32 or int64 indices but they are " << joule::dataTypeName(type);
}

/// Indices are clamped into their axis, which works where it has elements: to take from an empty one is an error.
LogicalResult wantElements(Node &node, Index axisSize, ArrayRef<Index> indexSizes) {
  if (auto known = IndexMath::known(axisSize); known && *known > 0)
    return success();
  IndexMath &math = node.math;
  Index count = math.product(node.loc, indexSizes);
  Index isEmpty = math.compare(node.loc, arith::CmpIPredicate::eq, axisSize, math.constant(0));
  Index takesNothing = math.compare(node.loc, arith::CmpIPredicate::eq, count, math.constant(0));
  return node.require(math.select(node.loc, isEmpty, takesNothing, math.constant(1)),
                      "takes elements of a dimension that has none");
}

/// Off the axis, positions are read as they are.
LogicalResult wantWithin(Node &node, const Tensor &indices, const Tensor &x, int64_t axis) {
  for (int64_t dim = 0; dim < x.rank(); ++dim)
    if (dim != axis && failed(node.require(node.math.compare(node.loc, arith::CmpIPredicate::sle, indices.sizes[dim],
                                                             x.sizes[dim]),
                                           "has indices that are larger than its input")))
      return failure();
  return success();
}

LogicalResult translateGather(Node &node) {
  Tensor &x = node.input(0), &indices = node.input(1);
  FailureOr<int64_t> axis = node.axis("axis", 0, x.rank());
  if (failed(axis) || failed(wantIndices(node, 1)) || failed(wantElements(node, x.sizes[*axis], indices.sizes)))
    return failure();
  Sizes sizes(ArrayRef(x.sizes).take_front(*axis));
  sizes.append(indices.sizes);
  sizes.append(x.sizes.begin() + *axis + 1, x.sizes.end());
  Value result = node.builder.create<joule::nn::GatherOp>(node.type(sizes, x.element), node.value(0), node.value(1),
                                                          node.dynamic(sizes), *axis);
  return node.yield(result, sizes, x.dataType);
}

LogicalResult translateGatherElements(Node &node) {
  Tensor &x = node.input(0), &indices = node.input(1);
  FailureOr<int64_t> axis = node.axis("axis", 0, x.rank());
  if (failed(axis) || failed(wantIndices(node, 1)) || failed(node.wantRank(1, x.rank(), x.rank())) ||
      failed(wantWithin(node, indices, x, *axis)) || failed(wantElements(node, x.sizes[*axis], indices.sizes)))
    return failure();
  Value result = node.builder.create<joule::nn::GatherElementsOp>(node.type(indices.sizes, x.element), node.value(0),
                                                                  node.value(1), *axis);
  return node.yield(result, indices.sizes, x.dataType);
}

LogicalResult translateGatherNd(Node &node) {
  Tensor &x = node.input(0), &indices = node.input(1);
  int64_t batch = node.integer("batch_dims", 0);
  if (failed(node.wantRank(0, 1)) || failed(node.wantRank(1, 1)) || failed(wantIndices(node, 1)))
    return failure();
  std::optional<int64_t> tuple = indices.knownSize(indices.rank() - 1);
  if (!tuple)
    return node.unsupported() << "has index tuples of a length that only a run knows";
  if (batch < 0 || batch >= std::min(x.rank(), indices.rank()) || batch + *tuple > x.rank())
    return node.error() << "names " << *tuple << " dimensions after " << batch << " of a tensor of rank " << x.rank();
  for (int64_t dim = 0; dim < batch; ++dim)
    if (failed(node.requireEqual(x.sizes[dim], indices.sizes[dim], "goes along batches of")))
      return failure();
  for (int64_t dim = batch; dim < batch + *tuple; ++dim)
    if (failed(wantElements(node, x.sizes[dim], ArrayRef(indices.sizes).drop_back())))
      return failure();
  Sizes sizes(ArrayRef(indices.sizes).drop_back());
  sizes.append(x.sizes.begin() + batch + *tuple, x.sizes.end());
  Value result = node.builder.create<joule::nn::GatherNdOp>(node.type(sizes, x.element), node.value(0), node.value(1),
                                                            node.dynamic(sizes), batch);
  return node.yield(result, sizes, x.dataType);
}

/// Along the time axis element `t` of batch `b` is read at `length[b] - 1 - t` while that is within the sequence.
LogicalResult translateReverseSequence(Node &node) {
  Tensor &x = node.input(0), &lengths = node.input(1);
  if (failed(node.wantRank(0, 2)) || failed(node.wantRank(1, 1, 1)) || failed(wantIndices(node, 1)))
    return failure();
  FailureOr<int64_t> time = node.axis("time_axis", 0, x.rank()), batch = node.axis("batch_axis", 1, x.rank());
  if (failed(time) || failed(batch) ||
      failed(node.requireEqual(lengths.sizes[0], x.sizes[*batch], "has lengths and batches of")))
    return failure();
  Maths m(node, x.sizes, lengths.dataType);
  Value length = node.broadcastInDim(node.value(1), lengths.sizes, x.sizes, {*batch});
  Value step = node.iota(*time, x.sizes, lengths.element);
  Value mirrored = m.sub(m.sub(length, m.constant(1)), step);
  Value position = m.select(m.less(step, length), mirrored, step);
  Value result = node.builder.create<joule::nn::GatherElementsOp>(x.type(), node.value(0), position, *time);
  return node.yield(result, x.sizes, x.dataType);
}

//===- Positions that follow from data -------------------------------------------------------------------------------

/// The positions of what is not zero, one column each, and how many there are.
std::pair<Value, Index> nonzero(Node &node, Value value, int64_t rank) {
  auto type = RankedTensorType::get({rank, ShapedType::kDynamic}, node.builder.getI64Type());
  auto op = node.builder.create<joule::nn::NonZeroOp>(type, node.builder.getIndexType(), value);
  node.math.assumeNonNegative(op.getCount());
  return {op.getIndices(), op.getCount()};
}

LogicalResult translateNonZero(Node &node) {
  Tensor &x = node.input(0);
  if (failed(node.wantRank(0, 1)) || (!x.isBool() && failed(node.wantNumber(0))))
    return failure();
  auto [positions, count] = nonzero(node, node.value(0), x.rank());
  return node.yield(positions, {node.math.constant(x.rank()), count}, Int64);
}

/// The slices along the axis where the condition holds; without an axis, the elements.
LogicalResult translateCompress(Node &node) {
  Tensor x = node.input(0);
  if (failed(node.wantBool(1)) || failed(node.wantRank(1, 1, 1)))
    return failure();
  Value value = node.value(0);
  int64_t axis = 0;
  if (node.hasAttribute("axis")) {
    FailureOr<int64_t> normal = node.axis("axis", 0, x.rank());
    if (failed(normal))
      return failure();
    axis = *normal;
  } else {
    Sizes flat = {node.math.product(node.loc, x.sizes)};
    value = node.reshape(value, x.sizes, flat);
    x.sizes = flat;
  }
  Index fits = node.math.compare(node.loc, arith::CmpIPredicate::sle, node.input(1).sizes[0], x.sizes[axis]);
  if (failed(node.require(fits, "has more conditions than slices")))
    return failure();
  auto [positions, count] = nonzero(node, node.value(1), 1);
  Value list = node.reshape(positions, {node.math.constant(1), count}, {count});
  Sizes sizes = x.sizes;
  sizes[axis] = count;
  Value result = node.builder.create<joule::nn::GatherOp>(node.type(sizes, x.element), value, list,
                                                          node.dynamic(sizes), axis);
  return node.yield(result, sizes, x.dataType);
}

/// The entries of the last dimension that a list names; a vector counts as a matrix of one row.
LogicalResult translateArrayFeatureExtractor(Node &node) {
  Tensor &x = node.input(0), &indices = node.input(1);
  if (failed(node.wantNumber(0)) || failed(node.wantRank(0, 1)) || failed(wantIndices(node, 1)))
    return failure();
  Sizes list = {node.math.product(node.loc, indices.sizes)}, sizes = x.sizes;
  sizes.back() = list.front();
  Value result = node.builder.create<joule::nn::GatherOp>(node.type(sizes, x.element), node.value(0),
                                                          node.reshape(node.value(1), indices.sizes, list),
                                                          node.dynamic(sizes), x.rank() - 1);
  if (x.rank() > 1)
    return node.yield(result, sizes, x.dataType);
  Sizes matrix = {node.math.constant(1), sizes.front()};
  return node.yield(node.reshape(result, sizes, matrix), matrix, x.dataType);
}

const Row rows[] = {
    {"ai.onnx.ml", "ArrayFeatureExtractor", 1, 2, 2, translateArrayFeatureExtractor},
    {"", "Compress", 9, 2, 2, translateCompress},
    {"", "Gather", 1, 2, 2, translateGather},
    {"", "GatherElements", 11, 2, 2, translateGatherElements},
    {"", "GatherND", 11, 2, 2, translateGatherNd},
    {"", "NonZero", 9, 1, 1, translateNonZero},
    {"", "ReverseSequence", 10, 2, 2, translateReverseSequence},
};

} // namespace

ArrayRef<Row> joule::translate::gatherRows() { return rows; }
