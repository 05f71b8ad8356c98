// What a session holds: the checked program, the loaded model, and contexts for runs.
#pragma once

#include "joule/Session.h"
#include "lib/Runtime/DeviceState.h"
#include "lib/Runtime/Executor.h"

#include <set>

namespace joule {

class Session::Impl {
public:
  /// As Session::create, with host kernels of the caller's choice.
  static Result<std::shared_ptr<Impl>> create(const Artifact &artifact, const Device &device,
                                              const SessionOptions &options, const HostKernels &hostKernels);
  ~Impl();

  const plan::Plan &plan() const { return program.plan(); }

  const std::string target;
  const std::vector<TensorSpec> inputs, outputs;
  const Artifact artifact;
  const Device device;
  const SessionOptions options;
  const HostKernels hostKernels;
  const Program program;
  std::shared_ptr<const LoadedModel> model;
  std::atomic<double> timeLimit{0}; // seconds; 0: none

  /// What a run needs: a context of its own, a plan of the arena, and its limits.
  Result<std::unique_ptr<RunContext>> takeContext();
  std::shared_ptr<const MemoryPlan> memoryPlan(const std::vector<int64_t> &symbols);
  RunControl control(const RunOptions &options, const std::atomic<bool> &interrupted);

  /// Between these two, interrupt() sets the run's flag. At the end the bytes and allocations of `run` are added to the
  /// totals, and the context is free for the next run.
  void begin(std::atomic<bool> &interrupted);
  void end(std::atomic<bool> &interrupted, const Counters &run, std::unique_ptr<RunContext> context);

  void interrupt();
  Counters counters() const;
  std::vector<KernelProfile> profile() const;

private:
  Impl(const Artifact &artifact, const Device &device, const SessionOptions &options,
       const HostKernels &hostKernels, std::string target);
  /// Adds a launch to the profile; `facts` are null where Joule has no model of the device.
  void note(const plan::Launch &launch, const WorkCounts &work, const DeviceEnergy *facts);

  mutable std::mutex mutex;
  std::vector<std::unique_ptr<RunContext>> idle;
  std::map<std::vector<int64_t>, std::shared_ptr<const MemoryPlan>> memoryPlans;
  std::set<std::atomic<bool> *> running; // each run in progress and its interrupt flag
  Counters totals; // but for launches
  std::atomic<uint64_t> launches{0};
  std::map<const plan::Launch *, KernelProfile> profiles;
};

} // namespace joule
