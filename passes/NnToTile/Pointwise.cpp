// Pointwise ops of upstream dialects, made safe and exact for a GPU.
#include "passes/NnToTile/Pointwise.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace joule;
using joule::nn::castNumber;
using joule::nn::ElementBuilder;

namespace {

using P = arith::CmpIPredicate;

/// `op` itself on scalars, its attributes kept.
Value repeat(ElementBuilder &code, Operation *op, ArrayRef<Value> operands, Type type) {
  Operation *copy =
      code.builder.create(code.loc, op->getName().getIdentifier(), operands, type, op->getAttrs());
  return copy->getResult(0);
}

Value test(ElementBuilder &code, P predicate, Value a, Value b) {
  return code.make<arith::CmpIOp>(predicate, a, b);
}

/// The divisor, or 1 where the division has no result.
Value safeDivisor(ElementBuilder &code, Value dividend, Value divisor, bool isSigned) {
  Type type = divisor.getType();
  APInt constant;
  if (matchPattern(divisor, m_ConstantInt(&constant)) && !constant.isZero() && !constant.isAllOnes())
    return divisor;
  unsigned width = type.isIndex() ? 64 : type.getIntOrFloatBitWidth();
  Value undefined = test(code, P::eq, divisor, code.number(type, 0));
  if (isSigned) {
    Value isLeast = test(code, P::eq, dividend, code.integer(type, APInt::getSignedMinValue(width)));
    Value isMinusOne = test(code, P::eq, divisor, code.integer(type, APInt::getAllOnes(width)));
    undefined = code.either(undefined, code.both(isLeast, isMinusOne));
  }
  return code.select(undefined, code.number(type, 1), divisor);
}

Value emitShift(ElementBuilder &code, Operation *op, Value value, Value amount) {
  Type type = value.getType();
  unsigned width = type.getIntOrFloatBitWidth();
  Value last = code.integer(type, APInt(width, width - 1));
  Value isWithin = test(code, P::ule, amount, last);
  Value shifted = repeat(code, op, {value, code.select(isWithin, amount, last)}, type);
  // A signed shift by all but one bit is the sign already.
  return isa<arith::ShRSIOp>(op) ? shifted : code.select(isWithin, shifted, code.number(type, 0));
}

/// base^exponent by squaring, as in integer arithmetic that wraps; negative exponents give 1 /
/// base^-exponent.
Value emitIntegerPower(ElementBuilder &code, Value base, Value exponent) {
  Type type = base.getType();
  Value one = code.number(type, 1), zero = code.number(type, 0);
  Value isNegative = test(code, P::slt, exponent, zero);
  SmallVector<Value> state = {one, base, code.select(isNegative, zero, exponent)};
  Value bits = code.index(type.getIntOrFloatBitWidth());
  state = code.loops(bits, state, [&](ValueRange, ValueRange state) -> SmallVector<Value> {
    Value isOdd = test(code, P::ne, code.both(state[2], one), zero);
    return {code.select(isOdd, code.mul(state[0], state[1]), state[0]), code.mul(state[1], state[1]),
            code.make<arith::ShRUIOp>(state[2], one)};
  });
  // Only 1 and -1 have a whole inverse; that of 0 is given as 0.
  Value isOne = test(code, P::eq, base, one);
  Value isMinusOne = test(code, P::eq, base, code.number(type, -1));
  Value sign = code.select(test(code, P::ne, code.both(exponent, one), zero), base, one);
  Value inverse = code.select(isOne, one, code.select(isMinusOne, sign, zero));
  return code.select(isNegative, inverse, state[0]);
}

/// The result where `op` is an integer op that upstream leaves undefined in places; null for any other op.
Value emitGuarded(ElementBuilder &code, Operation *op, ArrayRef<Value> x) {
  if (isa<arith::DivSIOp, arith::RemSIOp, arith::CeilDivSIOp, arith::FloorDivSIOp>(op))
    return repeat(code, op, {x[0], safeDivisor(code, x[0], x[1], /*isSigned=*/true)}, x[0].getType());
  if (isa<arith::DivUIOp, arith::RemUIOp, arith::CeilDivUIOp>(op))
    return repeat(code, op, {x[0], safeDivisor(code, x[0], x[1], /*isSigned=*/false)}, x[0].getType());
  if (isa<arith::ShLIOp, arith::ShRSIOp, arith::ShRUIOp>(op))
    return emitShift(code, op, x[0], x[1]);
  if (isa<math::IPowIOp>(op))
    return emitIntegerPower(code, x[0], x[1]);
  return {};
}

/// The result where `op` converts; null for any other op.
Value emitConversion(ElementBuilder &code, Operation *op, Value x, Type type) {
  if (isa<arith::ExtFOp, arith::TruncFOp, arith::SIToFPOp, arith::FPToSIOp>(op))
    return castNumber(code, x, type);
  if (isa<arith::UIToFPOp, arith::FPToUIOp>(op))
    return castNumber(code, x, type, {false, isa<arith::UIToFPOp>(op), isa<arith::FPToUIOp>(op)});
  return {};
}

} // namespace

Value joule::emitPointwise(ElementBuilder &code, Operation *op, ArrayRef<Value> operands) {
  Type type = getElementTypeOrSelf(op->getResult(0).getType());
  if (Value guarded = emitGuarded(code, op, operands))
    return guarded;
  if (Value converted = emitConversion(code, op, operands.front(), type))
    return converted;
  // These move bits alone.
  if (isa<arith::SelectOp, arith::BitcastOp>(op))
    return repeat(code, op, operands, type);
  SmallVector<Value> wide;
  for (Value operand : operands)
    wide.push_back(isa<FloatType>(operand.getType())
                       ? castNumber(code, operand, nn::computeTypeOf(operand.getType()))
                       : operand);
  Type computed = isa<FloatType>(type) ? nn::computeTypeOf(type) : type;
  return castNumber(code, repeat(code, op, wide, computed), type);
}
