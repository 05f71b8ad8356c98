// Tensor formulas by short names, for translations that are formulas.
#pragma once

#include "passes/OnnxToNn/Translator.h"

#include "mlir/Dialect/Math/IR/Math.h"

namespace joule::translate {

/// Pointwise operations on tensors of one shape. Floats and integers take their own operations; integers are read as
/// `isUnsigned` says.
class Maths {
public:
  Maths(Node &node, llvm::ArrayRef<Index> sizes, int dataType)
      : node(node), builder(node.builder), sizes(sizes), isUnsigned(isUnsignedType(dataType)),
        element(nnElementType(node.builder.getContext(), dataType)) {}

  Value constant(double number) { return node.splat(number, element, sizes); }

  Value add(Value a, Value b) { return either<mlir::arith::AddFOp, mlir::arith::AddIOp>(a, b); }
  Value sub(Value a, Value b) { return either<mlir::arith::SubFOp, mlir::arith::SubIOp>(a, b); }
  Value mul(Value a, Value b) { return either<mlir::arith::MulFOp, mlir::arith::MulIOp>(a, b); }
  Value div(Value a, Value b) {
    return either<mlir::arith::DivFOp, mlir::arith::DivSIOp, mlir::arith::DivUIOp>(a, b);
  }
  /// The remainder with the sign of the dividend.
  Value rem(Value a, Value b) {
    return either<mlir::arith::RemFOp, mlir::arith::RemSIOp, mlir::arith::RemUIOp>(a, b);
  }
  /// NaN where either is NaN.
  Value max(Value a, Value b) {
    return either<mlir::arith::MaximumFOp, mlir::arith::MaxSIOp, mlir::arith::MaxUIOp>(a, b);
  }
  Value min(Value a, Value b) {
    return either<mlir::arith::MinimumFOp, mlir::arith::MinSIOp, mlir::arith::MinUIOp>(a, b);
  }
  Value select(Value condition, Value a, Value b) {
    return builder.create<mlir::arith::SelectOp>(condition, a, b);
  }

  using P = mlir::arith::CmpIPredicate;
  Value less(Value a, Value b) { return compare(mlir::arith::CmpFPredicate::OLT, P::slt, P::ult, a, b); }
  Value lessEqual(Value a, Value b) { return compare(mlir::arith::CmpFPredicate::OLE, P::sle, P::ule, a, b); }
  Value greater(Value a, Value b) { return compare(mlir::arith::CmpFPredicate::OGT, P::sgt, P::ugt, a, b); }
  Value greaterEqual(Value a, Value b) { return compare(mlir::arith::CmpFPredicate::OGE, P::sge, P::uge, a, b); }
  Value equal(Value a, Value b) { return compare(mlir::arith::CmpFPredicate::OEQ, P::eq, P::eq, a, b); }

  // Floats only.
  Value exp(Value x) { return builder.create<mlir::math::ExpOp>(x); }
  Value log1p(Value x) { return builder.create<mlir::math::Log1pOp>(x); }
  Value tanh(Value x) { return builder.create<mlir::math::TanhOp>(x); }
  Value erf(Value x) { return builder.create<mlir::math::ErfOp>(x); }
  Value sqrt(Value x) { return builder.create<mlir::math::SqrtOp>(x); }
  Value absf(Value x) { return builder.create<mlir::math::AbsFOp>(x); }
  Value negate(Value x) { return builder.create<mlir::arith::NegFOp>(x); }
  Value sigmoid(Value x) { return div(constant(1), add(constant(1), exp(negate(x)))); }
  /// log(1 + exp(x)), where exp(x) itself could overflow.
  Value softplus(Value x) { return add(max(x, constant(0)), log1p(exp(negate(absf(x))))); }

  Node &node;
  mlir::ImplicitLocOpBuilder &builder;
  llvm::ArrayRef<Index> sizes;
  bool isUnsigned;
  Type element;

private:
  template <typename FloatOp, typename SignedOp, typename UnsignedOp = SignedOp> Value either(Value a, Value b) {
    if (mlir::isa<mlir::FloatType>(mlir::getElementTypeOrSelf(a)))
      return builder.create<FloatOp>(a, b);
    if (isUnsigned)
      return builder.create<UnsignedOp>(a, b);
    return builder.create<SignedOp>(a, b);
  }
  Value compare(mlir::arith::CmpFPredicate floats, P signeds, P unsigneds, Value a, Value b) {
    if (mlir::isa<mlir::FloatType>(mlir::getElementTypeOrSelf(a)))
      return builder.create<mlir::arith::CmpFOp>(floats, a, b);
    return builder.create<mlir::arith::CmpIOp>(isUnsigned ? unsigneds : signeds, a, b);
  }
};

} // namespace joule::translate
