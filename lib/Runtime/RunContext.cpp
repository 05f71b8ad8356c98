// The arena only grows.
#include "lib/Runtime/RunContext.h"

#include <fmt/format.h>

namespace joule {

RunContext::RunContext(std::shared_ptr<const Driver> driver, uint64_t dynamicCap)
    : driver(std::move(driver)), pool(*this->driver, dynamicCap) {}

Result<std::unique_ptr<RunContext>> RunContext::create(std::shared_ptr<const Driver> driver,
                                                       uint64_t dynamicCap) {
  std::unique_ptr<RunContext> context(new RunContext(std::move(driver), dynamicCap));
  cuda::CUresult code = context->driver->streamCreate(&context->stream, cuda::CU_STREAM_NON_BLOCKING);
  if (code != cuda::CUDA_SUCCESS)
    return context->driver->failure(code, "make a stream");
  return context;
}

RunContext::~RunContext() {
  if (stream)
    (void)driver->streamDestroy(stream);
  if (arena)
    (void)driver->memFree(arena);
}

Result<cuda::CUdeviceptr> RunContext::reserveArena(uint64_t bytes) {
  if (bytes <= arenaBytes)
    return arena;
  if (arena)
    (void)driver->memFree(arena);
  arena = 0;
  arenaBytes = 0;
  if (cuda::CUresult code = driver->memAlloc(&arena, bytes); code != cuda::CUDA_SUCCESS)
    return driver->failure(code, fmt::format("allocate {} bytes for the run", bytes));
  ++arenaAllocations;
  arenaBytes = bytes;
  return arena;
}

} // namespace joule
