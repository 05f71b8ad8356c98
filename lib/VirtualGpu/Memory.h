// The device's memory: which addresses are allocated. A device address is the address of the host memory
// behind it, so a checked access costs no translation.
#pragma once

#include "lib/VirtualGpu/Check/Shadow.h"
#include "lib/VirtualGpu/DeviceHeap.h"
#include "lib/VirtualGpu/Images.h"
#include "lib/VirtualGpu/Program.h"

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <shared_mutex>

namespace joule::vgpu {

class MemoryMap {
public:
  explicit MemoryMap(uint64_t capacity) : capacity(capacity) {}
  ~MemoryMap();

  /// 0 if the device has no room left, or the host has none.
  uint64_t allocate(uint64_t bytes);
  bool release(uint64_t address);
  /// Makes memory of the host usable by kernels (pinned memory).
  void adopt(uint64_t address, uint64_t bytes);
  bool disown(uint64_t address);
  /// The allocation that holds all of [low, high); {0, 0} if none does.
  Range find(uint64_t low, uint64_t high) const;
  /// Lets accesses run up to the next multiple of `bytes` behind an allocation's end: compilers widen loads
  /// within a vector that is aligned, which no GPU faults. 1, as at first: every byte behind the end is a
  /// fault.
  void setGranularity(uint64_t bytes) { granularity = bytes; }
  /// The same of this device's memory alone, without its peers'.
  Range findOwn(uint64_t low, uint64_t high) const;
  uint64_t used() const;

  /// From here on it is known which bytes have been written, and freed memory is not given out again at once.
  void startChecking();
  /// Null without check mode.
  GlobalShadow *shadow() const { return shadowMemory.get(); }
  /// Memory written by the host, or copied by it from `from`; for check mode.
  void hostWrote(uint64_t to, uint64_t bytes);
  void hostCopied(uint64_t to, uint64_t from, uint64_t bytes);

  uint64_t total() const { return capacity; }
  /// Takes room for memory that is kept elsewhere; false if there is too little.
  bool reserve(uint64_t bytes);
  void unreserve(uint64_t bytes);
  /// Lets kernels use another device's memory; as often as it is asked, so often it must be taken back.
  void addPeer(const MemoryMap *peer);
  void removePeer(const MemoryMap *peer);
  bool hasPeer(const MemoryMap *peer) const;

  /// The textures and surfaces that look at this memory.
  ImageTable &images() { return imageTable; }

  /// What kernels ask for as they run; of a heap that is made when it is first needed, or, so that its bounds
  /// are known, an allocation of its own in check mode.
  uint64_t allocateOnDevice(uint64_t bytes);
  bool releaseOnDevice(uint64_t address);

private:
  struct Block {
    uint64_t bytes;
    bool adopted;
  };

  mutable std::shared_mutex mutex;
  uint64_t allocateChecked(uint64_t bytes);

  std::once_flag heapMade;
  std::unique_ptr<DeviceHeap> heap;
  std::mutex ofKernelsMutex;
  std::map<uint64_t, uint64_t> ofKernels; // bytes by address
  uint64_t ofKernelsBytes = 0;
  std::map<const MemoryMap *, int> peers;
  std::map<uint64_t, Block> blocks;
  uint64_t capacity, bytesUsed = 0;
  ImageTable imageTable;
  std::unique_ptr<GlobalShadow> shadowMemory;
  std::deque<std::pair<uint64_t, uint64_t>> quarantine; // freed, and not yet returned to the host
  uint64_t quarantined = 0;
  std::atomic<uint64_t> granularity{1}; // divides 256, to which blocks are rounded
};

} // namespace joule::vgpu
