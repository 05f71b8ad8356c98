// Which ops have an expansion, and the arithmetic that expansions are written with.
#include "passes/TileToNvvm/ExpandMath.h"

using namespace mlir;
using namespace joule;

Value Real::number(double value) {
  APFloat constant(value);
  bool inexact;
  constant.convert(type.getFloatSemantics(), APFloat::rmNearestTiesToEven, &inexact);
  return builder.create<arith::ConstantOp>(loc, FloatAttr::get(type, constant));
}

Value Real::polynomial(Value x, ArrayRef<double> coefficients) {
  Value sum = number(coefficients.back());
  for (double coefficient : llvm::reverse(coefficients.drop_back()))
    sum = fma(sum, x, number(coefficient));
  return sum;
}

Value Real::powerOfTwo(Value n) {
  return fromBits(make<arith::ShLIOp>(addBits(n, integer(bias())), integer(fractionBits())));
}

Value Real::scale(Value a, Value n) {
  Value half = make<arith::ShRSIOp>(n, integer(1));
  return mul(mul(a, powerOfTwo(half)), powerOfTwo(subBits(n, half)));
}

namespace {

bool hasType(Operation *op, bool single, bool twofold) {
  Type type = op->getResult(0).getType();
  return (single && type.isF32()) || (twofold && type.isF64());
}

template <Value (*function)(Real &, Value)> Value unary(OpBuilder &builder, Operation *op) {
  if (!hasType(op, true, true))
    return {};
  Real real(builder, op->getLoc(), op->getResult(0).getType());
  return function(real, op->getOperand(0));
}

template <Value (*function)(Real &, Value, Value)> Value binary(OpBuilder &builder, Operation *op) {
  if (!hasType(op, true, true))
    return {};
  Real real(builder, op->getLoc(), op->getResult(0).getType());
  return function(real, op->getOperand(0), op->getOperand(1));
}

/// f32 functions that are seldom used are computed in f64, where the same expansion errs by far less than
/// half an ulp of f32.
template <Value (*function)(Real &, Value)> Value unaryInDouble(OpBuilder &builder, Operation *op) {
  if (!hasType(op, true, false))
    return unary<function>(builder, op);
  Real real(builder, op->getLoc(), builder.getF64Type());
  Value wide = real.make<arith::ExtFOp>(real.type, op->getOperand(0));
  return real.make<arith::TruncFOp>(builder.getF32Type(), function(real, wide));
}

/// f32^i and f64^i: every i32 is an f64.
Value integerPower(OpBuilder &builder, Operation *op) {
  Type type = op->getResult(0).getType();
  if (!hasType(op, true, true))
    return {};
  Real real(builder, op->getLoc(), builder.getF64Type());
  Value base = op->getOperand(0), exponent = real.fromInteger(op->getOperand(1));
  if (type.isF64())
    return expandPow(real, base, exponent);
  Value power = expandPow(real, real.make<arith::ExtFOp>(real.type, base), exponent);
  return real.make<arith::TruncFOp>(type, power);
}

/// In f32 the hardware has one that propagates NaN.
template <Value (*function)(Real &, Value, Value)> Expansion inDoubleOnly(Operation *op) {
  return op->getResult(0).getType().isF32() ? nullptr : binary<function>;
}

} // namespace

Expansion joule::findExpansion(Operation *op) {
  return llvm::TypeSwitch<Operation *, Expansion>(op)
      .Case([](math::ExpOp) { return unary<expandExp>; })
      .Case([](math::Exp2Op) { return unary<expandExp2>; })
      .Case([](math::ExpM1Op) { return unary<expandExpM1>; })
      .Case([](math::LogOp) { return unary<expandLog>; })
      .Case([](math::Log2Op) { return unary<expandLog2>; })
      .Case([](math::Log10Op) { return unary<expandLog10>; })
      .Case([](math::Log1pOp) { return unary<expandLog1p>; })
      .Case([](math::TanhOp) { return unary<expandTanh>; })
      .Case([](math::SinhOp) { return unaryInDouble<expandSinh>; })
      .Case([](math::CoshOp) { return unaryInDouble<expandCosh>; })
      .Case([](math::AsinhOp) { return unaryInDouble<expandAsinh>; })
      .Case([](math::AcoshOp) { return unaryInDouble<expandAcosh>; })
      .Case([](math::AtanhOp) { return unaryInDouble<expandAtanh>; })
      .Case([](math::PowFOp) { return binary<expandPow>; })
      .Case([](math::FPowIOp) { return integerPower; })
      .Case([](math::SinOp) { return unary<expandSin>; })
      .Case([](math::CosOp) { return unary<expandCos>; })
      .Case([](math::TanOp) { return unary<expandTan>; })
      .Case([](math::AsinOp) { return unaryInDouble<expandAsin>; })
      .Case([](math::AcosOp) { return unaryInDouble<expandAcos>; })
      .Case([](math::AtanOp) { return unary<expandAtan>; })
      .Case([](math::Atan2Op) { return binary<expandAtan2>; })
      .Case([](math::ErfOp) { return unary<expandErf>; })
      .Case([](math::CbrtOp) { return unaryInDouble<expandCbrt>; })
      .Case([](math::RsqrtOp) { return unary<expandRsqrt>; })
      .Case([](arith::RemFOp) { return binary<expandRemainder>; })
      .Case([](arith::MaximumFOp op) { return inDoubleOnly<expandMaximum>(op); })
      .Case([](arith::MinimumFOp op) { return inDoubleOnly<expandMinimum>(op); })
      .Default([](Operation *) { return nullptr; });
}
