// What the interpreter knows of compiled code: an optional second way to run a kernel's operations. The
// compiler behind it registers itself, so that the engine builds and runs without LLVM.
#pragma once

#include "lib/VirtualGpu/Module.h"

#include <array>
#include <atomic>
#include <memory>
#include <string>

namespace joule::vgpu {

constexpr uint32_t leftByCompiled = 1u << 30;

/// One program compiled for one shape of blocks. Compiled code and interpreter share the frame: whoever stops
/// has every live register there, so that either may go on from any operation that has an entry.
struct CompiledProgram {
  /// Runs a full warp from an entry until the scheduler is needed. Status::Interpret: go on at `Warp::pc`.
  /// `entry` has the bit `leftByCompiled` if compiled code left the warp at the barrier before, and nobody has
  /// touched its registers since.
  using Code = uint32_t (*)(uint8_t *r, Warp *w, uint32_t entry);
  Code code = nullptr;
  std::vector<int32_t> entryOf; // per operation: its entry, or -1
  virtual ~CompiledProgram() = default;
};

struct CompileRequest {
  const KernelImage *image = nullptr;
  uint32_t block[3] = {1, 1, 1};
  bool count = false;
};

class KernelCompiler {
public:
  virtual ~KernelCompiler() = default;
  /// Null if the kernel holds what cannot be compiled; `why` then says what. Safe on several threads.
  virtual std::unique_ptr<CompiledProgram> compile(const CompileRequest &request, std::string &why) = 0;
};

/// Null where no compiler is registered.
KernelCompiler *kernelCompiler();
void registerKernelCompiler(KernelCompiler *compiler);
/// Registers the compiler on LLVM; for programs that link JouleVirtualGpuJit.
void useJit();

/// Which engine runs launches: by work done, always the interpreter, or always compiled code where possible.
enum class EngineChoice { Tiered, Interpreter, Compiled };

/// What the engines did since the process began.
struct EngineUse {
  uint64_t compiledKernels = 0, refusedKernels = 0; // compiled and refused by the compiler
  uint64_t compiledLaunches = 0, interpretedLaunches = 0;
  uint64_t compileNanoseconds = 0, compiledInstructions = 0; // of PTX
  uint64_t compiledRuns = 0, interpretedRuns = 0; // turns of warps from one call of the scheduler to the next
  std::string lastRefusal;                        // kernel and reason
};
EngineUse engineUse();
void addEngineUse(bool compiled, uint64_t compiledRuns, uint64_t interpretedRuns);

/// What launches use that do not say otherwise: from JOULE_VGPU_JIT, or as set.
EngineChoice defaultEngine();
void setDefaultEngine(EngineChoice choice);

struct CompiledKernels;

/// The engine of one launch. It may change from interpreted to compiled while the launch runs.
class ChosenEngine {
public:
  ChosenEngine(const KernelImage &image, const uint32_t block[3], bool count, EngineChoice choice);
  ~ChosenEngine();
  /// Null: the interpreter.
  const CompiledProgram *code() const { return program.load(std::memory_order_acquire); }
  /// Called between blocks: compiles once that is worth it.
  void consider();

private:
  std::array<uint32_t, 4> key() const;
  void decide(const CompiledProgram *code);
  void compile();

  const KernelImage &image;
  CompiledKernels &kernels;
  CompileRequest request;
  uint64_t begun;
  std::atomic<bool> decided{false};
  std::atomic<const CompiledProgram *> program{nullptr};
};

} // namespace joule::vgpu
