// Operations that move elements without looking at them.
#include "lib/Reference/Kernels/Kernels.h"
#include "lib/Reference/Kernels/Walk.h"

namespace joule::reference {

/// A tensor of `shape` whose elements are those of `input` at `offset` and strides.
static Buffer strided(const Buffer &input, const Shape &shape, int64_t offset, const Dims &strides) {
  Buffer source = spread(input);
  Mover out(input.type, shape);
  int64_t to = 0;
  forEachPosition(shape, strides, offset, [&](int64_t from) { out.copy(to++, source, from); });
  return out.take();
}

Result<Buffer> broadcast(const Buffer &input, const Dims &dimensions, const Shape &shape) {
  Dims inputStrides = stridesOf(input.shape), strides(shape.size(), 0);
  for (size_t dim = 0; dim < dimensions.size(); ++dim) {
    int64_t size = input.shape[dim], wanted = shape[dimensions[dim]];
    if (size != 1 && size != wanted)
      return Failure{"repeats " + std::to_string(size) + " elements along a dimension of " +
                     std::to_string(wanted)};
    if (size != 1)
      strides[dimensions[dim]] = inputStrides[dim];
  }
  return strided(input, shape, 0, strides);
}

Result<Buffer> reshape(const Buffer &input, const Shape &shape) {
  if (countOf(shape) != input.count())
    return Failure{"turns shape " + toString(input.shape) + " into " + toString(shape)};
  Buffer result = input;
  result.shape = shape;
  return result;
}

Buffer transpose(const Buffer &input, const Dims &permutation) {
  return strided(input, pickDims(input.shape, permutation), 0, pickDims(stridesOf(input.shape), permutation));
}

Result<Buffer> slice(const Buffer &input, const Dims &offsets, const Dims &strides, const Shape &shape) {
  Dims inputStrides = stridesOf(input.shape), steps;
  for (size_t dim = 0; dim < shape.size(); ++dim) {
    int64_t first = offsets[dim], last = first + (shape[dim] - 1) * strides[dim];
    bool inside = std::min(first, last) >= 0 && std::max(first, last) < input.shape[dim];
    if (countOf(shape) > 0 && !inside)
      return Failure{"reads elements " + std::to_string(first) + " to " + std::to_string(last) + " of " +
                     std::to_string(input.shape[dim]) + " along dimension " + std::to_string(dim)};
    steps.push_back(strides[dim] * inputStrides[dim]);
  }
  return strided(input, shape, positionOf(offsets, inputStrides), steps);
}

/// The coordinate from which a padded tensor takes `coordinate` along a dimension of `size`; -1 for the pad
/// value.
static int64_t padSource(int64_t coordinate, int64_t size, PadMode mode) {
  if (coordinate >= 0 && coordinate < size)
    return coordinate;
  switch (mode) {
  case PadMode::Constant:
    return -1;
  case PadMode::Edge:
    return coordinate < 0 ? 0 : size - 1;
  case PadMode::Wrap:
    return ((coordinate % size) + size) % size;
  case PadMode::Reflect:
    break;
  }
  // Reflection repeats with this period; a single element is its own mirror image.
  int64_t period = std::max<int64_t>(1, 2 * (size - 1));
  int64_t within = ((coordinate % period) + period) % period;
  return std::min(within, period - within);
}

Result<Buffer> pad(const Buffer &input, const Buffer &value, const Dims &low, PadMode mode,
                   const Shape &shape) {
  if (mode != PadMode::Constant && input.count() == 0 && countOf(shape) > 0)
    return Failure{"has no element to repeat in an input of shape " + toString(input.shape)};
  // For each dimension and each coordinate of the result, where it comes from.
  std::vector<std::vector<int64_t>> sources(shape.size());
  Dims strides = stridesOf(input.shape);
  for (size_t dim = 0; dim < shape.size(); ++dim)
    for (int64_t i = 0; i < shape[dim]; ++i)
      sources[dim].push_back(padSource(i - low[dim], input.shape[dim], mode));

  Buffer source = spread(input), filler = spread(value);
  Mover out(input.type, shape);
  int64_t to = 0;
  forEachIndex(shape, [&](const Shape &index) {
    int64_t from = 0;
    bool inside = true;
    for (size_t dim = 0; dim < index.size(); ++dim) {
      inside &= sources[dim][index[dim]] >= 0;
      from += sources[dim][index[dim]] * strides[dim];
    }
    out.copy(to++, inside ? source : filler, inside ? from : 0);
  });
  return out.take();
}

Result<Buffer> concat(const std::vector<Buffer> &inputs, int64_t axis, const Shape &shape) {
  int64_t along = 0;
  for (const Buffer &input : inputs) {
    along += input.shape[axis];
    Shape expected = shape;
    expected[axis] = input.shape[axis];
    if (input.shape != expected)
      return Failure{"joins shape " + toString(input.shape) + " into " + toString(shape) + " along axis " +
                     std::to_string(axis)};
  }
  if (along != shape[axis])
    return Failure{"joins " + std::to_string(along) + " slices into " + std::to_string(shape[axis])};

  // Around the axis: how many runs there are, and how many elements one slice has.
  int64_t runs = countOf(Shape(shape.begin(), shape.begin() + axis));
  int64_t slice = countOf(Shape(shape.begin() + axis + 1, shape.end()));
  Mover out(inputs.front().type, shape);
  int64_t start = 0;
  for (const Buffer &input : inputs) {
    Buffer source = spread(input);
    int64_t length = input.shape[axis] * slice;
    for (int64_t run = 0; run < runs && length > 0; ++run)
      out.copyRun(run * shape[axis] * slice + start, source, run * length, length);
    start += length;
  }
  return out.take();
}

Buffer iota(ElementType type, int64_t dimension, const Shape &shape) {
  std::vector<int64_t> values;
  values.reserve(countOf(shape));
  forEachIndex(shape, [&](const Shape &index) { values.push_back(index[dimension]); });
  if (isFloat(type))
    return makeFloats(type, shape, std::vector<double>(values.begin(), values.end()));
  return makeIntegers(type, shape, values);
}

Buffer nonZero(const Buffer &input) {
  Buffer isNonZero = castTo(input, ElementType::Bool);
  std::vector<Shape> found;
  int64_t position = 0;
  forEachIndex(input.shape, [&](const Shape &index) {
    if (isNonZero.bytes.data()[position++])
      found.push_back(index);
  });
  std::vector<int64_t> coordinates;
  for (size_t dim = 0; dim < input.shape.size(); ++dim)
    for (const Shape &index : found)
      coordinates.push_back(index[dim]);
  return makeIntegers(ElementType::Int64,
                      {static_cast<int64_t>(input.shape.size()), static_cast<int64_t>(found.size())},
                      coordinates);
}

} // namespace joule::reference
