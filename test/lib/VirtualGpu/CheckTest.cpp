// CUDA kernels in check mode: every fault of cuda/faults.cu is found and its corrected twin is clean; the
// idioms of cuda/idioms.cu are clean under every order of the warps.
#include "test/lib/VirtualGpu/Harness.h"

#include <fstream>
#include <numeric>
#include <sstream>

namespace joule::vgpu::test {
namespace {

using K = FindingKind;

struct Case {
  const char *kernel;
  uint32_t grid, block;
  std::vector<K> kinds = {}; // of which one is told, and no other
  uint32_t cluster = 1, dynamicShared = 0;
  bool cooperative = false;
};

std::string textOf(const std::string &name) {
  std::ifstream file(std::string(JOULE_VGPU_CUDA) + "/" + name + ".ptx");
  EXPECT_TRUE(file) << name;
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

/// One device for the module, so that it is parsed once.
Device &deviceOf(const std::string &module) {
  static std::map<std::string, std::unique_ptr<Device>> all;
  DecodeOptions options;
  options.check = true;
  std::unique_ptr<Device> &device = all[module];
  if (!device)
    device = std::make_unique<Device>(textOf(module), options);
  return *device;
}

/// 4096 words go in, 4096 zeros and 64 flags of zero come out.
LaunchResult runCase(const std::string &module, const std::string &kernel, const Case &c,
                     unsigned schedule = 0) {
  Device &device = deviceOf(module);
  std::vector<int> words(4096);
  for (size_t i = 0; i < words.size(); ++i)
    words[i] = int(i * 7919 % 1009);
  uint64_t out = device.upload(std::vector<int>(4096)), in = device.upload(words);
  uint64_t flags = device.upload(std::vector<int>(64));
  Device::Shape shape;
  shape.grid[0] = c.grid, shape.block[0] = c.block, shape.cluster[0] = c.cluster;
  shape.shared = c.dynamicShared, shape.cooperative = c.cooperative, shape.schedule = schedule;
  LaunchResult result = device.launch(kernel, shape, out, in, flags);
  for (uint64_t a : {out, in, flags})
    device.memory.release(a);
  return result;
}

const Case faults[] = {
    {"tree", 2, 256, {K::Race}},
    {"warpTail", 1, 64, {K::Race}},
    {"scan", 1, 128, {K::Race}},
    {"transpose", 1, 256, {K::Race, K::UninitialisedRead}},
    {"halo", 1, 128, {K::UninitialisedRead}},
    {"stencil", 4, 1024, {K::OutOfBounds}},
    {"branchBarrier", 1, 64, {K::BarrierDivergence, K::Deadlock}},
    {"histogram", 1, 128, {K::Race}},
    {"binsNotCleared", 1, 128, {K::UninitialisedRead}},
    {"namedBarriers", 1, 128, {K::Race, K::UninitialisedRead}},
    {"tiles", 1, 32, {K::Race}},
    {"halfMasks", 1, 32, {K::Race}},
    {"fullMaskShuffle", 1, 32, {K::MemberMask, K::Deadlock}},
    {"ballotOfSome", 1, 32, {K::MemberMask, K::Deadlock, K::BarrierDivergence}},
    {"flagInShared", 1, 64, {K::Race}},
    {"overlap", 4, 32, {K::Race}},
    {"constant", 1, 16, {K::OutOfBounds, K::Fault}},
    {"vectorCast", 1, 32, {K::Misaligned}},
    {"dynamicShared", 1, 64, {K::OutOfBounds}, 1, 256},
    {"stackArray", 1, 64, {K::OutOfBounds, K::UninitialisedRead}},
    {"stackHalfFilled", 1, 64, {K::UninitialisedRead}},
    {"lastBlock", 8, 32, {K::Race}},
    {"blockScope", 4, 32, {K::Race}},
    {"lock", 8, 32, {K::Race}},
    {"peek", 8, 32, {K::Race}},
    {"gridBarrier", 4, 64, {K::Race}},
    {"barrierOfTooMany", 4, 64, {K::Deadlock}},
    {"unlockedRead", 8, 32, {K::Race}},
    {"pipelineTail", 1, 64, {K::AsyncCopy}},
    {"pipelineCount", 1, 64, {K::AsyncCopy, K::Race}},
    {"pipelineReuse", 1, 64, {K::Race, K::AsyncCopy}},
    {"ownWaitOnly", 1, 128, {K::Race, K::UninitialisedRead}},
    {"fragment", 1, 64, {K::Race, K::UninitialisedRead}},
    {"parity", 1, 256, {K::AsyncCopy, K::UninitialisedRead, K::Race, K::Deadlock}},
    {"phaseNotFlipped", 1, 256, {K::AsyncCopy, K::Race, K::Deadlock}},
    {"expectShort", 1, 256, {K::AsyncCopy, K::AsyncBarrier}},
    {"expectLong", 1, 256, {K::Deadlock}},
    {"expectNothing", 1, 256, {K::AsyncCopy, K::AsyncBarrier, K::Deadlock}},
    {"initTwice", 1, 32, {K::AsyncBarrier, K::Race, K::Deadlock}},
    {"initByAll", 1, 64, {K::AsyncBarrier, K::Race}},
    {"arriveOfTooFew", 1, 64, {K::Deadlock}},
    {"emptySlot", 1, 64, {K::Race, K::Deadlock}},
    {"noProxyFence", 1, 128, {K::ProxyFence}},
    {"bulkReadWait", 1, 128, {K::AsyncCopy, K::Race}},
    {"bulkOverlap", 4, 128, {K::Race}},
    {"bulkAgainstStore", 2, 32, {K::Race}},
    {"bulkAdd", 4, 32, {K::Race}},
    {"peerTooEarly", 2, 32, {K::Race, K::UninitialisedRead}, 2},
    {"peerGone", 2, 32, {K::Race, K::UseAfterFree}, 2},
    {"peerCounter", 2, 32, {K::Race}, 2},
    {"wgmmaProxy", 1, 128, {K::ProxyFence}},
    {"wgmmaBarrier", 1, 128, {K::Race, K::ProxyFence, K::UninitialisedRead}},
    {"wgmmaReuse", 1, 128, {K::AsyncCopy}},
    {"wgmmaNoFence", 1, 128, {K::AsyncCopy}},
    {"wgmmaNoWait", 1, 128, {K::AsyncCopy}},
    {"wgmmaUnwritten", 1, 128, {K::UninitialisedRead}},
};

const Case idioms[] = {
    {"volatileTail", 1, 64},
    {"partialMasks", 1, 64},
    {"tiles", 1, 128},
    {"aggregatedAtomics", 4, 64},
    {"labels", 1, 32},
    {"bitonic", 1, 128},
    {"earlyExit", 1, 128},
    {"exitsThenBarrier", 1, 128},
    {"counts", 1, 96},
    {"namedHandOver", 1, 64},
    {"splitBarrier", 1, 64},
    {"pipelines", 1, 256},
    {"doubleBuffer", 1, 128},
    {"zeroFill", 1, 64},
    {"asyncArrive", 1, 64},
    {"found", 4, 64},
    {"reuse", 1, 64},
    {"padding", 1, 64},
    {"queue", 4, 64},
    {"lastBlock", 8, 32},
    {"lastBlockAllWrite", 8, 64},
    {"gridSync", 4, 64, {}, 1, 0, true},
    {"gridSplit", 4, 64, {}, 1, 0, true},
    {"spinLock", 8, 32},
    {"volatileUnlock", 8, 32},
    {"blockLock", 4, 64},
    {"ticketLock", 8, 32},
    {"warpLocks", 2, 32},
    {"semaphore", 8, 64},
    {"lookBack", 8, 32},
    {"packedLookBack", 8, 32},
    {"handMadeGridBarrier", 4, 64},
    {"messages", 3, 32},
    {"releaseSequence", 3, 32},
    {"hashTable", 2, 64},
    {"casFloat", 4, 64},
    {"ring", 2, 32, {}, 2},
    {"peerHistogram", 2, 32, {}, 2},
    {"remoteArrive", 2, 32, {}, 2},
};

std::ostream &operator<<(std::ostream &out, const Case &c) { return out << c.kernel; }

std::string describeAll(const LaunchResult &result) {
  std::string all = result.message + "\n";
  for (const Finding &f : result.findings)
    all += describe(f) + "\n";
  return all;
}

class CudaFaults : public testing::TestWithParam<Case> {};

TEST_P(CudaFaults, AreFound) {
  const Case &c = GetParam();
  LaunchResult result = runCase("faults", std::string(c.kernel) + "_wrong", c);
  bool there = !result.findings.empty();
  for (const Finding &f : result.findings)
    there &= std::find(c.kinds.begin(), c.kinds.end(), f.kind) != c.kinds.end();
  EXPECT_TRUE(there) << describeAll(result);
}

TEST_P(CudaFaults, TwinsAreClean) {
  const Case &c = GetParam();
  for (unsigned schedule : {0, 1, 2}) {
    LaunchResult result = runCase("faults", std::string(c.kernel) + "_right", c, schedule);
    EXPECT_TRUE(result.findings.empty() && result.fault == FaultKind::None) << describeAll(result);
  }
}

class CudaIdioms : public testing::TestWithParam<Case> {};

TEST_P(CudaIdioms, AreClean) {
  for (unsigned schedule : {0, 1, 2, 3}) {
    LaunchResult result = runCase("idioms", GetParam().kernel, GetParam(), schedule);
    EXPECT_TRUE(result.findings.empty() && result.fault == FaultKind::None) << describeAll(result);
  }
}

std::string nameOfTest(const testing::TestParamInfo<Case> &info) { return info.param.kernel; }

INSTANTIATE_TEST_SUITE_P(All, CudaFaults, testing::ValuesIn(faults), nameOfTest);
INSTANTIATE_TEST_SUITE_P(All, CudaIdioms, testing::ValuesIn(idioms), nameOfTest);

} // namespace
} // namespace joule::vgpu::test
