// An artifact's weights and kernels on one device.
#pragma once

#include "joule/Artifact.h"
#include "lib/Artifact/plan.pb.h"
#include "lib/Runtime/Driver.h"

#include <atomic>
#include <memory>
#include <string>
#include <vector>

namespace joule {

/// A kernel that can be launched.
struct LoadedKernel {
  CUfunction function = nullptr;
  mutable std::atomic<int> sharedLimit{
      48 << 10}; ///< dynamic shared memory in bytes that the driver allows so far
};

/// Immutable after load(), so sessions and threads share it. Needs the device's context while it is made and
/// destroyed: Device::Impl sees to that.
class LoadedModel {
public:
  /// Where real is false (the virtual GPU), PTX is loaded even if there is a cubin.
  static Result<std::shared_ptr<LoadedModel>>
  load(std::shared_ptr<const Driver> driver, const Artifact &artifact, const plan::Plan &plan, bool isReal);
  LoadedModel(const LoadedModel &) = delete;
  ~LoadedModel();

  /// Address of a weight, in the plan's order.
  CUdeviceptr weight(int i) const { return weights[static_cast<size_t>(i)]; }
  const LoadedKernel &kernel(uint32_t i) const { return kernels[i]; }

private:
  explicit LoadedModel(std::shared_ptr<const Driver> driver) : driver(std::move(driver)) {}
  Result<void> loadKernels(const Artifact &artifact, const plan::Plan &plan, bool isReal);
  Result<void> checkLaunches(const plan::Plan &plan, const plan::Block &block) const;
  Result<void> checkLaunch(const plan::Kernel &kernel, const plan::Launch &launch) const;
  Result<void> loadWeights(const Artifact &artifact, const plan::Plan &plan);

  std::shared_ptr<const Driver> driver;
  std::vector<CUmodule> modules;
  std::vector<LoadedKernel> kernels;
  std::vector<CUdeviceptr> weights;
  CUdeviceptr slab = 0; // all weight entries, one after another
};

} // namespace joule
