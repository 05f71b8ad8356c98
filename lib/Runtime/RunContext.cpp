// The arena only grows.
#include "lib/Runtime/RunContext.h"

#include <fmt/format.h>

namespace joule {

RunContext::RunContext(std::shared_ptr<const Driver> driver, uint64_t dynamicCap)
    : driver(std::move(driver)), pool(*this->driver, dynamicCap) {}

Result<std::unique_ptr<RunContext>> RunContext::create(std::shared_ptr<const Driver> driver,
                                                       uint64_t dynamicCap) {
  std::unique_ptr<RunContext> context(new RunContext(std::move(driver), dynamicCap));
  CUresult code = context->driver->cuStreamCreate(&context->stream, CU_STREAM_NON_BLOCKING);
  if (code != CUDA_SUCCESS)
    return context->driver->failure(code, "make a stream");
  return context;
}

RunContext::~RunContext() {
  if (stream)
    (void)driver->cuStreamDestroy_v2(stream);
  if (arena)
    (void)driver->cuMemFree_v2(arena);
}

Result<CUdeviceptr> RunContext::reserveArena(uint64_t bytes) {
  if (bytes <= arenaBytes)
    return arena;
  if (arena)
    (void)driver->cuMemFree_v2(arena);
  arena = 0;
  arenaBytes = 0;
  if (CUresult code = driver->cuMemAlloc_v2(&arena, bytes); code != CUDA_SUCCESS)
    return driver->failure(code, fmt::format("allocate {} bytes for the run", bytes));
  ++arenaAllocations;
  arenaBytes = bytes;
  return arena;
}

} // namespace joule
