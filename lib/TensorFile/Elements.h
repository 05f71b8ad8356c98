// The elements of a tensor as numbers.
#pragma once

#include "joule/Tensor.h"
#include "lib/Reference/Kernels/Buffer.h"

#include <vector>

namespace joule {

/// The tensor as the reference kernels take it, without a copy: `tensor` must outlive the result. A complex
/// number is two elements along a last dimension of its own.
reference::Buffer viewAsBuffer(const Tensor &tensor);

/// A copy of what `buffer` holds, which must not be strings.
Tensor toTensor(const reference::Buffer &buffer);

/// Every element, in row-major order.
std::vector<double> elementsOf(const Tensor &tensor);

} // namespace joule
