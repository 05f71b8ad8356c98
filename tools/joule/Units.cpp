// Metric prefixes.
#include "tools/joule/Units.h"

#include <cmath>
#include <fmt/format.h>

namespace joule::cli {

std::string withPrefix(double value, const std::string &unit) {
  static const char *const prefixes[] = {"p", "n", "u", "m", "", "k", "M", "G", "T", "P"};
  constexpr int none = 4, last = 9;
  if (value == 0 || !std::isfinite(value))
    return fmt::format("{} {}", value, unit);
  int step = static_cast<int>(std::floor(std::log10(std::fabs(value)) / 3));
  // 999.6 rounds to 1000, which is one prefix further.
  if (std::fabs(value) / std::pow(1000.0, step) >= 999.5)
    ++step;
  step = std::min(std::max(step, -none), last - none);
  return fmt::format("{:.3g} {}{}", value / std::pow(1000.0, step), prefixes[step + none], unit);
}

} // namespace joule::cli
