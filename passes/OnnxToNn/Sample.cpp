// Operators that sample a tensor at other coordinates.
#include "passes/OnnxToNn/ConstantValue.h"
#include "passes/OnnxToNn/Maths.h"
#include "passes/OnnxToNn/Tables.h"

#include <cmath>

using namespace mlir;
using namespace joule;
using namespace joule::translate;

namespace {

using joule::translate::Tensor; // not the API's

/// A Resize while it is translated: a scale and a size for every dimension, of which only some may be resized.
struct Resize {
  SmallVector<int64_t> axes;
  SmallVector<double> scales; ///< one per dimension; unused where `scaleValue` is there
  Value scaleValue;           ///< the scales where sizes that a run brings decide them
  Sizes sizes;
};

/// floor(size * scale), exactly: a float's value is an integer over a power of two.
Index scaledSize(Node &node, Index size, double scale) {
  if (auto known = IndexMath::known(size))
    return node.math.constant(int64_t(std::floor(double(*known) * scale)));
  int exponent;
  double fraction = std::frexp(scale, &exponent);
  int64_t mantissa = int64_t(std::ldexp(fraction, 24));
  int shift = 24 - exponent;
  while (shift > 0 && mantissa % 2 == 0) {
    mantissa /= 2;
    --shift;
  }
  Index product = node.math.mul(node.loc, size, node.math.constant(mantissa));
  if (shift <= 0)
    return node.math.mul(node.loc, product, node.math.constant(int64_t(1) << -shift));
  return node.math.floorDiv(node.loc, product, node.math.constant(int64_t(1) << shift));
}

LogicalResult readAxes(Node &node, const Tensor &x, Resize &resize) {
  resize.axes = llvm::to_vector(llvm::seq<int64_t>(0, x.rank()));
  SmallVector<int64_t> given = node.integers("axes");
  if (given.empty())
    return success();
  resize.axes.clear();
  for (int64_t axis : given) {
    FailureOr<int64_t> normal = node.normalizeAxis(axis, x.rank());
    if (failed(normal))
      return failure();
    resize.axes.push_back(*normal);
  }
  return success();
}

LogicalResult takeScales(Node &node, const Tensor &x, ArrayRef<double> scales, Resize &resize) {
  if (scales.size() != resize.axes.size())
    return node.error() << "has " << scales.size() << " scales for " << resize.axes.size() << " axes";
  for (auto [axis, scale] : llvm::zip(resize.axes, scales)) {
    if (!(scale > 0) || !std::isfinite(scale))
      return node.error() << "has a scale that is no positive number";
    resize.scales[axis] = float(scale);
    resize.sizes[axis] = scaledSize(node, x.sizes[axis], float(scale));
  }
  return success();
}

/// `sizes` of the host as a vector of floats.
Value floatVector(Node &node, ArrayRef<Index> sizes, int type) {
  Tensor host = node.hostTensor(SmallVector<Index>(sizes), {int64_t(sizes.size())}, Int64);
  return node.convert(node.translator.materialize(node.loc, host), Int64, type);
}

/// Scales of the axes as those of all dimensions, in f32; the others keep their size.
Value scalesOfAll(Node &node, Value scales, int type, ArrayRef<int64_t> axes, int64_t rank) {
  Value list = node.convert(scales, type, Float);
  Sizes one = {node.math.constant(1)};
  SmallVector<Value> parts;
  for (int64_t dim = 0; dim < rank; ++dim) {
    const int64_t *place = llvm::find(axes, dim);
    bool isAxis = place != axes.end();
    parts.push_back(isAxis ? node.slice(list, {node.math.constant(place - axes.begin())}, one, {1})
                           : node.splat(1, node.builder.getF32Type(), one));
  }
  auto type1 = RankedTensorType::get({rank}, node.builder.getF32Type());
  return node.builder.create<nn::ConcatOp>(type1, parts, ValueRange(), 0);
}

/// Sizes that a run calculates, f64 numbers, become the host's.
LogicalResult readSizes(Node &node, Value numbers, Resize &resize) {
  Sizes count = {node.math.constant(resize.axes.size())};
  Value whole = node.convert(node.builder.create<math::FloorOp>(numbers), Double, Int64);
  Tensor list = node.tensor(whole, count, Int64);
  SmallVector<Index> *sizes = node.translator.readElements(node.loc, list);
  for (auto [axis, size] : llvm::zip(resize.axes, *sizes)) {
    Index isSize = node.math.compare(node.loc, arith::CmpIPredicate::sge, size, node.math.constant(0));
    if (failed(node.require(isSize, "has a scale that is no positive number")))
      return failure();
    resize.sizes[axis] = size;
  }
  return success();
}

/// Scales that only a run brings.
LogicalResult takeRunScales(Node &node, const Tensor &x, Tensor scales, Resize &resize) {
  Sizes count = {node.math.constant(resize.axes.size())};
  if (scales.rank() != 1 || !scales.isFloat())
    return node.error() << "has scales of type " << scales.type();
  if (failed(node.requireEqual(scales.sizes[0], count[0], "has scales and axes in numbers of")))
    return failure();
  Value list = node.reshape(scales.value, scales.sizes, count);
  resize.scaleValue = scalesOfAll(node, list, scales.dataType, resize.axes, x.rank());
  Sizes from;
  for (int64_t axis : resize.axes)
    from.push_back(x.sizes[axis]);
  Maths m(node, count, Double);
  return readSizes(node, m.mul(floatVector(node, from, Double), node.convert(list, scales.dataType, Double)), resize);
}

/// Scales as constants, or else as the run's.
LogicalResult takeScaleInput(Node &node, const Tensor &x, int64_t input, Resize &resize) {
  Value value = node.value(input);
  if (constantValue(value)) {
    FailureOr<SmallVector<double>> scales = constantReals(node, input);
    return failed(scales) ? failure() : takeScales(node, x, *scales, resize);
  }
  return takeRunScales(node, x, node.input(input), resize);
}

/// As `keepAspectRatio`, where a run decides.
LogicalResult keepRunAspectRatio(Node &node, const Tensor &x, StringRef policy, Resize &resize) {
  Sizes count = {node.math.constant(resize.axes.size())}, from, to;
  for (int64_t axis : resize.axes) {
    from.push_back(x.sizes[axis]);
    to.push_back(resize.sizes[axis]);
  }
  Maths m(node, count, Double);
  Value before = floatVector(node, from, Double);
  Value ratios = m.div(floatVector(node, to, Double), before);
  Value common = node.reduce(policy == "not_larger" ? nn::Combiner::Min : nn::Combiner::Max, ratios, {0});
  Value scales = node.broadcast(common, {}, count);
  resize.scaleValue = scalesOfAll(node, scales, Double, resize.axes, x.rank());
  return readSizes(node, m.add(m.mul(scales, before), m.constant(0.5)), resize);
}

/// One scale for all axes, so that no size is larger, or none smaller, than asked for.
LogicalResult keepAspectRatio(Node &node, const Tensor &x, StringRef policy, Resize &resize) {
  std::optional<double> common;
  for (int64_t axis : resize.axes) {
    auto from = x.knownSize(axis), to = IndexMath::known(resize.sizes[axis]);
    if (!from || !to || *from == 0)
      return keepRunAspectRatio(node, x, policy, resize);
    double scale = double(*to) / double(*from);
    common = !common ? scale : policy == "not_larger" ? std::min(*common, scale) : std::max(*common, scale);
  }
  for (int64_t axis : resize.axes) {
    resize.scales[axis] = *common;
    resize.sizes[axis] = node.math.constant(int64_t(std::floor(*common * double(*x.knownSize(axis)) + 0.5)));
  }
  return success();
}

LogicalResult takeSizes(Node &node, const Tensor &x, ArrayRef<Index> sizes, Resize &resize) {
  if (sizes.size() != resize.axes.size())
    return node.error() << "has " << sizes.size() << " sizes for " << resize.axes.size() << " axes";
  for (auto [axis, size] : llvm::zip(resize.axes, sizes))
    resize.sizes[axis] = size;
  StringRef policy = node.string("keep_aspect_ratio_policy", "stretch");
  if (policy != "stretch")
    return keepAspectRatio(node, x, policy, resize);
  bool allKnown = true;
  for (int64_t axis : resize.axes) {
    auto from = x.knownSize(axis), to = IndexMath::known(resize.sizes[axis]);
    allKnown &= from && to;
    if (from && to && *from > 0)
      resize.scales[axis] = double(*to) / double(*from);
  }
  if (!allKnown) {
    Sizes count = {node.math.constant(x.rank())};
    resize.scaleValue = Maths(node, count, Float).div(floatVector(node, resize.sizes, Float), floatVector(node, x.sizes, Float));
  }
  return success();
}

std::optional<nn::SampleMode> sampleMode(StringRef mode) {
  if (mode == "linear" || mode == "bilinear")
    return nn::SampleMode::Linear;
  if (mode == "cubic")
    return nn::SampleMode::Cubic;
  return mode == "nearest" ? std::optional(nn::SampleMode::Nearest) : std::nullopt;
}

/// The region of `tf_crop_and_resize` for every dimension: starts, then ends; all of a dimension that is no axis.
FailureOr<Value> wholeRegion(Node &node, const Tensor &x, ArrayRef<int64_t> axes) {
  if (!node.has(1))
    return node.error() << "lacks the region to crop";
  Value roi = node.convert(node.value(1), node.input(1).dataType, Float);
  int64_t count = axes.size(), rank = x.rank();
  if (llvm::is_sorted(axes) && count == rank)
    return roi;
  auto one = RankedTensorType::get({1}, node.builder.getF32Type());
  SmallVector<Value> parts;
  for (int64_t part = 0; part < 2; ++part)
    for (int64_t dim = 0; dim < rank; ++dim) {
      const int64_t *place = llvm::find(axes, dim);
      if (place == axes.end()) {
        parts.push_back(node.splat(double(part), one.getElementType(), {node.math.constant(1)}));
        continue;
      }
      parts.push_back(node.builder.create<nn::SliceOp>(one, roi, ValueRange(), ValueRange(),
                                                       ArrayRef<int64_t>{part * count + (place - axes.begin())},
                                                       ArrayRef<int64_t>{1}));
    }
  return node.builder
      .create<nn::ConcatOp>(RankedTensorType::get({2 * rank}, one.getElementType()), parts, ValueRange(), 0)
      .getResult();
}

FailureOr<Value> createResize(Node &node, Value from, Resize &resize, nn::CoordinateMode coordinate,
                              nn::NearestMode nearest) {
  Tensor &x = node.input(0);
  std::optional<nn::SampleMode> sample = sampleMode(node.string("mode", "nearest"));
  if (!sample)
    return node.error() << "has mode \"" << node.string("mode", "nearest") << "\"";
  Value roi;
  if (coordinate == nn::CoordinateMode::TfCropAndResize) {
    FailureOr<Value> region = wholeRegion(node, x, resize.axes);
    if (failed(region))
      return failure();
    roi = *region;
  }
  if (!resize.scaleValue) {
    SmallVector<float> scales(resize.scales.begin(), resize.scales.end());
    auto type = RankedTensorType::get({int64_t(scales.size())}, node.builder.getF32Type());
    resize.scaleValue = node.translator.constant(DenseElementsAttr::get(type, ArrayRef<float>(scales)), type);
  }
  MLIRContext *context = node.builder.getContext();
  auto flag = [&](StringRef name) { return node.flag(name) ? node.builder.getUnitAttr() : UnitAttr(); };
  Value result = node.builder.create<nn::ResizeOp>(
      node.type(resize.sizes, x.element), nn::SampleModeAttr::get(context, *sample), from, resize.scaleValue,
      roi, node.dynamic(resize.sizes), nn::CoordinateModeAttr::get(context, coordinate),
      nn::NearestModeAttr::get(context, nearest), node.builder.getF32FloatAttr(node.real("cubic_coeff_a", -0.75)),
      node.builder.getF32FloatAttr(node.real("extrapolation_value", 0.0)), flag("exclude_outside"), flag("antialias"));
  return result;
}

LogicalResult yieldResize(Node &node, Value from, Resize &resize, nn::CoordinateMode coordinate,
                          nn::NearestMode nearest) {
  FailureOr<Value> result = createResize(node, from, resize, coordinate, nearest);
  return failed(result) ? failure() : node.yield(*result, resize.sizes, node.input(0).dataType);
}

Resize startResize(const Tensor &x) {
  Resize resize;
  resize.scales.assign(x.rank(), 1.0);
  resize.sizes = x.sizes;
  return resize;
}

/// A nearest neighbour in version 10 is the floor along what grows, and the ceiling along what shrinks.
LogicalResult yieldOldNearest(Node &node, Resize &resize) {
  const Tensor &x = node.input(0);
  constexpr auto mode = nn::CoordinateMode::Asymmetric;
  if (resize.scaleValue) { // a run's
    for (int64_t dim = 0; dim < x.rank(); ++dim) {
      Index grows = node.math.compare(node.loc, arith::CmpIPredicate::sge, resize.sizes[dim], x.sizes[dim]);
      if (failed(node.require(grows, "shrinks by scales that only a run knows, which is not supported")))
        return failure();
    }
    return yieldResize(node, node.value(0), resize, mode, nn::NearestMode::Floor);
  }
  Resize grow = startResize(x), shrink = resize;
  grow.axes = resize.axes;
  for (int64_t dim = 0; dim < x.rank(); ++dim)
    if (resize.scales[dim] >= 1) {
      grow.scales[dim] = std::exchange(shrink.scales[dim], 1.0);
      grow.sizes[dim] = resize.sizes[dim];
    }
  auto keeps = [](Resize &each) { return llvm::all_of(each.scales, [](double scale) { return scale == 1; }); };
  if (keeps(shrink))
    return yieldResize(node, node.value(0), grow, mode, nn::NearestMode::Floor);
  FailureOr<Value> grown = node.value(0);
  if (!keeps(grow))
    grown = createResize(node, *grown, grow, mode, nn::NearestMode::Floor);
  return failed(grown) ? failure() : yieldResize(node, *grown, shrink, mode, nn::NearestMode::Ceil);
}

/// Upsample, and Resize of version 10: scales alone, coordinates divided by the scale.
LogicalResult translateUpsample(Node &node) {
  Tensor &x = node.input(0);
  Resize resize = startResize(x);
  if (failed(readAxes(node, x, resize)))
    return failure();
  if (failed(node.has(1) ? takeScaleInput(node, x, 1, resize) : takeScales(node, x, node.reals("scales"), resize)))
    return failure();
  if (node.string("mode", "nearest") == "nearest")
    return yieldOldNearest(node, resize);
  return yieldResize(node, node.value(0), resize, nn::CoordinateMode::Asymmetric, nn::NearestMode::Floor);
}

bool isGiven(Node &node, int64_t input) {
  return node.has(input) && (node.input(input).rank() != 1 || node.input(input).knownSize(0) != 0);
}

LogicalResult translateResize(Node &node) {
  Tensor &x = node.input(0);
  Resize resize = startResize(x);
  auto coordinate = nn::symbolizeCoordinateMode(node.string("coordinate_transformation_mode", "half_pixel"));
  auto nearest = nn::symbolizeNearestMode(node.string("nearest_mode", "round_prefer_floor"));
  if (!coordinate || !nearest)
    return node.error() << "has an unknown coordinate_transformation_mode or nearest_mode";
  if (failed(readAxes(node, x, resize)))
    return failure();
  if (isGiven(node, 3)) {
    FailureOr<SmallVector<Index>> sizes = node.indices(3);
    if (failed(sizes) || failed(takeSizes(node, x, *sizes, resize)))
      return failure();
  } else if (isGiven(node, 2)) {
    if (failed(takeScaleInput(node, x, 2, resize)))
      return failure();
  } else {
    return node.error() << "has neither scales nor sizes";
  }
  return yieldResize(node, node.value(0), resize, *coordinate, *nearest);
}

} // namespace

ArrayRef<Row> joule::translate::sampleRows() {
  static const Row rows[] = {
      {"", "Upsample", 7, 1, 2, translateUpsample},
      {"", "Resize", 10, 2, 2, translateUpsample},
      {"", "Resize", 11, 1, 4, translateResize},
  };
  return rows;
}
