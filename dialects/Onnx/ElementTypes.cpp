// ONNX's element types: TensorProto.DataType and what stands for each in MLIR.
#include "dialects/Onnx/ElementTypes.h"

#include "dialects/Nn/NnDialect.h"
#include "dialects/Onnx/OnnxDialect.h"

using namespace mlir;

namespace {

struct ElementType {
  const char *name;
  unsigned bits;
  Type (*make)(MLIRContext *);
};

template <unsigned bits, IntegerType::SignednessSemantics signedness> Type integer(MLIRContext *context) {
  return IntegerType::get(context, bits, signedness);
}
template <unsigned bits> constexpr auto makeInteger = integer<bits, IntegerType::Signless>;
template <unsigned bits> constexpr auto makeUnsigned = integer<bits, IntegerType::Unsigned>;
template <typename T> Type make(MLIRContext *context) { return T::get(context); }
template <typename T> Type makeComplex(MLIRContext *context) { return ComplexType::get(T::get(context)); }

// By TensorProto.DataType.
const ElementType elementTypes[] = {
    {"undefined", 0, nullptr},
    {"float32", 32, make<Float32Type>},
    {"uint8", 8, makeUnsigned<8>},
    {"int8", 8, makeInteger<8>},
    {"uint16", 16, makeUnsigned<16>},
    {"int16", 16, makeInteger<16>},
    {"int32", 32, makeInteger<32>},
    {"int64", 64, makeInteger<64>},
    {"string", 0, make<joule::onnx::StringType>},
    {"bool", 8, makeInteger<1>},
    {"float16", 16, make<Float16Type>},
    {"float64", 64, make<Float64Type>},
    {"uint32", 32, makeUnsigned<32>},
    {"uint64", 64, makeUnsigned<64>},
    {"complex64", 64, makeComplex<Float32Type>},
    {"complex128", 128, makeComplex<Float64Type>},
    {"bfloat16", 16, make<BFloat16Type>},
    {"float8e4m3fn", 8, make<Float8E4M3FNType>},
    {"float8e4m3fnuz", 8, make<Float8E4M3FNUZType>},
    {"float8e5m2", 8, make<Float8E5M2Type>},
    {"float8e5m2fnuz", 8, make<Float8E5M2FNUZType>},
    {"uint4", 4, makeUnsigned<4>},
    {"int4", 4, makeInteger<4>},
    {"float4e2m1", 4, make<joule::nn::F4E2M1Type>},
    {"float8e8m0", 8, make<joule::nn::F8E8M0Type>},
    {"uint2", 2, makeUnsigned<2>},
    {"int2", 2, makeInteger<2>},
};
constexpr int numElementTypes = sizeof elementTypes / sizeof elementTypes[0];

bool isElementType(int dataType) { return dataType > 0 && dataType < numElementTypes; }

} // namespace

Type joule::elementTypeOf(MLIRContext *context, int dataType) {
  return isElementType(dataType) ? elementTypes[dataType].make(context) : Type();
}

int joule::dataTypeOf(Type elementType) {
  for (int dataType = 1; dataType < numElementTypes; ++dataType)
    if (elementTypeOf(elementType.getContext(), dataType) == elementType)
      return dataType;
  return 0;
}

StringRef joule::dataTypeName(int dataType) {
  return elementTypes[isElementType(dataType) ? dataType : 0].name;
}

unsigned joule::storageBits(int dataType) { return isElementType(dataType) ? elementTypes[dataType].bits : 0; }
