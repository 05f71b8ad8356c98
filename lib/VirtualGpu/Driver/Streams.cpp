// Streams, events, and how work gets into a stream.
//
// Work of a stream runs in order. The legacy default stream waits for all work before it in the context's
// other blocking streams, and they for it. Joule's own runtime lets a stream run in the thread that calls;
// programs that come through libcuda.so.1 get streams with threads of their own, as a GPU would run beside
// them.
#include "lib/VirtualGpu/Driver/Attributes.h"
#include "lib/VirtualGpu/Driver/Functions.h"
#include "lib/VirtualGpu/Driver/Work.h"

#include <algorithm>
#include <cstring>
#include <thread>

namespace joule::vgpu {

static thread_local bool perThreadDefault = false;

PerThreadDefault::PerThreadDefault() { perThreadDefault = true; }
PerThreadDefault::~PerThreadDefault() { perThreadDefault = false; }

constexpr uintptr_t legacyHandle = 1, perThreadHandle = 2;

static CUstream perThreadStream(CUcontext context) {
  std::lock_guard lock(context->mutex);
  auto &slot = context->perThread[std::this_thread::get_id()];
  if (!slot) {
    slot = std::make_unique<CUstream_st>();
    slot->context = context;
    slot->id = perThreadHandle;
  }
  return slot.get();
}

CUstream streamOf(CUstream handle) {
  CUcontext context = ready();
  uintptr_t value = reinterpret_cast<uintptr_t>(handle);
  if (value == perThreadHandle || (value == 0 && perThreadDefault))
    return perThreadStream(context);
  if (value == 0 || value == legacyHandle)
    return &context->legacy;
  wantHandle(handle, HandleKind::Stream);
  return handle;
}

// --- submitting ---

static void addLast(std::vector<CompletionPtr> &ends, const CUstream_st &stream) {
  if (CompletionPtr last = stream.queue->last(); last && !last->isDone())
    ends.push_back(std::move(last));
}

/// What the default stream's rules make work in `stream` wait for.
static std::vector<CompletionPtr> dependenciesOf(CUstream stream) {
  std::vector<CompletionPtr> ends;
  CUcontext context = stream->context;
  if (!stream->isBlocking())
    return ends;
  if (stream != &context->legacy) {
    addLast(ends, context->legacy);
    return ends;
  }
  std::lock_guard lock(context->mutex);
  for (auto &[thread, other] : context->perThread)
    addLast(ends, *other);
  for (auto &[handle, other] : context->streams)
    if (other->isBlocking())
      addLast(ends, *other);
  return ends;
}

static CompletionPtr enqueue(CUstream stream, Work work, std::vector<CompletionPtr> after, bool here) {
  CUcontext context = stream->context;
  for (CompletionPtr &end : dependenciesOf(stream))
    after.push_back(std::move(end));
  auto task = [work = std::move(work), context] { return run(work, context); };
  return stream->queue->submit(std::move(task), std::move(after), here);
}

/// Host functions must not run in the caller's thread, which may hold a lock that they want; and what may
/// wait for the caller must not either.
static bool mayRunHere(const Work &work) {
  if (auto *word = std::get_if<WordWork>(&work))
    return !word->isWait;
  return !std::holds_alternative<HostWork>(work) && !std::holds_alternative<WaitWork>(work) &&
         !std::holds_alternative<GraphWork>(work);
}

CompletionPtr submit(CUstream stream, Work work) {
  if (stream->capture) {
    capture(stream, std::move(work));
    return nullptr;
  }
  refuseWhileCapturing(stream);
  bool here = !driver().asynchronous && mayRunHere(work);
  return enqueue(stream, std::move(work), {}, here);
}

void submitAndWait(CUstream stream, Work work) {
  refuseToWaitFor(stream);
  refuseWhileCapturing(stream);
  CompletionPtr end = enqueue(stream, std::move(work), {}, true);
  end->wait();
  if (end->outcome().code)
    fail(end->outcome().code, end->outcome().message);
  ready();
}

// --- streams ---

CUresult cuStreamCreateWithPriority(CUstream *stream, unsigned int flags, int priority) {
  want(stream, "null pointer");
  want(flags <= 1, "no such flags");
  CUcontext context = ready();
  auto made = std::make_unique<CUstream_st>();
  made->context = context;
  made->flags = flags;
  made->priority = std::clamp(priority, greatestPriority, 0);
  made->id = newId() + perThreadHandle;
  driver().handles.add(made.get(), HandleKind::Stream);
  std::lock_guard lock(context->mutex);
  *stream = made.get();
  context->streams[made.get()] = std::move(made);
  return CUDA_SUCCESS;
}
CUresult cuStreamCreate(CUstream *stream, unsigned int flags) {
  return cuStreamCreateWithPriority(stream, flags, 0);
}

CUresult cuStreamDestroy_v2(CUstream stream) {
  if (!driver().handles.remove(stream, HandleKind::Stream))
    fail(CUDA_ERROR_INVALID_HANDLE, "not a stream");
  CUcontext context = stream->context;
  abandonCapture(stream);
  stream->queue->close();
  // What the legacy stream would have waited for must still end first.
  if (CompletionPtr last = stream->queue->last(); last && !last->isDone())
    last->wait();
  std::lock_guard lock(context->mutex);
  context->streams.erase(stream);
  return CUDA_SUCCESS;
}
CUresult cuStreamDestroy(CUstream stream) { return cuStreamDestroy_v2(stream); }

CUresult cuStreamSynchronize(CUstream handle) {
  CUstream stream = streamOf(handle);
  refuseToWaitFor(stream);
  refuseWhileCapturing(stream);
  for (const CompletionPtr &end : dependenciesOf(stream))
    end->wait();
  if (CompletionPtr last = stream->queue->last())
    last->wait();
  ready();
  return CUDA_SUCCESS;
}

CUresult cuStreamQuery(CUstream handle) {
  CUstream stream = streamOf(handle);
  if (stream->capture)
    refuseToWaitFor(stream);
  CompletionPtr last = stream->queue->last();
  if ((last && !last->isDone()) || !dependenciesOf(stream).empty())
    return CUDA_ERROR_NOT_READY;
  ready();
  return CUDA_SUCCESS;
}

CUresult cuStreamGetPriority(CUstream stream, int *priority) {
  want(priority, "null pointer");
  *priority = streamOf(stream)->priority;
  return CUDA_SUCCESS;
}
CUresult cuStreamGetFlags(CUstream stream, unsigned int *flags) {
  want(flags, "null pointer");
  *flags = streamOf(stream)->flags;
  return CUDA_SUCCESS;
}
CUresult cuStreamGetId(CUstream stream, unsigned long long *id) {
  want(id, "null pointer");
  CUstream found = streamOf(stream);
  *id = found == &found->context->legacy ? legacyHandle : found->id;
  return CUDA_SUCCESS;
}
CUresult cuStreamGetCtx(CUstream stream, CUcontext *context) {
  want(context, "null pointer");
  *context = streamOf(stream)->context;
  return CUDA_SUCCESS;
}
CUresult cuStreamGetCtx_v2(CUstream stream, CUcontext *context, CUgreenCtx *part) {
  if (part)
    *part = nullptr;
  return cuStreamGetCtx(stream, context);
}
CUresult cuStreamGetDevice(CUstream stream, CUdevice *device) {
  want(device, "null pointer");
  *device = streamOf(stream)->context->device->ordinal;
  return CUDA_SUCCESS;
}

// Of the attributes of a stream the virtual device has its priority (8) alone.
constexpr int attributePriority = 8;

CUresult cuStreamCopyAttributes(CUstream to, CUstream from) {
  streamOf(to)->priority = streamOf(from)->priority;
  return CUDA_SUCCESS;
}
CUresult cuStreamGetAttribute(CUstream stream, int attribute, void *value) {
  want(value, "null pointer");
  CUstream found = streamOf(stream);
  want(attribute >= 1 && attribute <= 14, "no such attribute");
  memset(value, 0, 64);
  if (attribute == attributePriority)
    memcpy(value, &found->priority, sizeof found->priority);
  return CUDA_SUCCESS;
}
CUresult cuStreamSetAttribute(CUstream stream, int attribute, const void *value) {
  want(value, "null pointer");
  CUstream found = streamOf(stream);
  want(attribute >= 1 && attribute <= 14, "no such attribute");
  if (attribute == attributePriority)
    memcpy(&found->priority, value, sizeof found->priority);
  return CUDA_SUCCESS;
}

CUresult cuLaunchHostFunc(CUstream stream, CUhostFn function, void *data) {
  want(function, "null function");
  HostWork work;
  work.function = function;
  work.data = data;
  submit(streamOf(stream), work);
  return CUDA_SUCCESS;
}

CUresult cuStreamAddCallback(CUstream handle, CUstreamCallback callback, void *data, unsigned int flags) {
  want(callback && flags == 0, "null function or flags");
  CUstream stream = streamOf(handle);
  if (stream->capture)
    fail(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, "a callback cannot be captured; a host function can");
  HostWork work;
  work.callback = callback;
  work.data = data;
  work.stream = handle;
  submit(stream, work);
  return CUDA_SUCCESS;
}

CUresult cuStreamAttachMemAsync(CUstream stream, CUdeviceptr address, size_t, unsigned int) {
  uint64_t base;
  Allocation allocation;
  want(lookUp(address, base, allocation), "not managed memory");
  submit(streamOf(stream), EmptyWork{});
  return CUDA_SUCCESS;
}

// --- words ---

static void submitWord(CUstream stream, CUdeviceptr address, uint64_t value, unsigned bytes, unsigned flags,
                       bool isWait) {
  CUstream found = streamOf(stream);
  want(address % bytes == 0, "the address is not aligned");
  want(found->context->device->memory.find(address, address + bytes).high, "not memory of the device");
  want(!isWait || (flags & 7) <= 3, "no such comparison");
  submit(found, WordWork{address, value, bytes, flags, isWait});
}

CUresult cuStreamWaitValue32_v2(CUstream stream, CUdeviceptr address, uint32_t value, unsigned int flags) {
  submitWord(stream, address, value, 4, flags, true);
  return CUDA_SUCCESS;
}
CUresult cuStreamWaitValue64_v2(CUstream stream, CUdeviceptr address, uint64_t value, unsigned int flags) {
  submitWord(stream, address, value, 8, flags, true);
  return CUDA_SUCCESS;
}
CUresult cuStreamWriteValue32_v2(CUstream stream, CUdeviceptr address, uint32_t value, unsigned int flags) {
  submitWord(stream, address, value, 4, flags, false);
  return CUDA_SUCCESS;
}
CUresult cuStreamWriteValue64_v2(CUstream stream, CUdeviceptr address, uint64_t value, unsigned int flags) {
  submitWord(stream, address, value, 8, flags, false);
  return CUDA_SUCCESS;
}

CUresult cuStreamBatchMemOp_v2(CUstream stream, unsigned int count, CUstreamBatchMemOpParams *operations,
                               unsigned int flags) {
  want((operations || !count) && flags == 0, "null pointer or flags");
  streamOf(stream);
  constexpr int wait32 = 1, write32 = 2, flush = 3, wait64 = 4, barrier = 6; // 5: write 64
  for (unsigned i = 0; i < count; ++i)
    want(operations[i].operation >= wait32 && operations[i].operation <= barrier, "no such operation");
  for (unsigned i = 0; i < count; ++i) {
    int operation = operations[i].operation;
    if (operation == flush || operation == barrier)
      continue; // every write is seen at once
    auto &word = operations[i].word;
    unsigned bytes = operation == wait32 || operation == write32 ? 4 : 8;
    uint64_t value = bytes == 4 ? uint32_t(word.value) : word.value;
    submitWord(stream, word.address, value, bytes, word.flags, operation == wait32 || operation == wait64);
  }
  return CUDA_SUCCESS;
}

// As they were before CUDA 11.7, when a driver had to be asked for them.
CUresult cuStreamWaitValue32(CUstream stream, CUdeviceptr address, uint32_t value, unsigned int flags) {
  return cuStreamWaitValue32_v2(stream, address, value, flags);
}
CUresult cuStreamWaitValue64(CUstream stream, CUdeviceptr address, uint64_t value, unsigned int flags) {
  return cuStreamWaitValue64_v2(stream, address, value, flags);
}
CUresult cuStreamWriteValue32(CUstream stream, CUdeviceptr address, uint32_t value, unsigned int flags) {
  return cuStreamWriteValue32_v2(stream, address, value, flags);
}
CUresult cuStreamWriteValue64(CUstream stream, CUdeviceptr address, uint64_t value, unsigned int flags) {
  return cuStreamWriteValue64_v2(stream, address, value, flags);
}
CUresult cuStreamBatchMemOp(CUstream stream, unsigned int count, CUstreamBatchMemOpParams *operations,
                            unsigned int flags) {
  return cuStreamBatchMemOp_v2(stream, count, operations, flags);
}

// --- events ---

constexpr unsigned withoutTime = 2;

CUresult cuEventCreate(CUevent *event, unsigned int flags) {
  want(event, "null pointer");
  want(flags <= 7, "no such flags");
  CUcontext context = ready();
  auto made = std::make_unique<CUevent_st>();
  made->context = context;
  made->flags = flags;
  driver().handles.add(made.get(), HandleKind::Event);
  *event = made.release();
  return CUDA_SUCCESS;
}

/// The end that the event stands for now; null: it was never recorded.
static CompletionPtr recordedEnd(CUevent event) {
  wantHandle(event, HandleKind::Event);
  std::lock_guard lock(driver().mutex);
  if (event->capture)
    fail(CUDA_ERROR_CAPTURED_EVENT, "the event was recorded in a stream that is captured");
  return event->recorded;
}

CUresult cuEventRecord(CUevent event, CUstream handle) { return cuEventRecordWithFlags(event, handle, 0); }

CUresult cuEventRecordWithFlags(CUevent event, CUstream handle, unsigned int flags) {
  constexpr unsigned external = 1;
  want(flags <= external, "no such flags");
  CUstream stream = streamOf(handle);
  wantHandle(event, HandleKind::Event);
  if (event->context != stream->context)
    fail(CUDA_ERROR_INVALID_HANDLE, "the event and the stream are of different contexts");
  if (stream->capture && !(flags & external)) {
    captureRecord(stream, event);
    return CUDA_SUCCESS;
  }
  if (stream->capture) {
    capture(stream, RecordWork{event});
    return CUDA_SUCCESS;
  }
  CompletionPtr end = enqueue(stream, EmptyWork{}, {}, !driver().asynchronous);
  std::lock_guard lock(driver().mutex);
  event->capture = nullptr;
  event->recorded = std::move(end);
  return CUDA_SUCCESS;
}

CUresult cuStreamWaitEvent(CUstream handle, CUevent event, unsigned int flags) {
  constexpr unsigned external = 1;
  want(flags <= external, "no such flags");
  CUstream stream = streamOf(handle);
  wantHandle(event, HandleKind::Event);
  bool isCaptured;
  {
    std::lock_guard lock(driver().mutex);
    isCaptured = event->capture != nullptr;
  }
  if (stream->capture && (flags & external)) {
    capture(stream, WaitWork{event});
    return CUDA_SUCCESS;
  }
  if (isCaptured || stream->capture) {
    captureWait(stream, event);
    return CUDA_SUCCESS;
  }
  if (CompletionPtr end = recordedEnd(event); end && !end->isDone())
    enqueue(stream, EmptyWork{}, {end}, false);
  return CUDA_SUCCESS;
}

CUresult cuCtxRecordEvent(CUcontext context, CUevent event) {
  wantHandle(context, HandleKind::Context);
  wantHandle(event, HandleKind::Event);
  want(event->context == context, "the event is another context's");
  return cuEventRecord(event, nullptr);
}
CUresult cuCtxWaitEvent(CUcontext context, CUevent event) {
  wantHandle(context, HandleKind::Context);
  if (CompletionPtr end = recordedEnd(event))
    end->wait();
  return CUDA_SUCCESS;
}

CUresult cuEventQuery(CUevent event) {
  ready();
  CompletionPtr end = recordedEnd(event);
  return !end || end->isDone() ? CUDA_SUCCESS : CUDA_ERROR_NOT_READY;
}

CUresult cuEventSynchronize(CUevent event) {
  ready();
  if (CompletionPtr end = recordedEnd(event))
    end->wait();
  ready();
  return CUDA_SUCCESS;
}

CUresult cuEventElapsedTime(float *milliseconds, CUevent start, CUevent end) {
  want(milliseconds, "null pointer");
  ready();
  CompletionPtr first = recordedEnd(start), second = recordedEnd(end);
  if (!first || !second)
    fail(CUDA_ERROR_INVALID_HANDLE, "an event was not recorded");
  if ((start->flags | end->flags) & withoutTime)
    fail(CUDA_ERROR_INVALID_HANDLE, "an event was made without time");
  if (!first->isDone() || !second->isDone())
    return CUDA_ERROR_NOT_READY;
  *milliseconds = std::chrono::duration<float, std::milli>(second->time() - first->time()).count();
  return CUDA_SUCCESS;
}
CUresult cuEventElapsedTime_v2(float *milliseconds, CUevent start, CUevent end) {
  return cuEventElapsedTime(milliseconds, start, end);
}

CUresult cuEventDestroy_v2(CUevent event) {
  if (!driver().handles.remove(event, HandleKind::Event))
    fail(CUDA_ERROR_INVALID_HANDLE, "not an event");
  delete event;
  return CUDA_SUCCESS;
}
CUresult cuEventDestroy(CUevent event) { return cuEventDestroy_v2(event); }

} // namespace joule::vgpu
