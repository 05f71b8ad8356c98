// Compares "sm_90a" with a compute capability.
#include "lib/Runtime/TargetChoice.h"

#include "lib/Artifact/ArtifactReader.h"

#include <algorithm>
#include <cctype>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace joule {

// How well a device runs an architecture: 0 not at all, else more is better.
static int fitness(const std::string &architecture, const DeviceProperties &device) {
  if (architecture.rfind("sm_", 0) != 0)
    return 0;
  size_t end = architecture.find_first_not_of("0123456789", 3);
  std::string digits = architecture.substr(3, end == std::string::npos ? end : end - 3);
  if (digits.empty() || digits.size() > 4)
    return 0;
  int number = std::stoi(digits), own = 10 * device.major + device.minor;
  bool isExact = end != std::string::npos; // sm_90a: features that later devices lack
  if (number > own || (isExact && number != own))
    return 0;
  return 2 * number + isExact;
}

static bool isNamedLike(const std::string &device, const std::string &target) {
  auto same = [](char a, char b) {
    return std::tolower(static_cast<unsigned char>(a)) == std::tolower(static_cast<unsigned char>(b));
  };
  return std::search(device.begin(), device.end(), target.begin(), target.end(), same) != device.end();
}

Result<std::string> chooseTarget(const Artifact &artifact, const DeviceProperties &device,
                                 const std::string &wanted) {
  const auto &plans = artifact.impl()->plans;
  std::string best;
  int bestFitness = 0;
  for (const std::string &target : artifact.targets()) {
    int fits = fitness(plans.at(target).target(), device);
    if (fits == 0 || (!wanted.empty() && target != wanted))
      continue;
    // Above every architecture's number.
    if (isNamedLike(device.name, target))
      fits += 1 << 16;
    if (fits > bestFitness) {
      best = target;
      bestFitness = fits;
    }
  }
  if (!best.empty())
    return best;
  std::string which = wanted.empty() ? "no target" : fmt::format("no target \"{}\"", wanted);
  return Error{ErrorCode::TargetMissing,
               fmt::format("the artifact has {} that {} (compute capability {}.{}) can run; it has: {}",
                           which, device.name, device.major, device.minor,
                           fmt::join(artifact.targets(), ", ")),
               ""};
}

} // namespace joule
