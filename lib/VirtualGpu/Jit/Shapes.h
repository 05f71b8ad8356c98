// What the lanes of a register look like side by side: all the same, the first lane's value plus a known
// pattern, or anything. Nothing pays as much: addresses that are known this way become scalar arithmetic and
// whole vector loads instead of gathers.
//
// The analysis supposes that all lanes run together, which holds inside compiled code. Where the interpreter
// hands lanes back, the entry tests that the registers still look as supposed.
#pragma once

#include "lib/VirtualGpu/Compiled.h"
#include "lib/VirtualGpu/Jit/Graph.h"

#include <array>
#include <map>

namespace joule::vgpu::jit {

using Pattern = LanePattern;
constexpr uint64_t unknownBound = ~0ull;

struct Shape {
  enum Kind : uint8_t { None, Uniform, Strided, Varying } kind = None;
  const Pattern *pattern = nullptr; // of Strided; its first entry is 0
  uint8_t align = 0;                // the first lane's value is a multiple of 1 << align
  bool known = false;               // the first lane's value is `value`
  uint64_t value = 0;
  uint64_t high = unknownBound; // every lane's value, unsigned, is at most this

  bool scalar() const { return kind == Uniform || kind == Strided; }
};

using State = std::vector<Shape>;

/// What an operation's result looks like, and what has to be tested for that to be true.
struct Result {
  Shape d;
  int32_t extends = -1; // slot of a strided operand that must not wrap when it is widened
  bool extendsSigned = false;
};

class Shapes {
public:
  Shapes(const Graph &graph, const uint32_t block[3]);

  /// At the start of each block. Blocks that nothing reaches have an empty state.
  const State &atStart(uint32_t block) const { return states[block]; }
  Shape of(const State &state, uint32_t slot) const;
  /// Changes the state as the operation does.
  /// Under a mask nothing may have to be tested: there is no
  /// going back for some lanes.
  Result apply(const Operation &o, State &state, bool masked) const;
  /// Runs of blocks that lanes walk through one after the other, under masks: `joins[b]` is where the lanes
  /// that part at the end of block b meet again, or -1 if they part for good; until then they run the blocks
  /// from b + 1 to `ends[b]`.
  std::vector<int32_t> joins;
  std::vector<uint32_t> ends;
  /// The block at whose end the lanes parted that run block b under a mask, or -1.
  std::vector<int32_t> parted;
  /// The blocks that the walk goes on to.
  std::vector<uint32_t> next(uint32_t block) const;
  /// Do all lanes go one way at the end of the block?
  bool predicateIsUniform(uint32_t block) const;
  /// Must block b keep the other lanes' values of a slot that it writes?
  bool blends(uint32_t block, uint32_t slot) const;

private:
  void findJoins(const std::vector<bool> &parts);
  uint32_t endOfParting(uint32_t branch, uint32_t join) const;
  void run();
  bool merge(uint32_t block, const State &from);
  Shape special(unsigned which) const;
  Shape pure(const Operation &o, const State &state, Result &result) const;
  Shape strided(const std::string &name, const Operation &o, const Shape &a, const Shape &b, const Shape &c,
                Result &result) const;
  Shape scaled(const Shape &s, uint64_t factor, unsigned bits) const;
  Shape added(const Shape &a, const Shape &b, unsigned bits, int sign) const;
  Shape withPattern(Shape s, const Pattern &p) const;

  const Graph &graph;
  uint32_t block[3];
  std::vector<State> states, atEnd;
  mutable std::map<Pattern, int> patterns;
};

} // namespace joule::vgpu::jit
