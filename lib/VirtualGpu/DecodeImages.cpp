// Decoding of texture and surface instructions.
#include "lib/VirtualGpu/Decoder.h"

namespace joule::vgpu {

// --- parts of these instructions ---

/// .2d, .a1d, .cube and their like.
void Decoder::imageGeometry(ImageAccess &access) const {
  for (const std::string &mod : opcode->mods) {
    if (mod == "2dms" || mod == "a2dms")
      throw Unsupported{"textures of several samples, which nothing creates"};
    bool layered = mod.size() > 1 && mod[0] == 'a', cube = mod == "cube" || mod == "acube";
    std::string size = layered ? mod.substr(1) : mod;
    if (!cube && size != "1d" && size != "2d" && size != "3d")
      continue;
    access.layered = layered, access.cube = cube;
    access.dimensions = cube ? 2 : uint8_t(size[0] - '0');
    return;
  }
  throw Unsupported{"this kind of texture"};
}

/// A handle, or the address of a reference: the handler tells them apart.
uint32_t Decoder::imageReference(const Operand &o) {
  Operand base = o;
  base.address = false;
  if (base.kind != OperandKind::Variable || f.variables[base.index].space != Space::Param)
    return use(base, 8);
  if (isFrameParameter(base))
    throw Unsupported{"a texture as a function's parameter"};
  Op &op = emit("ldparam.u64.8");
  uint32_t place = temporary(8);
  op.d = place, op.imm = variablePlace[base.index];
  return place;
}

void Decoder::imageVector(uint32_t *places, const Operand &o, unsigned count, Type type) {
  for (unsigned i = 0; i < count; ++i)
    places[i] = use(isVector(o) ? element(o, i) : o, widthOf(type), type);
}

/// [object{, sampler}, {layer, x, y, z}]: what is there beyond the coordinates pads the vector.
void Decoder::imageObject(ImageAccess &access, const Operand &o) {
  if (!o.address || !isVector(o))
    throw Unsupported{"this kind of texture operand"};
  unsigned next = o.offset ? unsigned(o.offset) : 1; // a single coordinate stands without braces
  access.object = imageReference(element(o, 0));
  if (next == 2)
    access.sampler = imageReference(element(o, 1));
  else if (next != 1)
    throw Unsupported{"this kind of texture operand"};
  if (access.layered)
    access.layer = use(element(o, next++), 4);
  unsigned coordinates = access.cube ? 3 : access.dimensions;
  Type type = access.wholeCoordinates ? Type::S32 : Type::F32;
  for (unsigned i = 0; i < coordinates; ++i)
    access.coordinates[i] = use(element(o, next + i), 4, type);
}

/// {a, b, c, d}, or with a predicate that says whether the texels are there, which they always are.
void Decoder::imageResults(ImageAccess &access, const Operand &o, bool writes) {
  const Operand &data = o.kind == OperandKind::Pair ? element(o, 0) : o;
  access.count = uint8_t(isVector(data) ? data.value : 1);
  if (access.count > 4)
    throw Unsupported{"as many elements"};
  access.elementBytes = uint8_t(ptx::sizeOf(Type(access.type)));
  for (unsigned i = 0; i < access.count; ++i) {
    const Operand &one = isVector(data) ? element(data, i) : data;
    if (one.kind == OperandKind::Register)
      access.registerBytes = uint8_t(widthOfRegister(one));
  }
  if (access.elementBytes > access.registerBytes || access.registerBytes > 8)
    throw Unsupported{"a register of this size"};
  for (unsigned i = 0; i < access.count; ++i) {
    const Operand &one = isVector(data) ? element(data, i) : data;
    access.data[i] = writes ? result(one, access.registerBytes) : use(one, access.registerBytes, Type(access.type));
  }
  if (o.kind == OperandKind::Pair)
    emit("mov.pred", result(element(o, 1), 0), constant(0, 1));
}

/// The offsets in texels, and the value that depth textures compare with.
void Decoder::imageOffsets(ImageAccess &access, unsigned next) {
  if (count() <= next)
    return;
  const Operand &offsets = operand(next);
  bool isScalar = offsets.kind == OperandKind::Register && f.registers[offsets.index] == Type::F32;
  if (count() > next + 1 || isScalar || offsets.kind == OperandKind::Float32)
    throw Unsupported{"depth textures, which nothing creates"};
  imageVector(access.offsets, offsets, access.dimensions, Type::S32);
}

/// The compiled form spills and reloads what is in the operation's list.
void Decoder::emitImage(const ImageAccess &access, bool stores) {
  p.imageAccesses.push_back(access);
  std::vector<uint32_t> places;
  for (uint32_t place : {access.object, access.sampler, access.layer, access.lod})
    places.push_back(place);
  for (unsigned i = 0; i < 3; ++i)
    for (uint32_t place : {access.offsets[i], access.dx[i], access.dy[i]})
      places.push_back(place);
  unsigned coordinates = access.cube ? 3 : access.dimensions;
  places.insert(places.end(), access.coordinates, access.coordinates + coordinates);
  places.insert(places.end(), access.data, access.data + access.count);
  Op &op = emit("image");
  op.imm = int64_t(reinterpret_cast<intptr_t>(&p.imageAccesses.back()));
  op.list = keepList(std::move(places));
  op.slot = symbols.newRangeSlot();
  op.flags = stores ? storesData : 0;
}

// --- textures ---

void Decoder::sampleTexture() {
  ImageAccess access;
  imageGeometry(access);
  access.wholeCoordinates = opcode->lastType() == Type::S32;
  access.type = uint8_t(type());
  imageObject(access, operand(1));
  unsigned next = 2;
  Type lodType = access.wholeCoordinates ? Type::S32 : Type::F32;
  if (opcode->has("level")) {
    access.level = ImageAccess::Given;
    access.lod = use(operand(next++), 4, lodType);
  } else if (opcode->has("grad")) {
    if (access.cube)
      throw Unsupported{"gradients of cubes"};
    access.level = ImageAccess::Derived;
    imageVector(access.dx, operand(next++), access.dimensions, Type::F32);
    imageVector(access.dy, operand(next++), access.dimensions, Type::F32);
  }
  imageOffsets(access, next);
  imageResults(access, operand(0), true);
  if (access.count != (type() == Type::F16x2 ? 2 : 4))
    throw Unsupported{"as many elements"};
  emitImage(access, false);
}

void Decoder::gatherTexture() {
  ImageAccess access;
  access.kind = ImageAccess::Gather;
  imageGeometry(access);
  const std::string channel = firstModifier();
  size_t which = std::string("rgba").find(channel);
  if (channel.size() != 1 || which == std::string::npos)
    throw Unsupported{"this channel"};
  access.channel = uint8_t(which);
  access.type = uint8_t(type());
  imageObject(access, operand(1));
  imageOffsets(access, 2);
  imageResults(access, operand(0), true);
  if (access.count != 4)
    throw Unsupported{"as many elements"};
  emitImage(access, false);
}

// --- surfaces ---

void Decoder::surfaceMode(ImageAccess &access) const {
  access.wholeCoordinates = true;
  access.countsTexels = firstModifier() == "p";
  access.outside = opcode->has("zero")    ? ImageAccess::Zero
                   : opcode->has("clamp") ? ImageAccess::Clamp
                                          : ImageAccess::Trap;
}

void Decoder::loadSurface() {
  ImageAccess access;
  access.kind = ImageAccess::Load;
  imageGeometry(access);
  surfaceMode(access);
  access.type = uint8_t(type());
  imageObject(access, operand(1));
  imageResults(access, operand(0), true);
  emitImage(access, false);
}

void Decoder::storeSurface() {
  ImageAccess access;
  access.kind = firstModifier() == "p" ? ImageAccess::StoreFormatted : ImageAccess::Store;
  imageGeometry(access);
  surfaceMode(access);
  access.type = uint8_t(type());
  imageObject(access, operand(0));
  imageResults(access, operand(1), false);
  if (access.kind == ImageAccess::StoreFormatted && access.elementBytes != 4)
    throw Unsupported{"this type"};
  emitImage(access, true);
}

void Decoder::reduceSurface() {
  ImageAccess access;
  access.kind = ImageAccess::Reduce;
  imageGeometry(access);
  surfaceMode(access);
  bool untyped = type() == Type::B32 && access.countsTexels;
  access.type = uint8_t(untyped ? Type::U32 : type()); // then the surface's format says whether there is a sign
  access.reduction = scalar::noAtomic;
  for (const char *name : {"add", "min", "max", "and", "or"})
    if (opcode->has(name))
      access.reduction = scalar::atomicNamed(name, access.type);
  if (access.reduction == scalar::noAtomic)
    throw Unsupported{"this reduction"};
  imageObject(access, operand(0));
  imageResults(access, operand(1), false);
  emitImage(access, true);
}

// --- questions ---

void Decoder::queryImage() {
  static const std::unordered_map<std::string, ImageQuery> queries = {
      {"width", queryWidth},
      {"height", queryHeight},
      {"depth", queryDepth},
      {"array_size", queryArraySize},
      {"num_mipmap_levels", queryLevels},
      {"channel_data_type", queryChannelType},
      {"channel_order", queryChannelOrder},
      {"normalized_coords", queryNormalised},
      {"filter_mode", queryFilter},
      {"addr_mode_0", queryModeX},
      {"addr_mode_1", queryModeY},
      {"addr_mode_2", queryModeZ},
      {"num_samples", querySamples},
      {"memory_layout", queryMemoryLayout}};
  ImageAccess access;
  access.kind = ImageAccess::Query;
  access.dimensions = 0;
  access.type = uint8_t(Type::B32);
  for (const std::string &mod : opcode->mods)
    if (auto it = queries.find(mod); it != queries.end()) {
      access.query = it->second;
      access.object = imageReference(operand(1));
      if (opcode->has("level"))
        access.lod = use(operand(2), 4, Type::S32);
      imageResults(access, operand(0), true);
      return emitImage(access, false);
    }
  throw Unsupported{"this question"};
}

} // namespace joule::vgpu
