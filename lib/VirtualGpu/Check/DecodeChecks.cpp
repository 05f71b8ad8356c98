// Puts check operations around those of one instruction.
#include "lib/VirtualGpu/Check/BlockChecker.h"
#include "lib/VirtualGpu/Decoder.h"

namespace joule::vgpu {
namespace {

const std::string &nameOfHandler(Handler fn) {
  static const auto names = [] {
    std::unordered_map<Handler, std::string> all;
    for (auto &[name, pair] : handlers())
      all.emplace(pair.fn, name);
    return all;
  }();
  static const std::string none;
  auto it = names.find(fn);
  return it == names.end() ? none : it->second;
}

bool startsWith(const std::string &text, const char *prefix) { return text.rfind(prefix, 0) == 0; }

/// "ld.4.u32.4": four elements of 4 bytes in registers of 4.
struct MemoryName {
  unsigned count, elementBytes, registerBytes;

  explicit MemoryName(const std::string &name) {
    size_t first = name.find('.'), second = name.find('.', first + 1), third = name.find('.', second + 1);
    count = unsigned(std::stoi(name.substr(first + 1)));
    elementBytes = unsigned(std::stoi(name.substr(second + 2))) / 8;
    registerBytes = unsigned(std::stoi(name.substr(third + 1)));
  }
};

bool hasAny(const ptx::Opcode &o, std::initializer_list<const char *> mods) {
  for (const char *mod : mods)
    if (o.has(mod))
      return true;
  return false;
}

/// The meaning of .volatile, .relaxed, .acquire and the like, and of the scope.
unsigned orderOf(const ptx::Opcode &o, bool updates) {
  bool atomic = updates || hasAny(o, {"volatile", "relaxed", "acquire", "release", "acq_rel", "mmio"});
  if (!atomic)
    return 0;
  unsigned flags = checkAtomic | (updates ? checkUpdates : 0);
  if (!o.has("cta"))
    flags |= checkDevice;
  // What is read by older idioms without a fence after it is taken as an acquire: only explicit .relaxed
  // loads wait for a fence.
  bool relaxedLoad = !updates && o.has("relaxed");
  flags |= relaxedLoad ? checkHears : checkAcquire;
  if (hasAny(o, {"release", "acq_rel"}))
    flags |= checkRelease;
  return flags;
}

bool isFence(const ptx::Opcode &o) { return o.base == "membar" || (o.base == "fence" && !o.has("proxy")); }

bool isProxyFence(const ptx::Opcode &o) {
  return o.base == "fence" && o.has("proxy") &&
         hasAny(o, {"async", "async.shared::cta", "async::generic", "shared::cta", "shared::cluster"});
}

bool meetsLanes(const ptx::Opcode &o) {
  return o.has("sync") && (o.base == "shfl" || o.base == "vote" || o.base == "match" || o.base == "redux" ||
                           o.base == "elect" || o.base == "activemask" || o.has("warp"));
}

bool needsWholeWarp(const ptx::Opcode &o) {
  if (o.base == "bar" || o.base == "barrier")
    return !o.has("warp") && !o.has("cluster") && (o.base == "bar" || o.has("aligned"));
  return o.has("aligned") && (o.base == "mma" || o.base == "wmma" || o.base == "ldmatrix" ||
                              o.base == "stmatrix" || o.base == "movmatrix" || o.base == "wgmma");
}

} // namespace

/// A check operation with the operands of `of`.
Op Decoder::checkOp(const char *name, const Op &of) {
  Op check = of;
  const HandlerPair &pair = handlers().at(name);
  check.fn = pair.fn;
  check.masked = pair.masked;
  check.e = noRegister;
  check.guard = 0;
  return check;
}

/// Is what is loaded here masked, and does a store to the same address follow? Then bits that nobody has
/// written may be read: so elements of less than a byte are stored.
bool Decoder::updatesPart() {
  constexpr size_t window = 24;
  const Operand &loaded = operand(0), &from = operand(1);
  if (loaded.kind != OperandKind::Register || from.kind != OperandKind::Register)
    return false;
  bool isMasked = false, isGone = false; // gone: the register holds something else
  for (size_t i = at + 1; i < f.instructions.size() && i < at + window; ++i) {
    const Instruction &next = f.instructions[i];
    const Operand *operands = f.operandsOf(next);
    const std::string &base = next.opcode->base;
    if (base == "bra" || base == "ret" || base == "bar" || base == "call")
      return false;
    if (base == "st" && operands[0].kind == OperandKind::Register && operands[0].index == from.index &&
        operands[0].offset == from.offset)
      return isMasked;
    for (unsigned k = 1; k < next.numOperands && !isGone; ++k)
      if (operands[k].kind == OperandKind::Register && operands[k].index == loaded.index) {
        bool masks = base == "and" && operands[k == 1 ? 2 : 1].kind == OperandKind::Integer;
        if (!masks)
          return false;
        isMasked = true;
      }
    isGone |= isMasked && operands[0].kind == OperandKind::Register && operands[0].index == loaded.index;
  }
  return false;
}

/// Is what is loaded here the first guess of a compare-and-swap at the same address? The swap tells whether
/// it was right.
bool Decoder::looksBeforeSwap() const {
  constexpr size_t window = 48;
  const Operand &from = operand(1);
  for (size_t i = at + 1; i < f.instructions.size() && i < at + window; ++i) {
    const Instruction &next = f.instructions[i];
    const Operand &to = f.operandsOf(next)[next.numOperands > 1 ? 1 : 0];
    if (next.opcode->base == "atom" && next.opcode->has("cas") && to.kind == from.kind &&
        to.index == from.index && to.offset == from.offset)
      return true;
  }
  return false;
}

void Decoder::checkMemory(const std::string &name, const Op &op, std::vector<Op> &out) {
  bool load = startsWith(name, "ld."), store = startsWith(name, "st."), atomic = startsWith(name, "atom.");
  if (load || store) {
    MemoryName form(name);
    Op check = checkOp(load ? "check.read" : "check.write", op);
    if (form.count == 1)
      check.list = keepList({op.d});
    check.d = form.count * form.elementBytes;
    check.n = uint8_t(form.count), check.b = form.registerBytes;
    check.guard = uint8_t(orderOf(*opcode, false));
    if (load && looksBeforeSwap())
      check.guard = checkAtomic | checkDevice | checkHears;
    if (load && form.count == 1 && updatesPart())
      check.guard |= checkPartial;
    if (!check.guard && onlyCopies())
      check.guard |= checkCopies;
    if (store)
      check.e = form.elementBytes;
    const Operand &to = operand(0);
    if (load && form.count > 1 && to.kind == OperandKind::Vector && to.value >= check.n)
      checkElements(check, form.elementBytes, out);
    else
      out.push_back(check);
  } else if (startsWith(name, "ldmatrix.")) {
    Op check = checkOp("check.read", op);
    check.d = 16, check.e = unsigned(name.back() - '0') * 8;
    out.push_back(check);
  } else if (startsWith(name, "stmatrix")) {
    Op check = checkOp("check.rows", op);
    check.e = opcode->has("x4") ? 32 : opcode->has("x2") ? 16 : 8;
    out.push_back(check);
  } else if (atomic) {
    Op check = checkOp("check.update", op);
    check.d = unsigned(std::stoi(name.substr(5)));
    check.guard = uint8_t(orderOf(*opcode, true));
    out.push_back(check);
    out.push_back(op);
    out.push_back(checkOp("check.updated", check));
    return;
  } else if (startsWith(name, "wmma.load.") || startsWith(name, "wmma.store.")) {
    Op check = checkOp("check.matrix", op);
    check.n = name[5] == 's';
    out.push_back(check);
  } else if (startsWith(name, "mbarrier.") || startsWith(name, "copy.") || name == "store.async") {
    return checkAsync(name, op, out);
  } else if (name == "cpasync") {
    Op copy = op;
    copy.fn = handlers().at("check.cpasync").fn, copy.masked = handlers().at("check.cpasync").masked;
    out.push_back(copy);
    return;
  }
  out.push_back(op);
}

/// Of a vector that is loaded, those elements that are read later: compilers round up what they load at once.
void Decoder::checkElements(const Op &check, unsigned bytes, std::vector<Op> &out) {
  const Operand &to = operand(0);
  auto isNeeded = [&](unsigned k) {
    const Operand &o = element(to, k);
    return o.kind == OperandKind::Register && isRead[o.index];
  };
  size_t before = out.size();
  for (unsigned first = 0, end; first < check.n; first = end) {
    end = first + 1;
    if (!isNeeded(first))
      continue;
    while (end < check.n && isNeeded(end))
      ++end;
    out.push_back(check);
    out.back().n = uint8_t(end - first), out.back().d = (end - first) * bytes;
    out.back().imm += int64_t(first) * bytes, out.back().list += first;
  }
  if (out.size() == before)
    out.push_back(check);
}

void Decoder::checkAsync(const std::string &name, const Op &op, std::vector<Op> &out) {
  bool init = name == "mbarrier.init", arrive = name == "mbarrier.arrive", test = name == "mbarrier.test";
  bool copies = startsWith(name, "copy.");
  if (arrive && opcode->base == "cp") { // when the thread's copies are done
    out.push_back(checkOp("check.wait", op));
    out.back().n = 1;
  }
  if (init || arrive || test) {
    out.push_back(checkOp("check.barrier", op));
    out.back().n = init ? (op.n ? 0 : 4) : arrive ? 1 : 2;
  }
  uint8_t tensor = name == "copy.tensor" ? 2 : 0;
  if (copies) {
    out.push_back(checkOp("check.copy", op));
    out.back().n = tensor;
  }
  if (name == "store.async")
    out.push_back(checkOp("check.storeasync", op));
  out.push_back(op);
  if (test) {
    out.push_back(checkOp("check.barrier", op));
    out.back().n = 3;
  }
  if (copies) {
    out.push_back(checkOp("check.copy", op));
    out.back().n = tensor | 1;
  }
  if (name == "store.async") {
    out.push_back(checkOp("check.storeasync", op));
    out.back().n = 1;
  }
}

void Decoder::addChecks(size_t start) {
  if (isSum.empty()) {
    findSums();
    findCopied();
  }
  std::vector<Op> body(p.ops.begin() + ptrdiff_t(start), p.ops.end()), checked;
  const ptx::Opcode &o = *opcode;
  Op plain;
  memset(&plain, 0, sizeof plain);
  plain.instruction = uint32_t(at);
  plain.d = plain.a = plain.b = plain.c = noRegister;
  if (needsWholeWarp(o)) {
    // Where lanes part the interpreter runs the lower address first, which may come here before the others do
    // that a GPU has join it.
    checked.push_back(checkOp("warpsync", plain));
    checked.back().b = constant(4, allLanes);
    wholeSeen = true;
    checked.push_back(checkOp("check.whole", plain));
    checked.back().n = o.base == "bar" || o.base == "barrier";
  }
  bool isProduct = false;
  for (const Op &op : body) {
    const std::string &name = nameOfHandler(op.fn);
    if (o.base == "wgmma" && startsWith(name, "tile.")) {
      const auto &tile = *static_cast<const MatrixTile *>(op.data);
      checked.push_back(checkOp("check.product", plain));
      checked.back().data = op.data;
      checked.back().a = rowBytes(tile.a, tile.k / (tile.metadata == noRegister ? 1 : 2));
      checked.back().b = rowBytes(tile.b, tile.k);
      checkWarpgroup(plain, true, checked);
      isProduct = true;
    } else if (name == "cluster.arrive") {
      checked.push_back(checkOp("check.cluster", plain));
      checked.back().b = o.has("relaxed");
    }
    bool meets = meetsLanes(o) && name != "mov.b32" && op.fn != handlers().at("trap").fn;
    uint32_t members = !meets             ? noRegister
                       : o.base == "shfl" ? (startsWith(name, "shfl.") ? op.list[0] : noRegister)
                                          : op.b;
    bool isMeeting = meets && members != noRegister &&
                     (startsWith(name, "shfl.") || startsWith(name, "vote.") || startsWith(name, "match.") ||
                      startsWith(name, "redux.") || name == "elect" || name == "warpsync");
    if (isMeeting) {
      checked.push_back(checkOp("check.members", plain));
      checked.back().b = members;
    }
    checkMemory(name, op, checked);
    if (isMeeting) {
      checked.push_back(checkOp("check.met", plain));
      checked.back().b = members;
    }
  }
  if (o.base == "wmma" && o.has("mma")) { // it has what all lanes loaded
    checked.push_back(checkOp("check.met", plain));
    checked.back().b = constant(4, allLanes);
  }
  if (!isProduct && hasSums)
    checkWarpgroup(plain, false, checked);
  if (o.base == "barrier" && o.has("cluster") && o.has("wait")) {
    checked.push_back(checkOp("check.cluster", plain));
    checked.back().n = 1;
  }
  if (isFence(o)) {
    checked.push_back(checkOp("check.fence", plain));
    checked.back().n = !o.has("cta");
  }
  if (o.base == "cp" && o.has("async"))
    checkCopyGroups(plain, checked);
  if (isProxyFence(o))
    checked.push_back(checkOp("check.proxy", plain));
  p.ops.resize(start);
  p.ops.insert(p.ops.end(), checked.begin(), checked.end());
}

/// Groups of bulk stores, of matrix products.
void Decoder::checkEngineGroups(const Op &plain, unsigned engine, std::vector<Op> &out) {
  bool waits = opcode->has("wait_group");
  if (!waits && !opcode->has("commit_group"))
    return;
  out.push_back(checkOp(waits ? "check.waitgroups" : "check.commitgroup", plain));
  out.back().e = engine;
  out.back().n = opcode->has("read");
  out.back().imm = waits ? operand(0).value : 0;
}

/// Registers that only loads set and only stores read, and those that anything but a load names.
void Decoder::findCopied() {
  isCopied.assign(f.registers.size() + 1, true);
  isRead.assign(f.registers.size() + 1, false);
  bool loads = false;
  auto isUsed = [&](const Operand &o, bool copies) {
    if (o.kind != OperandKind::Register)
      return;
    if (o.address || !copies)
      isCopied[o.index] = false;
    if (o.address || !loads)
      isRead[o.index] = true;
  };
  for (const Instruction &i : f.instructions) {
    const std::string &base = i.opcode->base;
    const Operand *operands = f.operandsOf(i);
    for (unsigned k = 0; k < i.numOperands; ++k) {
      bool copies = base == "ld" ? k == 0 : base == "st" && k == 1;
      loads = base == "ld" && k == 0;
      isUsed(operands[k], copies);
      bool many = operands[k].kind == OperandKind::Vector || operands[k].kind == OperandKind::Pair;
      for (unsigned e = 0; many && e < unsigned(operands[k].value); ++e)
        isUsed(element(operands[k], e), copies);
    }
    if (i.guard >= 0)
      isCopied[uint32_t(i.guard)] = false, isRead[uint32_t(i.guard)] = true;
  }
}

/// Is what this loads only stored, or what it stores only loaded?
bool Decoder::onlyCopies() const {
  const Operand &value = operand(opcode->base == "ld" ? 0 : 1);
  auto isOne = [&](const Operand &o) { return o.kind == OperandKind::Register && isCopied[o.index]; };
  if (!isVector(value))
    return isOne(value);
  for (unsigned k = 0; k < unsigned(value.value); ++k)
    if (!isOne(element(value, k)))
      return false;
  return true;
}

void Decoder::findSums() {
  isSum.assign(f.registers.size() + 1, false);
  for (const Instruction &i : f.instructions) {
    const Operand *sums = f.operandsOf(i);
    if (i.opcode->base != "wgmma" || !i.opcode->has("mma_async") || !isVector(*sums))
      continue;
    hasSums = true;
    for (unsigned k = 0; k < unsigned(sums->value); ++k)
      isSum[element(*sums, k).index] = true;
  }
}

/// Which of these operands' registers are sums.
std::vector<uint32_t> Decoder::sumsOf(const Operand *operands, unsigned count) const {
  std::vector<uint32_t> found;
  auto add = [&](const Operand &o) {
    if (o.kind == OperandKind::Register && isSum[o.index])
      found.push_back(o.index);
  };
  for (unsigned i = 0; i < count; ++i)
    if (isVector(operands[i]))
      for (unsigned k = 0; k < unsigned(operands[i].value); ++k)
        add(element(operands[i], k));
    else
      add(operands[i]);
  return found;
}

/// Sums are in flight from the product on; what others do with their registers must be fenced and waited for.
/// Moves are passed over: compilers put them where the machine has none.
void Decoder::checkWarpgroup(const Op &plain, bool product, std::vector<Op> &out) {
  const ptx::Opcode &o = *opcode;
  if (o.base == "wgmma" && o.has("fence"))
    out.push_back(checkOp("check.fencesums", plain));
  else if (o.base == "wgmma" && !product)
    checkEngineGroups(plain, 1, out);
  if ((o.base == "wgmma" && !product) || o.base == "mov")
    return;
  const Operand *operands = f.operandsOf(*instruction);
  auto note = [&](const char *name, std::vector<uint32_t> sums, bool writes) {
    if (sums.empty())
      return;
    Op check = checkOp(name, plain);
    check.b = uint32_t(sums.size());
    check.list = keepList(std::move(sums));
    check.n = writes;
    out.push_back(check);
  };
  if (product)
    return note("check.startsums", sumsOf(operands, 1), false);
  bool stores = o.base == "st" || o.base == "red";
  unsigned results = instruction->numOperands && !stores;
  note("check.touchsums", sumsOf(operands, results), true);
  note("check.touchsums", sumsOf(operands + results, instruction->numOperands - results), false);
}

void Decoder::checkCopyGroups(const Op &plain, std::vector<Op> &out) {
  if (opcode->has("bulk"))
    return checkEngineGroups(plain, 0, out);
  if (opcode->has("commit_group"))
    out.push_back(checkOp("check.commit", plain));
  // The arrival that is counted up before is one when the thread's copies are done.
  bool all = opcode->has("wait_all") || (opcode->has("mbarrier") && !opcode->has("noinc"));
  if (!all && !opcode->has("wait_group"))
    return;
  out.push_back(checkOp("check.wait", plain));
  out.back().n = all;
  out.back().imm = all ? 0 : operand(0).value;
}

} // namespace joule::vgpu
