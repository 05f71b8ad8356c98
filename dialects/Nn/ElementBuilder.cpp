// The words in which element definitions are written.
#include "dialects/Nn/ElementBuilder.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace joule::nn;

Value ElementBuilder::index(int64_t value) { return builder.create<arith::ConstantIndexOp>(loc, value); }

Value ElementBuilder::number(Type type, double value) {
  if (auto floatType = dyn_cast<FloatType>(type)) {
    bool inexact;
    APFloat constant(value);
    constant.convert(floatType.getFloatSemantics(), APFloat::rmNearestTiesToEven, &inexact);
    return builder.create<arith::ConstantOp>(loc, FloatAttr::get(type, constant));
  }
  if (type.isIndex())
    return index(static_cast<int64_t>(value));
  return integer(type, APInt(type.getIntOrFloatBitWidth(), static_cast<int64_t>(value), /*isSigned=*/true));
}

Value ElementBuilder::integer(Type type, const APInt &value) {
  return builder.create<arith::ConstantOp>(loc, IntegerAttr::get(type, value));
}

Value ElementBuilder::add(Value a, Value b) { return make<arith::AddIOp>(a, b); }
Value ElementBuilder::sub(Value a, Value b) { return make<arith::SubIOp>(a, b); }
Value ElementBuilder::mul(Value a, Value b) { return make<arith::MulIOp>(a, b); }
Value ElementBuilder::div(Value a, Value b) { return make<arith::DivUIOp>(a, b); }

Value ElementBuilder::rem(Value a, Value b) {
  if (matchPattern(b, m_One()))
    return index(0);
  return make<arith::RemUIOp>(a, b);
}

Value ElementBuilder::wrap(Value a, Value b) {
  Value remainder = make<arith::RemSIOp>(a, b);
  Value negative = make<arith::CmpIOp>(arith::CmpIPredicate::slt, remainder, index(0));
  return select(negative, add(remainder, b), remainder);
}

Value ElementBuilder::clampInto(Value a, Value size) {
  return make<arith::MaxSIOp>(make<arith::MinSIOp>(a, sub(size, 1)), index(0));
}

Value ElementBuilder::isInside(Value a, Value size) {
  // As unsigned numbers the negative ones are the greatest.
  return make<arith::CmpIOp>(arith::CmpIPredicate::ult, a, size);
}

Value ElementBuilder::both(Value a, Value b) { return make<arith::AndIOp>(a, b); }
Value ElementBuilder::either(Value a, Value b) { return make<arith::OrIOp>(a, b); }
Value ElementBuilder::select(Value condition, Value a, Value b) {
  return make<arith::SelectOp>(condition, a, b);
}

SmallVector<Value> ElementBuilder::loops(ArrayRef<Value> counts, ValueRange state, Body body) {
  SmallVector<Value> at;
  std::function<SmallVector<Value>(unsigned, ValueRange)> nest = [&](unsigned depth,
                                                                     ValueRange state) -> SmallVector<Value> {
    if (depth == counts.size())
      return body(at, state);
    if (matchPattern(counts[depth], m_One())) {
      at.push_back(index(0));
      SmallVector<Value> results = nest(depth + 1, state);
      at.pop_back();
      return results;
    }
    // The loop stands in its block before its body is written, so that what the body need not repeat can be
    // put in front of it.
    auto loop = builder.create<scf::ForOp>(loc, index(0), counts[depth], index(1), state);
    OpBuilder::InsertionGuard guard(builder);
    if (!loop.getBody()->empty())
      loop.getBody()->getTerminator()->erase();
    builder.setInsertionPointToEnd(loop.getBody());
    at.push_back(loop.getInductionVar());
    SmallVector<Value> results = nest(depth + 1, loop.getRegionIterArgs());
    at.pop_back();
    builder.create<scf::YieldOp>(loc, results);
    return SmallVector<Value>(loop.getResults());
  };
  return nest(0, state);
}

SmallVector<Value> ElementBuilder::choose(Value condition, TypeRange types,
                                          function_ref<SmallVector<Value>()> inside,
                                          function_ref<SmallVector<Value>()> outside) {
  if (matchPattern(condition, m_One()))
    return inside();
  if (matchPattern(condition, m_Zero()))
    return outside();
  auto branch = builder.create<scf::IfOp>(loc, types, condition, /*withElseRegion=*/true);
  auto write = [&](Region &region, function_ref<SmallVector<Value>()> emit) {
    OpBuilder::InsertionGuard guard(builder);
    region.front().clear();
    builder.setInsertionPointToEnd(&region.front());
    builder.create<scf::YieldOp>(loc, emit());
  };
  write(branch.getThenRegion(), inside);
  write(branch.getElseRegion(), outside);
  return SmallVector<Value>(branch.getResults());
}

Value ElementBuilder::neutral(Combiner combiner, Type type) {
  if (combiner == Combiner::Sum || combiner == Combiner::Product)
    return number(type, combiner == Combiner::Sum ? 0 : 1);
  bool isMax = combiner == Combiner::Max || combiner == Combiner::UnsignedMax;
  if (isa<FloatType>(type))
    return number(type, isMax ? -INFINITY : INFINITY);
  unsigned width = type.getIntOrFloatBitWidth();
  switch (combiner) {
  case Combiner::Max:
    return integer(type, APInt::getSignedMinValue(width));
  case Combiner::Min:
    return integer(type, APInt::getSignedMaxValue(width));
  case Combiner::UnsignedMax:
    return integer(type, APInt::getZero(width));
  default:
    return integer(type, APInt::getAllOnes(width));
  }
}

Value ElementBuilder::combine(Combiner combiner, Value a, Value b) {
  bool isFloat = isa<FloatType>(a.getType());
  switch (combiner) {
  case Combiner::Sum:
    return isFloat ? make<arith::AddFOp>(a, b) : make<arith::AddIOp>(a, b);
  case Combiner::Product:
    return isFloat ? make<arith::MulFOp>(a, b) : make<arith::MulIOp>(a, b);
  case Combiner::Max:
    return isFloat ? make<arith::MaximumFOp>(a, b) : make<arith::MaxSIOp>(a, b);
  case Combiner::Min:
    return isFloat ? make<arith::MinimumFOp>(a, b) : make<arith::MinSIOp>(a, b);
  case Combiner::UnsignedMax:
    return isFloat ? make<arith::MaximumFOp>(a, b) : make<arith::MaxUIOp>(a, b);
  case Combiner::UnsignedMin:
    return isFloat ? make<arith::MinimumFOp>(a, b) : make<arith::MinUIOp>(a, b);
  }
  return {};
}

Value ElementBuilder::gatherIndex(Value value, Value size) {
  // In 64 bits, since an index from outside may have any value.
  Type wide = builder.getI64Type();
  if (value.getType() != wide)
    value = make<arith::ExtSIOp>(wide, value);
  Value count = make<arith::IndexCastOp>(wide, size), zero = number(wide, 0);
  Value negative = make<arith::CmpIOp>(arith::CmpIPredicate::slt, value, zero);
  value = select(negative, add(value, count), value);
  value = make<arith::MinSIOp>(value, sub(count, number(wide, 1)));
  return make<arith::IndexCastOp>(builder.getIndexType(), make<arith::MaxSIOp>(value, zero));
}
