// Sums of products: contractions and convolutions.
#include "lib/Reference/Kernels/Combine.h"
#include "lib/Reference/Kernels/Kernels.h"
#include "lib/Reference/Kernels/Walk.h"

#include <map>

namespace joule::reference {

/// `x` as the multiplier sees it.
template <typename C> static C toCompute(C x, const Precision &precision) {
  if constexpr (std::is_floating_point_v<C>) {
    if (precision.computeTf32)
      return static_cast<C>(roundTo(tf32Format, x));
    if (precision.compute && isFloat(*precision.compute))
      return static_cast<C>(roundTo(*precision.compute, x));
  }
  return x;
}

/// True where rounding to the compute type changes nothing, so that elements can stay in place.
static bool computesInPlace(ElementType type, const Precision &precision) {
  return !precision.computeTf32 && (!precision.compute || *precision.compute == type);
}

/// The type that a contraction multiplies and sums in: that of the result, unless the operands are wider
/// floats.
static ElementType contractionType(const Buffer &operand, ElementType result) {
  if (operand.type == ElementType::Float64 || isFloat(result))
    return operand.type == ElementType::Float64 ? ElementType::Float64 : result;
  return isFloat(operand.type) ? operand.type : ElementType::Int64;
}

/// Stores sums as `type`; integer sums of a float result do not occur, nor the reverse.
template <typename C> static Buffer storeSums(ElementType type, const Shape &shape, std::vector<C> sums) {
  return store<C>(type, shape, std::move(sums));
}

namespace {

/// Labels of a contraction by where they stand.
struct Labels {
  Dims batch;   ///< both operands and the result
  Dims rows;    ///< lhs and the result
  Dims columns; ///< rhs and the result
  Dims summed;  ///< not the result
  std::map<int64_t, int64_t> sizes;

  Shape sizesOf(const Dims &labels) const {
    Shape shape;
    for (int64_t label : labels)
      shape.push_back(sizes.at(label));
    return shape;
  }
  int64_t countOf(const Dims &labels) const { return reference::countOf(sizesOf(labels)); }
};

bool contains(const Dims &list, int64_t value) {
  return std::find(list.begin(), list.end(), value) != list.end();
}

Result<Labels> sortLabels(const Buffer &lhs, const Buffer &rhs, const Dims &lhsLabels, const Dims &rhsLabels,
                          const Dims &outLabels) {
  Labels labels;
  for (auto [buffer, list] : {std::pair(&lhs, &lhsLabels), std::pair(&rhs, &rhsLabels)})
    for (size_t dim = 0; dim < list->size(); ++dim) {
      int64_t label = (*list)[dim], size = buffer->shape[dim];
      auto [known, fresh] = labels.sizes.emplace(label, size);
      if (known->second != size)
        return Failure{"has sizes " + std::to_string(known->second) + " and " + std::to_string(size) +
                       " for label " + std::to_string(label)};
      if (fresh && !contains(outLabels, label))
        labels.summed.push_back(label);
    }
  for (int64_t label : outLabels) {
    bool left = contains(lhsLabels, label), right = contains(rhsLabels, label);
    (left && right ? labels.batch : left ? labels.rows : labels.columns).push_back(label);
  }
  return labels;
}

/// The strides under which `labels` walk a tensor whose dimensions carry `own` labels: 0 for a label it
/// lacks.
Dims stridesFor(const Dims &labels, const Dims &own, const Shape &shape) {
  Dims strides = stridesOf(shape), wanted;
  for (int64_t label : labels) {
    auto at = std::find(own.begin(), own.end(), label);
    wanted.push_back(at == own.end() ? 0 : strides[at - own.begin()]);
  }
  return wanted;
}

Dims concatenated(std::initializer_list<Dims> lists) {
  Dims all;
  for (const Dims &list : lists)
    all.insert(all.end(), list.begin(), list.end());
  return all;
}

/// The elements of an operand in the order of `labels`, as the multiplier sees them.
template <typename C> class Packed {
public:
  Packed(const Buffer &buffer, const Dims &own, const Labels &labels, const Dims &order,
         const Precision &precision)
      : values(buffer) {
    if (order == own && computesInPlace(buffer.type, precision)) {
      begin = values.data();
      return;
    }
    Shape shape = labels.sizesOf(order);
    packed.reserve(countOf(shape));
    forEachPosition(shape, stridesFor(order, own, buffer.shape), 0,
                    [&](int64_t position) { packed.push_back(toCompute(values[position], precision)); });
    begin = packed.data();
  }
  const C *data() const { return begin; }

private:
  Values<C> values;
  std::vector<C> packed;
  const C *begin;
};

/// One row of the result: `sums[column] = sum over k of lhs[k] * rhs[k, column]`.
template <typename C>
void multiplyRow(const C *lhs, const C *rhs, int64_t summed, int64_t columns, std::vector<Sum<C>> &sums) {
  std::fill(sums.begin(), sums.end(), 0);
  for (int64_t k = 0; k < summed; ++k) {
    auto factor = static_cast<Sum<C>>(lhs[k]);
    const C *row = rhs + k * columns;
    for (int64_t column = 0; column < columns; ++column)
      sums[column] += factor * static_cast<Sum<C>>(row[column]);
  }
}

/// Contracts `[batch, rows, summed]` with `[batch, summed, columns]`.
template <typename C>
std::vector<C> multiply(const C *lhs, const C *rhs, int64_t batch, int64_t rows, int64_t columns,
                        int64_t summed, const Precision &precision) {
  std::vector<C> results(batch * rows * columns);
  inParallel(batch * rows, batch * rows * columns * summed, [&](int64_t row) {
    std::vector<Sum<C>> sums(columns);
    multiplyRow(lhs + row * summed, rhs + row / rows * summed * columns, summed, columns, sums);
    for (int64_t column = 0; column < columns; ++column)
      results[row * columns + column] = narrow<C>(static_cast<Accumulator<C>>(sums[column]), precision);
  });
  return results;
}

} // namespace

Result<Buffer> contract(const Buffer &lhs, const Buffer &rhs, const Dims &lhsLabels, const Dims &rhsLabels,
                        const Dims &outLabels, ElementType type, const Precision &precision) {
  Result<Labels> sorted = sortLabels(lhs, rhs, lhsLabels, rhsLabels, outLabels);
  if (!sorted)
    return Failure{sorted.error()};
  const Labels &labels = *sorted;
  Dims order = concatenated({labels.batch, labels.rows, labels.columns}); // that of the product below
  Buffer product = withComputeType(contractionType(lhs, type), [&](auto compute) {
    using C = decltype(compute);
    Packed<C> left(lhs, lhsLabels, labels, concatenated({labels.batch, labels.rows, labels.summed}),
                   precision);
    Packed<C> right(rhs, rhsLabels, labels, concatenated({labels.batch, labels.summed, labels.columns}),
                    precision);
    return storeSums<C>(type, labels.sizesOf(order),
                        multiply<C>(left.data(), right.data(), labels.countOf(labels.batch),
                                    labels.countOf(labels.rows), labels.countOf(labels.columns),
                                    labels.countOf(labels.summed), precision));
  });
  if (order == outLabels)
    return product;
  Dims permutation;
  for (int64_t label : outLabels)
    permutation.push_back(std::find(order.begin(), order.end(), label) - order.begin());
  return transpose(product, permutation);
}

//===- Convolutions ------------------------------------------------------------------------------------------

namespace {

/// Along one dimension, which outputs one element of the filter touches, and what input each of them meets:
/// `outputs first, first + step, … below end` meet `inputs start, start + inputStep, …`.
struct Taps {
  int64_t first = 0, end = 0, step = 1;
  int64_t start = 0, inputStep = 1;
};

Taps tapsOf(int64_t filterPosition, int64_t outputs, int64_t inputs, const Window &window, size_t dim) {
  int64_t stride = window.strides[dim], spread = window.inputDilations[dim];
  int64_t shift = filterPosition * window.dilations[dim] - window.low[dim];
  auto spreadInput = [&](int64_t output) { return output * stride + shift; };
  Taps taps;
  // The outputs that meet an element, not a gap between two, repeat every `step`.
  while (taps.step * stride % spread != 0)
    ++taps.step;
  while (taps.first < outputs && (spreadInput(taps.first) < 0 || spreadInput(taps.first) % spread != 0))
    ++taps.first;
  taps.end = taps.first;
  while (taps.end < outputs && spreadInput(taps.end) <= (inputs - 1) * spread)
    ++taps.end;
  taps.start = spreadInput(taps.first) / spread;
  taps.inputStep = taps.step * stride / spread;
  return taps;
}

/// Positions and sizes that all output channels of a convolution share.
struct ConvGeometry {
  int64_t channels; ///< of the input, seen by one group
  int64_t groups, filters;
  Shape inputs, outputs, filter; ///< spatial sizes
  Dims inputStrides, outputStrides;
  /// For each spatial dimension and each filter position.
  std::vector<std::vector<Taps>> taps;
};

/// Adds one filter element times the input plane to the output plane.
template <typename C>
void addTap(const ConvGeometry &conv, const Shape &at, Sum<C> factor, const C *input, Sum<C> *sums,
            size_t dim = 0) {
  const Taps &taps = conv.taps[dim][at[dim]];
  int64_t from = taps.start;
  if (dim + 1 == at.size()) {
    for (int64_t to = taps.first; to < taps.end; to += taps.step, from += taps.inputStep)
      sums[to] += factor * static_cast<Sum<C>>(input[from]);
    return;
  }
  for (int64_t to = taps.first; to < taps.end; to += taps.step, from += taps.inputStep)
    addTap(conv, at, factor, input + from * conv.inputStrides[dim], sums + to * conv.outputStrides[dim],
           dim + 1);
}

/// The sums of one output channel of one image.
template <typename C>
std::vector<Sum<C>> convolvePlane(const ConvGeometry &conv, const C *input, const C *filter,
                                  const Precision &precision) {
  std::vector<Sum<C>> sums(countOf(conv.outputs), 0);
  int64_t plane = countOf(conv.inputs);
  for (int64_t channel = 0; channel < conv.channels; ++channel)
    forEachIndex(conv.filter, [&](const Shape &at) {
      addTap<C>(conv, at, static_cast<Sum<C>>(toCompute(*filter++, precision)), input + channel * plane,
                sums.data());
    });
  return sums;
}

Shape spatial(const Shape &shape) { return Shape(shape.begin() + 2, shape.end()); }

ConvGeometry geometryOf(const Buffer &input, const Buffer &filter, const Window &window, int64_t groups,
                        const Shape &shape) {
  ConvGeometry conv{filter.shape[1],
                    groups,
                    filter.shape[0],
                    spatial(input.shape),
                    spatial(shape),
                    spatial(filter.shape),
                    stridesOf(spatial(input.shape)),
                    stridesOf(spatial(shape)),
                    {}};
  for (size_t dim = 0; dim < conv.outputs.size(); ++dim) {
    std::vector<Taps> taps;
    for (int64_t position = 0; position < conv.filter[dim]; ++position)
      taps.push_back(tapsOf(position, conv.outputs[dim], conv.inputs[dim], window, dim));
    conv.taps.push_back(std::move(taps));
  }
  return conv;
}

template <typename C>
std::vector<C> convolve(const ConvGeometry &conv, const C *input, const C *filter, int64_t images,
                        const Precision &precision) {
  int64_t plane = countOf(conv.outputs), perGroup = conv.filters / conv.groups;
  int64_t filterSize = conv.channels * countOf(conv.filter), imageSize = conv.channels * countOf(conv.inputs);
  std::vector<C> results(images * conv.filters * plane);
  inParallel(images * conv.filters, results.size() * filterSize, [&](int64_t at) {
    int64_t image = at / conv.filters, k = at % conv.filters, group = k / perGroup;
    auto sums = convolvePlane<C>(conv, input + (image * conv.groups + group) * imageSize,
                                 filter + k * filterSize, precision);
    for (int64_t i = 0; i < plane; ++i)
      results[at * plane + i] = narrow<C>(static_cast<Accumulator<C>>(sums[i]), precision);
  });
  return results;
}

} // namespace

Result<Buffer> conv(const Buffer &input, const Buffer &filter, const Window &window, int64_t groups,
                    ElementType type, const Shape &shape, const Precision &precision) {
  if (input.shape[1] != filter.shape[1] * groups || filter.shape[0] % groups != 0 ||
      shape[0] != input.shape[0] || shape[1] != filter.shape[0])
    return Failure{"has an input of shape " + toString(input.shape) + ", filters of shape " +
                   toString(filter.shape) + ", " + std::to_string(groups) + " groups and a result of shape " +
                   toString(shape)};
  ConvGeometry geometry = geometryOf(input, filter, window, groups, shape);
  return withComputeType(contractionType(input, type), [&](auto compute) {
    using C = decltype(compute);
    Dims order(input.shape.size());
    for (size_t dim = 0; dim < order.size(); ++dim)
      order[dim] = dim;
    Labels labels;
    for (size_t dim = 0; dim < order.size(); ++dim)
      labels.sizes[dim] = input.shape[dim];
    Packed<C> elements(input, order, labels, order, precision);
    Values<C> filters(filter);
    return storeSums<C>(type, shape,
                        convolve<C>(geometry, elements.data(), filters.data(), input.shape[0], precision));
  });
}

} // namespace joule::reference
