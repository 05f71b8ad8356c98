// Powers.
#include "passes/TileToNvvm/ExpandMath.h"
#include "passes/TileToNvvm/MathCoefficients.h"
#include "passes/TileToNvvm/MathLogarithm.h"

#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace joule;
namespace fit = joule::coefficients;

namespace {

/// A number as the sum of two floats, the second below the first one's last place.
struct Pair {
  Value high, low;
};

/// a b, exactly.
Pair product(Real &r, Value a, Value b) {
  Value high = r.mul(a, b);
  return {high, r.fma(a, b, r.neg(high))};
}

/// a + b, exactly.
Pair sum(Real &r, Value a, Value b) {
  Value high = r.add(a, b), ofB = r.sub(high, a), ofA = r.sub(high, ofB);
  return {high, r.add(r.sub(a, ofA), r.sub(b, ofB))};
}

/// The logarithm of a positive finite f64 to about 65 bits: y log(x) reaches 745, so that ten bits more than
/// a float's are needed for a power's last place.
Pair preciseLog(Real &r, Value x) {
  LogSplit split = splitForLog(r, x);
  // s = f / (2 + f).
  Value below = r.add(split.f, 2.0), lost = r.sub(split.f, r.sub(below, 2.0));
  Value s = r.div(split.f, below);
  Value left = r.sub(r.fma(r.neg(s), below, split.f), r.mul(s, lost));
  Value sLow = r.div(left, below);
  // log(1 + f) = 2 s + s (2/3 z + z^2 …), z = s^2.
  Pair z = product(r, s, s);
  z.low = r.add(z.low, r.mul(r.mul(s, 2.0), sLow));
  Pair third = product(r, z.high, r.number(0x1.5555555555555p-1));
  Value rest = r.mul(r.mul(z.high, z.high), r.polynomial(z.high, fit::logTailF32, fit::logTailF64));
  rest = r.add(rest, r.mul(z.high, 0x1.5555555555555p-55));
  Value thirdLow = r.add(third.low, r.fma(z.low, r.number(0x1.5555555555555p-1), rest));
  Pair tail = product(r, s, third.high);
  Value tailLow = r.add(tail.low, r.fma(s, thirdLow, r.mul(sLow, third.high)));
  Pair one = sum(r, r.mul(s, 2.0), tail.high);
  Value low = r.add(one.low, r.fma(sLow, r.number(2), tailLow));
  // + e log(2).
  Pair all = sum(r, r.mul(split.e, 0x1.62e42feep-1), one.high);
  low = r.add(low, r.fma(split.e, r.number(0x1.a39ef35793c76p-33), all.low));
  Value high = r.add(all.high, low);
  return {high, r.sub(low, r.sub(high, all.high))};
}

/// |x|^y for y log|x| = high + low; neither overflows here.
Value exponentialOf(Real &r, Value high, Value low) {
  Value isFar = r.test(Real::P::UGE, r.abs(high), r.number(800));
  return expandExpOfSum(r, high, r.select(isFar, r.number(0), low));
}

/// What C says of a power of a negative number, of 1, and of the power 0.
Value guardPower(Real &r, Value x, Value y, Value magnitude) {
  Value isWhole = r.test(Real::P::OEQ, y, r.roundEven(y));
  Value half = r.mul(y, 0.5);
  Value isOdd = r.both(isWhole, r.test(Real::P::ONE, half, r.roundEven(half)));
  Value sign = r.select(isOdd, x, r.number(1));
  Value result = r.withSignOf(magnitude, sign);
  Value isNegative = r.both(r.isLess(x, 0), r.isGreater(x, -INFINITY));
  Value isFractional = r.test(Real::P::UNE, y, r.roundEven(y));
  result = r.select(r.both(isNegative, isFractional), r.nan(), result);
  result = r.select(r.either(r.isNan(x), r.isNan(y)), r.nan(), result);
  Value isMinusOneToInfinity = r.both(r.isEqual(x, -1), r.isEqual(r.abs(y), INFINITY));
  Value isOne = r.either(r.either(r.isEqual(x, 1), r.isEqual(y, 0)), isMinusOneToInfinity);
  return r.select(isOne, r.number(1), result);
}

Value powerInDouble(Real &r, Value x, Value y, bool isPrecise) {
  Value a = r.abs(x);
  Value isEnd = r.either(r.isEqual(a, 0), r.test(Real::P::UEQ, a, r.infinity()));
  Value inner = r.select(isEnd, r.number(1), a);
  Pair log = isPrecise ? preciseLog(r, inner) : Pair{expandLog(r, inner), r.number(0)};
  log.high = r.select(isEnd, r.select(r.isEqual(a, 0), r.number(-INFINITY), r.infinity()), log.high);
  log.low = r.select(isEnd, r.number(0), log.low);
  Pair exponent = product(r, y, log.high);
  exponent.low = r.add(exponent.low, r.mul(y, log.low));
  return guardPower(r, x, y, exponentialOf(r, exponent.high, exponent.low));
}

/// Powers that models are full of; null where `y` is no such constant.
Value simplePower(Real &r, Value x, Value y) {
  FloatAttr constant;
  if (!matchPattern(y, m_Constant(&constant)))
    return {};
  double exponent = constant.getValueAsDouble();
  if (exponent == 1)
    return x;
  if (exponent == 2)
    return r.mul(x, x);
  if (exponent == 3)
    return r.mul(r.mul(x, x), x);
  if (exponent == -1)
    return r.div(r.number(1), x);
  if (exponent == 0.5) // Adding zero makes a plus of a minus zero.
    return r.select(r.isEqual(x, -INFINITY), r.infinity(), r.sqrt(r.add(x, 0.0)));
  return {};
}

} // namespace

// At most 1 ulp in f32, 2 in f64.
Value joule::expandPow(Real &r, Value x, Value y) {
  if (Value simple = simplePower(r, x, y))
    return simple;
  if (r.isDouble())
    return powerInDouble(r, x, y, /*isPrecise=*/true);
  Real wide(r.builder, r.loc, r.builder.getF64Type());
  auto widen = [&](Value value) { return wide.make<arith::ExtFOp>(wide.type, value); };
  return r.make<arith::TruncFOp>(r.type, powerInDouble(wide, widen(x), widen(y), /*isPrecise=*/false));
}
