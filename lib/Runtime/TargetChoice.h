// Which of an artifact's targets a device runs.
#pragma once

#include "joule/Artifact.h"
#include "joule/Device.h"

namespace joule {

/// `wanted` where it is not empty; else the target named like the device, else the one for the newest
/// architecture that the device can run. "sm_80" runs on 8.0 and later, "sm_90a" on 9.0 alone.
Result<std::string> chooseTarget(const Artifact &artifact, const DeviceProperties &device,
                                 const std::string &wanted);

} // namespace joule
