// Arithmetic on sizes: constants where possible, one value per meaning elsewhere.
#pragma once

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/AffineExpr.h"
#include "mlir/IR/Builders.h"

namespace joule::translate {

/// Emits `arith` on `index`, with two promises that later passes build on. What is constant becomes an attribute. And
/// sizes that are equal by arithmetic are one SSA value, since "same size" later means "same value": each value has a
/// normal form as an affine expression, and a value of equal form is used again. So `(h + 2 - 3) / 1 + 1` *is* `h`.
class IndexMath {
public:
  explicit IndexMath(mlir::OpBuilder &builder) : builder(builder) {}

  using Index = mlir::OpFoldResult;

  Index constant(int64_t value) { return builder.getIndexAttr(value); }
  Index add(mlir::Location loc, Index a, Index b);
  Index sub(mlir::Location loc, Index a, Index b);
  Index mul(mlir::Location loc, Index a, Index b);
  Index floorDiv(mlir::Location loc, Index a, Index b);
  Index ceilDiv(mlir::Location loc, Index a, Index b);
  /// Rounds toward zero, as ONNX Div on integers.
  Index truncDiv(mlir::Location loc, Index a, Index b);
  /// The remainder with the sign of `b`.
  Index floorMod(mlir::Location loc, Index a, Index b);
  Index min(mlir::Location loc, Index a, Index b);
  Index max(mlir::Location loc, Index a, Index b);
  /// 1 where the comparison holds, else 0.
  Index compare(mlir::Location loc, mlir::arith::CmpIPredicate predicate, Index a, Index b);
  /// `a` where `condition` is not 0, else `b`.
  Index select(mlir::Location loc, Index condition, Index a, Index b);
  Index product(mlir::Location loc, llvm::ArrayRef<Index> factors);
  /// The product of `numerator` over that of `denominator`; equal factors cancel.
  Index quotient(mlir::Location loc, llvm::ArrayRef<Index> numerator, llvm::ArrayRef<Index> denominator);

  /// The products are equal whatever the run brings; false where that cannot be shown.
  bool sameProduct(llvm::ArrayRef<Index> a, llvm::ArrayRef<Index> b);

  /// The two are equal whatever the run brings.
  bool same(Index a, Index b) { return expression(a) == expression(b); }
  /// `index` is at least 0 whatever the run brings.
  bool isNonNegative(Index index) { return isNonNegative(expression(index)); }
  /// Promises that `value` is never negative.
  void assumeNonNegative(mlir::Value value);

  static std::optional<int64_t> known(Index index) { return mlir::getConstantIntValue(index); }
  mlir::Value materialize(mlir::Location loc, Index index);

private:
  mlir::AffineExpr expression(Index index);
  mlir::AffineExpr symbolOf(mlir::Value value);
  mlir::AffineExpr simplify(mlir::AffineExpr expr);
  bool isNonNegative(mlir::AffineExpr expr);
  /// The value of `expr` if one is at hand where the builder stands, else the one that `emit` makes.
  Index reuse(mlir::AffineExpr expr, llvm::function_ref<mlir::Value()> emit);
  /// As `reuse` for what affine expressions cannot say: `kind` names the operation on `operands`.
  Index reuseOpaque(unsigned kind, llvm::ArrayRef<Index> operands, bool nonNegative,
                    llvm::function_ref<mlir::Value()> emit);
  bool isVisible(mlir::Value value);

  mlir::OpBuilder &builder;
  llvm::DenseMap<mlir::Value, unsigned> symbolNumbers;
  llvm::BitVector nonNegativeSymbols;
  llvm::DenseMap<mlir::AffineExpr, mlir::Value> values;
  llvm::DenseMap<mlir::Value, mlir::AffineExpr> expressions;
  // Operations that have no affine form: kind, then the operands' forms.
  std::map<std::vector<const void *>, mlir::Value> opaque;
};

} // namespace joule::translate
