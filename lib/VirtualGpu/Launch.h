// Runs one grid.
#pragma once

#include "lib/VirtualGpu/Compiled.h"
#include "lib/VirtualGpu/Counters.h"
#include "lib/VirtualGpu/Module.h"

#include <atomic>
#include <chrono>

namespace joule::vgpu {

struct LaunchRequest {
  const KernelImage *image = nullptr;
  uint32_t grid[3] = {1, 1, 1}, block[3] = {1, 1, 1};
  uint32_t cluster[3] = {1, 1, 1}; // blocks; divides the grid
  uint32_t dynamicShared = 0;
  std::vector<uint8_t> parameters;
  unsigned threads = 1; // workers; with one, blocks run in order
  bool count = false;
  bool cooperative = false; // all blocks may wait for each other
  EngineChoice engine = defaultEngine();
  unsigned multiprocessors = 1;
  MemoryMap *memory = nullptr;
  const std::atomic<bool> *interrupt = nullptr;       // everybody's
  const std::atomic<bool> *threadInterrupt = nullptr; // the launching thread's
  std::chrono::steady_clock::time_point deadline = std::chrono::steady_clock::time_point::max();
};

struct LaunchResult {
  FaultKind fault = FaultKind::None;
  std::string message; // kernel, line, block, thread, address
  Counters counters;
};

LaunchResult launch(const LaunchRequest &request);

} // namespace joule::vgpu
