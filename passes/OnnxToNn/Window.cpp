// Convolutions and pools.
#include "passes/OnnxToNn/Maths.h"
#include "passes/OnnxToNn/Tables.h"

using namespace mlir;
using namespace joule;
using namespace joule::translate;

namespace {

/// A window that slides over the spatial dimensions of an input.
struct Window {
  SmallVector<int64_t> size, strides, dilations, low, high;

  int64_t rank() const { return size.size(); }
  /// Elements that the window spans along `dim`, gaps included.
  int64_t extent(int64_t dim) const { return (size[dim] - 1) * dilations[dim] + 1; }
};

/// The list attribute `name`, one entry per spatial dimension; `fallback` for each where it is absent.
FailureOr<SmallVector<int64_t>> spatialList(Node &node, StringRef name, int64_t count, int64_t fallback,
                                            int64_t least) {
  SmallVector<int64_t> list = node.integers(name);
  if (list.empty())
    list.assign(count, fallback);
  if (int64_t(list.size()) != count)
    return node.error() << "has " << list.size() << " " << name << " where " << count << " are wanted";
  for (int64_t entry : list)
    if (entry < least || entry > (int64_t(1) << 31))
      return node.error() << "has " << entry << " in " << name;
  return list;
}

/// Strides, dilations and explicit padding of a window of `size`.
FailureOr<Window> readWindow(Node &node, SmallVector<int64_t> size) {
  int64_t rank = size.size();
  Window window;
  window.size = std::move(size);
  for (int64_t extent : window.size)
    if (extent < 1)
      return node.error() << "has a window of size " << extent;
  auto strides = spatialList(node, "strides", rank, 1, 1), dilations = spatialList(node, "dilations", rank, 1, 1);
  auto pads = spatialList(node, "pads", 2 * rank, 0, -(int64_t(1) << 31));
  if (failed(strides) || failed(dilations) || failed(pads))
    return failure();
  window.strides = *strides;
  window.dilations = *dilations;
  window.low.assign(pads->begin(), pads->begin() + rank);
  window.high.assign(pads->begin() + rank, pads->end());
  return window;
}

/// Sets the padding that `auto_pad` asks for on an input of `sizes`.
LogicalResult applyAutoPad(Node &node, Window &window, ArrayRef<Index> sizes) {
  StringRef mode = node.string("auto_pad", "NOTSET");
  if (mode == "NOTSET" || mode.empty())
    return success();
  if (mode != "VALID" && mode != "SAME_UPPER" && mode != "SAME_LOWER")
    return node.error() << "has auto_pad \"" << mode << "\"";
  for (int64_t dim = 0; dim < window.rank(); ++dim) {
    int64_t total = 0;
    std::optional<int64_t> size = IndexMath::known(sizes[dim]);
    if (mode == "VALID") {
      total = 0;
    } else if (size) {
      int64_t stride = window.strides[dim], windows = (*size + stride - 1) / stride;
      total = std::max<int64_t>(0, (windows - 1) * stride + window.extent(dim) - *size);
    } else if (window.strides[dim] == 1) {
      total = window.extent(dim) - 1;
    } else {
      return node.error() << "pads by auto_pad along a dynamic dimension with stride " << window.strides[dim]
                          << ", which is not supported";
    }
    window.low[dim] = mode == "SAME_LOWER" ? total - total / 2 : total / 2;
    window.high[dim] = total - window.low[dim];
  }
  return success();
}

/// The number of places of a window along each dimension of `sizes`.
FailureOr<Sizes> countPlaces(Node &node, const Window &window, ArrayRef<Index> sizes, bool ceil) {
  IndexMath &math = node.math;
  Location loc = node.loc;
  Sizes places;
  for (int64_t dim = 0; dim < window.rank(); ++dim) {
    Index stride = math.constant(window.strides[dim]);
    Index room = math.add(loc, sizes[dim], math.constant(window.low[dim] + window.high[dim] - window.extent(dim)));
    if (std::optional<int64_t> known = IndexMath::known(room); known && *known < 0)
      return node.error() << "slides a window of " << window.extent(dim) << " over "
                          << *known + window.extent(dim) << " elements";
    Index steps = ceil ? math.ceilDiv(loc, room, stride) : math.floorDiv(loc, room, stride);
    Index count = math.add(loc, steps, math.constant(1));
    if (ceil) {
      // A window that would begin behind the input and its low padding is none.
      Index begin = math.mul(loc, steps, stride);
      Index end = math.add(loc, sizes[dim], math.constant(window.low[dim]));
      Index beyond = math.compare(loc, arith::CmpIPredicate::sge, begin, end);
      count = math.select(loc, beyond, steps, count);
    }
    places.push_back(IndexMath::known(count) ? count : math.max(loc, count, math.constant(0)));
  }
  return places;
}

ArrayRef<Index> spatial(const Tensor &x) { return ArrayRef<Index>(x.sizes).drop_front(2); }

/// The first two sizes, then `places`.
Sizes withSpace(Index batch, Index channels, ArrayRef<Index> places) {
  Sizes sizes = {batch, channels};
  sizes.append(places.begin(), places.end());
  return sizes;
}

//===- Convolutions --------------------------------------------------------------------------------------------------

/// The known sizes of the filter's window; an error where the model does not fix them.
FailureOr<SmallVector<int64_t>> filterWindow(Node &node, const Tensor &filter) {
  SmallVector<int64_t> size;
  for (int64_t dim = 2; dim < filter.rank(); ++dim) {
    std::optional<int64_t> known = filter.knownSize(dim);
    if (!known)
      return node.error() << "has a weight of unknown size, which is not supported";
    size.push_back(*known);
  }
  SmallVector<int64_t> stated = node.integers("kernel_shape");
  if (!stated.empty() && stated != size)
    return node.error() << "has a kernel_shape that differs from its weight's";
  return size;
}

LogicalResult checkConv(Node &node) {
  Tensor &x = node.input(0), &filter = node.input(1);
  if (failed(node.wantFloat(0)) || failed(node.wantSameElement(0, 1)) || failed(node.wantRank(0, 3)))
    return failure();
  if (filter.rank() != x.rank())
    return node.error() << "has an input of rank " << x.rank() << " and a weight of rank " << filter.rank();
  if (node.has(2) && (failed(node.wantRank(2, 1, 1)) || failed(node.wantSameElement(0, 2))))
    return failure();
  return success();
}

/// The channels of the input and of a group of the filter, and the groups, fit. `perGroup` is the filter's dimension of
/// input channels.
LogicalResult checkChannels(Node &node, const Tensor &x, std::optional<int64_t> wanted, int64_t groups,
                            std::optional<int64_t> split) {
  if (groups < 1 || (split && *split % groups != 0))
    return node.error() << "splits " << (split ? *split : 0) << " channels into " << groups << " groups";
  std::optional<int64_t> channels = x.knownSize(1);
  if (channels && wanted && *channels != *wanted)
    return node.error() << "weight has " << *wanted << " input channels but the input has " << *channels;
  return success();
}

Value buildConv(Node &node, Value input, Value filter, const Window &window, ArrayRef<int64_t> inputDilations,
                int64_t groups, ArrayRef<Index> sizes, Type element) {
  return node.builder.create<nn::ConvOp>(node.type(sizes, element), input, filter, node.dynamic(sizes), window.strides,
                                         window.low, window.dilations, inputDilations, groups, false, false,
                                         nn::PrecisionAttr());
}

Value addBias(Node &node, Value value, ArrayRef<Index> sizes, int dataType) {
  if (!node.has(2))
    return value;
  return Maths(node, sizes, dataType).add(value, node.broadcastInDim(node.value(2), node.input(2).sizes, sizes, {1}));
}

LogicalResult translateConv(Node &node) {
  if (failed(checkConv(node)))
    return failure();
  Tensor &x = node.input(0), &filter = node.input(1);
  int64_t groups = node.integer("group", 1);
  std::optional<int64_t> perGroup = filter.knownSize(1);
  std::optional<int64_t> wanted = perGroup ? std::optional<int64_t>(*perGroup * groups) : std::nullopt;
  if (failed(checkChannels(node, x, wanted, groups, filter.knownSize(0))))
    return failure();
  FailureOr<SmallVector<int64_t>> size = filterWindow(node, filter);
  if (failed(size))
    return failure();
  FailureOr<Window> window = readWindow(node, *size);
  if (failed(window) || failed(applyAutoPad(node, *window, spatial(x))))
    return failure();
  FailureOr<Sizes> places = countPlaces(node, *window, spatial(x), false);
  if (failed(places))
    return failure();
  Sizes sizes = withSpace(x.sizes[0], filter.sizes[0], *places);
  SmallVector<int64_t> ones(window->rank(), 1);
  Value result = buildConv(node, node.value(0), node.value(1), *window, ones, groups, sizes, x.element);
  return node.yield(addBias(node, result, sizes, x.dataType), sizes, x.dataType);
}

/// The filter `[C, K / groups, window…]` of a transposed convolution as that of a convolution, `[K, C / groups,
/// window…]`: groups apart, channels exchanged, the window reversed.
Value transposeFilter(Node &node, const Tensor &filter, int64_t groups, ArrayRef<int64_t> window) {
  IndexMath &math = node.math;
  int64_t in = *filter.knownSize(0), out = *filter.knownSize(1);
  Sizes split = {math.constant(groups), math.constant(in / groups), math.constant(out)};
  Sizes joined = {math.constant(groups * out), math.constant(in / groups)};
  SmallVector<int64_t> permutation = {0, 2, 1};
  for (auto [dim, size] : llvm::enumerate(window)) {
    split.push_back(math.constant(size));
    joined.push_back(math.constant(size));
    permutation.push_back(3 + dim);
  }
  Value apart = node.transpose(node.reshape(node.value(1), filter.sizes, split), permutation);
  Sizes exchanged = {split[0], split[2], split[1]};
  exchanged.append(split.begin() + 3, split.end());
  Value whole = node.reshape(apart, exchanged, joined);
  SmallVector<int64_t> offsets = {0, 0}, strides = {1, 1};
  for (int64_t size : window) {
    offsets.push_back(size - 1);
    strides.push_back(-1);
  }
  return node.builder.create<nn::SliceOp>(whole.getType(), whole, ValueRange(), ValueRange(), offsets, strides);
}

/// Sizes of a transposed convolution's result, and its low padding, from the attributes that state either.
FailureOr<Sizes> transposedSizes(Node &node, Window &window, ArrayRef<Index> space) {
  IndexMath &math = node.math;
  auto extra = spatialList(node, "output_padding", window.rank(), 0, 0);
  SmallVector<int64_t> stated = node.integers("output_shape");
  StringRef mode = node.string("auto_pad", "NOTSET");
  bool same = mode == "SAME_UPPER" || mode == "SAME_LOWER";
  if (failed(extra))
    return failure();
  if (int64_t(stated.size()) > window.rank())
    stated.erase(stated.begin(), stated.end() - window.rank());
  if (!stated.empty() && int64_t(stated.size()) != window.rank())
    return node.error() << "has " << stated.size() << " sizes in output_shape where " << window.rank() << " are wanted";
  Sizes sizes;
  for (int64_t dim = 0; dim < window.rank(); ++dim) {
    // The result without any padding.
    Index full = math.add(node.loc,
                          math.mul(node.loc, math.sub(node.loc, space[dim], math.constant(1)),
                                   math.constant(window.strides[dim])),
                          math.constant(window.extent(dim) + (*extra)[dim]));
    if (stated.empty() && !same) {
      if (mode == "VALID")
        window.low[dim] = window.high[dim] = 0;
      sizes.push_back(math.sub(node.loc, full, math.constant(window.low[dim] + window.high[dim])));
      continue;
    }
    Index size = stated.empty() ? math.mul(node.loc, space[dim], math.constant(window.strides[dim]))
                                : math.constant(stated[dim]);
    std::optional<int64_t> total = IndexMath::known(math.sub(node.loc, full, size));
    if (!total)
      return node.error() << "pads along a dynamic dimension by the size of its result, which is not supported";
    total = std::max<int64_t>(*total, 0);
    window.low[dim] = mode == "SAME_UPPER" ? *total / 2 : *total - *total / 2;
    sizes.push_back(size);
  }
  return sizes;
}

LogicalResult translateConvTranspose(Node &node) {
  if (failed(checkConv(node)))
    return failure();
  Tensor &x = node.input(0), &filter = node.input(1);
  int64_t groups = node.integer("group", 1);
  if (!filter.knownSize(0) || !filter.knownSize(1))
    return node.error() << "has a weight of unknown size, which is not supported";
  if (failed(checkChannels(node, x, filter.knownSize(0), groups, filter.knownSize(0))))
    return failure();
  FailureOr<SmallVector<int64_t>> size = filterWindow(node, filter);
  if (failed(size))
    return failure();
  FailureOr<Window> window = readWindow(node, *size);
  if (failed(window))
    return failure();
  FailureOr<Sizes> space = transposedSizes(node, *window, spatial(x));
  if (failed(space))
    return failure();
  Sizes sizes = withSpace(x.sizes[0], node.math.constant(groups * *filter.knownSize(1)), *space);
  Value turned = transposeFilter(node, filter, groups, *size);
  // The strides spread the input's elements; the window then moves by one.
  SmallVector<int64_t> spread = window->strides;
  window->strides.assign(window->rank(), 1);
  for (int64_t dim = 0; dim < window->rank(); ++dim)
    window->low[dim] = window->extent(dim) - 1 - window->low[dim];
  Value result = buildConv(node, node.value(0), turned, *window, spread, groups, sizes, x.element);
  return node.yield(addBias(node, result, sizes, x.dataType), sizes, x.dataType);
}

//===- Pools ---------------------------------------------------------------------------------------------------------

/// The window of a pool and its places on the input.
FailureOr<std::pair<Window, Sizes>> readPool(Node &node) {
  Tensor &x = node.input(0);
  if (failed(node.wantRank(0, 3)))
    return failure();
  SmallVector<int64_t> size = node.integers("kernel_shape");
  if (int64_t(size.size()) != x.rank() - 2)
    return node.error() << "has a window of rank " << size.size() << " on an input of rank " << x.rank();
  FailureOr<Window> window = readWindow(node, size);
  if (failed(window) || failed(applyAutoPad(node, *window, spatial(x))))
    return failure();
  FailureOr<Sizes> places = countPlaces(node, *window, spatial(x), node.flag("ceil_mode"));
  if (failed(places))
    return failure();
  return std::pair(*window, withSpace(x.sizes[0], x.sizes[1], *places));
}

Value buildPool(Node &node, nn::Combiner combiner, Value input, const Window &window, ArrayRef<Index> sizes) {
  Type element = getElementTypeOrSelf(input);
  return node.builder.create<nn::PoolOp>(node.type(sizes, element), combiner, input, node.dynamic(sizes), window.size,
                                         window.strides, window.low, window.dilations);
}

LogicalResult translateMaxPool(Node &node) {
  auto pool = readPool(node);
  if (failed(pool) || failed(node.wantNumber(0)))
    return failure();
  auto [window, sizes] = *pool;
  Tensor &x = node.input(0);
  nn::Combiner combiner = x.isUnsigned() ? nn::Combiner::UnsignedMax : nn::Combiner::Max;
  SmallVector<Tensor> results = {
      node.tensor(buildPool(node, combiner, node.value(0), window, sizes), sizes, x.dataType)};
  if (node.wants(1)) {
    Value places = node.builder.create<nn::PoolArgMaxOp>(
        node.type(sizes, node.builder.getI64Type()), node.value(0), node.dynamic(sizes), window.size, window.strides,
        window.low, window.dilations, node.flag("storage_order"));
    results.push_back(node.tensor(places, sizes, Int64));
  }
  return node.yield(results);
}

/// How many elements each place of the window averages, as a tensor of `sizes`. Padding counts where `paddingCounts`; what
/// a window of ceil_mode spans behind the padding never does.
Value averagedElements(Node &node, Window window, ArrayRef<Index> sizes, bool paddingCounts) {
  Tensor &x = node.input(0);
  IndexMath &math = node.math;
  bool padded = llvm::any_of(window.low, [](int64_t pad) { return pad != 0; }) ||
                llvm::any_of(window.high, [](int64_t pad) { return pad != 0; });
  if (!node.flag("ceil_mode") && (paddingCounts || !padded)) {
    int64_t count = 1;
    for (int64_t size : window.size)
      count *= size;
    return node.splat(double(count), x.element, sizes);
  }
  Sizes space(spatial(x));
  if (paddingCounts)
    for (int64_t dim = 0; dim < window.rank(); ++dim) {
      space[dim] = math.add(node.loc, space[dim], math.constant(window.low[dim] + window.high[dim]));
      window.low[dim] = 0;
    }
  Index one = math.constant(1);
  Value ones = node.splat(1.0, x.element, withSpace(one, one, space));
  Sizes counted = withSpace(one, one, sizes.drop_front(2));
  return node.broadcast(buildPool(node, nn::Combiner::Sum, ones, window, counted), counted, sizes);
}

LogicalResult translateAveragePool(Node &node) {
  auto pool = readPool(node);
  if (failed(pool) || failed(node.wantFloat(0)))
    return failure();
  auto [window, sizes] = *pool;
  Tensor &x = node.input(0);
  Value total = buildPool(node, nn::Combiner::Sum, node.value(0), window, sizes);
  Value count = averagedElements(node, window, sizes, node.flag("count_include_pad"));
  return node.yield(Maths(node, sizes, x.dataType).div(total, count), sizes, x.dataType);
}

/// sum(|x|^p)^(1/p) of what `sum` adds up.
Value pNorm(Node &node, const Tensor &x, double p, ArrayRef<Index> sizes, llvm::function_ref<Value(Value)> sum) {
  Maths all(node, x.sizes, x.dataType), some(node, sizes, x.dataType);
  Value size = all.absf(node.value(0));
  Value powers = p == 1 ? size : p == 2 ? all.mul(size, size) : Value(node.builder.create<math::PowFOp>(size, all.constant(p)));
  Value total = sum(powers);
  if (p == 1)
    return total;
  return p == 2 ? some.sqrt(total) : Value(node.builder.create<math::PowFOp>(total, some.constant(1 / p)));
}

double normOf(Node &node) { return node.version() == 1 ? node.real("p", 2.0) : double(node.integer("p", 2)); }

LogicalResult translateLpPool(Node &node) {
  auto pool = readPool(node);
  if (failed(pool) || failed(node.wantFloat(0)))
    return failure();
  auto [window, sizes] = *pool;
  Tensor &x = node.input(0);
  Value result = pNorm(node, x, normOf(node), sizes, [&, &window = window, &sizes = sizes](Value powers) {
    return buildPool(node, nn::Combiner::Sum, powers, window, sizes);
  });
  return node.yield(result, sizes, x.dataType);
}

//===- Pools over all of space ---------------------------------------------------------------------------------------

/// Combines all of space; the spatial sizes become 1.
LogicalResult overSpace(Node &node, llvm::function_ref<Value(ArrayRef<int64_t> axes, ArrayRef<Index> kept)> combine) {
  Tensor &x = node.input(0);
  if (failed(node.wantFloat(0)) || failed(node.wantRank(0, 3)))
    return failure();
  SmallVector<int64_t> axes = llvm::to_vector(llvm::seq<int64_t>(2, x.rank()));
  Sizes kept = {x.sizes[0], x.sizes[1]}, sizes = kept;
  sizes.append(axes.size(), node.math.constant(1));
  return node.yield(node.reshape(combine(axes, kept), kept, sizes), sizes, x.dataType);
}

LogicalResult translateGlobalAveragePool(Node &node) {
  return overSpace(node, [&](ArrayRef<int64_t> axes, ArrayRef<Index> kept) {
    Tensor &x = node.input(0);
    Maths maths(node, kept, x.dataType);
    Index count = node.math.product(node.loc, spatial(x));
    Value total = node.reduce(nn::Combiner::Sum, node.value(0), axes);
    if (auto known = IndexMath::known(count))
      return maths.div(total, maths.constant(double(*known)));
    Tensor host = node.hostTensor({count}, {}, Int64);
    Value divisor = node.convert(node.translator.materialize(node.loc, host), Int64, x.dataType);
    return maths.div(total, node.broadcast(divisor, {}, kept));
  });
}

LogicalResult translateGlobalMaxPool(Node &node) {
  return overSpace(node, [&](ArrayRef<int64_t> axes, ArrayRef<Index>) {
    return node.reduce(nn::Combiner::Max, node.value(0), axes);
  });
}

LogicalResult translateGlobalLpPool(Node &node) {
  return overSpace(node, [&](ArrayRef<int64_t> axes, ArrayRef<Index> kept) {
    return pNorm(node, node.input(0), normOf(node), kept,
                 [&](Value powers) { return node.reduce(nn::Combiner::Sum, powers, axes); });
  });
}

} // namespace

ArrayRef<Row> joule::translate::windowRows() {
  static const Row rows[] = {
      {"", "Conv", 1, 2, 3, translateConv},
      {"", "ConvTranspose", 1, 2, 3, translateConvTranspose},
      {"", "MaxPool", 1, 1, 1, translateMaxPool},
      {"", "AveragePool", 1, 1, 1, translateAveragePool},
      {"", "LpPool", 1, 1, 1, translateLpPool},
      {"", "GlobalAveragePool", 1, 1, 1, translateGlobalAveragePool},
      {"", "GlobalMaxPool", 1, 1, 1, translateGlobalMaxPool},
      {"", "GlobalLpPool", 1, 1, 1, translateGlobalLpPool},
  };
  return rows;
}
