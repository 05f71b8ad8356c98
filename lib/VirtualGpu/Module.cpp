// Loading: memory for a module's variables, a shared-memory layout and decoded programs for each kernel.
#include "lib/VirtualGpu/Module.h"

#include <algorithm>
#include <cstring>

namespace joule::vgpu {

using ptx::Space;

// More than any GPU has; beyond, offsets of 32 bits might wrap around.
constexpr uint32_t mostSharedBytes = 1 << 24;

LoadedModule::LoadedModule(std::string ptxText, MemoryMap &memory, const DecodeOptions &options)
    : ptx(ptx::parse(std::move(ptxText))), memory(memory), decodeOptions(options) {
  for (uint32_t i = 0; i < ptx->functions.size(); ++i)
    functions[ptx->functions[i]->name] = i;
  for (auto &[other, name] : ptx->aliases)
    if (auto it = functions.find(name); it != functions.end())
      functions[other] = it->second;
  for (const ptx::Variable &v : ptx->variables)
    variables[v.name] = &v;
  for (const ptx::Variable &v : ptx->variables)
    allocate(v);
  for (auto &f : ptx->functions)
    for (const ptx::Variable &v : f->variables)
      allocate(v);
  for (const ptx::Variable &v : ptx->variables)
    fill(v);
  for (auto &f : ptx->functions)
    for (const ptx::Variable &v : f->variables)
      fill(v);
}

LoadedModule::~LoadedModule() {
  for (auto &[name, address] : addresses)
    memory.release(address);
  for (uint64_t handle : imageHandles)
    memory.images().remove(handle);
}

void LoadedModule::allocate(const ptx::Variable &v) {
  if ((v.space != Space::Global && v.space != Space::Const) || addresses.count(v.name))
    return;
  uint64_t address = memory.allocate(std::max<uint64_t>(v.size, 1));
  if (!address)
    throw std::runtime_error("no memory for the variable '" + v.name + "'");
  memset(reinterpret_cast<void *>(address), 0, std::max<uint64_t>(v.size, 1));
  memory.hostWrote(address, std::max<uint64_t>(v.size, 1));
  addresses[v.name] = address;
}

/// Functions are numbered in steps: a pointer to a member whose lowest bit is set means a virtual function.
constexpr uint32_t codeStep = 16;

uint64_t LoadedModule::symbolValue(const std::string &symbol) const {
  uint64_t address;
  if (variableAddress(symbol, address))
    return address;
  auto f = functions.find(symbol);
  if (f != functions.end())
    return codeWindow + f->second * codeStep;
  throw std::runtime_error("an initialiser names '" + symbol + "', which is not declared");
}

namespace {

AddressMode addressModeNamed(const std::string &name) {
  return name == "wrap"              ? AddressMode::Wrap
         : name == "mirror"          ? AddressMode::Mirror
         : name == "clamp_to_border" ? AddressMode::Border
                                     : AddressMode::Clamp;
}

/// A .samplerref is all that its initialiser says.
std::shared_ptr<const ImageObject> samplerOf(const ptx::Variable &v) {
  auto object = std::make_shared<ImageObject>();
  object->kind = ImageObject::SamplerOnly;
  Sampler &sampler = object->sampler;
  sampler.normalisedCoordinates = true;
  for (auto &[name, value] : v.settings) {
    if (name == "filter_mode")
      sampler.linear = value == "linear";
    else if (name == "force_unnormalized_coords")
      sampler.normalisedCoordinates = value == "0";
    else if (name.size() == 11 && name.substr(0, 10) == "addr_mode_" && name[10] >= '0' && name[10] <= '2')
      sampler.modes[name[10] - '0'] = addressModeNamed(value);
    else
      throw std::runtime_error("the sampler '" + v.name + "' sets '" + name + "', which no sampler has");
  }
  return object;
}

} // namespace

uint64_t LoadedModule::imageReference(const std::string &name, ptx::Opaque kind) const {
  const ptx::Variable *v = variable(name);
  uint64_t address, handle = 0;
  if (v && v->opaque == kind && variableAddress(name, address))
    memcpy(&handle, reinterpret_cast<const void *>(address), sizeof handle);
  return handle;
}

void LoadedModule::fill(const ptx::Variable &v) {
  auto it = addresses.find(v.name);
  if (it == addresses.end())
    return;
  char *base = reinterpret_cast<char *>(it->second);
  for (uint64_t at = 0; v.opaque != ptx::Opaque::None && at + 8 <= v.size; at += 8) {
    imageHandles.push_back(memory.images().add(v.opaque == ptx::Opaque::Sampler ? samplerOf(v) : nullptr));
    memcpy(base + at, &imageHandles.back(), 8);
  }
  if (!v.init.empty())
    memcpy(base, v.init.data(), std::min<size_t>(v.init.size(), v.size));
  for (const ptx::Relocation &r : v.relocations) {
    uint64_t value = symbolValue(r.symbol) + uint64_t(r.addend);
    if (r.byte >= 0 && r.at < v.size)
      base[r.at] = char(value >> (8 * r.byte));
    else if (r.byte < 0 && r.at + 8 <= v.size)
      memcpy(base + r.at, &value, 8);
  }
}

const ptx::Function *LoadedModule::function(std::string_view name, uint32_t *index) const {
  auto it = functions.find(name);
  if (it == functions.end())
    return nullptr;
  if (index)
    *index = it->second;
  return ptx->functions[it->second].get();
}

const ptx::Variable *LoadedModule::variable(std::string_view name) const {
  auto it = variables.find(name);
  return it == variables.end() ? nullptr : it->second;
}

bool LoadedModule::variableAddress(std::string_view name, uint64_t &address) const {
  auto it = addresses.find(name);
  if (it == addresses.end())
    return false;
  address = it->second;
  return true;
}

bool LoadedModule::global(const std::string &name, uint64_t &address, uint64_t &bytes) const {
  const ptx::Variable *v = variable(name);
  if (!v || !variableAddress(name, address))
    return false;
  bytes = v->size;
  return true;
}

KernelImage *LoadedModule::kernel(const std::string &name) {
  std::lock_guard lock(mutex);
  auto it = kernels.find(name);
  if (it != kernels.end())
    return it->second.get();
  const ptx::Function *f = function(name);
  if (!f || !f->entry || !f->defined)
    return nullptr;
  return (kernels[name] = std::make_unique<KernelImage>(*this, *f)).get();
}

// --- one kernel ---

KernelImage::KernelImage(LoadedModule &module, const ptx::Function &kernel) : owner(module) {
  if (kernel.gridCountsClusters)
    throw std::runtime_error("kernel '" + kernel.name + "': .blocksareclusters is not supported");
  collect(kernel);
  if (callsThroughPointers())
    collectPointedAt();
  placeDynamicShared();
  for (const ptx::Function *f : reachable)
    programs.emplace(f->name, std::make_unique<Program>());
  bool calls = false, allocates = false;
  uint32_t depots = 0;
  for (const ptx::Function *f : reachable) {
    Program &program = *programs.find(f->name)->second;
    module.function(f->name, &program.functionIndex);
    byIndex[program.functionIndex] = &program;
    decode(*f, *this, program);
    calls |= program.calls;
    allocates |= program.allocatesLocal;
    depots += program.localBytes;
  }
  kernelProgram = programs.find(kernel.name)->second.get();
  constexpr uint32_t stackForCalls = 16 * 1024, stackForAlloca = 64 * 1024;
  localTotal = depots + (calls ? stackForCalls : 0) + (allocates ? stackForAlloca : 0);
}

const DecodeOptions &KernelImage::options() const { return owner.options(); }

/// The function and all that it names; their shared variables get places.
void KernelImage::collect(const ptx::Function &f) {
  if (std::find(reachable.begin(), reachable.end(), &f) != reachable.end())
    return;
  reachable.push_back(&f);
  for (uint32_t i = 0; i < f.variables.size(); ++i)
    if (f.variables[i].space == Space::Shared)
      placeShared(f.name + "::" + std::to_string(i), f.variables[i]);
  for (std::string_view name : f.names) {
    if (name == ptx::reservedShared)
      reservedBytes = ptx::reservedSharedBytes;
    if (const ptx::Variable *v = owner.variable(name); v && v->space == Space::Shared)
      placeShared(v->name, *v);
    if (const ptx::Function *callee = owner.function(name); callee && callee->defined)
      collect(*callee);
  }
}

bool KernelImage::callsThroughPointers() const {
  for (const ptx::Function *f : reachable)
    for (const ptx::Instruction &i : f->instructions)
      for (unsigned k = 0; k < i.numOperands && i.opcode->base == "call"; ++k)
        if (f->operandsOf(i)[k].kind == ptx::OperandKind::Register)
          return true;
  return false;
}

/// Functions whose addresses stand in tables, or are taken by any kernel.
void KernelImage::collectPointedAt() {
  for (const auto &taker : owner.source().functions)
    for (const ptx::Instruction &i : taker->instructions)
      for (unsigned k = 0; k < i.numOperands && i.opcode->base == "mov"; ++k)
        if (const ptx::Operand &o = taker->operandsOf(i)[k]; o.kind == ptx::OperandKind::Name)
          if (const ptx::Function *f = owner.function(taker->names[o.index]); f && f->defined && !f->entry)
            collect(*f);
  for (const ptx::Variable &v : owner.source().variables)
    for (const ptx::Relocation &r : v.relocations)
      if (const ptx::Function *f = owner.function(r.symbol); f && f->defined)
        collect(*f);
}

void KernelImage::placeShared(const std::string &key, const ptx::Variable &v) {
  if (sharedPlaces.count(key))
    return;
  if (v.size == 0) {
    sharedPlaces[key] = 0;
    dynamicShared.emplace_back(key, v.align);
    return;
  }
  staticBytes = (staticBytes + v.align - 1) / v.align * v.align;
  if (v.size > mostSharedBytes - std::min(staticBytes, mostSharedBytes))
    throw std::runtime_error("the shared memory of '" + key + "' is too large");
  sharedPlaces[key] = staticBytes;
  staticBytes += uint32_t(v.size);
}

/// All extern arrays start where the static variables end, and what is the system's.
void KernelImage::placeDynamicShared() {
  uint32_t align = 16;
  if (reservedBytes) {
    staticBytes = (staticBytes + align - 1) / align * align;
    sharedPlaces[std::string(ptx::reservedShared)] = staticBytes;
    staticBytes += reservedBytes;
  }
  for (auto &[key, own] : dynamicShared)
    align = std::max(align, own);
  if (!dynamicShared.empty())
    staticBytes = (staticBytes + align - 1) / align * align;
  for (auto &[key, own] : dynamicShared)
    sharedPlaces[key] = staticBytes;
}

const Program *KernelImage::programByIndex(uint64_t index) const {
  auto it = byIndex.find(uint32_t(index / codeStep));
  return it == byIndex.end() || index >> 32 || index % codeStep ? nullptr : it->second;
}

bool KernelImage::spaceOf(std::string_view name, Space &space) {
  const ptx::Variable *v = owner.variable(name);
  space = v ? v->space : Space::Shared;
  return v || name == ptx::reservedShared;
}

bool KernelImage::addressOf(std::string_view name, Space space, uint64_t &address) {
  if (space != Space::Shared)
    return owner.variableAddress(name, address);
  auto it = sharedPlaces.find(name);
  if (it == sharedPlaces.end())
    return false;
  address = it->second;
  return true;
}

uint64_t KernelImage::sharedOffset(const ptx::Function &f, uint32_t variable) {
  return sharedPlaces.at(f.name + "::" + std::to_string(variable));
}

Program *KernelImage::programOf(std::string_view name) {
  const ptx::Function *f = owner.function(name); // an alias has the function's own name
  auto it = f ? programs.find(f->name) : programs.end();
  return it == programs.end() ? nullptr : it->second.get();
}

uint32_t KernelImage::functionIndexOf(std::string_view name) {
  uint32_t index = 0;
  owner.function(name, &index);
  return index * codeStep;
}

uint16_t KernelImage::newRangeSlot() {
  return rangeSlots < 0xffff ? uint16_t(rangeSlots++) : uint16_t(0xfffe);
}

uint32_t KernelImage::newBlocks(uint32_t count) {
  blockCount += count;
  return blockCount - count;
}

} // namespace joule::vgpu
