// The attributes of devices: what follows from the device's facts, and what all CUDA devices have alike.
#include "lib/VirtualGpu/Driver/Attributes.h"

#include <cstdio>
#include <iterator>

namespace joule::vgpu {
namespace {

struct Fixed {
  int attribute, value;
};

// What does not depend on the device; all else is 0.
const Fixed fixed[] = {
    {CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK, 1024},
    {CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X, 1024},
    {CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y, 1024},
    {CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z, 64},
    {CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X, 2147483647},
    {CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y, 65535},
    {CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z, 65535},
    {CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK, 48 * 1024},
    {CU_DEVICE_ATTRIBUTE_TOTAL_CONSTANT_MEMORY, 65536},
    {CU_DEVICE_ATTRIBUTE_WARP_SIZE, 32},
    {11, 2147483647}, // the largest pitch
    {CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK, 65536},
    {14, 512}, // the alignment of textures
    {15, 1},   // copies beside kernels
    {21, 131072}, // textures of one dimension, then their other kinds
    {22, 131072},
    {23, 65536},
    {24, 16384},
    {25, 16384},
    {26, 16384},
    {27, 32768}, // in layers
    {28, 32768},
    {29, 2048},
    {30, 512}, // the alignment of surfaces
    {42, 32768},
    {43, 2048},
    {44, 1}, // gathering
    {45, 32768},
    {46, 32768},
    {47, 16384},
    {48, 16384},
    {49, 16384},
    {51, 32}, // the alignment of a texture's pitch
    {52, 32768}, // cubes
    {53, 32768},
    {54, 2046},
    {55, 131072}, // surfaces
    {56, 131072},
    {57, 65536},
    {58, 16384},
    {59, 16384},
    {60, 16384},
    {61, 32768},
    {62, 2048},
    {63, 32768},
    {64, 32768},
    {65, 2048},
    {66, 32768},
    {67, 32768},
    {68, 2046},
    {69, 1 << 28}, // textures of plain memory
    {70, 131072},
    {71, 65000},
    {72, 2097120},
    {73, 32768}, // with levels of detail
    {74, 32768},
    {77, 32768},
    {CU_DEVICE_ATTRIBUTE_CAN_MAP_HOST_MEMORY, 1},
    {CU_DEVICE_ATTRIBUTE_CONCURRENT_KERNELS, 1},
    {CU_DEVICE_ATTRIBUTE_ASYNC_ENGINE_COUNT, 1},
    {CU_DEVICE_ATTRIBUTE_UNIFIED_ADDRESSING, 1},
    {78, 1}, // priorities of streams
    {79, 1}, // L1 for global memory
    {80, 1}, // L1 for local memory
    {CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR, 65536},
    {CU_DEVICE_ATTRIBUTE_MANAGED_MEMORY, 1},
    {86, 1}, // atomics towards the host
    {88, 1}, // pageable memory
    {89, 1}, // managed memory from both sides at once
    {90, 1}, // kernels that give way
    {91, 1}, // the host's pointers for registered memory
    {CU_DEVICE_ATTRIBUTE_COOPERATIVE_LAUNCH, 1},
    {98, 1},  // flushes
    {99, 1},  // registered memory
    {102, 1}, // virtual addresses
    {103, 1}, // handles that are file descriptors
    {CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED, 1},
    {122, 1}, // words of 64 bits in streams
    {123, 1}, // and the fourth way to compare them
};

int fromFacts(const Device &device, int attribute, bool &known) {
  const DeviceFacts &d = device.facts;
  switch (attribute) {
  case CU_DEVICE_ATTRIBUTE_CLOCK_RATE:
    return d.clockKHz;
  case CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT:
    return d.multiprocessors;
  case CU_DEVICE_ATTRIBUTE_PCI_BUS_ID:
    return device.ordinal + 1;
  case CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE:
    return d.memoryClockKHz;
  case CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH:
    return d.busWidthBits;
  case CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE:
    return d.l2Bytes;
  case CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR:
    return d.threadsPerMultiprocessor;
  case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR:
    return d.major;
  case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR:
    return d.minor;
  case CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR:
    return d.sharedPerMultiprocessor;
  case CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN:
    return d.sharedPerBlockOptIn;
  case CU_DEVICE_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR:
    return d.blocksPerMultiprocessor;
  case CU_DEVICE_ATTRIBUTE_RESERVED_SHARED_MEMORY_PER_BLOCK:
    return d.major >= 8 ? 1024 : 0;
  case 120: // clusters
    return d.major >= 9;
  default:
    known = false;
    return 0;
  }
}

} // namespace

bool attributeOf(const Device &device, CUdevice_attribute attribute, int &value) {
  bool known = true;
  value = fromFacts(device, attribute, known);
  if (known)
    return true;
  for (const Fixed &constant : fixed)
    if (constant.attribute == int(attribute))
      value = constant.value;
  return int(attribute) > 0 && int(attribute) < 160;
}

std::string uuidOf(const Device &device) {
  std::string bytes = std::string("joule.") + device.facts.key;
  bytes.resize(15, '\0');
  bytes += char(device.ordinal);
  return bytes;
}

std::string busIdOf(const Device &device) {
  char text[16];
  snprintf(text, sizeof text, "0000:%02x:00.0", unsigned(device.ordinal + 1) & 0xff);
  return text;
}

} // namespace joule::vgpu
