// Runs a program once.
#pragma once

#include "joule/Session.h"
#include "lib/Runtime/Binding.h"
#include "lib/Runtime/Estimate.h"
#include "lib/Runtime/HostKernels.h"
#include "lib/Runtime/IndexMath.h"
#include "lib/Runtime/LoadedModel.h"
#include "lib/Runtime/Program.h"
#include "lib/Runtime/RunContext.h"

#include <atomic>
#include <chrono>
#include <optional>

namespace joule {

/// Where to run, when to stop, and what to call on the way.
struct RunControl {
  CUstream stream = nullptr; ///< null: the context's
  std::optional<std::chrono::steady_clock::time_point> deadline;
  const std::atomic<bool> *interrupted = nullptr;      ///< null: never
  std::atomic<uint64_t> *launches = nullptr;           ///< counts up with each launch; null: nobody counts
  std::function<void(const LaunchDump &)> afterLaunch; ///< null: never
  /// Called before each launch with its stated work; null: never.
  std::function<void(const plan::Launch &, const WorkCounts &)> onLaunch;
};

/// The registers of one run, and the machine that works on them. Every reach of a step is compared with the
/// size of its buffer. Used once.
class Executor {
public:
  Executor(const Program &program, const LoadedModel &model, const HostKernels &hostKernels,
           RunContext &context, RunControl control);

  /// Runs the body. Device and host work may still be in progress afterwards.
  Result<void> run(const Binding &binding, const MemoryPlan &memory);

  /// The shape of an output, after run().
  Result<std::vector<int64_t>> outputShape(int output) const;

  /// Begins the copy of an output, after run(). finish() must follow before the bytes are read.
  Result<void> copyOutput(int output, const TensorBuffer &to);

  /// Waits for the device.
  Result<void> finish();

  /// Gives the pool its blocks back; nothing may follow.
  void releaseBuffers();

  uint64_t bytesCopied = 0; ///< by this run

private:
  struct Buffer {
    CUdeviceptr address = 0;
    uint64_t bytes = 0;
    bool readOnly = false;
    std::shared_ptr<const BufferPool::Block> owner; // null: the arena's, a weight or the caller's
  };

  Result<void> bind(const Binding &binding, const MemoryPlan &memory);
  Result<void> bindInput(int input, const TensorView &view, const MemoryPlan &memory);
  Result<void> block(const ProgramBlock &steps);
  Result<void> step(const ProgramStep &step);
  Result<void> eval(const plan::Eval &eval);
  Result<void> alloc(const plan::Alloc &alloc, std::optional<size_t> slot);
  Result<void> allocDynamic(uint32_t buffer, uint64_t bytes);
  Result<void> launch(const plan::Launch &launch);
  Result<void> submit(const plan::Launch &launch, const unsigned (&grid)[3], unsigned sharedBytes,
                      void **arguments);
  Result<void> dump(const plan::Launch &launch);
  Result<void> copy(const plan::Copy &copy);
  Result<void> fill(const plan::Fill &fill);
  Result<void> readScalar(const plan::ReadScalar &read);
  Result<void> writeScalars(const plan::WriteScalars &write);
  Result<void> hostCall(const plan::HostCall &call);
  Result<void> acceptHostResult(const plan::HostCall &call, const plan::HostTensor &wanted,
                                const Tensor &result);
  Result<void> loop(const ProgramStep &step);
  Result<void> checkLimits() const;

  const plan::Kernel &kernelOf(const plan::Launch &launch) const;
  int64_t value(const plan::Index &index) const;
  Evaluated evaluated(const plan::Index &index) const;
  void set(uint32_t index, Evaluated result);
  /// An error where the step reads a value that has a fault.
  Result<void> checkOperands(const plan::Step &step) const;
  Error atNode(Error error, const ProgramBlock &steps, const ProgramStep &failed) const;
  Result<CUdeviceptr> reach(uint32_t buffer, int64_t offset, int64_t bytes, bool writes) const;
  Result<void> toDevice(CUdeviceptr to, const void *from, uint64_t bytes);
  Result<void> toHost(void *to, CUdeviceptr from, uint64_t bytes);
  Result<void> require(CUresult code, const char *what) const;

  const Program &program;
  const plan::Plan &plan;
  const LoadedModel &model;
  const HostKernels &hostKernels;
  RunContext &context;
  const Driver &driver;
  RunControl control;
  CUstream stream;

  std::vector<int64_t> indices;
  std::vector<Fault> faults; // by index register
  size_t faulty = 0;         // how many of them are not None
  std::vector<Buffer> buffers;
  const MemoryPlan *memory = nullptr;
  CUdeviceptr arena = 0;
  std::vector<std::vector<uint8_t>> staged; // host bytes that copies in progress may still read
  const plan::Launch *lastLaunch = nullptr;
  size_t findingsBefore; // of check mode
};

} // namespace joule
