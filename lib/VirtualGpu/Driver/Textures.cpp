// Texture and surface objects, and the references of modules, which are objects that change.
#include "lib/VirtualGpu/Driver/Arrays.h"
#include "lib/VirtualGpu/Driver/Functions.h"
#include "lib/VirtualGpu/Driver/Textures.h"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace joule::vgpu {

constexpr uint64_t textureAlignment = 512, pitchAlignment = 32; // as the attributes say
constexpr size_t mostLinearTexels = size_t(1) << 28;

// --- what an object looks at ---

namespace {

void wantOwn(CUcontext context, uint64_t address, uint64_t bytes) {
  want(context->device->memory.findOwn(address, address + bytes).high,
       "a texture's memory does not lie within an allocation of this device");
}

Image linearImage(CUcontext context, const CUDA_RESOURCE_DESC &resource) {
  const auto &linear = resource.linear;
  Image image;
  want(findFormat(linear.format, linear.numChannels, image.format), "no such format, or not with so many channels");
  image.linear = true;
  size_t count = linear.bytes / image.format.bytes();
  want(count > 0 && count <= mostLinearTexels, "a linear texture has 1 to 2^28 texels");
  want(linear.address % textureAlignment == 0, "a texture's address is a multiple of 512");
  wantOwn(context, linear.address, linear.bytes);
  uint64_t bytes = count * image.format.bytes();
  image.levels.push_back({linear.address, uint32_t(count), 1, 1, bytes, bytes});
  return image;
}

Image pitchedImage(CUcontext context, const CUDA_RESOURCE_DESC &resource) {
  const auto &p = resource.pitched;
  Image image;
  want(findFormat(p.format, p.numChannels, image.format), "no such format, or not with so many channels");
  image.dimensions = 2;
  want(p.width && p.height && p.width <= 131072 && p.height <= 65000, "the texture's sizes are not possible");
  uint64_t row = uint64_t(p.width) * image.format.bytes();
  want(p.pitch >= row && p.pitch % pitchAlignment == 0 && p.pitch < (size_t(1) << 32),
       "the pitch is less than a row, or no multiple of 32");
  want(p.address % textureAlignment == 0, "a texture's address is a multiple of 512");
  uint64_t bytes = p.pitch * (p.height - 1) + row;
  wantOwn(context, p.address, bytes);
  image.levels.push_back({p.address, uint32_t(p.width), uint32_t(p.height), 1, p.pitch, bytes});
  return image;
}

Image imageOf(CUcontext context, const CUDA_RESOURCE_DESC &resource) {
  switch (resource.type) {
  case CU_RESOURCE_TYPE_ARRAY:
    wantHandle(resource.array, HandleKind::Array);
    want(resource.array->context->device == context->device, "the array is another device's");
    return resource.array->image;
  case CU_RESOURCE_TYPE_MIPMAPPED_ARRAY:
    wantHandle(resource.mipmapped, HandleKind::MipmappedArray);
    want(resource.mipmapped->context->device == context->device, "the array is another device's");
    return resource.mipmapped->image;
  case CU_RESOURCE_TYPE_LINEAR:
    return linearImage(context, resource);
  case CU_RESOURCE_TYPE_PITCH2D:
    return pitchedImage(context, resource);
  default:
    fail(CUDA_ERROR_INVALID_VALUE, "no such type of resource");
  }
}

/// Formats of views: three widths of a row of kinds.
bool findViewFormat(int format, TexelFormat &texel) {
  struct Row {
    TexelKind kind;
    uint8_t bits;
  };
  static const Row rows[] = {{TexelKind::Unsigned, 8}, {TexelKind::Signed, 8},   {TexelKind::Unsigned, 16},
                             {TexelKind::Signed, 16},  {TexelKind::Unsigned, 32}, {TexelKind::Signed, 32},
                             {TexelKind::Float, 16},   {TexelKind::Float, 32}};
  int which = format - 1;
  if (which < 0 || which >= 24)
    return false;
  texel = {rows[which / 3].kind, rows[which / 3].bits, uint8_t(1 << which % 3), false};
  return true;
}

void applyView(Image &image, const CUDA_RESOURCE_VIEW_DESC &view) {
  want(!image.linear, "memory that is not an array's has no view");
  if (view.format) {
    TexelFormat format;
    if (!findViewFormat(view.format, format))
      fail(CUDA_ERROR_NOT_SUPPORTED, "views in compressed formats are not supported");
    want(format.bytes() == image.format.bytes(), "the view's texels have another size than the array's");
    image.format = format;
  }
  want(view.firstMipmapLevel <= view.lastMipmapLevel && view.lastMipmapLevel < image.levels.size(),
       "the view's levels are not the array's");
  image.levels = {image.levels.begin() + view.firstMipmapLevel, image.levels.begin() + view.lastMipmapLevel + 1};
  const ImageLevel &first = image.levels[0];
  want((!view.width || view.width == first.width) && (!view.height || view.height == first.height),
       "the view's sizes are not those of its first level");
  if (!image.layered && !image.cube)
    return want(view.firstLayer == 0 && view.lastLayer == 0, "the view's layers are not the array's");
  want(view.firstLayer <= view.lastLayer && view.lastLayer < first.depth, "the view's layers are not the array's");
  for (ImageLevel &level : image.levels) {
    level.address += level.sliceBytes * view.firstLayer;
    level.depth = view.lastLayer - view.firstLayer + 1;
  }
  want(!image.cube || first.depth % 6 == 0, "a cube has six faces");
}

Sampler samplerOf(const CUDA_TEXTURE_DESC &d) {
  Sampler sampler;
  for (int i = 0; i < 3; ++i) {
    want(d.addressMode[i] >= CU_TR_ADDRESS_MODE_WRAP && d.addressMode[i] <= CU_TR_ADDRESS_MODE_BORDER,
         "no such address mode");
    sampler.modes[i] = AddressMode(d.addressMode[i]);
  }
  auto isFilter = [](int mode) { return mode == CU_TR_FILTER_MODE_POINT || mode == CU_TR_FILTER_MODE_LINEAR; };
  want(isFilter(d.filterMode) && isFilter(d.mipmapFilterMode), "no such filter mode");
  unsigned known = CU_TRSF_READ_AS_INTEGER | CU_TRSF_NORMALIZED_COORDINATES | CU_TRSF_SRGB |
                   CU_TRSF_DISABLE_TRILINEAR_OPTIMIZATION | CU_TRSF_SEAMLESS_CUBEMAP;
  want(!(d.flags & ~known), "no such flags of a texture");
  sampler.linear = d.filterMode == CU_TR_FILTER_MODE_LINEAR;
  sampler.linearBetweenLevels = d.mipmapFilterMode == CU_TR_FILTER_MODE_LINEAR;
  sampler.normalisedCoordinates = d.flags & CU_TRSF_NORMALIZED_COORDINATES;
  sampler.readsIntegers = d.flags & CU_TRSF_READ_AS_INTEGER;
  sampler.srgb = d.flags & CU_TRSF_SRGB;
  sampler.seamless = d.flags & CU_TRSF_SEAMLESS_CUBEMAP;
  sampler.bias = d.mipmapLevelBias;
  sampler.leastLevel = d.minMipmapLevelClamp, sampler.mostLevel = d.maxMipmapLevelClamp;
  memcpy(sampler.border, d.borderColor, sizeof sampler.border);
  return sampler;
}

std::shared_ptr<ImageObject> makeTexture(CUcontext context, const CUDA_RESOURCE_DESC &resource,
                                         const CUDA_TEXTURE_DESC &texture, const CUDA_RESOURCE_VIEW_DESC *view) {
  auto object = std::make_shared<ImageObject>();
  object->image = imageOf(context, resource);
  if (view)
    applyView(object->image, *view);
  object->sampler = samplerOf(texture);
  const TexelFormat &format = object->image.format;
  bool integers = format.kind != TexelKind::Float && !format.normalised &&
                  (object->sampler.readsIntegers || format.bits == 32);
  want(!integers || !object->sampler.linear || object->image.linear, "integers are not filtered");
  object->sampler.srgb &= format.kind == TexelKind::Unsigned && format.bits == 8;
  return object;
}

std::shared_ptr<ImageObject> makeSurface(CUcontext context, const CUDA_RESOURCE_DESC &resource) {
  want(resource.type == CU_RESOURCE_TYPE_ARRAY, "a surface is an array's");
  auto object = std::make_shared<ImageObject>();
  object->kind = ImageObject::Surface;
  object->image = imageOf(context, resource);
  want(resource.array->descriptor.flags & CUDA_ARRAY3D_SURFACE_LDST, "the array was not made for surfaces");
  return object;
}

} // namespace

// --- objects ---

static ImageRecord &recordOf(uint64_t object, ImageObject::Kind kind) {
  auto it = driver().imageObjects.find(object);
  if (it == driver().imageObjects.end() || it->second.kind != kind)
    fail(CUDA_ERROR_INVALID_VALUE, kind == ImageObject::Texture ? "not a texture object" : "not a surface object");
  return it->second;
}

static uint64_t keep(CUcontext context, std::shared_ptr<ImageObject> object, const CUDA_RESOURCE_DESC &resource) {
  ImageRecord record;
  record.context = context;
  record.kind = object->kind;
  record.resource = resource;
  uint64_t handle = context->device->memory.images().add(std::move(object));
  std::lock_guard lock(driver().mutex);
  driver().imageObjects[handle] = record;
  return handle;
}

static CUresult destroy(uint64_t object, ImageObject::Kind kind) {
  drainAll();
  std::lock_guard lock(driver().mutex);
  recordOf(object, kind).context->device->memory.images().remove(object);
  driver().imageObjects.erase(object);
  return CUDA_SUCCESS;
}

CUresult cuTexObjectCreate(CUtexObject *object, const CUDA_RESOURCE_DESC *resource, const CUDA_TEXTURE_DESC *texture,
                           const CUDA_RESOURCE_VIEW_DESC *view) {
  want(object && resource && texture && resource->flags == 0, "null pointer or flags");
  CUcontext context = ready();
  uint64_t handle = keep(context, makeTexture(context, *resource, *texture, view), *resource);
  std::lock_guard lock(driver().mutex);
  ImageRecord &record = driver().imageObjects[handle];
  record.texture = *texture;
  record.hasView = view != nullptr;
  if (view)
    record.view = *view;
  *object = handle;
  return CUDA_SUCCESS;
}
CUresult cuTexObjectDestroy(CUtexObject object) { return destroy(object, ImageObject::Texture); }

CUresult cuTexObjectGetResourceDesc(CUDA_RESOURCE_DESC *resource, CUtexObject object) {
  want(resource, "null pointer");
  std::lock_guard lock(driver().mutex);
  *resource = recordOf(object, ImageObject::Texture).resource;
  return CUDA_SUCCESS;
}
CUresult cuTexObjectGetTextureDesc(CUDA_TEXTURE_DESC *texture, CUtexObject object) {
  want(texture, "null pointer");
  std::lock_guard lock(driver().mutex);
  *texture = recordOf(object, ImageObject::Texture).texture;
  return CUDA_SUCCESS;
}
CUresult cuTexObjectGetResourceViewDesc(CUDA_RESOURCE_VIEW_DESC *view, CUtexObject object) {
  want(view, "null pointer");
  std::lock_guard lock(driver().mutex);
  const ImageRecord &record = recordOf(object, ImageObject::Texture);
  want(record.hasView, "the texture was made without a view");
  *view = record.view;
  return CUDA_SUCCESS;
}

CUresult cuSurfObjectCreate(CUsurfObject *object, const CUDA_RESOURCE_DESC *resource) {
  want(object && resource && resource->flags == 0, "null pointer or flags");
  CUcontext context = ready();
  *object = keep(context, makeSurface(context, *resource), *resource);
  return CUDA_SUCCESS;
}
CUresult cuSurfObjectDestroy(CUsurfObject object) { return destroy(object, ImageObject::Surface); }
CUresult cuSurfObjectGetResourceDesc(CUDA_RESOURCE_DESC *resource, CUsurfObject object) {
  want(resource, "null pointer");
  std::lock_guard lock(driver().mutex);
  *resource = recordOf(object, ImageObject::Surface).resource;
  return CUDA_SUCCESS;
}

void destroyImageObjectsOf(CUcontext context) {
  std::lock_guard lock(driver().mutex);
  auto &all = driver().imageObjects;
  for (auto it = all.begin(); it != all.end();) {
    if (it->second.context != context) {
      ++it;
      continue;
    }
    context->device->memory.images().remove(it->first);
    it = all.erase(it);
  }
}

CUresult cuDeviceGetTexture1DLinearMaxWidth(size_t *width, int format, unsigned int numChannels, CUdevice device) {
  TexelFormat texel;
  want(width && findFormat(format, numChannels, texel), "null pointer or no such format");
  deviceAt(device);
  *width = mostLinearTexels;
  return CUDA_SUCCESS;
}

// --- references ---

static CUtexref textureReference(CUtexref reference) {
  wantHandle(reference, HandleKind::TextureReference);
  return reference;
}

/// Puts what is set so far behind the reference's handle: nothing, where it does not make a texture.
static CUresult refresh(CUtexref reference) {
  drainAll();
  std::shared_ptr<const ImageObject> object;
  try {
    if (reference->isBound)
      object = makeTexture(reference->context, reference->resource, reference->texture, nullptr);
  } catch (const Failure &failure) {
    lastError() = failure.what();
  }
  reference->context->device->memory.images().set(reference->handle, std::move(object));
  return CUDA_SUCCESS;
}

/// Binds it, or refuses what cannot be bound.
static CUresult bind(CUtexref reference, const CUDA_RESOURCE_DESC &resource) {
  makeTexture(reference->context, resource, reference->texture, nullptr);
  reference->resource = resource;
  reference->isBound = true;
  return refresh(reference);
}

static std::shared_ptr<CUtexref_st> makeTextureReference(CUcontext context, uint64_t handle) {
  auto made = std::make_shared<CUtexref_st>();
  made->context = context;
  made->handle = handle;
  driver().handles.add(made.get(), HandleKind::TextureReference);
  return made;
}

CUresult cuModuleGetTexRef(CUtexref *reference, CUmodule module, const char *name) {
  want(reference && name, "null pointer");
  ready();
  wantHandle(module, HandleKind::Module);
  uint64_t handle = module->module.imageReference(name, ptx::Opaque::Texture);
  if (!handle)
    fail(CUDA_ERROR_NOT_FOUND, std::string("the module has no texture reference '") + name + "'");
  std::lock_guard lock(module->mutex);
  auto &slot = module->textureReferences[name];
  if (!slot)
    slot = makeTextureReference(module->context, handle);
  *reference = slot.get();
  return CUDA_SUCCESS;
}

CUresult cuModuleGetSurfRef(CUsurfref *reference, CUmodule module, const char *name) {
  want(reference && name, "null pointer");
  ready();
  wantHandle(module, HandleKind::Module);
  uint64_t handle = module->module.imageReference(name, ptx::Opaque::Surface);
  if (!handle)
    fail(CUDA_ERROR_NOT_FOUND, std::string("the module has no surface reference '") + name + "'");
  std::lock_guard lock(module->mutex);
  auto &slot = module->surfaceReferences[name];
  if (!slot) {
    slot = std::make_shared<CUsurfref_st>();
    slot->context = module->context;
    slot->handle = handle;
    driver().handles.add(slot.get(), HandleKind::SurfaceReference);
  }
  *reference = slot.get();
  return CUDA_SUCCESS;
}

void forgetReferencesOf(CUmodule module) {
  for (auto &[name, reference] : module->textureReferences)
    driver().handles.remove(reference.get(), HandleKind::TextureReference);
  for (auto &[name, reference] : module->surfaceReferences)
    driver().handles.remove(reference.get(), HandleKind::SurfaceReference);
}

CUresult cuTexRefCreate(CUtexref *reference) {
  want(reference, "null pointer");
  CUcontext context = ready();
  auto made = makeTextureReference(context, context->device->memory.images().add(nullptr));
  made->self = made; // until cuTexRefDestroy
  *reference = made.get();
  return CUDA_SUCCESS;
}
CUresult cuTexRefDestroy(CUtexref reference) {
  textureReference(reference);
  want(reference->self != nullptr, "the reference is a module's");
  drainAll();
  driver().handles.remove(reference, HandleKind::TextureReference);
  reference->context->device->memory.images().remove(reference->handle);
  auto last = std::move(reference->self);
  return CUDA_SUCCESS;
}

CUresult cuTexRefSetArray(CUtexref reference, CUarray array, unsigned int flags) {
  constexpr unsigned overrideFormat = 1;
  textureReference(reference);
  wantHandle(array, HandleKind::Array);
  want(flags == overrideFormat, "an array's format is the texture's");
  CUDA_RESOURCE_DESC resource = {};
  resource.type = CU_RESOURCE_TYPE_ARRAY;
  resource.array = array;
  reference->format = array->descriptor.format;
  reference->channels = array->descriptor.numChannels;
  return bind(reference, resource);
}
CUresult cuTexRefSetMipmappedArray(CUtexref reference, CUmipmappedArray array, unsigned int flags) {
  constexpr unsigned overrideFormat = 1;
  textureReference(reference);
  wantHandle(array, HandleKind::MipmappedArray);
  want(flags == overrideFormat, "an array's format is the texture's");
  CUDA_RESOURCE_DESC resource = {};
  resource.type = CU_RESOURCE_TYPE_MIPMAPPED_ARRAY;
  resource.mipmapped = array;
  reference->format = array->descriptor.format;
  reference->channels = array->descriptor.numChannels;
  return bind(reference, resource);
}

CUresult cuTexRefSetAddress_v2(size_t *offset, CUtexref reference, CUdeviceptr address, size_t bytes) {
  textureReference(reference);
  if (!address) {
    reference->isBound = false;
    return refresh(reference);
  }
  uint64_t below = address % textureAlignment;
  want(offset || !below, "the address is not aligned, and there is no place for the offset");
  if (offset)
    *offset = below;
  CUDA_RESOURCE_DESC resource = {};
  resource.type = CU_RESOURCE_TYPE_LINEAR;
  resource.linear = {address - below, reference->format, reference->channels, bytes + below};
  return bind(reference, resource);
}

CUresult cuTexRefSetAddress2D_v3(CUtexref reference, const CUDA_ARRAY_DESCRIPTOR *descriptor, CUdeviceptr address,
                                 size_t pitch) {
  want(descriptor, "null pointer");
  textureReference(reference);
  CUDA_RESOURCE_DESC resource = {};
  resource.type = CU_RESOURCE_TYPE_PITCH2D;
  resource.pitched = {address,           descriptor->format, descriptor->numChannels,
                      descriptor->width, descriptor->height, pitch};
  reference->format = descriptor->format;
  reference->channels = descriptor->numChannels;
  return bind(reference, resource);
}

CUresult cuTexRefSetFormat(CUtexref reference, int format, int numChannels) {
  TexelFormat texel;
  textureReference(reference);
  want(findFormat(format, unsigned(numChannels), texel), "no such format, or not with so many channels");
  reference->format = format;
  reference->channels = unsigned(numChannels);
  return CUDA_SUCCESS;
}

/// Sets a part of the reference's texture, if the whole remains possible.
template <class F> static CUresult change(CUtexref reference, F set) {
  textureReference(reference);
  CUDA_TEXTURE_DESC changed = reference->texture;
  set(changed);
  samplerOf(changed);
  reference->texture = changed;
  return refresh(reference);
}
template <class T, class F> static CUresult tell(T *to, CUtexref reference, F value) {
  want(to, "null pointer");
  *to = T(value(textureReference(reference)->texture));
  return CUDA_SUCCESS;
}

static void wantAxis(int axis) { want(axis >= 0 && axis < 3, "textures have three dimensions"); }

CUresult cuTexRefSetAddressMode(CUtexref reference, int axis, int mode) {
  wantAxis(axis);
  return change(reference, [&](auto &t) { t.addressMode[axis] = mode; });
}
CUresult cuTexRefSetFilterMode(CUtexref reference, int mode) {
  return change(reference, [&](auto &t) { t.filterMode = mode; });
}
CUresult cuTexRefSetMipmapFilterMode(CUtexref reference, int mode) {
  return change(reference, [&](auto &t) { t.mipmapFilterMode = mode; });
}
CUresult cuTexRefSetMipmapLevelBias(CUtexref reference, float bias) {
  return change(reference, [&](auto &t) { t.mipmapLevelBias = bias; });
}
CUresult cuTexRefSetMipmapLevelClamp(CUtexref reference, float least, float most) {
  return change(reference, [&](auto &t) { t.minMipmapLevelClamp = least, t.maxMipmapLevelClamp = most; });
}
CUresult cuTexRefSetMaxAnisotropy(CUtexref reference, unsigned int most) {
  return change(reference, [&](auto &t) { t.maxAnisotropy = most; });
}
CUresult cuTexRefSetBorderColor(CUtexref reference, float *color) {
  want(color, "null pointer");
  return change(reference, [&](auto &t) { std::copy_n(color, 4, t.borderColor); });
}
CUresult cuTexRefSetFlags(CUtexref reference, unsigned int flags) {
  return change(reference, [&](auto &t) { t.flags = flags; });
}

CUresult cuTexRefGetAddressMode(int *mode, CUtexref reference, int axis) {
  wantAxis(axis);
  return tell(mode, reference, [&](auto &t) { return t.addressMode[axis]; });
}
CUresult cuTexRefGetFilterMode(int *mode, CUtexref reference) {
  return tell(mode, reference, [](auto &t) { return t.filterMode; });
}
CUresult cuTexRefGetMipmapFilterMode(int *mode, CUtexref reference) {
  return tell(mode, reference, [](auto &t) { return t.mipmapFilterMode; });
}
CUresult cuTexRefGetMipmapLevelBias(float *bias, CUtexref reference) {
  return tell(bias, reference, [](auto &t) { return t.mipmapLevelBias; });
}
CUresult cuTexRefGetMipmapLevelClamp(float *least, float *most, CUtexref reference) {
  tell(least, reference, [](auto &t) { return t.minMipmapLevelClamp; });
  return tell(most, reference, [](auto &t) { return t.maxMipmapLevelClamp; });
}
CUresult cuTexRefGetMaxAnisotropy(int *most, CUtexref reference) {
  return tell(most, reference, [](auto &t) { return t.maxAnisotropy; });
}
CUresult cuTexRefGetBorderColor(float *color, CUtexref reference) {
  want(color, "null pointer");
  std::copy_n(textureReference(reference)->texture.borderColor, 4, color);
  return CUDA_SUCCESS;
}
CUresult cuTexRefGetFlags(unsigned int *flags, CUtexref reference) {
  return tell(flags, reference, [](auto &t) { return t.flags; });
}
CUresult cuTexRefGetFormat(int *format, int *numChannels, CUtexref reference) {
  textureReference(reference);
  if (format)
    *format = reference->format;
  if (numChannels)
    *numChannels = int(reference->channels);
  return CUDA_SUCCESS;
}

static const CUDA_RESOURCE_DESC &boundTo(CUtexref reference, int type) {
  textureReference(reference);
  want(reference->isBound && reference->resource.type == type, "the reference is bound to something else, or to nothing");
  return reference->resource;
}
CUresult cuTexRefGetAddress_v2(CUdeviceptr *address, CUtexref reference) {
  want(address, "null pointer");
  *address = boundTo(reference, CU_RESOURCE_TYPE_LINEAR).linear.address;
  return CUDA_SUCCESS;
}
CUresult cuTexRefGetArray(CUarray *array, CUtexref reference) {
  want(array, "null pointer");
  *array = boundTo(reference, CU_RESOURCE_TYPE_ARRAY).array;
  return CUDA_SUCCESS;
}
CUresult cuTexRefGetMipmappedArray(CUmipmappedArray *array, CUtexref reference) {
  want(array, "null pointer");
  *array = boundTo(reference, CU_RESOURCE_TYPE_MIPMAPPED_ARRAY).mipmapped;
  return CUDA_SUCCESS;
}

CUresult cuSurfRefSetArray(CUsurfref reference, CUarray array, unsigned int flags) {
  wantHandle(reference, HandleKind::SurfaceReference);
  want(flags == 0, "no such flags");
  CUDA_RESOURCE_DESC resource = {};
  resource.type = CU_RESOURCE_TYPE_ARRAY;
  resource.array = array;
  std::shared_ptr<ImageObject> object = makeSurface(reference->context, resource);
  drainAll();
  reference->context->device->memory.images().set(reference->handle, std::move(object));
  reference->array = array;
  return CUDA_SUCCESS;
}
CUresult cuSurfRefGetArray(CUarray *array, CUsurfref reference) {
  want(array, "null pointer");
  wantHandle(reference, HandleKind::SurfaceReference);
  want(reference->array != nullptr, "the reference is bound to nothing");
  *array = reference->array;
  return CUDA_SUCCESS;
}

} // namespace joule::vgpu
