// Operations that write at computed places.
#include "lib/Reference/Kernels/Combine.h"
#include "lib/Reference/Kernels/Kernels.h"
#include "lib/Reference/Kernels/Walk.h"

namespace joule::reference {

/// Where each update goes: positions in the input, in the order of the updates.
using Places = std::vector<int64_t>;

/// The place of an update that names no element: it is dropped.
constexpr int64_t nowhere = -1;

/// The index that a negative one stands for, or nowhere.
static int64_t placeAlong(int64_t index, int64_t size) {
  int64_t place = index < 0 ? index + size : index;
  return place < 0 || place >= size ? nowhere : place;
}

static Combiner combinerOf(Update update) {
  switch (update) {
  case Update::Multiply:
    return Combiner::Product;
  case Update::Max:
    return Combiner::Max;
  case Update::Min:
    return Combiner::Min;
  case Update::UnsignedMax:
    return Combiner::UnsignedMax;
  case Update::UnsignedMin:
    return Combiner::UnsignedMin;
  default:
    return Combiner::Sum;
  }
}

/// `input` with the updates written over it; the last one stays.
static Buffer replace(const Buffer &input, const Buffer &updates, const Places &places) {
  Buffer source = spread(updates);
  Mover out(input.type, input.shape);
  if (input.count() > 0)
    out.copyRun(0, spread(input), 0, input.count());
  for (size_t i = 0; i < places.size(); ++i)
    if (places[i] != nowhere)
      out.copy(places[i], source, i);
  return out.take();
}

static Buffer join(Update update, const Buffer &input, const Buffer &updates, const Places &places) {
  if (update == Update::Replace)
    return replace(input, updates, places);
  auto [combiner, type] = typedCombiner(combinerOf(update), input.type);
  return withComputeType(type, [&, combiner = combiner, type = type](auto compute) {
    using C = decltype(compute);
    Values<C> values(input.as(type)), changes(updates.as(type));
    std::vector<Accumulator<C>> joined(values.data(), values.data() + input.count());
    for (size_t i = 0; i < places.size(); ++i)
      if (places[i] != nowhere)
        joined[places[i]] = combine<Accumulator<C>>(combiner, joined[places[i]], changes[i]);
    return store<C>(type, input.shape, std::vector<C>(joined.begin(), joined.end())).as(input.type);
  });
}

Result<Buffer> scatterElements(Update update, const Buffer &input, const Buffer &indices,
                               const Buffer &updates, int64_t axis) {
  bool fits = updates.shape == indices.shape;
  for (size_t dim = 0; dim < input.shape.size(); ++dim)
    fits &= static_cast<int64_t>(dim) == axis || indices.shape[dim] <= input.shape[dim];
  if (!fits)
    return Failure{"writes updates of shape " + toString(updates.shape) + " at indices of shape " +
                   toString(indices.shape) + " into shape " + toString(input.shape)};
  Values<int64_t> index(indices);
  Dims strides = stridesOf(input.shape);
  Places places;
  forEachIndex(indices.shape, [&](const Shape &at) {
    int64_t along = placeAlong(index[places.size()], input.shape[axis]);
    places.push_back(along == nowhere ? nowhere : positionOf(at, strides) + (along - at[axis]) * strides[axis]);
  });
  return join(update, input, updates, places);
}

Result<Buffer> scatterNd(Update update, const Buffer &input, const Buffer &indices, const Buffer &updates) {
  int64_t tuple = indices.shape.back();
  Shape expected(indices.shape.begin(), indices.shape.end() - 1);
  expected.insert(expected.end(), input.shape.begin() + tuple, input.shape.end());
  if (updates.shape != expected)
    return Failure{"writes updates of shape " + toString(updates.shape) + " for " + toString(expected)};
  Values<int64_t> index(indices);
  Dims strides = stridesOf(input.shape);
  int64_t run = countOf(Shape(input.shape.begin() + tuple, input.shape.end()));
  int64_t tuples = countOf(Shape(indices.shape.begin(), indices.shape.end() - 1));
  Places places;
  for (int64_t t = 0; t < tuples; ++t) {
    int64_t start = 0;
    bool inside = true;
    for (int64_t k = 0; k < tuple; ++k) {
      int64_t along = placeAlong(index[t * tuple + k], input.shape[k]);
      inside &= along != nowhere;
      start += along * strides[k];
    }
    for (int64_t i = 0; i < run; ++i)
      places.push_back(inside ? start + i : nowhere);
  }
  return join(update, input, updates, places);
}

} // namespace joule::reference
