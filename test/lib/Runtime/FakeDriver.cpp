// Device memory is host memory; work happens in the call.
#include "test/lib/Runtime/FakeDriver.h"

#include <cstdlib>
#include <cstring>

namespace joule::test {

FakeDevice &fakeDevice() {
  static FakeDevice device;
  return device;
}

// Inside one live allocation, as a real driver would insist.
static bool isDeviceMemory(CUdeviceptr address, size_t bytes) {
  auto &allocations = fakeDevice().allocations;
  auto next = allocations.upper_bound(static_cast<uintptr_t>(address));
  if (next == allocations.begin())
    return false;
  auto [begin, size] = *std::prev(next);
  return address - begin <= size && bytes <= size - (address - begin);
}

static CUresult copy(void *to, const void *from, size_t bytes, bool inside) {
  if (!inside)
    return CUDA_ERROR_INVALID_VALUE;
  std::memmove(to, from, bytes);
  return CUDA_SUCCESS;
}

static void *hostPointer(CUdeviceptr address) { return reinterpret_cast<void *>(address); }

static CUresult launch(CUfunction function, unsigned x, unsigned y, unsigned z, unsigned, unsigned, unsigned,
                       unsigned, CUstream stream, void **arguments, void **) {
  ++fakeDevice().launches;
  fakeDevice().lastStream = stream;
  (*reinterpret_cast<FakeKernel *>(function))({x, y, z}, arguments);
  return CUDA_SUCCESS;
}

static CUresult attribute(int *value, CUdevice_attribute which, CUdevice) {
  switch (which) {
  case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR:
    *value = 8;
    return CUDA_SUCCESS;
  case CU_DEVICE_ATTRIBUTE_CLOCK_RATE:
    *value = 1410000;
    return CUDA_SUCCESS;
  default:
    *value = 0;
    return CUDA_SUCCESS;
  }
}

static std::shared_ptr<const Driver> makeDriver() {
  auto driver = std::make_shared<Driver>();
  driver->cuInit = [](unsigned) { return CUDA_SUCCESS; };
  driver->cuDeviceGetCount = [](int *count) { return *count = 1, CUDA_SUCCESS; };
  driver->cuDeviceGet = [](CUdevice *device, int) { return *device = 0, CUDA_SUCCESS; };
  driver->cuDeviceGetName = [](char *name, int, CUdevice) {
    return std::strcpy(name, "Fake A100"), CUDA_SUCCESS;
  };
  driver->cuDeviceGetAttribute = attribute;
  driver->cuDeviceTotalMem_v2 = [](size_t *bytes, CUdevice) { return *bytes = 1 << 30, CUDA_SUCCESS; };
  driver->cuDevicePrimaryCtxRetain = [](CUcontext *context, CUdevice) {
    return *context = nullptr, CUDA_SUCCESS;
  };
  driver->cuDevicePrimaryCtxRelease_v2 = [](CUdevice) { return CUDA_SUCCESS; };
  driver->cuCtxPushCurrent_v2 = [](CUcontext) { return ++fakeDevice().contextDepth, CUDA_SUCCESS; };
  driver->cuCtxPopCurrent_v2 = [](CUcontext *) { return --fakeDevice().contextDepth, CUDA_SUCCESS; };
  driver->cuModuleLoadDataEx = [](CUmodule *module, const void *, unsigned, CUjit_option *, void **) {
    ++fakeDevice().modulesLive;
    *module = reinterpret_cast<CUmodule>(static_cast<uintptr_t>(++fakeDevice().modulesLoaded));
    return CUDA_SUCCESS;
  };
  driver->cuModuleUnload = [](CUmodule) { return --fakeDevice().modulesLive, CUDA_SUCCESS; };
  driver->cuModuleGetFunction = [](CUfunction *function, CUmodule, const char *name) {
    auto found = fakeDevice().kernels.find(name);
    if (found == fakeDevice().kernels.end())
      return CUDA_ERROR_NOT_FOUND;
    *function = reinterpret_cast<CUfunction>(&found->second);
    return CUDA_SUCCESS;
  };
  driver->cuFuncSetAttribute = [](CUfunction, CUfunction_attribute, int) { return CUDA_SUCCESS; };
  driver->cuLaunchKernel = launch;
  driver->cuMemAlloc_v2 = [](CUdeviceptr *address, size_t bytes) {
    size_t held = 0;
    for (auto [at, size] : fakeDevice().allocations)
      held += size;
    if (bytes > fakeDevice().memoryLimit || held > fakeDevice().memoryLimit - bytes)
      return CUDA_ERROR_OUT_OF_MEMORY;
    void *memory = std::aligned_alloc(256, (bytes + 255) / 256 * 256);
    std::memset(memory, 0xcd, bytes); // what no kernel has written must not look right
    *address = reinterpret_cast<CUdeviceptr>(memory);
    fakeDevice().allocations[reinterpret_cast<uintptr_t>(memory)] = bytes;
    return CUDA_SUCCESS;
  };
  driver->cuMemFree_v2 = [](CUdeviceptr address) {
    if (!fakeDevice().allocations.erase(static_cast<uintptr_t>(address)))
      return CUDA_ERROR_INVALID_VALUE;
    std::free(hostPointer(address));
    return CUDA_SUCCESS;
  };
  driver->cuMemcpyHtoDAsync_v2 = [](CUdeviceptr to, const void *from, size_t bytes, CUstream) {
    return copy(hostPointer(to), from, bytes, isDeviceMemory(to, bytes));
  };
  driver->cuMemcpyDtoHAsync_v2 = [](void *to, CUdeviceptr from, size_t bytes, CUstream) {
    return copy(to, hostPointer(from), bytes, isDeviceMemory(from, bytes));
  };
  driver->cuMemcpyDtoDAsync_v2 = [](CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream) {
    return copy(hostPointer(to), hostPointer(from), bytes,
                isDeviceMemory(to, bytes) && isDeviceMemory(from, bytes));
  };
  driver->cuMemsetD8Async = [](CUdeviceptr to, unsigned char value, size_t bytes, CUstream) {
    if (!isDeviceMemory(to, bytes))
      return CUDA_ERROR_INVALID_VALUE;
    std::memset(hostPointer(to), value, bytes);
    return CUDA_SUCCESS;
  };
  driver->cuStreamCreate = [](CUstream *stream, unsigned) {
    *stream = reinterpret_cast<CUstream>(100 + ++fakeDevice().streamsMade);
    ++fakeDevice().streamsLive;
    return CUDA_SUCCESS;
  };
  driver->cuStreamDestroy_v2 = [](CUstream) { return --fakeDevice().streamsLive, CUDA_SUCCESS; };
  driver->cuStreamSynchronize = [](CUstream) { return CUDA_SUCCESS; };
  driver->cuGetErrorName = [](CUresult, const char **name) { return *name = "FAKE_ERROR", CUDA_SUCCESS; };
  driver->cuGetErrorString = [](CUresult, const char **text) {
    return *text = "as the test wants", CUDA_SUCCESS;
  };
  return driver;
}

Device openFakeDevice() {
  fakeDevice() = {};
  return Device(*Device::Impl::open(makeDriver(), 0, "fake"));
}

} // namespace joule::test
