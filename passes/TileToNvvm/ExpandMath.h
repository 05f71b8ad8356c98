// The expansions of mathematical functions: which ops have one, and what they are written with.
#pragma once

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Builders.h"

namespace joule {

/// Writes the value of a scalar op in front of it; null where the op's type has no expansion.
using Expansion = mlir::Value (*)(mlir::OpBuilder &builder, mlir::Operation *op);

/// The expansion of `op`, or null for an op that stays.
Expansion findExpansion(mlir::Operation *op);

/// Arithmetic in f32 or f64.
class Real {
public:
  mlir::OpBuilder &builder;
  mlir::Location loc;
  mlir::FloatType type;

  Real(mlir::OpBuilder &builder, mlir::Location loc, mlir::Type type)
      : builder(builder), loc(loc), type(mlir::cast<mlir::FloatType>(type)) {}

  bool isDouble() const { return type.isF64(); }
  unsigned fractionBits() const { return isDouble() ? 52 : 23; }
  int64_t bias() const { return isDouble() ? 1023 : 127; }
  mlir::IntegerType bits() { return builder.getIntegerType(type.getWidth()); }

  template <typename Op, typename... Arguments> mlir::Value make(Arguments &&...arguments) {
    return builder.createOrFold<Op>(loc, std::forward<Arguments>(arguments)...);
  }

  mlir::Value number(double value);
  mlir::Value infinity() { return number(INFINITY); }
  mlir::Value nan() { return number(NAN); }
  mlir::Value integer(int64_t value) { return make<mlir::arith::ConstantIntOp>(value, type.getWidth()); }

  mlir::Value add(mlir::Value a, mlir::Value b) { return make<mlir::arith::AddFOp>(a, b); }
  mlir::Value sub(mlir::Value a, mlir::Value b) { return make<mlir::arith::SubFOp>(a, b); }
  mlir::Value mul(mlir::Value a, mlir::Value b) { return make<mlir::arith::MulFOp>(a, b); }
  mlir::Value div(mlir::Value a, mlir::Value b) { return make<mlir::arith::DivFOp>(a, b); }
  mlir::Value add(mlir::Value a, double b) { return add(a, number(b)); }
  mlir::Value sub(mlir::Value a, double b) { return sub(a, number(b)); }
  mlir::Value mul(mlir::Value a, double b) { return mul(a, number(b)); }
  mlir::Value fma(mlir::Value a, mlir::Value b, mlir::Value c) { return make<mlir::math::FmaOp>(a, b, c); }
  mlir::Value neg(mlir::Value a) { return make<mlir::arith::NegFOp>(a); }
  mlir::Value abs(mlir::Value a) { return make<mlir::math::AbsFOp>(a); }
  mlir::Value sqrt(mlir::Value a) { return make<mlir::math::SqrtOp>(a); }
  mlir::Value roundEven(mlir::Value a) { return make<mlir::math::RoundEvenOp>(a); }
  mlir::Value withSignOf(mlir::Value a, mlir::Value sign) { return make<mlir::math::CopySignOp>(a, sign); }

  using P = mlir::arith::CmpFPredicate;
  mlir::Value test(P predicate, mlir::Value a, mlir::Value b) {
    return make<mlir::arith::CmpFOp>(predicate, a, b);
  }
  mlir::Value isLess(mlir::Value a, double b) { return test(P::OLT, a, number(b)); }
  mlir::Value isGreater(mlir::Value a, double b) { return test(P::OGT, a, number(b)); }
  mlir::Value isEqual(mlir::Value a, double b) { return test(P::OEQ, a, number(b)); }
  mlir::Value isNan(mlir::Value a) { return test(P::UNO, a, a); }
  mlir::Value select(mlir::Value condition, mlir::Value a, mlir::Value b) {
    return make<mlir::arith::SelectOp>(condition, a, b);
  }
  mlir::Value both(mlir::Value a, mlir::Value b) { return make<mlir::arith::AndIOp>(a, b); }
  mlir::Value either(mlir::Value a, mlir::Value b) { return make<mlir::arith::OrIOp>(a, b); }

  mlir::Value toBits(mlir::Value a) { return make<mlir::arith::BitcastOp>(bits(), a); }
  mlir::Value fromBits(mlir::Value a) { return make<mlir::arith::BitcastOp>(type, a); }
  /// A whole number as an integer of the same width, and back.
  mlir::Value toInteger(mlir::Value a) { return make<mlir::arith::FPToSIOp>(bits(), a); }
  mlir::Value fromInteger(mlir::Value a) { return make<mlir::arith::SIToFPOp>(type, a); }
  mlir::Value addBits(mlir::Value a, mlir::Value b) { return make<mlir::arith::AddIOp>(a, b); }
  mlir::Value subBits(mlir::Value a, mlir::Value b) { return make<mlir::arith::SubIOp>(a, b); }

  /// c[0] + c[1] x + c[2] x^2 …
  mlir::Value polynomial(mlir::Value x, llvm::ArrayRef<double> coefficients);
  /// The polynomial fitted for this type.
  mlir::Value polynomial(mlir::Value x, llvm::ArrayRef<double> single, llvm::ArrayRef<double> twofold) {
    return polynomial(x, isDouble() ? twofold : single);
  }
  /// 2^n for a whole number n in an integer, within the range of normal numbers.
  mlir::Value powerOfTwo(mlir::Value n);
  /// a 2^n, where 2^n itself may be out of range.
  mlir::Value scale(mlir::Value a, mlir::Value n);
};

// Functions that others are made of, on values of r's type.
mlir::Value expandExp(Real &r, mlir::Value x);
mlir::Value expandExp2(Real &r, mlir::Value x);
mlir::Value expandExpM1(Real &r, mlir::Value x);
mlir::Value expandLog(Real &r, mlir::Value x);
mlir::Value expandLog2(Real &r, mlir::Value x);
mlir::Value expandLog10(Real &r, mlir::Value x);
mlir::Value expandLog1p(Real &r, mlir::Value x);
mlir::Value expandPow(Real &r, mlir::Value x, mlir::Value y);
mlir::Value expandTanh(Real &r, mlir::Value x);
mlir::Value expandSinh(Real &r, mlir::Value x);
mlir::Value expandCosh(Real &r, mlir::Value x);
mlir::Value expandAsinh(Real &r, mlir::Value x);
mlir::Value expandAcosh(Real &r, mlir::Value x);
mlir::Value expandAtanh(Real &r, mlir::Value x);
mlir::Value expandSin(Real &r, mlir::Value x);
mlir::Value expandCos(Real &r, mlir::Value x);
mlir::Value expandTan(Real &r, mlir::Value x);
mlir::Value expandAsin(Real &r, mlir::Value x);
mlir::Value expandAcos(Real &r, mlir::Value x);
mlir::Value expandAtan(Real &r, mlir::Value x);
mlir::Value expandAtan2(Real &r, mlir::Value y, mlir::Value x);
mlir::Value expandErf(Real &r, mlir::Value x);
mlir::Value expandCbrt(Real &r, mlir::Value x);
mlir::Value expandRsqrt(Real &r, mlir::Value x);
mlir::Value expandRemainder(Real &r, mlir::Value x, mlir::Value y);
mlir::Value expandMaximum(Real &r, mlir::Value x, mlir::Value y);
mlir::Value expandMinimum(Real &r, mlir::Value x, mlir::Value y);

} // namespace joule
