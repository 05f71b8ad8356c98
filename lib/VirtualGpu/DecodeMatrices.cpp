// Decoding of asynchronous copies and of the matrix instructions.
#include "lib/VirtualGpu/Decoder.h"
#include "lib/VirtualGpu/MatrixRule.h"

#include <cstring>

namespace joule::vgpu {

/// False for what is not rounded: integers, f64.
bool findMatrixElement(ptx::Type type, MatrixElement &element) {
  switch (type) {
  case ptx::Type::F16:
    return element = MatrixElement::F16, true;
  case ptx::Type::BF16:
    return element = MatrixElement::BF16, true;
  case ptx::Type::TF32:
    return element = MatrixElement::TF32, true;
  case ptx::Type::E4M3:
    return element = MatrixElement::E4M3, true;
  case ptx::Type::E5M2:
    return element = MatrixElement::E5M2, true;
  default:
    return false;
  }
}

// --- asynchronous copies and matrices ---

void Decoder::copyAsync() {
  if (opcode->has("commit_group") || opcode->has("wait_group") || opcode->has("wait_all"))
    return (void)emit("nop");
  if (opcode->has("bulk"))
    return copyBulk();
  if (opcode->has("mbarrier"))
    return opcode->has("noinc") ? arriveAtBarrier(false) : (void)emit("nop"); // else counted up before
  Address to = address(operand(0), Space::Shared), from = address(operand(1), Space::Global);
  if (operand(2).kind != OperandKind::Integer)
    throw Unsupported{"a copy of unknown size"};
  uint32_t readBytes = noRegister;
  bool more = count() > (opcode->has("L2::cache_hint") ? 4u : 3u);
  if (more && operand(3).kind == OperandKind::Register && widthOfRegister(operand(3)) == 0) {
    // A predicate leaves the source out.
    readBytes = temporary(4);
    emit("selp.b32", readBytes, constant(4, 0), constant(4, uint64_t(operand(2).value)),
         predicate(operand(3)));
  } else if (more) {
    readBytes = use(operand(3), 4);
  }
  Op &op = emit("cpasync");
  setAddress(op, to, false);
  op.b = from.place;
  op.data = reinterpret_cast<const void *>(from.displacement);
  op.n = uint8_t(operand(2).value);
  op.c = readBytes;
  op.e = from.space;
  op.guard = from.narrow ? address32 : 0;
}

std::vector<uint32_t> Decoder::list32(const Operand &o, bool write) {
  std::vector<uint32_t> list;
  unsigned n = isVector(o) ? unsigned(o.value) : 1;
  for (unsigned i = 0; i < n; ++i) {
    const Operand &x = isVector(o) ? element(o, i) : o;
    list.push_back(write ? result(x, 4) : use(x, 4));
  }
  return list;
}

void Decoder::loadMatrix() {
  unsigned n = opcode->has("x4") ? 4 : opcode->has("x2") ? 2 : 1;
  if (!opcode->has("m8n8"))
    throw Unsupported{"this shape"};
  std::vector<uint32_t> list = list32(operand(0), true);
  Address a = address(operand(1), Space::Shared);
  Op &op = emit(std::string("ldmatrix.") + (opcode->has("trans") ? "trans." : "") + std::to_string(n));
  setAddress(op, a, false);
  setData(op, list);
}

/// A product of fragments, in the form that the numerics asked for want; it takes the rule from `imm`.
Op &Decoder::emitProduct(const std::string &name, Type element, Type result) {
  MatrixElement of = MatrixElement::F16;
  int architecture = symbols.options().exactArchitecture;
  if (!architecture || !findMatrixElement(element, of))
    return emit(name);
  MatrixRule rule = matrixRule(architecture, of, result == Type::F16, MatrixUnit::Warp);
  Op &op = emit("exact." + name);
  memcpy(&op.imm, &rule, sizeof rule);
  return op;
}

/// The common shapes have handlers of their own.
bool Decoder::multiplyCommonly(const MatrixTile &tile) {
  if (tile.m != 16 || tile.metadata != noRegister)
    return false;
  Type to = opcode->type(0), a = opcode->type(1);
  bool bytes = tile.a == TileFormat::S8 || tile.a == TileFormat::U8;
  std::string name = "mma.k" + std::to_string(tile.k) + "." +
                     (bytes ? "b8" : std::string(ptx::nameOf(a)) + "." + ptx::nameOf(to));
  if (!handlers().count(name))
    return false;
  std::vector<uint32_t> all = list32(operand(0), true);
  for (unsigned i = 1; i < 4; ++i)
    for (uint32_t place : list32(operand(i), false))
      all.push_back(place);
  Op &op = emitProduct(name, a, to);
  op.list = keepList(all);
  if (bytes)
    op.imm = (ptx::isSigned(a) ? 1 : 0) | (tile.b == TileFormat::S8 ? 2 : 0) | (opcode->sat ? 4 : 0);
  return true;
}

Decoder::Shape Decoder::wmmaShape() const {
  static const std::pair<const char *, Shape> shapes[] = {
      {"m16n16k16", {16, 16, 16}}, {"m32n8k16", {32, 8, 16}}, {"m8n32k16", {8, 32, 16}},
      {"m16n16k8", {16, 16, 8}},   {"m8n8k4", {8, 8, 4}},     {"m8n8k32", {8, 8, 32}},
      {"m8n8k128", {8, 8, 128}}};
  for (auto &[name, shape] : shapes)
    if (opcode->has(name))
      return shape;
  throw Unsupported{"this shape"};
}

void Decoder::wmma() {
  const std::string what = firstModifier();
  if (what == "load")
    moveFragment(1, 0, opcode->mods.size() > 1 ? opcode->mods[1] : "", false);
  else if (what == "store")
    moveFragment(0, 1, "d", true);
  else if (what == "mma")
    multiplyFragments();
  else
    throw Unsupported{"this kind of wmma"};
}

std::vector<uint32_t> Decoder::fragment(const Operand &o, bool write) {
  std::vector<uint32_t> list;
  for (unsigned i = 0; i < (isVector(o) ? unsigned(o.value) : 1); ++i) {
    const Operand &x = isVector(o) ? element(o, i) : o;
    unsigned bytes = x.kind == OperandKind::Register ? widthOfRegister(x) : 4;
    list.push_back(write ? result(x, bytes) : use(x, bytes));
  }
  return list;
}

void Decoder::moveFragment(unsigned addressAt, unsigned registersAt, const std::string &which, bool stores) {
  Shape shape = wmmaShape();
  WmmaShape s;
  s.rows = which == "b" ? shape.k : shape.m;
  s.columns = which == "a" ? shape.k : shape.n;
  s.rowMajor = opcode->has("row");
  s.elementBytes = ptx::sizeOf(type());
  int perByte = 1; // of elements smaller than a byte, which lie along k: bytes of rows, or of columns
  if (isSmallFragment() && (which == "a" || which == "b")) {
    perByte = opcode->has("b1") ? 8 : 2;
    if (s.rowMajor != (which == "a"))
      throw Unsupported{"this layout"};
    s.rows = 8, s.columns = shape.k / perByte, s.rowMajor = true, s.elementBytes = 1;
  }
  std::vector<uint32_t> list = fragment(operand(registersAt), !stores);
  if (list.size() * warpSize * std::max(4u, s.elementBytes) < size_t(s.rows) * s.columns * s.elementBytes)
    throw Unsupported{"a fragment of this size"};
  s.list = keepList(list);
  uint32_t leading = count() > 2 ? use(operand(2), 4)
                                 : constant(4, uint64_t(perByte) * unsigned(s.rowMajor ? s.columns : s.rows));
  if (perByte > 1) {
    uint32_t bytes = temporary(4);
    emit("shr.u32", bytes, leading, constant(4, perByte == 8 ? 3 : 1));
    leading = bytes;
  }
  Address a = address(operand(addressAt), opcode->space);
  p.wmmaShapes.push_back(s);
  Op &op = emit((stores ? "wmma.store." : "wmma.load.") + std::to_string(s.elementBytes));
  setAddress(op, a, stores);
  op.c = leading;
  op.data = &p.wmmaShapes.back();
}

void Decoder::multiplyFragments() {
  if (isSmallFragment())
    return multiplySmallFragments();
  Shape shape = wmmaShape();
  bool all = opcode->types.size() == 4;
  Type d = opcode->type(0), a = all ? opcode->type(1) : Type::F16, c = opcode->lastType();
  bool saturates = opcode->sat && d == Type::S32;
  if ((opcode->sat && !saturates) || (all && opcode->type(2) != a))
    throw Unsupported{"this form of wmma.mma"};
  WmmaProduct s = {shape.m, shape.n, shape.k, nullptr, nullptr, nullptr, nullptr};
  const uint32_t **lists[] = {&s.d, &s.a, &s.b, &s.c};
  const Type types[] = {d, a, a, c};
  const int elements[] = {s.m * s.n, s.m * s.k, s.k * s.n, s.m * s.n};
  for (unsigned i = 0; i < 4; ++i) {
    std::vector<uint32_t> list = fragment(operand(i), i == 0);
    unsigned bytes = ptx::sizeOf(types[i]);
    if (list.size() * warpSize * std::max(4u, bytes) < unsigned(elements[i]) * bytes)
      throw Unsupported{"a fragment of this size"};
    *lists[i] = keepList(std::move(list));
  }
  p.wmmaProducts.push_back(s);
  Op &op = emitProduct(std::string(saturates ? "wmma.sat." : "wmma.") + ptx::nameOf(a) + "." +
                           ptx::nameOf(d) + "." + ptx::nameOf(c),
                       a, d);
  op.data = &p.wmmaProducts.back();
}

} // namespace joule::vgpu
