// Elements of a kernel's tensors.
#include "passes/NnToTile/Elements.h"
#include "passes/NnToTile/Pointwise.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace joule;

namespace {

bool isComputedAnywhere(Operation *op) {
  return op && op->getNumRegions() == 0 && op->getNumResults() == 1 && isMemoryEffectFree(op);
}

/// Whether `value` can be had in front of `loop`, possibly by moving its computation there.
bool canLeave(Value value, scf::ForOp loop) {
  if (!loop.getRegion().isAncestor(value.getParentRegion()))
    return true;
  Operation *op = value.getDefiningOp();
  return isComputedAnywhere(op) && isSpeculatable(op) &&
         llvm::all_of(op->getOperands(), [&](Value operand) { return canLeave(operand, loop); });
}

void moveInFrontOf(Value value, scf::ForOp loop) {
  if (!loop.getRegion().isAncestor(value.getParentRegion()))
    return;
  for (Value operand : value.getDefiningOp()->getOperands())
    moveInFrontOf(operand, loop);
  value.getDefiningOp()->moveBefore(loop);
}

} // namespace

KernelElements::Number KernelElements::number(Value value) {
  if (auto known = numberOfValue.find(value); known != numberOfValue.end())
    return known->second;
  Operation *op = value.getDefiningOp();
  Key key;
  if (isComputedAnywhere(op)) {
    key = {reinterpret_cast<uintptr_t>(op->getName().getAsOpaquePointer()),
           reinterpret_cast<uintptr_t>(op->getAttrDictionary().getAsOpaquePointer()),
           reinterpret_cast<uintptr_t>(value.getType().getAsOpaquePointer())};
    for (Value operand : op->getOperands())
      key.push_back(number(operand));
  } else {
    key = {reinterpret_cast<uintptr_t>(value.getAsOpaquePointer())};
  }
  Number result = numberOfKey.try_emplace(key, numberOfKey.size()).first->second;
  numberOfValue[value] = result;
  return result;
}

KernelElements::Key KernelElements::keyOf(Value tensor, unsigned part, ValueRange indices) {
  Key key = {reinterpret_cast<uintptr_t>(tensor.getAsOpaquePointer()), part};
  for (Value index : indices)
    key.push_back(number(index));
  return key;
}

KernelElements::Key KernelElements::positionKey(Value tensor, ValueRange indices) {
  Key key;
  for (Value size : sizes(tensor))
    key.push_back(number(size));
  for (Value index : indices)
    key.push_back(number(index));
  return key;
}

/// What `memory` holds for `key`, if it can be used at the insertion point. Code is only ever appended, so a
/// value whose block is around the insertion point stands before it.
Value KernelElements::recall(const std::map<Key, Value> &memory, const Key &key) {
  auto found = memory.find(key);
  if (found == memory.end())
    return {};
  Value value = found->second;
  for (Block *block = builder.getInsertionBlock(); block; block = block->getParentOp()->getBlock()) {
    if (value.getParentBlock() == block)
      return value;
    if (block == &newBody)
      break;
  }
  return {};
}

/// Moves the insertion point in front of the loops that `indices` do not depend on.
void KernelElements::leaveLoops(ValueRange indices) {
  while (auto loop = dyn_cast<scf::ForOp>(builder.getInsertionBlock()->getParentOp())) {
    if (!llvm::all_of(indices, [&](Value index) { return canLeave(index, loop); }))
      return;
    for (Value index : indices)
      moveInFrontOf(index, loop);
    builder.setInsertionPoint(loop);
  }
}

Value KernelElements::shared(Value tensor, unsigned part, ValueRange indices, function_ref<Value()> emit) {
  Key key = keyOf(tensor, part, indices);
  if (Value known = recall(written, key))
    return known;
  OpBuilder::InsertionGuard guard(builder);
  leaveLoops(indices);
  Value value = emit();
  written[key] = value;
  return value;
}

Value KernelElements::element(Value tensor, ValueRange indices) {
  return shared(tensor, 0, indices, [&] { return define(tensor, indices); });
}

Value KernelElements::size(Value tensor, unsigned dim) {
  Location loc = tensor.getLoc();
  FailureOr<SmallVector<OpFoldResult>> sizes = nn::sizesOf(tensor);
  if (mlir::failed(sizes))
    return fail(newBody.getParentOp(), builder.getIndexType(), "has a tensor whose sizes are not known");
  if (auto constant = dyn_cast<Attribute>((*sizes)[dim]))
    return builder.create<arith::ConstantIndexOp>(loc, cast<IntegerAttr>(constant).getInt());
  return scalar(cast<Value>((*sizes)[dim]));
}

SmallVector<Value> KernelElements::sizes(Value tensor) {
  SmallVector<Value> sizes;
  for (int64_t dim = 0; dim < cast<RankedTensorType>(tensor.getType()).getRank(); ++dim)
    sizes.push_back(size(tensor, dim));
  return sizes;
}

Value KernelElements::position(Value tensor, ValueRange indices) {
  if (Value known = recall(positions, positionKey(tensor, indices)))
    return known;
  nn::ElementBuilder code{builder, tensor.getLoc(), *this};
  Value position = code.index(0);
  for (auto [dim, index] : llvm::enumerate(indices))
    position = code.add(code.mul(position, size(tensor, dim)), index);
  return position;
}

SmallVector<Value> KernelElements::coordinates(Value tensor, Value position) {
  nn::ElementBuilder code{builder, tensor.getLoc(), *this};
  SmallVector<Value> sizes = this->sizes(tensor), indices(sizes.size());
  // The first dimension that is not of size 1 takes what the others leave; no remainder is needed there.
  const auto *isLong = llvm::find_if(sizes, [](Value size) { return !matchPattern(size, m_One()); });
  int64_t outermost = isLong - sizes.begin();
  Value rest = position;
  for (int64_t dim = sizes.size() - 1; dim >= 0; --dim) {
    if (matchPattern(sizes[dim], m_One())) {
      indices[dim] = code.index(0);
      continue;
    }
    indices[dim] = dim == outermost ? rest : code.rem(rest, sizes[dim]);
    if (dim != outermost)
      rest = code.div(rest, sizes[dim]);
  }
  relate(tensor, indices, position);
  return indices;
}

Value KernelElements::scalar(Value old) {
  if (auto known = scalars.find(old); known != scalars.end())
    return known->second;
  if (auto argument = dyn_cast<BlockArgument>(old))
    return scalars[old] = this->argument(argument);
  // In the outermost block, where it serves all.
  OpBuilder::InsertionGuard guard(builder);
  if (Operation *around = newBody.findAncestorOpInBlock(*builder.getInsertionBlock()->getParentOp()))
    builder.setInsertionPoint(around);
  Operation *op = old.getDefiningOp();
  auto copies = [&](ValueRange operands) {
    return llvm::map_to_vector(operands, [&](Value operand) { return scalar(operand); });
  };
  if (auto extract = dyn_cast<tensor::ExtractOp>(op))
    return scalars[old] = element(extract.getTensor(), copies(extract.getIndices()));
  if (!isComputedAnywhere(op) || llvm::any_of(op->getOperandTypes(), llvm::IsaPred<ShapedType>))
    return fail(op, old.getType(), "computes a scalar in a way that kernels cannot");
  Operation *copy = builder.create(op->getLoc(), op->getName().getIdentifier(), copies(op->getOperands()),
                                   op->getResultTypes(), op->getAttrs());
  return scalars[old] = copy->getResult(0);
}

Value KernelElements::define(Value tensor, ValueRange indices) {
  if (auto reader = readers.find(tensor); reader != readers.end())
    return reader->second(indices);
  Type elementType = cast<RankedTensorType>(tensor.getType()).getElementType();
  if (auto argument = dyn_cast<BlockArgument>(tensor))
    return builder.create<tile::LoadOp>(tensor.getLoc(), elementType, this->argument(argument),
                                        position(tensor, indices));
  return defineByOp(cast<OpResult>(tensor), indices);
}

Value KernelElements::defineByOp(OpResult tensor, ValueRange indices) {
  Operation *op = tensor.getOwner();
  if (auto definition = dyn_cast<nn::ElementDefinition>(op))
    return definition.emitElement(builder, op->getLoc(), *this, tensor.getResultNumber(), indices);
  if (auto constant = dyn_cast<nn::ConstantOp>(op))
    return this->constant(op, constant.getValue(), indices);
  if (auto constant = dyn_cast<arith::ConstantOp>(op))
    return this->constant(op, constant.getValue(), indices);
  if (auto cast = dyn_cast<tensor::CastOp>(op))
    return element(cast.getSource(), indices);
  if (auto splat = dyn_cast<tensor::SplatOp>(op))
    return scalar(splat.getInput());
  if (auto list = dyn_cast<tensor::FromElementsOp>(op)) {
    SmallVector<Value> elements = llvm::map_to_vector(list.getElements(), [&](Value x) { return scalar(x); });
    return pick(op->getLoc(), position(tensor, indices), elements);
  }
  if (nn::isPointwise(op)) {
    SmallVector<Value> operands;
    for (Value operand : op->getOperands())
      operands.push_back(isa<RankedTensorType>(operand.getType()) ? element(operand, indices)
                                                                  : scalar(operand));
    nn::ElementBuilder code{builder, op->getLoc(), *this};
    return emitPointwise(code, tensor, operands);
  }
  return fail(op, cast<RankedTensorType>(tensor.getType()).getElementType(),
              "cannot stand inside a kernel of this family");
}

/// The one of `elements` at `position`.
Value KernelElements::pick(Location loc, Value position, ArrayRef<Value> elements) {
  nn::ElementBuilder code{builder, loc, *this};
  APInt constant;
  if (matchPattern(position, m_ConstantInt(&constant)) && constant.ult(elements.size()))
    return elements[constant.getZExtValue()];
  Value result = elements.back();
  for (int64_t number = elements.size() - 2; number >= 0; --number) {
    Value isHere = code.make<arith::CmpIOp>(arith::CmpIPredicate::eq, position, code.index(number));
    result = code.select(isHere, elements[number], result);
  }
  return result;
}

Value KernelElements::constant(Operation *op, Attribute value, ValueRange indices) {
  Value tensor = op->getResult(0);
  Type type = cast<RankedTensorType>(tensor.getType()).getElementType();
  auto elements = dyn_cast<ElementsAttr>(value);
  const int64_t most = 64;
  if (!elements || !type.isIntOrFloat() || (!elements.isSplat() && elements.getNumElements() > most))
    return fail(op, type,
                "is no small constant of a builtin type, which is all that can stand inside a kernel");
  auto write = [&](Attribute element) -> Value {
    return builder.create<arith::ConstantOp>(op->getLoc(), cast<TypedAttr>(element));
  };
  // Code that reads no element still has to stand there.
  if (elements.empty())
    return write(builder.getZeroAttr(type));
  if (elements.isSplat())
    return write(elements.getSplatValue<Attribute>());
  Value at = position(tensor, indices);
  return pick(op->getLoc(), at, llvm::map_to_vector(elements.getValues<Attribute>(), write));
}

/// Reports, and gives something of the right type so that writing can go on.
Value KernelElements::fail(Operation *op, Type type, const Twine &message) {
  if (!failed)
    op->emitOpError() << message;
  failed = true;
  return builder.create<UnrealizedConversionCastOp>(op->getLoc(), type, ValueRange()).getResult(0);
}
