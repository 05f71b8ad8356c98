// Tensors made up for a run, the same for the same seed on every machine.
#pragma once

#include "joule/Error.h"
#include "joule/Tensor.h"

#include <cstdint>
#include <optional>

namespace joule::cli {

/// Numbers from `low` up to, but not including, `high`.
struct Range {
  double low, high;
};

/// Uniform numbers; where no range is given, floats are between -1 and 1 and integers between 0 and 9.
/// Booleans are either. Error: InputType, where elements of that type cannot be made up.
Result<Tensor> makeRandomTensor(ElementType type, const std::vector<int64_t> &shape,
                                std::optional<Range> range, uint64_t seed);

} // namespace joule::cli
