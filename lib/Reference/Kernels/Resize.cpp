// Resampling, one dimension after the other.
#include "lib/Reference/Kernels/Kernels.h"
#include "lib/Reference/Kernels/Walk.h"

namespace joule::reference {

namespace {

/// How one dimension is resampled.
struct Axis {
  int64_t inputs, outputs;
  double scale;
  /// The output size as the scale has it, which may be fractional.
  double width;
  double roiStart = 0, roiEnd = 1;

  /// True where resampling changes nothing.
  bool isIdentity() const { return scale == 1 && inputs == outputs && roiStart == 0 && roiEnd == 1; }
};

/// What one output element is made of: inputs from `first` on, each with its weight.
struct Sample {
  int64_t first = 0;
  std::vector<double> weights;
  bool isExtrapolated = false;
};

/// A model that gives sizes states a scale that f32 rounded; the ratio of the sizes is what it meant.
Axis axisOf(float stated, int64_t inputs, int64_t outputs) {
  double ratio = static_cast<double>(outputs) / inputs;
  if (static_cast<float>(ratio) == stated)
    return {inputs, outputs, ratio, static_cast<double>(outputs)};
  return {inputs, outputs, stated, static_cast<double>(stated) * inputs};
}

/// The input coordinate of output `x`.
double inputCoordinate(double x, const Axis &axis, CoordinateMode mode) {
  switch (mode) {
  case CoordinateMode::AlignCorners:
    return axis.width == 1 ? 0 : x * (axis.inputs - 1) / (axis.width - 1);
  case CoordinateMode::Asymmetric:
    return x / axis.scale;
  case CoordinateMode::TfHalfPixelForNn:
    return (x + 0.5) / axis.scale;
  case CoordinateMode::TfCropAndResize: {
    double start = axis.roiStart * (axis.inputs - 1),
           extent = (axis.roiEnd - axis.roiStart) * (axis.inputs - 1);
    return start + (axis.outputs == 1 ? extent / 2 : x * extent / (axis.width - 1));
  }
  case CoordinateMode::PytorchHalfPixel:
    return axis.outputs == 1 ? 0 : (x + 0.5) / axis.scale - 0.5;
  case CoordinateMode::HalfPixelSymmetric: {
    double offset = axis.inputs / 2.0 * (1 - axis.outputs / axis.width);
    return offset + (x + 0.5) / axis.scale - 0.5;
  }
  case CoordinateMode::HalfPixel:
    return (x + 0.5) / axis.scale - 0.5;
  }
  return x;
}

double nearest(double coordinate, NearestMode mode) {
  switch (mode) {
  case NearestMode::RoundPreferFloor:
    return std::ceil(coordinate - 0.5);
  case NearestMode::RoundPreferCeil:
    return std::floor(coordinate + 0.5);
  case NearestMode::Floor:
    return std::floor(coordinate);
  case NearestMode::Ceil:
    return std::ceil(coordinate);
  }
  return coordinate;
}

/// The filters: the weight of an input at `distance`.
double linearFilter(double distance) { return std::max(0.0, 1 - std::fabs(distance)); }

double cubicFilter(double distance, double a) {
  double x = std::fabs(distance);
  if (x <= 1)
    return ((a + 2) * x - (a + 3)) * x * x + 1;
  if (x < 2)
    return ((a * x - 5 * a) * x + 8 * a) * x - 4 * a;
  return 0;
}

/// The inputs within the filter's reach of `coordinate`, and their weights. Antialiasing widens the filter.
Sample filtered(double coordinate, const Axis &axis, const ResizeOptions &options) {
  double shrink = options.antialias ? std::min(axis.scale, 1.0) : 1;
  double reach = (options.sample == SampleMode::Linear ? 1 : 2) / shrink;
  Sample sample;
  sample.first = static_cast<int64_t>(std::floor(coordinate - reach)) + 1;
  auto last = static_cast<int64_t>(std::ceil(coordinate + reach)) - 1;
  double total = 0;
  for (int64_t i = sample.first; i <= last; ++i) {
    double distance = (i - coordinate) * shrink;
    double weight =
        options.sample == SampleMode::Linear ? linearFilter(distance) : cubicFilter(distance, options.cubicA);
    bool isOutside = i < 0 || i >= axis.inputs;
    sample.weights.push_back(options.excludeOutside && isOutside ? 0 : weight);
    total += sample.weights.back();
  }
  if (options.antialias || options.excludeOutside)
    for (double &weight : sample.weights)
      weight /= total == 0 ? 1 : total;
  return sample;
}

Sample sampleOf(int64_t output, const Axis &axis, const ResizeOptions &options) {
  double coordinate = inputCoordinate(output, axis, options.coordinate);
  Sample sample;
  if (options.coordinate == CoordinateMode::TfCropAndResize &&
      (coordinate < 0 || coordinate > axis.inputs - 1))
    sample.isExtrapolated = true;
  else if (options.sample == SampleMode::Nearest)
    sample = {static_cast<int64_t>(nearest(coordinate, options.nearest)), {1}, false};
  else
    sample = filtered(coordinate, axis, options);
  return sample;
}

/// Resamples dimension `dim` of a tensor; inputs outside repeat the border.
std::vector<double> resample(const std::vector<double> &input, Shape &shape, size_t dim, const Axis &axis,
                             const ResizeOptions &options) {
  int64_t outer = countOf(Shape(shape.begin(), shape.begin() + dim));
  int64_t inner = countOf(Shape(shape.begin() + dim + 1, shape.end()));
  std::vector<double> result(outer * axis.outputs * inner);
  for (int64_t output = 0; output < axis.outputs; ++output) {
    Sample sample = sampleOf(output, axis, options);
    for (int64_t o = 0; o < outer; ++o)
      for (int64_t i = 0; i < inner; ++i) {
        double sum = sample.isExtrapolated ? options.extrapolation : 0;
        for (size_t tap = 0; tap < sample.weights.size(); ++tap) {
          int64_t from = std::clamp<int64_t>(sample.first + tap, 0, axis.inputs - 1);
          sum += sample.weights[tap] * input[(o * axis.inputs + from) * inner + i];
        }
        result[(o * axis.outputs + output) * inner + i] = sum;
      }
  }
  shape[dim] = axis.outputs;
  return result;
}

/// Floats as they are; integers rounded to the nearest and clamped.
Buffer storeRounded(ElementType type, const Shape &shape, std::vector<double> values) {
  if (isFloat(type))
    return store<double>(type, shape, std::move(values));
  for (double &value : values)
    value = std::nearbyint(value);
  return castTo(store<double>(ElementType::Float64, shape, std::move(values)), type);
}

} // namespace

Result<Buffer> resize(const Buffer &input, const Buffer &scales, const Buffer *roi,
                      const ResizeOptions &options, const Shape &shape) {
  size_t rank = shape.size();
  if (scales.count() != static_cast<int64_t>(rank) || (roi && roi->count() != static_cast<int64_t>(2 * rank)))
    return Failure{"resizes shape " + toString(input.shape) + " with scales of shape " +
                   toString(scales.shape)};
  if (countOf(shape) == 0)
    return Buffer(input.type, shape);
  if (input.count() == 0)
    return Failure{"has no element to sample in an input of shape " + toString(input.shape)};
  Values<double> elements(input);
  std::vector<double> values(elements.data(), elements.data() + input.count());
  Shape sizes = input.shape;
  for (size_t dim = 0; dim < rank; ++dim) {
    auto stated = static_cast<float>(scales.number(dim));
    if (!(stated > 0))
      return Failure{"has scale " + std::to_string(stated) + " along dimension " + std::to_string(dim)};
    Axis axis = axisOf(stated, input.shape[dim], shape[dim]);
    if (roi && options.coordinate == CoordinateMode::TfCropAndResize) {
      axis.roiStart = roi->number(dim);
      axis.roiEnd = roi->number(rank + dim);
    }
    if (!axis.isIdentity())
      values = resample(values, sizes, dim, axis, options);
  }
  return storeRounded(input.type, shape, std::move(values));
}

} // namespace joule::reference
