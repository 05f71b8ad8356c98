// What the interpreter knows of compiled code: an optional second way to run a kernel's operations. The
// compiler behind it registers itself, so that the engine builds and runs without LLVM.
#pragma once

#include "lib/VirtualGpu/Module.h"

#include <array>
#include <atomic>
#include <memory>
#include <string>

namespace joule::vgpu {

using LanePattern = std::array<int64_t, warpSize>;

/// What compiled code supposes of a register where it is entered: each lane has the first one's value plus
/// the pattern's.
struct EntryCheck {
  uint32_t offset;      // in the frame
  int32_t pattern = -1; // of the program's; -1: all lanes are equal
  uint8_t width;        // bytes per lane; 0 for a predicate
  uint8_t align = 0;    // the first lane's value is a multiple of 1 << align,
  bool known = false;   // it is `value`,
  uint64_t value = 0;
  uint64_t most = ~0ull; // and at most this, unsigned
};

/// A register of which compiled code left the first lane alone in the frame: the others have the pattern on
/// top.
struct Expansion {
  uint32_t offset;
  uint8_t width; // bytes per lane
  int32_t pattern = -1;
};
constexpr unsigned expansionShift = 8;

/// One program compiled for one shape of blocks. Compiled code and interpreter share the frame: whoever stops
/// has every live register there, so that either may go on from any operation that has an entry.
struct CompiledProgram {
  /// Runs a full warp from an entry that fits until the scheduler is needed. Status::Interpret: go on at
  /// `Warp::pc`. Above the status, from bit `expansionShift`, stands which list of expansions is due before
  /// anybody but this code looks at the frame, counted from 1.
  using Code = uint32_t (*)(uint8_t *r, Warp *w, uint32_t entry);
  Code code = nullptr;
  std::vector<int32_t> entryOf;                // per operation: its entry, or -1
  std::vector<std::vector<EntryCheck>> checks; // per entry
  std::vector<std::vector<Expansion>> expansions;
  std::vector<LanePattern> patterns;
  void expand(uint32_t list, uint8_t *r) const;
  /// Do the registers look as the code behind the entry supposes? They do where compiled code itself stopped.
  bool fits(uint32_t entry, const uint8_t *r) const;
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
  /// Code that an earlier process left behind; null if there is none.
  virtual std::unique_ptr<CompiledProgram> load(const CompileRequest &request) = 0;
};

/// Null where no compiler is registered.
KernelCompiler *kernelCompiler();
void registerKernelCompiler(KernelCompiler *compiler);
/// Registers the compiler on LLVM; for programs that link JouleVirtualGpuJit. Code is kept in the folder for
/// later processes; empty: nowhere.
void useJit(const std::string &cacheFolder = "");

/// Which engine runs launches: by work done, always the interpreter, or always compiled code where possible.
enum class EngineChoice { Tiered, Interpreter, Compiled };

/// What the engines did since the process began.
struct EngineUse {
  uint64_t compiledKernels = 0, refusedKernels = 0; // compiled and refused by the compiler
  uint64_t loadedKernels = 0;                       // whose code an earlier process had left
  uint64_t compiledLaunches = 0, interpretedLaunches = 0;
  uint64_t compileNanoseconds = 0, compiledInstructions = 0; // of the processor's time; of PTX
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
  bool load();

  const KernelImage &image;
  CompiledKernels &kernels;
  CompileRequest request;
  uint64_t begun;
  std::atomic<bool> decided{false}, asked{false}; // what earlier processes left
  std::atomic<const CompiledProgram *> program{nullptr};
};

} // namespace joule::vgpu
