// How far expanded functions are from the truth, in units in the last place, on the virtual GPU.
#include "test/lib/Emit/RunKernel.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <functional>
#include <random>

namespace joule::test {
namespace {

using Wide = long double;

/// The distance between neighbouring numbers of T at `value`.
template <typename T> Wide unitAt(Wide value) {
  int exponent;
  std::frexp(std::fabs(value), &exponent);
  int least = std::numeric_limits<T>::min_exponent - std::numeric_limits<T>::digits;
  return std::ldexp(Wide(1), std::max(exponent - std::numeric_limits<T>::digits, least));
}

template <typename T> Wide errorOf(T got, Wide wanted) {
  if (std::isnan(wanted) || std::isnan(got))
    return std::isnan(wanted) && std::isnan(got) ? 0 : INFINITY;
  // Beyond the greatest number by half a unit and more is infinity.
  T rounded = static_cast<T>(wanted);
  if (std::isinf(rounded) || std::isinf(got)) {
    T most = std::copysign(std::numeric_limits<T>::max(), rounded);
    return got == rounded || (!std::isinf(wanted) && got == most) ? 0 : INFINITY;
  }
  if (wanted == 0 && std::signbit(wanted) != std::signbit(got))
    return INFINITY;
  return std::fabs(got - wanted) / unitAt<T>(wanted);
}

template <typename T> std::vector<T> specials() {
  using Limits = std::numeric_limits<T>;
  std::vector<T> values = {0,
                           Limits::denorm_min(),
                           Limits::min(),
                           Limits::min() / 2,
                           Limits::epsilon(),
                           Limits::epsilon() / 4,
                           T(0.5),
                           1,
                           T(1) - Limits::epsilon() / 2,
                           T(1) + Limits::epsilon(),
                           2,
                           3,
                           T(0.41421356),
                           T(0.7071068),
                           T(1.4142135),
                           T(M_PI),
                           T(M_PI_2),
                           T(M_PI_4),
                           10,
                           22,
                           88,
                           T(88.8),
                           100,
                           T(1e5),
                           T(1e8),
                           T(67108864),
                           Limits::max() / 2,
                           Limits::max(),
                           Limits::infinity()};
  for (size_t i = 0, n = values.size(); i < n; ++i)
    values.push_back(-values[i]);
  values.push_back(Limits::quiet_NaN());
  return values;
}

/// Specials, then numbers spread over all magnitudes, then numbers spread evenly over `low` to `high`.
template <typename T> std::vector<T> samples(double low, double high, size_t count) {
  std::vector<T> values = specials<T>();
  std::mt19937_64 random(7);
  std::uniform_real_distribution<double> even(low, high);
  for (size_t i = 0; i < count; ++i) {
    values.push_back(static_cast<T>(even(random)));
    uint64_t bits = random();
    T any;
    memcpy(&any, &bits, sizeof any);
    values.push_back(any);
  }
  return values;
}

template <typename T> const char *nameOf() { return sizeof(T) == 4 ? "f32" : "f64"; }

template <typename T> Buffer bufferOf(const std::vector<T> &values) {
  Buffer buffer(sizeof(T) == 4 ? ElementType::Float32 : ElementType::Float64,
                {static_cast<int64_t>(values.size())});
  memcpy(buffer.bytes.mutableData(), values.data(), values.size() * sizeof(T));
  return buffer;
}

std::string replaceAll(std::string text, const std::string &from, const std::string &to) {
  for (size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size())
    text.replace(at, from.size(), to);
  return text;
}

/// The results of `op` (such as "math.exp %x") on the GPU.
template <typename T>
std::vector<T> evaluate(const std::string &op, const std::vector<T> &x, const std::vector<T> &y) {
  std::string text = R"((%x: tensor<NxT>, %y: tensor<NxT>) -> tensor<NxT> {
    %r = OP : tensor<NxT>
    return %r : tensor<NxT>
  })";
  text = replaceAll(replaceAll(replaceAll(text, "OP", op), "NxT", std::to_string(x.size()) + "xT"), "xT",
                    std::string("x") + nameOf<T>());
  KernelRun run = runKernel(text, {bufferOf(x), bufferOf(y)});
  EXPECT_EQ(run.error, "") << op;
  std::vector<T> results(x.size());
  if (run.error.empty())
    memcpy(results.data(), run.results[0].bytes.data(), results.size() * sizeof(T));
  return results;
}

using Unary = std::function<Wide(Wide)>;
using Binary = std::function<Wide(Wide, Wide)>;

template <typename T>
void expectWithin(const std::string &op, const std::vector<T> &x, const std::vector<T> &y,
                  const Binary &truth, double limit) {
  std::vector<T> got = evaluate<T>(op, x, y);
  Wide worst = 0;
  size_t where = 0;
  for (size_t i = 0; i < x.size(); ++i) {
    Wide error = errorOf<T>(got[i], truth(x[i], y[i]));
    if (error > worst) {
      worst = error;
      where = i;
    }
  }
  EXPECT_LE(static_cast<double>(worst), limit)
      << op << " " << nameOf<T>() << " of " << x[where] << ", " << y[where] << " is " << got[where]
      << ", not " << static_cast<double>(truth(x[where], y[where]));
  if (getenv("JOULE_TEST_PRINT"))
    printf("%-40s %s worst %.3f ulp at %.17g\n", op.c_str(), nameOf<T>(), static_cast<double>(worst),
           static_cast<double>(x[where]));
}

struct Function {
  const char *op;
  Unary truth;
  double low, high;
  double limit;
};

const Function functions[] = {
    {"math.exp", [](Wide x) { return std::exp(x); }, -100, 90, 1},
    {"math.exp2", [](Wide x) { return std::exp2(x); }, -150, 128, 1},
    {"math.expm1", [](Wide x) { return std::expm1(x); }, -3, 3, 2},
    {"math.log", [](Wide x) { return std::log(x); }, 0, 3, 1},
    {"math.log2", [](Wide x) { return std::log2(x); }, 0, 3, 2},
    {"math.log10", [](Wide x) { return std::log10(x); }, 0, 3, 2},
    {"math.log1p", [](Wide x) { return std::log1p(x); }, -1, 2, 2},
    {"math.tanh", [](Wide x) { return std::tanh(x); }, -3, 3, 3},
    {"math.sinh", [](Wide x) { return std::sinh(x); }, -5, 5, 3},
    {"math.cosh", [](Wide x) { return std::cosh(x); }, -5, 5, 3},
    {"math.asinh", [](Wide x) { return std::asinh(x); }, -3, 3, 3},
    {"math.acosh", [](Wide x) { return std::acosh(x); }, 1, 3, 3},
    {"math.atanh", [](Wide x) { return std::atanh(x); }, -1, 1, 3},
    {"math.sin", [](Wide x) { return std::sin(x); }, -30, 30, 2},
    {"math.cos", [](Wide x) { return std::cos(x); }, -30, 30, 2},
    {"math.tan", [](Wide x) { return std::tan(x); }, -30, 30, 3},
    {"math.asin", [](Wide x) { return std::asin(x); }, -1, 1, 2},
    {"math.acos", [](Wide x) { return std::acos(x); }, -1, 1, 2},
    {"math.atan", [](Wide x) { return std::atan(x); }, -5, 5, 2},
    {"math.erf", [](Wide x) { return std::erf(x); }, -4, 4, 2},
    {"math.cbrt", [](Wide x) { return std::cbrt(x); }, -10, 10, 1},
    {"math.rsqrt", [](Wide x) { return 1 / std::sqrt(x); }, 0, 10, 2},
    {"math.sqrt", [](Wide x) { return std::sqrt(x); }, 0, 10, 0.5},
    {"math.floor", [](Wide x) { return std::floor(x); }, -10, 10, 0},
    {"math.ceil", [](Wide x) { return std::ceil(x); }, -10, 10, 0},
    {"math.trunc", [](Wide x) { return std::trunc(x); }, -10, 10, 0},
    {"math.round", [](Wide x) { return std::round(x); }, -10, 10, 0},
    {"math.roundeven", [](Wide x) { return std::rint(x); }, -10, 10, 0},
    {"math.absf", [](Wide x) { return std::fabs(x); }, -10, 10, 0},
};

TEST(Math, of_one_argument) {
  for (const Function &function : functions) {
    auto truth = [&](Wide x, Wide) { return function.truth(x); };
    std::string op = std::string(function.op) + " %x";
    auto single = samples<float>(function.low, function.high, 2000);
    expectWithin<float>(op, single, single, truth, function.limit);
    auto twofold = samples<double>(function.low, function.high, 2000);
    expectWithin<double>(op, twofold, twofold, truth, function.limit);
  }
}

template <typename T> void pairs(double low, double high, std::vector<T> &x, std::vector<T> &y) {
  for (T a : specials<T>())
    for (T b : specials<T>()) {
      x.push_back(a);
      y.push_back(b);
    }
  std::vector<T> first = samples<T>(low, high, 2000), second = samples<T>(-20, 20, 2000);
  std::mt19937_64 random(3);
  std::shuffle(second.begin(), second.end(), random);
  x.insert(x.end(), first.begin(), first.end());
  y.insert(y.end(), second.begin(), second.end());
}

template <typename T>
void expectBinary(const std::string &op, double low, double high, const Binary &truth, double limit) {
  std::vector<T> x, y;
  pairs<T>(low, high, x, y);
  expectWithin<T>(op, x, y, truth, limit);
}

TEST(Math, of_two_arguments) {
  struct {
    const char *op;
    Binary truth;
    double low, high, limit;
  } const cases[] = {
      {"math.powf %x, %y", [](Wide x, Wide y) { return std::pow(x, y); }, 0, 10, 2},
      {"math.atan2 %x, %y", [](Wide x, Wide y) { return std::atan2(x, y); }, -10, 10, 3},
      {"arith.remf %x, %y", [](Wide x, Wide y) { return std::fmod(x, y); }, -100, 100, 0},
      {"arith.divf %x, %y", [](Wide x, Wide y) { return x / y; }, -100, 100, 0.5001},
      {"math.copysign %x, %y", [](Wide x, Wide y) { return std::copysign(x, y); }, -100, 100, 0},
  };
  for (const auto &test : cases) {
    expectBinary<float>(test.op, test.low, test.high, test.truth, test.limit);
    expectBinary<double>(test.op, test.low, test.high, test.truth, test.limit);
  }
}

TEST(Math, extremes_propagate_nan) {
  Binary greatest = [](Wide x, Wide y) { return std::isnan(x) || std::isnan(y) ? NAN : std::max(x, y); };
  Binary least = [](Wide x, Wide y) { return std::isnan(x) || std::isnan(y) ? NAN : std::min(x, y); };
  // Zeros of either sign are equal, so only the others are compared.
  auto ignoreZeros = [](const Binary &truth) {
    return Binary([truth](Wide x, Wide y) { return truth(x == 0 ? Wide(1) : x, y == 0 ? Wide(1) : y); });
  };
  for (auto [op, truth] :
       {std::pair("arith.maximumf %x, %y", greatest), std::pair("arith.minimumf %x, %y", least)}) {
    std::vector<float> x, y;
    pairs<float>(-10, 10, x, y);
    std::vector<double> wideX, wideY;
    pairs<double>(-10, 10, wideX, wideY);
    auto nonZero = [](auto value) { return value == 0 ? decltype(value)(1) : value; };
    std::transform(x.begin(), x.end(), x.begin(), nonZero);
    std::transform(y.begin(), y.end(), y.begin(), nonZero);
    std::transform(wideX.begin(), wideX.end(), wideX.begin(), nonZero);
    std::transform(wideY.begin(), wideY.end(), wideY.begin(), nonZero);
    expectWithin<float>(op, x, y, ignoreZeros(truth), 0);
    expectWithin<double>(op, wideX, wideY, ignoreZeros(truth), 0);
  }
}

} // namespace
} // namespace joule::test
