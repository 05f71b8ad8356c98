// Tasks in a caller's thread or in the queue's own.
#include "lib/VirtualGpu/Driver/Queue.h"

#include <algorithm>
#include <thread>

namespace joule::vgpu {

void Completion::finish(Outcome outcome) {
  std::lock_guard lock(mutex);
  ended = std::move(outcome);
  when = std::chrono::steady_clock::now();
  done = true;
  changed.notify_all();
}

bool Completion::isDone() const {
  std::lock_guard lock(mutex);
  return done;
}

void Completion::wait() const {
  std::unique_lock lock(mutex);
  changed.wait(lock, [this] { return done; });
}

CompletionPtr Queue::submit(Task task, std::vector<CompletionPtr> after, bool here) {
  auto done = std::make_shared<Completion>();
  auto isDone = [](const CompletionPtr &other) { return other->isDone(); };
  std::unique_lock lock(mutex);
  here = here && std::all_of(after.begin(), after.end(), isDone);
  // Another caller's task ends soon: it does not wait for anybody.
  if (here)
    changed.wait(lock, [this] { return !runsHere; });
  newest = done;
  if (here && entries.empty()) {
    runsHere = true;
    lock.unlock();
    done->finish(task());
    lock.lock();
    runsHere = false;
    changed.notify_all();
    return done;
  }
  entries.push_back({std::move(task), std::move(after), done});
  changed.notify_all();
  if (!hasThread) {
    hasThread = true;
    std::thread([self = shared_from_this()] { self->serve(); }).detach();
  }
  return done;
}

CompletionPtr Queue::last() const {
  std::lock_guard lock(mutex);
  return newest;
}

void Queue::close() {
  std::lock_guard lock(mutex);
  closed = true;
  changed.notify_all();
}

void Queue::serve() {
  std::unique_lock lock(mutex);
  for (;;) {
    changed.wait(lock, [this] { return (!entries.empty() && !runsHere) || (closed && entries.empty()); });
    if (entries.empty())
      return;
    Entry &entry = entries.front(); // stays where it is while others are appended
    lock.unlock();
    for (const CompletionPtr &other : entry.after)
      other->wait();
    Outcome outcome = entry.task();
    entry.task = nullptr; // what it holds goes before anybody is told
    entry.done->finish(std::move(outcome));
    lock.lock();
    entries.pop_front();
    changed.notify_all();
  }
}

} // namespace joule::vgpu
