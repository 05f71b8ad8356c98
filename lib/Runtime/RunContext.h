// What one run in progress needs of the device, kept for the next run.
#pragma once

#include "lib/Runtime/BufferPool.h"
#include "lib/Runtime/Driver.h"

#include <memory>

namespace joule {

/// A stream, an arena and a pool. One run uses it at a time. Needs the device's context.
class RunContext {
public:
  static Result<std::unique_ptr<RunContext>> create(std::shared_ptr<const Driver> driver,
                                                    uint64_t dynamicCap);
  RunContext(const RunContext &) = delete;
  ~RunContext();

  /// An arena of at least `bytes` bytes; what an earlier one held is lost.
  Result<CUdeviceptr> reserveArena(uint64_t bytes);

  uint64_t driverAllocations() const { return arenaAllocations + pool.driverAllocations(); }

  const std::shared_ptr<const Driver> driver;
  CUstream stream = nullptr;
  BufferPool pool;

private:
  RunContext(std::shared_ptr<const Driver> driver, uint64_t dynamicCap);

  CUdeviceptr arena = 0;
  uint64_t arenaBytes = 0;
  uint64_t arenaAllocations = 0;
};

} // namespace joule
