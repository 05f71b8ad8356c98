// The public tensor and the reference's buffer hold the same bytes under the same type numbers.
#include "lib/TensorFile/Elements.h"

namespace joule {

reference::Buffer viewAsBuffer(const Tensor &tensor) {
  std::vector<int64_t> shape = tensor.shape;
  ElementType type = tensor.type;
  if (type == ElementType::Complex64 || type == ElementType::Complex128) {
    shape.push_back(2);
    type = type == ElementType::Complex64 ? ElementType::Float32 : ElementType::Float64;
  }
  return reference::Buffer(type, shape, reference::Bytes(nullptr, tensor.bytes.data(), tensor.bytes.size()));
}

Tensor toTensor(const reference::Buffer &buffer) {
  const uint8_t *begin = buffer.bytes.data();
  return {buffer.type, buffer.shape, {begin, begin + buffer.bytes.size()}};
}

std::vector<double> elementsOf(const Tensor &tensor) {
  reference::Buffer buffer = viewAsBuffer(tensor);
  std::vector<double> elements(static_cast<size_t>(buffer.count()));
  for (size_t i = 0; i < elements.size(); ++i)
    elements[i] = buffer.number(static_cast<int64_t>(i));
  return elements;
}

} // namespace joule
