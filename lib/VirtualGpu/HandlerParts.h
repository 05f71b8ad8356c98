// What the handlers of one instruction set share. Included only by files that are compiled once per
// instruction set, with JOULE_VGPU_ISA naming it: everything lives in that namespace, and no template of the
// standard library is used, so that no code of one set can stand in for another's at link time.
//
// A handler works on all 32 lanes: writing lanes that have exited, or that the mask blends back, is harmless.
// Only memory accesses look at the mask.
#pragma once

#include "lib/VirtualGpu/Program.h"
#include "lib/VirtualGpu/Scalar.h"

#include <math.h>
#include <string.h>
#if defined(__AVX2__)
#include <immintrin.h>
#endif

#if defined(__clang__)
#define JOULE_LANES _Pragma("clang loop vectorize(assume_safety)")
#else
#define JOULE_LANES _Pragma("GCC ivdep")
#endif
#define JOULE_NEXT JOULE_TAIL return op[1].fn(op + 1, r, w)
#define JOULE_INLINE static inline __attribute__((always_inline))

namespace joule::vgpu::JOULE_VGPU_ISA {
namespace {

using u8 = uint8_t;
using u16 = uint16_t;
using u32 = uint32_t;
using u64 = uint64_t;
using s8 = int8_t;
using s16 = int16_t;
using s32 = int32_t;
using s64 = int64_t;
using f32 = float;
using f64 = double;
struct f16 {
  u16 bits;
};
struct bf16 {
  u16 bits;
};

template <class T> JOULE_INLINE T *at(u8 *r, u32 offset) { return reinterpret_cast<T *>(r + offset); }
template <class To, class From> JOULE_INLINE To bitsOf(From from) {
  static_assert(sizeof(To) == sizeof(From));
  To to;
  memcpy(&to, &from, sizeof to);
  return to;
}

template <class T> struct UnsignedOf { using type = T; };
template <> struct UnsignedOf<s16> { using type = u16; };
template <> struct UnsignedOf<s32> { using type = u32; };
template <> struct UnsignedOf<s64> { using type = u64; };
template <> struct UnsignedOf<f32> { using type = u32; };
template <> struct UnsignedOf<f64> { using type = u64; };
template <class T> using Unsigned = typename UnsignedOf<T>::type;

// --- predicates: one bit per lane ---

#if defined(__clang__)
template <class T> using Lanes = T __attribute__((ext_vector_type(32)));
using LaneBits = bool __attribute__((ext_vector_type(32)));
template <class T> JOULE_INLINE Lanes<T> lanes(const T *p) {
  Lanes<T> v;
  memcpy(&v, p, sizeof v);
  return v;
}
template <class V> JOULE_INLINE u32 toBits(V compared) {
  LaneBits bits = __builtin_convertvector(compared, LaneBits);
  return __builtin_bit_cast(u32, bits);
}
template <class F, class T> JOULE_INLINE u32 compare(const T *a, const T *b) {
  return toBits(F::run(lanes(a), lanes(b)));
}
template <class T> JOULE_INLINE u32 differs(const T *a, T value) {
  return toBits(lanes(a) != Lanes<T>(value));
}
template <class T> JOULE_INLINE u32 below(const T *a, T value) { return toBits(lanes(a) < Lanes<T>(value)); }
template <class T> JOULE_INLINE u32 anyBits(const T *a, T bits) {
  return toBits((lanes(a) & Lanes<T>(bits)) != Lanes<T>(0));
}
template <class T> JOULE_INLINE void select(T *d, u32 p, const T *a, const T *b) {
  auto mask = __builtin_convertvector(__builtin_bit_cast(LaneBits, p), Lanes<T>) != Lanes<T>(0);
  Lanes<T> v = mask ? lanes(a) : lanes(b);
  memcpy(d, &v, sizeof v);
}
#else
template <class F, class T> JOULE_INLINE u32 compare(const T *a, const T *b) {
  u32 bits = 0;
  for (int i = 0; i < 32; ++i)
    bits |= u32(!!F::run(a[i], b[i])) << i;
  return bits;
}
template <class T, class F> JOULE_INLINE u32 bitsWhere(const T *a, F f) {
  u32 bits = 0;
  for (int i = 0; i < 32; ++i)
    bits |= u32(!!f(a[i])) << i;
  return bits;
}
template <class T> JOULE_INLINE u32 differs(const T *a, T value) {
  return bitsWhere(a, [=](T x) { return x != value; });
}
template <class T> JOULE_INLINE u32 below(const T *a, T value) {
  return bitsWhere(a, [=](T x) { return x < value; });
}
template <class T> JOULE_INLINE u32 anyBits(const T *a, T bits) {
  return bitsWhere(a, [=](T x) { return (x & bits) != 0; });
}
template <class T> JOULE_INLINE void select(T *d, u32 p, const T *a, const T *b) {
  for (int i = 0; i < 32; ++i)
    d[i] = p >> i & 1 ? a[i] : b[i];
}
#endif

// --- half precision ---

JOULE_INLINE f32 widen(bf16 x) { return bitsOf<f32>(u32(x.bits) << 16); }
JOULE_INLINE f32 widen(f16 x) {
  u32 magnitude = x.bits & 0x7fffu, sign = u32(x.bits & 0x8000u) << 16;
  f32 normal = bitsOf<f32>((magnitude << 13) + 0x38000000u);           // exponent bias 15 to 127
  f32 small = bitsOf<f32>((magnitude << 13) + 0x38800000u) - 0x1p-14f; // subnormal: let the unit normalise it
  u32 bits = magnitude < 0x400     ? bitsOf<u32>(small)
             : magnitude >= 0x7c00 ? (magnitude << 13) | 0x7f800000u
                                   : bitsOf<u32>(normal);
  return bitsOf<f32>(bits | sign);
}
JOULE_INLINE u16 narrowToF16(f32 x) {
  u32 bits = bitsOf<u32>(x), sign = bits >> 16 & 0x8000u, magnitude = bits & 0x7fffffffu;
  f32 small = bitsOf<f32>(magnitude) + 0.5f; // adding 1/2 rounds a would-be subnormal at its last place
  u32 subnormal = bitsOf<u32>(small) - 0x3f000000u;
  u32 normal = (magnitude + 0xc8000fffu + (magnitude >> 13 & 1)) >> 13;
  u32 out = magnitude > 0x7f800000u    ? 0x7fffu
            : magnitude >= 0x477ff000u ? 0x7c00u
            : magnitude < 0x38800000u  ? subnormal
                                       : normal;
  return u16(magnitude > 0x7f800000u ? out : out | sign);
}
JOULE_INLINE u16 narrowToBf16(f32 x) {
  u32 bits = bitsOf<u32>(x);
  return u16((bits & 0x7fffffffu) > 0x7f800000u ? 0x7fffu : (bits + 0x7fffu + (bits >> 16 & 1)) >> 16);
}
template <class H> JOULE_INLINE H narrow(f32 x);
template <> inline __attribute__((always_inline)) f16 narrow<f16>(f32 x) { return {narrowToF16(x)}; }
template <> inline __attribute__((always_inline)) bf16 narrow<bf16>(f32 x) { return {narrowToBf16(x)}; }

// --- addresses ---

/// Where the 32 lanes of an access go, as addresses of the host.
struct Access {
  alignas(64) u64 address[32];
  enum Shape { Uniform, Unit, Scattered, Partial } shape;
};

JOULE_INLINE u64 loadAddress(const Op *op, u8 *r, int lane) {
  return op->flags & address32 ? u64(u32(at<u32>(r, op->a)[lane] + u32(op->imm)))
                               : at<u64>(r, op->a)[lane] + u64(op->imm);
}

/// Turns one lane's address in a space other than global into the host's; 0 if it leaves the space.
inline u64 translate(Warp *w, u64 address, unsigned space, unsigned bytes, int lane) {
  if (space == inGeneric) {
    u64 window = address >> 56;
    if (window == 0)
      return address;
    address &= (1ull << 56) - 1;
    space = window == sharedWindow >> 56 ? inShared : window == localWindow >> 56 ? inLocal : inParam;
    if (window > 3)
      return 0;
  }
  if (space == inShared)
    return address + bytes <= w->sharedSize && address < w->sharedSize ? u64(w->shared) + address
                                                                       : sharedOfCluster(w, address, bytes);
  if (space == inLocal)
    return address + bytes <= w->localStride && address < w->localStride
               ? u64(w->local) + address + lane * w->localStride
               : 0;
  return address + bytes <= w->paramSize && address < w->paramSize ? u64(w->params) + address : 0;
}

/// Any space, any mask: lane by lane. Spaces other than global are checked here, global in the range cache.
__attribute__((noinline)) inline bool resolveSlowly(const Op *op, u8 *r, Warp *w, Access &access,
                                                    unsigned bytes) {
  access.shape = Access::Partial;
  for (u32 rest = w->mask; rest; rest &= rest - 1) {
    int lane = __builtin_ctz(rest);
    u64 given = loadAddress(op, r, lane);
    if (given & (bytes - 1))
      return raiseFault(w, op, FaultKind::Misaligned, given, lane), false;
    u64 host = given;
    bool global = op->space == inGlobal || (op->space == inGeneric && given >> 56 == 0);
    if (!global)
      host = translate(w, given, op->space, bytes, lane);
    else if ((host < w->ranges[op->slot].low || host + bytes > w->ranges[op->slot].high) &&
             !findRange(w, op, host, host + bytes))
      host = 0;
    if (!host)
      return raiseFault(w, op, FaultKind::IllegalAddress, given, lane), false;
    access.address[lane] = host;
  }
  if (w->memory)
    countAccess(w, op, access.address, w->mask, bytes);
  return true;
}

/// The 32 addresses as four vectors, which stay in registers while their shape is found out.
using Word8 = u64 __attribute__((vector_size(64)));
using Half8 = u32 __attribute__((vector_size(32)));
struct Addresses {
  Word8 v[4];
};

#if defined(__clang__)
using Bool8 = bool __attribute__((ext_vector_type(8)));
JOULE_INLINE bool any(Word8 v) { return __builtin_bit_cast(u8, __builtin_convertvector(v != 0, Bool8)) != 0; }
#else
JOULE_INLINE bool any(Word8 v) {
  u64 bits = 0;
  for (int i = 0; i < 8; ++i)
    bits |= v[i];
  return bits != 0;
}
#endif

JOULE_INLINE Addresses addresses(const Op *op, u8 *r, u64 base) {
  Addresses a;
  for (int i = 0; i < 4; ++i) {
    if (op->flags & address32) {
      Half8 narrow;
      memcpy(&narrow, at<u32>(r, op->a) + 8 * i, sizeof narrow);
      a.v[i] = __builtin_convertvector(narrow + u32(op->imm), Word8) + base;
    } else {
      memcpy(&a.v[i], at<u64>(r, op->a) + 8 * i, sizeof a.v[i]);
      a.v[i] += base + u64(op->imm);
    }
  }
  return a;
}

JOULE_INLINE bool isUniform(const Addresses &a) {
  u64 first = a.v[0][0];
  return !any((a.v[0] ^ first) | (a.v[1] ^ first) | (a.v[2] ^ first) | (a.v[3] ^ first));
}

template <int Step> JOULE_INLINE bool isUnitStride(const Addresses &a) {
  const Word8 steps = {0, Step, 2 * Step, 3 * Step, 4 * Step, 5 * Step, 6 * Step, 7 * Step};
  Word8 want = steps + a.v[0][0];
  return !any((a.v[0] ^ want) | (a.v[1] ^ (want + 8 * Step)) | (a.v[2] ^ (want + 16 * Step)) |
              (a.v[3] ^ (want + 24 * Step)));
}

JOULE_INLINE Word8 larger(Word8 a, Word8 b) { return a > b ? a : b; }

/// Decides the shape and tests range and alignment; what does not pass is looked at again lane by lane.
template <int Bytes> JOULE_INLINE bool inRange(const Addresses &a, u64 low, u64 high, Access::Shape &shape) {
  u64 room = high - low - Bytes, first = a.v[0][0] - low;
  if (high - low < Bytes)
    return false;
  shape = isUniform(a) ? Access::Uniform : isUnitStride<Bytes>(a) ? Access::Unit : Access::Scattered;
  if (shape == Access::Scattered) {
    Word8 furthest = larger(larger(a.v[0] - low, a.v[1] - low), larger(a.v[2] - low, a.v[3] - low));
    Word8 odd = (a.v[0] | a.v[1] | a.v[2] | a.v[3]) & u64(Bytes - 1);
    return !any(Word8(furthest > room) | odd);
  }
  u64 span = shape == Access::Unit ? 31 * Bytes : 0;
  return first <= room && span <= room && first + span <= room && !(a.v[0][0] & (Bytes - 1));
}

template <int Bytes> JOULE_INLINE bool resolve(const Op *op, u8 *r, Warp *w, Access &access) {
  u64 base = 0;
  Range range = w->ranges[op->slot];
  unsigned space = op->space;
  u32 mask = w->mask;
  if (mask == 0)
    return resolveSlowly(op, r, w, access, Bytes);
  if (space == inGeneric) {
    u64 window = loadAddress(op, r, __builtin_ctz(mask)) >> 56;
    space = window == 0 ? inGlobal : window == 1 ? inShared : inLocal;
    base = window == 1 ? 0 - sharedWindow : 0;
  }
  if (space == inShared) {
    // Shared addresses are offsets, so the range test may look at the sums.
    range.low = u64(w->shared), range.high = u64(w->shared) + w->sharedSize;
    base += range.low;
  } else if (space != inGlobal) {
    return resolveSlowly(op, r, w, access, Bytes);
  }
  Addresses a = addresses(op, r, base);
  memcpy(access.address, &a, sizeof a);
  if (mask != allLanes) { // the others go where the first goes that runs
    u64 first = access.address[__builtin_ctz(mask)];
    for (int i = 0; i < 32; ++i)
      access.address[i] = mask >> i & 1 ? access.address[i] : first;
    memcpy(&a, access.address, sizeof a);
  }
  if (!inRange<Bytes>(a, range.low, range.high, access.shape))
    return resolveSlowly(op, r, w, access, Bytes);
  if (mask != allLanes)
    access.shape = Access::Partial;
  if (__builtin_expect(w->memory != nullptr, 0))
    countAccess(w, op, access.address, mask, Bytes);
  return true;
}

template <class M> JOULE_INLINE M *element(u64 address, int k) { return reinterpret_cast<M *>(address) + k; }

} // namespace
} // namespace joule::vgpu::JOULE_VGPU_ISA
