// Arrays: memory that kernels reach through textures and surfaces alone.
#pragma once

#include "lib/VirtualGpu/Driver/State.h"
#include "lib/VirtualGpu/Images.h"

namespace joule::vgpu {

/// The memory of an array with all its levels; given back with its last owner.
struct ArrayMemory {
  ArrayMemory(CUcontext context, uint64_t bytes);
  ~ArrayMemory();
  ArrayMemory(const ArrayMemory &) = delete;
  uint64_t address, bytes;
};

/// False for a format that no texture here has.
bool findFormat(int format, unsigned channels, TexelFormat &texel);

} // namespace joule::vgpu

struct CUarray_st {
  CUcontext context = nullptr;
  CUDA_ARRAY3D_DESCRIPTOR descriptor = {};
  joule::vgpu::Image image; // one level
  std::shared_ptr<joule::vgpu::ArrayMemory> memory;
  CUmipmappedArray whole = nullptr; // whose level it is
};

struct CUmipmappedArray_st {
  CUcontext context = nullptr;
  CUDA_ARRAY3D_DESCRIPTOR descriptor = {};
  joule::vgpu::Image image;
  std::shared_ptr<joule::vgpu::ArrayMemory> memory;
  std::vector<std::unique_ptr<CUarray_st>> levels;
};

namespace joule::vgpu {

/// A context ends: its arrays and the objects that were made in it do too.
void destroyArraysOf(CUcontext context);
void destroyImageObjectsOf(CUcontext context);

} // namespace joule::vgpu
