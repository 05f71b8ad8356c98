// The kernels of cuda/intrinsics.cu against a plain model of each.
#include "test/lib/VirtualGpu/Harness.h"

#include <algorithm>
#include <cfenv>
#include <cmath>
#include <fstream>
#include <map>
#include <numeric>
#include <sstream>

using namespace joule::vgpu;
using namespace joule::vgpu::test;

namespace {

class Intrinsics : public testing::Test {
protected:
  static Device &device() {
    static Device shared(text());
    return shared;
  }
  static std::string text() {
    std::ifstream file(JOULE_VGPU_CUDA "/intrinsics.ptx");
    EXPECT_TRUE(file);
    std::stringstream all;
    all << file.rdbuf();
    return all.str();
  }

  static constexpr size_t count = 96;

  /// Runs `name` on triples of the inputs and compares with the model, up to a relative error.
  template <class Out, class In, class F>
  void expect(const char *name, const std::vector<In> &inputs, F model, double relative = 0) {
    std::vector<In> triples(3 * count);
    for (size_t i = 0; i < triples.size(); ++i)
      triples[i] = inputs[(i * 5 + i / 7) % inputs.size()];
    uint64_t out = device().upload(std::vector<Out>(count));
    Device::Shape shape;
    shape.grid[0] = count / 32;
    device().run(name, shape, device().upload(triples), out);
    std::vector<Out> got = device().template download<Out>(out, count);
    for (size_t i = 0; i < count; ++i) {
      Out want = Out(model(triples[3 * i], triples[3 * i + 1], triples[3 * i + 2]));
      if (relative && want == want)
        EXPECT_NEAR(double(got[i]), double(want), relative * (1e-3 + std::fabs(double(want))))
            << name << " of " << double(triples[3 * i]);
      else
        EXPECT_TRUE(same(got[i], want))
            << name << " of " << +triples[3 * i] << ", " << +triples[3 * i + 1] << ", " << +triples[3 * i + 2]
            << " gives " << +got[i] << ", not " << +want;
    }
  }
  template <class T> static bool same(T a, T b) { return !memcmp(&a, &b, sizeof a) || (a != a && b != b); }
};

std::vector<unsigned> unsignedWords() {
  std::vector<unsigned> v = {0,      1,          2,          31,         32,         0x7f,      0x80,
                             0xff00, 0x7fffffff, 0x80000000, 0xffffffff, 0xfffffffe, 0x80ff7f01};
  for (unsigned i = 0; i < 60; ++i)
    v.push_back(i * 2654435761u + 12345);
  return v;
}
std::vector<int> words() {
  std::vector<unsigned> v = unsignedWords();
  return {v.begin(), v.end()};
}
std::vector<long long> longs() {
  std::vector<long long> v = {0, 1, -1, 1ll << 62, INT64_MAX, INT64_MIN, 1ll << 31, -(1ll << 32)};
  for (unsigned i = 0; i < 60; ++i)
    v.push_back((long long)(i * 0x9e3779b97f4a7c15ull + 99));
  return v;
}
template <class T> std::vector<T> reals() {
  std::vector<T> v = {0,       T(-0.0),   1,        -1,      T(0.5),   T(1.5),  T(2.5),
                      T(-2.5), T(100.25), T(1e-20), T(3e20), T(1) / 3, T(-7.75)};
  for (int i = 0; i < 80; ++i)
    v.push_back(T(std::ldexp(1 + i * 0.0137, i % 13 - 6) * (i % 3 ? 1 : -1)));
  return v;
}
/// Where functions are compared with the host's.
std::vector<float> tame() {
  std::vector<float> v;
  for (int i = -60; i < 60; ++i)
    v.push_back(float(i) * 0.173f);
  return v;
}

template <class F> auto rounded(int mode, F f) {
  int saved = fegetround();
  fesetround(mode);
  auto value = f();
  fesetround(saved);
  return value;
}

TEST_F(Intrinsics, Integers) {
  using u = unsigned;
  auto bits = [](u a) { return u(__builtin_popcount(a)); };
  expect<u>("int_brev", unsignedWords(), [](u a, u, u) {
    u r = 0;
    for (int i = 0; i < 32; ++i)
      r |= (a >> i & 1) << (31 - i);
    return r;
  });
  expect<int>("int_clz", words(), [](int a, int, int) { return a ? __builtin_clz(u(a)) : 32; });
  expect<int>("int_ffs", words(), [](int a, int, int) { return __builtin_ffs(a); });
  expect<int>("int_popc", unsignedWords(), [&](u a, u, u) { return int(bits(a)); });
  expect<u>("int_byte_perm", unsignedWords(), [](u a, u b, u c) {
    u r = 0;
    for (int i = 0; i < 4; ++i)
      r |= u((uint64_t(b) << 32 | a) >> ((c >> (4 * i) & 7) * 8) & 0xff) << (8 * i);
    return r;
  });
  expect<u>("int_funnel_l", unsignedWords(),
            [](u a, u b, u c) { return u((uint64_t(b) << 32 | a) << (c & 31) >> 32); });
  expect<u>("int_funnel_rc", unsignedWords(),
            [](u a, u b, u c) { return u((uint64_t(b) << 32 | a) >> std::min(c % 40, 32u)); });
  auto low24 = [](int a) { return int64_t(int(u(a) << 8)) >> 8; };
  expect<int>("int_mul24", words(), [&](int a, int b, int) { return int(low24(a) * low24(b)); });
  expect<int>("int_mulhi", words(), [](int a, int b, int) { return int(int64_t(a) * b >> 32); });
  expect<u>("int_umulhi", unsignedWords(), [](u a, u b, u) { return u(uint64_t(a) * b >> 32); });
  expect<int>("int_hadd", words(), [](int a, int b, int) { return int((int64_t(a) + b) >> 1); });
  expect<int>("int_rhadd", words(), [](int a, int b, int) { return int((int64_t(a) + b + 1) >> 1); });
  expect<u>("int_sad", words(), [](int a, int b, int c) { return u(std::abs(int64_t(a) - b) + c); });
  expect<u>("int_usad", unsignedWords(),
            [](u a, u b, u c) { return u(std::abs(int64_t(a) - int64_t(b))) + c; });
  expect<int>("int_dp4a", words(), [](int a, int b, int c) {
    for (int i = 0; i < 32; i += 8)
      c = int(u(c) + u(int8_t(a >> i) * int8_t(b >> i)));
    return c;
  });
  expect<int>("int_dp2a_lo", words(), [](int a, int b, int c) {
    for (int i = 0; i < 2; ++i)
      c = int(u(c) + u(int16_t(a >> 16 * i) * int8_t(b >> 8 * i)));
    return c;
  });
  expect<int>("int_divide", words(), [](int a, int b, int) {
    int64_t d = b | 1;
    return int(u(a / d) + u(a % d));
  });
  expect<u>("int_udivide", unsignedWords(), [](u a, u b, u) { return a / (b | 1) + a % (b | 1); });
  expect<int>("int_shifts", words(),
              [](int a, int b, int c) { return (a >> (b & 31)) ^ int(u(c) << (b & 31)); });
  expect<int>("int_minmax", words(), [](int a, int b, int c) { return std::max(std::min(a, b), c); });
  expect<int>("simd_max3", words(), [](int a, int b, int c) { return std::max({a, b, c}); });
}

TEST_F(Intrinsics, LongIntegers) {
  using l = long long;
  expect<l>("long_mul", longs(), [](l a, l b, l c) { return l(uint64_t(a) * uint64_t(b) + uint64_t(c)); });
  expect<l>("long_mulhi", longs(), [](l a, l b, l) { return l(__int128(a) * b >> 64); });
  expect<int>("long_clz", longs(), [](l a, l b, l c) {
    return (a ? __builtin_clzll(uint64_t(a)) : 64) + __builtin_popcountll(uint64_t(b)) + __builtin_ffsll(c);
  });
  expect<l>("long_divide", longs(), [](l a, l b, l c) {
    return l(uint64_t(__int128(a) / (b | 1)) + uint64_t(__int128(a) % (c | 1)));
  });
  expect<l>("double_to_long", reals<double>(), [](double a, double b, double) {
    auto clamp = [](double x) { return x >= 0x1p63 ? INT64_MAX : x <= -0x1p63 ? INT64_MIN : l(x); };
    return l(uint64_t(clamp(std::nearbyint(a))) + uint64_t(clamp(std::floor(b))));
  });
  expect<double>("long_to_double", longs(), [](l a, l, l) {
    return rounded(FE_TOWARDZERO, [&] {
      volatile l held = a;
      return double(held);
    });
  });
}

TEST_F(Intrinsics, PacksOfIntegers) {
  using u = unsigned;
  auto each = [](int width, u a, u b, auto f) {
    u out = 0, mask = width == 8 ? 0xff : 0xffff;
    for (int i = 0; i < 32; i += width)
      out |= (u(f(a >> i & mask, b >> i & mask)) & mask) << i;
    return out;
  };
  expect<u>("simd_add2", unsignedWords(),
            [&](u a, u b, u) { return each(16, a, b, [](u x, u y) { return x + y; }); });
  expect<u>("simd_addss4", unsignedWords(), [&](u a, u b, u) {
    return each(8, a, b, [](u x, u y) { return std::max(-128, std::min(127, int8_t(x) + int8_t(y))); });
  });
  expect<u>("simd_absdiffu4", unsignedWords(),
            [&](u a, u b, u) { return each(8, a, b, [](u x, u y) { return x > y ? x - y : y - x; }); });
  expect<u>("simd_maxs2", unsignedWords(), [&](u a, u b, u) {
    return each(16, a, b, [](u x, u y) { return std::max(int16_t(x), int16_t(y)); });
  });
  expect<u>("simd_relu", unsignedWords(), [&](u a, u b, u) {
    return each(16, a, b, [](u x, u y) { return std::max({int16_t(x), int16_t(y), int16_t(0)}); });
  });
  expect<u>("simd_cmpltu4", unsignedWords(),
            [&](u a, u b, u) { return each(8, a, b, [](u x, u y) { return x < y ? 0xff : 0; }); });
  expect<u>("simd_sadu4", unsignedWords(), [&](u a, u b, u) {
    u sum = 0;
    each(8, a, b, [&](u x, u y) { return sum += x > y ? x - y : y - x; });
    return sum;
  });
}

TEST_F(Intrinsics, RoundedFloats) {
  auto with = [](int mode, auto f) {
    return [=](float a, float b, float c) {
      return rounded(mode, [&] {
        volatile float x = a, y = b, z = c, r = f(x, y, z);
        return float(r);
      });
    };
  };
  expect<float>("float_add_rz", reals<float>(),
                with(FE_TOWARDZERO, [](float a, float b, float) { return a + b; }));
  expect<float>("float_mul_ru", reals<float>(),
                with(FE_UPWARD, [](float a, float b, float) { return a * b; }));
  expect<float>("float_fma_rd", reals<float>(),
                with(FE_DOWNWARD, [](float a, float b, float c) { return std::fma(a, b, c); }));
  expect<float>("float_div_rn", reals<float>(), [](float a, float b, float) { return a / b; });
  expect<float>("float_div_rd", reals<float>(),
                with(FE_DOWNWARD, [](float a, float b, float) { return a / b; }));
  expect<float>("float_sqrt_ru", reals<float>(),
                with(FE_UPWARD, [](float a, float, float) { return std::sqrt(std::fabs(a)); }));
  expect<float>("float_rcp_rz", reals<float>(),
                with(FE_TOWARDZERO, [](float a, float, float) { return 1 / a; }));
  expect<float>("float_saturate", reals<float>(),
                [](float a, float, float) { return a > 0 ? std::min(a, 1.f) : 0.f; });
  expect<float>("float_floor", tame(), [](float a, float b, float c) {
    return std::floor(a) + std::ceil(b) + std::trunc(c) + std::nearbyint(a);
  });
  expect<int>("float_to_int", tame(), [](float a, float b, float c) {
    return int(std::floor(a)) + int(std::ceil(b)) + int(std::nearbyint(c));
  });
  expect<float>("int_to_float", words(), [](int a, int b, int) {
    volatile float x = rounded(FE_TOWARDZERO, [&] {
      volatile int held = a;
      return float(held);
    });
    volatile float y = rounded(FE_UPWARD, [&] {
      volatile unsigned held = unsigned(b);
      return float(held);
    });
    volatile float sum = x + y;
    return float(sum);
  });
  expect<float>(
      "float_minmax", reals<float>(), [](float a, float b, float c) { return std::fmax(std::fmin(a, b), c); },
      1e-9);
  expect<float>("float_copysign", reals<float>(),
                [](float a, float b, float) { return std::copysign(a, b); });
  expect<int>("float_classes", std::vector<float>{0, -1, INFINITY, -INFINITY, NAN, 1e-40f},
              [](float a, float b, float c) {
                return (std::isnan(a) ? 1 : 0) + (std::isinf(b) ? 2 : 0) + (std::signbit(c) ? 4 : 0);
              });
}

TEST_F(Intrinsics, Doubles) {
  expect<double>("double_fma_ru", reals<double>(), [](double a, double b, double c) {
    return rounded(FE_UPWARD, [&] {
      volatile double x = a, y = b, z = c;
      return std::fma(double(x), double(y), double(z));
    });
  });
  expect<double>("double_div_rz", reals<double>(), [](double a, double b, double) {
    return rounded(FE_TOWARDZERO, [&] {
      volatile double x = a, y = b, r = x / y;
      return double(r);
    });
  });
  expect<double>("double_sqrt", reals<double>(),
                 [](double a, double, double) { return std::sqrt(std::fabs(a)); });
  std::vector<float> few = tame();
  std::vector<double> in(few.begin(), few.end());
  expect<double>(
      "double_exp", in, [](double a, double, double) { return std::exp(a); }, 1e-14);
  expect<double>(
      "double_log", in, [](double a, double, double) { return std::log(std::fabs(a) + 1); }, 1e-14);
  expect<double>(
      "double_sin", in, [](double a, double, double) { return std::sin(a); }, 1e-13);
}

TEST_F(Intrinsics, Functions) {
  using d = double;
  expect<float>(
      "float_fmod", tame(), [](float a, float b, float) { return std::fmod(a, b); }, 1e-6);
  expect<float>(
      "float_exp", tame(), [](d a, d, d) { return std::exp(a); }, 1e-6);
  expect<float>(
      "float_log", tame(), [](d a, d, d) { return std::log(d(float(std::fabs(a)) + 1.f)); }, 1e-6);
  expect<float>(
      "float_sin", tame(), [](d a, d, d) { return std::sin(a); }, 1e-5);
  expect<float>(
      "float_pow", tame(), [](d a, d, d) { return std::pow(std::fabs(a), d(0.7f)); }, 1e-5);
  expect<float>(
      "float_tanh", tame(), [](d a, d, d) { return std::tanh(a); }, 1e-6);
  expect<float>(
      "float_erf", tame(), [](d a, d, d) { return std::erf(a); }, 1e-6);
  expect<float>(
      "float_cbrt", tame(), [](d a, d, d) { return std::cbrt(a); }, 1e-6);
  expect<float>(
      "float_hypot", tame(), [](d a, d b, d) { return std::hypot(a, b); }, 1e-6);
  expect<float>(
      "float_fast", tame(), [](d a, d, d) { return 1 / (1 + std::exp(-a * d(0.1f))); }, 1e-5);
}

// --- types of 16 and 8 bits ---

/// A small floating-point format: value to bits, to the nearest with ties to even; and back.
struct Small {
  int exponentBits, mantissaBits;
  bool infinities;

  double decode(unsigned bits) const {
    int bias = (1 << (exponentBits - 1)) - 1, e = int(bits >> mantissaBits) & ((1 << exponentBits) - 1);
    unsigned m = bits & ((1u << mantissaBits) - 1);
    double sign = bits >> (exponentBits + mantissaBits) & 1 ? -1 : 1;
    if (e == (1 << exponentBits) - 1 && (infinities || m == (1u << mantissaBits) - 1))
      return infinities && m == 0 ? sign * INFINITY : NAN;
    return sign * (e ? std::ldexp(1 + std::ldexp(m, -mantissaBits), e - bias)
                     : std::ldexp(m, 1 - bias - mantissaBits));
  }
  /// By search: the nearest of all positive values.
  unsigned encode(double x, bool saturates) const {
    unsigned top = 1u << (exponentBits + mantissaBits), sign = std::signbit(x) ? top : 0;
    if (std::isnan(x))
      return infinities && mantissaBits == 2 ? 0x7f : top - 1;
    unsigned last =
        infinities ? (((1u << exponentBits) - 1) << mantissaBits) - 1 : top - 2; // the largest finite
    double size = std::fabs(x);
    unsigned low = 0, high = last;
    while (high - low > 1) {
      unsigned middle = (low + high) / 2;
      (decode(middle) <= size ? low : high) = middle;
    }
    double step = decode(last) - decode(last - 1);
    if (size >= decode(last) + step / 2)
      return sign | (saturates || !infinities ? last : last + 1);
    double below = size - decode(low), above = decode(high) - size;
    return sign | (below < above || (below == above && low % 2 == 0) ? low : high);
  }
};
constexpr Small f16{5, 10, true}, bf16{8, 7, true}, e4m3{4, 3, false}, e5m2{5, 2, true};

std::vector<uint16_t> halfWords() {
  std::vector<uint16_t> v = {0, 0x8000, 0x3c00, 0xbc00, 0x0001, 0x03ff, 0x7bff, 0xc500, 0x3555, 0x4248};
  for (unsigned i = 0; i < 80; ++i)
    v.push_back(uint16_t(0x3000 + i * 97 % 0x1800 + (i % 2 ? 0x8000 : 0)));
  return v;
}
std::vector<uint16_t> brainWords() {
  std::vector<uint16_t> v;
  for (unsigned i = 0; i < 90; ++i)
    v.push_back(uint16_t(0x3f00 + i * 13 % 0x180 + (i % 3 ? 0 : 0x8000)));
  return v;
}

TEST_F(Intrinsics, Halves) {
  using h = uint16_t;
  auto of = [](const Small &format, auto f) {
    return [=](h a, h b, h c) {
      return h(format.encode(f(format.decode(a), format.decode(b), format.decode(c)), false));
    };
  };
  expect<h>("half_fma", halfWords(), of(f16, [](double a, double b, double c) { return a * b + c; }));
  expect<h>("half_fma_relu", halfWords(),
            of(f16, [](double a, double b, double c) { return std::max(0.0, a * b + c); }));
  expect<h>("half_add_sat", halfWords(),
            of(f16, [](double a, double b, double) { return std::max(0.0, std::min(1.0, a + b)); }));
  expect<h>("half_max_nan", halfWords(), of(f16, [](double a, double b, double) {
              return a == b ? (std::signbit(a) ? b : a) : std::max(a, b);
            }));
  expect<h>("half_sqrt", halfWords(),
            of(f16, [](double a, double, double) { return std::sqrt(std::fabs(a)); }));
  expect<int>("half_to_int", halfWords(), [](h a, h, h) { return int(std::nearbyint(f16.decode(a))); });
  expect<h>("brain_fma", brainWords(), of(bf16, [](double a, double b, double c) { return a * b + c; }));
  expect<h>("brain_add", brainWords(), of(bf16, [](double a, double b, double) { return a + b; }));
  std::vector<h> divisors;
  for (h x : halfWords())
    if (std::fabs(f16.decode(x)) > 0.01 && std::fabs(f16.decode(x)) < 100)
      divisors.push_back(x);
  expect<h>("half_div", divisors, of(f16, [](double a, double b, double) { return a / b; }));
}

TEST_F(Intrinsics, PairsOfHalves) {
  std::vector<uint32_t> halves, brains;
  for (size_t i = 0; i < 80; ++i) {
    halves.push_back(halfWords()[i] | uint32_t(halfWords()[(i * 7 + 3) % 80]) << 16);
    brains.push_back(brainWords()[i] | uint32_t(brainWords()[(i * 7 + 3) % 80]) << 16);
  }
  using u = uint32_t;
  auto both = [](u a, u b, u c, auto f) {
    return f(a & 0xffff, b & 0xffff, c & 0xffff) | f(a >> 16, b >> 16, c >> 16) << 16;
  };
  expect<u>("half2_fma", halves, [&](u a, u b, u c) {
    return both(a, b, c, [](u x, u y, u z) {
      return f16.encode(f16.decode(x) * f16.decode(y) + f16.decode(z), false);
    });
  });
  expect<u>("half2_compare", halves, [&](u a, u b, u c) {
    return both(a, b, c, [](u x, u y, u) { return f16.decode(x) > f16.decode(y) ? 0xffffu : 0u; });
  });
  expect<u>("brain2_max", brains, [&](u a, u b, u c) {
    return both(a, b, c, [](u x, u y, u) { return bf16.decode(x) > bf16.decode(y) ? x : y; });
  });
}

TEST_F(Intrinsics, EightBitFloats) {
  std::vector<float> in = reals<float>();
  for (unsigned i = 0; i < 250; ++i)
    in.push_back(float(e4m3.decode(i)) * (1 + (i % 5 - 2.f) * 0.03125f));
  in.erase(std::remove_if(in.begin(), in.end(), [](float x) { return std::isnan(x); }), in.end());
  expect<uint8_t>("e4m3_from", in, [](float a, float, float) { return uint8_t(e4m3.encode(a, true)); });
  expect<uint8_t>("e5m2_from", in, [](float a, float, float) { return uint8_t(e5m2.encode(a, true)); });
  std::vector<uint8_t> all(256);
  std::iota(all.begin(), all.end(), uint8_t(0));
  all.erase(all.begin() + 0xff), all.erase(all.begin() + 0x7f);
  expect<uint16_t>("e4m3_to", all,
                   [](uint8_t a, uint8_t, uint8_t) { return uint16_t(f16.encode(e4m3.decode(a), false)); });
}

// --- warps and blocks ---

std::vector<int> numbers(size_t n, int modulus) {
  std::vector<int> v(n);
  for (size_t i = 0; i < n; ++i)
    v[i] = int((i * 7919 + 13) % size_t(modulus));
  return v;
}

TEST_F(Intrinsics, ReductionsOfWarps) {
  std::vector<int> in = numbers(32, 1000), want(32);
  int all = 0;
  for (int v : in)
    all |= v;
  uint64_t from = device().upload(in), out = device().upload(want);
  device().run("warp_reduce", {}, from, out);
  EXPECT_EQ(device().download<int>(out, 32),
            std::vector<int>(32, std::accumulate(in.begin(), in.end(), 0) ^
                                     *std::max_element(in.begin(), in.end()) ^ all));
  device().run("warp_segments", {}, from, out);
  for (size_t i = 0; i < 32; ++i)
    for (int other : in)
      want[i] += other % 5 == in[i] % 5 ? other : 0;
  EXPECT_EQ(device().download<int>(out, 32), want);
}

TEST_F(Intrinsics, SmallPrograms) {
  std::vector<int> in = numbers(256, 100000), want = in;
  std::sort(want.begin(), want.end());
  uint64_t data = device().upload(in);
  Device::Shape shape;
  shape.block[0] = 256;
  device().run("bitonic", shape, data);
  EXPECT_EQ(device().download<int>(data, 256), want);

  std::vector<unsigned char> cells(40 * 30), next(cells.size());
  for (size_t i = 0; i < cells.size(); ++i)
    cells[i] = i * 7919 % 11 < 4;
  for (int y = 0; y < 30; ++y)
    for (int x = 0; x < 40; ++x) {
      int n = -cells[size_t(y * 40 + x)];
      for (int d = 0; d < 9; ++d)
        n += cells[size_t((y + d / 3 + 29) % 30 * 40 + (x + d % 3 + 39) % 40)];
      next[size_t(y * 40 + x)] = n == 3 || (n == 2 && cells[size_t(y * 40 + x)]);
    }
  shape = {};
  shape.grid[0] = 3, shape.grid[1] = 2, shape.block[0] = shape.block[1] = 16;
  uint64_t out = device().upload(std::vector<unsigned char>(cells.size()));
  device().run("life", shape, device().upload(cells), out, 40, 30);
  EXPECT_EQ(device().download<unsigned char>(out, cells.size()), next);
}

TEST_F(Intrinsics, Mandelbrot) {
  const int w = 48;
  std::vector<int> want(w * w);
  for (int i = 0; i < w * w; ++i) {
    volatile float cx = float(i % w) * 3.f / w - 2.f, cy = float(i / w) * 2.f / w - 1.f, x = 0, y = 0;
    int &k = want[size_t(i)];
    for (; k < 100; ++k) {
      volatile float xx = x * x, yy = y * y, sum = xx + yy, difference = xx - yy, twice = 2.f * x,
                     product = twice * y;
      if (!(sum <= 4))
        break;
      x = difference + cx, y = product + cy;
    }
  }
  uint64_t out = device().upload(std::vector<int>(w * w));
  Device::Shape shape;
  shape.grid[0] = w * w / 32;
  device().run("mandelbrot", shape, out, w);
  std::vector<int> got = device().download<int>(out, w * w);
  int differ = 0; // cx and cy are contracted there
  for (int i = 0; i < w * w; ++i)
    differ += got[size_t(i)] != want[size_t(i)];
  EXPECT_LT(differ, w * w / 50);
}

TEST_F(Intrinsics, TextAndLongNumbers) {
  const int length = 50;
  std::vector<unsigned char> text(32 * length);
  std::vector<unsigned> want(32), table(256);
  for (size_t i = 0; i < text.size(); ++i)
    text[i] = (unsigned char)(i * 31 + i / 9);
  for (unsigned i = 0; i < 256; ++i) {
    table[i] = i;
    for (int k = 0; k < 8; ++k)
      table[i] = table[i] >> 1 ^ (table[i] & 1 ? 0xedb88320u : 0);
  }
  for (size_t t = 0; t < 32; ++t) {
    unsigned crc = ~0u;
    for (size_t i = 0; i < length; ++i)
      crc = crc >> 8 ^ table[(crc ^ text[t * length + i]) & 0xff];
    want[t] = ~crc;
  }
  uint64_t out = device().upload(std::vector<unsigned>(128));
  device().run("crc32", {}, device().upload(text), length, out);
  EXPECT_EQ(device().download<unsigned>(out, 32), want);

  std::vector<unsigned> a(128), b(128), sum(128);
  for (unsigned i = 0; i < 128; ++i)
    a[i] = i % 5 ? ~0u : i * 2654435761u, b[i] = i % 3 ? i * 40503u : ~0u;
  for (size_t t = 0; t < 128; t += 4) {
    uint64_t carry = 0;
    for (size_t i = t; i < t + 4; ++i)
      sum[i] = unsigned(carry += uint64_t(a[i]) + b[i]), carry >>= 32;
  }
  device().run("big_add", {}, device().upload(a), device().upload(b), out);
  EXPECT_EQ(device().download<unsigned>(out, 128), sum);
}

TEST_F(Intrinsics, Subsequences) {
  const int n = 64;
  std::vector<char> x(n), y(n);
  for (int i = 0; i < n; ++i)
    x[size_t(i)] = char('a' + i * i % 7), y[size_t(i)] = char('a' + i * 3 % 5);
  std::vector<std::vector<int>> best(n + 1, std::vector<int>(n + 1));
  for (size_t i = 0; i < n; ++i)
    for (size_t j = 0; j < n; ++j)
      best[i + 1][j + 1] = x[i] == y[j] ? best[i][j] + 1 : std::max(best[i][j + 1], best[i + 1][j]);
  uint64_t out = device().upload(std::vector<int>(1));
  Device::Shape shape;
  shape.block[0] = n;
  device().run("common_length", shape, device().upload(x), device().upload(y), n, out);
  EXPECT_EQ(device().download<int>(out, 1)[0], best[n][n]);
}

TEST_F(Intrinsics, LocksAndCompaction) {
  uint64_t lock = device().upload(std::vector<unsigned>(2)), counter = device().upload(std::vector<int>(1));
  Device::Shape shape;
  shape.grid[0] = 4, shape.block[0] = 64;
  device().run("ticket_lock", shape, lock, counter);
  int want = 0;
  for (int i = 0; i < 256; ++i)
    want = int(want * 3ll % 1000003 + 1);
  EXPECT_EQ(device().download<int>(counter, 1)[0], want);

  std::vector<int> in = numbers(500, 10000), kept;
  std::copy_if(in.begin(), in.end(), std::back_inserter(kept), [](int v) { return v % 3 == 0; });
  uint64_t out = device().upload(std::vector<int>(500)), count = device().upload(std::vector<int>(1));
  shape.grid[0] = 8;
  device().run("compact", shape, device().upload(in), out, count, 500);
  ASSERT_EQ(device().download<int>(count, 1)[0], int(kept.size()));
  std::vector<int> got = device().download<int>(out, kept.size());
  std::sort(got.begin(), got.end());
  std::sort(kept.begin(), kept.end());
  EXPECT_EQ(got, kept);
}

} // namespace
