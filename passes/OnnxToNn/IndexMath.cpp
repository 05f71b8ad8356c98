// Arithmetic on sizes: constants where possible, one value per meaning elsewhere.
#include "passes/OnnxToNn/IndexMath.h"

#include <numeric>

using namespace mlir;
using namespace joule::translate;
using Index = IndexMath::Index;

namespace {

enum Opaque : unsigned { FloorDiv, CeilDiv, TruncDiv, FloorMod, Min, Max, Select, Compare };

int64_t floorDivide(int64_t a, int64_t b) {
  int64_t q = a / b;
  return a % b != 0 && (a < 0) != (b < 0) ? q - 1 : q;
}

/// Dividing by 0, and the one overflow of a division, are left to the run.
bool dividesSafely(int64_t a, int64_t b) { return b != 0 && !(b == -1 && a == std::numeric_limits<int64_t>::min()); }

} // namespace

AffineExpr IndexMath::symbolOf(Value value) {
  auto [entry, fresh] = symbolNumbers.try_emplace(value, symbolNumbers.size());
  if (fresh)
    nonNegativeSymbols.resize(symbolNumbers.size());
  return getAffineSymbolExpr(entry->second, builder.getContext());
}

void IndexMath::assumeNonNegative(Value value) {
  symbolOf(value);
  nonNegativeSymbols.set(symbolNumbers.lookup(value));
}

AffineExpr IndexMath::expression(Index index) {
  if (std::optional<int64_t> value = known(index))
    return getAffineConstantExpr(*value, builder.getContext());
  Value value = cast<Value>(index);
  if (AffineExpr expr = expressions.lookup(value))
    return expr;
  AffineExpr symbol = symbolOf(value);
  expressions[value] = symbol;
  values.try_emplace(symbol, value);
  return symbol;
}

AffineExpr IndexMath::simplify(AffineExpr expr) {
  return simplifyAffineExpr(expr, /*numDims=*/0, symbolNumbers.size());
}

bool IndexMath::isNonNegative(AffineExpr expr) {
  if (auto constant = dyn_cast<AffineConstantExpr>(expr))
    return constant.getValue() >= 0;
  if (auto symbol = dyn_cast<AffineSymbolExpr>(expr))
    return nonNegativeSymbols.test(symbol.getPosition());
  auto binary = cast<AffineBinaryOpExpr>(expr);
  return isNonNegative(binary.getLHS()) && isNonNegative(binary.getRHS());
}

/// A value serves where the builder stands if its region is that place's or lies around it: the walk only ever appends.
bool IndexMath::isVisible(Value value) {
  return value.getParentRegion()->isAncestor(builder.getInsertionBlock()->getParent());
}

Index IndexMath::reuse(AffineExpr expr, llvm::function_ref<Value()> emit) {
  expr = simplify(expr);
  if (auto constant = dyn_cast<AffineConstantExpr>(expr))
    return this->constant(constant.getValue());
  auto at = values.find(expr);
  if (at != values.end() && isVisible(at->second))
    return at->second;
  Value value = emit();
  expressions[value] = expr;
  values[expr] = value;
  return value;
}

Index IndexMath::reuseOpaque(unsigned kind, ArrayRef<Index> operands, bool nonNegative,
                             llvm::function_ref<Value()> emit) {
  std::vector<const void *> key = {reinterpret_cast<const void *>(uintptr_t(kind))};
  for (Index operand : operands)
    key.push_back(expression(operand).getAsOpaquePointer());
  Value &value = opaque[key];
  if (!value || !isVisible(value)) {
    value = emit();
    if (nonNegative)
      assumeNonNegative(value);
  }
  return value;
}

Value IndexMath::materialize(Location loc, Index index) {
  if (std::optional<int64_t> value = known(index))
    return builder.create<arith::ConstantIndexOp>(loc, *value);
  return cast<Value>(index);
}

Index IndexMath::add(Location loc, Index a, Index b) {
  return reuse(expression(a) + expression(b), [&]() -> Value {
    return builder.create<arith::AddIOp>(loc, materialize(loc, a), materialize(loc, b));
  });
}

Index IndexMath::sub(Location loc, Index a, Index b) {
  return reuse(expression(a) - expression(b), [&]() -> Value {
    return builder.create<arith::SubIOp>(loc, materialize(loc, a), materialize(loc, b));
  });
}

Index IndexMath::mul(Location loc, Index a, Index b) {
  return reuse(expression(a) * expression(b), [&]() -> Value {
    return builder.create<arith::MulIOp>(loc, materialize(loc, a), materialize(loc, b));
  });
}

Index IndexMath::floorDiv(Location loc, Index a, Index b) {
  auto x = known(a), y = known(b);
  if (x && y && dividesSafely(*x, *y))
    return constant(floorDivide(*x, *y));
  auto emit = [&]() -> Value {
    return builder.create<arith::FloorDivSIOp>(loc, materialize(loc, a), materialize(loc, b));
  };
  if (y && *y > 0)
    return reuse(expression(a).floorDiv(uint64_t(*y)), emit);
  return reuseOpaque(FloorDiv, {a, b}, isNonNegative(a) && isNonNegative(b), emit);
}

Index IndexMath::ceilDiv(Location loc, Index a, Index b) {
  auto x = known(a), y = known(b);
  if (x && y && dividesSafely(*x, *y) && *x != std::numeric_limits<int64_t>::min())
    return constant(-floorDivide(-*x, *y));
  auto emit = [&]() -> Value {
    return builder.create<arith::CeilDivSIOp>(loc, materialize(loc, a), materialize(loc, b));
  };
  if (y && *y > 0)
    return reuse(expression(a).ceilDiv(uint64_t(*y)), emit);
  return reuseOpaque(CeilDiv, {a, b}, isNonNegative(a) && isNonNegative(b), emit);
}

Index IndexMath::truncDiv(Location loc, Index a, Index b) {
  auto x = known(a), y = known(b);
  if (x && y && dividesSafely(*x, *y))
    return constant(*x / *y);
  if (isNonNegative(a) && y && *y > 0)
    return floorDiv(loc, a, b);
  return reuseOpaque(TruncDiv, {a, b}, isNonNegative(a) && isNonNegative(b), [&]() -> Value {
    return builder.create<arith::DivSIOp>(loc, materialize(loc, a), materialize(loc, b));
  });
}

Index IndexMath::floorMod(Location loc, Index a, Index b) {
  auto x = known(a), y = known(b);
  if (x && y && dividesSafely(*x, *y))
    return constant(*x - floorDivide(*x, *y) * *y);
  return sub(loc, a, mul(loc, floorDiv(loc, a, b), b));
}

Index IndexMath::min(Location loc, Index a, Index b) {
  auto x = known(a), y = known(b);
  if (x && y)
    return constant(std::min(*x, *y));
  if (same(a, b) || isNonNegative(simplify(expression(b) - expression(a))))
    return a;
  if (isNonNegative(simplify(expression(a) - expression(b))))
    return b;
  return reuseOpaque(Min, {a, b}, isNonNegative(a) && isNonNegative(b), [&]() -> Value {
    return builder.create<arith::MinSIOp>(loc, materialize(loc, a), materialize(loc, b));
  });
}

Index IndexMath::max(Location loc, Index a, Index b) {
  auto x = known(a), y = known(b);
  if (x && y)
    return constant(std::max(*x, *y));
  if (same(a, b) || isNonNegative(simplify(expression(a) - expression(b))))
    return a;
  if (isNonNegative(simplify(expression(b) - expression(a))))
    return b;
  return reuseOpaque(Max, {a, b}, isNonNegative(a) || isNonNegative(b), [&]() -> Value {
    return builder.create<arith::MaxSIOp>(loc, materialize(loc, a), materialize(loc, b));
  });
}

Index IndexMath::compare(Location loc, arith::CmpIPredicate predicate, Index a, Index b) {
  // Constants are compared as they are: their difference may overflow.
  auto x = known(a), y = known(b);
  if (x && y)
    return constant(arith::applyCmpPredicate(predicate, APInt(64, *x, true), APInt(64, *y, true)));
  // Equal forms decide any comparison.
  auto difference = dyn_cast<AffineConstantExpr>(simplify(expression(a) - expression(b)));
  if (difference)
    return constant(arith::applyCmpPredicate(predicate, APInt(64, difference.getValue(), true), APInt(64, 0)));
  using P = arith::CmpIPredicate;
  AffineExpr aMinusB = expression(a) - expression(b), bMinusA = expression(b) - expression(a);
  bool atLeast = isNonNegative(simplify(aMinusB)), atMost = isNonNegative(simplify(bMinusA));
  bool above = isNonNegative(simplify(aMinusB - 1)), below = isNonNegative(simplify(bMinusA - 1));
  if ((predicate == P::sge || predicate == P::slt) && (atLeast || below))
    return constant((predicate == P::sge) == atLeast);
  if ((predicate == P::sle || predicate == P::sgt) && (atMost || above))
    return constant((predicate == P::sle) == atMost);
  if ((predicate == P::eq || predicate == P::ne) && (above || below))
    return constant(predicate == P::ne);
  return reuseOpaque(Compare + unsigned(predicate), {a, b}, true, [&]() -> Value {
    Value holds = builder.create<arith::CmpIOp>(loc, predicate, materialize(loc, a), materialize(loc, b));
    return builder.create<arith::IndexCastUIOp>(loc, builder.getIndexType(), holds);
  });
}

Index IndexMath::select(Location loc, Index condition, Index a, Index b) {
  if (auto holds = known(condition))
    return *holds ? a : b;
  if (same(a, b))
    return a;
  return reuseOpaque(Select, {condition, a, b}, isNonNegative(a) && isNonNegative(b), [&]() -> Value {
    Value zero = materialize(loc, constant(0));
    Value holds = builder.create<arith::CmpIOp>(loc, arith::CmpIPredicate::ne, cast<Value>(condition), zero);
    return builder.create<arith::SelectOp>(loc, holds, materialize(loc, a), materialize(loc, b));
  });
}

Index IndexMath::product(Location loc, ArrayRef<Index> factors) {
  Index result = constant(1);
  for (Index factor : factors)
    result = mul(loc, result, factor);
  return result;
}

Index IndexMath::quotient(Location loc, ArrayRef<Index> numerator, ArrayRef<Index> denominator) {
  SmallVector<Index> above, below;
  int64_t constantAbove = 1, constantBelow = 1;
  auto collect = [&](ArrayRef<Index> factors, SmallVector<Index> &rest, int64_t &constant) {
    for (Index factor : factors)
      if (auto value = known(factor))
        constant *= *value;
      else
        rest.push_back(factor);
  };
  collect(numerator, above, constantAbove);
  collect(denominator, below, constantBelow);
  llvm::erase_if(above, [&](Index factor) {
    auto *match = llvm::find_if(below, [&](Index other) { return same(factor, other); });
    if (match == below.end())
      return false;
    below.erase(match);
    return true;
  });
  if (constantBelow > 0 && constantAbove > 0) {
    int64_t common = std::gcd(constantAbove, constantBelow);
    constantAbove /= common;
    constantBelow /= common;
  }
  above.push_back(constant(constantAbove));
  below.push_back(constant(constantBelow));
  Index divisor = product(loc, below);
  return known(divisor) == 1 ? product(loc, above) : floorDiv(loc, product(loc, above), divisor);
}

bool IndexMath::sameProduct(ArrayRef<Index> a, ArrayRef<Index> b) {
  auto product = [&](ArrayRef<Index> factors) {
    // In one order, so that equal products have equal forms.
    SmallVector<AffineExpr> expressions;
    for (Index factor : factors)
      expressions.push_back(expression(factor));
    llvm::sort(expressions, [](AffineExpr x, AffineExpr y) {
      return std::less<>()(x.getAsOpaquePointer(), y.getAsOpaquePointer());
    });
    AffineExpr result = getAffineConstantExpr(1, builder.getContext());
    for (AffineExpr each : expressions)
      result = result * each;
    return simplify(result);
  };
  return product(a) == product(b);
}
