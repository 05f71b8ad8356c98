// The part of NVML's interface that programs use which measure joules: for the virtual devices' sensors.
// Written from the interface's documentation; owes nothing to NVIDIA's headers.
#pragma once

extern "C" {

typedef struct nvmlDevice_st *nvmlDevice_t;
typedef enum nvmlReturn_enum {
  NVML_SUCCESS = 0,
  NVML_ERROR_UNINITIALIZED = 1,
  NVML_ERROR_INVALID_ARGUMENT = 2,
  NVML_ERROR_NOT_SUPPORTED = 3,
  NVML_ERROR_NOT_FOUND = 6,
  NVML_ERROR_INSUFFICIENT_SIZE = 7,
  NVML_ERROR_DRIVER_NOT_LOADED = 9,
  NVML_ERROR_UNKNOWN = 999
} nvmlReturn_t;

typedef struct nvmlMemory_st {
  unsigned long long total, free, used;
} nvmlMemory_t;
typedef struct nvmlMemory_v2_st {
  unsigned int version;
  unsigned long long total, reserved, free, used;
} nvmlMemory_v2_t;
typedef struct nvmlUtilization_st {
  unsigned int gpu, memory; // percent
} nvmlUtilization_t;
typedef struct nvmlPciInfo_st {
  char busIdLegacy[16];
  unsigned int domain, bus, device, pciDeviceId, pciSubSystemId;
  char busId[32];
} nvmlPciInfo_t;

} // extern "C"

/// Every function that libnvidia-ml.so.1 exports, but for nvmlErrorString.
#define JOULE_NVML_FUNCTIONS(X)                                                                              \
  X(nvmlInit, (void))                                                                                        \
  X(nvmlInit_v2, (void))                                                                                     \
  X(nvmlInitWithFlags, (unsigned int flags))                                                                 \
  X(nvmlShutdown, (void))                                                                                    \
  X(nvmlSystemGetDriverVersion, (char *text, unsigned int length))                                           \
  X(nvmlSystemGetNVMLVersion, (char *text, unsigned int length))                                             \
  X(nvmlSystemGetCudaDriverVersion, (int *version))                                                          \
  X(nvmlSystemGetCudaDriverVersion_v2, (int *version))                                                       \
  X(nvmlDeviceGetCount, (unsigned int *count))                                                               \
  X(nvmlDeviceGetCount_v2, (unsigned int *count))                                                            \
  X(nvmlDeviceGetHandleByIndex, (unsigned int index, nvmlDevice_t *device))                                  \
  X(nvmlDeviceGetHandleByIndex_v2, (unsigned int index, nvmlDevice_t *device))                               \
  X(nvmlDeviceGetHandleByUUID, (const char *uuid, nvmlDevice_t *device))                                     \
  X(nvmlDeviceGetHandleByPciBusId, (const char *busId, nvmlDevice_t *device))                                \
  X(nvmlDeviceGetHandleByPciBusId_v2, (const char *busId, nvmlDevice_t *device))                             \
  X(nvmlDeviceGetIndex, (nvmlDevice_t device, unsigned int *index))                                          \
  X(nvmlDeviceGetName, (nvmlDevice_t device, char *text, unsigned int length))                               \
  X(nvmlDeviceGetUUID, (nvmlDevice_t device, char *text, unsigned int length))                               \
  X(nvmlDeviceGetPciInfo_v3, (nvmlDevice_t device, nvmlPciInfo_t * info))                                    \
  X(nvmlDeviceGetCudaComputeCapability, (nvmlDevice_t device, int *major, int *minor))                       \
  X(nvmlDeviceGetTotalEnergyConsumption, (nvmlDevice_t device, unsigned long long *millijoules))             \
  X(nvmlDeviceGetPowerUsage, (nvmlDevice_t device, unsigned int *milliwatts))                                \
  X(nvmlDeviceGetPowerManagementMode, (nvmlDevice_t device, unsigned int *mode))                             \
  X(nvmlDeviceGetPowerManagementLimit, (nvmlDevice_t device, unsigned int *milliwatts))                      \
  X(nvmlDeviceGetPowerManagementDefaultLimit, (nvmlDevice_t device, unsigned int *milliwatts))               \
  X(nvmlDeviceGetEnforcedPowerLimit, (nvmlDevice_t device, unsigned int *milliwatts))                        \
  X(nvmlDeviceGetClockInfo, (nvmlDevice_t device, int clock, unsigned int *megahertz))                       \
  X(nvmlDeviceGetMaxClockInfo, (nvmlDevice_t device, int clock, unsigned int *megahertz))                    \
  X(nvmlDeviceGetTemperature, (nvmlDevice_t device, int sensor, unsigned int *celsius))                      \
  X(nvmlDeviceGetUtilizationRates, (nvmlDevice_t device, nvmlUtilization_t * rates))                         \
  X(nvmlDeviceGetMemoryInfo, (nvmlDevice_t device, nvmlMemory_t * memory))                                   \
  X(nvmlDeviceGetMemoryInfo_v2, (nvmlDevice_t device, nvmlMemory_v2_t * memory))                             \
  X(nvmlDeviceGetPersistenceMode, (nvmlDevice_t device, unsigned int *mode))                                 \
  X(nvmlDeviceGetPerformanceState, (nvmlDevice_t device, int *state))
