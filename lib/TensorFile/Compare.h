// Whether two tensors are equal within a tolerance, and how far apart they are.
#pragma once

#include "joule/Tensor.h"

#include <optional>
#include <string>

namespace joule {

/// Elements a and b are equal where |a - b| <= absolute + relative * |b|, or both are the same infinity, or
/// both NaN.
struct Tolerance {
  double relative = 1e-3;
  double absolute = 1e-7;
};

struct Difference {
  double absolute = 0;          ///< the largest |a - b|; infinite where exactly one is NaN or infinite
  double relative = 0;          ///< the largest |a - b| / |b| over b that are not zero
  int64_t unequal = 0;          ///< elements beyond the tolerance
  int64_t worst = -1;           ///< the element farthest beyond it, in row-major order; -1: none is
  double found = 0, wanted = 0; ///< that element on both sides
};

/// Compares two tensors of one type and shape, element by element; complex ones part by part.
Difference compare(const Tensor &found, const Tensor &wanted, const Tolerance &tolerance);

/// One sentence on how `found` differs from `wanted`, in type, shape or value; nothing where it does not.
std::optional<std::string> explainDifference(const Tensor &found, const Tensor &wanted,
                                             const Tolerance &tolerance);

} // namespace joule
