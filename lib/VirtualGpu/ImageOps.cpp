// The handler of texture and surface instructions, for the lanes one after the other.
#include "lib/VirtualGpu/ImageAccess.h"
#include "lib/VirtualGpu/Images.h"
#include "lib/VirtualGpu/Ptx.h"
#include "lib/VirtualGpu/Scalar.h"

#include <algorithm>
#include <cstdio>
#include <cstring>

namespace joule::vgpu {
namespace {

using u8 = uint8_t;
using u32 = uint32_t;
using u64 = uint64_t;

/// One instruction of one warp.
class ImageRun {
public:
  ImageRun(const Op *op, u8 *r, Warp *w)
      : op(op), r(r), w(w), access(*reinterpret_cast<const ImageAccess *>(intptr_t(op->imm))) {}

  bool run() {
    for (u32 rest = w->mask; rest; rest &= rest - 1) {
      lane = unsigned(__builtin_ctz(rest));
      if (!runLane())
        return false;
    }
    if (w->memory)
      count();
    return true;
  }

private:
  template <class T> T get(u32 place) const {
    T value;
    memcpy(&value, r + place + lane * sizeof(T), sizeof value);
    return value;
  }

  bool failOfObject(u64 value) {
    char text[80];
    snprintf(text, sizeof text, "no texture or surface that fits the instruction, but 0x%llx", (unsigned long long)value);
    raiseImageFault(w, op, FaultKind::IllegalAddress, text, lane);
    return false;
  }

  /// Behind a register: a handle, or the address of a reference that holds one.
  std::shared_ptr<const ImageObject> look(u32 place) {
    u64 value = get<u64>(place);
    if (!ImageTable::isHandle(value)) {
      if (value % 8 || !findRange(w, op, value, value + 8))
        return nullptr;
      memcpy(&value, reinterpret_cast<const void *>(value), sizeof value);
    }
    return imagesOf(w).find(value);
  }

  bool findObjects() {
    u64 value = get<u64>(access.object);
    if (!object || value != lastValue) {
      object = look(access.object);
      lastValue = value;
    }
    if (!object || !fits())
      return failOfObject(value);
    if (access.sampler != noRegister) {
      samplerObject = look(access.sampler);
      if (!samplerObject || samplerObject->kind != ImageObject::SamplerOnly)
        return failOfObject(get<u64>(access.sampler));
    }
    return true;
  }

  bool fits() const {
    if (access.kind == ImageAccess::Query)
      return true;
    bool wantsSurface = access.kind >= ImageAccess::Load;
    const Image &image = object->image;
    if (object->kind != (wantsSurface ? ImageObject::Surface : ImageObject::Texture))
      return false;
    if (wantsSurface && access.layered && access.dimensions == 2) // the faces of a cube are layers too
      return image.dimensions == 2 && (image.layered || image.cube);
    bool flat = !image.layered && !image.cube && image.levels[0].height == 1;
    if (!access.layered && !access.cube && flat && access.dimensions < 3 && image.dimensions < 3)
      return true; // a row is a line
    return image.dimensions == access.dimensions && image.cube == access.cube && image.layered == access.layered;
  }

  bool runLane() {
    if (!findObjects())
      return false;
    switch (access.kind) {
    case ImageAccess::Sample:
    case ImageAccess::Gather:
      return fetch(), true;
    case ImageAccess::Query:
      return put(0, answer()), true;
    default:
      return touchSurface();
    }
  }

  // --- textures ---

  FetchPoint point() const {
    FetchPoint p;
    for (unsigned i = 0; i < (access.cube ? 3 : access.dimensions); ++i)
      p.at[i] = double(get<float>(access.coordinates[i]));
    for (unsigned i = 0; i < 3 && access.offsets[i] != noRegister; ++i)
      p.offsets[i] = get<int32_t>(access.offsets[i]);
    p.layer = access.layer == noRegister ? 0 : get<u32>(access.layer);
    return p;
  }

  double level(const Fetcher &fetcher) const {
    if (access.level == ImageAccess::None)
      return 0;
    if (access.level == ImageAccess::Given)
      return double(get<float>(access.lod));
    double dx[3] = {}, dy[3] = {};
    for (unsigned i = 0; i < access.dimensions; ++i)
      dx[i] = double(get<float>(access.dx[i])), dy[i] = double(get<float>(access.dy[i]));
    return fetcher.levelOf(dx, dy);
  }

  Texel loadWhole(const Fetcher &fetcher) const {
    int32_t at[3] = {};
    for (unsigned i = 0; i < access.dimensions; ++i)
      at[i] = int32_t(get<u32>(access.coordinates[i]) +
                      (access.offsets[i] == noRegister ? 0 : get<u32>(access.offsets[i])));
    return fetcher.load(at, access.layer == noRegister ? 0 : get<u32>(access.layer),
                        access.level == ImageAccess::Given ? get<int32_t>(access.lod) : 0);
  }

  void fetch() {
    TouchedTexels texels;
    const Sampler &sampler = access.sampler == noRegister ? object->sampler : samplerObject->sampler;
    Fetcher fetcher(object->image, sampler, w->memory ? &texels : nullptr);
    Texel texel = access.kind == ImageAccess::Gather ? fetcher.gather(point(), access.channel)
                  : access.wholeCoordinates          ? loadWhole(fetcher)
                                                     : fetcher.sample(point(), level(fetcher));
    note(texels);
    auto type = ptx::Type(access.type);
    if (type == ptx::Type::F16x2)
      for (unsigned i = 0; i < 2; ++i)
        put(i, half(texel.channels[2 * i]) | half(texel.channels[2 * i + 1]) << 16);
    else
      for (unsigned i = 0; i < access.count; ++i)
        put(i, type == ptx::Type::F16 ? half(texel.channels[i]) : texel.channels[i]);
  }

  static u32 half(u32 bits) {
    scalar::Rule rule;
    rule.to = uint8_t(ptx::Type::F16), rule.from = uint8_t(ptx::Type::F32);
    return u32(scalar::convert(scalar::pack(rule), bits)) & 0xffff;
  }

  void put(unsigned i, u64 value) { memcpy(r + access.data[i] + lane * access.registerBytes, &value, access.registerBytes); }

  // --- surfaces ---

  /// The place of coordinate `at` among `size` units, of which an access takes `width`; -1: nowhere.
  int64_t placed(int64_t at, int64_t size, int64_t width) const {
    bool inside = at >= 0 && at + width <= size && at % width == 0;
    if (inside || access.outside != ImageAccess::Clamp || size < width)
      return inside ? at : -1;
    return std::clamp<int64_t>(at - at % width, 0, (size - width) / width * width);
  }

  bool touchSurface() {
    const Image &image = object->image;
    const ImageLevel &l = image.levels[0];
    bool countsTexels = access.countsTexels;
    unsigned bytes = countsTexels ? image.format.bytes() : access.count * access.elementBytes;
    const int64_t sizes[3] = {countsTexels ? int64_t(l.width) : int64_t(l.width) * image.format.bytes(), l.height,
                              l.depth};
    int64_t index[3] = {0, 0, 0};
    for (unsigned axis = 0; axis < access.dimensions; ++axis) {
      auto at = get<int32_t>(access.coordinates[axis]);
      index[axis] = placed(at, sizes[axis], axis == 0 && !countsTexels ? bytes : 1);
      if (index[axis] < 0)
        return outside(at);
    }
    if (access.layered) {
      auto layer = int64_t(get<u32>(access.layer));
      if ((index[2] = placed(layer, sizes[2], 1)) < 0)
        return outside(layer);
    }
    u64 address = l.address + u64(index[2]) * l.sliceBytes + u64(index[1]) * l.rowBytes +
                  u64(index[0]) * (countsTexels ? bytes : 1);
    TouchedTexels texels;
    texels.addresses[texels.count++] = address;
    touchedBytes = bytes;
    note(texels);
    move(reinterpret_cast<u8 *>(address));
    return true;
  }

  bool outside(int64_t coordinate) {
    if (access.outside != ImageAccess::Zero) {
      raiseImageFault(w, op, FaultKind::Trap,
                      "coordinate " + std::to_string(coordinate) + ", which lies outside the surface or is not aligned",
                      lane);
      return false;
    }
    for (unsigned i = 0; i < access.count && access.kind == ImageAccess::Load; ++i)
      put(i, 0);
    return true;
  }

  void move(u8 *memory) {
    const TexelFormat &format = object->image.format;
    for (unsigned i = 0; i < access.count; ++i) {
      u64 value = 0;
      u8 *element = memory + i * access.elementBytes;
      if (access.kind == ImageAccess::Load) {
        memcpy(&value, element, access.elementBytes);
        put(i, value);
        continue;
      }
      memcpy(&value, r + access.data[i] + lane * access.registerBytes, access.elementBytes);
      if (access.kind == ImageAccess::Store)
        memcpy(element, &value, access.elementBytes);
      else if (access.kind == ImageAccess::Reduce)
        scalar::atomic(reduction(), element, value, 0);
      else if (i < format.channels)
        storeChannel(format, u32(value), memory + i * format.channelBytes());
    }
  }

  /// Of texels: with the sign of their format.
  uint8_t reduction() const {
    bool isSigned = access.countsTexels && object->image.format.kind == TexelKind::Signed;
    if (isSigned && access.reduction == scalar::atomMinU32)
      return scalar::atomMinS32;
    return isSigned && access.reduction == scalar::atomMaxU32 ? uint8_t(scalar::atomMaxS32) : access.reduction;
  }

  // --- questions ---

  // The numbers are PTX's own.
  static u32 channelType(const TexelFormat &f) {
    constexpr u32 snorm8 = 0x10d0, unorm8 = 0x10d2, s8 = 0x10d7, u8Type = 0x10da, half = 0x10dd;
    u32 size = f.bits == 8 ? 0 : f.bits == 16 ? 1 : 2;
    if (f.kind == TexelKind::Float)
      return half + (f.bits == 32);
    if (f.normalised)
      return (f.kind == TexelKind::Signed ? snorm8 : unorm8) + size;
    return (f.kind == TexelKind::Signed ? s8 : u8Type) + size;
  }
  static u32 channelOrder(const TexelFormat &f) {
    constexpr u32 r = 0x10b0, rg = 0x10b2, rgba = 0x10b5;
    return f.channels == 1 ? r : f.channels == 2 ? rg : rgba;
  }

  u64 answer() const {
    const Image &image = object->image;
    if (object->kind == ImageObject::SamplerOnly)
      return answerOfSampler();
    size_t last = image.levels.size() - 1;
    const ImageLevel &l =
        image.levels[access.lod == noRegister ? 0 : size_t(std::clamp<int64_t>(get<int32_t>(access.lod), 0, int64_t(last)))];
    switch (access.query) {
    case queryWidth:
      return l.width;
    case queryHeight:
      return image.dimensions > 1 ? l.height : 0;
    case queryDepth:
      return image.dimensions > 2 ? l.depth : 0;
    case queryArraySize:
      return image.layers();
    case queryLevels:
      return image.levels.size();
    case queryChannelType:
      return channelType(image.format);
    case queryChannelOrder:
      return channelOrder(image.format);
    case querySamples:
      return 1;
    case queryMemoryLayout:
      return 0;
    default:
      return answerOfSampler();
    }
  }

  u64 answerOfSampler() const {
    const Sampler &sampler = object->sampler;
    switch (access.query) {
    case queryNormalised:
      return sampler.normalisedCoordinates;
    case queryFilter:
      return sampler.linear;
    case queryModeX:
    case queryModeY:
    case queryModeZ: {
      static const u32 modes[] = {0, 3, 1, 4}; // wrap, clamp to the edge, mirror, clamp to the border
      return modes[unsigned(sampler.modes[access.query - queryModeX])];
    }
    default:
      return 0;
    }
  }

  // --- counting ---

  /// The n-th texels of all lanes go together, as one access.
  void note(const TouchedTexels &texels) {
    if (!w->memory)
      return;
    for (unsigned i = 0; i < texels.count; ++i)
      addresses[i][lane] = texels.addresses[i], masks[i] |= 1u << lane;
    most = std::max(most, texels.count);
  }

  void count() {
    unsigned bytes = touchedBytes ? touchedBytes : object ? object->image.format.bytes() : 1;
    for (unsigned i = 0; i < most; ++i)
      countAccess(w, op, addresses[i], masks[i], bytes);
  }

  const Op *op;
  u8 *r;
  Warp *w;
  const ImageAccess &access;
  unsigned lane = 0;
  u64 lastValue = 0;
  std::shared_ptr<const ImageObject> object, samplerObject;
  u64 addresses[std::size(TouchedTexels{}.addresses)][warpSize];
  u32 masks[std::size(TouchedTexels{}.addresses)] = {};
  unsigned most = 0, touchedBytes = 0;
};

Status image(const Op *op, u8 *r, Warp *w) {
  if (!ImageRun(op, r, w).run())
    return Status::Fault;
  JOULE_TAIL return op[1].fn(op + 1, r, w);
}

const HandlerEntry entries[] = {{"image", image, ""}};

} // namespace

HandlerTable handlersOfImages() { return {entries, sizeof entries / sizeof entries[0]}; }

} // namespace joule::vgpu
