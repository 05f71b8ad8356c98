// The generator of random kernels.
#include "test/lib/VirtualGpu/Jit/RandomPtx.h"

#include <random>
#include <vector>

namespace joule::vgpu::test {
namespace {

/// An instruction: its spelling, and a letter per operand for the kind of register: r 32 bits, l 64 bits, h
/// 16 bits, f f32, d f64, p predicate, i a small constant. The first is the result.
struct Form {
  const char *name, *operands;
};

const Form forms[] = {
    {"add.s32", "rrr"},
    {"sub.s32", "rrr"},
    {"mul.lo.s32", "rrr"},
    {"mul.hi.s32", "rrr"},
    {"mul.hi.u32", "rrr"},
    {"mad.lo.s32", "rrrr"},
    {"min.s32", "rrr"},
    {"max.u32", "rrr"},
    {"div.s32", "rrr"},
    {"div.u32", "rrr"},
    {"rem.s32", "rrr"},
    {"rem.u32", "rrr"},
    {"abs.s32", "rr"},
    {"neg.s32", "rr"},
    {"and.b32", "rrr"},
    {"or.b32", "rrr"},
    {"xor.b32", "rrr"},
    {"not.b32", "rr"},
    {"cnot.b32", "rr"},
    {"shl.b32", "rri"},
    {"shr.u32", "rri"},
    {"shr.s32", "rri"},
    {"shl.b32", "rrr"},
    {"shr.s32", "rrr"},
    {"shr.u32", "rrr"},
    {"popc.b32", "rr"},
    {"clz.b32", "rr"},
    {"brev.b32", "rr"},
    {"sad.u32", "rrrr"},
    {"mul24.lo.s32", "rrr"},
    {"lop3.b32", "rrrrt"},
    {"shf.l.wrap.b32", "rrrr"},
    {"shf.r.clamp.b32", "rrrr"},
    {"prmt.b32", "rrrr"},
    {"bfe.u32", "rrii"},
    {"bfe.s32", "rrii"},
    {"bfi.b32", "rrrii"},
    {"dp4a.s32.s32", "rrrr"},
    {"bfind.u32", "rr"},
    {"selp.b32", "rrrp"},
    {"slct.b32.s32", "rrrr"},
    {"mov.b32", "rr"},
    {"add.s32", "rri"},
    {"mul.lo.s32", "rri"},
    {"and.b32", "rri"},
    {"mad.lo.s32", "rrir"},
    {"add.s64", "lll"},
    {"sub.s64", "lll"},
    {"mul.lo.s64", "lll"},
    {"mul.wide.s32", "lrr"},
    {"mul.wide.u32", "lrr"},
    {"mul.wide.s32", "lri"},
    {"mad.wide.s32", "lrrl"},
    {"mad.wide.u32", "lrrl"},
    {"and.b64", "lll"},
    {"or.b64", "lll"},
    {"shl.b64", "lli"},
    {"shr.u64", "lli"},
    {"shr.s64", "lli"},
    {"min.s64", "lll"},
    {"max.u64", "lll"},
    {"popc.b64", "rl"},
    {"clz.b64", "rl"},
    {"div.u64", "lll"},
    {"rem.s64", "lll"},
    {"mul.hi.u64", "lll"},
    {"cvt.s64.s32", "lr"},
    {"cvt.u64.u32", "lr"},
    {"cvt.u32.u64", "rl"},
    {"cvt.s32.s64", "rl"},
    {"selp.b64", "lllp"},
    {"add.u16", "hhh"},
    {"sub.s16", "hhh"},
    {"mul.lo.s16", "hhh"},
    {"mul.wide.s16", "rhh"},
    {"min.s16", "hhh"},
    {"shr.u16", "hhi"},
    {"shl.b16", "hhi"},
    {"cvt.u32.u16", "rh"},
    {"cvt.s32.s16", "rh"},
    {"cvt.u16.u32", "hr"},
    {"cvt.s8.s32", "rr"},
    {"cvt.u8.u32", "rr"},
    {"cvt.sat.s16.s32", "hr"},
    {"add.f32", "fff"},
    {"sub.f32", "fff"},
    {"mul.f32", "fff"},
    {"fma.rn.f32", "ffff"},
    {"add.ftz.f32", "fff"},
    {"mul.ftz.f32", "fff"},
    {"fma.rn.ftz.f32", "ffff"},
    {"add.sat.f32", "fff"},
    {"add.rz.f32", "fff"},
    {"min.f32", "fff"},
    {"max.f32", "fff"},
    {"min.NaN.f32", "fff"},
    {"max.ftz.f32", "fff"},
    {"div.rn.f32", "fff"},
    {"rcp.rn.f32", "ff"},
    {"sqrt.rn.f32", "ff"},
    {"rsqrt.approx.f32", "ff"},
    {"ex2.approx.f32", "ff"},
    {"ex2.approx.ftz.f32", "ff"},
    {"lg2.approx.f32", "ff"},
    {"sin.approx.f32", "ff"},
    {"tanh.approx.f32", "ff"},
    {"abs.f32", "ff"},
    {"neg.f32", "ff"},
    {"copysign.f32", "fff"},
    {"selp.f32", "fffp"},
    {"cvt.rn.f32.s32", "fr"},
    {"cvt.rn.f32.u32", "fr"},
    {"cvt.rzi.s32.f32", "rf"},
    {"cvt.rni.u32.f32", "rf"},
    {"cvt.rmi.f32.f32", "ff"},
    {"cvt.rn.f32.s64", "fl"},
    {"cvt.rzi.s64.f32", "lf"},
    {"cvt.rn.f16.f32", "hf"},
    {"cvt.f32.f16", "fh"},
    {"cvt.rn.bf16.f32", "hf"},
    {"cvt.f32.bf16", "fh"},
    {"cvt.rn.f16x2.f32", "rff"},
    {"cvt.rna.tf32.f32", "rf"},
    {"mov.b32", "rf"},
    {"mov.b32", "fr"},
    {"add.f16", "hhh"},
    {"mul.f16", "hhh"},
    {"fma.rn.f16", "hhhh"},
    {"add.f16x2", "rrr"},
    {"fma.rn.f16x2", "rrrr"},
    {"mul.bf16x2", "rrr"},
    {"max.f16x2", "rrr"},
    {"neg.f16x2", "rr"},
    {"abs.bf16", "hh"},
    {"add.f64", "ddd"},
    {"mul.f64", "ddd"},
    {"fma.rn.f64", "dddd"},
    {"div.rn.f64", "ddd"},
    {"sqrt.rn.f64", "dd"},
    {"min.f64", "ddd"},
    {"cvt.f64.f32", "df"},
    {"cvt.rn.f32.f64", "fd"},
    {"cvt.rn.f64.s32", "dr"},
    {"cvt.rzi.s32.f64", "rd"},
    {"setp.lt.s32", "prr"},
    {"setp.ge.u32", "prr"},
    {"setp.eq.s32", "pri"},
    {"setp.ne.s32", "prr"},
    {"setp.lt.f32", "pff"},
    {"setp.geu.f32", "pff"},
    {"setp.num.f32", "pff"},
    {"setp.gt.s64", "pll"},
    {"setp.le.f64", "pdd"},
    {"setp.lt.s16", "phh"},
    {"and.pred", "ppp"},
    {"or.pred", "ppp"},
    {"xor.pred", "ppp"},
    {"not.pred", "pp"},
    {"setp.lt.and.s32", "prrp"},
    {"set.lt.u32.s32", "rrr"},
    {"vabsdiff4.u32.u32.u32", "rrrr"},
    {"testp.finite.f32", "pf"},
};

constexpr unsigned numForms = sizeof forms / sizeof forms[0];

class Generator {
public:
  explicit Generator(uint64_t seed) : random(seed) {}

  RandomKernel run() {
    static const uint32_t blocks[][3] = {{32, 1, 1}, {64, 1, 1}, {128, 1, 1}, {16, 4, 1}, {8, 8, 1},
                                         {4, 4, 4},  {48, 1, 1}, {96, 1, 1},  {24, 4, 1}, {2, 16, 2}};
    const uint32_t *block = blocks[below(10)];
    kernel.grid = 1 + below(3);
    std::copy(block, block + 3, kernel.block);
    threads = block[0] * block[1] * block[2];
    begin();
    unsigned statements = 6 + below(14);
    for (unsigned i = 0; i < statements; ++i)
      statement(0, true);
    end();
    return kernel;
  }

private:
  unsigned below(unsigned n) { return unsigned(random() % n); }
  bool chance(unsigned percent) { return below(100) < percent; }
  void line(const std::string &text) { body += "  " + text + "\n"; }
  std::string label() { return "$L" + std::to_string(labels++); }

  std::string reg(char kind) {
    switch (kind) {
    case 'r':
      return "%r" + std::to_string(below(12));
    case 'l':
      return "%l" + std::to_string(below(5));
    case 'h':
      return "%h" + std::to_string(below(4));
    case 'f':
      return "%f" + std::to_string(below(8));
    case 'd':
      return "%d" + std::to_string(below(3));
    case 't':
      return std::to_string(below(256));
    case 'i':
      return std::to_string(chance(70) ? below(32) : 1u << below(8));
    default:
      return "%p" + std::to_string(below(5));
    }
  }

  void begin() {
    for (unsigned i = 0; i < 12; ++i) // loads take their addresses from registers too
      line("mov.u32 %r" + std::to_string(i) + ", " + (chance(50) ? "%laneid" : "%tid.x") + ";");
    for (unsigned i = 0; i < 12; ++i) {
      std::string r = "%r" + std::to_string(i);
      switch (below(8)) {
      case 0:
        line("mov.u32 " + r + ", %tid.x;");
        break;
      case 1:
        line("mov.u32 " + r + ", %tid.y;");
        break;
      case 2:
        line("mov.u32 " + r + ", %laneid;");
        break;
      case 3:
        line("mov.u32 " + r + ", %ctaid.x;");
        break;
      case 4:
        line("mov.u32 " + r + ", " + std::to_string(int32_t(random() & (chance(50) ? 0xff : 0xffffffff))) +
             ";");
        break;
      case 5:
        line("mov.u32 " + r + ", %n;");
        break;
      default:
        loadInto(r, "u32");
      }
    }
    for (unsigned i = 0; i < 5; ++i)
      line("cvt." + std::string(chance(50) ? "s64.s32" : "u64.u32") + " %l" + std::to_string(i) + ", " +
           reg('r') + ";");
    for (unsigned i = 0; i < 4; ++i)
      line("cvt.u16.u32 %h" + std::to_string(i) + ", " + reg('r') + ";");
    for (unsigned i = 0; i < 8; ++i)
      if (chance(50))
        line("cvt.rn.f32.s32 %f" + std::to_string(i) + ", " + reg('r') + ";");
      else
        line("mov.f32 %f" + std::to_string(i) + ", 0f" +
             (chance(50) ? "3FC00000" : "BF12" + std::string("3456")) + ";");
    for (unsigned i = 0; i < 3; ++i)
      line("cvt.f64.f32 %d" + std::to_string(i) + ", " + reg('f') + ";");
    for (unsigned i = 0; i < 5; ++i)
      line("setp.lt.s32 %p" + std::to_string(i) + ", " + reg('r') + ", " + reg('r') + ";");
  }

  /// What a NaN carries is nobody's promise, so none is let through.
  void settle(const std::string &name, const std::string &d) {
    bool isDouble = d[1] == 'd';
    if (d[1] != 'f' && !isDouble)
      return;
    std::string type = isDouble ? "f64" : "f32";
    line("setp.nan." + type + " %q, " + d + ", " + d + ";");
    line("selp." + type + " " + d + ", " + (isDouble ? "0d3FF0000000000000" : "0f3F800000") + ", " + d +
         ", %q;");
  }

  void arithmetic(bool guarded) {
    const Form &form = forms[below(numForms)];
    std::string text = std::string(form.name) + " ", d;
    for (const char *k = form.operands; *k; ++k) {
      std::string operand = reg(*k);
      if (k == form.operands)
        d = operand;
      text += (k == form.operands ? "" : ", ") + operand;
    }
    std::string guard = guarded && chance(20) ? std::string(chance(50) ? "@!" : "@") + reg('p') + " " : "";
    line(guard + text + ";");
    settle(form.name, d);
  }

  void loadInto(const std::string &r, const std::string &type) {
    std::string from = chance(50) ? reg('r') : chance(50) ? "%tidl" : "%ctaid.x";
    line("mov.u32 %a, " + from + ";");
    if (chance(50))
      line("mul.lo.s32 %a, %a, " + std::to_string(1 + below(5)) + ";");
    line("and.b32 %a, %a, 1023;");
    line("mul.wide.u32 %b, %a, 4;");
    line("add.s64 %b, %b, %in;");
    line((chance(80) ? "ld.global." : "ld.") + type + " " + r + ", [%b+" + std::to_string(4 * below(64)) + "];");
  }

  void load() {
    static const char *const narrow[] = {"u8", "s8", "u16", "s16", "u32", "b32"};
    switch (below(5)) {
    case 0:
      line("and.b32 %a, " + reg('r') + ", 255;");
      line("mul.wide.u32 %b, %a, 16;");
      line("add.s64 %b, %b, %in;");
      return line("ld.global.v4.u32 {%r0, %r1, %r2, %r3}, [%b+32];");
    case 1:
      line("mul.wide.u32 %b, %tidl, 8;");
      line("add.s64 %b, %b, %in;");
      return line("ld.global.v2.f32 {%v0, %v1}, [%b+64];"), line("mov.b32 " + reg('r') + ", %v1;");
    case 2:
      line("and.b32 %a, " + reg('r') + ", 511;");
      line("mul.wide.u32 %b, %a, 8;");
      line("add.s64 %b, %b, %in;");
      return line("ld.global.u64 " + reg('l') + ", [%b];");
    default:
      loadInto(reg('r'), narrow[below(6)]);
    }
  }

  /// Into the thread's own words.
  void store(bool guarded) {
    std::string guard = guarded && chance(25) ? "@" + reg('p') + " " : "";
    switch (below(4)) {
    case 0:
      return line(guard + "st.global.v4.b32 [%own+" + std::to_string(16 * below(8)) + "], {" + reg('r') +
                  ", " + reg('r') + ", " + reg('r') + ", " + reg('r') + "};");
    case 1:
      line("and.b32 %a, " + reg('r') + ", 31;");
      line("mul.wide.u32 %b, %a, 4;");
      line("add.s64 %b, %b, %own;");
      return line(guard + "st.global.u32 [%b], " + reg('r') + ";");
    case 2:
      return line(guard + "st.global.u" + (chance(50) ? "8" : "16") + " [%own+" +
                  std::to_string(4 * below(32)) + "], " + reg('r') + ";");
    default:
      return line(guard + "st.global.u64 [%own+" + std::to_string(8 * below(16)) + "], " + reg('l') + ";");
    }
  }

  void atomic() {
    line("and.b32 %a, " + reg('r') + ", 63;");
    line("mul.wide.u32 %b, %a, 4;");
    line("add.s64 %b, %b, %sums;");
    static const char *const kinds[] = {"add.u32", "add.u32", "add.u32"};
    line(std::string(chance(50) ? "red.global." : "red.") + kinds[below(3)] + " [%b], " + reg('r') + ";");
  }

  /// Every thread writes its word, all wait, each reads another's.
  void share() {
    line("st.shared.u32 [%mine], " + reg('r') + ";");
    line("bar.sync 0;");
    line("add.s32 %a, %tidl, " + std::to_string(below(threads)) + ";");
    line("rem.u32 %a, %a, " + std::to_string(threads) + ";");
    line("shl.b32 %a, %a, 2;");
    line("mov.u32 %c, words;");
    line("add.s32 %a, %a, %c;");
    line("ld.shared.u32 " + reg('r') + ", [%a];");
    for (unsigned n = below(3); n--;)
      loadShared();
    line("bar.sync 0;");
  }

  /// Of places that meet in the banks or not, by some or all.
  void loadShared() {
    static const struct {
      const char *type;
      unsigned bytes;
    } forms[] = {{"u8", 1}, {"s16", 2}, {"u32", 4}, {"u32", 4}, {"u64", 8}, {"v4.u32", 16}};
    auto &form = forms[below(6)];
    unsigned room = 128; // every block has so much
    while (2 * room <= 4 * threads)
      room *= 2;
    line("mul.lo.s32 %a, " + std::string(chance(70) ? "%tidl" : reg('r')) + ", " + std::to_string(below(9)) + ";");
    line("mul.lo.s32 %a, %a, " + std::to_string(form.bytes) + ";");
    line("and.b32 %a, %a, " + std::to_string(room - form.bytes) + ";");
    std::string guard = chance(40) ? std::string(chance(50) ? "@!" : "@") + reg('p') + " " : "";
    std::string to = form.bytes == 16 ? "{%r0, %r1, %r2, %r3}" : reg(form.bytes == 8 ? 'l' : 'r');
    line(guard + "ld.shared." + form.type + " " + to + ", [%a];");
  }

  /// All lanes are here; a block of 48 threads has a half warp, whose members are its lanes.
  void exchange() {
    std::string members = "-1";
    switch (below(6)) {
    case 0:
      return line("shfl.sync.bfly.b32 " + reg('r') + "|" + reg('p') + ", " + reg('r') + ", " +
                  std::to_string(1 << below(4)) + ", 31, " + members + ";");
    case 1:
      return line("shfl.sync.up.b32 " + reg('r') + ", " + reg('r') + ", " + std::to_string(below(8)) +
                  ", 0, " + members + ";");
    case 2:
      return line("shfl.sync.idx.b32 " + reg('r') + ", " + reg('r') + ", " + reg('r') + ", 15, " + members +
                  ";");
    case 3:
      return line("vote.sync.ballot.b32 " + reg('r') + ", " + reg('p') + ", " + members + ";");
    case 4:
      return line("vote.sync." + std::string(chance(50) ? "any" : "all") + ".pred " + reg('p') + ", " +
                  reg('p') + ", " + members + ";");
    default:
      return line("redux.sync." + std::string(chance(50) ? "add" : "max") + ".s32 " + reg('r') + ", " +
                  reg('r') + ", " + members + ";");
    }
  }

  void choice(unsigned depth, bool together) {
    std::string no = label(), done = label(), p = reg('p');
    // A condition that all threads share now and then, so that what follows may wait.
    bool uniform = chance(30);
    if (uniform) {
      p = "%u";
      line("setp.lt.u32 %u, %ctaid.x, " + std::to_string(below(3)) + ";");
    }
    bool both = chance(60);
    line("@" + std::string(chance(50) && !uniform ? "!" : "") + p + " bra " + (both ? no : done) + ";");
    body_(depth, together && uniform);
    if (both) {
      line("bra" + std::string(chance(30) ? ".uni " : " ") + done + ";");
      body += no + ":\n";
      body_(depth, together && uniform);
    }
    body += done + ":\n";
  }

  void loop(unsigned depth, bool together) {
    std::string top = label(), out = label(), counter = "%i" + std::to_string(depth),
                limit = "%e" + std::to_string(depth);
    bool uniform = chance(50);
    line("mov.u32 " + counter + ", 0;");
    if (uniform)
      line("mov.u32 " + limit + ", " + std::to_string(1 + below(6)) + ";");
    else
      line("and.b32 " + limit + ", " + reg('r') + ", 7;");
    bool test = chance(40);
    body += top + ":\n";
    if (test) {
      line("setp.ge.u32 %u, " + counter + ", " + limit + ";");
      line("@%u bra " + out + ";");
    }
    body_(depth, together && uniform);
    line("add.u32 " + counter + ", " + counter + ", 1;");
    if (test)
      line("bra " + top + ";");
    else {
      line("setp.lt.u32 %u, " + counter + ", " + limit + ";");
      line("@%u bra " + top + ";");
    }
    body += out + ":\n";
  }

  void body_(unsigned depth, bool together) {
    unsigned n = 1 + below(4);
    for (unsigned i = 0; i < n; ++i)
      statement(depth + 1, together);
  }

  void statement(unsigned depth, bool together) {
    unsigned what = below(100);
    if (what < 50 || (depth >= 3 && what >= 84))
      for (unsigned n = 1 + below(4); n--;)
        arithmetic(true);
    else if (what < 60)
      load();
    else if (what < 68)
      store(true);
    else if (what < 72)
      atomic();
    else if (what < 78 && together)
      share();
    else if (what < 84 && together)
      exchange();
    else if (what < 93)
      choice(depth, together);
    else
      loop(depth, together);
  }

  void end() {
    for (unsigned i = 0; i < 12; ++i)
      line("st.global.u32 [%own+" + std::to_string(128 + 4 * i) + "], %r" + std::to_string(i) + ";");
    for (unsigned i = 0; i < 8; ++i)
      line("st.global.f32 [%own+" + std::to_string(176 + 4 * i) + "], %f" + std::to_string(i) + ";");
    for (unsigned i = 0; i < 3; ++i)
      line("st.global.u64 [%own+" + std::to_string(208 + 8 * i) + "], %l" + std::to_string(i) + ";");
    line("st.global.f64 [%own+232], %d0;");
    line("st.global.u16 [%own+240], %h0;");
    line("selp.b32 %a, 1, 0, %p0;");
    line("st.global.u32 [%own+244], %a;");
    std::string count = std::to_string(threads);
    kernel.ptx =
        ".version 8.0\n.target sm_80\n.address_size 64\n"
        ".visible .entry k(.param .u64 pin, .param .u64 pout, .param .u32 pn) {\n"
        "  .reg .b32 %r<12>, %a, %c, %tidl, %n, %i<5>, %e<5>;\n  .reg .b64 %l<5>, %b, %in, %out, %own, "
        "%sums;\n"
        "  .reg .b16 %h<4>;\n  .reg .f32 %f<8>, %v0, %v1;\n  .reg .f64 %d<3>;\n  .reg .pred %p<5>, %q, %u;\n"
        "  .reg .b32 %mine;\n  .shared .align 16 .b8 words[" +
        std::to_string(4 * threads) +
        "];\n"
        "  ld.param.u64 %in, [pin];\n  ld.param.u64 %out, [pout];\n  ld.param.u32 %n, [pn];\n"
        "  cvta.to.global.u64 %in, %in;\n  cvta.to.global.u64 %out, %out;\n"
        "  mov.u32 %tidl, %tid.z;\n  mov.u32 %a, %ntid.y;\n  mov.u32 %c, %tid.y;\n"
        "  mad.lo.s32 %tidl, %tidl, %a, %c;\n  mov.u32 %a, %ntid.x;\n  mov.u32 %c, %tid.x;\n"
        "  mad.lo.s32 %tidl, %tidl, %a, %c;\n"
        "  mov.u32 %a, %ctaid.x;\n  mad.lo.s32 %a, %a, " +
        count +
        ", %tidl;\n"
        "  mul.wide.s32 %own, %a, 256;\n  add.s64 %own, %own, %out;\n"
        "  mov.u32 %a, %nctaid.x;\n  mul.wide.s32 %sums, %a, " +
        std::to_string(256 * threads) +
        ";\n  add.s64 %sums, %sums, %out;\n"
        "  shl.b32 %mine, %tidl, 2;\n  mov.u32 %c, words;\n  add.s32 %mine, %mine, %c;\n" +
        body + "  ret;\n}\n";
  }

  std::mt19937_64 random;
  RandomKernel kernel;
  std::string body;
  unsigned labels = 0;
  uint32_t threads = 0;
};

} // namespace

RandomKernel randomKernel(uint64_t seed) { return Generator(seed).run(); }

} // namespace joule::vgpu::test
