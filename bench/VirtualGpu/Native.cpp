// Loops in the machine's own vectors, and OpenBLAS where it is.
#include "bench/VirtualGpu/Native.h"

#include <ctime>
#include <dlfcn.h>
#include <immintrin.h>
#include <thread>
#include <vector>

namespace joule::bench {

double seconds() {
  timespec t;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return double(t.tv_sec) + 1e-9 * double(t.tv_nsec);
}

namespace {

template <class F> void onThreads(unsigned threads, F f) {
  std::vector<std::thread> others;
  for (unsigned i = 1; i < threads; ++i)
    others.emplace_back([=] { f(i); });
  f(0);
  for (std::thread &t : others)
    t.join();
}

/// The best of several runs, in seconds.
template <class F> double best(unsigned threads, F f) {
  double least = 1e30;
  for (int i = 0; i < 5; ++i) {
    double start = seconds();
    f();
    least = std::min(least, (seconds() - start) / threads);
  }
  return least;
}

constexpr int chains = 10, turns = 4'000'000;

__attribute__((target("avx512f"))) void multiplyAdd512(float *out) {
  __m512 v[chains], a = _mm512_set1_ps(0.5f), b = _mm512_set1_ps(0.25f);
  for (int i = 0; i < chains; ++i)
    v[i] = _mm512_set1_ps(float(i));
  for (int t = 0; t < turns; ++t)
    for (__m512 &x : v)
      x = _mm512_fmadd_ps(x, a, b);
  __m512 sum = v[0];
  for (int i = 1; i < chains; ++i)
    sum = _mm512_add_ps(sum, v[i]);
  _mm_storeu_ps(out, _mm512_castps512_ps128(sum));
}

__attribute__((target("avx2,fma"))) void multiplyAdd256(float *out) {
  __m256 v[chains], a = _mm256_set1_ps(0.5f), b = _mm256_set1_ps(0.25f);
  for (int i = 0; i < chains; ++i)
    v[i] = _mm256_set1_ps(float(i));
  for (int t = 0; t < turns; ++t)
    for (__m256 &x : v)
      x = _mm256_fmadd_ps(x, a, b);
  __m256 sum = v[0];
  for (int i = 1; i < chains; ++i)
    sum = _mm256_add_ps(sum, v[i]);
  _mm_storeu_ps(out, _mm256_castps256_ps128(sum));
}

__attribute__((target("avx2,fma"))) void triadPart(const float *x, float *y, size_t n) {
  __m256 a = _mm256_set1_ps(2.f);
  for (size_t i = 0; i + 8 <= n; i += 8)
    _mm256_storeu_ps(y + i, _mm256_fmadd_ps(a, _mm256_loadu_ps(x + i), _mm256_loadu_ps(y + i)));
}

} // namespace

double peakFma(unsigned threads) {
  bool wide = __builtin_cpu_supports("avx512f");
  double time = best(threads, [&] {
    onThreads(threads, [=](unsigned) {
      float out[4];
      wide ? multiplyAdd512(out) : multiplyAdd256(out);
      volatile float keep = out[0];
      (void)keep;
    });
  });
  return 2.0 * (wide ? 16 : 8) * chains * turns * threads / time;
}

double triad(size_t n, unsigned threads) {
  std::vector<float> x(n, 1.f), y(n, 2.f);
  size_t part = n / threads;
  return double(n) / best(threads, [&] {
           onThreads(threads, [&](unsigned i) { triadPart(x.data() + i * part, y.data() + i * part, part); });
         });
}

double openBlas(int n, unsigned threads) {
  void *library = dlopen("libopenblas.so.0", RTLD_NOW | RTLD_LOCAL);
  if (!library)
    return 0;
  auto gemm =
      reinterpret_cast<void (*)(int, int, int, int, int, int, float, const float *, int, const float *, int,
                                float, float *, int)>(dlsym(library, "cblas_sgemm"));
  if (auto set = reinterpret_cast<void (*)(int)>(dlsym(library, "openblas_set_num_threads")))
    set(int(threads));
  if (!gemm)
    return 0;
  std::vector<float> a(size_t(n) * n, 1.f), b(a), c(a);
  double time =
      best(threads, [&] { gemm(101, 111, 111, n, n, n, 1.f, a.data(), n, b.data(), n, 0.f, c.data(), n); });
  return 2.0 * n * n * n / time;
}

} // namespace joule::bench
