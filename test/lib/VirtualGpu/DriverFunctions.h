// The driver's functions for tests, found as programs find them.
#pragma once

#include "lib/VirtualGpu/Driver/CudaApi.h"
#include "lib/VirtualGpu/Driver/Entries.h"
#include "lib/VirtualGpu/VirtualGpuApi.h"

#include <string>

namespace joule::vgpu::test {

#define JOULE_MEMBER(name, parameters) CUresult(*name) parameters;
struct Functions {
  JOULE_DRIVER_FUNCTIONS(JOULE_MEMBER)
  JOULE_CUDA_FUNCTIONS(JOULE_MEMBER)
};
#define JOULE_FILL(name, parameters) f.name = reinterpret_cast<CUresult(*) parameters>(findFunction(#name));

inline const Functions &cu() {
  static const Functions functions = [] {
    Functions f;
    JOULE_DRIVER_FUNCTIONS(JOULE_FILL)
    JOULE_CUDA_FUNCTIONS(JOULE_FILL)
    return f;
  }();
  return functions;
}

#undef JOULE_FILL
#undef JOULE_MEMBER

inline std::string lastError() {
  return reinterpret_cast<JouleVgpuLastError>(findFunction("jouleVgpuLastError"))();
}

} // namespace joule::vgpu::test
