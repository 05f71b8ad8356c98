// The arithmetic and memory handlers of the interpreter. Compiled once per instruction set, with
// JOULE_VGPU_ISA naming it; everything lives in that namespace and no function of the standard library's
// templates is used, so that no code of one set can stand in for another's at link time.
//
// A handler works on all 32 lanes: writing lanes that have exited, or that the mask blends back, is harmless.
// Only memory accesses look at the mask.
#include "lib/VirtualGpu/Program.h"
#include "lib/VirtualGpu/Scalar.h"

#include <math.h>
#include <string.h>
#if defined(__AVX2__)
#include <immintrin.h>
#endif

#if defined(__clang__)
#define JOULE_TAIL [[clang::musttail]]
#define JOULE_LANES _Pragma("clang loop vectorize(assume_safety)")
#else
#define JOULE_TAIL
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

// --- the shapes of arithmetic handlers ---

template <class F, class D, class A, int N = 32> Status unary(const Op *op, u8 *r, Warp *w) {
  D *d = at<D>(r, op->d);
  const A *a = at<A>(r, op->a);
  JOULE_LANES
  for (int i = 0; i < N; ++i)
    d[i] = F::template run<D>(a[i]);
  JOULE_NEXT;
}

template <class F, class D, class A, class B = A, int N = 32> Status binary(const Op *op, u8 *r, Warp *w) {
  D *d = at<D>(r, op->d);
  const A *a = at<A>(r, op->a);
  const B *b = at<B>(r, op->b);
  JOULE_LANES
  for (int i = 0; i < N; ++i)
    d[i] = F::template run<D>(a[i], b[i]);
  JOULE_NEXT;
}

template <class F, class D, class A, class B = A, class C = A, int N = 32>
Status ternary(const Op *op, u8 *r, Warp *w) {
  D *d = at<D>(r, op->d);
  const A *a = at<A>(r, op->a);
  const B *b = at<B>(r, op->b);
  const C *c = at<C>(r, op->c);
  JOULE_LANES
  for (int i = 0; i < N; ++i)
    d[i] = F::template run<D>(a[i], b[i], c[i]);
  JOULE_NEXT;
}

#define JOULE_OP1(Name, expr)                                                                                \
  struct Name {                                                                                              \
    template <class D, class A> JOULE_INLINE D run(A a) { return expr; }                                     \
  };
#define JOULE_OP2(Name, expr)                                                                                \
  struct Name {                                                                                              \
    template <class D, class A, class B> JOULE_INLINE D run(A a, B b) { return expr; }                       \
  };
#define JOULE_OP3(Name, expr)                                                                                \
  struct Name {                                                                                              \
    template <class D, class A, class B, class C> JOULE_INLINE D run(A a, B b, C c) { return expr; }         \
  };
#undef JOULE_INLINE
#define JOULE_INLINE static inline __attribute__((always_inline))

// --- integers ---

JOULE_OP1(Move, a)
JOULE_OP1(Not, D(~a))
JOULE_OP1(Negate, D(0 - a))
JOULE_OP1(Absolute, D(a < 0 ? 0 - Unsigned<A>(a) : a))
JOULE_OP1(LogicalNot, D(a == 0))
JOULE_OP2(Add, D(a + b))
JOULE_OP2(Subtract, D(a - b))
JOULE_OP2(Multiply, D(a *b))
JOULE_OP2(MultiplyWide, D(a) * D(b))
JOULE_OP3(MultiplyWideAdd, D(a) * D(b) + c)
JOULE_OP2(And, D(a &b))
JOULE_OP2(Or, D(a | b))
JOULE_OP2(Xor, D(a ^ b))
JOULE_OP2(Minimum, D(a < b ? a : b))
JOULE_OP2(Maximum, D(a > b ? a : b))
JOULE_OP2(ShiftLeft, D(b < sizeof(A) * 8 ? Unsigned<A>(a) << (b & (sizeof(A) * 8 - 1)) : 0))
JOULE_OP2(ShiftRight, D(a >> (b < sizeof(A) * 8 ? b : sizeof(A) * 8 - 1)))
JOULE_OP2(ShiftRightLogical, D(b < sizeof(A) * 8 ? a >> (b & (sizeof(A) * 8 - 1)) : 0))
JOULE_OP3(MultiplyAdd, D(a *b + c))
JOULE_OP2(MultiplyHigh32,
          D((sizeof(A) == 4 ? (A(-1) < 0 ? s64(a) * s64(b) : s64(u64(a) * u64(b))) : s64(a) * s64(b)) >>
            (sizeof(A) * 8)))
JOULE_OP2(MultiplyHigh64, D((A(-1) < 0 ? (unsigned __int128)((__int128)a * (__int128)b)
                                       : (unsigned __int128)a * (unsigned __int128)b) >>
                            64))
JOULE_OP3(Mad24, D(A(-1) < 0 ? s32(u32(a) << 8) / 256 * (s32(u32(b) << 8) / 256) + s32(c)
                             : s32((a & 0xffffff) * (b & 0xffffff) + c)))
JOULE_OP3(AddDifference, D((a < b ? b - a : a - b) + c))
JOULE_OP2(AddSaturated, D(__builtin_elementwise_add_sat(a, b)))
JOULE_OP2(SubtractSaturated, D(__builtin_elementwise_sub_sat(a, b)))

struct Divide {
  template <class D, class A> JOULE_INLINE D run(A a, A b) {
    if (b == 0)
      return D(-1);
    if (A(-1) < 0 && b == A(-1))
      return D(0 - Unsigned<A>(a));
    return D(a / b);
  }
};
struct Remainder {
  template <class D, class A> JOULE_INLINE D run(A a, A b) {
    if (b == 0)
      return D(a);
    if (A(-1) < 0 && b == A(-1))
      return 0;
    return D(a % b);
  }
};

JOULE_OP1(CountOnes, D(sizeof(A) == 8 ? __builtin_popcountll(a) : __builtin_popcount(u32(a))))
JOULE_OP1(CountLeadingZeros, D(a == 0           ? sizeof(A) * 8
                               : sizeof(A) == 8 ? __builtin_clzll(a)
                                                : __builtin_clz(u32(a))))

struct Reverse {
  template <class D> JOULE_INLINE D run(u32 x) {
    x = (x >> 1 & 0x55555555) | (x & 0x55555555) << 1;
    x = (x >> 2 & 0x33333333) | (x & 0x33333333) << 2;
    x = (x >> 4 & 0x0f0f0f0f) | (x & 0x0f0f0f0f) << 4;
    x = (x >> 8 & 0x00ff00ff) | (x & 0x00ff00ff) << 8;
    return x >> 16 | x << 16;
  }
  template <class D> JOULE_INLINE D run(u64 x) {
    return u64(run<u32>(u32(x))) << 32 | run<u32>(u32(x >> 32));
  }
};

Status logic3(const Op *op, u8 *r, Warp *w) {
  u32 *d = at<u32>(r, op->d);
  const u32 *a = at<u32>(r, op->a), *b = at<u32>(r, op->b), *c = at<u32>(r, op->c);
  u32 terms[8];
  for (int i = 0; i < 8; ++i)
    terms[i] = 0 - (u32(op->imm) >> i & 1);
  JOULE_LANES
  for (int i = 0; i < 32; ++i) {
    u32 x = a[i], y = b[i], z = c[i];
    u32 whereC = ((terms[7] & z) | (terms[6] & ~z)) & y, notB = ((terms[5] & z) | (terms[4] & ~z)) & ~y;
    u32 low = (((terms[3] & z) | (terms[2] & ~z)) & y) | (((terms[1] & z) | (terms[0] & ~z)) & ~y);
    d[i] = ((whereC | notB) & x) | (low & ~x);
  }
  JOULE_NEXT;
}

JOULE_OP3(FunnelLeftWrap, D(u32((u64(b) << 32 | a) << (c & 31) >> 32)))
JOULE_OP3(FunnelLeftClamp, D(u32(c >= 32 ? a : u32((u64(b) << 32 | a) << c >> 32))))
JOULE_OP3(FunnelRightWrap, D(u32((u64(b) << 32 | a) >> (c & 31))))
JOULE_OP3(FunnelRightClamp, D(u32(c >= 32 ? b : u32((u64(b) << 32 | a) >> c))))

JOULE_OP3(ExtractField, (scalar::extractField<D>(a, b, c)))

struct DotBytes { // n: bit 0 a signed, bit 1 b signed
  template <bool SignedA, bool SignedB> JOULE_INLINE u32 run(u32 a, u32 b, u32 c) {
    for (int i = 0; i < 32; i += 8) {
      s32 x = SignedA ? s32(s8(a >> i)) : s32(u8(a >> i)), y = SignedB ? s32(s8(b >> i)) : s32(u8(b >> i));
      c += u32(x * y);
    }
    return c;
  }
};
template <bool SignedA, bool SignedB> struct Dot4 {
  template <class D> JOULE_INLINE D run(u32 a, u32 b, u32 c) {
    return DotBytes::run<SignedA, SignedB>(a, b, c);
  }
};

// Carries live in a predicate register of the frame, at `e`.
template <class T, bool Sub, bool In, bool Out> Status carryAdd(const Op *op, u8 *r, Warp *w) {
  T *d = at<T>(r, op->d);
  const T *a = at<T>(r, op->a), *b = at<T>(r, op->b);
  u32 in = In ? *at<u32>(r, op->e) : 0, out = 0;
  for (int i = 0; i < 32; ++i) {
    T carry = in >> i & 1, x = a[i], y = b[i];
    unsigned __int128 sum = Sub ? (unsigned __int128)x - y - carry : (unsigned __int128)x + y + carry;
    out |= u32(sum >> (sizeof(T) * 8) & 1) << i;
    d[i] = T(sum);
  }
  // Lanes that do not run keep their carry.
  if (Out)
    *at<u32>(r, op->e) = (out & w->mask) | (*at<u32>(r, op->e) & ~w->mask);
  JOULE_NEXT;
}

// --- floating point ---

template <bool Ftz> JOULE_INLINE f32 flush(f32 x) {
  if (!Ftz)
    return x;
  u32 bits = bitsOf<u32>(x);
  return bitsOf<f32>((bits & 0x7f800000) == 0 ? bits & 0x80000000 : bits);
}
template <bool> JOULE_INLINE f64 flush(f64 x) { return x; }

#define JOULE_FLOAT1(Name, expr)                                                                             \
  template <bool Z> struct Name {                                                                            \
    template <class D> JOULE_INLINE D run(D a) {                                                             \
      a = flush<Z>(a);                                                                                       \
      return flush<Z>(D(expr));                                                                              \
    }                                                                                                        \
  };
#define JOULE_FLOAT2(Name, expr)                                                                             \
  template <bool Z> struct Name {                                                                            \
    template <class D> JOULE_INLINE D run(D a, D b) {                                                        \
      a = flush<Z>(a);                                                                                       \
      b = flush<Z>(b);                                                                                       \
      return flush<Z>(D(expr));                                                                              \
    }                                                                                                        \
  };
JOULE_INLINE f32 fusedMultiplyAdd(f32 a, f32 b, f32 c) { return __builtin_fmaf(a, b, c); }
JOULE_INLINE f64 fusedMultiplyAdd(f64 a, f64 b, f64 c) { return __builtin_fma(a, b, c); }
JOULE_INLINE f32 squareRoot(f32 a) { return __builtin_sqrtf(a); }
JOULE_INLINE f64 squareRoot(f64 a) { return __builtin_sqrt(a); }

JOULE_FLOAT2(FloatAdd, a + b)
JOULE_FLOAT2(FloatSubtract, a - b)
JOULE_FLOAT2(FloatMultiply, a *b)
JOULE_FLOAT2(FloatDivide, a / b)
JOULE_FLOAT1(FloatReciprocal, D(1) / a)
JOULE_FLOAT1(FloatRoot, squareRoot(a))
JOULE_FLOAT1(FloatIdentity, a)
template <bool Z> struct FloatMultiplyAdd {
  template <class D> JOULE_INLINE D run(D a, D b, D c) {
    return flush<Z>(fusedMultiplyAdd(flush<Z>(a), flush<Z>(b), flush<Z>(c)));
  }
};
template <bool Z> struct FloatReciprocalRoot {
  template <class D> JOULE_INLINE D run(D a) { return flush<Z>(D(1.0 / squareRoot(f64(flush<Z>(a))))); }
};

JOULE_OP1(FloatAbsolute, (bitsOf<D>(Unsigned<A>(bitsOf<Unsigned<A>>(a) & (Unsigned<A>(-1) >> 1)))))
JOULE_OP1(FloatNegate, (bitsOf<D>(Unsigned<A>(bitsOf<Unsigned<A>>(a) ^ ~(Unsigned<A>(-1) >> 1)))))
JOULE_OP2(CopySign, (bitsOf<D>(Unsigned<A>((bitsOf<Unsigned<A>>(b) & (Unsigned<A>(-1) >> 1)) |
                                           (bitsOf<Unsigned<A>>(a) & ~(Unsigned<A>(-1) >> 1))))))
JOULE_OP1(Saturate, (a > A(0) ? (a < A(1) ? a : A(1)) : A(0)))
JOULE_OP1(ClampNegative, (a > A(0) ? a : a != a ? a : A(0)))

template <bool Z, bool KeepNan> struct FloatMinimum {
  template <class D> JOULE_INLINE D run(D a, D b) {
    using U = Unsigned<D>;
    a = flush<Z>(a), b = flush<Z>(b);
    D least = a < b ? a : b;
    least = a == b ? bitsOf<D>(U(bitsOf<U>(a) | bitsOf<U>(b))) : least; // -0 is below +0
    if (KeepNan)
      return a != a ? a : b != b ? b : least;
    return a != a ? b : b != b ? a : least;
  }
};
template <bool Z, bool KeepNan> struct FloatMaximum {
  template <class D> JOULE_INLINE D run(D a, D b) {
    using U = Unsigned<D>;
    a = flush<Z>(a), b = flush<Z>(b);
    D most = a > b ? a : b;
    most = a == b ? bitsOf<D>(U(bitsOf<U>(a) & bitsOf<U>(b))) : most;
    if (KeepNan)
      return a != a ? a : b != b ? b : most;
    return a != a ? b : b != b ? a : most;
  }
};

// 2^x: the whole part goes into the exponent, the rest (in [-1/2, 1/2]) through a polynomial whose error is
// below the two units in the last place that the instruction promises.
template <bool Z> struct FloatExp2 {
  template <class D> JOULE_INLINE f32 run(f32 x) {
    x = flush<Z>(x);
    f32 clamped = x > 129.f ? 129.f : x < -151.f ? -151.f : x;
    f32 whole = __builtin_rintf(clamped), part = clamped - whole;
    f32 p = 1.5403530e-4f;
    p = __builtin_fmaf(p, part, 1.33335581e-3f);
    p = __builtin_fmaf(p, part, 9.61812910e-3f);
    p = __builtin_fmaf(p, part, 5.55041087e-2f);
    p = __builtin_fmaf(p, part, 2.40226507e-1f);
    p = __builtin_fmaf(p, part, 6.93147181e-1f);
    p = __builtin_fmaf(p, part, 1.f);
    s32 n = whole == whole ? s32(whole) : 0,
        half = n >> 1; // in two steps: 2^n alone may not be a normal number
    f32 scaled = p * bitsOf<f32>(u32(half + 127) << 23) * bitsOf<f32>(u32(n - half + 127) << 23);
    return flush<Z>(x != x ? x : scaled);
  }
};

#define JOULE_SLOW1(Name, call)                                                                              \
  template <bool Z> struct Name {                                                                            \
    template <class D> JOULE_INLINE f32 run(f32 a) { return flush<Z>(call(flush<Z>(a))); }                   \
  };
JOULE_SLOW1(FloatLog2, scalar::log2)
JOULE_SLOW1(FloatSine, scalar::sine)
JOULE_SLOW1(FloatCosine, scalar::cosine)
JOULE_SLOW1(FloatTanh, scalar::tanh)

#define JOULE_ROUND(Name, f, g)                                                                              \
  struct Name {                                                                                              \
    template <class D> JOULE_INLINE f32 run(f32 a) { return f(a); }                                          \
    template <class D> JOULE_INLINE f64 run(f64 a) { return g(a); }                                          \
  };
JOULE_ROUND(RoundNearest, __builtin_rintf, __builtin_rint)
JOULE_ROUND(RoundZero, __builtin_truncf, __builtin_trunc)
JOULE_ROUND(RoundDown, __builtin_floorf, __builtin_floor)
JOULE_ROUND(RoundUp, __builtin_ceilf, __builtin_ceil)

// --- half precision: worked in f32, which is wide enough that rounding twice changes nothing for + - * ---

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

template <class F, class H, int N> Status halfUnary(const Op *op, u8 *r, Warp *w) {
  H *d = at<H>(r, op->d);
  const H *a = at<H>(r, op->a);
  JOULE_LANES
  for (int i = 0; i < N; ++i)
    d[i] = narrow<H>(F::template run<f32>(widen(a[i])));
  JOULE_NEXT;
}
template <class F, class H, int N> Status halfBinary(const Op *op, u8 *r, Warp *w) {
  H *d = at<H>(r, op->d);
  const H *a = at<H>(r, op->a), *b = at<H>(r, op->b);
  JOULE_LANES
  for (int i = 0; i < N; ++i)
    d[i] = narrow<H>(F::template run<f32>(widen(a[i]), widen(b[i])));
  JOULE_NEXT;
}

// The sum of a half-precision fma does not fit f64 exactly, so the last bit is made odd where something was
// lost; the second rounding then sees what the first one dropped.
JOULE_INLINE f64 fmaRoundedToOdd(f64 a, f64 b, f64 c) {
  f64 p = a * b, s = p + c, t = s - p;
  f64 error = (p - (s - t)) + (c - t);
  u64 bits = bitsOf<u64>(s);
  bool outward = (error > 0) == (s > 0);
  u64 odd = bits & 1 ? bits : outward ? bits + 1 : bits - 1;
  return error != 0 && s - s == 0 ? bitsOf<f64>(odd) : s;
}
// f64 to f32 the same way: cut, and mark what was cut.
JOULE_INLINE f32 cutToOdd(f64 x) {
  f32 y = f32(x);
  f64 error = x - f64(y);
  u32 bits = bitsOf<u32>(y);
  bool outward = (error > 0) == (y > 0);
  u32 odd = bits & 1 ? bits : outward ? bits + 1 : bits - 1;
  return error != 0 && y != 0 && y - y == 0 ? bitsOf<f32>(odd) : y;
}
template <class H, int N> Status halfFma(const Op *op, u8 *r, Warp *w) {
  H *d = at<H>(r, op->d);
  const H *a = at<H>(r, op->a), *b = at<H>(r, op->b), *c = at<H>(r, op->c);
  JOULE_LANES
  for (int i = 0; i < N; ++i)
    d[i] = narrow<H>(cutToOdd(fmaRoundedToOdd(widen(a[i]), widen(b[i]), widen(c[i]))));
  JOULE_NEXT;
}
struct HalfAbsolute {
  template <class D> JOULE_INLINE D run(u16 a) { return D(a & 0x7fff); }
};
struct HalfNegate {
  template <class D> JOULE_INLINE D run(u16 a) { return D(a ^ 0x8000); }
};

// --- conversions ---

struct ToFloat {
  template <class D, class A> JOULE_INLINE D run(A a) { return D(a); }
};
struct WidenHalf {
  template <class D, class A> JOULE_INLINE D run(A a) { return D(widen(a)); }
};
template <bool Z> struct NarrowF16 {
  template <class D> JOULE_INLINE u16 run(f32 a) { return narrowToF16(a); }
};
template <bool Z> struct NarrowBf16 {
  template <class D> JOULE_INLINE u16 run(f32 a) { return narrowToBf16(a); }
};

struct ToInteger { // toward zero, NaN to 0, out of range to the nearest end
  template <class D, class A> JOULE_INLINE D run(A a) {
    constexpr bool isSigned = D(-1) < 0;
    constexpr A high = A(isSigned ? D(Unsigned<D>(-1) >> 1) : D(-1));
    constexpr A low = isSigned ? -high - A(1) : A(0);
    D most = D(isSigned ? Unsigned<D>(-1) >> 1 : Unsigned<D>(-1)), least = isSigned ? D(~most) : D(0);
    A inside = a >= high ? A(0) : a < low ? A(0) : a == a ? a : A(0);
    D value = D(inside);
    return a >= high ? most : a < low ? least : value;
  }
};
struct RoundTf32 {
  template <class D> JOULE_INLINE u32 run(u32 a) {
    return (a & 0x7f800000) == 0x7f800000 ? a : (a + 0x1000) & 0xffffe000;
  }
};

template <class T> struct SignExtendByte {
  template <class D> JOULE_INLINE D run(T a) { return D(s8(u8(a))); }
};
template <class T> struct ZeroExtendByte {
  template <class D> JOULE_INLINE D run(T a) { return D(u8(a)); }
};

// --- whatever is rare goes lane by lane through one scalar function; imm says which ---

template <class D, class A> Status slowConvert(const Op *op, u8 *r, Warp *w) {
  D *d = at<D>(r, op->d);
  const A *a = at<A>(r, op->a);
  for (int i = 0; i < 32; ++i)
    d[i] = D(scalar::convert(u64(op->imm), a[i]));
  JOULE_NEXT;
}
template <class T> Status slowArithmetic(const Op *op, u8 *r, Warp *w) {
  T *d = at<T>(r, op->d);
  const T *a = at<T>(r, op->a), *b = at<T>(r, op->b), *c = at<T>(r, op->c);
  for (int i = 0; i < 32; ++i)
    d[i] = T(scalar::arithmetic(u64(op->imm), a[i], b[i], c[i]));
  JOULE_NEXT;
}
Status slowFloatTest(const Op *op, u8 *r, Warp *w) {
  u32 bits = 0;
  for (int i = 0; i < 32; ++i) {
    u64 x = op->n == 8 ? at<u64>(r, op->a)[i] : at<u32>(r, op->a)[i];
    bits |= u32(scalar::testFloat(u64(op->imm), x)) << i;
  }
  *at<u32>(r, op->d) = bits;
  JOULE_NEXT;
}

// --- moves, packing, predicates ---

template <class T> Status selectByPredicate(const Op *op, u8 *r, Warp *w) {
  select(at<T>(r, op->d), *at<u32>(r, op->c), at<T>(r, op->a), at<T>(r, op->b));
  JOULE_NEXT;
}
template <class T> struct SelectBySign {
  template <class D, class C> JOULE_INLINE D run(T a, T b, C c) { return c >= C(0) ? a : b; }
};
// The n-th part of a wide register, or a wide register from its parts.
template <class Part, class Whole> Status unpack(const Op *op, u8 *r, Warp *w) {
  Part *d = at<Part>(r, op->d);
  const Whole *a = at<Whole>(r, op->a);
  const unsigned shift = op->n * sizeof(Part) * 8;
  JOULE_LANES
  for (int i = 0; i < 32; ++i)
    d[i] = Part(a[i] >> shift);
  JOULE_NEXT;
}
template <class Part, class Whole> Status pack2(const Op *op, u8 *r, Warp *w) {
  Whole *d = at<Whole>(r, op->d);
  const Part *a = at<Part>(r, op->a), *b = at<Part>(r, op->b);
  Part low[32], high[32];
  memcpy(low, a, sizeof low);
  memcpy(high, b, sizeof high);
  for (int i = 0; i < 32; ++i)
    d[i] = Whole(low[i]) | Whole(high[i]) << (sizeof(Part) * 8);
  JOULE_NEXT;
}
Status move128(const Op *op, u8 *r, Warp *w) {
  memmove(r + op->d, r + op->a, 512);
  JOULE_NEXT;
}
Status unpack128(const Op *op, u8 *r, Warp *w) {
  for (int i = 0; i < 32; ++i)
    at<u64>(r, op->d)[i] = at<u64>(r, op->a)[2 * i + op->n];
  JOULE_NEXT;
}
Status pack128(const Op *op, u8 *r, Warp *w) {
  for (int i = 0; i < 32; ++i) {
    at<u64>(r, op->d)[2 * i] = at<u64>(r, op->a)[i];
    at<u64>(r, op->d)[2 * i + 1] = at<u64>(r, op->b)[i];
  }
  JOULE_NEXT;
}

Status predicateMove(const Op *op, u8 *r, Warp *w) {
  *at<u32>(r, op->d) = *at<u32>(r, op->a);
  JOULE_NEXT;
}
Status predicateNot(const Op *op, u8 *r, Warp *w) {
  *at<u32>(r, op->d) = ~*at<u32>(r, op->a);
  JOULE_NEXT;
}
Status predicateAnd(const Op *op, u8 *r, Warp *w) {
  *at<u32>(r, op->d) = *at<u32>(r, op->a) & *at<u32>(r, op->b);
  JOULE_NEXT;
}
Status predicateOr(const Op *op, u8 *r, Warp *w) {
  *at<u32>(r, op->d) = *at<u32>(r, op->a) | *at<u32>(r, op->b);
  JOULE_NEXT;
}
Status predicateXor(const Op *op, u8 *r, Warp *w) {
  *at<u32>(r, op->d) = *at<u32>(r, op->a) ^ *at<u32>(r, op->b);
  JOULE_NEXT;
}

#define JOULE_COMPARE(Name, expr)                                                                            \
  struct Name {                                                                                              \
    template <class A, class B> static inline __attribute__((always_inline)) auto run(A a, B b) {            \
      return expr;                                                                                           \
    }                                                                                                        \
  };
JOULE_COMPARE(Equal, a == b)
JOULE_COMPARE(NotEqual, a != b)
JOULE_COMPARE(Less, a < b)
JOULE_COMPARE(LessEqual, a <= b)
JOULE_COMPARE(Greater, a > b)
JOULE_COMPARE(GreaterEqual, a >= b)
JOULE_COMPARE(Ordered, (a == a) & (b == b))
JOULE_COMPARE(OrderedLessGreater, (a < b) | (a > b))

/// n: 0 none, 1 and, 2 or, 3 xor with the predicate at c; e: where the complement goes.
template <class T, class F, bool Invert> Status setPredicate(const Op *op, u8 *r, Warp *w) {
  u32 bits = compare<F>(at<T>(r, op->a), at<T>(r, op->b));
  if (Invert)
    bits = ~bits;
  if (op->n | (op->e != noRegister)) {
    u32 other = op->n ? *at<u32>(r, op->c) : 0, inverse = ~bits;
    bits = op->n == 1 ? bits & other : op->n == 2 ? bits | other : op->n == 3 ? bits ^ other : bits;
    inverse = op->n == 1   ? inverse & other
              : op->n == 2 ? inverse | other
              : op->n == 3 ? inverse ^ other
                           : inverse;
    if (op->e != noRegister) {
      u32 *second = at<u32>(r, op->e);
      *second = (inverse & w->mask) | (*second & ~w->mask);
    }
  }
  *at<u32>(r, op->d) = bits;
  JOULE_NEXT;
}

// --- memory ---

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
u64 translate(Warp *w, u64 address, unsigned space, unsigned bytes, int lane) {
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
    return address + bytes <= w->sharedSize && address < w->sharedSize ? u64(w->shared) + address : 0;
  if (space == inLocal)
    return address + bytes <= w->localStride && address < w->localStride
               ? u64(w->local) + address + lane * w->localStride
               : 0;
  return address + bytes <= w->paramSize && address < w->paramSize ? u64(w->params) + address : 0;
}

/// Any space, any mask: lane by lane. Spaces other than global are checked here, global in the range cache.
__attribute__((noinline)) bool resolveSlowly(const Op *op, u8 *r, Warp *w, Access &access, unsigned bytes) {
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
  if (w->mask != allLanes)
    return resolveSlowly(op, r, w, access, Bytes);
  if (space == inGeneric) {
    u64 window = loadAddress(op, r, 0) >> 56;
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
  if (!inRange<Bytes>(a, range.low, range.high, access.shape))
    return resolveSlowly(op, r, w, access, Bytes);
  if (__builtin_expect(w->memory != nullptr, 0))
    countAccess(w, op, access.address, allLanes, Bytes);
  return true;
}

template <class M> JOULE_INLINE M *element(u64 address, int k) { return reinterpret_cast<M *>(address) + k; }

JOULE_INLINE void gatherWords(u32 *d, const u64 *a, int k) {
#if defined(__AVX512F__)
  for (int i = 0; i < 32; i += 8) {
    __m512i places = _mm512_add_epi64(_mm512_loadu_si512(a + i), _mm512_set1_epi64(4 * k));
    __m256i words = _mm512_i64gather_epi32(places, nullptr, 1);
    _mm256_storeu_si256(reinterpret_cast<__m256i *>(d + i), words);
  }
#else
  for (int i = 0; i < 32; ++i)
    d[i] = *element<u32>(a[i], k);
#endif
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
  if (!resolveSlowly(&target, r, w, to, op->n))
    return Status::Fault;
  w->mask = reading;
  bool readable = resolveSlowly(&source, r, w, from, op->n);
  w->mask = mask;
  if (!readable)
    return Status::Fault;
  for (u32 rest = mask; rest; rest &= rest - 1) {
    int i = __builtin_ctz(rest);
    u32 bytes = op->c == noRegister ? op->n : at<u32>(r, op->c)[i];
    if (bytes > op->n)
      bytes = op->n;
    u8 *p = reinterpret_cast<u8 *>(to.address[i]);
    memset(p + bytes, 0, op->n - bytes);
    if (bytes)
      memcpy(p, reinterpret_cast<const u8 *>(from.address[i]), bytes);
  }
  JOULE_NEXT;
}

// Lane i of the j-th group of eight names row i of the j-th 8x8 matrix of 16-bit elements; lane l receives
// elements 2(l%4) and 2(l%4)+1 of row l/4.
template <int N, bool Transposed> Status loadMatrix(const Op *op, u8 *r, Warp *w) {
  Access access;
  u32 mask = w->mask;
  w->mask = allLanes >> (32 - 8 * N);
  bool ok = resolveSlowly(op, r, w, access, 16);
  w->mask = mask;
  if (!ok)
    return Status::Fault;
  for (int j = 0; j < N; ++j) {
    u16 m[8][8];
    for (int i = 0; i < 8; ++i)
      memcpy(m[i], reinterpret_cast<const void *>(access.address[j * 8 + i]), 16);
    u32 *d = at<u32>(r, N == 1 ? op->d : op->list[j]);
    for (int l = 0; l < 32; ++l) {
      int row = l / 4, column = 2 * (l % 4);
      d[l] = Transposed ? m[column][row] | u32(m[column + 1][row]) << 16
                        : m[row][column] | u32(m[row][column + 1]) << 16;
    }
  }
  JOULE_NEXT;
}

// --- matrix multiply-accumulate on fragments ---
// Lane l: g = l/4, t = l%4. A (16 rows): register pairs hold rows g and g+8; B (8 columns): column g; C: rows
// g and g+8, columns 2t and 2t+1. A register of 16-bit elements holds two neighbours in k, one of 8-bit
// elements four.

struct Tf32 {
  u32 bits;
};
JOULE_INLINE f32 widen(Tf32 x) { return bitsOf<f32>(x.bits & 0xffffe000u); }

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

// --- control ---

JOULE_INLINE bool spend(Warp *w, const Op *op, const Op *target) {
  if (target > op || --w->budget > 0)
    return false;
  w->pc = target;
  return true;
}

Status branch(const Op *op, u8 *r, Warp *w) {
  const Op *target = op->target;
  if (spend(w, op, target))
    return Status::Yield;
  JOULE_TAIL return target->fn(target, r, w);
}

/// n: the branch is taken where the predicate is false.
JOULE_INLINE u32 takenLanes(const Op *op, u8 *r, Warp *w) {
  u32 p = *at<u32>(r, op->a);
  return (op->n ? ~p : p) & w->mask;
}

Status branchIf(const Op *op, u8 *r, Warp *w) {
  u32 taken = takenLanes(op, r, w);
  if (taken == 0)
    JOULE_NEXT;
  const Op *target = op->target;
  if (taken != w->mask)
    return w->pc = op, w->taken = taken, Status::Diverged;
  if (spend(w, op, target))
    return Status::Yield;
  JOULE_TAIL return target->fn(target, r, w);
}

Status branchMasked(const Op *op, u8 *r, Warp *w) {
  const Op *target = op->target;
  if (spend(w, op, target))
    return Status::Yield;
  if (target <= op)
    return w->pc = target, Status::Join; // someone may wait in between
  JOULE_TAIL return target->masked(target, r, w);
}

Status branchIfMasked(const Op *op, u8 *r, Warp *w) {
  u32 taken = takenLanes(op, r, w);
  if (taken == 0)
    JOULE_TAIL return op[1].masked(op + 1, r, w);
  if (taken != w->mask)
    return w->pc = op, w->taken = taken, Status::Diverged;
  JOULE_TAIL return branchMasked(op, r, w);
}

JOULE_INLINE void countBlock(const Op *op, Warp *w) {
  if (op->imm < 0)
    return; // behind a guarded instruction, not a block's start
  BlockCount &count = w->blockCounts[op->imm];
  ++count.warps;
  count.lanes += u32(__builtin_popcount(w->mask));
}
Status label(const Op *op, u8 *r, Warp *w) {
  if (__builtin_expect(w->blockCounts != nullptr, 0))
    countBlock(op, w);
  JOULE_NEXT;
}
JOULE_INLINE bool mustJoin(const Op *op, Warp *w) {
  if (w->joinAt > op)
    return false;
  if (w->freeLabels == 0)
    return w->pc = op, true;
  --w->freeLabels;
  return false;
}
Status labelMasked(const Op *op, u8 *r, Warp *w) {
  if (mustJoin(op, w))
    return Status::Join;
  if (w->blockCounts)
    countBlock(op, w);
  JOULE_TAIL return op[1].masked(op + 1, r, w);
}

Status step(const Op *op, u8 *r, Warp *w) { return Status::Step; }

/// Runs one operation by itself: a copy with a stop behind it, so that its handler's jump to the next ends
/// there.
JOULE_INLINE Status runAlone(const Op *op, u8 *r, Warp *w) {
  Op pair[2];
  pair[0] = *op;
  pair[1].fn = step;
  return pair[0].fn(pair, r, w);
}

/// The operation looks at the mask itself.
Status maskedItself(const Op *op, u8 *r, Warp *w) {
  Status status = runAlone(op, r, w);
  if (status != Status::Step)
    return status;
  JOULE_TAIL return op[1].masked(op + 1, r, w);
}

/// Run for all lanes, then put the old values back where the mask is off.
template <class T> Status maskedResult(const Op *op, u8 *r, Warp *w) {
  T saved[32];
  memcpy(saved, r + op->d, sizeof saved);
  runAlone(op, r, w);
  select(at<T>(r, op->d), w->mask, at<T>(r, op->d), saved);
  JOULE_TAIL return op[1].masked(op + 1, r, w);
}
Status maskedResult128(const Op *op, u8 *r, Warp *w) {
  u64 saved[64];
  memcpy(saved, r + op->d, sizeof saved);
  runAlone(op, r, w);
  for (int i = 0; i < 64; ++i)
    if (!(w->mask >> (i / 2) & 1))
      at<u64>(r, op->d)[i] = saved[i];
  JOULE_TAIL return op[1].masked(op + 1, r, w);
}
Status maskedPredicate(const Op *op, u8 *r, Warp *w) {
  u32 saved = *at<u32>(r, op->d);
  runAlone(op, r, w);
  u32 *d = at<u32>(r, op->d);
  *d = (*d & w->mask) | (saved & ~w->mask);
  JOULE_TAIL return op[1].masked(op + 1, r, w);
}

/// Stands before an operation that has a predicate.
JOULE_INLINE Status runGuarded(const Op *op, u8 *r, Warp *w, u32 lanesOn) {
  Op pair[2];
  pair[0] = op[1];
  pair[1].fn = pair[1].masked = step;
  u32 mask = w->mask;
  w->mask = lanesOn;
  Status status = pair[0].masked(pair, r, w);
  w->mask = mask;
  return status;
}
Status guard(const Op *op, u8 *r, Warp *w) {
  u32 p = *at<u32>(r, op->a), on = (op->guard ? ~p : p) & w->mask;
  if (on == w->mask)
    JOULE_NEXT;
  if (on) {
    Status status = runGuarded(op, r, w, on);
    if (status != Status::Step)
      return status;
  }
  JOULE_TAIL return op[2].fn(op + 2, r, w);
}
Status guardMasked(const Op *op, u8 *r, Warp *w) {
  u32 p = *at<u32>(r, op->a), on = (op->guard ? ~p : p) & w->mask;
  if (on) {
    Status status = runGuarded(op, r, w, on);
    if (status != Status::Step)
      return status;
  }
  JOULE_TAIL return op[2].masked(op + 2, r, w);
}

Status exitLanes(const Op *op, u8 *r, Warp *w) { return w->pc = op, Status::Exited; }
Status returnLanes(const Op *op, u8 *r, Warp *w) { return w->pc = op, Status::Return; }
Status callFunction(const Op *op, u8 *r, Warp *w) { return w->pc = op, Status::Call; }
Status sleepWarp(const Op *op, u8 *r, Warp *w) { return w->pc = op + 1, Status::Yield; }
Status trapLanes(const Op *op, u8 *r, Warp *w) {
  return raiseFault(w, op, FaultKind(op->imm), 0, u32(__builtin_ctz(w->mask)));
}
Status nothing(const Op *op, u8 *r, Warp *w) { JOULE_NEXT; }

Status localAddress(const Op *op, u8 *r, Warp *w) {
  u64 *d = at<u64>(r, op->d), value = w->localBase + u64(op->imm);
  for (int i = 0; i < 32; ++i)
    d[i] = value;
  JOULE_NEXT;
}

struct ToggleWindow {
  template <class D, class A> JOULE_INLINE D run(A a, A b) { return a + b; }
};
Status isSpace(const Op *op, u8 *r, Warp *w) {
  u32 bits = 0;
  for (int i = 0; i < 32; ++i)
    bits |= u32(at<u64>(r, op->a)[i] >> 56 == u64(op->imm)) << i;
  *at<u32>(r, op->d) = bits;
  JOULE_NEXT;
}

// --- the table ---

#define JOULE_INT_ALL(name, F)                                                                               \
  {name ".b16", binary<F, u16, u16>, "2"}, {name ".b32", binary<F, u32, u32>, "4"}, {                        \
    name ".b64", binary<F, u64, u64>, "8"                                                                    \
  }
#define JOULE_INT_SIGNS(name, F)                                                                             \
  {name ".u16", binary<F, u16, u16>, "2"}, {name ".u32", binary<F, u32, u32>, "4"},                          \
      {name ".u64", binary<F, u64, u64>, "8"}, {name ".s16", binary<F, s16, s16>, "2"},                      \
      {name ".s32", binary<F, s32, s32>, "4"}, {                                                             \
    name ".s64", binary<F, s64, s64>, "8"                                                                    \
  }
#define JOULE_SHIFT(name, F, T, suffix, result)                                                              \
  { name suffix, binary<F, T, T, u32>, result }
#define JOULE_FLOATS1(name, F)                                                                               \
  {name ".f32", unary<F<false>, f32, f32>, "4"}, {name ".ftz.f32", unary<F<true>, f32, f32>, "4"}, {         \
    name ".f64", unary<F<false>, f64, f64>, "8"                                                              \
  }
#define JOULE_FLOATS2(name, F)                                                                               \
  {name ".f32", binary<F<false>, f32, f32>, "4"}, {name ".ftz.f32", binary<F<true>, f32, f32>, "4"}, {       \
    name ".f64", binary<F<false>, f64, f64>, "8"                                                             \
  }
#define JOULE_FLOATS_MINMAX(name, F, keep)                                                                   \
  {name ".f32", binary<F<false, keep>, f32, f32>, "4"},                                                      \
      {name ".ftz.f32", binary<F<true, keep>, f32, f32>, "4"}, {                                             \
    name ".f64", binary<F<false, keep>, f64, f64>, "8"                                                       \
  }
#define JOULE_HALVES1(name, F)                                                                               \
  {name ".f16", halfUnary<F, f16, 32>, "2"}, {name ".f16x2", halfUnary<F, f16, 64>, "4"},                    \
      {name ".bf16", halfUnary<F, bf16, 32>, "2"}, {                                                         \
    name ".bf16x2", halfUnary<F, bf16, 64>, "4"                                                              \
  }
#define JOULE_COMMA ,
#define JOULE_HALVES2(name, F)                                                                               \
  {name ".f16", halfBinary<F, f16, 32>, "2"}, {name ".f16x2", halfBinary<F, f16, 64>, "4"},                  \
      {name ".bf16", halfBinary<F, bf16, 32>, "2"}, {                                                        \
    name ".bf16x2", halfBinary<F, bf16, 64>, "4"                                                             \
  }
#define JOULE_SETP(T, suffix)                                                                                \
  {"setp.eq." suffix, setPredicate<T, Equal, false>, "p"},                                                   \
      {"setp.ne." suffix, setPredicate<T, Equal, true>, "p"},                                                \
      {"setp.lt." suffix, setPredicate<T, Less, false>, "p"},                                                \
      {"setp.le." suffix, setPredicate<T, LessEqual, false>, "p"},                                           \
      {"setp.gt." suffix, setPredicate<T, Greater, false>, "p"}, {                                           \
    "setp.ge." suffix, setPredicate<T, GreaterEqual, false>, "p"                                             \
  }
#define JOULE_SETP_FLOAT(T, suffix)                                                                          \
  {"setp.eq." suffix, setPredicate<T, Equal, false>, "p"},                                                   \
      {"setp.ne." suffix, setPredicate<T, OrderedLessGreater, false>, "p"},                                  \
      {"setp.lt." suffix, setPredicate<T, Less, false>, "p"},                                                \
      {"setp.le." suffix, setPredicate<T, LessEqual, false>, "p"},                                           \
      {"setp.gt." suffix, setPredicate<T, Greater, false>, "p"},                                             \
      {"setp.ge." suffix, setPredicate<T, GreaterEqual, false>, "p"},                                        \
      {"setp.equ." suffix, setPredicate<T, OrderedLessGreater, true>, "p"},                                  \
      {"setp.neu." suffix, setPredicate<T, Equal, true>, "p"},                                               \
      {"setp.ltu." suffix, setPredicate<T, GreaterEqual, true>, "p"},                                        \
      {"setp.leu." suffix, setPredicate<T, Greater, true>, "p"},                                             \
      {"setp.gtu." suffix, setPredicate<T, LessEqual, true>, "p"},                                           \
      {"setp.geu." suffix, setPredicate<T, Less, true>, "p"},                                                \
      {"setp.num." suffix, setPredicate<T, Ordered, false>, "p"}, {                                          \
    "setp.nan." suffix, setPredicate<T, Ordered, true>, "p"                                                  \
  }
#define JOULE_CONVERT(S, suffix)                                                                             \
  {"cvt.b16." suffix, unary<ToFloat, u16, S>, "2"}, {"cvt.b32." suffix, unary<ToFloat, u32, S>, "4"},        \
      {"cvt.b64." suffix, unary<ToFloat, u64, S>, "8"}, {"cvt.f32." suffix, unary<ToFloat, f32, S>, "4"}, {  \
    "cvt.f64." suffix, unary<ToFloat, f64, S>, "8"                                                           \
  }
#define JOULE_TO_INTEGER(S, suffix)                                                                          \
  {"cvt.s16." suffix, unary<ToInteger, s16, S>, "2"}, {"cvt.u16." suffix, unary<ToInteger, u16, S>, "2"},    \
      {"cvt.s32." suffix, unary<ToInteger, s32, S>, "4"},                                                    \
      {"cvt.u32." suffix, unary<ToInteger, u32, S>, "4"},                                                    \
      {"cvt.s64." suffix, unary<ToInteger, s64, S>, "8"}, {                                                  \
    "cvt.u64." suffix, unary<ToInteger, u64, S>, "8"                                                         \
  }
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
    JOULE_INT_ALL("add", Add),
    JOULE_INT_ALL("sub", Subtract),
    JOULE_INT_ALL("mul", Multiply),
    {"add.b16x2", binary<Add, u16, u16, u16, 64>, "4"},
    {"sub.b16x2", binary<Subtract, u16, u16, u16, 64>, "4"},
    {"min.u16x2", binary<Minimum, u16, u16, u16, 64>, "4"},
    {"min.s16x2", binary<Minimum, s16, s16, s16, 64>, "4"},
    {"max.u16x2", binary<Maximum, u16, u16, u16, 64>, "4"},
    {"max.s16x2", binary<Maximum, s16, s16, s16, 64>, "4"},
    JOULE_INT_ALL("and", And),
    JOULE_INT_ALL("or", Or),
    JOULE_INT_ALL("xor", Xor),
    JOULE_INT_SIGNS("min", Minimum),
    JOULE_INT_SIGNS("max", Maximum),
    JOULE_INT_SIGNS("div", Divide),
    JOULE_INT_SIGNS("rem", Remainder),
    {"not.b16", unary<Not, u16, u16>, "2"},
    {"not.b32", unary<Not, u32, u32>, "4"},
    {"not.b64", unary<Not, u64, u64>, "8"},
    {"cnot.b16", unary<LogicalNot, u16, u16>, "2"},
    {"cnot.b32", unary<LogicalNot, u32, u32>, "4"},
    {"cnot.b64", unary<LogicalNot, u64, u64>, "8"},
    {"neg.b16", unary<Negate, u16, u16>, "2"},
    {"neg.b32", unary<Negate, u32, u32>, "4"},
    {"neg.b64", unary<Negate, u64, u64>, "8"},
    {"abs.s16", unary<Absolute, s16, s16>, "2"},
    {"abs.s32", unary<Absolute, s32, s32>, "4"},
    {"abs.s64", unary<Absolute, s64, s64>, "8"},
    JOULE_SHIFT("shl", ShiftLeft, u16, ".b16", "2"),
    JOULE_SHIFT("shl", ShiftLeft, u32, ".b32", "4"),
    JOULE_SHIFT("shl", ShiftLeft, u64, ".b64", "8"),
    JOULE_SHIFT("shr", ShiftRightLogical, u16, ".u16", "2"),
    JOULE_SHIFT("shr", ShiftRightLogical, u32, ".u32", "4"),
    JOULE_SHIFT("shr", ShiftRightLogical, u64, ".u64", "8"),
    JOULE_SHIFT("shr", ShiftRight, s16, ".s16", "2"),
    JOULE_SHIFT("shr", ShiftRight, s32, ".s32", "4"),
    JOULE_SHIFT("shr", ShiftRight, s64, ".s64", "8"),
    {"mul.hi.u16", binary<MultiplyHigh32, u16, u16>, "2"},
    {"mul.hi.s16", binary<MultiplyHigh32, s16, s16>, "2"},
    {"mul.hi.u32", binary<MultiplyHigh32, u32, u32>, "4"},
    {"mul.hi.s32", binary<MultiplyHigh32, s32, s32>, "4"},
    {"mul.hi.u64", binary<MultiplyHigh64, u64, u64>, "8"},
    {"mul.hi.s64", binary<MultiplyHigh64, s64, s64>, "8"},
    {"mul.wide.u16", binary<MultiplyWide, u32, u16>, "4"},
    {"mul.wide.s16", binary<MultiplyWide, s32, s16>, "4"},
    {"mul.wide.u32", binary<MultiplyWide, u64, u32>, "8"},
    {"mul.wide.s32", binary<MultiplyWide, s64, s32>, "8"},
    {"mad.lo.b16", ternary<MultiplyAdd, u16, u16>, "2"},
    {"mad.lo.b32", ternary<MultiplyAdd, u32, u32>, "4"},
    {"mad.lo.b64", ternary<MultiplyAdd, u64, u64>, "8"},
    {"mad.wide.u16", ternary<MultiplyWideAdd, u32, u16, u16, u32>, "4"},
    {"mad.wide.s16", ternary<MultiplyWideAdd, s32, s16, s16, s32>, "4"},
    {"mad.wide.u32", ternary<MultiplyWideAdd, u64, u32, u32, u64>, "8"},
    {"mad.wide.s32", ternary<MultiplyWideAdd, s64, s32, s32, s64>, "8"},
    {"mad24.u32", ternary<Mad24, u32, u32>, "4"},
    {"mad24.s32", ternary<Mad24, s32, s32>, "4"},
    {"sad.u16", ternary<AddDifference, u16, u16>, "2"},
    {"sad.s16", ternary<AddDifference, s16, s16>, "2"},
    {"sad.u32", ternary<AddDifference, u32, u32>, "4"},
    {"sad.s32", ternary<AddDifference, s32, s32>, "4"},
    {"sad.u64", ternary<AddDifference, u64, u64>, "8"},
    {"sad.s64", ternary<AddDifference, s64, s64>, "8"},
    {"popc.b32", unary<CountOnes, u32, u32>, "4"},
    {"popc.b64", unary<CountOnes, u32, u64>, "4"},
    {"clz.b32", unary<CountLeadingZeros, u32, u32>, "4"},
    {"clz.b64", unary<CountLeadingZeros, u32, u64>, "4"},
    {"brev.b32", unary<Reverse, u32, u32>, "4"},
    {"brev.b64", unary<Reverse, u64, u64>, "8"},
    {"lop3.b32", logic3, "4"},
    {"shf.l.wrap.b32", ternary<FunnelLeftWrap, u32, u32>, "4"},
    {"shf.l.clamp.b32", ternary<FunnelLeftClamp, u32, u32>, "4"},
    {"shf.r.wrap.b32", ternary<FunnelRightWrap, u32, u32>, "4"},
    {"shf.r.clamp.b32", ternary<FunnelRightClamp, u32, u32>, "4"},
    {"bfe.u32", ternary<ExtractField, u32, u32>, "4"},
    {"bfe.s32", ternary<ExtractField, s32, s32, u32, u32>, "4"},
    {"bfe.u64", ternary<ExtractField, u64, u64, u32, u32>, "8"},
    {"bfe.s64", ternary<ExtractField, s64, s64, u32, u32>, "8"},
    {"dp4a.u32.u32", ternary<Dot4<false JOULE_COMMA false>, u32, u32>, "4"},
    {"dp4a.u32.s32", ternary<Dot4<false JOULE_COMMA true>, u32, u32>, "4"},
    {"dp4a.s32.u32", ternary<Dot4<true JOULE_COMMA false>, u32, u32>, "4"},
    {"dp4a.s32.s32", ternary<Dot4<true JOULE_COMMA true>, u32, u32>, "4"},
    {"add.cc.b32", carryAdd<u32, false, false, true>, "4"},
    {"addc.b32", carryAdd<u32, false, true, false>, "4"},
    {"addc.cc.b32", carryAdd<u32, false, true, true>, "4"},
    {"sub.cc.b32", carryAdd<u32, true, false, true>, "4"},
    {"subc.b32", carryAdd<u32, true, true, false>, "4"},
    {"subc.cc.b32", carryAdd<u32, true, true, true>, "4"},
    {"add.cc.b64", carryAdd<u64, false, false, true>, "8"},
    {"addc.b64", carryAdd<u64, false, true, false>, "8"},
    {"addc.cc.b64", carryAdd<u64, false, true, true>, "8"},
    {"sub.cc.b64", carryAdd<u64, true, false, true>, "8"},
    {"subc.b64", carryAdd<u64, true, true, false>, "8"},
    {"subc.cc.b64", carryAdd<u64, true, true, true>, "8"},

    JOULE_FLOATS2("add", FloatAdd),
    JOULE_FLOATS2("sub", FloatSubtract),
    JOULE_FLOATS2("mul", FloatMultiply),
    JOULE_FLOATS2("div", FloatDivide),
    {"fma.f32", ternary<FloatMultiplyAdd<false>, f32, f32>, "4"},
    {"fma.ftz.f32", ternary<FloatMultiplyAdd<true>, f32, f32>, "4"},
    {"fma.f64", ternary<FloatMultiplyAdd<false>, f64, f64>, "8"},
    JOULE_FLOATS1("rcp", FloatReciprocal),
    JOULE_FLOATS1("sqrt", FloatRoot),
    JOULE_FLOATS1("rsqrt", FloatReciprocalRoot),
    JOULE_FLOATS1("flush", FloatIdentity),
    JOULE_FLOATS_MINMAX("min", FloatMinimum, false),
    JOULE_FLOATS_MINMAX("min.NaN", FloatMinimum, true),
    JOULE_FLOATS_MINMAX("max", FloatMaximum, false),
    JOULE_FLOATS_MINMAX("max.NaN", FloatMaximum, true),
    {"abs.f32", unary<FloatAbsolute, f32, f32>, "4"},
    {"abs.f64", unary<FloatAbsolute, f64, f64>, "8"},
    {"neg.f32", unary<FloatNegate, f32, f32>, "4"},
    {"neg.f64", unary<FloatNegate, f64, f64>, "8"},
    {"copysign.f32", binary<CopySign, f32, f32>, "4"},
    {"copysign.f64", binary<CopySign, f64, f64>, "8"},
    {"sat.f32", unary<Saturate, f32, f32>, "4"},
    {"sat.f64", unary<Saturate, f64, f64>, "8"},
    {"relu.f32", unary<ClampNegative, f32, f32>, "4"},
    {"ex2.f32", unary<FloatExp2<false>, f32, f32>, "4"},
    {"ex2.ftz.f32", unary<FloatExp2<true>, f32, f32>, "4"},
    {"lg2.f32", unary<FloatLog2<false>, f32, f32>, "4"},
    {"lg2.ftz.f32", unary<FloatLog2<true>, f32, f32>, "4"},
    {"sin.f32", unary<FloatSine<false>, f32, f32>, "4"},
    {"sin.ftz.f32", unary<FloatSine<true>, f32, f32>, "4"},
    {"cos.f32", unary<FloatCosine<false>, f32, f32>, "4"},
    {"cos.ftz.f32", unary<FloatCosine<true>, f32, f32>, "4"},
    {"tanh.f32", unary<FloatTanh<false>, f32, f32>, "4"},
    {"tanh.ftz.f32", unary<FloatTanh<true>, f32, f32>, "4"},
    {"round.rni.f32", unary<RoundNearest, f32, f32>, "4"},
    {"round.rzi.f32", unary<RoundZero, f32, f32>, "4"},
    {"round.rmi.f32", unary<RoundDown, f32, f32>, "4"},
    {"round.rpi.f32", unary<RoundUp, f32, f32>, "4"},
    {"round.rni.f64", unary<RoundNearest, f64, f64>, "8"},
    {"round.rzi.f64", unary<RoundZero, f64, f64>, "8"},
    {"round.rmi.f64", unary<RoundDown, f64, f64>, "8"},
    {"round.rpi.f64", unary<RoundUp, f64, f64>, "8"},

    JOULE_HALVES2("add", FloatAdd<false>),
    JOULE_HALVES2("sub", FloatSubtract<false>),
    JOULE_HALVES2("mul", FloatMultiply<false>),
    JOULE_HALVES2("min", FloatMinimum<false JOULE_COMMA false>),
    JOULE_HALVES2("max", FloatMaximum<false JOULE_COMMA false>),
    JOULE_HALVES2("min.NaN", FloatMinimum<false JOULE_COMMA true>),
    JOULE_HALVES2("max.NaN", FloatMaximum<false JOULE_COMMA true>),
    {"fma.f16", halfFma<f16, 32>, "2"},
    {"fma.f16x2", halfFma<f16, 64>, "4"},
    {"fma.bf16", halfFma<bf16, 32>, "2"},
    {"fma.bf16x2", halfFma<bf16, 64>, "4"},
    JOULE_HALVES1("ex2", FloatExp2<false>),
    JOULE_HALVES1("tanh", FloatTanh<false>),
    JOULE_HALVES1("sat", Saturate),
    JOULE_HALVES1("relu", ClampNegative),
    {"abs.f16", unary<HalfAbsolute, u16, u16>, "2"},
    {"abs.f16x2", unary<HalfAbsolute, u16, u16, 64>, "4"},
    {"neg.f16", unary<HalfNegate, u16, u16>, "2"},
    {"neg.f16x2", unary<HalfNegate, u16, u16, 64>, "4"},

    JOULE_CONVERT(u16, "u16"),
    JOULE_CONVERT(s16, "s16"),
    JOULE_CONVERT(u32, "u32"),
    JOULE_CONVERT(s32, "s32"),
    JOULE_CONVERT(u64, "u64"),
    JOULE_CONVERT(s64, "s64"),
    JOULE_TO_INTEGER(f32, "f32"),
    JOULE_TO_INTEGER(f64, "f64"),
    {"cvt.f64.f32", unary<ToFloat, f64, f32>, "8"},
    {"cvt.f32.f64", unary<ToFloat, f32, f64>, "4"},
    {"cvt.f32.f16", unary<WidenHalf, f32, f16>, "4"},
    {"cvt.f32.bf16", unary<WidenHalf, f32, bf16>, "4"},
    {"cvt.f16.f32", unary<NarrowF16<false>, u16, f32>, "2"},
    {"cvt.bf16.f32", unary<NarrowBf16<false>, u16, f32>, "2"},
    {"cvt.tf32.f32", unary<RoundTf32, u32, u32>, "4"},
    {"ext.s8.2", unary<SignExtendByte<u16>, u16, u16>, "2"},
    {"ext.u8.2", unary<ZeroExtendByte<u16>, u16, u16>, "2"},
    {"ext.s8.4", unary<SignExtendByte<u32>, u32, u32>, "4"},
    {"ext.u8.4", unary<ZeroExtendByte<u32>, u32, u32>, "4"},
    {"ext.s8.8", unary<SignExtendByte<u64>, u64, u64>, "8"},
    {"ext.u8.8", unary<ZeroExtendByte<u64>, u64, u64>, "8"},
    {"slowcvt.2.2", slowConvert<u16, u16>, "2"},
    {"slowcvt.2.4", slowConvert<u16, u32>, "2"},
    {"slowcvt.2.8", slowConvert<u16, u64>, "2"},
    {"slowcvt.4.2", slowConvert<u32, u16>, "4"},
    {"slowcvt.4.4", slowConvert<u32, u32>, "4"},
    {"slowcvt.4.8", slowConvert<u32, u64>, "4"},
    {"slowcvt.8.2", slowConvert<u64, u16>, "8"},
    {"slowcvt.8.4", slowConvert<u64, u32>, "8"},
    {"slowcvt.8.8", slowConvert<u64, u64>, "8"},
    {"slow.2", slowArithmetic<u16>, "2"},
    {"slow.4", slowArithmetic<u32>, "4"},
    {"slow.8", slowArithmetic<u64>, "8"},
    {"testp", slowFloatTest, "p"},

    {"mov.b16", unary<Move, u16, u16>, "2"},
    {"mov.b32", unary<Move, u32, u32>, "4"},
    {"mov.b64", unary<Move, u64, u64>, "8"},
    {"mov.b128", move128, "16"},
    {"selp.b16", selectByPredicate<u16>, "2"},
    {"selp.b32", selectByPredicate<u32>, "4"},
    {"selp.b64", selectByPredicate<u64>, "8"},
    {"slct.b16.s32", ternary<SelectBySign<u16>, u16, u16, u16, s32>, "2"},
    {"slct.b32.s32", ternary<SelectBySign<u32>, u32, u32, u32, s32>, "4"},
    {"slct.b64.s32", ternary<SelectBySign<u64>, u64, u64, u64, s32>, "8"},
    {"slct.b16.f32", ternary<SelectBySign<u16>, u16, u16, u16, f32>, "2"},
    {"slct.b32.f32", ternary<SelectBySign<u32>, u32, u32, u32, f32>, "4"},
    {"slct.b64.f32", ternary<SelectBySign<u64>, u64, u64, u64, f32>, "8"},
    {"unpack.2.4", unpack<u16, u32>, "2"},
    {"unpack.2.8", unpack<u16, u64>, "2"},
    {"unpack.4.8", unpack<u32, u64>, "4"},
    {"unpack.8.16", unpack128, "8"},
    {"pack.2.4", pack2<u16, u32>, "4"},
    {"pack.4.8", pack2<u32, u64>, "8"},
    {"pack.8.16", pack128, "16"},
    {"mov.pred", predicateMove, "p"},
    {"not.pred", predicateNot, "p"},
    {"and.pred", predicateAnd, "p"},
    {"or.pred", predicateOr, "p"},
    {"xor.pred", predicateXor, "p"},
    JOULE_SETP(u16, "u16"),
    JOULE_SETP(s16, "s16"),
    JOULE_SETP(u32, "u32"),
    JOULE_SETP(s32, "s32"),
    JOULE_SETP(u64, "u64"),
    JOULE_SETP(s64, "s64"),
    JOULE_SETP_FLOAT(f32, "f32"),
    JOULE_SETP_FLOAT(f64, "f64"),

    JOULE_MEMORY("ld", load),
    JOULE_MEMORY("st", store),
    JOULE_FRAME("ldparam", loadParameter, "2", "4", "8"),
    JOULE_FRAME("ldframe", loadFrame, "2", "4", "8"),
    JOULE_FRAME("stframe", storeFrame, "", "", ""),
    {"atom.2", atomic<u16>, ""},
    {"atom.4", atomic<u32>, ""},
    {"atom.8", atomic<u64>, ""},
    {"cpasync", copyAsync, ""},
    {"ldmatrix.1", loadMatrix<1, false>, ""},
    {"ldmatrix.2", loadMatrix<2, false>, ""},
    {"ldmatrix.4", loadMatrix<4, false>, ""},
    {"ldmatrix.trans.1", loadMatrix<1, true>, ""},
    {"ldmatrix.trans.2", loadMatrix<2, true>, ""},
    {"ldmatrix.trans.4", loadMatrix<4, true>, ""},
    {"mma.k16.f16.f32", multiplyMatrices<f16, 16, false>, ""},
    {"mma.k8.f16.f32", multiplyMatrices<f16, 8, false>, ""},
    {"mma.k16.f16.f16", multiplyMatrices<f16, 16, true>, ""},
    {"mma.k8.f16.f16", multiplyMatrices<f16, 8, true>, ""},
    {"mma.k16.bf16.f32", multiplyMatrices<bf16, 16, false>, ""},
    {"mma.k8.bf16.f32", multiplyMatrices<bf16, 8, false>, ""},
    {"mma.k8.tf32.f32", multiplyMatrices<Tf32, 8, false>, ""},
    {"mma.k4.tf32.f32", multiplyMatrices<Tf32, 4, false>, ""},
    {"mma.k32.b8", multiplyByteMatrices<32>, ""},
    {"mma.k16.b8", multiplyByteMatrices<16>, ""},

    {"bra", branch, "bra"},
    {"bra.if", branchIf, "bra.if"},
    {"label", label, "label"},
    {"guard", guard, "guard"},
    {"exit", exitLanes, "stop"},
    {"ret", returnLanes, "stop"},
    {"call", callFunction, "stop"},
    {"sleep", sleepWarp, "stop"},
    {"trap", trapLanes, "stop"},
    {"nop", nothing, ""},
    {"localaddress", localAddress, "8"},
    {"isspace", isSpace, "p"},

    // How results are merged: found under these names by the decoder.
    {"masked.2", maskedResult<u16>, ""},
    {"masked.4", maskedResult<u32>, ""},
    {"masked.8", maskedResult<u64>, ""},
    {"masked.16", maskedResult128, ""},
    {"masked.p", maskedPredicate, ""},
    {"masked.", maskedItself, ""},
    {"masked.bra", branchMasked, ""},
    {"masked.bra.if", branchIfMasked, ""},
    {"masked.label", labelMasked, ""},
    {"masked.guard", guardMasked, ""},
};

} // namespace

HandlerTable table() { return {entries, sizeof entries / sizeof entries[0], JOULE_VGPU_ISA_NAME}; }

} // namespace joule::vgpu::JOULE_VGPU_ISA

namespace joule::vgpu {
HandlerTable JOULE_VGPU_TABLE() { return JOULE_VGPU_ISA::table(); }
} // namespace joule::vgpu
