// The standard's generators are the same everywhere, its distributions are not: those are written out here.
#include "tools/joule/RandomTensor.h"

#include "lib/TensorFile/Elements.h"

#include <cmath>
#include <fmt/format.h>
#include <random>

namespace joule::cli {

static bool isFloating(ElementType type) {
  switch (type) {
  case ElementType::Bool:
  case ElementType::Int2:
  case ElementType::Int4:
  case ElementType::Int8:
  case ElementType::Int16:
  case ElementType::Int32:
  case ElementType::Int64:
  case ElementType::UInt2:
  case ElementType::UInt4:
  case ElementType::UInt8:
  case ElementType::UInt16:
  case ElementType::UInt32:
  case ElementType::UInt64:
    return false;
  default:
    return true;
  }
}

static Range defaultRange(ElementType type) {
  if (isFloating(type))
    return {-1, 1};
  switch (bitsOf(type)) {
  case 2:
    return {0, 2};
  case 4:
    return {0, 8};
  default:
    return {0, 10};
  }
}

Result<Tensor> makeRandomTensor(ElementType type, const std::vector<int64_t> &shape,
                                std::optional<Range> range, uint64_t seed) {
  bool isComplex = type == ElementType::Complex64 || type == ElementType::Complex128;
  int64_t bytes = bytesOf(type, shape);
  if (bytes < 0 && bitsOf(type) != 0)
    return Error{ErrorCode::InputShape,
                 fmt::format("elements of shape {} cannot be made up: they are too many to count", toString(shape)), ""};
  if (isComplex || bytes < 0)
    return Error{ErrorCode::InputType,
                 fmt::format("cannot make up {} elements of shape {}", nameOf(type), toString(shape)), ""};
  Range within = type == ElementType::Bool ? Range{0, 2} : range.value_or(defaultRange(type));
  std::mt19937_64 generator(seed);
  auto uniform = [&] {
    return within.low + (within.high - within.low) * std::ldexp(double(generator() >> 11), -53);
  };
  size_t count = static_cast<size_t>(reference::countOf(shape));
  if (isFloating(type)) {
    std::vector<double> values(count);
    for (double &value : values)
      value = uniform();
    return toTensor(reference::makeFloats(type, shape, values));
  }
  std::vector<int64_t> values(count);
  for (int64_t &value : values)
    value = static_cast<int64_t>(std::floor(uniform()));
  return toTensor(reference::makeIntegers(type, shape, values));
}

} // namespace joule::cli
