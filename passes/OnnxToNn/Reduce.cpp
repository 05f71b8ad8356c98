// Operators that combine elements along axes.
#include "passes/OnnxToNn/Maths.h"
#include "passes/OnnxToNn/Tables.h"

using namespace mlir;
using namespace joule;
using namespace joule::translate;

namespace {

/// What a reduction runs over, and the sizes it leaves.
struct Reduction {
  SmallVector<int64_t> axes;
  Sizes dropped; ///< the input's sizes without the axes
  Sizes result;  ///< with 1 for each axis where they are kept
  Index count;   ///< elements combined into one
};

Reduction planReduction(Node &node, const Tensor &x, SmallVector<int64_t> axes, bool keep) {
  Reduction reduction{std::move(axes), {}, {}, node.math.constant(1)};
  for (auto [dim, size] : llvm::enumerate(x.sizes)) {
    if (llvm::is_contained(reduction.axes, int64_t(dim))) {
      reduction.count = node.math.mul(node.loc, reduction.count, size);
      if (keep)
        reduction.result.push_back(node.math.constant(1));
      continue;
    }
    reduction.dropped.push_back(size);
    reduction.result.push_back(size);
  }
  return reduction;
}

/// The axes of a Reduce operator; none given means all, or, where the node says so, none.
FailureOr<SmallVector<int64_t>> reduceAxes(Node &node, const Tensor &x) {
  FailureOr<std::optional<SmallVector<int64_t>>> list = node.listInput("axes", 1);
  if (failed(list))
    return failure();
  if (!*list || (*list)->empty()) {
    if (node.flag("noop_with_empty_axes"))
      return SmallVector<int64_t>();
    return llvm::to_vector(llvm::seq<int64_t>(0, x.rank()));
  }
  return node.normalizeAxes(**list, x.rank());
}

nn::Combiner extreme(const Tensor &x, bool greatest) {
  bool isUnsigned = x.isUnsigned() || x.isBool();
  if (greatest)
    return isUnsigned ? nn::Combiner::UnsignedMax : nn::Combiner::Max;
  return isUnsigned ? nn::Combiner::UnsignedMin : nn::Combiner::Min;
}

/// `count`, an integer of the host, as a tensor of `sizes` of the type of `x`.
Value countAs(Node &node, Index count, const Tensor &x, ArrayRef<Index> sizes) {
  if (auto known = IndexMath::known(count))
    return node.splat(double(*known), x.element, sizes);
  Tensor host = node.hostTensor({count}, {}, Int64);
  Value scalar = node.convert(node.translator.materialize(node.loc, host), Int64, x.dataType);
  return node.broadcast(scalar, {}, sizes);
}

/// log(sum(exp(x))), where exp(x) itself could overflow.
Value logSumExp(Node &node, const Tensor &x, Value value, const Reduction &reduction) {
  Value greatest = node.reduce(nn::Combiner::Max, value, reduction.axes);
  Maths rows(node, reduction.dropped, x.dataType), all(node, x.sizes, x.dataType);
  // Where all is minus infinity, or some is plus infinity, the shift would make NaN.
  Value infinity = rows.constant(std::numeric_limits<double>::infinity());
  Value shift = rows.select(rows.less(rows.absf(greatest), infinity), greatest, rows.constant(0));
  SmallVector<int64_t> kept;
  for (int64_t dim = 0; dim < x.rank(); ++dim)
    if (!llvm::is_contained(reduction.axes, dim))
      kept.push_back(dim);
  Value shifted = all.sub(value, node.broadcastInDim(shift, reduction.dropped, x.sizes, kept));
  Value sum = node.reduce(nn::Combiner::Sum, all.exp(shifted), reduction.axes);
  return rows.add(node.builder.create<math::LogOp>(sum), shift);
}

/// The combination of `value`, of the sizes of `reduction.dropped`.
using Combine = Value (*)(Node &, const Tensor &, Value, const Reduction &);

template <Combine combine> LogicalResult translateReduction(Node &node) {
  Tensor &x = node.input(0);
  FailureOr<SmallVector<int64_t>> axes = reduceAxes(node, x);
  if (failed(axes))
    return failure();
  Reduction reduction = planReduction(node, x, *axes, node.flag("keepdims", true));
  Value value = combine(node, x, node.value(0), reduction);
  return node.yield(node.reshape(value, reduction.dropped, reduction.result), reduction.result, x.dataType);
}

/// Reductions that only floats and numbers have; `bool` has max and min.
template <Combine combine> LogicalResult translateNumbers(Node &node) {
  if (failed(node.wantNumber(0)))
    return failure();
  return translateReduction<combine>(node);
}

Value sum(Node &node, const Tensor &, Value value, const Reduction &reduction) {
  return node.reduce(nn::Combiner::Sum, value, reduction.axes);
}

Value product(Node &node, const Tensor &, Value value, const Reduction &reduction) {
  return node.reduce(nn::Combiner::Product, value, reduction.axes);
}

Value greatest(Node &node, const Tensor &x, Value value, const Reduction &reduction) {
  return node.reduce(extreme(x, true), value, reduction.axes);
}

Value least(Node &node, const Tensor &x, Value value, const Reduction &reduction) {
  return node.reduce(extreme(x, false), value, reduction.axes);
}

Value mean(Node &node, const Tensor &x, Value value, const Reduction &reduction) {
  Value total = sum(node, x, value, reduction);
  return Maths(node, reduction.dropped, x.dataType).div(total, countAs(node, reduction.count, x, reduction.dropped));
}

Value sumOfSquares(Node &node, const Tensor &x, Value value, const Reduction &reduction) {
  return sum(node, x, Maths(node, x.sizes, x.dataType).mul(value, value), reduction);
}

Value absolute(Node &node, const Tensor &x, Value value) {
  if (x.isFloat())
    return node.builder.create<math::AbsFOp>(value);
  return x.isUnsigned() ? value : Value(node.builder.create<math::AbsIOp>(value));
}

Value sumOfAbsolutes(Node &node, const Tensor &x, Value value, const Reduction &reduction) {
  return sum(node, x, absolute(node, x, value), reduction);
}

/// `apply` to a float tensor; integers pass through f64, as a formula of reals asks.
Value throughReals(Node &node, const Tensor &x, Value value, llvm::function_ref<Value(Value)> apply) {
  if (x.isFloat())
    return apply(value);
  return node.convert(apply(node.convert(value, x.dataType, Double)), Double, x.dataType);
}

Value euclidean(Node &node, const Tensor &x, Value value, const Reduction &reduction) {
  return throughReals(node, x, sumOfSquares(node, x, value, reduction),
                      [&](Value sum) { return node.builder.create<math::SqrtOp>(sum); });
}

Value logOfSum(Node &node, const Tensor &x, Value value, const Reduction &reduction) {
  return throughReals(node, x, sum(node, x, value, reduction),
                      [&](Value sum) { return node.builder.create<math::LogOp>(sum); });
}

Value logOfSumOfExponentials(Node &node, const Tensor &x, Value value, const Reduction &reduction) {
  if (x.isFloat())
    return logSumExp(node, x, value, reduction);
  Tensor reals = node.tensor(node.convert(value, x.dataType, Double), x.sizes, Double);
  return node.convert(logSumExp(node, reals, reals.value, reduction), Double, x.dataType);
}

//===- Positions -----------------------------------------------------------------------------------------------------

template <bool isMax> LogicalResult translateArg(Node &node) {
  Tensor &x = node.input(0);
  FailureOr<int64_t> axis = node.axis("axis", 0, x.rank());
  if (failed(axis) || failed(node.wantNumber(0)))
    return failure();
  Reduction reduction = planReduction(node, x, {*axis}, node.flag("keepdims", true));
  auto op = node.builder.create<nn::ArgReduceOp>(node.type(reduction.dropped, node.builder.getI64Type()),
                                                 extreme(x, isMax), node.value(0), *axis,
                                                 node.flag("select_last_index"));
  return node.yield(node.reshape(op, reduction.dropped, reduction.result), reduction.result, Int64);
}

//===- Along one axis ------------------------------------------------------------------------------------------------

template <nn::Combiner combiner> LogicalResult translateCumulative(Node &node) {
  Tensor &x = node.input(0);
  FailureOr<SmallVector<int64_t>> list = node.constantIntegers(1);
  if (failed(list) || failed(node.wantNumber(0)))
    return failure();
  if (list->size() != 1)
    return node.error() << "has " << list->size() << " axes, and wants one";
  FailureOr<int64_t> axis = node.normalizeAxis(list->front(), x.rank());
  if (failed(axis))
    return failure();
  Value result = node.builder.create<nn::CumulateOp>(node.value(0).getType(), combiner, node.value(0), *axis,
                                                     node.flag("exclusive"), node.flag("reverse"));
  return node.yield(result, x.sizes, x.dataType);
}

/// Calls `apply` along the node's axis. Before version 13 the axis splits the tensor into a matrix, whose rows it runs
/// over.
LogicalResult alongAxis(Node &node, llvm::function_ref<Value(Value value, ArrayRef<Index> sizes, int64_t axis)> apply) {
  Tensor &x = node.input(0);
  if (failed(node.wantFloat(0)))
    return failure();
  bool splits = node.version() < 13;
  if (x.rank() == 0)
    return node.error() << "wants a tensor with at least one dimension";
  // Split at its end, a tensor is one column; a negative axis still counts from the last dimension.
  int64_t named = node.integer("axis", splits ? 1 : -1);
  FailureOr<int64_t> axis = splits && named == x.rank() ? named : node.normalizeAxis(named, x.rank());
  if (failed(axis))
    return failure();
  if (!splits)
    return node.yield(apply(node.value(0), x.sizes, *axis), x.sizes, x.dataType);
  ArrayRef<Index> sizes(x.sizes);
  Sizes matrix = {node.math.product(node.loc, sizes.take_front(*axis)),
                  node.math.product(node.loc, sizes.drop_front(*axis))};
  Value rows = apply(node.reshape(node.value(0), x.sizes, matrix), matrix, 1);
  return node.yield(node.reshape(rows, matrix, x.sizes), x.sizes, x.dataType);
}

template <bool log> LogicalResult translateSoftmax(Node &node) {
  return alongAxis(node, [&](Value value, ArrayRef<Index>, int64_t axis) -> Value {
    return node.builder.create<nn::SoftmaxOp>(value.getType(), value, axis, log);
  });
}

/// 1 at the first greatest element of each row, 0 elsewhere.
LogicalResult translateHardmax(Node &node) {
  Tensor &x = node.input(0);
  return alongAxis(node, [&](Value value, ArrayRef<Index> sizes, int64_t axis) -> Value {
    auto integers = node.builder.getI64Type();
    Sizes rows;
    SmallVector<int64_t> kept;
    for (int64_t dim = 0; dim < int64_t(sizes.size()); ++dim)
      if (dim != axis) {
        rows.push_back(sizes[dim]);
        kept.push_back(dim);
      }
    Value place = node.builder.create<nn::ArgReduceOp>(node.type(rows, integers), nn::Combiner::Max, value, axis, false);
    Value here = node.builder.create<nn::IotaOp>(node.type(sizes, integers), node.dynamic(sizes), axis);
    Maths maths(node, sizes, x.dataType);
    Value chosen = maths.equal(here, node.broadcastInDim(place, rows, sizes, kept));
    return maths.select(chosen, maths.constant(1), maths.constant(0));
  });
}

} // namespace

ArrayRef<Row> joule::translate::reduceRows() {
  static const Row rows[] = {
      {"", "ReduceSum", 1, 1, 2, translateNumbers<sum>, Axes::Any},
      {"", "ReduceProd", 1, 1, 2, translateNumbers<product>, Axes::Any},
      {"", "ReduceMean", 1, 1, 2, translateNumbers<mean>, Axes::Any},
      {"", "ReduceMax", 1, 1, 2, translateReduction<greatest>, Axes::Any},
      {"", "ReduceMin", 1, 1, 2, translateReduction<least>, Axes::Any},
      {"", "ReduceSumSquare", 1, 1, 2, translateNumbers<sumOfSquares>, Axes::Any},
      {"", "ReduceL1", 1, 1, 2, translateNumbers<sumOfAbsolutes>, Axes::Any},
      {"", "ReduceL2", 1, 1, 2, translateNumbers<euclidean>, Axes::Any},
      {"", "ReduceLogSum", 1, 1, 2, translateNumbers<logOfSum>, Axes::Any},
      {"", "ReduceLogSumExp", 1, 1, 2, translateNumbers<logOfSumOfExponentials>, Axes::Any},
      {"", "ArgMax", 1, 1, 1, translateArg<true>},
      {"", "ArgMin", 1, 1, 1, translateArg<false>},
      {"", "CumSum", 11, 2, 2, translateCumulative<nn::Combiner::Sum>, Axes::Any},
      {"", "CumProd", 26, 2, 2, translateCumulative<nn::Combiner::Product>, Axes::Any},
      {"", "Softmax", 1, 1, 1, translateSoftmax<false>},
      {"", "LogSoftmax", 1, 1, 1, translateSoftmax<true>},
      {"", "Hardmax", 1, 1, 1, translateHardmax},
  };
  return rows;
}
