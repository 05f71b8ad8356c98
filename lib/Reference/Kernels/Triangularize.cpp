// Gaussian elimination, in double.
#include "lib/Reference/Kernels/Combine.h"
#include "lib/Reference/Kernels/Kernels.h"

#include <algorithm>
#include <functional>

namespace joule::reference {

/// One matrix of `n` rows, in place.
static void eliminate(double *matrix, int64_t n) {
  auto row = [&](int64_t i) { return matrix + i * n; };
  for (int64_t k = 0; k < n; ++k) {
    int64_t pivot = k;
    for (int64_t i = k + 1; i < n; ++i)
      if (isGreater(std::abs(row(i)[k]), std::abs(row(pivot)[k])))
        pivot = i;
    if (pivot != k) {
      std::swap_ranges(row(k) + k, row(k) + n, row(pivot) + k);
      std::transform(row(pivot) + k, row(pivot) + n, row(pivot) + k, std::negate<double>());
    }
    for (int64_t i = k + 1; i < n; ++i) {
      double quotient = row(k)[k] == 0 ? 0 : row(i)[k] / row(k)[k];
      row(i)[k] = 0;
      for (int64_t j = k + 1; j < n; ++j)
        row(i)[j] -= quotient * row(k)[j];
    }
  }
}

Result<Buffer> triangularize(const Buffer &input) {
  int64_t n = input.shape.back(), rows = input.shape.end()[-2];
  if (rows != n)
    return Failure{"has matrices of " + std::to_string(rows) + " rows and " + std::to_string(n) + " columns"};
  Values<double> elements(input);
  std::vector<double> result(elements.data(), elements.data() + input.count());
  for (int64_t start = 0; start < input.count(); start += n * n)
    eliminate(result.data() + start, n);
  return store(input.type, input.shape, std::move(result));
}

} // namespace joule::reference
