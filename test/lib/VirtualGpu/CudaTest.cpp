// Kernels compiled from CUDA C++ (cuda/*.cu; .ptx by nvcc -arch=sm_80 -ptx, .clang.ptx by clang 19), against
// results computed here.
#include "test/lib/VirtualGpu/Harness.h"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <numeric>
#include <sstream>

using namespace joule::vgpu;
using namespace joule::vgpu::test;

namespace {

std::string ptxOf(const std::string &name) {
  std::ifstream file(std::string(JOULE_VGPU_CUDA) + "/" + name + ".ptx");
  EXPECT_TRUE(file) << name;
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

template <class T> std::vector<T> zeros(size_t n) { return std::vector<T>(n); }

std::vector<float> wave(size_t n, float scale = 1) {
  std::vector<float> values(n);
  for (size_t i = 0; i < n; ++i)
    values[i] = float(int(i * 37 % 101) - 50) / 32.f * scale;
  return values;
}
std::vector<int> numbers(size_t n, int modulus) {
  std::vector<int> values(n);
  for (size_t i = 0; i < n; ++i)
    values[i] = int((i * 7919 + 13) % size_t(modulus));
  return values;
}

template <class T> void expectNear(const std::vector<T> &got, const std::vector<T> &want, double relative) {
  ASSERT_EQ(got.size(), want.size());
  for (size_t i = 0; i < got.size(); ++i)
    ASSERT_NEAR(got[i], want[i], relative * (1 + std::fabs(double(want[i])))) << "at " << i;
}

Device::Shape shape(uint32_t blocks, uint32_t threads) {
  Device::Shape s;
  s.grid[0] = blocks;
  s.block[0] = threads;
  return s;
}
Device::Shape shape2(uint32_t gx, uint32_t gy, uint32_t bx, uint32_t by) {
  Device::Shape s;
  s.grid[0] = gx, s.grid[1] = gy, s.block[0] = bx, s.block[1] = by;
  return s;
}

// --- warps.cu ---

TEST(Warps, Reductions) {
  Device device(ptxOf("warps"));
  std::vector<float> in = wave(1000);
  uint64_t out = device.upload(zeros<float>(4));
  device.run("reduce_shared", shape(4, 256), device.upload(in), out, 1000);
  std::vector<float> want(4);
  for (size_t i = 0; i < 1000; ++i)
    want[i / 256] += in[i]; // exact: all are multiples of 1/32
  EXPECT_EQ(device.download<float>(out, 4), want);

  std::vector<int> whole = numbers(777, 50);
  uint64_t sum = device.upload(zeros<int>(1));
  device.run("reduce_shuffle", shape(7, 128), device.upload(whole), sum, 777);
  EXPECT_EQ(device.download<int>(sum, 1)[0], std::accumulate(whole.begin(), whole.end(), 0));
}

TEST(Warps, Scans) {
  Device device(ptxOf("warps"));
  std::vector<int> in = numbers(640, 9), blocks = in, all = in;
  for (size_t i = 0; i < 640; ++i) {
    if (i % 128)
      blocks[i] += blocks[i - 1];
    if (i)
      all[i] += all[i - 1];
  }
  uint64_t out = device.upload(zeros<int>(640));
  device.run("scan_block", shape(5, 128), device.upload(in), out);
  EXPECT_EQ(device.download<int>(out, 640), blocks);
  for (unsigned threads : {1u, 2u}) {
    Device::Shape s = shape(10, 64);
    s.threads = threads;
    device.run("scan_lookback", s, device.upload(in), out, device.upload(zeros<int>(10)),
               device.upload(zeros<int>(10)));
    EXPECT_EQ(device.download<int>(out, 640), all);
  }
}

TEST(Warps, VotesAndMatches) {
  Device device(ptxOf("warps"));
  std::vector<int> in = numbers(32, 9);
  uint64_t out = device.upload(zeros<uint32_t>(160));
  device.run("vote_and_match", shape(1, 32), device.upload(in), out);
  std::vector<uint32_t> got = device.download<uint32_t>(out, 160);
  uint32_t ballot = 0, seven = 0, sum = 0;
  for (int i = 0; i < 32; ++i)
    ballot |= uint32_t(in[i] > 5) << i, seven |= in[i] == 7, sum += uint32_t(in[i]);
  for (int t = 0; t < 32; ++t) {
    uint32_t same = 0;
    for (int i = 0; i < 32; ++i)
      same |= uint32_t(in[i] == in[t]) << i;
    EXPECT_EQ(got[t], ballot);
    EXPECT_EQ(got[32 + t], same);
    EXPECT_EQ(got[64 + t], seven + 2);
    EXPECT_EQ(got[96 + t], t % 3 == 0 ? 11u : 0u);
    EXPECT_EQ(got[128 + t], sum);
  }
}

TEST(Warps, CooperativeGroups) {
  Device device(ptxOf("warps"));
  std::vector<int> in = numbers(128, 1000), want(128);
  for (int i = 0; i < 128; ++i)
    want[i] = *std::max_element(in.begin() + i / 8 * 8, in.begin() + i / 8 * 8 + 8) + i % 8;
  uint64_t out = device.upload(zeros<int>(128)), count = device.upload(zeros<int>(1));
  device.run("tiles", shape(2, 64), device.upload(in), out);
  EXPECT_EQ(device.download<int>(out, 128), want);
  device.run("coalesced_count", shape(2, 64), device.upload(in), count);
  EXPECT_EQ(device.download<int>(count, 1)[0],
            std::count_if(in.begin(), in.end(), [](int v) { return v & 1; }));
}

TEST(Warps, AGridWaitsForItself) {
  Device device(ptxOf("warps"));
  std::vector<float> in = wave(5000);
  for (unsigned threads : {1u, 2u}) {
    uint64_t out = device.upload(zeros<float>(1));
    Device::Shape s = shape(8, 64);
    s.cooperative = true;
    s.threads = threads;
    device.run("grid_sum", s, device.upload(in), device.upload(zeros<float>(8)), out, 5000);
    EXPECT_EQ(device.download<float>(out, 1)[0], std::accumulate(in.begin(), in.end(), 0.f));
  }
}

TEST(Warps, Softmax) {
  Device device(ptxOf("warps"));
  const int rows = 5, n = 100;
  std::vector<float> in = wave(rows * n, 2), want(rows * n);
  for (int r = 0; r < rows; ++r) {
    double most = *std::max_element(in.begin() + r * n, in.begin() + (r + 1) * n), sum = 0;
    for (int i = 0; i < n; ++i)
      sum += std::exp(in[r * n + i] - most);
    for (int i = 0; i < n; ++i)
      want[r * n + i] = float(std::exp(in[r * n + i] - most) / sum);
  }
  uint64_t out = device.upload(zeros<float>(rows * n));
  device.run("softmax_rows", shape(rows, 32), device.upload(in), out, n);
  expectNear(device.download<float>(out, rows * n), want, 2e-6);
}

TEST(Warps, Layernorm) {
  Device device(ptxOf("warps"));
  const int rows = 3, n = 300;
  std::vector<float> in = wave(rows * n), gain = wave(n), bias = wave(n, 0.5f), want(rows * n);
  for (int r = 0; r < rows; ++r) {
    double sum = 0, squares = 0;
    for (int i = 0; i < n; ++i)
      sum += in[r * n + i], squares += double(in[r * n + i]) * in[r * n + i];
    double mean = sum / n, scale = 1 / std::sqrt(squares / n - mean * mean + 1e-5);
    for (int i = 0; i < n; ++i)
      want[r * n + i] = float((in[r * n + i] - mean) * scale * gain[i] + bias[i]);
  }
  uint64_t out = device.upload(zeros<float>(rows * n));
  device.run("layernorm", shape(rows, 128), device.upload(in), device.upload(gain), device.upload(bias), out,
             n);
  expectNear(device.download<float>(out, rows * n), want, 1e-5);
}

// --- tiles.cu, by nvcc and by clang, whose back end is the one that Joule uses ---

class Tiles : public testing::TestWithParam<const char *> {};
class Functions : public testing::TestWithParam<const char *> {};
INSTANTIATE_TEST_SUITE_P(Compilers, Tiles, testing::Values("", ".clang"));
INSTANTIATE_TEST_SUITE_P(Compilers, Functions, testing::Values("", ".clang"));

TEST_P(Tiles, Transpose) {
  Device device(ptxOf(std::string("tiles") + GetParam()));
  const int w = 70, h = 45;
  std::vector<float> in = wave(w * h), want(w * h);
  for (int y = 0; y < h; ++y)
    for (int x = 0; x < w; ++x)
      want[x * h + y] = in[y * w + x];
  uint64_t out = device.upload(zeros<float>(w * h));
  device.run("transpose", shape2(3, 2, 32, 8), device.upload(in), out, w, h);
  EXPECT_EQ(device.download<float>(out, w * h), want);
}

TEST_P(Tiles, Gemm) {
  Device device(ptxOf(std::string("tiles") + GetParam()));
  const int n = 128;
  std::vector<float> a = wave(n * n), b = wave(n * n, 0.5f), want(n * n);
  for (int i = 0; i < n; ++i)
    for (int k = 0; k < n; ++k)
      for (int j = 0; j < n; ++j)
        want[i * n + j] += a[i * n + k] * b[k * n + j]; // few enough bits that nothing is rounded
  uint64_t out = device.upload(zeros<float>(n * n));
  device.run("sgemm_tiled", shape2(8, 8, 16, 16), device.upload(a), device.upload(b), out, n);
  EXPECT_EQ(device.download<float>(out, n * n), want);
  out = device.upload(zeros<float>(n * n));
  device.run("sgemm_blocked", shape2(2, 2, 256, 1), device.upload(a), device.upload(b), out, n);
  EXPECT_EQ(device.download<float>(out, n * n), want);
}

TEST_P(Tiles, ConvolutionAndStencil) {
  Device device(ptxOf(std::string("tiles") + GetParam()));
  const int w = 37, h = 21;
  const int filter[9] = {1, 2, 1, 2, 4, 2, 1, 2, 1};
  std::vector<float> in = wave(w * h), want(w * h);
  for (int y = 0; y < h; ++y)
    for (int x = 0; x < w; ++x) {
      for (int k = 0; k < 9; ++k)
        want[y * w + x] += in[std::clamp(y + k / 3 - 1, 0, h - 1) * w + std::clamp(x + k % 3 - 1, 0, w - 1)] *
                           float(filter[k]);
      want[y * w + x] /= 16;
    }
  uint64_t out = device.upload(zeros<float>(w * h));
  device.run("conv3x3", shape2(3, 3, 16, 8), device.upload(in), out, w, h);
  EXPECT_EQ(device.download<float>(out, w * h), want);

  const int n = 500;
  std::vector<float> line = wave(n), sums(n);
  for (int i = 0; i < n; ++i)
    for (int k = -2; k <= 2; ++k)
      sums[i] += i + k >= 0 && i + k < n ? line[i + k] : 0;
  uint64_t sumsOut = device.upload(zeros<float>(n));
  Device::Shape s = shape(8, 64);
  s.shared = 68 * 4;
  device.run("stencil1d", s, device.upload(line), sumsOut, n);
  EXPECT_EQ(device.download<float>(sumsOut, n), sums);
}

TEST_P(Tiles, BitonicSort) {
  Device device(ptxOf(std::string("tiles") + GetParam()));
  std::vector<int> data = numbers(512, 10007), want = data;
  std::sort(want.begin(), want.begin() + 256);
  std::sort(want.begin() + 256, want.end());
  uint64_t buffer = device.upload(data);
  device.run("bitonic_sort", shape(2, 256), buffer);
  EXPECT_EQ(device.download<int>(buffer, 512), want);
}

TEST_P(Tiles, PoolingAndAsynchronousCopy) {
  Device device(ptxOf(std::string("tiles") + GetParam()));
  std::vector<float> in = wave(16 * 48), want(8 * 24);
  for (int y = 0; y < 8; ++y)
    for (int x = 0; x < 24; ++x)
      want[y * 24 + x] = std::max({in[2 * y * 48 + 2 * x], in[2 * y * 48 + 2 * x + 1],
                                   in[(2 * y + 1) * 48 + 2 * x], in[(2 * y + 1) * 48 + 2 * x + 1]});
  uint64_t out = device.upload(zeros<float>(8 * 24));
  device.run("maxpool2x2", shape(8, 24), device.upload(in), out, 48);
  EXPECT_EQ(device.download<float>(out, 8 * 24), want);

  std::vector<float> copied = wave(512), reversed(512);
  for (int i = 0; i < 512; ++i)
    reversed[i] = copied[i / 256 * 256 + (63 - i % 256 / 4) * 4 + i % 4];
  uint64_t to = device.upload(zeros<float>(512));
  device.run("async_copy", shape(2, 64), device.upload(copied), to);
  EXPECT_EQ(device.download<float>(to, 512), reversed);
}

// --- atomics.cu ---

TEST(Atomics, Histogram) {
  Device device(ptxOf("atomics"));
  std::vector<uint8_t> in(10000);
  std::vector<uint32_t> want(64);
  for (size_t i = 0; i < in.size(); ++i)
    ++want[(in[i] = uint8_t(i * i / 7)) & 63];
  uint64_t bins = device.upload(zeros<uint32_t>(64));
  device.run("histogram", shape(6, 128), device.upload(in), bins, 10000);
  EXPECT_EQ(device.download<uint32_t>(bins, 64), want);
}

TEST(Atomics, Kinds) {
  Device device(ptxOf("atomics"));
  const int n = 512;
  std::vector<uint32_t> u = {~0u, 0, 0, 0, 0, 0}, want = {0, 0xffff, 0, n % 100, 0, 7};
  for (uint32_t t = 0; t < n; ++t)
    want[2] ^= t;
  want[4] = (50 - n % 50) % 50;
  uint64_t i = device.upload(std::vector<int>{5, 5}), l = device.upload(zeros<uint64_t>(2));
  uint64_t f = device.upload(zeros<float>(1)), d = device.upload(zeros<double>(1)), us = device.upload(u);
  device.run("atomic_kinds", shape(4, 128), i, us, l, f, d);
  EXPECT_EQ(device.download<int>(i, 2), (std::vector<int>{-511, 511}));
  EXPECT_EQ(device.download<uint32_t>(us, 6), want);
  EXPECT_EQ(device.download<uint64_t>(l, 2), (std::vector<uint64_t>{512ull << 33, 511ull << 20}));
  EXPECT_EQ(device.download<float>(f, 1)[0], 256.f);
  EXPECT_EQ(device.download<double>(d, 1)[0], 128.0);
}

TEST(Atomics, CompareAndSwapLoops) {
  Device device(ptxOf("atomics"));
  uint64_t p = device.upload(std::vector<float>{1.f});
  device.run("cas_multiply", shape(2, 32), p);
  EXPECT_EQ(device.download<float>(p, 1)[0], 0x1p64f);
  uint64_t count = device.upload(zeros<int>(1)), items = device.upload(zeros<int>(256));
  device.run("stack_push", shape(4, 64), count, items);
  ASSERT_EQ(device.download<int>(count, 1)[0], 86);
  std::vector<int> got = device.download<int>(items, 86);
  std::sort(got.begin(), got.end());
  for (int k = 0; k < 86; ++k)
    EXPECT_EQ(got[k], 3 * k);
}

// --- functions.cu ---

TEST_P(Functions, RecursionAndPointers) {
  Device device(ptxOf(std::string("functions") + GetParam()));
  uint64_t out = device.upload(zeros<int>(32));
  device.run("recursion", shape(1, 32), out);
  std::vector<int> fibonacci = {0, 1}, got = device.download<int>(out, 32);
  for (int i = 2; i < 12; ++i)
    fibonacci.push_back(fibonacci[i - 1] + fibonacci[i - 2]);
  for (int i = 0; i < 32; ++i)
    EXPECT_EQ(got[i], fibonacci[i % 12]);

  std::vector<float> in = wave(32);
  uint64_t results = device.upload(zeros<float>(32));
  device.run("function_pointers", shape(1, 32), device.upload(in), results);
  std::vector<float> values = device.download<float>(results, 32);
  for (int i = 0; i < 32; ++i)
    EXPECT_EQ(values[i], i % 3 == 0 ? in[i] * in[i] : i % 3 == 1 ? in[i] * in[i] * in[i] : in[i] * 0.5f);
}

TEST_P(Functions, JumpTable) {
  Device device(ptxOf(std::string("functions") + GetParam()));
  std::vector<int> in(32);
  for (int i = 0; i < 32; ++i)
    in[i] = i % 10;
  uint64_t out = device.upload(zeros<int>(32));
  device.run("jump_table", shape(1, 32), device.upload(in), out);
  std::vector<int> got = device.download<int>(out, 32);
  for (int i = 0; i < 32; ++i) {
    const int want[10] = {1, 1 ^ 0x55, 2 << 7, 997, 29, 42, 1 + i, int(0xe0000000u), -1, -1};
    EXPECT_EQ(got[i], want[in[i]]) << i;
  }
}

TEST_P(Functions, LocalArrays) {
  Device device(ptxOf(std::string("functions") + GetParam()));
  const int n = 13;
  std::vector<int> in = numbers(40 * n, 97), want = in;
  for (int t = 0; t < 40; ++t)
    std::sort(want.begin() + t * n, want.begin() + (t + 1) * n);
  uint64_t out = device.upload(zeros<int>(40 * n));
  device.run("local_array", shape(1, 40), device.upload(in), out, n);
  EXPECT_EQ(device.download<int>(out, 40 * n), want);
}

struct Matrix {
  int rows, columns;
  double scale;
  float values[12];
};

TEST_P(Functions, Structures) {
  Device device(ptxOf(std::string("functions") + GetParam()));
  Matrix m = {3, 4, 1.5, {}};
  for (int i = 0; i < 12; ++i)
    m.values[i] = float(i) * 0.25f;
  uint64_t out = device.upload(zeros<double>(32)), result = device.upload(zeros<double>(12));
  device.run("struct_parameter", shape(1, 32), m, out);
  device.run("struct_result", shape(1, 12), m, result);
  for (int i = 0; i < 12; ++i) {
    EXPECT_EQ(device.download<double>(out, 12)[i], m.values[i] * 1.5 + 4);
    EXPECT_EQ(device.download<double>(result, 12)[i], (m.values[i] + float(i)) * 3.0);
  }
}

TEST_P(Functions, LoopsAndExits) {
  Device device(ptxOf(std::string("functions") + GetParam()));
  std::vector<uint32_t> in(64), want(64);
  for (uint32_t i = 0; i < 64; ++i)
    for (uint64_t n = in[i] = i + 1; n != 1; ++want[i])
      n = n & 1 ? 3 * n + 1 : n / 2;
  uint64_t out = device.upload(zeros<uint32_t>(64));
  device.run("collatz", shape(1, 64), device.upload(in), out);
  EXPECT_EQ(device.download<uint32_t>(out, 64), want);

  std::vector<int> signs(64), plus(64);
  for (int i = 0; i < 64; ++i)
    signs[i] = i % 5 == 2 ? -1 : i, plus[i] = signs[i] < 0 ? 0 : i + 1;
  uint64_t after = device.upload(zeros<int>(64));
  LaunchResult result = device.launch("early_exit", shape(1, 64), device.upload(signs), after);
  EXPECT_EQ(result.fault, FaultKind::None) << result.message;
  for (const Finding &f : result.findings) // a barrier that only a part of a warp reaches
    EXPECT_EQ(f.kind, FindingKind::BarrierDivergence) << describe(f);
  EXPECT_EQ(device.download<int>(after, 64), plus);
}

TEST_P(Functions, ConstantsAndBytes) {
  Device device(ptxOf(std::string("functions") + GetParam()));
  std::vector<int> table = numbers(64, 500), in = numbers(64, 64);
  uint64_t address, bytes;
  ASSERT_TRUE(device.module.global("lookup", address, bytes));
  memcpy(reinterpret_cast<void *>(address), table.data(), bytes);
  uint64_t out = device.upload(zeros<int>(64));
  device.run("constant_table", shape(1, 64), device.upload(in), out);
  for (int i = 0; i < 64; ++i)
    EXPECT_EQ(device.download<int>(out, 64)[i], table[in[i]]);

  std::vector<uint8_t> raw(64);
  for (int i = 0; i < 64; ++i)
    raw[i] = uint8_t(i * 5);
  uint64_t small = device.upload(zeros<int8_t>(64)), wide = device.upload(zeros<int16_t>(64));
  device.run("bytes", shape(1, 64), device.upload(raw), small, wide);
  for (int i = 0; i < 64; ++i) {
    EXPECT_EQ(device.download<int8_t>(small, 64)[i], int8_t(raw[i] * 3));
    EXPECT_EQ(device.download<int16_t>(wide, 64)[i], int16_t(int8_t(raw[i]) * 100));
  }
}

TEST_P(Functions, WideIntegersAndGenericPointers) {
  Device device(ptxOf(std::string("functions") + GetParam()));
  std::vector<int64_t> in(32);
  for (int i = 0; i < 32; ++i)
    in[i] = (int64_t(i) - 16) * 987654321987ll;
  uint64_t out = device.upload(zeros<int64_t>(96));
  device.run("wide_division", shape(1, 32), device.upload(in), out);
  std::vector<int64_t> got = device.download<int64_t>(out, 96);
  for (int i = 0; i < 32; ++i) {
    EXPECT_EQ(got[3 * i], in[i] / 1000003);
    EXPECT_EQ(got[3 * i + 1], in[i] % 1000003);
    EXPECT_EQ(got[3 * i + 2], int64_t((__int128)in[i] * in[i] >> 64));
  }
  for (int which = 0; which < 3; ++which) {
    uint64_t buffer = device.upload(std::vector<int>(32, 50));
    device.run("generic_pointer", shape(1, 32), buffer, which);
    for (int i = 0; i < 32; ++i) {
      const int local[4] = {i, 2, 3, 4}, want[3] = {132 - i, local[i & 3] + 1, 51};
      EXPECT_EQ(device.download<int>(buffer, 32)[i], want[which]);
    }
  }
}

// --- numerics.cu ---

float halfValue(uint16_t bits) {
  int exponent = bits >> 10 & 31, mantissa = bits & 1023;
  float magnitude =
      exponent ? std::ldexp(float(mantissa + 1024), exponent - 25) : std::ldexp(float(mantissa), -24);
  return bits >> 15 ? -magnitude : magnitude;
}
/// Of values that a half holds exactly.
uint16_t halfBits(float value) {
  for (uint32_t bits = 0; bits < 0x10000; ++bits)
    if ((bits >> 10 & 31) != 31 && halfValue(uint16_t(bits)) == value)
      return uint16_t(bits);
  return 0x7e00;
}

TEST(Numerics, Halves) {
  Device device(ptxOf("numerics"));
  std::vector<uint16_t> a(32), b(32);
  for (int i = 0; i < 32; ++i)
    a[i] = halfBits(float(i) * 0.25f - 3), b[i] = halfBits(float(i % 7) * 0.5f);
  uint64_t out = device.upload(zeros<uint16_t>(128));
  device.run("half_arithmetic", shape(1, 32), device.upload(a), device.upload(b), out);
  std::vector<uint16_t> got = device.download<uint16_t>(out, 128);
  for (int i = 0; i < 32; ++i) {
    float x = halfValue(a[i]), y = halfValue(b[i]); // small enough that every result is exact
    EXPECT_EQ(halfValue(got[4 * i]), x + y);
    EXPECT_EQ(halfValue(got[4 * i + 1]), x * y + x);
    EXPECT_EQ(halfValue(got[4 * i + 2]), x * y);
    EXPECT_EQ(halfValue(got[4 * i + 3]), x > y ? x : -y);
  }
  std::vector<uint16_t> x(64), y(64);
  for (int i = 0; i < 64; ++i)
    x[i] = halfBits(float(i)), y[i] = halfBits(float(64 - i));
  uint64_t to = device.upload(y);
  uint32_t two = 0x40004000;
  device.run("half2_axpy", shape(1, 32), device.upload(x), to, two);
  for (int i = 0; i < 64; ++i)
    EXPECT_EQ(halfValue(device.download<uint16_t>(to, 64)[i]), float(2 * i + 64 - i));
}

TEST(Numerics, BrainFloats) {
  Device device(ptxOf("numerics"));
  std::vector<uint16_t> in(200);
  float want = 0;
  for (int i = 0; i < 200; ++i) {
    float value = float(i % 16) * 0.5f;
    in[i] = uint16_t(bitsAs<uint32_t>(value) >> 16);
    want += value;
  }
  uint64_t out = device.upload(zeros<float>(1));
  device.run("bf16_sum", shape(1, 32), device.upload(in), out, 200);
  EXPECT_EQ(device.download<float>(out, 1)[0], want);
}

TEST(Numerics, DoubleFunctions) {
  Device device(ptxOf("numerics"));
  std::vector<double> in(64), want;
  for (int i = 0; i < 64; ++i) {
    double x = in[i] = (i - 31.5) * 0.37;
    for (double value : {std::exp(x), std::log(std::fabs(x) + 0.5), std::sin(x), std::pow(std::fabs(x), 1.7),
                         std::sqrt(std::fabs(x)), x / 3.0, std::cbrt(x), std::erf(x)})
      want.push_back(value);
  }
  uint64_t out = device.upload(zeros<double>(512));
  device.run("double_functions", shape(1, 64), device.upload(in), out);
  expectNear(device.download<double>(out, 512), want, 1e-14);
}

TEST(Numerics, FloatFunctions) {
  Device device(ptxOf("numerics"));
  std::vector<float> in(64), want;
  for (int i = 0; i < 64; ++i) {
    double x = in[i] = (float(i) - 31.5f) * 0.21f;
    for (double value : {std::exp(x), std::log(std::fabs(x) + 0.5), std::sin(x), std::tanh(x),
                         1 / std::sqrt(std::fabs(x) + 1), std::erf(x), std::floor(x) + std::rint(x),
                         double(std::fmod(in[i], 0.7f))})
      want.push_back(float(value));
  }
  uint64_t out = device.upload(zeros<float>(512));
  device.run("float_functions", shape(1, 64), device.upload(in), out);
  expectNear(device.download<float>(out, 512), want, 1e-6);

  uint64_t geluOut = device.upload(zeros<float>(64));
  device.run("gelu", shape(1, 64), device.upload(in), geluOut, 64);
  std::vector<float> gelu;
  for (double x : in)
    gelu.push_back(float(0.5 * x * (1 + std::tanh(0.79788456 * (x + 0.044715 * x * x * x)))));
  expectNear(device.download<float>(geluOut, 64), gelu, 1e-6);
}

TEST(Numerics, MatrixInstructions) {
  Device device(ptxOf("numerics"));
  std::vector<uint16_t> a(256), b(128), bByRows(128);
  std::vector<float> want(128), plusOne(128);
  for (int i = 0; i < 256; ++i)
    a[i] = halfBits(float(i % 13) - 6);
  for (int j = 0; j < 8; ++j)
    for (int k = 0; k < 16; ++k)
      bByRows[k * 8 + j] = b[j * 16 + k] = halfBits(float((j * 5 + k * 3) % 9) * 0.5f);
  for (int i = 0; i < 16; ++i)
    for (int j = 0; j < 8; ++j) {
      for (int k = 0; k < 16; ++k)
        want[i * 8 + j] += halfValue(a[i * 16 + k]) * halfValue(b[j * 16 + k]);
      plusOne[i * 8 + j] = want[i * 8 + j] + 1;
    }
  uint64_t out = device.upload(zeros<float>(128));
  device.run("mma_f16", shape(1, 32), device.upload(a), device.upload(b), out);
  EXPECT_EQ(device.download<float>(out, 128), plusOne);
  device.run("ldmatrix_mma", shape(1, 32), device.upload(a), device.upload(bByRows), out);
  EXPECT_EQ(device.download<float>(out, 128), want);

  std::vector<int8_t> ia(512), ib(256);
  std::vector<int> sums(128);
  for (int i = 0; i < 512; ++i)
    ia[i] = int8_t(i * 31);
  for (int i = 0; i < 256; ++i)
    ib[i] = int8_t(i * 17 + 3);
  for (int i = 0; i < 128; ++i)
    for (int k = 0; k < 32; ++k)
      sums[i] += ia[i / 8 * 32 + k] * ib[i % 8 * 32 + k];
  uint64_t products = device.upload(zeros<int>(128));
  device.run("mma_s8", shape(1, 32), device.upload(ia), device.upload(ib), products);
  EXPECT_EQ(device.download<int>(products, 128), sums);
}

TEST(Numerics, MatrixFragments) {
  Device device(ptxOf("wmma"));
  std::vector<uint16_t> a(256), b(256);
  std::vector<float> want(256);
  for (int i = 0; i < 256; ++i)
    a[i] = halfBits(float(i % 11) - 5), b[i] = halfBits(float(i % 7) * 0.5f);
  for (int i = 0; i < 256; ++i) {
    for (int k = 0; k < 16; ++k)
      want[i] += halfValue(a[i / 16 * 16 + k]) * halfValue(b[i % 16 * 16 + k]);
    want[i] = 2 * (want[i] + 1);
  }
  uint64_t out = device.upload(zeros<float>(256));
  device.run("wmma_f16", shape(1, 32), device.upload(a), device.upload(b), out);
  EXPECT_EQ(device.download<float>(out, 256), want);

  std::vector<double> da(32), db(32), dc(64);
  for (int i = 0; i < 32; ++i)
    da[i] = i * 0.5, db[i] = 3 - i * 0.25;
  for (int i = 0; i < 8; ++i)
    for (int j = 0; j < 8; ++j)
      for (int k = 0; k < 4; ++k)
        dc[j * 8 + i] += da[i * 4 + k] * db[k * 8 + j];
  uint64_t doubles = device.upload(zeros<double>(64));
  device.run("wmma_f64", shape(1, 32), device.upload(da), device.upload(db), doubles);
  EXPECT_EQ(device.download<double>(doubles, 64), dc);

  std::vector<int8_t> ia(256), ib(256);
  std::vector<int> ic(256);
  for (int i = 0; i < 256; ++i)
    ia[i] = int8_t(i * 3), ib[i] = int8_t(100 - i * 5);
  for (int i = 0; i < 256; ++i)
    for (int k = 0; k < 16; ++k)
      ic[i] += ia[i / 16 * 16 + k] * ib[k * 16 + i % 16];
  uint64_t whole = device.upload(zeros<int>(256));
  device.run("wmma_s8", shape(1, 32), device.upload(ia), device.upload(ib), whole);
  EXPECT_EQ(device.download<int>(whole, 256), ic);
}

TEST(Numerics, BitTricks) {
  Device device(ptxOf("numerics"));
  std::vector<int8_t> a(128), b(128);
  std::vector<int> want(32, 5);
  for (int i = 0; i < 128; ++i) {
    a[i] = int8_t(i * 7), b[i] = int8_t(200 - i * 3);
    want[i / 4] += a[i] * b[i];
  }
  uint64_t out = device.upload(zeros<int>(32));
  device.run("dot_bytes", shape(1, 32), device.upload(a), device.upload(b), out);
  EXPECT_EQ(device.download<int>(out, 32), want);

  std::vector<uint32_t> words(32), mixed(32);
  for (uint32_t i = 0; i < 32; ++i) {
    uint32_t v = words[i] = i * 0x9e3779b9u, selector = 0x2501 + i, bytes = 0;
    uint64_t both = v | uint64_t(0x11223344) << 32;
    for (int k = 0; k < 4; ++k)
      bytes |= uint32_t(both >> (selector >> (4 * k) & 7) * 8 & 255) << (8 * k);
    mixed[i] = (i ? ~v << i | v >> (32 - i) : ~v) ^ bytes;
  }
  uint64_t to = device.upload(zeros<uint32_t>(32));
  device.run("funnel", shape(1, 32), device.upload(words), to);
  EXPECT_EQ(device.download<uint32_t>(to, 32), mixed);
}

TEST(Numerics, Philox) {
  Device device(ptxOf("numerics"));
  uint64_t out = device.upload(zeros<float>(128));
  uint32_t seed = 42;
  device.run("philox", shape(2, 64), seed, out);
  for (uint32_t i = 0; i < 128; ++i) {
    uint32_t c0 = i, c1 = 0, k = seed;
    for (int r = 0; r < 10; ++r) {
      uint64_t product = uint64_t(0xD256D193u) * c0;
      c0 = uint32_t(product >> 32) ^ k ^ c1, c1 = uint32_t(product), k += 0x9E3779B9u;
    }
    EXPECT_EQ(device.download<float>(out, 128)[i], float(c0) * 2.3283064e-10f);
  }
}

} // namespace
