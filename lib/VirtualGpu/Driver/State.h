// What the files of the driver share: its devices, contexts and handles, and how a function of the interface
// fails.
#pragma once

#include "lib/VirtualGpu/Devices.h"
#include "lib/VirtualGpu/Driver/CudaApi.h"
#include "lib/VirtualGpu/Driver/Queue.h"
#include "lib/VirtualGpu/Launch.h"
#include "lib/VirtualGpu/Settings.h"

#include <map>
#include <set>
#include <shared_mutex>
#include <stdexcept>
#include <thread>
#include <unordered_map>

namespace joule::vgpu {

/// How a function of the interface fails: thrown inside, a result and a text outside (Entries.cpp).
struct Failure : std::runtime_error {
  Failure(CUresult code, const std::string &message) : std::runtime_error(message), code(code) {}
  CUresult code;
};

[[noreturn]] void fail(CUresult code, const std::string &message);
/// Refuses an argument.
inline void want(bool condition, const char *message) {
  if (!condition)
    fail(CUDA_ERROR_INVALID_VALUE, message);
}
/// The text that jouleVgpuLastError gives the calling thread.
std::string &lastError();

/// What the addresses of one allocation are, for cuPointerGetAttribute and for freeing.
enum class MemoryKind { Device, Managed, PinnedHost, RegisteredHost, Pool, Mapped, Array };

struct Allocation {
  uint64_t bytes = 0;
  MemoryKind kind = MemoryKind::Device;
  CUcontext context = nullptr;
  unsigned flags = 0;
  CUmemoryPool pool = nullptr;
  unsigned long long id = 0;
};

struct Device;
class Capture;

} // namespace joule::vgpu

struct CUmemPoolHandle_st {
  joule::vgpu::Device *device = nullptr;
  bool isDefault = false;
  uint64_t releaseThreshold = 0, used = 0, usedHigh = 0;
  int reuse[4] = {0, 1, 1, 1}; // by attribute: follow events, opportunistic, internal dependencies
};

struct CUstream_st {
  std::shared_ptr<joule::vgpu::Queue> queue = std::make_shared<joule::vgpu::Queue>();
  CUcontext context = nullptr;
  unsigned flags = 0;
  int priority = 0;
  unsigned long long id = 0;
  std::shared_ptr<joule::vgpu::Capture> capture; // what it is given goes there and does not run
  std::vector<CUgraphNode> captured;             // what the next node waits for
  bool isBlocking() const { return !(flags & CU_STREAM_NON_BLOCKING); }
};

struct CUevent_st {
  CUcontext context = nullptr;
  unsigned flags = 0;
  joule::vgpu::CompletionPtr recorded; // the last record's end
  std::shared_ptr<joule::vgpu::Capture> capture;
  std::vector<CUgraphNode> captured;
};

struct CUctx_st {
  joule::vgpu::Device *device = nullptr;
  unsigned flags = 0, version = 3020;
  unsigned long long id = 0;
  int references = 0;
  std::atomic<int> stickyError{CUDA_SUCCESS}; // a failed kernel poisons the context, as on the real device
  std::mutex mutex;                           // of all below
  std::string stickyMessage;
  CUstream_st legacy;
  std::map<std::thread::id, std::unique_ptr<CUstream_st>> perThread;
  std::map<CUstream, std::unique_ptr<CUstream_st>> streams;
  std::map<int, size_t> limits;
  std::set<CUcontext> peers;
  std::set<CUarray> arrays;
  std::set<CUmipmappedArray> mipmappedArrays;
  std::set<CUmodule> modules;
  int cacheConfig = 0;
};

struct CUmod_st {
  CUmod_st(std::string text, CUcontext context, joule::vgpu::MemoryMap &memory,
           const joule::vgpu::DecodeOptions &options)
      : context(context), module(std::move(text), memory, options) {}
  CUcontext context;
  CUlibrary library = nullptr; // whose module in this context it is
  joule::vgpu::LoadedModule module;
  std::map<std::string, std::unique_ptr<CUfunc_st>> functions;
  std::shared_ptr<const void> life = std::make_shared<char>(); // for graphs, which may outlive it
  std::map<std::string, std::shared_ptr<CUtexref_st>> textureReferences;
  std::map<std::string, std::shared_ptr<CUsurfref_st>> surfaceReferences;
  std::mutex mutex;
};

struct CUfunc_st {
  joule::vgpu::KernelImage *image;
  CUmodule module;
  std::string name;
};

namespace joule::vgpu {

/// What is behind a handle.
enum class HandleKind : uint8_t {
  Context,
  Module,
  Function,
  Library,
  Kernel,
  Linker,
  Stream,
  Event,
  Pool,
  Graph,
  GraphNode,
  GraphExec,
  UserObject,
  Memory,
  Array,
  MipmappedArray,
  TextureReference,
  SurfaceReference
};

/// The handles that the driver has given out: anything else that a program hands in is refused, not followed.
class Handles {
public:
  void add(const void *handle, HandleKind kind);
  /// False if it is no such handle, or another thread was faster.
  bool remove(const void *handle, HandleKind kind);
  bool has(const void *handle, HandleKind kind) const;

private:
  mutable std::shared_mutex mutex;
  std::unordered_map<const void *, HandleKind> kinds;
};

/// One virtual GPU.
struct Device {
  Device(const DeviceFacts &facts, int ordinal) : facts(facts), ordinal(ordinal), memory(facts.memoryBytes) {}
  const DeviceFacts &facts;
  int ordinal;
  MemoryMap memory;
  CUctx_st primary;
  CUmemPoolHandle_st defaultPool;
  CUmemoryPool pool = &defaultPool;
};

/// What a texture or surface object was made of.
struct ImageRecord {
  CUcontext context = nullptr;
  ImageObject::Kind kind = ImageObject::Texture;
  CUDA_RESOURCE_DESC resource = {};
  CUDA_TEXTURE_DESC texture = {};
  CUDA_RESOURCE_VIEW_DESC view = {};
  bool hasView = false;
};

/// All state of the driver. Made by the first call, never torn down: programs call in from destructors.
struct Driver {
  Settings settings = settingsFromEnvironment();
  std::vector<std::unique_ptr<Device>> devices;
  std::atomic<bool> initialised{false};
  std::atomic<bool> asynchronous{false}; // streams run in threads of their own
  Handles handles;
  std::mutex mutex; // of all below
  std::set<CUcontext> contexts;
  std::map<uint64_t, Allocation> allocations; // of every device and of the host, by address
  std::map<uint64_t, ImageRecord> imageObjects;
  std::map<std::string, Counters> counters;
  unsigned long long nextId = 1;
  std::atomic<bool> interrupted{false};
};

Driver &driver();

/// The thread's current context; null: none.
CUcontext current();
/// The current context, if the driver runs and the context is well; what most functions ask first.
CUcontext ready();
/// The device of that number. Fails before cuInit.
Device &deviceAt(CUdevice ordinal);
/// Marks the context as unusable, unless it is already.
void poison(CUcontext context, CUresult code, const std::string &message);
/// Waits for everything that was given to the context's streams.
void drain(CUcontext context);
/// Waits for every stream of every context: before memory goes that any of them may use.
void drainAll();
/// A context ends: its modules do too.
void destroyModulesOf(CUcontext context);
unsigned long long newId();

/// Fails with CUDA_ERROR_INVALID_HANDLE, or INVALID_CONTEXT for a context, where `handle` is none of `kind`.
void wantHandle(const void *handle, HandleKind kind);

/// What is known of the memory around an address; false: nothing.
bool lookUp(uint64_t address, uint64_t &base, Allocation &allocation);

} // namespace joule::vgpu
