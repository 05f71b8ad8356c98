// The names that --target takes.
#pragma once

#include <optional>
#include <string>

namespace joule {

/// "sm_80" of "a100" or "sm_80"; nullopt where no target has that name.
std::optional<std::string> architectureOf(const std::string &target);

/// The names of all targets, for messages.
std::string knownTargets();

} // namespace joule
