// The kernels of cuda/device.cu against results computed here.
#include "test/lib/VirtualGpu/Harness.h"

#include <cstdio>
#include <fstream>
#include <sstream>

using namespace joule::vgpu;
using namespace joule::vgpu::test;

namespace {

class DeviceLibrary : public testing::Test {
protected:
  static Device &device() {
    static Device shared(text());
    return shared;
  }
  static std::string text() {
    std::ifstream file(JOULE_VGPU_CUDA "/device.ptx");
    EXPECT_TRUE(file);
    std::stringstream all;
    all << file.rdbuf();
    return all.str();
  }
};

Device::Shape shape(uint32_t threads) {
  Device::Shape s;
  s.block[0] = threads;
  return s;
}

TEST_F(DeviceLibrary, Printf) {
  const char who[] = "thread";
  uint64_t name = device().upload(std::vector<char>(who, who + sizeof who));
  testing::internal::CaptureStdout();
  device().run("say", shape(32), name, 3);
  std::string want;
  for (int t = 0; t < 3; ++t) {
    char line[128];
    snprintf(line, sizeof line, "thread %d: %5.2f|%-4u|%c|%llx|%%|%4d\n", t, t / 4.0, t * 3u, 'a' + t,
             0x123456789abcull + unsigned(t), -t);
    want += line;
  }
  EXPECT_EQ(testing::internal::GetCapturedStdout(), want);
}

TEST_F(DeviceLibrary, Assert) {
  std::vector<int> in(64, 5);
  device().run("insist", shape(64), device().upload(in));
  in[37] = 100;
  testing::internal::CaptureStderr();
  LaunchResult result = device().launch("insist", shape(64), device().upload(in));
  EXPECT_EQ(result.fault, FaultKind::Assert);
  EXPECT_NE(result.message.find("thread (37, 0, 0)"), std::string::npos) << result.message;
  EXPECT_NE(testing::internal::GetCapturedStderr().find("Assertion `in[threadIdx.x] < 100` failed"),
            std::string::npos);
}

TEST_F(DeviceLibrary, Heap) {
  std::vector<int> want(64);
  for (int t = 0; t < 64; ++t)
    for (int i = 19; i >= 0; --i)
      want[size_t(t)] = int(unsigned(want[size_t(t)]) * 3 + unsigned(i * t));
  uint64_t out = device().upload(std::vector<int>(64));
  for (int round = 0; round < 3; ++round) {
    device().run("lists", shape(64), out, 20);
    EXPECT_EQ(device().download<int>(out, 64), want);
  }
  device().run("too_much", shape(32), out);
  EXPECT_EQ(device().download<int>(out, 32), std::vector<int>(32, 1));
}

int ackermann(int m, int n) {
  return m == 0 ? n + 1 : n == 0 ? ackermann(m - 1, 1) : ackermann(m - 1, ackermann(m, n - 1));
}

TEST_F(DeviceLibrary, RecursionAndPointers) {
  uint64_t out = device().upload(std::vector<int>(32));
  device().run("calls", shape(32), out);
  std::vector<int> got = device().download<int>(out, 32);
  for (int t = 0; t < 32; ++t)
    EXPECT_EQ(got[size_t(t)], ackermann(2, t % 4) + (t % 3 == 0 ? 2 * t : t % 3 == 1 ? t * t : -t)) << t;
}

TEST_F(DeviceLibrary, InitialisersWithAddresses) {
  uint64_t out = device().upload(std::vector<float>(4));
  device().run("initialised", shape(1), out);
  EXPECT_EQ(device().download<float>(out, 4), (std::vector<float>{3 + 7, 2.5f, 'e', 32}));
}

TEST_F(DeviceLibrary, SmallFragments) {
  std::vector<uint8_t> a(128), b(128);
  std::vector<int> c(128), want(64), both(64);
  for (size_t i = 0; i < 128; ++i)
    a[i] = uint8_t(i * 37 + 11), b[i] = uint8_t(i * 91 + 5), c[i] = int(i) - 40;
  auto quarter = [](const std::vector<uint8_t> &m, int row, int k) {
    int value = m[size_t(row * 16 + k / 2)] >> (4 * (k % 2)) & 15;
    return value >= 8 ? value - 16 : value;
  };
  for (int i = 0; i < 64; ++i) {
    want[size_t(i)] = c[size_t(i)];
    for (int k = 0; k < 32; ++k)
      want[size_t(i)] += quarter(a, i / 8, k) * quarter(b, i % 8, k);
  }
  uint64_t inA = device().upload(a), inB = device().upload(b), out = device().upload(c);
  device().run("quarter_bytes", shape(32), inA, inB, out);
  EXPECT_EQ(device().download<int>(out, 64), want);

  for (int i = 0; i < 64; ++i) {
    want[size_t(i)] = 1, both[size_t(i)] = 0;
    for (int k = 0; k < 16; ++k) {
      want[size_t(i)] += __builtin_popcount(unsigned(a[size_t(i / 8 * 16 + k)] ^ b[size_t(i % 8 * 16 + k)]));
      both[size_t(i)] += __builtin_popcount(unsigned(a[size_t(i % 8 * 16 + k)] & b[size_t(i / 8 * 16 + k)]));
    }
  }
  device().run("bits", shape(32), inA, inB, out);
  EXPECT_EQ(device().download<int>(out, 64), want);
  EXPECT_EQ(device().download<int>(out + 256, 64), both); // by columns
}

TEST_F(DeviceLibrary, SaturatedFragments) {
  std::vector<int8_t> a(256), b(256);
  std::vector<int> c(256), want(256);
  for (size_t i = 0; i < 256; ++i)
    a[i] = int8_t(i * 29), b[i] = int8_t(i * 53 + 7), c[i] = i % 2 ? INT32_MAX - 3000 : INT32_MIN + 3000;
  for (size_t i = 0; i < 256; ++i) {
    int64_t sum = c[i];
    for (size_t k = 0; k < 16; ++k)
      sum += a[i / 16 * 16 + k] * b[i % 16 * 16 + k];
    want[i] = int(std::max<int64_t>(INT32_MIN, std::min<int64_t>(INT32_MAX, sum)));
  }
  uint64_t out = device().upload(c);
  device().run("saturated", shape(32), device().upload(a), device().upload(b), out);
  EXPECT_EQ(device().download<int>(out, 256), want);
}

TEST_F(DeviceLibrary, BarriersOfSomeWarps) {
  uint64_t out = device().upload(std::vector<int>(384));
  device().run("named_barriers", shape(128), out);
  std::vector<int> got = device().download<int>(out, 384);
  for (int t = 0; t < 128; ++t) {
    EXPECT_EQ(got[size_t(t)], (t / 64 * 64 + 63 - t % 64) * 1000 + 43) << t;
    EXPECT_EQ(got[size_t(128 + t)], 3) << t;
  }
  for (int t = 0; t < 32; ++t)
    EXPECT_EQ(got[size_t(320 + t)], 5 * t + 1) << t;
}

TEST_F(DeviceLibrary, TimeGoesOn) {
  uint64_t out = device().upload(std::vector<int>(32));
  device().run("clocks", shape(32), out);
  EXPECT_EQ(device().download<int>(out, 32), std::vector<int>(32, 1));
}

// --- every form of instruction ---

TEST(Forms, AllButOneAreKnown) {
  std::ifstream file(JOULE_VGPU_CUDA "/forms.ptx");
  std::stringstream text;
  text << file.rdbuf();
  Device device(text.str());
  const Program &program = device.module.kernel("forms")->entry();
  EXPECT_GT(program.function->instructions.size(), 850u);
  static const Handler trap = handlers().at("trap").fn;
  for (const Op &op : program.ops) {
    if (op.fn != trap || FaultKind(op.imm) != FaultKind::IllegalInstruction)
      continue;
    const ptx::Opcode &opcode = *program.function->instructions[op.instruction].opcode;
    EXPECT_EQ(opcode.base, "istypep") << opcode.text << ": " << program.problems[op.e]; // docs/VirtualGpu.md
  }
}

} // namespace
