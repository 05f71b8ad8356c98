// run-from-threads ARTIFACT: one session, four threads, each with its own batch sizes. The model takes "x",
// float32 [batch, n], and gives "y", a row for each row. Prints the sums of the outputs, which must not
// depend on the threads.
#include "joule/Session.h"

#include <cstdio>
#include <cstdlib>
#include <numeric>
#include <thread>

using namespace joule;

template <typename T> static T orExit(Result<T> result) {
  if (result)
    return std::move(*result);
  std::fprintf(stderr, "%s\n", result.error().toString().c_str());
  std::exit(1);
}

/// The sum of "y" where "x" is `batch` rows of ones.
static double runOnce(Session session, int64_t batch) {
  std::vector<int64_t> shape = {batch, session.inputs().front().shape[1].size};
  std::vector<float> x(static_cast<size_t>(shape[0] * shape[1]), 1);
  TensorView view{ElementType::Float32, shape, x.data(), x.size() * sizeof(float)};
  Tensor y = std::move(orExit(session.run({{"x", view}})).at("y"));
  auto *values = reinterpret_cast<const float *>(y.bytes.data());
  return std::accumulate(values, values + y.bytes.size() / sizeof(float), 0.0);
}

int main(int argc, char **argv) {
  if (argc != 2)
    return std::fprintf(stderr, "usage: run-from-threads ARTIFACT\n"), 2;
  Artifact artifact = orExit(Artifact::open(argv[1]));
  Device device = orExit(Device::open("virtual"));
  Session session = orExit(Session::create(artifact, device));

  // A copy of a session is the same session. Runs at the same time take an arena each and share the weights.
  std::vector<double> sums(4);
  std::vector<std::thread> threads;
  for (size_t t = 0; t < sums.size(); ++t)
    threads.emplace_back([&, t] {
      for (int64_t batch : {1, 3, 2})
        sums[t] += runOnce(session, batch + static_cast<int64_t>(t));
    });
  for (std::thread &thread : threads)
    thread.join();

  for (size_t t = 0; t < sums.size(); ++t)
    std::printf("thread %zu: %g\n", t, sums[t]);
  Counters counters = session.counters();
  std::printf("%llu runs, %llu kernels compiled\n", static_cast<unsigned long long>(counters.runs),
              static_cast<unsigned long long>(counters.compiles));
}
