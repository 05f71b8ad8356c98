// Begins and ends runs; the public PendingRun and the runs of Session.
#include "lib/Runtime/PendingRun.h"

#include <algorithm>
#include <fmt/format.h>
#include <new>
#include <stdexcept>

namespace joule {

// Lets the virtual GPU stop a kernel in its middle, which no real one can.
namespace {
class KernelLimit {
public:
  KernelLimit(const Driver &driver, const RunControl &control) {
    if (!driver.virtualFunction)
      return;
    set = reinterpret_cast<JouleVgpuLimitThread>(driver.virtualFunction("jouleVgpuLimitThread"));
    if (!set)
      return;
    double seconds = 0;
    if (control.deadline) {
      std::chrono::duration<double> left = *control.deadline - std::chrono::steady_clock::now();
      seconds = std::max(left.count(), 1e-6);
    }
    set(seconds, control.interrupted);
  }
  KernelLimit(const KernelLimit &) = delete;
  ~KernelLimit() {
    if (set)
      set(0, nullptr);
  }

private:
  JouleVgpuLimitThread set = nullptr;
};
} // namespace

Result<std::unique_ptr<PendingRun::Impl>>
PendingRun::Impl::start(std::shared_ptr<Session::Impl> session,
                        const std::map<std::string, TensorView> &tensors, const RunOptions &options,
                        const TakeOutputs &takeOutputs) {
  Result<Binding> binding = bindInputs(session->plan(), session->inputs, tensors);
  if (!binding)
    return binding.error();
  std::shared_ptr<const MemoryPlan> memory = session->memoryPlan(binding->symbols);
  ContextScope scope(*session->device.impl()->driver, session->device.impl()->context);
  Result<std::unique_ptr<RunContext>> context = session->takeContext();
  if (!context)
    return context.error();
  std::unique_ptr<Impl> run(new Impl(std::move(session), std::move(*context), std::move(memory), options));
  run->outcome = run->execute(*binding, takeOutputs);
  if (run->outcome)
    return run;
  return run->wait().error();
}

PendingRun::Impl::Impl(std::shared_ptr<Session::Impl> session, std::unique_ptr<RunContext> context,
                       std::shared_ptr<const MemoryPlan> memory, const RunOptions &options)
    : session(std::move(session)), context(std::move(context)), memory(std::move(memory)),
      allocationsBefore(this->context->driverAllocations()),
      control(this->session->control(options, interrupted)),
      executor(this->session->program, *this->session->model, this->session->hostKernels, *this->context,
               control) {
  this->session->begin(interrupted);
}

PendingRun::Impl::~Impl() { (void)wait(); }

Result<void> PendingRun::Impl::execute(const Binding &binding, const TakeOutputs &takeOutputs) {
  try {
    return executeWithin(binding, takeOutputs);
  } catch (const std::bad_alloc &) {
    return Error{ErrorCode::HostMemoryFull, "this machine has no memory left for the run", ""};
  } catch (const std::length_error &) {
    return Error{ErrorCode::HostMemoryFull, "the run asks for more memory than any machine has", ""};
  }
}

Result<void> PendingRun::Impl::executeWithin(const Binding &binding, const TakeOutputs &takeOutputs) {
  KernelLimit kernelLimit(*session->device.impl()->driver, control);
  if (Result<void> done = executor.run(binding, *memory); !done)
    return done;
  for (size_t i = 0; i < session->outputs.size(); ++i) {
    Result<std::vector<int64_t>> shape = executor.outputShape(static_cast<int>(i));
    if (!shape)
      return shape.error();
    shapes[session->outputs[i].name] = *shape;
  }
  return takeOutputs(executor);
}

Result<void> PendingRun::Impl::wait() {
  if (!context)
    return outcome;
  ContextScope scope(*session->device.impl()->driver, session->device.impl()->context);
  // Also after an error: the caller's memory must not be read or written once this returns.
  Result<void> finished = executor.finish();
  if (outcome)
    outcome = finished;
  Counters run;
  run.bytesCopied = executor.bytesCopied;
  run.deviceAllocations = context->driverAllocations() - allocationsBefore;
  executor.releaseBuffers();
  session->end(interrupted, run, std::move(context));
  return outcome;
}

PendingRun::PendingRun(std::unique_ptr<Impl> impl) : impl(std::move(impl)) {}
PendingRun::PendingRun(PendingRun &&) noexcept = default;
PendingRun &PendingRun::operator=(PendingRun &&) noexcept = default;
PendingRun::~PendingRun() = default;

Result<PendingRun::Impl::Shapes> PendingRun::wait() {
  if (Result<void> done = impl->wait(); !done)
    return done.error();
  return impl->shapes;
}

//===-- The runs of a session ---------------------------------------------------------------------------===//

Result<std::map<std::string, Tensor>> Session::run(const std::map<std::string, TensorView> &inputs,
                                                   const RunOptions &options) {
  std::map<std::string, Tensor> results;
  auto takeAll = [&](Executor &executor) -> Result<void> {
    for (size_t i = 0; i < shared->outputs.size(); ++i) {
      const TensorSpec &spec = shared->outputs[i];
      Result<std::vector<int64_t>> shape = executor.outputShape(static_cast<int>(i));
      if (!shape)
        return shape.error();
      Tensor &tensor = results[spec.name];
      tensor = {spec.type, *shape, std::vector<uint8_t>(static_cast<size_t>(bytesOf(spec.type, *shape)))};
      TensorBuffer to{tensor.bytes.data(), tensor.bytes.size(), Memory::Host};
      if (Result<void> copied = executor.copyOutput(static_cast<int>(i), to); !copied)
        return copied;
    }
    return {};
  };
  Result<std::unique_ptr<PendingRun::Impl>> run = PendingRun::Impl::start(shared, inputs, options, takeAll);
  if (!run)
    return run.error();
  if (Result<void> done = (*run)->wait(); !done)
    return done.error();
  return results;
}

Result<PendingRun> Session::start(const std::map<std::string, TensorView> &inputs,
                                  const std::map<std::string, TensorBuffer> &outputs,
                                  const RunOptions &options) {
  for (const auto &[name, buffer] : outputs)
    if (std::none_of(shared->outputs.begin(), shared->outputs.end(),
                     [&, &name = name](const TensorSpec &spec) { return spec.name == name; }))
      return Error{ErrorCode::OutputUnusable, fmt::format("the model has no output \"{}\"", name), ""};
  auto takeNamed = [&](Executor &executor) -> Result<void> {
    for (size_t i = 0; i < shared->outputs.size(); ++i)
      if (auto found = outputs.find(shared->outputs[i].name); found != outputs.end())
        if (Result<void> copied = executor.copyOutput(static_cast<int>(i), found->second); !copied)
          return copied;
    return {};
  };
  Result<std::unique_ptr<PendingRun::Impl>> run = PendingRun::Impl::start(shared, inputs, options, takeNamed);
  if (!run)
    return run.error();
  return PendingRun(std::move(*run));
}

Result<std::map<std::string, std::vector<int64_t>>>
Session::run(const std::map<std::string, TensorView> &inputs,
             const std::map<std::string, TensorBuffer> &outputs, const RunOptions &options) {
  Result<PendingRun> run = start(inputs, outputs, options);
  if (!run)
    return run.error();
  return run->wait();
}

} // namespace joule
