// Making arrays, with levels of detail or without, and copying them from end to end.
#include "lib/VirtualGpu/Driver/Arrays.h"
#include "lib/VirtualGpu/Driver/Checking.h"
#include "lib/VirtualGpu/Driver/Functions.h"
#include "lib/VirtualGpu/Driver/Work.h"

#include <algorithm>

namespace joule::vgpu {

ArrayMemory::ArrayMemory(CUcontext context, uint64_t bytes)
    : address(allocate(context, bytes, MemoryKind::Array)), bytes(bytes) {
  noteWritten(address, bytes); // surfaces write without saying so
}

ArrayMemory::~ArrayMemory() { releaseArray(address); }

bool findFormat(int format, unsigned channels, TexelFormat &texel) {
  struct Known {
    int format;
    TexelKind kind;
    uint8_t bits;
  };
  static const Known known[] = {{CU_AD_FORMAT_UNSIGNED_INT8, TexelKind::Unsigned, 8},
                                {CU_AD_FORMAT_UNSIGNED_INT16, TexelKind::Unsigned, 16},
                                {CU_AD_FORMAT_UNSIGNED_INT32, TexelKind::Unsigned, 32},
                                {CU_AD_FORMAT_SIGNED_INT8, TexelKind::Signed, 8},
                                {CU_AD_FORMAT_SIGNED_INT16, TexelKind::Signed, 16},
                                {CU_AD_FORMAT_SIGNED_INT32, TexelKind::Signed, 32},
                                {CU_AD_FORMAT_HALF, TexelKind::Float, 16},
                                {CU_AD_FORMAT_FLOAT, TexelKind::Float, 32}};
  if (channels != 1 && channels != 2 && channels != 4)
    return false;
  for (const Known &k : known)
    if (k.format == format) {
      texel = {k.kind, k.bits, uint8_t(channels), false};
      return true;
    }
  // Normalised ones name their channels: of 8 and 16 bits, without a sign and with one.
  int which = format - CU_AD_FORMAT_UNORM_INT8X1;
  static const unsigned channelsOf[] = {1, 2, 4};
  if (which < 0 || which >= 12 || channelsOf[which % 3] != channels)
    return false;
  texel = {which >= 6 ? TexelKind::Signed : TexelKind::Unsigned, uint8_t(which / 3 % 2 ? 16 : 8), uint8_t(channels),
           true};
  return true;
}

namespace {

constexpr uint64_t rowAlignment = 32, levelAlignment = 512;

uint64_t roundedUp(uint64_t value, uint64_t step) { return (value + step - 1) / step * step; }

struct Limits {
  size_t width, height, depth;
};

/// The most that a device has of each kind, as its attributes say.
Limits limitsOf(const Image &image) {
  if (image.cube)
    return {32768, 32768, image.layered ? 2046u * 6 : 6};
  if (image.layered)
    return {32768, 32768, 2048};
  return image.dimensions == 1 ? Limits{131072, 1, 1}
         : image.dimensions == 2 ? Limits{131072, 65536, 1}
                                 : Limits{16384, 16384, 16384};
}

/// The image that a descriptor describes, without memory.
Image shapeOf(const CUDA_ARRAY3D_DESCRIPTOR &d) {
  constexpr unsigned harmless = 0x20; // for graphics
  unsigned known = CUDA_ARRAY3D_LAYERED | CUDA_ARRAY3D_SURFACE_LDST | CUDA_ARRAY3D_CUBEMAP | CUDA_ARRAY3D_TEXTURE_GATHER;
  if (d.flags & ~(known | harmless))
    fail(CUDA_ERROR_NOT_SUPPORTED, "depth textures, sparse arrays and deferred mappings are not supported");
  Image image;
  want(findFormat(d.format, d.numChannels, image.format), "no such format of an array, or not with so many channels");
  image.layered = d.flags & CUDA_ARRAY3D_LAYERED;
  image.cube = d.flags & CUDA_ARRAY3D_CUBEMAP;
  bool slices = image.layered || image.cube;
  want(d.width > 0, "an array needs a width");
  want(slices ? d.depth > 0 : d.height > 0 || d.depth == 0, "an array of these dimensions does not exist");
  want(!image.cube || (d.width == d.height && (image.layered ? d.depth % 6 == 0 : d.depth == 6)),
       "the faces of a cube are squares, six of them");
  image.dimensions = d.height == 0 ? 1 : slices || d.depth == 0 ? 2 : 3;
  want(!(d.flags & CUDA_ARRAY3D_TEXTURE_GATHER) || image.dimensions == 2, "only arrays of two dimensions are gathered");
  Limits most = limitsOf(image);
  want(d.width <= most.width && d.height <= most.height && (d.depth <= most.depth), "the array is too large");
  return image;
}

/// The levels one after the other, each half as large as the one before; returns the bytes.
uint64_t placeLevels(Image &image, const CUDA_ARRAY3D_DESCRIPTOR &d, unsigned count) {
  uint64_t at = 0;
  for (unsigned i = 0; i < count; ++i) {
    ImageLevel level;
    level.width = std::max(1u, unsigned(d.width) >> i);
    level.height = std::max(1u, unsigned(d.height) >> i);
    level.depth = std::max(1u, unsigned(d.depth) >> (image.dimensions == 3 ? i : 0));
    level.rowBytes = roundedUp(uint64_t(level.width) * image.format.bytes(), rowAlignment);
    level.sliceBytes = level.rowBytes * level.height;
    level.address = at;
    at = roundedUp(at + level.sliceBytes * level.depth, levelAlignment);
    image.levels.push_back(level);
  }
  return at;
}

std::shared_ptr<ArrayMemory> giveMemory(CUcontext context, Image &image, uint64_t bytes) {
  auto memory = std::make_shared<ArrayMemory>(context, bytes);
  for (ImageLevel &level : image.levels)
    level.address += memory->address;
  return memory;
}

CUDA_ARRAY3D_DESCRIPTOR widened(const CUDA_ARRAY_DESCRIPTOR &d) {
  return {d.width, d.height, 0, d.format, d.numChannels, 0};
}

} // namespace

CUresult cuArray3DCreate_v2(CUarray *array, const CUDA_ARRAY3D_DESCRIPTOR *descriptor) {
  want(array && descriptor, "null pointer");
  CUcontext context = ready();
  auto made = std::make_unique<CUarray_st>();
  made->context = context;
  made->descriptor = *descriptor;
  made->image = shapeOf(*descriptor);
  made->memory = giveMemory(context, made->image, placeLevels(made->image, *descriptor, 1));
  driver().handles.add(made.get(), HandleKind::Array);
  std::lock_guard lock(context->mutex);
  context->arrays.insert(made.get());
  *array = made.release();
  return CUDA_SUCCESS;
}

CUresult cuArrayCreate_v2(CUarray *array, const CUDA_ARRAY_DESCRIPTOR *descriptor) {
  want(descriptor, "null pointer");
  CUDA_ARRAY3D_DESCRIPTOR wide = widened(*descriptor);
  return cuArray3DCreate_v2(array, &wide);
}

CUresult cuArray3DGetDescriptor_v2(CUDA_ARRAY3D_DESCRIPTOR *descriptor, CUarray array) {
  want(descriptor, "null pointer");
  wantHandle(array, HandleKind::Array);
  *descriptor = array->descriptor;
  return CUDA_SUCCESS;
}

CUresult cuArrayGetDescriptor_v2(CUDA_ARRAY_DESCRIPTOR *descriptor, CUarray array) {
  want(descriptor, "null pointer");
  wantHandle(array, HandleKind::Array);
  const CUDA_ARRAY3D_DESCRIPTOR &d = array->descriptor;
  *descriptor = {d.width, d.height, d.format, d.numChannels};
  return CUDA_SUCCESS;
}

CUresult cuArrayDestroy(CUarray array) {
  wantHandle(array, HandleKind::Array);
  want(!array->whole, "the array is a level of another, which is destroyed as a whole");
  drainAll();
  if (!driver().handles.remove(array, HandleKind::Array))
    fail(CUDA_ERROR_INVALID_HANDLE, "not an array");
  {
    std::lock_guard lock(array->context->mutex);
    array->context->arrays.erase(array);
  }
  delete array;
  return CUDA_SUCCESS;
}

static CUresult tellNeeds(CUDA_ARRAY_MEMORY_REQUIREMENTS *needs, const ArrayMemory &memory) {
  *needs = {size_t(memory.bytes), size_t(levelAlignment), {}};
  return CUDA_SUCCESS;
}
CUresult cuArrayGetMemoryRequirements(CUDA_ARRAY_MEMORY_REQUIREMENTS *needs, CUarray array, CUdevice device) {
  want(needs, "null pointer");
  deviceAt(device);
  wantHandle(array, HandleKind::Array);
  return tellNeeds(needs, *array->memory);
}
CUresult cuMipmappedArrayGetMemoryRequirements(CUDA_ARRAY_MEMORY_REQUIREMENTS *needs, CUmipmappedArray array,
                                               CUdevice device) {
  want(needs, "null pointer");
  deviceAt(device);
  wantHandle(array, HandleKind::MipmappedArray);
  return tellNeeds(needs, *array->memory);
}

// --- levels of detail ---

static std::unique_ptr<CUarray_st> makeLevel(CUmipmappedArray whole, unsigned which) {
  auto level = std::make_unique<CUarray_st>();
  const ImageLevel &l = whole->image.levels[which];
  level->context = whole->context;
  level->whole = whole;
  level->memory = whole->memory;
  level->image = whole->image;
  level->image.levels = {l};
  level->descriptor = whole->descriptor;
  CUDA_ARRAY3D_DESCRIPTOR &d = level->descriptor;
  d.width = l.width;
  d.height = d.height ? l.height : 0;
  d.depth = d.depth ? l.depth : 0;
  return level;
}

CUresult cuMipmappedArrayCreate(CUmipmappedArray *array, const CUDA_ARRAY3D_DESCRIPTOR *descriptor,
                                unsigned int numLevels) {
  want(array && descriptor, "null pointer");
  CUcontext context = ready();
  auto made = std::make_unique<CUmipmappedArray_st>();
  made->context = context;
  made->descriptor = *descriptor;
  made->image = shapeOf(*descriptor);
  size_t depth = made->image.dimensions == 3 ? descriptor->depth : 0;
  unsigned most = 1;
  for (size_t size = std::max({descriptor->width, descriptor->height, depth}); size > 1; size /= 2)
    ++most;
  uint64_t bytes = placeLevels(made->image, *descriptor, std::clamp(numLevels, 1u, most));
  made->memory = giveMemory(context, made->image, bytes);
  for (unsigned i = 0; i < made->image.levels.size(); ++i) {
    made->levels.push_back(makeLevel(made.get(), i));
    driver().handles.add(made->levels.back().get(), HandleKind::Array);
  }
  driver().handles.add(made.get(), HandleKind::MipmappedArray);
  std::lock_guard lock(context->mutex);
  context->mipmappedArrays.insert(made.get());
  *array = made.release();
  return CUDA_SUCCESS;
}

CUresult cuMipmappedArrayGetLevel(CUarray *array, CUmipmappedArray mipmapped, unsigned int level) {
  want(array, "null pointer");
  wantHandle(mipmapped, HandleKind::MipmappedArray);
  want(level < mipmapped->levels.size(), "the array has no such level");
  *array = mipmapped->levels[level].get();
  return CUDA_SUCCESS;
}

CUresult cuMipmappedArrayDestroy(CUmipmappedArray array) {
  wantHandle(array, HandleKind::MipmappedArray);
  drainAll();
  if (!driver().handles.remove(array, HandleKind::MipmappedArray))
    fail(CUDA_ERROR_INVALID_HANDLE, "not a mipmapped array");
  for (auto &level : array->levels)
    driver().handles.remove(level.get(), HandleKind::Array);
  {
    std::lock_guard lock(array->context->mutex);
    array->context->mipmappedArrays.erase(array);
  }
  delete array;
  return CUDA_SUCCESS;
}

void destroyArraysOf(CUcontext context) {
  while (!context->arrays.empty())
    cuArrayDestroy(*context->arrays.begin());
  while (!context->mipmappedArrays.empty())
    cuMipmappedArrayDestroy(*context->mipmappedArrays.begin());
}

// --- copies along the first row ---

namespace {

CUcopySide3D sideOf(CUarray array, size_t offset) {
  CUcopySide3D side = {};
  side.memoryType = CU_MEMORYTYPE_ARRAY;
  side.array = array;
  side.xInBytes = offset;
  return side;
}
CUcopySide3D sideOf(const void *host) {
  CUcopySide3D side = {};
  side.memoryType = CU_MEMORYTYPE_HOST;
  side.host = const_cast<void *>(host);
  return side;
}
CUcopySide3D sideOf(CUdeviceptr address) {
  CUcopySide3D side = {};
  side.memoryType = CU_MEMORYTYPE_DEVICE;
  side.device = address;
  return side;
}

CUDA_MEMCPY3D row(const CUcopySide3D &from, const CUcopySide3D &to, size_t bytes) { return {from, to, bytes, 1, 1}; }

CUresult copyRow(const CUcopySide3D &from, const CUcopySide3D &to, size_t bytes) {
  CUDA_MEMCPY3D copy = row(from, to, bytes);
  return cuMemcpy3D_v2(&copy);
}
CUresult copyRow(const CUcopySide3D &from, const CUcopySide3D &to, size_t bytes, CUstream stream) {
  CUDA_MEMCPY3D copy = row(from, to, bytes);
  return cuMemcpy3DAsync_v2(&copy, stream);
}

} // namespace

CUresult cuMemcpyHtoA_v2(CUarray to, size_t toOffset, const void *from, size_t bytes) {
  return copyRow(sideOf(from), sideOf(to, toOffset), bytes);
}
CUresult cuMemcpyAtoH_v2(void *to, CUarray from, size_t fromOffset, size_t bytes) {
  return copyRow(sideOf(from, fromOffset), sideOf(to), bytes);
}
CUresult cuMemcpyHtoAAsync_v2(CUarray to, size_t toOffset, const void *from, size_t bytes, CUstream stream) {
  return copyRow(sideOf(from), sideOf(to, toOffset), bytes, stream);
}
CUresult cuMemcpyAtoHAsync_v2(void *to, CUarray from, size_t fromOffset, size_t bytes, CUstream stream) {
  return copyRow(sideOf(from, fromOffset), sideOf(to), bytes, stream);
}
CUresult cuMemcpyDtoA_v2(CUarray to, size_t toOffset, CUdeviceptr from, size_t bytes) {
  return copyRow(sideOf(from), sideOf(to, toOffset), bytes);
}
CUresult cuMemcpyAtoD_v2(CUdeviceptr to, CUarray from, size_t fromOffset, size_t bytes) {
  return copyRow(sideOf(from, fromOffset), sideOf(to), bytes);
}
CUresult cuMemcpyAtoA_v2(CUarray to, size_t toOffset, CUarray from, size_t fromOffset, size_t bytes) {
  return copyRow(sideOf(from, fromOffset), sideOf(to, toOffset), bytes);
}

} // namespace joule::vgpu
