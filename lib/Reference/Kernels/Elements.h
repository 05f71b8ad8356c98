/// Reading and writing the elements of buffers as the few types that kernels compute in.
#pragma once

#include "lib/Reference/Kernels/Buffer.h"
#include "lib/Reference/Kernels/SmallFloat.h"

#include <cmath>
#include <limits>
#include <type_traits>

namespace joule::reference {

/// The elements of a buffer as C, one of float, double, int64_t and uint64_t: in place where the buffer holds
/// C, else converted. A bool reads as 0 or 1.
template <typename C> class Values {
public:
  explicit Values(const Buffer &buffer);

  C operator[](int64_t position) const { return begin[position]; }
  const C *data() const { return begin; }

private:
  Bytes shared;
  std::vector<C> converted;
  const C *begin;
};

/// A buffer of `values`: floats are rounded to nearest even and overflow to infinity, integers wrap, a bool
/// keeps the lowest bit. Floats go to floats and integers to integers; nn.cast crosses over.
template <typename C> Buffer store(ElementType type, Shape shape, std::vector<C> values);

/// `x` as it reads back after it was stored as `type`.
double roundTo(ElementType type, double x);

/// Elements that are narrower than a byte, one per byte, and back. Other buffers as they are.
Buffer spread(const Buffer &packed);
Buffer gatherBits(const Buffer &spreadOut);

/// Calls `visit(C())` with the type that elements of `type` are computed in: float for floats up to 32 bits,
/// double, int64_t for signed integers and bools, uint64_t for unsigned ones.
template <typename Visit> auto withComputeType(ElementType type, Visit &&visit) {
  if (type == ElementType::Float64)
    return visit(double());
  if (isFloat(type))
    return visit(float());
  if (isUnsigned(type))
    return visit(uint64_t());
  return visit(int64_t());
}

/// What sums of C are kept in: doubles for floats, since the reference is to be more exact than what is
/// measured by it; unsigned integers, in which overflow wraps, for integers.
template <typename C> using Sum = std::conditional_t<std::is_floating_point_v<C>, double, uint64_t>;

/// `x` truncated toward zero and clamped to T; NaN gives 0.
template <typename T> T truncateToInteger(double x) {
  if (std::isnan(x))
    return 0;
  // The limits of wide integers are no doubles; the bounds below are powers of two, which are.
  const double low = static_cast<double>(std::numeric_limits<T>::min());
  const double high = std::ldexp(1.0, std::numeric_limits<T>::digits);
  x = std::trunc(x);
  if (x <= low)
    return std::numeric_limits<T>::min();
  if (x >= high)
    return std::numeric_limits<T>::max();
  return static_cast<T>(x);
}

} // namespace joule::reference
