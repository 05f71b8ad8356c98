// The scatter families. Where two updates meet the order counts, so whatever an update may touch belongs to one thread:
// it copies its part of the input, then walks through the updates in their order.
//
//   scatter_elements: a thread has a line along the axis; updates never leave their line.
//   scatter_nd:       a thread has one place of the slices; it goes through all tuples.
#include "passes/NnToTile/Families.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace joule;

namespace {

/// What is there joined with an update. Narrow floats are joined in f32.
Value join(nn::ElementBuilder &code, nn::Update update, Value there, Value value) {
  Type type = value.getType(), computed = nn::computeTypeOf(type);
  auto combine = [&](nn::Combiner combiner) {
    Value a = nn::castNumber(code, there, computed), b = nn::castNumber(code, value, computed);
    return nn::castNumber(code, code.combine(combiner, a, b), type);
  };
  switch (update) {
  case nn::Update::Replace:
    return value;
  case nn::Update::Add:
    return combine(nn::Combiner::Sum);
  case nn::Update::Multiply:
    return combine(nn::Combiner::Product);
  case nn::Update::Max:
    return combine(nn::Combiner::Max);
  case nn::Update::Min:
    return combine(nn::Combiner::Min);
  case nn::Update::UnsignedMax:
    return combine(nn::Combiner::UnsignedMax);
  case nn::Update::UnsignedMin:
    return combine(nn::Combiner::UnsignedMin);
  }
  llvm_unreachable("every update is listed");
}

void update(KernelWriter &writer, nn::Update kind, Value position, Value value) {
  nn::ElementBuilder code = writer.code();
  Value there = kind == nn::Update::Replace
                    ? Value()
                    : writer.builder.create<tile::LoadOp>(writer.loc, value.getType(), writer.buffers[0], position).getResult();
  writer.builder.create<tile::StoreOp>(writer.loc, join(code, kind, there, value), writer.buffers[0], position);
}

/// An index of an update as it is meant: negative ones count from the end.
Value normalize(nn::ElementBuilder &code, Value index, Value size) {
  Value wide = code.make<arith::IndexCastOp>(code.builder.getIndexType(), index);
  Value isNegative = code.make<arith::CmpIOp>(arith::CmpIPredicate::slt, wide, code.index(0));
  return code.select(isNegative, code.add(wide, size), wide);
}

SmallVector<Value> sizesOf(KernelWriter &writer, Value tensor, int64_t first, int64_t last) {
  SmallVector<Value> sizes;
  for (int64_t dim = first; dim < last; ++dim)
    sizes.push_back(writer.elements.size(tensor, dim));
  return sizes;
}

int64_t rankOf(Value tensor) { return cast<RankedTensorType>(tensor.getType()).getRank(); }

Value product(nn::ElementBuilder &code, ArrayRef<Value> factors) {
  Value all = code.index(1);
  for (Value factor : factors)
    all = code.mul(all, factor);
  return all;
}

void copyElement(KernelWriter &writer, Value input, Value result, ArrayRef<Value> indices) {
  Value value = writer.elements.element(input, indices);
  writer.builder.create<tile::StoreOp>(writer.loc, value, writer.buffers[0], writer.elements.position(result, indices));
}

SmallVector<Value> without(ArrayRef<Value> values, int64_t dim) {
  SmallVector<Value> kept(values);
  kept.erase(kept.begin() + dim);
  return kept;
}

} // namespace

LogicalResult joule::emitScatterElements(KernelWriter &writer) {
  auto op = ownOp<nn::ScatterElementsOp>(writer.kernel, writer.results);
  if (!op)
    return failure();
  nn::ElementBuilder code = writer.code();
  int64_t axis = op.getAxis();
  SmallVector<Value> sizes = sizesOf(writer, op.getInput(), 0, rankOf(op.getInput()));
  SmallVector<Value> lines = without(sizes, axis);
  forThread(writer, product(code, lines), [&](Value thread) {
    SmallVector<Value> line = takeApart(code, thread, lines);
    auto at = [&](Value along) {
      SmallVector<Value> indices(line);
      indices.insert(indices.begin() + axis, along);
      return indices;
    };
    code.loops(sizes[axis], {}, [&](ValueRange along, ValueRange) {
      copyElement(writer, op.getInput(), op.getResult(), at(along.front()));
      return SmallVector<Value>();
    });
    // The indices may cover a part of the input only.
    Value covered = code.make<arith::ConstantIntOp>(1, 1);
    for (int64_t dim = 0; dim < rankOf(op.getInput()); ++dim)
      if (dim != axis)
        covered = code.both(covered, code.isInside(at(code.index(0))[dim],
                                                   writer.elements.size(op.getIndices(), dim)));
    onlyIf(code, covered, [&] {
      code.loops(writer.elements.size(op.getIndices(), axis), {}, [&](ValueRange along, ValueRange) {
        Value target = normalize(code, writer.elements.element(op.getIndices(), at(along.front())), sizes[axis]);
        Value value = writer.elements.element(op.getUpdates(), at(along.front()));
        onlyIf(code, code.isInside(target, sizes[axis]), [&] {
          update(writer, op.getUpdate(), writer.elements.position(op.getResult(), at(target)), value);
        });
        return SmallVector<Value>();
      });
    });
  });
  return success();
}

FailureOr<std::array<Value, 3>> joule::gridOfScatterElements(GridWriter &writer) {
  auto op = ownOp<nn::ScatterElementsOp>(writer.kernel, writer.results);
  if (!op)
    return failure();
  SmallVector<unsigned> dims;
  for (int64_t dim = 0; dim < rankOf(op.getInput()); ++dim)
    if (dim != static_cast<int64_t>(op.getAxis()))
      dims.push_back(dim);
  return gridOfThreads(writer, dims);
}

LogicalResult joule::emitScatterNd(KernelWriter &writer) {
  auto op = ownOp<nn::ScatterNdOp>(writer.kernel, writer.results);
  if (!op)
    return failure();
  nn::ElementBuilder code = writer.code();
  int64_t rank = rankOf(op.getInput()), tupleDim = rankOf(op.getIndices()) - 1;
  int64_t tuple = cast<RankedTensorType>(op.getIndices().getType()).getDimSize(tupleDim);
  SmallVector<Value> outer = sizesOf(writer, op.getInput(), 0, tuple), inner = sizesOf(writer, op.getInput(), tuple, rank);
  SmallVector<Value> tuples = sizesOf(writer, op.getIndices(), 0, tupleDim);
  forThread(writer, product(code, inner), [&](Value thread) {
    SmallVector<Value> place = takeApart(code, thread, inner);
    auto at = [&](ValueRange front) {
      SmallVector<Value> indices(front);
      llvm::append_range(indices, place);
      return indices;
    };
    code.loops(outer, {}, [&](ValueRange slice, ValueRange) {
      copyElement(writer, op.getInput(), op.getResult(), at(slice));
      return SmallVector<Value>();
    });
    code.loops(tuples, {}, [&](ValueRange which, ValueRange) {
      SmallVector<Value> target;
      Value inside = code.make<arith::ConstantIntOp>(1, 1);
      for (int64_t part = 0; part < tuple; ++part) {
        SmallVector<Value> indices(which);
        indices.push_back(code.index(part));
        target.push_back(normalize(code, writer.elements.element(op.getIndices(), indices), outer[part]));
        inside = code.both(inside, code.isInside(target.back(), outer[part]));
      }
      Value value = writer.elements.element(op.getUpdates(), at(which));
      onlyIf(code, inside, [&] {
        update(writer, op.getUpdate(), writer.elements.position(op.getResult(), at(target)), value);
      });
      return SmallVector<Value>();
    });
  });
  return success();
}

FailureOr<std::array<Value, 3>> joule::gridOfScatterNd(GridWriter &writer) {
  auto op = ownOp<nn::ScatterNdOp>(writer.kernel, writer.results);
  if (!op)
    return failure();
  int64_t tuple = cast<RankedTensorType>(op.getIndices().getType()).getShape().back();
  SmallVector<unsigned> dims;
  for (int64_t dim = tuple; dim < rankOf(op.getInput()); ++dim)
    dims.push_back(dim);
  return gridOfThreads(writer, dims);
}
