// count-ceilings FILE [--lower]: counts on the virtual GPU what the kernels of each family cost, and compares with the
// ceilings in FILE, lines of NAME CEILING UNIT. Counts repeat exactly: a count above its ceiling is a kernel that has
// become dearer. --lower writes what has become cheaper, and what is new, into FILE; nothing there ever rises. Of kernels
// that do not hang on data, a few blocks counted from the PTX alone must come within 5 % of all blocks that run, bytes that
// must move and operations of whole tiles must be those of the schedule.
#include "bench/kernels/Products.h"
#include "test/lib/Emit/RunKernel.h"

#include <cmath>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <map>
#include <sstream>

using namespace joule::bench;
using namespace joule::test;

namespace {

/// What a kernel is held to: thread instructions per FLOP, or per byte of its inputs and results.
struct Problem {
  std::string name, function;
  std::vector<Buffer> inputs;
  double flops = 0; ///< 0: per byte
};

struct Text {
  const char *name, *function;
  double flops = 0;
};

/// By family: map, row, contract, then those of their own.
const Text texts[] = {
    {"map/add", R"((%x: tensor<64x256xf32>, %y: tensor<64x256xf32>) -> tensor<64x256xf32> {
      %z = arith.addf %x, %y : tensor<64x256xf32>
      return %z : tensor<64x256xf32> })"},
    {"map/add_large", R"((%x: tensor<512x512xf32>, %y: tensor<512x512xf32>) -> tensor<512x512xf32> {
      %z = arith.addf %x, %y : tensor<512x512xf32>
      return %z : tensor<512x512xf32> })"},
    {"map/add_f16", R"((%x: tensor<64x256xf16>, %y: tensor<64x256xf16>) -> tensor<64x256xf16> {
      %z = arith.addf %x, %y : tensor<64x256xf16>
      return %z : tensor<64x256xf16> })"},
    {"map/add_odd", R"((%x: tensor<61x131xf32>, %y: tensor<61x131xf32>) -> tensor<61x131xf32> {
      %z = arith.addf %x, %y : tensor<61x131xf32>
      return %z : tensor<61x131xf32> })"},
    {"map/bias_of_rows", R"((%x: tensor<64x256xf32>, %b: tensor<64xf32>) -> tensor<64x256xf32> {
      %c = nn.broadcast %b dimensions = [0] : (tensor<64xf32>) -> tensor<64x256xf32>
      %z = arith.addf %x, %c : tensor<64x256xf32>
      return %z : tensor<64x256xf32> })"},
    {"map/tanh", R"((%x: tensor<64x256xf32>) -> tensor<64x256xf32> {
      %z = math.tanh %x : tensor<64x256xf32>
      return %z : tensor<64x256xf32> })"},
    {"map/erf", R"((%x: tensor<64x256xf32>) -> tensor<64x256xf32> {
      %z = math.erf %x : tensor<64x256xf32>
      return %z : tensor<64x256xf32> })"},
    {"map/exp_f64", R"((%x: tensor<32x64xf64>) -> tensor<32x64xf64> {
      %z = math.exp %x : tensor<32x64xf64>
      return %z : tensor<32x64xf64> })"},
    {"map/cast_to_i8", R"((%x: tensor<64x256xf32>) -> tensor<64x256xi8> {
      %z = nn.cast %x saturate : (tensor<64x256xf32>) -> tensor<64x256xi8>
      return %z : tensor<64x256xi8> })"},
    {"map/cast_from_f8", R"((%x: tensor<64x256xf8E4M3FN>) -> tensor<64x256xf32> {
      %z = nn.cast %x : (tensor<64x256xf8E4M3FN>) -> tensor<64x256xf32>
      return %z : tensor<64x256xf32> })"},
    {"map/transpose", R"((%x: tensor<128x128xf32>) -> tensor<128x128xf32> {
      %z = nn.transpose %x permutation = [1, 0] : (tensor<128x128xf32>) -> tensor<128x128xf32>
      return %z : tensor<128x128xf32> })"},
    {"map/dynamic_add", R"((%x: tensor<?x256xf32> {nn.dims = ["n", ""]}, %y: tensor<?x256xf32> {nn.dims = ["n", ""]}) -> tensor<?x256xf32> {
      %n = nn.symbol "n"
      %z = arith.addf %x, %y : tensor<?x256xf32>
      return %z : tensor<?x256xf32> })"},
    {"map/concat", R"((%x: tensor<64x100xf32>, %y: tensor<64x28xf32>) -> tensor<64x128xf32> {
      %z = nn.concat %x, %y axis = 1 : (tensor<64x100xf32>, tensor<64x28xf32>) -> tensor<64x128xf32>
      return %z : tensor<64x128xf32> })"},
    {"map/pad", R"((%x: tensor<3x30x30xf32>, %v: tensor<f32>) -> tensor<3x32x32xf32> {
      %z = nn.pad %x, %v low = [0, 1, 1] mode = constant : (tensor<3x30x30xf32>, tensor<f32>) -> tensor<3x32x32xf32>
      return %z : tensor<3x32x32xf32> })"},
    {"map/gather", R"((%x: tensor<100x64xf32>, %i: tensor<50xi64>) -> tensor<50x64xf32> {
      %z = nn.gather %x, %i axis = 0 : (tensor<100x64xf32>, tensor<50xi64>) -> tensor<50x64xf32>
      return %z : tensor<50x64xf32> })"},
    {"map/resize_linear", R"((%x: tensor<1x4x16x16xf32>) -> tensor<1x4x32x32xf32> {
      %s = nn.constant dense<[1.0, 1.0, 2.0, 2.0]> : tensor<4xf32> -> tensor<4xf32>
      %z = nn.resize linear %x, %s coordinate = half_pixel nearest = floor : (tensor<1x4x16x16xf32>, tensor<4xf32>) -> tensor<1x4x32x32xf32>
      return %z : tensor<1x4x32x32xf32> })"},
    {"map/pool_max", R"((%x: tensor<1x16x28x28xf32>) -> tensor<1x16x14x14xf32> {
      %z = nn.pool max %x window = [3, 3] strides = [2, 2] low = [1, 1] dilations = [1, 1] : (tensor<1x16x28x28xf32>) -> tensor<1x16x14x14xf32>
      return %z : tensor<1x16x14x14xf32> })"},
    {"row/sum", R"((%x: tensor<64x512xf32>) -> tensor<64xf32> {
      %z = nn.reduce sum %x axes = [1] : (tensor<64x512xf32>) -> tensor<64xf32>
      return %z : tensor<64xf32> })"},
    {"row/sum_of_short_rows", R"((%x: tensor<1024x12xf32>) -> tensor<1024xf32> {
      %z = nn.reduce sum %x axes = [1] : (tensor<1024x12xf32>) -> tensor<1024xf32>
      return %z : tensor<1024xf32> })"},
    {"row/sum_of_columns", R"((%x: tensor<128x256xf32>) -> tensor<256xf32> {
      %z = nn.reduce sum %x axes = [0] : (tensor<128x256xf32>) -> tensor<256xf32>
      return %z : tensor<256xf32> })"},
    {"row/max_f16", R"((%x: tensor<64x512xf16>) -> tensor<64xf16> {
      %z = nn.reduce max %x axes = [1] : (tensor<64x512xf16>) -> tensor<64xf16>
      return %z : tensor<64xf16> })"},
    {"row/softmax", R"((%x: tensor<64x256xf32>) -> tensor<64x256xf32> {
      %z = nn.softmax %x axis = 1 : (tensor<64x256xf32>) -> tensor<64x256xf32>
      return %z : tensor<64x256xf32> })"},
    {"row/softmax_long", R"((%x: tensor<4x5000xf32>) -> tensor<4x5000xf32> {
      %z = nn.softmax %x axis = 1 : (tensor<4x5000xf32>) -> tensor<4x5000xf32>
      return %z : tensor<4x5000xf32> })"},
    {"row/layernorm", R"((%x: tensor<64x256xf32>, %s: tensor<256xf32>, %b: tensor<256xf32>) -> tensor<64x256xf32> {
      %n = nn.normalize %x axes = [1] epsilon = 1.0e-5 : (tensor<64x256xf32>) -> tensor<64x256xf32>
      %t = nn.broadcast %s dimensions = [1] : (tensor<256xf32>) -> tensor<64x256xf32>
      %m = arith.mulf %n, %t : tensor<64x256xf32>
      %c = nn.broadcast %b dimensions = [1] : (tensor<256xf32>) -> tensor<64x256xf32>
      %z = arith.addf %m, %c : tensor<64x256xf32>
      return %z : tensor<64x256xf32> })"},
    {"row/argmax", R"((%x: tensor<64x256xf32>) -> tensor<64xi64> {
      %z = nn.arg_reduce max %x axis = 1 : (tensor<64x256xf32>) -> tensor<64xi64>
      return %z : tensor<64xi64> })"},
    {"row/cumulate", R"((%x: tensor<64x64xf32>) -> tensor<64x64xf32> {
      %z = nn.cumulate sum %x axis = 1 : (tensor<64x64xf32>) -> tensor<64x64xf32>
      return %z : tensor<64x64xf32> })"},
    {"scatter/elements", R"((%x: tensor<64x64xf32>, %i: tensor<4x64xi64>, %u: tensor<4x64xf32>) -> tensor<64x64xf32> {
      %z = nn.scatter_elements replace %x, %i, %u axis = 0 : (tensor<64x64xf32>, tensor<4x64xi64>, tensor<4x64xf32>) -> tensor<64x64xf32>
      return %z : tensor<64x64xf32> })"},
    {"scatter/nd_add", R"((%x: tensor<64x64xf32>, %i: tensor<16x1xi64>, %u: tensor<16x64xf32>) -> tensor<64x64xf32> {
      %z = nn.scatter_nd add %x, %i, %u : (tensor<64x64xf32>, tensor<16x1xi64>, tensor<16x64xf32>) -> tensor<64x64xf32>
      return %z : tensor<64x64xf32> })"},
    {"top_k/5_of_64", R"((%x: tensor<16x64xf32>) -> (tensor<16x5xf32>, tensor<16x5xi64>) {
      %v, %i = nn.top_k %x axis = 1 : (tensor<16x64xf32>) -> (tensor<16x5xf32>, tensor<16x5xi64>)
      return %v, %i : tensor<16x5xf32>, tensor<16x5xi64> })"},
    {"contract/batched", R"((%x: tensor<8x32x64xf32>, %y: tensor<8x64x32xf32>) -> tensor<8x32x32xf32> {
      %z = nn.contract %x, %y lhs = [0, 1, 3] rhs = [0, 3, 2] out = [0, 1, 2] : (tensor<8x32x64xf32>, tensor<8x64x32xf32>) -> tensor<8x32x32xf32>
      return %z : tensor<8x32x32xf32> })", 2.0 * 8 * 32 * 64 * 32},
    {"recurrent/lstm", R"((%g: tensor<4x1x128xf32>, %r: tensor<128x32xf32>, %h: tensor<1x32xf32>, %c: tensor<1x32xf32>) -> tensor<4x1x32xf32> {
      %y, %hl, %cl = nn.lstm %g, %r init %h, %c activations = ["Sigmoid", "Tanh", "Tanh"] : (tensor<4x1x128xf32>, tensor<128x32xf32>, tensor<1x32xf32>, tensor<1x32xf32>) -> (tensor<4x1x32xf32>, tensor<1x32xf32>, tensor<1x32xf32>)
      return %y : tensor<4x1x32xf32> })", 2.0 * 4 * 128 * 32},
};

std::vector<Problem> problems() {
  std::vector<Problem> all;
  for (const Text &text : texts)
    all.push_back({text.name, text.function, makeInputs(text.function, {{"n", 64}}), text.flops});
  auto add = [&](const std::string &kind, const Product &product) {
    all.push_back({"contract/" + kind + product.name, product.function, product.inputs, 2 * product.products});
  };
  for (bool turned : {false, true}) {
    add("", product(128, 128, 128, turned));
    add("", product(1, 256, 256, turned));
    add("", product(4, 128, 128, turned));
    add("f16_", product(64, 64, 64, turned, "f16"));
    add("i8_", product(64, 64, 64, turned, "i8"));
  }
  for (const Conv &conv : {Conv{"3x3", 16, 14, 32, 3, 1}, Conv{"1x1", 32, 14, 32, 1, 1}, Conv{"7x7/2", 3, 32, 16, 7, 2},
                           Conv{"depthwise", 16, 28, 16, 3, 1, 16}, Conv{"groups", 16, 14, 16, 3, 1, 4}})
    add("conv_", product(conv));
  return all;
}

template <typename... Parts> std::string joined(const Parts &...parts) {
  std::ostringstream text;
  (text << ... << parts);
  return text.str();
}

/// Four digits after the point are what a ceiling holds.
double rounded(double number) { return std::round(number * 1e4) / 1e4; }

/// By how much the largest of what countSample() counts is off, as a share of what all blocks do.
double sampleError(const KernelRun &run) {
  double error = 0;
  for (auto field : {&PtxCounts::instructions, &PtxCounts::globalBytes, &PtxCounts::globalSectors, &PtxCounts::sharedBytes})
    if (double all = static_cast<double>(run.counts.*field); all > 0)
      error = std::max(error, std::abs(static_cast<double>(run.sampled.*field) / all - 1));
  return error;
}

bool startsWith(const std::string &text, const char *prefix) { return text.rfind(prefix, 0) == 0; }

/// What the schedule, the PTX and the virtual GPU count of a kernel that does not hang on data: the same. Empty, or
/// what differs.
std::string disagreement(const Problem &problem, const KernelRun &run) {
  const std::string &name = problem.name;
  if (startsWith(name, "scatter/") || name == "map/gather") // where these go is data
    return run.sampled.followsFromPtx ? "its counts hang on data, which was not seen" : "";
  if (!run.sampled.followsFromPtx)
    return "its counts do not follow from the PTX";
  if (double error = sampleError(run); error > 0.05)
    return joined("a few blocks count ", 100 * error, " % more or less than all");
  uint64_t sectors = 0;
  for (const auto *buffers : {&problem.inputs, &run.results})
    for (const Buffer &buffer : *buffers)
      sectors += (buffer.bytes.size() + 31) / 32;
  bool isSeenWhole = name != "map/add_large"; // few enough blocks that each is counted
  if (isSeenWhole && run.sampled.touchedSectors != sectors)
    return joined("touches ", 32 * run.sampled.touchedSectors, " bytes of ", 32 * sectors);
  // Other products are rounded up to whole tiles.
  bool isWhole = startsWith(name, "contract/") && !startsWith(name, "contract/conv") && run.counts.multiplyAdds > 0;
  if (isWhole && 2 * static_cast<double>(run.counts.multiplyAdds) != problem.flops)
    return joined(2 * run.counts.multiplyAdds, " operations of ", problem.flops);
  return "";
}

/// Instructions per unit; below 0 where the kernel does not run.
double count(const Problem &problem) {
  KernelRun run = runKernel(problem.function, problem.inputs, "", /*count=*/true);
  std::string wrong = run.error.empty() ? disagreement(problem, run) : run.error;
  if (!wrong.empty()) {
    std::printf("%s: failed %s\n", problem.name.c_str(), wrong.c_str());
    return -1;
  }
  double bytes = 0;
  for (const auto *buffers : {&problem.inputs, &std::as_const(run.results)})
    for (const Buffer &buffer : *buffers)
      bytes += static_cast<double>(buffer.bytes.size());
  return rounded(static_cast<double>(run.counts.instructions) / (problem.flops > 0 ? problem.flops : bytes));
}

std::map<std::string, double> readCeilings(const char *path) {
  std::map<std::string, double> ceilings;
  std::ifstream stream(path);
  for (std::string line; std::getline(stream, line);) {
    std::istringstream words(line);
    std::string name;
    if (double ceiling; words >> name >> ceiling)
      ceilings[name] = ceiling;
  }
  return ceilings;
}

/// Prints how a count stands to its ceiling; false where it is above it.
bool judge(const Problem &problem, double counted, double ceiling, bool isKnown) {
  const char *unit = problem.flops > 0 ? "flop" : "byte", *name = problem.name.c_str();
  if (!isKnown) {
    std::printf("%s: failed %.4f instructions per %s, and no ceiling\n", name, counted, unit);
    return false;
  }
  if (counted > ceiling) {
    std::printf("%s: failed %.4f instructions per %s, above the ceiling of %.4f\n", name, counted, unit, ceiling);
    return false;
  }
  std::printf("%s: passed %.4f instructions per %s, ceiling %.4f\n", name, counted, unit, ceiling);
  return true;
}

} // namespace

int main(int argc, char **argv) {
  bool lowers = argc == 3 && std::strcmp(argv[2], "--lower") == 0;
  if (argc != 2 && !lowers) {
    std::fprintf(stderr, "usage: count-ceilings FILE [--lower]\n");
    return 2;
  }
  std::map<std::string, double> ceilings = readCeilings(argv[1]);
  std::ostringstream lowered;
  size_t failures = 0, known = 0, cheaper = 0;
  for (const Problem &problem : problems()) {
    double counted = count(problem);
    auto entry = ceilings.find(problem.name);
    bool isKnown = entry != ceilings.end();
    double ceiling = isKnown ? entry->second : counted;
    known += isKnown;
    if (counted < 0 || !judge(problem, counted, ceiling, isKnown || lowers))
      ++failures;
    else
      cheaper += counted < ceiling;
    lowered << problem.name << " " << (counted < 0 ? ceiling : std::min(counted, ceiling))
            << (problem.flops > 0 ? " flop\n" : " byte\n");
    std::fflush(stdout);
  }
  if (known != ceilings.size() && !lowers) {
    std::printf("%zu ceilings are of no problem\n", ceilings.size() - known);
    ++failures;
  }
  if (lowers)
    std::ofstream(argv[1]) << lowered.str();
  else if (cheaper || failures)
    std::printf("%zu are below their ceiling; lower it: %s %s --lower\n", cheaper, argv[0], argv[1]);
  return failures ? 1 : 0;
}
