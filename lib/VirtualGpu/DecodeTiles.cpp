// Decoding of matrix products of every shape and type: mma.sync, mma.sp, wgmma; and of stmatrix, movmatrix.
#include "lib/VirtualGpu/Decoder.h"

namespace joule::vgpu {
namespace {

struct NamedFormat {
  const char *name;
  TileFormat format;
  int bits;
};
const NamedFormat namedFormats[] = {
    {"f16", TileFormat::F16, 16},  {"bf16", TileFormat::BF16, 16}, {"tf32", TileFormat::TF32, 32},
    {"e4m3", TileFormat::E4M3, 8}, {"e5m2", TileFormat::E5M2, 8},  {"f32", TileFormat::F32, 32},
    {"f64", TileFormat::F64, 64},  {"s8", TileFormat::S8, 8},      {"u8", TileFormat::U8, 8},
    {"s4", TileFormat::S4, 4},     {"u4", TileFormat::U4, 4},      {"b1", TileFormat::B1, 1},
    {"s32", TileFormat::S32, 32}};

int bitsOf(TileFormat format) {
  for (const NamedFormat &named : namedFormats)
    if (named.format == format)
      return named.bits;
  return 0;
}

/// What an element of A (or B) of this kind is multiplied as.
bool isReal(TileFormat f) { return f <= TileFormat::E5M2; }
bool isInteger(TileFormat f) { return f >= TileFormat::S8 && f <= TileFormat::U4; }

bool fits(const MatrixTile &t) {
  bool halves = t.sum == TileFormat::F16 || t.sum == TileFormat::F32;
  bool sameSize = bitsOf(t.a) == bitsOf(t.b);
  if (isReal(t.a) && isReal(t.b))
    return halves && (t.result == TileFormat::F16 || t.result == TileFormat::F32) && sameSize &&
           (bitsOf(t.a) == 8 || t.a == t.b);
  if (t.a == TileFormat::F64)
    return t.b == t.a && t.sum == t.a && t.result == t.a;
  bool integers = (isInteger(t.a) && isInteger(t.b)) || (t.a == TileFormat::B1 && t.b == t.a);
  return integers && sameSize && t.sum == TileFormat::S32 && t.result == TileFormat::S32;
}

struct TileShape {
  TileFormat format; // of A
  int m, k;
  bool sparse;
};
// All with n = 8. The types that A's may be exchanged for have the same shapes.
const TileShape shapes[] = {
    {TileFormat::F16, 16, 8, false},  {TileFormat::F16, 16, 16, false},  {TileFormat::F16, 8, 4, false},
    {TileFormat::BF16, 16, 8, false}, {TileFormat::BF16, 16, 16, false}, {TileFormat::TF32, 16, 4, false},
    {TileFormat::TF32, 16, 8, false}, {TileFormat::E4M3, 16, 32, false}, {TileFormat::E4M3, 16, 16, false},
    {TileFormat::S8, 8, 16, false},   {TileFormat::S8, 16, 16, false},   {TileFormat::S8, 16, 32, false},
    {TileFormat::S4, 8, 32, false},   {TileFormat::S4, 16, 32, false},   {TileFormat::S4, 16, 64, false},
    {TileFormat::B1, 8, 128, false},  {TileFormat::B1, 16, 128, false},  {TileFormat::B1, 16, 256, false},
    {TileFormat::F64, 8, 4, false},   {TileFormat::F64, 16, 4, false},   {TileFormat::F64, 16, 8, false},
    {TileFormat::F64, 16, 16, false}, {TileFormat::F16, 16, 16, true},   {TileFormat::F16, 16, 32, true},
    {TileFormat::BF16, 16, 16, true}, {TileFormat::BF16, 16, 32, true},  {TileFormat::TF32, 16, 8, true},
    {TileFormat::TF32, 16, 16, true}, {TileFormat::S8, 16, 32, true},    {TileFormat::S8, 16, 64, true},
    {TileFormat::S4, 16, 64, true},   {TileFormat::S4, 16, 128, true},   {TileFormat::E4M3, 16, 64, true},
};

TileFormat representative(TileFormat f) {
  return f == TileFormat::U8     ? TileFormat::S8
         : f == TileFormat::U4   ? TileFormat::S4
         : f == TileFormat::E5M2 ? TileFormat::E4M3
                                 : f;
}

bool hasShape(const MatrixTile &t, bool sparse) {
  for (const TileShape &s : shapes)
    if (s.format == representative(t.a) && s.m == t.m && s.k == t.k && s.sparse == sparse)
      return true;
  return false;
}

/// The k of a warpgroup's product: 32 bytes, twice as much where A is sparse.
int warpgroupK(TileFormat format, bool sparse) { return 256 / bitsOf(format) * (sparse ? 2 : 1); }

} // namespace

// --- what they share ---

/// The types in the order of the text.
std::vector<TileFormat> Decoder::tileFormats() const {
  std::vector<TileFormat> found;
  for (const std::string &mod : opcode->mods)
    for (const NamedFormat &named : namedFormats)
      if (mod == named.name)
        found.push_back(named.format);
  return found;
}

/// From "m16n8k16".
void Decoder::tileShape(MatrixTile &tile) const {
  for (const std::string &mod : opcode->mods)
    if (sscanf(mod.c_str(), "m%dn%dk%d", &tile.m, &tile.n, &tile.k) == 3)
      return;
  throw Unsupported{"this shape"};
}

uint32_t Decoder::rowBytes(TileFormat format, int elements) {
  return uint32_t(elements * bitsOf(format) / 8);
}

const uint32_t *Decoder::tileRegisters(const Operand &o, TileFormat format, int elements, bool write) {
  unsigned bytes = format == TileFormat::F64 ? 8 : 4;
  size_t wanted = size_t(elements) * size_t(bitsOf(format)) / 8 / (bytes * warpSize);
  std::vector<uint32_t> list;
  for (unsigned i = 0; i < (isVector(o) ? unsigned(o.value) : 1); ++i) {
    const Operand &x = isVector(o) ? element(o, i) : o;
    list.push_back(write ? result(x, bytes) : use(x, bytes, bytes == 8 ? Type::F64 : Type::F32));
  }
  if (list.size() != wanted)
    throw Unsupported{"a fragment of this size"};
  return keepList(list);
}

void Decoder::tileNumerics(MatrixTile &tile, bool ofWarpgroup) const {
  static const std::pair<TileFormat, MatrixElement> elements[] = {{TileFormat::F16, MatrixElement::F16},
                                                                  {TileFormat::BF16, MatrixElement::BF16},
                                                                  {TileFormat::TF32, MatrixElement::TF32},
                                                                  {TileFormat::E4M3, MatrixElement::E4M3},
                                                                  {TileFormat::E5M2, MatrixElement::E5M2}};
  int architecture = symbols.options().exactArchitecture;
  // Of two formats the finer one sets the smallest exponent.
  for (auto [format, element] : elements)
    if (architecture && (tile.a == format || tile.b == format) && !tile.exact) {
      tile.exact = true;
      tile.rule = matrixRule(architecture, element, tile.result == TileFormat::F16,
                             ofWarpgroup ? MatrixUnit::Warpgroup : MatrixUnit::Warp);
    }
}

void Decoder::emitTile(const MatrixTile &tile) {
  p.tiles.push_back(tile);
  Op &op = emit(isReal(tile.a)              ? (tile.m == 8 ? "tile.old" : "tile.reals")
                : tile.a == TileFormat::F64 ? "tile.doubles"
                                            : "tile.integers");
  op.data = &p.tiles.back();
}

// --- mma.sync and mma.sp ---

void Decoder::multiplyMatrices() {
  MatrixTile tile = {};
  tileShape(tile);
  std::vector<TileFormat> formats = tileFormats();
  bool sparse = opcode->has("sp") || opcode->has("sp::ordered_metadata");
  if (formats.size() != 4)
    throw Unsupported{"types of this number"};
  tile.result = formats[0], tile.a = formats[1], tile.b = formats[2], tile.sum = formats[3];
  if (!fits(tile) || !hasShape(tile, sparse) || tile.n != 8 || opcode->has("block_scale") ||
      opcode->has("kind::f8f6f4"))
    throw Unsupported{"this shape"};
  if (tile.m == 8 && tile.a == TileFormat::F16)
    return multiplyOldMatrices(tile);
  if (!opcode->has("row") || !opcode->has("col"))
    throw Unsupported{"this layout"};
  int kept = sparse ? tile.k / 2 : tile.k;
  tile.inA = tileRegisters(operand(1), tile.a, tile.m * kept, false);
  tile.inB = tileRegisters(operand(2), tile.b, tile.n * tile.k, false);
  tile.inC = tileRegisters(operand(3), tile.sum, tile.m * tile.n, false);
  tile.inD = tileRegisters(operand(0), tile.result, tile.m * tile.n, true);
  if (sparse) {
    tile.metadata = use(operand(4), 4);
    tile.selector = uint32_t(constantOperand(5)) & 3;
  }
  if (tile.result == tile.sum && multiplyCommonly(tile))
    return;
  tile.saturates = opcode->sat;
  tile.takesAnd = opcode->has("and");
  tileNumerics(tile, false);
  emitTile(tile);
}

int64_t Decoder::constantOperand(unsigned i) const {
  if (operand(i).kind != OperandKind::Integer)
    throw Unsupported{"an operand that is not a constant"};
  return operand(i).value;
}

/// m8n8k4 of f16, with a layout for each of A and B: four products, each with eight elements of A and B in
/// two registers.
void Decoder::multiplyOldMatrices(MatrixTile &tile) {
  std::vector<bool> rows;
  for (const std::string &mod : opcode->mods)
    if (mod == "row" || mod == "col")
      rows.push_back(mod == "row");
  if (rows.size() != 2)
    throw Unsupported{"this layout"};
  tile.rowsOfA = rows[0], tile.columnsOfB = !rows[1];
  tile.inA = tileRegisters(operand(1), tile.a, 4 * 8 * 4, false);
  tile.inB = tileRegisters(operand(2), tile.b, 4 * 8 * 4, false);
  tile.inC = tileRegisters(operand(3), tile.sum, 4 * 8 * 8, false);
  tile.inD = tileRegisters(operand(0), tile.result, 4 * 8 * 8, true);
  tileNumerics(tile, false);
  emitTile(tile);
}

// --- wgmma ---

/// Products are done when they are issued, each warp its sixteen rows; there is nothing to wait for.
void Decoder::multiplyWarpgroup() {
  if (firstModifier() != "mma_async")
    return (void)emit("nop"); // fence, commit_group, wait_group
  MatrixTile tile = {};
  tileShape(tile);
  std::vector<TileFormat> formats = tileFormats();
  bool sparse = opcode->has("sp");
  if (formats.size() != 3 || tile.m != 64 || tile.n < 8 || tile.n > 256 || tile.n % 8)
    throw Unsupported{"this shape"};
  tile.m = 16;
  tile.result = tile.sum = formats[0], tile.a = formats[1], tile.b = formats[2];
  if (!fits(tile) || tile.a == TileFormat::F64 || bitsOf(tile.a) == 4 ||
      tile.k != warpgroupK(tile.a, sparse) || (sparse && tile.a == TileFormat::B1))
    throw Unsupported{"this shape"};
  tile.inD = tile.inC = tileRegisters(operand(0), tile.result, 16 * tile.n, true);
  bool aInRegisters = isVector(operand(1));
  if (aInRegisters)
    tile.inA = tileRegisters(operand(1), tile.a, 16 * (sparse ? tile.k / 2 : tile.k), false);
  else
    tile.descriptorA = use(operand(1), 8);
  tile.descriptorB = use(operand(2), 8);
  unsigned next = 3;
  if (sparse) {
    tile.metadata = use(operand(next++), 4);
    tile.selector = uint32_t(constantOperand(next++)) & 3;
  }
  if (count() > next)
    tile.keepsC = predicate(operand(next++));
  warpgroupSigns(tile, next, aInRegisters);
  tile.saturates = opcode->has("satfinite");
  tile.takesAnd = true;
  tileNumerics(tile, true);
  emitTile(tile);
}

/// The constants at the end: the signs of A and B, and for 16-bit elements which way each lies in memory.
void Decoder::warpgroupSigns(MatrixTile &tile, unsigned next, bool aInRegisters) {
  if (!isReal(tile.a) || count() <= next)
    return;
  tile.negateA = constantOperand(next++) < 0;
  tile.negateB = constantOperand(next++) < 0;
  if (bitsOf(tile.a) != 16 || count() <= next)
    return;
  if (!aInRegisters)
    tile.rowsOfA = constantOperand(next++) == 0;
  tile.columnsOfB = constantOperand(next) == 0;
}

// --- wmma of elements smaller than a byte ---

bool Decoder::isSmallFragment() const { return opcode->has("m8n8k32") || opcode->has("m8n8k128"); }

void Decoder::multiplySmallFragments() {
  MatrixTile tile = {};
  tileShape(tile);
  std::vector<TileFormat> formats = tileFormats();
  if (formats.size() != 4)
    throw Unsupported{"types of this number"};
  tile.result = formats[0], tile.a = formats[1], tile.b = formats[2], tile.sum = formats[3];
  if (!fits(tile) || tile.a != tile.b || bitsOf(tile.a) != (tile.k == 128 ? 1 : 4))
    throw Unsupported{"this shape"};
  tile.inA = tileRegisters(operand(1), tile.a, 8 * tile.k, false);
  tile.inB = tileRegisters(operand(2), tile.b, 8 * tile.k, false);
  tile.inC = tileRegisters(operand(3), tile.sum, 64, false);
  tile.inD = tileRegisters(operand(0), tile.result, 64, true);
  tile.saturates = opcode->sat;
  tile.takesAnd = opcode->has("and");
  p.tiles.push_back(tile);
  emit("tile.small").data = &p.tiles.back();
}

// --- 8x8 matrices of 16-bit elements ---

void Decoder::storeMatrix() {
  unsigned n = opcode->has("x4") ? 4 : opcode->has("x2") ? 2 : 1;
  if (!opcode->has("m8n8"))
    throw Unsupported{"this shape"};
  std::vector<uint32_t> list = list32(operand(1), false);
  if (list.size() != n)
    throw Unsupported{"a fragment of this size"};
  Address a = address(operand(0), Space::Shared);
  Op &op = emit(opcode->has("trans") ? "stmatrix.trans" : "stmatrix");
  setAddress(op, a, true);
  setData(op, list);
}

void Decoder::turnMatrix() {
  if (!opcode->has("m8n8"))
    throw Unsupported{"this shape"};
  uint32_t a = use(operand(1), 4);
  emit("movmatrix", result(operand(0), 4), a);
}

} // namespace joule::vgpu
