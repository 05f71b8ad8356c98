// A model as the reference computes it: plainly, on the host, without any pass that improves it.
#pragma once

#include "joule/Error.h"
#include "joule/Tensor.h"

#include <map>
#include <string>

namespace joule {

/// The outputs of the model in the file `model` for `inputs`, by name. Errors: the 05xx codes, InputMissing,
/// CompileFailed for what the reference cannot compute.
Result<std::map<std::string, Tensor>> runReference(const std::string &model,
                                                   const std::map<std::string, Tensor> &inputs);

} // namespace joule
