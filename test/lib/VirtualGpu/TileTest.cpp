// Matrix products of every shape and type: PTX made here, against sums of products by the element positions
// that the PTX manual gives.
#include "test/lib/VirtualGpu/Harness.h"

#include <cmath>

using namespace joule::vgpu;
using namespace joule::vgpu::test;

namespace {

// --- elements ---

int bitsOf(const std::string &type) {
  return type == "f64"                                                      ? 64
         : type == "f32" || type == "tf32" || type == "s32"                 ? 32
         : type == "f16" || type == "bf16"                                  ? 16
         : type == "s8" || type == "u8" || type == "e4m3" || type == "e5m2" ? 8
         : type == "b1"                                                     ? 1
                                                                            : 4;
}

/// The bits of a small number; all that the tests use are exact in every type.
uint64_t encode(const std::string &type, double x) {
  if (type == "f64")
    return bitsAs<uint64_t>(x);
  uint32_t bits = bitsAs<uint32_t>(float(x)), sign = bits >> 31;
  if (type == "f32" || type == "tf32")
    return bits;
  if (type[0] == 's' || type[0] == 'u' || type == "b1")
    return uint64_t(int64_t(x)) & (bitsOf(type) == 32 ? 0xffffffffu : (1u << bitsOf(type)) - 1);
  int mantissa = type == "f16" ? 10 : type == "bf16" ? 7 : type == "e4m3" ? 3 : 2;
  int exponentBits = bitsOf(type) - 1 - mantissa, bias = (1 << (exponentBits - 1)) - 1;
  if (x == 0)
    return uint64_t(sign) << (bitsOf(type) - 1);
  int exponent = int(bits >> 23 & 0xff) - 127 + bias;
  return uint64_t(sign) << (bitsOf(type) - 1) | uint64_t(exponent) << mantissa |
         (bits >> (23 - mantissa) & ((1u << mantissa) - 1));
}
double decode(const std::string &type, uint64_t bits) {
  if (type == "f64")
    return bitsAs<double>(bits);
  if (type == "f32")
    return bitsAs<float>(uint32_t(bits));
  if (type == "s32")
    return int32_t(uint32_t(bits));
  int exponent = int(bits >> 10 & 31);
  double magnitude = exponent ? std::ldexp(double((bits & 1023) | 1024), exponent - 25)
                              : std::ldexp(double(bits & 1023), -24);
  return bits >> 15 & 1 ? -magnitude : magnitude; // f16
}

/// Numbers that differ from place to place.
double valueAt(const std::string &type, int i, int j) {
  int x = (i * 7 + j * 13 + i * j) % 16;
  if (type == "b1")
    return x % 3 == 0;
  if (type[0] == 'u')
    return x;
  x -= 8;
  return type == "s4" || type == "s8" ? x : x / 4.0;
}

// --- fragments: 32 lanes, registers of 32 bits (64 for f64), as bytes in memory: register after register ---

struct Fragment {
  std::string type;
  std::vector<uint8_t> bytes;

  Fragment(std::string type, int elements)
      : type(std::move(type)), bytes(size_t(elements * bitsOf(this->type) / 8)) {}
  int registerBytes() const { return type == "f64" ? 8 : 4; }
  int registers() const { return int(bytes.size()) / 32 / registerBytes(); }
  int perRegister() const { return registerBytes() * 8 / bitsOf(type); }

  void set(int reg, int lane, int part, uint64_t value) {
    int bit = ((reg * 32 + lane) * registerBytes()) * 8 + part * bitsOf(type);
    if (bitsOf(type) >= 8)
      memcpy(bytes.data() + bit / 8, &value, size_t(bitsOf(type) / 8));
    else
      bytes[size_t(bit / 8)] = uint8_t(bytes[size_t(bit / 8)] | value << (bit % 8));
  }
  uint64_t get(int reg, int lane, int part) const {
    uint64_t value = 0;
    memcpy(&value, bytes.data() + (reg * 32 + lane) * registerBytes() + part * bitsOf(type) / 8,
           size_t(bitsOf(type) / 8));
    return value;
  }
};

using Matrix = std::vector<std::vector<double>>;

Matrix matrixOf(const std::string &type, int rows, int columns, int shift) {
  Matrix m{size_t(rows), std::vector<double>(size_t(columns))};
  for (int i = 0; i < rows; ++i)
    for (int j = 0; j < columns; ++j)
      m[size_t(i)][size_t(j)] = valueAt(type, i + shift, j);
  return m;
}

Fragment fragmentOfA(const std::string &type, const Matrix &a) {
  int m = int(a.size()), k = int(a[0].size());
  Fragment f(type, m * k);
  for (int q = 0; q < f.registers(); ++q)
    for (int lane = 0; lane < 32; ++lane)
      for (int e = 0; e < f.perRegister(); ++e) {
        int row = lane / 4 + (m == 16 ? q % 2 * 8 : 0), group = m == 16 ? q / 2 : q;
        int column = (group * 4 + lane % 4) * f.perRegister() + e;
        f.set(q, lane, e, encode(type, a[size_t(row)][size_t(column)]));
      }
  return f;
}
Fragment fragmentOfB(const std::string &type, const Matrix &b) {
  Fragment f(type, int(b.size() * b[0].size()));
  for (int q = 0; q < f.registers(); ++q)
    for (int lane = 0; lane < 32; ++lane)
      for (int e = 0; e < f.perRegister(); ++e)
        f.set(q, lane, e,
              encode(type, b[size_t((q * 4 + lane % 4) * f.perRegister() + e)][size_t(lane / 4)]));
  return f;
}
/// Register and part of element i of the lane's part of C.
template <class F> void eachSum(const Fragment &f, int m, F visit) {
  for (int lane = 0; lane < 32; ++lane)
    for (int i = 0; i < m / 4; ++i)
      visit(f.type == "f16" ? i / 2 : i, lane, f.type == "f16" ? i % 2 : 0, lane / 4 + i / 2 * 8,
            lane % 4 * 2 + i % 2);
}

// --- kernels ---

std::string list(const char *name, int count) {
  std::string text = "{";
  for (int i = 0; i < count; ++i)
    text += (i ? ", %" : "%") + std::string(name) + std::to_string(i);
  return text + "}";
}
std::string loads(const char *name, const Fragment &f) {
  std::string text, bits = f.type == "f64" ? "b64" : "b32";
  for (int i = 0; i < f.registers(); ++i)
    text += "ld.global." + bits + " %" + name + std::to_string(i) + ", [%p" + name + "+" +
            std::to_string(i * 32 * f.registerBytes()) + "];\n";
  return text;
}
std::string declares(const char *name, const Fragment &f) {
  return std::string(".reg ") + (f.type == "f64" ? ".b64 %" : ".b32 %") + name + "<" +
         std::to_string(f.registers()) + ">;\n";
}

std::string kernel(const std::string &instruction, const Fragment &a, const Fragment &b, const Fragment &c,
                   const Fragment &d, const std::string &more) {
  std::string text =
      ".version 8.5\n.target sm_90a\n.address_size 64\n.visible .entry k(.param .u64 a, .param .u64 b, "
      ".param .u64 c, .param .u64 d, .param .u64 e)\n{\n.reg .b64 %pa, %pb, %pc, %pd, %pe, %o;\n"
      ".reg .b32 %lane, %e;\n";
  text += declares("a", a) + declares("b", b) + declares("c", c) + declares("d", d);
  text += "mov.u32 %lane, %tid.x;\n";
  const Fragment *all[] = {&a, &b, &c, &d};
  for (int i = 0; i < 4; ++i) {
    std::string name(1, char('a' + i));
    text += "ld.param.u64 %p" + name + ", [" + name + "];\nmul.wide.u32 %o, %lane, " +
            std::to_string(all[i]->registerBytes()) + ";\nadd.u64 %p" + name + ", %p" + name + ", %o;\n";
  }
  text +=
      "ld.param.u64 %pe, [e];\nmul.wide.u32 %o, %lane, 4;\nadd.u64 %pe, %pe, %o;\nld.global.b32 %e, [%pe];\n";
  text += loads("a", a) + loads("b", b) + loads("c", c);
  text += instruction + " " + list("d", d.registers()) + ", " + list("a", a.registers()) + ", " +
          list("b", b.registers()) + ", " + list("c", c.registers()) + more + ";\n";
  for (int i = 0; i < d.registers(); ++i)
    text += std::string("st.global.") + (d.type == "f64" ? "b64" : "b32") + " [%pd+" +
            std::to_string(i * 32 * d.registerBytes()) + "], %d" + std::to_string(i) + ";\n";
  return text + "ret;\n}\n";
}

void run(const std::string &instruction, const Fragment &a, const Fragment &b, const Fragment &c, Fragment &d,
         const std::string &more = "", const std::vector<uint32_t> &metadata = std::vector<uint32_t>(32)) {
  Device device(kernel(instruction, a, b, c, d, more));
  uint64_t out = device.upload(d.bytes);
  device.run("k", {}, device.upload(a.bytes), device.upload(b.bytes), device.upload(c.bytes), out,
             device.upload(metadata));
  d.bytes = device.download<uint8_t>(out, d.bytes.size());
}

struct Product {
  int m, k;
  std::string d, a, b, c, extra;
};

double termOf(const Product &p, double x, double y) {
  if (p.a != "b1")
    return x * y;
  return p.extra.find("and") != std::string::npos ? double(x != 0 && y != 0) : double(x != y);
}

void check(const Product &p, const std::string &instruction, const Matrix &a, const Fragment &inA,
           const std::string &more, const std::vector<uint32_t> &metadata = std::vector<uint32_t>(32)) {
  Matrix b = matrixOf(p.b, p.k, 8, 3), c = matrixOf(p.c == "s32" ? "s8" : p.c, 16, 8, 5);
  Fragment inC(p.c, p.m * 8), d(p.d, p.m * 8);
  eachSum(inC, p.m, [&](int reg, int lane, int part, int row, int column) {
    inC.set(reg, lane, part, encode(p.c, c[size_t(row)][size_t(column)]));
  });
  run(instruction, inA, fragmentOfB(p.b, b), inC, d, more, metadata);
  eachSum(d, p.m, [&](int reg, int lane, int part, int row, int column) {
    double sum = c[size_t(row)][size_t(column)];
    for (int k = 0; k < p.k; ++k)
      sum += termOf(p, a[size_t(row)][size_t(k)], b[size_t(k)][size_t(column)]);
    EXPECT_EQ(decode(p.d, d.get(reg, lane, part)), sum) << instruction << " at " << row << ", " << column;
  });
}

std::string shapeName(const Product &p) { return "m" + std::to_string(p.m) + "n8k" + std::to_string(p.k); }

TEST(Tiles, DenseProducts) {
  const Product products[] = {{16, 8, "f32", "f16", "f16", "f32", ""},
                              {16, 16, "f32", "f16", "f16", "f32", ""},
                              {16, 8, "f16", "f16", "f16", "f16", ""},
                              {16, 16, "f16", "f16", "f16", "f16", ""},
                              {16, 16, "f32", "f16", "f16", "f16", ""},
                              {16, 16, "f16", "f16", "f16", "f32", ""},
                              {16, 8, "f32", "bf16", "bf16", "f32", ""},
                              {16, 16, "f32", "bf16", "bf16", "f32", ""},
                              {16, 4, "f32", "tf32", "tf32", "f32", ""},
                              {16, 8, "f32", "tf32", "tf32", "f32", ""},
                              {16, 32, "f32", "e4m3", "e4m3", "f32", ""},
                              {16, 32, "f32", "e4m3", "e5m2", "f32", ""},
                              {16, 32, "f16", "e5m2", "e4m3", "f16", ""},
                              {16, 16, "f32", "e5m2", "e5m2", "f32", ""},
                              {8, 16, "s32", "s8", "s8", "s32", ""},
                              {8, 16, "s32", "u8", "s8", "s32", ".satfinite"},
                              {16, 16, "s32", "s8", "u8", "s32", ""},
                              {16, 32, "s32", "u8", "u8", "s32", ""},
                              {8, 32, "s32", "s4", "s4", "s32", ""},
                              {16, 32, "s32", "u4", "s4", "s32", ""},
                              {16, 64, "s32", "s4", "u4", "s32", ".satfinite"},
                              {8, 128, "s32", "b1", "b1", "s32", ".xor.popc"},
                              {16, 128, "s32", "b1", "b1", "s32", ".and.popc"},
                              {16, 256, "s32", "b1", "b1", "s32", ".xor.popc"},
                              {8, 4, "f64", "f64", "f64", "f64", ""},
                              {16, 4, "f64", "f64", "f64", "f64", ""},
                              {16, 8, "f64", "f64", "f64", "f64", ""},
                              {16, 16, "f64", "f64", "f64", "f64", ""}};
  for (const Product &p : products) {
    bool bits = p.a == "b1";
    std::string instruction = "mma.sync.aligned." + shapeName(p) + ".row.col" + (bits ? "" : p.extra) + "." +
                              p.d + "." + p.a + "." + p.b + "." + p.c + (bits ? p.extra : "");
    Matrix a = matrixOf(p.a, p.m, p.k, 0);
    check(p, instruction, a, fragmentOfA(p.a, a), "");
  }
}

TEST(Tiles, SaturationOfIntegers) {
  Fragment a("s8", 16 * 32), b("s8", 32 * 8), c("s32", 16 * 8), d("s32", 16 * 8);
  std::fill(a.bytes.begin(), a.bytes.end(), 100);
  std::fill(b.bytes.begin(), b.bytes.end(), 100);
  for (int q = 0; q < 4; ++q)
    for (int lane = 0; lane < 32; ++lane)
      c.set(q, lane, 0, 0x7fffff00);
  run("mma.sync.aligned.m16n8k32.row.col.satfinite.s32.s8.s8.s32", a, b, c, d);
  EXPECT_EQ(d.get(0, 7, 0), 0x7fffffffu);
  run("mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32", a, b, c, d);
  EXPECT_EQ(d.get(0, 7, 0), 0x7fffff00u + 320000u);
}

/// A with half of its elements left out, and the words that say which: as the manual's figures lay them out.
struct SparseMatrix {
  Matrix whole, kept;
  std::vector<uint32_t> metadata = std::vector<uint32_t>(32);

  SparseMatrix(const std::string &type, int k, unsigned selector)
      : whole(16, std::vector<double>(size_t(k))), kept(16, std::vector<double>(size_t(k / 2))) {
    int unit = bitsOf(type) == 4 ? 2 : 1;                       // elements that are kept together
    int chunk = type == "tf32" ? 2 : bitsOf(type) == 4 ? 8 : 4; // elements that four bits speak of
    for (int row = 0; row < 16; ++row)
      for (int group = 0; group < k / chunk; ++group) {
        static const int pairs[6][2] = {{0, 1}, {0, 2}, {0, 3}, {1, 2}, {1, 3}, {2, 3}};
        const int *pair = pairs[(row + group * 5) % 6];
        uint32_t bits = uint32_t(pair[0] | pair[1] << 2);
        if (type == "tf32")
          bits = (row + group) % 2 ? 0b1110 : 0b0100;
        for (int i = 0; i < chunk / 2; ++i) {
          int from = type == "tf32" ? group * 2 + (row + group) % 2
                                    : group * chunk + pair[i / unit] * unit + i % unit;
          int to = group * chunk / 2 + i;
          double value = valueAt(type, row, from) + (type[0] == 'u' ? 0 : 0.0);
          whole[size_t(row)][size_t(from)] = kept[size_t(row)][size_t(to)] = value;
        }
        put(type, k, selector, row, group, chunk, bits);
      }
  }
  void put(const std::string &type, int k, unsigned selector, int row, int group, int chunk, uint32_t bits) {
    if (bitsOf(type) >= 16) { // 16 bits each for rows g (low) and g+8 (high)
      int lanes = k / chunk / 4;
      metadata[size_t(row % 8 * 4 + int(selector) * lanes + group / 4)] |= bits
                                                                           << (row / 8 * 16 + group % 4 * 4);
      return;
    }
    metadata[size_t(row % 8 * 4 + int(selector) * 2 + group / 8 * 2 + row / 8)] |= bits << (group % 8 * 4);
  }
};

TEST(Tiles, SparseProducts) {
  struct Sparse {
    Product p;
    unsigned selector;
  };
  const Sparse products[] = {
      {{16, 16, "f32", "f16", "f16", "f32", ""}, 3},   {{16, 32, "f32", "f16", "f16", "f32", ""}, 1},
      {{16, 32, "f16", "f16", "f16", "f16", ""}, 0},   {{16, 16, "f32", "bf16", "bf16", "f32", ""}, 2},
      {{16, 32, "f32", "bf16", "bf16", "f32", ""}, 1}, {{16, 8, "f32", "tf32", "tf32", "f32", ""}, 1},
      {{16, 16, "f32", "tf32", "tf32", "f32", ""}, 1}, {{16, 32, "s32", "s8", "s8", "s32", ""}, 1},
      {{16, 64, "s32", "u8", "s8", "s32", ""}, 0},     {{16, 64, "s32", "s4", "u4", "s32", ""}, 1},
      {{16, 128, "s32", "u4", "u4", "s32", ""}, 0},    {{16, 64, "f32", "e4m3", "e5m2", "f32", ""}, 0}};
  for (const Sparse &s : products)
    for (const char *how : {"sp", "sp::ordered_metadata"}) {
      const Product &p = s.p;
      SparseMatrix a(p.a, p.k, s.selector);
      std::string instruction = "mma." + std::string(how) + ".sync.aligned." + shapeName(p) + ".row.col." +
                                p.d + "." + p.a + "." + p.b + "." + p.c;
      check(p, instruction, a.whole, fragmentOfA(p.a, a.kept), ", %e, " + std::to_string(s.selector),
            a.metadata);
    }
}

TEST(Tiles, FourSmallProductsOfVolta) {
  for (const char *layoutOfA : {"row", "col"})
    for (const char *layoutOfB : {"row", "col"})
      for (const char *sum : {"f16", "f32"}) {
        bool rowA = *layoutOfA == 'r', rowB = *layoutOfB == 'r', half = sum[1] == '1';
        Fragment a("f16", 128), b("f16", 128), c(sum, 256), d(sum, 256);
        auto product = [](int lane) { return lane % 16 / 4; };
        for (int lane = 0; lane < 32; ++lane)
          for (int i = 0; i < 4; ++i) {
            int high = lane >= 16 ? 4 : 0, near = lane % 4;
            int row = rowA ? near + high : i + high, kA = rowA ? i : near;
            int column = rowB ? i + high : near + high, kB = rowB ? near : i;
            a.set(i / 2, lane, i % 2, encode("f16", valueAt("f16", row + product(lane), kA)));
            b.set(i / 2, lane, i % 2, encode("f16", valueAt("f16", kB + 5, column + product(lane))));
          }
        auto each = [&](auto visit) {
          for (int lane = 0; lane < 32; ++lane)
            for (int i = 0; i < 8; ++i) {
              int high = lane >= 16 ? 4 : 0;
              int row = half ? lane % 4 + high : (lane & 1) + (i & 2) + high;
              int column = half ? i : (i & 4) + (lane & 2) + (i & 1);
              visit(half ? i / 2 : i, lane, half ? i % 2 : 0, row, column);
            }
        };
        each([&](int reg, int lane, int part, int row, int column) {
          c.set(reg, lane, part, encode(sum, valueAt("f16", row, column + 9)));
        });
        run(std::string("mma.sync.aligned.m8n8k4.") + layoutOfA + "." + layoutOfB + "." + sum + ".f16.f16." +
                sum,
            a, b, c, d);
        each([&](int reg, int lane, int part, int row, int column) {
          double want = valueAt("f16", row, column + 9);
          for (int k = 0; k < 4; ++k)
            want += valueAt("f16", row + product(lane), k) * valueAt("f16", k + 5, column + product(lane));
          EXPECT_EQ(decode(sum, d.get(reg, lane, part)), want)
              << layoutOfA << layoutOfB << sum << ' ' << row << ' ' << column;
        });
      }
}

TEST(Tiles, WrongFragmentsTrap) {
  for (const char *text :
       {"mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%a}, {%a,%a,%a,%a}, {%a,%a}, {%a,%a,%a,%a};",
        "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%a,%b,%c,%d}, {%a}, {%a,%a}, {%a,%a,%a,%a};",
        "mma.sync.aligned.m99n8k16.row.col.f32.f16.f16.f32 {%a,%b,%c,%d}, {%a}, {%a,%a}, {%a,%a,%a,%a};",
        "mma.sync.aligned.m16n8k16 {%a};",
        "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%a}, %la, %lb, 1;",
        "stmatrix.sync.aligned.m8n8.x4.shared.b16 [%a], {%b};"}) {
    Device device(kernelAround(text, 4));
    uint64_t out = device.upload(std::vector<uint32_t>(32));
    EXPECT_EQ(device.launch("k", {}, out).fault, FaultKind::IllegalInstruction) << text;
  }
}

// --- wgmma ---

/// A matrix of `rows` (of A, or columns of B) by k in shared memory, as descriptors see it.
struct SharedTile {
  std::string type;
  int swizzle; // bytes: 0, 32, 64, 128
  bool alongK; // k runs along memory
  int rows, k;
  uint64_t leading, stride;
  std::vector<uint8_t> bytes;

  SharedTile(std::string type, int swizzle, bool alongK, const Matrix &rowsByK)
      : type(std::move(type)), swizzle(swizzle), alongK(alongK), rows(int(rowsByK.size())),
        k(int(rowsByK[0].size())) {
    int lineBytes = swizzle ? swizzle : 16, size = bitsOf(this->type) / 8;
    if (alongK) { // atoms of eight rows; without a swizzle an atom has 16 bytes of k
      stride = uint64_t(8 * lineBytes);
      leading = uint64_t(rows / 8) * stride; // from 16 bytes of k to the next 16
      if (swizzle == 0)
        leading += 64 - leading % 64;
    } else if (swizzle) { // lines of rows, eight lines of k in an atom
      leading = uint64_t(8 * lineBytes) * uint64_t((k + 7) / 8);
      stride = uint64_t(8 * lineBytes);
    } else {
      stride = 128, leading = uint64_t(rows / 8) * 128;
    }
    bytes.resize(64 * 1024);
    for (int r = 0; r < rows; ++r)
      for (int i = 0; i < k; ++i) {
        uint64_t value = encode(this->type, rowsByK[size_t(r)][size_t(i)]);
        memcpy(bytes.data() + place(r, i * size), &value, size_t(size));
      }
  }

  /// Of the byte `b` along k of a row.
  size_t place(int r, int b) const {
    if (!alongK)
      return placeAlongRows(r, b / 2);
    if (swizzle == 0)
      return size_t(r / 8) * stride + size_t(b / 16) * leading + size_t(r % 8 * 16 + b % 16);
    int sum = swizzle == 128 ? r % 8 : swizzle == 64 ? r / 2 % 4 : r / 4 % 2; // what chunks are exchanged by
    int line = b / swizzle, chunk = (b % swizzle / 16) ^ sum;
    return size_t(r / 8) * stride + size_t(line) * leading + size_t(r % 8 * swizzle + chunk * 16 + b % 16);
  }
  size_t placeAlongRows(int r, int i) const {
    if (swizzle == 0)
      return size_t(r / 8) * stride + size_t(i / 8) * leading + size_t(i % 8 * 16 + r % 8 * 2);
    int perLine = swizzle / 2, sum = swizzle == 128 ? i % 8 : swizzle == 64 ? i / 2 % 4 : i / 4 % 2;
    int chunk = (r % perLine / 8) ^ sum;
    return size_t(r / perLine) * leading + size_t(i / 8) * stride +
           size_t(i % 8 * swizzle + chunk * 16 + r % 8 * 2);
  }
  uint64_t descriptor(uint64_t address) const {
    uint64_t code = swizzle == 128 ? 1 : swizzle == 64 ? 2 : swizzle == 32 ? 3 : 0;
    return (address >> 4) | (leading >> 4) << 16 | (stride >> 4) << 32 | code << 62;
  }
};

struct WarpgroupCase {
  int n, k;
  std::string d, a, b;
  int swizzle;
  bool aAlongK, bAlongK, aInRegisters;
  bool sparse = false, negatesA = false, ignoresC = false;
};

/// 128 threads copy A and B to shared memory as they lie, multiply, and store what they got.
std::string warpgroupKernel(const WarpgroupCase &c, const SharedTile &a, const SharedTile &b,
                            int registersOfD) {
  std::string text = ".version 8.5\n.target sm_90a\n.address_size 64\n.shared .align 1024 .b8 area[131072];\n"
                     ".visible .entry k(.param .u64 a, .param .u64 b, .param .u64 c, .param .u64 d, .param "
                     ".u64 e, .param .u64 f)\n{\n"
                     ".reg .b64 %p<8>, %o; .reg .b32 %t, %s, %v, %e; .reg .pred %q;\n.reg .b32 %d<" +
                     std::to_string(registersOfD) + ">, %a<4>;\nmov.u32 %t, %tid.x;\nmov.u32 %v, area;\n";
  const char *const names[] = {"a", "b", "c", "d", "e", "f"};
  for (int i = 0; i < 6; ++i)
    text += "ld.param.u64 %p" + std::to_string(i) + ", [" + names[i] + "];\n";
  for (int i = 0; i < 2; ++i)
    text += "mul.lo.u32 %s, %t, 4;\nL" + std::to_string(i) + ":\ncvt.u64.u32 %o, %s; add.u64 %o, %o, %p" +
            std::to_string(i) + ";\nld.global.b32 %v, [%o];\nst.shared.b32 [%s+" + std::to_string(i * 65536) +
            "], %v;\nadd.u32 %s, %s, 512;\nsetp.lt.u32 %q, %s, 65536;\n@%q bra L" + std::to_string(i) + ";\n";
  text += "fence.proxy.async;\nbar.sync 0;\nmul.wide.u32 %o, %t, 4;\nadd.u64 %p2, %p2, %o; add.u64 %p3, %p3, %o; add.u64 %p4, "
          "%p4, %o; add.u64 %p5, %p5, %o;\n"
          "ld.global.b32 %e, [%p4];\nsetp.eq.u32 %q, 0, " +
          std::string(c.ignoresC ? "1" : "0") + ";\n";
  for (int i = 0; i < 4; ++i)
    text += "ld.global.b32 %a" + std::to_string(i) + ", [%p5+" + std::to_string(512 * i) + "];\n";
  for (int i = 0; i < registersOfD; ++i)
    text += "ld.global.b32 %d" + std::to_string(i) + ", [%p2+" + std::to_string(512 * i) + "];\n";
  bool reals = c.d != "s32", turns = reals && bitsOf(c.a) == 16;
  text += "wgmma.fence.sync.aligned;\nwgmma.mma_async" + std::string(c.sparse ? ".sp" : "") +
          ".sync.aligned.m64n" + std::to_string(c.n) + "k" + std::to_string(c.k) + "." + c.d + "." + c.a +
          "." + c.b + (c.a == "b1" ? ".and.popc " : " ") + list("d", registersOfD) + ", " +
          (c.aInRegisters ? list("a", 4) : std::to_string(a.descriptor(0))) + ", " +
          std::to_string(b.descriptor(65536));
  text += std::string(c.sparse ? ", %e, 0" : "") + ", %q";
  if (reals)
    text += std::string(c.negatesA ? ", -1" : ", 1") + ", 1";
  if (turns)
    text += std::string(c.aInRegisters ? "" : c.aAlongK ? ", 0" : ", 1") + (c.bAlongK ? ", 0" : ", 1");
  text += ";\nwgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 0;\n";
  for (int i = 0; i < registersOfD; ++i)
    text += "st.global.b32 [%p3+" + std::to_string(512 * i) + "], %d" + std::to_string(i) + ";\n";
  return text + "ret;\n}\n";
}

Matrix transposed(const Matrix &m) {
  Matrix t{m[0].size(), std::vector<double>(m.size())};
  for (size_t i = 0; i < m.size(); ++i)
    for (size_t j = 0; j < m[0].size(); ++j)
      t[j][i] = m[i][j];
  return t;
}

void checkWarpgroup(const WarpgroupCase &c) {
  Matrix a = matrixOf(c.a, 64, c.k, 0), b = matrixOf(c.b, c.k, c.n, 3), packed = a;
  std::vector<uint32_t> metadata(128), inRegisters(512);
  if (c.sparse) // each warp has sixteen rows of its own
    for (int warp = 0; warp < 4; ++warp) {
      SparseMatrix part(c.a, c.k, 0);
      std::copy(part.metadata.begin(), part.metadata.end(), metadata.begin() + 32 * warp);
      std::copy(part.whole.begin(), part.whole.end(), a.begin() + 16 * warp);
      std::copy(part.kept.begin(), part.kept.end(), packed.begin() + 16 * warp);
    }
  for (int warp = 0; warp < 4 && c.aInRegisters; ++warp) {
    Fragment f = fragmentOfA(c.a, Matrix(packed.begin() + 16 * warp, packed.begin() + 16 * warp + 16));
    for (int q = 0; q < 4; ++q)
      memcpy(&inRegisters[size_t(128 * q + 32 * warp)], f.bytes.data() + 128 * q, 128);
  }
  bool bits = c.a == "b1";
  SharedTile inA(bits ? "u8" : c.a, c.swizzle, c.aAlongK, bits ? matrixOf("u8", 64, 32, 0) : packed);
  SharedTile inB(bits ? "u8" : c.b, c.swizzle, c.bAlongK, bits ? matrixOf("u8", c.n, 32, 9) : transposed(b));
  bool half = c.d == "f16";
  int registers = half ? c.n / 4 : c.n / 2;
  std::vector<uint32_t> sums(size_t(128 * registers));
  auto each = [&](auto visit) {
    for (int t = 0; t < 128; ++t)
      for (int i = 0; i < c.n / 2; ++i) {
        int row = t / 32 * 16 + t % 32 / 4 + i / 2 % 2 * 8, column = i / 4 * 8 + t % 4 * 2 + i % 2;
        visit(sums[size_t((half ? i / 2 : i) * 128 + t)], half ? i % 2 : 0, row, column);
      }
  };
  std::string small = c.d == "s32" ? "s8" : c.d;
  each([&](uint32_t &word, int part, int row, int column) {
    word |= uint32_t(encode(c.d, valueAt(small, row, column + 1)) << (16 * part));
  });
  Device device(warpgroupKernel(c, inA, inB, registers));
  uint64_t out = device.upload(sums);
  Device::Shape shape;
  shape.block[0] = 128;
  device.run("k", shape, device.upload(inA.bytes), device.upload(inB.bytes), device.upload(sums), out,
             device.upload(metadata), device.upload(inRegisters));
  sums = device.download<uint32_t>(out, sums.size());
  each([&](uint32_t &word, int part, int row, int column) {
    double want = c.ignoresC ? 0 : valueAt(small, row, column + 1);
    for (int k = 0; k < c.k && !bits; ++k)
      want += (c.negatesA ? -1 : 1) * a[size_t(row)][size_t(k)] * b[size_t(k)][size_t(column)];
    for (int k = 0; k < 32 && bits; ++k)
      want += __builtin_popcount(unsigned(valueAt("u8", row, k)) & unsigned(valueAt("u8", column + 9, k)));
    uint64_t got = half ? word >> (16 * part) & 0xffff : word;
    EXPECT_EQ(decode(c.d, got), want) << "n" << c.n << "k" << c.k << c.d << c.a << c.b << " swizzle "
                                      << c.swizzle << " at " << row << ", " << column;
  });
}

TEST(Warpgroup, Products) {
  const WarpgroupCase cases[] = {{64, 16, "f32", "f16", "f16", 128, true, true, false},
                                 {256, 16, "f32", "bf16", "bf16", 128, true, true, false},
                                 {8, 16, "f16", "f16", "f16", 64, true, true, false},
                                 {24, 16, "f32", "f16", "f16", 32, true, true, false},
                                 {16, 16, "f32", "f16", "f16", 0, true, true, false},
                                 {64, 16, "f32", "f16", "f16", 128, false, false, false},
                                 {64, 16, "f32", "bf16", "bf16", 64, false, true, false},
                                 {64, 16, "f32", "f16", "f16", 32, true, false, false},
                                 {16, 16, "f32", "f16", "f16", 0, false, false, false},
                                 {128, 16, "f32", "f16", "f16", 128, true, true, true},
                                 {64, 16, "f32", "f16", "f16", 128, true, false, true},
                                 {64, 8, "f32", "tf32", "tf32", 128, true, true, false},
                                 {32, 8, "f32", "tf32", "tf32", 64, true, true, true},
                                 {64, 32, "f32", "e4m3", "e5m2", 128, true, true, false},
                                 {96, 32, "f16", "e5m2", "e4m3", 32, true, true, true},
                                 {64, 32, "s32", "s8", "u8", 128, true, true, false},
                                 {32, 32, "s32", "u8", "u8", 64, true, true, true},
                                 {16, 256, "s32", "b1", "b1", 128, true, true, false}};
  for (const WarpgroupCase &c : cases)
    checkWarpgroup(c);
}

TEST(Warpgroup, SparseProducts) {
  const WarpgroupCase cases[] = {{64, 32, "f32", "f16", "f16", 128, true, true, false, true},
                                 {32, 32, "f32", "bf16", "bf16", 64, true, true, true, true},
                                 {64, 32, "f32", "f16", "f16", 128, true, false, false, true},
                                 {16, 16, "f32", "tf32", "tf32", 128, true, true, false, true},
                                 {64, 64, "f32", "e4m3", "e4m3", 128, true, true, false, true},
                                 {32, 64, "s32", "s8", "s8", 128, true, true, true, true}};
  for (const WarpgroupCase &c : cases)
    checkWarpgroup(c);
}

TEST(Warpgroup, SignsAndScale) {
  WarpgroupCase c = {16, 16, "f32", "f16", "f16", 128, true, true, false};
  c.negatesA = true;
  checkWarpgroup(c);
  c.ignoresC = true;
  checkWarpgroup(c);
}

} // namespace
