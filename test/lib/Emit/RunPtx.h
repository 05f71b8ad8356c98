/// Runs one kernel's PTX on the virtual GPU's engine.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace joule::test {

/// What a launch did: instructions summed over threads, bytes and sectors of 32 bytes, and accesses to shared
/// memory with the rounds that they took (one more for each bank conflict).
struct PtxCounts {
  uint64_t instructions = 0, globalBytes = 0, globalSectors = 0, sharedBytes = 0, sharedRounds = 0;
  uint64_t multiplyAdds = 0;     ///< of float32
  uint64_t touchedSectors = 0;   ///< each once, of the blocks that countSample() counts
  bool followsFromPtx = false;   ///< by countSample()
};

/// A kernel's launch: buffers in the order of its pointer parameters, sizes in that of its i64 ones.
struct PtxRun {
  std::string ptx;
  std::string kernel;
  std::array<int64_t, 3> grid, block;
  int64_t dynamicShared = 0;
  /// One per parameter: the number of a buffer, or ~number of a size.
  std::vector<int> parameters;
  std::vector<std::vector<uint8_t>> buffers;
  std::vector<int64_t> sizes;
  /// Filled where asked for.
  bool count = false;
  PtxCounts counts;
  PtxCounts sampled; ///< by countSample(), with zeros in all buffers
};

/// Runs it; the buffers then hold what the kernel wrote. Empty, or what went wrong. Accesses outside of the
/// buffers are errors.
std::string run(PtxRun &run);

} // namespace joule::test
