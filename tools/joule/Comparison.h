// One output against what it should be, for readers and for machines.
#pragma once

#include "lib/TensorFile/Compare.h"
#include "tools/joule/Command.h"

#include <string>

namespace joule::cli {

/// {"name", "type", "shape", "passed"}, with "difference" where it did not, and "maxAbsolute" and
/// "maxRelative" where type and shape are right.
nlohmann::ordered_json compareOutput(const std::string &name, const Tensor &found, const Tensor &wanted,
                                     const Tolerance &tolerance);

/// Prints what compareOutput gave, as one line.
void printComparison(const nlohmann::ordered_json &output);

} // namespace joule::cli
