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

/// A division whose divisor is 1 where there is no result: 0 is given for a divisor of 0, and the least
/// integer over -1 is itself.
Value emitDivision(ElementBuilder &code, Operation *op, Value dividend, Value divisor, bool isSigned) {
  Type type = divisor.getType();
  APInt constant;
  if (matchPattern(divisor, m_ConstantInt(&constant)) && !constant.isZero() && !constant.isAllOnes())
    return repeat(code, op, {dividend, divisor}, type);
  unsigned width = type.isIndex() ? 64 : type.getIntOrFloatBitWidth();
  Value isZero = test(code, P::eq, divisor, code.number(type, 0)), undefined = isZero;
  if (isSigned) {
    Value isLeast = test(code, P::eq, dividend, code.integer(type, APInt::getSignedMinValue(width)));
    Value isMinusOne = test(code, P::eq, divisor, code.integer(type, APInt::getAllOnes(width)));
    undefined = code.either(undefined, code.both(isLeast, isMinusOne));
  }
  Value safe = code.select(undefined, code.number(type, 1), divisor);
  return code.select(isZero, code.number(type, 0), repeat(code, op, {dividend, safe}, type));
}

Value emitShift(ElementBuilder &code, Operation *op, Value value, Value amount) {
  Type type = value.getType();
  unsigned width = type.getIntOrFloatBitWidth();
  Value last = code.integer(type, APInt(width, width - 1));
  Value isWithin = test(code, P::ule, amount, last);
  Value shifted = repeat(code, op, {value, code.select(isWithin, amount, last)}, type);
  return code.select(isWithin, shifted, code.number(type, 0));
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
    return emitDivision(code, op, x[0], x[1], /*isSigned=*/true);
  if (isa<arith::DivUIOp, arith::RemUIOp, arith::CeilDivUIOp>(op))
    return emitDivision(code, op, x[0], x[1], /*isSigned=*/false);
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

/// One result of an integer op that has two.
Value emitExtended(ElementBuilder &code, OpResult result, ArrayRef<Value> operands) {
  SmallVector<Type> types = llvm::map_to_vector(result.getOwner()->getResultTypes(),
                                                [](Type type) { return getElementTypeOrSelf(type); });
  StringAttr name = result.getOwner()->getName().getIdentifier();
  return code.builder.create(code.loc, name, operands, types)->getResult(result.getResultNumber());
}

} // namespace

Value joule::emitPointwise(ElementBuilder &code, OpResult result, ArrayRef<Value> operands) {
  Operation *op = result.getOwner();
  if (op->getNumResults() > 1)
    return emitExtended(code, result, operands);
  Type type = getElementTypeOrSelf(result.getType());
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
