// What became of a kernel's text.
#pragma once

#include "lib/VirtualGpu/Module.h"

namespace joule::vgpu {

/// Prints each line of the kernel and of the functions that it may call, and under it what was decided about
/// it: where a basic block starts, which operations run for it, or why it would trap.
void printDisassembly(KernelImage &kernel);

} // namespace joule::vgpu
