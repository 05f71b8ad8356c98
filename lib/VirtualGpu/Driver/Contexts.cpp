// Devices and contexts.
#include "lib/VirtualGpu/Driver/Arrays.h"
#include "lib/VirtualGpu/Driver/Attributes.h"
#include "lib/VirtualGpu/Driver/Functions.h"
#include "lib/VirtualGpu/Driver/Work.h"

#include <algorithm>
#include <cstring>
#include <sstream>
#include <thread>

namespace joule::vgpu {

constexpr int driverVersion = 13000; // PTX 9.0

static std::vector<CUcontext> &contextStack() {
  thread_local std::vector<CUcontext> stack;
  return stack;
}

CUcontext current() { return contextStack().empty() ? nullptr : contextStack().back(); }

// --- devices ---

static void prepare(CUcontext context, Device &device) {
  context->device = &device;
  context->id = driver().nextId++;
  context->legacy.context = context;
  driver().contexts.insert(context);
  driver().handles.add(context, HandleKind::Context);
}

/// "a100+l4" are two devices.
static void makeDevices() {
  Driver &d = driver();
  std::istringstream names(d.settings.device);
  for (std::string name; std::getline(names, name, '+');) {
    const DeviceFacts *facts = findDevice(name);
    if (!facts) {
      d.devices.clear();
      fail(CUDA_ERROR_NO_DEVICE, unknownDevice(name));
    }
    d.devices.push_back(std::make_unique<Device>(*facts, int(d.devices.size())));
    if (d.settings.check)
      d.devices.back()->memory.startChecking();
  }
  if (d.devices.empty())
    fail(CUDA_ERROR_NO_DEVICE, "no virtual device is named");
  for (auto &device : d.devices) {
    prepare(&device->primary, *device);
    constexpr uint64_t widestAccess = 16;
    if (d.asynchronous)
      device->memory.setGranularity(widestAccess);
    device->defaultPool.device = device.get();
    device->defaultPool.isDefault = true;
    d.handles.add(&device->defaultPool, HandleKind::Pool);
  }
}

CUresult cuInit(unsigned int flags) {
  want(flags == 0, "cuInit wants flags 0");
  Driver &d = driver();
  std::lock_guard lock(d.mutex);
  if (!d.initialised)
    makeDevices();
  d.initialised = true;
  return CUDA_SUCCESS;
}

CUresult cuDriverGetVersion(int *version) {
  want(version, "null pointer");
  *version = driverVersion;
  return CUDA_SUCCESS;
}

CUresult cuDeviceGet(CUdevice *device, int ordinal) {
  want(device, "null pointer");
  *device = deviceAt(ordinal).ordinal;
  return CUDA_SUCCESS;
}

CUresult cuDeviceGetCount(int *count) {
  want(count, "null pointer");
  deviceAt(0);
  *count = int(driver().devices.size());
  return CUDA_SUCCESS;
}

static void copyText(char *to, int length, const std::string &text) {
  want(to && length > 0, "no room for the text");
  strncpy(to, text.c_str(), size_t(length));
  to[length - 1] = 0;
}

CUresult cuDeviceGetName(char *name, int length, CUdevice device) {
  copyText(name, length, deviceAt(device).facts.name);
  return CUDA_SUCCESS;
}

CUresult cuDeviceGetUuid(CUuuid *uuid, CUdevice device) {
  want(uuid, "null pointer");
  std::string bytes = uuidOf(deviceAt(device));
  memcpy(uuid->bytes, bytes.data(), sizeof uuid->bytes);
  return CUDA_SUCCESS;
}
CUresult cuDeviceGetUuid_v2(CUuuid *uuid, CUdevice device) { return cuDeviceGetUuid(uuid, device); }

CUresult cuDeviceTotalMem_v2(size_t *bytes, CUdevice device) {
  want(bytes, "null pointer");
  *bytes = deviceAt(device).facts.memoryBytes;
  return CUDA_SUCCESS;
}
CUresult cuDeviceTotalMem(size_t *bytes, CUdevice device) { return cuDeviceTotalMem_v2(bytes, device); }

CUresult cuDeviceGetAttribute(int *value, CUdevice_attribute attribute, CUdevice device) {
  want(value, "null pointer");
  want(attributeOf(deviceAt(device), attribute, *value), "no such attribute");
  return CUDA_SUCCESS;
}

CUresult cuDeviceComputeCapability(int *major, int *minor, CUdevice device) {
  want(major && minor, "null pointer");
  *major = deviceAt(device).facts.major;
  *minor = deviceAt(device).facts.minor;
  return CUDA_SUCCESS;
}

CUresult cuDeviceGetPCIBusId(char *text, int length, CUdevice device) {
  copyText(text, length, busIdOf(deviceAt(device)));
  return CUDA_SUCCESS;
}

CUresult cuDeviceGetByPCIBusId(CUdevice *device, const char *text) {
  want(device && text, "null pointer");
  deviceAt(0);
  for (auto &candidate : driver().devices)
    if (busIdOf(*candidate) == text) {
      *device = candidate->ordinal;
      return CUDA_SUCCESS;
    }
  fail(CUDA_ERROR_INVALID_DEVICE, std::string("no device at ") + text);
}

CUresult cuDeviceCanAccessPeer(int *can, CUdevice device, CUdevice peer) {
  want(can, "null pointer");
  *can = &deviceAt(device) != &deviceAt(peer);
  return CUDA_SUCCESS;
}

CUresult cuDeviceGetP2PAttribute(int *value, int attribute, CUdevice from, CUdevice to) {
  want(value, "null pointer");
  want(&deviceAt(from) != &deviceAt(to), "a device is no peer of itself");
  // 1: rank; 2: access; 3: atomics; 4: arrays.
  want(attribute >= 1 && attribute <= 4, "no such attribute");
  *value = attribute == 2 || attribute == 3;
  return CUDA_SUCCESS;
}

CUresult cuDeviceGetExecAffinitySupport(int *value, int, CUdevice device) {
  want(value, "null pointer");
  deviceAt(device);
  *value = 0;
  return CUDA_SUCCESS;
}

// --- primary contexts ---

CUresult cuDevicePrimaryCtxRetain(CUcontext *context, CUdevice device) {
  want(context, "null pointer");
  Device &d = deviceAt(device);
  std::lock_guard lock(d.primary.mutex);
  ++d.primary.references;
  *context = &d.primary;
  return CUDA_SUCCESS;
}

static void clearError(CUcontext context) {
  std::lock_guard lock(context->mutex);
  context->stickyError = CUDA_SUCCESS;
  context->stickyMessage.clear();
}

CUresult cuDevicePrimaryCtxRelease_v2(CUdevice device) {
  CUctx_st &primary = deviceAt(device).primary;
  {
    std::lock_guard lock(primary.mutex);
    if (primary.references <= 0)
      fail(CUDA_ERROR_INVALID_CONTEXT, "the primary context is not held");
    if (--primary.references)
      return CUDA_SUCCESS;
  }
  drain(&primary);
  clearError(&primary);
  return CUDA_SUCCESS;
}
CUresult cuDevicePrimaryCtxRelease(CUdevice device) { return cuDevicePrimaryCtxRelease_v2(device); }

CUresult cuDevicePrimaryCtxReset_v2(CUdevice device) {
  CUctx_st &primary = deviceAt(device).primary;
  drain(&primary);
  clearError(&primary);
  return CUDA_SUCCESS;
}
CUresult cuDevicePrimaryCtxReset(CUdevice device) { return cuDevicePrimaryCtxReset_v2(device); }

CUresult cuDevicePrimaryCtxGetState(CUdevice device, unsigned int *flags, int *active) {
  want(flags && active, "null pointer");
  CUctx_st &primary = deviceAt(device).primary;
  std::lock_guard lock(primary.mutex);
  *flags = primary.flags;
  *active = primary.references > 0;
  return CUDA_SUCCESS;
}

CUresult cuDevicePrimaryCtxSetFlags_v2(CUdevice device, unsigned int flags) {
  CUctx_st &primary = deviceAt(device).primary;
  std::lock_guard lock(primary.mutex);
  primary.flags = flags;
  return CUDA_SUCCESS;
}
CUresult cuDevicePrimaryCtxSetFlags(CUdevice device, unsigned int flags) {
  return cuDevicePrimaryCtxSetFlags_v2(device, flags);
}

// --- contexts ---

CUresult cuCtxCreate_v2(CUcontext *context, unsigned int flags, CUdevice device) {
  want(context, "null pointer");
  Device &d = deviceAt(device);
  auto made = std::make_unique<CUctx_st>();
  made->flags = flags;
  made->references = 1;
  contextStack().push_back(made.get());
  std::lock_guard lock(driver().mutex);
  prepare(made.get(), d);
  *context = made.release();
  return CUDA_SUCCESS;
}
CUresult cuCtxCreate(CUcontext *context, unsigned int flags, CUdevice device) {
  return cuCtxCreate_v2(context, flags, device);
}
CUresult cuCtxCreate_v3(CUcontext *context, void *, int numAffinity, unsigned int flags, CUdevice device) {
  if (numAffinity)
    fail(CUDA_ERROR_NOT_SUPPORTED, "a context has all multiprocessors");
  return cuCtxCreate_v2(context, flags, device);
}
CUresult cuCtxCreate_v4(CUcontext *context, void *parameters, unsigned int flags, CUdevice device) {
  if (parameters)
    fail(CUDA_ERROR_NOT_SUPPORTED, "a context has all multiprocessors and shares nothing with graphics");
  return cuCtxCreate_v2(context, flags, device);
}

static void freeMemoryOf(CUcontext context) {
  std::vector<uint64_t> addresses;
  {
    std::lock_guard lock(driver().mutex);
    for (auto &[address, allocation] : driver().allocations) {
      if (allocation.context != context)
        continue;
      if (allocation.kind == MemoryKind::Device || allocation.kind == MemoryKind::Managed)
        addresses.push_back(address);
      else
        allocation.context = &context->device->primary; // outlives it
    }
  }
  for (uint64_t address : addresses)
    release(address, false);
}

CUresult cuCtxDestroy_v2(CUcontext context) {
  wantHandle(context, HandleKind::Context);
  if (context == &context->device->primary)
    fail(CUDA_ERROR_INVALID_CONTEXT, "a primary context is released, not destroyed");
  drain(context);
  std::vector<CUcontext> &stack = contextStack();
  stack.erase(std::remove(stack.begin(), stack.end(), context), stack.end());
  {
    std::lock_guard lock(driver().mutex);
    if (!driver().handles.remove(context, HandleKind::Context))
      fail(CUDA_ERROR_INVALID_CONTEXT, "not a context");
    driver().contexts.erase(context);
  }
  destroyImageObjectsOf(context);
  destroyArraysOf(context);
  destroyModulesOf(context);
  freeMemoryOf(context);
  for (auto &[handle, stream] : context->streams) {
    driver().handles.remove(handle, HandleKind::Stream);
    abandonCapture(handle);
    stream->queue->close();
  }
  for (auto &[thread, stream] : context->perThread) {
    abandonCapture(stream.get());
    stream->queue->close();
  }
  context->legacy.queue->close();
  delete context;
  return CUDA_SUCCESS;
}
CUresult cuCtxDestroy(CUcontext context) { return cuCtxDestroy_v2(context); }

CUresult cuCtxSetCurrent(CUcontext context) {
  deviceAt(0);
  if (context)
    wantHandle(context, HandleKind::Context);
  if (!contextStack().empty())
    contextStack().pop_back();
  if (context)
    contextStack().push_back(context);
  return CUDA_SUCCESS;
}

CUresult cuCtxGetCurrent(CUcontext *context) {
  want(context, "null pointer");
  deviceAt(0);
  *context = current();
  return CUDA_SUCCESS;
}

CUresult cuCtxPushCurrent_v2(CUcontext context) {
  deviceAt(0);
  wantHandle(context, HandleKind::Context);
  contextStack().push_back(context);
  return CUDA_SUCCESS;
}
CUresult cuCtxPushCurrent(CUcontext context) { return cuCtxPushCurrent_v2(context); }

CUresult cuCtxPopCurrent_v2(CUcontext *context) {
  if (contextStack().empty())
    fail(CUDA_ERROR_INVALID_CONTEXT, "no context is current");
  if (context)
    *context = contextStack().back();
  contextStack().pop_back();
  return CUDA_SUCCESS;
}
CUresult cuCtxPopCurrent(CUcontext *context) { return cuCtxPopCurrent_v2(context); }

/// The context that a function means: the one it names, or the current one.
static CUcontext named(CUcontext context) {
  deviceAt(0);
  if (!context)
    context = current();
  wantHandle(context, HandleKind::Context);
  return context;
}

CUresult cuCtxGetDevice(CUdevice *device) { return cuCtxGetDevice_v2(device, nullptr); }
CUresult cuCtxGetDevice_v2(CUdevice *device, CUcontext context) {
  want(device, "null pointer");
  *device = named(context)->device->ordinal;
  return CUDA_SUCCESS;
}

CUresult cuCtxGetFlags(unsigned int *flags) {
  want(flags, "null pointer");
  *flags = named(nullptr)->flags;
  return CUDA_SUCCESS;
}

CUresult cuCtxSetFlags(unsigned int flags) {
  named(nullptr)->flags = flags;
  return CUDA_SUCCESS;
}

CUresult cuCtxGetId(CUcontext context, unsigned long long *id) {
  want(id, "null pointer");
  *id = named(context)->id;
  return CUDA_SUCCESS;
}

CUresult cuCtxGetApiVersion(CUcontext context, unsigned int *version) {
  want(version, "null pointer");
  *version = named(context)->version;
  return CUDA_SUCCESS;
}

CUresult cuCtxSynchronize() {
  CUcontext context = ready();
  refuseWhileCapturing(nullptr);
  drain(context);
  ready();
  return CUDA_SUCCESS;
}

CUresult cuCtxSynchronize_v2(CUcontext context) {
  context = named(context);
  drain(context);
  if (int code = context->stickyError)
    fail(CUresult(code), context->stickyMessage);
  return CUDA_SUCCESS;
}

// --- limits and preferences ---

// By number: stack, printf's buffer, heap, depth and number of pending launches, L2's granularity, persisting
// L2.
static const size_t firstLimits[] = {1024, 1 << 20, 8 << 20, 2, 2048, 128, 0};
constexpr int numLimits = int(std::size(firstLimits));

CUresult cuCtxSetLimit(int limit, size_t value) {
  CUcontext context = ready();
  want(limit >= 0 && limit < numLimits, "no such limit");
  std::lock_guard lock(context->mutex);
  context->limits[limit] = value;
  return CUDA_SUCCESS;
}

CUresult cuCtxGetLimit(size_t *value, int limit) {
  want(value, "null pointer");
  CUcontext context = ready();
  want(limit >= 0 && limit < numLimits, "no such limit");
  std::lock_guard lock(context->mutex);
  auto it = context->limits.find(limit);
  *value = it == context->limits.end() ? firstLimits[limit] : it->second;
  return CUDA_SUCCESS;
}

CUresult cuCtxGetCacheConfig(int *config) {
  want(config, "null pointer");
  *config = ready()->cacheConfig;
  return CUDA_SUCCESS;
}
CUresult cuCtxSetCacheConfig(int config) {
  want(config >= 0 && config <= 3, "no such preference");
  ready()->cacheConfig = config;
  return CUDA_SUCCESS;
}
CUresult cuCtxGetSharedMemConfig(int *config) {
  want(config, "null pointer");
  ready();
  *config = 1; // banks of four bytes: the only ones since sm_50
  return CUDA_SUCCESS;
}
CUresult cuCtxSetSharedMemConfig(int config) {
  want(config >= 0 && config <= 2, "no such configuration");
  ready();
  return CUDA_SUCCESS;
}
CUresult cuCtxGetStreamPriorityRange(int *least, int *greatest) {
  ready();
  if (least)
    *least = 0;
  if (greatest)
    *greatest = greatestPriority;
  return CUDA_SUCCESS;
}
CUresult cuCtxResetPersistingL2Cache() {
  ready();
  return CUDA_SUCCESS;
}

// --- peers ---

CUresult cuCtxEnablePeerAccess(CUcontext peer, unsigned int flags) {
  CUcontext context = ready();
  wantHandle(peer, HandleKind::Context);
  want(flags == 0, "there are no flags");
  if (peer->device == context->device)
    fail(CUDA_ERROR_PEER_ACCESS_UNSUPPORTED, "the contexts are on one device");
  std::lock_guard lock(context->mutex);
  if (!context->peers.insert(peer).second)
    fail(CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED, "the peer is enabled already");
  context->device->memory.addPeer(&peer->device->memory);
  return CUDA_SUCCESS;
}

CUresult cuCtxDisablePeerAccess(CUcontext peer) {
  CUcontext context = ready();
  wantHandle(peer, HandleKind::Context);
  std::lock_guard lock(context->mutex);
  if (!context->peers.erase(peer))
    fail(CUDA_ERROR_PEER_ACCESS_NOT_ENABLED, "the peer is not enabled");
  context->device->memory.removePeer(&peer->device->memory);
  return CUDA_SUCCESS;
}

} // namespace joule::vgpu
