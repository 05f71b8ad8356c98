/// Tensors as the API takes and gives them: an element type, a shape, and dense row-major bytes.
#pragma once

#include "joule/Export.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace joule {

/// How one element is stored. The numbers are those of onnx.TensorProto.DataType.
enum class ElementType : int32_t {
  Undefined = 0,
  Float32 = 1,
  UInt8 = 2,
  Int8 = 3,
  UInt16 = 4,
  Int16 = 5,
  Int32 = 6,
  Int64 = 7,
  String = 8,
  Bool = 9,
  Float16 = 10,
  Float64 = 11,
  UInt32 = 12,
  UInt64 = 13,
  Complex64 = 14,
  Complex128 = 15,
  BFloat16 = 16,
  Float8E4M3FN = 17,
  Float8E4M3FNUZ = 18,
  Float8E5M2 = 19,
  Float8E5M2FNUZ = 20,
  UInt4 = 21,
  Int4 = 22,
  Float4E2M1 = 23,
  Float8E8M0 = 24,
  UInt2 = 25,
  Int2 = 26,
};

/// Bits of one element: a bool takes 8, an int4 takes 4; 0 for strings and unknown types.
JOULE_API unsigned bitsOf(ElementType type);

/// "float32", "int64", …; "undefined" for unknown types.
JOULE_API const char *nameOf(ElementType type);

/// Bytes of a dense tensor; small elements are packed without gaps and the last byte is filled up.
/// -1 where a size is negative, the type has no fixed size, or the product does not fit 63 bits.
JOULE_API int64_t bytesOf(ElementType type, const std::vector<int64_t> &shape);

/// "[2, 3]"; "[]" for a scalar.
JOULE_API std::string toString(const std::vector<int64_t> &shape);

/// Where memory is.
enum class Memory { Host, Device };

/// Somebody else's tensor, read only. The bytes must outlive the call that takes the view.
struct TensorView {
  ElementType type = ElementType::Undefined;
  std::vector<int64_t> shape;
  const void *data = nullptr; ///< a host pointer, or a device address as the driver gave it
  size_t bytes = 0;           ///< bytes that may be read at `data`
  Memory memory = Memory::Host;
};

/// Somebody else's memory for a result.
struct TensorBuffer {
  void *data = nullptr; ///< a host pointer, or a device address as the driver gave it
  size_t bytes = 0;     ///< bytes that may be written at `data`
  Memory memory = Memory::Host;
};

/// A tensor that owns its bytes, on the host.
struct Tensor {
  ElementType type = ElementType::Undefined;
  std::vector<int64_t> shape;
  std::vector<uint8_t> bytes;

  TensorView view() const { return {type, shape, bytes.data(), bytes.size(), Memory::Host}; }
};

/// One size of a tensor: a number, a symbol that all tensors of the model share, or unknown until a run ends.
struct Dimension {
  int64_t size = -1;  ///< -1 where `symbol` or only a run says it
  std::string symbol; ///< e.g. "batch"; empty where `size` is given or unknown
};

/// What a model says of an input or output.
struct TensorSpec {
  std::string name; ///< the ONNX name
  ElementType type = ElementType::Undefined;
  std::vector<Dimension> shape;
};

/// "[batch, 4]"; an unknown size prints as "?".
JOULE_API std::string toString(const std::vector<Dimension> &shape);

} // namespace joule
