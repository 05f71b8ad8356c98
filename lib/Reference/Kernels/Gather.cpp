// Operations that take elements at computed places.
#include "lib/Reference/Kernels/Kernels.h"
#include "lib/Reference/Kernels/Walk.h"

namespace joule::reference {

/// A negative index counts from the end; one outside the axis is clamped into it.
static int64_t clampIndex(int64_t index, int64_t size) {
  return std::clamp<int64_t>(index < 0 ? index + size : index, 0, size - 1);
}

/// There is nothing to take from a dimension without elements.
static Result<Buffer> takenFromNothing(const Buffer &input) {
  return Failure{"takes elements of an input of shape " + toString(input.shape)};
}

static int64_t product(const Shape &shape, size_t from, size_t to) {
  return countOf(Shape(shape.begin() + from, shape.begin() + to));
}

Result<Buffer> gather(const Buffer &input, const Buffer &indices, int64_t axis) {
  Shape shape(input.shape.begin(), input.shape.begin() + axis);
  shape.insert(shape.end(), indices.shape.begin(), indices.shape.end());
  shape.insert(shape.end(), input.shape.begin() + axis + 1, input.shape.end());
  int64_t size = input.shape[axis];
  if (size == 0 && countOf(shape) > 0)
    return takenFromNothing(input);

  int64_t before = product(input.shape, 0, axis), run = product(input.shape, axis + 1, input.shape.size());
  Values<int64_t> index(indices);
  Buffer source = spread(input);
  Mover out(input.type, shape);
  int64_t count = indices.count();
  for (int64_t outer = 0; outer < before && run > 0; ++outer)
    for (int64_t i = 0; i < count; ++i)
      out.copyRun((outer * count + i) * run, source, (outer * size + clampIndex(index[i], size)) * run, run);
  return out.take();
}

Result<Buffer> gatherElements(const Buffer &input, const Buffer &indices, int64_t axis) {
  for (size_t dim = 0; dim < input.shape.size(); ++dim)
    if (static_cast<int64_t>(dim) != axis && indices.shape[dim] > input.shape[dim])
      return Failure{"takes elements at indices of shape " + toString(indices.shape) + " from shape " +
                     toString(input.shape)};
  if (input.shape[axis] == 0 && indices.count() > 0)
    return takenFromNothing(input);

  Values<int64_t> index(indices);
  Dims strides = stridesOf(input.shape);
  Buffer source = spread(input);
  Mover out(input.type, indices.shape);
  int64_t to = 0;
  forEachIndex(indices.shape, [&](const Shape &at) {
    int64_t chosen = clampIndex(index[to], input.shape[axis]);
    out.copy(to++, source, positionOf(at, strides) + (chosen - at[axis]) * strides[axis]);
  });
  return out.take();
}

Result<Buffer> gatherNd(const Buffer &input, const Buffer &indices, int64_t batchDims) {
  int64_t tuple = indices.shape.back();
  Shape batch(input.shape.begin(), input.shape.begin() + batchDims);
  if (Shape(indices.shape.begin(), indices.shape.begin() + batchDims) != batch)
    return Failure{"takes elements at indices of shape " + toString(indices.shape) + " from shape " +
                   toString(input.shape) + " in batches"};
  Shape shape(indices.shape.begin(), indices.shape.end() - 1);
  shape.insert(shape.end(), input.shape.begin() + batchDims + tuple, input.shape.end());
  if (input.count() == 0 && countOf(shape) > 0)
    return takenFromNothing(input);

  Values<int64_t> index(indices);
  Dims strides = stridesOf(input.shape);
  int64_t run = product(input.shape, batchDims + tuple, input.shape.size());
  int64_t tuples = product(indices.shape, 0, indices.shape.size() - 1), batches = countOf(batch);
  int64_t batchSize = product(input.shape, batchDims, input.shape.size());
  Buffer source = spread(input);
  Mover out(input.type, shape);
  for (int64_t t = 0; t < tuples && run > 0; ++t) {
    int64_t from = t / (tuples / batches) * batchSize;
    for (int64_t k = 0; k < tuple; ++k)
      from += clampIndex(index[t * tuple + k], input.shape[batchDims + k]) * strides[batchDims + k];
    out.copyRun(t * run, source, from, run);
  }
  return out.take();
}

} // namespace joule::reference
