// How many blocks of a kernel a multiprocessor holds.
#include "lib/VirtualGpu/Driver/Functions.h"
#include "lib/VirtualGpu/Driver/Work.h"

#include <algorithm>

namespace joule::vgpu {

constexpr int registersPerMultiprocessor = 65536;

static uint64_t reservedShared(const DeviceFacts &facts) { return facts.major >= 8 ? 1024 : 0; }

static uint64_t registersOf(const KernelImage &image, int blockSize) {
  return std::max(16u, std::min(255u, image.entry().registers32)) * uint64_t((blockSize + 31) / 32 * 32);
}

static int activeBlocks(CUfunction function, int blockSize, size_t dynamicShared) {
  const DeviceFacts &d = function->module->context->device->facts;
  int warps = (blockSize + 31) / 32;
  uint64_t shared = function->image->staticShared() + dynamicShared + reservedShared(d);
  int byThreads = d.threadsPerMultiprocessor / (warps * 32);
  int byShared = shared ? int(std::min<uint64_t>(uint64_t(d.sharedPerMultiprocessor) / shared, 1 << 20))
                        : d.blocksPerMultiprocessor;
  int byRegisters = int(registersPerMultiprocessor / registersOf(*function->image, blockSize));
  return std::min({byThreads, byShared, byRegisters, d.blocksPerMultiprocessor});
}

CUresult cuOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, CUfunction function, int blockSize,
                                                     size_t dynamicShared) {
  want(blocks && blockSize > 0, "null pointer or size");
  want(dynamicShared <= (1u << 30), "too much shared memory");
  ready();
  CUfunction found = functionOf(function);
  *blocks = blockSize > 1024 ? 0 : activeBlocks(found, blockSize, dynamicShared);
  return CUDA_SUCCESS;
}
CUresult cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *blocks, CUfunction function, int blockSize,
                                                              size_t dynamicShared, unsigned int) {
  return cuOccupancyMaxActiveBlocksPerMultiprocessor(blocks, function, blockSize, dynamicShared);
}

CUresult cuOccupancyMaxPotentialBlockSize(int *gridSize, int *blockSize, CUfunction handle,
                                          CUoccupancyB2DSize sharedOf, size_t dynamicShared, int limit) {
  want(gridSize && blockSize, "null pointer");
  ready();
  CUfunction function = functionOf(handle);
  int most = 0;
  cuFuncGetAttribute(&most, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, function);
  if (limit > 0)
    most = std::min(most, limit);
  int bestThreads = 0;
  *blockSize = *gridSize = 0;
  // The largest block of those that keep most threads resident.
  for (int size = (most + 31) / 32 * 32; size > 0; size -= 32) {
    int tried = std::min(size, most);
    int blocks = activeBlocks(function, tried, sharedOf ? sharedOf(tried) : dynamicShared);
    if (blocks * tried > bestThreads) {
      bestThreads = blocks * tried;
      *blockSize = tried;
      *gridSize = blocks * function->module->context->device->facts.multiprocessors;
    }
  }
  return CUDA_SUCCESS;
}
CUresult cuOccupancyMaxPotentialBlockSizeWithFlags(int *gridSize, int *blockSize, CUfunction function,
                                                   CUoccupancyB2DSize sharedOf, size_t dynamicShared,
                                                   int limit, unsigned int) {
  return cuOccupancyMaxPotentialBlockSize(gridSize, blockSize, function, sharedOf, dynamicShared, limit);
}

CUresult cuOccupancyAvailableDynamicSMemPerBlock(size_t *bytes, CUfunction handle, int numBlocks,
                                                 int blockSize) {
  want(bytes && numBlocks > 0 && blockSize > 0, "null pointer or size");
  ready();
  CUfunction function = functionOf(handle);
  const DeviceFacts &d = function->module->context->device->facts;
  uint64_t each = uint64_t(d.sharedPerMultiprocessor) / uint64_t(numBlocks);
  uint64_t taken = function->image->staticShared() + reservedShared(d);
  uint64_t most = uint64_t(d.sharedPerBlockOptIn) - std::min<uint64_t>(d.sharedPerBlockOptIn, taken);
  *bytes = std::min(each > taken ? each - taken : 0, most);
  return CUDA_SUCCESS;
}

constexpr int portableClusterSize = 8;

CUresult cuOccupancyMaxPotentialClusterSize(int *size, CUfunction function, const CUlaunchConfig *config) {
  want(size && config, "null pointer");
  ready();
  *size = functionOf(function)->module->context->device->facts.major >= 9 ? portableClusterSize : 1;
  return CUDA_SUCCESS;
}

CUresult cuOccupancyMaxActiveClusters(int *clusters, CUfunction handle, const CUlaunchConfig *config) {
  want(clusters && config, "null pointer");
  want(config->attrs || !config->numAttrs, "attributes are missing");
  ready();
  CUfunction function = functionOf(handle);
  uint64_t threads = uint64_t(config->blockDimX) * config->blockDimY * config->blockDimZ;
  want(threads > 0 && threads <= 1024, "a block has at most 1024 threads");
  uint64_t size = 1;
  for (unsigned i = 0; i < config->numAttrs; ++i)
    if (config->attrs[i].id == CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION) {
      auto [x, y, z] = config->attrs[i].value.clusterDim;
      size = uint64_t(x) * y * z;
    }
  want(size > 0, "a cluster of size 0");
  int blocks = activeBlocks(function, int(threads), config->sharedMemBytes);
  *clusters =
      int(uint64_t(blocks) * uint64_t(function->module->context->device->facts.multiprocessors) / size);
  return CUDA_SUCCESS;
}

} // namespace joule::vgpu
