// Exact matrix products against a plain model: every number is an integer times a power of two, sums are of
// 128 bits.
#include "lib/VirtualGpu/MatrixRule.h"
#include "test/lib/VirtualGpu/Harness.h"

#include <cmath>
#include <random>

namespace joule::vgpu::test {
namespace {

// --- the model ---

struct Format {
  int exponentBits, fractionBits;
  bool hasInfinity; // e4m3 has none, and one NaN
};
constexpr Format f16{5, 10, true}, bf16{8, 7, true}, tf32{8, 10, true}, f32{8, 23, true}, e4m3{4, 3, false},
    e5m2{5, 2, true};

/// significand * 2^(exponent - fractionBits), the exponent at least the format's smallest.
struct Number {
  enum Kind { Finite, Infinite, NotANumber } kind = Finite;
  bool negative = false;
  int64_t significand = 0;
  int exponent = 0;
};

Number decode(const Format &f, uint32_t bits) {
  Number n;
  uint32_t fraction = bits & ((1u << f.fractionBits) - 1), top = (1u << f.exponentBits) - 1;
  uint32_t exponent = bits >> f.fractionBits & top;
  n.negative = bits >> (f.exponentBits + f.fractionBits) & 1;
  if (exponent == top && (f.hasInfinity || fraction == (1u << f.fractionBits) - 1)) {
    n.kind = fraction ? Number::NotANumber : Number::Infinite;
    return n;
  }
  n.significand = int64_t(fraction) + (exponent ? int64_t(1) << f.fractionBits : 0);
  n.exponent = int(exponent ? exponent : 1) - int(top / 2);
  return n;
}

struct Term {
  __int128 significand; // with its sign; in units of 2^(exponent - fractionBits)
  int exponent, fractionBits;
};

constexpr uint32_t notANumber = 0x7fffffff, infinity = 0x7f800000;

/// The bits of an f32 that holds the sum of the terms, in units of 2^(unit), rounded as `rule` says.
uint32_t roundModel(__int128 sum, int unit, const MatrixRule &rule) {
  bool negative = sum < 0, half = rule.resultFraction == 10;
  unsigned __int128 magnitude = static_cast<unsigned __int128>(negative ? -sum : sum);
  int top = -1;
  for (int i = 0; i < 127; ++i)
    if (magnitude >> i & 1)
      top = i;
  if (top < 0)
    return 0;
  int exponent = std::max(top + unit, half ? -14 : -126);
  int drop = exponent - rule.resultFraction - unit; // bits to drop
  unsigned __int128 kept = drop > 0 ? magnitude >> drop : magnitude << -drop;
  if (half && drop > 0) {
    unsigned __int128 rest = magnitude & ((static_cast<unsigned __int128>(1) << drop) - 1);
    unsigned __int128 middle = static_cast<unsigned __int128>(1) << (drop - 1);
    if (rest > middle || (rest == middle && (kept & 1)))
      ++kept;
  }
  double value = std::ldexp(double(uint64_t(kept)), exponent - rule.resultFraction);
  if (value >= (half ? 65536.0 : 0x1p128))
    return infinity | uint32_t(negative) << 31;
  return bitsAs<uint32_t>(float(negative ? -value : value));
}

/// One step: c and the products of `count` pairs.
uint32_t addModel(const MatrixRule &rule, const Format &f, const uint32_t *a, const uint32_t *b, int count,
                  uint32_t c) {
  Number addend = decode(f32, c);
  bool nan = addend.kind == Number::NotANumber, plus = false, minus = false;
  if (addend.kind == Number::Infinite)
    (addend.negative ? minus : plus) = true;
  std::vector<Term> terms;
  auto add = [&](__int128 significand, int exponent, int fractionBits) {
    terms.push_back({significand, significand ? exponent : -126, fractionBits});
  };
  if (addend.kind == Number::Finite)
    add(addend.negative ? -addend.significand : addend.significand, addend.exponent, 23);
  for (int k = 0; k < count; ++k) {
    Number x = decode(f, a[k]), y = decode(f, b[k]);
    bool negative = x.negative != y.negative;
    bool xZero = x.kind == Number::Finite && !x.significand,
         yZero = y.kind == Number::Finite && !y.significand;
    bool xInfinite = x.kind == Number::Infinite, yInfinite = y.kind == Number::Infinite;
    if (x.kind == Number::NotANumber || y.kind == Number::NotANumber || (xInfinite && yZero) ||
        (yInfinite && xZero))
      nan = true;
    else if (xInfinite || yInfinite)
      (negative ? minus : plus) = true;
    else
      add((negative ? -1 : 1) * __int128(x.significand) * y.significand, x.exponent + y.exponent,
          2 * f.fractionBits);
  }
  if (nan || (plus && minus))
    return notANumber;
  if (plus || minus)
    return infinity | uint32_t(minus) << 31;
  int most = -126;
  for (const Term &t : terms)
    most = std::max(most, t.exponent);
  __int128 sum = 0;
  for (const Term &t : terms) {
    int shift = t.exponent - t.fractionBits - (most - rule.fraction);
    unsigned __int128 magnitude =
        static_cast<unsigned __int128>(t.significand < 0 ? -t.significand : t.significand);
    magnitude = shift >= 0 ? magnitude << shift : shift < -100 ? 0 : magnitude >> -shift;
    sum += t.significand < 0 ? -__int128(magnitude) : __int128(magnitude);
  }
  return roundModel(sum, most - rule.fraction, rule);
}

uint32_t productModel(const MatrixRule &rule, const Format &f, const uint32_t *a, const uint32_t *b, int k,
                      uint32_t c) {
  int step = std::min<int>(rule.step, k);
  for (int first = 0; first < k; first += step)
    c = addModel(rule, f, a + first, b + first, step, c);
  return c;
}

float widen(const Format &f, uint32_t bits) {
  Number n = decode(f, bits);
  float value = n.kind == Number::NotANumber ? NAN
                : n.kind == Number::Infinite ? INFINITY
                                             : std::ldexp(float(n.significand), n.exponent - f.fractionBits);
  return n.negative ? -value : value;
}

// --- inputs ---

/// Numbers of one kind each: everything, near one, wide apart, small, special.
class Source {
public:
  explicit Source(uint32_t seed) : random(seed) {}

  uint32_t number(const Format &f, int kind) {
    uint32_t bits = 1 + f.exponentBits + f.fractionBits, top = (1u << f.exponentBits) - 1;
    uint32_t word = uint32_t(random()) & (bits == 32 ? ~0u : (1u << bits) - 1);
    uint32_t fraction = (1u << f.fractionBits) - 1, sign = 1u << (bits - 1);
    uint32_t exponent = word >> f.fractionBits & top;
    if (kind == 0 || (kind == 4 && word % 61 == 0)) // anything, infinities and NaNs too
      return word;
    if (kind == 1) // cancellation: exponents near one's
      exponent = top / 2 - word % 3;
    else if (kind == 2) // far apart
      exponent = word % 5 == 0 ? 1 + word % (top - 1) : std::min(exponent, top - 2);
    else if (kind == 3) // subnormal, zero and the smallest
      exponent = word % 4 == 0 ? 0 : word % 4;
    else
      exponent = std::min(std::max(exponent, 1u), top - 1);
    return (word & (sign | fraction)) | exponent << f.fractionBits;
  }

private:
  std::mt19937 random;
};

struct Case {
  const char *name;
  int architecture;
  MatrixElement element;
  Format format;
  bool half;
  MatrixUnit unit;
  int m, n, k;
};

const Case cases[] = {
    {"Volta f16", 70, MatrixElement::F16, f16, false, MatrixUnit::Warp, 16, 8, 8},
    {"Turing f16", 75, MatrixElement::F16, f16, false, MatrixUnit::Warp, 16, 8, 8},
    {"Turing f16 to f16", 75, MatrixElement::F16, f16, true, MatrixUnit::Warp, 16, 8, 8},
    {"Ampere f16", 80, MatrixElement::F16, f16, false, MatrixUnit::Warp, 16, 8, 16},
    {"Ampere f16 to f16", 80, MatrixElement::F16, f16, true, MatrixUnit::Warp, 16, 8, 16},
    {"Ampere bf16", 80, MatrixElement::BF16, bf16, false, MatrixUnit::Warp, 16, 8, 16},
    {"Ampere tf32", 80, MatrixElement::TF32, tf32, false, MatrixUnit::Warp, 16, 8, 8},
    {"Ada e4m3", 89, MatrixElement::E4M3, e4m3, false, MatrixUnit::Warp, 16, 8, 32},
    {"Ada e5m2 to f16", 89, MatrixElement::E5M2, e5m2, true, MatrixUnit::Warp, 16, 8, 32},
    {"Hopper f16", 90, MatrixElement::F16, f16, false, MatrixUnit::Warp, 16, 8, 16},
    {"Hopper bf16, wide", 90, MatrixElement::BF16, bf16, false, MatrixUnit::Warpgroup, 64, 24, 16},
    {"Hopper tf32, wide", 90, MatrixElement::TF32, tf32, false, MatrixUnit::Warpgroup, 64, 8, 8},
    {"Hopper e4m3, wide", 90, MatrixElement::E4M3, e4m3, false, MatrixUnit::Warpgroup, 64, 16, 32},
    {"Hopper e5m2 to f16, wide", 90, MatrixElement::E5M2, e5m2, true, MatrixUnit::Warpgroup, 64, 8, 32},
    {"Blackwell e4m3", 100, MatrixElement::E4M3, e4m3, false, MatrixUnit::Warp, 16, 8, 32},
    {"Blackwell f16", 120, MatrixElement::F16, f16, true, MatrixUnit::Warp, 16, 8, 16},
};

std::vector<std::pair<const char *, ExactMultiply>> implementations() {
  std::vector<std::pair<const char *, ExactMultiply>> all = {{"baseline", baseline::exactMultiply()}};
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
    all.emplace_back("avx2", avx2::exactMultiply());
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
      __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl"))
    all.emplace_back("avx512", avx512::exactMultiply());
  return all;
}

/// One product of random matrices of one kind, through all implementations.
void compareProduct(const Case &test, int kind, Source &source) {
  MatrixRule rule = matrixRule(test.architecture, test.element, test.half, test.unit);
  int m = test.m, n = test.n, k = test.k;
  std::vector<uint32_t> a(size_t(m * k)), b(size_t(n * k));
  std::vector<float> wideA(a.size()), wideB(b.size()), c(size_t(m * n)), d(c.size());
  for (int i = 0; i < m; ++i)
    for (int x = 0; x < k; ++x)
      wideA[size_t(x * m + i)] = widen(test.format, a[size_t(i * k + x)] = source.number(test.format, kind));
  for (size_t i = 0; i < b.size(); ++i)
    wideB[i] = widen(test.format, b[i] = source.number(test.format, kind));
  for (float &x : c)
    x = test.half ? widen(f16, source.number(f16, kind)) : bitsAs<float>(source.number(f32, kind));
  for (auto &[name, multiply] : implementations()) {
    multiply(rule, m, n, k, wideA.data(), wideB.data(), c.data(), d.data());
    for (int j = 0; j < n; ++j)
      for (int i = 0; i < m; ++i) {
        size_t at = size_t(j * m + i);
        uint32_t want =
            productModel(rule, test.format, &a[size_t(i * k)], &b[size_t(j * k)], k, bitsAs<uint32_t>(c[at]));
        ASSERT_EQ(bitsAs<uint32_t>(d[at]), want)
            << name << ", " << test.name << ", inputs of kind " << kind << ", row " << i << ", column " << j;
      }
  }
}

TEST(Exact, ProductsEqualTheModel) {
  Source source(1);
  size_t outputs = 0;
  for (const Case &test : cases)
    for (int kind = 0; kind < 5; ++kind)
      for (int turn = 0; turn < 1024 / (test.m * test.n) + 1 && !testing::Test::HasFatalFailure(); ++turn) {
        compareProduct(test, kind, source);
        outputs += size_t(test.m * test.n);
      }
  EXPECT_GT(outputs, 80000u);
}

// --- known sums ---

float onePlus(int architecture, std::vector<float> products, float c) {
  MatrixRule rule = matrixRule(architecture, MatrixElement::F16, false, MatrixUnit::Warp);
  std::vector<float> a(16 * 16), b(16), d(16), all(16, c);
  for (size_t k = 0; k < products.size(); ++k)
    a[k * 16] = products[k], b[k] = 1;
  baseline::exactMultiply()(rule, 16, 1, 16, a.data(), b.data(), all.data(), d.data());
  return d[0];
}

/// 1 + 2^-24 (four times) depends on how many bits each generation keeps below the largest term.
TEST(Exact, GenerationsDiffer) {
  std::vector<float> tiny(4, 0x1p-12f * 0x1p-12f);
  EXPECT_EQ(onePlus(70, tiny, 1), 1);
  EXPECT_EQ(onePlus(80, tiny, 1), 1 + 0x1p-22f);
  EXPECT_EQ(onePlus(90, tiny, 1), 1 + 0x1p-22f);
  std::vector<float> tinier(8, 0x1p-24f * 0.5f);
  EXPECT_EQ(onePlus(80, tinier, 1), 1);
  EXPECT_EQ(onePlus(90, tinier, 1), 1 + 0x1p-22f);
}

/// Ampere's first eight products are rounded before the last eight come: 1024 + 2^-14 has too many bits for
/// f32.
TEST(Exact, AmpereSumsInHalves) {
  std::vector<float> values(16, 0);
  values[0] = 1024, values[1] = 0x1p-14f, values[8] = -1024;
  EXPECT_EQ(onePlus(80, values, 0), 0);
  EXPECT_EQ(onePlus(90, values, 0), 0x1p-14f);
}

// --- through PTX ---

/// mma.sync on one warp: every lane's registers come from `words`, its sums go to `out`.
std::string productKernel(const std::string &type, int registersOfA, int registersOfB) {
  std::string text =
      ".version 8.3\n.target sm_80\n.address_size 64\n"
      ".visible .entry k(.param .u64 in, .param .u64 out)\n{\n.reg .b32 %a<8>, %lane;\n.reg .f32 "
      "%d<4>, %c<4>;\n.reg .b64 %in, %out, %at;\n"
      "ld.param.u64 %in, [in];\nld.param.u64 %out, [out];\nmov.u32 %lane, %tid.x;\n"
      "mul.wide.u32 %at, %lane, 40;\nadd.u64 %in, %in, %at;\n"
      "mul.wide.u32 %at, %lane, 16;\nadd.u64 %out, %out, %at;\n";
  int offset = 0;
  for (int i = 0; i < registersOfA + registersOfB; ++i, offset += 4)
    text += "ld.global.b32 %a" + std::to_string(i) + ", [%in+" + std::to_string(offset) + "];\n";
  for (int i = 0; i < 4; ++i, offset += 4)
    text += "ld.global.f32 %c" + std::to_string(i) + ", [%in+" + std::to_string(offset) + "];\n";
  auto list = [](int first, int count) {
    std::string all;
    for (int i = 0; i < count; ++i)
      all += (i ? ", %a" : "{%a") + std::to_string(first + i);
    return all + "}";
  };
  text += "mma.sync.aligned." + type + " {%d0, %d1, %d2, %d3}, " + list(0, registersOfA) + ", " +
          list(registersOfA, registersOfB) + ", {%c0, %c1, %c2, %c3};\n";
  return text + "st.global.v4.f32 [%out], {%d0, %d1, %d2, %d3};\nret;\n}\n";
}

TEST(Exact, MmaTakesFragmentsApart) {
  DecodeOptions options;
  options.exactArchitecture = 80;
  Device device(productKernel("m16n8k16.row.col.f32.f16.f16.f32", 4, 2), options);
  Source source(2);
  std::vector<uint32_t> in(320);
  for (uint32_t &word : in)
    word = source.number(f16, 2) | source.number(f16, 2) << 16;
  for (int l = 0; l < 32; ++l)
    for (int i = 6; i < 10; ++i)
      in[size_t(l * 10 + i)] = source.number(f32, 1);
  uint64_t from = device.upload(in), to = device.upload(std::vector<uint32_t>(128));
  device.run("k", {}, from, to);
  std::vector<uint32_t> out = device.download<uint32_t>(to, 128);
  MatrixRule rule = matrixRule(80, MatrixElement::F16, false, MatrixUnit::Warp);
  auto element = [&](int lane, int registerOf, int half) {
    return in[size_t(lane * 10 + registerOf)] >> 16 * half & 0xffff;
  };
  for (int i = 0; i < 16; ++i)
    for (int j = 0; j < 8; ++j) {
      uint32_t a[16], b[16];
      for (int k = 0; k < 16; ++k) {
        a[k] = element(i % 8 * 4 + k % 8 / 2, i / 8 + k / 8 * 2, k % 2);
        b[k] = element(j * 4 + k % 8 / 2, 4 + k / 8, k % 2);
      }
      int lane = i % 8 * 4 + j / 2, place = i / 8 * 2 + j % 2;
      EXPECT_EQ(out[size_t(lane * 4 + place)],
                productModel(rule, f16, a, b, 16, in[size_t(lane * 10 + 6 + place)]))
          << "row " << i << ", column " << j;
    }
}

} // namespace
} // namespace joule::vgpu::test
