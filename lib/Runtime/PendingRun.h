// One run from its begin to its end, which may be on another thread.
#pragma once

#include "lib/Runtime/SessionState.h"

namespace joule {

class PendingRun::Impl {
public:
  using Shapes = std::map<std::string, std::vector<int64_t>>;

  /// What becomes of each output once the body has run; it may begin copies.
  using TakeOutputs = std::function<Result<void>(Executor &executor)>;

  /// Runs the body and takes the outputs. After an error the run has ended: the caller's memory is not used
  /// any more.
  static Result<std::unique_ptr<Impl>> start(std::shared_ptr<Session::Impl> session,
                                             const std::map<std::string, TensorView> &tensors,
                                             const RunOptions &options, const TakeOutputs &takeOutputs);
  Impl(const Impl &) = delete;
  ~Impl();

  /// Waits for the device and gives the context back; later calls give the same answer.
  Result<void> wait();

  Shapes shapes; ///< of all outputs

private:
  Impl(std::shared_ptr<Session::Impl> session, std::unique_ptr<RunContext> context,
       std::shared_ptr<const MemoryPlan> memory, const RunOptions &options);
  Result<void> execute(const Binding &binding, const TakeOutputs &takeOutputs);
  Result<void> executeWithin(const Binding &binding, const TakeOutputs &takeOutputs);

  const std::shared_ptr<Session::Impl> session;
  std::unique_ptr<RunContext> context; // null once the run has ended
  const std::shared_ptr<const MemoryPlan> memory;
  const uint64_t allocationsBefore;
  std::atomic<bool> interrupted{false};
  RunControl control;
  Executor executor;
  Result<void> outcome;
};

} // namespace joule
