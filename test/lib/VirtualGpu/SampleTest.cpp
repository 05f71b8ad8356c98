// Counting a few blocks says what all of them do.
#include "test/lib/VirtualGpu/Harness.h"

namespace joule::vgpu::test {

// Thread i of the grid's x axis squares number i, where there is one, so many times.
static const char *const rows = R"(
.version 7.8
.target sm_80
.address_size 64
.visible .entry rows(.param .u64 in, .param .u64 out, .param .u32 n, .param .u32 turns)
{
  .reg .pred %p, %q;
  .reg .b32 %r<8>;
  .reg .b64 %d<6>;
  .reg .f32 %f<3>;
  .shared .align 4 .b8 tile[256];
  mov.u32 %r0, %ctaid.x;
  mov.u32 %r1, %ntid.x;
  mov.u32 %r2, %tid.x;
  mad.lo.u32 %r0, %r0, %r1, %r2;
  ld.param.u32 %r3, [n];
  setp.ge.u32 %p, %r0, %r3;
  @%p bra END;
  ld.param.u64 %d0, [in];
  mul.wide.u32 %d1, %r0, 4;
  add.u64 %d0, %d0, %d1;
  ld.param.u32 %r4, [turns];
  mov.f32 %f0, 0f00000000;
LOOP:
  ld.global.f32 %f1, [%d0];
  fma.rn.f32 %f0, %f1, %f1, %f0;
  sub.u32 %r4, %r4, 1;
  setp.ne.u32 %q, %r4, 0;
  @%q bra LOOP;
  shl.b32 %r5, %r2, 2;
  mov.u32 %r6, tile;
  add.u32 %r6, %r6, %r5;
  st.shared.f32 [%r6], %f0;
  ld.param.u64 %d2, [out];
  add.u64 %d2, %d2, %d1;
  st.global.f32 [%d2], %f0;
END:
  ret;
}
.visible .entry listed(.param .u64 counts)
{
  .reg .pred %p;
  .reg .b32 %r<4>;
  .reg .b64 %d<2>;
  ld.param.u64 %d0, [counts];
  mov.u32 %r1, %tid.x;
  mul.wide.u32 %d1, %r1, 4;
  add.u64 %d0, %d0, %d1;
  ld.global.u32 %r0, [%d0];
AGAIN:
  sub.u32 %r0, %r0, 1;
  setp.gt.s32 %p, %r0, 0;
  @%p bra AGAIN;
  st.global.u32 [%d0], %r0;
  ret;
}
.visible .entry passed(.param .u64 counts)
{
  .reg .pred %p;
  .reg .b32 %r<4>;
  .shared .align 4 .b8 tile[4];
  mov.u32 %r1, tile;
  mov.u32 %r2, 5;
  st.shared.u32 [%r1], %r2;
  bar.sync 0;
  ld.shared.u32 %r0, [%r1];
AGAIN:
  sub.u32 %r0, %r0, 1;
  setp.gt.s32 %p, %r0, 0;
  @%p bra AGAIN;
  ret;
}
.visible .entry wait(.param .u64 flag)
{
  .reg .pred %p;
  .reg .b32 %r<2>;
  .reg .b64 %d;
  ld.param.u64 %d, [flag];
AGAIN:
  ld.volatile.global.u32 %r0, [%d];
  setp.eq.u32 %p, %r0, 0;
  @%p bra AGAIN;
  ret;
}
)";

static LaunchRequest requestFor(Device &device, const char *kernel, std::initializer_list<uint32_t> grid) {
  LaunchRequest request;
  request.image = device.module.kernel(kernel);
  std::copy(grid.begin(), grid.end(), request.grid);
  request.block[0] = 64;
  request.memory = &device.memory;
  request.count = true;
  request.parameters.resize(request.image->entry().kernelParameterBytes);
  return request;
}

static void put(LaunchRequest &request, size_t index, uint64_t value) {
  const Program &program = request.image->entry();
  memcpy(request.parameters.data() + program.kernelParameters[index], &value, program.kernelParameterSizes[index]);
}

TEST(Sample, CountsWhatAllBlocksDo) {
  Device device(rows);
  for (uint32_t n : {1u, 63u, 64u, 65u, 640u, 1000u})
    for (uint32_t turns : {1u, 7u}) {
      LaunchRequest request = requestFor(device, "rows", {(n + 63) / 64, 3, 2});
      std::vector<float> numbers(n, 1);
      put(request, 0, device.upload(numbers));
      put(request, 1, device.upload(numbers));
      put(request, 2, n);
      put(request, 3, turns);
      LaunchResult all = launch(request), sample = countSample(request);
      ASSERT_EQ(all.fault, FaultKind::None) << all.message;
      ASSERT_EQ(sample.fault, FaultKind::None) << sample.message;
      EXPECT_EQ(memcmp(&all.counters, &sample.counters, sizeof(Counters)), 0) << n << " numbers, " << turns << " turns";
      EXPECT_EQ(all.counters.memory.globalStoreBytes, 6u * 4 * n);
    }
}

TEST(Sample, WhatFollowsFromPtxNeedsNoMemory) {
  Device device(rows);
  LaunchRequest request = requestFor(device, "rows", {4, 1, 1});
  std::vector<float> numbers(250, 1);
  put(request, 0, device.upload(numbers));
  put(request, 1, device.upload(numbers));
  put(request, 2, numbers.size());
  put(request, 3, 9);
  LaunchResult all = launch(request);
  put(request, 0, 1ull << 40);
  put(request, 1, 1ull << 41);
  LaunchResult counted = countSample(request);
  ASSERT_EQ(counted.fault, FaultKind::None) << counted.message;
  EXPECT_TRUE(counted.followsFromPtx);
  EXPECT_EQ(memcmp(&all.counters, &counted.counters, sizeof(Counters)), 0);
  EXPECT_EQ(counted.touchedSectors, 2u * 32); // 1000 bytes each
}

TEST(Sample, SaysWhatHangsOnData) {
  Device device(rows);
  LaunchRequest request = requestFor(device, "listed", {1, 1, 1});
  put(request, 0, 1ull << 40);
  LaunchResult counted = countSample(request);
  ASSERT_EQ(counted.fault, FaultKind::None) << counted.message;
  EXPECT_FALSE(counted.followsFromPtx);
  put(request, 0, device.upload(std::vector<uint32_t>(64)));
  LaunchResult all = launch(request); // of zeros
  EXPECT_EQ(memcmp(&all.counters, &counted.counters, sizeof(Counters)), 0);
}

// What passes through shared memory must be there: such a kernel runs as it is.
TEST(Sample, WhatHangsOnSharedMemoryRuns) {
  Device device(rows);
  LaunchRequest request = requestFor(device, "passed", {2, 1, 1});
  LaunchResult counted = countSample(request);
  ASSERT_EQ(counted.fault, FaultKind::None) << counted.message;
  EXPECT_FALSE(counted.followsFromPtx);
  LaunchResult all = launch(request);
  EXPECT_EQ(memcmp(&all.counters, &counted.counters, sizeof(Counters)), 0);
}

TEST(Sample, BlocksThatWaitForOthersAreAFault) {
  Device device(rows);
  LaunchRequest request = requestFor(device, "wait", {4, 1, 1});
  put(request, 0, device.upload(std::vector<uint32_t>(1)));
  LaunchResult result = countSample(request);
  EXPECT_EQ(result.fault, FaultKind::Deadlock);
  EXPECT_NE(result.message.find("does not come to an end"), std::string::npos) << result.message;
}

} // namespace joule::vgpu::test
