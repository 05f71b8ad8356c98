// One pool for the process, made at the first use and never torn down: threads may still wait when the
// program ends.
#include "lib/VirtualGpu/WorkerPool.h"

#include <condition_variable>
#include <mutex>
#include <thread>

namespace joule::vgpu {
namespace {

class Pool {
public:
  void run(unsigned count, const std::function<void(unsigned)> &work) {
    std::lock_guard turn(turns);
    {
      std::lock_guard lock(mutex);
      body = &work;
      next = 1;
      end = count;
      for (; started + 1 < count; ++started)
        std::thread([this] { serve(); }).detach();
    }
    wake.notify_all();
    work(0);
    std::unique_lock lock(mutex);
    next = end; // whoever has not begun need not
    done.wait(lock, [this] { return running == 0; });
  }

private:
  void serve() {
    std::unique_lock lock(mutex);
    for (;;) {
      wake.wait(lock, [this] { return next < end; });
      unsigned index = next++;
      ++running;
      const auto *work = body;
      lock.unlock();
      (*work)(index);
      lock.lock();
      if (--running == 0)
        done.notify_all();
    }
  }

  std::mutex turns, mutex;
  std::condition_variable wake, done;
  const std::function<void(unsigned)> *body = nullptr;
  unsigned next = 0, end = 0, running = 0, started = 0;
};

} // namespace

void runOnPool(unsigned count, const std::function<void(unsigned)> &body) {
  static Pool *pool = new Pool;
  if (count <= 1)
    return body(0);
  pool->run(count, body);
}

} // namespace joule::vgpu
