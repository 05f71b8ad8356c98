// Elements of the ops that move elements: layout and gathers.
#include "dialects/Nn/ElementBuilder.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace joule::nn;

namespace {

RankedTensorType typeOf(Value value) { return cast<RankedTensorType>(value.getType()); }

/// The values of a list whose dynamic entries come, in order, from `operands`.
SmallVector<Value> mixed(ElementBuilder &code, ArrayRef<int64_t> constants, ValueRange operands) {
  SmallVector<Value> values;
  for (int64_t constant : constants) {
    if (!ShapedType::isDynamic(constant)) {
      values.push_back(code.index(constant));
      continue;
    }
    values.push_back(code.source.index(operands.front()));
    operands = operands.drop_front();
  }
  return values;
}

} // namespace

Value BroadcastOp::emitElement(OpBuilder &builder, Location loc, ElementSource &source, unsigned,
                               ValueRange indices) {
  ElementBuilder code{builder, loc, source};
  RankedTensorType input = typeOf(getInput()), result = typeOf(getResult());
  SmallVector<Value> at;
  for (auto [dim, target] : llvm::enumerate(getDimensions())) {
    int64_t size = input.getDimSize(dim);
    if (size == 1) {
      at.push_back(code.index(0));
    } else if (!ShapedType::isDynamic(size) || result.getDimSize(target) == 1) {
      at.push_back(indices[target]);
    } else {
      Value isOne =
          code.make<arith::CmpIOp>(arith::CmpIPredicate::eq, source.size(getInput(), dim), code.index(1));
      at.push_back(code.select(isOne, code.index(0), indices[target]));
    }
  }
  return source.element(getInput(), at);
}

Value ReshapeOp::emitElement(OpBuilder &builder, Location loc, ElementSource &source, unsigned,
                             ValueRange indices) {
  return source.element(getInput(), source.coordinates(getInput(), source.position(getResult(), indices)));
}

Value TransposeOp::emitElement(OpBuilder &builder, Location loc, ElementSource &source, unsigned,
                               ValueRange indices) {
  SmallVector<Value> at(indices.size());
  for (auto [index, dim] : llvm::zip(indices, getPermutation()))
    at[dim] = index;
  return source.element(getInput(), at);
}

Value SliceOp::emitElement(OpBuilder &builder, Location loc, ElementSource &source, unsigned,
                           ValueRange indices) {
  ElementBuilder code{builder, loc, source};
  SmallVector<Value> at = mixed(code, getStaticOffsets(), getOffsets());
  for (auto [offset, index, stride] : llvm::zip(at, indices, getStrides()))
    offset = code.add(offset, code.mul(index, stride));
  return source.element(getInput(), at);
}

namespace {

/// Where mode `reflect` finds position `at` of `size` elements: 0 1 2 3 2 1 0 1 …
Value reflect(ElementBuilder &code, Value at, Value size) {
  Value last = code.sub(size, 1);
  Value period = code.make<arith::MaxSIOp>(code.mul(last, 2), code.index(1));
  Value within = code.wrap(at, period);
  Value rising = code.make<arith::CmpIOp>(arith::CmpIPredicate::sle, within, last);
  return code.select(rising, within, code.sub(period, within));
}

} // namespace

Value PadOp::emitElement(OpBuilder &builder, Location loc, ElementSource &source, unsigned,
                         ValueRange indices) {
  ElementBuilder code{builder, loc, source};
  RankedTensorType input = typeOf(getInput()), result = typeOf(getResult());
  SmallVector<Value> at = mixed(code, getLow(), getLows());
  Value inside = code.number(builder.getI1Type(), 1);
  for (unsigned dim = 0; dim < at.size(); ++dim) {
    bool unpadded =
        getLow()[dim] == 0 && !input.isDynamicDim(dim) && input.getDimSize(dim) == result.getDimSize(dim);
    at[dim] = code.sub(indices[dim], at[dim]);
    if (unpadded)
      continue;
    Value size = source.size(getInput(), dim);
    switch (getMode()) {
    case PadMode::Constant:
      inside = code.both(inside, code.isInside(at[dim], size));
      break;
    case PadMode::Edge:
      at[dim] = code.clampInto(at[dim], size);
      break;
    case PadMode::Reflect:
      at[dim] = reflect(code, at[dim], size);
      break;
    case PadMode::Wrap:
      at[dim] = code.wrap(at[dim], size);
      break;
    }
  }
  auto take = [&]() -> SmallVector<Value> { return {source.element(getInput(), at)}; };
  auto fill = [&]() -> SmallVector<Value> { return {source.element(getValue(), {})}; };
  return code.choose(inside, result.getElementType(), take, fill).front();
}

Value ConcatOp::emitElement(OpBuilder &builder, Location loc, ElementSource &source, unsigned,
                            ValueRange indices) {
  ElementBuilder code{builder, loc, source};
  Type element = typeOf(getResult()).getElementType();
  std::function<SmallVector<Value>(unsigned, Value)> takeFrom = [&](unsigned number, Value index) {
    Value input = getInputs()[number];
    SmallVector<Value> at(indices);
    at[getAxis()] = index;
    auto here = [&]() -> SmallVector<Value> { return {source.element(input, at)}; };
    if (number + 1 == getInputs().size())
      return here();
    Value size = source.size(input, getAxis());
    Value isHere = code.make<arith::CmpIOp>(arith::CmpIPredicate::slt, index, size);
    return code.choose(isHere, element, here, [&] { return takeFrom(number + 1, code.sub(index, size)); });
  };
  return takeFrom(0, indices[getAxis()]).front();
}

Value IotaOp::emitElement(OpBuilder &builder, Location loc, ElementSource &source, unsigned,
                          ValueRange indices) {
  ElementBuilder code{builder, loc, source};
  Value count = code.make<arith::IndexCastOp>(builder.getI64Type(), indices[getDimension()]);
  return castNumber(code, count, typeOf(getResult()).getElementType());
}

Value GatherOp::emitElement(OpBuilder &builder, Location loc, ElementSource &source, unsigned,
                            ValueRange indices) {
  ElementBuilder code{builder, loc, source};
  unsigned axis = getAxis(), rank = typeOf(getIndices()).getRank();
  Value index = source.element(getIndices(), indices.slice(axis, rank));
  SmallVector<Value> at(indices.take_front(axis));
  at.push_back(code.gatherIndex(index, source.size(getInput(), axis)));
  llvm::append_range(at, indices.drop_front(axis + rank));
  return source.element(getInput(), at);
}

Value GatherElementsOp::emitElement(OpBuilder &builder, Location loc, ElementSource &source, unsigned,
                                    ValueRange indices) {
  ElementBuilder code{builder, loc, source};
  SmallVector<Value> at(indices);
  at[getAxis()] = code.gatherIndex(source.element(getIndices(), indices), source.size(getInput(), getAxis()));
  return source.element(getInput(), at);
}

Value GatherNdOp::emitElement(OpBuilder &builder, Location loc, ElementSource &source, unsigned,
                              ValueRange indices) {
  ElementBuilder code{builder, loc, source};
  unsigned outer = typeOf(getIndices()).getRank() - 1, batch = getBatchDims();
  SmallVector<Value> tuple(indices.take_front(outer)), at(indices.take_front(batch));
  tuple.emplace_back();
  for (int64_t number = 0; number < typeOf(getIndices()).getShape().back(); ++number) {
    tuple.back() = code.index(number);
    Value size = source.size(getInput(), batch + number);
    at.push_back(code.gatherIndex(source.element(getIndices(), tuple), size));
  }
  llvm::append_range(at, indices.drop_front(outer));
  return source.element(getInput(), at);
}
