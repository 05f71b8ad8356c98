// Fits of constants: linear ones that may not be negative, and others from a start.
#pragma once

#include <functional>
#include <vector>

namespace joule {

/// Rows of equal length.
using Matrix = std::vector<std::vector<double>>;

/// What a fit needs of its rows: sums, to which more rows can be added.
class NormalEquations {
public:
  explicit NormalEquations(size_t columns) : gram(columns * columns), right(columns), largest(columns) {}

  void add(const std::vector<double> &row, double wanted);
  /// Whether some row has more than 0 there.
  bool shows(size_t column) const { return largest[column] > 0; }
  /// fitNonNegative's x over the rows so far.
  std::vector<double> solve(double pull, const std::vector<double> &prior) const;

private:
  std::vector<double> gram, right, largest;
  double rows = 0;
};

/// The x >= 0 for which |rows · x - wanted|² + (pull · scale)² · rows · |x - prior|² is least, where a
/// column's scale is its largest entry: a constant that the data do not decide goes to its prior. Lawson and
/// Hanson's active sets; exact.
std::vector<double> fitNonNegative(const Matrix &rows, const std::vector<double> &wanted, double pull,
                                   const std::vector<double> &prior);

/// The parameters > 0 near `start` for which the residuals are least, each squared up to `outlier` and
/// growing linearly beyond, so that a few odd rows do not bend the rest. `residuals` gets parameters and
/// gives logarithms of ratios; each parameter is pulled to its start by `pull` per unit of its own logarithm.
std::vector<double>
fitLogarithms(const std::function<std::vector<double>(const std::vector<double> &)> &residuals,
              const std::vector<double> &start, double pull, double outlier);

} // namespace joule
