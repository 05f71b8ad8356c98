// Elements that are constant, whatever operations stand between them and the model's constants.
#pragma once

#include "lib/Reference/Kernels/Buffer.h"
#include "passes/OnnxToNn/Translator.h"

namespace joule::translate {

/// The elements of `value` where constants alone decide them, computed by the reference. Meant for small tensors, such
/// as the scales of a Resize. Large ones are folded by a pass of the nn level.
std::optional<reference::Buffer> constantValue(Value value);

/// The elements of an input as reals; an error where only a run brings them.
FailureOr<SmallVector<double>> constantReals(Node &node, int64_t input);

} // namespace joule::translate
