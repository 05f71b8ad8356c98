// Device memory for buffers whose sizes only data tells: grows up to a cap and is kept between runs.
#pragma once

#include "lib/Runtime/Driver.h"

#include <map>
#include <memory>

namespace joule {

/// Hands out blocks that return to it when their last owner lets go. All its work is ordered by one stream,
/// so a block may be given out again while the device still works for its last owner. Not thread-safe; the
/// pool must outlive its blocks.
class BufferPool {
public:
  struct Block {
    CUdeviceptr address = 0;
    uint64_t bytes = 0;
  };

  BufferPool(const Driver &driver, uint64_t cap) : driver(driver), cap(cap) {}
  BufferPool(const BufferPool &) = delete;
  ~BufferPool();

  /// At least `bytes` bytes. Errors: DynamicMemoryCap, DeviceMemoryFull.
  Result<std::shared_ptr<const Block>> allocate(uint64_t bytes);

  /// How often the driver was asked for memory.
  uint64_t driverAllocations() const { return allocations; }

private:
  void dropFree();

  const Driver &driver;
  uint64_t cap;
  uint64_t held = 0; // bytes, given out and free
  uint64_t allocations = 0;
  std::multimap<uint64_t, CUdeviceptr> free; // by bytes
};

} // namespace joule
