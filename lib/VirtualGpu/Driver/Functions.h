// Every function of the interface, as the files of this folder define it.
#pragma once

#include "lib/VirtualGpu/Driver/CudaApi.h"

namespace joule::vgpu {

#define JOULE_DECLARE_FUNCTION(name, parameters) CUresult name parameters;
JOULE_DRIVER_FUNCTIONS(JOULE_DECLARE_FUNCTION)
JOULE_CUDA_FUNCTIONS(JOULE_DECLARE_FUNCTION)
JOULE_TENSOR_MAP_FUNCTIONS(JOULE_DECLARE_FUNCTION)
#undef JOULE_DECLARE_FUNCTION

} // namespace joule::vgpu
