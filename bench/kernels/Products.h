/// Matrix products and convolutions whose cost is counted.
#pragma once

#include "lib/Reference/Kernels/Buffer.h"

#include <cstdint>
#include <string>
#include <vector>

namespace joule::bench {

/// A function of the nn level for RunKernel.h, and what it has to do at least.
struct Product {
  std::string name;
  std::string function;
  std::vector<reference::Buffer> inputs;
  double products; ///< multiply-adds
  double bytes;    ///< of inputs and result, each once
};

/// A convolution with a bias, its window padded so that a stride of 1 keeps the size.
struct Conv {
  const char *name;
  int64_t channels, size, filters, window, stride, groups = 1;
};

Product product(const Conv &conv);

/// A matrix product; where `turned`, the right operand is stored with its columns as rows.
Product product(int64_t rows, int64_t columns, int64_t depth, bool turned, const std::string &type = "f32");

} // namespace joule::bench
