// NVML's functions on the virtual devices.
#pragma once

#include "lib/VirtualGpu/Driver/Entries.h"
#include "lib/VirtualGpu/NvmlApi.h"

namespace joule::vgpu {

#define JOULE_DECLARE_NVML(name, parameters) nvmlReturn_t name parameters;
JOULE_NVML_FUNCTIONS(JOULE_DECLARE_NVML)
#undef JOULE_DECLARE_NVML
const char *nvmlErrorString(nvmlReturn_t code);

} // namespace joule::vgpu
