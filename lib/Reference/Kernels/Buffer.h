/// Typed tensors in host memory, the values that the reference computes with.
#pragma once

#include "lib/Reference/Kernels/ElementType.h"
#include "lib/Reference/Kernels/Result.h"

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

namespace joule::reference {

/// Sizes of a tensor, outermost first.
using Shape = std::vector<int64_t>;

/// The number of elements; 1 for a scalar.
int64_t countOf(const Shape &shape);

/// Row-major strides, in elements.
Shape stridesOf(const Shape &shape);

/// A run of bytes that may be shared, so that a copied buffer costs nothing. Bytes are written only by the
/// one who made them, before handing them on.
class Bytes {
public:
  Bytes() = default;

  /// `size` bytes of zero.
  explicit Bytes(size_t size);

  /// Bytes that `owner` keeps alive, for example a mapped file.
  Bytes(std::shared_ptr<const void> owner, const void *data, size_t size);

  const uint8_t *data() const { return begin; }
  size_t size() const { return count; }

  /// For the maker only. Not for bytes that belong to another owner.
  uint8_t *mutableData() { return const_cast<uint8_t *>(begin); }

private:
  std::shared_ptr<const void> owner;
  const uint8_t *begin = nullptr;
  size_t count = 0;
};

/// A dense row-major tensor. Elements narrower than a byte are packed without gaps, the first in the lowest
/// bits.
struct Buffer {
  ElementType type = ElementType::Undefined;
  Shape shape;
  Bytes bytes;
  /// The elements of a tensor of strings, whose `bytes` are empty.
  std::shared_ptr<const std::vector<std::string>> strings;

  Buffer() = default;

  /// Zeros.
  Buffer(ElementType type, Shape shape);
  Buffer(ElementType type, Shape shape, Bytes bytes);
  Buffer(Shape shape, std::vector<std::string> strings);

  int64_t count() const { return countOf(shape); }

  /// The same bytes read as another type of that width.
  Buffer as(ElementType other) const;

  /// The same integers read as signed or unsigned; other types as they are.
  Buffer withSign(bool isUnsigned) const { return as(reference::withSign(type, isUnsigned)); }

  /// One element as a number; for scalars and small tensors.
  int64_t integer(int64_t position = 0) const;
  double number(int64_t position = 0) const;
};

/// A buffer of the given elements, rounded or wrapped to `type`.
Buffer makeIntegers(ElementType type, const Shape &shape, const std::vector<int64_t> &values);
Buffer makeFloats(ElementType type, const Shape &shape, const std::vector<double> &values);

/// A tensor of rank 0.
Buffer scalar(ElementType type, int64_t value);
Buffer scalar(ElementType type, double value);

} // namespace joule::reference
