// Prints what compiling costs: every kernel of the PTX files named, or of the bench's own, for blocks of 128
// threads. Times are the processor's. Why a kernel is refused stands in its line.
#include "lib/VirtualGpu/Compiled.h"

#include <cstdio>
#include <ctime>
#include <fstream>
#include <sstream>

using namespace joule::vgpu;

namespace {

double cpuSeconds() {
  timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return double(t.tv_sec) + 1e-9 * double(t.tv_nsec);
}

struct Total {
  double seconds = 0;
  size_t instructions = 0, kernels = 0;
};

void compileAll(const char *path, Total &total) {
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  MemoryMap memory(1ull << 33);
  LoadedModule module(text.str(), memory);
  for (auto &function : module.source().functions) {
    KernelImage *image = module.kernel(function->name);
    if (!image)
      continue;
    CompileRequest request;
    request.image = image;
    request.block[0] = 128;
    double start = cpuSeconds();
    std::string why;
    auto code = kernelCompiler()->compile(request, why);
    double spent = cpuSeconds() - start;
    size_t n = function->instructions.size();
    printf("%7.1f ms %6zu instructions %6.3f ms each  %s %s\n", spent * 1e3, n, spent * 1e3 / double(n),
           function->name.c_str(), why.c_str());
    if (code)
      total.seconds += spent, total.instructions += n, ++total.kernels;
  }
}

} // namespace

int main(int argc, char **argv) {
  useJit();
  Total total, first;
  compileAll(JOULE_BENCH_KERNELS, argc > 1 ? first : total); // starts LLVM
  for (int i = 1; i < argc; ++i)
    compileAll(argv[i], total);
  printf("%zu kernels, %zu instructions, %.3f ms each\n", total.kernels, total.instructions,
         total.seconds * 1e3 / double(total.instructions ? total.instructions : 1));
}
