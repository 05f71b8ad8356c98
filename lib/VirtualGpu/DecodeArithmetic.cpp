// Decoding of instructions that compute: integers, floating point, bit fields, comparisons.
#include "lib/VirtualGpu/Decoder.h"

namespace joule::vgpu {

// --- arithmetic ---

void Decoder::addOrSub(const char *base, uint8_t rounded, uint8_t saturated) {
  if (opcode->has("cc"))
    return carry(base);
  if (roundsOddly())
    return slowFromOperands(rounded);
  if (mixedPrecision())
    return mixedAdd(base);
  if (isReal(type()) || isHalf(type())) {
    threeOperands(base + std::string(isReal(type()) ? ftz() : "") + "." + ptx::nameOf(type()));
    return saturate();
  }
  if (opcode->sat)
    return slowFromOperands(saturated);
  if (type() == Type::U16x2 || type() == Type::S16x2)
    return threeOperands(base + std::string(".b16x2"));
  threeOperands(std::string(base) + "." + bitsName(type()));
}

void Decoder::add() { addOrSub("add", scalar::addRounded, scalar::addSaturated); }

void Decoder::sub() { addOrSub("sub", scalar::subRounded, scalar::subSaturated); }

bool Decoder::mixedPrecision() const {
  return type() == Type::F32 && opcode->types.size() == 2 && isHalf(opcode->type(1));
}

void Decoder::mixedAdd(const char *base) {
  uint32_t a = temporary(4);
  emit(isBrain(opcode->type(1)) ? "cvt.f32.bf16" : "cvt.f32.f16", a, use(operand(1), 2));
  emit(base + std::string(".f32"), result(operand(0), 4), a, use(operand(2), 4, Type::F32));
  saturate();
}

uint32_t Decoder::carryRegister() {
  if (carryPlace == noRegister) {
    carryPlace = reserve(64);
    p.places.push_back({carryPlace, 0});
  }
  return carryPlace;
}

void Decoder::carry(const char *base) {
  uint32_t place = carryRegister(), a = use(operand(1), width()), b = use(operand(2), width());
  Op &op = emit(std::string(base) + (opcode->has("cc") ? ".cc." : ".") + bitsName(type()));
  op.d = result(operand(0), width()), op.a = a, op.b = b, op.e = place;
}

void Decoder::addWithCarry() { carry("addc"); }

void Decoder::subWithCarry() { carry("subc"); }

void Decoder::mul() {
  if (roundsOddly())
    return slowFromOperands(scalar::mulRounded);
  if (isReal(type()) || isHalf(type())) {
    threeOperands(std::string("mul") + (isReal(type()) ? ftz() : "") + "." + ptx::nameOf(type()));
    return saturate();
  }
  if (opcode->has("wide"))
    return mulWide();
  if (opcode->has("hi"))
    return threeOperands("mul.hi." + signName(type()));
  threeOperands("mul." + bitsName(type()));
}

void Decoder::mulWide() {
  uint32_t a = use(operand(1), width(), type()), b = use(operand(2), width(), type());
  emit("mul.wide." + signName(type()), result(operand(0), 2 * width()), a, b);
}

void Decoder::mad() {
  if (isReal(type()))
    return fma();
  if (opcode->has("wide")) {
    uint32_t a = use(operand(1), width()), b = use(operand(2), width()), c = use(operand(3), 2 * width());
    return emit("mad.wide." + signName(type()), result(operand(0), 2 * width()), a, b, c);
  }
  if (opcode->has("cc"))
    return madWithCarry("add.cc");
  if (opcode->has("hi"))
    return slowFromOperands(scalar::mulHiAdd);
  fourOperands("mad.lo." + bitsName(type()));
}

void Decoder::madWithCarryIn() { madWithCarry(opcode->has("cc") ? "addc.cc" : "addc"); }

void Decoder::madWithCarry(const char *addition) {
  uint32_t t = temporary(width()), place = carryRegister();
  uint32_t a = use(operand(1), width()), b = use(operand(2), width()), c = use(operand(3), width());
  emit(opcode->has("hi") ? "mul.hi." + signName(type()) : "mul." + bitsName(type()), t, a, b);
  Op &op = emit(addition + std::string(".") + bitsName(type()));
  op.d = result(operand(0), width()), op.a = t, op.b = c, op.e = place;
}

void Decoder::mad24() {
  if (opcode->has("hi"))
    return slowFromOperands(scalar::mul24Hi);
  fourOperands("mad24." + signName(type()));
}

void Decoder::mul24() {
  uint32_t a = use(operand(1), 4), b = use(operand(2), 4), zero = constant(4, 0), d = result(operand(0), 4);
  if (opcode->has("hi"))
    return slow(rule(scalar::mul24Hi), d, 4, a, b, zero);
  emit("mad24." + signName(type()), d, a, b, zero);
}

void Decoder::fma() {
  if (roundsOddly())
    return slowFromOperands(scalar::fmaRounded);
  if (mixedPrecision())
    return mixedFma();
  fourOperands(std::string("fma") + (isReal(type()) ? ftz() : "") + "." + ptx::nameOf(type()));
  saturate();
  if (opcode->has("relu"))
    relu();
}

void Decoder::mixedFma() {
  const char *widen = isBrain(opcode->type(1)) ? "cvt.f32.bf16" : "cvt.f32.f16";
  uint32_t a = temporary(4), b = temporary(4);
  emit(widen, a, use(operand(1), 2));
  emit(widen, b, use(operand(2), 2));
  emit("fma.f32", result(operand(0), 4), a, b, use(operand(3), 4, Type::F32));
  saturate();
}

void Decoder::relu() {
  uint32_t d = result(operand(0), width());
  emit(std::string("relu.") + ptx::nameOf(type()), d, d);
}

void Decoder::div() {
  if (roundsOddly())
    return slowFromOperands(scalar::divRounded);
  if (isReal(type()))
    return threeOperands(std::string("div") + ftz() + "." + ptx::nameOf(type()));
  threeOperands("div." + signName(type()));
}

void Decoder::rem() { threeOperands("rem." + signName(type())); }

void Decoder::rcp() { root("rcp", scalar::rcpRounded); }

void Decoder::sqrt() { root("sqrt", scalar::sqrtRounded); }

void Decoder::root(const char *base, uint8_t rounded) {
  if (roundsOddly())
    return slowFromOperands(rounded);
  twoOperands(std::string(base) + (type() == Type::F32 ? ftz() : "") + "." + ptx::nameOf(type()));
}

void Decoder::approximate() {
  bool single = isReal(type());
  twoOperands(opcode->base + (single && type() == Type::F32 ? ftz() : "") + "." + ptx::nameOf(type()));
}

void Decoder::absolute() {
  if (isReal(type())) {
    twoOperands(std::string("abs.") + ptx::nameOf(type()));
    return flushResult();
  }
  if (isHalf(type()))
    return twoOperands(isPacked(type()) ? "abs.f16x2" : "abs.f16");
  twoOperands("abs." + signName(type()));
}

void Decoder::negate() {
  if (isReal(type())) {
    twoOperands(std::string("neg.") + ptx::nameOf(type()));
    return flushResult();
  }
  if (isHalf(type()))
    return twoOperands(isPacked(type()) ? "neg.f16x2" : "neg.f16");
  twoOperands("neg." + bitsName(type()));
}

void Decoder::flushResult() {
  uint32_t d = result(operand(0), width());
  if (opcode->ftz && type() == Type::F32)
    emit("flush.ftz.f32", d, d);
}

void Decoder::minOrMax() {
  if (count() > 3)
    throw Unsupported{"three inputs"};
  if (opcode->has("xorsign"))
    return minOrMaxWithSign();
  const std::string &base = opcode->base;
  std::string keep = opcode->has("NaN") ? ".NaN" : "";
  bool packedIntegers = type() == Type::U16x2 || type() == Type::S16x2;
  if (isReal(type()))
    threeOperands(base + keep + ftz() + "." + ptx::nameOf(type()));
  else if (isHalf(type()) || packedIntegers)
    threeOperands(base + keep + "." + ptx::nameOf(type()));
  else
    threeOperands(base + "." + signName(type()));
  if (opcode->has("relu"))
    reluInteger();
}
void Decoder::reluInteger() {
  if (type() != Type::S32 && type() != Type::S16x2)
    throw Unsupported{".relu of this type"};
  uint32_t d = result(operand(0), width());
  emit(std::string("max.") + ptx::nameOf(type()), d, d, constant(4, 0));
}

/// .xorsign.abs: of the magnitudes, with the sign of the product; a NaN has none.
void Decoder::minOrMaxWithSign() {
  uint32_t a = use(operand(1), width(), type()), b = use(operand(2), width(), type()),
           d = result(operand(0), width());
  if (!isPacked(type()))
    return signedExtreme(type(), d, a, b);
  Type half = isBrain(type()) ? Type::BF16 : Type::F16;
  uint32_t parts[2];
  for (unsigned i = 0; i < 2; ++i) {
    uint32_t x = halfOf(a, i), y = halfOf(b, i);
    signedExtreme(half, parts[i] = temporary(2), x, y);
  }
  emit("pack.2.4", d, parts[0], parts[1]);
}
void Decoder::signedExtreme(Type t, uint32_t d, uint32_t a, uint32_t b) {
  unsigned w = widthOf(t);
  std::string bits = bitsName(t), keep = opcode->has("NaN") ? ".NaN" : "",
              absolute = w == 2 ? "abs.f16" : "abs.f32";
  uint64_t top = w == 2 ? 0x8000 : 0x80000000, nan = top - 1;
  uint32_t x = temporary(w), y = temporary(w), sign = temporary(w), number = temporary(0);
  emit("xor." + bits, sign, a, b);
  emit("and." + bits, sign, sign, constant(w, top));
  emit(absolute, x, a);
  emit(absolute, y, b);
  emit(opcode->base + keep + (w == 4 ? ftz() : "") + "." + ptx::nameOf(t), x, x, y);
  emit("and." + bits, y, x, constant(w, nan));
  Op &op = emit("setp.le.u" + std::to_string(8 * w));
  op.d = number, op.a = y, op.b = constant(w, w == 4 ? 0x7f800000 : isBrain(t) ? 0x7f80 : 0x7c00);
  emit("selp." + bits, sign, sign, constant(w, 0), number);
  emit("or." + bits, d, x, sign);
}

void Decoder::logic() {
  if (type() == Type::Pred) {
    uint32_t a = predicate(operand(1)), b = predicate(operand(2));
    return emit(opcode->base + ".pred", result(operand(0), 0), a, b);
  }
  threeOperands(opcode->base + "." + bitsName(type()));
}

void Decoder::logicalNot() {
  if (type() == Type::Pred)
    return emit("not.pred", result(operand(0), 0), predicate(operand(1)));
  twoOperands("not." + bitsName(type()));
}

void Decoder::conditionalNot() { twoOperands("cnot." + bitsName(type())); }

void Decoder::shiftLeft() { threeOperands("shl." + bitsName(type()), 4); }

void Decoder::shiftRight() { threeOperands("shr." + signName(type()), 4); }

void Decoder::sumOfDifferences() { fourOperands("sad." + signName(type())); }

void Decoder::countBits() {
  uint32_t a = use(operand(1), width());
  emit(opcode->base + "." + bitsName(type()), result(operand(0), 4), a);
}

void Decoder::reverse() { twoOperands("brev." + bitsName(type())); }

void Decoder::findBit() {
  uint32_t a = use(operand(1), width());
  uint8_t which = opcode->has("shiftamt") ? scalar::findBitShift : scalar::findBit;
  if (width() == 4)
    return slow(rule(which), result(operand(0), 4), 4, a);
  uint32_t t = temporary(8);
  slow(rule(which), t, 8, a);
  emit("cvt.b32.u64", result(operand(0), 4), t);
}

void Decoder::extractField() {
  uint32_t a = use(operand(1), width()), b = use(operand(2), 4), c = use(operand(3), 4);
  emit("bfe." + signName(type()), result(operand(0), width()), a, b, c);
}

void Decoder::insertField() { // position and length travel in one register
  unsigned w = width();
  uint32_t a = use(operand(1), w), b = use(operand(2), w), position = use(operand(3), 4),
           length = use(operand(4), 4);
  uint32_t both = temporary(4), cut = temporary(4);
  emit("and.b32", cut, position, constant(4, 0xff));
  emit("shl.b32", both, length, constant(4, 8));
  emit("and.b32", both, both, constant(4, 0xff00));
  emit("or.b32", both, both, cut);
  if (w == 8) {
    uint32_t wide = temporary(8);
    emit("cvt.b64.u32", wide, both);
    both = wide;
  }
  slow(rule(scalar::insertField), result(operand(0), w), w, a, b, both);
}

void Decoder::permute() {
  uint8_t which = opcode->has("f4e")    ? scalar::permuteF4e
                  : opcode->has("b4e")  ? scalar::permuteB4e
                  : opcode->has("rc8")  ? scalar::permuteRc8
                  : opcode->has("ecl")  ? scalar::permuteEcl
                  : opcode->has("ecr")  ? scalar::permuteEcr
                  : opcode->has("rc16") ? scalar::permuteRc16
                                        : scalar::permute;
  slowFromOperands(which);
}

void Decoder::logicTable() {
  if (operand(0).kind == OperandKind::Pair)
    return logicTableWithPredicate();
  if (operand(4).kind != OperandKind::Integer)
    throw Unsupported{"a table that is not a constant"};
  fourOperands("lop3.b32");
  p.ops.back().imm = operand(4).value & 0xff;
}

/// lop3.or d|p, a, b, c, table, q: p tells whether d is not zero, or q is true.
void Decoder::logicTableWithPredicate() {
  if (operand(4).kind != OperandKind::Integer)
    throw Unsupported{"a table that is not a constant"};
  uint32_t a = use(operand(1), 4), b = use(operand(2), 4), c = use(operand(3), 4), q = predicate(operand(5));
  uint32_t d = result(element(operand(0), 0), 4), flag = result(element(operand(0), 1), 0);
  emit("lop3.b32", d, a, b, c);
  p.ops.back().imm = operand(4).value & 0xff;
  Op &op = emit("setp.ne.u32");
  op.d = flag, op.e = noRegister, op.a = d, op.b = constant(4, 0), op.c = q,
  op.n = opcode->has("and") ? 1 : 2;
}

void Decoder::funnelShift() {
  std::string name = std::string("shf.") + (opcode->has("l") ? "l" : "r") +
                     (opcode->has("clamp") ? ".clamp" : ".wrap") + ".b32";
  fourOperands(name);
}

void Decoder::dotBytes() {
  fourOperands(std::string("dp4a.") + ptx::nameOf(opcode->type(0)) + "." + ptx::nameOf(opcode->type(1)));
}

void Decoder::dotPairs() {
  scalar::Rule r = rule(scalar::dotPair);
  r.from = uint8_t(opcode->type(0));
  r.to = uint8_t(opcode->type(1));
  r.saturate = opcode->has("hi");
  slow(r, result(operand(0), 4), 4, use(operand(1), 4), use(operand(2), 4), use(operand(3), 4));
}

void Decoder::bitMask() { slowFromOperands(opcode->has("wrap") ? scalar::maskWrap : scalar::maskClamp); }

void Decoder::sizeExtend() {
  slowFromOperands(opcode->has("wrap") ? scalar::sizeExtendWrap : scalar::sizeExtendClamp);
}

void Decoder::findNthSet() { slowFromOperands(scalar::nthSet); }

void Decoder::copySign() { threeOperands(std::string("copysign.") + ptx::nameOf(type())); }

void Decoder::testFloat() {
  static const std::pair<const char *, scalar::FloatTest> tests[] = {
      {"finite", scalar::finite},        {"infinite", scalar::infinite}, {"number", scalar::isNumber},
      {"notanumber", scalar::notNumber}, {"normal", scalar::normal},     {"subnormal", scalar::subnormal}};
  for (auto [name, test] : tests)
    if (opcode->has(name)) {
      uint32_t a = use(operand(1), width(), type());
      Op &op = emit("testp");
      op.d = result(operand(0), 0), op.a = a, op.n = uint8_t(width());
      op.imm = int64_t(test) | int64_t(type()) << 8;
      return;
    }
  throw Unsupported{"this test"};
}

// --- comparing and choosing ---

std::string Decoder::comparison(const Opcode &o) {
  static const std::pair<const char *, const char *> names[] = {
      {"eq", "eq"},   {"ne", "ne"},   {"lt", "lt"},   {"le", "le"},   {"gt", "gt"},   {"ge", "ge"},
      {"lo", "lt"},   {"ls", "le"},   {"hi", "gt"},   {"hs", "ge"},   {"equ", "equ"}, {"neu", "neu"},
      {"ltu", "ltu"}, {"leu", "leu"}, {"gtu", "gtu"}, {"geu", "geu"}, {"num", "num"}, {"nan", "nan"}};
  for (auto [name, canonical] : names)
    if (!o.mods.empty() && o.mods[0] == name)
      return canonical;
  throw Unsupported{"this comparison"};
}

void Decoder::compareInto(Type t, uint32_t d, uint32_t e, uint32_t a, uint32_t b, unsigned combine,
                          uint32_t c) {
  if (opcode->ftz && t == Type::F32) {
    uint32_t x = temporary(4), y = temporary(4);
    emit("flush.ftz.f32", x, a);
    emit("flush.ftz.f32", y, b);
    a = x, b = y;
  }
  Op &op = emit("setp." + comparison(*opcode) + "." + (isReal(t) ? ptx::nameOf(t) : signName(t)));
  op.d = d, op.e = e, op.a = a, op.b = b, op.n = uint8_t(combine), op.c = c;
}

uint32_t Decoder::widenHalf(uint32_t a, Type t) {
  uint32_t x = temporary(4);
  emit(isBrain(t) ? "cvt.f32.bf16" : "cvt.f32.f16", x, a);
  return x;
}

uint32_t Decoder::halfOf(uint32_t a, unsigned which) {
  uint32_t x = temporary(2);
  Op &op = emit("unpack.2.4");
  op.d = x, op.a = a, op.n = uint8_t(which);
  return x;
}

unsigned Decoder::combination() const {
  return opcode->has("and") ? 1 : opcode->has("or") ? 2 : opcode->has("xor") ? 3 : 0;
}

void Decoder::setPredicate() {
  const Operand &to = operand(0);
  bool pair = to.kind == OperandKind::Pair;
  Type t = opcode->lastType();
  uint32_t d = result(pair ? element(to, 0) : to, 0), e = pair ? result(element(to, 1), 0) : noRegister;
  uint32_t a = use(operand(1), widthOf(t), t), b = use(operand(2), widthOf(t), t);
  unsigned combine = combination();
  uint32_t c = combine ? predicate(operand(3)) : noRegister;
  if (isPacked(t)) {
    compareInto(Type::F32, d, noRegister, widenHalf(halfOf(a, 0), t), widenHalf(halfOf(b, 0), t), combine, c);
    return compareInto(Type::F32, e, noRegister, widenHalf(halfOf(a, 1), t), widenHalf(halfOf(b, 1), t),
                       combine, c);
  }
  if (isHalf(t))
    a = widenHalf(a, t), b = widenHalf(b, t), t = Type::F32;
  compareInto(t, d, e, a, b, combine, c);
}

void Decoder::setValue() { // set.cmp.dtype.stype
  Type to = opcode->type(), t = opcode->lastType();
  uint32_t a = use(operand(1), widthOf(t), t), b = use(operand(2), widthOf(t), t);
  unsigned combine = combination();
  uint32_t c = combine ? predicate(operand(3)) : noRegister, d = result(operand(0), widthOf(to));
  if (isPacked(t))
    return setHalves(to, t, d, a, b, combine, c);
  if (isHalf(t))
    a = widenHalf(a, t), b = widenHalf(b, t), t = Type::F32;
  uint32_t flag = temporary(0);
  compareInto(t, flag, noRegister, a, b, combine, c);
  uint64_t yes = to == Type::F32 ? 0x3f800000 : to == Type::F16 ? 0x3c00 : to == Type::BF16 ? 0x3f80 : ~0ull;
  emit("selp." + std::string(ptx::nameOf(bitsType(widthOf(to)))), d, constant(widthOf(to), yes),
       constant(widthOf(to), 0), flag);
}

void Decoder::setHalves(Type to, Type t, uint32_t d, uint32_t a, uint32_t b, unsigned combine, uint32_t c) {
  uint64_t yes = to == Type::F16x2 ? 0x3c00 : to == Type::BF16x2 ? 0x3f80 : 0xffff;
  uint32_t parts[2];
  for (unsigned i = 0; i < 2; ++i) {
    uint32_t flag = temporary(0);
    parts[i] = temporary(2);
    compareInto(Type::F32, flag, noRegister, widenHalf(halfOf(a, i), t), widenHalf(halfOf(b, i), t), combine,
                c);
    emit("selp.b16", parts[i], constant(2, yes), constant(2, 0), flag);
  }
  emit("pack.2.4", d, parts[0], parts[1]);
}

void Decoder::selectByPredicate() {
  uint32_t a = use(operand(1), width(), type()), b = use(operand(2), width(), type()),
           c = predicate(operand(3));
  emit("selp." + bitsNameOfWidth(width()), result(operand(0), width()), a, b, c);
}

std::string Decoder::bitsNameOfWidth(unsigned w) { return ptx::nameOf(bitsType(w)); }

void Decoder::selectBySign() {
  Type t = opcode->lastType();
  uint32_t a = use(operand(1), width(), type()), b = use(operand(2), width(), type()),
           c = use(operand(3), 4, t);
  emit("slct." + bitsNameOfWidth(width()) + (t == Type::F32 ? ".f32" : ".s32"), result(operand(0), width()),
       a, b, c);
}

} // namespace joule::vgpu
