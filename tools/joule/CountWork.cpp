// Runs the kernels in memory that has nothing behind it but zeros, as much of it as any kernel asks for.
#include "tools/joule/CountWork.h"

#include "lib/VirtualGpu/Launch.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <memory>
#include <sys/mman.h>

namespace joule::cli {

namespace {

using Counted = vgpu::LaunchResult;

/// Each buffer of a launch begins so far from the one before.
constexpr uint64_t bufferBytes = 1ull << 36;
constexpr uint64_t mostArguments = 64;

/// Pages that exist once they are written.
class Zeros {
public:
  Zeros() : begin(mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0)) {}
  ~Zeros() {
    if (isThere())
      munmap(begin, bytes);
  }
  Zeros(const Zeros &) = delete;

  bool isThere() const { return begin != MAP_FAILED; }
  uint64_t buffer(size_t argument) const { return reinterpret_cast<uint64_t>(begin) + argument * bufferBytes; }

  static constexpr uint64_t bytes = bufferBytes * mostArguments;

private:
  void *begin;
};

class Counting {
public:
  explicit Counting(const Artifact &artifact) : artifact(artifact), memory(0) {
    if (zeros.isThere())
      for (size_t i = 0; i < mostArguments; ++i)
        memory.adopt(zeros.buffer(i), bufferBytes / 2);
  }

  bool isReady() const { return zeros.isThere(); }

  /// Nothing where the kernel does not end without its data.
  Result<std::optional<Counted>> count(const LaunchWork &launch) {
    const LaunchShape &shape = *launch.shape;
    Key key{launch.kernel->ptx() + '\n' + launch.kernel->name(), shape.grid, shape.block, shape.sharedBytes, shape.arguments};
    if (auto known = counted.find(key); known != counted.end())
      return known->second;
    Result<vgpu::KernelImage *> image = kernelOf(*launch.kernel);
    if (!image)
      return image.error();
    return counted[key] = *image ? run(**image, launch) : std::nullopt;
  }

private:
  using Key = std::tuple<std::string, std::array<uint32_t, 3>, std::array<uint32_t, 3>, uint32_t, std::vector<int64_t>>;

  /// Null where the PTX holds no such kernel.
  Result<vgpu::KernelImage *> kernelOf(const plan::Kernel &kernel) {
    std::unique_ptr<vgpu::LoadedModule> &module = modules[kernel.ptx()];
    if (!module) {
      Result<std::string> text = artifact.read(kernel.ptx());
      if (!text)
        return text.error();
      try {
        module = std::make_unique<vgpu::LoadedModule>(std::move(*text), memory);
      } catch (const std::exception &error) {
        return Error{ErrorCode::PlanInvalid, kernel.ptx() + " is no PTX: " + error.what(), ""};
      }
    }
    return module->kernel(kernel.name());
  }

  std::optional<Counted> run(const vgpu::KernelImage &image, const LaunchWork &launch) {
    const LaunchShape &shape = *launch.shape;
    const vgpu::Program &program = image.entry();
    uint64_t threads = uint64_t(shape.block[0]) * shape.block[1] * shape.block[2];
    if (shape.arguments.size() != program.kernelParameters.size() || shape.arguments.size() > mostArguments ||
        threads < 1 || threads > 1024)
      return std::nullopt;
    vgpu::LaunchRequest request;
    request.image = &image;
    std::copy(shape.grid.begin(), shape.grid.end(), request.grid);
    std::copy(shape.block.begin(), shape.block.end(), request.block);
    request.dynamicShared = shape.sharedBytes;
    request.memory = &memory;
    request.deadline = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    request.parameters.resize(program.kernelParameterBytes);
    for (size_t i = 0; i < shape.arguments.size(); ++i) {
      bool isBuffer = launch.launch->arguments(static_cast<int>(i)).kind() == plan::Argument::BUFFER;
      uint64_t value = isBuffer ? zeros.buffer(i) : static_cast<uint64_t>(shape.arguments[i]);
      std::memcpy(request.parameters.data() + program.kernelParameters[i], &value,
                  std::min<size_t>(sizeof value, program.kernelParameterSizes[i]));
    }
    vgpu::LaunchResult result = vgpu::countSample(request);
    return result.fault == vgpu::FaultKind::None ? std::optional(std::move(result)) : std::nullopt;
  }

  const Artifact &artifact;
  Zeros zeros;
  vgpu::MemoryMap memory;
  std::map<std::string, std::unique_ptr<vgpu::LoadedModule>> modules;
  std::map<Key, std::optional<Counted>> counted;
};

} // namespace

static void add(WorkCounts &work, const vgpu::LaunchResult &counted) {
  const vgpu::Counters &counters = counted.counters;
  using From = vgpu::InstructionClass;
  auto take = [&](InstructionClass to, std::initializer_list<From> classes) {
    for (From from : classes)
      work.instructionsOf(to) += static_cast<double>(counters.threadInstructions[static_cast<size_t>(from)]);
  };
  take(InstructionClass::Fp32, {From::Fp32Fma, From::Fp32Add, From::Fp32Mul, From::Fp32Other});
  take(InstructionClass::Fp64, {From::Fp64});
  take(InstructionClass::Integer, {From::Integer});
  take(InstructionClass::Special, {From::Special});
  work.instructionsOf(InstructionClass::Any) += static_cast<double>(counters.totalThreadInstructions());
  const vgpu::MemoryCount &memory = counters.memory;
  constexpr double sector = 32;
  work.l2Bytes += Bytes(sector * static_cast<double>(counted.blockSectors));
  work.l1Bytes += Bytes(static_cast<double>(memory.globalLoadBytes + memory.globalStoreBytes));
  work.sharedBytes += Bytes(static_cast<double>(memory.sharedLoadBytes + memory.sharedStoreBytes));
}

Result<size_t> countWork(const Artifact &artifact, std::vector<LaunchWork> &launches) {
  Counting counting(artifact);
  if (!counting.isReady())
    return Error{ErrorCode::HostMemoryFull, "there is no room for addresses to count launches with", ""};
  size_t left = 0;
  for (LaunchWork &launch : launches) {
    std::optional<Counted> counts;
    if (launch.work && launch.shape) {
      Result<std::optional<Counted>> counted = counting.count(launch);
      if (!counted)
        return counted.error();
      counts = *counted;
    }
    if (!counts) {
      ++left;
      continue;
    }
    add(*launch.work, *counts);
    launch.work->blocks = 1.0 * launch.shape->grid[0] * launch.shape->grid[1] * launch.shape->grid[2];
  }
  return left;
}

} // namespace joule::cli
