// The CUDA driver's interface over the virtual device. Streams run what they are given at once, in the
// caller's thread; so everything asynchronous is done when its function returns. No exception leaves a
// function of the interface.
#include "lib/VirtualGpu/Devices.h"
#include "lib/VirtualGpu/DriverApi.h"
#include "lib/VirtualGpu/Launch.h"
#include "lib/VirtualGpu/Settings.h"
#include "lib/VirtualGpu/TensorMap.h"
#include "lib/VirtualGpu/VirtualGpuApi.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <set>

using namespace joule::vgpu;

struct CUctx_st {
  std::atomic<int> references{0};
  std::atomic<int> stickyError{CUDA_SUCCESS}; // a failed kernel poisons the context, as on the real device
};

struct CUmod_st {
  CUmod_st(std::string text, MemoryMap &memory, const DecodeOptions &options)
      : module(std::move(text), memory, options) {}
  LoadedModule module;
  std::map<std::string, std::unique_ptr<CUfunc_st>> functions;
  std::mutex mutex;
};

struct CUfunc_st {
  KernelImage *image;
};

struct CUstream_st {};

struct CUevent_st {
  std::chrono::steady_clock::time_point time;
  bool recorded = false;
};

namespace {

constexpr int driverVersion = 12080; // PTX 8.7

/// All state of the driver. Made by the first call, never torn down: programs call in from destructors.
struct Driver {
  Settings settings = settingsFromEnvironment();
  const DeviceFacts *device = nullptr;
  std::unique_ptr<MemoryMap> memory;
  bool initialised = false;
  std::mutex mutex;
  CUctx_st primary;
  std::set<CUcontext> contexts;
  std::set<CUmodule> modules;
  std::set<CUstream> streams;
  std::set<CUevent> events;
  std::map<void *, size_t> hostBlocks;
  std::map<std::string, Counters> counters;
  std::atomic<bool> interrupted{false};
};

Driver &driver() {
  static Driver *instance = new Driver;
  return *instance;
}

thread_local std::vector<CUcontext> contextStack;
thread_local std::string lastError;

/// What jouleVgpuLimitThread set.
struct ThreadLimit {
  std::chrono::steady_clock::time_point deadline = std::chrono::steady_clock::time_point::max();
  const std::atomic<bool> *stop = nullptr;

  bool isReached() const { return (stop && *stop) || std::chrono::steady_clock::now() > deadline; }
};
thread_local ThreadLimit threadLimit;

CUresult fail(CUresult code, const std::string &message) {
  lastError = message;
  return code;
}

CUcontext current() { return contextStack.empty() ? nullptr : contextStack.back(); }

/// What most functions ask first.
CUresult ready() {
  if (!driver().initialised)
    return fail(CUDA_ERROR_NOT_INITIALIZED, "cuInit was not called");
  if (!current())
    return fail(CUDA_ERROR_INVALID_CONTEXT, "no context is current");
  return CUresult(current()->stickyError.load());
}

#define JOULE_READY()                                                                                        \
  if (CUresult notReady = ready())                                                                           \
  return notReady
#define JOULE_WANT(condition, what)                                                                          \
  if (!(condition))                                                                                          \
  return fail(CUDA_ERROR_INVALID_VALUE, what)

/// Runs the body of a function; what it throws becomes a result.
template <class F> CUresult guarded(F body) {
  try {
    return body();
  } catch (const std::bad_alloc &) {
    return fail(CUDA_ERROR_OUT_OF_MEMORY, "the host has no memory left");
  } catch (const std::exception &error) {
    return fail(CUDA_ERROR_UNKNOWN, error.what());
  }
}

template <class T> bool known(std::set<T> &set, T handle) {
  std::lock_guard lock(driver().mutex);
  return set.count(handle) != 0;
}

// --- devices and contexts ---

CUresult cuInit(unsigned int flags) {
  JOULE_WANT(flags == 0, "cuInit wants flags 0");
  return guarded([] {
    Driver &d = driver();
    std::lock_guard lock(d.mutex);
    if (d.initialised)
      return CUDA_SUCCESS;
    useJit();
    d.device = findDevice(d.settings.device);
    if (!d.device)
      return fail(CUDA_ERROR_NO_DEVICE, "there is no virtual device '" + d.settings.device + "'");
    d.memory = std::make_unique<MemoryMap>(d.device->memoryBytes);
    d.initialised = true;
    return CUDA_SUCCESS;
  });
}

CUresult cuDriverGetVersion(int *version) {
  JOULE_WANT(version, "null pointer");
  *version = driverVersion;
  return CUDA_SUCCESS;
}

CUresult checkDevice(CUdevice device) {
  if (!driver().initialised)
    return fail(CUDA_ERROR_NOT_INITIALIZED, "cuInit was not called");
  return device == 0 ? CUDA_SUCCESS : fail(CUDA_ERROR_INVALID_DEVICE, "there is one device, number 0");
}

CUresult cuDeviceGet(CUdevice *device, int ordinal) {
  JOULE_WANT(device, "null pointer");
  *device = 0;
  return checkDevice(ordinal);
}

CUresult cuDeviceGetCount(int *count) {
  JOULE_WANT(count, "null pointer");
  *count = 1;
  return checkDevice(0);
}

CUresult cuDeviceGetName(char *name, int length, CUdevice device) {
  JOULE_WANT(name && length > 0, "no room for the name");
  if (CUresult error = checkDevice(device))
    return error;
  strncpy(name, driver().device->name, size_t(length));
  name[length - 1] = 0;
  return CUDA_SUCCESS;
}

CUresult cuDeviceTotalMem_v2(size_t *bytes, CUdevice device) {
  JOULE_WANT(bytes, "null pointer");
  if (CUresult error = checkDevice(device))
    return error;
  *bytes = driver().device->memoryBytes;
  return CUDA_SUCCESS;
}

bool attributeOf(const DeviceFacts &d, CUdevice_attribute attribute, int &value) {
  switch (attribute) {
  case CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK:
  case CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X:
  case CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y:
    value = 1024;
    break;
  case CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z:
    value = 64;
    break;
  case CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X:
    value = 2147483647;
    break;
  case CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y:
  case CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z:
    value = 65535;
    break;
  case CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK:
    value = 48 * 1024;
    break;
  case CU_DEVICE_ATTRIBUTE_TOTAL_CONSTANT_MEMORY:
    value = 65536;
    break;
  case CU_DEVICE_ATTRIBUTE_WARP_SIZE:
    value = 32;
    break;
  case CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK:
  case CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR:
    value = 65536;
    break;
  case CU_DEVICE_ATTRIBUTE_CLOCK_RATE:
    value = d.clockKHz;
    break;
  case CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT:
    value = d.multiprocessors;
    break;
  case CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE:
    value = d.memoryClockKHz;
    break;
  case CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH:
    value = d.busWidthBits;
    break;
  case CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE:
    value = d.l2Bytes;
    break;
  case CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR:
    value = d.threadsPerMultiprocessor;
    break;
  case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR:
    value = d.major;
    break;
  case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR:
    value = d.minor;
    break;
  case CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR:
    value = d.sharedPerMultiprocessor;
    break;
  case CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN:
    value = d.sharedPerBlockOptIn;
    break;
  case CU_DEVICE_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR:
    value = d.blocksPerMultiprocessor;
    break;
  case CU_DEVICE_ATTRIBUTE_RESERVED_SHARED_MEMORY_PER_BLOCK:
    value = d.major >= 8 ? 1024 : 0;
    break;
  case CU_DEVICE_ATTRIBUTE_CAN_MAP_HOST_MEMORY:
  case CU_DEVICE_ATTRIBUTE_UNIFIED_ADDRESSING:
  case CU_DEVICE_ATTRIBUTE_MANAGED_MEMORY:
  case CU_DEVICE_ATTRIBUTE_COOPERATIVE_LAUNCH:
  case CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED:
  case CU_DEVICE_ATTRIBUTE_CONCURRENT_KERNELS:
  case CU_DEVICE_ATTRIBUTE_ASYNC_ENGINE_COUNT:
    value = 1;
    break;
  default:
    value = 0;
    return int(attribute) > 0 && int(attribute) < 160;
  }
  return true;
}

CUresult cuDeviceGetAttribute(int *value, CUdevice_attribute attribute, CUdevice device) {
  JOULE_WANT(value, "null pointer");
  if (CUresult error = checkDevice(device))
    return error;
  JOULE_WANT(attributeOf(*driver().device, attribute, *value), "no such attribute");
  return CUDA_SUCCESS;
}

CUresult cuDeviceComputeCapability(int *major, int *minor, CUdevice device) {
  JOULE_WANT(major && minor, "null pointer");
  if (CUresult error = checkDevice(device))
    return error;
  *major = driver().device->major;
  *minor = driver().device->minor;
  return CUDA_SUCCESS;
}

CUresult cuDevicePrimaryCtxRetain(CUcontext *context, CUdevice device) {
  JOULE_WANT(context, "null pointer");
  if (CUresult error = checkDevice(device))
    return error;
  ++driver().primary.references;
  *context = &driver().primary;
  return CUDA_SUCCESS;
}

CUresult cuDevicePrimaryCtxRelease_v2(CUdevice device) {
  if (CUresult error = checkDevice(device))
    return error;
  if (driver().primary.references <= 0)
    return fail(CUDA_ERROR_INVALID_CONTEXT, "the primary context is not held");
  if (--driver().primary.references == 0)
    driver().primary.stickyError = CUDA_SUCCESS;
  return CUDA_SUCCESS;
}

CUresult cuDevicePrimaryCtxReset_v2(CUdevice device) {
  if (CUresult error = checkDevice(device))
    return error;
  driver().primary.stickyError = CUDA_SUCCESS;
  return CUDA_SUCCESS;
}

CUresult cuDevicePrimaryCtxGetState(CUdevice device, unsigned int *flags, int *active) {
  JOULE_WANT(flags && active, "null pointer");
  if (CUresult error = checkDevice(device))
    return error;
  *flags = 0;
  *active = driver().primary.references > 0;
  return CUDA_SUCCESS;
}

CUresult cuCtxCreate_v2(CUcontext *context, unsigned int, CUdevice device) {
  JOULE_WANT(context, "null pointer");
  if (CUresult error = checkDevice(device))
    return error;
  return guarded([&] {
    *context = new CUctx_st;
    std::lock_guard lock(driver().mutex);
    driver().contexts.insert(*context);
    contextStack.push_back(*context);
    return CUDA_SUCCESS;
  });
}

CUresult cuCtxDestroy_v2(CUcontext context) {
  if (!known(driver().contexts, context))
    return fail(CUDA_ERROR_INVALID_CONTEXT, "not a context");
  contextStack.erase(std::remove(contextStack.begin(), contextStack.end(), context), contextStack.end());
  std::lock_guard lock(driver().mutex);
  driver().contexts.erase(context);
  delete context;
  return CUDA_SUCCESS;
}

CUresult cuCtxSetCurrent(CUcontext context) {
  if (!contextStack.empty())
    contextStack.pop_back();
  if (context)
    contextStack.push_back(context);
  return CUDA_SUCCESS;
}

CUresult cuCtxGetCurrent(CUcontext *context) {
  JOULE_WANT(context, "null pointer");
  *context = current();
  return CUDA_SUCCESS;
}

CUresult cuCtxPushCurrent_v2(CUcontext context) {
  JOULE_WANT(context, "null context");
  contextStack.push_back(context);
  return CUDA_SUCCESS;
}

CUresult cuCtxPopCurrent_v2(CUcontext *context) {
  if (contextStack.empty())
    return fail(CUDA_ERROR_INVALID_CONTEXT, "no context is current");
  if (context)
    *context = contextStack.back();
  contextStack.pop_back();
  return CUDA_SUCCESS;
}

CUresult cuCtxGetDevice(CUdevice *device) {
  JOULE_WANT(device, "null pointer");
  JOULE_READY();
  *device = 0;
  return CUDA_SUCCESS;
}

CUresult cuCtxSynchronize() { return ready(); }

// --- modules ---

/// The JIT options that Joule knows: where to write errors.
struct JitLog {
  char *buffer = nullptr;
  size_t size = 0;

  JitLog(unsigned int count, const CUjit_option *options, void **values) {
    for (unsigned i = 0; i < count; ++i) {
      if (options[i] == CU_JIT_ERROR_LOG_BUFFER)
        buffer = static_cast<char *>(values[i]);
      if (options[i] == CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES)
        size = size_t(reinterpret_cast<uintptr_t>(values[i]));
    }
  }
  void write(const char *text) const {
    if (!buffer || !size)
      return;
    strncpy(buffer, text, size);
    buffer[size - 1] = 0;
  }
};

DecodeOptions decodeOptions() {
  const Driver &d = driver();
  DecodeOptions options;
  options.exactArchitecture = d.settings.exact ? d.device->major * 10 + d.device->minor : 0;
  return options;
}

CUresult cuModuleLoadDataEx(CUmodule *module, const void *image, unsigned int numOptions,
                            CUjit_option *options, void **values) {
  JOULE_WANT(module && image, "null pointer");
  JOULE_READY();
  JitLog log(numOptions, options, values);
  log.write("");
  return guarded([&] {
    try {
      auto loaded =
          std::make_unique<CUmod_st>(static_cast<const char *>(image), *driver().memory, decodeOptions());
      std::lock_guard lock(driver().mutex);
      driver().modules.insert(loaded.get());
      *module = loaded.release();
      return CUDA_SUCCESS;
    } catch (const ptx::ParseError &error) {
      log.write(error.what());
      return fail(CUDA_ERROR_INVALID_PTX, error.what());
    }
  });
}

CUresult cuModuleLoadData(CUmodule *module, const void *image) {
  return cuModuleLoadDataEx(module, image, 0, nullptr, nullptr);
}

CUresult cuModuleUnload(CUmodule module) {
  if (!known(driver().modules, module))
    return fail(CUDA_ERROR_INVALID_HANDLE, "not a module");
  std::lock_guard lock(driver().mutex);
  driver().modules.erase(module);
  delete module;
  return CUDA_SUCCESS;
}

CUresult cuModuleGetFunction(CUfunction *function, CUmodule module, const char *name) {
  JOULE_WANT(function && name, "null pointer");
  JOULE_READY();
  if (!known(driver().modules, module))
    return fail(CUDA_ERROR_INVALID_HANDLE, "not a module");
  return guarded([&] {
    std::lock_guard lock(module->mutex);
    auto &slot = module->functions[name];
    if (!slot) {
      KernelImage *image = module->module.kernel(name);
      if (!image)
        return fail(CUDA_ERROR_NOT_FOUND, std::string("the module has no kernel '") + name + "'");
      slot = std::make_unique<CUfunc_st>(CUfunc_st{image});
    }
    *function = slot.get();
    return CUDA_SUCCESS;
  });
}

CUresult cuModuleGetGlobal_v2(CUdeviceptr *address, size_t *bytes, CUmodule module, const char *name) {
  JOULE_WANT(name, "null pointer");
  JOULE_READY();
  if (!known(driver().modules, module))
    return fail(CUDA_ERROR_INVALID_HANDLE, "not a module");
  uint64_t where, size;
  if (!module->module.global(name, where, size))
    return fail(CUDA_ERROR_NOT_FOUND, std::string("the module has no variable '") + name + "'");
  if (address)
    *address = where;
  if (bytes)
    *bytes = size;
  return CUDA_SUCCESS;
}

int maxThreads(const ptx::Function &f) {
  uint32_t required = f.requiredBlock[0] * f.requiredBlock[1] * f.requiredBlock[2];
  return int(required ? required : f.maxThreads ? f.maxThreads : 1024);
}

CUresult cuFuncGetParamInfo(CUfunction function, size_t parameter, size_t *offset, size_t *size) {
  JOULE_WANT(function && offset, "null pointer");
  const Program &program = function->image->entry();
  JOULE_WANT(parameter < program.kernelParameters.size(), "the kernel has no such parameter");
  *offset = program.kernelParameters[parameter];
  if (size)
    *size = program.kernelParameterSizes[parameter];
  return CUDA_SUCCESS;
}

CUresult cuFuncGetAttribute(int *value, CUfunction_attribute attribute, CUfunction function) {
  JOULE_WANT(value && function, "null pointer");
  const KernelImage &image = *function->image;
  switch (attribute) {
  case CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK:
    *value = maxThreads(*image.entry().function);
    break;
  case CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES:
    *value = int(image.staticShared());
    break;
  case CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES:
    *value = int(image.localBytes());
    break;
  case CU_FUNC_ATTRIBUTE_NUM_REGS:
    *value = int(std::min(255u, image.entry().registers32));
    break;
  case CU_FUNC_ATTRIBUTE_PTX_VERSION:
  case CU_FUNC_ATTRIBUTE_BINARY_VERSION:
    *value = driver().device->major * 10 + driver().device->minor;
    break;
  case CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES:
    *value = int(std::max(image.maxDynamicShared, 48u * 1024 - std::min(48u * 1024, image.staticShared())));
    break;
  default:
    *value = 0;
    break;
  }
  return CUDA_SUCCESS;
}

CUresult cuFuncSetAttribute(CUfunction function, CUfunction_attribute attribute, int value) {
  JOULE_WANT(function, "null pointer");
  if (attribute != CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES)
    return CUDA_SUCCESS;
  int most = driver().device->sharedPerBlockOptIn - int(function->image->staticShared());
  if (value < 0 || value > most)
    return fail(CUDA_ERROR_INVALID_VALUE, "this device has " + std::to_string(most) +
                                              " bytes of shared memory for a block of this kernel");
  function->image->maxDynamicShared = uint32_t(value);
  return CUDA_SUCCESS;
}

CUresult cuFuncSetCacheConfig(CUfunction, CUfunc_cache) { return CUDA_SUCCESS; }

// --- memory ---

CUresult cuMemAlloc_v2(CUdeviceptr *address, size_t bytes) {
  JOULE_WANT(address && bytes, "an allocation needs a size and a place for its address");
  JOULE_READY();
  return guarded([&] {
    *address = driver().memory->allocate(bytes);
    return *address ? CUDA_SUCCESS
                    : fail(CUDA_ERROR_OUT_OF_MEMORY, std::to_string(bytes) + " bytes are not available");
  });
}

CUresult cuMemFree_v2(CUdeviceptr address) {
  JOULE_READY();
  if (!address)
    return CUDA_SUCCESS;
  return driver().memory->release(address)
             ? CUDA_SUCCESS
             : fail(CUDA_ERROR_INVALID_VALUE, "not the address of an allocation");
}

CUresult cuMemAllocAsync(CUdeviceptr *address, size_t bytes, CUstream) {
  return cuMemAlloc_v2(address, bytes);
}
CUresult cuMemFreeAsync(CUdeviceptr address, CUstream) { return cuMemFree_v2(address); }
CUresult cuMemAllocManaged(CUdeviceptr *address, size_t bytes, unsigned int) {
  return cuMemAlloc_v2(address, bytes);
}

CUresult cuMemHostAlloc(void **host, size_t bytes, unsigned int) {
  JOULE_WANT(host && bytes, "an allocation needs a size and a place for its address");
  JOULE_READY();
  *host = aligned_alloc(4096, (bytes + 4095) & ~size_t(4095));
  if (!*host)
    return fail(CUDA_ERROR_OUT_OF_MEMORY, "the host has no memory left");
  return guarded([&] {
    driver().memory->adopt(uint64_t(*host), bytes);
    return CUDA_SUCCESS;
  });
}

CUresult cuMemAllocHost_v2(void **host, size_t bytes) { return cuMemHostAlloc(host, bytes, 0); }

CUresult cuMemFreeHost(void *host) {
  JOULE_WANT(driver().memory && driver().memory->disown(uint64_t(host)), "not memory from cuMemHostAlloc");
  free(host);
  return CUDA_SUCCESS;
}

CUresult cuMemHostRegister_v2(void *host, size_t bytes, unsigned int) {
  JOULE_WANT(host && bytes, "null pointer");
  JOULE_READY();
  driver().memory->adopt(uint64_t(host), bytes);
  return CUDA_SUCCESS;
}

CUresult cuMemHostUnregister(void *host) {
  JOULE_READY();
  JOULE_WANT(driver().memory->disown(uint64_t(host)), "not registered memory");
  return CUDA_SUCCESS;
}

CUresult cuMemHostGetDevicePointer_v2(CUdeviceptr *address, void *host, unsigned int) {
  JOULE_WANT(address && host, "null pointer");
  JOULE_READY();
  *address = CUdeviceptr(host);
  return CUDA_SUCCESS;
}

CUresult cuMemGetInfo_v2(size_t *free, size_t *total) {
  JOULE_WANT(free && total, "null pointer");
  JOULE_READY();
  *total = driver().memory->total();
  *free = *total - driver().memory->used();
  return CUDA_SUCCESS;
}

CUresult cuMemGetAddressRange_v2(CUdeviceptr *base, size_t *bytes, CUdeviceptr address) {
  JOULE_READY();
  Range range = driver().memory->find(address, address + 1);
  if (!range.high)
    return fail(CUDA_ERROR_NOT_FOUND, "not device memory");
  if (base)
    *base = range.low;
  if (bytes)
    *bytes = range.high - range.low;
  return CUDA_SUCCESS;
}

CUresult checkSpan(CUdeviceptr address, size_t bytes) {
  if (driver().memory->find(address, address + bytes).high)
    return CUDA_SUCCESS;
  return fail(CUDA_ERROR_INVALID_VALUE, "the copy leaves the allocation it starts in");
}

CUresult cuMemcpyHtoD_v2(CUdeviceptr to, const void *from, size_t bytes) {
  JOULE_READY();
  if (!bytes)
    return CUDA_SUCCESS;
  JOULE_WANT(from, "null pointer");
  if (CUresult error = checkSpan(to, bytes))
    return error;
  memcpy(reinterpret_cast<void *>(to), from, bytes);
  return CUDA_SUCCESS;
}

CUresult cuMemcpyDtoH_v2(void *to, CUdeviceptr from, size_t bytes) {
  JOULE_READY();
  if (!bytes)
    return CUDA_SUCCESS;
  JOULE_WANT(to, "null pointer");
  if (CUresult error = checkSpan(from, bytes))
    return error;
  memcpy(to, reinterpret_cast<const void *>(from), bytes);
  return CUDA_SUCCESS;
}

CUresult cuMemcpyDtoD_v2(CUdeviceptr to, CUdeviceptr from, size_t bytes) {
  JOULE_READY();
  if (!bytes)
    return CUDA_SUCCESS;
  if (CUresult error = checkSpan(to, bytes))
    return error;
  if (CUresult error = checkSpan(from, bytes))
    return error;
  memmove(reinterpret_cast<void *>(to), reinterpret_cast<const void *>(from), bytes);
  return CUDA_SUCCESS;
}

/// Addresses of either side: the host's own are taken on trust, as the real driver must.
CUresult cuMemcpy(CUdeviceptr to, CUdeviceptr from, size_t bytes) {
  JOULE_READY();
  memmove(reinterpret_cast<void *>(to), reinterpret_cast<const void *>(from), bytes);
  return CUDA_SUCCESS;
}

CUresult cuMemcpyAsync(CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream) {
  return cuMemcpy(to, from, bytes);
}
CUresult cuMemcpyHtoDAsync_v2(CUdeviceptr to, const void *from, size_t bytes, CUstream) {
  return cuMemcpyHtoD_v2(to, from, bytes);
}
CUresult cuMemcpyDtoHAsync_v2(void *to, CUdeviceptr from, size_t bytes, CUstream) {
  return cuMemcpyDtoH_v2(to, from, bytes);
}
CUresult cuMemcpyDtoDAsync_v2(CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream) {
  return cuMemcpyDtoD_v2(to, from, bytes);
}

template <class T> CUresult fill(CUdeviceptr to, T value, size_t count) {
  JOULE_READY();
  if (!count)
    return CUDA_SUCCESS;
  JOULE_WANT(to % sizeof(T) == 0, "the address is not aligned");
  if (CUresult error = checkSpan(to, count * sizeof(T)))
    return error;
  std::fill_n(reinterpret_cast<T *>(to), count, value);
  return CUDA_SUCCESS;
}

CUresult cuMemsetD8_v2(CUdeviceptr to, unsigned char value, size_t count) { return fill(to, value, count); }
CUresult cuMemsetD16_v2(CUdeviceptr to, unsigned short value, size_t count) { return fill(to, value, count); }
CUresult cuMemsetD32_v2(CUdeviceptr to, unsigned int value, size_t count) { return fill(to, value, count); }
CUresult cuMemsetD8Async(CUdeviceptr to, unsigned char value, size_t count, CUstream) {
  return fill(to, value, count);
}
CUresult cuMemsetD16Async(CUdeviceptr to, unsigned short value, size_t count, CUstream) {
  return fill(to, value, count);
}
CUresult cuMemsetD32Async(CUdeviceptr to, unsigned int value, size_t count, CUstream) {
  return fill(to, value, count);
}

// --- streams and events ---

CUresult cuStreamCreate(CUstream *stream, unsigned int) {
  JOULE_WANT(stream, "null pointer");
  JOULE_READY();
  return guarded([&] {
    std::lock_guard lock(driver().mutex);
    driver().streams.insert(*stream = new CUstream_st);
    return CUDA_SUCCESS;
  });
}

CUresult cuStreamCreateWithPriority(CUstream *stream, unsigned int flags, int) {
  return cuStreamCreate(stream, flags);
}

CUresult cuStreamDestroy_v2(CUstream stream) {
  if (!known(driver().streams, stream))
    return fail(CUDA_ERROR_INVALID_HANDLE, "not a stream");
  std::lock_guard lock(driver().mutex);
  driver().streams.erase(stream);
  delete stream;
  return CUDA_SUCCESS;
}

/// The default streams have handles 0, 1 and 2.
CUresult checkStream(CUstream stream) {
  JOULE_READY();
  if (reinterpret_cast<uintptr_t>(stream) <= 2 || known(driver().streams, stream))
    return CUDA_SUCCESS;
  return fail(CUDA_ERROR_INVALID_HANDLE, "not a stream");
}

CUresult cuStreamSynchronize(CUstream stream) { return checkStream(stream); }
CUresult cuStreamQuery(CUstream stream) { return checkStream(stream); }

CUresult checkEvent(CUevent event) {
  JOULE_READY();
  return known(driver().events, event) ? CUDA_SUCCESS : fail(CUDA_ERROR_INVALID_HANDLE, "not an event");
}

CUresult cuStreamWaitEvent(CUstream stream, CUevent event, unsigned int) {
  if (CUresult error = checkStream(stream))
    return error;
  return checkEvent(event);
}

CUresult cuEventCreate(CUevent *event, unsigned int) {
  JOULE_WANT(event, "null pointer");
  JOULE_READY();
  return guarded([&] {
    std::lock_guard lock(driver().mutex);
    driver().events.insert(*event = new CUevent_st);
    return CUDA_SUCCESS;
  });
}

CUresult cuEventRecord(CUevent event, CUstream stream) {
  if (CUresult error = checkStream(stream))
    return error;
  if (CUresult error = checkEvent(event))
    return error;
  event->time = std::chrono::steady_clock::now();
  event->recorded = true;
  return CUDA_SUCCESS;
}

CUresult cuEventQuery(CUevent event) { return checkEvent(event); }
CUresult cuEventSynchronize(CUevent event) { return checkEvent(event); }

CUresult cuEventElapsedTime(float *milliseconds, CUevent start, CUevent end) {
  JOULE_WANT(milliseconds, "null pointer");
  if (CUresult error = checkEvent(start))
    return error;
  if (CUresult error = checkEvent(end))
    return error;
  if (!start->recorded || !end->recorded)
    return fail(CUDA_ERROR_INVALID_HANDLE, "an event was not recorded");
  *milliseconds = std::chrono::duration<float, std::milli>(end->time - start->time).count();
  return CUDA_SUCCESS;
}

CUresult cuEventDestroy_v2(CUevent event) {
  if (!known(driver().events, event))
    return fail(CUDA_ERROR_INVALID_HANDLE, "not an event");
  std::lock_guard lock(driver().mutex);
  driver().events.erase(event);
  delete event;
  return CUDA_SUCCESS;
}

// --- launches ---

CUresult resultOf(FaultKind kind) {
  switch (kind) {
  case FaultKind::None:
    return CUDA_SUCCESS;
  case FaultKind::IllegalAddress:
    return CUDA_ERROR_ILLEGAL_ADDRESS;
  case FaultKind::Misaligned:
    return CUDA_ERROR_MISALIGNED_ADDRESS;
  case FaultKind::IllegalInstruction:
    return CUDA_ERROR_ILLEGAL_INSTRUCTION;
  case FaultKind::Timeout:
  case FaultKind::Deadlock:
    return CUDA_ERROR_LAUNCH_TIMEOUT;
  case FaultKind::OutOfResources:
    return CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES;
  case FaultKind::StackOverflow:
    return CUDA_ERROR_HARDWARE_STACK_ERROR;
  case FaultKind::Assert:
    return CUDA_ERROR_ASSERT;
  default:
    return CUDA_ERROR_LAUNCH_FAILED;
  }
}

constexpr uintptr_t extraBufferPointer = 1, extraBufferSize = 2;

/// The kernel's parameters as one block, from an array of pointers or from a packed buffer.
bool gatherParameters(const Program &program, void **parameters, void **extra, std::vector<uint8_t> &block) {
  block.assign(program.kernelParameterBytes, 0);
  if (parameters || !extra) {
    for (size_t i = 0; i < program.kernelParameters.size(); ++i) {
      if (!parameters || !parameters[i])
        return false;
      memcpy(block.data() + program.kernelParameters[i], parameters[i], program.kernelParameterSizes[i]);
    }
    return true;
  }
  const void *buffer = nullptr;
  size_t size = 0;
  for (; *extra; extra += 2) {
    if (uintptr_t(*extra) == extraBufferPointer)
      buffer = extra[1];
    if (uintptr_t(*extra) == extraBufferSize)
      size = *static_cast<size_t *>(extra[1]);
  }
  if (!buffer || size < block.size())
    return false;
  memcpy(block.data(), buffer, block.size());
  return true;
}

CUresult checkShape(const LaunchRequest &request, const KernelImage &image) {
  uint64_t threads = uint64_t(request.block[0]) * request.block[1] * request.block[2];
  for (int i = 0; i < 3; ++i)
    JOULE_WANT(request.grid[i] && request.block[i], "a grid or block of size 0");
  JOULE_WANT(request.grid[1] <= 65535 && request.grid[2] <= 65535, "the grid is too large");
  JOULE_WANT(threads <= 1024 && request.block[2] <= 64, "a block has at most 1024 threads");
  if (threads > uint64_t(maxThreads(*image.entry().function)))
    return fail(CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES, "the kernel was compiled for fewer threads per block");
  uint64_t shared = uint64_t(request.dynamicShared) + image.staticShared();
  uint64_t most = std::max<uint64_t>(
      48 * 1024, image.maxDynamicShared ? image.maxDynamicShared + image.staticShared() : 0);
  JOULE_WANT(shared <= most, "kernel '" + image.entry().function->name + "' asks for " +
                                 std::to_string(shared) + " bytes of shared memory, " + std::to_string(most) +
                                 " are allowed");
  return CUDA_SUCCESS;
}

/// The cluster's size: the launch's, or the one that the kernel was compiled for.
CUresult checkCluster(LaunchRequest &request, const KernelImage &image) {
  const uint32_t *required = image.entry().function->requiredCluster;
  uint64_t blocks = 1;
  for (int i = 0; i < 3; ++i) {
    bool isGiven = request.cluster[0] * request.cluster[1] * request.cluster[2] > 1;
    if (required[0] && isGiven)
      JOULE_WANT(request.cluster[i] == required[i], "the kernel was compiled for another cluster");
    blocks *= required[0] ? required[i] : request.cluster[i];
    JOULE_WANT(blocks >= 1 && blocks <= 16, "a cluster has 1 to 16 blocks");
  }
  for (int i = 0; i < 3 && required[0]; ++i)
    request.cluster[i] = required[i];
  for (int i = 0; i < 3; ++i)
    JOULE_WANT(request.grid[i] % request.cluster[i] == 0, "the grid is no whole number of clusters");
  if (blocks > 1 && driver().device->major < 9)
    return fail(CUDA_ERROR_NOT_SUPPORTED, "clusters of several blocks need a device of sm_90");
  return CUDA_SUCCESS;
}

void takeSettings(LaunchRequest &request) {
  Driver &d = driver();
  request.threads = d.settings.threads;
  request.count = d.settings.count;
  request.multiprocessors = unsigned(d.device->multiprocessors);
  request.memory = d.memory.get();
  request.interrupt = &d.interrupted;
  if (d.settings.timeLimitSeconds > 0)
    request.deadline = std::chrono::steady_clock::now() +
                       std::chrono::microseconds(int64_t(d.settings.timeLimitSeconds * 1e6));
  request.deadline = std::min(request.deadline, threadLimit.deadline);
  request.threadInterrupt = threadLimit.stop;
}

CUresult launchRequest(CUfunction function, LaunchRequest &request, CUstream stream, void **parameters,
                       void **extra) {
  if (CUresult error = checkStream(stream))
    return error;
  JOULE_WANT(function, "null function");
  const KernelImage &image = *function->image;
  request.image = &image;
  if (CUresult error = checkShape(request, image))
    return error;
  if (CUresult error = checkCluster(request, image))
    return error;
  JOULE_WANT(gatherParameters(image.entry(), parameters, extra, request.parameters),
             "the kernel's parameters are missing");
  takeSettings(request);
  return guarded([&] {
    LaunchResult result = launch(request);
    if (request.count) {
      std::lock_guard lock(driver().mutex);
      driver().counters[image.entry().function->name].add(result.counters);
    }
    // The caller asked for this end, which is no fault of the kernel.
    if (result.fault == FaultKind::Timeout && threadLimit.isReached())
      return fail(CUDA_ERROR_LAUNCH_TIMEOUT, result.message);
    // A kernel's own failure shows at the next call, as with the asynchronous device.
    if (result.fault != FaultKind::None)
      current()->stickyError = fail(resultOf(result.fault), result.message);
    return CUDA_SUCCESS;
  });
}

CUresult cuLaunchKernel(CUfunction function, unsigned int gridX, unsigned int gridY, unsigned int gridZ,
                        unsigned int blockX, unsigned int blockY, unsigned int blockZ,
                        unsigned int sharedBytes, CUstream stream, void **parameters, void **extra) {
  LaunchRequest request;
  request.grid[0] = gridX, request.grid[1] = gridY, request.grid[2] = gridZ;
  request.block[0] = blockX, request.block[1] = blockY, request.block[2] = blockZ;
  request.dynamicShared = sharedBytes;
  return launchRequest(function, request, stream, parameters, extra);
}

CUresult cuLaunchKernelEx(const CUlaunchConfig *config, CUfunction function, void **parameters,
                          void **extra) {
  JOULE_WANT(config, "null pointer");
  LaunchRequest request;
  request.grid[0] = config->gridDimX, request.grid[1] = config->gridDimY, request.grid[2] = config->gridDimZ;
  request.block[0] = config->blockDimX, request.block[1] = config->blockDimY,
  request.block[2] = config->blockDimZ;
  request.dynamicShared = config->sharedMemBytes;
  for (unsigned i = 0; i < config->numAttrs; ++i) {
    const CUlaunchAttribute &attribute = config->attrs[i];
    if (attribute.id == CU_LAUNCH_ATTRIBUTE_COOPERATIVE)
      request.cooperative = attribute.value.cooperative != 0;
    if (attribute.id == CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION) {
      const auto &size = attribute.value.clusterDim;
      request.cluster[0] = size.x, request.cluster[1] = size.y, request.cluster[2] = size.z;
    }
  }
  return launchRequest(function, request, config->hStream, parameters, extra);
}

CUresult cuLaunchCooperativeKernel(CUfunction function, unsigned int gridX, unsigned int gridY,
                                   unsigned int gridZ, unsigned int blockX, unsigned int blockY,
                                   unsigned int blockZ, unsigned int sharedBytes, CUstream stream,
                                   void **parameters) {
  LaunchRequest request;
  request.grid[0] = gridX, request.grid[1] = gridY, request.grid[2] = gridZ;
  request.block[0] = blockX, request.block[1] = blockY, request.block[2] = blockZ;
  request.dynamicShared = sharedBytes;
  request.cooperative = true;
  return launchRequest(function, request, stream, parameters, nullptr);
}

CUresult cuOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, CUfunction function, int blockSize,
                                                     size_t dynamicShared) {
  JOULE_WANT(blocks && function && blockSize > 0, "null pointer");
  JOULE_READY();
  const DeviceFacts &d = *driver().device;
  uint64_t shared = function->image->staticShared() + dynamicShared + (d.major >= 8 ? 1024 : 0);
  uint64_t registers =
      std::max(16u, std::min(255u, function->image->entry().registers32)) * uint64_t(blockSize);
  int byThreads = d.threadsPerMultiprocessor / ((blockSize + 31) / 32 * 32);
  int byShared = shared ? int(uint64_t(d.sharedPerMultiprocessor) / shared) : d.blocksPerMultiprocessor;
  *blocks = std::min({byThreads, byShared, int(65536 / registers), d.blocksPerMultiprocessor});
  return CUDA_SUCCESS;
}

// --- tensor maps ---

CUresult writeMap(CUtensorMap *to, const char *(*encode)(const TensorMapRequest &, TensorMap &),
                  const TensorMapRequest &request) {
  JOULE_WANT(to && uintptr_t(to) % 64 == 0, "a tensor map must be aligned to 64 bytes");
  TensorMap map;
  const char *problem = encode(request, map);
  JOULE_WANT(!problem, problem);
  memcpy(to, &map, sizeof map);
  return CUDA_SUCCESS;
}

CUresult cuTensorMapEncodeTiled(CUtensorMap *map, unsigned int type, unsigned int rank, void *address,
                                const uint64_t *sizes, const uint64_t *strides, const uint32_t *box,
                                const uint32_t *elementStrides, unsigned int interleave, unsigned int swizzle,
                                unsigned int promotion, unsigned int fill) {
  TensorMapRequest r = {};
  r.type = type, r.rank = rank, r.address = uint64_t(address);
  r.sizes = sizes, r.strides = strides, r.box = box, r.elementStrides = elementStrides;
  r.interleave = interleave, r.swizzle = swizzle, r.promotion = promotion, r.fill = fill;
  return writeMap(map, encodeTiled, r);
}

CUresult cuTensorMapEncodeIm2col(CUtensorMap *map, unsigned int type, unsigned int rank, void *address,
                                 const uint64_t *sizes, const uint64_t *strides, const int *lowerCorner,
                                 const int *upperCorner, unsigned int channels, unsigned int pixels,
                                 const uint32_t *elementStrides, unsigned int interleave,
                                 unsigned int swizzle, unsigned int promotion, unsigned int fill) {
  TensorMapRequest r = {};
  r.type = type, r.rank = rank, r.address = uint64_t(address);
  r.sizes = sizes, r.strides = strides, r.elementStrides = elementStrides;
  r.lowerCorner = lowerCorner, r.upperCorner = upperCorner, r.channels = channels, r.pixels = pixels;
  r.interleave = interleave, r.swizzle = swizzle, r.promotion = promotion, r.fill = fill;
  return writeMap(map, encodeIm2col, r);
}

CUresult cuTensorMapReplaceAddress(CUtensorMap *map, void *address) {
  JOULE_WANT(map && uintptr_t(address) % 16 == 0, "the tensor's address must be a multiple of 16");
  TensorMap own;
  memcpy(&own, map, sizeof own);
  JOULE_WANT(own.isValid(), "not a tensor map");
  own.address = uint64_t(address);
  memcpy(map, &own, sizeof own);
  return CUDA_SUCCESS;
}

// --- names ---

struct ErrorText {
  CUresult code;
  const char *name, *text;
};

const ErrorText errorTexts[] = {
    {CUDA_SUCCESS, "CUDA_SUCCESS", "no error"},
    {CUDA_ERROR_INVALID_VALUE, "CUDA_ERROR_INVALID_VALUE", "invalid argument"},
    {CUDA_ERROR_OUT_OF_MEMORY, "CUDA_ERROR_OUT_OF_MEMORY", "out of memory"},
    {CUDA_ERROR_NOT_INITIALIZED, "CUDA_ERROR_NOT_INITIALIZED", "initialization error"},
    {CUDA_ERROR_DEINITIALIZED, "CUDA_ERROR_DEINITIALIZED", "driver shutting down"},
    {CUDA_ERROR_NO_DEVICE, "CUDA_ERROR_NO_DEVICE", "no device"},
    {CUDA_ERROR_INVALID_DEVICE, "CUDA_ERROR_INVALID_DEVICE", "invalid device ordinal"},
    {CUDA_ERROR_INVALID_IMAGE, "CUDA_ERROR_INVALID_IMAGE", "device kernel image is invalid"},
    {CUDA_ERROR_INVALID_CONTEXT, "CUDA_ERROR_INVALID_CONTEXT", "invalid device context"},
    {CUDA_ERROR_NO_BINARY_FOR_GPU, "CUDA_ERROR_NO_BINARY_FOR_GPU",
     "no kernel image is available for execution on the device"},
    {CUDA_ERROR_INVALID_PTX, "CUDA_ERROR_INVALID_PTX", "a PTX JIT compilation failed"},
    {CUDA_ERROR_UNSUPPORTED_PTX_VERSION, "CUDA_ERROR_UNSUPPORTED_PTX_VERSION",
     "the provided PTX was compiled with an unsupported toolchain"},
    {CUDA_ERROR_INVALID_HANDLE, "CUDA_ERROR_INVALID_HANDLE", "invalid resource handle"},
    {CUDA_ERROR_NOT_FOUND, "CUDA_ERROR_NOT_FOUND", "named symbol not found"},
    {CUDA_ERROR_NOT_READY, "CUDA_ERROR_NOT_READY", "device not ready"},
    {CUDA_ERROR_ILLEGAL_ADDRESS, "CUDA_ERROR_ILLEGAL_ADDRESS", "an illegal memory access was encountered"},
    {CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES, "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES",
     "too many resources requested for launch"},
    {CUDA_ERROR_LAUNCH_TIMEOUT, "CUDA_ERROR_LAUNCH_TIMEOUT", "the launch timed out and was terminated"},
    {CUDA_ERROR_ASSERT, "CUDA_ERROR_ASSERT", "device-side assert triggered"},
    {CUDA_ERROR_HARDWARE_STACK_ERROR, "CUDA_ERROR_HARDWARE_STACK_ERROR", "hardware stack error"},
    {CUDA_ERROR_ILLEGAL_INSTRUCTION, "CUDA_ERROR_ILLEGAL_INSTRUCTION",
     "an illegal instruction was encountered"},
    {CUDA_ERROR_MISALIGNED_ADDRESS, "CUDA_ERROR_MISALIGNED_ADDRESS", "misaligned address"},
    {CUDA_ERROR_INVALID_ADDRESS_SPACE, "CUDA_ERROR_INVALID_ADDRESS_SPACE",
     "operation not supported on global/shared address space"},
    {CUDA_ERROR_LAUNCH_FAILED, "CUDA_ERROR_LAUNCH_FAILED", "unspecified launch failure"},
    {CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE, "CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE",
     "too many blocks in cooperative launch"},
    {CUDA_ERROR_NOT_SUPPORTED, "CUDA_ERROR_NOT_SUPPORTED", "operation not supported"},
    {CUDA_ERROR_UNKNOWN, "CUDA_ERROR_UNKNOWN", "unknown error"},
};

const ErrorText *findError(CUresult code) {
  for (const ErrorText &entry : errorTexts)
    if (entry.code == code)
      return &entry;
  return nullptr;
}

CUresult cuGetErrorName(CUresult error, const char **text) {
  const ErrorText *entry = findError(error);
  *text = entry ? entry->name : nullptr;
  return entry ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuGetErrorString(CUresult error, const char **text) {
  const ErrorText *entry = findError(error);
  *text = entry ? entry->text : nullptr;
  return entry ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

void *findFunction(const std::string &name);

CUresult cuGetProcAddress_v2(const char *symbol, void **function, int, uint64_t,
                             CUdriverProcAddressQueryResult *status) {
  JOULE_WANT(symbol && function, "null pointer");
  // Callers name a function without its version and mean the newest.
  *function = findFunction(std::string(symbol) + "_v2");
  if (!*function)
    *function = findFunction(symbol);
  if (status)
    *status = *function ? CU_GET_PROC_ADDRESS_SUCCESS : CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
  return *function ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND;
}

// --- beyond CUDA ---

const char *jouleVgpuIdentity() { return "joule virtual gpu"; }

int jouleVgpuSetOptions(const JouleVgpuOptions *options) {
  if (!options || options->size < sizeof(JouleVgpuOptions))
    return 1;
  Driver &d = driver();
  std::lock_guard lock(d.mutex);
  Settings asked = d.settings;
  if (options->device) {
    if (!setDevice(asked, options->device) || !findDevice(asked.device) ||
        (d.initialised && (d.device != findDevice(asked.device) || d.settings.exact != asked.exact)))
      return 1;
    d.settings = asked;
  }
  if (options->threads)
    d.settings.threads = options->threads;
  d.settings.count = options->count != 0;
  d.settings.timeLimitSeconds = options->timeLimitSeconds;
  return 0;
}

void copyCounters(const Counters &from, JouleVgpuCounters &to) {
  static_assert(Counters::classes == jouleVgpuInstructionClasses);
  to.classes = Counters::classes;
  to.launches = from.launches;
  std::copy_n(from.warpInstructions, Counters::classes, to.warpInstructions);
  std::copy_n(from.threadInstructions, Counters::classes, to.threadInstructions);
  static_assert(sizeof(MemoryCount) == 10 * sizeof(uint64_t));
  memcpy(&to.globalLoadBytes, &from.memory, sizeof from.memory);
}

int jouleVgpuReadCounters(const char *kernel, JouleVgpuCounters *counters) {
  if (!counters || counters->size < sizeof(JouleVgpuCounters))
    return 1;
  Driver &d = driver();
  std::lock_guard lock(d.mutex);
  Counters total;
  for (auto &[name, counted] : d.counters)
    if (!kernel || name == kernel)
      total.add(counted);
  copyCounters(total, *counters);
  return total.launches ? 0 : 1;
}

void jouleVgpuResetCounters() {
  std::lock_guard lock(driver().mutex);
  driver().counters.clear();
}

const char *jouleVgpuCounterName(uint32_t instructionClass) {
  return instructionClass < Counters::classes ? nameOf(InstructionClass(instructionClass)) : nullptr;
}

const char *jouleVgpuLastError() { return lastError.c_str(); }
void jouleVgpuInterrupt(int on) { driver().interrupted = on != 0; }
void jouleVgpuLimitThread(double seconds, const std::atomic<bool> *stop) {
  threadLimit = {};
  threadLimit.stop = stop;
  if (seconds > 0)
    threadLimit.deadline =
        std::chrono::steady_clock::now() + std::chrono::microseconds(int64_t(seconds * 1e6));
}
const char *jouleVgpuInstructionSet() { return instructionSet(); }

#define JOULE_ENTRY(name) {#name, reinterpret_cast<void *>(&name)},
#define JOULE_DRIVER_ENTRY(name, parameters) JOULE_ENTRY(name)

void *findFunction(const std::string &name) {
  static const std::unordered_map<std::string, void *> table = {
      JOULE_DRIVER_FUNCTIONS(JOULE_DRIVER_ENTRY) JOULE_TENSOR_MAP_FUNCTIONS(JOULE_DRIVER_ENTRY)
          JOULE_ENTRY(jouleVgpuIdentity) JOULE_ENTRY(jouleVgpuSetOptions) JOULE_ENTRY(jouleVgpuReadCounters)
              JOULE_ENTRY(jouleVgpuResetCounters) JOULE_ENTRY(jouleVgpuCounterName)
                  JOULE_ENTRY(jouleVgpuLastError) JOULE_ENTRY(jouleVgpuInterrupt)
                      JOULE_ENTRY(jouleVgpuLimitThread) JOULE_ENTRY(jouleVgpuInstructionSet)};
  auto it = table.find(name);
  return it == table.end() ? nullptr : it->second;
}

} // namespace

extern "C" __attribute__((visibility("default"))) void *joule_vgpu_get_proc_address(const char *name) {
  return name ? findFunction(name) : nullptr;
}
