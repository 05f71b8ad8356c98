// The sensors of the virtual devices, as NVML shows them. Nothing is measured: joules, watts and clocks come
// from the device file's energy model and the work that launches did.
#include "lib/VirtualGpu/Driver/Nvml.h"
#include "lib/VirtualGpu/Driver/Attributes.h"
#include "lib/VirtualGpu/Driver/Functions.h"
#include "lib/VirtualGpu/Driver/LaunchLog.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>

namespace joule::vgpu {
namespace {

std::atomic<int> holders{0}; // calls of nvmlInit without their nvmlShutdown

/// Null where the handle is none, or nobody initialised.
Device *deviceOf(nvmlDevice_t handle) {
  if (holders <= 0)
    return nullptr;
  for (auto &device : driver().devices)
    if (reinterpret_cast<nvmlDevice_t>(device.get()) == handle)
      return device.get();
  return nullptr;
}

nvmlReturn_t noDevice() { return holders > 0 ? NVML_ERROR_INVALID_ARGUMENT : NVML_ERROR_UNINITIALIZED; }

/// Writes what `value` gives for a device.
template <class T, class F> nvmlReturn_t give(nvmlDevice_t handle, T *to, F value) {
  Device *device = deviceOf(handle);
  if (!device)
    return noDevice();
  if (!to)
    return NVML_ERROR_INVALID_ARGUMENT;
  *to = T(value(*device));
  return NVML_SUCCESS;
}

nvmlReturn_t giveText(char *to, unsigned length, const std::string &text) {
  if (!to)
    return NVML_ERROR_INVALID_ARGUMENT;
  if (length <= text.size())
    return NVML_ERROR_INSUFFICIENT_SIZE;
  memcpy(to, text.c_str(), text.size() + 1);
  return NVML_SUCCESS;
}

/// "GPU-" and 16 bytes in groups, as NVML writes them.
std::string uuidText(const Device &device) {
  std::string text = "GPU", bytes = uuidOf(device);
  for (size_t i = 0; i < bytes.size(); ++i) {
    char pair[4];
    bool startsGroup = i == 0 || i == 4 || i == 6 || i == 8 || i == 10;
    snprintf(pair, sizeof pair, "%s%02x", startsGroup ? "-" : "", uint8_t(bytes[i]));
    text += pair;
  }
  return text;
}

template <class F> nvmlReturn_t findDevice(nvmlDevice_t *to, F isIt) {
  if (holders <= 0)
    return NVML_ERROR_UNINITIALIZED;
  if (!to)
    return NVML_ERROR_INVALID_ARGUMENT;
  for (auto &device : driver().devices)
    if (isIt(*device)) {
      *to = reinterpret_cast<nvmlDevice_t>(device.get());
      return NVML_SUCCESS;
    }
  return NVML_ERROR_NOT_FOUND;
}

unsigned rounded(double value) { return unsigned(std::lround(value)); }

} // namespace

nvmlReturn_t nvmlInitWithFlags(unsigned int) {
  auto init = reinterpret_cast<CUresult (*)(unsigned)>(findFunction("cuInit"));
  if (init(0) != CUDA_SUCCESS)
    return NVML_ERROR_DRIVER_NOT_LOADED;
  startMetering();
  ++holders;
  return NVML_SUCCESS;
}
nvmlReturn_t nvmlInit() { return nvmlInitWithFlags(0); }
nvmlReturn_t nvmlInit_v2() { return nvmlInitWithFlags(0); }

nvmlReturn_t nvmlShutdown() {
  if (holders <= 0)
    return NVML_ERROR_UNINITIALIZED;
  --holders;
  return NVML_SUCCESS;
}

const char *nvmlErrorString(nvmlReturn_t code) {
  switch (code) {
  case NVML_SUCCESS:
    return "Success";
  case NVML_ERROR_UNINITIALIZED:
    return "Uninitialized";
  case NVML_ERROR_INVALID_ARGUMENT:
    return "Invalid Argument";
  case NVML_ERROR_NOT_SUPPORTED:
    return "Not Supported";
  case NVML_ERROR_NOT_FOUND:
    return "Not Found";
  case NVML_ERROR_INSUFFICIENT_SIZE:
    return "Insufficient Size";
  case NVML_ERROR_DRIVER_NOT_LOADED:
    return "Driver Not Loaded";
  default:
    return "Unknown Error";
  }
}

nvmlReturn_t nvmlSystemGetDriverVersion(char *text, unsigned int length) {
  return giveText(text, length, "570.0-joule-modelled");
}
nvmlReturn_t nvmlSystemGetNVMLVersion(char *text, unsigned int length) {
  return giveText(text, length, "12.570.0-joule-modelled");
}
nvmlReturn_t nvmlSystemGetCudaDriverVersion_v2(int *version) {
  if (!version)
    return NVML_ERROR_INVALID_ARGUMENT;
  cuDriverGetVersion(version);
  return NVML_SUCCESS;
}
nvmlReturn_t nvmlSystemGetCudaDriverVersion(int *version) {
  return nvmlSystemGetCudaDriverVersion_v2(version);
}

nvmlReturn_t nvmlDeviceGetCount_v2(unsigned int *count) {
  if (holders <= 0)
    return NVML_ERROR_UNINITIALIZED;
  if (!count)
    return NVML_ERROR_INVALID_ARGUMENT;
  *count = unsigned(driver().devices.size());
  return NVML_SUCCESS;
}
nvmlReturn_t nvmlDeviceGetCount(unsigned int *count) { return nvmlDeviceGetCount_v2(count); }

nvmlReturn_t nvmlDeviceGetHandleByIndex_v2(unsigned int index, nvmlDevice_t *device) {
  nvmlReturn_t result = findDevice(device, [index](const Device &d) { return unsigned(d.ordinal) == index; });
  return result == NVML_ERROR_NOT_FOUND ? NVML_ERROR_INVALID_ARGUMENT : result;
}
nvmlReturn_t nvmlDeviceGetHandleByIndex(unsigned int index, nvmlDevice_t *device) {
  return nvmlDeviceGetHandleByIndex_v2(index, device);
}
nvmlReturn_t nvmlDeviceGetHandleByUUID(const char *uuid, nvmlDevice_t *device) {
  if (!uuid)
    return NVML_ERROR_INVALID_ARGUMENT;
  return findDevice(device, [uuid](const Device &d) { return uuidText(d) == uuid; });
}
nvmlReturn_t nvmlDeviceGetHandleByPciBusId_v2(const char *busId, nvmlDevice_t *device) {
  if (!busId)
    return NVML_ERROR_INVALID_ARGUMENT;
  std::string wanted = busId; // with a domain of four digits or eight
  return findDevice(device,
                    [&](const Device &d) { return busIdOf(d) == wanted || "0000" + busIdOf(d) == wanted; });
}
nvmlReturn_t nvmlDeviceGetHandleByPciBusId(const char *busId, nvmlDevice_t *device) {
  return nvmlDeviceGetHandleByPciBusId_v2(busId, device);
}

nvmlReturn_t nvmlDeviceGetIndex(nvmlDevice_t device, unsigned int *index) {
  return give(device, index, [](const Device &d) { return d.ordinal; });
}
nvmlReturn_t nvmlDeviceGetName(nvmlDevice_t handle, char *text, unsigned int length) {
  Device *device = deviceOf(handle);
  return device ? giveText(text, length, device->facts.name) : noDevice();
}
nvmlReturn_t nvmlDeviceGetUUID(nvmlDevice_t handle, char *text, unsigned int length) {
  Device *device = deviceOf(handle);
  return device ? giveText(text, length, uuidText(*device)) : noDevice();
}
nvmlReturn_t nvmlDeviceGetPciInfo_v3(nvmlDevice_t device, nvmlPciInfo_t *info) {
  return give(device, info, [](const Device &d) {
    nvmlPciInfo_t filled = {};
    filled.bus = unsigned(d.ordinal + 1);
    snprintf(filled.busIdLegacy, sizeof filled.busIdLegacy, "%s", busIdOf(d).c_str());
    snprintf(filled.busId, sizeof filled.busId, "0000%s", busIdOf(d).c_str());
    return filled;
  });
}
nvmlReturn_t nvmlDeviceGetCudaComputeCapability(nvmlDevice_t device, int *major, int *minor) {
  nvmlReturn_t result = give(device, major, [](const Device &d) { return d.facts.major; });
  return result ? result : give(device, minor, [](const Device &d) { return d.facts.minor; });
}

nvmlReturn_t nvmlDeviceGetTotalEnergyConsumption(nvmlDevice_t device, unsigned long long *millijoules) {
  return give(device, millijoules, [](Device &d) { return readEnergy(d).joules * 1e3; });
}
nvmlReturn_t nvmlDeviceGetPowerUsage(nvmlDevice_t device, unsigned int *milliwatts) {
  return give(device, milliwatts, [](Device &d) { return rounded(readEnergy(d).watts * 1e3); });
}
nvmlReturn_t nvmlDeviceGetPowerManagementMode(nvmlDevice_t device, unsigned int *mode) {
  return give(device, mode, [](const Device &) { return 1; });
}
nvmlReturn_t nvmlDeviceGetPowerManagementLimit(nvmlDevice_t device, unsigned int *milliwatts) {
  return give(device, milliwatts, [](Device &d) { return rounded(readEnergy(d).capWatts * 1e3); });
}
nvmlReturn_t nvmlDeviceGetPowerManagementDefaultLimit(nvmlDevice_t device, unsigned int *milliwatts) {
  return nvmlDeviceGetPowerManagementLimit(device, milliwatts);
}
nvmlReturn_t nvmlDeviceGetEnforcedPowerLimit(nvmlDevice_t device, unsigned int *milliwatts) {
  return nvmlDeviceGetPowerManagementLimit(device, milliwatts);
}

// Clocks by number: graphics, multiprocessors, memory, video.
constexpr int clockMemory = 2, lastClock = 3;

nvmlReturn_t nvmlDeviceGetClockInfo(nvmlDevice_t device, int clock, unsigned int *megahertz) {
  if (clock < 0 || clock > lastClock)
    return NVML_ERROR_INVALID_ARGUMENT;
  return give(device, megahertz, [clock](Device &d) {
    EnergyReading reading = readEnergy(d);
    return rounded(clock == clockMemory ? reading.memoryClockMHz : reading.clockMHz);
  });
}
nvmlReturn_t nvmlDeviceGetMaxClockInfo(nvmlDevice_t device, int clock, unsigned int *megahertz) {
  if (clock < 0 || clock > lastClock)
    return NVML_ERROR_INVALID_ARGUMENT;
  return give(device, megahertz, [clock](Device &d) {
    EnergyReading reading = readEnergy(d);
    return rounded(clock == clockMemory ? reading.memoryClockMHz : reading.highestMHz);
  });
}

nvmlReturn_t nvmlDeviceGetTemperature(nvmlDevice_t device, int sensor, unsigned int *celsius) {
  if (sensor != 0)
    return NVML_ERROR_INVALID_ARGUMENT;
  // No device file knows of heat: 30 degrees without power and 80 at the cap stand for a board with ample
  // air.
  return give(device, celsius, [](Device &d) {
    EnergyReading reading = readEnergy(d);
    return rounded(30 + (reading.capWatts > 0 ? 50 * reading.watts / reading.capWatts : 0));
  });
}

nvmlReturn_t nvmlDeviceGetUtilizationRates(nvmlDevice_t device, nvmlUtilization_t *rates) {
  return give(device, rates, [](Device &d) {
    EnergyReading reading = readEnergy(d);
    return nvmlUtilization_t{rounded(100 * reading.busyShare), rounded(100 * reading.memoryShare)};
  });
}

nvmlReturn_t nvmlDeviceGetMemoryInfo(nvmlDevice_t device, nvmlMemory_t *memory) {
  return give(device, memory, [](const Device &d) {
    unsigned long long total = d.memory.total(), used = d.memory.used();
    return nvmlMemory_t{total, total - used, used};
  });
}
nvmlReturn_t nvmlDeviceGetMemoryInfo_v2(nvmlDevice_t device, nvmlMemory_v2_t *memory) {
  return give(device, memory, [&](const Device &d) {
    unsigned long long total = d.memory.total(), used = d.memory.used();
    return nvmlMemory_v2_t{memory->version, total, 0, total - used, used};
  });
}

nvmlReturn_t nvmlDeviceGetPersistenceMode(nvmlDevice_t device, unsigned int *mode) {
  return give(device, mode, [](const Device &) { return 1; });
}
nvmlReturn_t nvmlDeviceGetPerformanceState(nvmlDevice_t device, int *state) {
  return give(device, state, [](Device &) { return 0; });
}

} // namespace joule::vgpu
