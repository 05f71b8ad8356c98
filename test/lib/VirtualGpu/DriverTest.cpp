// The driver through its one exported symbol, as a runtime sees it.
#include "lib/VirtualGpu/DriverApi.h"
#include "lib/VirtualGpu/VirtualGpuApi.h"

#include <gtest/gtest.h>

#include <dlfcn.h>
#include <string>
#include <thread>
#include <vector>

namespace {

JouleVgpuGetProcAddress getProcAddress() {
  static void *library = dlopen(JOULE_VGPU_LIBRARY, RTLD_NOW | RTLD_LOCAL);
  return reinterpret_cast<JouleVgpuGetProcAddress>(dlsym(library, "joule_vgpu_get_proc_address"));
}

#define JOULE_MEMBER(name, parameters) CUresult(*name) parameters;
struct Functions {
  JOULE_DRIVER_FUNCTIONS(JOULE_MEMBER)
};
#define JOULE_FILL(name, parameters)                                                                         \
  f.name = reinterpret_cast<CUresult(*) parameters>(getProcAddress()(#name));                                \
  EXPECT_NE(f.name, nullptr) << #name;

const Functions &cu() {
  static const Functions functions = [] {
    Functions f;
    JOULE_DRIVER_FUNCTIONS(JOULE_FILL)
    return f;
  }();
  return functions;
}

std::string lastError() {
  return reinterpret_cast<JouleVgpuLastError>(getProcAddress()("jouleVgpuLastError"))();
}

const char *const twice = R"(
.version 7.0
.target sm_80
.address_size 64
.global .align 4 .u32 scale = 2;
.visible .entry twice(.param .u64 p, .param .u32 n) {
  .reg .pred %p<2>;
  .reg .b32 %r<9>;
  .reg .b64 %rd<5>;
  ld.param.u64 %rd1, [p];
  ld.param.u32 %r1, [n];
  mov.u32 %r2, %ctaid.x;
  mov.u32 %r3, %ntid.x;
  mov.u32 %r4, %tid.x;
  mad.lo.s32 %r5, %r2, %r3, %r4;
  setp.ge.u32 %p1, %r5, %r1;
  @%p1 bra DONE;
  mul.wide.u32 %rd2, %r5, 4;
  add.s64 %rd3, %rd1, %rd2;
  ld.global.u32 %r6, [%rd3];
  ld.global.u32 %r7, [scale];
  mul.lo.s32 %r8, %r6, %r7;
  st.global.u32 [%rd3], %r8;
DONE:
  ret;
}
.visible .entry forever() {
AGAIN:
  bra AGAIN;
}
)";

class DriverTest : public testing::Test {
protected:
  void SetUp() override {
    ASSERT_EQ(cu().cuInit(0), CUDA_SUCCESS);
    ASSERT_EQ(cu().cuDevicePrimaryCtxRetain(&context, 0), CUDA_SUCCESS);
    ASSERT_EQ(cu().cuCtxSetCurrent(context), CUDA_SUCCESS);
    ASSERT_EQ(cu().cuModuleLoadData(&module, twice), CUDA_SUCCESS) << lastError();
  }
  void TearDown() override {
    cu().cuModuleUnload(module);
    cu().cuDevicePrimaryCtxRelease_v2(0);
  }

  CUfunction function(const char *name) {
    CUfunction f = nullptr;
    EXPECT_EQ(cu().cuModuleGetFunction(&f, module, name), CUDA_SUCCESS) << lastError();
    return f;
  }

  CUresult runTwice(CUdeviceptr buffer, uint32_t n) {
    void *parameters[] = {&buffer, &n};
    return cu().cuLaunchKernel(function("twice"), (n + 63) / 64, 1, 1, 64, 1, 1, 0, nullptr, parameters,
                               nullptr);
  }

  CUcontext context = nullptr;
  CUmodule module = nullptr;
};

TEST_F(DriverTest, SaysWhatItIs) {
  auto identity = reinterpret_cast<JouleVgpuIdentity>(getProcAddress()("jouleVgpuIdentity"));
  EXPECT_STREQ(identity(), "joule virtual gpu");
  int major = 0;
  EXPECT_EQ(cu().cuDeviceGetAttribute(&major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, 0), CUDA_SUCCESS);
  EXPECT_EQ(major, 8);
  EXPECT_EQ(getProcAddress()("cuNoSuchFunction"), nullptr);
}

TEST_F(DriverTest, RunsAKernel) {
  std::vector<uint32_t> values(1000);
  for (uint32_t i = 0; i < 1000; ++i)
    values[i] = i;
  CUdeviceptr buffer;
  ASSERT_EQ(cu().cuMemAlloc_v2(&buffer, 4000), CUDA_SUCCESS);
  ASSERT_EQ(cu().cuMemcpyHtoD_v2(buffer, values.data(), 4000), CUDA_SUCCESS);
  ASSERT_EQ(runTwice(buffer, 1000), CUDA_SUCCESS);
  ASSERT_EQ(cu().cuCtxSynchronize(), CUDA_SUCCESS) << lastError();
  ASSERT_EQ(cu().cuMemcpyDtoH_v2(values.data(), buffer, 4000), CUDA_SUCCESS);
  for (uint32_t i = 0; i < 1000; ++i)
    ASSERT_EQ(values[i], 2 * i);
  EXPECT_EQ(cu().cuMemFree_v2(buffer), CUDA_SUCCESS);
}

TEST_F(DriverTest, WritesAModuleVariable) {
  CUdeviceptr address;
  size_t bytes;
  ASSERT_EQ(cu().cuModuleGetGlobal_v2(&address, &bytes, module, "scale"), CUDA_SUCCESS);
  EXPECT_EQ(bytes, 4u);
  uint32_t value = 0;
  ASSERT_EQ(cu().cuMemcpyDtoH_v2(&value, address, 4), CUDA_SUCCESS);
  EXPECT_EQ(value, 2u);
}

TEST_F(DriverTest, AnAccessPastTheEndPoisonsTheContext) {
  CUdeviceptr buffer;
  ASSERT_EQ(cu().cuMemAlloc_v2(&buffer, 4 * 63), CUDA_SUCCESS);
  ASSERT_EQ(runTwice(buffer, 64), CUDA_SUCCESS);
  EXPECT_NE(lastError().find("thread (63, 0, 0), in 'ld.global.u32 %r6, [%rd3];'"), std::string::npos)
      << lastError();
  EXPECT_EQ(cu().cuCtxSynchronize(), CUDA_ERROR_ILLEGAL_ADDRESS);
  EXPECT_EQ(cu().cuMemFree_v2(buffer), CUDA_ERROR_ILLEGAL_ADDRESS);
  EXPECT_EQ(cu().cuDevicePrimaryCtxReset_v2(0), CUDA_SUCCESS);
  EXPECT_EQ(cu().cuMemFree_v2(buffer), CUDA_SUCCESS);
}

TEST_F(DriverTest, AMisalignedAccessIsFound) {
  CUdeviceptr buffer;
  ASSERT_EQ(cu().cuMemAlloc_v2(&buffer, 4096), CUDA_SUCCESS);
  ASSERT_EQ(runTwice(buffer + 2, 64), CUDA_SUCCESS);
  EXPECT_EQ(cu().cuCtxSynchronize(), CUDA_ERROR_MISALIGNED_ADDRESS);
  cu().cuDevicePrimaryCtxReset_v2(0);
}

TEST_F(DriverTest, ARunawayKernelIsStopped) {
  auto setOptions = reinterpret_cast<JouleVgpuSetOptions>(getProcAddress()("jouleVgpuSetOptions"));
  JouleVgpuOptions options = {sizeof options, 0, nullptr, 0, 0.05};
  ASSERT_EQ(setOptions(&options), 0);
  EXPECT_EQ(cu().cuLaunchKernel(function("forever"), 4, 1, 1, 64, 1, 1, 0, nullptr, nullptr, nullptr),
            CUDA_SUCCESS);
  EXPECT_EQ(cu().cuCtxSynchronize(), CUDA_ERROR_LAUNCH_TIMEOUT);
  cu().cuDevicePrimaryCtxReset_v2(0);
  options.timeLimitSeconds = 0;
  ASSERT_EQ(setOptions(&options), 0);
}

TEST_F(DriverTest, ADeviceIsWhatItWasAtFirst) {
  auto setOptions = reinterpret_cast<JouleVgpuSetOptions>(getProcAddress()("jouleVgpuSetOptions"));
  for (const char *name : {"a100,exact", "a100,inexact", "h100"}) {
    JouleVgpuOptions options = {sizeof options, 0, name, 0, 0};
    EXPECT_EQ(setOptions(&options), 1) << name;
  }
  JouleVgpuOptions options = {sizeof options, 0, "a100", 0, 0};
  EXPECT_EQ(setOptions(&options), 0);
  options.device = "l4+k80";
  EXPECT_EQ(setOptions(&options), 1);
  auto lastError = reinterpret_cast<JouleVgpuLastError>(getProcAddress()("jouleVgpuLastError"));
  EXPECT_NE(std::string(lastError()).find("no virtual device 'k80'; there are a100-sxm-80"), std::string::npos);
}

TEST_F(DriverTest, TellsWhichEngineRan) {
  auto read = reinterpret_cast<JouleVgpuReadEngineUse>(getProcAddress()("jouleVgpuReadEngineUse"));
  JouleVgpuEngineUse before = {}, after = {};
  EXPECT_EQ(read(&before), 1); // no size
  before.size = after.size = sizeof after;
  ASSERT_EQ(read(&before), 0);
  CUdeviceptr buffer;
  ASSERT_EQ(cu().cuMemAlloc_v2(&buffer, 4000), CUDA_SUCCESS);
  ASSERT_EQ(runTwice(buffer, 1000), CUDA_SUCCESS);
  ASSERT_EQ(read(&after), 0);
  EXPECT_GT(after.compiledLaunches + after.interpretedLaunches, before.compiledLaunches + before.interpretedLaunches);
}

TEST_F(DriverTest, CountsTheSameOnAnyNumberOfThreads) {
  auto setOptions = reinterpret_cast<JouleVgpuSetOptions>(getProcAddress()("jouleVgpuSetOptions"));
  auto read = reinterpret_cast<JouleVgpuReadCounters>(getProcAddress()("jouleVgpuReadCounters"));
  auto reset = reinterpret_cast<JouleVgpuResetCounters>(getProcAddress()("jouleVgpuResetCounters"));
  CUdeviceptr buffer;
  ASSERT_EQ(cu().cuMemAlloc_v2(&buffer, 4000), CUDA_SUCCESS);
  std::vector<JouleVgpuCounters> counted;
  for (uint32_t threads : {1u, 2u, 3u}) {
    JouleVgpuOptions options = {sizeof options, threads, nullptr, 1, 0};
    ASSERT_EQ(setOptions(&options), 0);
    reset();
    ASSERT_EQ(runTwice(buffer, 1000), CUDA_SUCCESS);
    JouleVgpuCounters counters = {};
    counters.size = sizeof counters;
    ASSERT_EQ(read("twice", &counters), 0);
    counted.push_back(counters);
  }
  EXPECT_EQ(counted[0].globalLoadBytes, 1000u * 8);
  EXPECT_EQ(counted[0].globalStoreSectors, 125u);
  for (auto &other : counted)
    EXPECT_EQ(memcmp(&other, &counted[0], sizeof other), 0);
  JouleVgpuOptions off = {sizeof off, 0, nullptr, 0, 0};
  setOptions(&off);
}

TEST_F(DriverTest, ReportsWhereTheTextIsWrong) {
  char log[256];
  CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
  void *values[] = {log, reinterpret_cast<void *>(sizeof log)};
  CUmodule broken;
  const char *text = ".version 7.0\n.target sm_80\n.address_size 64\n.entry k() {\n  mov.u32 %r1, 0;\n}\n";
  EXPECT_EQ(cu().cuModuleLoadDataEx(&broken, text, 2, options, values), CUDA_ERROR_INVALID_PTX);
  EXPECT_STREQ(log, "line 5, column 11: undeclared register at '%r1'");
}

TEST_F(DriverTest, ThreadsOfTheHostMayLaunchAtOnce) {
  CUdeviceptr buffer;
  ASSERT_EQ(cu().cuMemAlloc_v2(&buffer, 4 * 4096), CUDA_SUCCESS);
  std::vector<uint32_t> ones(4096, 1);
  ASSERT_EQ(cu().cuMemcpyHtoD_v2(buffer, ones.data(), 4 * 4096), CUDA_SUCCESS);
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      cu().cuCtxSetCurrent(context);
      for (int i = 0; i < 5; ++i)
        EXPECT_EQ(runTwice(buffer + 4096 * t, 1024), CUDA_SUCCESS);
    });
  for (auto &thread : threads)
    thread.join();
  ASSERT_EQ(cu().cuMemcpyDtoH_v2(ones.data(), buffer, 4 * 4096), CUDA_SUCCESS);
  for (uint32_t value : ones)
    ASSERT_EQ(value, 32u);
}

} // namespace
