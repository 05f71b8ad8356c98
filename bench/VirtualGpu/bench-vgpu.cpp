// Prints how fast the virtual GPU is beside the machine itself: interpreter and compiled code, one line per
// kind of work; an argument chooses kernels by a part of their names. Times are the processor's, shared among
// the threads, and the best of several runs.
#include "bench/VirtualGpu/Native.h"
#include "lib/VirtualGpu/Launch.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <functional>
#include <sstream>
#include <thread>

using namespace joule::vgpu;
using joule::bench::seconds;

namespace {

std::string readFile(const std::string &path) {
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

class Bench {
public:
  Bench(const std::string &ptx, unsigned threads)
      : memory(1ull << 33), module(ptx, memory), threads(threads) {}

  uint64_t floats(size_t n) {
    uint64_t address = memory.allocate(n * 4);
    float *p = reinterpret_cast<float *>(address);
    for (size_t i = 0; i < n; ++i)
      p[i] = float(i * 7 % 13) * 0.125f;
    return address;
  }

  struct Dimensions {
    uint32_t grid[3], block[3];
  };

  /// Seconds of the best of `runs` launches.
  template <class... Args>
  double time(EngineChoice engine, const char *kernel, const Dimensions &d, int runs, const Args &...args) {
    LaunchRequest request;
    request.image = module.kernel(kernel);
    memcpy(request.grid, d.grid, sizeof d.grid);
    memcpy(request.block, d.block, sizeof d.block);
    request.threads = threads;
    request.memory = &memory;
    request.engine = engine;
    request.count = counting;
    request.parameters.resize(request.image->entry().kernelParameterBytes);
    size_t index = 0;
    ((memcpy(request.parameters.data() + request.image->entry().kernelParameters[index++], &args,
             sizeof args)),
     ...);
    double best = 1e30;
    for (int i = 0; i < runs + 1; ++i) { // the first compiles, and fills caches
      double start = seconds();
      LaunchResult result = launch(request);
      if (result.fault != FaultKind::None)
        fprintf(stderr, "%s\n", result.message.c_str()), exit(1);
      if (i > 0)
        best = std::min(best, (seconds() - start) / threads);
    }
    return best;
  }

  /// One line of the table: `work` units per launch, against `native` units per second.
  template <class... Args>
  void line(const char *name, const char *kernel, const Dimensions &d, double work, double native,
            const Args &...args) {
    if (std::string(kernel).find(only) == std::string::npos)
      return;
    double compiled = work / time(EngineChoice::Compiled, kernel, d, 5, args...);
    double interpreted = work / time(EngineChoice::Interpreter, kernel, d, 1, args...);
    printf("%-28s %10.2f %10.2f %8.1fx", name, compiled / 1e9, interpreted / 1e9, compiled / interpreted);
    if (native > 0)
      printf(" %10.2f %8.3f", native / 1e9, compiled / native);
    if (!counting) {
      counting = true;
      double counted = work / time(EngineChoice::Compiled, kernel, d, 2, args...);
      counting = false;
      printf(" %9.2fx", compiled / counted);
    }
    printf("\n");
  }

  std::string only; // kernels with this in their names

private:
  MemoryMap memory;
  LoadedModule module;
  unsigned threads;
  bool counting = false;
};

void timeParsing(const std::string &ptx) {
  std::string many = ptx;
  size_t lines = size_t(std::count(ptx.begin(), ptx.end(), '\n'));
  double start = seconds();
  int times = 0;
  for (; seconds() - start < 0.5; ++times)
    ptx::parse(ptx);
  printf("parsing: %.2f M lines/s\n", double(lines) * times / (seconds() - start) / 1e6);
}

} // namespace

int main(int argc, char **argv) {
  useJit();
  std::string ptx = readFile(JOULE_BENCH_KERNELS);
  if (ptx.empty()) {
    fprintf(stderr, "error: cannot read %s\n", JOULE_BENCH_KERNELS);
    return 1;
  }
  // Its choice for machines that it does not know is four times slower.
  setenv("OPENBLAS_CORETYPE", __builtin_cpu_supports("avx512f") ? "SkylakeX" : "Haswell", 0);
  unsigned threads = std::max(1u, std::thread::hardware_concurrency());
  double peak = joule::bench::peakFma(threads), gemm = joule::bench::openBlas(1024, threads);
  constexpr int elements = 1 << 24, n = 1024, turns = 2000;
  double stream = joule::bench::triad(elements, threads);
  printf("%s, %u threads; native: f32 multiply-adds %.1f GFLOP/s, triad %.2f G elements/s, OpenBLAS sgemm "
         "%.1f GFLOP/s\n",
         instructionSet(), threads, peak / 1e9, stream / 1e9, gemm / 1e9);
  printf("%-28s %10s %10s %9s %10s %8s %10s\n", "G units/s", "compiled", "interpr.", "ratio", "native",
         "share", "counting");
  Bench bench(ptx, threads);
  bench.only = argc > 1 ? argv[1] : "";
  uint64_t x = bench.floats(elements), y = bench.floats(elements), z = bench.floats(elements);
  bench.line("fma loop, FLOP", "fmaloop", {{64, 1, 1}, {256, 1, 1}}, 64.0 * 256 * turns * 8, peak, turns,
             0.5f, y);
  bench.line("saxpy 16M, elements", "saxpy", {{elements / 256, 1, 1}, {256, 1, 1}}, elements, stream,
             elements, 2.f, x, y);
  bench.line("sgemm 16x16 tiles, FLOP", "sgemm_tile", {{n / 16, n / 16, 1}, {16, 16, 1}}, 2.0 * n * n * n,
             gemm, n, x, y, z);
  bench.line("sgemm 64x64 tiles, FLOP", "sgemm_reg", {{n / 64, n / 64, 1}, {16, 16, 1}}, 2.0 * n * n * n,
             gemm, n, x, y, z);
  bench.line("mma.sync f16 k16, FLOP", "mma_f16", {{16, 1, 1}, {128, 1, 1}}, 16.0 * 4 * 500 * 4 * 4096, gemm,
             500, y);
  bench.line("mma.sync s8 k32, OP", "mma_s8", {{16, 1, 1}, {128, 1, 1}}, 16.0 * 4 * 500 * 4 * 8192, gemm, 500,
             y);
  bench.line("softmax 1024 x 4096, elem.", "softmax", {{1024, 1, 1}, {256, 1, 1}}, 1024.0 * 4096, 0, 4096, x,
             y);
  EngineUse use = engineUse();
  printf("compiling: %.3f ms per PTX instruction\n",
         double(use.compileNanoseconds) / 1e6 / double(std::max<uint64_t>(1, use.compiledInstructions)));
  timeParsing(ptx);
}
