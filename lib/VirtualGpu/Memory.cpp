// Device memory as blocks of host memory.
#include "lib/VirtualGpu/Memory.h"

#include <cstdlib>
#include <vector>

namespace joule::vgpu {

constexpr uint64_t alignment = 512; // what textures ask for
constexpr uint64_t mostQuarantined = 256 << 20;

MemoryMap::~MemoryMap() {
  for (auto &[address, block] : blocks)
    if (!block.adopted)
      free(reinterpret_cast<void *>(address));
  for (auto &[address, bytes] : quarantine)
    free(reinterpret_cast<void *>(address));
}

void MemoryMap::startChecking() {
  std::unique_lock lock(mutex);
  if (shadowMemory)
    return;
  shadowMemory = std::make_unique<GlobalShadow>();
  for (auto &[address, block] : blocks)
    shadowMemory->allocated(address, block.bytes, true);
}

void MemoryMap::hostWrote(uint64_t to, uint64_t bytes) {
  if (shadowMemory)
    shadowMemory->hostWrote(to, bytes);
}

void MemoryMap::hostCopied(uint64_t to, uint64_t from, uint64_t bytes) {
  if (shadowMemory)
    shadowMemory->hostCopied(to, from, bytes);
}

uint64_t MemoryMap::allocate(uint64_t bytes) {
  std::unique_lock lock(mutex);
  uint64_t rounded = (bytes + 255) & ~255ull;
  if (bytes == 0 || rounded < bytes || rounded > capacity - bytesUsed)
    return 0;
  // A gap behind every block: an access just past the end never lands in a neighbour.
  void *p = aligned_alloc(alignment, (rounded + 256 + alignment - 1) / alignment * alignment);
  if (!p)
    return 0;
  uint64_t address = reinterpret_cast<uint64_t>(p);
  blocks[address] = {bytes, false};
  bytesUsed += rounded;
  if (shadowMemory)
    shadowMemory->allocated(address, bytes, false);
  return address;
}

bool MemoryMap::release(uint64_t address) {
  std::unique_lock lock(mutex);
  auto it = blocks.find(address);
  if (it == blocks.end() || it->second.adopted)
    return false;
  uint64_t bytes = it->second.bytes;
  bytesUsed -= (bytes + 255) & ~255ull;
  blocks.erase(it);
  imageTable.forget(address, address + bytes);
  if (!shadowMemory)
    return free(reinterpret_cast<void *>(address)), true;
  shadowMemory->released(address);
  quarantine.emplace_back(address, bytes);
  quarantined += bytes;
  for (; quarantined > mostQuarantined; quarantine.pop_front()) {
    free(reinterpret_cast<void *>(quarantine.front().first));
    quarantined -= quarantine.front().second;
  }
  return true;
}

void MemoryMap::adopt(uint64_t address, uint64_t bytes) {
  std::unique_lock lock(mutex);
  blocks[address] = {bytes, true};
  if (shadowMemory)
    shadowMemory->allocated(address, bytes, true);
}

bool MemoryMap::disown(uint64_t address) {
  std::unique_lock lock(mutex);
  auto it = blocks.find(address);
  if (it == blocks.end() || !it->second.adopted)
    return false;
  imageTable.forget(address, address + it->second.bytes);
  blocks.erase(it);
  if (shadowMemory)
    shadowMemory->released(address);
  return true;
}

Range MemoryMap::find(uint64_t low, uint64_t high) const {
  if (Range own = findOwn(low, high); own.high)
    return own;
  std::vector<const MemoryMap *> others;
  {
    std::shared_lock lock(mutex);
    for (auto &[peer, times] : peers)
      others.push_back(peer);
  }
  for (const MemoryMap *peer : others)
    if (Range range = peer->findOwn(low, high); range.high)
      return range;
  return {0, 0};
}

Range MemoryMap::findOwn(uint64_t low, uint64_t high) const {
  std::shared_lock lock(mutex);
  auto it = blocks.upper_bound(low);
  if (it == blocks.begin())
    return {0, 0};
  --it;
  uint64_t step = it->second.adopted ? 1 : granularity.load();
  uint64_t end = it->first + (it->second.bytes + step - 1) / step * step;
  return low >= it->first && high <= end && high >= low ? Range{it->first, end} : Range{0, 0};
}

bool MemoryMap::reserve(uint64_t bytes) {
  std::unique_lock lock(mutex);
  if (bytes > capacity - bytesUsed)
    return false;
  bytesUsed += bytes;
  return true;
}

void MemoryMap::unreserve(uint64_t bytes) {
  std::unique_lock lock(mutex);
  bytesUsed -= bytes;
}

void MemoryMap::addPeer(const MemoryMap *peer) {
  std::unique_lock lock(mutex);
  ++peers[peer];
}

void MemoryMap::removePeer(const MemoryMap *peer) {
  std::unique_lock lock(mutex);
  auto it = peers.find(peer);
  if (it != peers.end() && --it->second == 0)
    peers.erase(it);
}

bool MemoryMap::hasPeer(const MemoryMap *peer) const {
  std::shared_lock lock(mutex);
  return peers.count(peer) != 0;
}

uint64_t MemoryMap::used() const {
  std::shared_lock lock(mutex);
  return bytesUsed;
}

constexpr uint64_t heapBytes = 8 << 20; // CUDA's own default

uint64_t MemoryMap::allocateOnDevice(uint64_t bytes) {
  if (shadowMemory)
    return allocateChecked(bytes);
  std::call_once(heapMade, [&] {
    if (uint64_t base = allocate(heapBytes))
      heap = std::make_unique<DeviceHeap>(base, heapBytes);
  });
  return heap ? heap->allocate(bytes) : 0;
}

uint64_t MemoryMap::allocateChecked(uint64_t bytes) {
  std::lock_guard lock(ofKernelsMutex);
  uint64_t address = bytes <= heapBytes - ofKernelsBytes ? allocate(bytes) : 0;
  if (address)
    ofKernels[address] = bytes, ofKernelsBytes += bytes;
  return address;
}

bool MemoryMap::releaseOnDevice(uint64_t address) {
  if (heap && heap->release(address))
    return true;
  std::lock_guard lock(ofKernelsMutex);
  auto it = ofKernels.find(address);
  if (it == ofKernels.end())
    return false;
  ofKernelsBytes -= it->second;
  ofKernels.erase(it);
  return release(address);
}

} // namespace joule::vgpu
