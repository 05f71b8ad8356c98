// Normalisations.
#include "passes/OnnxToNn/Maths.h"
#include "passes/OnnxToNn/Tables.h"

using namespace mlir;
using namespace joule;
using namespace joule::translate;

namespace {

/// `value`, a vector along dimension 1 of `to`, repeated.
Value perChannel(Node &node, int64_t input, ArrayRef<Index> to) {
  return node.broadcastInDim(node.value(input), node.input(input).sizes, to, {1});
}

LogicalResult wantVectors(Node &node, int64_t first, int64_t last) {
  for (int64_t input = first; input <= last; ++input)
    if (failed(node.wantRank(input, 1, 1)))
      return failure();
  return success();
}

//===- Batch ---------------------------------------------------------------------------------------------------------

/// With the statistics given: (x - mean) / sqrt(variance + epsilon) * scale + bias, the vectors' part first, so that
/// it folds where they are constant.
LogicalResult translateBatchNormalization(Node &node) {
  Tensor &x = node.input(0);
  if (failed(node.wantFloat(0)) || failed(node.wantRank(0, 1)) || failed(wantVectors(node, 1, 4)))
    return failure();
  bool training = node.version() >= 14 ? node.flag("training_mode") : node.version() == 1 && !node.flag("is_test");
  if (training || (node.version() < 9 && node.integer("spatial", 1) == 0))
    return node.error() << "computes statistics of the batch, which is not supported";
  Tensor &scale = node.input(1);
  int vectorType = node.input(4).dataType;
  Maths vectors(node, scale.sizes, vectorType);
  auto vector = [&](int64_t input) { return node.convert(node.value(input), node.input(input).dataType, vectorType); };
  Value deviation = vectors.sqrt(vectors.add(vector(4), vectors.constant(node.real("epsilon", 1e-5))));
  Value factor = vectors.div(vector(1), deviation);
  Value offset = vectors.sub(vector(2), vectors.mul(vector(3), factor));
  Sizes sizes = x.sizes;
  auto spread = [&](Value value) {
    return node.broadcastInDim(node.convert(value, vectorType, x.dataType), scale.sizes, sizes, {sizes.size() > 1 ? 1 : 0});
  };
  Maths maths(node, sizes, x.dataType);
  return node.yield(maths.add(maths.mul(node.value(0), spread(factor)), spread(offset)), sizes, x.dataType);
}

//===- Layer ---------------------------------------------------------------------------------------------------------

Value normalize(Node &node, Value value, ArrayRef<int64_t> axes, double epsilon, bool rms) {
  return node.builder.create<nn::NormalizeOp>(value.getType(), value, node.builder.getDenseI64ArrayAttr(axes),
                                              node.builder.getF64FloatAttr(epsilon),
                                              rms ? node.builder.getUnitAttr() : UnitAttr());
}

/// Normalises over `axis` and all behind it, in f32 where `stash_type` says so, then scales and shifts.
template <bool rms> LogicalResult translateLayerNormalization(Node &node) {
  Tensor &x = node.input(0);
  FailureOr<int64_t> axis = node.axis("axis", -1, x.rank());
  if (failed(axis) || failed(node.wantFloat(0)))
    return failure();
  if (node.wants(1) || node.wants(2))
    return node.error() << "gives mean or deviation as results, which is not supported";
  int computed = node.integer("stash_type", Float) == Float && x.dataType != Double ? Float : x.dataType;
  Value wide = node.convert(node.value(0), x.dataType, computed);
  Value normal = normalize(node, wide, llvm::to_vector(llvm::seq<int64_t>(*axis, x.rank())),
                           node.real("epsilon", 1e-5), rms);
  int resultType = node.input(1).dataType;
  Maths maths(node, x.sizes, resultType);
  Value result = node.convert(normal, computed, resultType);
  result = maths.mul(result, node.broadcast(node.value(1), node.input(1).sizes, x.sizes));
  if (!rms && node.has(2))
    result = maths.add(result, node.broadcast(node.value(2), node.input(2).sizes, x.sizes));
  return node.yield(result, x.sizes, resultType);
}

LogicalResult translateInstanceNormalization(Node &node) {
  Tensor &x = node.input(0);
  if (failed(node.wantFloat(0)) || failed(node.wantRank(0, 3)) || failed(wantVectors(node, 1, 2)))
    return failure();
  Value normal = normalize(node, node.value(0), llvm::to_vector(llvm::seq<int64_t>(2, x.rank())),
                           node.real("epsilon", 1e-5), false);
  Maths maths(node, x.sizes, x.dataType);
  Value scaled = maths.mul(normal, perChannel(node, 1, x.sizes));
  return node.yield(maths.add(scaled, perChannel(node, 2, x.sizes)), x.sizes, x.dataType);
}

/// Channels in `num_groups` groups, each normalised with its space. Scale and bias are per group before version 21.
LogicalResult translateGroupNormalization(Node &node) {
  Tensor &x = node.input(0);
  if (failed(node.wantFloat(0)) || failed(node.wantRank(0, 3)) || failed(wantVectors(node, 1, 2)))
    return failure();
  int64_t groups = node.integer("num_groups", 0);
  std::optional<int64_t> channels = x.knownSize(1);
  if (groups < 1 || !channels || *channels % groups != 0)
    return node.error() << "splits " << (channels ? std::to_string(*channels) : "an unknown number of")
                        << " channels into " << groups << " groups";
  IndexMath &math = node.math;
  Sizes rows = {x.sizes[0], math.constant(groups), math.constant(*channels / groups)};
  rows.append(x.sizes.begin() + 2, x.sizes.end());
  int64_t rank = rows.size();
  int computed = node.integer("stash_type", Float) == Float && x.dataType != Double ? Float : x.dataType;
  Value wide = node.convert(node.value(0), x.dataType, computed);
  Value normal = normalize(node, node.reshape(wide, x.sizes, rows), llvm::to_vector(llvm::seq<int64_t>(2, rank)),
                           node.real("epsilon", 1e-5), false);
  normal = node.convert(normal, computed, x.dataType);
  auto along = [&](int64_t input) -> Value {
    if (node.version() < 21)
      return node.broadcastInDim(node.value(input), node.input(input).sizes, rows, {1});
    Sizes split = {math.constant(groups), math.constant(*channels / groups)};
    return node.broadcastInDim(node.reshape(node.value(input), node.input(input).sizes, split), split, rows, {1, 2});
  };
  Maths maths(node, rows, x.dataType);
  Value result = maths.add(maths.mul(normal, along(1)), along(2));
  return node.yield(node.reshape(result, rows, x.sizes), x.sizes, x.dataType);
}

//===- Others --------------------------------------------------------------------------------------------------------

/// The sizes of `x` without `axes`, and the dimensions that are left.
std::pair<Sizes, SmallVector<int64_t>> without(const Tensor &x, ArrayRef<int64_t> axes) {
  Sizes sizes;
  SmallVector<int64_t> dims;
  for (int64_t dim = 0; dim < x.rank(); ++dim)
    if (!llvm::is_contained(axes, dim)) {
      sizes.push_back(x.sizes[dim]);
      dims.push_back(dim);
    }
  return {sizes, dims};
}

/// x over its p-norm along the axis; 0 where that is 0.
LogicalResult translateLpNormalization(Node &node) {
  Tensor &x = node.input(0);
  FailureOr<int64_t> axis = node.axis("axis", -1, x.rank());
  int64_t p = node.integer("p", 2);
  if (failed(axis) || failed(node.wantFloat(0)))
    return failure();
  if (p != 1 && p != 2)
    return node.error() << "has norm " << p << ", and knows 1 and 2";
  auto [rows, kept] = without(x, {*axis});
  Maths maths(node, x.sizes, x.dataType), rowMaths(node, rows, x.dataType);
  Value value = node.value(0);
  Value norm = node.reduce(nn::Combiner::Sum, p == 1 ? maths.absf(value) : maths.mul(value, value), {*axis});
  if (p == 2)
    norm = rowMaths.sqrt(norm);
  Value spread = node.broadcastInDim(norm, rows, x.sizes, kept);
  Value isZero = maths.equal(spread, maths.constant(0));
  return node.yield(maths.select(isZero, maths.constant(0), maths.div(value, spread)), x.sizes, x.dataType);
}

/// x / (bias + alpha / size * sum of squares of the channels around)^beta. The sum over neighbouring channels is a
/// window over the channels, seen as space.
LogicalResult translateLrn(Node &node) {
  Tensor &x = node.input(0);
  if (failed(node.wantFloat(0)) || failed(node.wantRank(0, 3)))
    return failure();
  int64_t size = node.integer("size", 0);
  if (size < 1)
    return node.error() << "has size " << size << ", and wants at least 1";
  IndexMath &math = node.math;
  ArrayRef<Index> sizes(x.sizes);
  Sizes image = {x.sizes[0], math.constant(1), x.sizes[1], math.product(node.loc, sizes.drop_front(2))};
  Maths maths(node, x.sizes, x.dataType);
  Value squares = node.reshape(maths.mul(node.value(0), node.value(0)), x.sizes, image);
  OpBuilder &builder = node.builder;
  Value sums = builder.create<nn::PoolOp>(node.loc, node.type(image, x.element), nn::Combiner::Sum, squares,
                                          node.dynamic(image), ArrayRef<int64_t>{size, 1}, ArrayRef<int64_t>{1, 1},
                                          ArrayRef<int64_t>{(size - 1) / 2, 0}, ArrayRef<int64_t>{1, 1});
  Value around = node.reshape(sums, image, x.sizes);
  Value base = maths.add(maths.constant(node.real("bias", 1.0)),
                         maths.mul(maths.constant(node.real("alpha", 1e-4) / double(size)), around));
  Value power = builder.create<math::PowFOp>(node.loc, base, maths.constant(node.real("beta", 0.75)));
  return node.yield(maths.div(node.value(0), power), x.sizes, x.dataType);
}

/// (x - mean) / (deviation + 1e-9) over the axes.
LogicalResult translateMeanVariance(Node &node) {
  Tensor &x = node.input(0);
  FailureOr<SmallVector<int64_t>> axes = node.normalizeAxes(node.integers("axes", {0, 2, 3}), x.rank());
  if (failed(axes) || failed(node.wantFloat(0)))
    return failure();
  // The small number only guards a zero deviation; under the root it is its square.
  return node.yield(normalize(node, node.value(0), *axes, 1e-18, false), x.sizes, x.dataType);
}

} // namespace

ArrayRef<Row> joule::translate::normRows() {
  static const Row rows[] = {
      {"", "BatchNormalization", 1, 5, 5, translateBatchNormalization},
      {"", "LayerNormalization", 17, 2, 3, translateLayerNormalization<false>},
      {"", "RMSNormalization", 23, 2, 2, translateLayerNormalization<true>},
      {"", "InstanceNormalization", 1, 3, 3, translateInstanceNormalization},
      {"", "GroupNormalization", 18, 3, 3, translateGroupNormalization},
      {"", "LpNormalization", 1, 1, 1, translateLpNormalization},
      {"", "LRN", 1, 1, 1, translateLrn},
      {"", "MeanVarianceNormalization", 9, 1, 1, translateMeanVariance},
  };
  return rows;
}
