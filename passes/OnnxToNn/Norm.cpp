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

/// The mean of `value`, of sizes `from`, along `axes`, which stay with size 1.
Value meanOf(Node &node, Value value, ArrayRef<Index> from, ArrayRef<int64_t> axes, ArrayRef<Index> kept, int dataType) {
  Sizes left;
  Index count = node.math.constant(1);
  for (auto [dim, size] : llvm::enumerate(from)) {
    if (llvm::is_contained(axes, int64_t(dim)))
      count = node.math.mul(node.loc, count, size);
    else
      left.push_back(size);
  }
  Maths maths(node, left, dataType);
  Value counts = node.broadcast(node.indexScalar(count, dataType), {}, left);
  return node.reshape(maths.div(node.reduce(nn::Combiner::Sum, value, axes), counts), left, kept);
}

//===- Batch ---------------------------------------------------------------------------------------------------------

/// With the batch's own statistics, which join the running ones.
LogicalResult normalizeByBatch(Node &node) {
  Tensor &x = node.input(0);
  for (int64_t input = 1; input < 5; ++input)
    if (failed(node.wantFloat(input)) || failed(node.requireEqual(node.input(input).sizes[0], x.sizes[1], "has parameters for")))
      return failure();
  SmallVector<int64_t> axes;
  Sizes channels = {x.sizes[1]}, kept(x.rank(), node.math.constant(1));
  for (int64_t dim = 0; dim < x.rank(); ++dim)
    if (dim != 1)
      axes.push_back(dim);
  kept[1] = x.sizes[1];
  int computed = x.dataType == Double ? int(Double) : int(Float);
  Maths whole(node, x.sizes, computed), vectors(node, channels, computed);
  auto vector = [&](int64_t input) { return node.convert(node.value(input), node.input(input).dataType, computed); };
  auto spread = [&](Value value) { return node.broadcastInDim(value, channels, x.sizes, {1}); };
  Value wide = node.convert(node.value(0), x.dataType, computed);
  Value mean = node.reshape(meanOf(node, wide, x.sizes, axes, kept, computed), kept, channels);
  Value apart = whole.sub(wide, spread(mean));
  Value variance = node.reshape(meanOf(node, whole.mul(apart, apart), x.sizes, axes, kept, computed), kept, channels);
  Value deviation = vectors.sqrt(vectors.add(variance, vectors.constant(node.real("epsilon", 1e-5))));
  Value factor = vectors.div(vector(1), deviation);
  Value y = whole.add(whole.mul(apart, spread(factor)), spread(vector(2)));
  double momentum = node.real("momentum", 0.9f);
  auto running = [&](int64_t input, Value fresh) {
    Value joined = vectors.add(vectors.mul(vector(input), vectors.constant(momentum)),
                               vectors.mul(fresh, vectors.constant(1 - momentum)));
    int dataType = node.input(input).dataType;
    return node.tensor(node.convert(joined, computed, dataType), channels, dataType);
  };
  return node.yield({node.tensor(node.convert(y, computed, x.dataType), x.sizes, x.dataType), running(3, mean),
                     running(4, variance)});
}

/// With the statistics given: (x - mean) / sqrt(variance + epsilon) * scale + bias, the vectors' part first, so that
/// it folds where they are constant.
LogicalResult translateBatchNormalization(Node &node) {
  Tensor &x = node.input(0);
  if (failed(node.wantFloat(0)) || failed(node.wantRank(0, 1)) || failed(wantVectors(node, 1, 4)))
    return failure();
  if (node.version() < 9 && node.integer("spatial", 1) == 0)
    return node.unsupported() << "keeps statistics per place, which is not supported";
  if (node.version() >= 14 && node.flag("training_mode"))
    return normalizeByBatch(node);
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

/// Normalises over `axis` and all behind it, in f32 where `stash_type` says so, then scales and shifts. The mean and
/// the inverse deviation are results, too, where they are asked for.
template <bool rms> LogicalResult translateLayerNormalization(Node &node) {
  Tensor &x = node.input(0);
  FailureOr<int64_t> axis = node.axis("axis", -1, x.rank());
  if (failed(axis) || failed(node.wantFloat(0)) || failed(node.wantFloat(1)))
    return failure();
  int computed = node.integer("stash_type", Float) == Float && x.dataType != Double ? Float : x.dataType;
  int resultType = node.input(1).dataType;
  double epsilon = node.real("epsilon", 1e-5);
  SmallVector<int64_t> axes = llvm::to_vector(llvm::seq<int64_t>(*axis, x.rank()));
  Value wide = node.convert(node.value(0), x.dataType, computed);
  Value normal = normalize(node, wide, axes, epsilon, rms);
  FailureOr<Value> scale = node.broadcastInput(1, x.sizes);
  if (failed(scale))
    return failure();
  Maths maths(node, x.sizes, resultType);
  Value result = maths.mul(node.convert(normal, computed, resultType), *scale);
  if (!rms && node.has(2)) {
    FailureOr<Value> bias = node.broadcastInput(2, x.sizes);
    if (failed(bias) || failed(node.wantSameElement(1, 2)))
      return failure();
    result = maths.add(result, *bias);
  }
  SmallVector<Tensor> results = {node.tensor(result, x.sizes, resultType)};
  if (node.wants(1) || node.wants(2)) {
    Sizes kept = x.sizes;
    for (int64_t dim : axes)
      kept[dim] = node.math.constant(1);
    Maths whole(node, x.sizes, computed), rows(node, kept, computed);
    Value mean = meanOf(node, wide, x.sizes, axes, kept, computed);
    Value apart = whole.sub(wide, node.broadcast(mean, kept, x.sizes));
    Value variance = meanOf(node, whole.mul(apart, apart), x.sizes, axes, kept, computed);
    Value deviation = rows.sqrt(rows.add(variance, rows.constant(epsilon)));
    results.push_back(node.tensor(mean, kept, computed));
    results.push_back(node.tensor(rows.div(rows.constant(1), deviation), kept, computed));
  }
  return node.yield(results);
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
    node.requireFit(node.input(input).sizes[0], x.sizes[1]);
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
