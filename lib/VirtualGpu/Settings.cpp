// Reads the environment.
#include "lib/VirtualGpu/Settings.h"

#include <algorithm>
#include <cstdlib>
#include <thread>

namespace joule::vgpu {

Settings settingsFromEnvironment() {
  Settings settings;
  settings.threads = std::max(1u, std::thread::hardware_concurrency());
  if (const char *threads = getenv("JOULE_VGPU_THREADS"))
    settings.threads = unsigned(std::max(1, atoi(threads)));
  if (const char *device = getenv("JOULE_VGPU_DEVICE"))
    settings.device = device;
  if (const char *count = getenv("JOULE_VGPU_COUNT"))
    settings.count = atoi(count) != 0;
  if (const char *limit = getenv("JOULE_VGPU_TIME_LIMIT"))
    settings.timeLimitSeconds = atof(limit);
  if (const char *isa = getenv("JOULE_VGPU_ISA"))
    settings.instructionSet = isa;
  return settings;
}

} // namespace joule::vgpu
