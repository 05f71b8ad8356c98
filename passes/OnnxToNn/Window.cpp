// Convolutions and pools.
#include "passes/OnnxToNn/Window.h"
#include "passes/OnnxToNn/Maths.h"
#include "passes/OnnxToNn/Tables.h"

#include "dialects/Onnx/ElementTypes.h"

using namespace mlir;
using namespace joule;
using namespace joule::translate;

//===- Windows -------------------------------------------------------------------------------------------------------

FailureOr<Window> joule::translate::readWindow(Node &node, int64_t spatial, ArrayRef<int64_t> size) {
  Window window;
  window.size.assign(size.begin(), size.end());
  SmallVector<int64_t> ones(spatial, 1);
  window.strides = node.integers("strides", ones);
  window.dilations = node.integers("dilations", ones);
  window.pads = node.integers("pads", SmallVector<int64_t>(2 * spatial, 0));
  StringRef mode = node.string("auto_pad", "NOTSET");
  window.mode = mode.empty() ? "NOTSET" : mode;
  for (auto [name, list, wanted] : {std::tuple("kernel_shape", ArrayRef<int64_t>(window.size), spatial),
                                    std::tuple("strides", ArrayRef<int64_t>(window.strides), spatial),
                                    std::tuple("dilations", ArrayRef<int64_t>(window.dilations), spatial),
                                    std::tuple("pads", ArrayRef<int64_t>(window.pads), 2 * spatial)})
    if (int64_t(list.size()) != wanted)
      return node.error() << "has " << list.size() << " numbers as " << name << " where it wants " << wanted;
  constexpr int64_t most = std::numeric_limits<int32_t>::max();
  auto outside = [&](int64_t value) { return value < 1 || value > most; };
  if (llvm::any_of(window.size, outside) || llvm::any_of(window.strides, outside) ||
      llvm::any_of(window.dilations, outside))
    return node.error() << "has a window size, stride or dilation below 1";
  if (llvm::any_of(window.pads, [&](int64_t pad) { return pad > most || pad < -most; }))
    return node.error() << "has a padding beyond " << most;
  if (!llvm::is_contained({"NOTSET", "VALID", "SAME_UPPER", "SAME_LOWER"}, window.mode))
    return node.error() << "has auto_pad '" << mode << "', which ONNX does not define";
  return window;
}

namespace {

/// `total` padding in two: the odd element goes behind, or before where `mode` says so.
std::pair<Index, Index> splitPadding(Node &node, Index total, StringRef mode) {
  Index half = node.math.floorDiv(node.loc, total, node.math.constant(2));
  Index rest = node.math.sub(node.loc, total, half);
  return mode == "SAME_LOWER" ? std::pair(rest, half) : std::pair(half, rest);
}

} // namespace

LogicalResult joule::translate::placeWindow(Node &node, Window &window, ArrayRef<Index> spatialSizes) {
  IndexMath &math = node.math;
  Location loc = node.loc;
  bool ceil = node.flag("ceil_mode");
  for (auto [dim, input] : llvm::enumerate(spatialSizes)) {
    int64_t reach = (window.size[dim] - 1) * window.dilations[dim] + 1;
    Index stride = math.constant(window.strides[dim]), low, high, size;
    if (window.mode == "SAME_UPPER" || window.mode == "SAME_LOWER") {
      size = math.ceilDiv(loc, input, stride);
      Index covered = math.add(loc, math.mul(loc, math.sub(loc, size, math.constant(1)), stride), math.constant(reach));
      Index total = math.max(loc, math.sub(loc, covered, input), math.constant(0));
      std::tie(low, high) = splitPadding(node, total, window.mode);
    } else {
      bool none = window.mode == "VALID";
      low = math.constant(none ? 0 : window.pads[dim]);
      high = math.constant(none ? 0 : window.pads[window.size.size() + dim]);
      Index padded = math.add(loc, math.add(loc, input, low), high);
      Index steps = math.sub(loc, padded, math.constant(reach));
      // Of an empty dimension nothing is left; any other must hold a window.
      if (auto known = IndexMath::known(steps); known && *known < 0 && IndexMath::known(input) != 0)
        return node.error() << "has a window of " << reach << " elements over a dimension of "
                            << IndexMath::known(padded).value_or(0);
      size = math.add(loc, ceil ? math.ceilDiv(loc, steps, stride) : math.floorDiv(loc, steps, stride), math.constant(1));
      if (ceil) {
        // A last window that starts behind the input and its left padding is left out.
        Index start = math.mul(loc, math.sub(loc, size, math.constant(1)), stride);
        Index behind = math.compare(loc, arith::CmpIPredicate::sge, start, math.add(loc, input, low));
        size = math.sub(loc, size, behind);
      }
    }
    window.low.push_back(low);
    window.high.push_back(high);
    window.outputs.push_back(math.max(loc, size, math.constant(0)));
  }
  return success();
}

Value joule::translate::padWhereUnknown(Node &node, Window &window, Value value, Sizes &sizes, Value fill) {
  bool allKnown = llvm::all_of(window.low, [](Index low) { return IndexMath::known(low).has_value(); });
  if (allKnown)
    return value;
  SmallVector<Index> low(sizes.size(), node.math.constant(0)), high = low;
  for (size_t dim = 0; dim < window.low.size(); ++dim) {
    low[dim + 2] = window.low[dim];
    high[dim + 2] = window.high[dim];
    window.low[dim] = window.high[dim] = node.math.constant(0);
  }
  Value padded = node.pad(value, fill, sizes, low, high);
  for (size_t dim = 0; dim < sizes.size(); ++dim)
    sizes[dim] = node.math.add(node.loc, node.math.add(node.loc, sizes[dim], low[dim]), high[dim]);
  return padded;
}

SmallVector<int64_t> joule::translate::knownLow(const Window &window) {
  SmallVector<int64_t> low;
  for (Index index : window.low)
    low.push_back(*IndexMath::known(index));
  return low;
}

//===- Convolution ---------------------------------------------------------------------------------------------------

FailureOr<Tensor> joule::translate::convolve(Node &node, Tensor input, Tensor filter, int resultType) {
  if (input.rank() < 3 || input.rank() != filter.rank())
    return node.error() << "has an input of rank " << input.rank() << " and a weight of rank " << filter.rank();
  int64_t spatial = input.rank() - 2, groups = node.integer("group", 1);
  auto channels = input.knownSize(1), filterChannels = filter.knownSize(1), filters = filter.knownSize(0);
  SmallVector<int64_t> size;
  for (int64_t dim = 0; dim < spatial; ++dim) {
    auto known = filter.knownSize(dim + 2);
    if (!known)
      return node.unsupported() << "has a weight whose window only a run knows, which is not supported";
    size.push_back(*known);
  }
  if (node.hasAttribute("kernel_shape") && node.integers("kernel_shape") != size)
    return node.error() << "has a kernel_shape that differs from its weight " << filter.type();
  if (groups < 1 || (filters && *filters % groups != 0))
    return node.error() << "has " << filters.value_or(0) << " filters in " << groups << " groups";
  if (!filters || !filterChannels)
    return node.unsupported() << "has a weight whose channels only a run knows, which is not supported";
  if (channels && *channels != *filterChannels * groups)
    return node.error() << "weight has " << *filterChannels * groups << " input channels but the input has "
                        << *channels;
  if (failed(node.requireEqual(input.sizes[1], node.math.constant(*filterChannels * groups), "has channels of")))
    return failure();
  FailureOr<Window> window = readWindow(node, spatial, size);
  if (failed(window) || failed(placeWindow(node, *window, ArrayRef(input.sizes).drop_front(2))))
    return failure();
  Value value = input.value;
  if (!llvm::all_of(window->low, [](Index low) { return IndexMath::known(low).has_value(); }))
    value = padWhereUnknown(node, *window, value, input.sizes, node.scalar(0, input.element));
  Sizes sizes = {input.sizes[0], filter.sizes[0]};
  sizes.append(window->outputs.begin(), window->outputs.end());
  Type element = nnElementType(node.builder.getContext(), resultType);
  Value result = node.builder.create<nn::ConvOp>(
      node.type(sizes, element), value, filter.value, node.dynamic(sizes), window->strides, knownLow(*window),
      window->dilations, SmallVector<int64_t>(spatial, 1), groups, input.isUnsigned(), filter.isUnsigned(),
      nn::PrecisionAttr());
  return node.tensor(result, sizes, resultType);
}

namespace {

Tensor withValue(Node &node, int64_t input) {
  Tensor tensor = node.input(input);
  tensor.value = node.value(input);
  return tensor;
}

/// Adds input `number`, one element per channel, where it is there.
LogicalResult yieldWithBias(Node &node, const Tensor &result, int64_t number) {
  if (!node.has(number))
    return node.yield({result});
  Tensor &bias = node.input(number);
  if (failed(node.wantRank(number, 1, 1)) || failed(node.wantSameElement(0, number)) ||
      failed(node.requireEqual(bias.sizes[0], result.sizes[1], "has a bias and channels of")))
    return failure();
  Maths m(node, result.sizes, result.dataType);
  Value spread = node.broadcastInDim(node.value(number), bias.sizes, result.sizes, {1});
  return node.yield(m.add(result.value, spread), result.sizes, result.dataType);
}

LogicalResult translateConv(Node &node) {
  if (failed(node.wantFloat(0)) || failed(node.wantSameElement(0, 1)))
    return failure();
  FailureOr<Tensor> result = convolve(node, withValue(node, 0), withValue(node, 1), node.input(0).dataType);
  return failed(result) ? failure() : yieldWithBias(node, *result, 2);
}

/// The weight `[C, M / groups, window…]` as a convolution's filter `[M, C / groups, window…]`, turned round.
Value turnedFilter(Node &node, const Tensor &weight, int64_t groups, Sizes &sizes) {
  IndexMath &math = node.math;
  Index group = math.constant(groups), perGroup = math.floorDiv(node.loc, weight.sizes[0], group);
  ArrayRef<Index> window = ArrayRef(weight.sizes).drop_front(2);
  Sizes split = {group, perGroup, weight.sizes[1]};
  split.append(window.begin(), window.end());
  SmallVector<int64_t> permutation = {0, 2, 1};
  for (size_t dim = 0; dim < window.size(); ++dim)
    permutation.push_back(3 + dim);
  Sizes moved = {group, weight.sizes[1], perGroup};
  moved.append(window.begin(), window.end());
  sizes = {math.mul(node.loc, group, weight.sizes[1]), perGroup};
  sizes.append(window.begin(), window.end());
  Value value = node.transpose(node.reshape(weight.value, weight.sizes, split), permutation);
  value = node.reshape(value, moved, sizes);
  SmallVector<Index> offsets(2, math.constant(0));
  SmallVector<int64_t> strides(2, 1);
  for (Index size : window) {
    offsets.push_back(math.sub(node.loc, size, math.constant(1)));
    strides.push_back(-1);
  }
  return node.slice(value, offsets, sizes, strides);
}

/// A convolution over the input whose elements `strides` spread apart.
LogicalResult translateConvTranspose(Node &node) {
  if (failed(node.wantFloat(0)) || failed(node.wantSameElement(0, 1)) || failed(node.wantRank(0, 3)) ||
      failed(node.wantRank(1, node.input(0).rank(), node.input(0).rank())))
    return failure();
  Tensor x = withValue(node, 0), weight = withValue(node, 1);
  int64_t spatial = x.rank() - 2, groups = node.integer("group", 1);
  SmallVector<int64_t> size;
  for (int64_t dim = 1; dim < weight.rank(); ++dim)
    if (!weight.knownSize(dim))
      return node.unsupported() << "has a weight whose sizes only a run knows, which is not supported";
    else if (dim > 1)
      size.push_back(*weight.knownSize(dim));
  auto inChannels = weight.knownSize(0);
  if (groups < 1 || !inChannels || *inChannels % groups != 0)
    return node.error() << "has " << inChannels.value_or(0) << " input channels in " << groups << " groups";
  if (node.hasAttribute("kernel_shape") && node.integers("kernel_shape") != size)
    return node.error() << "has a kernel_shape that differs from its weight " << weight.type();
  if (failed(node.requireEqual(x.sizes[1], weight.sizes[0], "has input channels and weight channels of")))
    return failure();
  FailureOr<Window> window = readWindow(node, spatial, size);
  if (failed(window))
    return failure();
  SmallVector<int64_t> extra = node.integers("output_padding", SmallVector<int64_t>(spatial, 0));
  SmallVector<int64_t> wanted = node.integers("output_shape");
  // Some models state the whole shape.
  if (int64_t(wanted.size()) == spatial + 2)
    wanted.erase(wanted.begin(), wanted.begin() + 2);
  if (int64_t(extra.size()) != spatial || (!wanted.empty() && int64_t(wanted.size()) != spatial))
    return node.error() << "has an output_padding or output_shape that does not fit " << spatial << " dimensions";

  IndexMath &math = node.math;
  Location loc = node.loc;
  SmallVector<int64_t> low;
  Sizes filterSizes, sizes = {x.sizes[0]};
  Value filter = turnedFilter(node, weight, groups, filterSizes);
  sizes.push_back(filterSizes[0]);
  for (int64_t dim = 0; dim < spatial; ++dim) {
    int64_t reach = (size[dim] - 1) * window->dilations[dim] + 1;
    Index input = x.sizes[dim + 2], stride = math.constant(window->strides[dim]), before, output;
    Index full = math.add(loc, math.mul(loc, math.sub(loc, input, math.constant(1)), stride),
                          math.constant(reach + extra[dim]));
    bool same = window->mode == "SAME_UPPER" || window->mode == "SAME_LOWER";
    if (!wanted.empty() || same) {
      output = wanted.empty() ? math.mul(loc, input, stride) : math.constant(wanted[dim]);
      // What is cropped goes to the end first, unless SAME_UPPER asks for the beginning.
      Index total = math.max(loc, math.sub(loc, full, output), math.constant(0));
      Index half = math.floorDiv(loc, total, math.constant(2));
      before = window->mode == "SAME_UPPER" ? half : math.sub(loc, total, half);
    } else {
      bool none = window->mode == "VALID";
      before = math.constant(none ? 0 : window->pads[dim]);
      int64_t after = none ? 0 : window->pads[spatial + dim];
      output = math.sub(loc, math.sub(loc, full, before), math.constant(after));
    }
    if (!IndexMath::known(before))
      return node.unsupported() << "has paddings that only a run knows, which is not supported";
    if (IndexMath::known(output).value_or(0) < 0)
      return node.error() << "has an output of " << *IndexMath::known(output) << " elements";
    low.push_back(reach - 1 - *IndexMath::known(before));
    sizes.push_back(math.max(loc, output, math.constant(0)));
  }
  Value value = node.builder.create<nn::ConvOp>(node.type(sizes, x.element), x.value, filter, node.dynamic(sizes),
                                                SmallVector<int64_t>(spatial, 1), low, window->dilations,
                                                window->strides, groups, false, false, nn::PrecisionAttr());
  return yieldWithBias(node, node.tensor(value, sizes, x.dataType), 2);
}

//===- Pools ---------------------------------------------------------------------------------------------------------

/// A pool's input and its window over it.
struct Pool {
  Tensor x;
  Window window;
  Sizes sizes; // of the result
};

FailureOr<Pool> readPool(Node &node) {
  if (failed(node.wantRank(0, 3)))
    return failure();
  Pool pool;
  pool.x = withValue(node, 0);
  FailureOr<Window> window = readWindow(node, pool.x.rank() - 2, node.integers("kernel_shape"));
  if (failed(window) || failed(placeWindow(node, *window, ArrayRef(pool.x.sizes).drop_front(2))))
    return failure();
  pool.window = *window;
  pool.sizes = {pool.x.sizes[0], pool.x.sizes[1]};
  pool.sizes.append(window->outputs.begin(), window->outputs.end());
  return pool;
}

Value combine(Node &node, nn::Combiner combiner, Value value, ArrayRef<Index> sizes, const Window &window) {
  return node.builder.create<nn::PoolOp>(node.type(sizes, getElementTypeOrSelf(value)), combiner, value,
                                         node.dynamic(sizes), window.size, window.strides, knownLow(window),
                                         window.dilations);
}

LogicalResult translateMaxPool(Node &node) {
  if (failed(node.wantNumber(0)))
    return failure();
  FailureOr<Pool> pool = readPool(node);
  if (failed(pool))
    return failure();
  Tensor &x = pool->x;
  bool allKnown = llvm::all_of(pool->window.low, [](Index low) { return IndexMath::known(low).has_value(); });
  if (!allKnown && node.wants(1))
    return node.unsupported() << "gives indices under paddings that only a run knows, which is not supported";
  if (!allKnown) {
    // Never the greatest.
    Value least = x.isFloat() ? node.scalar(-std::numeric_limits<double>::infinity(), x.element)
                  : x.isUnsigned() ? node.scalar(0, x.element)
                                   : node.reshape(node.splat(APInt::getSignedMinValue(x.element.getIntOrFloatBitWidth()), x.element, {}), {}, {});
    x.value = padWhereUnknown(node, pool->window, x.value, x.sizes, least);
  }
  auto combiner = x.isUnsigned() ? nn::Combiner::UnsignedMax : nn::Combiner::Max;
  SmallVector<Tensor> results = {
      node.tensor(combine(node, combiner, x.value, pool->sizes, pool->window), pool->sizes, x.dataType)};
  if (node.wants(1)) {
    Window &window = pool->window;
    Value indices = node.builder.create<nn::PoolArgMaxOp>(
        node.type(pool->sizes, node.builder.getI64Type()), x.value, node.dynamic(pool->sizes), window.size,
        window.strides, knownLow(window), window.dilations, node.integer("storage_order", 0) == 1);
    results.push_back(node.tensor(indices, pool->sizes, Int64));
  }
  return node.yield(results);
}

/// How many elements each window holds: those inside the input, or inside its padding too.
Value countElements(Node &node, const Pool &pool, int dataType) {
  const Window &window = pool.window;
  bool includePad = node.flag("count_include_pad");
  Sizes ones = {node.math.constant(1), node.math.constant(1)}, counts = ones;
  Window over = window;
  for (size_t dim = 0; dim < window.size.size(); ++dim) {
    Index size = pool.x.sizes[dim + 2];
    if (includePad) {
      size = node.math.add(node.loc, node.math.add(node.loc, size, window.low[dim]), window.high[dim]);
      over.low[dim] = node.math.constant(0);
    }
    ones.push_back(size);
    counts.push_back(window.outputs[dim]);
  }
  Value full = node.splat(1, nnElementType(node.builder.getContext(), dataType), ones);
  Value count = combine(node, nn::Combiner::Sum, full, counts, over);
  return node.broadcast(count, counts, pool.sizes);
}

/// Every window lies wholly inside what counts.
bool countsAreEqual(Node &node, const Window &window) {
  bool padded = llvm::any_of(llvm::concat<const Index>(window.low, window.high),
                             [](Index pad) { return IndexMath::known(pad) != 0; });
  return !node.flag("ceil_mode") && (node.flag("count_include_pad") || !padded);
}

/// Sums are made in f32 where elements are narrower.
int sumType(int dataType) { return dataType == Float16 || dataType == BFloat16 ? int(Float) : dataType; }

LogicalResult translateAveragePool(Node &node) {
  if (failed(node.wantFloat(0)))
    return failure();
  FailureOr<Pool> pool = readPool(node);
  if (failed(pool))
    return failure();
  Tensor &x = pool->x;
  int inside = sumType(x.dataType);
  Maths m(node, pool->sizes, inside);
  int64_t elements = 1;
  for (int64_t size : pool->window.size)
    elements *= size;
  Value value = node.convert(x.value, x.dataType, inside), count;
  if (countsAreEqual(node, pool->window))
    count = m.constant(elements);
  bool allKnown = llvm::all_of(pool->window.low, [](Index low) { return IndexMath::known(low).has_value(); });
  if (!count && !allKnown && !node.flag("count_include_pad")) {
    // The count needs its own padding, of zeros around ones.
    Sizes spatial = {node.math.constant(1), node.math.constant(1)}, counts = spatial;
    spatial.append(x.sizes.begin() + 2, x.sizes.end());
    counts.append(pool->window.outputs.begin(), pool->window.outputs.end());
    Window over = pool->window;
    Value ones = padWhereUnknown(node, over, node.splat(1, m.element, spatial), spatial, node.scalar(0, m.element));
    count = node.broadcast(combine(node, nn::Combiner::Sum, ones, counts, over), counts, pool->sizes);
  }
  if (!count)
    count = countElements(node, *pool, inside);
  value = padWhereUnknown(node, pool->window, value, x.sizes, node.scalar(0, m.element));
  Value sum = combine(node, nn::Combiner::Sum, value, pool->sizes, pool->window);
  return node.yield(node.convert(m.div(sum, count), inside, x.dataType), pool->sizes, x.dataType);
}

/// |x|^p, whose sum the p-th root makes a norm.
Value power(Maths &m, Value x, double p) {
  if (p == 1)
    return m.absf(x);
  if (p == 2)
    return m.mul(x, x);
  return m.builder.create<math::PowFOp>(m.absf(x), m.constant(p));
}

Value root(Maths &m, Value x, double p) {
  if (p == 1)
    return x;
  return p == 2 ? m.sqrt(x) : m.builder.create<math::PowFOp>(x, m.constant(1 / p)).getResult();
}

/// The exponent: a float in version 1, an integer later.
FailureOr<double> exponent(Node &node) {
  double p = node.version() == 1 ? node.real("p", 2) : double(node.integer("p", 2));
  if (!(p > 0))
    return node.error() << "has an exponent of " << std::to_string(p);
  return p;
}

LogicalResult translateLpPool(Node &node) {
  FailureOr<double> p = exponent(node);
  if (failed(node.wantFloat(0)) || failed(p))
    return failure();
  FailureOr<Pool> pool = readPool(node);
  if (failed(pool))
    return failure();
  Tensor &x = pool->x;
  int inside = sumType(x.dataType);
  Maths whole(node, x.sizes, inside), left(node, pool->sizes, inside);
  Value powers = power(whole, node.convert(x.value, x.dataType, inside), *p);
  Sizes sizes = x.sizes;
  powers = padWhereUnknown(node, pool->window, powers, sizes, node.scalar(0, whole.element));
  Value sum = combine(node, nn::Combiner::Sum, powers, pool->sizes, pool->window);
  return node.yield(node.convert(root(left, sum, *p), inside, x.dataType), pool->sizes, x.dataType);
}

//===- Pools over all ------------------------------------------------------------------------------------------------

enum class Global { Average, Max, Lp };

template <Global kind> LogicalResult globalPool(Node &node) {
  if (failed(node.wantFloat(0)) || failed(node.wantRank(0, 2)))
    return failure();
  FailureOr<double> p = kind == Global::Lp ? exponent(node) : FailureOr<double>(1.0);
  if (failed(p))
    return failure();
  Tensor &x = node.input(0);
  SmallVector<int64_t> axes = llvm::to_vector(llvm::seq<int64_t>(2, x.rank()));
  int inside = sumType(x.dataType);
  Sizes left = {x.sizes[0], x.sizes[1]}, sizes = left;
  sizes.append(x.rank() - 2, node.math.constant(1));
  Maths whole(node, x.sizes, inside), m(node, left, inside);
  Value value = node.convert(node.value(0), x.dataType, inside), result;
  if (kind == Global::Max) {
    result = node.reduce(nn::Combiner::Max, value, axes);
  } else if (kind == Global::Lp) {
    result = root(m, node.reduce(nn::Combiner::Sum, power(whole, value, *p), axes), *p);
  } else {
    Index count = node.math.product(node.loc, ArrayRef(x.sizes).drop_front(2));
    result = m.div(node.reduce(nn::Combiner::Sum, value, axes),
                   node.broadcast(node.indexScalar(count, inside), {}, left));
  }
  result = node.convert(result, inside, x.dataType);
  return node.yield(node.reshape(result, left, sizes), sizes, x.dataType);
}

const Row rows[] = {
    {"", "AveragePool", 1, 1, 1, translateAveragePool},
    {"", "Conv", 1, 2, 3, translateConv},
    {"", "ConvTranspose", 1, 2, 3, translateConvTranspose},
    {"", "GlobalAveragePool", 1, 1, 1, globalPool<Global::Average>},
    {"", "GlobalLpPool", 1, 1, 1, globalPool<Global::Lp>},
    {"", "GlobalMaxPool", 1, 1, 1, globalPool<Global::Max>},
    {"", "LpPool", 1, 1, 1, translateLpPool},
    {"", "MaxPool", 1, 1, 1, translateMaxPool},
};

} // namespace

ArrayRef<Row> joule::translate::windowRows() { return rows; }
