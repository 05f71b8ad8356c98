// Counts on the virtual GPU what matrix products and convolutions cost: thread instructions per multiply-add,
// sectors of global memory per byte that must be moved, rounds of shared memory per 128 bytes (1 without bank
// conflicts).
#include "test/lib/Emit/RunKernel.h"
#include "test/passes/NnToTile/Numbers.h"

#include <cstdio>

using namespace joule::test;

namespace {

using Shape = std::vector<int64_t>;

struct Conv {
  const char *name;
  int64_t channels, size, filters, window, stride, groups = 1;
};

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

void report(const char *name, double products, double bytes, const std::string &function,
            const std::vector<joule::reference::Buffer> &inputs) {
  KernelRun run = runKernel(function, inputs, "", /*count=*/true);
  if (!run.error.empty()) {
    std::printf("%-14s %s\n", name, run.error.c_str());
    return;
  }
  double rounds = run.counts.sharedBytes ? 128.0 * run.counts.sharedRounds / run.counts.sharedBytes : 0;
  std::printf("%-14s %8.1f M products  %6.3f instructions each  %5.1fx bytes  %5.2f rounds  %s\n", name,
              products / 1e6, run.counts.instructions / products, 32.0 * run.counts.globalSectors / bytes,
              rounds, run.schedule.c_str());
  std::fflush(stdout);
}

void count(const Conv &c) {
  int64_t low = c.window / 2, out = (c.size + 2 * low - c.window) / c.stride + 1;
  Shape x = {1, c.channels, c.size, c.size}, w = {c.filters, c.channels / c.groups, c.window, c.window};
  Shape y = {1, c.filters, out, out};
  std::string xt = tensorType(x, "f32"), wt = tensorType(w, "f32"), yt = tensorType(y, "f32");
  std::string bt = tensorType({c.filters}, "f32"),
              pair = std::to_string(c.stride) + ", " + std::to_string(c.stride);
  std::string pad = std::to_string(low) + ", " + std::to_string(low);
  std::string function =
      "(%x: " + xt + ", %w: " + wt + ", %b: " + bt + ") -> " + yt + " {\n%y = nn.conv %x, %w strides = [" +
      pair + "] low = [" + pad +
      "] dilations = [1, 1] input_dilations = [1, 1] groups = " + std::to_string(c.groups) + " : (" + xt +
      ", " + wt + ") -> " + yt + "\n%c = nn.broadcast %b dimensions = [1] : (" + bt + ") -> " + yt +
      "\n%z = arith.addf %y, %c : " + yt + "\nreturn %z : " + yt + "\n}";
  double products = 1.0 * c.filters * out * out * w[1] * c.window * c.window;
  double bytes = 4.0 * (1.0 * c.channels * c.size * c.size + 1.0 * c.filters * w[1] * c.window * c.window +
                        1.0 * c.filters * out * out);
  report(c.name, products, bytes, function,
         {wholeNumbers("f32", x, 1), wholeNumbers("f32", w, 2), wholeNumbers("f32", {c.filters}, 3)});
}

void count(int64_t rows, int64_t columns, int64_t depth, bool turned) {
  Shape x = {rows, depth}, w = turned ? Shape{columns, depth} : Shape{depth, columns};
  std::string xt = tensorType(x, "f32"), wt = tensorType(w, "f32"), yt = tensorType({rows, columns}, "f32");
  std::string function = "(%x: " + xt + ", %w: " + wt + ") -> " + yt +
                         " {\n%y = nn.contract %x, %w lhs = [0, 2] rhs = " + (turned ? "[1, 2]" : "[2, 1]") +
                         " out = [0, 1] : (" + xt + ", " + wt + ") -> " + yt + "\nreturn %y : " + yt + "\n}";
  std::string name = std::to_string(rows) + "x" + std::to_string(columns) + "x" + std::to_string(depth) +
                     (turned ? "T" : "");
  report(name.c_str(), 1.0 * rows * columns * depth, 4.0 * (rows * depth + depth * columns + rows * columns),
         function, {wholeNumbers("f32", x, 1), wholeNumbers("f32", w, 2)});
}

} // namespace

int main() {
  for (const Conv &conv : convs)
    count(conv);
  for (bool turned : {false, true}) {
    count(512, 512, 512, turned);
    count(128, 768, 768, turned);
    count(1, 1000, 2048, turned);
    count(4, 768, 768, turned);
  }
}
