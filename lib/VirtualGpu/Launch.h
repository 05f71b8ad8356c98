// Runs one grid.
#pragma once

#include "lib/VirtualGpu/CacheModel.h"
#include "lib/VirtualGpu/Check/Findings.h"
#include "lib/VirtualGpu/Compiled.h"
#include "lib/VirtualGpu/Counters.h"
#include "lib/VirtualGpu/Module.h"

#include <atomic>
#include <chrono>
#include <optional>

namespace joule::vgpu {

struct LaunchRequest {
  const KernelImage *image = nullptr;
  uint32_t grid[3] = {1, 1, 1}, block[3] = {1, 1, 1};
  uint32_t cluster[3] = {1, 1, 1}; // blocks; divides the grid
  uint32_t dynamicShared = 0;
  std::vector<uint8_t> parameters;
  unsigned threads = 1; // workers; with one, blocks run in order
  bool count = false;
  std::optional<CacheSizes> caches; // while counting: models them, which only the interpreter does
  bool cooperative = false;         // all blocks may wait for each other
  EngineChoice engine = defaultEngine();
  unsigned multiprocessors = 1;
  MemoryMap *memory = nullptr;
  bool check = false;    // the image must have been decoded for it, the memory have a shadow
  unsigned schedule = 0; // the order of a block's warps: 0 forward, 1 backward, more: random, from this seed
  std::string nodes;     // ONNX nodes, for findings
  const std::atomic<bool> *interrupt = nullptr;       // everybody's
  const std::atomic<bool> *threadInterrupt = nullptr; // the launching thread's
  std::chrono::steady_clock::time_point deadline = std::chrono::steady_clock::time_point::max();
};

struct LaunchResult {
  FaultKind fault = FaultKind::None;
  std::string message; // kernel, line, block, thread, address
  Counters counters;
  MemoryTraffic traffic; // where caches were asked for
  uint64_t blockSectors =
      0; // by countSample(): those of global memory that a block touches, each once, of all blocks
  uint64_t touchedSectors = 0; // by countSample(): those that the counted blocks touch together, each once
  bool followsFromPtx =
      false; // by countSample(): the counts hang on the PTX, the grid and the parameters alone
  /// How often some lanes of a warp had waited so long for others that all took turns from there on. Nothing
  /// says when they run together again, so counts of warps hang on the engine then; those of threads never
  /// do.
  uint64_t rotations = 0;
  std::vector<Finding> findings;
};

LaunchResult launch(const LaunchRequest &request);

struct LaunchChecker;
/// The launch itself, watched by `checker` unless that is null.
LaunchResult runLaunch(const LaunchRequest &request, LaunchChecker *checker);
/// A launch in check mode: one after the other, on one worker.
LaunchResult launchChecked(const LaunchRequest &request);

/// Counts a few blocks, up to a hundred of cheap ones, that stand for all: along each axis of the grid the
/// first, the last and some between, each for those around it. Exact where these do alike, and for smaller
/// grids. Where the kernel's CountingProgram tells, nothing but that is run, and no memory need stand behind
/// the parameters; else the blocks run as they are, and memory is then not as the kernel would leave it. A
/// grid whose blocks wait for each other ends in a fault.
LaunchResult countSample(const LaunchRequest &request);

} // namespace joule::vgpu
