// What happened before what. Time is counted for each warp of each block, and moves on where the warp
// synchronises: at barriers, among its lanes, at releases. A warp knows up to which time of others everything
// has happened before.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <vector>

namespace joule::vgpu {

/// When something happened: the block, the warp in it (6 bits) and the warp's clock (26). 0: never.
using Time = uint64_t;
constexpr unsigned clockBits = 26;
inline Time timeOf(uint32_t block, unsigned warp, uint32_t clock) {
  return uint64_t(block) << 32 | uint64_t(warp) << clockBits | clock;
}
inline uint32_t blockOf(Time t) { return uint32_t(t >> 32); }
inline unsigned warpOf(Time t) { return unsigned(t >> clockBits) & 63; }
inline uint32_t clockOf(Time t) { return uint32_t(t) & ((1u << clockBits) - 1); }

/// Up to which clock of each warp all is known, by block.
class Knowledge {
public:
  void learn(const Knowledge &other);
  void learn(uint32_t block, unsigned warp, uint32_t clock);
  bool covers(uint32_t block, unsigned warp, uint32_t clock) const;
  bool isEmpty() const { return blocks.empty(); }
  /// The clocks of a block's warps, which stay where they are.
  uint32_t *row(uint32_t block, unsigned warps);

private:
  std::map<uint32_t, std::vector<uint32_t>> blocks;
};

inline void Knowledge::learn(uint32_t block, unsigned warp, uint32_t clock) {
  std::vector<uint32_t> &clocks = blocks[block];
  if (clocks.size() <= warp)
    clocks.resize(warp + 1);
  if (clocks[warp] < clock)
    clocks[warp] = clock;
}

inline void Knowledge::learn(const Knowledge &other) {
  for (auto &[block, theirs] : other.blocks) {
    std::vector<uint32_t> &own = blocks[block];
    if (own.size() < theirs.size())
      own.resize(theirs.size());
    for (size_t i = 0; i < theirs.size(); ++i)
      if (own[i] < theirs[i])
        own[i] = theirs[i];
  }
}

inline bool Knowledge::covers(uint32_t block, unsigned warp, uint32_t clock) const {
  auto it = blocks.find(block);
  return it != blocks.end() && warp < it->second.size() && it->second[warp] >= clock;
}

inline uint32_t *Knowledge::row(uint32_t block, unsigned warps) {
  std::vector<uint32_t> &clocks = blocks[block];
  clocks.resize(warps);
  return clocks.data();
}

/// Lanes that meet without the others: up to which of the warp's clocks each knows of each other lane.
using LaneClocks = std::array<std::array<uint32_t, 32>, 32>;

/// What a warp knows, what of it a fence has made fit to be passed on, and what it has heard of and may rely
/// on after a fence. Scopes: 0 the block, 1 the device.
struct WarpClock {
  uint32_t clock = 1;
  uint32_t whole = 1;                // all lanes know what any did before
  std::unique_ptr<LaneClocks> lanes; // what only some know since
  uint32_t *own = nullptr;           // the row of this block in what is known
  Knowledge known, fenced[2], heard;
  Knowledge proxied; // what the copy engine and the matrix units may read: a proxy fence lies behind it

  /// All lanes know all from here on.
  void meet() {
    whole = ++clock;
    lanes.reset();
  }
  /// Nobody knows of the others' more than all do.
  void tellLanesApart() {
    if (lanes)
      return;
    lanes = std::make_unique<LaneClocks>();
    for (auto &row : *lanes)
      row.fill(whole - 1);
  }
};

/// What others find at an address that threads synchronise through. Scopes as above.
struct SyncVariable {
  Knowledge released[2], proxied;
  uint32_t block = 0; // that released to itself alone
};

} // namespace joule::vgpu
