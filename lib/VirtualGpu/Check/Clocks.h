// What happened before what. Time is counted for each warp of each block, and moves on where the warp
// synchronises: at barriers, among its lanes, at releases. A warp knows up to which time of others everything
// has happened before.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

namespace joule::vgpu {

/// Up to which clock of each warp all is known, by block.
class Knowledge {
public:
  void learn(const Knowledge &other);
  void learn(uint32_t block, unsigned warp, uint32_t clock);
  bool covers(uint32_t block, unsigned warp, uint32_t clock) const;
  bool isEmpty() const { return blocks.empty(); }

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

/// What a warp knows, what of it a fence has made fit to be passed on, and what it has heard of and may rely
/// on after a fence. Scopes: 0 the block, 1 the device.
struct WarpClock {
  uint32_t clock = 1;
  Knowledge known, fenced[2], heard;
  Knowledge proxied; // what the copy engine and the matrix units may read: a proxy fence lies behind it
};

/// What others find at an address that threads synchronise through. Scopes as above.
struct SyncVariable {
  Knowledge released[2], proxied;
  uint32_t block = 0; // that released to itself alone
};

} // namespace joule::vgpu
