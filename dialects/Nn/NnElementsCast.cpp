// Elements of the conversions, and the rules of conversion between any two element types.
#include "dialects/Nn/ElementBuilder.h"
#include "dialects/Nn/SmallFloats.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace joule::nn;

namespace {

unsigned widthOf(Type type) { return type.getIntOrFloatBitWidth(); }

Value toBool(ElementBuilder &code, Value value) {
  if (isa<FloatType>(value.getType()))
    return code.make<arith::CmpFOp>(arith::CmpFPredicate::UNE, value, code.number(value.getType(), 0));
  return code.make<arith::CmpIOp>(arith::CmpIPredicate::ne, value, code.number(value.getType(), 0));
}

/// `value` brought into the range of `type`, still in its own type.
Value clampToRange(ElementBuilder &code, Value value, Type type, CastRule rule) {
  Type from = value.getType();
  unsigned width = widthOf(from), target = widthOf(type), wide = std::max(width, target) + 2;
  auto lowest = [&](unsigned bits, bool isUnsigned) {
    return isUnsigned ? APInt::getZero(wide) : APInt::getSignedMinValue(bits).sext(wide);
  };
  auto highest = [&](unsigned bits, bool isUnsigned) {
    return isUnsigned ? APInt::getMaxValue(bits).zext(wide) : APInt::getSignedMaxValue(bits).sext(wide);
  };
  APInt low = lowest(target, rule.unsignedResult), high = highest(target, rule.unsignedResult);
  if (low.sgt(lowest(width, rule.unsignedInput)))
    value = code.make<arith::MaxSIOp>(value, code.integer(from, low.trunc(width)));
  if (high.slt(highest(width, rule.unsignedInput))) {
    Value bound = code.integer(from, high.trunc(width));
    value = rule.unsignedInput ? code.make<arith::MinUIOp>(value, bound)
                               : code.make<arith::MinSIOp>(value, bound);
  }
  return value;
}

Value integerToInteger(ElementBuilder &code, Value value, Type type, CastRule rule) {
  if (rule.saturate)
    value = clampToRange(code, value, type, rule);
  if (widthOf(type) < widthOf(value.getType()))
    return code.make<arith::TruncIOp>(type, value);
  if (widthOf(type) == widthOf(value.getType()))
    return value;
  return rule.unsignedInput ? code.make<arith::ExtUIOp>(type, value) : code.make<arith::ExtSIOp>(type, value);
}

/// Truncates toward zero; clamps; NaN gives 0. The conversion itself only ever sees numbers that fit.
Value floatToInteger(ElementBuilder &code, Value value, Type type, CastRule rule) {
  Type from = value.getType();
  unsigned width = widthOf(type);
  double beyond = std::ldexp(1.0, rule.unsignedResult ? width : width - 1);
  double lowest = rule.unsignedResult ? 0.0 : -beyond;
  Value aboveLow = code.make<arith::CmpFOp>(arith::CmpFPredicate::OGT, value, code.number(from, lowest));
  Value tooHigh = code.make<arith::CmpFOp>(arith::CmpFPredicate::OGE, value, code.number(from, beyond));
  Value isNan = code.make<arith::CmpFOp>(arith::CmpFPredicate::UNO, value, value);
  Value notHigh = code.make<arith::CmpFOp>(arith::CmpFPredicate::OLT, value, code.number(from, beyond));
  Value safe = code.select(code.both(aboveLow, notHigh), value, code.number(from, 0));
  Type wide = code.builder.getIntegerType(std::max(width, 32u));
  Value whole =
      rule.unsignedResult ? code.make<arith::FPToUIOp>(wide, safe) : code.make<arith::FPToSIOp>(wide, safe);
  if (wide != type)
    whole = code.make<arith::TruncIOp>(type, whole);
  APInt low = rule.unsignedResult ? APInt::getZero(width) : APInt::getSignedMinValue(width);
  APInt high = rule.unsignedResult ? APInt::getMaxValue(width) : APInt::getSignedMaxValue(width);
  Value edge = code.select(tooHigh, code.integer(type, high), code.integer(type, low));
  Value fits = code.either(code.both(aboveLow, notHigh), isNan);
  return code.select(fits, whole, edge);
}

/// f64 to f32 such that a second rounding, to a narrower type, gives what one rounding would: where digits
/// are lost the last kept one is made odd. What overflows is infinite.
Value roundToOdd(ElementBuilder &code, Value value) {
  Type f32 = code.builder.getF32Type(), i32 = code.builder.getI32Type();
  Value rounded = code.make<arith::TruncFOp>(f32, value);
  Value back = code.make<arith::ExtFOp>(value.getType(), rounded);
  Value bits = code.make<arith::BitcastOp>(i32, rounded), one = code.number(i32, 1);
  Value isEven =
      code.make<arith::CmpIOp>(arith::CmpIPredicate::eq, code.both(bits, one), code.number(i32, 0));
  Value isInexact = code.make<arith::CmpFOp>(arith::CmpFPredicate::ONE, back, value);
  Value magnitude = code.make<math::AbsFOp>(back);
  Value isFinite = code.make<arith::CmpFOp>(arith::CmpFPredicate::OLT, magnitude,
                                            code.number(value.getType(), std::numeric_limits<double>::infinity()));
  isInexact = code.both(isInexact, isFinite);
  // Away from zero or toward it, in the bits' own order.
  Value tooSmall = code.make<arith::CmpFOp>(arith::CmpFPredicate::OLT, back, value);
  Value isNegative =
      code.make<arith::CmpFOp>(arith::CmpFPredicate::OLT, value, code.number(value.getType(), 0));
  Value away = code.make<arith::CmpIOp>(arith::CmpIPredicate::ne, tooSmall, isNegative);
  Value odd = code.select(away, code.add(bits, one), code.sub(bits, one));
  bits = code.select(code.both(isEven, isInexact), odd, bits);
  return code.make<arith::BitcastOp>(f32, bits);
}

Value floatToFloat(ElementBuilder &code, Value value, Type type) {
  Type f32 = code.builder.getF32Type();
  unsigned from = widthOf(value.getType()), to = widthOf(type);
  if (value.getType() == type)
    return value;
  if (from < 32 && to < 32)
    value = code.make<arith::ExtFOp>(f32, value);
  if (from == 64 && to < 32)
    value = roundToOdd(code, value);
  return to > widthOf(value.getType()) ? code.make<arith::ExtFOp>(type, value)
                                       : code.make<arith::TruncFOp>(type, value);
}

Value integerToFloat(ElementBuilder &code, Value value, Type type, CastRule rule) {
  Type wide = computeTypeOf(type);
  value =
      rule.unsignedInput ? code.make<arith::UIToFPOp>(wide, value) : code.make<arith::SIToFPOp>(wide, value);
  return floatToFloat(code, value, type);
}

/// `value` as an f32 that a narrower float can be rounded from: whole numbers of many digits keep what matters of them.
Value toSingle(ElementBuilder &code, Value value, CastRule rule) {
  Type f32 = code.builder.getF32Type(), f64 = code.builder.getF64Type();
  if (value.getType().isInteger() && widthOf(value.getType()) > 24)
    value = castNumber(code, value, f64, rule);
  return value.getType() == f64 ? roundToOdd(code, value) : castNumber(code, value, f32, rule);
}

} // namespace

Type joule::nn::computeTypeOf(Type type) {
  if (isSmallFloat(type))
    return Float32Type::get(type.getContext());
  return defaultAccumulateType(type);
}

Value joule::nn::castNumber(ElementBuilder &code, Value value, Type type, CastRule rule) {
  if (value.getType() == type && !rule.saturate)
    return value;
  if (isSmallFloat(value.getType()))
    value = decodeSmallFloat(code, value);
  if (isSmallFloat(type)) {
    rule.unsignedResult = false;
    return encodeSmallFloat(code, toSingle(code, value, rule), type, rule);
  }
  Type from = value.getType();
  // A boolean is 0 or 1, however integers are read.
  if (from.isInteger(1))
    rule.unsignedInput = true;
  if (type.isInteger(1))
    return from == type ? value : toBool(code, value);
  if (isa<FloatType>(from) && isa<FloatType>(type))
    return floatToFloat(code, value, type);
  if (isa<FloatType>(from))
    return floatToInteger(code, value, type, rule);
  if (isa<FloatType>(type))
    return integerToFloat(code, value, type, rule);
  return integerToInteger(code, value, type, rule);
}

Value CastOp::emitElement(OpBuilder &builder, Location loc, ElementSource &source, unsigned,
                          ValueRange indices) {
  ElementBuilder code{builder, loc, source};
  CastRule rule{getSaturate(), getUnsignedInput(), getUnsignedResult(), getRounding()};
  Type type = cast<RankedTensorType>(getResult().getType()).getElementType();
  return castNumber(code, source.element(getInput(), indices), type, rule);
}

Value BitcastOp::emitElement(OpBuilder &builder, Location loc, ElementSource &source, unsigned,
                             ValueRange indices) {
  Value value = source.element(getInput(), indices);
  Type type = cast<RankedTensorType>(getResult().getType()).getElementType();
  return builder.createOrFold<arith::BitcastOp>(loc, type, value);
}
