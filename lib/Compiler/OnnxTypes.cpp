// How nn's element types are stored, in ONNX's terms.
#include "lib/Compiler/OnnxTypes.h"

#include "dialects/Nn/NnDialect.h"
#include "dialects/Tile/TileDialect.h"
#include "onnx/onnx-ml.pb.h"

#include "mlir/IR/BuiltinAttributes.h"

using namespace mlir;
using namespace joule;

using DataType = ::onnx::TensorProto;

uint32_t joule::onnxTypeOf(Type element) {
  if (element.isF32())
    return DataType::FLOAT;
  if (element.isF64())
    return DataType::DOUBLE;
  if (element.isF16())
    return DataType::FLOAT16;
  if (element.isBF16())
    return DataType::BFLOAT16;
  if (isa<Float8E4M3FNType>(element))
    return DataType::FLOAT8E4M3FN;
  if (isa<Float8E4M3FNUZType>(element))
    return DataType::FLOAT8E4M3FNUZ;
  if (isa<Float8E5M2Type>(element))
    return DataType::FLOAT8E5M2;
  if (isa<Float8E5M2FNUZType>(element))
    return DataType::FLOAT8E5M2FNUZ;
  if (isa<nn::F4E2M1Type>(element))
    return DataType::FLOAT4E2M1;
  if (isa<nn::F8E8M0Type>(element))
    return DataType::FLOAT8E8M0;
  auto integer = dyn_cast<IntegerType>(element);
  switch (integer ? integer.getWidth() : 0) {
  case 1:
    return DataType::BOOL;
  case 2:
    return DataType::INT2;
  case 4:
    return DataType::INT4;
  case 8:
    return DataType::INT8;
  case 16:
    return DataType::INT16;
  case 32:
    return DataType::INT32;
  case 64:
    return DataType::INT64;
  default:
    return DataType::UNDEFINED;
  }
}

uint64_t joule::storedBytes(ShapedType type) {
  return (static_cast<uint64_t>(type.getNumElements()) * tile::bitsInMemory(type.getElementType()) + 7) / 8;
}

/// `values`, `bits` wide each, packed from the low bits up.
static std::string pack(DenseElementsAttr elements, unsigned bits) {
  std::string bytes(storedBytes(elements.getType()), '\0');
  size_t position = 0;
  for (const APInt &value : elements.getValues<APInt>()) {
    bytes[position / 8] |= static_cast<char>((value.getZExtValue() & ((1u << bits) - 1)) << (position % 8));
    position += bits;
  }
  return bytes;
}

std::string joule::storedBytes(DenseElementsAttr elements) {
  Type element = elements.getElementType();
  if (element.isInteger(1)) {
    std::string bytes;
    for (bool value : elements.getValues<bool>())
      bytes.push_back(value);
    return bytes;
  }
  unsigned bits = tile::bitsInMemory(element);
  if (bits < 8)
    return pack(elements, bits);
  ArrayRef<char> raw = elements.getRawData();
  if (!elements.isSplat())
    return std::string(raw.data(), raw.size());
  std::string bytes;
  bytes.reserve(storedBytes(elements.getType()));
  for (int64_t count = elements.getNumElements(); count > 0; --count)
    bytes.append(raw.data(), raw.size());
  return bytes;
}
