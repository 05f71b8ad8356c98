// A driver over host memory whose kernels are C++ functions, so that the runtime is tested without any GPU.
#pragma once

#include "lib/Runtime/DeviceState.h"

#include <array>
#include <functional>
#include <map>
#include <string>

namespace joule::test {

/// A kernel: gets the grid and the arguments as the driver does.
using FakeKernel = std::function<void(const std::array<unsigned, 3> &grid, void **arguments)>;

/// The one fake device of a test program. Its modules' code is ignored; kernels are found by name.
struct FakeDevice {
  std::map<std::string, FakeKernel> kernels;
  std::map<uintptr_t, size_t> allocations; // live ones: address, bytes
  int modulesLoaded = 0;
  int modulesLive = 0;
  int streamsLive = 0;
  uintptr_t streamsMade = 0;
  uint64_t launches = 0;
  CUstream lastStream = nullptr; // of a launch
  size_t memoryLimit = SIZE_MAX;
  int contextDepth = 0;
};

/// The device's state, for kernels and expectations.
FakeDevice &fakeDevice();

/// Forgets everything and opens the device anew: an sm_80 named "Fake A100".
Device openFakeDevice();

/// The argument at a position, of a given type.
template <typename T> T argument(void **arguments, int position) {
  return *static_cast<T *>(arguments[position]);
}

} // namespace joule::test
