// Exponentials, logarithms, powers and the hyperbolic functions.
#include "passes/TileToNvvm/ExpandMath.h"
#include "passes/TileToNvvm/MathCoefficients.h"
#include "passes/TileToNvvm/MathLogarithm.h"

using namespace mlir;
using namespace joule;
namespace fit = joule::coefficients;

namespace {

/// ln(2) in two parts, the first short enough that its product with any exponent is exact.
struct Ln2 {
  double high, low;
};
Ln2 ln2Of(const Real &r) {
  return r.isDouble() ? Ln2{0x1.62e42feep-1, 0x1.a39ef35793c76p-33} : Ln2{0x1.62e4p-1, 0x1.7f7d1cf79abcap-20};
}

/// e^x as (1 + tail) 2^n.
struct Reduced {
  Value tail;
  /// Whole, as a float.
  Value n;
};

/// Of e^(x + low); no `low` is zero.
Reduced reduceExp(Real &r, Value x, Value low = {}) {
  Value n = r.roundEven(r.mul(x, M_LOG2E));
  Ln2 ln2 = ln2Of(r);
  Value rest = r.fma(n, r.number(-ln2.high), x);
  rest = r.fma(n, r.number(-ln2.low), rest);
  if (low)
    rest = r.add(rest, low);
  Value curve = r.polynomial(rest, fit::expF32, fit::expF64);
  return {r.fma(r.mul(rest, rest), curve, rest), n};
}

/// `x` where it is not so far out that its exponential overflows or vanishes for sure; NaN becomes a number,
/// too.
Value clampForExp(Real &r, Value x, double low, double high) {
  Value clamped = r.select(r.isGreater(x, low), x, r.number(low));
  return r.select(r.isLess(clamped, high), clamped, r.number(high));
}

Value keepNan(Real &r, Value x, Value result) { return r.select(r.isNan(x), x, result); }

} // namespace

// At most 1 ulp.
Value joule::expandExp(Real &r, Value x) { return expandExpOfSum(r, x, {}); }

Value joule::expandExpOfSum(Real &r, Value x, Value low) {
  Value clamped = r.isDouble() ? clampForExp(r, x, -746, 710) : clampForExp(r, x, -104.5, 89);
  Reduced reduced = reduceExp(r, clamped, low);
  Value result = r.scale(r.add(reduced.tail, 1.0), r.toInteger(reduced.n));
  return keepNan(r, x, result);
}

// At most 1 ulp.
Value joule::expandExp2(Real &r, Value x) {
  Value clamped = r.isDouble() ? clampForExp(r, x, -1080, 1025) : clampForExp(r, x, -151, 129);
  Value n = r.roundEven(clamped);
  Value rest = r.mul(r.sub(clamped, n), M_LN2);
  Value curve = r.polynomial(rest, fit::expF32, fit::expF64);
  Value tail = r.fma(r.mul(rest, rest), curve, rest);
  return keepNan(r, x, r.scale(r.add(tail, 1.0), r.toInteger(n)));
}

// At most 2 ulp.
Value joule::expandExpM1(Real &r, Value x) {
  Value clamped = r.isDouble() ? clampForExp(r, x, -40, 710) : clampForExp(r, x, -20, 89);
  Reduced reduced = reduceExp(r, clamped);
  // 2^n (1 + tail) - 1, as half of it doubled since 2^n may be just out of range.
  Value half = r.powerOfTwo(r.subBits(r.toInteger(reduced.n), r.integer(1)));
  Value result = r.fma(half, reduced.tail, r.sub(half, r.number(0.5)));
  result = r.select(r.isEqual(reduced.n, 0), reduced.tail, r.mul(result, 2.0));
  // Keeps the sign of zero, and subnormals.
  Value isTiny = r.isLess(r.abs(x), r.isDouble() ? 0x1p-54 : 0x1p-25);
  return keepNan(r, x, r.select(isTiny, x, result));
}

LogSplit joule::splitForLog(Real &r, Value x) {
  // Subnormals are brought among the normal numbers first.
  int64_t lift = r.isDouble() ? 54 : 25;
  Value isSmall = r.isLess(x, std::ldexp(1.0, 1 - static_cast<int>(r.bias())));
  x = r.select(isSmall, r.mul(x, std::ldexp(1.0, lift)), x);
  Value bits = r.toBits(x);
  int64_t rootOfHalf = r.isDouble() ? 0x3fe6a09e667f3bcd : 0x3f3504f3;
  Value exponent =
      r.make<arith::ShRSIOp>(r.subBits(bits, r.integer(rootOfHalf)), r.integer(r.fractionBits()));
  Value one = r.fromBits(r.subBits(bits, r.make<arith::ShLIOp>(exponent, r.integer(r.fractionBits()))));
  Value e = r.fromInteger(exponent);
  return {r.sub(one, 1.0), r.select(isSmall, r.sub(e, static_cast<double>(lift)), e)};
}

namespace {

/// log(1 + f) = f - (f^2 / 2 - correction); the correction is small.
struct LogParts {
  Value halfSquare;
  Value correction;
};

LogParts logOfOnePlus(Real &r, Value f) {
  // With s = f / (2 + f) it is 2 atanh(s), a series in s^2.
  Value s = r.div(f, r.add(f, 2.0)), z = r.mul(s, s);
  Value series = r.mul(z, r.polynomial(z, fit::logF32, fit::logF64));
  Value halfSquare = r.mul(r.mul(f, 0.5), f);
  return {halfSquare, r.mul(s, r.add(halfSquare, series))};
}

/// What all logarithms say of arguments that have none.
Value guardLog(Real &r, Value x, Value result) {
  result = r.select(r.isEqual(x, INFINITY), x, result);
  result = r.select(r.isEqual(x, 0), r.number(-INFINITY), result);
  return r.select(r.isLess(x, 0), r.nan(), keepNan(r, x, result));
}

/// e log(2) + log(1 + f) + low.
Value joinLog(Real &r, LogSplit split, Value low) {
  LogParts parts = logOfOnePlus(r, split.f);
  Ln2 ln2 = ln2Of(r);
  Value small = r.add(parts.correction, r.fma(split.e, r.number(ln2.low), low));
  Value rest = r.sub(split.f, r.sub(parts.halfSquare, small));
  return r.fma(split.e, r.number(ln2.high), rest);
}

Value logOfMantissa(Real &r, Value f) {
  LogParts parts = logOfOnePlus(r, f);
  return r.sub(f, r.sub(parts.halfSquare, parts.correction));
}

} // namespace

// At most 1 ulp.
Value joule::expandLog(Real &r, Value x) {
  return guardLog(r, x, joinLog(r, splitForLog(r, x), r.number(0)));
}

// At most 2 ulp.
Value joule::expandLog2(Real &r, Value x) {
  LogSplit split = splitForLog(r, x);
  return guardLog(r, x, r.fma(logOfMantissa(r, split.f), r.number(M_LOG2E), split.e));
}

// At most 2 ulp.
Value joule::expandLog10(Real &r, Value x) {
  LogSplit split = splitForLog(r, x);
  // log10(2), its first part exact in products with exponents.
  double high = r.isDouble() ? 0x1.34413509f78p-2 : 0x1.344p-2;
  double low = r.isDouble() ? 0x1.fef311f12b358p-46 : 0x1.3509f79fef312p-18;
  Value rest = r.fma(split.e, r.number(low), r.mul(logOfMantissa(r, split.f), M_LOG10E));
  return guardLog(r, x, r.fma(split.e, r.number(high), rest));
}

// At most 2 ulp.
Value joule::expandLog1p(Real &r, Value x) {
  Value sum = r.add(x, 1.0);
  // What the sum lost, relative to it.
  Value lost = r.select(r.test(Real::P::OGT, r.abs(x), r.number(1.0)), r.sub(r.number(1.0), r.sub(sum, x)),
                        r.sub(x, r.sub(sum, 1.0)));
  LogSplit split = splitForLog(r, sum);
  Value isNear = r.both(r.isGreater(x, M_SQRT1_2 - 1), r.isLess(x, M_SQRT2 - 1));
  split.f = r.select(isNear, x, split.f);
  split.e = r.select(isNear, r.number(0), split.e);
  Value low = r.select(isNear, r.number(0), r.div(lost, sum));
  Value result = guardLog(r, sum, joinLog(r, split, low));
  Value isTiny = r.isLess(r.abs(x), r.isDouble() ? 0x1p-54 : 0x1p-25);
  return keepNan(r, x, r.select(isTiny, x, result));
}

// At most 3 ulp.
Value joule::expandTanh(Real &r, Value x) {
  Value a = r.abs(x);
  Value bounded = r.select(r.isLess(a, 22), a, r.number(22));
  Value t = expandExpM1(r, r.mul(bounded, 2.0));
  Value below = r.add(t, 2.0);
  Value result = r.select(r.isLess(a, 1), r.div(t, below), r.sub(r.number(1), r.div(r.number(2), below)));
  return keepNan(r, x, r.withSignOf(result, x));
}

namespace {

/// e^(a / 2), for results that overflow later than e^a.
Value rootOfExp(Real &r, Value a) { return expandExp(r, r.mul(a, 0.5)); }
double whereExpOverflows(const Real &r) { return r.isDouble() ? 709 : 88; }

} // namespace

// At most 3 ulp.
Value joule::expandSinh(Real &r, Value x) {
  Value a = r.abs(x), t = expandExpM1(r, a), root = rootOfExp(r, a);
  Value result = r.mul(r.add(t, r.div(t, r.add(t, 1.0))), 0.5);
  result = r.select(r.isGreater(a, whereExpOverflows(r)), r.mul(r.mul(root, 0.5), root), result);
  return r.withSignOf(result, x);
}

// At most 3 ulp.
Value joule::expandCosh(Real &r, Value x) {
  Value a = r.abs(x), t = expandExp(r, a), root = rootOfExp(r, a);
  Value result = r.add(r.mul(t, 0.5), r.div(r.number(0.5), t));
  return r.select(r.isGreater(a, whereExpOverflows(r)), r.mul(r.mul(root, 0.5), root), result);
}

namespace {

/// log(2 a) for an `a` whose square may overflow.
Value logOfTwice(Real &r, Value a) { return r.add(expandLog(r, a), M_LN2); }
double whereSquareIsAll(const Real &r) { return r.isDouble() ? 0x1p28 : 0x1p13; }

} // namespace

// At most 3 ulp.
Value joule::expandAsinh(Real &r, Value x) {
  Value a = r.abs(x), square = r.mul(a, a);
  Value root = r.sqrt(r.add(square, 1.0));
  Value result = expandLog1p(r, r.add(a, r.div(square, r.add(root, 1.0))));
  result = r.select(r.isGreater(a, whereSquareIsAll(r)), logOfTwice(r, a), result);
  return keepNan(r, x, r.withSignOf(result, x));
}

// At most 3 ulp.
Value joule::expandAcosh(Real &r, Value x) {
  Value t = r.sub(x, 1.0);
  Value result = expandLog1p(r, r.add(t, r.sqrt(r.mul(t, r.add(t, 2.0)))));
  result = r.select(r.isGreater(x, whereSquareIsAll(r)), logOfTwice(r, x), result);
  return r.select(r.isLess(x, 1), r.nan(), result);
}

// At most 3 ulp.
Value joule::expandAtanh(Real &r, Value x) {
  Value a = r.abs(x), twice = r.mul(a, 2.0);
  Value quotient = r.div(twice, r.sub(r.number(1), a));
  Value near = r.add(twice, r.div(r.mul(twice, a), r.sub(r.number(1), a)));
  Value result = r.mul(expandLog1p(r, r.select(r.isLess(a, 0.5), near, quotient)), 0.5);
  return keepNan(r, x, r.withSignOf(result, x));
}
