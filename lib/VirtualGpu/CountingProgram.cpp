// Finds the operations that branches and addresses hang on, and leaves out the rest.
#include "lib/VirtualGpu/CountingProgram.h"

#include "lib/VirtualGpu/DeviceMemory.h"
#include "lib/VirtualGpu/Jit/Graph.h"

#include <cstring>

namespace joule::vgpu {
namespace {

using jit::Graph;
using jit::Kind;
using jit::Operation;
using jit::startsWith;

/// In place of an access: `e` bytes per lane; the `n` registers of `c` bytes that it would have loaded become zero.
template <bool masked> Status countOnly(const Op *op, uint8_t *r, Warp *w) {
  alignas(64) uint64_t addresses[warpSize];
  for (uint32_t rest = w->mask; rest; rest &= rest - 1) {
    unsigned lane = unsigned(__builtin_ctz(rest));
    uint32_t narrow;
    uint64_t address;
    memcpy(&narrow, r + op->a + 4 * lane, 4);
    memcpy(&address, r + op->a + (op->flags & address32 ? 4 : 8) * lane, op->flags & address32 ? 4 : 8);
    address = op->flags & address32 ? narrow + uint32_t(op->imm) : address + uint64_t(op->imm);
    bool isGlobal = op->space == inGlobal || (op->space == inGeneric && address >> 56 == 0);
    addresses[lane] = isGlobal ? address : hostAddress(w, op, address, op->space, op->e, lane);
    if (!addresses[lane])
      return raiseFault(w, op, FaultKind::IllegalAddress, address, lane);
  }
  countAccess(w, op, addresses, w->mask, op->e);
  for (unsigned i = 0; i < op->n; ++i) {
    uint8_t *loaded = r + (op->list ? op->list[i] : op->d);
    for (uint32_t rest = w->mask; rest; rest &= rest - 1)
      memset(loaded + op->c * unsigned(__builtin_ctz(rest)), 0, op->c);
  }
  JOULE_TAIL return (masked ? op[1].masked : op[1].fn)(op + 1, r, w);
}

class Reduction {
public:
  explicit Reduction(const Program &whole) : whole(whole), graph(whole), stays(graph.operations.size()) {}

  std::unique_ptr<CountingProgram> run() {
    if (whole.calls || whole.allocatesLocal || !graph.problem.empty())
      return nullptr;
    for (const Operation &o : graph.operations)
      if (!isKnown(o))
        return nullptr;
    findNeeded();
    auto result = std::make_unique<CountingProgram>();
    for (size_t i = 0; i < graph.operations.size(); ++i) {
      const Operation &o = graph.operations[i];
      if (!isAccess(o) || !isWanted[i])
        continue;
      if (o.op->space != inGlobal)
        return nullptr;
      result->needsData |= isCounted(o);
    }
    result->program = reduced();
    return result;
  }

private:
  static bool isAccess(const Operation &o) {
    return o.kind == Kind::Load || o.kind == Kind::Store || startsWith(*o.name, "atom.");
  }

  /// Constants do not change: they are read.
  bool isCounted(const Operation &o) const {
    return isAccess(o) && classify(*whole.function->instructions[o.op->instruction].opcode) != InstructionClass::LoadConst;
  }

  /// Does nothing beside what it writes into registers, goes elsewhere, or is an access.
  static bool isKnown(const Operation &o) {
    const std::string &name = *o.name;
    if (o.kind != Kind::Handler)
      return o.kind != Kind::Call && o.kind != Kind::Poll && o.kind != Kind::Unknown;
    for (const char *prefix : {"ldframe.", "stframe.", "ldmatrix.", "cpasync"})
      if (startsWith(name, prefix))
        return false;
    return !o.isCautious;
  }

  static bool isControl(Kind kind) {
    switch (kind) {
    case Kind::Label:
    case Kind::Branch:
    case Kind::BranchIf:
    case Kind::Exit:
    case Kind::Return:
    case Kind::Sleep:
    case Kind::Trap:
    case Kind::Barrier:
      return true;
    default:
      return false;
    }
  }

  static bool writesOneOf(const Operation &o, const jit::SlotSet &slots) {
    for (uint32_t slot : o.defs)
      if (slots[slot])
        return true;
    return false;
  }

  /// From what is needed behind operation `i` to what is needed before it. Registers share places, so that a place is
  /// needed at some points and not at others.
  void step(size_t i, jit::SlotSet &needed) {
    const Operation &o = graph.operations[i];
    isWanted[i] = writesOneOf(o, needed);
    stays[i] = isControl(o.kind) || isAccess(o) || isWanted[i];
    if (!stays[i])
      return;
    if (o.guard < 0)
      for (uint32_t slot : o.defs)
        needed[slot] = false;
    else
      needed[uint32_t(o.guard)] = true;
    if (isCounted(o))
      needed[uint32_t(o.a)] = true;
    else
      for (uint32_t slot : o.uses)
        needed[slot] = true;
  }

  void findNeeded() {
    isWanted.resize(stays.size());
    std::vector<jit::SlotSet> before(graph.blocks.size(), jit::SlotSet(graph.slots.size()));
    for (bool changed = true; changed;) {
      changed = false;
      for (size_t b = graph.blocks.size(); b-- > 0;) {
        const jit::Block &block = graph.blocks[b];
        jit::SlotSet needed(graph.slots.size());
        for (uint32_t next : block.next)
          for (size_t s = 0; s < needed.size(); ++s)
            needed[s] = needed[s] || before[next][s];
        for (size_t i = block.last; i-- > block.first;)
          step(i, needed);
        changed |= needed != before[b];
        before[b] = std::move(needed);
      }
    }
  }

  Op counting(const Operation &o, bool isWanted) const {
    jit::AccessForm form = jit::accessFormOf(*o.name);
    Op op = *o.op;
    op.fn = countOnly<false>;
    op.masked = countOnly<true>;
    op.e = form.count * form.element;
    op.c = form.registerBytes;
    op.n = isWanted ? uint8_t(form.count) : 0;
    if (form.count == 1)
      op.list = nullptr;
    return op;
  }

  Program reduced() const {
    Program program;
    program.function = whole.function;
    program.frameBytes = whole.frameBytes;
    program.constants = whole.constants;
    program.localBytes = whole.localBytes;
    program.firstBlock = whole.firstBlock;
    std::vector<size_t> placeOf(whole.ops.size());
    for (size_t i = 0; i < stays.size(); ++i) {
      const Operation &o = graph.operations[i];
      placeOf[o.at] = program.ops.size();
      if (!stays[i])
        continue;
      if (o.guard >= 0)
        program.ops.push_back(whole.ops[o.at]);
      program.ops.push_back(isCounted(o) ? counting(o, isWanted[i]) : *o.op);
    }
    for (const Operation &o : graph.operations)
      if (o.kind == Kind::Branch || o.kind == Kind::BranchIf)
        program.ops[placeOf[o.at] + (o.guard >= 0)].target =
            &program.ops[placeOf[size_t(o.op->target - whole.ops.data())]];
    return program;
  }

  const Program &whole;
  Graph graph;
  std::vector<bool> stays;    // by operation
  std::vector<bool> isWanted; // its results are
};

} // namespace

std::unique_ptr<CountingProgram> reduceToCounts(const Program &whole) { return Reduction(whole).run(); }

} // namespace joule::vgpu
