// The kernels of cuda/hopper.cu against results computed here.
#include "lib/VirtualGpu/TensorMap.h"
#include "test/lib/VirtualGpu/Harness.h"

#include <algorithm>
#include <fstream>
#include <numeric>
#include <sstream>

using namespace joule::vgpu;
using namespace joule::vgpu::test;

namespace {

std::string textOf(const std::string &name) {
  std::ifstream file(std::string(JOULE_VGPU_CUDA) + "/" + name + ".ptx");
  EXPECT_TRUE(file) << name;
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

class Hopper : public testing::Test {
protected:
  static Device &device() {
    static Device shared(textOf("hopper"));
    return shared;
  }
};

Device::Shape shape(uint32_t blocks, uint32_t threads, uint32_t cluster = 1) {
  Device::Shape s;
  s.grid[0] = blocks, s.block[0] = threads, s.cluster[0] = cluster;
  return s;
}

std::vector<int> numbers(size_t n) {
  std::vector<int> values(n);
  for (size_t i = 0; i < n; ++i)
    values[i] = int((i * 7919 + 13) % 1009);
  return values;
}
std::vector<float> halves(size_t n) {
  std::vector<float> values(n);
  for (size_t i = 0; i < n; ++i)
    values[i] = float(int(i * 37 % 101) - 50) / 8.f;
  return values;
}
template <class T> std::vector<T> zeros(size_t n) { return std::vector<T>(n); }

// --- mbarriers ---

TEST_F(Hopper, ARingOfSlots) {
  std::vector<int> in = numbers(7 * 32), want(in.size());
  for (size_t i = 0; i < in.size(); ++i)
    want[i] = in[i / 32 * 32 + 31 - i % 32] + int(i / 32);
  uint64_t out = device().upload(zeros<int>(in.size()));
  device().run("ring", shape(1, 64), device().upload(in), out, 7);
  EXPECT_EQ(device().download<int>(out, in.size()), want);
}

TEST_F(Hopper, StatesOfBarriers) {
  uint64_t out = device().upload(zeros<int>(8));
  device().run("states", shape(1, 32), out);
  EXPECT_EQ(device().download<int>(out, 8), (std::vector<int>{0, 2, 1, 1, 0, 1, 0, 1}));
}

// --- bulk copies ---

TEST_F(Hopper, BulkCopies) {
  std::vector<float> in = halves(512), want(512);
  for (size_t i = 0; i < 512; ++i)
    want[i] = in[i / 256 * 256 + 255 - i % 256];
  uint64_t out = device().upload(zeros<float>(512));
  device().run("copy_in", shape(2, 256), device().upload(in), out);
  EXPECT_EQ(device().download<float>(out, 512), want);

  device().run("copy_out", shape(1, 64), out, device().upload(in));
  for (size_t i = 0; i < 64; ++i)
    want[i] = in[i] * 2;
  EXPECT_EQ(device().download<float>(out, 512), want);
}

TEST_F(Hopper, BulkReductions) {
  std::vector<float> in = halves(32), sums = halves(64);
  sums.erase(sums.begin(), sums.begin() + 32);
  std::vector<int> least(32, -3);
  std::vector<unsigned> bits(32, 0xff00ffu);
  uint64_t atSums = device().upload(sums), atLeast = device().upload(least), atBits = device().upload(bits);
  device().run("copy_add", shape(1, 32), atSums, atLeast, atBits, device().upload(in));
  for (size_t i = 0; i < 32; ++i) {
    sums[i] += in[i];
    least[i] = std::min(-3, int(in[i] * 8));
    bits[i] ^= unsigned(int(in[i] * 8));
  }
  EXPECT_EQ(device().download<float>(atSums, 32), sums);
  EXPECT_EQ(device().download<int>(atLeast, 32), least);
  EXPECT_EQ(device().download<unsigned>(atBits, 32), bits);
}

TEST_F(Hopper, AnOddBulkCopyFaults) {
  uint64_t in = device().upload(halves(600)), out = device().upload(zeros<float>(256));
  LaunchResult result = device().launch("copy_in", shape(1, 256), in + 4, out);
  EXPECT_EQ(result.fault, FaultKind::Misaligned) << result.message;
  result = device().launch("copy_in", shape(1, 256), in + 2000, out);
  EXPECT_EQ(result.fault, FaultKind::IllegalAddress) << result.message;
}

// --- grids and clusters ---

// More blocks than workers take at once, along all axes.
TEST(Grids, EveryBlockRunsOnce) {
  Device device(R"(
.version 7.8
.target sm_80
.address_size 64
.visible .entry once(.param .u64 out)
{
  .reg .b32 %r<6>;
  .reg .b64 %d<2>;
  mov.u32 %r0, %ctaid.x;
  mov.u32 %r1, %ctaid.y;
  mov.u32 %r2, %ctaid.z;
  mov.u32 %r3, %nctaid.x;
  mov.u32 %r4, %nctaid.y;
  mad.lo.u32 %r1, %r2, %r4, %r1;
  mad.lo.u32 %r0, %r1, %r3, %r0;
  ld.param.u64 %d0, [out];
  mul.wide.u32 %d1, %r0, 4;
  add.u64 %d0, %d0, %d1;
  mov.u32 %r5, 1;
  red.global.add.u32 [%d0], %r5;
  ret;
}
)");
  constexpr size_t blocks = 37 * 29 * 3;
  for (unsigned threads : {1u, 3u}) {
    Device::Shape s;
    s.grid[0] = 37, s.grid[1] = 29, s.grid[2] = 3, s.threads = threads;
    uint64_t out = device.upload(std::vector<int>(blocks));
    device.run("once", s, out);
    EXPECT_EQ(device.download<int>(out, blocks), std::vector<int>(blocks, 32)) << threads;
  }
}

TEST_F(Hopper, PlacesInAGridOfClusters) {
  Device::Shape s = shape(4, 1, 2);
  s.grid[1] = 6, s.cluster[1] = 3;
  uint64_t out = device().upload(zeros<int>(24 * 8));
  device().run("places", s, out);
  std::vector<int> got = device().download<int>(out, 24 * 8);
  for (int y = 0; y < 6; ++y)
    for (int x = 0; x < 4; ++x) {
      std::vector<int> want = {x / 2, y / 3, x % 2, y % 3, x % 2 + 2 * (y % 3), 6, 2, 3};
      int at = (y * 4 + x) * 8;
      EXPECT_EQ(std::vector<int>(got.begin() + at, got.begin() + at + 8), want) << x << ' ' << y;
    }
}

TEST_F(Hopper, BlocksReadEachOthersMemory) {
  std::vector<int> in = numbers(8 * 64), want(in.size());
  for (int block = 0; block < 8; ++block)
    for (int t = 0; t < 64; ++t)
      for (int r = 0; r < 4; ++r)
        want[block * 64 + t] += in[(block / 4 * 4 + r) * 64 + (t + r) % 64];
  uint64_t out = device().upload(zeros<int>(in.size()));
  device().run("cluster_sum", shape(8, 64, 4), device().upload(in), out);
  EXPECT_EQ(device().download<int>(out, in.size()), want);
}

TEST_F(Hopper, AHistogramInTwoBlocks) {
  std::vector<int> in = numbers(3000), want(64);
  for (int &v : in)
    v %= 64, ++want[v];
  uint64_t out = device().upload(zeros<int>(64));
  device().run("cluster_histogram", shape(4, 96, 2), device().upload(in), out, 3000);
  EXPECT_EQ(device().download<int>(out, 64), want);
}

TEST_F(Hopper, StoresAndArrivalsInOtherBlocks) {
  uint64_t out = device().upload(zeros<int>(4 * 32));
  device().run("pass_on", shape(4, 32, 4), out);
  std::vector<int> got = device().download<int>(out, 128);
  for (int i = 0; i < 128; ++i)
    EXPECT_EQ(got[i], (i / 32 + 3) % 4 * 100 + i % 32 + (i / 32 + 1) % 4 * 10000) << i;
  device().run("arrive_far", shape(6, 32, 3), out);
  got = device().download<int>(out, 2);
  EXPECT_EQ(got, (std::vector<int>{32 * 6, 32 * 6}));
  device().run("add_far", shape(3, 32, 3), out);
  got = device().download<int>(out, 96);
  for (int i = 0; i < 96; ++i)
    EXPECT_EQ(got[i], 30 + 3 * (i / 32 + i % 32)) << i;
}

TEST_F(Hopper, Multicast) {
  std::vector<int> in = numbers(64), want;
  for (int rank = 0; rank < 4; ++rank)
    for (int i = 0; i < 64; ++i)
      want.push_back(rank == 2 && i >= 32 ? -1 : in[i]);
  uint64_t out = device().upload(zeros<int>(256));
  device().run("multicast", shape(4, 64, 4), device().upload(in), out);
  EXPECT_EQ(device().download<int>(out, 256), want);
}

// --- tensor boxes ---

struct Tensor {
  unsigned type, bytes; // CUtensorMapDataType, and its size
  std::vector<uint64_t> sizes;
  std::vector<uint8_t> data;
  uint64_t address = 0;

  /// Dense, with every element different, rows padded to 16 bytes.
  Tensor(unsigned type, unsigned bytes, std::vector<uint64_t> given)
      : type(type), bytes(bytes), sizes(std::move(given)) {
    data.resize(strides().back());
    for (size_t i = 0; i < data.size(); ++i)
      data[i] = uint8_t(i * 167 / 3 + i / 256 * 31 + 1);
    address = 0;
  }
  /// Bytes from one index to the next, of every dimension but the first; and the whole.
  std::vector<uint64_t> strides() const {
    std::vector<uint64_t> s = {(sizes[0] * bytes + 15) / 16 * 16};
    for (size_t i = 1; i < sizes.size(); ++i)
      s.push_back(s.back() * sizes[i]);
    return s;
  }
  bool holds(const std::vector<int64_t> &at) const {
    for (size_t i = 0; i < sizes.size(); ++i)
      if (at[i] < 0 || at[i] >= int64_t(sizes[i]))
        return false;
    return true;
  }
  size_t place(const std::vector<int64_t> &at) const {
    size_t offset = size_t(at[0]) * bytes;
    for (size_t i = 1; i < sizes.size(); ++i)
      offset += size_t(at[i]) * strides()[i - 1];
    return offset;
  }
};

TensorMap tiled(const Tensor &t, std::vector<uint32_t> box, unsigned swizzle = 0, unsigned fill = 0,
                std::vector<uint32_t> steps = {1, 1, 1, 1, 1}) {
  std::vector<uint64_t> strides = t.strides();
  TensorMapRequest r = {};
  r.type = t.type, r.rank = uint32_t(t.sizes.size()), r.address = t.address;
  r.sizes = t.sizes.data(), r.strides = strides.data(), r.box = box.data(), r.elementStrides = steps.data();
  r.swizzle = swizzle, r.fill = fill;
  TensorMap map;
  const char *problem = encodeTiled(r, map);
  EXPECT_EQ(problem, nullptr) << problem;
  return map;
}

/// Chunk c of line l of 128 bytes lies at chunk c ^ (l modulo the swizzle's size).
size_t afterSwizzle(unsigned swizzle, size_t at) {
  size_t line = at / 128, chunk = at / 16 % 8, chunks = size_t(1) << swizzle;
  return line * 128 + ((chunk ^ (line % chunks)) * 16) + at % 16;
}

std::vector<uint8_t> boxOf(const Tensor &t, std::vector<uint32_t> box, unsigned swizzle,
                           const std::vector<int64_t> &start, uint8_t fill, std::vector<uint32_t> steps) {
  size_t n = 1;
  for (size_t i = 0; i < box.size(); ++i)
    n *= box[i] = (box[i] + steps[i] - 1) / steps[i];
  std::vector<uint8_t> out(n * t.bytes);
  for (size_t e = 0; e < n; ++e) {
    std::vector<int64_t> at;
    for (size_t i = 0, rest = e; i < box.size(); rest /= box[i++])
      at.push_back(start[i] + int64_t(rest % box[i] * steps[i]));
    for (size_t k = 0; k < t.bytes; ++k)
      out[afterSwizzle(swizzle, e * t.bytes + k)] = t.holds(at) ? t.data[t.place(at) + k] : fill;
  }
  return out;
}

std::vector<uint8_t> load(Device &device, const std::string &kernel, const TensorMap &map,
                          const std::vector<int64_t> &start, std::vector<int> offsets = {0, 0, 0}) {
  int bytes = int(tensorBoxBytes(map)), c[5] = {};
  std::copy(start.begin(), start.end(), c);
  offsets.resize(3);
  uint64_t out = device.upload(zeros<uint8_t>(size_t(bytes)));
  Device::Shape s = shape(1, 64);
  s.shared = uint32_t(bytes + 1024);
  device.run(kernel, s, map, out, bytes, c[0], c[1], c[2], c[3], c[4], short(offsets[0]), short(offsets[1]),
             short(offsets[2]));
  return device.download<uint8_t>(out, size_t(bytes));
}

struct BoxCase {
  unsigned type, bytes;
  std::vector<uint64_t> sizes;
  std::vector<uint32_t> box;
  std::vector<int64_t> start;
  unsigned swizzle, fill;
  std::vector<uint32_t> steps;
};

TEST_F(Hopper, BoxesOfTensors) {
  const BoxCase cases[] = {
      {2, 4, {100}, {32}, {80}, 0, 0, {1}},
      {0, 1, {64, 20}, {32, 8}, {3, 5}, 0, 0, {1, 1}},
      {6, 2, {64, 20}, {64, 8}, {0, 4}, 3, 0, {1, 1}},
      {6, 2, {64, 20}, {32, 9}, {-8, 15}, 2, 0, {1, 1}},
      {6, 2, {64, 20}, {16, 16}, {56, -3}, 1, 0, {1, 1}},
      {7, 4, {30, 20}, {32, 16}, {4, 10}, 3, 1, {1, 1}},
      {9, 2, {40, 9, 5}, {8, 4, 3}, {4, 7, 3}, 0, 0, {1, 1, 1}},
      {7, 4, {24, 9, 5, 4}, {8, 4, 2, 3}, {20, -1, 3, 2}, 1, 0, {1, 1, 1, 1}},
      {4, 8, {10, 5, 4, 3, 3}, {4, 3, 2, 2, 2}, {8, 3, 1, 2, -1}, 0, 0, {1, 1, 1, 1, 1}},
      {1, 2, {64, 40, 9}, {64, 9, 5}, {0, 2, -1}, 3, 0, {1, 3, 2}},
  };
  for (const BoxCase &c : cases) {
    Tensor t(c.type, c.bytes, c.sizes);
    t.address = device().upload(t.data);
    TensorMap map = tiled(t, c.box, c.swizzle, c.fill, c.steps);
    std::string kernel = "load_" + std::to_string(c.sizes.size()) + "d";
    EXPECT_EQ(load(device(), kernel, map, c.start),
              boxOf(t, c.box, c.swizzle, c.start, c.fill ? 0xff : 0, c.steps))
        << kernel << " of type " << c.type << ", swizzle " << c.swizzle;
  }
}

/// Pixel after pixel inside the bounding box; `taps` shift what is read.
std::vector<uint8_t> columnOf(const Tensor &t, const std::vector<int> &lower, const std::vector<int> &upper,
                              uint32_t channels, uint32_t pixels, std::vector<int64_t> at,
                              const std::vector<int> &taps, uint32_t step) {
  std::vector<uint8_t> out;
  size_t last = t.sizes.size() - 1;
  for (uint32_t p = 0; p < pixels; ++p) {
    for (uint32_t ch = 0; ch < channels; ++ch) {
      std::vector<int64_t> from = at;
      from[0] += ch;
      for (size_t i = 1; i < last; ++i)
        from[i] += taps[i - 1];
      for (size_t k = 0; k < t.bytes; ++k)
        out.push_back(t.holds(from) ? t.data[t.place(from) + k] : 0);
    }
    size_t i = 1;
    for (; i < last; ++i) {
      at[i] += step;
      if (at[i] < int64_t(t.sizes[i]) + upper[i - 1])
        break;
      at[i] = lower[i - 1];
    }
    at[last] += i == last;
  }
  return out;
}

TEST_F(Hopper, ColumnsOfImages) {
  struct Case {
    std::vector<uint64_t> sizes;
    std::vector<int64_t> start;
    std::vector<int> taps;
    uint32_t pixels, step;
  };
  const Case cases[] = {{{16, 9, 3}, {8, 5, 1}, {2}, 12, 1},
                        {{16, 7, 6, 3}, {0, 3, 2, 0}, {1, 2}, 40, 1},
                        {{16, 7, 6, 3}, {0, -1, -1, 1}, {0, 1}, 30, 2},
                        {{8, 5, 4, 3, 2}, {0, 2, 2, 1, 0}, {2, 0, 1}, 50, 1}};
  for (const Case &c : cases) {
    Tensor t(6, 2, c.sizes);
    t.address = device().upload(t.data);
    std::vector<int> lower(c.taps.size(), -1), upper(c.taps.size(), -1);
    std::vector<uint64_t> strides = t.strides();
    uint32_t steps[5] = {1, c.step, c.step, c.step, 1};
    TensorMapRequest r = {};
    r.type = t.type, r.rank = uint32_t(c.sizes.size()), r.address = t.address;
    r.sizes = t.sizes.data(), r.strides = strides.data(), r.elementStrides = steps;
    r.lowerCorner = lower.data(), r.upperCorner = upper.data(), r.channels = 8, r.pixels = c.pixels;
    TensorMap map;
    ASSERT_EQ(encodeIm2col(r, map), nullptr);
    EXPECT_EQ(load(device(), "load_im2col_" + std::to_string(c.sizes.size()) + "d", map, c.start, c.taps),
              columnOf(t, lower, upper, 8, c.pixels, c.start, c.taps, c.step))
        << c.sizes.size();
  }
}

TEST_F(Hopper, BoxesGoBack) {
  for (unsigned swizzle : {0u, 3u})
    for (const char *kernel : {"store_2d", "add_2d", "max_2d"}) {
      Tensor t(3, 4, {30, 12});
      t.address = device().upload(t.data);
      TensorMap map = tiled(t, {32, 8}, swizzle);
      std::vector<int> in = numbers(256), want(t.data.size() / 4);
      for (size_t i = 0; i < in.size(); ++i)
        in[i] = (in[i] - 500) * 4000000;
      memcpy(want.data(), t.data.data(), t.data.size());
      Device::Shape s = shape(1, 64);
      s.shared = 2048;
      device().run(kernel, s, map, device().upload(in), 1024, 3, 7);
      for (int y = 7; y < 12; ++y)
        for (int x = 3; x < 30; ++x) {
          int value = in[afterSwizzle(swizzle, size_t((y - 7) * 32 + x - 3) * 4) / 4];
          int &to = want[size_t(y) * 32 + size_t(x)];
          to = kernel[0] == 's'   ? value
               : kernel[0] == 'a' ? int(unsigned(to) + unsigned(value))
                                  : std::max(to, value);
        }
      EXPECT_EQ(device().download<int>(t.address, want.size()), want) << kernel << ' ' << swizzle;
    }
}

TEST_F(Hopper, ABoxForTwoBlocks) {
  Tensor t(6, 2, {64, 16});
  t.address = device().upload(t.data);
  TensorMap map = tiled(t, {64, 8}, 3);
  uint64_t out = device().upload(zeros<uint8_t>(2048));
  Device::Shape s = shape(2, 64, 2);
  s.shared = 2048;
  device().run("load_multicast", s, map, out, 1024, 0, 4);
  std::vector<uint8_t> want = boxOf(t, {64, 8}, 3, {0, 4}, 0, {1, 1});
  EXPECT_EQ(device().download<uint8_t>(out, 1024), want);
  EXPECT_EQ(device().download<uint8_t>(out + 1024, 1024), want);
}

TEST_F(Hopper, AMapIsChangedOnTheDevice) {
  Tensor first(6, 2, {64, 16}), second(6, 2, {64, 20});
  first.address = device().upload(first.data), second.address = device().upload(second.data);
  TensorMap map = tiled(first, {64, 8});
  uint64_t changed = device().upload(std::vector<TensorMap>(1));
  device().run("replace_map", shape(1, 32), map, changed, second.address, 20);
  map = device().download<TensorMap>(changed, 1)[0];
  EXPECT_EQ(load(device(), "load_2d", map, {0, 14}), boxOf(second, {64, 8}, 0, {0, 14}, 0, {1, 1}));
}

TEST_F(Hopper, ForgedMapsFault) {
  Tensor t(6, 2, {64, 16});
  t.address = device().upload(t.data);
  TensorMap good = tiled(t, {64, 8}, 3);
  uint64_t out = device().upload(zeros<uint8_t>(1024));
  Device::Shape s = shape(1, 64);
  s.shared = 2048;
  auto faultOf = [&](auto change, const char *kernel = "load_2d") {
    TensorMap map = good;
    change(map);
    return device().launch(kernel, s, map, out, 1024, 0, 0, 0, 0, 0, short(0), short(0), short(0)).fault;
  };
  EXPECT_EQ(faultOf([](auto &) {}), FaultKind::None);
  EXPECT_EQ(faultOf([](auto &m) { m.magic = 1; }), FaultKind::BadTensorMap);
  EXPECT_EQ(faultOf([](auto &m) { m.type = 200; }), FaultKind::BadTensorMap);
  EXPECT_EQ(faultOf([](auto &m) { m.swizzle = 40; }), FaultKind::BadTensorMap);
  EXPECT_EQ(faultOf([](auto &m) { m.box[0] = 0; }), FaultKind::BadTensorMap);
  EXPECT_EQ(faultOf([](auto &m) { m.box[0] = 63; }), FaultKind::BadTensorMap);
  EXPECT_EQ(faultOf([](auto &m) { m.elementStrides[1] = 0; }), FaultKind::BadTensorMap);
  EXPECT_EQ(faultOf([](auto &m) { m.rank = 3; }), FaultKind::BadTensorMap);
  EXPECT_EQ(faultOf([](auto &m) { m.isIm2col = 1; }), FaultKind::BadTensorMap);
  EXPECT_EQ(faultOf([](auto &) {}, "load_3d"), FaultKind::BadTensorMap);
  EXPECT_EQ(faultOf([](auto &m) { m.box[1] = 200; }), FaultKind::IllegalAddress); // of shared memory
  EXPECT_EQ(faultOf([](auto &m) { m.address = 1 << 20; }), FaultKind::IllegalAddress);
}

TEST(TensorMaps, RefuseWhatTheEngineCannotDo) {
  uint64_t sizes[2] = {64, 16}, strides[1] = {128};
  uint32_t box[2] = {64, 8}, steps[2] = {1, 1};
  TensorMap map;
  auto with = [&](auto change) {
    TensorMapRequest r = {};
    r.type = 6, r.rank = 2, r.address = 4096, r.sizes = sizes, r.strides = strides, r.box = box;
    r.elementStrides = steps;
    change(r);
    const char *problem = encodeTiled(r, map);
    return std::string(problem ? problem : "");
  };
  EXPECT_EQ(with([](auto &) {}), "");
  EXPECT_NE(with([](auto &r) { r.rank = 6; }), "");
  EXPECT_NE(with([](auto &r) { r.address = 4100; }), "");
  EXPECT_NE(with([](auto &r) { r.swizzle = 2; }), "");
  EXPECT_NE(with([](auto &r) { r.interleave = 1; }), "");
  EXPECT_NE(with([](auto &r) { r.type = 2, r.fill = 1; }), "");
  strides[0] = 100;
  EXPECT_NE(with([](auto &) {}), "");
}

TEST_F(Hopper, RegistersAndElection) {
  uint64_t out = device().upload(zeros<int>(128));
  device().run("registers_and_election", shape(1, 128), out);
  std::vector<int> got = device().download<int>(out, 128);
  for (int i = 0; i < 128; ++i)
    EXPECT_EQ(got[i], i % 32 == 0) << i;
}

} // namespace
