// Which engine runs a launch: compiled code is kept per kernel and shape of block, and made once the
// interpreter has worked as long on the kernel as compiling it is expected to take. So neither choice costs
// more than twice the better one.
#include "lib/VirtualGpu/Compiled.h"
#include "lib/VirtualGpu/Settings.h"

#include <array>
#include <atomic>
#include <chrono>

namespace joule::vgpu {

namespace {

std::atomic<KernelCompiler *> compilerInUse{nullptr};

std::mutex useMutex;
EngineUse use;

uint64_t now() {
  return uint64_t(std::chrono::duration_cast<std::chrono::nanoseconds>(
                      std::chrono::steady_clock::now().time_since_epoch())
                      .count());
}

// Measured: code generation dominates, and grows with the number of operations.
constexpr uint64_t fixedCost = 5'000'000, costOfOperation = 150'000;

} // namespace

KernelCompiler *kernelCompiler() { return compilerInUse; }
void registerKernelCompiler(KernelCompiler *compiler) { compilerInUse = compiler; }

namespace {

EngineChoice engineFromEnvironment() {
  const std::string choice = settingsFromEnvironment().jit;
  return choice == "0"       ? EngineChoice::Interpreter
         : choice == "force" ? EngineChoice::Compiled
                             : EngineChoice::Tiered;
}

std::atomic<EngineChoice> &engineInUse() {
  static std::atomic<EngineChoice> choice{engineFromEnvironment()};
  return choice;
}

} // namespace

EngineChoice defaultEngine() { return engineInUse(); }
void setDefaultEngine(EngineChoice choice) { engineInUse() = choice; }

EngineUse engineUse() {
  std::lock_guard lock(useMutex);
  return use;
}

void addEngineUse(bool compiled, uint64_t compiledRuns, uint64_t interpretedRuns) {
  std::lock_guard lock(useMutex);
  ++(compiled ? use.compiledLaunches : use.interpretedLaunches);
  use.compiledRuns += compiledRuns;
  use.interpretedRuns += interpretedRuns;
}

/// A kernel's code, by shape of block and whether it counts.
struct CompiledKernels {
  using Key = std::array<uint32_t, 4>;
  std::mutex mutex;
  std::map<Key, std::unique_ptr<CompiledProgram>> code; // null: refused
  std::atomic<uint64_t> interpreted{0};                 // nanoseconds
};

namespace {

CompiledKernels &kernelsOf(const KernelImage &image) {
  static std::mutex mutex;
  std::lock_guard lock(mutex);
  if (!image.compiled)
    image.compiled = std::make_shared<CompiledKernels>();
  return *image.compiled;
}

} // namespace

ChosenEngine::ChosenEngine(const KernelImage &image, const uint32_t block[3], bool count, EngineChoice choice)
    : image(image), kernels(kernelsOf(image)), begun(now()) {
  std::copy(block, block + 3, request.block);
  request.image = &image;
  request.count = count;
  if (choice == EngineChoice::Interpreter || !kernelCompiler()) {
    decided = true;
    return;
  }
  std::lock_guard lock(kernels.mutex);
  auto it = kernels.code.find(key());
  if (it != kernels.code.end())
    decide(it->second.get());
  else if (choice == EngineChoice::Compiled)
    compile();
}

ChosenEngine::~ChosenEngine() {
  if (!program)
    kernels.interpreted += now() - begun;
}

std::array<uint32_t, 4> ChosenEngine::key() const {
  return {request.block[0], request.block[1], request.block[2], request.count};
}

void ChosenEngine::decide(const CompiledProgram *code) {
  program.store(code, std::memory_order_release);
  decided = true;
}

/// With the kernel's lock held.
void ChosenEngine::compile() {
  uint64_t start = now();
  std::string why;
  std::unique_ptr<CompiledProgram> code = kernelCompiler()->compile(request, why);
  {
    std::lock_guard lock(useMutex);
    ++(code ? use.compiledKernels : use.refusedKernels);
    use.compileNanoseconds += now() - start;
    if (code)
      use.compiledInstructions += image.entry().function->instructions.size();
    else
      use.lastRefusal = image.entry().function->name + ": " + why;
  }
  decide((kernels.code[key()] = std::move(code)).get());
}

void ChosenEngine::consider() {
  if (decided.load(std::memory_order_relaxed))
    return;
  uint64_t worth = fixedCost + costOfOperation * image.entry().ops.size();
  if (kernels.interpreted.load(std::memory_order_relaxed) + (now() - begun) < worth)
    return;
  std::unique_lock lock(kernels.mutex, std::try_to_lock);
  if (!lock || decided)
    return; // another worker is at it
  auto it = kernels.code.find(key());
  if (it != kernels.code.end())
    decide(it->second.get());
  else
    compile();
}

} // namespace joule::vgpu
