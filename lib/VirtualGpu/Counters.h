// What a launch did, counted.
#pragma once

#include "lib/VirtualGpu/Decode.h"

namespace joule::vgpu {

/// Sums are the same on any number of worker threads, as long as the kernel itself does not race.
struct Counters {
  static constexpr unsigned classes = unsigned(InstructionClass::Count);
  uint64_t launches = 0;
  uint64_t warpInstructions[classes] = {}, threadInstructions[classes] = {};
  MemoryCount memory = {};
  uint64_t matrixFlops[matrixTypes] = {}; // by MatrixType

  void add(const Counters &other, uint64_t times = 1);
  uint64_t totalMatrixFlops() const;
  uint64_t totalWarpInstructions() const;
  uint64_t totalThreadInstructions() const;
};

} // namespace joule::vgpu
