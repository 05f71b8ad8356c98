// manifest.json, and the names of an artifact's entries.
#pragma once

#include "joule/Error.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace joule {

/// The artifact format's version: what this Joule writes, and the newest that it reads.
constexpr int artifactVersion = 1;

constexpr const char *manifestEntry = "manifest.json";

/// "targets/sm_80/plan.pb" of "sm_80".
std::string planEntry(const std::string &target);
/// "sm_80" of "targets/sm_80/plan.pb"; nullopt for every other name.
std::optional<std::string> targetOfPlan(const std::string &entry);
/// "weights/<hash>".
std::string weightEntry(const std::string &hash);

struct Manifest {
  int version = artifactVersion;
  std::string model;
  std::vector<std::string> targets;
};

std::string print(const Manifest &manifest);

/// Refuses what is not a manifest and what is newer than artifactVersion.
Result<Manifest> parseManifest(std::string_view text);

} // namespace joule
