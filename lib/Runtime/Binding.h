// Matches the tensors of a run with the inputs of a plan.
#pragma once

#include "joule/Error.h"
#include "joule/Tensor.h"
#include "lib/Artifact/plan.pb.h"

#include <map>
#include <string>
#include <vector>

namespace joule {

struct Binding {
  std::vector<const TensorView *> inputs; ///< in the plan's order
  std::vector<int64_t> symbols;           ///< values, in the plan's order
};

/// Checks names, types, shapes and bytes; equal symbols must be equal sizes. `specs` is what the plan says of
/// its inputs, for messages. The views must outlive the binding.
Result<Binding> bindInputs(const plan::Plan &plan, const std::vector<TensorSpec> &specs,
                           const std::map<std::string, TensorView> &tensors);

} // namespace joule
