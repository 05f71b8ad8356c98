// Tensor maps: what bulk copies know of a tensor.
#include "lib/VirtualGpu/Driver/Functions.h"
#include "lib/VirtualGpu/Driver/State.h"
#include "lib/VirtualGpu/TensorMap.h"

#include <cstring>

namespace joule::vgpu {

static CUresult writeMap(CUtensorMap *to, const char *(*encode)(const TensorMapRequest &, TensorMap &),
                         const TensorMapRequest &request) {
  want(to && uintptr_t(to) % 64 == 0, "a tensor map must be aligned to 64 bytes");
  TensorMap map;
  const char *problem = encode(request, map);
  want(!problem, problem);
  memcpy(to, &map, sizeof map);
  return CUDA_SUCCESS;
}

CUresult cuTensorMapEncodeTiled(CUtensorMap *map, unsigned int type, unsigned int rank, void *address,
                                const uint64_t *sizes, const uint64_t *strides, const uint32_t *box,
                                const uint32_t *elementStrides, unsigned int interleave, unsigned int swizzle,
                                unsigned int promotion, unsigned int fill) {
  TensorMapRequest r = {};
  r.type = type, r.rank = rank, r.address = uint64_t(address);
  r.sizes = sizes, r.strides = strides, r.box = box, r.elementStrides = elementStrides;
  r.interleave = interleave, r.swizzle = swizzle, r.promotion = promotion, r.fill = fill;
  return writeMap(map, encodeTiled, r);
}

CUresult cuTensorMapEncodeIm2col(CUtensorMap *map, unsigned int type, unsigned int rank, void *address,
                                 const uint64_t *sizes, const uint64_t *strides, const int *lowerCorner,
                                 const int *upperCorner, unsigned int channels, unsigned int pixels,
                                 const uint32_t *elementStrides, unsigned int interleave,
                                 unsigned int swizzle, unsigned int promotion, unsigned int fill) {
  TensorMapRequest r = {};
  r.type = type, r.rank = rank, r.address = uint64_t(address);
  r.sizes = sizes, r.strides = strides, r.elementStrides = elementStrides;
  r.lowerCorner = lowerCorner, r.upperCorner = upperCorner, r.channels = channels, r.pixels = pixels;
  r.interleave = interleave, r.swizzle = swizzle, r.promotion = promotion, r.fill = fill;
  return writeMap(map, encodeIm2col, r);
}

CUresult cuTensorMapReplaceAddress(CUtensorMap *map, void *address) {
  want(map && uintptr_t(address) % 16 == 0, "the tensor's address must be a multiple of 16");
  TensorMap own;
  memcpy(&own, map, sizeof own);
  want(isUsable(own), "not a tensor map");
  own.address = uint64_t(address);
  memcpy(map, &own, sizeof own);
  return CUDA_SUCCESS;
}

} // namespace joule::vgpu
