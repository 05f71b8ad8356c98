// Handlers for the matrix units: ldmatrix, mma.sync and wmma.
#include "lib/VirtualGpu/MatrixFast.h"
#include "lib/VirtualGpu/MatrixParts.h"

namespace joule::vgpu::JOULE_VGPU_ISA {
namespace {

// Lane i of the j-th group of eight names row i of the j-th 8x8 matrix of 16-bit elements; lane l receives
// elements 2(l%4) and 2(l%4)+1 of row l/4: so the lanes' results together are the rows after each other.
template <int N, bool Transposed> Status loadMatrix(const Op *op, u8 *r, Warp *w) {
  Access access;
  u32 mask = w->mask;
  w->mask = allLanes >> (32 - 8 * N);
  bool ok = resolve<16>(op, r, w, access);
  w->mask = mask;
  if (!ok)
    return Status::Fault;
  for (int j = 0; j < N; ++j) {
    const u8 *rows[8];
    for (int i = 0; i < 8; ++i)
      rows[i] = reinterpret_cast<const u8 *>(access.address[j * 8 + i]);
    u8 *d = r + (N == 1 ? op->d : op->list[j]);
    for (int i = 0; i < 8 && !Transposed; ++i)
      memcpy(d + 16 * i, rows[i], 16);
    if (Transposed)
      turnEight(rows, d);
  }
  JOULE_NEXT;
}

// --- matrix multiply-accumulate on fragments ---
// Lane l: g = l/4, t = l%4. A (16 rows): register pairs hold rows g and g+8; B (8 columns): column g; C: rows
// g and g+8, columns 2t and 2t+1. A register of 16-bit elements holds two neighbours in k, one of 8-bit
// elements four.

/// list: d0..d3, a registers, b registers, c0..c3.
template <class E, int K, bool HalfAccumulator> Status multiplyMatrices(const Op *op, u8 *r, Warp *w) {
  constexpr int perRegister = 4 / sizeof(E), groups = K / (4 * perRegister); // groups of 4*perRegister in k
  constexpr int inA = 2 * groups, inB = groups, inC = HalfAccumulator ? 2 : 4;
  const u32 *list = op->list;
  f32 A[16][K], B[K][8];
  alignas(64) f32 C[16][8];
  for (int l = 0; l < 32; ++l) {
    int g = l / 4, t = l % 4;
    for (int q = 0; q < groups; ++q)
      for (int e = 0; e < perRegister; ++e) {
        int k = q * 4 * perRegister + t * perRegister + e;
        A[g][k] = widen(at<E>(r, list[inC + 2 * q])[l * perRegister + e]);
        A[g + 8][k] = widen(at<E>(r, list[inC + 2 * q + 1])[l * perRegister + e]);
        B[k][g] = widen(at<E>(r, list[inC + inA + q])[l * perRegister + e]);
      }
    for (int h = 0; h < 2; ++h)
      for (int e = 0; e < 2; ++e)
        C[g + 8 * h][2 * t + e] = HalfAccumulator ? widen(at<f16>(r, list[inC + inA + inB + h])[2 * l + e])
                                                  : at<f32>(r, list[inC + inA + inB + 2 * h + e])[l];
  }
  for (int i = 0; i < 16; ++i)
    for (int k = 0; k < K; ++k)
      for (int j = 0; j < 8; ++j)
        C[i][j] = __builtin_fmaf(A[i][k], B[k][j], C[i][j]);
  for (int l = 0; l < 32; ++l)
    for (int h = 0; h < 2; ++h)
      for (int e = 0; e < 2; ++e) {
        f32 value = C[l / 4 + 8 * h][2 * (l % 4) + e];
        if (HalfAccumulator)
          at<f16>(r, list[h])[2 * l + e] = narrow<f16>(value);
        else
          at<f32>(r, list[2 * h + e])[l] = value;
      }
  JOULE_NEXT;
}

/// imm: bit 0 A signed, bit 1 B signed, bit 2 saturate.
template <int K> Status multiplyByteMatrices(const Op *op, u8 *r, Warp *w) {
  constexpr int groups = K / 16;
  const u32 *list = op->list;
  bool signedA = op->imm & 1, signedB = op->imm & 2, saturate = op->imm & 4;
  s32 A[16][K], B[K][8];
  s64 C[16][8];
  for (int l = 0; l < 32; ++l) {
    int g = l / 4, t = l % 4;
    for (int q = 0; q < groups; ++q)
      for (int e = 0; e < 4; ++e) {
        int k = q * 16 + t * 4 + e;
        u8 low = at<u8>(r, list[4 + 2 * q])[l * 4 + e], high = at<u8>(r, list[5 + 2 * q])[l * 4 + e];
        u8 b = at<u8>(r, list[4 + 2 * groups + q])[l * 4 + e];
        A[g][k] = signedA ? s8(low) : low;
        A[g + 8][k] = signedA ? s8(high) : high;
        B[k][g] = signedB ? s8(b) : b;
      }
    for (int i = 0; i < 4; ++i)
      C[g + 8 * (i / 2)][2 * t + i % 2] = at<s32>(r, list[4 + 3 * groups + i])[l];
  }
  for (int i = 0; i < 16; ++i)
    for (int j = 0; j < 8; ++j) {
      s32 sum = 0;
      for (int k = 0; k < K; ++k)
        sum += A[i][k] * B[k][j];
      C[i][j] += sum;
    }
  for (int l = 0; l < 32; ++l)
    for (int i = 0; i < 4; ++i) {
      s64 value = C[l / 4 + 8 * (i / 2)][2 * (l % 4) + i % 2];
      if (saturate)
        value = value > 0x7fffffff ? 0x7fffffff : value < -0x80000000ll ? -0x80000000ll : value;
      at<s32>(r, list[i])[l] = s32(value);
    }
  JOULE_NEXT;
}

// --- wmma ---

/// The address of element (row, column), from the first lane's base and leading dimension.
JOULE_INLINE u64 elementOffset(const WmmaShape &s, u64 leading, int row, int column) {
  return (s.rowMajor ? u64(row) * leading + u64(column) : u64(column) * leading + u64(row)) * s.elementBytes;
}

/// The host's address of the whole matrix, or 0 after a fault.
u8 *locateMatrix(const Op *op, u8 *r, Warp *w, const WmmaShape &s, u64 &leading) {
  unsigned lane = unsigned(__builtin_ctz(w->mask));
  leading = at<u32>(r, op->c)[lane];
  u64 bytes = elementOffset(s, leading, s.rows - 1, s.columns - 1) + s.elementBytes;
  u64 given = loadAddress(op, r, int(lane)), host = given;
  bool global = op->space == inGlobal || (op->space == inGeneric && given >> 56 == 0);
  bool ok = global ? findRange(w, op, given, given + bytes)
                   : (host = translate(w, given, op->space, unsigned(bytes), int(lane))) != 0;
  if (ok && given % s.elementBytes == 0)
    return reinterpret_cast<u8 *>(host);
  raiseFault(w, op, ok ? FaultKind::Misaligned : FaultKind::IllegalAddress, given, lane);
  return nullptr;
}

template <class E, bool Store> Status moveFragment(const Op *op, u8 *r, Warp *w) {
  const WmmaShape &s = *static_cast<const WmmaShape *>(op->data);
  u64 leading;
  u8 *matrix = locateMatrix(op, r, w, s, leading);
  if (!matrix)
    return Status::Fault;
  for (int e = 0; e < s.rows * s.columns; ++e) {
    E *inRegister = Fragment<E>::find(r, s.list, e);
    u8 *inMemory = matrix + elementOffset(s, leading, e / s.columns, e % s.columns);
    if (Store)
      memcpy(inMemory, inRegister, sizeof(E));
    else
      memcpy(inRegister, inMemory, sizeof(E));
  }
  JOULE_NEXT;
}

JOULE_INLINE f32 widen(f32 x) { return x; }
JOULE_INLINE f64 widen(f64 x) { return x; }
JOULE_INLINE s32 widen(u8 x) { return x; }
JOULE_INLINE s32 widen(s8 x) { return x; }
JOULE_INLINE s32 widen(s32 x) { return x; }
JOULE_INLINE f32 multiplyAdd(f32 a, f32 b, f32 c) { return __builtin_fmaf(a, b, c); }
JOULE_INLINE f64 multiplyAdd(f64 a, f64 b, f64 c) { return __builtin_fma(a, b, c); }
JOULE_INLINE s32 multiplyAdd(s32 a, s32 b, s32 c) { return s32(u32(a) * u32(b) + u32(c)); }
JOULE_INLINE void narrowTo(f16 &to, f32 x) { to = narrow<f16>(x); }
template <class T> JOULE_INLINE void narrowTo(T &to, T x) { to = x; }
// Integers that saturate are summed in 64 bits.
JOULE_INLINE s64 multiplyAdd(s64 a, s64 b, s64 c) { return a * b + c; }
JOULE_INLINE void narrowTo(s32 &to, s64 x) {
  to = x > 0x7fffffff ? 0x7fffffff : x < -0x80000000ll ? s32(-0x80000000ll) : s32(x);
}

/// A (M by K) times B (K by N) plus C, summed as T in the order of k.
template <class E, class T, class C, class D> Status multiplyFragments(const Op *op, u8 *r, Warp *w) {
  const WmmaProduct &s = *static_cast<const WmmaProduct *>(op->data);
  T a[32 * 16], b[32 * 16], sum[32 * 16];
  for (int e = 0; e < s.m * s.k; ++e)
    a[e] = widen(*Fragment<E>::find(r, s.a, e));
  for (int e = 0; e < s.k * s.n; ++e)
    b[e] = widen(*Fragment<E>::find(r, s.b, e));
  for (int e = 0; e < s.m * s.n; ++e)
    sum[e] = widen(*Fragment<C>::find(r, s.c, e));
  for (int i = 0; i < s.m; ++i)
    for (int k = 0; k < s.k; ++k)
      for (int j = 0; j < s.n; ++j)
        sum[i * s.n + j] = multiplyAdd(a[i * s.k + k], b[k * s.n + j], sum[i * s.n + j]);
  for (int e = 0; e < s.m * s.n; ++e)
    narrowTo(*Fragment<D>::find(r, s.d, e), sum[e]);
  JOULE_NEXT;
}

// --- the table ---

const HandlerEntry entries[] = {
    {"ldmatrix.1", loadMatrix<1, false>, ""},
    {"ldmatrix.2", loadMatrix<2, false>, ""},
    {"ldmatrix.4", loadMatrix<4, false>, ""},
    {"ldmatrix.trans.1", loadMatrix<1, true>, ""},
    {"ldmatrix.trans.2", loadMatrix<2, true>, ""},
    {"ldmatrix.trans.4", loadMatrix<4, true>, ""},
    {"mma.k16.f16.f32", JOULE_MULTIPLY(f16, 16), ""},
    {"mma.k8.f16.f32", JOULE_MULTIPLY(f16, 8), ""},
    {"mma.k16.f16.f16", multiplyMatrices<f16, 16, true>, ""},
    {"mma.k8.f16.f16", multiplyMatrices<f16, 8, true>, ""},
    {"mma.k16.bf16.f32", JOULE_MULTIPLY(bf16, 16), ""},
    {"mma.k8.bf16.f32", JOULE_MULTIPLY(bf16, 8), ""},
    {"mma.k8.tf32.f32", JOULE_MULTIPLY(Tf32, 8), ""},
    {"mma.k4.tf32.f32", JOULE_MULTIPLY(Tf32, 4), ""},
    {"mma.k32.b8", JOULE_MULTIPLY_BYTES(32), ""},
    {"mma.k16.b8", JOULE_MULTIPLY_BYTES(16), ""},
    {"wmma.load.1", moveFragment<u8, false>, ""},
    {"wmma.load.2", moveFragment<u16, false>, ""},
    {"wmma.load.4", moveFragment<u32, false>, ""},
    {"wmma.load.8", moveFragment<u64, false>, ""},
    {"wmma.store.2", moveFragment<u16, true>, ""},
    {"wmma.store.4", moveFragment<u32, true>, ""},
    {"wmma.store.8", moveFragment<u64, true>, ""},
    {"wmma.f16.f32.f32", multiplyFragments<f16, f32, f32, f32>, ""},
    {"wmma.f16.f16.f16", multiplyFragments<f16, f32, f16, f16>, ""},
    {"wmma.f16.f32.f16", multiplyFragments<f16, f32, f16, f32>, ""},
    {"wmma.f16.f16.f32", multiplyFragments<f16, f32, f32, f16>, ""},
    {"wmma.bf16.f32.f32", multiplyFragments<bf16, f32, f32, f32>, ""},
    {"wmma.tf32.f32.f32", multiplyFragments<Tf32, f32, f32, f32>, ""},
    {"wmma.u8.s32.s32", multiplyFragments<u8, s32, s32, s32>, ""},
    {"wmma.s8.s32.s32", multiplyFragments<s8, s32, s32, s32>, ""},
    {"wmma.sat.u8.s32.s32", multiplyFragments<u8, s64, s32, s32>, ""},
    {"wmma.sat.s8.s32.s32", multiplyFragments<s8, s64, s32, s32>, ""},
    {"wmma.f64.f64.f64", multiplyFragments<f64, f64, f64, f64>, ""},
};

} // namespace

HandlerTable matrixHandlers() { return {entries, sizeof entries / sizeof entries[0]}; }

} // namespace joule::vgpu::JOULE_VGPU_ISA
