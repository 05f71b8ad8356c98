// The devices that the virtual driver can claim to be.
#pragma once

#include <cstdint>
#include <string>

namespace joule::vgpu {

struct DeviceFacts {
  const char *key, *name;
  int major, minor;
  int multiprocessors;
  int clockKHz, memoryClockKHz, busWidthBits;
  uint64_t memoryBytes;
  int l2Bytes;
  int sharedPerMultiprocessor, sharedPerBlockOptIn;
  int threadsPerMultiprocessor, blocksPerMultiprocessor;
};

/// Null if there is no device of that name.
const DeviceFacts *findDevice(const std::string &key);

} // namespace joule::vgpu
