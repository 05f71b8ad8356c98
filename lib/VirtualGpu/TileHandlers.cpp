// Products of one warp in every shape and type: mma.sync, mma.sp and wgmma. The common shapes of mma.sync
// have handlers of their own.
//
// Lane l: g = l/4, t = l%4. The 32 lanes of a register hold, one after the other, the eight rows g of A (or
// columns of B), four lanes each: so a register is eight pieces of 16 bytes (32 of a 64-bit register), and
// the rows are put together from them whatever the element's type. C: rows g and g+8, columns 2t and 2t+1.
#include "lib/VirtualGpu/ExactProduct.h"
#include "lib/VirtualGpu/MatrixParts.h"
#include "lib/VirtualGpu/WarpgroupOperand.h"

namespace joule::vgpu::JOULE_VGPU_ISA {
namespace {

constexpr int mostColumnsOfTile = 256, mostRowBytes = 128;

struct Rows {
  alignas(64) u8 bytes[mostColumnsOfTile][mostRowBytes];
};

JOULE_INLINE int bitsOfFormat(TileFormat f) {
  switch (f) {
  case TileFormat::F16:
  case TileFormat::BF16:
    return 16;
  case TileFormat::TF32:
  case TileFormat::F32:
  case TileFormat::S32:
    return 32;
  case TileFormat::F64:
    return 64;
  case TileFormat::S4:
  case TileFormat::U4:
    return 4;
  case TileFormat::B1:
    return 1;
  default:
    return 8;
  }
}
JOULE_INLINE int rowBytes(TileFormat f, int elements) { return elements * bitsOfFormat(f) / 8; }

// --- from registers and shared memory to rows ---

/// `count` rows in groups of eight; of A the groups are interleaved, of B they follow each other.
void rowsFromRegisters(u8 *r, const u32 *list, int count, int bytes, int piece, bool isA, Rows &rows) {
  int groups = count / 8, pieces = bytes / piece;
  for (int q = 0; q < pieces; ++q)
    for (int h = 0; h < groups; ++h) {
      const u8 *from = r + list[isA ? q * groups + h : h * pieces + q];
      for (int g = 0; g < 8; ++g)
        memcpy(rows.bytes[8 * h + g] + q * piece, from + g * piece, size_t(piece));
    }
}

JOULE_INLINE bool inShared16(Warp *w, u64 address) {
  return address + 16 <= w->sharedSize && address < w->sharedSize;
}

/// Rows that lie wholly inside of shared memory, k along memory.
bool rowsFromInside(Warp *w, const WarpgroupOperand &d, int first, int count, int bytes, Rows &rows) {
  const u32 chunks = u32(bytes / 16), last = u32(first + count - 1);
  // The swizzle moves chunks inside of lines of 128 bytes only.
  u64 furthest = d.start + (u64(7) << (4 + d.swizzle)) + u64(last / 8) * d.stride + 127 +
                 u64((chunks - 1) >> d.swizzle) * d.leading;
  if ((furthest | 127) >= w->sharedSize)
    return false;
  for (int c = 0; c < count; c += 8)
    for (u32 j = 0; j < chunks; ++j) {
      u64 offset = d.offsetAlongK(u32(first + c), j);
      for (u32 i = 0; i < 8; ++i)
        memcpy(rows.bytes[c + int(i)] + 16 * j, w->shared + d.place(offset + (i << (4 + d.swizzle))), 16);
    }
  return true;
}

bool rowsFromMemory(const Op *op, Warp *w, const WarpgroupOperand &d, int first, int count, int bytes,
                    bool kAlongMemory, Rows &rows) {
  if (kAlongMemory && rowsFromInside(w, d, first, count, bytes, rows))
    return true;
  u64 bad = ~0ull;
  for (int i = 0; i < count && kAlongMemory; ++i)
    for (int j = 0; j < bytes / 16; ++j) {
      u64 address = d.alongK(u32(first + i), u32(j));
      if (!inShared16(w, address))
        bad = address;
      else
        memcpy(rows.bytes[i] + 16 * j, w->shared + address, 16);
    }
  for (int c = 0; c < count / 8 && !kAlongMemory; ++c)
    for (int k = 0; k < bytes / 2; ++k) {
      u64 address = d.alongRows(u32(first / 8 + c), u32(k));
      if (!inShared16(w, address)) {
        bad = address;
        continue;
      }
      for (int i = 0; i < 8; ++i)
        memcpy(rows.bytes[8 * c + i] + 2 * k, w->shared + address + 2 * i, 2);
    }
  if (bad != ~0ull)
    raiseFault(w, op, FaultKind::IllegalAddress, bad, u32(__builtin_ctz(w->mask)));
  return bad == ~0ull;
}

// --- from rows to numbers ---

JOULE_INLINE f32 widenE5m2(u8 x) { return widen(f16{u16(x << 8)}); }
JOULE_INLINE f32 widenE4m3(u8 x) {
  u32 magnitude = x & 0x7f;
  f32 small = f32(magnitude) * 0x1p-9f, normal = bitsOf<f32>((magnitude << 20) + (120u << 23));
  f32 value = magnitude == 0x7f ? bitsOf<f32>(0x7fffffffu) : magnitude < 8 ? small : normal;
  return x & 0x80 ? -value : value;
}

template <class E> JOULE_INLINE void widenAll(const u8 *from, f32 *to, int count) {
  for (int i = 0; i < count; ++i) {
    E e;
    memcpy(&e, from + sizeof(E) * size_t(i), sizeof e);
    to[i] = widen(e);
  }
}

JOULE_INLINE void widenF16s(const u8 *from, f32 *to, int count) {
#if defined(__AVX2__)
  for (int i = 0; i < count; i += 8)
    _mm256_storeu_ps(to + i,
                     _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i *>(from + 2 * i))));
#else
  widenAll<f16>(from, to, count);
#endif
}

/// `count` elements of a row.
void toReals(TileFormat format, const u8 *from, f32 *to, int count) {
  switch (format) {
  case TileFormat::F16:
    return widenF16s(from, to, count);
  case TileFormat::BF16:
    return widenAll<bf16>(from, to, count);
  case TileFormat::TF32:
    return widenAll<Tf32>(from, to, count);
  case TileFormat::E4M3:
    for (int i = 0; i < count; ++i)
      to[i] = widenE4m3(from[i]);
    return;
  default:
    for (int i = 0; i < count; ++i)
      to[i] = widenE5m2(from[i]);
  }
}
void toIntegers(TileFormat format, const u8 *from, s32 *to, int count) {
  for (int i = 0; i < count; ++i)
    switch (format) {
    case TileFormat::S8:
      to[i] = s8(from[i]);
      break;
    case TileFormat::U8:
      to[i] = from[i];
      break;
    case TileFormat::S4:
      to[i] = s8(u8(from[i / 2] >> (4 * (i % 2)) << 4)) >> 4;
      break;
    default:
      to[i] = from[i / 2] >> (4 * (i % 2)) & 15;
    }
}

// --- sparse A: where the kept elements stand ---

/// The four bits that place the kept pair `pair` of a row.
u32 metadataOf(const MatrixTile &tile, u8 *r, int row, int pair) {
  const u32 *words = at<u32>(r, tile.metadata);
  int perPair = tile.a == TileFormat::TF32 ? 2 : bitsOfFormat(tile.a) == 4 ? 8 : 4; // elements of k
  if (bitsOfFormat(tile.a) >= 16) { // half a word for each of the rows g and g+8
    int lanes = tile.k / perPair / 4, lane = 4 * (row % 8) + int(tile.selector) * lanes + pair / 4;
    return words[lane & 31] >> (row / 8 * 16 + pair % 4 * 4) & 15;
  }
  int lane = 4 * (row % 8) + row / 8 + 2 * (int(tile.selector) + pair / 8);
  return words[lane & 31] >> (pair % 8 * 4) & 15;
}

/// Where in k the kept element `i` of a row belongs.
int placeOfKept(const MatrixTile &tile, u8 *r, int row, int i) {
  if (tile.a == TileFormat::TF32) // one of two; the bits count halves
    return 2 * i + int(metadataOf(tile, r, row, i) >> 1 & 1);
  if (bitsOfFormat(tile.a) == 4) { // pairs: two of four
    int pair = i / 2, chunk = pair / 2;
    u32 where = metadataOf(tile, r, row, chunk) >> (2 * (pair % 2)) & 3;
    return 8 * chunk + 2 * int(where) + i % 2;
  }
  return 4 * (i / 2) + int(metadataOf(tile, r, row, i / 2) >> (2 * (i % 2)) & 3);
}

// --- the products ---

JOULE_INLINE Float16 fused(Float16 a, Float16 b, Float16 c) {
#if defined(__clang__)
  return __builtin_elementwise_fma(a, b, c);
#else
  for (int i = 0; i < 16; ++i)
    c[i] = __builtin_fmaf(a[i], b[i], c[i]);
  return c;
#endif
}

JOULE_INLINE Float16 fourTimes(const f32 *four) {
  using Row = f32 __attribute__((vector_size(16)));
  Row v = loadVector<Row>(four);
  return __builtin_shufflevector(v, v, 0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3);
}

// Eight columns of a product in the order of k. The sums stay as registers hold them: lane l has row l/4 (h:
// of the lower eight) and column 2(l%4) + e.

/// By k and h: each row four times.
using SpreadRows = f32[64][2][32];
/// By k: the even columns, then the odd ones.
using TurnedColumns = f32[64][8];

JOULE_INLINE void spreadRows(const f32 (&rows)[16][64], int k, SpreadRows &a) {
  using Row = f32 __attribute__((vector_size(16)));
  for (int i = 0; i < 16; ++i)
    for (int c = 0; c < k; ++c)
      storeVector(a[c][i / 8] + i % 8 * 4, Row{} + rows[i][c]);
}

/// Eight columns of k elements.
void turnColumns(TileFormat format, const u8 (*columns)[mostRowBytes], int k, TurnedColumns &b) {
  const u8 *rows[8];
  alignas(64) u8 turned[8 * 16];
  for (int q = 0; q < k / 8 && (format == TileFormat::F16 || format == TileFormat::BF16); ++q) {
    for (int i = 0; i < 8; ++i)
      rows[i] = columns[i % 4 * 2 + i / 4] + 16 * q;
    turnEight(rows, turned);
    toReals(format, turned, b[8 * q], 64);
  }
  if (format == TileFormat::F16 || format == TileFormat::BF16)
    return;
  f32 reals[8][64];
  for (int j = 0; j < 8; ++j)
    toReals(format, columns[j], reals[j], k);
  for (int e = 0; e < 2; ++e)
    for (int c = 0; c < k; c += 4)
      turnFour(reals[e] + c, 2 * 64, b[c] + 4 * e, 8);
}

#if defined(__AVX512F__)
constexpr int halvesAtOnce = 2; // as many sums as fit the machine's registers
#else
constexpr int halvesAtOnce = 1;
#endif

struct SumPlaces {
  u8 *of[2][2]; // by h and e
};

JOULE_INLINE void multiplyHalves(const SpreadRows &a, const TurnedColumns &b, int k, int first,
                                 const SumPlaces &sums) {
  Float16 s[halvesAtOnce][2][2]; // the last: half of the lanes
  for (int h = 0; h < halvesAtOnce; ++h)
    for (int e = 0; e < 2; ++e)
      memcpy(s[h][e], sums.of[first + h][e], sizeof s[h][e]);
  for (int c = 0; c < k; ++c)
    for (int h = 0; h < halvesAtOnce; ++h)
      for (int e = 0; e < 2; ++e)
        for (int q = 0; q < 2; ++q)
          s[h][e][q] =
              fused(loadVector<Float16>(a[c][first + h] + 16 * q), fourTimes(b[c] + 4 * e), s[h][e][q]);
  for (int h = 0; h < halvesAtOnce; ++h)
    for (int e = 0; e < 2; ++e)
      memcpy(sums.of[first + h][e], s[h][e], sizeof s[h][e]);
}

JOULE_INLINE void loadSums(const MatrixTile &tile, u8 *r, int j, f32 (&sums)[2][2][32]) {
  for (int h = 0; h < 2; ++h)
    for (int e = 0; e < 2; ++e) {
      if (tile.sum == TileFormat::F32) {
        memcpy(sums[e][h], r + tile.inC[4 * j + 2 * h + e], sizeof sums[e][h]);
        continue;
      }
      const f16 *pairs = at<f16>(r, tile.inC[2 * j + h]);
      for (int l = 0; l < 32; ++l)
        sums[e][h][l] = widen(pairs[2 * l + e]);
    }
}
JOULE_INLINE void storeSums(const MatrixTile &tile, u8 *r, int j, const f32 (&sums)[2][2][32]) {
  for (int h = 0; h < 2; ++h)
    for (int e = 0; e < 2; ++e) {
      if (tile.result == TileFormat::F32) {
        memcpy(r + tile.inD[4 * j + 2 * h + e], sums[e][h], sizeof sums[e][h]);
        continue;
      }
      f16 *pairs = at<f16>(r, tile.inD[2 * j + h]);
      for (int l = 0; l < 32; ++l)
        pairs[2 * l + e] = narrow<f16>(sums[e][h][l]);
    }
}

/// a: 16 rows of k.
void multiplyQuickly(const MatrixTile &tile, u8 *r, bool adds, const f32 (&a)[16][64], const Rows &columns) {
  alignas(64) SpreadRows spread;
  alignas(64) TurnedColumns turned;
  alignas(64) f32 sums[2][2][32]; // by e and h
  // A sum of wgmma is read and written in one place.
  bool inPlace = adds && tile.inC == tile.inD && tile.sum == TileFormat::F32;
  spreadRows(a, tile.k, spread);
  for (int j = 0; j < tile.n / 8; ++j) {
    turnColumns(tile.b, columns.bytes + 8 * j, tile.k, turned);
    memset(sums, 0, inPlace ? 0 : sizeof sums);
    if (adds && !inPlace)
      loadSums(tile, r, j, sums);
    SumPlaces places;
    for (int h = 0; h < 2; ++h)
      for (int e = 0; e < 2; ++e)
        places.of[h][e] = inPlace ? r + tile.inD[4 * j + 2 * h + e] : reinterpret_cast<u8 *>(sums[e][h]);
    for (int h = 0; h < 2; h += halvesAtOnce)
      multiplyHalves(spread, turned, tile.k, h, places);
    if (!inPlace)
      storeSums(tile, r, j, sums);
  }
}

/// The order of a sparse product's sum is that of the kept elements, so each row has columns of its own.
void multiplyRowExactly(const MatrixTile &tile, u8 *r, int row, const f32 *kept, const f32 *b, f32 *d) {
  int k = tile.k / 2;
  alignas(64) f32 a[16 * 32] = {}, columns[8 * 32], sums[16 * 8];
  for (int i = 0; i < k; ++i)
    a[i * 16] = kept[i];
  for (int j = 0; j < tile.n; j += 8) {
    for (int c = 0; c < 8; ++c) {
      memset(sums + c * 16, 0, 64);
      sums[c * 16] = d[(j + c) * 16 + row];
      for (int i = 0; i < k; ++i)
        columns[c * k + i] = b[(j + c) * tile.k + placeOfKept(tile, r, row, i)];
    }
    multiplyExactly(tile.rule, 16, 8, k, a, columns, sums, sums);
    for (int c = 0; c < 8; ++c)
      d[(j + c) * 16 + row] = sums[c * 16];
  }
}

// --- C and D ---

/// Visits each element of C or D: f(register, lane, part, row, column).
template <class F> JOULE_INLINE void eachSum(const MatrixTile &tile, F f) {
  int halves = tile.m / 8;
  for (int j = 0; j < tile.n / 8; ++j)
    for (int h = 0; h < halves; ++h)
      for (int l = 0; l < 32; ++l)
        for (int e = 0; e < 2; ++e)
          f((j * halves + h), l, e, l / 4 + 8 * h, 8 * j + 2 * (l % 4) + e);
}

bool addsC(const MatrixTile &tile, u8 *r, Warp *w) {
  return tile.keepsC == noRegister || (*at<u32>(r, tile.keepsC) >> __builtin_ctz(w->mask) & 1);
}

/// Columns of sixteen rows. A register of f32 is eight rows of four columns, every other one.
void loadReals(const MatrixTile &tile, u8 *r, f32 *c) {
  for (int q = 0; q < tile.n / 2 && tile.sum == TileFormat::F32; ++q)
    turn(at<f32>(r, tile.inC[q]), 4, 8, 4, c + (q / 4 * 8 + q % 2) * 16 + q / 2 % 2 * 8, 32);
  if (tile.sum == TileFormat::F16)
    eachSum(tile, [&](int q, int l, int e, int row, int column) {
      c[column * 16 + row] = widen(at<f16>(r, tile.inC[q])[2 * l + e]);
    });
}
void storeReals(const MatrixTile &tile, u8 *r, const f32 *d) {
  for (int q = 0; q < tile.n / 2 && tile.result == TileFormat::F32; ++q)
    turn(d + (q / 4 * 8 + q % 2) * 16 + q / 2 % 2 * 8, 32, 4, 8, at<f32>(r, tile.inD[q]), 4);
  if (tile.result == TileFormat::F16)
    eachSum(tile, [&](int q, int l, int e, int row, int column) {
      at<f16>(r, tile.inD[q])[2 * l + e] = narrow<f16>(d[column * 16 + row]);
    });
}

// --- the handlers ---

bool gatherRows(const Op *op, u8 *r, Warp *w, const MatrixTile &tile, Rows &a, Rows &b) {
  int lane = __builtin_ctz(w->mask), kept = tile.metadata == noRegister ? tile.k : tile.k / 2;
  int piece = tile.a == TileFormat::F64 ? 32 : 16, bytesOfA = rowBytes(tile.a, kept),
      bytesOfB = rowBytes(tile.b, tile.k);
  if (tile.descriptorA == noRegister)
    rowsFromRegisters(r, tile.inA, tile.m, bytesOfA, piece, true, a);
  else if (!rowsFromMemory(op, w, WarpgroupOperand(at<u64>(r, tile.descriptorA)[lane]),
                           int(w->index % 4) * 16, 16, bytesOfA, tile.rowsOfA, a))
    return false;
  if (tile.descriptorB != noRegister)
    return rowsFromMemory(op, w, WarpgroupOperand(at<u64>(r, tile.descriptorB)[lane]), 0, tile.n, bytesOfB,
                          tile.columnsOfB, b);
  rowsFromRegisters(r, tile.inB, tile.n, bytesOfB, piece, false, b);
  return true;
}

/// By the rule: A as columns of 16 rows, the sums as columns too.
void multiplyExactly(const MatrixTile &tile, u8 *r, bool adds, const f32 (&packed)[16][64],
                     const Rows &columns) {
  alignas(64) f32 a[64 * 16], b[mostColumnsOfTile * 64], d[mostColumnsOfTile * 16];
  for (int j = 0; j < tile.n; ++j)
    toReals(tile.b, columns.bytes[j], b + j * tile.k, tile.k);
  memset(d, 0, sizeof(f32) * 16 * size_t(tile.n));
  if (adds)
    loadReals(tile, r, d);
  if (tile.metadata == noRegister) {
    turn(packed[0], 64, 16, tile.k, a, 16);
    multiplyExactly(tile.rule, 16, tile.n, tile.k, a, b, d, d);
  } else
    for (int i = 0; i < 16; ++i)
      multiplyRowExactly(tile, r, i, packed[i], b, d);
  storeReals(tile, r, d);
}

constexpr int mostOfTileK = 128;

Status multiplyReals(const Op *op, u8 *r, Warp *w) {
  const auto &tile = *static_cast<const MatrixTile *>(op->data);
  Rows rowsOfA, rowsOfB;
  if (!gatherRows(op, r, w, tile, rowsOfA, rowsOfB))
    return Status::Fault;
  bool sparse = tile.metadata != noRegister, adds = addsC(tile, r, w);
  int kept = sparse ? tile.k / 2 : tile.k;
  alignas(64) f32 packed[16][64], a[16][64];
  for (int i = 0; i < 16; ++i)
    toReals(tile.a, rowsOfA.bytes[i], packed[i], kept);
  if (tile.negateA != tile.negateB)
    for (int i = 0; i < 16; ++i)
      for (int k = 0; k < kept; ++k)
        packed[i][k] = -packed[i][k];
  if (tile.exact) {
    multiplyExactly(tile, r, adds, packed, rowsOfB);
    JOULE_NEXT;
  }
  if (!sparse) {
    multiplyQuickly(tile, r, adds, packed, rowsOfB);
    JOULE_NEXT;
  }
  memset(a, 0, sizeof a);
  for (int i = 0; i < 16; ++i)
    for (int k = 0; k < kept; ++k)
      a[i][placeOfKept(tile, r, i, k)] = packed[i][k];
  multiplyQuickly(tile, r, adds, a, rowsOfB);
  JOULE_NEXT;
}

JOULE_INLINE s32 saturated(s64 x) {
  return x > 0x7fffffff ? 0x7fffffff : x < -0x80000000ll ? s32(-0x80000000ll) : s32(x);
}

/// What the products of a row and a column add up to; no sum of one instruction leaves 32 bits.
s32 productOf(const MatrixTile &tile, const s32 *a, const s32 *b) {
  s32 sum = 0;
  for (int k = 0; k < tile.k; ++k)
    sum += a[k] * b[k];
  return sum;
}
s32 productOfBits(const MatrixTile &tile, const u8 *a, const u8 *b) {
  s32 sum = 0;
  for (int i = 0; i < tile.k / 8; i += 4) {
    u32 x, y;
    memcpy(&x, a + i, 4);
    memcpy(&y, b + i, 4);
    sum += __builtin_popcount(tile.takesAnd ? x & y : x ^ y);
  }
  return sum;
}

Status multiplyIntegers(const Op *op, u8 *r, Warp *w) {
  const auto &tile = *static_cast<const MatrixTile *>(op->data);
  Rows rowsOfA, rowsOfB;
  if (!gatherRows(op, r, w, tile, rowsOfA, rowsOfB))
    return Status::Fault;
  bool bits = tile.a == TileFormat::B1, sparse = tile.metadata != noRegister, adds = addsC(tile, r, w);
  s32 a[16][mostOfTileK] = {}, b[mostColumnsOfTile][mostOfTileK], kept[mostOfTileK];
  for (int i = 0; i < tile.m && !bits; ++i) {
    toIntegers(tile.a, rowsOfA.bytes[i], sparse ? kept : a[i], sparse ? tile.k / 2 : tile.k);
    for (int k = 0; k < tile.k / 2 && sparse; ++k)
      a[i][placeOfKept(tile, r, i, k)] = kept[k];
  }
  for (int j = 0; j < tile.n && !bits; ++j)
    toIntegers(tile.b, rowsOfB.bytes[j], b[j], tile.k);
  eachSum(tile, [&](int q, int l, int e, int row, int column) {
    s32 sum = bits ? productOfBits(tile, rowsOfA.bytes[row], rowsOfB.bytes[column])
                   : productOf(tile, a[row], b[column]);
    s32 before = adds ? at<s32>(r, tile.inC[2 * q + e])[l] : 0;
    at<s32>(r, tile.inD[2 * q + e])[l] =
        tile.saturates ? saturated(s64(before) + sum) : s32(u32(before) + u32(sum));
  });
  JOULE_NEXT;
}

Status multiplyDoubles(const Op *op, u8 *r, Warp *w) {
  const auto &tile = *static_cast<const MatrixTile *>(op->data);
  Rows a, b;
  if (!gatherRows(op, r, w, tile, a, b))
    return Status::Fault;
  f64 sums[16][8];
  eachSum(tile, [&](int q, int l, int e, int row, int column) {
    f64 sum = at<f64>(r, tile.inC[2 * q + e])[l], x, y;
    for (int k = 0; k < tile.k; ++k) {
      memcpy(&x, a.bytes[row] + 8 * k, 8);
      memcpy(&y, b.bytes[column] + 8 * k, 8);
      sum = __builtin_fma(x, y, sum);
    }
    sums[row][column] = sum;
  });
  eachSum(tile, [&](int q, int l, int e, int row, int column) {
    at<f64>(r, tile.inD[2 * q + e])[l] = sums[row][column];
  });
  JOULE_NEXT;
}

/// wmma of 4-bit integers and of bits: fragments of A and B lie as those of mma.sync, C's by rows.
Status multiplySmallFragments(const Op *op, u8 *r, Warp *w) {
  const auto &tile = *static_cast<const MatrixTile *>(op->data);
  Rows rowsOfA, rowsOfB;
  gatherRows(op, r, w, tile, rowsOfA, rowsOfB);
  bool bits = tile.a == TileFormat::B1;
  s32 a[8][mostOfTileK], b[8][mostOfTileK], sums[64];
  for (int i = 0; i < 8 && !bits; ++i) {
    toIntegers(tile.a, rowsOfA.bytes[i], a[i], tile.k);
    toIntegers(tile.b, rowsOfB.bytes[i], b[i], tile.k);
  }
  for (int e = 0; e < 64; ++e) {
    s64 sum = *Fragment<s32>::find(r, tile.inC, e);
    sum += bits ? productOfBits(tile, rowsOfA.bytes[e / 8], rowsOfB.bytes[e % 8])
                : productOf(tile, a[e / 8], b[e % 8]);
    sums[e] = tile.saturates ? saturated(sum) : s32(sum);
  }
  for (int e = 0; e < 64; ++e)
    *Fragment<s32>::find(r, tile.inD, e) = sums[e];
  JOULE_NEXT;
}

// --- Volta's m8n8k4: four products side by side, each of eight lanes (four of the lower half warp and four
// of the upper) ---

struct OldFragment {
  int group, pair; // of the product; the lane's place among its four
  bool upper;
  explicit OldFragment(int lane) : group(lane % 16 / 4), pair(lane % 4), upper(lane >= 16) {}
  int own() const { return pair + 4 * upper; }
};

JOULE_INLINE f32 halfAt(u8 *r, const u32 *list, int lane, int i) {
  return widen(at<f16>(r, list[i / 2])[2 * lane + i % 2]);
}

/// rowsOfA, columnsOfB: how the fragments lie.
void gatherOld(const MatrixTile &tile, u8 *r, f32 (&a)[4][16 * 4], f32 (&b)[4][8 * 4]) {
  for (int l = 0; l < 32; ++l) {
    OldFragment f(l);
    for (int i = 0; i < 4; ++i) {
      int row = tile.rowsOfA ? f.own() : i + 4 * f.upper, k = tile.rowsOfA ? i : f.pair;
      a[f.group][k * 16 + row] = halfAt(r, tile.inA, l, i);
      int column = tile.columnsOfB ? f.own() : i + 4 * f.upper, kOfB = tile.columnsOfB ? i : f.pair;
      b[f.group][column * 4 + kOfB] = halfAt(r, tile.inB, l, i);
    }
  }
}
template <class F> JOULE_INLINE void eachOldSum(TileFormat format, F f) {
  for (int l = 0; l < 32; ++l)
    for (int i = 0; i < 8; ++i) {
      OldFragment o(l);
      bool half = format == TileFormat::F16;
      int row = half ? o.own() : (l & 1) + (i & 2) + 4 * o.upper;
      int column = half ? i : (i & 4) + (l & 2) + (i & 1);
      f(l, i, o.group, column * 16 + row);
    }
}

/// A: four columns of 16 rows; B: eight columns of four; d: eight columns of 16.
JOULE_INLINE void multiplyFour(const f32 *a, const f32 *b, f32 *d) {
  for (int j = 0; j < 8; ++j)
    for (int k = 0; k < 4; ++k)
      for (int i = 0; i < 16; ++i)
        d[j * 16 + i] = __builtin_fmaf(a[k * 16 + i], b[j * 4 + k], d[j * 16 + i]);
}

Status multiplyOld(const Op *op, u8 *r, Warp *w) {
  const auto &tile = *static_cast<const MatrixTile *>(op->data);
  alignas(64) f32 a[4][16 * 4] = {}, b[4][8 * 4], d[4][16 * 8] = {};
  gatherOld(tile, r, a, b);
  eachOldSum(tile.sum, [&](int l, int i, int group, int place) {
    d[group][place] = tile.sum == TileFormat::F16 ? halfAt(r, tile.inC, l, i) : at<f32>(r, tile.inC[i])[l];
  });
  for (int group = 0; group < 4; ++group)
    tile.exact ? multiplyExactly(tile.rule, 16, 8, 4, a[group], b[group], d[group], d[group])
               : multiplyFour(a[group], b[group], d[group]);
  eachOldSum(tile.result, [&](int l, int i, int group, int place) {
    if (tile.result == TileFormat::F16)
      at<f16>(r, tile.inD[i / 2])[2 * l + i % 2] = narrow<f16>(d[group][place]);
    else
      at<f32>(r, tile.inD[i])[l] = d[group][place];
  });
  JOULE_NEXT;
}

// --- moving 8x8 matrices ---

/// Lane i of the j-th group of eight names row i of the j-th matrix: as ldmatrix, the other way.
template <bool Transposed> Status storeMatrix(const Op *op, u8 *r, Warp *w) {
  Access access;
  u32 mask = w->mask;
  w->mask = allLanes >> (32 - 8 * op->n);
  bool ok = resolveSlowly(op, r, w, access, 16);
  w->mask = mask;
  if (!ok)
    return Status::Fault;
  for (int j = 0; j < op->n; ++j) {
    const u32 *s = at<u32>(r, op->n == 1 ? op->d : op->list[j]);
    u16 m[8][8];
    for (int l = 0; l < 32; ++l)
      for (int e = 0; e < 2; ++e) {
        int row = l / 4, column = 2 * (l % 4) + e;
        m[Transposed ? column : row][Transposed ? row : column] = u16(s[l] >> (16 * e));
      }
    for (int i = 0; i < 8; ++i)
      memcpy(reinterpret_cast<void *>(access.address[j * 8 + i]), m[i], 16);
  }
  JOULE_NEXT;
}

Status turnMatrix(const Op *op, u8 *r, Warp *w) {
  u32 out[32];
  const u16 *in = at<u16>(r, op->a);
  for (int l = 0; l < 32; ++l) {
    int row = l / 4, column = 2 * (l % 4);
    out[l] = in[column * 8 + row] | u32(in[(column + 1) * 8 + row]) << 16;
  }
  memcpy(r + op->d, out, sizeof out);
  JOULE_NEXT;
}

// --- the table ---

const HandlerEntry entries[] = {
    {"tile.reals", multiplyReals, ""},          {"tile.integers", multiplyIntegers, ""},
    {"tile.doubles", multiplyDoubles, ""},      {"tile.old", multiplyOld, ""},
    {"tile.small", multiplySmallFragments, ""}, {"stmatrix", storeMatrix<false>, ""},
    {"stmatrix.trans", storeMatrix<true>, ""},  {"movmatrix", turnMatrix, "4"},
};

} // namespace

HandlerTable tileHandlers() { return {entries, sizeof entries / sizeof entries[0]}; }

} // namespace joule::vgpu::JOULE_VGPU_ISA
