// What a device says of itself, for the driver's interface and for NVML's.
#pragma once

#include "lib/VirtualGpu/Driver/State.h"

namespace joule::vgpu {

constexpr int greatestPriority = -5; // of a stream; 0 is the least

/// False if there is no such attribute; one that the device does not have is 0.
bool attributeOf(const Device &device, CUdevice_attribute attribute, int &value);
/// 16 bytes, the same in every run.
std::string uuidOf(const Device &device);
/// "0000:01:00.0"
std::string busIdOf(const Device &device);

} // namespace joule::vgpu
