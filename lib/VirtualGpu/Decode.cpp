// One PTX instruction after the other becomes operations. The table at the end names a function per base
// opcode; what has no row, or asks for something its function does not know, becomes a trap that says so.
#include "lib/VirtualGpu/Decode.h"
#include "lib/VirtualGpu/Scalar.h"

#include <cstring>

namespace joule::vgpu {
namespace {

using ptx::Instruction;
using ptx::Opcode;
using ptx::Operand;
using ptx::OperandKind;
using ptx::Space;
using ptx::Type;

/// In no space: an access traps.
constexpr uint64_t noAddress = 6ull << 56;

/// Why an instruction cannot be decoded; it becomes the trap's message.
struct Unsupported {
  std::string why;
};

unsigned widthOf(Type type) { return registerWidth(type); }

Type bitsType(unsigned width) {
  return width == 0   ? Type::Pred
         : width <= 2 ? Type::B16
         : width == 4 ? Type::B32
         : width == 8 ? Type::B64
                      : Type::B128;
}

/// "b32" for any 32-bit integer: what does not depend on the sign.
std::string bitsName(Type type) { return ptx::nameOf(bitsType(ptx::sizeOf(type))); }

/// "u32" or "s32".
std::string signName(Type type) {
  return std::string(ptx::isSigned(type) ? "s" : "u") + std::to_string(ptx::sizeOf(type) * 8);
}

bool isHalf(Type t) { return t == Type::F16 || t == Type::F16x2 || t == Type::BF16 || t == Type::BF16x2; }
bool isReal(Type t) { return t == Type::F32 || t == Type::F64; }
bool isPacked(Type t) { return t == Type::F16x2 || t == Type::BF16x2; }
bool isBrain(Type t) { return t == Type::BF16 || t == Type::BF16x2; }

scalar::Rounding roundingOf(const Opcode &o) {
  for (const std::string &mod : o.mods) {
    if (mod == "rz" || mod == "rzi")
      return scalar::Rounding::Zero;
    if (mod == "rm" || mod == "rmi")
      return scalar::Rounding::Down;
    if (mod == "rp" || mod == "rpi")
      return scalar::Rounding::Up;
    if (mod == "rna")
      return scalar::Rounding::Away;
  }
  return scalar::Rounding::Nearest;
}

// No compiler asks for more; beyond, offsets of 32 bits might wrap around.
constexpr uint32_t mostFrameBytes = 1 << 30, mostLocalBytes = 1 << 24, mostParameterBytes = 1 << 16;

class Decoder {
public:
  using Method = void (Decoder::*)();
  static const std::unordered_map<std::string, Method> &methods();

  Decoder(const ptx::Function &f, SymbolSource &symbols, Program &p) : f(f), symbols(symbols), p(p) {}

  void run() {
    p.function = &f;
    temporaryBase = placeRegisters(f, registers);
    p.registers32 = temporaryBase / 128;
    placeVariables();
    findLabels();
    for (at = 0; at < f.instructions.size(); ++at)
      decodeOne();
    placeLabel(uint32_t(f.instructions.size()));
    emit("exit").instruction = uint32_t(f.instructions.size() - 1);
    finish();
  }

private:
  // --- the frame ---

  uint32_t reserve(uint64_t bytes) {
    if (bytes > mostFrameBytes - temporaryBase)
      throw std::runtime_error("the frame of '" + f.name + "' is too large");
    uint32_t offset = temporaryBase;
    temporaryBase += uint32_t(bytes + 63) & ~63u;
    return offset;
  }

  /// Local variables, and the parameters of calls, which lie in the frame.
  void placeVariables() {
    variablePlace.assign(f.variables.size(), 0);
    uint32_t local = 0;
    for (uint32_t i = 0; i < f.variables.size(); ++i) {
      const ptx::Variable &v = f.variables[i];
      if (v.space != Space::Local)
        continue;
      local = (local + v.align - 1) / v.align * v.align;
      if (v.size > mostLocalBytes - std::min(local, mostLocalBytes))
        throw std::runtime_error("the local memory of '" + f.name + "' is too large");
      variablePlace[i] = local;
      local += uint32_t(v.size);
    }
    p.localBytes = (local + 15) & ~15u;
    for (uint32_t i = 0; i < f.variables.size(); ++i)
      if (f.variables[i].space == Space::Param && !isKernelParameter(i))
        variablePlace[i] = reserve(uint64_t(frameStride(i)) * warpSize);
    placeKernelParameters();
    for (uint32_t i : f.params)
      if (!f.entry)
        p.parameters.push_back({variablePlace[i], frameStride(i)});
    for (uint32_t i : f.returns)
      p.results.push_back({variablePlace[i], frameStride(i)});
  }

  uint32_t frameStride(uint32_t i) const { return uint32_t(f.variables[i].size + 7) & ~7u; }

  bool isKernelParameter(uint32_t i) const { return f.entry && i < f.params.size(); }

  void placeKernelParameters() {
    uint32_t offset = 0;
    for (uint32_t i : f.params) {
      if (!f.entry)
        break;
      const ptx::Variable &v = f.variables[i];
      offset = (offset + v.align - 1) / v.align * v.align;
      if (v.size > mostParameterBytes - std::min(offset, mostParameterBytes))
        throw std::runtime_error("the parameters of '" + f.name + "' are too large");
      variablePlace[i] = offset;
      p.kernelParameters.push_back(offset);
      p.kernelParameterSizes.push_back(uint32_t(v.size));
      offset += uint32_t(v.size);
    }
    p.kernelParameterBytes = offset;
  }

  uint32_t temporary(unsigned width) {
    uint32_t bytes = width ? width * warpSize : 64;
    auto &pool = temporaries[width];
    size_t used = temporariesUsed[width]++;
    if (used == pool.size())
      pool.push_back(reserve(bytes));
    return pool[used];
  }

  uint32_t constant(unsigned width, uint64_t bits) {
    if (width == 0)
      bits = bits ? allLanes : 0;
    if (width && width < 8)
      bits &= (1ull << (8 * width)) - 1;
    auto [it, isNew] = constants.emplace(std::make_pair(width, bits), 0);
    if (isNew) {
      it->second = reserve(width ? width * warpSize : 64);
      p.constants.push_back({it->second, uint8_t(width), bits});
    }
    return it->second;
  }

  // --- emitting ---

  Op &emit(const std::string &name) {
    auto it = handlers().find(name);
    if (it == handlers().end())
      throw Unsupported{"no form '" + name + "'"};
    Op op;
    memset(&op, 0, sizeof op);
    op.fn = it->second.fn;
    op.masked = it->second.masked;
    op.d = op.a = op.b = op.c = op.e = noRegister;
    op.instruction = uint32_t(at);
    wholeSeen |= it->second.whole;
    p.ops.push_back(op);
    return p.ops.back();
  }

  void emit(const std::string &name, uint32_t d, uint32_t a, uint32_t b = noRegister,
            uint32_t c = noRegister) {
    Op &op = emit(name);
    op.d = d, op.a = a, op.b = b, op.c = c;
  }

  const uint32_t *keepList(std::vector<uint32_t> list) {
    p.lists.push_back(std::move(list));
    return p.lists.back().data();
  }

  void decodeOne() {
    placeLabel(uint32_t(at));
    const Instruction &i = f.instructions[at];
    instruction = &i;
    opcode = i.opcode;
    size_t start = p.ops.size();
    startTemporaries();
    wholeSeen = false;
    try {
      auto method = methods().find(opcode->base);
      if (method == methods().end())
        throw Unsupported{"unknown instruction"};
      (this->*method->second)();
    } catch (const Unsupported &problem) {
      p.ops.resize(start);
      startTemporaries();
      emitTrap(FaultKind::IllegalInstruction, problem.why);
    }
    if (i.guard >= 0 && opcode->base != "bra")
      guardFrom(start);
  }

  void startTemporaries() { temporariesUsed.clear(); }

  void emitTrap(FaultKind kind, const std::string &why) {
    Op &op = emit("trap");
    op.imm = int64_t(kind);
    op.e = uint32_t(p.problems.size());
    p.problems.push_back(why);
  }

  /// One ordinary operation gets a guard before it; anything else is jumped around.
  void guardFrom(size_t start) {
    uint32_t predicate = registers[instruction->guard];
    if (p.ops.size() == start)
      return;
    std::vector<Op> body(p.ops.begin() + start, p.ops.end());
    p.ops.resize(start);
    bool around = wholeSeen;
    if (around) {
      Op &skip = emit("bra.if");
      skip.a = predicate;
      skip.n = !instruction->guardNegated;
      p.ops.insert(p.ops.end(), body.begin(), body.end());
      skips.push_back({start, uint32_t(p.ops.size())});
      emit("label").imm = -1;
      return;
    }
    for (const Op &op : body) {
      Op &guard = emit("guard");
      guard.a = predicate;
      guard.guard = instruction->guardNegated;
      p.ops.push_back(op);
    }
  }

  // --- labels and blocks ---

  void findLabels() {
    isLeader.assign(f.instructions.size() + 1, false);
    isLeader[0] = true;
    for (auto &label : f.labels)
      isLeader[label.second] = true;
    for (size_t i = 0; i < f.instructions.size(); ++i) {
      const std::string &base = f.instructions[i].opcode->base;
      if (base == "bra" || base == "brx" || base == "exit" || base == "ret")
        isLeader[i + 1] = true;
    }
    placeOf.assign(f.instructions.size() + 1, 0);
  }

  void placeLabel(uint32_t i) {
    if (!isLeader[i])
      return;
    placeOf[i] = uint32_t(p.ops.size());
    size_t saved = at;
    at = std::min<size_t>(i, f.instructions.size() ? f.instructions.size() - 1 : 0);
    emit("label").imm = int64_t(p.blocks.size());
    at = saved;
    p.blocks.push_back({});
  }

  void branchTo(std::string_view name, const std::string &kind, uint32_t predicate, bool negated) {
    auto label = f.labels.find(name);
    if (label == f.labels.end())
      throw Unsupported{"no label '" + std::string(name) + "'"};
    size_t place = p.ops.size();
    Op &op = emit(kind);
    op.a = predicate;
    op.n = negated;
    branches.push_back({place, label->second});
  }

  void finish() {
    for (auto [place, label] : branches)
      p.ops[place].target = p.ops.data() + placeOf[label];
    for (auto [place, target] : skips)
      p.ops[place].target = p.ops.data() + target;
    p.frameBytes = (temporaryBase + 63) & ~63u;
    p.firstBlock = symbols.newBlocks(uint32_t(p.blocks.size()));
    int64_t block = 0;
    for (Op &op : p.ops)
      if (op.fn == handlers().at("label").fn)
        op.imm = op.imm < 0 ? -1 : int64_t(p.firstBlock) + block++;
    for (size_t i = 0, b = 0; i < f.instructions.size(); ++i) {
      if (i && isLeader[i])
        ++b;
      ++p.blocks[b].instructions[unsigned(classify(*f.instructions[i].opcode))];
    }
  }

  // --- operands ---

  unsigned count() const { return instruction->numOperands; }
  const Operand &operand(unsigned i) const {
    if (i >= count())
      throw Unsupported{"too few operands"};
    return f.operandsOf(*instruction)[i];
  }
  const Operand &element(const Operand &list, unsigned i) const {
    if ((list.kind != OperandKind::Vector && list.kind != OperandKind::Pair) || i >= list.value)
      throw Unsupported{"too few parts of an operand"};
    return f.operands[list.index + i];
  }
  bool isVector(const Operand &o) const { return o.kind == OperandKind::Vector; }
  std::string_view nameOf(const Operand &o) const {
    if (o.kind != OperandKind::Name)
      throw Unsupported{"an operand that is no name"};
    return f.names[o.index];
  }
  unsigned widthOfRegister(const Operand &o) const { return widthOf(f.registers[o.index]); }

  uint32_t result(const Operand &o, unsigned width) {
    if (o.kind == OperandKind::None)
      return temporary(width);
    if (o.kind != OperandKind::Register)
      throw Unsupported{"the result is not a register"};
    if (widthOfRegister(o) != width)
      throw Unsupported{"the result's register has another size"};
    return registers[o.index];
  }

  uint32_t use(const Operand &o, unsigned width, Type type = Type::None) {
    switch (o.kind) {
    case OperandKind::Register:
      return useRegister(o, width);
    case OperandKind::Integer:
      return constant(width, isReal(type) ? realBits(type, double(o.value)) : uint64_t(o.value));
    case OperandKind::Float32:
      return constant(width, type == Type::F64 ? realBits(type, floatOf(o)) : uint64_t(uint32_t(o.value)));
    case OperandKind::Float64:
      return constant(width,
                      type == Type::F64 || width == 8 ? uint64_t(o.value) : realBits(Type::F32, doubleOf(o)));
    case OperandKind::Special:
      return useSpecial(o, width);
    case OperandKind::Variable:
      return useVariable(o, width);
    case OperandKind::Name:
      return constant(width, addressOfName(o));
    default:
      throw Unsupported{"this kind of operand"};
    }
  }

  uint32_t useRegister(const Operand &o, unsigned width) {
    if (widthOfRegister(o) != width)
      throw Unsupported{"a register has another size than the instruction"};
    if (!o.negated)
      return registers[o.index];
    uint32_t t = temporary(width);
    if (width == 0)
      emit("not.pred", t, registers[o.index]);
    else
      emit("neg." + std::string(ptx::nameOf(bitsType(width))), t, registers[o.index]);
    return t;
  }

  static double floatOf(const Operand &o) {
    float x;
    uint32_t bits = uint32_t(o.value);
    memcpy(&x, &bits, 4);
    return x;
  }
  static double doubleOf(const Operand &o) {
    double x;
    memcpy(&x, &o.value, 8);
    return x;
  }
  static uint64_t realBits(Type type, double x) {
    uint64_t bits = 0;
    float narrow = float(x);
    if (type == Type::F64)
      memcpy(&bits, &x, 8);
    else
      memcpy(&bits, &narrow, 4);
    return bits;
  }

  uint32_t useSpecial(const Operand &o, unsigned width) {
    uint32_t t = temporary(width);
    emitSpecial(o, t, width);
    return t;
  }

  void emitSpecial(const Operand &o, uint32_t d, unsigned width) {
    if (width != 4 && width != 8 && width != 2)
      throw Unsupported{"a special register of this size"};
    Op &op = emit("special." + std::to_string(width));
    op.d = d;
    op.imm = o.index;
  }

  uint32_t useVariable(const Operand &o, unsigned width) {
    const ptx::Variable &v = f.variables[o.index];
    if (v.space == Space::Local) {
      if (width != 8)
        throw Unsupported{"a 32-bit address of local memory"};
      uint32_t t = temporary(8);
      Op &op = emit("localaddress");
      op.d = t;
      op.imm = int64_t(variablePlace[o.index] + uint64_t(o.offset));
      return t;
    }
    return constant(width, variableAddress(o));
  }

  uint64_t variableAddress(const Operand &o) {
    const ptx::Variable &v = f.variables[o.index];
    if (v.space == Space::Param) {
      if (!isKernelParameter(o.index))
        return noAddress; // compilers take it and never use it; whoever does is told
      return variablePlace[o.index] + uint64_t(o.offset);
    }
    if (v.space == Space::Shared)
      return symbols.sharedOffset(f, o.index) + uint64_t(o.offset);
    uint64_t address;
    if (!symbols.addressOf(v.name, v.space, address))
      throw Unsupported{"the variable '" + v.name + "'"};
    return address + uint64_t(o.offset);
  }

  uint64_t addressOfName(const Operand &o) {
    std::string_view name = nameOf(o);
    Space space;
    uint64_t address;
    if (symbols.spaceOf(name, space) && symbols.addressOf(name, space, address))
      return address + uint64_t(o.offset);
    if (symbols.programOf(name))
      return codeWindow + symbols.functionIndexOf(name);
    throw Unsupported{"undeclared name '" + std::string(name) + "'"};
  }

  uint32_t predicate(const Operand &o) { return use(o, 0); }

  // --- shapes that many instructions share ---

  Type type() const { return opcode->type(); }
  unsigned width() const { return widthOf(type()); }
  const char *ftz() const { return opcode->ftz ? ".ftz" : ""; }

  void twoOperands(const std::string &name) {
    uint32_t a = use(operand(1), width(), type());
    emit(name, result(operand(0), width()), a);
  }
  void threeOperands(const std::string &name, unsigned shiftWidth = 0) {
    uint32_t a = use(operand(1), width(), type()),
             b = use(operand(2), shiftWidth ? shiftWidth : width(), type());
    emit(name, result(operand(0), width()), a, b);
  }
  void fourOperands(const std::string &name) {
    uint32_t a = use(operand(1), width(), type()), b = use(operand(2), width(), type()),
             c = use(operand(3), width(), type());
    emit(name, result(operand(0), width()), a, b, c);
  }

  scalar::Rule rule(uint8_t operation) const {
    scalar::Rule r;
    r.operation = operation;
    r.to = r.from = uint8_t(type());
    r.rounding = roundingOf(*opcode);
    r.ftz = opcode->ftz;
    r.saturate = opcode->sat;
    return r;
  }

  void slow(const scalar::Rule &r, uint32_t d, unsigned w, uint32_t a, uint32_t b = noRegister,
            uint32_t c = noRegister) {
    Op &op = emit("slow." + std::to_string(w));
    op.d = d, op.a = a, op.b = b == noRegister ? a : b, op.c = c == noRegister ? a : c;
    op.imm = int64_t(scalar::pack(r));
  }

  void slowFromOperands(uint8_t operation) {
    uint32_t inputs[3] = {noRegister, noRegister, noRegister};
    for (unsigned i = 1; i < count() && i < 4; ++i)
      inputs[i - 1] = use(operand(i), width(), type());
    slow(rule(operation), result(operand(0), width()), width(), inputs[0], inputs[1], inputs[2]);
  }

  /// .sat on a floating-point result.
  void saturate() {
    if (!opcode->sat)
      return;
    uint32_t d = result(operand(0), width());
    emit(std::string("sat.") + ptx::nameOf(type()), d, d);
  }

  bool roundsOddly() const { return roundingOf(*opcode) != scalar::Rounding::Nearest && isReal(type()); }

  // --- arithmetic ---

  void addOrSub(const char *base, uint8_t rounded, uint8_t saturated) {
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
  void add() { addOrSub("add", scalar::addRounded, scalar::addSaturated); }
  void sub() { addOrSub("sub", scalar::subRounded, scalar::subSaturated); }

  /// add.f32.f16: the second type is that of the narrow operand.
  bool mixedPrecision() const {
    return type() == Type::F32 && opcode->types.size() == 2 && isHalf(opcode->type(1));
  }
  void mixedAdd(const char *base) {
    uint32_t a = temporary(4);
    emit(isBrain(opcode->type(1)) ? "cvt.f32.bf16" : "cvt.f32.f16", a, use(operand(1), 2));
    emit(base + std::string(".f32"), result(operand(0), 4), a, use(operand(2), 4, Type::F32));
    saturate();
  }

  uint32_t carryRegister() {
    if (carryPlace == noRegister)
      carryPlace = reserve(64);
    return carryPlace;
  }
  void carry(const char *base) {
    uint32_t place = carryRegister(), a = use(operand(1), width()), b = use(operand(2), width());
    Op &op = emit(std::string(base) + (opcode->has("cc") ? ".cc." : ".") + bitsName(type()));
    op.d = result(operand(0), width()), op.a = a, op.b = b, op.e = place;
  }
  void addWithCarry() { carry("addc"); }
  void subWithCarry() { carry("subc"); }

  void mul() {
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
  void mulWide() {
    uint32_t a = use(operand(1), width(), type()), b = use(operand(2), width(), type());
    emit("mul.wide." + signName(type()), result(operand(0), 2 * width()), a, b);
  }

  void mad() {
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
  void madWithCarryIn() { madWithCarry(opcode->has("cc") ? "addc.cc" : "addc"); }
  void madWithCarry(const char *addition) {
    uint32_t t = temporary(width()), place = carryRegister();
    uint32_t a = use(operand(1), width()), b = use(operand(2), width()), c = use(operand(3), width());
    emit(opcode->has("hi") ? "mul.hi." + signName(type()) : "mul." + bitsName(type()), t, a, b);
    Op &op = emit(addition + std::string(".") + bitsName(type()));
    op.d = result(operand(0), width()), op.a = t, op.b = c, op.e = place;
  }
  void mad24() {
    if (opcode->has("hi"))
      return slowFromOperands(scalar::mul24Hi);
    fourOperands("mad24." + signName(type()));
  }
  void mul24() {
    uint32_t a = use(operand(1), 4), b = use(operand(2), 4), zero = constant(4, 0), d = result(operand(0), 4);
    if (opcode->has("hi"))
      return slow(rule(scalar::mul24Hi), d, 4, a, b, zero);
    emit("mad24." + signName(type()), d, a, b, zero);
  }

  void fma() {
    if (roundsOddly())
      return slowFromOperands(scalar::fmaRounded);
    if (mixedPrecision())
      return mixedFma();
    fourOperands(std::string("fma") + (isReal(type()) ? ftz() : "") + "." + ptx::nameOf(type()));
    saturate();
    if (opcode->has("relu"))
      relu();
  }
  void mixedFma() {
    const char *widen = isBrain(opcode->type(1)) ? "cvt.f32.bf16" : "cvt.f32.f16";
    uint32_t a = temporary(4), b = temporary(4);
    emit(widen, a, use(operand(1), 2));
    emit(widen, b, use(operand(2), 2));
    emit("fma.f32", result(operand(0), 4), a, b, use(operand(3), 4, Type::F32));
    saturate();
  }
  void relu() {
    uint32_t d = result(operand(0), width());
    emit(std::string("relu.") + ptx::nameOf(type()), d, d);
  }

  void div() {
    if (roundsOddly())
      return slowFromOperands(scalar::divRounded);
    if (isReal(type()))
      return threeOperands(std::string("div") + ftz() + "." + ptx::nameOf(type()));
    threeOperands("div." + signName(type()));
  }
  void rem() { threeOperands("rem." + signName(type())); }

  void rcp() { root("rcp", scalar::rcpRounded); }
  void sqrt() { root("sqrt", scalar::sqrtRounded); }
  void root(const char *base, uint8_t rounded) {
    if (roundsOddly())
      return slowFromOperands(rounded);
    twoOperands(std::string(base) + (type() == Type::F32 ? ftz() : "") + "." + ptx::nameOf(type()));
  }
  void approximate() {
    bool single = isReal(type());
    twoOperands(opcode->base + (single && type() == Type::F32 ? ftz() : "") + "." + ptx::nameOf(type()));
  }

  void absolute() {
    if (isReal(type())) {
      twoOperands(std::string("abs.") + ptx::nameOf(type()));
      return flushResult();
    }
    if (isHalf(type()))
      return twoOperands(isPacked(type()) ? "abs.f16x2" : "abs.f16");
    twoOperands("abs." + signName(type()));
  }
  void negate() {
    if (isReal(type())) {
      twoOperands(std::string("neg.") + ptx::nameOf(type()));
      return flushResult();
    }
    if (isHalf(type()))
      return twoOperands(isPacked(type()) ? "neg.f16x2" : "neg.f16");
    twoOperands("neg." + bitsName(type()));
  }
  void flushResult() {
    uint32_t d = result(operand(0), width());
    if (opcode->ftz && type() == Type::F32)
      emit("flush.ftz.f32", d, d);
  }

  void minOrMax() {
    const std::string &base = opcode->base;
    if (opcode->has("xorsign"))
      throw Unsupported{".xorsign.abs"};
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
  void reluInteger() {
    if (type() != Type::S32)
      throw Unsupported{".relu of this type"};
    uint32_t d = result(operand(0), width());
    emit("max.s32", d, d, constant(4, 0));
  }

  void logic() {
    if (type() == Type::Pred) {
      uint32_t a = predicate(operand(1)), b = predicate(operand(2));
      return emit(opcode->base + ".pred", result(operand(0), 0), a, b);
    }
    threeOperands(opcode->base + "." + bitsName(type()));
  }
  void logicalNot() {
    if (type() == Type::Pred)
      return emit("not.pred", result(operand(0), 0), predicate(operand(1)));
    twoOperands("not." + bitsName(type()));
  }
  void conditionalNot() { twoOperands("cnot." + bitsName(type())); }
  void shiftLeft() { threeOperands("shl." + bitsName(type()), 4); }
  void shiftRight() { threeOperands("shr." + signName(type()), 4); }
  void sumOfDifferences() { fourOperands("sad." + signName(type())); }

  void countBits() {
    uint32_t a = use(operand(1), width());
    emit(opcode->base + "." + bitsName(type()), result(operand(0), 4), a);
  }
  void reverse() { twoOperands("brev." + bitsName(type())); }

  void findBit() {
    uint32_t a = use(operand(1), width());
    uint8_t which = opcode->has("shiftamt") ? scalar::findBitShift : scalar::findBit;
    if (width() == 4)
      return slow(rule(which), result(operand(0), 4), 4, a);
    uint32_t t = temporary(8);
    slow(rule(which), t, 8, a);
    emit("cvt.b32.u64", result(operand(0), 4), t);
  }

  void extractField() {
    uint32_t a = use(operand(1), width()), b = use(operand(2), 4), c = use(operand(3), 4);
    emit("bfe." + signName(type()), result(operand(0), width()), a, b, c);
  }

  void insertField() { // position and length travel in one register
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

  void permute() {
    uint8_t which = opcode->has("f4e")    ? scalar::permuteF4e
                    : opcode->has("b4e")  ? scalar::permuteB4e
                    : opcode->has("rc8")  ? scalar::permuteRc8
                    : opcode->has("ecl")  ? scalar::permuteEcl
                    : opcode->has("ecr")  ? scalar::permuteEcr
                    : opcode->has("rc16") ? scalar::permuteRc16
                                          : scalar::permute;
    slowFromOperands(which);
  }

  void logicTable() {
    if (opcode->has("BOOL"))
      throw Unsupported{"lop3 with a predicate"};
    if (operand(4).kind != OperandKind::Integer)
      throw Unsupported{"a table that is not a constant"};
    fourOperands("lop3.b32");
    p.ops.back().imm = operand(4).value & 0xff;
  }

  void funnelShift() {
    std::string name = std::string("shf.") + (opcode->has("l") ? "l" : "r") +
                       (opcode->has("clamp") ? ".clamp" : ".wrap") + ".b32";
    fourOperands(name);
  }

  void dotBytes() {
    fourOperands(std::string("dp4a.") + ptx::nameOf(opcode->type(0)) + "." + ptx::nameOf(opcode->type(1)));
  }
  void dotPairs() {
    scalar::Rule r = rule(scalar::dotPair);
    r.from = uint8_t(opcode->type(0));
    r.to = uint8_t(opcode->type(1));
    r.saturate = opcode->has("hi");
    slow(r, result(operand(0), 4), 4, use(operand(1), 4), use(operand(2), 4), use(operand(3), 4));
  }
  void bitMask() { slowFromOperands(opcode->has("wrap") ? scalar::maskWrap : scalar::maskClamp); }
  void sizeExtend() {
    slowFromOperands(opcode->has("wrap") ? scalar::sizeExtendWrap : scalar::sizeExtendClamp);
  }
  void findNthSet() { slowFromOperands(scalar::nthSet); }

  void videoBytes(uint8_t which) {
    scalar::Rule r = rule(which);
    r.from = uint8_t(opcode->type(1));
    r.relu = opcode->has("add");
    uint32_t a = use(operand(1), 4), b = use(operand(2), 4),
             c = count() > 3 ? use(operand(3), 4) : constant(4, 0);
    slow(r, result(operand(0), 4), 4, a, b, c);
  }
  void videoAbsDiff() { videoBytes(scalar::videoAbsDiff4); }
  void videoAdd() { videoBytes(scalar::videoAdd4); }
  void videoSub() { videoBytes(scalar::videoSub4); }
  void videoMin() { videoBytes(scalar::videoMin4); }
  void videoMax() { videoBytes(scalar::videoMax4); }
  void videoAverage() { videoBytes(scalar::videoAvg4); }

  void copySign() { threeOperands(std::string("copysign.") + ptx::nameOf(type())); }

  void testFloat() {
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

  static std::string comparison(const Opcode &o) {
    static const std::pair<const char *, const char *> names[] = {
        {"eq", "eq"},   {"ne", "ne"},   {"lt", "lt"},   {"le", "le"},   {"gt", "gt"},   {"ge", "ge"},
        {"lo", "lt"},   {"ls", "le"},   {"hi", "gt"},   {"hs", "ge"},   {"equ", "equ"}, {"neu", "neu"},
        {"ltu", "ltu"}, {"leu", "leu"}, {"gtu", "gtu"}, {"geu", "geu"}, {"num", "num"}, {"nan", "nan"}};
    for (auto [name, canonical] : names)
      if (!o.mods.empty() && o.mods[0] == name)
        return canonical;
    throw Unsupported{"this comparison"};
  }

  /// Emits the comparison of two registers of the instruction's last type into `d` (and its complement into
  /// `e`).
  void compareInto(Type t, uint32_t d, uint32_t e, uint32_t a, uint32_t b, unsigned combine, uint32_t c) {
    if (opcode->ftz && t == Type::F32) {
      uint32_t x = temporary(4), y = temporary(4);
      emit("flush.ftz.f32", x, a);
      emit("flush.ftz.f32", y, b);
      a = x, b = y;
    }
    Op &op = emit("setp." + comparison(*opcode) + "." + (isReal(t) ? ptx::nameOf(t) : signName(t)));
    op.d = d, op.e = e, op.a = a, op.b = b, op.n = uint8_t(combine), op.c = c;
  }

  uint32_t widenHalf(uint32_t a, Type t) {
    uint32_t x = temporary(4);
    emit(isBrain(t) ? "cvt.f32.bf16" : "cvt.f32.f16", x, a);
    return x;
  }
  uint32_t halfOf(uint32_t a, unsigned which) {
    uint32_t x = temporary(2);
    Op &op = emit("unpack.2.4");
    op.d = x, op.a = a, op.n = uint8_t(which);
    return x;
  }

  unsigned combination() const {
    return opcode->has("and") ? 1 : opcode->has("or") ? 2 : opcode->has("xor") ? 3 : 0;
  }

  void setPredicate() {
    const Operand &to = operand(0);
    bool pair = to.kind == OperandKind::Pair;
    Type t = opcode->lastType();
    uint32_t d = result(pair ? element(to, 0) : to, 0), e = pair ? result(element(to, 1), 0) : noRegister;
    uint32_t a = use(operand(1), widthOf(t), t), b = use(operand(2), widthOf(t), t);
    unsigned combine = combination();
    uint32_t c = combine ? predicate(operand(3)) : noRegister;
    if (isPacked(t)) {
      compareInto(Type::F32, d, noRegister, widenHalf(halfOf(a, 0), t), widenHalf(halfOf(b, 0), t), combine,
                  c);
      return compareInto(Type::F32, e, noRegister, widenHalf(halfOf(a, 1), t), widenHalf(halfOf(b, 1), t),
                         combine, c);
    }
    if (isHalf(t))
      a = widenHalf(a, t), b = widenHalf(b, t), t = Type::F32;
    compareInto(t, d, e, a, b, combine, c);
  }

  void setValue() { // set.cmp.dtype.stype
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
    uint64_t yes = to == Type::F32    ? 0x3f800000
                   : to == Type::F16  ? 0x3c00
                   : to == Type::BF16 ? 0x3f80
                                      : ~0ull;
    emit("selp." + std::string(ptx::nameOf(bitsType(widthOf(to)))), d, constant(widthOf(to), yes),
         constant(widthOf(to), 0), flag);
  }
  void setHalves(Type to, Type t, uint32_t d, uint32_t a, uint32_t b, unsigned combine, uint32_t c) {
    uint64_t yes = to == Type::F16x2 ? 0x3c00 : to == Type::BF16x2 ? 0x3f80 : 0xffff;
    uint32_t parts[2];
    for (unsigned i = 0; i < 2; ++i) {
      uint32_t flag = temporary(0);
      parts[i] = temporary(2);
      compareInto(Type::F32, flag, noRegister, widenHalf(halfOf(a, i), t), widenHalf(halfOf(b, i), t),
                  combine, c);
      emit("selp.b16", parts[i], constant(2, yes), constant(2, 0), flag);
    }
    emit("pack.2.4", d, parts[0], parts[1]);
  }

  void selectByPredicate() {
    uint32_t a = use(operand(1), width(), type()), b = use(operand(2), width(), type()),
             c = predicate(operand(3));
    emit("selp." + bitsNameOfWidth(width()), result(operand(0), width()), a, b, c);
  }
  static std::string bitsNameOfWidth(unsigned w) { return ptx::nameOf(bitsType(w)); }

  void selectBySign() {
    Type t = opcode->lastType();
    uint32_t a = use(operand(1), width(), type()), b = use(operand(2), width(), type()),
             c = use(operand(3), 4, t);
    emit("slct." + bitsNameOfWidth(width()) + (t == Type::F32 ? ".f32" : ".s32"), result(operand(0), width()),
         a, b, c);
  }

  // --- moving and converting ---

  void move() {
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

  void unpack(const Operand &to, const Operand &from) {
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
  void unpackPart(uint32_t d, unsigned part, uint32_t a, unsigned whole, unsigned i) {
    if (whole == 16 && part < 8) {
      uint32_t half = temporary(8);
      unsigned perHalf = 8 / part;
      unpackPart(half, 8, a, 16, i / perHalf);
      return unpackPart(d, part, half, 8, i % perHalf);
    }
    Op &op = emit("unpack." + std::to_string(part) + "." + std::to_string(whole));
    op.d = d, op.a = a, op.n = uint8_t(i);
  }

  void pack(const Operand &to, const Operand &from) {
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

  /// The register as a value of `t`, where it may be wider than the type.
  uint32_t fitted(const Operand &o, Type t) {
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

  void convert() {
    Type to = opcode->type(0), from = opcode->type(1);
    if (opcode->types.size() < 2)
      throw Unsupported{"a conversion without two types"};
    if (opcode->has("pack"))
      throw Unsupported{"cvt.pack"};
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

  bool plainRounding() const { return roundingOf(*opcode) == scalar::Rounding::Nearest && !isIntegral(); }
  bool isIntegral() const {
    return opcode->has("rni") || opcode->has("rzi") || opcode->has("rmi") || opcode->has("rpi");
  }
  static bool isInteger(Type t) { return !ptx::isFloat(t) && !isHalf(t); }

  bool convertQuickly(Type to, Type from, uint32_t d, uint32_t a, unsigned have) {
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

  std::string integralName() const {
    for (const char *name : {"rni", "rzi", "rmi", "rpi"})
      if (opcode->has(name))
        return name;
    return "rzi";
  }

  bool convertToInteger(Type to, Type from, uint32_t d, uint32_t a) {
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

  /// Extends by the source's sign to the target's width, then by the target's own type to the register's.
  bool convertIntegers(Type to, Type from, uint32_t d, uint32_t a, unsigned have) {
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

  void convertSlowly(Type to, Type from, uint32_t d, uint32_t a, unsigned have) {
    scalar::Rule r = rule(0);
    r.to = uint8_t(to), r.from = uint8_t(from);
    r.toIntegral = isIntegral();
    r.relu = opcode->has("relu");
    Op &op = emit("slowcvt." + std::to_string(have) + "." + std::to_string(widthOf(from)));
    op.d = d, op.a = a, op.imm = int64_t(scalar::pack(r));
  }

  /// cvt.f16x2.f32 d, a, b: a goes into the upper half.
  void convertToPair(Type to, Type from) {
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
  void convertHalf(Type part, Type from, uint32_t d, uint32_t a) {
    if (!convertQuickly(part, from, d, a, 2))
      convertSlowly(part, from, d, a, 2);
  }
  void joinParts(bool bytes, uint32_t high, uint32_t low) {
    if (!bytes)
      return emit("pack.2.4", result(operand(0), 4), low, high);
    emit("shl.b16", high, high, constant(4, 8));
    emit("or.b16", result(operand(0), 2), high, low);
  }
  /// Between packed bytes and packed halves.
  void convertPacked(Type to, Type from) {
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

  // --- memory ---

  static MemorySpace memorySpace(Space s) {
    switch (s) {
    case Space::Global:
    case Space::Const:
      return inGlobal;
    case Space::Shared:
      return inShared;
    case Space::Local:
      return inLocal;
    case Space::Param:
      return inParam;
    default:
      return inGeneric;
    }
  }

  struct Address {
    uint32_t place;
    int64_t displacement;
    bool narrow;
    MemorySpace space;
  };

  Address address(const Operand &o, Space space) {
    if (!o.address || o.kind == OperandKind::None)
      throw Unsupported{"this kind of address"};
    Address a{0, o.offset, false, memorySpace(space)};
    if (o.kind == OperandKind::Register) {
      unsigned w = widthOfRegister(o);
      if (w != 4 && w != 8)
        throw Unsupported{"an address of this size"};
      a.place = registers[o.index];
      a.narrow = w == 4;
      return a;
    }
    Operand base = o;
    base.address = false;
    base.offset = 0;
    a.place = use(base, 8);
    if (space == Space::Generic)
      a.space = spaceOfBase(base);
    return a;
  }

  /// `ld.u32 [table]` without a space: the variable's own.
  MemorySpace spaceOfBase(const Operand &base) {
    if (base.kind == OperandKind::Variable)
      return memorySpace(f.variables[base.index].space);
    Space space;
    if (base.kind == OperandKind::Name && symbols.spaceOf(nameOf(base), space))
      return memorySpace(space);
    return inGeneric;
  }

  void setAddress(Op &op, const Address &a, bool stores) {
    op.a = a.place;
    op.imm = a.displacement;
    op.space = a.space;
    op.flags = uint8_t((a.narrow ? address32 : 0) | (stores ? storesData : 0));
    op.slot = symbols.newRangeSlot();
  }

  /// "u8.2": the type in memory and the register's width.
  std::string memoryName(Type t, unsigned registerBytes) {
    unsigned size = ptx::sizeOf(t);
    if (size > registerBytes)
      throw Unsupported{"a register narrower than the access"};
    std::string sign = ptx::isSigned(t) && size < registerBytes ? "s" : "u";
    return sign + std::to_string(8 * size) + "." + std::to_string(registerBytes);
  }

  bool isFrameParameter(const Operand &o) const {
    return o.kind == OperandKind::Variable && f.variables[o.index].space == Space::Param &&
           !isKernelParameter(o.index);
  }

  /// The registers of `{a, b}` or of one operand; all have one width.
  std::vector<uint32_t> dataRegisters(const Operand &data, unsigned &bytes, bool stores) {
    unsigned n = isVector(data) ? unsigned(data.value) : 1;
    std::vector<uint32_t> list;
    bytes = widthOf(type());
    for (unsigned i = 0; i < n; ++i) {
      const Operand &o = isVector(data) ? element(data, i) : data;
      if (o.kind == OperandKind::Register)
        bytes = widthOfRegister(o);
    }
    for (unsigned i = 0; i < n; ++i) {
      const Operand &o = isVector(data) ? element(data, i) : data;
      list.push_back(stores ? use(o, bytes, type()) : result(o, bytes));
    }
    return list;
  }

  void load() {
    const Operand &from = operand(1);
    unsigned bytes;
    std::vector<uint32_t> list = dataRegisters(operand(0), bytes, false);
    if (type() == Type::B128)
      return loadWide(list[0], from);
    std::string kind = memoryName(type(), bytes);
    if (from.kind == OperandKind::Variable && f.variables[from.index].space == Space::Param)
      return loadParameters(list, kind, from);
    Address a = address(from, opcode->space);
    Op &op = emit("ld." + std::to_string(list.size()) + "." + kind);
    setAddress(op, a, false);
    setData(op, list);
  }

  void setData(Op &op, const std::vector<uint32_t> &list) {
    op.n = uint8_t(list.size());
    if (list.size() == 1)
      op.d = list[0];
    else
      op.list = keepList(list);
  }

  void loadWide(uint32_t d, const Operand &from) {
    uint32_t low = temporary(8), high = temporary(8);
    Address a = address(from, opcode->space);
    Op &op = emit("ld.2.u64.8");
    setAddress(op, a, false);
    setData(op, {low, high});
    emit("pack.8.16", d, low, high);
  }

  /// Where the `i`th of the elements at `o` lies in the parameter, which nothing checks once the kernel runs.
  int64_t offsetInside(const Operand &o, size_t i) const {
    uint64_t bytes = ptx::sizeOf(type()), size = f.variables[o.index].size;
    bool begins = o.offset >= 0 && uint64_t(o.offset) <= size;
    if (!begins || (i + 1) * bytes > size - uint64_t(o.offset))
      throw Unsupported{"an access outside the parameter"};
    return o.offset + int64_t(i * bytes);
  }

  void loadParameters(const std::vector<uint32_t> &list, const std::string &kind, const Operand &from) {
    for (size_t i = 0; i < list.size(); ++i) {
      int64_t offset = offsetInside(from, i);
      if (isFrameParameter(from)) {
        Op &op = emit("ldframe." + kind);
        op.d = list[i], op.a = variablePlace[from.index], op.b = frameStride(from.index), op.imm = offset;
      } else {
        Op &op = emit("ldparam." + kind);
        op.d = list[i], op.imm = offset + variablePlace[from.index];
      }
    }
  }

  void store() {
    const Operand &to = operand(0);
    unsigned bytes;
    std::vector<uint32_t> list = dataRegisters(operand(1), bytes, true);
    if (type() == Type::B128)
      return storeWide(list[0], to);
    std::string kind = memoryName(type(), bytes);
    if (kind[0] == 's')
      kind[0] = 'u';
    if (isFrameParameter(to))
      return storeParameters(list, kind, to);
    Address a = address(to, opcode->space);
    Op &op = emit("st." + std::to_string(list.size()) + "." + kind);
    setAddress(op, a, true);
    setData(op, list);
  }

  void storeWide(uint32_t s, const Operand &to) {
    uint32_t low = temporary(8), high = temporary(8);
    unpackPart(low, 8, s, 16, 0);
    unpackPart(high, 8, s, 16, 1);
    Address a = address(to, opcode->space);
    Op &op = emit("st.2.u64.8");
    setAddress(op, a, true);
    setData(op, {low, high});
  }

  void storeParameters(const std::vector<uint32_t> &list, const std::string &kind, const Operand &to) {
    for (size_t i = 0; i < list.size(); ++i) {
      Op &op = emit("stframe." + kind);
      op.d = list[i], op.a = variablePlace[to.index], op.b = frameStride(to.index);
      op.imm = offsetInside(to, i);
    }
  }

  void convertAddress() {
    Type t = type();
    if (widthOf(t) != 8)
      throw Unsupported{"32-bit generic addresses"};
    uint64_t window = opcode->space == Space::Shared  ? sharedWindow
                      : opcode->space == Space::Local ? localWindow
                      : opcode->space == Space::Param ? paramWindow
                                                      : 0;
    uint32_t a = use(operand(1), 8), d = result(operand(0), 8);
    if (!window)
      return emit("mov.b64", d, a);
    emit(opcode->has("to") ? "sub.b64" : "add.b64", d, a, constant(8, window));
  }

  void testSpace() {
    uint64_t window = opcode->space == Space::Shared  ? 1
                      : opcode->space == Space::Local ? 2
                      : opcode->space == Space::Param ? 3
                                                      : 0;
    uint32_t a = use(operand(1), 8);
    Op &op = emit("isspace");
    op.d = result(operand(0), 0), op.a = a, op.imm = int64_t(window);
  }

  // --- atomics ---

  uint8_t atomicKind() {
    Type t = type();
    unsigned bits = ptx::sizeOf(t) * 8;
    bool wide = bits == 64, isSigned = ptx::isSigned(t);
    using namespace scalar;
    if (opcode->has("exch"))
      return wide ? atomExchange64 : atomExchange32;
    if (opcode->has("cas"))
      return bits == 16 ? atomCas16 : wide ? atomCas64 : atomCas32;
    if (opcode->has("and"))
      return wide ? atomAnd64 : atomAnd32;
    if (opcode->has("or"))
      return wide ? atomOr64 : atomOr32;
    if (opcode->has("xor"))
      return wide ? atomXor64 : atomXor32;
    if (opcode->has("inc"))
      return atomInc32;
    if (opcode->has("dec"))
      return atomDec32;
    if (opcode->has("min") && !ptx::isFloat(t) && !isHalf(t))
      return wide ? (isSigned ? atomMinS64 : atomMinU64) : (isSigned ? atomMinS32 : atomMinU32);
    if (opcode->has("max") && !ptx::isFloat(t) && !isHalf(t))
      return wide ? (isSigned ? atomMaxS64 : atomMaxU64) : (isSigned ? atomMaxS32 : atomMaxU32);
    if (!opcode->has("add"))
      throw Unsupported{"this atomic operation"};
    switch (t) {
    case Type::F32:
      return atomAddF32;
    case Type::F64:
      return atomAddF64;
    case Type::F16:
      return atomAddF16;
    case Type::BF16:
      return atomAddBf16;
    case Type::F16x2:
      return atomAddF16x2;
    case Type::BF16x2:
      return atomAddBf16x2;
    default:
      return wide ? atomAdd64 : atomAdd32;
    }
  }

  void atomic() { atomicOp(true); }
  void reduceAtomic() { atomicOp(false); }
  void atomicOp(bool returns) {
    unsigned first = returns ? 1 : 0;
    if (opcode->vector > 1 || ptx::sizeOf(type()) == 16)
      throw Unsupported{"vector atomics"};
    Address a = address(operand(first), opcode->space);
    uint8_t kind = atomicKind();
    uint32_t b = use(operand(first + 1), width(), type());
    uint32_t c = count() > first + 2 && opcode->has("cas") ? use(operand(first + 2), width(), type()) : b;
    uint32_t d = returns && operand(0).kind != OperandKind::None ? result(operand(0), width()) : noRegister;
    Op &op = emit("atom." + std::to_string(width()));
    setAddress(op, a, true);
    op.d = d, op.b = b, op.c = c, op.n = kind;
  }

  // --- asynchronous copies and matrices ---

  void copyAsync() {
    if (opcode->has("bulk") || opcode->has("reduce") || opcode->has("mbarrier"))
      throw Unsupported{"this kind of asynchronous copy"};
    if (opcode->has("commit_group") || opcode->has("wait_group") || opcode->has("wait_all"))
      return (void)emit("nop");
    Address to = address(operand(0), Space::Shared), from = address(operand(1), Space::Global);
    if (operand(2).kind != OperandKind::Integer)
      throw Unsupported{"a copy of unknown size"};
    uint32_t readBytes = noRegister;
    if (count() > 3 && !opcode->has("L2::cache_hint"))
      readBytes = use(operand(3), 4);
    Op &op = emit("cpasync");
    setAddress(op, to, false);
    op.b = from.place;
    op.data = reinterpret_cast<const void *>(from.displacement);
    op.n = uint8_t(operand(2).value);
    op.c = readBytes;
    op.e = from.space;
    op.guard = from.narrow ? address32 : 0;
  }

  std::vector<uint32_t> list32(const Operand &o, bool write) {
    std::vector<uint32_t> list;
    unsigned n = isVector(o) ? unsigned(o.value) : 1;
    for (unsigned i = 0; i < n; ++i) {
      const Operand &x = isVector(o) ? element(o, i) : o;
      list.push_back(write ? result(x, 4) : use(x, 4));
    }
    return list;
  }

  void loadMatrix() {
    unsigned n = opcode->has("x4") ? 4 : opcode->has("x2") ? 2 : 1;
    if (!opcode->has("m8n8"))
      throw Unsupported{"this shape"};
    std::vector<uint32_t> list = list32(operand(0), true);
    Address a = address(operand(1), Space::Shared);
    Op &op = emit(std::string("ldmatrix.") + (opcode->has("trans") ? "trans." : "") + std::to_string(n));
    setAddress(op, a, false);
    setData(op, list);
  }

  void multiplyMatrices() {
    std::string shape;
    for (const std::string &mod : opcode->mods)
      if (mod.substr(0, 5) == "m16n8")
        shape = mod.substr(5);
    if (shape.empty() || opcode->has("sp") || opcode->types.size() < 4)
      throw Unsupported{"this shape"};
    Type to = opcode->type(0), a = opcode->type(1), b = opcode->type(2);
    bool bytes = (a == Type::S8 || a == Type::U8) && (b == Type::S8 || b == Type::U8);
    std::string name =
        "mma." + shape + "." + (bytes ? "b8" : std::string(ptx::nameOf(a)) + "." + ptx::nameOf(to));
    std::vector<uint32_t> all = list32(operand(0), true);
    for (unsigned i = 1; i < 4; ++i)
      for (uint32_t place : list32(operand(i), false))
        all.push_back(place);
    Op &op = emit(name);
    op.list = keepList(all);
    op.imm = (ptx::isSigned(a) ? 1 : 0) | (ptx::isSigned(b) ? 2 : 0) | (opcode->sat ? 4 : 0);
  }

  struct Shape {
    int m, n, k;
  };
  Shape wmmaShape() const {
    static const std::pair<const char *, Shape> shapes[] = {{"m16n16k16", {16, 16, 16}},
                                                            {"m32n8k16", {32, 8, 16}},
                                                            {"m8n32k16", {8, 32, 16}},
                                                            {"m16n16k8", {16, 16, 8}},
                                                            {"m8n8k4", {8, 8, 4}}};
    for (auto &[name, shape] : shapes)
      if (opcode->has(name))
        return shape;
    throw Unsupported{"this shape"};
  }

  void wmma() {
    const std::string &what = opcode->mods.at(0);
    if (what == "load")
      moveFragment(1, 0, opcode->mods.at(1), false);
    else if (what == "store")
      moveFragment(0, 1, "d", true);
    else if (what == "mma")
      multiplyFragments();
    else
      throw Unsupported{"this kind of wmma"};
  }

  std::vector<uint32_t> fragment(const Operand &o, bool write) {
    std::vector<uint32_t> list;
    for (unsigned i = 0; i < (isVector(o) ? unsigned(o.value) : 1); ++i) {
      const Operand &x = isVector(o) ? element(o, i) : o;
      unsigned bytes = x.kind == OperandKind::Register ? widthOfRegister(x) : 4;
      list.push_back(write ? result(x, bytes) : use(x, bytes));
    }
    return list;
  }

  void moveFragment(unsigned addressAt, unsigned registersAt, const std::string &which, bool stores) {
    Shape shape = wmmaShape();
    WmmaShape s;
    s.rows = which == "b" ? shape.k : shape.m;
    s.columns = which == "a" ? shape.k : shape.n;
    s.rowMajor = opcode->has("row");
    s.elementBytes = ptx::sizeOf(type());
    std::vector<uint32_t> list = fragment(operand(registersAt), !stores);
    if (list.size() * warpSize * std::max(4u, s.elementBytes) < size_t(s.rows) * s.columns * s.elementBytes)
      throw Unsupported{"a fragment of this size"};
    s.list = keepList(list);
    uint32_t leading = count() > 2 ? use(operand(2), 4) : constant(4, s.rowMajor ? s.columns : s.rows);
    Address a = address(operand(addressAt), opcode->space);
    p.wmmaShapes.push_back(s);
    Op &op = emit((stores ? "wmma.store." : "wmma.load.") + std::to_string(s.elementBytes));
    setAddress(op, a, stores);
    op.c = leading;
    op.data = &p.wmmaShapes.back();
  }

  /// wmma.mma names the types of d and c alone where a and b are f16, and all four otherwise.
  void multiplyFragments() {
    Shape shape = wmmaShape();
    bool all = opcode->types.size() == 4;
    Type d = opcode->type(0), a = all ? opcode->type(1) : Type::F16, c = opcode->lastType();
    if (opcode->sat || (all && opcode->type(2) != a))
      throw Unsupported{"this form of wmma.mma"};
    WmmaProduct s = {shape.m, shape.n, shape.k, nullptr, nullptr, nullptr, nullptr};
    const uint32_t **lists[] = {&s.d, &s.a, &s.b, &s.c};
    for (unsigned i = 0; i < 4; ++i)
      *lists[i] = keepList(fragment(operand(i), i == 0));
    p.wmmaProducts.push_back(s);
    Op &op = emit(std::string("wmma.") + ptx::nameOf(a) + "." + ptx::nameOf(d) + "." + ptx::nameOf(c));
    op.data = &p.wmmaProducts.back();
  }

  // --- control ---

  void branch() {
    const Instruction &i = *instruction;
    if (i.guard < 0)
      return branchTo(nameOf(operand(0)), "bra", noRegister, false);
    branchTo(nameOf(operand(0)), "bra.if", registers[i.guard], i.guardNegated);
  }

  void branchIndexed() {
    auto list = f.targets.find(nameOf(operand(1)));
    if (list == f.targets.end())
      throw Unsupported{"no list of targets"};
    uint32_t index = use(operand(0), 4);
    for (size_t i = 0; i < list->second.size(); ++i) {
      uint32_t here = temporary(0);
      Op &op = emit("setp.eq.u32");
      op.d = here, op.a = index, op.b = constant(4, i);
      branchTo(list->second[i], "bra.if", here, false);
    }
  }

  void exitThread() { emit("exit"); }
  void returnFromFunction() { emit(f.entry ? "exit" : "ret"); }
  void trap() { emitTrap(FaultKind::Trap, "trap"); }
  void sleep() { emit("sleep"); }
  void nothing() { emit("nop"); }

  FrameParameter frameParameter(const Operand &o) {
    if (!isFrameParameter(o))
      throw Unsupported{"a call's parameter in a register"};
    return {variablePlace[o.index], frameStride(o.index)};
  }

  void call() {
    unsigned i = 0;
    CallSite site;
    if (isVector(operand(0)))
      for (const Operand &o = operand(i++); site.results.size() < size_t(o.value);)
        site.results.push_back(frameParameter(element(o, unsigned(site.results.size()))));
    const Operand &target = operand(i++);
    if (i < count() && isVector(operand(i)))
      for (const Operand &o = operand(i++); site.arguments.size() < size_t(o.value);)
        site.arguments.push_back(frameParameter(element(o, unsigned(site.arguments.size()))));
    if (target.kind == OperandKind::Register)
      site.target = use(target, 8);
    else if (target.kind != OperandKind::Name)
      throw Unsupported{"this kind of call"};
    else if (!(site.callee = symbols.programOf(nameOf(target))))
      return callBuiltin(nameOf(target));
    p.calls = true;
    p.callSites.push_back(std::move(site));
    Op &op = emit("call");
    op.data = &p.callSites.back();
  }

  /// Functions that the device's own library provides.
  void callBuiltin(std::string_view name) {
    if (name == "vprintf")
      return (void)emit("nop");
    if (name == "__assertfail")
      return emitTrap(FaultKind::Assert, "assertion failed");
    throw Unsupported{"the function '" + std::string(name) + "' is not defined"};
  }

  // --- warps ---

  void shuffle() {
    const Operand &to = operand(0);
    bool pair = to.kind == OperandKind::Pair;
    std::string how = opcode->has("up")     ? "up"
                      : opcode->has("down") ? "down"
                      : opcode->has("bfly") ? "bfly"
                                            : "idx";
    uint32_t d = result(pair ? element(to, 0) : to, 4), e = pair ? result(element(to, 1), 0) : noRegister;
    uint32_t a = use(operand(1), 4, type()), b = use(operand(2), 4), c = use(operand(3), 4);
    uint32_t members = opcode->has("sync") ? use(operand(4), 4) : noRegister;
    Op &op = emit("shfl." + how);
    op.d = d, op.e = e, op.a = a, op.b = b, op.c = c;
    op.list = keepList({members});
  }

  void vote() {
    std::string how = opcode->has("ballot") ? "ballot"
                      : opcode->has("all")  ? "all"
                      : opcode->has("any")  ? "any"
                                            : "uni";
    bool ballot = how == "ballot";
    uint32_t a = predicate(operand(1)), members = opcode->has("sync") ? use(operand(2), 4) : noRegister;
    uint32_t d = result(operand(0), ballot ? 4 : 0);
    emit("vote." + how, d, a, members);
  }

  void match() {
    const Operand &to = operand(0);
    bool pair = to.kind == OperandKind::Pair;
    uint32_t a = use(operand(1), width()), members = use(operand(2), 4);
    uint32_t d = result(pair ? element(to, 0) : to, 4), e = pair ? result(element(to, 1), 0) : noRegister;
    Op &op = emit(std::string("match.") + (opcode->has("all") ? "all." : "any.") + std::to_string(width()));
    op.d = d, op.e = e, op.a = a, op.b = members;
  }

  void reduceWarp() {
    for (const char *how : {"add", "min", "max", "and", "or", "xor"})
      if (opcode->has(how)) {
        bool isSigned = type() == Type::S32 && (how[0] == 'm');
        uint32_t a = use(operand(1), 4), members = use(operand(2), 4);
        return emit(std::string("redux.") + how + (isSigned ? ".s32" : ""), result(operand(0), 4), a,
                    members);
      }
    throw Unsupported{"this reduction"};
  }

  void activeMask() { emit("activemask", result(operand(0), 4), noRegister); }

  void elect() {
    const Operand &to = operand(0);
    if (to.kind != OperandKind::Pair)
      throw Unsupported{"elect.sync without a predicate"};
    uint32_t d = result(element(to, 0), 4), members = use(operand(1), 4);
    Op &op = emit("elect");
    op.d = d, op.e = result(element(to, 1), 0), op.b = members;
  }

  void barrier() {
    if (opcode->has("warp")) {
      uint32_t members = use(operand(0), 4);
      return emit("warpsync", noRegister, noRegister, members);
    }
    if (opcode->has("cluster"))
      return clusterBarrier();
    if (opcode->has("red"))
      return reducingBarrier();
    uint32_t id = use(operand(0), 4), threads = count() > 1 ? use(operand(1), 4) : noRegister;
    emit(opcode->has("arrive") ? "bar.arrive" : "bar.sync", noRegister, id, threads);
    p.ops.back().n = opcode->has("arrive") ? 1 : 0; // the scheduler tells the kinds apart by this
  }
  /// A cluster is one block here, so its barrier is the block's; the arrival alone waits for nothing.
  void clusterBarrier() {
    if (opcode->has("arrive"))
      return (void)emit("nop");
    emit("bar.sync", noRegister, constant(4, 17), noRegister);
  }
  void reducingBarrier() {
    bool ones = opcode->has("popc");
    unsigned last = count() - 1;
    uint32_t id = use(operand(1), 4), threads = last > 2 ? use(operand(2), 4) : noRegister,
             value = predicate(operand(last));
    uint32_t d = result(operand(0), ones ? 4 : 0);
    emit(ones ? "bar.red.popc" : opcode->has("and") ? "bar.red.and" : "bar.red.or", d, id, threads, value);
    p.ops.back().n = ones ? 2 : opcode->has("and") ? 3 : 4;
  }

  const ptx::Function &f;
  SymbolSource &symbols;
  Program &p;
  size_t at = 0;
  const Instruction *instruction = nullptr;
  const Opcode *opcode = nullptr;
  bool wholeSeen = false;
  std::vector<uint32_t> registers, variablePlace;
  uint32_t temporaryBase = 0, carryPlace = noRegister;
  std::unordered_map<unsigned, std::vector<uint32_t>> temporaries;
  std::unordered_map<unsigned, size_t> temporariesUsed;
  struct PairHash {
    size_t operator()(const std::pair<unsigned, uint64_t> &p) const {
      return p.second * 0x9e3779b97f4a7c15ull + p.first;
    }
  };
  std::unordered_map<std::pair<unsigned, uint64_t>, uint32_t, PairHash> constants;
  std::vector<bool> isLeader;
  std::vector<uint32_t> placeOf;
  std::vector<std::pair<size_t, uint32_t>> branches, skips;
};

const std::unordered_map<std::string, Decoder::Method> &Decoder::methods() {
  using D = Decoder;
  static const std::unordered_map<std::string, Method> table = {{"add", &D::add},
                                                                {"sub", &D::sub},
                                                                {"addc", &D::addWithCarry},
                                                                {"subc", &D::subWithCarry},
                                                                {"mul", &D::mul},
                                                                {"mad", &D::mad},
                                                                {"madc", &D::madWithCarryIn},
                                                                {"fma", &D::fma},
                                                                {"mul24", &D::mul24},
                                                                {"mad24", &D::mad24},
                                                                {"div", &D::div},
                                                                {"rem", &D::rem},
                                                                {"rcp", &D::rcp},
                                                                {"sqrt", &D::sqrt},
                                                                {"rsqrt", &D::approximate},
                                                                {"ex2", &D::approximate},
                                                                {"lg2", &D::approximate},
                                                                {"sin", &D::approximate},
                                                                {"cos", &D::approximate},
                                                                {"tanh", &D::approximate},
                                                                {"abs", &D::absolute},
                                                                {"neg", &D::negate},
                                                                {"min", &D::minOrMax},
                                                                {"max", &D::minOrMax},
                                                                {"and", &D::logic},
                                                                {"or", &D::logic},
                                                                {"xor", &D::logic},
                                                                {"not", &D::logicalNot},
                                                                {"cnot", &D::conditionalNot},
                                                                {"shl", &D::shiftLeft},
                                                                {"shr", &D::shiftRight},
                                                                {"sad", &D::sumOfDifferences},
                                                                {"popc", &D::countBits},
                                                                {"clz", &D::countBits},
                                                                {"brev", &D::reverse},
                                                                {"bfind", &D::findBit},
                                                                {"bfe", &D::extractField},
                                                                {"bfi", &D::insertField},
                                                                {"prmt", &D::permute},
                                                                {"lop3", &D::logicTable},
                                                                {"shf", &D::funnelShift},
                                                                {"dp4a", &D::dotBytes},
                                                                {"dp2a", &D::dotPairs},
                                                                {"bmsk", &D::bitMask},
                                                                {"szext", &D::sizeExtend},
                                                                {"fns", &D::findNthSet},
                                                                {"vabsdiff4", &D::videoAbsDiff},
                                                                {"vadd4", &D::videoAdd},
                                                                {"vsub4", &D::videoSub},
                                                                {"vmin4", &D::videoMin},
                                                                {"vmax4", &D::videoMax},
                                                                {"vavrg4", &D::videoAverage},
                                                                {"copysign", &D::copySign},
                                                                {"testp", &D::testFloat},
                                                                {"setp", &D::setPredicate},
                                                                {"set", &D::setValue},
                                                                {"selp", &D::selectByPredicate},
                                                                {"slct", &D::selectBySign},
                                                                {"mov", &D::move},
                                                                {"cvt", &D::convert},
                                                                {"ld", &D::load},
                                                                {"ldu", &D::load},
                                                                {"st", &D::store},
                                                                {"cvta", &D::convertAddress},
                                                                {"isspacep", &D::testSpace},
                                                                {"atom", &D::atomic},
                                                                {"red", &D::reduceAtomic},
                                                                {"cp", &D::copyAsync},
                                                                {"ldmatrix", &D::loadMatrix},
                                                                {"mma", &D::multiplyMatrices},
                                                                {"wmma", &D::wmma},
                                                                {"bra", &D::branch},
                                                                {"brx", &D::branchIndexed},
                                                                {"exit", &D::exitThread},
                                                                {"ret", &D::returnFromFunction},
                                                                {"trap", &D::trap},
                                                                {"brkpt", &D::nothing},
                                                                {"nanosleep", &D::sleep},
                                                                {"call", &D::call},
                                                                {"shfl", &D::shuffle},
                                                                {"vote", &D::vote},
                                                                {"match", &D::match},
                                                                {"redux", &D::reduceWarp},
                                                                {"activemask", &D::activeMask},
                                                                {"elect", &D::elect},
                                                                {"bar", &D::barrier},
                                                                {"barrier", &D::barrier},
                                                                {"membar", &D::nothing},
                                                                {"fence", &D::nothing},
                                                                {"prefetch", &D::nothing},
                                                                {"prefetchu", &D::nothing},
                                                                {"discard", &D::nothing},
                                                                {"applypriority", &D::nothing},
                                                                {"griddepcontrol", &D::nothing},
                                                                {"setmaxnreg", &D::nothing},
                                                                {"pmevent", &D::nothing}};
  return table;
}

} // namespace

bool isKnown(const ptx::Opcode &opcode) { return Decoder::methods().count(opcode.base) != 0; }

bool hasResult(const ptx::Opcode &opcode) {
  static const char *const without[] = {
      "st",         "red",       "bra",      "brx",       "call",          "bar",      "barrier",
      "membar",     "fence",     "prefetch", "prefetchu", "exit",          "ret",      "trap",
      "brkpt",      "nanosleep", "cp",       "discard",   "applypriority", "stmatrix", "griddepcontrol",
      "setmaxnreg", "pmevent",   "wgmma",    "sust",      "sured"};
  if (opcode.base == "bar" || opcode.base == "barrier")
    return opcode.has("red");
  if (opcode.base == "wmma")
    return !opcode.has("store");
  if (opcode.base == "mbarrier")
    return !opcode.has("init") && !opcode.has("inval");
  for (const char *base : without)
    if (opcode.base == base)
      return false;
  return true;
}

void decode(const ptx::Function &f, SymbolSource &symbols, Program &program) {
  Decoder(f, symbols, program).run();
}

} // namespace joule::vgpu
