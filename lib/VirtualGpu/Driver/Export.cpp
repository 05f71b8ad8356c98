// The library's one exported symbol.
#include "lib/VirtualGpu/Compiled.h"
#include "lib/VirtualGpu/Driver/Entries.h"
#include "lib/VirtualGpu/Settings.h"

extern "C" __attribute__((visibility("default"))) void *joule_vgpu_get_proc_address(const char *name) {
  [[maybe_unused]] static const bool hasJit = (
      joule::vgpu::useJit(joule::vgpu::settingsFromEnvironment().cache), true);
  return joule::vgpu::findFunction(name);
}
