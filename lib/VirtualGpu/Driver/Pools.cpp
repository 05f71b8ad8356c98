// Memory that is allocated and freed in stream order, and the pools that it comes from.
#include "lib/VirtualGpu/Driver/Functions.h"
#include "lib/VirtualGpu/Driver/Work.h"

#include <algorithm>
#include <cstring>

namespace joule::vgpu {

static CUdeviceptr takeFrom(CUmemoryPool pool, CUcontext context, size_t bytes) {
  CUdeviceptr address = allocate(context, bytes, MemoryKind::Pool, pool);
  std::lock_guard lock(driver().mutex);
  pool->used += bytes;
  pool->usedHigh = std::max(pool->usedHigh, pool->used);
  return address;
}

AllocWork makeAllocWork(CUcontext context, const CUDA_MEM_ALLOC_NODE_PARAMS &parameters) {
  want(parameters.bytesize, "an allocation needs a size");
  want(parameters.poolProps.location.type == CU_MEM_LOCATION_TYPE_DEVICE, "memory is a device's");
  Device &device = deviceAt(parameters.poolProps.location.id);
  AllocWork work;
  work.parameters = parameters;
  CUdeviceptr address = takeFrom(&device.defaultPool, context, parameters.bytesize);
  work.parameters.dptr = address;
  work.owner = std::shared_ptr<void>(reinterpret_cast<void *>(address), [](void *memory) {
    try {
      release(CUdeviceptr(memory), true);
    } catch (const Failure &) { // it was freed outside of the graph
    }
  });
  return work;
}

CUresult cuMemAllocFromPoolAsync(CUdeviceptr *address, size_t bytes, CUmemoryPool pool, CUstream handle) {
  want(address && bytes, "an allocation needs a size and a place for its address");
  CUstream stream = streamOf(handle);
  wantHandle(pool, HandleKind::Pool);
  if (stream->capture) {
    CUDA_MEM_ALLOC_NODE_PARAMS parameters = {};
    parameters.poolProps.location = {CU_MEM_LOCATION_TYPE_DEVICE, pool->device->ordinal};
    parameters.bytesize = bytes;
    AllocWork work = makeAllocWork(stream->context, parameters);
    *address = work.parameters.dptr;
    capture(stream, std::move(work));
    return CUDA_SUCCESS;
  }
  // There is room at once; a free that is still to come in the stream makes more later.
  *address = takeFrom(pool, stream->context, bytes);
  submit(stream, EmptyWork{});
  return CUDA_SUCCESS;
}

CUresult cuMemAllocAsync(CUdeviceptr *address, size_t bytes, CUstream stream) {
  return cuMemAllocFromPoolAsync(address, bytes, streamOf(stream)->context->device->pool, stream);
}

CUresult cuMemFreeAsync(CUdeviceptr address, CUstream handle) {
  CUstream stream = streamOf(handle);
  if (!address)
    return CUDA_SUCCESS;
  uint64_t base;
  Allocation allocation;
  want(lookUp(address, base, allocation) && base == address &&
           (allocation.kind == MemoryKind::Pool || allocation.kind == MemoryKind::Device),
       "not the address of an allocation");
  submit(stream, FreeWork{address});
  return CUDA_SUCCESS;
}

// --- pools ---

CUresult cuMemPoolCreate(CUmemoryPool *pool, const CUmemPoolProps *properties) {
  want(pool && properties, "null pointer");
  want(properties->allocType == 1, "a pool holds pinned memory");
  want(properties->location.type == CU_MEM_LOCATION_TYPE_DEVICE, "a pool is a device's");
  if (properties->handleTypes)
    fail(CUDA_ERROR_NOT_SUPPORTED, "pools are not shared between processes");
  Device &device = deviceAt(properties->location.id);
  auto made = std::make_unique<CUmemPoolHandle_st>();
  made->device = &device;
  driver().handles.add(made.get(), HandleKind::Pool);
  *pool = made.release();
  return CUDA_SUCCESS;
}

CUresult cuMemPoolDestroy(CUmemoryPool pool) {
  wantHandle(pool, HandleKind::Pool);
  want(!pool->isDefault, "a device's own pool stays");
  drainAll();
  // Memory from it lives on; it is the device's from here on.
  std::lock_guard lock(driver().mutex);
  for (auto &[address, allocation] : driver().allocations)
    if (allocation.pool == pool)
      allocation.pool = &pool->device->defaultPool;
  if (pool->device->pool == pool)
    pool->device->pool = &pool->device->defaultPool;
  if (driver().handles.remove(pool, HandleKind::Pool))
    delete pool;
  return CUDA_SUCCESS;
}

CUresult cuMemPoolTrimTo(CUmemoryPool pool, size_t) {
  wantHandle(pool, HandleKind::Pool); // freed memory goes back at once, so there is nothing to trim
  return CUDA_SUCCESS;
}

namespace {

// 1 to 3: what may be reused; 4: the release threshold; then what is reserved and used, now and at most.
constexpr int reuseLast = 3, releaseThreshold = 4, reservedNow = 5, reservedHigh = 6, usedNow = 7,
              usedHigh = 8;

} // namespace

CUresult cuMemPoolSetAttribute(CUmemoryPool pool, int attribute, void *value) {
  want(value, "null pointer");
  wantHandle(pool, HandleKind::Pool);
  std::lock_guard lock(driver().mutex);
  if (attribute >= 1 && attribute <= reuseLast) {
    memcpy(&pool->reuse[attribute], value, sizeof(int));
    return CUDA_SUCCESS;
  }
  uint64_t number;
  memcpy(&number, value, sizeof number);
  if (attribute == releaseThreshold) {
    pool->releaseThreshold = number;
    return CUDA_SUCCESS;
  }
  want((attribute == reservedHigh || attribute == usedHigh) && number == 0,
       "only the two high marks can be set, to 0");
  pool->usedHigh = pool->used;
  return CUDA_SUCCESS;
}

CUresult cuMemPoolGetAttribute(CUmemoryPool pool, int attribute, void *value) {
  want(value, "null pointer");
  wantHandle(pool, HandleKind::Pool);
  std::lock_guard lock(driver().mutex);
  if (attribute >= 1 && attribute <= reuseLast) {
    memcpy(value, &pool->reuse[attribute], sizeof(int));
    return CUDA_SUCCESS;
  }
  want(attribute >= releaseThreshold && attribute <= usedHigh, "no such attribute of a pool");
  uint64_t number = attribute == releaseThreshold                      ? pool->releaseThreshold
                    : attribute == usedNow || attribute == reservedNow ? pool->used
                                                                       : pool->usedHigh;
  memcpy(value, &number, sizeof number);
  return CUDA_SUCCESS;
}

CUresult cuMemPoolSetAccess(CUmemoryPool pool, const CUmemAccessDesc *access, size_t count) {
  wantHandle(pool, HandleKind::Pool);
  want(access || !count, "null pointer");
  for (size_t i = 0; i < count; ++i) {
    want(access[i].location.type == CU_MEM_LOCATION_TYPE_DEVICE, "access is a device's");
    Device &other = deviceAt(access[i].location.id);
    if (&other == pool->device)
      continue;
    if (access[i].flags)
      other.memory.addPeer(&pool->device->memory);
    else
      other.memory.removePeer(&pool->device->memory);
  }
  return CUDA_SUCCESS;
}

CUresult cuMemPoolGetAccess(int *flags, CUmemoryPool pool, CUmemLocation *location) {
  want(flags && location, "null pointer");
  wantHandle(pool, HandleKind::Pool);
  want(location->type == CU_MEM_LOCATION_TYPE_DEVICE, "access is a device's");
  Device &other = deviceAt(location->id);
  *flags = &other == pool->device || other.memory.hasPeer(&pool->device->memory) ? 3 : 0;
  return CUDA_SUCCESS;
}

CUresult cuDeviceGetDefaultMemPool(CUmemoryPool *pool, CUdevice device) {
  want(pool, "null pointer");
  *pool = &deviceAt(device).defaultPool;
  return CUDA_SUCCESS;
}
CUresult cuDeviceGetMemPool(CUmemoryPool *pool, CUdevice device) {
  want(pool, "null pointer");
  *pool = deviceAt(device).pool;
  return CUDA_SUCCESS;
}
CUresult cuDeviceSetMemPool(CUdevice device, CUmemoryPool pool) {
  wantHandle(pool, HandleKind::Pool);
  want(&deviceAt(device) == pool->device, "the pool is another device's");
  pool->device->pool = pool;
  return CUDA_SUCCESS;
}

/// The device whose memory a pool of this place and type would hold.
static CUdevice ownerOf(const CUmemLocation *location, int type) {
  want(location, "null pointer");
  if (location->type != CU_MEM_LOCATION_TYPE_DEVICE || type != 1)
    fail(CUDA_ERROR_NOT_SUPPORTED, "a pool holds pinned memory of a device");
  return location->id;
}
CUresult cuMemGetDefaultMemPool(CUmemoryPool *pool, CUmemLocation *location, int type) {
  return cuDeviceGetDefaultMemPool(pool, ownerOf(location, type));
}
CUresult cuMemGetMemPool(CUmemoryPool *pool, CUmemLocation *location, int type) {
  return cuDeviceGetMemPool(pool, ownerOf(location, type));
}
CUresult cuMemSetMemPool(CUmemLocation *location, int type, CUmemoryPool pool) {
  return cuDeviceSetMemPool(ownerOf(location, type), pool);
}

// Graphs hold their memory themselves: nothing is kept for them.
CUresult cuDeviceGraphMemTrim(CUdevice device) {
  deviceAt(device);
  return CUDA_SUCCESS;
}
CUresult cuDeviceGetGraphMemAttribute(CUdevice device, int attribute, void *value) {
  want(value && attribute >= 0 && attribute <= 3, "null pointer or attribute");
  deviceAt(device);
  memset(value, 0, sizeof(uint64_t));
  return CUDA_SUCCESS;
}
CUresult cuDeviceSetGraphMemAttribute(CUdevice device, int attribute, void *value) {
  want(value && attribute >= 0 && attribute <= 3, "null pointer or attribute");
  deviceAt(device);
  return CUDA_SUCCESS;
}

} // namespace joule::vgpu
