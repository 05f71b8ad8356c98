// What the library's one exported function gives out.
#pragma once

namespace joule::vgpu {

/// A function of CUDA's interface, of NVML's, or of VirtualGpuApi.h, by its exported name; null: none.
void *findFunction(const char *name);

} // namespace joule::vgpu
