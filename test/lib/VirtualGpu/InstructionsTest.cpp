// Values of single instructions, from literal PTX.
#include "test/lib/VirtualGpu/Harness.h"

#include <cmath>

using namespace joule::vgpu;
using namespace joule::vgpu::test;

namespace {

uint32_t u32(const std::string &body) { return valueOf<uint32_t>(body + "\nst.global.u32 [%out], %d;"); }
uint64_t u64(const std::string &body) { return valueOf<uint64_t>(body + "\nst.global.u64 [%out], %ld;"); }
float f32(const std::string &body) { return valueOf<float>(body + "\nst.global.f32 [%out], %z;"); }
double f64(const std::string &body) { return valueOf<double>(body + "\nst.global.f64 [%out], %dz;"); }
uint16_t u16(const std::string &body) { return valueOf<uint16_t>(body + "\nst.global.u16 [%out], %hd;"); }

std::string set(const char *reg, const char *type, const std::string &value) {
  return std::string("mov.") + type + " " + reg + ", " + value + ";\n";
}
/// `instruction` on two 32-bit operands.
uint32_t two(const std::string &instruction, uint32_t a, uint32_t b) {
  return u32(set("%a", "b32", std::to_string(a)) + set("%b", "b32", std::to_string(b)) + instruction +
             " %d, %a, %b;");
}
uint32_t three(const std::string &instruction, uint32_t a, uint32_t b, uint32_t c) {
  return u32(set("%a", "b32", std::to_string(a)) + set("%b", "b32", std::to_string(b)) +
             set("%c", "b32", std::to_string(c)) + instruction + " %d, %a, %b, %c;");
}
std::string hexFloat(float x) {
  char text[16];
  snprintf(text, sizeof text, "0f%08X", bitsAs<uint32_t>(x));
  return text;
}
std::string hexDouble(double x) {
  char text[32];
  snprintf(text, sizeof text, "0d%016llX", (unsigned long long)bitsAs<uint64_t>(x));
  return text;
}
float twoFloats(const std::string &instruction, float a, float b) {
  return f32(set("%x", "f32", hexFloat(a)) + set("%y", "f32", hexFloat(b)) + instruction + " %z, %x, %y;");
}
float oneFloat(const std::string &instruction, float a) {
  return f32(set("%x", "f32", hexFloat(a)) + instruction + " %z, %x;");
}

TEST(Integers, AddSubtractMultiply) {
  EXPECT_EQ(two("add.s32", 0xffffffff, 2), 1u);
  EXPECT_EQ(two("sub.u32", 1, 2), 0xffffffffu);
  EXPECT_EQ(two("mul.lo.u32", 0x10001, 0x10001), 0x20001u);
  EXPECT_EQ(two("mul.hi.u32", 0xffffffff, 0xffffffff), 0xfffffffeu);
  EXPECT_EQ(two("mul.hi.s32", 0xffffffff, 0xffffffff), 0u);
  EXPECT_EQ(two("add.sat.s32", 0x7fffffff, 1), 0x7fffffffu);
  EXPECT_EQ(two("sub.sat.s32", 0x80000000, 1), 0x80000000u);
  EXPECT_EQ(three("mad.lo.s32", 7, 8, 9), 65u);
  EXPECT_EQ(three("mad.hi.u32", 0x80000000, 4, 1), 3u);
  EXPECT_EQ(two("mul24.lo.u32", 0xff000003, 5), 15u);
  EXPECT_EQ(three("sad.s32", 0xfffffffe, 3, 10), 15u);
}

TEST(Integers, DivideAndShift) {
  EXPECT_EQ(two("div.s32", 0xfffffff9, 2), 0xfffffffdu);
  EXPECT_EQ(two("rem.s32", 0xfffffff9, 2), 0xffffffffu);
  EXPECT_EQ(two("div.u32", 7, 0), 0xffffffffu);
  EXPECT_EQ(two("div.s32", 0x80000000, 0xffffffff), 0x80000000u);
  EXPECT_EQ(two("shl.b32", 1, 31), 0x80000000u);
  EXPECT_EQ(two("shl.b32", 1, 32), 0u);
  EXPECT_EQ(two("shr.s32", 0x80000000, 40), 0xffffffffu);
  EXPECT_EQ(two("shr.u32", 0x80000000, 32), 0u);
  EXPECT_EQ(two("min.s32", 0xffffffff, 1), 0xffffffffu);
  EXPECT_EQ(two("max.u32", 0xffffffff, 1), 0xffffffffu);
}

TEST(Integers, Wide) {
  EXPECT_EQ(u64(set("%a", "b32", "-2") + set("%b", "b32", "3") + "mul.wide.s32 %ld, %a, %b;"), uint64_t(-6));
  EXPECT_EQ(u64(set("%a", "b32", "-2") + set("%b", "b32", "3") + "mul.wide.u32 %ld, %a, %b;"),
            0xfffffffeull * 3);
  EXPECT_EQ(u64("mov.b64 %la, -1; mov.b64 %lb, 5; mul.hi.u64 %ld, %la, %lb;"), 4u);
  EXPECT_EQ(u64("mov.b64 %la, 1; mov.b32 %a, 40; shl.b64 %ld, %la, %a;"), 1ull << 40);
  EXPECT_EQ(u64("mov.b32 %a, 7; mov.b32 %b, 9; mov.b64 %la, 1; mad.wide.s32 %ld, %a, %b, %la;"), 64u);
}

TEST(Integers, Carries) {
  EXPECT_EQ(u32("mov.b32 %a, 0xffffffff; add.cc.u32 %b, %a, 1; addc.u32 %d, 5, 0;"), 6u);
  EXPECT_EQ(u32("mov.b32 %a, 0; sub.cc.u32 %b, %a, 1; subc.u32 %d, 5, 0;"), 4u);
  // There is one carry, which a subtraction leaves as its addition of ~b does.
  EXPECT_EQ(u32("mov.b32 %a, 0; sub.cc.u32 %b, %a, 1; addc.u32 %d, 5, 0;"), 5u);
  EXPECT_EQ(u32("mov.b32 %a, 1; sub.cc.u32 %b, %a, 1; addc.u32 %d, 5, 0;"), 6u);
  EXPECT_EQ(u32("mov.b32 %a, 0; add.cc.u32 %b, %a, 0; subc.u32 %d, %a, %a;"), 0xffffffffu);
  EXPECT_EQ(u32("mov.b32 %a, -1; add.cc.u32 %b, %a, 1; subc.u32 %d, %a, %a;"), 0u);
  EXPECT_EQ(u32("mov.b32 %a, 0x80000000; mad.lo.cc.u32 %b, %a, 2, 0; madc.hi.u32 %d, %a, 2, 3;"), 4u);
}

TEST(SharedMemory, HasAPartOfTheSystem) {
  EXPECT_EQ(u32("mov.u32 %a, %reserved_smem_offset_1; st.shared.u32 [%a], 7; ld.shared.u32 %d, [%a];"), 7u);
  EXPECT_EQ(u32("mov.u32 %a, %reserved_smem_offset_begin; mov.u32 %b, %reserved_smem_offset_end; sub.u32 %d, "
                "%b, %a;"),
            1024u);
  EXPECT_EQ(u32("mov.u32 %d, %reserved_smem_offset_cap; mov.u32 %a, %total_smem_size; add.u32 %d, %d, %a;"),
            1024u);
}

TEST(LocalMemory, IsEachLanesOwnByGenericAddressesToo) {
  std::vector<uint32_t> lanes =
      lanesOf<uint32_t>(".local .align 8 .b8 depot[16]; mov.u64 %la, depot; cvta.local.u64 %la, %la;"
                        "st.u32 [%la+4], %lane; ld.u32 %d, [%la+4]; st.global.u32 [%out], %d;");
  for (uint32_t lane = 0; lane < 32; ++lane)
    EXPECT_EQ(lanes[lane], lane);
}

/// f(x) adds what the lane beside has. Lanes come to it after loops of different lengths.
TEST(Calls, LanesThatArriveApartMeet) {
  std::string text = kernelAround(R"(
mul.lo.u32 %a, %lane, 500;
mov.u32 %b, 0;
loop:
add.u32 %b, %b, 1;
setp.lt.u32 %p, %b, %a;
@%p bra loop;
{ .param .b32 x, r;
st.param.b32 [x], %lane;
call.uni (r), f, (x);
ld.param.b32 %d, [r]; }
st.global.u32 [%out], %d;)",
                                  4);
  text.insert(text.find(".visible"), R"(.func (.param .b32 r) f(.param .b32 x)
{
.reg .b32 %a, %b;
ld.param.b32 %a, [x];
shfl.sync.bfly.b32 %b, %a, 1, 31, -1;
add.u32 %b, %b, %a;
st.param.b32 [r], %b;
ret;
}
)");
  Device device(text);
  uint64_t out = device.upload(std::vector<uint32_t>(32));
  device.run("k", {}, out);
  std::vector<uint32_t> lanes = device.download<uint32_t>(out, 32);
  for (uint32_t lane = 0; lane < 32; ++lane)
    EXPECT_EQ(lanes[lane], lane + (lane ^ 1));
}

/// The kernel finds the function at an address that another kernel took; the lowest bits of such are free.
TEST(Calls, GoThroughPointersThatOtherKernelsMade) {
  std::string text = kernelAround(R"(
ld.global.u64 %la, [%out];
and.b64 %lb, %la, 15;
{ .param .b64 r;
proto: .callprototype (.param .b64 _) _ ();
call (r), %la, (), proto;
ld.param.b64 %ld, [r]; }
add.u64 %ld, %ld, %lb;
st.global.u64 [%out], %ld;)",
                                  8);
  text.insert(text.find(".visible"), R"(.func (.param .b64 r) unused() { st.param.b64 [r], 1; ret; }
.func (.param .b64 r) f() { st.param.b64 [r], 7; ret; }
.visible .entry take(.param .u64 out)
{
.reg .b64 %a, %b;
ld.param.u64 %a, [out];
mov.u64 %b, f;
st.global.u64 [%a], %b;
ret;
}
)");
  Device device(text);
  Device::Shape one;
  one.block[0] = 1;
  uint64_t out = device.upload(std::vector<uint64_t>(32));
  device.run("take", one, out);
  device.run("k", one, out);
  EXPECT_EQ(device.download<uint64_t>(out, 1)[0], 7u);
}

TEST(Integers, Bits) {
  EXPECT_EQ(u32("mov.b32 %a, 0xf0; popc.b32 %d, %a;"), 4u);
  EXPECT_EQ(u32("mov.b32 %a, 0xf0; clz.b32 %d, %a;"), 24u);
  EXPECT_EQ(u32("mov.b32 %a, 0; clz.b32 %d, %a;"), 32u);
  EXPECT_EQ(u32("mov.b32 %a, 1; brev.b32 %d, %a;"), 0x80000000u);
  EXPECT_EQ(u32("mov.b32 %a, 0xf0; bfind.u32 %d, %a;"), 7u);
  EXPECT_EQ(u32("mov.b32 %a, 0; bfind.u32 %d, %a;"), 0xffffffffu);
  EXPECT_EQ(u32("mov.b32 %a, -1; bfind.s32 %d, %a;"), 0xffffffffu);
  EXPECT_EQ(u32("mov.b64 %la, 0x100000000; bfind.u64 %d, %la;"), 32u);
  EXPECT_EQ(three("bfe.u32", 0xabcd1234, 8, 8), 0x12u);
  EXPECT_EQ(three("bfe.s32", 0x00000f00, 8, 4), 0xffffffffu);
  EXPECT_EQ(three("bfe.s32", 0x80000000, 31, 8), 0xffffffffu);
  EXPECT_EQ(u32("mov.b32 %a, 0xff; mov.b32 %b, 0; bfi.b32 %d, %a, %b, 4, 6;"), 0x3f0u);
  EXPECT_EQ(three("prmt.b32", 0x33221100, 0x77665544, 0x7531), 0x77553311u);
  EXPECT_EQ(three("prmt.b32", 0x80, 0, 0x8888), 0xffffffffu);
  EXPECT_EQ(u32("lop3.b32 %d, 0xf0f0, 0xff00, 0x00ff, 0x96;"), uint32_t(0xf0f0 ^ 0xff00 ^ 0x00ff));
  EXPECT_EQ(three("shf.l.wrap.b32", 0x80000000, 1, 1), 3u);
  EXPECT_EQ(three("shf.r.clamp.b32", 1, 2, 33), 2u);
  EXPECT_EQ(three("dp4a.s32.s32", 0x01ff0203, 0x01010101, 10), 15u);
  EXPECT_EQ(two("bmsk.clamp.b32", 4, 8), 0xff0u);
}

TEST(Floats, ArithmeticAndRounding) {
  EXPECT_EQ(twoFloats("add.f32", 1.5f, 2.25f), 3.75f);
  EXPECT_EQ(twoFloats("div.rn.f32", 1.f, 3.f), 1.f / 3.f);
  EXPECT_EQ(bitsAs<uint32_t>(twoFloats("add.rp.f32", 1.f, 0x1p-30f)), 0x3f800001u);
  EXPECT_EQ(twoFloats("add.rz.f32", 1.f, 0x1p-30f), 1.f);
  EXPECT_EQ(f32("fma.rn.f32 %z, 0f3F800001, 0f3F800001, 0fBF800002;"), 0x1p-46f);
  EXPECT_EQ(oneFloat("sqrt.rn.f32", 2.f), std::sqrt(2.f));
  EXPECT_EQ(oneFloat("rcp.rn.f32", 3.f), 1.f / 3.f);
  EXPECT_EQ(twoFloats("mul.f32", 0x1p-100f, 0x1p-40f), 0x1p-140f);
  EXPECT_EQ(twoFloats("mul.ftz.f32", 0x1p-100f, 0x1p-40f), 0.f);
  EXPECT_EQ(twoFloats("add.ftz.f32", 0x1p-140f, 0x1p-141f), 0.f);
  EXPECT_EQ(twoFloats("add.sat.f32", 0.75f, 0.75f), 1.f);
  EXPECT_EQ(f64("mov.f64 %dx, " + hexDouble(1.0) + "; div.rn.f64 %dz, %dx, " + hexDouble(3.0) + ";"),
            1.0 / 3.0);
}

TEST(Floats, MinimumAndMaximum) {
  EXPECT_EQ(twoFloats("min.f32", NAN, 2.f), 2.f);
  EXPECT_TRUE(std::isnan(twoFloats("min.NaN.f32", NAN, 2.f)));
  EXPECT_TRUE(std::signbit(twoFloats("min.f32", 0.f, -0.f)));
  EXPECT_FALSE(std::signbit(twoFloats("max.f32", -0.f, 0.f)));
  EXPECT_EQ(oneFloat("abs.f32", -2.f), 2.f);
  EXPECT_EQ(oneFloat("neg.f32", 2.f), -2.f);
  EXPECT_EQ(twoFloats("copysign.f32", -1.f, 3.f), -3.f);
}

TEST(Floats, Approximations) {
  for (float x : {-140.5f, -3.25f, -0.5f, 0.f, 0.1f, 1.f, 10.75f, 127.5f})
    EXPECT_NEAR(oneFloat("ex2.approx.f32", x) / std::exp2(double(x)), 1.0, x < -126 ? 1e-2 : 3e-7) << x;
  EXPECT_EQ(oneFloat("ex2.approx.f32", 200.f), INFINITY);
  EXPECT_EQ(oneFloat("ex2.approx.f32", -200.f), 0.f);
  EXPECT_TRUE(std::isnan(oneFloat("ex2.approx.f32", NAN)));
  EXPECT_FLOAT_EQ(oneFloat("lg2.approx.f32", 10.f), std::log2(10.f));
  EXPECT_FLOAT_EQ(oneFloat("sin.approx.f32", 1.f), std::sin(1.f));
  EXPECT_FLOAT_EQ(oneFloat("tanh.approx.f32", 0.5f), std::tanh(0.5f));
  EXPECT_FLOAT_EQ(oneFloat("rsqrt.approx.f32", 4.f), 0.5f);
}

TEST(Halves, Arithmetic) {
  EXPECT_EQ(u16("mov.b16 %ha, 0x3c00; mov.b16 %hb, 0x3c01; add.f16 %hd, %ha, %hb;"), 0x4000);
  EXPECT_EQ(
      u16("mov.b16 %ha, 0x3c00; mov.b16 %hb, 0x4000; mov.b16 %hc, 0x0001; fma.rn.f16 %hd, %ha, %hb, %hc;"),
      0x4000);
  EXPECT_EQ(u16("mov.b16 %ha, 0x3f80; mov.b16 %hb, 0x4040; mul.bf16 %hd, %ha, %hb;"), 0x4040);
  EXPECT_EQ(u32("mov.b32 %a, 0x3c004000; mov.b32 %b, 0x3c003c00; add.f16x2 %d, %a, %b;"), 0x40004200u);
  EXPECT_EQ(u32("mov.b32 %a, 0x3c004000; mov.b32 %b, 0x40003c00; max.f16x2 %d, %a, %b;"), 0x40004000u);
  EXPECT_EQ(u16("mov.b16 %ha, 0x0001; mov.b16 %hb, 0x0001; add.f16 %hd, %ha, %hb;"), 0x0002);
  EXPECT_EQ(u16("mov.b16 %ha, 0x7bff; add.f16 %hd, %ha, %ha;"), 0x7c00);
}

TEST(Conversions, BetweenIntegers) {
  EXPECT_EQ(u32("mov.b16 %ha, 0xff80; cvt.s32.s8 %d, %ha;"), 0xffffff80u);
  EXPECT_EQ(u32("mov.b16 %ha, 0xff80; cvt.u32.u8 %d, %ha;"), 0x80u);
  EXPECT_EQ(u64("mov.b32 %a, -5; cvt.s64.s32 %ld, %a;"), uint64_t(-5));
  EXPECT_EQ(u32("mov.b32 %a, 300; cvt.sat.u8.u32 %d, %a;"), 255u);
  EXPECT_EQ(u32("mov.b32 %a, 0x1ff; cvt.s8.s32 %d, %a;"), 0xffffffffu);
  EXPECT_EQ(u16("mov.b32 %a, 0x12345; cvt.u16.u32 %hd, %a;"), 0x2345);
}

TEST(Conversions, BetweenFloatsAndIntegers) {
  EXPECT_EQ(u32("mov.f32 %x, 0fC0200000; cvt.rzi.s32.f32 %d, %x;"), uint32_t(-2));
  EXPECT_EQ(u32("mov.f32 %x, 0fC0200000; cvt.rmi.s32.f32 %d, %x;"), uint32_t(-3));
  EXPECT_EQ(u32("mov.f32 %x, 0f40200000; cvt.rni.s32.f32 %d, %x;"), 2u);
  EXPECT_EQ(u32("mov.f32 %x, 0f7FC00000; cvt.rzi.s32.f32 %d, %x;"), 0u);
  EXPECT_EQ(u32("mov.f32 %x, 0f7F000000; cvt.rzi.s32.f32 %d, %x;"), 0x7fffffffu);
  EXPECT_EQ(u32("mov.f32 %x, 0fBF800000; cvt.rzi.u32.f32 %d, %x;"), 0u);
  EXPECT_EQ(f32("mov.b32 %a, -7; cvt.rn.f32.s32 %z, %a;"), -7.f);
  EXPECT_EQ(f32("mov.b32 %a, 16777217; cvt.rp.f32.s32 %z, %a;"), 16777218.f);
  EXPECT_EQ(f32("mov.f32 %x, 0f40200000; cvt.rpi.f32.f32 %z, %x;"), 3.f);
  EXPECT_EQ(f64("mov.b64 %la, -9; cvt.rn.f64.s64 %dz, %la;"), -9.0);
  EXPECT_EQ(u64("mov.f64 %dx, " + hexDouble(1e30) + "; cvt.rzi.u64.f64 %ld, %dx;"), ~0ull);
}

TEST(Conversions, BetweenFloats) {
  EXPECT_EQ(u16("mov.f32 %x, 0f3F802000; cvt.rn.f16.f32 %hd, %x;"), 0x3c01);
  EXPECT_EQ(u16("mov.f32 %x, 0f33800000; cvt.rn.f16.f32 %hd, %x;"), 0x0001);
  EXPECT_EQ(u16("mov.f32 %x, 0f477FF000; cvt.rn.f16.f32 %hd, %x;"), 0x7c00);
  EXPECT_EQ(u16("mov.f32 %x, 0f3F808000; cvt.rn.bf16.f32 %hd, %x;"), 0x3f80);
  EXPECT_EQ(f32("mov.b16 %ha, 0x0001; cvt.f32.f16 %z, %ha;"), 0x1p-24f);
  EXPECT_EQ(f32("mov.b16 %ha, 0xfc00; cvt.f32.f16 %z, %ha;"), -INFINITY);
  EXPECT_EQ(f32("mov.f64 %dx, " + hexDouble(1.0 + 0x1p-40) + "; cvt.rp.f32.f64 %z, %dx;"), 1.f + 0x1p-23f);
  EXPECT_EQ(u32("mov.f32 %x, 0f3F800000; mov.f32 %y, 0f40000000; cvt.rn.f16x2.f32 %d, %x, %y;"), 0x3c004000u);
  EXPECT_EQ(f32("mov.f32 %x, 0f3FC00000; cvt.sat.f32.f32 %z, %x;"), 1.f);
  EXPECT_EQ(u16("mov.f32 %x, 0f43E00000; mov.f32 %y, 0f3F800000; cvt.rn.satfinite.e4m3x2.f32 %hd, %x, %y;"),
            0x7e38);
  EXPECT_EQ(u32("mov.b16 %ha, 0x7e38; cvt.rn.f16x2.e4m3x2 %d, %ha;"), 0x5f003c00u);
}

TEST(Predicates, CompareAndSelect) {
  std::string choose = "selp.u32 %d, 1, 0, %p;";
  EXPECT_EQ(u32("mov.b32 %a, -1; setp.lt.s32 %p, %a, 0;" + choose), 1u);
  EXPECT_EQ(u32("mov.b32 %a, -1; setp.lo.u32 %p, %a, 0;" + choose), 0u);
  EXPECT_EQ(u32("mov.f32 %x, 0f7FC00000; setp.ltu.f32 %p, %x, 0f00000000;" + choose), 1u);
  EXPECT_EQ(u32("mov.f32 %x, 0f7FC00000; setp.ne.f32 %p, %x, 0f00000000;" + choose), 0u);
  EXPECT_EQ(u32("mov.f32 %x, 0f7FC00000; setp.nan.f32 %p, %x, %x;" + choose), 1u);
  EXPECT_EQ(u32("setp.eq.u32 %q, %lane, 5; setp.gt.and.u32 %p|%s, %lane, 3, %q;" + choose), 1u);
  EXPECT_EQ(u32("setp.eq.u32 %q, %lane, 6; setp.gt.or.u32 %p, %lane, 30, !%q;" + choose), 1u);
  EXPECT_EQ(u32("setp.eq.u32 %p, %lane, 5; @!%p mov.b32 %d, 7; @%p mov.b32 %d, 8;"), 8u);
  EXPECT_EQ(u32("set.lt.u32.s32 %d, 1, 2;"), 0xffffffffu);
  EXPECT_EQ(u32("mov.b32 %a, -1; slct.b32.s32 %d, 10, 20, %a;"), 20u);
  EXPECT_EQ(u32("mov.f32 %x, 0f00000001; testp.subnormal.f32 %p, %x;" + choose), 1u);
}

TEST(Moves, PackAndUnpack) {
  EXPECT_EQ(u64("mov.b32 %a, 1; mov.b32 %b, 2; mov.b64 %ld, {%a, %b};"), 0x200000001ull);
  EXPECT_EQ(u32("mov.b64 %la, 0x1234567890abcdef; mov.b64 {%a, %d}, %la;"), 0x12345678u);
  EXPECT_EQ(u16("mov.b32 %a, 0x12345678; mov.b32 {%ha, %hd}, %a;"), 0x1234);
  EXPECT_EQ(u64("mov.b16 %ha, 1; mov.b16 %hb, 2; mov.b16 %hc, 3; mov.b16 %hd, 4; mov.b64 %ld, {%ha, %hb, "
                "%hc, %hd};"),
            0x0004000300020001ull);
}

TEST(Warps, Shuffles) {
  auto down = lanesOf<uint32_t>("shfl.sync.down.b32 %d|%p, %lane, 1, 31, -1; selp.u32 %a, 100, 0, %p; "
                                "add.u32 %d, %d, %a; st.global.u32 [%out], %d;");
  EXPECT_EQ(down[4], 105u);
  EXPECT_EQ(down[31], 31u);
  auto flip = lanesOf<uint32_t>("shfl.sync.bfly.b32 %d, %lane, 1, 31, -1; st.global.u32 [%out], %d;");
  EXPECT_EQ(flip[6], 7u);
  auto segment = lanesOf<uint32_t>("shfl.sync.idx.b32 %d, %lane, 0, 0x181f, -1; st.global.u32 [%out], %d;");
  EXPECT_EQ(segment[13], 8u);
  auto up = lanesOf<uint32_t>("shfl.sync.up.b32 %d, %lane, 2, 0, -1; st.global.u32 [%out], %d;");
  EXPECT_EQ(up[1], 1u);
  EXPECT_EQ(up[9], 7u);
}

TEST(Warps, VotesAndReductions) {
  EXPECT_EQ(u32("setp.lt.u32 %p, %lane, 4; vote.sync.ballot.b32 %d, %p, -1;"), 0xfu);
  EXPECT_EQ(u32("setp.lt.u32 %p, %lane, 4; vote.sync.any.pred %q, %p, -1; selp.u32 %d, 1, 0, %q;"), 1u);
  EXPECT_EQ(u32("setp.lt.u32 %p, %lane, 4; vote.sync.all.pred %q, %p, -1; selp.u32 %d, 1, 0, %q;"), 0u);
  EXPECT_EQ(u32("redux.sync.add.s32 %d, %lane, -1;"), 496u);
  EXPECT_EQ(u32("sub.s32 %a, %lane, 3; redux.sync.min.s32 %d, %a, -1;"), uint32_t(-3));
  EXPECT_EQ(u32("and.b32 %a, %lane, 3; match.any.sync.b32 %d, %a, -1;"), 0x22222222u);
  EXPECT_EQ(u32("setp.lt.u32 %p, %lane, 8; @%p bra IN; bra OUT; IN: activemask.b32 %d; OUT: "), 0xffu);
}

/// What each lane loads where it asks for the word, or the second word of the pair, of lane `of`.
std::vector<uint32_t> loadedFrom(const std::string &of, bool pairs) {
  std::string vector = pairs ? "v2.u32" : "u32", bytes = pairs ? "8" : "4";
  return lanesOf<uint32_t>(".shared .align 8 .b32 words[64];\nmov.u32 %a, words; mad.lo.u32 %c, %lane, " +
                           bytes + ", %a; mul.lo.u32 %d, %lane, %lane;\nst.shared." + vector + " [%c], " +
                           (pairs ? "{%lane, %d}" : "%d") + "; bar.warp.sync -1;\n" + of +
                           " mad.lo.u32 %c, %b, " + bytes + ", %a;\nld.shared." + vector + " " +
                           (pairs ? "{%b, %d}" : "%d") + ", [%c]; st.global.u32 [%out], %d;");
}

TEST(Loads, EightLanesReadOnePlaceARowOrAnything) {
  for (bool pairs : {false, true}) {
    auto onePlace = loadedFrom("shr.u32 %b, %lane, 3;", pairs),
         sameRow = loadedFrom("and.b32 %b, %lane, 7;", pairs);
    auto swappedRows = loadedFrom("xor.b32 %b, %lane, 8;", pairs),
         mixed = loadedFrom("xor.b32 %b, %lane, 5;", pairs);
    for (uint32_t i = 0; i < 32; ++i) {
      EXPECT_EQ(onePlace[i], (i / 8) * (i / 8)) << i;
      EXPECT_EQ(sameRow[i], (i % 8) * (i % 8)) << i;
      EXPECT_EQ(swappedRows[i], (i ^ 8) * (i ^ 8)) << i;
      EXPECT_EQ(mixed[i], (i ^ 5) * (i ^ 5)) << i;
    }
  }
}

TEST(Control, DivergenceMeetsAgain) {
  auto out = lanesOf<uint32_t>(
      "mov.b32 %d, 0; mov.b32 %a, 0;\nLOOP: setp.ge.u32 %p, %a, %lane; @%p bra DONE;\n"
      "add.u32 %d, %d, %a; add.u32 %a, %a, 1; bra LOOP;\nDONE: activemask.b32 %b; setp.ne.u32 %q, %b, -1;\n"
      "@%q mov.b32 %d, 9999; st.global.u32 [%out], %d;");
  for (uint32_t i = 0; i < 32; ++i)
    EXPECT_EQ(out[i], i * (i - 1) / 2) << i;
}

TEST(Control, JumpTable) {
  auto out = lanesOf<uint32_t>(
      "and.b32 %a, %lane, 3;\nts: .branchtargets A, B, C, D;\nbrx.idx %a, ts;\n"
      "A: mov.b32 %d, 10; bra E;\nB: mov.b32 %d, 11; bra E;\nC: mov.b32 %d, 12; bra E;\nD: mov.b32 %d, 13;\n"
      "E: st.global.u32 [%out], %d;");
  for (uint32_t i = 0; i < 32; ++i)
    EXPECT_EQ(out[i], 10 + i % 4);
}

TEST(Control, ASpinLockInsideAWarpEnds) {
  const std::string text =
      ".version 8.3\n.target sm_80\n.address_size 64\n.global .u32 lock;\n.global .u32 total;\n"
      ".visible .entry k(.param .u64 out) {\n.reg .pred %p; .reg .b32 %r<4>; .reg .b64 %rd<2>;\n"
      "AGAIN: atom.global.cas.b32 %r1, [lock], 0, 1; setp.ne.u32 %p, %r1, 0; @%p bra AGAIN;\n"
      "ld.volatile.global.u32 %r2, [total]; add.u32 %r2, %r2, 1; st.volatile.global.u32 [total], %r2;\n"
      "membar.gl; atom.global.exch.b32 %r3, [lock], 0;\nld.param.u64 %rd1, [out]; st.global.u32 [%rd1], %r2; "
      "ret; }\n";
  Device device(text);
  uint64_t out = device.upload(std::vector<uint32_t>(1));
  device.run("k", {{4, 1, 1}, {64, 1, 1}}, out);
  uint64_t total, bytes;
  ASSERT_TRUE(device.module.global("total", total, bytes));
  EXPECT_EQ(device.download<uint32_t>(total, 1)[0], 256u);
}

TEST(Traps, UnknownInstructionsTrapOnlyWhenTheyRun) {
  EXPECT_EQ(u32("mov.b32 %d, 3; bra OVER; frobnicate.b32 %d, %a; OVER:"), 3u);
  Device device(kernelAround("frobnicate.b32 %d, %a;", 4));
  LaunchResult result = device.launch("k", {}, device.upload(std::vector<uint32_t>(32)));
  EXPECT_EQ(result.fault, FaultKind::IllegalInstruction);
  EXPECT_NE(result.message.find("unknown instruction"), std::string::npos) << result.message;
  EXPECT_NE(result.message.find("frobnicate.b32 %d, %a;"), std::string::npos) << result.message;
}

TEST(Traps, SharedMemoryHasAnEnd) {
  Device device(kernelAround(".shared .b32 s[32]; mov.u32 %a, s; shl.b32 %b, %lane, 2; add.u32 %a, %a, %b; "
                             "ld.shared.u32 %d, [%a+4];",
                             4));
  LaunchResult result = device.launch("k", {}, device.upload(std::vector<uint32_t>(32)));
  EXPECT_EQ(result.fault, FaultKind::IllegalAddress);
  EXPECT_NE(result.message.find("thread (31, 0, 0)"), std::string::npos) << result.message;
}

TEST(Traps, ABarrierThatIsNeverReachedIsADeadlock) {
  Device device(
      kernelAround("setp.lt.u32 %p, %lane, 32; @%p bra WAIT; bar.sync 1, 128; WAIT: bar.sync 2, 128;", 4));
  EXPECT_EQ(device.launch("k", {{1, 1, 1}, {64, 1, 1}}, device.upload(std::vector<uint32_t>(64))).fault,
            FaultKind::Deadlock);
}

TEST(Traps, EndlessRecursionIsFound) {
  Device device(".version 8.3\n.target sm_80\n.address_size 64\n.func f() { call f; ret; }\n"
                ".visible .entry k() { call f; ret; }\n");
  EXPECT_EQ(device.launch("k", {}).fault, FaultKind::StackOverflow);
}

TEST(Barriers, NamedAndReducing) {
  auto out =
      lanesOf<uint32_t>("setp.lt.u32 %p, %lane, 7; bar.red.popc.u32 %d, 0, %p; bar.red.or.pred %q, 1, %p;\n"
                        "@%q add.u32 %d, %d, 100; st.global.u32 [%out], %d;");
  for (uint32_t value : out)
    EXPECT_EQ(value, 107u);
}

} // namespace
