// Elements of the ops that slide a window: pooling.
#include "dialects/Nn/ElementBuilder.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace joule::nn;

namespace {

Type elementOf(Value value) { return cast<RankedTensorType>(value.getType()).getElementType(); }

/// Runs over the window positions of `op` at `indices` that lie inside the input. `visit` gets the input's
/// indices and the state, and gives the next state.
template <typename Op>
SmallVector<Value> slide(ElementBuilder &code, Op op, ValueRange indices, ValueRange state,
                         ElementBuilder::Body visit) {
  SmallVector<Value> counts;
  for (int64_t size : op.getWindow())
    counts.push_back(code.index(size));
  return code.loops(counts, state, [&](ValueRange along, ValueRange state) {
    SmallVector<Value> at(indices.take_front(2));
    Value inside = code.number(code.builder.getI1Type(), 1);
    for (auto [dim, window] : llvm::enumerate(along)) {
      Value position = code.add(code.mul(indices[dim + 2], op.getStrides()[dim]),
                                code.mul(window, op.getDilations()[dim]));
      at.push_back(code.sub(position, op.getLow()[dim]));
      inside = code.both(inside, code.isInside(at.back(), code.source.size(op.getInput(), dim + 2)));
    }
    return code.choose(
        inside, state.getTypes(), [&] { return visit(at, state); },
        [&] { return SmallVector<Value>(state); });
  });
}

} // namespace

Value PoolOp::emitElement(OpBuilder &builder, Location loc, ElementSource &source, unsigned,
                          ValueRange indices) {
  ElementBuilder code{builder, loc, source};
  Type type = defaultAccumulateType(elementOf(getInput()));
  auto visit = [&](ValueRange at, ValueRange state) -> SmallVector<Value> {
    Value next = castNumber(code, source.element(getInput(), at), type);
    return {code.combine(getCombiner(), state.front(), next)};
  };
  Value neutral = code.neutral(getCombiner(), type);
  return castNumber(code, slide(code, *this, indices, neutral, visit).front(), elementOf(getResult()));
}

namespace {

/// The position in the input that the op answers with.
Value positionOf(ElementBuilder &code, PoolArgMaxOp op, ValueRange at) {
  if (!op.getColumnMajor())
    return code.source.position(op.getInput(), at);
  // Batch and channel as ever, then the last spatial dimension first.
  Value position = at[0];
  auto append = [&](unsigned dim) {
    position = code.add(code.mul(position, code.source.size(op.getInput(), dim)), at[dim]);
  };
  append(1);
  for (unsigned dim = at.size() - 1; dim >= 2; --dim)
    append(dim);
  return position;
}

} // namespace

Value PoolArgMaxOp::emitElement(OpBuilder &builder, Location loc, ElementSource &source, unsigned,
                                ValueRange indices) {
  ElementBuilder code{builder, loc, source};
  Type element = elementOf(getInput()), type = computeTypeOf(element);
  // A position of -1 says that no element has been seen.
  Value state[] = {code.neutral(Combiner::Max, type), code.index(-1)};
  auto visit = [&](ValueRange at, ValueRange state) -> SmallVector<Value> {
    Value x = castNumber(code, source.element(getInput(), at), type);
    Value wins;
    if (isa<FloatType>(type)) {
      wins = code.make<arith::CmpFOp>(arith::CmpFPredicate::OGT, x, state[0]);
      Value isNan = code.make<arith::CmpFOp>(arith::CmpFPredicate::UNO, x, x);
      Value bestIsNumber = code.make<arith::CmpFOp>(arith::CmpFPredicate::ORD, state[0], state[0]);
      wins = code.either(wins, code.both(isNan, bestIsNumber));
    } else {
      wins = code.make<arith::CmpIOp>(arith::CmpIPredicate::sgt, x, state[0]);
    }
    Value isFirst = code.make<arith::CmpIOp>(arith::CmpIPredicate::slt, state[1], code.index(0));
    wins = code.either(wins, isFirst);
    return {code.select(wins, x, state[0]), code.select(wins, positionOf(code, *this, at), state[1])};
  };
  Value best = slide(code, *this, indices, state, visit)[1];
  return code.make<arith::IndexCastOp>(elementOf(getResult()), best);
}
