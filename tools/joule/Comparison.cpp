// The numbers are always given, passed or not.
#include "tools/joule/Comparison.h"

#include "tools/joule/Program.h"

#include <cmath>
#include <fmt/format.h>

namespace joule::cli {

using Json = nlohmann::ordered_json;

/// JSON has no infinity.
static Json finite(double value) { return std::isfinite(value) ? Json(value) : Json("infinite"); }

static std::string threeDigits(const Json &value) {
  return value.is_number() ? fmt::format("{:.3g}", value.get<double>()) : value.get<std::string>();
}

Json compareOutput(const std::string &name, const Tensor &found, const Tensor &wanted,
                   const Tolerance &tolerance) {
  std::optional<std::string> difference = explainDifference(found, wanted, tolerance);
  Json json = describe(name, found);
  json["passed"] = !difference;
  if (difference)
    json["difference"] = *difference;
  if (found.type == wanted.type && found.shape == wanted.shape) {
    Difference apart = compare(found, wanted, tolerance);
    json["maxAbsolute"] = finite(apart.absolute);
    json["maxRelative"] = finite(apart.relative);
  }
  return json;
}

void printComparison(const Json &output) {
  fmt::print("{}: {}", output["name"].get<std::string>(), output["passed"].get<bool>() ? "equal" : "differs");
  if (output.contains("maxAbsolute"))
    fmt::print(", at most {} apart (relatively {})", threeDigits(output["maxAbsolute"]),
               threeDigits(output["maxRelative"]));
  if (output.contains("difference"))
    fmt::print(": {}", output["difference"].get<std::string>());
  fmt::print("\n");
}

} // namespace joule::cli
