// Decoding of moves and conversions.
#include "lib/VirtualGpu/Decoder.h"

namespace joule::vgpu {

// --- moving and converting ---

void Decoder::move() {
  const Operand &to = operand(0), &from = operand(1);
  if (isVector(to))
    return unpack(to, from);
  if (isVector(from))
    return pack(to, from);
  if (from.kind == OperandKind::Special)
    return emitSpecial(from, result(to, width()), width());
  uint32_t a = use(from, width(), type());
  emit(width() ? "mov." + bitsNameOfWidth(width()) : "mov.pred", result(to, width()), a);
}

void Decoder::unpack(const Operand &to, const Operand &from) {
  unsigned parts = unsigned(to.value), whole = width();
  unsigned part = whole / parts;
  if (part < 2 || part * parts != whole)
    throw Unsupported{"parts of this size"};
  uint32_t a = use(from, whole);
  std::vector<uint32_t> places;
  for (unsigned i = 0; i < parts; ++i)
    places.push_back(temporary(part));
  for (unsigned i = 0; i < parts; ++i)
    unpackPart(places[i], part, a, whole, i);
  for (unsigned i = 0; i < parts; ++i)
    if (element(to, i).kind != OperandKind::None)
      emit("mov." + bitsNameOfWidth(part), result(element(to, i), part), places[i]);
}

void Decoder::unpackPart(uint32_t d, unsigned part, uint32_t a, unsigned whole, unsigned i) {
  if (whole == 16 && part < 8) {
    uint32_t half = temporary(8);
    unsigned perHalf = 8 / part;
    unpackPart(half, 8, a, 16, i / perHalf);
    return unpackPart(d, part, half, 8, i % perHalf);
  }
  Op &op = emit("unpack." + std::to_string(part) + "." + std::to_string(whole));
  op.d = d, op.a = a, op.n = uint8_t(i);
}

void Decoder::pack(const Operand &to, const Operand &from) {
  unsigned parts = unsigned(from.value), whole = width(), part = whole / parts;
  if (part < 2 || part * parts != whole)
    throw Unsupported{"parts of this size"};
  std::vector<uint32_t> level;
  for (unsigned i = 0; i < parts; ++i)
    level.push_back(use(element(from, i), part));
  for (; level.size() > 1; part *= 2) {
    std::vector<uint32_t> next;
    for (size_t i = 0; i < level.size(); i += 2) {
      uint32_t d = level.size() == 2 ? result(to, whole) : temporary(2 * part);
      emit("pack." + std::to_string(part) + "." + std::to_string(2 * part), d, level[i], level[i + 1]);
      next.push_back(d);
    }
    level = next;
  }
}

uint32_t Decoder::fitted(const Operand &o, Type t) {
  if (o.kind != OperandKind::Register)
    return use(o, widthOf(t), t);
  unsigned have = widthOfRegister(o), want = widthOf(t);
  uint32_t a = registers[o.index];
  if (have > want) {
    uint32_t x = temporary(want);
    emit("cvt." + bitsNameOfWidth(want) + ".u" + std::to_string(have * 8), x, a);
    a = x;
  } else if (have < want) {
    throw Unsupported{"a register narrower than the type"};
  }
  return a;
}

void Decoder::convert() {
  Type to = opcode->type(0), from = opcode->type(1);
  if (opcode->types.size() < 2)
    throw Unsupported{"a conversion without two types"};
  if (opcode->has("rs"))
    throw Unsupported{"stochastic rounding"};
  if (opcode->has("pack"))
    return packIntegers();
  if (isPacked(to) || to == Type::E4M3x2 || to == Type::E5M2x2)
    return convertToPair(to, from);
  if (from == Type::E4M3x2 || from == Type::E5M2x2)
    throw Unsupported{"this conversion"};
  uint32_t a = fitted(operand(1), from);
  unsigned have = operand(0).kind == OperandKind::Register ? widthOfRegister(operand(0)) : widthOf(to);
  uint32_t d = result(operand(0), have);
  if (!convertQuickly(to, from, d, a, have))
    convertSlowly(to, from, d, a, have);
}

/// cvt.pack.sat.TYPE.s32{.b32} d, a, b{, c}: a above b, above the lower part of c.
void Decoder::packIntegers() {
  for (const std::string &mod : opcode->mods) {
    bool isSigned = mod[0] == 's';
    int size = mod.size() > 1 && (isSigned || mod[0] == 'u') ? atoi(mod.c_str() + 1) : 0;
    if (size != 2 && size != 4 && size != 8 && size != 16)
      continue;
    scalar::Rule r = rule(scalar::convertPack);
    r.to = uint8_t(size | (isSigned ? 0x80 : 0));
    uint32_t a = use(operand(1), 4), b = use(operand(2), 4),
             c = count() > 3 ? use(operand(3), 4) : constant(4, 0);
    return slow(r, result(operand(0), 4), 4, a, b, c);
  }
  throw Unsupported{"this type"};
}

bool Decoder::plainRounding() const {
  return roundingOf(*opcode) == scalar::Rounding::Nearest && !isIntegral();
}

bool Decoder::isIntegral() const {
  return opcode->has("rni") || opcode->has("rzi") || opcode->has("rmi") || opcode->has("rpi");
}

bool Decoder::isInteger(Type t) { return !ptx::isFloat(t) && !isHalf(t); }

bool Decoder::convertQuickly(Type to, Type from, uint32_t d, uint32_t a, unsigned have) {
  if (isInteger(to) && isInteger(from))
    return !opcode->sat && convertIntegers(to, from, d, a, have);
  if (have != widthOf(to) || ptx::sizeOf(from) == 1 || ptx::sizeOf(to) == 1)
    return false;
  if (opcode->ftz || (opcode->sat && !isInteger(to)))
    return false;
  if (isInteger(from))
    return isReal(to) && plainRounding() &&
           (emit(std::string("cvt.") + ptx::nameOf(to) + "." + signName(from), d, a), true);
  if (isInteger(to))
    return isReal(from) && convertToInteger(to, from, d, a);
  if (opcode->has("relu"))
    return false;
  if (to == from && isReal(to) && isIntegral())
    return emit("round." + integralName() + "." + ptx::nameOf(to), d, a), true;
  if (!plainRounding())
    return to == Type::TF32 && opcode->has("rna") && (emit("cvt.tf32.f32", d, a), true);
  std::string name = std::string("cvt.") + ptx::nameOf(to) + "." + ptx::nameOf(from);
  return to != Type::TF32 && handlers().count(name) && (emit(name, d, a), true);
}

std::string Decoder::integralName() const {
  for (const char *name : {"rni", "rzi", "rmi", "rpi"})
    if (opcode->has(name))
      return name;
  return "rzi";
}

bool Decoder::convertToInteger(Type to, Type from, uint32_t d, uint32_t a) {
  if (ptx::sizeOf(to) < 2)
    return false;
  std::string how = integralName();
  if (how != "rzi") {
    uint32_t x = temporary(widthOf(from));
    emit("round." + how + "." + ptx::nameOf(from), x, a);
    a = x;
  }
  emit("cvt." + signName(to) + "." + ptx::nameOf(from), d, a);
  return true;
}

bool Decoder::convertIntegers(Type to, Type from, uint32_t d, uint32_t a, unsigned have) {
  unsigned source = widthOf(from);
  if (ptx::sizeOf(from) == 1) {
    uint32_t x = temporary(2);
    emit(ptx::isSigned(from) ? "ext.s8.2" : "ext.u8.2", x, a);
    a = x;
  }
  std::string sign = ptx::isSigned(from) ? "s" : "u";
  unsigned target = widthOf(to);
  if (ptx::sizeOf(to) > 1 && target != have) {
    uint32_t x = temporary(target);
    emit("cvt." + bitsNameOfWidth(target) + "." + sign + std::to_string(source * 8), x, a);
    return emit("cvt." + bitsNameOfWidth(have) + "." + signName(to), d, x), true;
  }
  emit("cvt." + bitsNameOfWidth(have) + "." + sign + std::to_string(source * 8), d, a);
  if (ptx::sizeOf(to) == 1)
    emit(std::string(ptx::isSigned(to) ? "ext.s8." : "ext.u8.") + std::to_string(have), d, d);
  return true;
}

void Decoder::convertSlowly(Type to, Type from, uint32_t d, uint32_t a, unsigned have) {
  scalar::Rule r = rule(0);
  r.to = uint8_t(to), r.from = uint8_t(from);
  r.toIntegral = isIntegral();
  r.relu = opcode->has("relu");
  Op &op = emit("slowcvt." + std::to_string(have) + "." + std::to_string(widthOf(from)));
  op.d = d, op.a = a, op.imm = int64_t(scalar::pack(r));
}

void Decoder::convertToPair(Type to, Type from) {
  if (from == Type::E4M3x2 || from == Type::E5M2x2 || from == Type::F16x2)
    return convertPacked(to, from);
  bool bytes = ptx::sizeOf(to) == 2;
  Type part = to == Type::F16x2    ? Type::F16
              : to == Type::BF16x2 ? Type::BF16
              : to == Type::E4M3x2 ? Type::E4M3
                                   : Type::E5M2;
  uint32_t high = temporary(2), low = temporary(2);
  convertHalf(part, from, high, use(operand(1), 4, from));
  convertHalf(part, from, low, use(operand(2), 4, from));
  joinParts(bytes, high, low);
}

void Decoder::convertHalf(Type part, Type from, uint32_t d, uint32_t a) {
  if (!convertQuickly(part, from, d, a, 2))
    convertSlowly(part, from, d, a, 2);
}

void Decoder::joinParts(bool bytes, uint32_t high, uint32_t low) {
  if (!bytes)
    return emit("pack.2.4", result(operand(0), 4), low, high);
  emit("shl.b16", high, high, constant(4, 8));
  emit("or.b16", result(operand(0), 2), high, low);
}

void Decoder::convertPacked(Type to, Type from) {
  bool fromBytes = from != Type::F16x2, toBytes = ptx::sizeOf(to) == 2;
  Type source = from == Type::E4M3x2 ? Type::E4M3 : from == Type::E5M2x2 ? Type::E5M2 : Type::F16;
  Type target = to == Type::F16x2 ? Type::F16 : to == Type::E4M3x2 ? Type::E4M3 : Type::E5M2;
  uint32_t a = use(operand(1), fromBytes ? 2 : 4), parts[2];
  for (unsigned i = 0; i < 2; ++i) {
    uint32_t x = fromBytes ? temporary(2) : halfOf(a, i);
    if (fromBytes)
      emit("shr.u16", x, a, constant(4, 8 * i));
    if (fromBytes)
      emit("and.b16", x, x, constant(2, 0xff));
    parts[i] = temporary(2);
    convertSlowly(target, source, parts[i], x, 2);
  }
  joinParts(toBytes, parts[1], parts[0]);
}

} // namespace joule::vgpu
