// Sines and their inverses.
#include "passes/TileToNvvm/ExpandMath.h"
#include "passes/TileToNvvm/MathCoefficients.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace joule;
namespace fit = joule::coefficients;

namespace {

/// x = quadrant * pi / 2 + angle, |angle| at most pi / 4. The quadrant is an i64 modulo 4.
struct Reduced {
  Value quadrant;
  Value angle;
};

/// pi / 2 in three parts. The first has so few digits left of its last place that its product with a
/// quadrant, taken from a number next to it, is exact.
const double halfPi[] = {0x1.921fb54442d18p+0, 0x1.1a62633145c07p-54, -0x1.f1976b7ed8fbcp-110};

/// Up to where multiples of pi / 2 are subtracted directly.
const double nearEnd = 0x1p26;

Reduced reduceNear(Real &r, Value x) {
  Value n = r.roundEven(r.mul(x, 0x1.45f306dc9c883p-1));
  Value angle = x;
  for (double part : halfPi)
    angle = r.fma(n, r.number(-part), angle);
  return {r.toInteger(n), angle};
}

/// 64-bit words of a long number, first the highest.
struct Words {
  Real &r;

  Value shiftLeft(Value a, Value by) { return r.make<arith::ShLIOp>(a, by); }
  Value shiftRight(Value a, Value by) { return r.make<arith::ShRUIOp>(a, by); }

  /// The word of 2 / pi at `at`.
  Value digits(Value at) {
    ArrayRef<uint64_t> table(fit::twoOverPi);
    Value word = r.integer(table.back());
    for (int64_t number = table.size() - 2; number >= 0; --number) {
      Value isHere = r.make<arith::CmpIOp>(arith::CmpIPredicate::eq, at, r.integer(number));
      word = r.select(isHere, r.integer(static_cast<int64_t>(table[number])), word);
    }
    return word;
  }

  /// 64 bits from bit `shift` of the two words on.
  Value window(Value first, Value second, Value shift) {
    Value left = r.subBits(r.integer(63), shift);
    Value tail = shiftRight(shiftRight(second, r.integer(1)), left);
    return r.make<arith::OrIOp>(shiftLeft(first, shift), tail);
  }

  std::pair<Value, Value> multiply(Value a, Value b) {
    auto product = r.builder.create<arith::MulUIExtendedOp>(r.loc, a, b);
    return {product.getHigh(), product.getLow()};
  }
};

/// Any finite x beyond `nearEnd`, by Payne and Hanek's method: of the digits of 2 / pi only those matter
/// that, times x, are neither multiples of 4 nor too small to see. Those 192 bits are multiplied as integers.
Reduced reduceFar(Real &r, Value x) {
  Words words{r};
  Value bits = r.toBits(r.abs(x));
  Value fraction = r.make<arith::AndIOp>(bits, r.integer((int64_t(1) << 52) - 1));
  Value mantissa = r.make<arith::OrIOp>(fraction, r.integer(int64_t(1) << 52));
  // |x| = mantissa 2^e; the first digit that matters has the weight 2^(1 - e), and a word of zeros stands in
  // front.
  Value e = r.subBits(words.shiftRight(bits, r.integer(52)), r.integer(1075));
  Value first = r.addBits(e, r.integer(62));
  Value at = words.shiftRight(first, r.integer(6)), shift = r.make<arith::AndIOp>(first, r.integer(63));
  Value digits[4];
  for (int64_t number = 0; number < 4; ++number)
    digits[number] = words.digits(r.addBits(at, r.integer(number)));
  auto [high1, low1] = words.multiply(mantissa, words.window(digits[1], digits[2], shift));
  auto [high2, low2] = words.multiply(mantissa, words.window(digits[2], digits[3], shift));
  Value top = r.make<arith::MulIOp>(mantissa, words.window(digits[0], digits[1], shift));
  Value middle = r.addBits(low1, high2);
  Value carries = r.make<arith::CmpIOp>(arith::CmpIPredicate::ult, middle, low1);
  top = r.addBits(r.addBits(top, high1), r.make<arith::ExtUIOp>(r.bits(), carries));
  // Two bits of quadrant, then the fraction of one; read as a signed number it is the nearer way round.
  Value whole = words.shiftRight(top, r.integer(62));
  Value upper = words.window(top, middle, r.integer(2)), lower = words.window(middle, low2, r.integer(2));
  Value isUpperHalf = words.shiftRight(upper, r.integer(63));
  Value quadrant = r.addBits(whole, isUpperHalf);
  Value turns = r.mul(r.fromInteger(upper), 0x1p-64);
  turns = r.fma(r.make<arith::UIToFPOp>(r.type, lower), r.number(0x1p-128), turns);
  Value angle = r.mul(turns, halfPi[0]);
  Value isNegative = r.isLess(x, 0);
  return {r.select(isNegative, r.subBits(r.integer(0), quadrant), quadrant),
          r.select(isNegative, r.neg(angle), angle)};
}

/// For an f64 x; the far case, which hardly occurs, stands in a branch.
Reduced reduce(Real &r, Value x) {
  Value a = r.abs(x);
  Value isNear = r.isLess(a, nearEnd);
  Value isFar = r.both(r.test(Real::P::OGE, a, r.number(nearEnd)), r.isLess(a, INFINITY));
  Reduced near = reduceNear(r, r.select(isNear, x, r.number(0)));
  auto branch =
      r.builder.create<scf::IfOp>(r.loc, TypeRange{r.bits(), r.type}, isFar, /*withElseRegion=*/true);
  auto write = [&](Region &region, function_ref<Reduced()> emit) {
    OpBuilder::InsertionGuard guard(r.builder);
    r.builder.setInsertionPointToStart(&region.front());
    Reduced result = emit();
    r.builder.create<scf::YieldOp>(r.loc, ValueRange{result.quadrant, result.angle});
  };
  write(branch.getThenRegion(), [&] { return reduceFar(r, x); });
  write(branch.getElseRegion(), [&] { return near; });
  // Infinity has no angle.
  Value isFinite = r.isLess(a, INFINITY);
  return {branch.getResult(0), r.select(isFinite, branch.getResult(1), r.nan())};
}

struct SineAndCosine {
  Value sine, cosine;
};

/// Of an angle of at most pi / 4.
SineAndCosine evaluate(Real &r, Value angle) {
  Value z = r.mul(angle, angle);
  Value sine = r.fma(r.mul(angle, z), r.polynomial(z, fit::sinF32, fit::sinF64), angle);
  // 1 - z / 2 loses digits, which come back in the end.
  Value half = r.mul(z, 0.5), first = r.sub(r.number(1), half);
  Value lost = r.sub(r.sub(r.number(1), first), half);
  Value rest = r.fma(r.mul(z, z), r.polynomial(z, fit::cosF32, fit::cosF64), lost);
  return {sine, r.add(first, rest)};
}

/// Sine and cosine of x in its first quadrant, and the quadrant. f32 is reduced in f64, so that no digit is
/// lost.
SineAndCosine evaluateReduced(Real &r, Value x, Value &quadrant) {
  if (r.isDouble()) {
    Reduced reduced = reduce(r, x);
    quadrant = reduced.quadrant;
    return evaluate(r, reduced.angle);
  }
  Real wide(r.builder, r.loc, r.builder.getF64Type());
  Reduced reduced = reduce(wide, r.make<arith::ExtFOp>(wide.type, x));
  quadrant = reduced.quadrant;
  return evaluate(r, r.make<arith::TruncFOp>(r.type, reduced.angle));
}

Value hasBit(Real &r, Value quadrant, int64_t bit) {
  auto constant = [&](int64_t value) { return r.make<arith::ConstantIntOp>(value, 64); };
  Value masked = r.make<arith::AndIOp>(quadrant, constant(bit));
  return r.make<arith::CmpIOp>(arith::CmpIPredicate::ne, masked, constant(0));
}

/// sin(x + turn * pi / 2).
Value sineAfter(Real &r, Value x, int64_t turn) {
  Value quadrant;
  SineAndCosine both = evaluateReduced(r, x, quadrant);
  quadrant = r.make<arith::AddIOp>(quadrant, r.make<arith::ConstantIntOp>(turn, 64));
  Value result = r.select(hasBit(r, quadrant, 1), both.cosine, both.sine);
  return r.select(hasBit(r, quadrant, 2), r.neg(result), result);
}

/// Where the function is x itself, the sign of zero included.
Value keepTiny(Real &r, Value x, Value result) {
  return r.select(r.isLess(r.abs(x), r.isDouble() ? 0x1p-28 : 0x1p-14), x, result);
}

} // namespace

// At most 2 ulp, for every argument.
Value joule::expandSin(Real &r, Value x) { return keepTiny(r, x, sineAfter(r, x, 0)); }

// At most 2 ulp, for every argument.
Value joule::expandCos(Real &r, Value x) { return sineAfter(r, x, 1); }

// At most 3 ulp, for every argument.
Value joule::expandTan(Real &r, Value x) {
  Value quadrant;
  SineAndCosine both = evaluateReduced(r, x, quadrant);
  Value isOdd = hasBit(r, quadrant, 1);
  Value quotient =
      r.div(r.select(isOdd, r.neg(both.cosine), both.sine), r.select(isOdd, both.sine, both.cosine));
  return keepTiny(r, x, quotient);
}

namespace {

/// asin(s) / s - 1 for z = s^2 up to 1 / 4.
Value asinExcess(Real &r, Value z) { return r.mul(z, r.polynomial(z, fit::asinF32, fit::asinF64)); }

/// asin(s) for s = sqrt((1 - a) / 2), which is half of acos(a).
Value halfAcos(Real &r, Value a) {
  Value z = r.mul(r.sub(r.number(1), a), 0.5), s = r.sqrt(z);
  return r.fma(s, asinExcess(r, z), s);
}

Value pi(Real &r, double share) { return r.number(share * M_PI); }
/// What a float lacks of pi / 2.
double halfPiRest(const Real &r) { return r.isDouble() ? halfPi[1] : -0x1.777a5cp-25; }

} // namespace

// At most 2 ulp.
Value joule::expandAsin(Real &r, Value x) {
  Value a = r.abs(x);
  Value near = r.fma(a, asinExcess(r, r.mul(a, a)), a);
  Value far = r.sub(pi(r, 0.5), r.sub(r.mul(halfAcos(r, a), 2.0), halfPiRest(r)));
  return keepTiny(r, x, r.withSignOf(r.select(r.isLess(a, 0.5), near, far), x));
}

// At most 2 ulp.
Value joule::expandAcos(Real &r, Value x) {
  Value a = r.abs(x);
  Value small = r.fma(x, asinExcess(r, r.mul(x, x)), x);
  Value near = r.sub(pi(r, 0.5), r.sub(small, r.number(halfPiRest(r))));
  Value far = r.mul(halfAcos(r, a), 2.0);
  Value behind = r.sub(pi(r, 1), r.sub(far, 2 * halfPiRest(r)));
  return r.select(r.isLess(a, 0.5), near, r.select(r.isLess(x, 0), behind, far));
}

// At most 2 ulp.
Value joule::expandAtan(Real &r, Value x) {
  // atan(a) = offset + atan(t), |t| at most tan(pi / 8).
  Value a = r.abs(x);
  Value isLarge = r.isGreater(a, 1 + M_SQRT2), isMiddle = r.isGreater(a, M_SQRT2 - 1);
  Value middle = r.div(r.sub(a, 1.0), r.add(a, 1.0)), large = r.div(r.number(-1), a);
  Value t = r.select(isLarge, large, r.select(isMiddle, middle, a));
  Value offset = r.select(isLarge, pi(r, 0.5), r.select(isMiddle, pi(r, 0.25), r.number(0)));
  double rest = halfPiRest(r);
  Value low = r.select(isLarge, r.number(rest), r.select(isMiddle, r.number(rest / 2), r.number(0)));
  Value z = r.mul(t, t);
  Value curve = r.mul(r.mul(t, z), r.polynomial(z, fit::atanF32, fit::atanF64));
  Value result = r.add(offset, r.add(t, r.add(curve, low)));
  return keepTiny(r, x, r.withSignOf(result, x));
}

// At most 3 ulp.
Value joule::expandAtan2(Real &r, Value y, Value x) {
  Value a = r.abs(x), b = r.abs(y);
  Value isSteep = r.test(Real::P::OGT, b, a);
  Value small = r.select(isSteep, a, b), great = r.select(isSteep, b, a);
  Value quotient = r.div(small, great);
  quotient = r.select(r.isEqual(great, 0), r.number(0), quotient);
  quotient = r.select(r.isEqual(small, INFINITY), r.number(1), quotient);
  double rest = halfPiRest(r);
  Value angle = expandAtan(r, quotient);
  angle = r.select(isSteep, r.sub(pi(r, 0.5), r.sub(angle, rest)), angle);
  Value isBehind = r.make<arith::CmpIOp>(arith::CmpIPredicate::slt, r.toBits(x), r.integer(0));
  angle = r.select(isBehind, r.sub(pi(r, 1), r.sub(angle, 2 * rest)), angle);
  Value isNan = r.test(Real::P::UNO, x, y);
  return r.select(isNan, r.nan(), r.withSignOf(angle, y));
}
