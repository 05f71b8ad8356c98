// Capturing streams into graphs.
#include "lib/VirtualGpu/Driver/Functions.h"
#include "lib/VirtualGpu/Driver/Graph.h"

#include <algorithm>
#include <thread>

namespace joule::vgpu {

constexpr int modeGlobal = 0, modeRelaxed = 2; // between them: thread-local
static thread_local int threadMode = modeGlobal;

// One lock for the little that captures share: their streams and their nodes' ends.
static std::mutex &captureMutex() {
  static std::mutex *mutex = new std::mutex;
  return *mutex;
}
static std::set<std::shared_ptr<Capture>> &activeCaptures() {
  static auto *active = new std::set<std::shared_ptr<Capture>>;
  return *active;
}
static std::atomic<int> numActive{0};

static void wantValid(const Capture &capture) {
  if (!capture.invalidated.empty())
    fail(CUDA_ERROR_STREAM_CAPTURE_INVALIDATED, "the capture is no longer valid: " + capture.invalidated);
}

void capture(CUstream stream, Work work) {
  std::lock_guard lock(captureMutex());
  wantValid(*stream->capture);
  if (auto *freed = std::get_if<FreeWork>(&work))
    for (auto &node : stream->capture->graph->nodes)
      if (auto *made = std::get_if<AllocWork>(&node->work))
        freed->isOfGraph |= made->parameters.dptr == freed->address;
  stream->captured = {addNode(stream->capture->graph, std::move(work), stream->captured)};
}

void captureRecord(CUstream stream, CUevent event) {
  std::lock_guard lock(captureMutex());
  wantValid(*stream->capture);
  std::lock_guard events(driver().mutex);
  event->capture = stream->capture;
  event->captured = stream->captured;
}

void captureWait(CUstream stream, CUevent event) {
  std::lock_guard lock(captureMutex());
  std::shared_ptr<Capture> from;
  std::vector<CUgraphNode> nodes;
  {
    std::lock_guard events(driver().mutex);
    from = event->capture;
    nodes = event->captured;
  }
  if (!from) {
    stream->capture->invalidated = "a captured stream waits for an event that was recorded outside";
    fail(CUDA_ERROR_STREAM_CAPTURE_ISOLATION, stream->capture->invalidated);
  }
  wantValid(*from);
  if (!activeCaptures().count(from))
    fail(CUDA_ERROR_INVALID_VALUE, "the event's capture has ended");
  if (stream->capture && stream->capture != from) {
    stream->capture->invalidated = from->invalidated = "two captures would become one";
    fail(CUDA_ERROR_STREAM_CAPTURE_MERGE, from->invalidated);
  }
  if (stream == &stream->context->legacy)
    fail(CUDA_ERROR_STREAM_CAPTURE_IMPLICIT, "the legacy stream cannot be captured");
  if (!stream->capture)
    stream->captured.clear();
  stream->capture = from;
  from->streams.insert(stream);
  for (CUgraphNode node : nodes)
    if (std::find(stream->captured.begin(), stream->captured.end(), node) == stream->captured.end())
      stream->captured.push_back(node);
}

void refuseWhileCapturing(CUstream stream) {
  if (!numActive)
    return;
  std::lock_guard lock(captureMutex());
  for (const std::shared_ptr<Capture> &capture : activeCaptures()) {
    if (!stream && capture->origin->context == current()) {
      capture->invalidated = "the context was waited for";
      fail(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, "a context with captured streams cannot be waited for");
    }
    bool implicit = stream && stream == &stream->context->legacy &&
                    stream->context == capture->origin->context && capture->origin->isBlocking() &&
                    capture->mode != modeRelaxed;
    if (implicit) {
      capture->invalidated = "the legacy stream would have had to wait for it";
      fail(CUDA_ERROR_STREAM_CAPTURE_IMPLICIT, "the legacy stream waits for a stream that is captured");
    }
  }
}

// --- begin and end ---

static void begin(CUstream handle, CUgraph graph, std::vector<CUgraphNode> dependencies, int mode) {
  want(mode >= modeGlobal && mode <= modeRelaxed, "no such mode");
  CUstream stream = streamOf(handle);
  if (stream == &stream->context->legacy)
    fail(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, "the legacy stream cannot be captured");
  std::lock_guard lock(captureMutex());
  if (stream->capture)
    fail(CUDA_ERROR_ILLEGAL_STATE, "the stream is captured already");
  auto made = std::make_shared<Capture>();
  made->makesGraph = !graph;
  made->graph = graph ? graph : makeGraph();
  made->id = newId();
  made->mode = mode;
  made->origin = stream;
  made->thread = std::this_thread::get_id();
  made->streams = {stream};
  stream->capture = made;
  stream->captured = std::move(dependencies);
  activeCaptures().insert(made);
  ++numActive;
}

CUresult cuStreamBeginCapture_v2(CUstream stream, int mode) {
  begin(stream, nullptr, {}, mode);
  return CUDA_SUCCESS;
}

CUresult cuStreamBeginCapture(CUstream stream) { return cuStreamBeginCapture_v2(stream, 0); }

static std::vector<CUgraphNode> nodesOf(CUgraph graph, const CUgraphNode *nodes, size_t count) {
  want(nodes || !count, "null pointer");
  for (size_t i = 0; i < count; ++i) {
    wantHandle(nodes[i], HandleKind::GraphNode);
    want(nodes[i]->graph == graph, "a node of another graph");
  }
  return std::vector<CUgraphNode>(nodes, nodes + count);
}

CUresult cuStreamBeginCaptureToGraph(CUstream stream, CUgraph graph, const CUgraphNode *dependencies,
                                     const CUgraphEdgeData *, size_t count, int mode) {
  wantHandle(graph, HandleKind::Graph);
  begin(stream, graph, nodesOf(graph, dependencies, count), mode);
  return CUDA_SUCCESS;
}

/// Whether the origin has come to wait for all that the other streams did.
static bool isJoined(const Capture &capture) {
  std::set<CUgraphNode> reached;
  std::vector<CUgraphNode> open(capture.origin->captured);
  while (!open.empty()) {
    CUgraphNode node = open.back();
    open.pop_back();
    if (reached.insert(node).second)
      open.insert(open.end(), node->dependencies.begin(), node->dependencies.end());
  }
  for (CUstream stream : capture.streams)
    for (CUgraphNode node : stream->captured)
      if (!reached.count(node))
        return false;
  return true;
}

/// Its streams run again. With the lock on captures.
static void end(const std::shared_ptr<Capture> &capture) {
  for (CUstream stream : capture->streams) {
    stream->capture = nullptr;
    stream->captured.clear();
  }
  activeCaptures().erase(capture);
  --numActive;
}

void abandonCapture(CUstream stream) {
  std::unique_lock lock(captureMutex());
  std::shared_ptr<Capture> capture = stream->capture;
  if (!capture)
    return;
  end(capture);
  lock.unlock();
  if (capture->makesGraph)
    cuGraphDestroy(capture->graph);
}

void forgetCaptured(CUgraph graph, CUgraphNode node) {
  if (!numActive)
    return;
  std::lock_guard lock(captureMutex());
  for (const std::shared_ptr<Capture> &capture : activeCaptures()) {
    if (capture->graph != graph)
      continue;
    capture->invalidated = node ? "a node of its graph was destroyed" : "its graph was destroyed";
    capture->makesGraph &= node != nullptr;
    for (CUstream stream : capture->streams)
      stream->captured.clear();
  }
}

void refuseToWaitFor(CUstream stream) {
  std::lock_guard lock(captureMutex());
  if (!stream->capture)
    return;
  stream->capture->invalidated = "one of its streams was waited for";
  fail(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, "a stream that is captured cannot be waited for");
}

CUresult cuStreamEndCapture(CUstream handle, CUgraph *graph) {
  want(graph, "null pointer");
  CUstream stream = streamOf(handle);
  std::unique_lock lock(captureMutex());
  std::shared_ptr<Capture> capture = stream->capture;
  if (!capture)
    fail(CUDA_ERROR_ILLEGAL_STATE, "the stream is not captured");
  if (capture->origin != stream)
    fail(CUDA_ERROR_STREAM_CAPTURE_UNMATCHED, "the capture began in another stream");
  if (capture->mode != modeRelaxed && capture->thread != std::this_thread::get_id())
    fail(CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD, "the capture began in another thread");
  bool joined = isJoined(*capture);
  end(capture);
  lock.unlock();
  *graph = nullptr;
  if (!capture->invalidated.empty() || !joined) {
    if (capture->makesGraph)
      cuGraphDestroy(capture->graph);
    wantValid(*capture);
    fail(CUDA_ERROR_STREAM_CAPTURE_UNJOINED, "work of another stream does not lead back to this one");
  }
  *graph = capture->graph;
  return CUDA_SUCCESS;
}

// --- questions ---

constexpr int statusNone = 0, statusActive = 1, statusInvalidated = 2;

static int statusOf(CUstream stream) {
  if (!stream->capture)
    return statusNone;
  return stream->capture->invalidated.empty() ? statusActive : statusInvalidated;
}

CUresult cuStreamIsCapturing(CUstream handle, int *status) {
  want(status, "null pointer");
  CUstream stream = streamOf(handle);
  std::lock_guard lock(captureMutex());
  *status = statusOf(stream);
  return CUDA_SUCCESS;
}

CUresult cuStreamGetCaptureInfo_v2(CUstream handle, int *status, uint64_t *id, CUgraph *graph,
                                   const CUgraphNode **dependencies, size_t *count) {
  want(status, "null pointer");
  CUstream stream = streamOf(handle);
  std::lock_guard lock(captureMutex());
  *status = statusOf(stream);
  if (*status != statusActive)
    return CUDA_SUCCESS;
  if (id)
    *id = stream->capture->id;
  if (graph)
    *graph = stream->capture->graph;
  if (dependencies)
    *dependencies = stream->captured.data();
  if (count)
    *count = stream->captured.size();
  return CUDA_SUCCESS;
}

CUresult cuStreamGetCaptureInfo(CUstream stream, int *status, uint64_t *id) {
  return cuStreamGetCaptureInfo_v2(stream, status, id, nullptr, nullptr, nullptr);
}

CUresult cuStreamGetCaptureInfo_v3(CUstream stream, int *status, uint64_t *id, CUgraph *graph,
                                   const CUgraphNode **dependencies, const CUgraphEdgeData **edges,
                                   size_t *count) {
  if (edges)
    *edges = nullptr; // all edges are plain
  return cuStreamGetCaptureInfo_v2(stream, status, id, graph, dependencies, count);
}

CUresult cuStreamUpdateCaptureDependencies(CUstream handle, CUgraphNode *dependencies, size_t count,
                                           unsigned int flags) {
  constexpr unsigned add = 0, replace = 1;
  want(flags <= replace, "no such flags");
  CUstream stream = streamOf(handle);
  std::lock_guard lock(captureMutex());
  if (!stream->capture)
    fail(CUDA_ERROR_ILLEGAL_STATE, "the stream is not captured");
  wantValid(*stream->capture);
  std::vector<CUgraphNode> nodes = nodesOf(stream->capture->graph, dependencies, count);
  if (flags == add)
    nodes.insert(nodes.begin(), stream->captured.begin(), stream->captured.end());
  stream->captured = std::move(nodes);
  return CUDA_SUCCESS;
}
CUresult cuStreamUpdateCaptureDependencies_v2(CUstream stream, CUgraphNode *dependencies,
                                              const CUgraphEdgeData *, size_t count, unsigned int flags) {
  return cuStreamUpdateCaptureDependencies(stream, dependencies, count, flags);
}

CUresult cuThreadExchangeStreamCaptureMode(int *mode) {
  want(mode && *mode >= modeGlobal && *mode <= modeRelaxed, "no such mode");
  std::swap(*mode, threadMode);
  return CUDA_SUCCESS;
}

} // namespace joule::vgpu
