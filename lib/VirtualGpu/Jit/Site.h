// One call from compiled code back into the interpreter's handlers.
#pragma once

#include "lib/VirtualGpu/Program.h"

namespace joule::vgpu::jit {

/// A copy of an operation with a stop behind it, so that its handler runs alone.
struct Site {
  Op pair[2];
  const int64_t *pattern = nullptr; // the address register is the first lane's value plus this
  bool fillsAddress = false;
  // Where the span is not 0, nothing runs: is there an allocation that holds so many bytes from an address?
  // So many more sites behind this one ask the same, and `first` points to the addresses.
  uint32_t span = 0, more = 0;
};

Status stop(const Op *op, uint8_t *r, Warp *w);

/// All that compiled code reaches outside itself. It stands in the code's own data, where linking fills it
/// in, and the kernel's sites follow it.
struct alignas(64) CodeTable {
  const Op *ops;
  uint32_t (*runSite)(const Site *, uint8_t *, Warp *, uint64_t, uint64_t);
};

/// Runs the operation for the lanes of `mask`. `first` is the address register's value in the first lane,
/// where compiled code holds it as that and a pattern. Returns Step or Fault, also for a span.
extern "C" uint32_t jouleVgpuRunSite(const Site *site, uint8_t *r, Warp *w, uint64_t first, uint64_t mask);

} // namespace joule::vgpu::jit
