// What one access of a warp costs memory, for the counters. Included by files compiled for different instruction sets:
// data only, as in Program.h.
#pragma once

#include "lib/VirtualGpu/Program.h"

namespace joule::vgpu {

/// In how many turns memory serves an access of the lanes in the mask, which is not 0.
struct AccessTurns {
  uint64_t (*sectors)(const uint64_t *addresses, uint32_t mask);                    // of global memory, 32 bytes
  uint64_t (*wavefronts)(const uint64_t *addresses, uint32_t mask, unsigned bytes); // of shared memory
};
namespace baseline {
AccessTurns accessTurns();
}
namespace avx2 {
AccessTurns accessTurns();
}
namespace avx512 {
AccessTurns accessTurns();
}
/// For the machine at hand.
AccessTurns accessTurns();

} // namespace joule::vgpu
