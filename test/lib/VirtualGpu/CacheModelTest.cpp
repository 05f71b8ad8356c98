// The model of caches, on kernels whose traffic can be told beforehand.
#include "lib/VirtualGpu/Devices.h"
#include "test/lib/VirtualGpu/Harness.h"

using namespace joule::vgpu;
using namespace joule::vgpu::test;

namespace {

/// copy: a word for each thread. reread: each block reads `bytes` from `in`, `times` over, each thread every 4 * 32nd
/// byte; %0 is the load. update: each thread adds to a word of its own.
std::string kernels(const std::string &load) {
  return R"(.version 8.3
.target sm_80
.address_size 64
.visible .entry copy(.param .u64 in, .param .u64 out)
{
  .reg .b32 %r<8>; .reg .b64 %rd<8>;
  ld.param.u64 %rd1, [in]; ld.param.u64 %rd2, [out];
  mov.u32 %r1, %tid.x; mov.u32 %r2, %ctaid.x; mov.u32 %r3, %ntid.x; mad.lo.u32 %r4, %r2, %r3, %r1;
  mul.wide.u32 %rd3, %r4, 4; add.u64 %rd4, %rd1, %rd3; add.u64 %rd5, %rd2, %rd3;
  ld.global.u32 %r5, [%rd4]; st.global.u32 [%rd5], %r5;
  ret;
}
.visible .entry reread(.param .u64 in, .param .u64 out, .param .u32 bytes, .param .u32 times)
{
  .reg .pred %p; .reg .b32 %r<16>; .reg .b64 %rd<8>;
  ld.param.u64 %rd1, [in]; ld.param.u64 %rd2, [out]; ld.param.u32 %r1, [bytes]; ld.param.u32 %r2, [times];
  mov.u32 %r3, %tid.x; shl.b32 %r3, %r3, 2; mov.u32 %r9, 0;
again:
  mov.u32 %r4, %r3;
next:
  cvt.u64.u32 %rd3, %r4; add.u64 %rd4, %rd1, %rd3;
  )" + load +
         R"( %r5, [%rd4];
  add.u32 %r9, %r9, %r5; add.u32 %r4, %r4, 128; setp.lt.u32 %p, %r4, %r1;
  @%p bra next;
  sub.u32 %r2, %r2, 1; setp.ne.u32 %p, %r2, 0;
  @%p bra again;
  setp.eq.u32 %p, %r9, 0xffffffff;
  @%p st.global.u32 [%rd2], %r9;
  ret;
}
.visible .entry update(.param .u64 out)
{
  .reg .b32 %r<8>; .reg .b64 %rd<8>;
  ld.param.u64 %rd1, [out]; mov.u32 %r1, %tid.x; mul.wide.u32 %rd2, %r1, 4; add.u64 %rd1, %rd1, %rd2;
  red.global.add.u32 [%rd1], %r1;
  ret;
}
)";
}

constexpr uint64_t kib = 1024;

std::vector<uint64_t> all(const MemoryTraffic &t) {
  return {t.isModelled, t.l1Loads, t.l1Hits, t.l2Reads, t.l2ReadHits, t.l2Writes, t.dramReads, t.dramWrites};
}

class Caches : public testing::Test {
protected:
  Device device{kernels("ld.global.u32")};

  static Device::Shape shape(uint32_t blocks, uint32_t threads, const CacheSizes &sizes) {
    Device::Shape s;
    s.grid[0] = blocks, s.block[0] = threads;
    s.caches = sizes;
    return s;
  }
  MemoryTraffic reread(Device &on, uint32_t blocks, const CacheSizes &sizes, uint32_t bytes, uint32_t times,
                       unsigned threads = 2) {
    uint64_t in = on.upload(std::vector<uint32_t>(bytes / 4)), out = on.upload(std::vector<uint32_t>(1));
    Device::Shape s = shape(blocks, 32, sizes);
    s.threads = threads;
    LaunchResult result = on.launch("reread", s, in, out, bytes, times);
    EXPECT_EQ(result.fault, FaultKind::None) << result.message;
    EXPECT_TRUE(result.traffic.isModelled);
    return result.traffic;
  }
};

TEST_F(Caches, AStreamGoesThroughOnce) {
  uint64_t in = device.upload(std::vector<uint32_t>(8192)), out = device.upload(std::vector<uint32_t>(8192));
  MemoryTraffic t = device.launch("copy", shape(64, 128, {16 * kib, 1024 * kib, 4, 2}), in, out).traffic;
  constexpr uint64_t sectors = 8192 / 8;
  EXPECT_EQ(t.l1Loads, sectors);
  EXPECT_EQ(t.l1Hits, 0u);
  EXPECT_EQ(t.l2Reads, sectors);
  EXPECT_EQ(t.l2ReadHits, 0u);
  EXPECT_EQ(t.l2Writes, sectors);
  EXPECT_EQ(t.dramReads, sectors); // what is written whole is not read
  EXPECT_EQ(t.dramWrites, sectors);
}

TEST_F(Caches, ATileOfManyBlocksComesFromDramOnce) {
  // 24 blocks on 4 multiprocessors read the same 4 KiB: the first of each misses L1, the first of all L2.
  MemoryTraffic t = reread(device, 24, {16 * kib, 1024 * kib, 4, 2}, 4 * kib, 1);
  constexpr uint64_t sectors = 4 * kib / 32;
  EXPECT_EQ(t.l1Loads, 24 * sectors);
  EXPECT_EQ(t.l1Hits, 20 * sectors);
  EXPECT_EQ(t.l2Reads, 4 * sectors);
  EXPECT_EQ(t.l2ReadHits, 3 * sectors);
  EXPECT_EQ(t.dramReads, sectors);
  EXPECT_EQ(t.dramWrites, 0u);
}

TEST_F(Caches, WhatFitsIsReadOnceAndWhatDoesNotEachTime) {
  constexpr uint32_t bytes = 64 * kib;
  constexpr uint64_t sectors = bytes / 32;
  MemoryTraffic inL1 = reread(device, 1, {64 * kib, 256 * kib, 1, 1}, bytes, 3);
  EXPECT_EQ(inL1.l1Hits, 2 * sectors);
  EXPECT_EQ(inL1.dramReads, sectors);
  MemoryTraffic inL2 = reread(device, 1, {16 * kib, 64 * kib, 1, 1}, bytes, 3);
  EXPECT_EQ(inL2.l1Hits, 0u);
  EXPECT_EQ(inL2.l2ReadHits, 2 * sectors);
  EXPECT_EQ(inL2.dramReads, sectors);
  MemoryTraffic inNone = reread(device, 1, {16 * kib, 63 * kib, 1, 1}, bytes, 3);
  EXPECT_EQ(inNone.l2ReadHits, 0u);
  EXPECT_EQ(inNone.dramReads, 3 * sectors);
}

TEST_F(Caches, BlocksOfAWaveCompete) {
  // One after the other, each of two blocks finds its 32 KiB in an L2 of 48 again; side by side they drive each other out.
  constexpr uint32_t bytes = 32 * kib;
  CacheModel alone({0, 48 * kib, 1, 1}, 2), together({0, 48 * kib, 2, 1}, 2);
  for (CacheModel *model : {&alone, &together})
    for (uint64_t block = 0; block < 2; ++block) {
      AccessLog log = model->makeLog();
      for (int times = 0; times < 2; ++times)
        log.addRange(AccessKind::LoadPastL1, block * 1024 * kib, bytes);
      model->finish(block, std::move(log));
    }
  EXPECT_EQ(alone.result().dramReads, 2 * bytes / 32);
  EXPECT_EQ(together.result().dramReads, 4 * bytes / 32);
}

TEST_F(Caches, TheOrderInWhichBlocksEndDoesNotMatter) {
  MemoryTraffic results[2];
  for (int turn : {0, 1}) {
    CacheModel model({2 * kib, 8 * kib, 3, 2}, 20);
    for (uint64_t i = 0; i < 20; ++i) {
      uint64_t block = turn ? 19 - i : i;
      AccessLog log = model.makeLog();
      for (uint64_t k = 0; k < 40; ++k)
        log.addRange(k % 5 ? AccessKind::Load : AccessKind::Store, (block * 7 + k * 13) % 97 * 96, 64);
      model.finish(block, std::move(log));
    }
    results[turn] = model.result();
  }
  EXPECT_TRUE(results[0].isModelled);
  EXPECT_GT(results[0].l1Hits, 0u);
  EXPECT_EQ(all(results[0]), all(results[1]));
  for (unsigned threads : {1u, 2u, 5u}) {
    MemoryTraffic t = reread(device, 40, {4 * kib, 16 * kib, 3, 2}, 8 * kib, 2, threads);
    MemoryTraffic other = reread(device, 40, {4 * kib, 16 * kib, 3, 2}, 8 * kib, 2, 1);
    EXPECT_EQ(all(t), all(other)) << threads;
  }
}

TEST_F(Caches, SomeAccessesPassL1By) {
  Device past(kernels("ld.global.cg.u32"));
  MemoryTraffic t = reread(past, 1, {64 * kib, 256 * kib, 1, 1}, 4 * kib, 3);
  EXPECT_EQ(t.l1Loads, 0u);
  EXPECT_EQ(t.l2Reads, 3 * 4 * kib / 32);
  uint64_t out = device.upload(std::vector<uint32_t>(32));
  MemoryTraffic u = device.launch("update", shape(5, 32, {16 * kib, 64 * kib, 2, 1}), out).traffic;
  EXPECT_EQ(u.l2Writes, 5u * 4);
  EXPECT_EQ(u.dramReads, 4u); // an update reads what is not there
  EXPECT_EQ(u.dramWrites, 4u);
}

TEST_F(Caches, TooMuchIsNotModelled) {
  CacheModel model({16 * kib, 64 * kib, 1, 1}, 2);
  for (uint64_t block = 0; block < 2; ++block) {
    AccessLog log = model.makeLog();
    log.most = 3;
    log.addRange(AccessKind::Load, 0, block ? 1024 : 256);
    model.finish(block, std::move(log));
  }
  EXPECT_FALSE(model.result().isModelled);
}

TEST(CachesOfDevices, SharedMemoryTakesItsPart) {
  const DeviceFacts &a100 = *findDevice("a100");
  CacheSizes none = cachesOf(a100, 256, 0), half = cachesOf(a100, 256, 48 * kib), all = cachesOf(a100, 32, 163 * kib);
  EXPECT_EQ(none.l1Bytes, 192 * kib);
  EXPECT_EQ(none.blocksPerMultiprocessor, 8u);
  EXPECT_EQ(half.blocksPerMultiprocessor, 3u);
  EXPECT_EQ(half.l1Bytes, 48 * kib);
  EXPECT_EQ(all.blocksPerMultiprocessor, 1u);
  EXPECT_EQ(all.l1Bytes, 29 * kib);
  EXPECT_EQ(all.l2Bytes, 26u << 20); // what was measured, of 40
  EXPECT_EQ(all.multiprocessors, 108u);
}

} // namespace
