// Launching kernels, and running whatever else a stream holds.
#include "lib/VirtualGpu/Driver/Checking.h"
#include "lib/VirtualGpu/Driver/Functions.h"
#include "lib/VirtualGpu/Driver/LaunchLog.h"
#include "lib/VirtualGpu/Driver/Work.h"

#include <algorithm>
#include <cstring>
#include <thread>

namespace joule::vgpu {

ThreadLimit &threadLimit() {
  thread_local ThreadLimit limit;
  return limit;
}

static CUresult resultOf(FaultKind kind) {
  switch (kind) {
  case FaultKind::None:
    return CUDA_SUCCESS;
  case FaultKind::IllegalAddress:
    return CUDA_ERROR_ILLEGAL_ADDRESS;
  case FaultKind::Misaligned:
    return CUDA_ERROR_MISALIGNED_ADDRESS;
  case FaultKind::IllegalInstruction:
    return CUDA_ERROR_ILLEGAL_INSTRUCTION;
  case FaultKind::Timeout:
  case FaultKind::Deadlock:
    return CUDA_ERROR_LAUNCH_TIMEOUT;
  case FaultKind::OutOfResources:
    return CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES;
  case FaultKind::StackOverflow:
    return CUDA_ERROR_HARDWARE_STACK_ERROR;
  case FaultKind::Assert:
    return CUDA_ERROR_ASSERT;
  default:
    return CUDA_ERROR_LAUNCH_FAILED;
  }
}

// --- a launch, checked ---

constexpr uintptr_t extraEnd = 0, extraBufferPointer = 1, extraBufferSize = 2;

/// The kernel's parameters as one block, from an array of pointers or from a packed buffer.
static bool gatherParameters(const Program &program, void **parameters, void **extra,
                             std::vector<uint8_t> &block) {
  block.assign(program.kernelParameterBytes, 0);
  if (parameters || !extra) {
    for (size_t i = 0; i < program.kernelParameters.size(); ++i) {
      if (!parameters || !parameters[i])
        return false;
      memcpy(block.data() + program.kernelParameters[i], parameters[i], program.kernelParameterSizes[i]);
    }
    return true;
  }
  const void *buffer = nullptr;
  size_t size = 0;
  for (; uintptr_t(*extra) != extraEnd; extra += 2) {
    if (uintptr_t(*extra) == extraBufferPointer)
      buffer = extra[1];
    else if (uintptr_t(*extra) == extraBufferSize)
      size = extra[1] ? *static_cast<size_t *>(extra[1]) : 0;
    else
      return false;
  }
  // The last parameter's padding may be missing.
  if (program.kernelParameters.empty())
    return true;
  size_t needed = program.kernelParameters.back() + program.kernelParameterSizes.back();
  if (!buffer || size < needed)
    return false;
  memcpy(block.data(), buffer, std::min(size, block.size()));
  return true;
}

static int maxThreads(const ptx::Function &f) {
  uint32_t required = f.requiredBlock[0] * f.requiredBlock[1] * f.requiredBlock[2];
  return int(required ? required : f.maxThreads ? f.maxThreads : 1024);
}

static void checkShared(const LaunchRequest &request, const KernelImage &image) {
  uint64_t shared = uint64_t(request.dynamicShared) + image.staticShared();
  uint64_t most = std::max<uint64_t>(
      48 * 1024, image.maxDynamicShared ? image.maxDynamicShared + image.staticShared() : 0);
  if (shared > most)
    fail(CUDA_ERROR_INVALID_VALUE, "kernel '" + image.entry().function->name + "' asks for " +
                                       std::to_string(shared) + " bytes of shared memory, " +
                                       std::to_string(most) + " are allowed");
}

static void checkShape(const LaunchRequest &request, const KernelImage &image) {
  for (int i = 0; i < 3; ++i)
    want(request.grid[i] && request.block[i], "a grid or block of size 0");
  want(request.grid[0] <= 2147483647u && request.grid[1] <= 65535 && request.grid[2] <= 65535,
       "the grid is too large");
  want(request.block[0] <= 1024 && request.block[1] <= 1024 && request.block[2] <= 64,
       "a block has at most 1024 threads");
  uint64_t threads = uint64_t(request.block[0]) * request.block[1] * request.block[2];
  want(threads <= 1024, "a block has at most 1024 threads");
  const uint32_t *required = image.entry().function->requiredBlock;
  for (int i = 0; i < 3; ++i)
    want(!required[0] || request.block[i] == std::max(required[i], 1u),
         "the kernel was compiled for another shape of blocks");
  if (threads > uint64_t(maxThreads(*image.entry().function)))
    fail(CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES, "the kernel was compiled for fewer threads per block");
  checkShared(request, image);
}

/// The cluster's size: the launch's, or the one that the kernel was compiled for.
static void settleCluster(LaunchRequest &request, const KernelImage &image, const DeviceFacts &facts) {
  const uint32_t *required = image.entry().function->requiredCluster;
  bool isGiven = request.cluster[0] * request.cluster[1] * request.cluster[2] != 1;
  uint64_t blocks = 1;
  for (int i = 0; i < 3; ++i) {
    want(!required[0] || !isGiven || request.cluster[i] == required[i],
         "the kernel was compiled for another cluster");
    if (required[0])
      request.cluster[i] = required[i];
    want(request.cluster[i] >= 1 && request.cluster[i] <= 16, "a cluster has 1 to 16 blocks");
    want(request.grid[i] % request.cluster[i] == 0, "the grid is no whole number of clusters");
    blocks *= request.cluster[i];
  }
  want(blocks <= 16, "a cluster has 1 to 16 blocks");
  if (blocks > 1 && facts.major < 9)
    fail(CUDA_ERROR_NOT_SUPPORTED, "clusters of several blocks need a device of sm_90");
}

/// All blocks of a cooperative grid must be resident at once.
static void checkCooperative(CUfunction function, const LaunchRequest &request) {
  int perMultiprocessor = 0;
  int threads = int(request.block[0] * request.block[1] * request.block[2]);
  cuOccupancyMaxActiveBlocksPerMultiprocessor(&perMultiprocessor, function, threads, request.dynamicShared);
  uint64_t most = uint64_t(perMultiprocessor) * request.multiprocessors;
  uint64_t blocks = uint64_t(request.grid[0]) * request.grid[1] * request.grid[2];
  if (blocks > most)
    fail(CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE,
         std::to_string(blocks) + " blocks are to run at once, " + std::to_string(most) + " fit");
}

static void takeSettings(LaunchRequest &request, Device &device) {
  Driver &d = driver();
  request.threads = d.settings.threads;
  request.count = d.settings.count || !d.settings.countFile.empty() || isMetered();
  request.multiprocessors = unsigned(device.facts.multiprocessors);
  request.memory = &device.memory;
  request.interrupt = &d.interrupted;
  request.check = d.settings.check;
  request.schedule = d.settings.schedule;
  if (request.check)
    request.nodes = nodesOfLaunches();
}

KernelWork makeKernelWork(CUfunction handle, LaunchRequest request, void **parameters, void **extra) {
  CUfunction function = functionOf(handle);
  const KernelImage &image = *function->image;
  request.image = &image;
  checkShape(request, image);
  settleCluster(request, image, function->module->context->device->facts);
  want(gatherParameters(image.entry(), parameters, extra, request.parameters),
       "the kernel's parameters are missing");
  takeSettings(request, *function->module->context->device);
  if (request.cooperative)
    checkCooperative(function, request);
  KernelWork work;
  work.function = function;
  work.module = function->module->life;
  work.request = std::move(request);
  return work;
}

CUfunction functionOf(const KernelWork &work) {
  if (work.module.expired())
    fail(CUDA_ERROR_INVALID_HANDLE, "the kernel was unloaded with its module");
  return work.function;
}

KernelWork makeKernelWork(const CUDA_KERNEL_NODE_PARAMS &node) {
  const CUDA_KERNEL_NODE_PARAMS_v1 &p = node.first;
  LaunchRequest request;
  request.grid[0] = p.gridDimX, request.grid[1] = p.gridDimY, request.grid[2] = p.gridDimZ;
  request.block[0] = p.blockDimX, request.block[1] = p.blockDimY, request.block[2] = p.blockDimZ;
  request.dynamicShared = p.sharedMemBytes;
  CUfunction function = p.func ? p.func : reinterpret_cast<CUfunction>(node.kern);
  return makeKernelWork(function, std::move(request), p.kernelParams, p.extra);
}

/// A launch that failed at once says so; a kernel's own failure shows at the next call, as on the real
/// device.
static CUresult launchIn(CUstream handle, CUfunction function, LaunchRequest request, void **parameters,
                         void **extra) {
  CUstream stream = streamOf(handle);
  KernelWork work = makeKernelWork(function, std::move(request), parameters, extra);
  if (work.function->module->context->device != stream->context->device)
    fail(CUDA_ERROR_INVALID_HANDLE, "the kernel and the stream are of different devices");
  work.limit = threadLimit();
  CompletionPtr end = submit(stream, std::move(work));
  if (end && end->isDone() && end->outcome().code)
    fail(end->outcome().code, end->outcome().message);
  return CUDA_SUCCESS;
}

CUresult cuLaunchKernel(CUfunction function, unsigned int gridX, unsigned int gridY, unsigned int gridZ,
                        unsigned int blockX, unsigned int blockY, unsigned int blockZ,
                        unsigned int sharedBytes, CUstream stream, void **parameters, void **extra) {
  LaunchRequest request;
  request.grid[0] = gridX, request.grid[1] = gridY, request.grid[2] = gridZ;
  request.block[0] = blockX, request.block[1] = blockY, request.block[2] = blockZ;
  request.dynamicShared = sharedBytes;
  return launchIn(stream, function, std::move(request), parameters, extra);
}

LaunchRequest requestOf(const CUlaunchConfig &config) {
  LaunchRequest request;
  request.grid[0] = config.gridDimX, request.grid[1] = config.gridDimY, request.grid[2] = config.gridDimZ;
  request.block[0] = config.blockDimX, request.block[1] = config.blockDimY,
  request.block[2] = config.blockDimZ;
  request.dynamicShared = config.sharedMemBytes;
  want(config.attrs || !config.numAttrs, "attributes are missing");
  for (unsigned i = 0; i < config.numAttrs; ++i) {
    const CUlaunchAttribute &attribute = config.attrs[i];
    if (attribute.id == CU_LAUNCH_ATTRIBUTE_COOPERATIVE)
      request.cooperative = attribute.value.cooperative != 0;
    if (attribute.id == CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION) {
      const auto &size = attribute.value.clusterDim;
      request.cluster[0] = size.x, request.cluster[1] = size.y, request.cluster[2] = size.z;
    }
  }
  return request;
}

/// Attributes that order a launch within its stream: an event that it records when it starts or ends.
static void recordLaunchEvents(const CUlaunchConfig &config) {
  constexpr int launchEvent = 12;
  for (unsigned i = 0; i < config.numAttrs; ++i)
    if (int(config.attrs[i].id) == launchEvent) {
      CUevent event;
      memcpy(&event, config.attrs[i].value.pad, sizeof event);
      cuEventRecord(event, config.hStream);
    }
}

CUresult cuLaunchKernelEx(const CUlaunchConfig *config, CUfunction function, void **parameters,
                          void **extra) {
  want(config, "null pointer");
  CUresult result = launchIn(config->hStream, function, requestOf(*config), parameters, extra);
  recordLaunchEvents(*config);
  return result;
}

CUresult cuLaunchCooperativeKernel(CUfunction function, unsigned int gridX, unsigned int gridY,
                                   unsigned int gridZ, unsigned int blockX, unsigned int blockY,
                                   unsigned int blockZ, unsigned int sharedBytes, CUstream stream,
                                   void **parameters) {
  LaunchRequest request;
  request.grid[0] = gridX, request.grid[1] = gridY, request.grid[2] = gridZ;
  request.block[0] = blockX, request.block[1] = blockY, request.block[2] = blockZ;
  request.dynamicShared = sharedBytes;
  request.cooperative = true;
  return launchIn(stream, function, std::move(request), parameters, nullptr);
}

// --- running ---

namespace {

struct Runner {
  CUcontext context;

  Outcome operator()(const EmptyWork &) const { return {}; }

  Outcome operator()(const KernelWork &work) const {
    if (work.module.expired())
      return poison(context, CUDA_ERROR_INVALID_HANDLE, "a kernel of a graph was unloaded with its module"),
             Outcome{};
    LaunchRequest request = work.request;
    Driver &d = driver();
    if (d.settings.timeLimitSeconds > 0)
      request.deadline = std::chrono::steady_clock::now() +
                         std::chrono::microseconds(int64_t(d.settings.timeLimitSeconds * 1e6));
    request.deadline = std::min(request.deadline, work.limit.deadline);
    request.threadInterrupt = work.limit.stop;
    LaunchTimer timer(*context->device, work);
    LaunchResult result = launch(request);
    if (request.count)
      timer.record(result.counters);
    noteFindings(result.findings);
    // The caller asked for this end, which is no fault of the kernel.
    if (result.fault == FaultKind::Timeout && work.limit.isReached())
      return {CUDA_ERROR_LAUNCH_TIMEOUT, result.message};
    if (result.fault != FaultKind::None) {
      lastError() = result.message;
      poison(context, resultOf(result.fault), result.message);
    }
    return {};
  }

  Outcome operator()(const CopyWork &work) const {
    std::vector<std::shared_ptr<const void>> arrays;
    for (const std::weak_ptr<const void> &array : work.arrays) {
      arrays.push_back(array.lock());
      if (!arrays.back())
        return poison(context, CUDA_ERROR_INVALID_HANDLE, "a copy of a graph names an array that was destroyed"), Outcome{};
    }
    for (size_t z = 0; z < work.depth && work.width; ++z)
      for (size_t y = 0; y < work.height; ++y)
        memmove(reinterpret_cast<void *>(work.to + (z * work.toHeight + y) * work.toPitch),
                reinterpret_cast<const void *>(work.from + (z * work.fromHeight + y) * work.fromPitch),
                work.width);
    for (size_t row = 0; row < work.depth * work.height; ++row) {
      size_t z = row / work.height, y = row % work.height;
      noteCopied(work.to + (z * work.toHeight + y) * work.toPitch,
                 work.from + (z * work.fromHeight + y) * work.fromPitch, work.width);
    }
    return {};
  }

  Outcome operator()(const FillWork &work) const {
    const CUDA_MEMSET_NODE_PARAMS &box = work.box;
    for (size_t y = 0; y < box.height && box.width; ++y) {
      uint64_t row = box.dst + y * box.pitch;
      if (box.elementSize == 1)
        memset(reinterpret_cast<void *>(row), int(box.value), box.width);
      else if (box.elementSize == 2)
        std::fill_n(reinterpret_cast<uint16_t *>(row), box.width, uint16_t(box.value));
      else
        std::fill_n(reinterpret_cast<uint32_t *>(row), box.width, box.value);
      noteWritten(row, box.width * box.elementSize);
    }
    return {};
  }

  Outcome operator()(const HostWork &work) const {
    // A callback learns of the error; a host function is not called after one.
    CUresult status = CUresult(context->stickyError.load());
    if (work.callback)
      work.callback(work.stream, status, work.data);
    else if (status == CUDA_SUCCESS)
      work.function(work.data);
    return {};
  }

  Outcome operator()(const RecordWork &work) const {
    auto end = std::make_shared<Completion>();
    end->finish({});
    std::lock_guard lock(driver().mutex);
    if (driver().handles.has(work.event, HandleKind::Event))
      work.event->recorded = std::move(end);
    return {};
  }

  Outcome operator()(const WaitWork &work) const {
    CompletionPtr end;
    {
      std::lock_guard lock(driver().mutex);
      if (driver().handles.has(work.event, HandleKind::Event))
        end = work.event->recorded;
    }
    if (end)
      end->wait();
    return {};
  }

  Outcome operator()(const AllocWork &work) const {
    uint64_t base;
    Allocation allocation;
    if (!lookUp(work.parameters.dptr, base, allocation))
      poison(context, CUDA_ERROR_NOT_SUPPORTED,
             "memory of a graph that is launched again was freed outside of it");
    return {};
  }

  Outcome operator()(const FreeWork &work) const {
    if (work.isOfGraph)
      return {};
    try {
      release(work.address, true);
    } catch (const Failure &failure) {
      poison(context, failure.code, failure.what());
    }
    return {};
  }

  Outcome operator()(const WordWork &work) const {
    return work.bytes == 4 ? word<uint32_t>(work) : word<uint64_t>(work);
  }

  Outcome operator()(const GraphWork &work) const {
    for (const Work &step : work.body->steps)
      if (Outcome outcome = run(step, context); outcome.code)
        return outcome;
    return {};
  }

private:
  template <class T> Outcome word(const WordWork &work) const {
    T *place = reinterpret_cast<T *>(work.address);
    T value = T(work.value);
    if (!work.isWait)
      __atomic_store_n(place, value, __ATOMIC_SEQ_CST);
    noteWritten(work.address, sizeof(T));
    while (work.isWait && !holds(__atomic_load_n(place, __ATOMIC_SEQ_CST), value, work.flags & 7)) {
      if (driver().interrupted)
        return {CUDA_ERROR_LAUNCH_TIMEOUT, "a wait for a word was interrupted"};
      std::this_thread::sleep_for(std::chrono::microseconds(20));
    }
    return {};
  }

  template <class T> static bool holds(T seen, T value, unsigned comparison) {
    constexpr unsigned atLeast = 0, equal = 1, anyBit = 2;
    if (comparison == atLeast)
      return std::make_signed_t<T>(seen - value) >= 0;
    if (comparison == equal)
      return seen == value;
    return comparison == anyBit ? (seen & value) != 0 : T(~(seen | value)) != 0;
  }
};

} // namespace

Outcome run(const Work &work, CUcontext context) {
  // Nothing runs after a failure, but what others wait for is told and memory goes.
  bool always = std::holds_alternative<HostWork>(work) || std::holds_alternative<FreeWork>(work) ||
                std::holds_alternative<GraphWork>(work);
  if (context->stickyError && !always)
    return {};
  try {
    return std::visit(Runner{context}, work);
  } catch (const std::exception &error) {
    poison(context, CUDA_ERROR_UNKNOWN, error.what());
    return {};
  }
}

} // namespace joule::vgpu
