// Places buffers whose lifetimes are known in one arena. Free of plans and of the driver, so that the
// compiler and the runtime share it.
#pragma once

#include <cstdint>
#include <vector>

namespace joule {

/// Every buffer begins at a multiple of this many bytes.
constexpr uint64_t arenaAlignment = 256;

/// A buffer that is alive at the steps first, first + 1, …, last.
struct Lifetime {
  uint64_t bytes = 0;
  uint64_t first = 0;
  uint64_t last = 0;
};

struct ArenaPlan {
  std::vector<uint64_t> offsets; ///< one for each lifetime
  uint64_t bytes = 0;            ///< the arena's size
};

/// Largest buffer first, each at the lowest gap that fits between those already placed and alive at the same
/// time:
///
///   bytes │      ┌────┐        A is largest: offset 0. B lives beside A: above it.
///         │   ┌──┤ B  │        C never meets A: it takes A's place below B.
///         │   │A │┌───┤
///         │   └──┘│ C │
///         └──────────────▶ steps
///
/// Equal sizes keep the caller's order, so the same lifetimes give the same plan. Empty buffers take offset
/// 0.
ArenaPlan planArena(const std::vector<Lifetime> &lifetimes);

/// The least arena any plan could have: the most bytes alive at one step.
uint64_t leastArenaBytes(const std::vector<Lifetime> &lifetimes);

} // namespace joule
