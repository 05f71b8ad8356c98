// Allocating, freeing, and what is known of an address.
#include "lib/VirtualGpu/Driver/Checking.h"
#include "lib/VirtualGpu/Driver/Functions.h"
#include "lib/VirtualGpu/Driver/Work.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>

namespace joule::vgpu {

// The ids that are not handed out by newId: allocations have theirs from the same counter.
static void remember(uint64_t address, Allocation allocation) {
  std::lock_guard lock(driver().mutex);
  allocation.id = driver().nextId++;
  driver().allocations[address] = allocation;
}

/// What was remembered of an address that starts an allocation; it is forgotten.
static bool forget(uint64_t address, Allocation &allocation) {
  std::lock_guard lock(driver().mutex);
  auto it = driver().allocations.find(address);
  if (it == driver().allocations.end())
    return false;
  allocation = it->second;
  driver().allocations.erase(it);
  return true;
}

bool lookUp(uint64_t address, uint64_t &base, Allocation &allocation) {
  std::lock_guard lock(driver().mutex);
  auto &all = driver().allocations;
  auto it = all.upper_bound(address);
  if (it == all.begin())
    return false;
  --it;
  base = it->first;
  allocation = it->second;
  return address - base < allocation.bytes;
}

CUdeviceptr allocate(CUcontext context, size_t bytes, MemoryKind kind, CUmemoryPool pool) {
  Device &device = pool ? *pool->device : *context->device;
  CUdeviceptr address = device.memory.allocate(bytes);
  if (!address)
    fail(CUDA_ERROR_OUT_OF_MEMORY, std::to_string(bytes) + " bytes are not available");
  Allocation allocation;
  allocation.bytes = bytes;
  allocation.kind = kind;
  allocation.context = context;
  allocation.pool = pool;
  remember(address, allocation);
  // Any device may use managed memory.
  if (kind == MemoryKind::Managed) {
    noteWritten(address, bytes); // the host may have, and does not say
    for (auto &other : driver().devices)
      if (other.get() != &device)
        other->memory.adopt(address, bytes);
  }
  return address;
}

void release(CUdeviceptr address, bool fromPool) {
  Allocation allocation;
  uint64_t base;
  if (!lookUp(address, base, allocation) || base != address ||
      (allocation.kind != MemoryKind::Device && allocation.kind != MemoryKind::Managed &&
       allocation.kind != MemoryKind::Pool))
    fail(CUDA_ERROR_INVALID_VALUE, "not the address of an allocation");
  if (fromPool && allocation.kind == MemoryKind::Managed)
    fail(CUDA_ERROR_INVALID_VALUE, "managed memory is not freed in a stream");
  if (!forget(address, allocation))
    fail(CUDA_ERROR_INVALID_VALUE, "not the address of an allocation");
  Device &device = allocation.pool ? *allocation.pool->device : *allocation.context->device;
  if (allocation.kind == MemoryKind::Managed)
    for (auto &other : driver().devices)
      if (other.get() != &device)
        other->memory.disown(address);
  device.memory.release(address);
  if (allocation.pool) {
    std::lock_guard lock(driver().mutex);
    allocation.pool->used -= std::min<uint64_t>(allocation.pool->used, allocation.bytes);
  }
}

void releaseArray(CUdeviceptr address) {
  Allocation allocation;
  if (forget(address, allocation))
    allocation.context->device->memory.release(address);
}

CUresult cuMemAlloc_v2(CUdeviceptr *address, size_t bytes) {
  want(address && bytes, "an allocation needs a size and a place for its address");
  *address = allocate(ready(), bytes, MemoryKind::Device);
  return CUDA_SUCCESS;
}

CUresult cuMemAllocManaged(CUdeviceptr *address, size_t bytes, unsigned int flags) {
  want(address && bytes, "an allocation needs a size and a place for its address");
  want(flags == 1 || flags == 2, "managed memory is attached to all or to the host");
  *address = allocate(ready(), bytes, MemoryKind::Managed);
  return CUDA_SUCCESS;
}

CUresult cuMemAllocPitch_v2(CUdeviceptr *address, size_t *pitch, size_t width, size_t height,
                            unsigned int elementBytes) {
  want(address && pitch && width && height, "null pointer or size");
  want(elementBytes == 4 || elementBytes == 8 || elementBytes == 16, "elements have 4, 8 or 16 bytes");
  want(width <= (1ull << 40) && height <= (1ull << 40), "too large");
  *pitch = (width + 511) / 512 * 512;
  if (height > (1ull << 48) / *pitch)
    fail(CUDA_ERROR_OUT_OF_MEMORY, "too large");
  return cuMemAlloc_v2(address, *pitch * height);
}

CUresult cuMemFree_v2(CUdeviceptr address) {
  ready();
  if (!address)
    return CUDA_SUCCESS;
  drainAll();
  release(address, false);
  return CUDA_SUCCESS;
}

// --- the host's ---

static void adoptEverywhere(void *host, size_t bytes, MemoryKind kind, unsigned flags, CUcontext context) {
  Allocation allocation;
  allocation.bytes = bytes;
  allocation.kind = kind;
  allocation.flags = flags;
  allocation.context = context;
  remember(uint64_t(host), allocation);
  for (auto &device : driver().devices)
    device->memory.adopt(uint64_t(host), bytes);
}

/// False where `host` does not start memory of that kind.
static bool disownEverywhere(void *host, MemoryKind kind) {
  drainAll();
  {
    std::lock_guard lock(driver().mutex);
    auto it = driver().allocations.find(uint64_t(host));
    if (it == driver().allocations.end() || it->second.kind != kind)
      return false;
    driver().allocations.erase(it);
  }
  for (auto &device : driver().devices)
    device->memory.disown(uint64_t(host));
  return true;
}

CUresult cuMemHostAlloc(void **host, size_t bytes, unsigned int flags) {
  want(host && bytes, "an allocation needs a size and a place for its address");
  want(flags <= 7, "no such flags");
  CUcontext context = ready();
  size_t rounded = (bytes + 4095) & ~size_t(4095);
  *host = rounded < bytes ? nullptr : aligned_alloc(4096, rounded);
  if (!*host)
    fail(CUDA_ERROR_OUT_OF_MEMORY, "the host has no memory left");
  adoptEverywhere(*host, bytes, MemoryKind::PinnedHost, flags, context);
  return CUDA_SUCCESS;
}
CUresult cuMemAllocHost_v2(void **host, size_t bytes) { return cuMemHostAlloc(host, bytes, 0); }

CUresult cuMemFreeHost(void *host) {
  deviceAt(0);
  if (!host)
    return CUDA_SUCCESS;
  want(disownEverywhere(host, MemoryKind::PinnedHost), "not memory from cuMemHostAlloc");
  free(host);
  return CUDA_SUCCESS;
}

CUresult cuMemHostRegister_v2(void *host, size_t bytes, unsigned int flags) {
  want(host && bytes, "null pointer");
  want(uint64_t(host) + bytes > uint64_t(host), "the memory wraps around");
  CUcontext context = ready();
  uint64_t base;
  Allocation other;
  if (lookUp(uint64_t(host), base, other) || lookUp(uint64_t(host) + bytes - 1, base, other))
    fail(CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED, "the memory is known already");
  adoptEverywhere(host, bytes, MemoryKind::RegisteredHost, flags, context);
  return CUDA_SUCCESS;
}

CUresult cuMemHostUnregister(void *host) {
  ready();
  want(host, "null pointer");
  if (!disownEverywhere(host, MemoryKind::RegisteredHost))
    fail(CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED, "not registered memory");
  return CUDA_SUCCESS;
}

static Allocation hostAllocation(const void *host) {
  uint64_t base;
  Allocation allocation;
  want(lookUp(uint64_t(host), base, allocation) &&
           (allocation.kind == MemoryKind::PinnedHost || allocation.kind == MemoryKind::RegisteredHost),
       "not pinned or registered memory");
  return allocation;
}

CUresult cuMemHostGetDevicePointer_v2(CUdeviceptr *address, void *host, unsigned int flags) {
  want(address && host && flags == 0, "null pointer or flags");
  ready();
  hostAllocation(host);
  *address = CUdeviceptr(host);
  return CUDA_SUCCESS;
}

CUresult cuMemHostGetFlags(unsigned int *flags, void *host) {
  want(flags && host, "null pointer");
  ready();
  *flags = hostAllocation(host).flags | 2; // always mapped, as addresses are one space
  return CUDA_SUCCESS;
}

// --- questions ---

CUresult cuMemGetInfo_v2(size_t *free, size_t *total) {
  want(free && total, "null pointer");
  MemoryMap &memory = ready()->device->memory;
  *total = memory.total();
  *free = *total - memory.used();
  return CUDA_SUCCESS;
}

CUresult cuMemGetAddressRange_v2(CUdeviceptr *base, size_t *bytes, CUdeviceptr address) {
  CUcontext context = ready();
  uint64_t start;
  Allocation allocation;
  Range range = context->device->memory.find(address, address + 1); // a module's variables, too
  if (lookUp(address, start, allocation))
    range = {start, start + allocation.bytes};
  if (!range.high)
    fail(CUDA_ERROR_NOT_FOUND, "not device memory");
  if (base)
    *base = range.low;
  if (bytes)
    *bytes = range.high - range.low;
  return CUDA_SUCCESS;
}

namespace {

enum PointerAttribute {
  attributeContext = 1,
  attributeMemoryType = 2,
  attributeDevicePointer = 3,
  attributeHostPointer = 4,
  attributeSyncMemops = 6,
  attributeBufferId = 7,
  attributeIsManaged = 8,
  attributeDeviceOrdinal = 9,
  attributeLegacyIpc = 10,
  attributeRangeStart = 11,
  attributeRangeSize = 12,
  attributeMapped = 13,
  attributeHandleTypes = 14,
  attributeGpuDirect = 15,
  attributeAccessFlags = 16,
  attributePool = 17,
  attributeMappedSize = 18,
  attributeMappedBase = 19,
  attributeBlockId = 20
};

bool isOfHost(const Allocation &a) {
  return a.kind == MemoryKind::PinnedHost || a.kind == MemoryKind::RegisteredHost;
}

template <class T> void put(void *data, T value) { memcpy(data, &value, sizeof value); }

void putAttribute(void *data, int attribute, uint64_t address, uint64_t base, const Allocation &a) {
  switch (attribute) {
  case attributeContext:
    return put(data, a.context);
  case attributeMemoryType:
    return put<unsigned>(data, isOfHost(a) ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_DEVICE);
  case attributeDevicePointer:
    return put<CUdeviceptr>(data, address);
  case attributeHostPointer:
    if (!isOfHost(a) && a.kind != MemoryKind::Managed)
      fail(CUDA_ERROR_INVALID_VALUE, "the host may not use this memory");
    return put<CUdeviceptr>(data, address);
  case attributeSyncMemops:
  case attributeLegacyIpc:
  case attributeGpuDirect:
    return put<unsigned>(data, 0);
  case attributeBufferId:
  case attributeBlockId:
    return put(data, a.id);
  case attributeIsManaged:
    return put<unsigned>(data, a.kind == MemoryKind::Managed);
  case attributeDeviceOrdinal:
    return put<int>(data, (a.pool ? a.pool->device : a.context->device)->ordinal);
  case attributeRangeStart:
  case attributeMappedBase:
    return put<CUdeviceptr>(data, base);
  case attributeRangeSize:
  case attributeMappedSize:
    return put<size_t>(data, a.bytes);
  case attributeMapped:
    return put<unsigned>(data, 1);
  case attributeHandleTypes:
    return put<uint64_t>(data, 0);
  case attributeAccessFlags:
    return put<unsigned>(data, 3);
  case attributePool:
    return put(data, a.pool);
  default:
    fail(CUDA_ERROR_INVALID_VALUE, "no such attribute of an address");
  }
}

size_t sizeOfAttribute(int attribute) {
  switch (attribute) {
  case attributeMemoryType:
  case attributeSyncMemops:
  case attributeIsManaged:
  case attributeDeviceOrdinal:
  case attributeLegacyIpc:
  case attributeMapped:
  case attributeGpuDirect:
  case attributeAccessFlags:
    return 4;
  default:
    return 8;
  }
}

} // namespace

CUresult cuPointerGetAttribute(void *data, int attribute, CUdeviceptr address) {
  want(data, "null pointer");
  deviceAt(0);
  uint64_t base;
  Allocation allocation;
  if (!lookUp(address, base, allocation))
    fail(CUDA_ERROR_INVALID_VALUE, "the driver does not know this address");
  putAttribute(data, attribute, address, base, allocation);
  return CUDA_SUCCESS;
}

CUresult cuPointerGetAttributes(unsigned int count, int *attributes, void **data, CUdeviceptr address) {
  want(attributes && data, "null pointer");
  deviceAt(0);
  uint64_t base;
  Allocation allocation;
  bool isKnown = lookUp(address, base, allocation);
  for (unsigned i = 0; i < count; ++i) {
    want(data[i], "null pointer");
    // Of memory that nobody allocated here all is 0, but that is no failure; its device is -2.
    memset(data[i], 0, sizeOfAttribute(attributes[i]));
    if (!isKnown && attributes[i] == attributeDeviceOrdinal)
      put<int>(data[i], -2);
    try {
      if (isKnown)
        putAttribute(data[i], attributes[i], address, base, allocation);
    } catch (const Failure &) { // this one stays 0
    }
  }
  return CUDA_SUCCESS;
}

CUresult cuPointerSetAttribute(const void *value, int attribute, CUdeviceptr address) {
  want(value, "null pointer");
  want(attribute == attributeSyncMemops, "this attribute cannot be set");
  uint64_t base;
  Allocation allocation;
  want(lookUp(address, base, allocation), "the driver does not know this address");
  return CUDA_SUCCESS;
}

// Memory of the virtual device lies where it lies: advice is heard and changes nothing.
static CUresult hear(CUdeviceptr address, size_t bytes) {
  ready();
  uint64_t base;
  Allocation allocation;
  want(bytes && lookUp(address, base, allocation) && bytes <= allocation.bytes - (address - base),
       "not within managed memory");
  return CUDA_SUCCESS;
}
CUresult cuMemAdvise(CUdeviceptr address, size_t bytes, int, CUdevice) { return hear(address, bytes); }
CUresult cuMemAdvise_v2(CUdeviceptr address, size_t bytes, int, CUmemLocation) {
  return hear(address, bytes);
}
CUresult cuMemPrefetchAsync(CUdeviceptr address, size_t bytes, CUdevice, CUstream stream) {
  submit(streamOf(stream), EmptyWork{});
  return hear(address, bytes);
}
CUresult cuMemPrefetchAsync_v2(CUdeviceptr address, size_t bytes, CUmemLocation, unsigned int,
                               CUstream stream) {
  return cuMemPrefetchAsync(address, bytes, 0, stream);
}

CUresult cuMemPrefetchBatchAsync(CUdeviceptr *addresses, size_t *bytes, size_t count, CUmemLocation *locations,
                                 size_t *firstOf, size_t numLocations, unsigned long long flags,
                                 CUstream stream) {
  want(addresses && bytes && locations && firstOf && flags == 0, "null pointer or flags");
  want(count && numLocations && numLocations <= count && firstOf[0] == 0, "no place for every range");
  for (size_t i = 0; i < count; ++i)
    hear(addresses[i], bytes[i]);
  submit(streamOf(stream), EmptyWork{});
  return CUDA_SUCCESS;
}

} // namespace joule::vgpu
