// Module-scope references to textures and surfaces: objects whose handles the module's variables hold.
#pragma once

#include "lib/VirtualGpu/Driver/State.h"

struct CUtexref_st {
  CUcontext context = nullptr;
  uint64_t handle = 0;
  bool isBound = false;
  CUDA_RESOURCE_DESC resource = {};
  CUDA_TEXTURE_DESC texture = {};
  int format = CU_AD_FORMAT_FLOAT;
  unsigned channels = 1;
  std::shared_ptr<CUtexref_st> self; // of one that is no module's
};

struct CUsurfref_st {
  CUcontext context = nullptr;
  uint64_t handle = 0;
  CUarray array = nullptr;
};

namespace joule::vgpu {

/// The module goes.
void forgetReferencesOf(CUmodule module);

} // namespace joule::vgpu
