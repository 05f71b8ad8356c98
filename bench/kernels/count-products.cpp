// Counts on the virtual GPU what matrix products and convolutions cost: thread instructions per multiply-add,
// sectors of global memory per byte that must be moved, rounds of shared memory per 128 bytes (1 without bank
// conflicts).
#include "bench/kernels/Products.h"
#include "test/lib/Emit/RunKernel.h"

#include <cstdio>

using namespace joule::bench;
using namespace joule::test;

namespace {

/// The convolutions of ResNet-50, each shape once, and some of MobileNet.
const Conv convs[] = {
    {"conv1", 3, 224, 64, 7, 2},
    {"conv2 1x1 a", 64, 56, 64, 1, 1},
    {"conv2 3x3", 64, 56, 64, 3, 1},
    {"conv2 1x1 b", 64, 56, 256, 1, 1},
    {"conv2 1x1 c", 256, 56, 64, 1, 1},
    {"conv3 1x1 a", 256, 56, 128, 1, 1},
    {"conv3 3x3/2", 128, 56, 128, 3, 2},
    {"conv3 1x1 b", 128, 28, 512, 1, 1},
    {"conv3 1x1/2", 256, 56, 512, 1, 2},
    {"conv3 3x3", 128, 28, 128, 3, 1},
    {"conv4 3x3", 256, 14, 256, 3, 1},
    {"conv4 1x1 b", 256, 14, 1024, 1, 1},
    {"conv5 3x3", 512, 7, 512, 3, 1},
    {"conv5 1x1 b", 512, 7, 2048, 1, 1},
    {"conv5 1x1 c", 2048, 7, 512, 1, 1},
    {"depthwise", 96, 56, 96, 3, 1, 96},
    {"depthwise/2", 96, 112, 96, 3, 2, 96},
    {"depthwise 7", 576, 7, 576, 5, 1, 576},
};

void report(const Product &product) {
  KernelRun run = runKernel(product.function, product.inputs, "", /*count=*/true);
  if (!run.error.empty()) {
    std::printf("%-14s %s\n", product.name.c_str(), run.error.c_str());
    return;
  }
  double rounds = run.counts.sharedBytes ? 128.0 * run.counts.sharedRounds / run.counts.sharedBytes : 0;
  std::printf("%-14s %8.1f M products  %6.3f instructions each  %5.1fx bytes  %5.2f rounds  %s\n",
              product.name.c_str(), product.products / 1e6, run.counts.instructions / product.products,
              32.0 * run.counts.globalSectors / product.bytes, rounds, run.schedule.c_str());
  std::fflush(stdout);
}

} // namespace

int main() {
  for (const Conv &conv : convs)
    report(product(conv));
  for (bool turned : {false, true}) {
    report(product(512, 512, 512, turned));
    report(product(128, 768, 768, turned));
    report(product(1, 1000, 2048, turned));
    report(product(4, 768, 768, turned));
  }
}
