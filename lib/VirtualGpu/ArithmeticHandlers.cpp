// Handlers that compute: integers, floating point, conversions, comparisons, moves.
#include "lib/VirtualGpu/HandlerParts.h"

namespace joule::vgpu::JOULE_VGPU_ISA {
namespace {

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

// Carries live in a predicate register of the frame, at `e`. The carry of a subtraction is that of a + ~b +
// 1, so none where it borrows, as on the device: `addc` after `sub.cc` tells, and nvcc's division of 128 bits
// asks.
template <class T, bool Sub, bool In, bool Out> Status carryAdd(const Op *op, u8 *r, Warp *w) {
  T *d = at<T>(r, op->d);
  const T *a = at<T>(r, op->a), *b = at<T>(r, op->b);
  u32 in = In ? *at<u32>(r, op->e) : 0, out = 0;
  for (int i = 0; i < 32; ++i) {
    T carry = In ? in >> i & 1 : Sub, y = Sub ? T(~b[i]) : b[i];
    unsigned __int128 sum = (unsigned __int128)a[i] + y + carry;
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
};

} // namespace

HandlerTable arithmeticHandlers() { return {entries, sizeof entries / sizeof entries[0]}; }

} // namespace joule::vgpu::JOULE_VGPU_ISA
