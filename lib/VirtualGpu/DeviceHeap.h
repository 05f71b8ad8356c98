// What kernels allocate as they run: one block of the device's memory, shared out by first fit.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>

namespace joule::vgpu {

class DeviceHeap {
public:
  explicit DeviceHeap(uint64_t base, uint64_t bytes) { free[base] = bytes; }

  /// 0 if there is no room.
  uint64_t allocate(uint64_t bytes);
  /// False if nothing was allocated there.
  bool release(uint64_t address);

private:
  std::mutex mutex;
  std::map<uint64_t, uint64_t> free, used; // bytes by address
};

} // namespace joule::vgpu
