// The error function, roots, remainders, and extremes that propagate NaN.
#include "passes/TileToNvvm/ExpandMath.h"
#include "passes/TileToNvvm/MathCoefficients.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace joule;
namespace fit = joule::coefficients;

namespace {

/// -log(erfc(a)) for a of at least 1; beyond the last piece it is so great that what is left of 1 does not
/// count.
Value negativeLogErfc(Real &r, Value a) {
  auto piece = [&](double middle, ArrayRef<double> single, ArrayRef<double> twofold) {
    return r.polynomial(r.sub(a, middle), single, twofold);
  };
  Value result = piece(1.5, fit::erfc1F32, fit::erfc1F64);
  result = r.select(r.isLess(a, 2), result, piece(2.75, fit::erfc2F32, fit::erfc2F64));
  if (!r.isDouble())
    return result;
  return r.select(r.isLess(a, 3.5), result, piece(4.75, fit::erfc3F32, fit::erfc3F64));
}

} // namespace

// At most 2 ulp.
Value joule::expandErf(Real &r, Value x) {
  Value a = r.abs(x), z = r.mul(x, x);
  Value isNear = r.isLess(a, 1);
  Value near = r.fma(x, r.polynomial(r.select(isNear, z, r.number(1)), fit::erfF32, fit::erfF64), x);
  double end = r.isDouble() ? 6 : 4;
  Value bounded = r.select(r.isLess(a, end), a, r.number(end));
  Value far = r.sub(r.number(1), expandExp(r, r.neg(negativeLogErfc(r, bounded))));
  Value result = r.select(isNear, near, r.withSignOf(far, x));
  return r.select(r.isNan(x), x, result);
}

// At most 1 ulp, in f64.
Value joule::expandCbrt(Real &r, Value x) {
  assert(r.isDouble() && "f32 is computed in f64");
  Value a = r.abs(x);
  // Away from where cubes overflow and vanish, by a power of 8.
  Value isSmall = r.isLess(a, 0x1p-900), isGreat = r.isGreater(a, 0x1p900);
  a = r.mul(a, r.select(isSmall, r.number(0x1p150), r.select(isGreat, r.number(0x1p-150), r.number(1))));
  // A third of the exponent, and of the fraction besides, is within a few percent.
  Value third = r.make<arith::DivUIOp>(r.toBits(a), r.integer(3));
  Value y = r.fromBits(r.addBits(third, r.integer(int64_t(0x2a9f7893) << 32)));
  for (int step = 0; step < 2; ++step) { // Halley: each triples the digits.
    Value cube = r.mul(r.mul(y, y), y);
    Value above = r.add(cube, r.add(a, a)), below = r.add(r.add(cube, cube), a);
    y = r.mul(y, r.div(above, below));
  }
  Value square = r.mul(y, y);
  y = r.sub(y, r.div(r.fma(square, y, r.neg(a)), r.mul(square, 3.0))); // Newton
  y = r.mul(y, r.select(isSmall, r.number(0x1p-50), r.select(isGreat, r.number(0x1p50), r.number(1))));
  Value isItself = r.either(r.isEqual(x, 0), r.test(Real::P::UEQ, r.abs(x), r.infinity()));
  return r.select(isItself, x, r.withSignOf(y, x));
}

// At most 2 ulp.
Value joule::expandRsqrt(Real &r, Value x) { return r.div(r.number(1), r.sqrt(x)); }

namespace {

/// |x| = mantissa 2^(exponent - bias - fraction bits); the mantissa is an i64.
struct Parts {
  Value mantissa, exponent;
};

class Remainder {
public:
  Remainder(Real &r) : r(r) {}

  Value compute(Value x, Value y) {
    Parts a = split(x), b = split(y);
    Value divisor = r.select(test(arith::CmpIPredicate::eq, b.mantissa, i64(0)), i64(1), b.mantissa);
    Value rest = r.make<arith::RemUIOp>(a.mantissa, divisor);
    rest = reduce(rest, divisor, r.make<arith::SubIOp>(a.exponent, b.exponent));
    // The rest is below y's mantissa, so it is a float exactly.
    Value whole = r.make<arith::SIToFPOp>(r.type, rest);
    Value scale = r.make<arith::SubIOp>(b.exponent, i64(r.bias() + r.fractionBits()));
    if (!r.isDouble())
      scale = r.make<arith::TruncIOp>(r.bits(), scale);
    Value result = r.scale(whole, scale);
    result = r.select(r.test(Real::P::OLT, r.abs(x), r.abs(y)), x, result);
    Value isUndefined = r.either(r.isEqual(y, 0), r.test(Real::P::UEQ, r.abs(x), r.infinity()));
    result = r.select(r.either(isUndefined, r.isNan(y)), r.nan(), result);
    return r.withSignOf(result, x);
  }

private:
  Real &r;

  Value i64(int64_t value) { return r.make<arith::ConstantIntOp>(value, 64); }
  Value test(arith::CmpIPredicate predicate, Value a, Value b) {
    return r.make<arith::CmpIOp>(predicate, a, b);
  }

  Parts split(Value x) {
    Value bits = r.toBits(r.abs(x));
    if (!r.isDouble())
      bits = r.make<arith::ExtUIOp>(r.builder.getI64Type(), bits);
    int64_t implied = int64_t(1) << r.fractionBits();
    Value exponent = r.make<arith::ShRUIOp>(bits, i64(r.fractionBits()));
    Value fraction = r.make<arith::AndIOp>(bits, i64(implied - 1));
    Value isNormal = test(arith::CmpIPredicate::ne, exponent, i64(0));
    Value mantissa = r.make<arith::OrIOp>(fraction, r.select(isNormal, i64(implied), i64(0)));
    return {mantissa, r.make<arith::MaxSIOp>(exponent, i64(1))};
  }

  /// rest 2^shift modulo `divisor`, as many bits at a time as an i64 has room for.
  Value reduce(Value rest, Value divisor, Value shift) {
    int64_t step = 62 - r.fractionBits();
    shift = r.make<arith::MaxSIOp>(shift, i64(0));
    Value rounds = r.make<arith::DivUIOp>(r.make<arith::AddIOp>(shift, i64(step - 1)), i64(step));
    Type index = r.builder.getIndexType();
    auto constant = [&](int64_t value) { return r.builder.create<arith::ConstantIndexOp>(r.loc, value); };
    auto loop = r.builder.create<scf::ForOp>(r.loc, constant(0), r.make<arith::IndexCastOp>(index, rounds),
                                             constant(1), ValueRange{rest, shift});
    OpBuilder::InsertionGuard guard(r.builder);
    r.builder.setInsertionPointToStart(loop.getBody());
    Value current = loop.getRegionIterArgs()[0], left = loop.getRegionIterArgs()[1];
    Value by = r.make<arith::MinSIOp>(left, i64(step));
    current = r.make<arith::RemUIOp>(r.make<arith::ShLIOp>(current, by), divisor);
    r.builder.create<scf::YieldOp>(r.loc, ValueRange{current, r.make<arith::SubIOp>(left, by)});
    return loop.getResult(0);
  }
};

} // namespace

// Exact.
Value joule::expandRemainder(Real &r, Value x, Value y) { return Remainder(r).compute(x, y); }

namespace {

Value extreme(Real &r, Value x, Value y, Real::P predicate) {
  Value result = r.select(r.test(predicate, x, y), x, y);
  return r.select(r.isNan(x), x, result);
}

} // namespace

// Exact; of zeros of either sign one is given.
Value joule::expandMaximum(Real &r, Value x, Value y) { return extreme(r, x, y, Real::P::OGT); }
Value joule::expandMinimum(Real &r, Value x, Value y) { return extreme(r, x, y, Real::P::OLT); }
