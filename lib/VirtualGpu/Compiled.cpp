// Which engine runs a launch: compiled code is kept per kernel and shape of block, and made once the
// interpreter has worked as long on the kernel as compiling it is expected to take. So neither choice costs
// more than twice the better one.
#include "lib/VirtualGpu/Compiled.h"
#include "lib/VirtualGpu/Settings.h"

#include <array>
#include <atomic>
#include <chrono>
#include <cstring>
#include <ctime>
#include <set>

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

uint64_t processorTime() {
  timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return uint64_t(t.tv_sec) * 1'000'000'000 + uint64_t(t.tv_nsec);
}

// Measured: code generation dominates, and grows with the number of operations.
constexpr uint64_t fixedCost = 5'000'000, costOfOperation = 150'000, costOfLoading = 1'000'000;

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

namespace {

template <class T> bool looksLike(const EntryCheck &check, const LanePattern *pattern, const uint8_t *r) {
  T lanes[warpSize], differs = 0;
  memcpy(lanes, r + check.offset, sizeof lanes);
  const T first = lanes[0];
  for (unsigned i = 0; i < warpSize; ++i)
    differs = T(differs | (lanes[i] ^ T(first + (pattern ? T((*pattern)[i]) : 0))));
  bool aligned = check.align >= 8 * sizeof(T) || (first & ((1ull << check.align) - 1)) == 0;
  return !differs && aligned && first <= check.most && (!check.known || first == T(check.value));
}

bool allEqual(const EntryCheck &check, const uint8_t *r) {
  if (check.width == 0) {
    uint32_t bits;
    memcpy(&bits, r + check.offset, sizeof bits);
    return bits == 0 || bits == allLanes;
  }
  for (unsigned i = 1; i < warpSize; ++i)
    if (memcmp(r + check.offset, r + check.offset + i * check.width, check.width) != 0)
      return false;
  return true;
}

} // namespace

bool CompiledProgram::fits(uint32_t entry, const uint8_t *r) const {
  for (const EntryCheck &check : checks[entry]) {
    const LanePattern *pattern = check.pattern < 0 ? nullptr : &patterns[size_t(check.pattern)];
    bool fine = check.width == 2   ? looksLike<uint16_t>(check, pattern, r)
                : check.width == 4 ? looksLike<uint32_t>(check, pattern, r)
                : check.width == 8 ? looksLike<uint64_t>(check, pattern, r)
                                   : allEqual(check, r);
    if (!fine)
      return false;
  }
  return true;
}

template <class T> static void expandOne(const Expansion &e, const LanePattern *pattern, uint8_t *r) {
  T values[warpSize], first;
  memcpy(&first, r + e.offset, sizeof first);
  for (unsigned i = 0; i < warpSize; ++i)
    values[i] = T(first + T(pattern ? (*pattern)[i] : 0));
  memcpy(r + e.offset, values, sizeof values);
}

void CompiledProgram::expand(uint32_t list, uint8_t *r) const {
  for (const Expansion &e : expansions[list - 1]) {
    const LanePattern *pattern = e.pattern < 0 ? nullptr : &patterns[size_t(e.pattern)];
    if (e.width == 2)
      expandOne<uint16_t>(e, pattern, r);
    else if (e.width == 4)
      expandOne<uint32_t>(e, pattern, r);
    else if (e.width == 8)
      expandOne<uint64_t>(e, pattern, r);
    else
      expandOne<unsigned __int128>(e, pattern, r);
  }
}

/// A kernel's code, by shape of block and whether it counts.
struct CompiledKernels {
  using Key = std::array<uint32_t, 4>;
  std::mutex mutex;
  std::map<Key, std::unique_ptr<CompiledProgram>> code; // null: refused
  std::set<Key> notKept;                                // by earlier processes
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
bool ChosenEngine::load() {
  asked = true;
  if (kernels.notKept.count(key()))
    return false;
  std::unique_ptr<CompiledProgram> code = kernelCompiler()->load(request);
  if (!code) {
    kernels.notKept.insert(key());
    return false;
  }
  {
    std::lock_guard lock(useMutex);
    ++use.loadedKernels;
  }
  decide((kernels.code[key()] = std::move(code)).get());
  return true;
}

/// With the kernel's lock held.
void ChosenEngine::compile() {
  if (load())
    return;
  uint64_t start = processorTime();
  std::string why;
  std::unique_ptr<CompiledProgram> code = kernelCompiler()->compile(request, why);
  {
    std::lock_guard lock(useMutex);
    ++(code ? use.compiledKernels : use.refusedKernels);
    use.compileNanoseconds += processorTime() - start;
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
  uint64_t spent = kernels.interpreted.load(std::memory_order_relaxed) + (now() - begun);
  bool worth = spent >= fixedCost + costOfOperation * image.entry().ops.size();
  if (!worth && (spent < costOfLoading || asked.load(std::memory_order_relaxed)))
    return;
  std::unique_lock lock(kernels.mutex, std::try_to_lock);
  if (!lock || decided)
    return; // another worker is at it
  auto it = kernels.code.find(key());
  if (it != kernels.code.end())
    decide(it->second.get());
  else if (worth)
    compile();
  else
    load();
}

} // namespace joule::vgpu
