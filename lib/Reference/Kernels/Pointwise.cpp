// Element by element arithmetic.
#include "lib/Reference/Kernels/Combine.h"
#include "lib/Reference/Kernels/Kernels.h"
#include "lib/Reference/Kernels/Walk.h"

namespace joule::reference {

/// Rounds as the element type computes: f32 for floats up to 32 bits.
template <typename C> static C toResult(double value) { return static_cast<C>(value); }

//===- One operand -------------------------------------------------------------------------------------------

static double roundHalfAway(double x) { return std::round(x); }

/// C's functions of one double, in the order of Unary.
static double floatUnary(Unary operation, double x) {
  switch (operation) {
  case Unary::Negate:
    return -x;
  case Unary::Abs:
    return std::fabs(x);
  case Unary::Sqrt:
    return std::sqrt(x);
  case Unary::Rsqrt:
    return 1 / std::sqrt(x);
  case Unary::Cbrt:
    return std::cbrt(x);
  case Unary::Exp:
    return std::exp(x);
  case Unary::Exp2:
    return std::exp2(x);
  case Unary::Expm1:
    return std::expm1(x);
  case Unary::Log:
    return std::log(x);
  case Unary::Log2:
    return std::log2(x);
  case Unary::Log10:
    return std::log10(x);
  case Unary::Log1p:
    return std::log1p(x);
  case Unary::Sin:
    return std::sin(x);
  case Unary::Cos:
    return std::cos(x);
  case Unary::Tan:
    return std::tan(x);
  case Unary::Asin:
    return std::asin(x);
  case Unary::Acos:
    return std::acos(x);
  case Unary::Atan:
    return std::atan(x);
  case Unary::Sinh:
    return std::sinh(x);
  case Unary::Cosh:
    return std::cosh(x);
  case Unary::Tanh:
    return std::tanh(x);
  case Unary::Asinh:
    return std::asinh(x);
  case Unary::Acosh:
    return std::acosh(x);
  case Unary::Atanh:
    return std::atanh(x);
  case Unary::Erf:
    return std::erf(x);
  case Unary::Ceil:
    return std::ceil(x);
  case Unary::Floor:
    return std::floor(x);
  case Unary::Round:
    return roundHalfAway(x);
  case Unary::RoundEven:
    return std::nearbyint(x);
  case Unary::Truncate:
    return std::trunc(x);
  default:
    return x;
  }
}

/// `bits` is the width of the element type; `x` holds the number in its lowest bits.
static int64_t integerUnary(Unary operation, int64_t x, unsigned bits) {
  uint64_t pattern = static_cast<uint64_t>(x) << (64 - bits) >> (64 - bits);
  switch (operation) {
  case Unary::Negate:
    return static_cast<int64_t>(-static_cast<uint64_t>(x));
  case Unary::Abs:
    return x < 0 ? static_cast<int64_t>(-static_cast<uint64_t>(x)) : x;
  case Unary::CountLeadingZeros:
    return pattern == 0 ? bits : __builtin_clzll(pattern) - (64 - bits);
  case Unary::CountTrailingZeros:
    return pattern == 0 ? bits : __builtin_ctzll(pattern);
  case Unary::CountOnes:
    return __builtin_popcountll(pattern);
  default:
    return x;
  }
}

/// Bits that arithmetic on `type` has: a bool is stored in a byte but is a one-bit number.
static unsigned arithmeticBits(ElementType type) { return type == ElementType::Bool ? 1 : bitsOf(type); }

Buffer unary(Unary operation, const Buffer &input) {
  return withComputeType(input.type, [&](auto compute) {
    using C = decltype(compute);
    Values<C> values(input);
    std::vector<C> results(input.count());
    for (size_t i = 0; i < results.size(); ++i)
      if constexpr (std::is_floating_point_v<C>)
        results[i] = toResult<C>(floatUnary(operation, values[i]));
      else
        results[i] = static_cast<C>(integerUnary(operation, values[i], arithmeticBits(input.type)));
    return store<C>(input.type, input.shape, std::move(results));
  });
}

//===- Two operands ------------------------------------------------------------------------------------------

static double maxNumber(double a, double b) { return std::isnan(a) ? b : std::isnan(b) ? a : greater(a, b); }
static double minNumber(double a, double b) { return std::isnan(a) ? b : std::isnan(b) ? a : lesser(a, b); }

static double floatBinary(Binary operation, double a, double b) {
  switch (operation) {
  case Binary::Add:
    return a + b;
  case Binary::Subtract:
    return a - b;
  case Binary::Multiply:
    return a * b;
  case Binary::Divide:
    return a / b;
  case Binary::Remainder:
    return std::fmod(a, b);
  case Binary::Maximum:
    return greater(a, b);
  case Binary::Minimum:
    return lesser(a, b);
  case Binary::MaxNumber:
    return maxNumber(a, b);
  case Binary::MinNumber:
    return minNumber(a, b);
  case Binary::Power:
    return std::pow(a, b);
  case Binary::Atan2:
    return std::atan2(a, b);
  case Binary::CopySign:
    return std::copysign(a, b);
  default:
    return a;
  }
}

/// Quotient and remainder, truncated; 0 where there is none, and the least integer divided by -1 wraps to
/// itself.
template <typename C> static C quotient(C a, C b) {
  if (b == 0)
    return 0;
  if (std::is_signed_v<C> && b == static_cast<C>(-1))
    return static_cast<C>(-static_cast<uint64_t>(a));
  return a / b;
}

template <typename C> static C remainderOf(C a, C b) {
  if (b == 0 || (std::is_signed_v<C> && b == static_cast<C>(-1)))
    return 0;
  return a % b;
}

template <typename C> static C floorQuotient(C a, C b) {
  C rest = remainderOf(a, b);
  return quotient(a, b) - (rest != 0 && (rest < 0) != (b < 0));
}

template <typename C> static C ceilQuotient(C a, C b) {
  C rest = remainderOf(a, b);
  return quotient(a, b) + (rest != 0 && (rest < 0) == (b < 0));
}

/// By squaring, wrapping. A negative exponent gives the truncated quotient 1 / a^|b|, 0 for a = 0.
template <typename C> static C integerPower(C a, C b) {
  if (b < 0)
    return a == 1 ? 1 : a == static_cast<C>(-1) ? (b % 2 == 0 ? 1 : -1) : 0;
  C power = 1;
  for (uint64_t rest = b; rest != 0; rest >>= 1, a = product(a, a))
    if (rest & 1)
      power = product(power, a);
  return power;
}

template <typename C> static C shiftRight(C a, C b, unsigned bits) {
  if (static_cast<uint64_t>(b) >= bits)
    return 0;
  return a >> b;
}

template <typename C> static C shiftLeft(C a, C b, unsigned bits) {
  return static_cast<uint64_t>(b) >= bits ? 0 : static_cast<C>(static_cast<uint64_t>(a) << b);
}

template <typename C> static C integerBinary(Binary operation, C a, C b, unsigned bits) {
  using Wide = std::conditional_t<std::is_signed_v<C>, __int128, unsigned __int128>;
  switch (operation) {
  case Binary::Add:
    return sum(a, b);
  case Binary::Subtract:
    return static_cast<C>(static_cast<uint64_t>(a) - static_cast<uint64_t>(b));
  case Binary::Multiply:
    return product(a, b);
  case Binary::Divide:
    return quotient(a, b);
  case Binary::Remainder:
    return remainderOf(a, b);
  case Binary::Maximum:
    return greater(a, b);
  case Binary::Minimum:
    return lesser(a, b);
  case Binary::FloorDivide:
    return floorQuotient(a, b);
  case Binary::CeilDivide:
    return ceilQuotient(a, b);
  case Binary::And:
    return a & b;
  case Binary::Or:
    return a | b;
  case Binary::Xor:
    return a ^ b;
  case Binary::ShiftLeft:
    return shiftLeft(a, b, bits);
  case Binary::ShiftRight:
    return shiftRight(a, b, bits);
  case Binary::IntegerPower:
    return integerPower(a, b);
  case Binary::MultiplyHigh:
    return static_cast<C>(static_cast<Wide>(a) * static_cast<Wide>(b) >> bits);
  default:
    return a;
  }
}

Buffer binary(Binary operation, const Buffer &lhs, const Buffer &rhs) {
  return withComputeType(lhs.type, [&](auto compute) {
    using C = decltype(compute);
    Values<C> left(lhs), right(rhs);
    std::vector<C> results(lhs.count());
    for (size_t i = 0; i < results.size(); ++i)
      if constexpr (std::is_floating_point_v<C>)
        results[i] = toResult<C>(floatBinary(operation, left[i], right[i]));
      else
        results[i] = integerBinary<C>(operation, left[i], right[i], arithmeticBits(lhs.type));
    return store<C>(lhs.type, lhs.shape, std::move(results));
  });
}

Buffer powerOfInteger(const Buffer &base, const Buffer &exponent) {
  Values<double> bases(base);
  Values<int64_t> exponents(exponent);
  std::vector<double> results(base.count());
  for (size_t i = 0; i < results.size(); ++i)
    results[i] = std::pow(bases[i], static_cast<double>(exponents[i]));
  return store<double>(base.type, base.shape, std::move(results));
}

//===- Comparisons and choices -------------------------------------------------------------------------------

template <typename C> static bool holds(Comparison comparison, C a, C b) {
  switch (comparison) {
  case Comparison::Equal:
    return a == b;
  case Comparison::NotEqual:
    return a < b || b < a; // unlike !=, false for NaN
  case Comparison::Less:
    return a < b;
  case Comparison::LessEqual:
    return a <= b;
  case Comparison::Greater:
    return a > b;
  case Comparison::GreaterEqual:
    return a >= b;
  }
  return false;
}

template <typename C> static bool isUnordered(C a, C b) {
  if constexpr (std::is_floating_point_v<C>)
    return std::isnan(a) || std::isnan(b);
  return false;
}

/// A tensor of bools: `test(a, b)` of each pair of elements.
template <typename Test> static Buffer testPairs(const Buffer &lhs, const Buffer &rhs, Test &&test) {
  return withComputeType(lhs.type, [&](auto compute) {
    using C = decltype(compute);
    Values<C> left(lhs), right(rhs);
    Buffer result(ElementType::Bool, lhs.shape);
    for (int64_t i = 0; i < result.count(); ++i)
      result.bytes.mutableData()[i] = test(left[i], right[i]);
    return result;
  });
}

Buffer compare(Comparison comparison, const Buffer &lhs, const Buffer &rhs, bool unordered) {
  return testPairs(
      lhs, rhs, [=](auto a, auto b) { return holds(comparison, a, b) || (unordered && isUnordered(a, b)); });
}

Buffer compareOrder(const Buffer &lhs, const Buffer &rhs, bool unordered) {
  return testPairs(lhs, rhs, [=](auto a, auto b) { return isUnordered(a, b) == unordered; });
}

Buffer fusedMultiplyAdd(const Buffer &a, const Buffer &b, const Buffer &c) {
  return withComputeType(a.type, [&](auto compute) {
    using C = decltype(compute);
    Values<C> factors(a), others(b), addends(c);
    std::vector<C> results(a.count());
    for (size_t i = 0; i < results.size(); ++i)
      if constexpr (std::is_floating_point_v<C>)
        results[i] = std::fma(factors[i], others[i], addends[i]);
      else
        results[i] = sum(product(factors[i], others[i]), addends[i]);
    return store<C>(a.type, a.shape, std::move(results));
  });
}

Buffer select(const Buffer &condition, const Buffer &whereTrue, const Buffer &whereFalse) {
  if (condition.shape.empty())
    return condition.bytes.data()[0] ? whereTrue : whereFalse;
  Buffer yes = spread(whereTrue), no = spread(whereFalse);
  Mover out(whereTrue.type, whereTrue.shape);
  for (int64_t i = 0; i < whereTrue.count(); ++i)
    out.copy(i, condition.bytes.data()[i] ? yes : no, i);
  return out.take();
}

} // namespace joule::reference
