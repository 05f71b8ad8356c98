// Operations that compute. Every formula here gives the bits that the interpreter's handler of the same name
// gives (lib/VirtualGpu/ArithmeticHandlers.cpp); scalars and vectors share the formulas.
#include "lib/VirtualGpu/Jit/Emitter.h"

#include <llvm/IR/Intrinsics.h>
#include <llvm/IR/IntrinsicsX86.h>

#include <cstddef>

namespace joule::vgpu::jit {

using namespace llvm;

namespace {

bool has(const std::string &name, const char *part) { return name.find(part) != std::string::npos; }
bool ends(const std::string &name, const char *suffix) {
  std::string s = suffix;
  return name.size() >= s.size() && name.compare(name.size() - s.size(), s.size(), s) == 0;
}
unsigned bitsOf(Value *v) { return v->getType()->getScalarSizeInBits(); }

/// The part between the last dots, "f32" in "add.ftz.f32".
std::string lastPart(const std::string &name) { return name.substr(name.rfind('.') + 1); }

bool isFloatName(const std::string &part) { return part == "f32" || part == "f64"; }
bool isHalfName(const std::string &part) {
  return part == "f16" || part == "bf16" || part == "f16x2" || part == "bf16x2";
}

Type *withBits(Value *like, IRBuilder<> &b, unsigned bits) { return shapedLike(like, b.getIntNTy(bits)); }

} // namespace

/// Among all lanes, in registers.
void Emitter::emitExchange(const Operation &o) {
  const std::string &name = *o.name;
  if (startsWith(name, "shfl."))
    return emitShuffle(o);
  V a = vectorOf(uint32_t(o.a));
  define(o, o.d, startsWith(name, "vote.") ? vote(name, a) : reduced(name, a));
}

/// What gives all lanes one value, or one plus a pattern.
void Emitter::emitScalar(const Operation &o) {
  auto operand = [&](int32_t slot) { return slot < 0 ? nullptr : scalarOf(uint32_t(slot)); };
  V a = operand(o.a), second = operand(o.b), c = operand(o.c);
  if (o.e >= 0 && startsWith(*o.name, "setp."))
    define(o, o.e, predicate(o, a, second, c, true));
  define(o, o.d, computed(o, a, second, c));
}

/// The result, of as many lanes as the operands have.
Value *Emitter::computed(const Operation &o, V a, V second, V c) {
  return startsWith(*o.name, "setp.") ? predicate(o, a, second, c, false)
                                      : asInteger(compute(*o.name, o, a, second, c));
}

/// Widening first lane and pattern apart is right only if no lane's sum wraps around. Where one would, the
/// interpreter goes on.
void Emitter::guardExtension(const Result &result) {
  if (result.extends < 0)
    return;
  uint32_t slot = uint32_t(result.extends);
  Shape shape = shapeOf(slot);
  unsigned bits = 8 * graph.slots[slot].width;
  V first = scalarOf(slot);
  Type *wide = b.getInt64Ty();
  V x = bits == 64 ? first : result.extendsSigned ? b.CreateSExt(first, wide) : b.CreateZExt(first, wide);
  int64_t low = *std::min_element(shape.pattern->begin(), shape.pattern->end());
  int64_t high = *std::max_element(shape.pattern->begin(), shape.pattern->end());
  int64_t most = result.extendsSigned ? (int64_t(1) << (bits - 1)) - 1 : (int64_t(1) << bits) - 1;
  int64_t least = result.extendsSigned ? -most - 1 : 0;
  V bad = b.CreateOr(b.CreateICmpSGT(x, b.getInt64(uint64_t(most - high))),
                     b.CreateICmpSLT(x, b.getInt64(uint64_t(least - low))));
  BasicBlock *fits = newBlock("fits");
  b.CreateCondBr(bad, backBlock(), fits);
  b.SetInsertPoint(fits);
}

Value *Emitter::compute(const std::string &name, const Operation &o, V a, V x, V c) {
  std::string last = lastPart(name);
  if (startsWith(name, "cvt.") || startsWith(name, "round.") || startsWith(name, "ext."))
    return convert(name, a, graph.slots[uint32_t(o.d)].width);
  if (isHalfName(last))
    return computeHalf(name, a, x);
  if (isFloatName(last))
    return computeFloat(name, asFloat(a), x ? asFloat(x) : nullptr, c ? asFloat(c) : nullptr);
  return computeInteger(name, o, a, x, c);
}

Value *Emitter::computeInteger(const std::string &name, const Operation &o, V a, V x, V c) {
  unsigned bits = bitsOf(a);
  bool isSigned = lastPart(name)[0] == 's';
  auto two = [&](auto f) { // halves of 16 bits side by side
    unsigned lanes = a->getType()->isVectorTy() ? cast<FixedVectorType>(a->getType())->getNumElements() : 1;
    auto type = FixedVectorType::get(b.getInt16Ty(), 2 * lanes);
    return b.CreateBitCast(f(b.CreateBitCast(a, type), b.CreateBitCast(x, type)), a->getType());
  };
  auto wide = [&](V v) {
    Type *t = withBits(v, b, 2 * bits);
    return isSigned ? b.CreateSExt(v, t) : b.CreateZExt(v, t);
  };
  bool pair = ends(name, "x2");
  if (startsWith(name, "mov."))
    return a;
  if (startsWith(name, "add."))
    return pair ? two([&](V p, V q) { return b.CreateAdd(p, q); }) : b.CreateAdd(a, x);
  if (startsWith(name, "sub."))
    return pair ? two([&](V p, V q) { return b.CreateSub(p, q); }) : b.CreateSub(a, x);
  if (startsWith(name, "mul.wide."))
    return b.CreateMul(wide(a), wide(x));
  if (startsWith(name, "mad.wide."))
    return b.CreateAdd(b.CreateMul(wide(a), wide(x)), c);
  if (startsWith(name, "mul.hi."))
    return b.CreateTrunc(b.CreateLShr(b.CreateMul(wide(a), wide(x)), bits), a->getType());
  if (startsWith(name, "mul."))
    return b.CreateMul(a, x);
  if (startsWith(name, "mad.lo."))
    return b.CreateAdd(b.CreateMul(a, x), c);
  if (startsWith(name, "and."))
    return b.CreateAnd(a, x);
  if (startsWith(name, "or."))
    return b.CreateOr(a, x);
  if (startsWith(name, "xor."))
    return b.CreateXor(a, x);
  if (startsWith(name, "not."))
    return b.CreateNot(a);
  if (startsWith(name, "cnot."))
    return b.CreateZExt(b.CreateICmpEQ(a, llvm::Constant::getNullValue(a->getType())), a->getType());
  if (startsWith(name, "neg."))
    return b.CreateNeg(a);
  if (startsWith(name, "abs."))
    return b.CreateBinaryIntrinsic(Intrinsic::abs, a, b.getFalse());
  if (startsWith(name, "min.") || startsWith(name, "max.")) {
    bool isMin = name[1] == 'i';
    Intrinsic::ID id = isMin ? (isSigned ? Intrinsic::smin : Intrinsic::umin)
                             : (isSigned ? Intrinsic::smax : Intrinsic::umax);
    return pair ? two([&](V p, V q) { return b.CreateBinaryIntrinsic(id, p, q); })
                : b.CreateBinaryIntrinsic(id, a, x);
  }
  if (startsWith(name, "div.") || startsWith(name, "rem."))
    return divided(a, x, isSigned, name[0] == 'r');
  if (startsWith(name, "shl.") || startsWith(name, "shr.")) {
    V by = bits < 32
               ? b.CreateTrunc(b.CreateBinaryIntrinsic(Intrinsic::umin, x, intType(x, 32, 255)), a->getType())
               : b.CreateZExt(x, a->getType());
    V inside = b.CreateICmpULT(by, intType(a, bits, bits));
    if (name[2] == 'r' && isSigned)
      return b.CreateAShr(a, b.CreateSelect(inside, by, intType(a, bits, bits - 1)));
    V kept = b.CreateAnd(by, intType(a, bits, bits - 1));
    V shifted = name[2] == 'l' ? b.CreateShl(a, kept) : b.CreateLShr(a, kept);
    return b.CreateSelect(inside, shifted, llvm::Constant::getNullValue(a->getType()));
  }
  if (startsWith(name, "popc."))
    return b.CreateZExtOrTrunc(b.CreateUnaryIntrinsic(Intrinsic::ctpop, a), withBits(a, b, 32));
  if (startsWith(name, "clz."))
    return b.CreateZExtOrTrunc(b.CreateBinaryIntrinsic(Intrinsic::ctlz, a, b.getFalse()), withBits(a, b, 32));
  if (startsWith(name, "brev."))
    return b.CreateUnaryIntrinsic(Intrinsic::bitreverse, a);
  if (startsWith(name, "lop3."))
    return logic3(a, x, c, unsigned(o.op->imm));
  if (startsWith(name, "shf.")) { // the funnel's upper half is b
    bool left = name[4] == 'l', clamps = has(name, "clamp");
    V by = b.CreateAnd(c, intType(c, 32, 31));
    V shifted = b.CreateIntrinsic(left ? Intrinsic::fshl : Intrinsic::fshr, {a->getType()}, {x, a, by});
    return clamps ? b.CreateSelect(b.CreateICmpUGE(c, intType(c, 32, 32)), left ? a : x, shifted) : shifted;
  }
  if (startsWith(name, "selp."))
    return b.CreateSelect(c, a, x);
  if (startsWith(name, "pack.")) {
    Type *t = withBits(a, b, 2 * bits);
    return b.CreateOr(b.CreateZExt(a, t), b.CreateShl(b.CreateZExt(x, t), bits));
  }
  if (startsWith(name, "unpack.")) {
    unsigned part = unsigned(atoi(name.c_str() + 7)) * 8;
    return b.CreateTrunc(b.CreateLShr(a, uint64_t(o.op->n) * part), withBits(a, b, part));
  }
  return nullptr;
}

/// Division by zero gives all ones, its remainder the dividend; the least number by -1 gives itself.
Value *Emitter::divided(V a, V x, bool isSigned, bool remainder) {
  unsigned bits = bitsOf(a);
  V zero = llvm::Constant::getNullValue(a->getType()), ones = llvm::Constant::getAllOnesValue(a->getType());
  V isZero = b.CreateICmpEQ(x, zero), odd = isZero;
  if (isSigned)
    odd = b.CreateOr(isZero, b.CreateICmpEQ(x, ones));
  V safe = b.CreateSelect(odd, intType(a, bits, 1), x);
  if (!isSigned) {
    V q = remainder ? b.CreateURem(a, safe) : b.CreateUDiv(a, safe);
    return b.CreateSelect(isZero, remainder ? a : ones, q);
  }
  V q = remainder ? b.CreateSRem(a, safe) : b.CreateSDiv(a, safe);
  V byMinusOne = remainder ? zero : b.CreateNeg(a);
  return b.CreateSelect(isZero, remainder ? a : ones, b.CreateSelect(b.CreateICmpEQ(x, ones), byMinusOne, q));
}

Value *Emitter::logic3(V a, V x, V c, unsigned table) {
  V result = llvm::Constant::getNullValue(a->getType());
  auto choose = [&](unsigned two) { // by c: bit 0 where it is 0, bit 1 where it is 1
    return two == 0   ? (V)llvm::Constant::getNullValue(a->getType())
           : two == 3 ? (V)llvm::Constant::getAllOnesValue(a->getType())
           : two == 2 ? c
                      : b.CreateNot(c);
  };
  auto mux = [&](V s, V one, V zero) {
    return b.CreateOr(b.CreateAnd(s, one), b.CreateAnd(b.CreateNot(s), zero));
  };
  V high = mux(x, choose(table >> 6 & 3), choose(table >> 4 & 3));
  V low = mux(x, choose(table >> 2 & 3), choose(table & 3));
  result = mux(a, high, low);
  return result;
}

// --- floating point ---

Value *Emitter::flushed(V x) {
  if (bitsOf(x) != 32)
    return x;
  V bits = asInteger(x);
  V small = b.CreateICmpEQ(b.CreateAnd(bits, intType(bits, 32, 0x7f800000)),
                           llvm::Constant::getNullValue(bits->getType()));
  return asFloat(b.CreateSelect(small, b.CreateAnd(bits, intType(bits, 32, 0x80000000)), bits));
}

Value *Emitter::minMax(V a, V x, bool isMin, bool keepNan) {
  V best = b.CreateSelect(isMin ? b.CreateFCmpOLT(a, x) : b.CreateFCmpOGT(a, x), a, x);
  V p = asInteger(a), q = asInteger(x);
  V both = asFloat(isMin ? b.CreateOr(p, q) : b.CreateAnd(p, q)); // of -0 and +0 the right one
  best = b.CreateSelect(b.CreateFCmpOEQ(a, x), both, best);
  V aIsNan = b.CreateFCmpUNO(a, a), xIsNan = b.CreateFCmpUNO(x, x);
  return b.CreateSelect(aIsNan, keepNan ? a : x, b.CreateSelect(xIsNan, keepNan ? x : a, best));
}

Value *Emitter::computeFloat(const std::string &name, V a, V x, V c) {
  bool ftz = has(name, ".ftz");
  V zero = llvm::Constant::getNullValue(a->getType()), one = ConstantFP::get(a->getType(), 1.0);
  if (startsWith(name, "abs.") || startsWith(name, "neg.") || startsWith(name, "copysign.")) {
    V bits = asInteger(a);
    unsigned width = bitsOf(a);
    V sign = intType(bits, width, 1ull << (width - 1)),
      rest = intType(bits, width, (1ull << (width - 1)) - 1);
    if (name[0] == 'a')
      return asFloat(b.CreateAnd(bits, rest));
    if (name[0] == 'n')
      return asFloat(b.CreateXor(bits, sign));
    return asFloat(b.CreateOr(b.CreateAnd(asInteger(x), rest), b.CreateAnd(bits, sign)));
  }
  if (startsWith(name, "sat."))
    return b.CreateSelect(b.CreateFCmpOGT(a, zero), b.CreateSelect(b.CreateFCmpOLT(a, one), a, one), zero);
  if (startsWith(name, "relu."))
    return b.CreateSelect(b.CreateFCmpOGT(a, zero), a, b.CreateSelect(b.CreateFCmpUNO(a, a), a, zero));
  if (startsWith(name, "ex2."))
    return exp2(a, ftz);
  if (ftz) {
    a = flushed(a);
    x = x ? flushed(x) : x;
    c = c ? flushed(c) : c;
  }
  V result = nullptr;
  if (startsWith(name, "add."))
    result = b.CreateFAdd(a, x);
  else if (startsWith(name, "sub."))
    result = b.CreateFSub(a, x);
  else if (startsWith(name, "mul."))
    result = b.CreateFMul(a, x);
  else if (startsWith(name, "div."))
    result = b.CreateFDiv(a, x);
  else if (startsWith(name, "fma."))
    result = b.CreateIntrinsic(Intrinsic::fma, {a->getType()}, {a, x, c});
  else if (startsWith(name, "rcp."))
    result = b.CreateFDiv(one, a);
  else if (startsWith(name, "sqrt."))
    result = b.CreateUnaryIntrinsic(Intrinsic::sqrt, a);
  else if (startsWith(name, "rsqrt.")) {
    Type *wide = shapedLike(a, b.getDoubleTy());
    V root = b.CreateUnaryIntrinsic(Intrinsic::sqrt, bitsOf(a) == 32 ? b.CreateFPExt(a, wide) : a);
    V inverse = b.CreateFDiv(ConstantFP::get(wide, 1.0), root);
    result = bitsOf(a) == 32 ? b.CreateFPTrunc(inverse, a->getType()) : inverse;
  } else if (startsWith(name, "flush."))
    result = a;
  else if (startsWith(name, "min.") || startsWith(name, "max."))
    return minMax(a, x, name[1] == 'i', has(name, ".NaN"));
  return ftz && result ? flushed(result) : result;
}

/// As FloatExp2 of the handlers, step by step.
Value *Emitter::exp2(V x, bool ftz) {
  if (ftz)
    x = flushed(x);
  auto number = [&](float f) { return ConstantFP::get(x->getType(), f); };
  V clamped = b.CreateSelect(b.CreateFCmpOGT(x, number(129.f)), number(129.f),
                             b.CreateSelect(b.CreateFCmpOLT(x, number(-151.f)), number(-151.f), x));
  V whole = b.CreateUnaryIntrinsic(Intrinsic::rint, clamped), part = b.CreateFSub(clamped, whole);
  V p = number(1.5403530e-4f);
  for (float k : {1.33335581e-3f, 9.61812910e-3f, 5.55041087e-2f, 2.40226507e-1f, 6.93147181e-1f, 1.f})
    p = b.CreateIntrinsic(Intrinsic::fma, {x->getType()}, {p, part, number(k)});
  Type *ints = withBits(x, b, 32);
  V ordered = b.CreateFCmpORD(whole, whole);
  V n = b.CreateFPToSI(b.CreateSelect(ordered, whole, llvm::Constant::getNullValue(x->getType())), ints);
  V half = b.CreateAShr(n, 1);
  auto power = [&](V e) { return asFloat(b.CreateShl(b.CreateAdd(e, intType(e, 32, 127)), 23)); };
  V scaled = b.CreateFMul(b.CreateFMul(p, power(half)), power(b.CreateSub(n, half)));
  V result = b.CreateSelect(b.CreateFCmpUNO(x, x), x, scaled);
  return ftz ? flushed(result) : result;
}

// --- half precision, worked in f32 ---

Value *Emitter::widenHalf(V bits, bool brain) {
  V x = b.CreateZExt(bits, withBits(bits, b, 32));
  if (brain)
    return asFloat(b.CreateShl(x, 16));
  V magnitude = b.CreateAnd(x, intType(x, 32, 0x7fff));
  V sign = b.CreateShl(b.CreateAnd(x, intType(x, 32, 0x8000)), 16);
  V shifted = b.CreateShl(magnitude, 13);
  V normal = b.CreateAdd(shifted, intType(x, 32, 0x38000000));
  V raised = asFloat(b.CreateAdd(shifted, intType(x, 32, 0x38800000)));
  V small = asInteger(b.CreateFSub(raised, ConstantFP::get(raised->getType(), 0x1p-14)));
  V wide = b.CreateSelect(b.CreateICmpULT(magnitude, intType(x, 32, 0x400)), small,
                          b.CreateSelect(b.CreateICmpUGE(magnitude, intType(x, 32, 0x7c00)),
                                         b.CreateOr(shifted, intType(x, 32, 0x7f800000)), normal));
  return asFloat(b.CreateOr(wide, sign));
}

Value *Emitter::narrowHalf(V value, bool brain) {
  V bits = asInteger(value);
  auto number = [&](uint64_t n) { return intType(bits, 32, n); };
  V magnitude = b.CreateAnd(bits, number(0x7fffffff));
  V isNan = b.CreateICmpUGT(magnitude, number(0x7f800000));
  if (brain) {
    V odd = b.CreateAnd(b.CreateLShr(bits, 16), number(1));
    V rounded = b.CreateLShr(b.CreateAdd(b.CreateAdd(bits, number(0x7fff)), odd), 16);
    return b.CreateTrunc(b.CreateSelect(isNan, number(0x7fff), rounded), withBits(bits, b, 16));
  }
  V sign = b.CreateAnd(b.CreateLShr(bits, 16), number(0x8000));
  V asReal = asFloat(magnitude);
  V subnormal = b.CreateSub(asInteger(b.CreateFAdd(asReal, ConstantFP::get(asReal->getType(), 0.5))),
                            number(0x3f000000));
  V odd = b.CreateAnd(b.CreateLShr(magnitude, 13), number(1));
  V normal = b.CreateLShr(b.CreateAdd(b.CreateAdd(magnitude, number(0xc8000fff)), odd), 13);
  V out = b.CreateSelect(b.CreateICmpUGE(magnitude, number(0x477ff000)), number(0x7c00),
                         b.CreateSelect(b.CreateICmpULT(magnitude, number(0x38800000)), subnormal, normal));
  out = b.CreateSelect(isNan, number(0x7fff), b.CreateOr(out, sign));
  return b.CreateTrunc(out, withBits(bits, b, 16));
}

Value *Emitter::computeHalf(const std::string &name, V a, V x) {
  std::string last = lastPart(name);
  bool brain = last[0] == 'b', pair = ends(last, "x2");
  unsigned bits = bitsOf(a);
  if (startsWith(name, "abs.") || startsWith(name, "neg.")) {
    uint64_t sign = pair ? 0x80008000u : 0x8000u;
    return name[0] == 'a' ? b.CreateAnd(a, intType(a, bits, ~sign & (pair ? 0xffffffffu : 0xffffu)))
                          : b.CreateXor(a, intType(a, bits, sign));
  }
  std::string plain = name.substr(0, name.rfind('.')) + ".f32";
  auto one = [&](V p, V q) {
    return narrowHalf(computeFloat(plain, widenHalf(p, brain), q ? widenHalf(q, brain) : nullptr, nullptr),
                      brain);
  };
  if (!pair)
    return one(a, x);
  Type *half = withBits(a, b, 16), *whole = a->getType();
  auto low = [&](V v) { return v ? b.CreateTrunc(v, half) : v; };
  auto high = [&](V v) { return v ? b.CreateTrunc(b.CreateLShr(v, 16), half) : v; };
  V l = one(low(a), low(x)), h = one(high(a), high(x));
  return b.CreateOr(b.CreateZExt(l, whole), b.CreateShl(b.CreateZExt(h, whole), 16));
}

// --- conversions ---

/// Toward zero, NaN to 0, out of range to the nearest end.
Value *Emitter::toInteger(V x, unsigned bits, bool isSigned) {
  return b.CreateIntrinsic(isSigned ? Intrinsic::fptosi_sat : Intrinsic::fptoui_sat,
                           {withBits(x, b, bits), x->getType()}, {x});
}

Value *Emitter::convert(const std::string &name, V a, unsigned resultWidth) {
  unsigned bits = 8 * resultWidth;
  if (startsWith(name, "ext.")) {
    V byte = b.CreateTrunc(a, withBits(a, b, 8));
    return name[4] == 's' ? b.CreateSExt(byte, a->getType()) : b.CreateZExt(byte, a->getType());
  }
  std::string to = name.substr(name.find('.') + 1), from = lastPart(name);
  if (startsWith(name, "round.")) {
    V x = asFloat(a);
    Intrinsic::ID id = has(name, "rni")   ? Intrinsic::rint
                       : has(name, "rzi") ? Intrinsic::trunc
                       : has(name, "rmi") ? Intrinsic::floor
                                          : Intrinsic::ceil;
    return b.CreateUnaryIntrinsic(id, x);
  }
  to = to.substr(0, to.find('.'));
  bool fromSigned = from[0] == 's', fromInteger = fromSigned || from[0] == 'u';
  if (to == "tf32") {
    V special = b.CreateICmpEQ(b.CreateAnd(a, intType(a, 32, 0x7f800000)), intType(a, 32, 0x7f800000));
    return b.CreateSelect(special, a,
                          b.CreateAnd(b.CreateAdd(a, intType(a, 32, 0x1000)), intType(a, 32, 0xffffe000)));
  }
  if (fromInteger && isFloatName(to)) {
    Type *t = shapedLike(a, to == "f32" ? b.getFloatTy() : b.getDoubleTy());
    return fromSigned ? b.CreateSIToFP(a, t) : b.CreateUIToFP(a, t);
  }
  if (fromInteger)
    return fromSigned ? b.CreateSExtOrTrunc(a, withBits(a, b, bits))
                      : b.CreateZExtOrTrunc(a, withBits(a, b, bits));
  if (from == "f16" || from == "bf16")
    return widenHalf(a, from[0] == 'b');
  V x = asFloat(a);
  if (to == "f16" || to == "bf16")
    return narrowHalf(x, to[0] == 'b');
  if (to == "f64")
    return b.CreateFPExt(x, shapedLike(x, b.getDoubleTy()));
  if (to == "f32")
    return b.CreateFPTrunc(x, shapedLike(x, b.getFloatTy()));
  return toInteger(x, bits, to[0] == 's');
}

// --- predicates ---

Value *Emitter::comparison(const std::string &name, V a, V x) {
  std::string how = name.substr(5, name.rfind('.') - 5), last = lastPart(name);
  static const std::map<std::string, CmpInst::Predicate> floats = {
      {"eq", CmpInst::FCMP_OEQ},  {"ne", CmpInst::FCMP_ONE},  {"lt", CmpInst::FCMP_OLT},
      {"le", CmpInst::FCMP_OLE},  {"gt", CmpInst::FCMP_OGT},  {"ge", CmpInst::FCMP_OGE},
      {"equ", CmpInst::FCMP_UEQ}, {"neu", CmpInst::FCMP_UNE}, {"ltu", CmpInst::FCMP_ULT},
      {"leu", CmpInst::FCMP_ULE}, {"gtu", CmpInst::FCMP_UGT}, {"geu", CmpInst::FCMP_UGE},
      {"num", CmpInst::FCMP_ORD}, {"nan", CmpInst::FCMP_UNO}};
  static const std::map<std::string, CmpInst::Predicate> unsigneds = {
      {"eq", CmpInst::ICMP_EQ},  {"ne", CmpInst::ICMP_NE},  {"lt", CmpInst::ICMP_ULT},
      {"le", CmpInst::ICMP_ULE}, {"gt", CmpInst::ICMP_UGT}, {"ge", CmpInst::ICMP_UGE}};
  if (isFloatName(last))
    return b.CreateFCmp(floats.at(how), asFloat(a), asFloat(x));
  CmpInst::Predicate p = unsigneds.at(how);
  return b.CreateICmp(last[0] == 's' ? ICmpInst::getSignedPredicate(p) : p, a, x);
}

Value *Emitter::predicate(const Operation &o, V a, V second, V other, bool negated) {
  V p = comparison(*o.name, a, second);
  if (negated)
    p = b.CreateNot(p);
  unsigned combine = o.op->n;
  return combine == 1   ? b.CreateAnd(p, other)
         : combine == 2 ? b.CreateOr(p, other)
         : combine == 3 ? b.CreateXor(p, other)
                        : p;
}

// --- exchanges among lanes ---

void Emitter::emitShuffle(const Operation &o) {
  const std::string &name = *o.name;
  uint32_t by = uint32_t(graph.slots[uint32_t(o.b)].constant) & 31,
           c = uint32_t(graph.slots[uint32_t(o.c)].constant);
  uint32_t clamp = c & 31, segment = c >> 8 & 31, inRange = 0;
  std::vector<int> from;
  for (int i = 0; i < int(warpSize); ++i) {
    int limit = int((uint32_t(i) & segment) | (clamp & ~segment)), source = i;
    bool inside;
    if (name == "shfl.up")
      source = i - int(by), inside = source >= limit;
    else if (name == "shfl.down")
      source = i + int(by), inside = source <= limit;
    else if (name == "shfl.bfly")
      source = i ^ int(by), inside = source <= limit;
    else
      source = int((uint32_t(i) & segment) | (by & ~segment)), inside = source <= limit;
    inRange |= uint32_t(inside) << i;
    from.push_back(inside ? source : i);
  }
  V a = vectorOf(uint32_t(o.a));
  V moved = b.CreateShuffleVector(a, a, from);
  define(o, o.d, moved);
  if (o.e >= 0)
    define(o, o.e, b.CreateBitCast(b.getInt32(inRange), vectorType(0)));
}

Value *Emitter::vote(const std::string &name, V p) {
  V bits = maskBits(p);
  if (name == "vote.ballot")
    return bits;
  V none = b.CreateICmpEQ(bits, b.getInt32(0)), all = b.CreateICmpEQ(bits, b.getInt32(allLanes));
  return name == "vote.all" ? all : name == "vote.any" ? b.CreateNot(none) : b.CreateOr(none, all);
}

Value *Emitter::reduced(const std::string &name, V a) {
  bool isSigned = ends(name, ".s32");
  if (startsWith(name, "redux.add"))
    return b.CreateAddReduce(a);
  if (startsWith(name, "redux.and"))
    return b.CreateAndReduce(a);
  if (startsWith(name, "redux.or"))
    return b.CreateOrReduce(a);
  if (startsWith(name, "redux.xor"))
    return b.CreateXorReduce(a);
  return startsWith(name, "redux.min") ? b.CreateIntMinReduce(a, isSigned)
                                       : b.CreateIntMaxReduce(a, isSigned);
}

// --- what a thread knows of itself ---

void Emitter::emitSpecial(const Operation &o) {
  using S = ptx::SpecialRegister;
  S s = S(o.op->imm);
  Type *i32 = b.getInt32Ty(), *pointer = PointerType::getUnqual(context);
  unsigned width = graph.slots[uint32_t(o.d)].width;
  auto fitted = [&](V value) {
    Type *t = withBits(value, b, 8 * width);
    return b.CreateZExtOrTrunc(value, t);
  };
  if (resultShape.scalar() && resultShape.known)
    return define(o, o.d, ConstantInt::get(scalarType(width), resultShape.value));
  if (s >= S::TidX && s <= S::TidZ) {
    size_t place = offsetof(Warp, tid) + (size_t(s) - size_t(S::TidX)) * sizeof(uint32_t) * warpSize;
    if (resultShape.scalar())
      return define(o, o.d, fitted(warpField(place, i32, true)));
    LoadInst *all = b.CreateAlignedLoad(vectorType(4), warpPointer(place), Align(64));
    return define(o, o.d, fitted(all));
  }
  auto fromTable = [&](size_t table, unsigned index) {
    V place = b.CreateConstInBoundsGEP1_32(i32, warpField(table, pointer, true), index);
    define(o, o.d, fitted(b.CreateLoad(i32, place)));
  };
  if (s >= S::CtaidX && s <= S::CtaidZ)
    return fromTable(offsetof(Warp, blockIndex), unsigned(s) - unsigned(S::CtaidX));
  if (s >= S::NctaidX && s <= S::NctaidZ)
    return fromTable(offsetof(Warp, grid), unsigned(s) - unsigned(S::NctaidX));
  if (s == S::WarpId)
    return define(o, o.d, fitted(warpField(offsetof(Warp, index), i32, true)));
  emitHandler(o);
}

void Emitter::emitLoadParameter(const Operation &o) {
  std::string kind = o.name->substr(8); // "u32.4"
  unsigned bits = unsigned(atoi(kind.c_str() + 1));
  V params = warpField(offsetof(Warp, params), PointerType::getUnqual(context), true);
  V place = b.CreateConstInBoundsGEP1_64(b.getInt8Ty(), params, uint64_t(o.op->imm));
  LoadInst *raw = b.CreateAlignedLoad(b.getIntNTy(bits), place, Align(1));
  raw->setMetadata(LLVMContext::MD_invariant_load, MDNode::get(context, {}));
  Type *t = scalarType(graph.slots[uint32_t(o.d)].width);
  define(o, o.d, kind[0] == 's' ? b.CreateSExt(raw, t) : b.CreateZExt(raw, t));
}

} // namespace joule::vgpu::jit
