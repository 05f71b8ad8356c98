// Work in order: what a stream is made of.
#pragma once

#include "lib/VirtualGpu/DriverApi.h"

#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace joule::vgpu {

/// What a piece of work ended with.
struct Outcome {
  CUresult code = CUDA_SUCCESS;
  std::string message;
};

/// The end of a piece of work, for everybody who waits for it.
class Completion {
public:
  void finish(Outcome outcome);
  bool isDone() const;
  void wait() const;
  /// After the end.
  const Outcome &outcome() const { return ended; }
  std::chrono::steady_clock::time_point time() const { return when; }

private:
  mutable std::mutex mutex;
  mutable std::condition_variable changed;
  bool done = false;
  Outcome ended;
  std::chrono::steady_clock::time_point when;
};

using CompletionPtr = std::shared_ptr<Completion>;

/// Runs tasks one after another. A task runs in the caller's thread where it may and nothing stands before
/// it, else in a thread of the queue's own, which the first such task starts and which ends with the queue.
class Queue : public std::enable_shared_from_this<Queue> {
public:
  using Task = std::function<Outcome()>;

  /// `after`: what the task waits for beside the tasks before it. `here`: it may run in the caller's thread.
  CompletionPtr submit(Task task, std::vector<CompletionPtr> after, bool here);
  /// The end of all that was submitted; null if that was nothing.
  CompletionPtr last() const;
  /// No task follows: the thread ends when the last is done.
  void close();

private:
  struct Entry {
    Task task;
    std::vector<CompletionPtr> after;
    CompletionPtr done;
  };

  void serve();

  mutable std::mutex mutex;
  std::condition_variable changed;
  std::deque<Entry> entries; // the first one runs, in the queue's thread
  CompletionPtr newest;
  bool runsHere = false; // a caller's thread runs a task
  bool hasThread = false, closed = false;
};

} // namespace joule::vgpu
