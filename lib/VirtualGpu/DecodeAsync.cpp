// Decoding of mbarriers, of the copy engine's instructions and of those of clusters.
#include "lib/VirtualGpu/Decoder.h"

namespace joule::vgpu {

// --- parts of these instructions ---

AsyncAddress Decoder::asyncAddress(const Operand &o, Space space) {
  Address a = address(o, space);
  return {a.place, a.displacement, a.narrow, uint8_t(a.space)};
}

/// The state spaces of the opcode in the order of the text; generic where there are fewer.
Space Decoder::spaceNamed(unsigned which) const {
  for (const std::string &mod : opcode->mods) {
    std::string_view name(mod.data(), std::min(mod.find("::"), mod.size()));
    bool global = name == "global", shared = name == "shared";
    if ((global || shared) && which-- == 0)
      return global ? Space::Global : Space::Shared;
  }
  return Space::Generic;
}

std::vector<Operand> Decoder::operandsAfter(unsigned first) const {
  std::vector<Operand> rest;
  for (unsigned i = first; i < count(); ++i)
    rest.push_back(operand(i));
  return rest;
}

// --- mbarriers ---

void Decoder::memoryBarrier() {
  const std::string what = firstModifier();
  if (what == "arrive" || what == "arrive_drop")
    return arriveAtBarrier(what == "arrive_drop");
  if (what == "test_wait" || what == "try_wait")
    return testBarrier();
  if (what == "pending_count")
    return emit("mbarrier.pending", result(operand(0), 4), use(operand(1), 8));
  bool init = what == "init", bytes = what == "expect_tx" || what == "complete_tx";
  if (!init && !bytes && what != "inval")
    throw Unsupported{"this kind of mbarrier instruction"};
  uint32_t b = init || bytes ? use(operand(1), 4) : noRegister;
  Address a = address(operand(0), opcode->space);
  Op &op = emit(bytes ? "mbarrier.bytes" : "mbarrier.init");
  setAddress(op, a, true);
  op.b = b;
  op.n = init || what == "complete_tx";
}

/// mbarrier.arrive with and without a result, and the arrival of cp.async.
void Decoder::arriveAtBarrier(bool drop) {
  unsigned first = operand(0).address ? 0 : 1;
  bool returns = first == 1 && operand(0).kind != OperandKind::None;
  uint32_t d = returns ? result(operand(0), 8) : noRegister;
  uint32_t amount = count() > first + 1 ? use(operand(first + 1), 4) : noRegister;
  Address a = address(operand(first), opcode->space);
  Op &op = emit("mbarrier.arrive");
  setAddress(op, a, true);
  op.d = d;
  (opcode->has("expect_tx") ? op.c : op.b) = amount;
  op.n = drop;
}

void Decoder::testBarrier() {
  bool parity = opcode->has("parity");
  uint32_t d = result(operand(0), 0), b = use(operand(2), parity ? 4 : 8);
  Address a = address(operand(1), opcode->space);
  Op &op = emit("mbarrier.test");
  setAddress(op, a, false);
  op.d = d, op.b = b, op.n = parity;
}

// --- bulk copies ---

const char *Decoder::bulkReduction() const {
  if (firstModifier() != "reduce")
    return nullptr;
  for (const char *name : {"and", "or", "xor", "inc", "dec", "min", "max", "add"})
    if (opcode->has(name))
      return name;
  throw Unsupported{"this reduction"};
}

void Decoder::emitCopy(const std::string &name, const BulkCopy &copy) {
  p.bulkCopies.push_back(copy);
  Op &op = emit(name);
  op.slot = symbols.newRangeSlot();
  op.data = &p.bulkCopies.back();
}

void Decoder::copyBulk() {
  if (opcode->has("prefetch"))
    return (void)emit("nop");
  BulkCopy copy;
  copy.toGlobal = spaceNamed(0) == Space::Global;
  copy.reduction = bulkReduction();
  opcode->has("tensor") ? copyTensor(copy) : copyBytes(copy);
}

/// [to], [from], bytes{, [barrier]}{, blocks}{, policy}{, mask of bytes}
void Decoder::copyBytes(BulkCopy &copy) {
  copy.to = asyncAddress(operand(0), spaceNamed(0));
  copy.from = asyncAddress(operand(1), spaceNamed(1));
  copy.bytes = use(operand(2), 4);
  unsigned next = 3;
  if (!opcode->has("bulk_group"))
    copy.barrier = asyncAddress(operand(next++), Space::Shared);
  if (opcode->has("multicast::cluster"))
    copy.blocks = use(operand(next++), 2);
  if (opcode->has("L2::cache_hint"))
    ++next;
  if (opcode->has("cp_mask"))
    copy.byteMask = use(operand(next), 2);
  copy.type = uint8_t(type());
  if (copy.reduction && scalar::atomicNamed(copy.reduction, copy.type) == scalar::noAtomic)
    throw Unsupported{"this reduction"};
  emitCopy("copy.bulk", copy);
}

/// [to], [map, {coordinates}], [barrier]{, offsets}{, blocks}{, policy}, or [map, {coordinates}], [from]
void Decoder::copyTensor(BulkCopy &copy) {
  const Operand &box = operand(copy.toGlobal ? 0 : 1);
  if (!isVector(box) || !box.address || box.value > int64_t(1 + 5))
    throw Unsupported{"this kind of tensor"};
  for (const char *other :
       {"tile::gather4", "tile::scatter4", "im2col::w", "im2col::w::128", "cta_group::1", "cta_group::2"})
    if (opcode->has(other))
      throw Unsupported{"this mode"};
  copy.map = asyncAddress(element(box, 0), Space::Generic);
  copy.rank = uint32_t(box.value) - 1;
  if (!opcode->has(std::to_string(copy.rank) + "d"))
    throw Unsupported{"as many coordinates"};
  for (unsigned i = 0; i < copy.rank; ++i)
    copy.coordinates[i] = use(element(box, i + 1), 4);
  copy.isIm2col = opcode->has("im2col") || opcode->has("im2col_no_offs");
  if (copy.toGlobal) {
    copy.from = asyncAddress(operand(1), Space::Shared);
    return emitCopy("copy.tensor", copy);
  }
  copy.to = asyncAddress(operand(0), Space::Shared);
  copy.barrier = asyncAddress(operand(2), Space::Shared);
  unsigned next = 3;
  if (opcode->has("im2col")) {
    const Operand &offsets = operand(next++);
    copy.numOffsets = isVector(offsets) ? uint32_t(offsets.value) : 1;
    if (copy.numOffsets + 2 != copy.rank)
      throw Unsupported{"as many offsets"};
    for (unsigned i = 0; i < copy.numOffsets; ++i)
      copy.offsets[i] = use(isVector(offsets) ? element(offsets, i) : offsets, 2);
  }
  if (opcode->has("multicast::cluster"))
    copy.blocks = use(operand(next), 2);
  emitCopy("copy.tensor", copy);
}

/// st.async and red.async: [to], value, [barrier]
void Decoder::asyncStore() {
  BulkCopy copy;
  copy.to = asyncAddress(operand(0), Space::Shared);
  copy.barrier = asyncAddress(operand(2), Space::Shared);
  copy.type = uint8_t(type());
  if (opcode->base == "red") {
    static const char *const names[] = {"and", "or", "xor", "inc", "dec", "min", "max", "add"};
    for (const char *name : names)
      if (opcode->has(name))
        copy.reduction = name;
    if (!copy.reduction || scalar::atomicNamed(copy.reduction, copy.type) == scalar::noAtomic)
      throw Unsupported{"this reduction"};
  }
  const Operand &values = operand(1);
  copy.rank = isVector(values) ? uint32_t(values.value) : 1;
  if (copy.rank > 4)
    throw Unsupported{"as many values"};
  for (unsigned i = 0; i < copy.rank; ++i)
    copy.coordinates[i] = use(isVector(values) ? element(values, i) : values, width(), type());
  emitCopy("store.async", copy);
}

// --- tensor maps ---

void Decoder::tensorMap() {
  if (opcode->has("cp_fenceproxy")) { // global.shared::cta [to], [from], 128
    BulkCopy copy;
    copy.to = asyncAddress(operand(0), Space::Global);
    copy.from = asyncAddress(operand(1), Space::Shared);
    return emitCopy("tensormap.publish", copy);
  }
  static const std::pair<const char *, unsigned> fields[] = {
      {"global_address", 0}, {"rank", 1},     {"box_dim", 2},      {"global_dim", 3}, {"global_stride", 4},
      {"element_stride", 5}, {"elemtype", 6}, {"swizzle_mode", 7}, {"fill_mode", 8}};
  for (auto [name, field] : fields) {
    if (!opcode->has(name))
      continue;
    bool indexed = field >= 2 && field <= 5;
    const Operand &value = operand(indexed ? 2 : 1);
    unsigned bytes = opcode->has("b64") ? 8 : 4;
    if (indexed && operand(1).kind != OperandKind::Integer)
      throw Unsupported{"an index that is not a constant"};
    uint32_t b = use(value, bytes);
    Address a = address(operand(0), opcode->space);
    Op &op = emit("tensormap.replace");
    setAddress(op, a, true);
    op.b = b, op.c = bytes, op.n = uint8_t(field), op.e = indexed ? uint32_t(operand(1).value) : 0;
    return;
  }
  throw Unsupported{"this field of a tensor map"};
}

// --- clusters ---

void Decoder::mapAddress() {
  uint32_t a = use(operand(1), width()), b = use(operand(2), 4);
  emit("mapa." + std::to_string(width()), result(operand(0), width()), a, b);
}

void Decoder::rankOfAddress() {
  uint32_t a = use(operand(1), width());
  emit("getctarank." + std::to_string(width()), result(operand(0), 4), a);
}

} // namespace joule::vgpu
