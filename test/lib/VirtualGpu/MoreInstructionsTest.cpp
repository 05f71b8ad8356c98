// Values of the rarer instructions, from literal PTX, against a plain model of each.
#include "test/lib/VirtualGpu/Harness.h"

#include <cmath>
#include <functional>

using namespace joule::vgpu;
using namespace joule::vgpu::test;

namespace {

const std::vector<uint32_t> words = {0,          1,          2,          0x7f,       0x80,       0xff,
                                     0x8000,     0xffff,     0x7fffffff, 0x80000000, 0xffffffff, 0x12345678,
                                     0x89abcdef, 0x80ff7f01, 0x00010203, 0xfffefdfc};

/// Lane i computes `instruction` of words i, 5i+3 and 7i+11 (in %a, %b, %c) into %d.
std::vector<uint32_t> ofWords(const std::string &instruction) {
  std::string body;
  const char *const names[] = {"%a", "%b", "%c"};
  const unsigned factors[] = {1, 5, 7}, offsets[] = {0, 3, 11};
  for (int k = 0; k < 3; ++k) {
    body += "mad.lo.u32 %e, %lane, " + std::to_string(factors[k]) + ", " + std::to_string(offsets[k]) +
            ";\nand.b32 %e, %e, 15;\nmov.b32 " + names[k] + ", 0;\n";
    for (size_t i = 0; i < words.size(); ++i)
      body += "setp.eq.u32 %p, %e, " + std::to_string(i) + ";\n@%p mov.b32 " + names[k] + ", " +
              std::to_string(words[i]) + ";\n";
  }
  body += "mov.b32 %d, 0;\nsetp.lt.u32 %p, %a, %b;\nsetp.gt.s32 %q, %b, %c;\n" + instruction +
          "\nst.global.u32 [%out], %d;";
  return lanesOf<uint32_t>(body);
}

using Model = std::function<uint32_t(uint32_t, uint32_t, uint32_t)>;

void expectModel(const std::string &instruction, const Model &model) {
  std::vector<uint32_t> got = ofWords(instruction);
  for (unsigned i = 0; i < 32; ++i) {
    uint32_t a = words[i % 16], b = words[(5 * i + 3) % 16], c = words[(7 * i + 11) % 16];
    EXPECT_EQ(got[i], model(a, b, c)) << instruction << " of " << std::hex << a << ", " << b << ", " << c;
  }
}

int64_t clampTo(int64_t x, int64_t low, int64_t high) { return std::max(low, std::min(high, x)); }
int64_t s32(uint32_t x) { return int32_t(x); }

// --- integers ---

TEST(MoreIntegers, TablesWithPredicates) {
  expectModel("lop3.or.b32 %d|%s, %a, %b, %c, 0x96, %p;\nselp.b32 %d, 1, 0, %s;",
              [](auto a, auto b, auto c) { return uint32_t((a ^ b ^ c) != 0 || a < b); });
  expectModel("lop3.and.b32 _|%s, %a, %b, %c, 0x80, %p;\nselp.b32 %d, 1, 0, %s;",
              [](auto a, auto b, auto c) { return uint32_t((a & b & c) != 0 && a < b); });
}

TEST(MoreIntegers, PackingWithSaturation) {
  for (int size : {2, 4, 8, 16})
    for (bool isSigned : {false, true}) {
      int64_t low = isSigned ? -(1 << (size - 1)) : 0,
              high = isSigned ? (1 << (size - 1)) - 1 : (1 << size) - 1;
      std::string type = (isSigned ? "s" : "u") + std::to_string(size);
      uint32_t mask = (1u << size) - 1;
      expectModel("cvt.pack.sat." + type + (size == 16 ? ".s32 %d, %a, %b;" : ".s32.b32 %d, %a, %b, %c;"),
                  [=](auto a, auto b, auto c) {
                    uint32_t both = (uint32_t(clampTo(s32(a), low, high)) & mask) << size |
                                    (uint32_t(clampTo(s32(b), low, high)) & mask);
                    return size == 16 ? both : both | c << (2 * size);
                  });
    }
}

TEST(MoreIntegers, ReluOfPairs) {
  expectModel("max.relu.s16x2 %d, %a, %b;", [](auto a, auto b, auto) {
    auto one = [](uint32_t x, uint32_t y) {
      return uint32_t(std::max({int16_t(x), int16_t(y), int16_t(0)})) & 0xffff;
    };
    return one(a, b) | one(a >> 16, b >> 16) << 16;
  });
  expectModel("min.relu.s32 %d, %a, %b;",
              [](auto a, auto b, auto) { return uint32_t(std::max<int64_t>(0, std::min(s32(a), s32(b)))); });
}

TEST(MoreIntegers, NamedModesOfPrmt) {
  auto byte = [](uint32_t a, uint32_t b, unsigned i) {
    return uint32_t((uint64_t(b) << 32 | a) >> (8 * (i & 7)) & 0xff);
  };
  auto expectBytes = [&](const char *mode, std::function<unsigned(unsigned, unsigned)> pick) {
    expectModel(std::string("prmt.b32.") + mode + " %d, %a, %b, %c;", [&, pick](auto a, auto b, auto c) {
      uint32_t out = 0;
      for (unsigned i = 0; i < 4; ++i)
        out |= byte(a, b, pick(c & 3, i)) << (8 * i);
      return out;
    });
  };
  expectBytes("f4e", [](unsigned s, unsigned i) { return s + i; });
  expectBytes("b4e", [](unsigned s, unsigned i) { return s - i; });
  expectBytes("rc8", [](unsigned s, unsigned) { return s; });
  expectBytes("ecl", [](unsigned s, unsigned i) { return std::max(s, i); });
  expectBytes("ecr", [](unsigned s, unsigned i) { return std::min(s, i); });
  expectBytes("rc16", [](unsigned s, unsigned i) { return (s & 1) * 2 + i % 2; });
}

// --- video instructions ---

int64_t chosen(uint32_t x, int shift, int width, bool isSigned) {
  uint64_t bits = (x >> shift) & ((1ull << width) - 1);
  return isSigned && bits >> (width - 1) ? int64_t(bits) - (1ll << width) : int64_t(bits);
}

TEST(Video, ScalarForms) {
  expectModel("vadd.s32.u32.s32.sat %d, %a, %b;", [](auto a, auto b, auto) {
    return uint32_t(clampTo(int64_t(a) + s32(b), INT32_MIN, INT32_MAX));
  });
  expectModel("vadd.u32.u32.u32.add %d, %a.b1, %b.h1, %c;",
              [](auto a, auto b, auto c) { return uint32_t((a >> 8 & 0xff) + (b >> 16) + c); });
  expectModel("vadd.s32.s32.s32 %d.b2, %a, %b, %c;",
              [](auto a, auto b, auto c) { return ((a + b) & 0xff) << 16 | (c & 0xff00ffff); });
  expectModel("vadd.s32.s32.s32.sat %d.h1, %a.h0, %b.b3, %c;", [](auto a, auto b, auto c) {
    int64_t sum = chosen(a, 0, 16, true) + chosen(b, 24, 8, true);
    return uint32_t(clampTo(sum, -32768, 32767)) << 16 | (c & 0xffff);
  });
  expectModel("vsub.s32.s32.u32.sat.min %d, %a, %b.b3, %c;", [](auto a, auto b, auto c) {
    return uint32_t(std::min(clampTo(s32(a) - int64_t(b >> 24), INT32_MIN, INT32_MAX), s32(c)));
  });
  expectModel("vabsdiff.u32.s32.s32.add %d, %a, %b, %c;",
              [](auto a, auto b, auto c) { return uint32_t(std::abs(s32(a) - s32(b))) + c; });
  expectModel("vmin.s32.s32.s32.max %d, %a.h0, %b, %c;", [](auto a, auto b, auto c) {
    return uint32_t(std::max(std::min(chosen(a, 0, 16, true), s32(b)), s32(c)));
  });
  expectModel("vmax.u32.u32.u32 %d, %a, %b;", [](auto a, auto b, auto) { return std::max(a, b); });
  expectModel("vshl.u32.u32.u32.clamp %d, %a, %b;",
              [](auto a, auto b, auto) { return b >= 32 ? 0 : a << b; });
  expectModel("vshr.s32.u32.u32.wrap.add %d, %a, %b, %c;",
              [](auto a, auto b, auto c) { return (a >> (b & 31)) + c; });
  expectModel("vmad.s32.s32.u32.po %d, %a, %b.b0, %c;",
              [](auto a, auto b, auto c) { return uint32_t(s32(a) * int64_t(b & 0xff) + s32(c) + 1); });
  expectModel("vmad.u32.u32.u32.sat.shr15 %d, %a.h0, %b.h1, %c;", [](auto a, auto b, auto c) {
    return uint32_t(clampTo((int64_t(a & 0xffff) * (b >> 16) + c) >> 15, 0, 0xffffffffll));
  });
  expectModel("vset.s32.u32.lt %d, %a, %b;",
              [](auto a, auto b, auto) { return uint32_t(s32(a) < int64_t(b)); });
  expectModel("vset.u32.u32.ge.add %d, %a, %b.b1, %c;",
              [](auto a, auto b, auto c) { return uint32_t(a >= (b >> 8 & 0xff)) + c; });
}

/// Parts of `width` bits: op of each pair, saturated perhaps; summed with c, or side by side.
void expectParts(const std::string &name, int width, bool isSigned, bool saturates, bool adds,
                 const std::function<int64_t(int64_t, int64_t)> &f) {
  std::string t = isSigned ? ".s32.s32.s32" : ".u32.u32.u32";
  if (name.substr(0, 4) == "vset")
    t = isSigned ? ".s32.s32" : ".u32.u32";
  size_t dot = name.find('.');
  std::string base = name.substr(0, dot), compare = dot == std::string::npos ? "" : name.substr(dot);
  expectModel(base + std::to_string(32 / width) + t + compare + (saturates ? ".sat" : "") +
                  (adds ? ".add" : "") + " %d, %a, %b, %c;",
              [=](auto a, auto b, auto c) {
                uint32_t mask = width == 16 ? 0xffff : 0xff, out = adds ? c : 0;
                int64_t low = isSigned ? -(1ll << (width - 1)) : 0,
                        high = isSigned ? (1ll << (width - 1)) - 1 : mask;
                for (int i = 0; i < 32; i += width) {
                  int64_t value = f(chosen(a, i, width, isSigned), chosen(b, i, width, isSigned));
                  if (saturates)
                    value = clampTo(value, low, high);
                  bool signedResult = isSigned && base != "vset";
                  out = adds ? out + uint32_t(chosen(uint32_t(value) & mask, 0, width, signedResult))
                             : out | (uint32_t(value) & mask) << i;
                }
                return out;
              });
}

TEST(Video, PackedForms) {
  for (int width : {8, 16})
    for (bool isSigned : {false, true})
      for (bool adds : {false, true}) {
        auto expect = [&](const char *name, bool saturates, std::function<int64_t(int64_t, int64_t)> f) {
          expectParts(name, width, isSigned, saturates, adds, f);
        };
        expect("vadd", false, [](int64_t a, int64_t b) { return a + b; });
        expect("vadd", true, [](int64_t a, int64_t b) { return a + b; });
        expect("vsub", true, [](int64_t a, int64_t b) { return a - b; });
        expect("vabsdiff", false, [](int64_t a, int64_t b) { return std::abs(a - b); });
        expect("vmin", false, [](int64_t a, int64_t b) { return std::min(a, b); });
        expect("vmax", false, [](int64_t a, int64_t b) { return std::max(a, b); });
        expect("vavrg", false, [](int64_t a, int64_t b) { return (a + b + (a + b >= 0)) >> 1; });
        expect("vset.lt", false, [](int64_t a, int64_t b) { return int64_t(a < b); });
        expect("vset.ne", false, [](int64_t a, int64_t b) { return int64_t(a != b); });
      }
}

TEST(Video, ChosenPartsOfPackedForms) {
  expectModel("vsub2.u32.u32.u32 %d.h1, %a.h01, %b, %c;",
              [](auto a, auto b, auto c) { return ((a & 0xffff) - (b >> 16)) << 16 | (c & 0xffff); });
  expectModel("vadd4.u32.u32.u32 %d.b210, %a.b7654, %b, %c;", [](auto, auto b, auto c) {
    uint32_t out = c & 0xff000000;
    for (int i = 0; i < 24; i += 8)
      out |= (2 * (b >> i) & 0xff) << i;
    return out;
  });
}

// --- signed extremes ---

float number(uint32_t bits) { return bitsAs<float>(bits); }
TEST(MoreFloats, ExtremesWithTheProductsSign) {
  expectModel("min.xorsign.abs.f32 %d, %a, %b;", [](auto a, auto b, auto) {
    float x = std::fabs(number(a)), y = std::fabs(number(b));
    if (std::isnan(x) && std::isnan(y))
      return 0x7fffffffu;
    return bitsAs<uint32_t>(std::isnan(x) || y < x ? y : x) | ((a ^ b) & 0x80000000);
  });
  expectModel("max.NaN.xorsign.abs.f32 %d, %a, %b;\nsetp.nan.f32 %s, %d, %d;\n@%s mov.b32 %d, 0x7fffffff;",
              [](auto a, auto b, auto) {
                float x = std::fabs(number(a)), y = std::fabs(number(b));
                if (std::isnan(x) || std::isnan(y))
                  return 0x7fffffffu;
                return bitsAs<uint32_t>(std::max(x, y)) | ((a ^ b) & 0x80000000);
              });
  expectModel("max.xorsign.abs.f16x2 %d, %a, %b;", [](auto a, auto b, auto) {
    auto one = [](uint32_t x, uint32_t y) {
      uint32_t p = x & 0x7fff, q = y & 0x7fff, sign = (x ^ y) & 0x8000;
      if (p > 0x7c00 && q > 0x7c00)
        return 0x7fffu;
      return (p > 0x7c00 ? q : q > 0x7c00 ? p : std::max(p, q)) | sign;
    };
    return one(a & 0xffff, b & 0xffff) | one(a >> 16, b >> 16) << 16;
  });
}

// --- atomics ---

TEST(MoreAtomics, Vectors) {
  Device device(kernelAround(
      "mov.b32 %a, 1.5;\nmov.b32 %b, 2.0;\nmov.u64 %la, %out;\nmul.wide.u32 %lb, %lane, 4;\nsub.u64 %la, "
      "%la, %lb;\nred.global.v4.f32.add [%la], {%a, %b, %a, %b};\n"
      "atom.global.v2.f32.add {%c, %d}, [%la+16], {%a, %b};\n"
      "atom.global.v2.f16x2.max.noftz {%c, %d}, [%la+32], {%lane, %lane};",
      4));
  uint64_t out = device.upload(std::vector<uint32_t>(32));
  device.run("k", {}, out);
  std::vector<float> sums = device.download<float>(out, 6);
  EXPECT_EQ(sums, (std::vector<float>{48, 64, 48, 64, 48, 64}));
  EXPECT_EQ(device.download<uint32_t>(out + 32, 2), (std::vector<uint32_t>{31, 31}));
}

TEST(MoreAtomics, SixteenBytes) {
  const char *text =
      ".version 8.4\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 p)\n{\n.reg .b64 %l<8>; "
      ".reg .b128 %q<4>;\n"
      ".reg .b32 %r<4>; .reg .pred %p;\nld.param.u64 %l0, [p];\nmov.u32 %r0, %tid.x;\ncvt.u64.u32 %l1, %r0;\n"
      "again:\nld.global.v2.u64 {%l2, %l3}, [%l0];\nmov.b128 %q0, {%l2, %l3};\nadd.u64 %l4, %l2, 1;\nadd.u64 "
      "%l5, %l3, %l1;\n"
      "mov.b128 %q1, {%l4, %l5};\natom.global.cas.b128 %q2, [%l0], %q0, %q1;\nmov.b128 {%l4, %l5}, %q2;\n"
      "setp.ne.u64 %p, %l4, %l2;\n@%p bra again;\nsetp.ne.u64 %p, %l5, %l3;\n@%p bra again;\n"
      "mov.b128 %q1, {%l1, %l1};\natom.global.exch.b128 %q3, [%l0+16], %q1;\nret;\n}\n";
  Device device(text);
  uint64_t at = device.upload(std::vector<uint64_t>(4));
  Device::Shape shape;
  shape.grid[0] = 4;
  device.run("k", shape, at);
  std::vector<uint64_t> got = device.download<uint64_t>(at, 4);
  EXPECT_EQ(got[0], 128u);
  EXPECT_EQ(got[1], 4u * 496);
  EXPECT_EQ(got[2], got[3]);
}

TEST(MoreAtomics, ExtremesOfHalves) {
  EXPECT_EQ(valueOf<uint32_t>("mov.b32 %a, 0x3c00bc00;\nst.global.u32 [%out], %a;\nmov.b32 %b, 0x4000c000;\n"
                              "atom.global.min.noftz.f16x2 %d, [%out], %b;"),
            0x3c00c000u);
}

// --- lanes that wait for each other ---

TEST(IndependentLanes, ALockInsideOfAWarp) {
  Device device(
      ".version 8.3\n.target sm_70\n.address_size 64\n.visible .entry k(.param .u64 p)\n{\n.reg .b64 %l; "
      ".reg .b32 %r<4>; "
      ".reg .pred %p;\nld.param.u64 %l, [p];\nspin:\natom.global.cas.b32 %r0, [%l], 0, 1;\n"
      "setp.ne.s32 %p, %r0, 0;\n@%p bra spin;\nld.volatile.global.u32 %r1, [%l+4];\nadd.u32 %r1, %r1, 1;\n"
      "st.volatile.global.u32 [%l+4], %r1;\nmembar.gl;\natom.global.exch.b32 %r0, [%l], 0;\nret;\n}\n");
  uint64_t at = device.upload(std::vector<uint32_t>(2));
  Device::Shape shape;
  shape.grid[0] = 3, shape.block[0] = 64;
  device.run("k", shape, at);
  EXPECT_EQ(device.download<uint32_t>(at, 2), (std::vector<uint32_t>{0, 192}));
}

TEST(IndependentLanes, OneLaneWaitsForAnother) {
  // Odd lanes wait for a word that even lanes, further down, write.
  std::vector<uint32_t> got = lanesOf<uint32_t>(
      "mov.u64 %la, %out;\nand.b32 %a, %lane, 1;\nsetp.eq.u32 %p, %a, 0;\n@%p bra even;\n"
      "wait: ld.volatile.global.u32 %b, [%la+-4];\nsetp.eq.u32 %q, %b, 0;\n@%q bra wait;\n"
      "add.u32 %b, %b, 1;\nst.global.u32 [%out], %b;\nbra done;\neven: add.u32 %c, %lane, 100;\n"
      "st.volatile.global.u32 [%out], %c;\ndone:");
  for (uint32_t i = 0; i < 32; ++i)
    EXPECT_EQ(got[i], 100 + i / 2 * 2 + i % 2) << i;
}

// --- local memory that grows, and functions of the device ---

TEST(LocalMemory, GrowsAndShrinks) {
  EXPECT_EQ(valueOf<uint32_t>(
                "stacksave.u64 %ld;\nmov.u64 %la, 64;\nalloca.u64 %lb, %la;\nalloca.u64 %lc, %la, 32;\n"
                "st.local.u32 [%lb], %lane;\nst.local.u32 [%lc+60], 7;\nld.local.u32 %a, "
                "[%lb];\nld.local.u32 %b, [%lc+60];\n"
                "mad.lo.u32 %d, %a, 100, %b;\nstackrestore.u64 %ld;\nalloca.u64 %ld, %la;\nsetp.eq.u64 %p, "
                "%ld, %lb;\n"
                "selp.b32 %a, 10000, 0, %p;\nadd.u32 %d, %d, %a;\nst.global.u32 [%out], %d;"),
            10507u);
}

TEST(LocalMemory, TooMuchFaults) {
  Device device(kernelAround("mov.u64 %la, 0x10000000;\nalloca.u64 %lb, %la;", 4));
  uint64_t out = device.upload(std::vector<uint32_t>(32));
  EXPECT_EQ(device.launch("k", {}, out).fault, FaultKind::StackOverflow);
}

// --- parts of registers, and braces ---

TEST(Text, PartsOfRegistersBelongToVideoInstructions) {
  Device device(kernelAround("add.u32 %d, %a.b1, %b;", 4));
  uint64_t out = device.upload(std::vector<uint32_t>(32));
  EXPECT_EQ(device.launch("k", {}, out).fault, FaultKind::IllegalInstruction);
}

TEST(Text, LabelsInBracesAreTheirOwn) {
  EXPECT_EQ(
      valueOf<uint32_t>("mov.b32 %d, 0;\n{ bra next; add.u32 %d, %d, 1; next: add.u32 %d, %d, 10; }\n"
                        "{ bra next; add.u32 %d, %d, 100; { bra next; next: add.u32 %d, %d, 1000; } next: }\n"
                        "st.global.u32 [%out], %d;"),
      10u);
}

TEST(Text, FunctionsWithParametersInRegisters) {
  Device device(
      ".version 8.3\n.target sm_70\n.address_size 64\n"
      ".func (.reg .b32 %sum, .reg .b64 %wide) f(.reg .b32 %x, .reg .b64 %y, .reg .b16 %h)\n{\n.reg .b32 %t; "
      ".reg .b64 %u;\n"
      "cvt.u32.u16 %t, %h;\nadd.u32 %sum, %x, %t;\ncvt.u64.u32 %u, %x;\nmul.lo.u64 %wide, %u, %y;\nret;\n}\n"
      ".visible .entry k(.param .u64 p)\n{\n.reg .b64 %l<6>; .reg .b32 %r<4>; .reg .b16 %h0;\nld.param.u64 "
      "%l0, [p];\n"
      "mov.u32 %r0, %tid.x;\nmul.wide.u32 %l1, %r0, 16;\nadd.u64 %l0, %l0, %l1;\nmov.u16 %h0, 7;\nmov.u64 "
      "%l2, 1000;\n"
      "call (%r1, %l3), f, (%r0, %l2, %h0);\ncall (%r2, %l4), f, (%r1, 3, %h0);\n"
      "st.global.u32 [%l0], %r1;\nst.global.u32 [%l0+4], %r2;\nadd.u64 %l3, %l3, %l4;\nst.global.u64 "
      "[%l0+8], %l3;\nret;\n}\n");
  uint64_t at = device.upload(std::vector<uint64_t>(64));
  device.run("k", {}, at);
  std::vector<uint32_t> got = device.download<uint32_t>(at, 128);
  for (uint32_t i = 0; i < 32; ++i) {
    EXPECT_EQ(got[4 * i], i + 7) << i;
    EXPECT_EQ(got[4 * i + 1], i + 14) << i;
    EXPECT_EQ(got[4 * i + 2], 1000 * i + 3 * (i + 7)) << i;
  }
}

TEST(Text, BytesOfAddresses) {
  Device device(
      ".version 8.3\n.target sm_70\n.address_size 64\n.global .u32 value = 42;\n"
      ".global .align 8 .b8 pieces[8] = {0xFF(value), 0xFF00(value), 0xFF0000(value), 0xFF000000(value), "
      "0xFF00000000(value), "
      "0xFF0000000000(value), 0xFF000000000000(value), 0xFF00000000000000(value)};\n"
      ".visible .entry k(.param .u64 p)\n{\n.reg .b64 %l<3>; .reg .b32 %r;\nld.param.u64 %l0, [p];\n"
      "ld.global.u64 %l1, [pieces];\nld.global.u32 %r, [%l1];\nst.global.u32 [%l0], %r;\nret;\n}\n");
  uint64_t at = device.upload(std::vector<uint32_t>(1));
  device.run("k", {}, at);
  EXPECT_EQ(device.download<uint32_t>(at, 1)[0], 42u);
}

TEST(Text, Aliases) {
  Device device(
      ".version 8.3\n.target sm_70\n.address_size 64\n.func (.param .b32 r) f(.param .b32 x)\n{\n.reg .b32 "
      "%a;\n"
      "ld.param.b32 %a, [x];\nadd.u32 %a, %a, 5;\nst.param.b32 [r], %a;\nret;\n}\n.func (.param .b32 r) "
      "g(.param .b32 x);\n"
      ".alias g, f;\n.visible .entry k(.param .u64 p)\n{\n.reg .b64 %l; .reg .b32 %a;\nld.param.u64 %l, "
      "[p];\n"
      "{ .param .b32 in, out;\nst.param.b32 [in], 37;\ncall.uni (out), g, (in);\nld.param.b32 %a, [out];\n}\n"
      "st.global.u32 [%l], %a;\nret;\n}\n");
  uint64_t at = device.upload(std::vector<uint32_t>(1));
  device.run("k", {}, at);
  EXPECT_EQ(device.download<uint32_t>(at, 1)[0], 42u);
}

TEST(Text, SpacesOfAddresses) {
  // The own shared memory, that of a further block of the cluster, and global memory.
  const char *const spaces[] = {"shared", "shared::cta", "shared::cluster", "global", "local"};
  const uint32_t want[] = {1, 1, 3, 4, 0};
  for (int i = 0; i < 5; ++i) {
    std::string test = std::string("isspacep.") + spaces[i];
    EXPECT_EQ(valueOf<uint32_t>(".shared .b32 s;\nmov.u64 %la, s;\ncvta.shared.u64 %la, %la;\nmov.b32 %a, "
                                "3;\nmapa.u64 %lb, %la, %a;\n" +
                                test + " %p, %la;\nselp.b32 %d, 1, 0, %p;\n" + test +
                                " %p, %lb;\n@%p add.u32 %d, %d, 2;\n" + test +
                                " %p, %out;\n@%p add.u32 %d, %d, 4;\nst.global.u32 [%out], %d;"),
              want[i])
        << spaces[i];
  }
}

} // namespace
