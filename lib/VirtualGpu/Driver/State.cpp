// The driver's state, and who may use it.
#include "lib/VirtualGpu/Driver/State.h"

#include <cstdio>

namespace joule::vgpu {

std::string &lastError() {
  thread_local std::string text;
  return text;
}

void fail(CUresult code, const std::string &message) { throw Failure(code, message); }

void Handles::add(const void *handle, HandleKind kind) {
  std::unique_lock lock(mutex);
  kinds[handle] = kind;
}

bool Handles::remove(const void *handle, HandleKind kind) {
  std::unique_lock lock(mutex);
  auto it = kinds.find(handle);
  if (it == kinds.end() || it->second != kind)
    return false;
  kinds.erase(it);
  return true;
}

bool Handles::has(const void *handle, HandleKind kind) const {
  std::shared_lock lock(mutex);
  auto it = kinds.find(handle);
  return it != kinds.end() && it->second == kind;
}

void wantHandle(const void *handle, HandleKind kind) {
  static const char *const names[] = {"context", "module", "function", "library",   "kernel",
                                      "linker",  "stream", "event",    "pool",      "graph",
                                      "node",    "graph",  "object",   "allocation",
                                      "CUDA array", "mipmapped array", "texture reference", "surface reference"};
  if (!driver().handles.has(handle, kind))
    fail(kind == HandleKind::Context ? CUDA_ERROR_INVALID_CONTEXT : CUDA_ERROR_INVALID_HANDLE,
         std::string("not a ") + names[size_t(kind)]);
}

Driver &driver() {
  static Driver *instance = new Driver;
  return *instance;
}

Device &deviceAt(CUdevice ordinal) {
  Driver &d = driver();
  if (!d.initialised)
    fail(CUDA_ERROR_NOT_INITIALIZED, "cuInit was not called");
  if (ordinal < 0 || size_t(ordinal) >= d.devices.size())
    fail(CUDA_ERROR_INVALID_DEVICE, "there is no device " + std::to_string(ordinal));
  return *d.devices[size_t(ordinal)];
}

CUcontext ready() {
  if (!driver().initialised)
    fail(CUDA_ERROR_NOT_INITIALIZED, "cuInit was not called");
  CUcontext context = current();
  if (!context)
    fail(CUDA_ERROR_INVALID_CONTEXT, "no context is current");
  if (!driver().handles.has(context, HandleKind::Context))
    fail(CUDA_ERROR_CONTEXT_IS_DESTROYED, "the current context was destroyed");
  if (int code = context->stickyError) {
    std::lock_guard lock(context->mutex);
    fail(CUresult(code), context->stickyMessage);
  }
  return context;
}

void poison(CUcontext context, CUresult code, const std::string &message) {
  std::lock_guard lock(context->mutex);
  if (context->stickyError != CUDA_SUCCESS)
    return;
  context->stickyMessage = message;
  context->stickyError = code;
  // Other people's programs show the code at most; what went wrong stands here alone.
  if (driver().asynchronous)
    fprintf(stderr, "joule-vgpu: %s\n", message.c_str());
}

/// The ends of all that was given to the context's streams.
static std::vector<CompletionPtr> pendingOf(CUcontext context) {
  std::vector<CompletionPtr> pending;
  auto take = [&](const CUstream_st &stream) {
    if (CompletionPtr last = stream.queue->last(); last && !last->isDone())
      pending.push_back(last);
  };
  std::lock_guard lock(context->mutex);
  take(context->legacy);
  for (auto &[thread, stream] : context->perThread)
    take(*stream);
  for (auto &[handle, stream] : context->streams)
    take(*stream);
  return pending;
}

void drain(CUcontext context) {
  for (const CompletionPtr &end : pendingOf(context))
    end->wait();
}

void drainAll() {
  std::vector<CompletionPtr> pending;
  {
    std::lock_guard lock(driver().mutex);
    for (CUcontext context : driver().contexts)
      for (CompletionPtr &end : pendingOf(context))
        pending.push_back(std::move(end));
  }
  for (const CompletionPtr &end : pending)
    end->wait();
}

unsigned long long newId() {
  std::lock_guard lock(driver().mutex);
  return driver().nextId++;
}

} // namespace joule::vgpu
