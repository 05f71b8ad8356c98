// The top_k family: a thread has one row and finds its elements one after the other, each the first in the order of those
// behind the one before. The order is total (ties go by coordinate, NaN is the greatest), so nothing need be remembered but
// the element found last. k elements of a row of n cost n * k comparisons.
#include "passes/NnToTile/Families.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace joule;

namespace {

/// Whether element `a` at `i` stands before `b` at `j` in the order.
Value standsBefore(nn::ElementBuilder &code, nn::TopKOp op, Value a, Value i, Value b, Value j) {
  bool smallest = op.getSmallest();
  Value before, equal;
  if (isa<FloatType>(a.getType())) {
    Value aIsNan = code.make<arith::CmpFOp>(arith::CmpFPredicate::UNO, a, a);
    Value bIsNan = code.make<arith::CmpFOp>(arith::CmpFPredicate::UNO, b, b);
    Value yes = code.make<arith::ConstantIntOp>(1, 1);
    Value onlyOne = code.make<arith::XOrIOp>(aIsNan, bIsNan);
    Value less = code.make<arith::CmpFOp>(smallest ? arith::CmpFPredicate::OLT : arith::CmpFPredicate::OGT, a, b);
    // One NaN decides: it is the greatest.
    Value nanFirst = smallest ? bIsNan : aIsNan;
    before = code.select(onlyOne, nanFirst, less);
    Value same = code.make<arith::CmpFOp>(arith::CmpFPredicate::OEQ, a, b);
    equal = code.select(code.both(aIsNan, bIsNan), yes, same);
  } else {
    auto less = op.getUnsignedInput() ? arith::CmpIPredicate::ult : arith::CmpIPredicate::slt;
    auto greater = op.getUnsignedInput() ? arith::CmpIPredicate::ugt : arith::CmpIPredicate::sgt;
    before = code.make<arith::CmpIOp>(smallest ? less : greater, a, b);
    equal = code.make<arith::CmpIOp>(arith::CmpIPredicate::eq, a, b);
  }
  Value earlier = code.make<arith::CmpIOp>(arith::CmpIPredicate::ult, i, j);
  return code.either(before, code.both(equal, earlier));
}

} // namespace

LogicalResult joule::emitTopK(KernelWriter &writer) {
  auto op = ownOp<nn::TopKOp>(writer.kernel, writer.results);
  if (!op)
    return failure();
  nn::ElementBuilder code = writer.code();
  int64_t axis = op.getAxis();
  auto inputType = cast<RankedTensorType>(op.getInput().getType());
  Type computed = nn::computeTypeOf(inputType.getElementType());
  SmallVector<Value> lines;
  Value rows = code.index(1);
  for (int64_t dim = 0; dim < inputType.getRank(); ++dim)
    if (dim != axis) {
      lines.push_back(writer.elements.size(op.getInput(), dim));
      rows = code.mul(rows, lines.back());
    }
  Value length = writer.elements.size(op.getInput(), axis), count = writer.elements.size(op.getValues(), axis);
  forThread(writer, rows, [&](Value thread) {
    SmallVector<Value> line = takeApart(code, thread, lines);
    auto at = [&](Value along) {
      SmallVector<Value> indices(line);
      indices.insert(indices.begin() + axis, along);
      return indices;
    };
    Value nothing = code.number(computed, 0), none = code.index(0);
    code.loops(count, {nothing, none}, [&](ValueRange place, ValueRange last) {
      Value isFirst = code.make<arith::CmpIOp>(arith::CmpIPredicate::eq, place.front(), code.index(0));
      Value no = code.make<arith::ConstantIntOp>(0, 1), yes = code.make<arith::ConstantIntOp>(1, 1);
      SmallVector<Value> best = code.loops(length, {nothing, none, no}, [&](ValueRange along, ValueRange best) {
        Value value = nn::castNumber(code, writer.elements.element(op.getInput(), at(along.front())), computed);
        Value isLeft = code.either(isFirst, standsBefore(code, op, last[0], last[1], value, along.front()));
        Value improves = standsBefore(code, op, value, along.front(), best[0], best[1]);
        Value takes = code.both(isLeft, code.select(best[2], improves, yes));
        return SmallVector<Value>{code.select(takes, value, best[0]), code.select(takes, along.front(), best[1]),
                                  code.either(best[2], takes)};
      });
      Value position = writer.elements.position(op.getValues(), at(place.front()));
      Value coordinate = code.make<arith::IndexCastOp>(code.builder.getI64Type(), best[1]);
      Value value = nn::castNumber(code, best[0], inputType.getElementType());
      for (auto [result, buffer] : llvm::zip(writer.results, writer.buffers))
        writer.builder.create<tile::StoreOp>(writer.loc, result == op.getIndices() ? coordinate : value, buffer, position);
      return SmallVector<Value>{best[0], best[1]};
    });
  });
  return success();
}

FailureOr<std::array<Value, 3>> joule::gridOfTopK(GridWriter &writer) {
  auto op = ownOp<nn::TopKOp>(writer.kernel, writer.results);
  if (!op)
    return failure();
  SmallVector<unsigned> dims;
  for (int64_t dim = 0; dim < cast<RankedTensorType>(op.getInput().getType()).getRank(); ++dim)
    if (dim != static_cast<int64_t>(op.getAxis()))
      dims.push_back(dim);
  return gridOfThreads(writer, dims);
}
