// Lawson-Hanson and Levenberg-Marquardt on Eigen's factorizations.
#include "lib/Energy/LeastSquares.h"

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>

namespace joule {

using Eigen::MatrixXd;
using Eigen::VectorXd;

// The least squares over the columns that `free` lists; the others stay 0. The normal equations are fine
// here: columns are scaled to 1 and a ridge stands below them.
static VectorXd solveOn(const MatrixXd &gram, const VectorXd &right, const std::vector<int> &free) {
  MatrixXd part(free.size(), free.size());
  VectorXd partRight(free.size());
  for (size_t i = 0; i < free.size(); ++i) {
    partRight(i) = right(free[i]);
    for (size_t j = 0; j < free.size(); ++j)
      part(i, j) = gram(free[i], free[j]);
  }
  VectorXd solved = part.ldlt().solve(partRight);
  VectorXd x = VectorXd::Zero(gram.rows());
  for (size_t i = 0; i < free.size(); ++i)
    x(free[i]) = solved(i);
  return x;
}

// The column outside `free` whose growth from 0 would help most; -1: none.
static int mostWanted(const VectorXd &gain, const std::vector<int> &free) {
  int best = -1;
  for (int i = 0; i < gain.size(); ++i)
    if (std::find(free.begin(), free.end(), i) == free.end() && gain(i) > 1e-10 &&
        (best < 0 || gain(i) > gain(best)))
      best = i;
  return best;
}

// Goes from x towards `aim` until the first free constant would turn negative; those at 0 leave `free`.
static void stepInside(VectorXd &x, const VectorXd &aim, std::vector<int> &free) {
  double reach = 1;
  for (int i : free)
    if (aim(i) <= 0)
      reach = std::min(reach, x(i) / (x(i) - aim(i)));
  x += reach * (aim - x);
  free.erase(std::remove_if(free.begin(), free.end(), [&](int i) { return x(i) <= 1e-14; }), free.end());
}

static VectorXd solveNonNegative(const MatrixXd &gram, const VectorXd &right) {
  VectorXd x = VectorXd::Zero(gram.rows());
  std::vector<int> free;
  // Each round frees one column; three rounds a column are ample.
  for (int round = 0; round < 3 * gram.rows(); ++round) {
    int next = mostWanted(right - gram * x, free);
    if (next < 0)
      break;
    free.push_back(next);
    VectorXd aim = solveOn(gram, right, free);
    while (!free.empty() && std::any_of(free.begin(), free.end(), [&](int i) { return aim(i) <= 0; })) {
      stepInside(x, aim, free);
      aim = solveOn(gram, right, free);
    }
    x = aim;
  }
  return x;
}

void NormalEquations::add(const std::vector<double> &row, double wanted) {
  for (size_t i = 0; i < row.size(); ++i) {
    for (size_t j = 0; j < row.size(); ++j)
      gram[i * row.size() + j] += row[i] * row[j];
    right[i] += wanted * row[i];
    largest[i] = std::max(largest[i], std::abs(row[i]));
  }
  ++rows;
}

std::vector<double> NormalEquations::solve(double pull, const std::vector<double> &prior) const {
  auto toVector = [](const std::vector<double> &list) {
    return Eigen::Map<const VectorXd>(list.data(), list.size());
  };
  VectorXd scale = toVector(largest).cwiseMax(1e-150), shrink = scale.cwiseInverse();
  double ridge = std::max(pull * pull, 1e-12) * rows;
  Eigen::Map<const MatrixXd> sums(gram.data(), scale.size(), scale.size());
  MatrixXd scaled = shrink.asDiagonal() * sums * shrink.asDiagonal();
  scaled.diagonal().array() += ridge;
  VectorXd wanted = shrink.cwiseProduct(toVector(right)) + ridge * toVector(prior).cwiseProduct(scale);
  VectorXd x = solveNonNegative(scaled, wanted).cwiseProduct(shrink);
  return {x.data(), x.data() + x.size()};
}

std::vector<double> fitNonNegative(const Matrix &rows, const std::vector<double> &wanted, double pull,
                                   const std::vector<double> &prior) {
  NormalEquations equations(prior.size());
  for (size_t i = 0; i < rows.size(); ++i)
    equations.add(rows[i], wanted[i]);
  return equations.solve(pull, prior);
}

//===- Other fits
//----------------------------------------------------------------------------------------------------

namespace {

/// Levenberg-Marquardt on the logarithms of the parameters.
class LogFit {
public:
  using Residuals = std::function<std::vector<double>(const std::vector<double> &)>;

  LogFit(const Residuals &residuals, const std::vector<double> &start, double pull, double outlier)
      : residuals(residuals), start(start.size()), pull(pull), outlier(outlier) {
    for (size_t i = 0; i < start.size(); ++i)
      this->start(i) = std::log(start[i]);
  }

  std::vector<double> solve() {
    VectorXd x = start;
    VectorXd now = at(x);
    double damping = 1e-2;
    for (int round = 0; round < 60 && damping < 1e8; ++round) {
      MatrixXd slope = slopes(x, now);
      MatrixXd gram = slope.transpose() * slope;
      VectorXd step =
          (gram + damping * MatrixXd(gram.diagonal().asDiagonal())).ldlt().solve(-slope.transpose() * now);
      VectorXd next = at(x + step);
      bool isBetter = next.squaredNorm() < now.squaredNorm();
      bool isDone = isBetter && next.squaredNorm() > now.squaredNorm() * (1 - 1e-6);
      if (isBetter)
        x += step, now = next;
      damping *= isBetter ? 0.3 : 4;
      if (isDone)
        break;
    }
    std::vector<double> result;
    for (double value : x)
      result.push_back(std::exp(value));
    return result;
  }

private:
  // Residuals whose squares grow linearly beyond the outlier bound: r -> sign(r) · sqrt(2 b (sqrt(b² + r²) -
  // b)).
  VectorXd at(const VectorXd &x) const {
    std::vector<double> parameters;
    for (double value : x)
      parameters.push_back(std::exp(value));
    std::vector<double> raw = residuals(parameters);
    VectorXd result(raw.size() + x.size());
    for (size_t i = 0; i < raw.size(); ++i)
      result(i) = std::copysign(std::sqrt(2 * outlier * (std::hypot(outlier, raw[i]) - outlier)), raw[i]);
    result.tail(x.size()) = pull * (x - start);
    return result;
  }

  MatrixXd slopes(const VectorXd &x, const VectorXd &now) const {
    MatrixXd slope(now.size(), x.size());
    constexpr double step = 1e-5;
    for (int i = 0; i < x.size(); ++i) {
      VectorXd moved = x;
      moved(i) += step;
      slope.col(i) = (at(moved) - now) / step;
    }
    return slope;
  }

  const Residuals &residuals;
  VectorXd start;
  double pull, outlier;
};

} // namespace

std::vector<double>
fitLogarithms(const std::function<std::vector<double>(const std::vector<double> &)> &residuals,
              const std::vector<double> &start, double pull, double outlier) {
  return LogFit(residuals, start, pull, outlier).solve();
}

} // namespace joule
