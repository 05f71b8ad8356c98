// Operators that write at indices, and that sort.
#include "passes/OnnxToNn/Maths.h"
#include "passes/OnnxToNn/Tables.h"

using namespace mlir;
using namespace joule;
using namespace joule::translate;

namespace {

FailureOr<nn::Update> updateOf(Node &node, const Tensor &x) {
  StringRef name = node.string("reduction", "none");
  bool isUnsigned = x.isUnsigned() || x.isBool();
  if (name == "none")
    return nn::Update::Replace;
  if (name == "add")
    return nn::Update::Add;
  if (name == "mul")
    return nn::Update::Multiply;
  if (name == "max")
    return isUnsigned ? nn::Update::UnsignedMax : nn::Update::Max;
  if (name == "min")
    return isUnsigned ? nn::Update::UnsignedMin : nn::Update::Min;
  return node.error() << "has reduction \"" << name << "\"";
}

LogicalResult wantIndices(Node &node, int64_t input) {
  if (node.input(input).isInteger())
    return success();
  return node.error() << "wants integer indices";
}

LogicalResult translateScatterElements(Node &node) {
  Tensor &x = node.input(0);
  FailureOr<int64_t> axis = node.axis("axis", 0, x.rank());
  FailureOr<nn::Update> update = updateOf(node, x);
  if (failed(axis) || failed(update) || failed(wantIndices(node, 1)) || failed(node.wantSameElement(0, 2)))
    return failure();
  if (node.input(1).rank() != x.rank() || node.input(2).rank() != x.rank())
    return node.error() << "has an input of rank " << x.rank() << ", indices of rank " << node.input(1).rank()
                        << " and updates of rank " << node.input(2).rank();
  Tensor &indices = node.input(1), &updates = node.input(2);
  for (int64_t dim = 0; dim < x.rank(); ++dim) {
    if (failed(node.requireEqual(indices.sizes[dim], updates.sizes[dim], "has indices and updates of")))
      return failure();
    Index fits = node.math.compare(node.loc, arith::CmpIPredicate::sle, indices.sizes[dim], x.sizes[dim]);
    if (dim != *axis && failed(node.require(fits, "has indices that are larger than its input")))
      return failure();
  }
  Value result = node.builder.create<nn::ScatterElementsOp>(node.value(0).getType(), *update, node.value(0),
                                                            node.value(1), node.value(2), *axis);
  return node.yield(result, x.sizes, x.dataType);
}

LogicalResult translateScatterNd(Node &node) {
  Tensor &x = node.input(0), &indices = node.input(1), &updates = node.input(2);
  FailureOr<nn::Update> update = updateOf(node, x);
  if (failed(update) || failed(wantIndices(node, 1)) || failed(node.wantSameElement(0, 2)) ||
      failed(node.wantRank(1, 1)))
    return failure();
  std::optional<int64_t> tuple = indices.knownSize(indices.rank() - 1);
  if (!tuple)
    return node.unsupported() << "has index tuples of unknown length, which is not supported";
  if (*tuple > x.rank() || updates.rank() != indices.rank() - 1 + x.rank() - *tuple)
    return node.error() << "has updates of rank " << updates.rank() << " for index tuples of " << *tuple
                        << " on an input of rank " << x.rank();
  Sizes wanted(ArrayRef(indices.sizes).drop_back());
  wanted.append(x.sizes.begin() + *tuple, x.sizes.end());
  for (auto [size, given] : llvm::zip(wanted, updates.sizes))
    if (failed(node.requireEqual(size, given, "has index tuples with slices and updates of")))
      return failure();
  Value result = node.builder.create<nn::ScatterNdOp>(node.value(0).getType(), *update, node.value(0), node.value(1),
                                                      node.value(2));
  return node.yield(result, x.sizes, x.dataType);
}

/// Writes updates into a cache along an axis, from a position of each batch on; a circular one begins again at its end.
LogicalResult translateTensorScatter(Node &node) {
  Tensor &cache = node.input(0), &update = node.input(1);
  if (failed(node.wantSameElement(0, 1)) || failed(node.wantRank(0, 2)) ||
      failed(node.wantRank(1, cache.rank(), cache.rank())))
    return failure();
  FailureOr<int64_t> axis = node.axis("axis", -2, cache.rank());
  StringRef mode = node.string("mode", "linear");
  if (failed(axis))
    return failure();
  if (*axis == 0 || (mode != "linear" && mode != "circular"))
    return node.error() << "goes along axis " << *axis << " in mode \"" << mode << "\"";
  for (int64_t dim = 0; dim < cache.rank(); ++dim)
    if (dim != *axis && failed(node.requireEqual(cache.sizes[dim], update.sizes[dim], "has a cache and updates of")))
      return failure();
  Index fits = node.math.compare(node.loc, arith::CmpIPredicate::sle, update.sizes[*axis], cache.sizes[*axis]);
  if (failed(node.require(fits, "has more updates than its cache holds")))
    return failure();
  Maths m(node, update.sizes, Int64);
  Value position = node.iota(*axis, update.sizes, m.element);
  if (node.has(2)) {
    if (failed(node.wantRank(2, 1, 1)) || failed(wantIndices(node, 2)) ||
        failed(node.requireEqual(node.input(2).sizes[0], cache.sizes[0], "has positions and batches of")))
      return failure();
    Value first = node.convert(node.value(2), node.input(2).dataType, Int64);
    position = m.add(position, node.broadcastInDim(first, node.input(2).sizes, update.sizes, {0}));
  }
  if (mode == "circular")
    position = m.rem(position, node.broadcast(node.indexScalar(cache.sizes[*axis], Int64), {}, update.sizes));
  Value result = node.builder.create<nn::ScatterElementsOp>(node.value(0).getType(), nn::Update::Replace, node.value(0),
                                                            position, node.value(1), *axis);
  return node.yield(result, cache.sizes, cache.dataType);
}

LogicalResult translateTopK(Node &node) {
  Tensor &x = node.input(0);
  FailureOr<int64_t> axis = node.axis("axis", -1, x.rank());
  if (failed(axis) || failed(node.wantNumber(0)))
    return failure();
  Sizes sizes = x.sizes;
  if (node.version() < 10) {
    sizes[*axis] = node.math.constant(node.integer("k", 0));
  } else {
    FailureOr<SmallVector<Index>> k = node.indices(1);
    if (failed(k))
      return failure();
    if (k->size() != 1)
      return node.error() << "has " << k->size() << " numbers of elements, and wants one";
    sizes[*axis] = k->front();
  }
  // Where only a run brings it; what is known is said below.
  if (!IndexMath::known(sizes[*axis])) {
    Index enough = node.math.compare(node.loc, arith::CmpIPredicate::sle, sizes[*axis], x.sizes[*axis]);
    Index real = node.math.compare(node.loc, arith::CmpIPredicate::sge, sizes[*axis], node.math.constant(0));
    if (failed(node.require(node.math.min(node.loc, enough, real), "takes more elements than there are, or fewer than none")))
      return failure();
  }
  auto count = IndexMath::known(sizes[*axis]), length = x.knownSize(*axis);
  if (count && (*count < 0 || (length && *count > *length)))
    return node.error() << "takes " << *count << " of " << (length ? *length : 0) << " elements";
  auto op = node.builder.create<nn::TopKOp>(node.type(sizes, x.element), node.type(sizes, node.builder.getI64Type()),
                                            node.value(0), node.dynamic(sizes), *axis, !node.flag("largest", true),
                                            x.isUnsigned());
  return node.yield({node.tensor(op.getValues(), sizes, x.dataType), node.tensor(op.getIndices(), sizes, Int64)});
}

} // namespace

ArrayRef<Row> joule::translate::scatterRows() {
  static const Row rows[] = {
      {"", "Scatter", 9, 3, 3, translateScatterElements},
      {"", "ScatterElements", 11, 3, 3, translateScatterElements},
      {"", "ScatterND", 11, 3, 3, translateScatterNd},
      {"", "TensorScatter", 24, 2, 3, translateTensorScatter},
      {"", "TopK", 1, 1, 1, translateTopK},
      {"", "TopK", 10, 2, 2, translateTopK},
  };
  return rows;
}
