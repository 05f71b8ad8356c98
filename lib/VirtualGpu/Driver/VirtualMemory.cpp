// The virtual-memory interface: addresses are reserved, memory is made, one is mapped to the other.
#include "lib/VirtualGpu/Driver/Functions.h"
#include "lib/VirtualGpu/Driver/Work.h"

#include <cstring>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace joule::vgpu {
namespace {

constexpr size_t granularity = 2 << 20;

/// Memory without an address.
struct Chunk {
  int file = -1;
  size_t bytes = 0;
  CUmemAllocationProp properties = {};
  int holders = 1; // handles and mappings
  ~Chunk() {
    if (file >= 0)
      close(file);
  }
};

struct Mapping {
  size_t bytes = 0, offset = 0;
  Chunk *chunk = nullptr;
  std::map<int, int> access; // flags by device
};

struct Reservation {
  size_t bytes = 0;
  std::map<uint64_t, Mapping> mappings;
  std::map<int, std::vector<uint64_t>> visible; // by device: the ranges that its kernels may use
};

struct Space {
  std::mutex mutex;
  std::map<uint64_t, Reservation> reservations;
};

Space &space() {
  static Space *instance = new Space;
  return *instance;
}

Chunk *chunkOf(CUmemGenericAllocationHandle handle) {
  auto *chunk = reinterpret_cast<Chunk *>(handle);
  wantHandle(chunk, HandleKind::Memory);
  return chunk;
}

/// The device's room that a chunk takes.
Device &homeOf(const Chunk &chunk) { return deviceAt(chunk.properties.location.id); }

void letGo(Chunk *chunk) {
  if (--chunk->holders)
    return;
  homeOf(*chunk).memory.unreserve(chunk->bytes);
  delete chunk;
}

Reservation &reservationAround(uint64_t address, size_t bytes) {
  auto &all = space().reservations;
  auto it = all.upper_bound(address);
  if (it != all.begin()) {
    --it;
    if (bytes <= it->second.bytes && address - it->first <= it->second.bytes - bytes)
      return it->second;
  }
  fail(CUDA_ERROR_INVALID_VALUE, "not within reserved addresses");
}

/// A device sees what lies side by side as one range: accesses may cross the borders of mappings.
void showTo(Device &device, Reservation &reservation) {
  std::vector<uint64_t> &visible = reservation.visible[device.ordinal];
  for (uint64_t start : visible)
    device.memory.disown(start);
  visible.clear();
  uint64_t start = 0, end = 0;
  auto close = [&] {
    if (end > start) {
      device.memory.adopt(start, end - start);
      visible.push_back(start);
    }
  };
  for (auto &[address, mapping] : reservation.mappings) {
    auto access = mapping.access.find(device.ordinal);
    if (access == mapping.access.end() || !access->second)
      continue;
    if (address != end) {
      close();
      start = address;
    }
    end = address + mapping.bytes;
  }
  close();
}

void showToAll(Reservation &reservation) {
  for (auto &device : driver().devices)
    showTo(*device, reservation);
}

void wantWhole(size_t value, const char *what) {
  if (!value || value % granularity)
    fail(CUDA_ERROR_INVALID_VALUE, std::string(what) + " is no whole number of 2 MiB");
}

void checkProperties(const CUmemAllocationProp &properties) {
  want(properties.type == 1, "memory is pinned");
  want(properties.location.type == CU_MEM_LOCATION_TYPE_DEVICE, "memory is a device's");
  constexpr int fileDescriptor = 1;
  if (properties.requestedHandleTypes & ~fileDescriptor)
    fail(CUDA_ERROR_NOT_SUPPORTED, "memory is shared by file descriptor only");
  deviceAt(properties.location.id);
}

CUmemGenericAllocationHandle giveOut(std::unique_ptr<Chunk> chunk) {
  driver().handles.add(chunk.get(), HandleKind::Memory);
  return reinterpret_cast<CUmemGenericAllocationHandle>(chunk.release());
}

} // namespace

CUresult cuMemGetAllocationGranularity(size_t *bytes, const CUmemAllocationProp *properties, int option) {
  want(bytes && properties && (option == 0 || option == 1), "null pointer or option");
  checkProperties(*properties);
  *bytes = granularity;
  return CUDA_SUCCESS;
}

CUresult cuMemAddressReserve(CUdeviceptr *address, size_t bytes, size_t alignment, CUdeviceptr,
                             unsigned long long flags) {
  want(address && flags == 0, "null pointer or flags");
  deviceAt(0);
  wantWhole(bytes, "the size");
  want((alignment & (alignment - 1)) == 0 && alignment <= (1ull << 40), "the alignment is no power of two");
  alignment = std::max(alignment, granularity);
  if (bytes > (1ull << 46) - alignment)
    fail(CUDA_ERROR_OUT_OF_MEMORY, "no addresses are left");
  void *whole =
      mmap(nullptr, bytes + alignment, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (whole == MAP_FAILED)
    fail(CUDA_ERROR_OUT_OF_MEMORY, "no addresses are left");
  uint64_t low = uint64_t(whole), start = (low + alignment - 1) / alignment * alignment;
  if (start > low)
    munmap(whole, start - low);
  if (size_t rest = low + alignment - start)
    munmap(reinterpret_cast<void *>(start + bytes), rest);
  std::lock_guard lock(space().mutex);
  space().reservations[start].bytes = bytes;
  *address = start;
  return CUDA_SUCCESS;
}

CUresult cuMemAddressFree(CUdeviceptr address, size_t bytes) {
  deviceAt(0);
  std::lock_guard lock(space().mutex);
  auto it = space().reservations.find(address);
  want(it != space().reservations.end() && it->second.bytes == bytes, "not reserved addresses");
  want(it->second.mappings.empty(), "memory is still mapped there");
  munmap(reinterpret_cast<void *>(address), bytes);
  space().reservations.erase(it);
  return CUDA_SUCCESS;
}

CUresult cuMemCreate(CUmemGenericAllocationHandle *handle, size_t bytes,
                     const CUmemAllocationProp *properties, unsigned long long flags) {
  want(handle && properties && flags == 0, "null pointer or flags");
  wantWhole(bytes, "the size");
  checkProperties(*properties);
  Device &device = deviceAt(properties->location.id);
  if (!device.memory.reserve(bytes))
    fail(CUDA_ERROR_OUT_OF_MEMORY, std::to_string(bytes) + " bytes are not available");
  auto chunk = std::make_unique<Chunk>();
  chunk->bytes = bytes;
  chunk->properties = *properties;
  chunk->file = memfd_create("joule-vgpu", MFD_CLOEXEC);
  if (chunk->file < 0 || ftruncate(chunk->file, off_t(bytes)) != 0) {
    device.memory.unreserve(bytes);
    fail(CUDA_ERROR_OUT_OF_MEMORY, "the host has no memory left");
  }
  *handle = giveOut(std::move(chunk));
  return CUDA_SUCCESS;
}

CUresult cuMemRelease(CUmemGenericAllocationHandle handle) {
  Chunk *chunk = chunkOf(handle);
  std::lock_guard lock(space().mutex);
  if (chunk->holders == 1 && !driver().handles.remove(chunk, HandleKind::Memory))
    fail(CUDA_ERROR_INVALID_HANDLE, "not an allocation");
  letGo(chunk);
  return CUDA_SUCCESS;
}

CUresult cuMemMap(CUdeviceptr address, size_t bytes, size_t offset, CUmemGenericAllocationHandle handle,
                  unsigned long long flags) {
  want(flags == 0, "there are no flags");
  Chunk *chunk = chunkOf(handle);
  wantWhole(bytes, "the size");
  want(address % granularity == 0 && offset % granularity == 0, "the address or the offset is not aligned");
  want(bytes <= chunk->bytes && offset <= chunk->bytes - bytes, "the memory is smaller");
  std::lock_guard lock(space().mutex);
  Reservation &reservation = reservationAround(address, bytes);
  auto next = reservation.mappings.lower_bound(address);
  want(next == reservation.mappings.end() || next->first >= address + bytes,
       "memory is mapped there already");
  if (next != reservation.mappings.begin()) {
    auto before = std::prev(next);
    want(before->first + before->second.bytes <= address, "memory is mapped there already");
  }
  void *place = mmap(reinterpret_cast<void *>(address), bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED,
                     chunk->file, off_t(offset));
  if (place == MAP_FAILED)
    fail(CUDA_ERROR_OUT_OF_MEMORY, "the host cannot map the memory");
  ++chunk->holders;
  reservation.mappings[address] = {bytes, offset, chunk, {}};
  Allocation allocation;
  allocation.bytes = bytes;
  allocation.kind = MemoryKind::Mapped;
  allocation.context = &homeOf(*chunk).primary;
  std::lock_guard all(driver().mutex);
  allocation.id = driver().nextId++;
  driver().allocations[address] = allocation;
  return CUDA_SUCCESS;
}

CUresult cuMemUnmap(CUdeviceptr address, size_t bytes) {
  deviceAt(0);
  drainAll();
  std::lock_guard lock(space().mutex);
  Reservation &reservation = reservationAround(address, bytes);
  auto first = reservation.mappings.find(address);
  uint64_t end = address;
  auto last = first;
  while (last != reservation.mappings.end() && last->first == end && end < address + bytes)
    end += (last++)->second.bytes;
  want(first != reservation.mappings.end() && end == address + bytes, "not whole mappings");
  for (auto it = first; it != last; ++it) {
    std::lock_guard all(driver().mutex);
    driver().allocations.erase(it->first);
  }
  std::vector<Chunk *> gone;
  for (auto it = first; it != last; ++it)
    gone.push_back(it->second.chunk);
  reservation.mappings.erase(first, last);
  showToAll(reservation);
  mmap(reinterpret_cast<void *>(address), bytes, PROT_NONE,
       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
  for (Chunk *chunk : gone) {
    if (chunk->holders == 1)
      driver().handles.remove(chunk, HandleKind::Memory);
    letGo(chunk);
  }
  return CUDA_SUCCESS;
}

CUresult cuMemSetAccess(CUdeviceptr address, size_t bytes, const CUmemAccessDesc *access, size_t count) {
  want(access && count, "null pointer");
  deviceAt(0);
  for (size_t i = 0; i < count; ++i) {
    want(access[i].flags == 0 || access[i].flags == 1 || access[i].flags == 3, "no such access");
    if (access[i].location.type == CU_MEM_LOCATION_TYPE_DEVICE)
      deviceAt(access[i].location.id);
  }
  drainAll();
  std::lock_guard lock(space().mutex);
  Reservation &reservation = reservationAround(address, bytes);
  uint64_t at = address;
  for (auto it = reservation.mappings.find(address);
       it != reservation.mappings.end() && it->first == at && at < address + bytes; ++it) {
    for (size_t i = 0; i < count; ++i)
      if (access[i].location.type == CU_MEM_LOCATION_TYPE_DEVICE)
        it->second.access[access[i].location.id] = access[i].flags;
    at += it->second.bytes;
  }
  want(at == address + bytes, "not whole mappings");
  showToAll(reservation);
  return CUDA_SUCCESS;
}

/// The mapping around an address; to be called with the space locked.
static Mapping &mappingAround(uint64_t address) {
  Reservation &reservation = reservationAround(address, 1);
  auto it = reservation.mappings.upper_bound(address);
  want(it != reservation.mappings.begin(), "nothing is mapped there");
  --it;
  want(address - it->first < it->second.bytes, "nothing is mapped there");
  return it->second;
}

CUresult cuMemGetAccess(unsigned long long *flags, const CUmemLocation *location, CUdeviceptr address) {
  want(flags && location, "null pointer");
  want(location->type == CU_MEM_LOCATION_TYPE_DEVICE, "access is a device's");
  deviceAt(location->id);
  std::lock_guard lock(space().mutex);
  Mapping &mapping = mappingAround(address);
  auto it = mapping.access.find(location->id);
  *flags = it == mapping.access.end() ? 0 : unsigned(it->second);
  return CUDA_SUCCESS;
}

CUresult cuMemGetAllocationPropertiesFromHandle(CUmemAllocationProp *properties,
                                                CUmemGenericAllocationHandle handle) {
  want(properties, "null pointer");
  *properties = chunkOf(handle)->properties;
  return CUDA_SUCCESS;
}

CUresult cuMemRetainAllocationHandle(CUmemGenericAllocationHandle *handle, void *address) {
  want(handle, "null pointer");
  deviceAt(0);
  std::lock_guard lock(space().mutex);
  Chunk *chunk = mappingAround(uint64_t(address)).chunk;
  ++chunk->holders;
  *handle = reinterpret_cast<CUmemGenericAllocationHandle>(chunk);
  return CUDA_SUCCESS;
}

CUresult cuMemExportToShareableHandle(void *shared, CUmemGenericAllocationHandle handle, int type,
                                      unsigned long long flags) {
  want(shared && flags == 0, "null pointer or flags");
  Chunk *chunk = chunkOf(handle);
  want(type == 1 && (chunk->properties.requestedHandleTypes & 1), "the memory was not made to be shared so");
  int copy = dup(chunk->file);
  if (copy < 0)
    fail(CUDA_ERROR_OUT_OF_MEMORY, "no file descriptor is left");
  memcpy(shared, &copy, sizeof copy);
  return CUDA_SUCCESS;
}

CUresult cuMemImportFromShareableHandle(CUmemGenericAllocationHandle *handle, void *shared, int type) {
  want(handle && type == 1, "null pointer or type");
  CUcontext context = ready();
  int file = dup(int(reinterpret_cast<intptr_t>(shared)));
  struct stat facts;
  if (file < 0 || fstat(file, &facts) != 0 || facts.st_size <= 0 || size_t(facts.st_size) % granularity) {
    if (file >= 0)
      close(file);
    fail(CUDA_ERROR_INVALID_VALUE, "not the descriptor of shared memory");
  }
  auto chunk = std::make_unique<Chunk>();
  chunk->file = file;
  chunk->bytes = size_t(facts.st_size);
  chunk->properties.type = 1;
  chunk->properties.requestedHandleTypes = 1;
  chunk->properties.location = {CU_MEM_LOCATION_TYPE_DEVICE, context->device->ordinal};
  if (!context->device->memory.reserve(chunk->bytes))
    fail(CUDA_ERROR_OUT_OF_MEMORY, "the device has no room left");
  *handle = giveOut(std::move(chunk));
  return CUDA_SUCCESS;
}

} // namespace joule::vgpu
