// The values of special registers.
#pragma once

#include "lib/VirtualGpu/Program.h"

namespace joule::vgpu {

/// `which` is a ptx::SpecialRegister.
uint64_t specialValue(const Warp *w, unsigned which, unsigned lane);

} // namespace joule::vgpu
