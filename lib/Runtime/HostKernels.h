// Operations that the host computes because the sizes of their results follow from data.
#pragma once

#include "joule/Error.h"
#include "joule/Tensor.h"

#include <functional>
#include <map>
#include <string>
#include <vector>

namespace joule {

/// Computes the results of a HostCall: `inputs` lie on the host; `attributes` is the call's JSON. The
/// results' types and ranks must be those that the plan states.
using HostKernel = std::function<Result<std::vector<Tensor>>(const std::vector<TensorView> &inputs,
                                                             const std::string &attributes)>;

/// Host kernels by the names that plans use.
using HostKernels = std::map<std::string, HostKernel>;

/// Those that every session has.
const HostKernels &standardHostKernels();

} // namespace joule
