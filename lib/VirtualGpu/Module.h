// A loaded PTX module: its variables have memory, its kernels can be decoded.
#pragma once

#include "lib/VirtualGpu/Decode.h"
#include "lib/VirtualGpu/Memory.h"

#include <memory>
#include <mutex>

namespace joule::vgpu {

class LoadedModule;
struct CompiledKernels;

/// One kernel with the device functions it may call, decoded together: where a shared variable lies differs
/// from kernel to kernel.
class KernelImage : public SymbolSource {
public:
  KernelImage(LoadedModule &module, const ptx::Function &kernel);

  const Program &entry() const { return *kernelProgram; }
  const DecodeOptions &options() const override;
  LoadedModule &module() const { return owner; }
  const Program *programByIndex(uint64_t index) const;
  /// Of a block: the kernel's variables, and all that lies below the dynamic memory.
  uint32_t staticShared() const { return staticBytes - reservedBytes; }
  uint32_t belowDynamicShared() const { return staticBytes; }
  uint32_t reservedShared() const { return reservedBytes; } // the last of it
  uint32_t numRangeSlots() const { return rangeSlots; }
  uint32_t numBlocks() const { return blockCount; }
  /// Local memory per thread: the depots of all functions, and room for recursion where there are calls.
  uint32_t localBytes() const { return localTotal; }
  template <class F> void eachProgram(F f) const {
    for (auto &[name, program] : programs)
      if (program->function)
        f(*program);
  }

  uint32_t maxDynamicShared = 0; // set by cuFuncSetAttribute
  mutable std::shared_ptr<CompiledKernels> compiled;

  bool addressOf(std::string_view name, ptx::Space space, uint64_t &address) override;
  bool spaceOf(std::string_view name, ptx::Space &space) override;
  uint64_t sharedOffset(const ptx::Function &f, uint32_t variable) override;
  Program *programOf(std::string_view name) override;
  uint32_t functionIndexOf(std::string_view name) override;
  uint16_t newRangeSlot() override;
  uint32_t newBlocks(uint32_t count) override;

private:
  void collect(const ptx::Function &f);
  void collectPointedAt();
  bool callsThroughPointers() const;
  void placeShared(const std::string &key, const ptx::Variable &v);
  void placeDynamicShared();

  LoadedModule &owner;
  Program *kernelProgram = nullptr;
  std::map<std::string, std::unique_ptr<Program>, std::less<>> programs;
  std::vector<const ptx::Function *> reachable;
  std::map<std::string, uint64_t, std::less<>> sharedPlaces;
  std::vector<std::pair<std::string, uint32_t>> dynamicShared;
  std::map<uint32_t, const Program *> byIndex;
  uint32_t staticBytes = 0, reservedBytes = 0, rangeSlots = 0, blockCount = 0, localTotal = 0;
};

class LoadedModule {
public:
  /// Throws ptx::ParseError, or std::runtime_error for what the text leaves undefined.
  LoadedModule(std::string ptxText, MemoryMap &memory, const DecodeOptions &options = {});
  ~LoadedModule();

  const ptx::Module &source() const { return *ptx; }
  const DecodeOptions &options() const { return decodeOptions; }
  /// Null if the module has no kernel of that name.
  KernelImage *kernel(const std::string &name);
  bool global(const std::string &name, uint64_t &address, uint64_t &bytes) const;

  const ptx::Function *function(std::string_view name, uint32_t *index = nullptr) const;
  const ptx::Variable *variable(std::string_view name) const;
  bool variableAddress(std::string_view name, uint64_t &address) const;
  /// The handle that stands in a .texref or .surfref; 0 if there is none of that name.
  uint64_t imageReference(const std::string &name, ptx::Opaque kind) const;

private:
  void allocate(const ptx::Variable &v);
  void fill(const ptx::Variable &v);
  uint64_t symbolValue(const std::string &symbol) const;

  std::unique_ptr<ptx::Module> ptx;
  MemoryMap &memory;
  const DecodeOptions decodeOptions;
  std::map<std::string, uint64_t, std::less<>> addresses;
  std::vector<uint64_t> imageHandles;
  std::map<std::string_view, const ptx::Variable *> variables;
  std::map<std::string_view, uint32_t> functions;
  std::map<std::string, std::unique_ptr<KernelImage>> kernels;
  std::mutex mutex;
};

} // namespace joule::vgpu
