// The way in: every function by its name and by CUDA's version. No exception leaves a function of the
// interface.
#include "lib/VirtualGpu/Driver/Entries.h"
#include "lib/VirtualGpu/Driver/Checking.h"
#include "lib/VirtualGpu/Driver/Functions.h"
#include "lib/VirtualGpu/Driver/LaunchLog.h"
#include "lib/VirtualGpu/Driver/Nvml.h"
#include "lib/VirtualGpu/Driver/RefusedFunctions.h"
#include "lib/VirtualGpu/Driver/Work.h"
#include "lib/VirtualGpu/VirtualGpuApi.h"

#include <algorithm>
#include <cstring>

namespace joule::vgpu {

// --- what CUDA's functions need around them ---

static CUresult failed(CUresult code, const char *message) {
  lastError() = message;
  return code;
}

/// What the library gives out for a function: what it throws becomes a result.
template <auto function> struct Guarded;
template <class... Parameters, CUresult (*function)(Parameters...)> struct Guarded<function> {
  static CUresult call(Parameters... parameters) noexcept {
    try {
      return function(parameters...);
    } catch (const Failure &failure) {
      return failed(failure.code, failure.what());
    } catch (const std::bad_alloc &) {
      return failed(CUDA_ERROR_OUT_OF_MEMORY, "the host has no memory left");
    } catch (const std::exception &error) {
      return failed(CUDA_ERROR_UNKNOWN, error.what());
    }
  }
  static CUresult callPerThread(Parameters... parameters) noexcept {
    PerThreadDefault scope;
    return call(parameters...);
  }
};

CUresult cuProfilerStart() {
  ready();
  return CUDA_SUCCESS;
}
CUresult cuProfilerStop() {
  ready();
  return CUDA_SUCCESS;
}

/// Tables of functions that NVIDIA's own libraries agree on among themselves: there are none here.
CUresult cuGetExportTable(const void **table, const CUuuid *id) {
  want(table && id, "null pointer");
  *table = nullptr;
  fail(CUDA_ERROR_NOT_FOUND, "the virtual driver has no such table");
}

// --- finding a function ---

namespace {

/// From CUDA's `since` on, `base` means `name`. Newest first. Where nothing is said, a second form is as old
/// as anything.
struct Variant {
  const char *base;
  int since;
  const char *name;
};

const Variant variants[] = {
    {"cuDeviceGetUuid", 11040, "cuDeviceGetUuid_v2"},
    {"cuDevicePrimaryCtxRelease", 11000, "cuDevicePrimaryCtxRelease_v2"},
    {"cuDevicePrimaryCtxReset", 11000, "cuDevicePrimaryCtxReset_v2"},
    {"cuDevicePrimaryCtxSetFlags", 11000, "cuDevicePrimaryCtxSetFlags_v2"},
    {"cuCtxCreate", 12050, "cuCtxCreate_v4"},
    {"cuCtxCreate", 11040, "cuCtxCreate_v3"},
    {"cuCtxCreate", 3020, "cuCtxCreate_v2"},
    {"cuCtxGetDevice", 13000, "cuCtxGetDevice_v2"},
    {"cuCtxSynchronize", 13000, "cuCtxSynchronize_v2"},
    {"cuStreamGetCtx", 12050, "cuStreamGetCtx_v2"},
    {"cuMemcpyBatchAsync", 13000, "cuMemcpyBatchAsync_v2"},
    {"cuMemcpy3DBatchAsync", 13000, "cuMemcpy3DBatchAsync_v2"},
    {"cuEventElapsedTime", 12080, "cuEventElapsedTime_v2"},
    {"cuMemAdvise", 12020, "cuMemAdvise_v2"},
    {"cuMemPrefetchAsync", 12020, "cuMemPrefetchAsync_v2"},
    {"cuStreamGetCaptureInfo", 12030, "cuStreamGetCaptureInfo_v3"},
    {"cuStreamGetCaptureInfo", 11030, "cuStreamGetCaptureInfo_v2"},
    {"cuStreamUpdateCaptureDependencies", 12030, "cuStreamUpdateCaptureDependencies_v2"},
    {"cuGraphAddKernelNode", 12000, "cuGraphAddKernelNode_v2"},
    {"cuGraphKernelNodeGetParams", 12000, "cuGraphKernelNodeGetParams_v2"},
    {"cuGraphKernelNodeSetParams", 12000, "cuGraphKernelNodeSetParams_v2"},
    {"cuGraphExecKernelNodeSetParams", 12000, "cuGraphExecKernelNodeSetParams_v2"},
    {"cuGraphInstantiate", 12000, "cuGraphInstantiateWithFlags"},
    {"cuGraphInstantiate", 11000, "cuGraphInstantiate_v2"},
    {"cuGraphExecUpdate", 12000, "cuGraphExecUpdate_v2"},
    {"cuGraphGetEdges", 12030, "cuGraphGetEdges_v2"},
    {"cuGraphNodeGetDependencies", 12030, "cuGraphNodeGetDependencies_v2"},
    {"cuGraphNodeGetDependentNodes", 12030, "cuGraphNodeGetDependentNodes_v2"},
    {"cuGraphAddDependencies", 12030, "cuGraphAddDependencies_v2"},
    {"cuGraphRemoveDependencies", 12030, "cuGraphRemoveDependencies_v2"},
    {"cuGraphAddNode", 12030, "cuGraphAddNode_v2"},
    {"cuTexRefSetAddress2D", 4010, "cuTexRefSetAddress2D_v3"},
    {"cuGetProcAddress", 12000, "cuGetProcAddress_v2"},
};

std::string nameFor(const std::string &symbol, int version) {
  bool isListed = false;
  for (const Variant &variant : variants) {
    if (symbol != variant.base)
      continue;
    isListed = true;
    if (version >= variant.since)
      return variant.name;
  }
  if (!isListed && findFunction((symbol + "_v2").c_str()))
    return symbol + "_v2";
  return symbol;
}

void *findForThread(const std::string &name) {
  if (void *function = findFunction((name + "_ptsz").c_str()))
    return function;
  return findFunction((name + "_ptds").c_str());
}

} // namespace

CUresult cuGetProcAddress_v2(const char *symbol, void **function, int version, uint64_t flags,
                             CUdriverProcAddressQueryResult *status) {
  constexpr uint64_t perThread = 2;
  want(symbol && function, "null pointer");
  std::string name = nameFor(symbol, version);
  *function = flags & perThread ? findForThread(name) : nullptr;
  if (!*function)
    *function = findFunction(name.c_str());
  if (status)
    *status = *function ? CU_GET_PROC_ADDRESS_SUCCESS : CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
  if (!*function)
    fail(CUDA_ERROR_NOT_FOUND, std::string("the virtual driver has no ") + symbol);
  return CUDA_SUCCESS;
}

CUresult cuGetProcAddress(const char *symbol, void **function, int version, uint64_t flags) {
  return cuGetProcAddress_v2(symbol, function, version, flags, nullptr);
}

// --- beyond CUDA ---

static const char *jouleVgpuIdentity() { return "joule virtual gpu"; }

/// Whether all devices of a list exist.
static bool exist(const std::string &devices) {
  for (size_t at = 0; at <= devices.size();) {
    size_t plus = std::min(devices.find('+', at), devices.size());
    std::string name = devices.substr(at, plus - at);
    if (!findDevice(name)) {
      lastError() = unknownDevice(name);
      return false;
    }
    at = plus + 1;
  }
  return true;
}

static int jouleVgpuSetOptions(const JouleVgpuOptions *options) {
  if (!options || options->size < sizeof(JouleVgpuOptions))
    return 1;
  Driver &d = driver();
  std::lock_guard lock(d.mutex);
  Settings asked = d.settings;
  lastError() = "";
  if (options->device) {
    if (!setDevice(asked, options->device) || !exist(asked.device) ||
        (d.initialised && (d.settings.device != asked.device || d.settings.exact != asked.exact || d.settings.check != asked.check)))
      return 1;
    d.settings = asked;
  }
  if (options->threads)
    d.settings.threads = options->threads;
  d.settings.count = options->count != 0;
  d.settings.timeLimitSeconds = options->timeLimitSeconds;
  return 0;
}

static void copyCounters(const Counters &from, JouleVgpuCounters &to) {
  static_assert(Counters::classes == jouleVgpuInstructionClasses);
  to.classes = Counters::classes;
  to.launches = from.launches;
  std::copy_n(from.warpInstructions, Counters::classes, to.warpInstructions);
  std::copy_n(from.threadInstructions, Counters::classes, to.threadInstructions);
  static_assert(sizeof(MemoryCount) == 10 * sizeof(uint64_t));
  memcpy(&to.globalLoadBytes, &from.memory, sizeof from.memory);
}

static int jouleVgpuReadCounters(const char *kernel, JouleVgpuCounters *counters) {
  if (!counters || counters->size < sizeof(JouleVgpuCounters))
    return 1;
  drainAll();
  Driver &d = driver();
  std::lock_guard lock(d.mutex);
  Counters total;
  for (auto &[name, counted] : d.counters)
    if (!kernel || name == kernel)
      total.add(counted);
  copyCounters(total, *counters);
  return total.launches ? 0 : 1;
}

static void jouleVgpuResetCounters() {
  drainAll();
  std::lock_guard lock(driver().mutex);
  driver().counters.clear();
}

static const char *jouleVgpuCounterName(uint32_t instructionClass) {
  return instructionClass < Counters::classes ? nameOf(InstructionClass(instructionClass)) : nullptr;
}

static const char *jouleVgpuLastError() { return lastError().c_str(); }
static void jouleVgpuInterrupt(int on) { driver().interrupted = on != 0; }
static void jouleVgpuLimitThread(double seconds, const std::atomic<bool> *stop) {
  ThreadLimit &limit = threadLimit();
  limit = {};
  limit.stop = stop;
  if (seconds > 0)
    limit.deadline = std::chrono::steady_clock::now() + std::chrono::microseconds(int64_t(seconds * 1e6));
}
static size_t jouleVgpuCountFindings() {
  drainAll();
  return countFindings();
}
static const char *jouleVgpuFinding(size_t index) { return textOfFinding(index); }
static int jouleVgpuIsChecking() { return driver().settings.check; }
static void jouleVgpuNameNodes(const char *nodes) { nodesOfLaunches() = nodes ? nodes : ""; }
static const char *jouleVgpuInstructionSet() { return instructionSet(); }
static int jouleVgpuReadEngineUse(JouleVgpuEngineUse *use) {
  static thread_local std::string refusal;
  if (!use || use->size != sizeof *use)
    return 1;
  EngineUse all = engineUse();
  refusal = all.lastRefusal;
  *use = {use->size,
          all.compiledKernels,
          all.refusedKernels,
          all.loadedKernels,
          all.compiledLaunches,
          all.interpretedLaunches,
          all.compiledRuns,
          all.interpretedRuns,
          refusal.c_str()};
  return 0;
}
static void jouleVgpuRunAsynchronously(int on) { driver().asynchronous = on != 0; }

#define JOULE_PLAIN_ENTRY(name) {#name, reinterpret_cast<void *>(&name)},
#define JOULE_NVML_ENTRY(name, parameters) JOULE_PLAIN_ENTRY(name)
#define JOULE_ENTRY(name, parameters) {#name, reinterpret_cast<void *>(&Guarded<&name>::call)},
// The machine's calling convention lets a function ignore what it is given.
#define JOULE_REFUSED_ENTRY(name, why)                                                                       \
  {#name, reinterpret_cast<void *>(                                                                          \
              +[]() noexcept { return failed(CUDA_ERROR_NOT_SUPPORTED, #name ": " why); })},
#define JOULE_PER_THREAD_ENTRY(name, suffix)                                                                 \
  {#name #suffix, reinterpret_cast<void *>(&Guarded<&name>::callPerThread)},

void *findFunction(const char *name) {
  static const auto *table = new std::unordered_map<std::string, void *>{
      JOULE_DRIVER_FUNCTIONS(JOULE_ENTRY) JOULE_CUDA_FUNCTIONS(JOULE_ENTRY)
          JOULE_TENSOR_MAP_FUNCTIONS(JOULE_ENTRY) JOULE_PER_THREAD_FUNCTIONS(JOULE_PER_THREAD_ENTRY)
              JOULE_REFUSED_FUNCTIONS(JOULE_REFUSED_ENTRY) JOULE_NVML_FUNCTIONS(JOULE_NVML_ENTRY) JOULE_PLAIN_ENTRY(nvmlErrorString)
                  JOULE_PLAIN_ENTRY(jouleVgpuIdentity) JOULE_PLAIN_ENTRY(jouleVgpuSetOptions)
                      JOULE_PLAIN_ENTRY(jouleVgpuReadCounters) JOULE_PLAIN_ENTRY(jouleVgpuResetCounters)
                          JOULE_PLAIN_ENTRY(jouleVgpuCounterName) JOULE_PLAIN_ENTRY(jouleVgpuLastError)
                              JOULE_PLAIN_ENTRY(jouleVgpuInterrupt) JOULE_PLAIN_ENTRY(jouleVgpuLimitThread)
                                  JOULE_PLAIN_ENTRY(jouleVgpuInstructionSet)
                                      JOULE_PLAIN_ENTRY(jouleVgpuReadEngineUse)
                                          JOULE_PLAIN_ENTRY(jouleVgpuRunAsynchronously)
                                              JOULE_PLAIN_ENTRY(jouleVgpuCountFindings)
                                              JOULE_PLAIN_ENTRY(jouleVgpuFinding)
                                              JOULE_PLAIN_ENTRY(jouleVgpuIsChecking)
                                              JOULE_PLAIN_ENTRY(jouleVgpuNameNodes)};
  if (!name)
    return nullptr;
  auto it = table->find(name);
  return it == table->end() ? nullptr : it->second;
}

} // namespace joule::vgpu
