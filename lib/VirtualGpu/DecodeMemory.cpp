// Decoding of loads, stores, address conversions and atomics.
#include "lib/VirtualGpu/Decoder.h"

namespace joule::vgpu {

// --- memory ---

MemorySpace Decoder::memorySpace(Space s) {
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

Decoder::Address Decoder::address(const Operand &o, Space space) {
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

MemorySpace Decoder::spaceOfBase(const Operand &base) {
  if (base.kind == OperandKind::Variable)
    return memorySpace(f.variables[base.index].space);
  Space space;
  if (base.kind == OperandKind::Name && symbols.spaceOf(nameOf(base), space))
    return memorySpace(space);
  return inGeneric;
}

void Decoder::setAddress(Op &op, const Address &a, bool stores) {
  op.a = a.place;
  op.imm = a.displacement;
  op.space = a.space;
  op.flags = uint8_t((a.narrow ? address32 : 0) | (stores ? storesData : 0));
  op.slot = symbols.newRangeSlot();
}

std::string Decoder::memoryName(Type t, unsigned registerBytes) {
  unsigned size = ptx::sizeOf(t);
  if (size > registerBytes)
    throw Unsupported{"a register narrower than the access"};
  std::string sign = ptx::isSigned(t) && size < registerBytes ? "s" : "u";
  return sign + std::to_string(8 * size) + "." + std::to_string(registerBytes);
}

bool Decoder::isFrameParameter(const Operand &o) const {
  return o.kind == OperandKind::Variable && f.variables[o.index].space == Space::Param &&
         !isKernelParameter(o.index);
}

std::vector<uint32_t> Decoder::dataRegisters(const Operand &data, unsigned &bytes, bool stores) {
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

void Decoder::load() {
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

void Decoder::setData(Op &op, const std::vector<uint32_t> &list) {
  op.n = uint8_t(list.size());
  if (list.size() == 1)
    op.d = list[0];
  else
    op.list = keepList(list);
}

void Decoder::loadWide(uint32_t d, const Operand &from) {
  uint32_t low = temporary(8), high = temporary(8);
  Address a = address(from, opcode->space);
  Op &op = emit("ld.2.u64.8");
  setAddress(op, a, false);
  setData(op, {low, high});
  emit("pack.8.16", d, low, high);
}

int64_t Decoder::offsetInside(const Operand &o, size_t i) const {
  uint64_t bytes = ptx::sizeOf(type()), size = f.variables[o.index].size;
  bool begins = o.offset >= 0 && uint64_t(o.offset) <= size;
  if (!begins || (i + 1) * bytes > size - uint64_t(o.offset))
    throw Unsupported{"an access outside the parameter"};
  return o.offset + int64_t(i * bytes);
}

void Decoder::loadParameters(const std::vector<uint32_t> &list, const std::string &kind,
                             const Operand &from) {
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

void Decoder::store() {
  if (opcode->has("async"))
    return asyncStore();
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

void Decoder::storeWide(uint32_t s, const Operand &to) {
  uint32_t low = temporary(8), high = temporary(8);
  unpackPart(low, 8, s, 16, 0);
  unpackPart(high, 8, s, 16, 1);
  Address a = address(to, opcode->space);
  Op &op = emit("st.2.u64.8");
  setAddress(op, a, true);
  setData(op, {low, high});
}

void Decoder::storeParameters(const std::vector<uint32_t> &list, const std::string &kind, const Operand &to) {
  for (size_t i = 0; i < list.size(); ++i) {
    Op &op = emit("stframe." + kind);
    op.d = list[i], op.a = variablePlace[to.index], op.b = frameStride(to.index);
    op.imm = offsetInside(to, i);
  }
}

void Decoder::convertAddress() {
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

void Decoder::testSpace() {
  uint64_t window = opcode->space == Space::Shared  ? 1
                    : opcode->space == Space::Local ? 2
                    : opcode->space == Space::Param ? 3
                                                    : 0;
  uint32_t a = use(operand(1), 8);
  Op &op = emit("isspace");
  // Of the shared addresses only those of the own block name no block.
  unsigned low = window == 1 && !opcode->has("shared::cluster") ? clusterRankShift : 56;
  op.d = result(operand(0), 0), op.a = a, op.n = uint8_t(low), op.imm = int64_t(window << (56 - low));
}

// --- atomics ---

uint8_t Decoder::atomicKind() {
  for (const char *name : {"exch", "cas", "and", "or", "xor", "inc", "dec", "min", "max", "add"})
    if (opcode->has(name))
      if (scalar::Atomic kind = scalar::atomicNamed(name, uint8_t(type())); kind != scalar::noAtomic)
        return kind;
  throw Unsupported{"this atomic operation"};
}

void Decoder::atomic() { atomicOp(true); }

void Decoder::reduceAtomic() { opcode->has("async") ? asyncStore() : atomicOp(false); }

void Decoder::atomicOp(bool returns) {
  unsigned first = returns ? 1 : 0;
  if (ptx::sizeOf(type()) == 16)
    return atomicWide(returns);
  uint8_t kind = atomicKind();
  const Operand &values = operand(first + 1);
  unsigned n = isVector(values) ? unsigned(values.value) : 1;
  bool comparesAlso = opcode->has("cas"), wanted = returns && operand(0).kind != OperandKind::None;
  if (comparesAlso && n > 1)
    throw Unsupported{"this atomic operation"};
  std::vector<uint32_t> inputs;
  for (unsigned i = 0; i < n; ++i)
    inputs.push_back(use(isVector(values) ? element(values, i) : values, width(), type()));
  uint32_t other = comparesAlso ? use(operand(first + 2), width(), type()) : noRegister;
  // A vector is as many operations: it is atomic in its elements only.
  for (unsigned i = 0; i < n; ++i) {
    Address a = address(operand(first), opcode->space);
    uint32_t d =
        wanted ? result(isVector(operand(0)) ? element(operand(0), i) : operand(0), width()) : noRegister;
    Op &op = emit("atom." + std::to_string(width()));
    setAddress(op, a, true);
    op.imm += int64_t(i * ptx::sizeOf(type()));
    op.d = d, op.b = inputs[i], op.c = comparesAlso ? other : inputs[i], op.n = kind;
  }
}

/// Exchange and compare-and-swap of 16 bytes.
void Decoder::atomicWide(bool returns) {
  bool compares = opcode->has("cas");
  if (!returns || (!compares && !opcode->has("exch")))
    throw Unsupported{"this atomic operation"};
  uint32_t b = use(operand(2), 16), c = compares ? use(operand(3), 16) : b;
  uint32_t d = operand(0).kind == OperandKind::None ? noRegister : result(operand(0), 16);
  Address a = address(operand(1), opcode->space);
  Op &op = emit("atom.16");
  setAddress(op, a, true);
  op.d = d, op.b = b, op.c = c, op.n = compares;
}

// --- hints, and memory that a thread takes as it runs ---

/// A policy is a hint, so its value does not matter.
void Decoder::createPolicy() { emit("mov.b64", result(operand(0), 8), constant(8, 0)); }

/// alloca d, bytes{, alignment}
void Decoder::allocateLocal() {
  p.allocatesLocal = true;
  uint32_t bytes = temporary(8);
  if (width() == 8)
    bytes = use(operand(1), 8);
  else
    emit("cvt.b64.u32", bytes, use(operand(1), 4));
  if (width() != 8)
    throw Unsupported{"a 32-bit address of local memory"};
  int64_t alignment = count() > 2 && operand(2).kind == OperandKind::Integer ? operand(2).value : 8;
  if (alignment < 1 || alignment > 4096 || (alignment & (alignment - 1)))
    throw Unsupported{"this alignment"};
  Op &op = emit("alloca");
  op.d = result(operand(0), 8), op.a = bytes;
  op.imm = alignment;
}

void Decoder::localStack() {
  p.allocatesLocal = true;
  bool saves = opcode->base == "stacksave";
  uint32_t place = saves ? result(operand(0), 8) : use(operand(0), 8);
  Op &op = emit(saves ? "stacksave" : "stackrestore");
  (saves ? op.d : op.a) = place;
}

} // namespace joule::vgpu
