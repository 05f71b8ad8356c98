// device-memory ARTIFACT STEPS: a state that stays on the device. The model takes "state", float32 [n], and
// gives "next" of the same shape; each step's result is the following step's input, without a copy to the
// host.
#include "joule/Session.h"

#include <cstdio>
#include <cstdlib>
#include <optional>
#include <utility>

using namespace joule;

template <typename T> static T orExit(Result<T> result) {
  if (result)
    return std::move(*result);
  std::fprintf(stderr, "%s\n", result.error().toString().c_str());
  std::exit(1);
}

static void orExit(Result<void> result) {
  if (result)
    return;
  std::fprintf(stderr, "%s\n", result.error().toString().c_str());
  std::exit(1);
}

int main(int argc, char **argv) {
  if (argc != 3)
    return std::fprintf(stderr, "usage: device-memory ARTIFACT STEPS\n"), 2;
  Device device = orExit(Device::open("virtual"));
  Session session = orExit(Session::create(orExit(Artifact::open(argv[1])), device));

  std::vector<float> state = {1, 2, 3, 4};
  std::vector<int64_t> shape = {static_cast<int64_t>(state.size())};
  size_t bytes = state.size() * sizeof(float);
  DeviceMemory now = orExit(device.allocate(bytes));
  DeviceMemory next = orExit(device.allocate(bytes));
  orExit(now.write(state.data(), bytes));

  // All steps go into one stream, which keeps them in order on the device. While one is computed the host
  // prepares the next: giving `running` a new run waits for the old one. A program with CUDA streams and
  // memory of its own gives those instead.
  Stream stream = orExit(device.makeStream());
  std::optional<PendingRun> running;
  for (int step = 0; step < std::atoi(argv[2]); ++step) {
    running = orExit(session.start({{"state", now.view(ElementType::Float32, shape)}},
                                   {{"next", next.buffer()}}, {stream.handle()}));
    std::swap(now, next);
  }
  if (running)
    orExit(running->wait());

  orExit(now.read(state.data(), bytes));
  std::printf("%g %g %g %g\n", static_cast<double>(state[0]), static_cast<double>(state[1]),
              static_cast<double>(state[2]), static_cast<double>(state[3]));
  std::printf("%llu bytes copied between host and device by the runs\n",
              static_cast<unsigned long long>(session.counters().bytesCopied));
}
