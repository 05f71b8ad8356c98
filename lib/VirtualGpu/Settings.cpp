// Reads the environment.
#include "lib/VirtualGpu/Settings.h"

#include <algorithm>
#include <cstdlib>
#include <string>
#include <thread>

namespace joule::vgpu {

namespace {

/// Where compiled code is kept: as said, or where this user's programs keep what they can make again.
std::string cacheFolder() {
  if (const char *given = getenv("JOULE_VGPU_CACHE"))
    return std::string(given) == "0" ? "" : given;
  const char *caches = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
  if (caches && *caches == '/')
    return std::string(caches) + "/joule/vgpu";
  return home && *home == '/' ? std::string(home) + "/.cache/joule/vgpu" : "";
}

} // namespace

/// "1", "backward" or "random:7": in which order the warps of a block run.
static void setCheck(Settings &settings, const std::string &text) {
  bool random = text.rfind("random", 0) == 0;
  settings.check = settings.check || random || text == "backward" || atoi(text.c_str()) != 0;
  if (text == "backward")
    settings.schedule = 1;
  else if (random)
    settings.schedule = 2 + unsigned(text.size() > 7 ? std::max(0, atoi(text.c_str() + 7)) : 0);
}

Settings settingsFromEnvironment() {
  Settings settings;
  settings.threads = std::max(1u, std::thread::hardware_concurrency());
  if (const char *threads = getenv("JOULE_VGPU_THREADS"))
    settings.threads = unsigned(std::max(1, atoi(threads)));
  if (const char *device = getenv("JOULE_VGPU_DEVICE"))
    if (!setDevice(settings, device))
      settings.device = device; // found missing under its whole name
  if (const char *count = getenv("JOULE_VGPU_COUNT")) {
    std::string value = count;
    settings.count = !value.empty() && value != "0";
    settings.countFile = value == "0" || value == "1" ? "" : value;
  }
  if (const char *exact = getenv("JOULE_VGPU_EXACT"))
    settings.exact = settings.exact || atoi(exact) != 0;
  if (const char *check = getenv("JOULE_VGPU_CHECK"))
    setCheck(settings, check);
  if (const char *report = getenv("JOULE_VGPU_REPORT"))
    settings.report = report;
  if (const char *limit = getenv("JOULE_VGPU_TIME_LIMIT"))
    settings.timeLimitSeconds = atof(limit);
  if (const char *jit = getenv("JOULE_VGPU_JIT"))
    settings.jit = jit;
  if (const char *dump = getenv("JOULE_VGPU_JIT_DUMP"))
    settings.jitDump = atoi(dump);
  settings.cache = cacheFolder();
  if (const char *isa = getenv("JOULE_VGPU_ISA"))
    settings.instructionSet = isa;
  return settings;
}

bool setDevice(Settings &settings, const std::string &text) {
  Settings changed = settings;
  size_t comma = text.find(',');
  if (comma != 0) // ",exact" alone keeps the device
    changed.device = text.substr(0, comma);
  while (comma != std::string::npos) {
    size_t next = text.find(',', comma + 1);
    std::string option = text.substr(comma + 1, next == std::string::npos ? next : next - comma - 1);
    if (option == "exact")
      changed.exact = true;
    else if (option == "check")
      changed.check = true;
    else
      return false;
    comma = next;
  }
  settings = changed;
  return true;
}

} // namespace joule::vgpu
