// `joule energy frontier`, and how the commands of `joule energy` open a device.
#pragma once

#include "lib/Energy/DeviceEnergy.h"
#include "tools/joule/Command.h"

namespace joule::cli {

/// A built-in device by name, or a device file by path.
Result<DeviceEnergy> openDevice(const std::string &nameOrFile);

Command addEnergyFrontier(CLI::App &energy);

} // namespace joule::cli
