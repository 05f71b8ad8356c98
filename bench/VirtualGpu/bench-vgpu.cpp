// Prints how fast the virtual GPU is beside the machine itself and pocl: interpreter and compiled code, one
// line per kind of work, with the share of the machine that it must reach; an argument chooses kernels by a
// part of their names. Times are the processor's, shared among the threads, and the best of several runs.
// models.py has whole models.
#include "bench/VirtualGpu/Native.h"
#include "bench/VirtualGpu/Pocl.h"
#include "lib/VirtualGpu/Launch.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <map>
#include <memory>
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

struct Dimensions {
  uint32_t grid[3], block[3];
};

/// One line of the table: `units` per launch, against `native` units per second, of which it must reach the
/// share `must`.
struct Work {
  const char *name, *kernel;
  Dimensions d;
  double units, native = 0, must = 0;
  int exact = 0; // an architecture: matrix products bit for bit
};

const char *verdict(bool met) { return met ? "met" : "MISSED"; }

class Bench {
public:
  Bench(const std::string &ptx, unsigned threads, joule::bench::Pocl &pocl, const char *only)
      : only(only), memory(1ull << 33), ptx(ptx), threads(threads), pocl(pocl) {}

  uint64_t floats(size_t n) {
    uint64_t address = memory.allocate(n * 4);
    float *p = reinterpret_cast<float *>(address);
    for (size_t i = 0; i < n; ++i)
      p[i] = float(i * 7 % 13) * 0.125f;
    return address;
  }

  template <class... Args> void line(const Work &work, const Args &...args) {
    if (std::string(work.kernel).find(only) == std::string::npos)
      return;
    double compiled = work.units / time(work, EngineChoice::Compiled, false, 5, args...);
    double interpreted = work.units / time(work, EngineChoice::Interpreter, false, 1, args...);
    double counted = work.units / time(work, EngineChoice::Compiled, true, 2, args...);
    printf("%-28s %10.2f %10.2f %8.1fx %9.2fx", work.name, compiled / 1e9, interpreted / 1e9,
           compiled / interpreted, compiled / counted);
    printPocl(work, args...);
    if (work.native > 0)
      printf(" %10.2f %8.3f", work.native / 1e9, compiled / work.native);
    if (work.must > 0)
      printf(" %6.2f  %s", work.must, verdict(compiled / work.native >= work.must));
    printf("\n");
    fflush(stdout);
    double interpreter = time(work, EngineChoice::Interpreter, true, 1, args...);
    if (counters.totalMatrixFlops() == 0) // a matrix instruction is work of another kind
      instructions += double(counters.totalThreadInstructions()), instructionSeconds += interpreter;
  }

  /// What the interpreter did in all lines, counting and under masks, for each lane of the machine's units.
  void interpreterLine(double lanes, double must) {
    if (instructions == 0)
      return;
    double rate = instructions / instructionSeconds;
    printf("interpreter, counting: %.2f G instructions of threads per second, %.4f of the machine's lanes of "
           "f32 (must "
           "%.2f: %s)\n",
           rate / 1e9, rate / lanes, must, verdict(rate / lanes >= must));
  }

private:
  LoadedModule &module(int exact) {
    auto &loaded = modules[exact];
    if (!loaded)
      loaded = std::make_unique<LoadedModule>(ptx, memory, DecodeOptions{exact, false});
    return *loaded;
  }

  /// Seconds of the best of `runs` launches.
  template <class... Args>
  double time(const Work &work, EngineChoice engine, bool count, int runs, const Args &...args) {
    LaunchRequest request;
    request.image = module(work.exact).kernel(work.kernel);
    memcpy(request.grid, work.d.grid, sizeof work.d.grid);
    memcpy(request.block, work.d.block, sizeof work.d.block);
    request.threads = threads;
    request.memory = &memory;
    request.engine = engine;
    request.count = count;
    request.parameters.resize(request.image->entry().kernelParameterBytes);
    size_t index = 0;
    ((memcpy(request.parameters.data() + request.image->entry().kernelParameters[index++], &args,
             sizeof args)),
     ...);
    return best(runs, [&] {
      LaunchResult result = launch(request);
      if (result.fault != FaultKind::None)
        fprintf(stderr, "%s\n", result.message.c_str()), exit(1);
      counters = result.counters;
    });
  }

  template <class... Args> void printPocl(const Work &work, const Args &...args) {
    if (!pocl.has(work.kernel))
      return (void)printf(" %10s", "");
    (pocl.argument(args), ...);
    size_t global[3], local[3];
    for (int i = 0; i < 3; ++i)
      local[i] = work.d.block[i], global[i] = size_t(work.d.grid[i]) * local[i];
    printf(" %10.2f", work.units / best(3, [&] { pocl.run(global, local); }) / 1e9);
  }

  template <class F> double best(int runs, F f) {
    double least = 1e30;
    f(); // compiles, and fills caches
    for (int i = 0; i < runs; ++i) {
      double start = seconds();
      f();
      least = std::min(least, (seconds() - start) / threads);
    }
    return least;
  }

  std::string only; // kernels with this in their names
  MemoryMap memory;
  std::string ptx;
  std::map<int, std::unique_ptr<LoadedModule>> modules;
  unsigned threads;
  joule::bench::Pocl &pocl;
  Counters counters; // of the last launch
  double instructions = 0, instructionSeconds = 0;
};

void timeParsing(const std::string &ptx) {
  std::string many = ptx;
  size_t lines = size_t(std::count(ptx.begin(), ptx.end(), '\n'));
  double start = seconds();
  int times = 0;
  for (; seconds() - start < 0.5; ++times)
    ptx::parse(ptx);
  double rate = double(lines) * times / (seconds() - start) / 1e6;
  printf("parsing: %.2f M lines/s (must 1: %s)\n", rate, verdict(rate >= 1));
}

} // namespace

int main(int argc, char **argv) {
  useJit();
  std::string ptx = readFile(JOULE_BENCH_FOLDER "/kernels.ptx");
  if (ptx.empty()) {
    fprintf(stderr, "error: cannot read %s\n", JOULE_BENCH_FOLDER "/kernels.ptx");
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
  printf("%-28s %10s %10s %9s %10s %10s %10s %8s %6s\n", "G units/s", "compiled", "interpr.", "ratio",
         "counting", "pocl", "native", "share", "must");
  constexpr size_t bytes = size_t(elements) * 4;
  joule::bench::Pocl pocl(readFile(JOULE_BENCH_FOLDER "/kernels.cl"), bytes);
  Bench bench(ptx, threads, pocl, argc > 1 ? argv[1] : "");
  uint64_t x = bench.floats(elements), y = bench.floats(elements), z = bench.floats(elements);
  bool wide = __builtin_cpu_supports("avx512f");
  const double flops = 2.0 * n * n * n;
  bench.line({"fma loop, FLOP", "fmaloop", {{64, 1, 1}, {256, 1, 1}}, 64.0 * 256 * turns * 8, peak, 0.45},
             turns, 0.5f, y);
  bench.line({"saxpy 16M, elements", "saxpy", {{elements / 256, 1, 1}, {256, 1, 1}}, elements, stream, 0.43},
             elements, 2.f, x, y);
  bench.line({"sgemm 16x16 tiles, FLOP", "sgemm_tile", {{n / 16, n / 16, 1}, {16, 16, 1}}, flops, gemm}, n, x,
             y, z);
  bench.line({"sgemm 64x64 tiles, FLOP",
              "sgemm_reg",
              {{n / 64, n / 64, 1}, {16, 16, 1}},
              flops,
              gemm,
              wide ? 0.2 : 0.15},
             n, x, y, z);
  Dimensions products = {{16, 1, 1}, {128, 1, 1}};
  constexpr double instructions = 16.0 * 4 * 500 * 4;
  bench.line({"mma.sync f16 k16, FLOP", "mma_f16", products, instructions * 4096, gemm, 0.25}, 500, y);
  bench.line({"mma.sync f16 k16 exact, FLOP", "mma_f16", products, instructions * 4096, gemm, 0.05, 80}, 500,
             y);
  bench.line({"wgmma n128k16, FLOP", "wgmma_f16", products, 16.0 * 50 * 4 * 262144, gemm, 0.2}, 50, y);
  bench.line({"wgmma n128k16 exact, FLOP", "wgmma_f16", products, 16.0 * 50 * 4 * 262144, gemm, 0.05, 90}, 50,
             y);
  bench.line({"gemm f16 cp.async, FLOP", "gemm_f16", {{n / 128, n / 128, 1}, {256, 1, 1}}, flops, gemm, 0.13},
             n, x, y, z);
  bench.line({"mma.sync s8 k32, OP", "mma_s8", products, instructions * 8192, gemm, 0.5}, 500, y);
  bench.line({"softmax 1024 x 4096, elem.", "softmax", {{1024, 1, 1}, {256, 1, 1}}, 1024.0 * 4096}, 4096, x,
             y);
  bench.line({"gather 64K, loads", "gather", {{1024, 1, 1}, {256, 1, 1}}, 1024.0 * 256 * 16 * 1.5}, 16, 0xffff, x,
             y);
  bench.line({"reduce 4M, elements", "reduce", {{8192, 1, 1}, {256, 1, 1}}, 8192.0 * 512}, 8192 * 512, x, z);
  if (!pocl.problem().empty())
    printf("pocl: left out, %s\n", pocl.problem().c_str());
  bench.interpreterLine(peak / 2, 0.02);
  EngineUse use = engineUse();
  double compiling =
      double(use.compileNanoseconds) / 1e6 / double(std::max<uint64_t>(1, use.compiledInstructions));
  printf("compiling: %.3f ms per PTX instruction (must 0.15: %s)\n", compiling, verdict(compiling <= 0.15));
  timeParsing(ptx);
}
