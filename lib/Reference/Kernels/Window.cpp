// Sliding windows.
#include "lib/Reference/Kernels/Combine.h"
#include "lib/Reference/Kernels/Kernels.h"
#include "lib/Reference/Kernels/Walk.h"

namespace joule::reference {

static Shape spatial(const Shape &shape) { return Shape(shape.begin() + 2, shape.end()); }

/// Calls `visit(position)` with the place, in one plane of `inputs`, of each element of the window at
/// `output`.
template <typename Visit>
static void forEachInWindow(const Shape &output, const Shape &inputs, const Window &window, Visit &&visit) {
  Dims strides = stridesOf(inputs);
  forEachIndex(window.sizes, [&](const Shape &at) {
    int64_t position = 0;
    for (size_t dim = 0; dim < inputs.size(); ++dim) {
      int64_t coordinate =
          output[dim] * window.strides[dim] + at[dim] * window.dilations[dim] - window.low[dim];
      if (coordinate < 0 || coordinate >= inputs[dim])
        return;
      position += coordinate * strides[dim];
    }
    visit(position);
  });
}

Buffer pool(Combiner wanted, const Buffer &signless, const Window &window, const Shape &shape) {
  auto [combiner, type] = typedCombiner(wanted, signless.type);
  Buffer input = signless.as(type);
  Shape inputs = spatial(input.shape), outputs = spatial(shape);
  int64_t inputPlane = countOf(inputs), outputPlane = countOf(outputs), planes = shape[0] * shape[1];
  return withComputeType(type, [&, combiner = combiner, type = type](auto compute) {
    using C = decltype(compute);
    Values<C> values(input);
    std::vector<C> results(planes * outputPlane);
    inParallel(planes, results.size() * countOf(window.sizes), [&](int64_t plane) {
      int64_t to = plane * outputPlane;
      forEachIndex(outputs, [&](const Shape &output) {
        auto all = neutral<Accumulator<C>>(combiner, type);
        forEachInWindow(output, inputs, window, [&](int64_t position) {
          all = combine<Accumulator<C>>(combiner, all, values[plane * inputPlane + position]);
        });
        results[to++] = narrow<C>(all, {});
      });
    });
    return store<C>(type, shape, std::move(results)).as(signless.type);
  });
}

/// `position`, counted row-major in `shape`, counted with the first dimension fastest.
static int64_t toColumnMajor(int64_t position, const Shape &shape) {
  int64_t columnMajor = 0, count = countOf(shape);
  for (size_t dim = shape.size(); dim-- > 0; position /= shape[dim]) {
    count /= shape[dim];
    columnMajor += position % shape[dim] * count;
  }
  return columnMajor;
}

Buffer poolArgMax(const Buffer &input, const Window &window, bool columnMajor, ElementType type,
                  const Shape &shape) {
  Shape inputs = spatial(input.shape), outputs = spatial(shape);
  int64_t inputPlane = countOf(inputs), outputPlane = countOf(outputs), planes = shape[0] * shape[1];
  std::vector<int64_t> places(planes * outputPlane);
  withComputeType(input.type, [&](auto compute) {
    using C = decltype(compute);
    Values<C> values(input);
    int64_t to = 0;
    for (int64_t plane = 0; plane < planes; ++plane)
      forEachIndex(outputs, [&](const Shape &output) {
        int64_t best = -1;
        forEachInWindow(output, inputs, window, [&](int64_t position) {
          C candidate = values[plane * inputPlane + position];
          if (best < 0 || isGreater(candidate, values[plane * inputPlane + best]))
            best = position;
        });
        best = std::max<int64_t>(best, 0);
        places[to++] = plane * inputPlane + (columnMajor ? toColumnMajor(best, inputs) : best);
      });
  });
  return makeIntegers(type, shape, places);
}

} // namespace joule::reference
