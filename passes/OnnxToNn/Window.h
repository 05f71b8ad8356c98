// Windows that slide over spatial dimensions.
#pragma once

#include "passes/OnnxToNn/Translator.h"

namespace joule::translate {

/// A window as a node states it, and, once placed, its paddings and how often it fits.
struct Window {
  SmallVector<int64_t> size, strides, dilations, pads;
  llvm::StringRef mode; // auto_pad
  Sizes low, high, outputs;
};

/// The node's window of `size` over `spatial` dimensions, checked.
FailureOr<Window> readWindow(Node &node, int64_t spatial, llvm::ArrayRef<int64_t> size);

/// Finds the window's paddings and the result's sizes over an input of `spatialSizes`.
LogicalResult placeWindow(Node &node, Window &window, llvm::ArrayRef<Index> spatialSizes);

/// nn's windows have constant paddings: where the window's are not, `value` of `sizes` is padded with `fill` first.
Value padWhereUnknown(Node &node, Window &window, Value value, Sizes &sizes, Value fill);

/// The window's paddings before the input, which are constant.
SmallVector<int64_t> knownLow(const Window &window);

/// The convolution of `input` and `filter` that the node's attributes describe, with elements of `resultType`. Both
/// tensors hold their values.
FailureOr<Tensor> convolve(Node &node, Tensor input, Tensor filter, int resultType);

} // namespace joule::translate
