/// A compiled model, ready to run on a device.
#pragma once

#include "joule/Artifact.h"
#include "joule/Device.h"
#include "joule/Error.h"
#include "joule/Export.h"
#include "joule/Tensor.h"

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace joule {

/// What a kernel has just written; for looking inside.
struct LaunchDump {
  std::string kernel;
  std::vector<std::string> nodes;            ///< the ONNX nodes it computes
  std::vector<std::vector<uint8_t>> written; ///< the bytes of each buffer that it writes
};

struct SessionOptions {
  /// The artifact's target to run; empty: the newest that the device can run.
  std::string target;

  /// Most bytes of device memory for buffers whose sizes follow from data, for each run in progress.
  int64_t dynamicMemoryCap = int64_t(4) << 30;

  /// Whether to keep the work of every kernel for Session::profile().
  bool profile = false;

  /// Called after each launch, which then waits for the device: slow, for debugging. Null: never.
  std::function<void(const LaunchDump &)> afterLaunch;
};

struct RunOptions {
  /// A CUstream (or cudaStream_t) of the device: the run's work is done after what was put there before it, and before
  /// what is put there later. CUDA's default streams are 1 and 2 here. Null: a stream of the session's own, which waits
  /// for no other, so that inputs in device memory must be there already.
  void *stream = nullptr;
};

/// A run that has begun: a device may still be at work on it. Movable; the last owner's end waits for the run.
class JOULE_API PendingRun {
public:
  PendingRun(PendingRun &&) noexcept;
  PendingRun &operator=(PendingRun &&) noexcept;
  ~PendingRun();

  /// Waits for all work in the run's stream. Then the outputs are there, whose shapes it gives. A second call gives the
  /// same. Errors: KernelFailed, DriverFailed, TimeLimit, Interrupted.
  Result<std::map<std::string, std::vector<int64_t>>> wait();

  class JOULE_HIDDEN Impl; ///< Joule's own side
  explicit PendingRun(std::unique_ptr<Impl> impl);

private:
  std::unique_ptr<Impl> impl;
};

/// What the launches of one kernel for the same nodes add up to. Times and energies are modelled from the
/// work that the compiler states, never measured.
struct KernelProfile {
  std::string kernel;
  std::vector<std::string> nodes; ///< the ONNX nodes they compute
  std::string family;             ///< "map", "row", "contract", …
  uint64_t launches = 0;
  double flops = 0;     ///< operations; a multiply-add is two
  double dramBytes = 0; ///< bytes read and written
  double seconds = 0;   ///< modelled; 0 where Joule has no model of the device
  double joules = 0;    ///< modelled; 0 where Joule has no model of the device
};

/// Totals since the session was made.
struct Counters {
  uint64_t runs = 0;
  uint64_t launches = 0;          ///< kernels launched, also those of runs in progress
  uint64_t compiles = 0;          ///< kernels compiled during runs: none, they are loaded with the session
  uint64_t deviceAllocations = 0; ///< calls for device memory during runs: none once a shape has been run,
                                  ///< unless sizes follow from data
  uint64_t bytesCopied = 0;       ///< between host and device
  uint64_t arenaBytes = 0;        ///< the largest arena that a run planned
};

/// Cheap to copy: copies are one session. Safe to use from several threads; runs at the same time do not wait
/// for each other but take memory each. Sessions of one artifact on one device share its weights and kernels.
/// It keeps what it was made of, so artifact and device may go.
class JOULE_API Session {
public:
  /// Loads the kernels and copies the weights to the device.
  /// Errors: TargetMissing, PlanInvalid, EntryMissing, ArtifactDamaged, KernelUnloadable, DeviceMemoryFull,
  /// HostKernelMissing, DriverFailed.
  static Result<Session> create(const Artifact &artifact, const Device &device,
                                const SessionOptions &options = {});

  /// What the model takes and gives, in the model's order.
  const std::vector<TensorSpec> &inputs() const;
  const std::vector<TensorSpec> &outputs() const;

  /// The target in use, e.g. "sm_80".
  const std::string &target() const;

  /// Runs once and waits for the results. Every input must be given, in host or device memory.
  /// Errors: those of the 03xx and 04xx codes, DeviceMemoryFull, DriverFailed.
  ///
  ///   std::vector<float> x(6);
  ///   auto outputs = session.run({{"x", {ElementType::Float32, {2, 3}, x.data(), x.size() * sizeof(float)}}});
  ///   if (!outputs)
  ///     return report(outputs.error());
  ///   const Tensor &y = outputs->at("y");
  Result<std::map<std::string, Tensor>> run(const std::map<std::string, TensorView> &inputs,
                                            const RunOptions &options = {});

  /// The same, into the caller's memory, on the host or the device. Outputs that are not named are not
  /// copied. Gives the shape of every output of the model.
  ///
  ///   auto shapes = session.run({{"x", x.view(type, {2, 3})}}, {{"y", y.buffer()}}); // x and y: DeviceMemory
  Result<std::map<std::string, std::vector<int64_t>>> run(const std::map<std::string, TensorView> &inputs,
                                                          const std::map<std::string, TensorBuffer> &outputs,
                                                          const RunOptions &options = {});

  /// The same, but returns once the work is in the device's hands, which is at the end where the host takes part: it
  /// reads sizes or computes sizes from data. The memory of inputs and outputs must stay until PendingRun::wait.
  /// The virtual GPU works in the caller's thread, so there it is run().
  ///
  ///   auto pending = session.start({{"x", x.view(type, {2, 3})}}, {{"y", y.buffer()}}, {stream.handle()});
  ///   … // the host is free
  ///   auto shapes = pending->wait();
  Result<PendingRun> start(const std::map<std::string, TensorView> &inputs,
                           const std::map<std::string, TensorBuffer> &outputs, const RunOptions &options = {});

  /// Runs that take longer than this many seconds end with TimeLimit; 0: no limit. Applies to runs begun
  /// later.
  void setTimeLimit(double seconds);

  /// Ends the runs in progress with Interrupted, as soon as the host regains control.
  void interrupt();

  Counters counters() const;

  /// Totals since the session was made, in the plan's order; empty unless SessionOptions::profile was set.
  std::vector<KernelProfile> profile() const;

  class JOULE_HIDDEN Impl; ///< Joule's own side
  const std::shared_ptr<Impl> &impl() const { return shared; }
  explicit Session(std::shared_ptr<Impl> shared) : shared(std::move(shared)) {}

private:
  std::shared_ptr<Impl> shared;
};

} // namespace joule
