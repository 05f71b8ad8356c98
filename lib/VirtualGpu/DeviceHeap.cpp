// First fit, and neighbours join again when they are free.
#include "lib/VirtualGpu/DeviceHeap.h"

namespace joule::vgpu {

uint64_t DeviceHeap::allocate(uint64_t bytes) {
  std::lock_guard lock(mutex);
  uint64_t rounded = (bytes + 15) & ~15ull;
  if (bytes == 0 || rounded < bytes)
    return 0;
  for (auto it = free.begin(); it != free.end(); ++it) {
    auto [address, room] = *it;
    if (room < rounded)
      continue;
    free.erase(it);
    if (room > rounded)
      free[address + rounded] = room - rounded;
    used[address] = rounded;
    return address;
  }
  return 0;
}

bool DeviceHeap::release(uint64_t address) {
  std::lock_guard lock(mutex);
  auto it = used.find(address);
  if (it == used.end())
    return false;
  uint64_t bytes = it->second;
  used.erase(it);
  auto next = free.lower_bound(address);
  if (next != free.end() && next->first == address + bytes) {
    bytes += next->second;
    next = free.erase(next);
  }
  if (next != free.begin()) {
    auto before = std::prev(next);
    if (before->first + before->second == address) {
      before->second += bytes;
      return true;
    }
  }
  free[address] = bytes;
  return true;
}

} // namespace joule::vgpu
