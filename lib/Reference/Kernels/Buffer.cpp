// Buffers, and the conversion between what they store and what kernels compute in.
#include "lib/Reference/Kernels/Buffer.h"
#include "lib/Reference/Kernels/Elements.h"

#include <algorithm>
#include <cassert>
#include <cstring>

namespace joule::reference {

int64_t countOf(const Shape &shape) {
  int64_t count = 1;
  for (int64_t size : shape)
    count *= size;
  return count;
}

Shape stridesOf(const Shape &shape) {
  Shape strides(shape.size(), 1);
  for (size_t dim = shape.size(); dim-- > 1;)
    strides[dim - 1] = strides[dim] * shape[dim];
  return strides;
}

Bytes::Bytes(size_t size) : count(size) {
  // Zeroed by calloc: large blocks come from the system as they are and cost nothing until they are touched.
  std::shared_ptr<void> block(std::calloc(std::max<size_t>(size, 1), 1), std::free);
  begin = static_cast<const uint8_t *>(block.get());
  owner = std::move(block);
}

Bytes::Bytes(std::shared_ptr<const void> owner, const void *data, size_t size)
    : owner(std::move(owner)), begin(static_cast<const uint8_t *>(data)), count(size) {}

Buffer::Buffer(ElementType type, Shape shape) : type(type), shape(std::move(shape)) {
  if (type == ElementType::String)
    strings = std::make_shared<std::vector<std::string>>(count());
  else
    bytes = Bytes(bytesOf(type, this->shape));
}

Buffer::Buffer(ElementType type, Shape shape, Bytes bytes)
    : type(type), shape(std::move(shape)), bytes(std::move(bytes)) {}

Buffer::Buffer(Shape shape, std::vector<std::string> strings)
    : type(ElementType::String), shape(std::move(shape)),
      strings(std::make_shared<std::vector<std::string>>(std::move(strings))) {}

Buffer Buffer::as(ElementType other) const {
  assert(bitsOf(type) == bitsOf(other) && "read as a type of another width");
  Buffer buffer = *this;
  buffer.type = other;
  return buffer;
}

//===- What each type stores ---------------------------------------------------------------------------------

// A codec says how one element is stored, once elements narrower than a byte are spread out: `Bits` is what
// is stored, `decode` gives the number as the narrowest C++ type that holds it, `encode` rounds or wraps a
// number.

namespace {

template <typename T> struct Plain {
  using Bits = T;
  static T decode(T bits) { return bits; }
  template <typename C> static T encode(C value) {
    if constexpr (std::is_integral_v<T> && std::is_floating_point_v<C>)
      return truncateToInteger<T>(value);
    else
      return static_cast<T>(value);
  }
};

struct Boolean {
  using Bits = uint8_t;
  static uint8_t decode(uint8_t bits) { return bits != 0; }
  template <typename C> static uint8_t encode(C value) {
    if constexpr (std::is_floating_point_v<C>)
      return value != 0;
    else
      return value & 1;
  }
};

template <typename B, const FloatFormat &format> struct Narrow {
  using Bits = B;
  static float decode(B bits) {
    // There are few bit patterns, and models have many weights.
    static const std::vector<float> numbers = [] {
      std::vector<float> all;
      for (uint32_t pattern = 0; pattern <= std::numeric_limits<B>::max(); ++pattern)
        all.push_back(static_cast<float>(decodeFloat(format, pattern)));
      return all;
    }();
    return numbers[bits];
  }
  template <typename C> static B encode(C value) {
    return static_cast<B>(encodeFloat(format, static_cast<double>(value)));
  }
};

struct Power {
  using Bits = uint8_t;
  static float decode(uint8_t bits) { return static_cast<float>(decodePower(bits)); }
  template <typename C> static uint8_t encode(C value) { return encodePower(static_cast<double>(value)); }
};

template <unsigned bits, bool isSigned> struct NarrowInteger {
  using Bits = uint8_t;
  static int8_t decode(uint8_t stored) {
    if (isSigned && stored >> (bits - 1) & 1)
      return static_cast<int8_t>(stored - (1 << bits));
    return static_cast<int8_t>(stored);
  }
  template <typename C> static uint8_t encode(C value) {
    return static_cast<uint8_t>(Plain<int64_t>::encode(value)) & ((1 << bits) - 1);
  }
};

template <typename Visit> void visitCodec(ElementType type, Visit &&visit) {
  switch (type) {
  case ElementType::Float32:
    return visit(Plain<float>());
  case ElementType::Float64:
    return visit(Plain<double>());
  case ElementType::Int8:
    return visit(Plain<int8_t>());
  case ElementType::Int16:
    return visit(Plain<int16_t>());
  case ElementType::Int32:
    return visit(Plain<int32_t>());
  case ElementType::Int64:
    return visit(Plain<int64_t>());
  case ElementType::UInt8:
    return visit(Plain<uint8_t>());
  case ElementType::UInt16:
    return visit(Plain<uint16_t>());
  case ElementType::UInt32:
    return visit(Plain<uint32_t>());
  case ElementType::UInt64:
    return visit(Plain<uint64_t>());
  case ElementType::Bool:
    return visit(Boolean());
  case ElementType::Float16:
    return visit(Narrow<uint16_t, float16Format>());
  case ElementType::BFloat16:
    return visit(Narrow<uint16_t, bfloat16Format>());
  case ElementType::Float8E4M3FN:
    return visit(Narrow<uint8_t, float8E4M3FNFormat>());
  case ElementType::Float8E4M3FNUZ:
    return visit(Narrow<uint8_t, float8E4M3FNUZFormat>());
  case ElementType::Float8E5M2:
    return visit(Narrow<uint8_t, float8E5M2Format>());
  case ElementType::Float8E5M2FNUZ:
    return visit(Narrow<uint8_t, float8E5M2FNUZFormat>());
  case ElementType::Float4E2M1:
    return visit(Narrow<uint8_t, float4E2M1Format>());
  case ElementType::Float8E8M0:
    return visit(Power());
  case ElementType::UInt4:
    return visit(NarrowInteger<4, false>());
  case ElementType::Int4:
    return visit(NarrowInteger<4, true>());
  case ElementType::UInt2:
    return visit(NarrowInteger<2, false>());
  case ElementType::Int2:
    return visit(NarrowInteger<2, true>());
  case ElementType::Complex64:
  case ElementType::Complex128:
  case ElementType::String:
  case ElementType::Undefined:
    break;
  }
  assert(false && "no kernel computes with such elements");
}

template <typename T> T readUnaligned(const uint8_t *from) {
  T value;
  std::memcpy(&value, from, sizeof(T));
  return value;
}

} // namespace

Buffer spread(const Buffer &packed) {
  unsigned bits = bitsOf(packed.type);
  if (bits == 0 || bits >= 8)
    return packed;
  unsigned perByte = 8 / bits;
  Bytes spreadOut(packed.count());
  for (int64_t i = 0; i < packed.count(); ++i)
    spreadOut.mutableData()[i] = packed.bytes.data()[i / perByte] >> (i % perByte * bits) & ((1 << bits) - 1);
  return Buffer(packed.type, packed.shape, std::move(spreadOut));
}

Buffer gatherBits(const Buffer &spreadOut) {
  unsigned bits = bitsOf(spreadOut.type);
  if (bits == 0 || bits >= 8)
    return spreadOut;
  unsigned perByte = 8 / bits;
  Buffer packed(spreadOut.type, spreadOut.shape);
  for (int64_t i = 0; i < spreadOut.count(); ++i)
    packed.bytes.mutableData()[i / perByte] |= spreadOut.bytes.data()[i] << (i % perByte * bits);
  return packed;
}

template <typename C> Values<C>::Values(const Buffer &packed) {
  Buffer buffer = spread(packed);
  int64_t count = buffer.count();
  visitCodec(buffer.type, [&](auto codec) {
    using Codec = decltype(codec);
    using Bits = typename Codec::Bits;
    bool aligned = reinterpret_cast<uintptr_t>(buffer.bytes.data()) % alignof(C) == 0;
    if (std::is_same_v<Codec, Plain<C>> && aligned) {
      shared = buffer.bytes;
      begin = reinterpret_cast<const C *>(shared.data());
      return;
    }
    converted.resize(count);
    for (int64_t i = 0; i < count; ++i)
      converted[i] =
          Plain<C>::encode(Codec::decode(readUnaligned<Bits>(buffer.bytes.data() + i * sizeof(Bits))));
    begin = converted.data();
  });
}

template <typename C> Buffer store(ElementType type, Shape shape, std::vector<C> values) {
  Buffer result;
  visitCodec(type, [&](auto codec) {
    using Codec = decltype(codec);
    using Bits = typename Codec::Bits;
    if constexpr (std::is_same_v<Codec, Plain<C>>) {
      auto kept = std::make_shared<std::vector<C>>(std::move(values));
      result = Buffer(type, std::move(shape), Bytes(kept, kept->data(), kept->size() * sizeof(C)));
      return;
    }
    Bytes bytes(values.size() * sizeof(Bits));
    auto *to = reinterpret_cast<Bits *>(bytes.mutableData());
    for (size_t i = 0; i < values.size(); ++i)
      to[i] = Codec::encode(values[i]);
    result = gatherBits(Buffer(type, std::move(shape), std::move(bytes)));
  });
  return result;
}

double roundTo(ElementType type, double x) {
  double rounded = x;
  visitCodec(type, [&](auto codec) { rounded = static_cast<double>(codec.decode(codec.encode(x))); });
  return rounded;
}

#define JOULE_INSTANTIATE(C)                                                                                 \
  template class Values<C>;                                                                                  \
  template Buffer store<C>(ElementType, Shape, std::vector<C>);
JOULE_INSTANTIATE(float)
JOULE_INSTANTIATE(double)
JOULE_INSTANTIATE(int64_t)
JOULE_INSTANTIATE(uint64_t)
#undef JOULE_INSTANTIATE

//===- Single elements ---------------------------------------------------------------------------------------

/// The element at `position` as a tensor of one.
static Buffer single(const Buffer &buffer, int64_t position) {
  Buffer one = buffer;
  if (bitsOf(buffer.type) < 8)
    one = spread(buffer);
  size_t size = std::max(1u, bitsOf(buffer.type) / 8);
  Bytes element(size);
  std::memcpy(element.mutableData(), one.bytes.data() + position * size, size);
  return Buffer(buffer.type, {}, std::move(element));
}

int64_t Buffer::integer(int64_t position) const { return Values<int64_t>(single(*this, position))[0]; }
double Buffer::number(int64_t position) const { return Values<double>(single(*this, position))[0]; }

Buffer makeIntegers(ElementType type, const Shape &shape, const std::vector<int64_t> &values) {
  return store<int64_t>(type, shape, values);
}
Buffer makeFloats(ElementType type, const Shape &shape, const std::vector<double> &values) {
  return store<double>(type, shape, values);
}
Buffer scalar(ElementType type, int64_t value) { return makeIntegers(type, {}, {value}); }
Buffer scalar(ElementType type, double value) { return makeFloats(type, {}, {value}); }

} // namespace joule::reference
