// Copies and fills: of rows, boxes, and between devices.
#include "lib/VirtualGpu/Driver/Arrays.h"
#include "lib/VirtualGpu/Driver/Functions.h"
#include "lib/VirtualGpu/Driver/Work.h"

#include <cstring>

namespace joule::vgpu {
namespace {

/// Where the driver knows the memory, the span must lie in it; the host's own memory is taken on trust, as
/// the real driver must.
void checkSpan(uint64_t address, uint64_t bytes, bool mustKnow) {
  uint64_t base;
  Allocation allocation;
  if (lookUp(address, base, allocation)) {
    if (bytes > allocation.bytes - (address - base) && allocation.kind != MemoryKind::Mapped)
      fail(CUDA_ERROR_INVALID_VALUE, "the copy leaves the allocation it starts in");
    if (allocation.kind != MemoryKind::Mapped)
      return;
  }
  for (auto &device : driver().devices)
    if (device->memory.find(address, address + bytes).high)
      return;
  if (mustKnow || lookUp(address, base, allocation))
    fail(CUDA_ERROR_INVALID_VALUE, "the copy leaves the allocation it starts in");
}

bool isPageable(uint64_t address) {
  uint64_t base;
  Allocation allocation;
  return !lookUp(address, base, allocation);
}

constexpr size_t mostBytes = size_t(1) << 46;

size_t times(size_t a, size_t b) {
  size_t product;
  if (__builtin_mul_overflow(a, b, &product) || product > mostBytes)
    fail(CUDA_ERROR_INVALID_VALUE, "the copy is too large");
  return product;
}

/// From the first byte of a box to behind its last.
size_t extent(size_t width, size_t height, size_t depth, size_t pitch, size_t sliceRows) {
  return times(times(depth - 1, sliceRows) + height - 1, pitch) + width;
}

enum Side { host, device, either };

Side sideOf(int memoryType) {
  switch (memoryType) {
  case CU_MEMORYTYPE_HOST:
    return host;
  case CU_MEMORYTYPE_DEVICE:
    return device;
  case CU_MEMORYTYPE_UNIFIED:
    return either;
  default:
    fail(CUDA_ERROR_INVALID_VALUE, "no such type of memory");
  }
}

/// The address of a box's corner in an array.
uint64_t settleArray(const CUcopySide3D &side, const CUDA_MEMCPY3D &copy, size_t &pitch, size_t &height,
                     CopyWork &work) {
  auto array = static_cast<CUarray>(side.array);
  wantHandle(array, HandleKind::Array);
  const ImageLevel &l = array->image.levels[0];
  auto fits = [](size_t at, size_t count, size_t size) { return at <= size && count <= size - at; };
  want(fits(side.xInBytes, copy.widthInBytes, size_t(l.width) * array->image.format.bytes()) &&
           fits(side.y, copy.height, l.height) && fits(side.z, copy.depth, l.depth),
       "the copy leaves the array");
  pitch = l.rowBytes;
  height = l.height;
  work.arrays.push_back(array->memory);
  return l.address + side.z * l.sliceBytes + side.y * l.rowBytes + side.xInBytes;
}

/// The address of a box's corner; pitch and height are settled.
uint64_t settle(const CUcopySide3D &side, const CUDA_MEMCPY3D &copy, size_t &pitch, size_t &height, CopyWork &work) {
  want(side.lod == 0, "a level of detail is an array of its own");
  if (side.memoryType == CU_MEMORYTYPE_ARRAY)
    return settleArray(side, copy, pitch, height, work);
  pitch = side.pitch ? side.pitch : copy.widthInBytes + side.xInBytes;
  height = side.height ? side.height : copy.height + side.y;
  want(pitch >= copy.widthInBytes && (copy.depth <= 1 || height >= copy.height), "the pitch is too small");
  Side where = sideOf(side.memoryType);
  uint64_t base = where == host ? uint64_t(side.host) : side.device;
  want(base, "null pointer");
  uint64_t corner = base + times(times(side.z, height) + side.y, pitch) + side.xInBytes;
  checkSpan(corner, extent(copy.widthInBytes, copy.height, copy.depth, pitch, height), where == device);
  return corner;
}

CUDA_MEMCPY3D widen(const CUDA_MEMCPY2D &copy) {
  auto side = [](const CUcopySide2D &s) {
    return CUcopySide3D{s.xInBytes, s.y, 0, 0, s.memoryType, s.host, s.device, s.array, nullptr, s.pitch, 0};
  };
  return {side(copy.from), side(copy.to), copy.widthInBytes, copy.height, 1};
}

CopyWork rows(uint64_t to, uint64_t from, size_t bytes) {
  CUcopySide3D source = {}, target = {};
  source.memoryType = target.memoryType = CU_MEMORYTYPE_UNIFIED;
  source.device = from, target.device = to;
  source.pitch = target.pitch = bytes;
  CopyWork work;
  work.asked = {source, target, bytes, 1, 1};
  work.to = to, work.from = from, work.width = bytes;
  return work;
}

constexpr size_t mostStaged = 64 * 1024;

/// Pageable memory may be used again when the function returns: small sources are set aside, all else is
/// waited for.
void copyIn(CUstream stream, CopyWork work) {
  if (!work.width || !work.height || !work.depth)
    return;
  size_t bytes = extent(work.width, work.height, work.depth, work.fromPitch, work.fromHeight);
  if (stream->capture || (!isPageable(work.from) && !isPageable(work.to))) {
    submit(stream, std::move(work));
    return;
  }
  if (isPageable(work.from) && !isPageable(work.to) && bytes <= mostStaged) {
    const char *from = reinterpret_cast<const char *>(work.from);
    work.staged = std::make_shared<std::vector<char>>(from, from + bytes);
    work.from = uint64_t(work.staged->data());
    submit(stream, std::move(work));
    return;
  }
  submitAndWait(stream, std::move(work));
}

CUresult copyNow(CopyWork work) {
  CUstream stream = streamOf(nullptr);
  if (work.width && work.height && work.depth)
    submitAndWait(stream, std::move(work));
  return CUDA_SUCCESS;
}

enum class Known { From, To, Both, Neither };

/// One row; what is device memory must be known.
CopyWork checkedRow(uint64_t to, uint64_t from, size_t bytes, Known known) {
  ready();
  CopyWork work = rows(to, from, bytes);
  if (!bytes)
    return work;
  want(to && from, "null pointer");
  checkSpan(to, bytes, known == Known::To || known == Known::Both);
  checkSpan(from, bytes, known == Known::From || known == Known::Both);
  return work;
}

} // namespace

CopyWork makeCopyWork(const CUDA_MEMCPY3D &copy) {
  CopyWork work;
  work.asked = copy;
  work.width = copy.widthInBytes, work.height = copy.height, work.depth = copy.depth;
  if (!work.width || !work.height || !work.depth)
    return work;
  work.from = settle(copy.from, copy, work.fromPitch, work.fromHeight, work);
  work.to = settle(copy.to, copy, work.toPitch, work.toHeight, work);
  return work;
}

CUresult cuMemcpy(CUdeviceptr to, CUdeviceptr from, size_t bytes) {
  return copyNow(checkedRow(to, from, bytes, Known::Neither));
}
CUresult cuMemcpyHtoD_v2(CUdeviceptr to, const void *from, size_t bytes) {
  return copyNow(checkedRow(to, uint64_t(from), bytes, Known::To));
}
CUresult cuMemcpyDtoH_v2(void *to, CUdeviceptr from, size_t bytes) {
  return copyNow(checkedRow(uint64_t(to), from, bytes, Known::From));
}
CUresult cuMemcpyDtoD_v2(CUdeviceptr to, CUdeviceptr from, size_t bytes) {
  return copyNow(checkedRow(to, from, bytes, Known::Both));
}
CUresult cuMemcpyPeer(CUdeviceptr to, CUcontext toContext, CUdeviceptr from, CUcontext fromContext,
                      size_t bytes) {
  wantHandle(toContext, HandleKind::Context);
  wantHandle(fromContext, HandleKind::Context);
  return cuMemcpyDtoD_v2(to, from, bytes);
}

CUresult cuMemcpyAsync(CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream stream) {
  copyIn(streamOf(stream), checkedRow(to, from, bytes, Known::Neither));
  return CUDA_SUCCESS;
}
// In order, which a batch may be done in; that also satisfies every order of reading the source but one: a
// source that may change once the call returns.
static CUresult copyBatch(CUdeviceptr *to, CUdeviceptr *from, size_t *bytes, size_t count,
                          CUmemcpyAttributes *attributes, size_t *firstOf, size_t numAttributes,
                          size_t *failed, CUstream stream) {
  if (failed)
    *failed = SIZE_MAX; // none of them in particular
  want(to && from && bytes && attributes && firstOf, "null pointer");
  want(count && numAttributes && numAttributes <= count && firstOf[0] == 0, "no attributes for every copy");
  CUstream found = streamOf(stream);
  want(found != &found->context->legacy, "a batch needs a stream of its own");
  bool readsNow = false;
  for (size_t i = 0; i < numAttributes; ++i) {
    want(attributes[i].sourceOrder >= 1 && attributes[i].sourceOrder <= 3, "no such order");
    want(i == 0 || (firstOf[i] > firstOf[i - 1] && firstOf[i] < count), "attributes are not in order");
    readsNow |= attributes[i].sourceOrder == 2;
  }
  std::vector<CopyWork> copies;
  for (size_t i = 0; i < count; ++i) {
    if (failed)
      *failed = i;
    copies.push_back(checkedRow(to[i], from[i], bytes[i], Known::Neither));
  }
  if (failed)
    *failed = SIZE_MAX;
  for (const CopyWork &copy : copies)
    copyIn(found, copy);
  return readsNow ? cuStreamSynchronize(stream) : CUDA_SUCCESS;
}
CUresult cuMemcpyBatchAsync(CUdeviceptr *to, CUdeviceptr *from, size_t *bytes, size_t count,
                            CUmemcpyAttributes *attributes, size_t *firstOf, size_t numAttributes,
                            size_t *failed, CUstream stream) {
  return copyBatch(to, from, bytes, count, attributes, firstOf, numAttributes, failed, stream);
}
CUresult cuMemcpyBatchAsync_v2(CUdeviceptr *to, CUdeviceptr *from, size_t *bytes, size_t count,
                               CUmemcpyAttributes *attributes, size_t *firstOf, size_t numAttributes,
                               CUstream stream) {
  return copyBatch(to, from, bytes, count, attributes, firstOf, numAttributes, nullptr, stream);
}
CUresult cuMemcpyHtoDAsync_v2(CUdeviceptr to, const void *from, size_t bytes, CUstream stream) {
  copyIn(streamOf(stream), checkedRow(to, uint64_t(from), bytes, Known::To));
  return CUDA_SUCCESS;
}
CUresult cuMemcpyDtoHAsync_v2(void *to, CUdeviceptr from, size_t bytes, CUstream stream) {
  copyIn(streamOf(stream), checkedRow(uint64_t(to), from, bytes, Known::From));
  return CUDA_SUCCESS;
}
CUresult cuMemcpyDtoDAsync_v2(CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream stream) {
  copyIn(streamOf(stream), checkedRow(to, from, bytes, Known::Both));
  return CUDA_SUCCESS;
}
CUresult cuMemcpyPeerAsync(CUdeviceptr to, CUcontext toContext, CUdeviceptr from, CUcontext fromContext,
                           size_t bytes, CUstream stream) {
  wantHandle(toContext, HandleKind::Context);
  wantHandle(fromContext, HandleKind::Context);
  return cuMemcpyDtoDAsync_v2(to, from, bytes, stream);
}

CUresult cuMemcpy2D_v2(const CUDA_MEMCPY2D *copy) {
  want(copy, "null pointer");
  ready();
  return copyNow(makeCopyWork(widen(*copy)));
}
CUresult cuMemcpy2DUnaligned_v2(const CUDA_MEMCPY2D *copy) { return cuMemcpy2D_v2(copy); }
CUresult cuMemcpy2DAsync_v2(const CUDA_MEMCPY2D *copy, CUstream stream) {
  want(copy, "null pointer");
  copyIn(streamOf(stream), makeCopyWork(widen(*copy)));
  return CUDA_SUCCESS;
}
CUresult cuMemcpy3D_v2(const CUDA_MEMCPY3D *copy) {
  want(copy, "null pointer");
  ready();
  return copyNow(makeCopyWork(*copy));
}
CUresult cuMemcpy3DAsync_v2(const CUDA_MEMCPY3D *copy, CUstream stream) {
  want(copy, "null pointer");
  copyIn(streamOf(stream), makeCopyWork(*copy));
  return CUDA_SUCCESS;
}
CUresult cuMemcpy3DPeer(const CUDA_MEMCPY3D_PEER *copy) { return cuMemcpy3D_v2(copy); }
CUresult cuMemcpy3DPeerAsync(const CUDA_MEMCPY3D_PEER *copy, CUstream stream) {
  return cuMemcpy3DAsync_v2(copy, stream);
}

// --- fills ---

FillWork makeFillWork(const CUDA_MEMSET_NODE_PARAMS &box) {
  want(box.elementSize == 1 || box.elementSize == 2 || box.elementSize == 4, "elements have 1, 2 or 4 bytes");
  FillWork work{box};
  if (!box.width || !box.height)
    return work;
  size_t bytes = times(box.width, box.elementSize);
  if (box.height == 1)
    work.box.pitch = bytes;
  want(box.dst % box.elementSize == 0 && work.box.pitch % box.elementSize == 0, "the address is not aligned");
  want(work.box.pitch >= bytes, "the pitch is too small");
  checkSpan(box.dst, extent(bytes, box.height, 1, work.box.pitch, 1), true);
  return work;
}

/// The real driver's plain fills may be under way when they return; here they are done, which no program
/// minds.
static CUresult fillNow(CUdeviceptr to, size_t pitch, unsigned value, unsigned elementBytes, size_t width,
                        size_t height) {
  CUstream stream = streamOf(nullptr);
  submitAndWait(stream, makeFillWork({to, pitch, value, elementBytes, width, height}));
  return CUDA_SUCCESS;
}

static CUresult fillIn(CUdeviceptr to, size_t pitch, unsigned value, unsigned elementBytes, size_t width,
                       size_t height, CUstream stream) {
  submit(streamOf(stream), makeFillWork({to, pitch, value, elementBytes, width, height}));
  return CUDA_SUCCESS;
}

#define JOULE_FILLS(bits, type)                                                                              \
  CUresult cuMemsetD##bits##_v2(CUdeviceptr to, type value, size_t count) {                                  \
    return fillNow(to, 0, value, bits / 8, count, 1);                                                        \
  }                                                                                                          \
  CUresult cuMemsetD##bits##Async(CUdeviceptr to, type value, size_t count, CUstream stream) {               \
    return fillIn(to, 0, value, bits / 8, count, 1, stream);                                                 \
  }                                                                                                          \
  CUresult cuMemsetD2D##bits##_v2(CUdeviceptr to, size_t pitch, type value, size_t width, size_t height) {   \
    return fillNow(to, pitch, value, bits / 8, width, height);                                               \
  }                                                                                                          \
  CUresult cuMemsetD2D##bits##Async(CUdeviceptr to, size_t pitch, type value, size_t width, size_t height,   \
                                    CUstream stream) {                                                       \
    return fillIn(to, pitch, value, bits / 8, width, height, stream);                                        \
  }
JOULE_FILLS(8, unsigned char)
JOULE_FILLS(16, unsigned short)
JOULE_FILLS(32, unsigned int)

} // namespace joule::vgpu
