// What control flow hands from one region to another, and what it asks of its node.
#include "passes/OnnxToNn/Handed.h"

using namespace mlir;
using namespace joule;
using namespace joule::translate;

void Handed::add(int dataType, ArrayRef<Index> sizes, const llvm::SmallBitVector &varying) {
  Entry entry{dataType, nnElementType(translator.builder.getContext(), dataType), Sizes(sizes), varying};
  entries.push_back(std::move(entry));
}

RankedTensorType Handed::type(size_t number) const {
  const Entry &entry = entries[number];
  SmallVector<int64_t> shape;
  for (auto [dim, size] : llvm::enumerate(entry.sizes))
    shape.push_back(entry.varying[dim] ? ShapedType::kDynamic : IndexMath::known(size).value_or(ShapedType::kDynamic));
  return RankedTensorType::get(shape, entry.element);
}

SmallVector<Type> Handed::types() const {
  SmallVector<Type> types;
  int64_t sizes = 0;
  for (size_t number = 0; number < entries.size(); ++number) {
    types.push_back(type(number));
    sizes += type(number).getNumDynamicDims();
  }
  types.append(sizes, translator.builder.getIndexType());
  return types;
}

/// `tensor` as a value of `type`, whose dynamic sizes are the tensor's own.
Value Handed::materializeAs(Tensor &tensor, RankedTensorType type) {
  Value value = translator.materialize(loc, tensor);
  if (value.getType() == type)
    return value;
  SmallVector<Value> sizes;
  for (auto [size, known] : llvm::zip(tensor.sizes, type.getShape()))
    if (ShapedType::isDynamic(known))
      sizes.push_back(translator.math.materialize(loc, size));
  return translator.builder.create<nn::ReshapeOp>(loc, type, value, sizes);
}

SmallVector<Value> Handed::values(ArrayRef<Tensor *> tensors) {
  SmallVector<Value> values, sizes;
  for (auto [number, tensor] : llvm::enumerate(tensors)) {
    RankedTensorType to = type(number);
    values.push_back(materializeAs(*tensor, to));
    for (auto [size, known] : llvm::zip(tensor->sizes, to.getShape()))
      if (ShapedType::isDynamic(known))
        sizes.push_back(translator.math.materialize(loc, size));
  }
  values.append(sizes.begin(), sizes.end());
  return values;
}

Value Handed::zero(const Entry &entry, ArrayRef<Value> sizes, RankedTensorType type) {
  auto scalarType = RankedTensorType::get({}, entry.element);
  Attribute number = translator.builder.getZeroAttr(entry.element);
  Value scalar = translator.constant(DenseElementsAttr::get(scalarType, number), scalarType);
  return translator.builder.create<nn::BroadcastOp>(loc, type, scalar, sizes, ArrayRef<int64_t>());
}

SmallVector<Value> Handed::placeholders() {
  SmallVector<Value> values, sizes;
  for (size_t number = 0; number < entries.size(); ++number) {
    RankedTensorType to = type(number);
    size_t first = sizes.size();
    for (auto [dim, known] : llvm::enumerate(to.getShape()))
      if (ShapedType::isDynamic(known)) {
        const Entry &entry = entries[number];
        Index size = entry.varying[dim] ? translator.math.constant(0) : entry.sizes[dim];
        sizes.push_back(translator.math.materialize(loc, size));
      }
    values.push_back(zero(entries[number], ArrayRef(sizes).drop_front(first), to));
  }
  values.append(sizes.begin(), sizes.end());
  return values;
}

SmallVector<Tensor> Handed::tensors(ValueRange values) {
  SmallVector<Tensor> tensors;
  size_t nextSize = entries.size();
  for (auto [number, entry] : llvm::enumerate(entries)) {
    Tensor tensor;
    tensor.dataType = entry.dataType;
    tensor.element = entry.element;
    SmallVector<Value> dynamic;
    for (auto [dim, known] : llvm::enumerate(type(number).getShape())) {
      Index size = entry.sizes[dim];
      if (ShapedType::isDynamic(known)) {
        Value handed = values[nextSize++];
        if (entry.varying[dim]) {
          translator.math.assumeNonNegative(handed);
          size = handed;
        }
        dynamic.push_back(translator.math.materialize(loc, size));
      }
      tensor.sizes.push_back(size);
    }
    tensor.value = values[number];
    if (!dynamic.empty())
      tensor.value = translator.builder.create<nn::ReshapeOp>(loc, tensor.value.getType(), tensor.value, dynamic);
    tensors.push_back(tensor);
  }
  return tensors;
}

Value joule::translate::isTrue(Translator &translator, Location loc, Index condition) {
  Value zero = translator.builder.create<arith::ConstantIndexOp>(loc, 0);
  return translator.builder.create<arith::CmpIOp>(loc, arith::CmpIPredicate::ne,
                                                  translator.math.materialize(loc, condition), zero);
}

FailureOr<Index> joule::translate::conditionOf(Node &node, Tensor &tensor) {
  SmallVector<Index> *elements = node.translator.readElements(node.loc, tensor);
  if (!elements || elements->size() != 1)
    return node.error() << "wants one bool as its condition";
  return elements->front();
}

FailureOr<Block *> joule::translate::subgraph(Node &node, StringRef name) {
  for (auto [number, graph] : llvm::enumerate(node.op.getGraphs().getAsRange<StringAttr>()))
    if (graph.getValue() == name && !node.op.getSubgraphs()[number].empty())
      return &node.op.getSubgraphs()[number].front();
  return node.error() << "lacks the subgraph " << name;
}

LogicalResult joule::translate::wantTensor(Node &node, const Tensor &tensor) {
  if (tensor.dataType != Absent && tensor.element && tensor.dataType != String)
    return success();
  return node.unsupported() << "hands on a value that is no tensor of numbers, which is not supported";
}
