// Greedy placement by size.
#include "lib/Runtime/MemoryPlanner.h"

#include <algorithm>
#include <map>
#include <numeric>

namespace joule {

static uint64_t aligned(uint64_t bytes) {
  return (bytes + arenaAlignment - 1) / arenaAlignment * arenaAlignment;
}

static bool meet(const Lifetime &a, const Lifetime &b) { return a.first <= b.last && b.first <= a.last; }

ArenaPlan planArena(const std::vector<Lifetime> &lifetimes) {
  std::vector<size_t> order(lifetimes.size());
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    return lifetimes[a].bytes != lifetimes[b].bytes ? lifetimes[a].bytes > lifetimes[b].bytes : a < b;
  });

  ArenaPlan plan;
  plan.offsets.resize(lifetimes.size());
  std::vector<size_t> placed; // by offset
  for (size_t buffer : order) {
    uint64_t bytes = aligned(lifetimes[buffer].bytes);
    if (bytes == 0)
      continue;
    uint64_t offset = 0;
    for (size_t other : placed) {
      if (!meet(lifetimes[buffer], lifetimes[other]))
        continue;
      if (offset + bytes <= plan.offsets[other])
        break;
      offset = std::max(offset, plan.offsets[other] + aligned(lifetimes[other].bytes));
    }
    plan.offsets[buffer] = offset;
    plan.bytes = std::max(plan.bytes, offset + bytes);
    auto later = [&](uint64_t at, size_t other) { return at < plan.offsets[other]; };
    placed.insert(std::upper_bound(placed.begin(), placed.end(), offset, later), buffer);
  }
  return plan;
}

uint64_t leastArenaBytes(const std::vector<Lifetime> &lifetimes) {
  std::map<uint64_t, int64_t> changes; // by step
  for (const Lifetime &lifetime : lifetimes) {
    changes[lifetime.first] += static_cast<int64_t>(aligned(lifetime.bytes));
    changes[lifetime.last + 1] -= static_cast<int64_t>(aligned(lifetime.bytes));
  }
  int64_t alive = 0, most = 0;
  for (auto [step, change] : changes)
    most = std::max(most, alive += change);
  return static_cast<uint64_t>(most);
}

} // namespace joule
