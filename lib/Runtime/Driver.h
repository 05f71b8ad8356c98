// The CUDA driver as one table of functions, filled at run time from the real driver or from the virtual GPU.
#pragma once

#include "joule/Error.h"
#include "lib/Runtime/DriverApi.h"

#include <memory>
#include <string>

namespace joule {

/// Every function the runtime calls, with the driver's own name and type. Tests fill a table of their own.
struct Driver {
  // JOULE_DRIVER_FUNCTION(member, symbol, parameters)
#define JOULE_DRIVER_FUNCTIONS(F)                                                                            \
  F(init, "cuInit", (unsigned flags))                                                                        \
  F(deviceGetCount, "cuDeviceGetCount", (int *count))                                                        \
  F(deviceGet, "cuDeviceGet", (cuda::CUdevice * device, int ordinal))                                        \
  F(deviceGetName, "cuDeviceGetName", (char *name, int length, cuda::CUdevice device))                       \
  F(deviceGetAttribute, "cuDeviceGetAttribute",                                                              \
    (int *value, cuda::CUdevice_attribute attribute, cuda::CUdevice device))                                 \
  F(deviceTotalMem, "cuDeviceTotalMem_v2", (size_t * bytes, cuda::CUdevice device))                          \
  F(primaryContextRetain, "cuDevicePrimaryCtxRetain", (cuda::CUcontext * context, cuda::CUdevice device))    \
  F(primaryContextRelease, "cuDevicePrimaryCtxRelease_v2", (cuda::CUdevice device))                          \
  F(contextPush, "cuCtxPushCurrent_v2", (cuda::CUcontext context))                                           \
  F(contextPop, "cuCtxPopCurrent_v2", (cuda::CUcontext * context))                                           \
  F(moduleLoad, "cuModuleLoadDataEx",                                                                        \
    (cuda::CUmodule * module, const void *image, unsigned count, cuda::CUjit_option *options,                \
     void **values))                                                                                         \
  F(moduleUnload, "cuModuleUnload", (cuda::CUmodule module))                                                 \
  F(moduleGetFunction, "cuModuleGetFunction",                                                                \
    (cuda::CUfunction * function, cuda::CUmodule module, const char *name))                                  \
  F(functionSetAttribute, "cuFuncSetAttribute",                                                              \
    (cuda::CUfunction function, cuda::CUfunction_attribute attribute, int value))                            \
  F(launchKernel, "cuLaunchKernel",                                                                          \
    (cuda::CUfunction function, unsigned gridX, unsigned gridY, unsigned gridZ, unsigned blockX,             \
     unsigned blockY, unsigned blockZ, unsigned sharedBytes, cuda::CUstream stream, void **arguments,        \
     void **extra))                                                                                          \
  F(memAlloc, "cuMemAlloc_v2", (cuda::CUdeviceptr * address, size_t bytes))                                  \
  F(memFree, "cuMemFree_v2", (cuda::CUdeviceptr address))                                                    \
  F(copyToDevice, "cuMemcpyHtoDAsync_v2",                                                                    \
    (cuda::CUdeviceptr to, const void *from, size_t bytes, cuda::CUstream stream))                           \
  F(copyToHost, "cuMemcpyDtoHAsync_v2",                                                                      \
    (void *to, cuda::CUdeviceptr from, size_t bytes, cuda::CUstream stream))                                 \
  F(copyOnDevice, "cuMemcpyDtoDAsync_v2",                                                                    \
    (cuda::CUdeviceptr to, cuda::CUdeviceptr from, size_t bytes, cuda::CUstream stream))                     \
  F(fill, "cuMemsetD8Async",                                                                                 \
    (cuda::CUdeviceptr address, unsigned char value, size_t bytes, cuda::CUstream stream))                   \
  F(streamCreate, "cuStreamCreate", (cuda::CUstream * stream, unsigned flags))                               \
  F(streamDestroy, "cuStreamDestroy_v2", (cuda::CUstream stream))                                            \
  F(streamSynchronize, "cuStreamSynchronize", (cuda::CUstream stream))                                       \
  F(getErrorName, "cuGetErrorName", (cuda::CUresult code, const char **name))                                \
  F(getErrorString, "cuGetErrorString", (cuda::CUresult code, const char **text))

#define JOULE_DECLARE(member, symbol, parameters) cuda::CUresult(*member) parameters = nullptr;
  JOULE_DRIVER_FUNCTIONS(JOULE_DECLARE)
#undef JOULE_DECLARE

  /// Whether this is Joule's virtual GPU: nothing it reports is measured.
  bool isVirtual = false;

  /// The virtual GPU's own calls; null on every other driver.
  void *(*virtualSymbol)(const char *name) = nullptr;

  /// Opens libcuda.so.1.
  static Result<std::shared_ptr<const Driver>> openCuda();

  /// Opens libjoule-vgpu.so beside this library or program, or where the dynamic linker finds it.
  static Result<std::shared_ptr<const Driver>> openVirtual();

  /// Turns a failed call into an Error; `what` completes "cannot …".
  Error failure(cuda::CUresult code, const std::string &what) const;
};

} // namespace joule
