/// Inputs and functions for tests of kernels.
#pragma once

#include "lib/Reference/Kernels/Buffer.h"

#include <string>
#include <vector>

namespace joule::test {

/// A tensor of small whole numbers from a fixed sequence, so that sums of products are exact in any order.
reference::Buffer wholeNumbers(const std::string &type, const std::vector<int64_t> &shape, unsigned seed,
                               int64_t least = -3, int64_t most = 3);

/// "8x16xf32", "8x?xf32" with the dimensions in `dynamic` left open.
std::string tensorType(const std::vector<int64_t> &shape, const std::string &type,
                       const std::vector<unsigned> &dynamic = {});

} // namespace joule::test
