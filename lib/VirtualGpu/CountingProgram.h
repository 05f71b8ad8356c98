// What of a kernel decides its counts.
#pragma once

#include "lib/VirtualGpu/Decode.h"

#include <memory>

namespace joule::vgpu {

/// A kernel without its data: what decides how often its instructions run and which addresses they touch is left;
/// loads, stores and atomics are counted and not done, so no memory need stand behind their addresses.
struct CountingProgram {
  Program program; ///< counts for the blocks of the whole one; its operations point into the whole one's lists
  bool needsData = false; ///< what global memory holds decides, too: it is taken for zeros
};

/// Null where a kernel cannot be taken apart so: it calls functions, its counts hang on what it keeps in shared or local
/// memory, or it has instructions that are more than arithmetic and plain accesses.
std::unique_ptr<CountingProgram> reduceToCounts(const Program &whole);

} // namespace joule::vgpu
