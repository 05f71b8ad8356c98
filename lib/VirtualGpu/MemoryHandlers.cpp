// Handlers that load, store and update memory.
#include "lib/VirtualGpu/HandlerParts.h"

namespace joule::vgpu::JOULE_VGPU_ISA {
namespace {

/// Rows of a tile are often shorter than a warp: eight lanes in turn may still read one place, or eight words
/// in a row.
JOULE_INLINE void gatherWords(u32 *d, const u64 *a, int k) {
  for (int i = 0; i < 32; i += 8) {
    const Word8 steps = {0, 4, 8, 12, 16, 20, 24, 28};
    Word8 places;
    memcpy(&places, a + i, sizeof places);
    const u32 *first = element<u32>(a[i], k);
    if (!any(places ^ a[i])) {
      Half8 all = Half8{} + *first;
      memcpy(d + i, &all, sizeof all);
    } else if (!any(places ^ (steps + a[i]))) {
      memcpy(d + i, first, 32);
    } else {
#if defined(__AVX512F__)
      __m512i wide = _mm512_add_epi64(_mm512_loadu_si512(a + i), _mm512_set1_epi64(4 * k));
      __m256i words = _mm512_i64gather_epi32(wide, nullptr, 1);
      _mm256_storeu_si256(reinterpret_cast<__m256i *>(d + i), words);
#else
      for (int j = i; j < i + 8; ++j)
        d[j] = *element<u32>(a[j], k);
#endif
    }
  }
}

template <class M, class R, int N>
JOULE_INLINE void loadElement(R *d, const Access &access, int k, u32 mask) {
  const u64 *a = access.address;
  switch (access.shape) {
  case Access::Uniform: {
    R value = R(*element<M>(a[0], k));
    JOULE_LANES
    for (int i = 0; i < 32; ++i)
      d[i] = value;
    return;
  }
  case Access::Unit: {
    const M *p = element<M>(a[0], k);
    JOULE_LANES
    for (int i = 0; i < 32; ++i)
      d[i] = R(p[i * N]);
    return;
  }
  case Access::Scattered:
    if (sizeof(M) == 4 && sizeof(R) == 4)
      return gatherWords(reinterpret_cast<u32 *>(d), a, k);
    for (int i = 0; i < 32; ++i)
      d[i] = R(*element<M>(a[i], k));
    return;
  case Access::Partial:
    for (u32 rest = mask; rest; rest &= rest - 1) {
      int i = __builtin_ctz(rest);
      d[i] = R(*element<M>(a[i], k));
    }
  }
}

template <class M, class R, int N>
JOULE_INLINE void storeElement(const R *s, const Access &access, int k, u32 mask) {
  const u64 *a = access.address;
  switch (access.shape) {
  case Access::Uniform:
    *element<M>(a[0], k) = M(s[31]);
    return;
  case Access::Unit: {
    M *p = element<M>(a[0], k);
    JOULE_LANES
    for (int i = 0; i < 32; ++i)
      p[i * N] = M(s[i]);
    return;
  }
  case Access::Scattered:
    for (int i = 0; i < 32; ++i)
      *element<M>(a[i], k) = M(s[i]);
    return;
  case Access::Partial:
    for (u32 rest = mask; rest; rest &= rest - 1) {
      int i = __builtin_ctz(rest);
      *element<M>(a[i], k) = M(s[i]);
    }
  }
}

// Four words per lane from 32 places. Turning rows of four into columns in registers takes a third of the
// time of fetching word by word. Tiles of a matrix often make the two halves of a warp read the same, or one
// place each.
#if defined(__AVX512F__)
JOULE_INLINE __m512i fourRows(const u64 *a) {
  auto row = [&](int i) { return _mm_loadu_si128(reinterpret_cast<const __m128i *>(a[i])); };
  __m512i rows = _mm512_castsi128_si512(row(0));
  rows = _mm512_inserti32x4(rows, row(4), 1);
  rows = _mm512_inserti32x4(rows, row(8), 2);
  return _mm512_inserti32x4(rows, row(12), 3);
}

JOULE_INLINE void loadHalfWarp(const u64 *a, __m512i *out) {
  __m512i r0 = fourRows(a), r1 = fourRows(a + 1), r2 = fourRows(a + 2), r3 = fourRows(a + 3);
  __m512i low01 = _mm512_unpacklo_epi32(r0, r1), high01 = _mm512_unpackhi_epi32(r0, r1);
  __m512i low23 = _mm512_unpacklo_epi32(r2, r3), high23 = _mm512_unpackhi_epi32(r2, r3);
  out[0] = _mm512_unpacklo_epi64(low01, low23);
  out[1] = _mm512_unpackhi_epi64(low01, low23);
  out[2] = _mm512_unpacklo_epi64(high01, high23);
  out[3] = _mm512_unpackhi_epi64(high01, high23);
}

JOULE_INLINE void loadOnePlace(u64 a, __m512i *out) {
  for (int k = 0; k < 4; ++k)
    out[k] = _mm512_set1_epi32(s32(element<u32>(a, k)[0]));
}

JOULE_INLINE void loadRows(const Op *op, u8 *r, const u64 *a) {
  auto v = [&](int i) { return _mm512_load_si512(a + 8 * i); };
  auto differs8 = [](__m512i x, __m512i y) { return _mm512_cmpneq_epi64_mask(x, y); };
  bool sameHalves = !(differs8(v(0), v(2)) | differs8(v(1), v(3)));
  __m512i out[4];
  for (int h = 0; h < 2; ++h) {
    __m512i first = _mm512_set1_epi64(s64(a[16 * h]));
    if (h == 0 || !sameHalves) {
      if (!(differs8(v(2 * h), first) | differs8(v(2 * h + 1), first)))
        loadOnePlace(a[16 * h], out);
      else
        loadHalfWarp(a + 16 * h, out);
    }
    for (int k = 0; k < 4; ++k)
      _mm512_storeu_si512(at<u32>(r, op->list[k]) + 16 * h, out[k]);
  }
}
#else
JOULE_INLINE void loadRows(const Op *op, u8 *r, const u64 *a) {
  using Row = u32 __attribute__((vector_size(16)));
  for (int i = 0; i < 32; i += 4) {
    Row in[4], out[4];
    for (int j = 0; j < 4; ++j)
      memcpy(&in[j], reinterpret_cast<const void *>(a[i + j]), sizeof in[j]);
    for (int k = 0; k < 4; ++k)
      out[k] = Row{in[0][k], in[1][k], in[2][k], in[3][k]};
    for (int k = 0; k < 4; ++k)
      memcpy(at<u32>(r, op->list[k]) + i, &out[k], sizeof out[k]);
  }
}
#endif

template <class M, class R, int N> Status load(const Op *op, u8 *r, Warp *w) {
  Access access;
  if (!resolve<sizeof(M) * N>(op, r, w, access))
    return Status::Fault;
  if (sizeof(M) == 4 && sizeof(R) == 4 && N == 4 &&
      (access.shape == Access::Scattered || access.shape == Access::Unit)) {
    loadRows(op, r, access.address);
    JOULE_NEXT;
  }
  for (int k = 0; k < N; ++k)
    loadElement<M, R, N>(at<R>(r, N == 1 ? op->d : op->list[k]), access, k, w->mask);
  JOULE_NEXT;
}

template <class M, class R, int N> Status store(const Op *op, u8 *r, Warp *w) {
  Access access;
  if (!resolve<sizeof(M) * N>(op, r, w, access))
    return Status::Fault;
  for (int k = 0; k < N; ++k)
    storeElement<M, R, N>(at<R>(r, N == 1 ? op->d : op->list[k]), access, k, w->mask);
  JOULE_NEXT;
}

/// A parameter of the kernel at a known offset.
template <class M, class R> Status loadParameter(const Op *op, u8 *r, Warp *w) {
  M raw;
  memcpy(&raw, w->params + op->imm, sizeof raw);
  R *d = at<R>(r, op->d), value = R(raw);
  JOULE_LANES
  for (int i = 0; i < 32; ++i)
    d[i] = value;
  JOULE_NEXT;
}

/// Parameters of a call lie in the frame, one lane after the other: b bytes per lane from a.
template <class M, class R> Status loadFrame(const Op *op, u8 *r, Warp *w) {
  R *d = at<R>(r, op->d);
  for (int i = 0; i < 32; ++i) {
    M raw;
    memcpy(&raw, r + op->a + i * op->b + op->imm, sizeof raw);
    d[i] = R(raw);
  }
  JOULE_NEXT;
}
template <class M, class R> Status storeFrame(const Op *op, u8 *r, Warp *w) {
  const R *s = at<R>(r, op->d);
  for (u32 rest = w->mask; rest; rest &= rest - 1) {
    int i = __builtin_ctz(rest);
    M raw = M(s[i]);
    memcpy(r + op->a + i * op->b + op->imm, &raw, sizeof raw);
  }
  JOULE_NEXT;
}

template <class T> Status atomic(const Op *op, u8 *r, Warp *w) {
  Access access;
  w->budget -= 32; // a loop around an atomic may be a wait for someone else: let it yield early
  if (!resolveSlowly(op, r, w, access, sizeof(T)))
    return Status::Fault;
  for (u32 rest = w->mask; rest; rest &= rest - 1) {
    int i = __builtin_ctz(rest);
    u64 old = scalar::atomic(op->n, reinterpret_cast<void *>(access.address[i]), at<T>(r, op->b)[i],
                             at<T>(r, op->c)[i]);
    if (op->d != noRegister)
      at<T>(r, op->d)[i] = T(old);
  }
  JOULE_NEXT;
}

JOULE_INLINE bool resolveCopy(const Op *op, u8 *r, Warp *w, Access &access) {
  return op->n == 16  ? resolve<16>(op, r, w, access)
         : op->n == 8 ? resolve<8>(op, r, w, access)
                      : resolve<4>(op, r, w, access);
}

Status copyAsync(const Op *op, u8 *r,
                 Warp *w) { // a: to, b: from, n: bytes, c: a register with the bytes to read
  Access to, from;
  Op source = *op;
  source.a = op->b;
  source.imm = s64(op->data);
  source.space = op->e;
  source.flags = op->guard;
  Op target = *op;
  target.flags |= storesData;
  u32 mask = w->mask, reading = 0;
  for (u32 rest = mask; rest; rest &= rest - 1) {
    int i = __builtin_ctz(rest);
    if (op->c == noRegister || at<u32>(r, op->c)[i] != 0)
      reading |= 1u << i;
  }
  if (!resolveCopy(&target, r, w, to))
    return Status::Fault;
  w->mask = reading;
  bool readable = resolveCopy(&source, r, w, from);
  w->mask = mask;
  if (!readable)
    return Status::Fault;
  for (u32 rest = mask; rest; rest &= rest - 1) {
    int i = __builtin_ctz(rest);
    u32 bytes = op->c == noRegister ? op->n : at<u32>(r, op->c)[i];
    if (bytes > op->n)
      bytes = op->n;
    u8 *p = reinterpret_cast<u8 *>(to.address[i]);
    const u8 *q = reinterpret_cast<const u8 *>(from.address[i]);
    if (bytes == 16) { // mostly, and without a call
      memcpy(p, q, 16);
      continue;
    }
    memset(p + bytes, 0, op->n - bytes);
    if (bytes)
      memcpy(p, q, bytes);
  }
  JOULE_NEXT;
}

Status localAddress(const Op *op, u8 *r, Warp *w) {
  u64 *d = at<u64>(r, op->d), value = w->localBase + u64(op->imm);
  for (int i = 0; i < 32; ++i)
    d[i] = value;
  JOULE_NEXT;
}

Status isSpace(const Op *op, u8 *r, Warp *w) {
  u32 bits = 0;
  for (int i = 0; i < 32; ++i)
    bits |= u32(at<u64>(r, op->a)[i] >> op->n == u64(op->imm)) << i;
  *at<u32>(r, op->d) = bits;
  JOULE_NEXT;
}

// --- the table ---

#define JOULE_VECTOR(name, F, M, R, suffix)                                                                  \
  {name ".1." suffix, F<M, R, 1>, ""}, {name ".2." suffix, F<M, R, 2>, ""}, {                                \
    name ".4." suffix, F<M, R, 4>, ""                                                                        \
  }
#define JOULE_MEMORY(name, F)                                                                                \
  JOULE_VECTOR(name, F, u8, u16, "u8.2"), JOULE_VECTOR(name, F, s8, s16, "s8.2"),                            \
      JOULE_VECTOR(name, F, u16, u16, "u16.2"), JOULE_VECTOR(name, F, u8, u32, "u8.4"),                      \
      JOULE_VECTOR(name, F, s8, s32, "s8.4"), JOULE_VECTOR(name, F, u16, u32, "u16.4"),                      \
      JOULE_VECTOR(name, F, s16, s32, "s16.4"), JOULE_VECTOR(name, F, u32, u32, "u32.4"),                    \
      {name ".1.u8.8", F<u8, u64, 1>, ""}, {name ".1.s8.8", F<s8, s64, 1>, ""},                              \
      {name ".1.u16.8", F<u16, u64, 1>, ""}, {name ".1.s16.8", F<s16, s64, 1>, ""},                          \
      {name ".1.u32.8", F<u32, u64, 1>, ""}, {name ".1.s32.8", F<s32, s64, 1>, ""},                          \
      {name ".1.u64.8", F<u64, u64, 1>, ""}, {                                                               \
    name ".2.u64.8", F<u64, u64, 2>, ""                                                                      \
  }
#define JOULE_FRAME(name, F, result2, result4, result8)                                                      \
  {name ".u8.2", F<u8, u16>, result2}, {name ".s8.2", F<s8, s16>, result2},                                  \
      {name ".u16.2", F<u16, u16>, result2}, {name ".u8.4", F<u8, u32>, result4},                            \
      {name ".s8.4", F<s8, s32>, result4}, {name ".u16.4", F<u16, u32>, result4},                            \
      {name ".s16.4", F<s16, s32>, result4}, {name ".u32.4", F<u32, u32>, result4},                          \
      {name ".u8.8", F<u8, u64>, result8}, {name ".u16.8", F<u16, u64>, result8},                            \
      {name ".u32.8", F<u32, u64>, result8}, {name ".s32.8", F<s32, s64>, result8}, {                        \
    name ".u64.8", F<u64, u64>, result8                                                                      \
  }

const HandlerEntry entries[] = {
    JOULE_MEMORY("ld", load),
    JOULE_MEMORY("st", store),
    JOULE_FRAME("ldparam", loadParameter, "2", "4", "8"),
    JOULE_FRAME("ldframe", loadFrame, "2", "4", "8"),
    JOULE_FRAME("stframe", storeFrame, "", "", ""),
    {"atom.2", atomic<u16>, ""},
    {"atom.4", atomic<u32>, ""},
    {"atom.8", atomic<u64>, ""},
    {"cpasync", copyAsync, ""},
    {"localaddress", localAddress, "8"},
    {"isspace", isSpace, "p"},
};

} // namespace

HandlerTable memoryHandlers() { return {entries, sizeof entries / sizeof entries[0]}; }

} // namespace joule::vgpu::JOULE_VGPU_ISA
