// Every element as a double, as the official runner compares them.
#include "lib/TensorFile/Compare.h"

#include "lib/TensorFile/Elements.h"

#include <cmath>
#include <cstring>
#include <fmt/format.h>
#include <limits>

namespace joule {

/// How far apart two numbers are; 0 for equal infinities and for two NaNs.
static double distance(double a, double b) {
  if (a == b || (std::isnan(a) && std::isnan(b)))
    return 0;
  double apart = std::fabs(a - b);
  return std::isnan(apart) ? std::numeric_limits<double>::infinity() : apart;
}

Difference compare(const Tensor &found, const Tensor &wanted, const Tolerance &tolerance) {
  Difference difference;
  if (found.bytes == wanted.bytes)
    return difference;
  reference::Buffer left = viewAsBuffer(found), right = viewAsBuffer(wanted);
  double worstExcess = 0;
  for (int64_t i = 0, count = left.count(); i < count; ++i) {
    double a = left.number(i), b = right.number(i);
    double apart = distance(a, b);
    if (apart == 0)
      continue;
    difference.absolute = std::max(difference.absolute, apart);
    if (b != 0)
      difference.relative = std::max(difference.relative, std::isinf(b) ? apart : apart / std::fabs(b));
    // An infinite `b` would allow everything.
    double allowed = std::isfinite(b) ? tolerance.absolute + tolerance.relative * std::fabs(b) : 0;
    double excess = apart - allowed;
    if (excess <= 0)
      continue;
    ++difference.unequal;
    if (difference.worst >= 0 && excess <= worstExcess)
      continue;
    worstExcess = excess;
    difference.worst = i;
    difference.found = a;
    difference.wanted = b;
  }
  return difference;
}

std::optional<std::string> explainDifference(const Tensor &found, const Tensor &wanted,
                                             const Tolerance &tolerance) {
  if (found.type != wanted.type)
    return fmt::format("the type is {} instead of {}", nameOf(found.type), nameOf(wanted.type));
  if (found.shape != wanted.shape)
    return fmt::format("the shape is {} instead of {}", toString(found.shape), toString(wanted.shape));
  Difference difference = compare(found, wanted, tolerance);
  if (difference.unequal == 0)
    return std::nullopt;
  return fmt::format("{} of {} elements differ; element {} is {} instead of {}", difference.unequal,
                     viewAsBuffer(found).count(), difference.worst, difference.found, difference.wanted);
}

} // namespace joule
