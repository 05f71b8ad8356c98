// Keeps JSON, which is heavy to include, in one file.
#include "lib/Artifact/Manifest.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace joule {

constexpr std::string_view targetsFolder = "targets/";
constexpr std::string_view planName = "/plan.pb";

std::string planEntry(const std::string &target) {
  return fmt::format("{}{}{}", targetsFolder, target, planName);
}

std::optional<std::string> targetOfPlan(const std::string &entry) {
  if (entry.size() <= targetsFolder.size() + planName.size() ||
      entry.compare(0, targetsFolder.size(), targetsFolder))
    return std::nullopt;
  std::string target =
      entry.substr(targetsFolder.size(), entry.size() - targetsFolder.size() - planName.size());
  if (target.find('/') != std::string::npos || planEntry(target) != entry)
    return std::nullopt;
  return target;
}

std::string weightEntry(const std::string &hash) { return "weights/" + hash; }

std::string print(const Manifest &manifest) {
  nlohmann::ordered_json json;
  json["format"] = "joule-artifact";
  json["version"] = manifest.version;
  json["model"] = manifest.model;
  json["targets"] = manifest.targets;
  // Replaces what is not UTF-8: a model's name may hold any bytes.
  return json.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

static Error unusable(const std::string &what) {
  return {ErrorCode::ArtifactDamaged, "manifest.json " + what, ""};
}

Result<Manifest> parseManifest(std::string_view text) {
  nlohmann::json json = nlohmann::json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!json.is_object() || json.value("format", nlohmann::json()) != "joule-artifact")
    return unusable("is not that of an artifact");
  nlohmann::json version = json.value("version", nlohmann::json());
  if (!version.is_number_integer() || version < 1)
    return unusable("has no version");
  if (version > artifactVersion)
    return Error{ErrorCode::ArtifactTooNew,
                 fmt::format("artifact version {} is newer than {}, which this Joule reads", version.dump(),
                             artifactVersion),
                 ""};
  Manifest manifest;
  manifest.version = version;
  if (json.value("model", nlohmann::json("")).is_string())
    manifest.model = json.value("model", "");
  nlohmann::json targets = json.value("targets", nlohmann::json());
  if (!targets.is_array())
    return unusable("lists no targets");
  for (const nlohmann::json &target : targets) {
    if (!target.is_string())
      return unusable("names a target that is no text");
    manifest.targets.push_back(target);
  }
  return manifest;
}

} // namespace joule
