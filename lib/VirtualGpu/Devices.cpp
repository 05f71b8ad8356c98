// Device files as a driver shows devices. What CUDA's documentation gives for each compute capability stands here;
// all else comes from the file.
#include "lib/VirtualGpu/Devices.h"
#include "lib/Energy/DeviceEnergy.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <map>

namespace joule::vgpu {
namespace {

constexpr double gib = double(1ull << 30), mib = double(1 << 20);
constexpr int kib = 1024;

struct Capability {
  int number; // 89
  int threads, blocks; // that a multiprocessor holds
  int l1KiB;           // the memory that L1 and shared memory divide
};

const Capability capabilities[] = {{61, 2048, 32, 48},  {70, 2048, 32, 128}, {75, 1024, 16, 96},   {80, 2048, 32, 192},
                                   {86, 1536, 16, 128}, {87, 1536, 16, 192}, {89, 1536, 24, 128},  {90, 2048, 32, 256},
                                   {100, 2048, 32, 256}, {120, 1536, 24, 128}};

const Capability &capabilityOf(int major, int minor) {
  const Capability *best = &capabilities[0];
  for (const Capability &c : capabilities)
    if (c.number <= major * 10 + minor)
      best = &c;
  return *best;
}

double valueOf(const DeviceEnergy &device, const char *fact) {
  const Fact *found = device.file.find(fact);
  return found ? found->values[0] : 0;
}

/// The memory of stacks is 1024 bits wide each, chips have 32; data moves twice in a clock.
int busWidthOf(const DeviceEnergy &device) {
  double clock = device.memoryClock.value();
  double bits = clock > 0 ? device.dramBandwidthSpec.value() * 8 / (2 * clock) : 0;
  int step = bits > 1024 ? 1024 : 32;
  return int(std::lround(bits / step)) * step;
}

std::string driverName(std::string name) {
  std::transform(name.begin(), name.end(), name.begin(), [](unsigned char c) { return char(std::toupper(c)); });
  return "Joule virtual " + name;
}

DeviceFacts factsOf(const DeviceEnergy &device) {
  DeviceFacts facts = {};
  const Capability &capability = capabilityOf(device.major, device.minor);
  facts.key = device.name;
  facts.name = driverName(device.name);
  facts.major = device.major, facts.minor = device.minor;
  facts.multiprocessors = device.multiprocessors;
  facts.clockKHz = int(std::lround(device.highestClock.value() / 1e3));
  facts.memoryClockKHz = int(std::lround(device.memoryClock.value() / 1e3));
  facts.busWidthBits = busWidthOf(device);
  facts.memoryBytes = uint64_t(valueOf(device, "memory_capacity") * gib);
  facts.l2Bytes = int(valueOf(device, "l2_capacity") * mib);
  facts.l2EffectiveBytes = uint64_t(device.l2Effective.value() / 1e6 * mib);
  facts.l1Bytes = capability.l1KiB * kib;
  facts.sharedPerMultiprocessor = int(valueOf(device, "shared_capacity")) * kib;
  // From 8.0 on a block leaves 1 KiB to the system; before 7.0 none has more than 48 KiB.
  facts.sharedPerBlockOptIn = device.major >= 8   ? facts.sharedPerMultiprocessor - kib
                              : device.major == 7 ? facts.sharedPerMultiprocessor
                                                  : 48 * kib;
  facts.threadsPerMultiprocessor = capability.threads;
  facts.blocksPerMultiprocessor = capability.blocks;
  facts.energy = &device;
  return facts;
}

const std::map<std::string, DeviceFacts> &allFacts() {
  static const auto *all = [] {
    auto *facts = new std::map<std::string, DeviceFacts>;
    for (const DeviceEnergy &device : knownDevices())
      facts->emplace(device.name, factsOf(device));
    return facts;
  }();
  return *all;
}

} // namespace

const DeviceFacts *findDevice(const std::string &name) {
  if (name.find(':') != std::string::npos) // a slice is no device of its own
    return nullptr;
  Result<DeviceEnergy> device = deviceNamed(name);
  return device ? &allFacts().at(device->name) : nullptr;
}

CacheSizes cachesOf(const DeviceFacts &device, unsigned threadsOfBlock, uint64_t sharedOfBlock) {
  constexpr uint64_t leastL1 = 16 * kib;
  unsigned threads = (std::max(threadsOfBlock, 1u) + 31) / 32 * 32;
  uint64_t blocks = std::min(unsigned(device.blocksPerMultiprocessor), unsigned(device.threadsPerMultiprocessor) / threads);
  if (sharedOfBlock)
    blocks = std::min(blocks, uint64_t(device.sharedPerMultiprocessor) / sharedOfBlock);
  blocks = std::max<uint64_t>(blocks, 1);
  CacheSizes sizes;
  sizes.multiprocessors = unsigned(device.multiprocessors);
  sizes.blocksPerMultiprocessor = unsigned(blocks);
  uint64_t taken = device.major < 7 ? 0 : blocks * sharedOfBlock; // before, shared memory was apart
  sizes.l1Bytes = std::max(leastL1, uint64_t(device.l1Bytes) - std::min(uint64_t(device.l1Bytes), taken));
  sizes.l2Bytes = device.l2EffectiveBytes;
  return sizes;
}

std::string unknownDevice(const std::string &name) {
  std::string names;
  for (const DeviceEnergy &device : knownDevices())
    names += (names.empty() ? "" : ", ") + device.name;
  return "there is no virtual device '" + name + "'; there are " + names;
}

} // namespace joule::vgpu
