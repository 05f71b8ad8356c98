// Reductions, and the normalisations that are made of them.
#include "lib/Reference/Kernels/Combine.h"
#include "lib/Reference/Kernels/Kernels.h"
#include "lib/Reference/Kernels/Walk.h"

namespace joule::reference {

namespace {

/// A tensor seen as rows: where each row begins, and where its elements are from there. The rows run along
/// some axes, and there is one for every index tuple of the others, `outer`.
struct Rows {
  Shape outer;
  std::vector<int64_t> starts, steps;

  Rows(const Shape &shape, const Dims &axes) {
    Dims strides = stridesOf(shape), others = otherAxes(shape.size(), axes);
    outer = pickDims(shape, others);
    starts = positions(outer, pickDims(strides, others));
    steps = positions(pickDims(shape, axes), pickDims(strides, axes));
  }

  int64_t count() const { return starts.size(); }
  int64_t length() const { return steps.size(); }
  int64_t cost() const { return count() * length(); }
};

} // namespace

Buffer reduce(Combiner wanted, const Buffer &signless, const Dims &axes, const Precision &precision) {
  auto [combiner, type] = typedCombiner(wanted, signless.type);
  Buffer input = signless.as(type);
  Rows rows(input.shape, axes);
  return withComputeType(type, [&, combiner = combiner, type = type](auto compute) {
    using C = decltype(compute);
    Values<C> values(input);
    std::vector<C> results(rows.count());
    inParallel(rows.count(), rows.cost(), [&](int64_t row) {
      auto all = neutral<Accumulator<C>>(combiner, type);
      for (int64_t step : rows.steps)
        all = combine<Accumulator<C>>(combiner, all, values[rows.starts[row] + step]);
      results[row] = narrow<C>(all, precision);
    });
    return store<C>(type, rows.outer, std::move(results)).as(signless.type);
  });
}

/// Whether `candidate` takes the place of `best`, of which it stands behind.
template <typename C> static bool isMoreExtreme(C candidate, C best, bool max, bool selectLast) {
  if constexpr (std::is_floating_point_v<C>)
    if (std::isnan(candidate) || std::isnan(best))
      return std::isnan(candidate) && (!std::isnan(best) || selectLast);
  if (candidate == best)
    return selectLast;
  return max ? candidate > best : candidate < best;
}

Result<Buffer> argReduce(Combiner wanted, const Buffer &signless, int64_t axis, bool selectLast,
                         ElementType type) {
  auto [combiner, inputType] = typedCombiner(wanted, signless.type);
  Buffer input = signless.as(inputType);
  Rows rows(input.shape, {axis});
  if (rows.length() == 0 && rows.count() > 0)
    return Failure{"looks for an extreme element along an axis without elements"};
  std::vector<int64_t> places(rows.count());
  withComputeType(input.type, [&, max = combiner == Combiner::Max](auto compute) {
    using C = decltype(compute);
    Values<C> values(input);
    for (int64_t row = 0; row < rows.count(); ++row)
      for (int64_t i = 1; i < rows.length(); ++i)
        if (isMoreExtreme(values[rows.starts[row] + rows.steps[i]],
                          values[rows.starts[row] + rows.steps[places[row]]], max, selectLast))
          places[row] = i;
  });
  return makeIntegers(type, rows.outer, places);
}

Buffer cumulate(Combiner wanted, const Buffer &signless, int64_t axis, bool exclusive, bool reverse) {
  auto [combiner, type] = typedCombiner(wanted, signless.type);
  Buffer input = signless.as(type);
  Rows rows(input.shape, {axis});
  if (reverse)
    std::reverse(rows.steps.begin(), rows.steps.end());
  return withComputeType(type, [&, combiner = combiner, type = type](auto compute) {
    using C = decltype(compute);
    Values<C> values(input);
    std::vector<C> results(input.count());
    for (int64_t start : rows.starts) {
      auto all = neutral<Accumulator<C>>(combiner, type);
      for (int64_t step : rows.steps) {
        auto before = all;
        all = combine<Accumulator<C>>(combiner, all, values[start + step]);
        results[start + step] = narrow<C>(exclusive ? before : all, {});
      }
    }
    return store<C>(type, input.shape, std::move(results)).as(signless.type);
  });
}

/// Calls `work(values, results, row)` for each row with the floats of `input`; `work` writes the row's
/// results.
template <typename Work> static Buffer mapRows(const Buffer &input, const Rows &rows, Work &&work) {
  return withComputeType(input.type, [&](auto compute) {
    using C = std::conditional_t<std::is_same_v<decltype(compute), double>, double, float>;
    Values<C> values(input);
    std::vector<C> results(input.count());
    inParallel(rows.count(), 8 * rows.cost(), [&](int64_t row) { work(values, results, rows.starts[row]); });
    return store<C>(input.type, input.shape, std::move(results));
  });
}

Buffer softmax(const Buffer &input, int64_t axis, bool log) {
  Rows rows(input.shape, {axis});
  return mapRows(input, rows, [&](const auto &values, auto &results, int64_t start) {
    double greatest = -std::numeric_limits<double>::infinity(), sum = 0;
    for (int64_t step : rows.steps)
      greatest = greater<double>(greatest, values[start + step]);
    for (int64_t step : rows.steps)
      sum += std::exp(values[start + step] - greatest);
    for (int64_t step : rows.steps) {
      double shifted = values[start + step] - greatest;
      results[start + step] = log ? shifted - std::log(sum) : std::exp(shifted) / sum;
    }
  });
}

Buffer normalize(const Buffer &input, const Dims &axes, double epsilon, bool rms) {
  Rows rows(input.shape, axes);
  return mapRows(input, rows, [&](const auto &values, auto &results, int64_t start) {
    double mean = 0, variance = 0, count = rows.length();
    for (int64_t step : rows.steps)
      mean += rms ? 0 : values[start + step] / count;
    for (int64_t step : rows.steps)
      variance += (values[start + step] - mean) * (values[start + step] - mean) / count;
    for (int64_t step : rows.steps)
      results[start + step] = (values[start + step] - mean) / std::sqrt(variance + epsilon);
  });
}

} // namespace joule::reference
