// What can stand in a stream or be a node of a graph.
#pragma once

#include "lib/VirtualGpu/Driver/State.h"

#include <variant>

namespace joule::vgpu {

/// What jouleVgpuLimitThread set.
struct ThreadLimit {
  std::chrono::steady_clock::time_point deadline = std::chrono::steady_clock::time_point::max();
  const std::atomic<bool> *stop = nullptr;

  bool isReached() const { return (stop && *stop) || std::chrono::steady_clock::now() > deadline; }
};
ThreadLimit &threadLimit();

struct KernelWork {
  CUfunction function = nullptr;
  LaunchRequest request;
  ThreadLimit limit;
  std::weak_ptr<const void> module; // CUmod_st::life
};
/// A box of bytes; both sides are addresses.
struct CopyWork {
  uint64_t to = 0, from = 0;
  size_t toPitch = 0, toHeight = 0, fromPitch = 0, fromHeight = 0; // of rows in bytes, of slices in rows
  size_t width = 0, height = 1, depth = 1;
  std::shared_ptr<std::vector<char>> staged; // the source, where it was pageable
  CUDA_MEMCPY3D asked = {};                  // for cuGraphMemcpyNodeGetParams
  std::vector<std::weak_ptr<const void>> arrays; // whose memory it touches: a graph may outlive them
};
struct FillWork {
  CUDA_MEMSET_NODE_PARAMS box = {};
};
struct HostWork {
  CUhostFn function = nullptr;
  void *data = nullptr;
  CUstreamCallback callback = nullptr; // instead, with the stream
  CUstream stream = nullptr;
};
struct RecordWork {
  CUevent event = nullptr;
};
struct WaitWork {
  CUevent event = nullptr;
};
/// Of a graph: its memory is there as long as the graph and what was made of it.
struct AllocWork {
  CUDA_MEM_ALLOC_NODE_PARAMS parameters = {};
  std::shared_ptr<void> owner;
};
struct FreeWork {
  CUdeviceptr address = 0;
  bool isOfGraph = false; // the graph made it and keeps it for the next launch
};
/// Waits until a word is as asked, or writes one.
struct WordWork {
  CUdeviceptr address = 0;
  uint64_t value = 0;
  unsigned bytes = 4, flags = 0;
  bool isWait = false;
};
struct GraphBody;
struct GraphWork {
  std::shared_ptr<const GraphBody> body;
};
struct EmptyWork {};

using Work = std::variant<EmptyWork, KernelWork, CopyWork, FillWork, HostWork, RecordWork, WaitWork,
                          AllocWork, FreeWork, WordWork, GraphWork>;

/// What a graph runs, one after another.
struct GraphBody {
  std::vector<Work> steps;
};

/// Runs it now. A kernel's failure poisons the context.
Outcome run(const Work &work, CUcontext context);

/// The stream of a handle: 0, 1 and 2 are default streams. Fails where it is none.
CUstream streamOf(CUstream handle);
/// Makes 0 mean the thread's own stream while it lives (the functions that end in _ptds and _ptsz).
class PerThreadDefault {
public:
  PerThreadDefault();
  ~PerThreadDefault();
};

/// Gives work to a stream, or to the graph that the stream is captured into (then null).
CompletionPtr submit(CUstream stream, Work work);
/// The same for functions that return when the work is done.
void submitAndWait(CUstream stream, Work work);

/// Fills in a launch; checks everything that the device would.
KernelWork makeKernelWork(CUfunction function, LaunchRequest request, void **parameters, void **extra);
/// Sizes, a packed or a pointed-at block of parameters: the legacy part of a graph's kernel node.
KernelWork makeKernelWork(const CUDA_KERNEL_NODE_PARAMS &node);
CopyWork makeCopyWork(const CUDA_MEMCPY3D &copy);
FillWork makeFillWork(const CUDA_MEMSET_NODE_PARAMS &box);
/// A kernel's handle may be a library's.
CUfunction functionOf(CUfunction handle);
/// Fails where its module has been unloaded.
CUfunction functionOf(const KernelWork &work);

/// Memory of a graph's node.
AllocWork makeAllocWork(CUcontext context, const CUDA_MEM_ALLOC_NODE_PARAMS &parameters);

/// What the stream is captured into gets a node. In Capture.cpp.
void capture(CUstream stream, Work work);
void captureRecord(CUstream stream, CUevent event);
void captureWait(CUstream stream, CUevent event);
/// A stream ends: what it is captured into does, too, and comes to nothing.
void abandonCapture(CUstream stream);
/// A graph or a node of it (else null) ends: what is captured into it must not follow it.
void forgetCaptured(CUgraph graph, CUgraphNode node);
/// Fails where the stream is captured, and with that the capture.
void refuseToWaitFor(CUstream stream);
/// Fails where the stream, or one that it would wait for, is captured: for functions that must run at once.
void refuseWhileCapturing(CUstream stream);

/// Device memory and what is known of it. In Memory.cpp.
CUdeviceptr allocate(CUcontext context, size_t bytes, MemoryKind kind, CUmemoryPool pool = nullptr);
void release(CUdeviceptr address, bool fromPool);
void releaseArray(CUdeviceptr address);

} // namespace joule::vgpu
