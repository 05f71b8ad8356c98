// Numbers as a reader wants them: three digits and a prefix.
#pragma once

#include <string>

namespace joule::cli {

/// "12.3 us" of (1.23e-5, "s"); "0 s" of zero.
std::string withPrefix(double value, const std::string &unit);

} // namespace joule::cli
