// The devices that the virtual driver can claim to be: those of lib/Energy's device files.
#pragma once

#include "lib/VirtualGpu/CacheModel.h"

#include <cstdint>
#include <string>

namespace joule {
struct DeviceEnergy;
}

namespace joule::vgpu {

struct DeviceFacts {
  std::string key, name; // the device file's; the driver's, "Joule virtual A100-SXM-80"
  int major, minor;
  int multiprocessors;
  int clockKHz, memoryClockKHz, busWidthBits;
  uint64_t memoryBytes;
  int l2Bytes;
  uint64_t l2EffectiveBytes; // what holds data that all multiprocessors read
  int l1Bytes;               // of a multiprocessor, shared memory included
  int sharedPerMultiprocessor, sharedPerBlockOptIn;
  int threadsPerMultiprocessor, blocksPerMultiprocessor;
  const DeviceEnergy *energy;
};

/// A device by the name of its file ("a100-sxm-80") or the start of it ("a100"); null if there is none.
const DeviceFacts *findDevice(const std::string &name);
/// The caches of a device as a launch of such blocks finds them: shared memory takes its part of L1.
CacheSizes cachesOf(const DeviceFacts &device, unsigned threadsOfBlock, uint64_t sharedOfBlock);
/// What to say where findDevice found none: it lists the names there are.
std::string unknownDevice(const std::string &name);

} // namespace joule::vgpu
