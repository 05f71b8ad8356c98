// Element types and constants between MLIR and buffers.
#include "lib/Reference/Evaluate/Evaluate.h"

#include "dialects/Nn/NnDialect.h"
#include "lib/Reference/Kernels/Kernels.h"

using namespace mlir;

namespace joule::reference {

static ElementType integerTypeOf(IntegerType type) {
  ElementType stored;
  switch (type.getWidth()) {
  case 1:
    return ElementType::Bool;
  case 2:
    stored = ElementType::Int2;
    break;
  case 4:
    stored = ElementType::Int4;
    break;
  case 8:
    stored = ElementType::Int8;
    break;
  case 16:
    stored = ElementType::Int16;
    break;
  case 32:
    stored = ElementType::Int32;
    break;
  case 64:
    stored = ElementType::Int64;
    break;
  default:
    return ElementType::Undefined;
  }
  return withSign(stored, type.isUnsigned());
}

ElementType elementTypeOf(Type type) {
  return TypeSwitch<Type, ElementType>(type)
      .Case([](IntegerType type) { return integerTypeOf(type); })
      .Case([](IndexType) { return ElementType::Int64; })
      .Case([](Float64Type) { return ElementType::Float64; })
      .Case([](Float32Type) { return ElementType::Float32; })
      .Case([](Float16Type) { return ElementType::Float16; })
      .Case([](BFloat16Type) { return ElementType::BFloat16; })
      .Case([](Float8E4M3FNType) { return ElementType::Float8E4M3FN; })
      .Case([](Float8E4M3FNUZType) { return ElementType::Float8E4M3FNUZ; })
      .Case([](Float8E5M2Type) { return ElementType::Float8E5M2; })
      .Case([](Float8E5M2FNUZType) { return ElementType::Float8E5M2FNUZ; })
      .Case([](nn::F4E2M1Type) { return ElementType::Float4E2M1; })
      .Case([](nn::F8E8M0Type) { return ElementType::Float8E8M0; })
      .Case([](ComplexType type) {
        return type.getElementType().isF32()   ? ElementType::Complex64
               : type.getElementType().isF64() ? ElementType::Complex128
                                               : ElementType::Undefined;
      })
      .Default([](Type) { return ElementType::Undefined; });
}

/// Small integers and bools, which MLIR packs in ways of its own.
static Buffer bufferOfSmallIntegers(DenseIntElementsAttr dense, ElementType type, const Shape &shape) {
  std::vector<int64_t> values;
  values.reserve(dense.getNumElements());
  for (APInt value : dense.getValues<APInt>())
    values.push_back(value.getSExtValue());
  return makeIntegers(type, shape, values);
}

static Result<Buffer> bufferOfDense(DenseElementsAttr dense) {
  ElementType type = elementTypeOf(dense.getElementType());
  Shape shape(dense.getType().getShape().begin(), dense.getType().getShape().end());
  if (bitsOf(type) < 8 || type == ElementType::Bool) {
    auto integers = dyn_cast<DenseIntElementsAttr>(dense);
    if (type == ElementType::Undefined || !integers)
      return Failure{"a constant's elements have a type that no buffer stores"};
    return bufferOfSmallIntegers(integers, type, shape);
  }
  ArrayRef<char> raw = dense.getRawData();
  Buffer buffer(type, shape);
  size_t size = buffer.bytes.size(), step = std::max<size_t>(raw.size(), 1);
  for (size_t at = 0; at < size; at += step) // a splat's one element is repeated
    std::memcpy(buffer.bytes.mutableData() + at, raw.data(), std::min(step, size - at));
  return buffer;
}

Result<Buffer> bufferOf(Attribute constant) {
  if (auto dense = dyn_cast<DenseElementsAttr>(constant))
    return bufferOfDense(dense);
  if (auto integer = dyn_cast<IntegerAttr>(constant))
    if (ElementType type = elementTypeOf(integer.getType()); type != ElementType::Undefined)
      return scalar(type, integer.getValue().getSExtValue());
  if (auto number = dyn_cast<FloatAttr>(constant))
    if (ElementType type = elementTypeOf(number.getType()); type != ElementType::Undefined)
      return scalar(type, number.getValueAsDouble());
  return Failure{"a constant is neither dense elements nor a number"};
}

Result<Buffer> bufferOf(Attribute constant, RankedTensorType type, WeightStore &weights) {
  ElementType elementType = elementTypeOf(type.getElementType());
  auto weight = dyn_cast<nn::WeightAttr>(constant);
  if (!weight) {
    Result<Buffer> elements = bufferOf(constant);
    // Elements of types that MLIR's attributes lack are held as integers of the same width.
    return elements ? Result<Buffer>(elements->as(elementType)) : elements;
  }
  Shape shape(type.getShape().begin(), type.getShape().end());
  int64_t wanted = bytesOf(elementType, shape);
  if (wanted < 0 || static_cast<uint64_t>(wanted) != weight.getLength())
    return Failure{"a weight of " + std::to_string(weight.getLength()) + " bytes cannot fill a " +
                   nameOf(elementType) + " tensor of shape " + toString(shape)};
  Result<Bytes> bytes = weights.find(weight.getBlob(), weight.getOffset(), weight.getLength());
  if (!bytes)
    return Failure{bytes.error()};
  return Buffer(elementType, shape, *bytes);
}

DenseElementsAttr denseAttribute(const Buffer &buffer, RankedTensorType type) {
  if (!type.getElementType().isIntOrIndexOrFloat() && !isa<ComplexType>(type.getElementType()))
    return {};
  unsigned bits = bitsOf(buffer.type);
  if (bits >= 8 && buffer.type != ElementType::Bool)
    return DenseElementsAttr::getFromRawBuffer(
        type, {reinterpret_cast<const char *>(buffer.bytes.data()), buffer.bytes.size()});
  SmallVector<APInt> values;
  for (int64_t i = 0; i < buffer.count(); ++i)
    values.push_back(APInt(type.getElementTypeBitWidth(), buffer.integer(i), /*isSigned=*/true));
  return DenseElementsAttr::get(type, values);
}

} // namespace joule::reference
