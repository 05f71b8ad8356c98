// Conversions between element types.
#include "lib/Reference/Kernels/Kernels.h"
#include "lib/Reference/Kernels/Walk.h"

namespace joule::reference {

static Buffer castToBool(const Buffer &input) {
  return withComputeType(input.type, [&](auto compute) {
    Values<decltype(compute)> values(input);
    Buffer result(ElementType::Bool, input.shape);
    for (int64_t i = 0; i < result.count(); ++i)
      result.bytes.mutableData()[i] = values[i] != 0;
    return result;
  });
}

/// `value` clamped to the range of an integer type, as far as C reaches.
template <typename C> static C clampTo(ElementType type, C value) {
  unsigned unused = 64 - bitsOf(type);
  if constexpr (std::is_unsigned_v<C>)
    return std::min<uint64_t>(value, isUnsigned(type) ? UINT64_MAX >> unused : INT64_MAX >> unused);
  else if (isUnsigned(type))
    return std::clamp<int64_t>(value, 0,
                               unused == 0 ? INT64_MAX : static_cast<int64_t>(UINT64_MAX >> unused));
  else
    return std::clamp<int64_t>(value, INT64_MIN >> unused, INT64_MAX >> unused);
}

/// Truncates toward zero and clamps to `type`.
static Buffer floatsToIntegers(const Buffer &input, ElementType type) {
  Values<double> values(input);
  auto convert = [&](auto compute) {
    using C = decltype(compute);
    std::vector<C> results(input.count());
    for (size_t i = 0; i < results.size(); ++i)
      results[i] = clampTo<C>(type, truncateToInteger<C>(values[i]));
    return store<C>(type, input.shape, std::move(results));
  };
  return isUnsigned(type) ? convert(uint64_t()) : convert(int64_t());
}

static Buffer integersToIntegers(const Buffer &input, ElementType type, bool saturate) {
  auto convert = [&](auto compute) {
    using C = decltype(compute);
    Values<C> values(input);
    std::vector<C> results(input.count());
    for (size_t i = 0; i < results.size(); ++i)
      results[i] = saturate ? clampTo<C>(type, values[i]) : values[i];
    return store<C>(type, input.shape, std::move(results));
  };
  return isUnsigned(input.type) ? convert(uint64_t()) : convert(int64_t());
}

Buffer wrap(const Buffer &input, ElementType type) {
  return integersToIntegers(input, type, /*saturate=*/false);
}

/// The format of floats narrower than f16, which saturate on request.
static const FloatFormat *saturatingFormat(ElementType type) {
  switch (type) {
  case ElementType::Float8E4M3FN:
    return &float8E4M3FNFormat;
  case ElementType::Float8E4M3FNUZ:
    return &float8E4M3FNUZFormat;
  case ElementType::Float8E5M2:
    return &float8E5M2Format;
  case ElementType::Float8E5M2FNUZ:
    return &float8E5M2FNUZFormat;
  case ElementType::Float4E2M1:
    return &float4E2M1Format;
  default:
    return nullptr;
  }
}

static Buffer toNarrowFloats(const Buffer &input, ElementType type, const CastOptions &options) {
  const FloatFormat *format = saturatingFormat(type);
  Values<double> values(input);
  Bytes bytes(input.count());
  for (int64_t i = 0; i < input.count(); ++i)
    bytes.mutableData()[i] = format ? encodeFloat(*format, values[i], options.saturate)
                                    : encodePower(values[i], options.rounding, options.saturate);
  return gatherBits(Buffer(type, input.shape, std::move(bytes)));
}

/// Numbers to wide floats, rounded once.
static Buffer toFloats(const Buffer &input, ElementType type) {
  auto convert = [&](auto from, auto to) {
    Values<decltype(from)> values(input);
    std::vector<decltype(to)> results(input.count());
    for (size_t i = 0; i < results.size(); ++i)
      results[i] = static_cast<decltype(to)>(values[i]);
    return store<decltype(to)>(type, input.shape, std::move(results));
  };
  bool toSingle = type == ElementType::Float32;
  // A 64-bit integer goes to f32 without passing through a double, which would round twice.
  if (isFloat(input.type))
    return toSingle ? convert(double(), float()) : convert(double(), double());
  if (isUnsigned(input.type))
    return toSingle ? convert(uint64_t(), float()) : convert(uint64_t(), double());
  return toSingle ? convert(int64_t(), float()) : convert(int64_t(), double());
}

Buffer castTo(const Buffer &input, ElementType type, const CastOptions &options) {
  if (input.type == type)
    return input;
  if (type == ElementType::Bool)
    return castToBool(input);
  if (isFloat(type))
    return saturatingFormat(type) || type == ElementType::Float8E8M0 ? toNarrowFloats(input, type, options)
                                                                     : toFloats(input, type);
  if (isFloat(input.type))
    return floatsToIntegers(input, type);
  return integersToIntegers(input, type, options.saturate);
}

Buffer bitcast(const Buffer &input, ElementType type) { return input.as(type); }

} // namespace joule::reference
