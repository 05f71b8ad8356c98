// Random kernels on both engines: the same bytes in memory, and the same counts. JOULE_RANDOM_PTX sets how
// many kernels, JOULE_RANDOM_PTX_FIRST the first one's number, under which a failure can be repeated;
// JOULE_RANDOM_PTX_FILE takes the kernel's text from a file.
#include "test/lib/VirtualGpu/Jit/RandomPtx.h"
#include "test/lib/VirtualGpu/Harness.h"

#include <chrono>
#include <cstdlib>
#include <fstream>
#include <random>
#include <sstream>

namespace joule::vgpu::test {
namespace {

unsigned numberFrom(const char *variable, unsigned otherwise) {
  const char *text = getenv(variable);
  return text ? unsigned(atoi(text)) : otherwise;
}

std::vector<uint32_t> input() {
  std::mt19937 random(1);
  std::vector<uint32_t> words(randomInputWords);
  for (uint32_t &word : words) {
    uint32_t kind = random() % 4;
    word = kind == 0 ? random() % 64 : kind == 1 ? random() : 0x3f000000 + random() % 0x1000000;
  }
  return words;
}

struct Outcome {
  std::vector<uint32_t> memory;
  LaunchResult result;
};

Outcome runOn(EngineChoice engine, const RandomKernel &kernel, bool count) {
  setDefaultEngine(engine);
  Device device(kernel.ptx);
  Device::Shape shape;
  shape.grid[0] = kernel.grid;
  std::copy(kernel.block, kernel.block + 3, shape.block);
  shape.threads = 1;
  shape.count = count;
  shape.seconds =
      engine == EngineChoice::Interpreter ? 3 : 100; // compiling counts, on a machine with much else to do
  uint32_t threads = kernel.grid * kernel.block[0] * kernel.block[1] * kernel.block[2];
  std::vector<uint32_t> words(size_t(threads) * randomOutputWords + 64, 0);
  uint64_t in = device.upload(input()), out = device.upload(words);
  Outcome outcome;
  outcome.result = device.launch("k", shape, in, out, uint32_t(17));
  outcome.memory = device.download<uint32_t>(out, words.size());
  return outcome;
}

/// What differs between the engines; empty if nothing does.
std::string difference(const RandomKernel &kernel, bool count) {
  uint64_t refused = engineUse().refusedKernels;
  Outcome expected = runOn(EngineChoice::Interpreter, kernel, count),
          got = runOn(EngineChoice::Compiled, kernel, count);
  if (expected.result.fault != FaultKind::None)
    return expected.result.fault == FaultKind::Timeout ? "" : expected.result.message;
  if (refused != engineUse().refusedKernels)
    return "refused: " + engineUse().lastRefusal;
  if (expected.result.message != got.result.message)
    return got.result.message;
  std::string text;
  for (size_t i = 0, n = 0; i < got.memory.size() && n < 4; ++i)
    if (expected.memory[i] != got.memory[i] && ++n)
      text += "thread " + std::to_string(i / randomOutputWords) + ", word " +
              std::to_string(i % randomOutputWords) + ": " + std::to_string(expected.memory[i]) + " became " +
              std::to_string(got.memory[i]) + "\n";
  const Counters &a = expected.result.counters, &b = got.result.counters;
  // Lanes that take turns meet again when they happen to.
  bool tookTurns = expected.result.rotations || got.result.rotations;
  for (unsigned c = 0; c < Counters::classes && count; ++c)
    if ((a.warpInstructions[c] != b.warpInstructions[c] && !tookTurns) ||
        a.threadInstructions[c] != b.threadInstructions[c])
      text += std::string("counts of ") + nameOf(InstructionClass(c)) + "\n";
  if (!tookTurns && memcmp(&a.memory, &b.memory, sizeof a.memory))
    text += "counts of memory\n";
  return text;
}

/// The kernel without the lines that the difference does not need. Lines that give registers their first
/// values stay, and so does what ends loops. Whatever two minutes leave is little enough.
RandomKernel reduced(RandomKernel kernel, bool count, const std::string &was) {
  std::vector<std::string> lines;
  std::stringstream text(kernel.ptx);
  for (std::string line; std::getline(text, line);)
    lines.push_back(line);
  size_t first = 0;
  for (size_t i = 0; i < lines.size(); ++i)
    if (lines[i].find("setp.lt.s32 %p4") != std::string::npos && !first)
      first = i + 1;
  auto joined = [&] {
    std::string all;
    for (const std::string &line : lines)
      all += line + "\n";
    return all;
  };
  auto end = std::chrono::steady_clock::now() + std::chrono::minutes(2);
  for (size_t size = 32; size; size /= 2)
    for (size_t i = first; i + size < lines.size() && std::chrono::steady_clock::now() < end;) {
      std::vector<std::string> before = lines;
      bool fixed = false;
      for (size_t k = i; k < i + size; ++k)
        for (const char *needed : {"$L", "%i", "%e", "%u", "}"})
          fixed |= lines[k].find(needed) != std::string::npos &&
                   (size > 1 || lines[k].find("bra") == std::string::npos);
      lines.erase(lines.begin() + ptrdiff_t(i), lines.begin() + ptrdiff_t(i + size));
      kernel.ptx = joined();
      std::string now = fixed ? "" : difference(kernel, count);
      if (now.substr(0, now.find('\n')) != was.substr(0, was.find('\n')))
        lines = before, i += size;
    }
  kernel.ptx = joined();
  return kernel;
}

TEST(RandomPtx, BothEnginesAgree) {
  unsigned first = numberFrom("JOULE_RANDOM_PTX_FIRST", 1), count = numberFrom("JOULE_RANDOM_PTX", 40);
  for (unsigned seed = first; seed < first + count; ++seed) {
    bool counts = seed % 2 == 0;
    RandomKernel kernel = randomKernel(seed);
    if (const char *file = getenv("JOULE_RANDOM_PTX_FILE")) {
      std::ifstream from(file);
      kernel.ptx.assign(std::istreambuf_iterator<char>(from), {});
    }
    std::string text = difference(kernel, counts);
    if (text.empty())
      continue;
    // Reducing takes minutes: who stops it knows the seed.
    std::cerr << "seed " << seed << ": " << text << "reducing the kernel\n";
    RandomKernel least = reduced(kernel, counts, text);
    FAIL() << "seed " << seed << ": " << text << "reduced, with " << difference(least, counts) << least.ptx;
  }
}

TEST(Compiler, LeavesHugeKernelsToTheInterpreter) {
  RandomKernel kernel = {"", 1, {32, 1, 1}};
  kernel.ptx =
      ".version 8.0\n.target sm_80\n.address_size 64\n"
      ".visible .entry k(.param .u64 pin, .param .u64 pout, .param .u32 pn) {\n.reg .b32 %r;\n.reg .b64 %l;\n"
      "ld.param.u64 %l, [pout];\nmov.u32 %r, 0;\n";
  for (unsigned i = 0; i < 30000; ++i)
    kernel.ptx += "add.u32 %r, %r, 1;\n";
  kernel.ptx += "st.global.u32 [%l], %r;\nret;\n}\n";
  uint64_t refused = engineUse().refusedKernels;
  Outcome outcome = runOn(EngineChoice::Compiled, kernel, false);
  EXPECT_EQ(outcome.memory[0], 30000u);
  EXPECT_EQ(engineUse().refusedKernels, refused + 1);
  EXPECT_NE(engineUse().lastRefusal.find("too large: 300"), std::string::npos) << engineUse().lastRefusal;
}

} // namespace
} // namespace joule::vgpu::test
