// PTX has as many registers as it likes; the first-level cache has not. Registers whose lives do not overlap
// in the order of the text share a place in the frame, so that a kernel's frame stays a few kilobytes per
// warp.
//
// Lanes of a warp may be at different points, but each lane only ever writes its own slice of a register, so
// what is right for one thread is right for all.
#include "lib/VirtualGpu/Decode.h"

#include <algorithm>

namespace joule::vgpu {
namespace {

using ptx::Operand;
using ptx::OperandKind;

struct Interval {
  uint32_t reg, start, end;
};

/// The instructions [first, last) that run one after the other.
struct Block {
  uint32_t first, last;
  std::vector<uint32_t> next;
  std::vector<uint64_t> uses, defines, liveIn, liveOut;
};

class Placement {
public:
  Placement(const ptx::Function &f, std::vector<uint32_t> &offsets) : f(f), offsets(offsets) {}

  uint32_t run() {
    offsets.assign(f.registers.size(), noRegister);
    ranges.assign(f.registers.size(), {0xffffffffu, 0});
    findBlocks();
    findGlobals();
    flow();
    return assign();
  }

private:
  template <class F> void eachRegister(const Operand &operand, F visit) const {
    if (operand.kind == OperandKind::Register)
      visit(operand.index);
    else if (operand.kind == OperandKind::Vector || operand.kind == OperandKind::Pair)
      for (uint32_t i = 0; i < operand.value; ++i)
        eachRegister(f.operands[operand.index + i], visit);
  }

  /// Uses first, then definitions. A guarded definition keeps the old value in some lanes: it is a use too.
  template <class Use, class Define> void visit(const ptx::Instruction &i, Use use, Define define) const {
    const Operand *operands = f.operandsOf(i);
    bool writes = hasResult(*i.opcode) && i.numOperands > 0 && !operands[0].address;
    if (i.guard >= 0)
      use(uint32_t(i.guard));
    if (!f.returnRegisters.empty() && i.opcode->base == "ret")
      for (const auto &returned : f.returnRegisters)
        use(returned.reg);
    for (unsigned k = writes ? 1 : 0; k < i.numOperands; ++k)
      eachRegister(operands[k], use);
    if (!writes)
      return;
    if (i.guard >= 0)
      eachRegister(operands[0], use);
    eachRegister(operands[0], define);
  }

  bool endsBlock(const ptx::Instruction &i) const {
    const std::string &base = i.opcode->base;
    return base == "bra" || base == "brx" || base == "ret" || base == "exit" || base == "trap";
  }

  void findBlocks() {
    uint32_t count = uint32_t(f.instructions.size());
    std::vector<bool> leader(count + 1, false);
    leader[0] = true;
    for (auto &label : f.labels)
      leader[label.second] = true;
    for (uint32_t i = 0; i < count; ++i)
      if (endsBlock(f.instructions[i]))
        leader[i + 1] = true;
    blockAt.assign(count + 1, 0);
    for (uint32_t i = 0; i < count; ++i) {
      if (leader[i])
        blocks.push_back({i, i, {}, {}, {}, {}, {}});
      blockAt[i] = uint32_t(blocks.size()) - 1;
      blocks.back().last = i + 1;
    }
    for (Block &block : blocks)
      connect(block, count);
  }

  void addTarget(Block &block, std::string_view name, uint32_t count) {
    auto it = f.labels.find(name);
    if (it != f.labels.end() && it->second < count)
      block.next.push_back(blockAt[it->second]);
  }

  void connect(Block &block, uint32_t count) {
    const ptx::Instruction &last = f.instructions[block.last - 1];
    const std::string &base = last.opcode->base;
    bool falls = last.guard >= 0 || !endsBlock(last);
    for (unsigned k = 0; k < last.numOperands && (base == "bra" || base == "brx"); ++k) {
      const Operand &operand = f.operandsOf(last)[k];
      if (operand.kind != OperandKind::Name)
        continue;
      addTarget(block, f.names[operand.index], count);
      auto list = f.targets.find(f.names[operand.index]);
      if (list != f.targets.end())
        for (std::string_view name : list->second)
          addTarget(block, name, count);
    }
    if (falls && block.last < count)
      block.next.push_back(blockAt[block.last]);
  }

  /// Registers whose whole life is inside one block, starting with a definition, need no data flow.
  void findGlobals() {
    std::vector<uint32_t> home(f.registers.size(), 0xffffffffu);
    global.assign(f.registers.size(), 0xffffffffu);
    for (uint32_t b = 0; b < blocks.size(); ++b)
      for (uint32_t i = blocks[b].first; i < blocks[b].last; ++i) {
        auto touch = [&](uint32_t r, bool define) {
          ranges[r].first = std::min(ranges[r].first, i);
          ranges[r].second = std::max(ranges[r].second, i);
          if (home[r] == 0xffffffffu && define)
            home[r] = b;
          else if (home[r] != b && global[r] == 0xffffffffu)
            global[r] = numGlobals++, globals.push_back(r);
        };
        visit(
            f.instructions[i], [&](uint32_t r) { touch(r, false); }, [&](uint32_t r) { touch(r, true); });
      }
  }

  static void set(std::vector<uint64_t> &bits, uint32_t i) { bits[i / 64] |= 1ull << (i % 64); }
  static bool get(const std::vector<uint64_t> &bits, uint32_t i) { return bits[i / 64] >> (i % 64) & 1; }

  void summarise(Block &block, size_t words) {
    block.uses.assign(words, 0);
    block.defines.assign(words, 0);
    block.liveIn.assign(words, 0);
    block.liveOut.assign(words, 0);
    for (uint32_t i = block.first; i < block.last; ++i)
      visit(
          f.instructions[i],
          [&](uint32_t r) {
            if (global[r] != 0xffffffffu && !get(block.defines, global[r]))
              set(block.uses, global[r]);
          },
          [&](uint32_t r) {
            if (global[r] != 0xffffffffu)
              set(block.defines, global[r]);
          });
  }

  bool update(Block &block, size_t words) {
    bool changed = false;
    for (size_t k = 0; k < words; ++k) {
      uint64_t out = 0;
      for (uint32_t n : block.next)
        out |= blocks[n].liveIn[k];
      uint64_t in = block.uses[k] | (out & ~block.defines[k]);
      changed |= in != block.liveIn[k];
      block.liveOut[k] = out;
      block.liveIn[k] = in;
    }
    return changed;
  }

  void flow() {
    size_t words = (numGlobals + 63) / 64;
    for (Block &block : blocks)
      summarise(block, words);
    for (bool changed = true; changed;) {
      changed = false;
      for (size_t b = blocks.size(); b-- > 0;)
        changed |= update(blocks[b], words);
    }
    for (const Block &block : blocks)
      for (uint32_t g = 0; g < numGlobals; ++g) {
        auto &range = ranges[globals[g]];
        if (get(block.liveIn, g))
          range.first = std::min(range.first, block.first),
          range.second = std::max(range.second, block.first);
        if (get(block.liveOut, g))
          range.first = std::min(range.first, block.last - 1),
          range.second = std::max(range.second, block.last - 1);
      }
  }

  /// Places are shared among registers of the same width, most recently freed first: it is still in the
  /// cache.
  uint32_t assign() {
    std::vector<Interval> intervals;
    for (uint32_t r = 0; r < f.registers.size(); ++r)
      if (ranges[r].first != 0xffffffffu)
        intervals.push_back({r, ranges[r].first, ranges[r].second});
    std::sort(intervals.begin(), intervals.end(), [](const Interval &a, const Interval &b) {
      return a.start != b.start ? a.start < b.start : a.reg < b.reg;
    });
    std::vector<Interval> byEnd = intervals;
    std::sort(byEnd.begin(), byEnd.end(), [](const Interval &a, const Interval &b) {
      return a.end != b.end ? a.end < b.end : a.reg < b.reg;
    });
    std::unordered_map<unsigned, std::vector<uint32_t>> free;
    uint32_t top = 0;
    size_t ended = 0;
    for (const Interval &interval : intervals) {
      // A life that ends where this one starts stays apart: operations of several steps write before they
      // read all.
      for (; ended < byEnd.size() && byEnd[ended].end < interval.start; ++ended)
        free[registerWidth(f.registers[byEnd[ended].reg])].push_back(offsets[byEnd[ended].reg]);
      unsigned width = registerWidth(f.registers[interval.reg]);
      auto &list = free[width];
      if (!list.empty()) {
        offsets[interval.reg] = list.back();
        list.pop_back();
      } else {
        offsets[interval.reg] = top;
        top += width ? width * warpSize : 64;
      }
    }
    return top;
  }

  const ptx::Function &f;
  std::vector<uint32_t> &offsets;
  std::vector<std::pair<uint32_t, uint32_t>> ranges;
  std::vector<Block> blocks;
  std::vector<uint32_t> blockAt, global, globals;
  uint32_t numGlobals = 0;
};

} // namespace

unsigned registerWidth(ptx::Type type) {
  if (type == ptx::Type::Pred)
    return 0;
  return std::max(2u, ptx::sizeOf(type));
}

uint32_t placeRegisters(const ptx::Function &f, std::vector<uint32_t> &offsets) {
  return Placement(f, offsets).run();
}

} // namespace joule::vgpu
