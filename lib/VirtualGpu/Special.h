// The values of special registers, and what a block knows of its cluster.
#pragma once

#include "lib/VirtualGpu/Program.h"

namespace joule::vgpu {

/// `which` is a ptx::SpecialRegister.
uint64_t specialValue(const Warp *w, unsigned which, unsigned lane);

uint32_t rankInCluster(const Warp *w);
/// The device's heap: malloc (0 if there is no room) and free (false if there is nothing).
uint64_t allocateOnDevice(Warp *w, uint64_t bytes);
bool releaseOnDevice(Warp *w, uint64_t address);
/// The copy engine moves bytes from or to global memory: for those who want to know which. Only while counting.
void noteCopy(const Warp *w, bool stores, uint64_t address, uint64_t bytes);
/// barrier.cluster for the running lanes: they arrive; have all others since?
void arriveAtCluster(Warp *w);
bool clusterHasMet(const Warp *w);

} // namespace joule::vgpu
