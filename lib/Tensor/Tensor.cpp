// Element types and the sizes of tensors.
#include "joule/Tensor.h"

namespace joule {

namespace {
struct Row {
  const char *name;
  unsigned bits;
};
} // namespace

// In the order of onnx.TensorProto.DataType.
static const Row rows[] = {
    {"undefined", 0},      {"float32", 32},  {"uint8", 8},        {"int8", 8},           {"uint16", 16},
    {"int16", 16},         {"int32", 32},    {"int64", 64},       {"string", 0},         {"bool", 8},
    {"float16", 16},       {"float64", 64},  {"uint32", 32},      {"uint64", 64},        {"complex64", 64},
    {"complex128", 128},   {"bfloat16", 16}, {"float8e4m3fn", 8}, {"float8e4m3fnuz", 8}, {"float8e5m2", 8},
    {"float8e5m2fnuz", 8}, {"uint4", 4},     {"int4", 4},         {"float4e2m1", 4},     {"float8e8m0", 8},
    {"uint2", 2},          {"int2", 2},
};

static const Row &rowOf(ElementType type) {
  auto number = static_cast<size_t>(type);
  return number < sizeof rows / sizeof rows[0] ? rows[number] : rows[0];
}

unsigned bitsOf(ElementType type) { return rowOf(type).bits; }

const char *nameOf(ElementType type) { return rowOf(type).name; }

int64_t bytesOf(ElementType type, const std::vector<int64_t> &shape) {
  unsigned bits = bitsOf(type);
  if (bits == 0)
    return -1;
  bool empty = false;
  for (int64_t size : shape) {
    if (size < 0)
      return -1;
    empty |= size == 0;
  }
  if (empty)
    return 0;
  int64_t total = bits;
  for (int64_t size : shape)
    if (__builtin_mul_overflow(total, size, &total))
      return -1;
  return total / 8 + (total % 8 != 0);
}

template <typename Range, typename Print> static std::string bracketed(const Range &range, Print print) {
  std::string text = "[";
  for (const auto &item : range)
    text += (text.size() > 1 ? ", " : "") + print(item);
  return text + "]";
}

std::string toString(const std::vector<int64_t> &shape) {
  return bracketed(shape, [](int64_t size) { return std::to_string(size); });
}

std::string toString(const std::vector<Dimension> &shape) {
  return bracketed(shape, [](const Dimension &dimension) {
    if (!dimension.symbol.empty())
      return dimension.symbol;
    return dimension.size < 0 ? std::string("?") : std::to_string(dimension.size);
  });
}

} // namespace joule
