// Distinct rows.
#include "lib/Reference/Kernels/Combine.h"
#include "lib/Reference/Kernels/Kernels.h"
#include "lib/Reference/Kernels/Walk.h"

#include <numeric>

namespace joule::reference {

/// Compares rows lexicographically; NaN is the greatest and equals itself.
template <typename C> static bool isRowLess(const Values<C> &values, int64_t a, int64_t b, int64_t length) {
  for (int64_t i = 0; i < length; ++i) {
    C left = values[a * length + i], right = values[b * length + i];
    if (isGreater(right, left))
      return true;
    if (isGreater(left, right))
      return false;
  }
  return false;
}

/// The rows' numbers, ascending by the rows' values; of equal rows the first is first.
static std::vector<int64_t> sortedRows(const Buffer &input, int64_t rows, int64_t length) {
  std::vector<int64_t> order(rows);
  std::iota(order.begin(), order.end(), 0);
  withComputeType(input.type, [&](auto compute) {
    Values<decltype(compute)> values(input);
    std::sort(order.begin(), order.end(), [&](int64_t a, int64_t b) {
      return isRowLess(values, a, b, length) || (!isRowLess(values, b, a, length) && a < b);
    });
  });
  return order;
}

/// For each row the first row that equals it.
static std::vector<int64_t> firstEqualRows(const Buffer &input, const std::vector<int64_t> &order,
                                           int64_t length) {
  std::vector<int64_t> first(order.size());
  withComputeType(input.type, [&](auto compute) {
    Values<decltype(compute)> values(input);
    for (size_t i = 0; i < order.size(); ++i) {
      bool isNew = i == 0 || isRowLess(values, order[i - 1], order[i], length);
      first[order[i]] = isNew ? order[i] : first[order[i - 1]];
    }
  });
  return first;
}

Unique unique(const Buffer &input, bool sorted) {
  int64_t rows = input.shape[0], length = countOf(Shape(input.shape.begin() + 1, input.shape.end()));
  std::vector<int64_t> order = sortedRows(input, rows, length),
                       firstEqual = firstEqualRows(input, order, length);
  if (!sorted)
    std::iota(order.begin(), order.end(), 0);
  std::vector<int64_t> first, number(rows), inverse;
  for (int64_t row : order)
    if (firstEqual[row] == row) {
      number[row] = first.size();
      first.push_back(row);
    }
  for (int64_t row = 0; row < rows; ++row)
    inverse.push_back(number[firstEqual[row]]);
  return {makeIntegers(ElementType::Int64, {static_cast<int64_t>(first.size())}, first),
          makeIntegers(ElementType::Int64, {rows}, inverse)};
}

} // namespace joule::reference
