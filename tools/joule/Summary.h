// A tensor in a few words.
#pragma once

#include "joule/Tensor.h"

#include <string>

namespace joule::cli {

/// The elements of a small tensor; the least, greatest and mean one of a larger.
std::string summarize(const Tensor &tensor);

} // namespace joule::cli
