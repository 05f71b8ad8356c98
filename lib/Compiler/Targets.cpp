// The names that --target takes.
#include "lib/Compiler/Targets.h"

#include <utility>

using namespace joule;

namespace {
constexpr std::pair<const char *, const char *> targets[] = {
    {"t4", "sm_75"},      {"a100", "sm_80"},    {"a10", "sm_86"},   {"rtx3090", "sm_86"}, {"orin", "sm_87"},
    {"l4", "sm_89"},      {"l40s", "sm_89"},    {"rtx4090", "sm_89"}, {"h100", "sm_90"},  {"h200", "sm_90"},
    {"sm_75", "sm_75"},   {"sm_80", "sm_80"},   {"sm_86", "sm_86"}, {"sm_87", "sm_87"},   {"sm_89", "sm_89"},
    {"sm_90", "sm_90"},   {"sm_90a", "sm_90a"},
};
} // namespace

std::optional<std::string> joule::architectureOf(const std::string &target) {
  for (auto [name, architecture] : targets)
    if (target == name)
      return architecture;
  return std::nullopt;
}

std::string joule::knownTargets() {
  std::string names;
  for (auto [name, architecture] : targets)
    names += (names.empty() ? "" : ", ") + std::string(name);
  return names;
}
