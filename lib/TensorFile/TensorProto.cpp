// onnx.TensorProto: raw bytes, or one of several lists by type.
#include "lib/TensorFile/ReadWhole.h"
#include "lib/TensorFile/TensorFile.h"

#include "onnx/onnx-ml.pb.h"

#include <cstring>
#include <fmt/format.h>

namespace joule {

static Error invalid(const std::string &path, const std::string &what) {
  return {ErrorCode::TensorFileInvalid, fmt::format("cannot read a tensor from \"{}\": {}", path, what), ""};
}

/// Appends the low `width` bytes of each value.
template <typename List> static void append(std::vector<uint8_t> &bytes, const List &values, size_t width) {
  for (auto value : values) {
    const auto *begin = reinterpret_cast<const uint8_t *>(&value);
    bytes.insert(bytes.end(), begin, begin + width);
  }
}

/// The elements from the list that the type uses. Values of types narrower than a byte lie there as they are
/// packed.
static std::vector<uint8_t> listedBytes(const onnx::TensorProto &proto, ElementType type) {
  std::vector<uint8_t> bytes;
  size_t width = std::max(1u, bitsOf(type) / 8);
  switch (type) {
  case ElementType::Float32:
  case ElementType::Complex64:
    append(bytes, proto.float_data(), sizeof(float));
    break;
  case ElementType::Float64:
  case ElementType::Complex128:
    append(bytes, proto.double_data(), sizeof(double));
    break;
  case ElementType::Int64:
    append(bytes, proto.int64_data(), width);
    break;
  case ElementType::UInt32:
  case ElementType::UInt64:
    append(bytes, proto.uint64_data(), width);
    break;
  default:
    append(bytes, proto.int32_data(), width);
  }
  return bytes;
}

Result<NamedTensor> readTensorProto(const std::string &path) {
  Result<std::string> bytes = readWhole(path);
  if (!bytes)
    return bytes.error();
  onnx::TensorProto proto;
  if (!proto.ParseFromString(*bytes))
    return invalid(path, "it holds no TensorProto");
  NamedTensor result;
  result.name = proto.name();
  Tensor &tensor = result.tensor;
  tensor.type = static_cast<ElementType>(proto.data_type());
  tensor.shape.assign(proto.dims().begin(), proto.dims().end());
  if (proto.data_location() == onnx::TensorProto::EXTERNAL)
    return invalid(path, "its elements lie in another file");
  if (bitsOf(tensor.type) == 0)
    return invalid(path, fmt::format("its elements are of type {}", nameOf(tensor.type)));
  if (proto.has_raw_data())
    tensor.bytes.assign(proto.raw_data().begin(), proto.raw_data().end());
  else
    tensor.bytes = listedBytes(proto, tensor.type);
  int64_t wanted = bytesOf(tensor.type, tensor.shape);
  if (wanted < 0 || tensor.bytes.size() != static_cast<size_t>(wanted))
    return invalid(path, fmt::format("it holds {} bytes, and {} of {} need {}", tensor.bytes.size(),
                                     toString(tensor.shape), nameOf(tensor.type), wanted));
  return result;
}

} // namespace joule
