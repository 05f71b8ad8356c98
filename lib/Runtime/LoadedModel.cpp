// One module per code entry, one piece of memory for all weights.
#include "lib/Runtime/LoadedModel.h"

#include "lib/Artifact/ArtifactReader.h"
#include "lib/Runtime/MemoryPlanner.h"
#include "lib/Runtime/StepRegisters.h"

#include <algorithm>
#include <fmt/format.h>

namespace joule {

// A piece of a weight that is copied at a time, so that the driver's staging stays small.
constexpr uint64_t pieceBytes = 64 << 20;

Result<std::shared_ptr<LoadedModel>> LoadedModel::load(std::shared_ptr<const Driver> driver,
                                                       const Artifact &artifact, const plan::Plan &plan,
                                                       bool isReal) {
  std::shared_ptr<LoadedModel> model(new LoadedModel(std::move(driver)));
  if (Result<void> loaded = model->loadKernels(artifact, plan, isReal); !loaded)
    return loaded.error();
  if (model->driver->cuFuncGetParamInfo)
    if (Result<void> checked = model->checkLaunches(plan, plan.body()); !checked)
      return checked.error();
  if (Result<void> loaded = model->loadWeights(artifact, plan); !loaded)
    return loaded.error();
  return model;
}

LoadedModel::~LoadedModel() {
  for (CUmodule module : modules)
    (void)driver->cuModuleUnload(module);
  if (slab)
    (void)driver->cuMemFree_v2(slab);
}

static Result<CUmodule> loadModule(const Driver &driver, const std::string &entry, const std::string &code) {
  std::string log(8192, '\0');
  CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
  void *values[] = {log.data(), reinterpret_cast<void *>(log.size() - 1)};
  CUmodule module = nullptr;
  // The driver reads PTX up to its terminating zero, which std::string has.
  CUresult code_ = driver.cuModuleLoadDataEx(&module, code.c_str(), 2, options, values);
  if (code_ == CUDA_SUCCESS)
    return module;
  Error error = driver.failure(code_, fmt::format("load \"{}\"", entry));
  error.code = ErrorCode::KernelUnloadable;
  log.resize(log.find('\0'));
  if (!log.empty())
    error.message += ": " + log;
  return error;
}

Result<void> LoadedModel::loadKernels(const Artifact &artifact, const plan::Plan &plan, bool isReal) {
  std::map<std::string, CUmodule> byEntry;
  kernels = std::vector<LoadedKernel>(static_cast<size_t>(plan.kernels_size()));
  for (int i = 0; i < plan.kernels_size(); ++i) {
    const plan::Kernel &kernel = plan.kernels(i);
    bool useCubin = !kernel.cubin().empty() && (isReal || kernel.ptx().empty());
    const std::string &entry = useCubin ? kernel.cubin() : kernel.ptx();
    if (!byEntry.count(entry)) {
      Result<std::string> code = artifact.read(entry);
      if (!code)
        return code.error();
      Result<CUmodule> module = loadModule(*driver, entry, *code);
      if (!module)
        return module.error();
      modules.push_back(*module);
      byEntry[entry] = *module;
    }
    CUresult found = driver->cuModuleGetFunction(&kernels[static_cast<size_t>(i)].function, byEntry[entry],
                                                 kernel.name().c_str());
    if (found != CUDA_SUCCESS) {
      Error error = driver->failure(found, fmt::format("find kernel {} in \"{}\"", kernel.name(), entry));
      error.code = ErrorCode::KernelUnloadable;
      return error;
    }
  }
  return {};
}

// The driver reads as many arguments as the kernel has parameters, however few it is given.
Result<void> LoadedModel::checkLaunches(const plan::Plan &plan, const plan::Block &block) const {
  for (const plan::Step &step : block.steps()) {
    Result<void> checked;
    if (step.has_launch())
      checked = checkLaunch(plan.kernels(static_cast<int>(step.launch().kernel())), step.launch());
    for (const plan::Block *inner : innerBlocks(step))
      if (checked)
        checked = checkLaunches(plan, *inner);
    if (!checked)
      return checked;
  }
  return {};
}

Result<void> LoadedModel::checkLaunch(const plan::Kernel &kernel, const plan::Launch &launch) const {
  CUfunction function = kernels[launch.kernel()].function;
  auto sizeOf = [&](int parameter) {
    size_t offset = 0, size = 0;
    CUresult code = driver->cuFuncGetParamInfo(function, static_cast<size_t>(parameter), &offset, &size);
    return code == CUDA_SUCCESS ? size : 0;
  };
  for (int i = 0; i < launch.arguments_size(); ++i) {
    size_t given = launch.arguments(i).kind() == plan::Argument::I32 ? 4 : 8, wanted = sizeOf(i);
    if (given != wanted)
      return Error{ErrorCode::PlanInvalid,
                   fmt::format("the plan is invalid: argument {} of kernel {} has {} bytes and its parameter {}", i,
                               kernel.name(), given, wanted),
                   ""};
  }
  if (sizeOf(launch.arguments_size()) != 0)
    return Error{ErrorCode::PlanInvalid,
                 fmt::format("the plan is invalid: kernel {} is launched with {} arguments and takes more", kernel.name(),
                             launch.arguments_size()),
                 ""};
  return {};
}

Result<void> LoadedModel::loadWeights(const Artifact &artifact, const plan::Plan &plan) {
  std::map<std::string, uint64_t> offsets; // of each entry in the slab
  uint64_t total = 0;
  const auto &entries = artifact.impl()->zip->entries();
  for (const plan::Weight &weight : plan.weights())
    if (offsets.emplace(weight.entry(), total).second)
      total +=
          (entries.at(weight.entry()).bytes.size() + arenaAlignment - 1) / arenaAlignment * arenaAlignment;
  if (total > 0)
    if (CUresult code = driver->cuMemAlloc_v2(&slab, total); code != CUDA_SUCCESS)
      return driver->failure(code, fmt::format("allocate {} bytes for the weights", total));
  for (const auto &[entry, offset] : offsets) {
    std::string_view bytes = entries.at(entry).bytes;
    for (uint64_t at = 0; at < bytes.size(); at += pieceBytes) {
      uint64_t size = std::min<uint64_t>(pieceBytes, bytes.size() - at);
      if (CUresult code = driver->cuMemcpyHtoDAsync_v2(slab + offset + at, bytes.data() + at, size, nullptr);
          code != CUDA_SUCCESS)
        return driver->failure(code, fmt::format("copy \"{}\" to the device", entry));
    }
  }
  if (CUresult code = driver->cuStreamSynchronize(nullptr); code != CUDA_SUCCESS)
    return driver->failure(code, "copy the weights to the device");
  for (const plan::Weight &weight : plan.weights())
    weights.push_back(slab + offsets[weight.entry()] + weight.offset());
  return {};
}

} // namespace joule
