/// Combining two values, as reductions, windows and scatters do.
#pragma once

#include "lib/Reference/Kernels/Elements.h"
#include "lib/Reference/Kernels/Kernels.h"

namespace joule::reference {

/// What values of C are combined in: doubles for floats, the integers themselves.
template <typename C> using Accumulator = std::conditional_t<std::is_floating_point_v<C>, double, C>;

/// `combiner` with `input`'s type made to fit it: integers as it reads them. A signed "max" of one-bit
/// numbers, 0 and -1, is the "min" of bools, 0 and 1.
struct TypedCombiner {
  Combiner combiner;
  ElementType type;
};

inline TypedCombiner typedCombiner(Combiner combiner, ElementType type) {
  if (type == ElementType::Bool && combiner == Combiner::Max)
    return {Combiner::Min, type};
  if (type == ElementType::Bool && combiner == Combiner::Min)
    return {Combiner::Max, type};
  if (combiner == Combiner::UnsignedMax)
    return {Combiner::Max, withSign(type, true)};
  if (combiner == Combiner::UnsignedMin)
    return {Combiner::Min, withSign(type, true)};
  if (combiner == Combiner::Max || combiner == Combiner::Min)
    return {combiner, withSign(type, false)};
  return {combiner, type};
}

template <typename A> A greater(A a, A b) {
  if constexpr (std::is_floating_point_v<A>)
    if (std::isnan(a) || std::isnan(b))
      return std::numeric_limits<A>::quiet_NaN();
  return a < b ? b : a;
}

template <typename A> A lesser(A a, A b) {
  if constexpr (std::is_floating_point_v<A>)
    if (std::isnan(a) || std::isnan(b))
      return std::numeric_limits<A>::quiet_NaN();
  return b < a ? b : a;
}

/// An order of all values in which NaN is the greatest.
template <typename C> bool isGreater(C a, C b) {
  if constexpr (std::is_floating_point_v<C>)
    if (std::isnan(a) || std::isnan(b))
      return std::isnan(a) && !std::isnan(b);
  return a > b;
}

/// Sums and products that wrap where integers overflow.
template <typename A> A sum(A a, A b) {
  if constexpr (std::is_floating_point_v<A>)
    return a + b;
  else
    return static_cast<A>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
}

template <typename A> A product(A a, A b) {
  if constexpr (std::is_floating_point_v<A>)
    return a * b;
  else
    return static_cast<A>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b));
}

/// `combiner` comes from typedCombiner.
template <typename A> A combine(Combiner combiner, A a, A b) {
  switch (combiner) {
  case Combiner::Sum:
    return sum(a, b);
  case Combiner::Product:
    return product(a, b);
  case Combiner::Max:
    return greater(a, b);
  default:
    return lesser(a, b);
  }
}

/// The least and the greatest value of `type`; infinities for floats.
template <typename A> A lowest(ElementType type) {
  if constexpr (std::is_floating_point_v<A>)
    return -std::numeric_limits<A>::infinity();
  else
    return isInteger(type) && !isUnsigned(type) ? static_cast<A>(INT64_MIN >> (64 - bitsOf(type))) : 0;
}

template <typename A> A highest(ElementType type) {
  if constexpr (std::is_floating_point_v<A>)
    return std::numeric_limits<A>::infinity();
  else if (type == ElementType::Bool)
    return 1;
  else
    return static_cast<A>(isUnsigned(type) ? UINT64_MAX >> (64 - bitsOf(type))
                                           : INT64_MAX >> (64 - bitsOf(type)));
}

/// The value that changes nothing when combined.
template <typename A> A neutral(Combiner combiner, ElementType type) {
  switch (combiner) {
  case Combiner::Sum:
    return 0;
  case Combiner::Product:
    return 1;
  case Combiner::Max:
    return lowest<A>(type);
  default:
    return highest<A>(type);
  }
}

/// The narrow value of a wide accumulator, rounded on the way to `accumulate` where given.
template <typename C> C narrow(Accumulator<C> value, const Precision &precision) {
  if constexpr (std::is_floating_point_v<C>)
    if (precision.accumulate && isFloat(*precision.accumulate))
      return static_cast<C>(roundTo(*precision.accumulate, value));
  return static_cast<C>(value);
}

} // namespace joule::reference
