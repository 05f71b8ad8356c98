// What the virtual driver offers beyond CUDA's functions. All of it is reached through the library's one
// exported symbol, `joule_vgpu_get_proc_address`, by the names below.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

extern "C" {

/// Returns a function of CUDA's driver interface, or one of those below; null for a name it does not know.
typedef void *(*JouleVgpuGetProcAddress)(const char *name);

/// `jouleVgpuIdentity`: says that this is the virtual driver and not a GPU's. A static text.
typedef const char *(*JouleVgpuIdentity)(void);

struct JouleVgpuOptions {
  uint32_t size;           // sizeof(JouleVgpuOptions)
  uint32_t threads;        // workers of a launch; 0: as before; 1: blocks in order
  const char *device;      // names of device files: "a100", "a100,exact", "a100+l4"; null: as before. Only before cuInit
  uint32_t count;          // 1: count from here on; 0: do not
  double timeLimitSeconds; // of one launch; 0: none
};
/// `jouleVgpuSetOptions`: returns 0, or 1 if an option is not valid.
typedef int (*JouleVgpuSetOptions)(const JouleVgpuOptions *options);

enum { jouleVgpuInstructionClasses = 22 };

struct JouleVgpuCounters {
  uint32_t size; // sizeof(JouleVgpuCounters), set by the caller
  uint32_t classes;
  uint64_t launches;
  uint64_t warpInstructions[jouleVgpuInstructionClasses];
  uint64_t threadInstructions[jouleVgpuInstructionClasses];
  uint64_t globalLoadBytes, globalStoreBytes, globalLoadSectors, globalStoreSectors;
  uint64_t sharedLoadBytes, sharedStoreBytes, sharedLoadWavefronts, sharedStoreWavefronts;
  uint64_t localBytes, constBytes;
};
/// `jouleVgpuReadCounters`: of one kernel by name, or of all with null. Returns 0, or 1 if nothing was
/// counted.
typedef int (*JouleVgpuReadCounters)(const char *kernel, JouleVgpuCounters *counters);
/// `jouleVgpuResetCounters`
typedef void (*JouleVgpuResetCounters)(void);
/// `jouleVgpuCounterName`: of an instruction class; null past the last.
typedef const char *(*JouleVgpuCounterName)(uint32_t instructionClass);
/// `jouleVgpuLastError`: the text of the calling thread's last failure: kernel, line, block, thread, address.
typedef const char *(*JouleVgpuLastError)(void);
/// `jouleVgpuInterrupt`: running launches end with CUDA_ERROR_LAUNCH_TIMEOUT; 0 takes it back.
typedef void (*JouleVgpuInterrupt)(int on);
/// `jouleVgpuLimitThread`: launches that the calling thread makes from here on end after `seconds` in all (0: no
/// limit) or when `stop` becomes true (null: never), with CUDA_ERROR_LAUNCH_TIMEOUT at once and the context unharmed.
typedef void (*JouleVgpuLimitThread)(double seconds, const std::atomic<bool> *stop);
struct JouleVgpuEngineUse {
  uint32_t size; // sizeof(JouleVgpuEngineUse), set by the caller
  uint64_t compiledKernels, refusedKernels;       // by the compiler; a refused one stays with the interpreter
  uint64_t loadedKernels;                         // whose code an earlier process had left in the cache
  uint64_t compiledLaunches, interpretedLaunches; // by the engine that a launch ended with
  uint64_t compiledRuns, interpretedRuns;         // turns of warps
  const char *lastRefusal;                        // kernel and reason; valid until the thread's next call
};
/// `jouleVgpuReadEngineUse`: which engine ran what, since the process began. Returns 0, or 1 if the size is wrong.
typedef int (*JouleVgpuReadEngineUse)(struct JouleVgpuEngineUse *use);
/// `jouleVgpuCountFindings`: how many check mode has kept, after all that was started has ended; each line of PTX and
/// kind once.
typedef size_t (*JouleVgpuCountFindings)(void);
/// `jouleVgpuFinding`: the text of one; null beyond the last.
typedef const char *(*JouleVgpuFinding)(size_t index);
/// `jouleVgpuIsChecking`: whether launches run in check mode.
typedef int (*JouleVgpuIsChecking)(void);
/// `jouleVgpuNameNodes`: for findings, which ONNX nodes the calling thread's next launches belong to.
typedef void (*JouleVgpuNameNodes)(const char *nodes);
/// `jouleVgpuInstructionSet`: "avx512", "avx2" or "baseline".
typedef const char *(*JouleVgpuInstructionSet)(void);
/// `jouleVgpuRunAsynchronously`: 1 gives streams threads of their own, as libcuda.so.1 does for its callers; 0, as at
/// first, lets work run in the thread that asks for it.
typedef void (*JouleVgpuRunAsynchronously)(int on);

} // extern "C"
