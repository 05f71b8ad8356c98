// The public Session: chooses a target, loads it, and lends contexts to runs.
#include "lib/Runtime/SessionState.h"

#include "lib/Runtime/PlanChecker.h"
#include "lib/Runtime/TargetChoice.h"

#include <algorithm>
#include <fmt/format.h>

namespace joule {

// Shapes whose memory plans are kept; beyond, all are forgotten, as a server with random sizes would grow
// forever.
constexpr size_t mostMemoryPlans = 1024;

Result<Session> Session::create(const Artifact &artifact, const Device &device,
                                const SessionOptions &options) {
  Result<std::shared_ptr<Impl>> impl = Impl::create(artifact, device, options, standardHostKernels());
  if (!impl)
    return impl.error();
  return Session(*impl);
}

static Result<void> checkHostCalls(const plan::Block &block, const HostKernels &kernels) {
  for (const plan::Step &step : block.steps()) {
    if (step.has_host_call() && !kernels.count(step.host_call().name()))
      return Error{ErrorCode::HostKernelMissing,
                   fmt::format("this Joule has no host kernel \"{}\"", step.host_call().name()),
                   step.host_call().node()};
    for (const plan::Block *inner :
         {&step.if_().then(), &step.if_().otherwise(), &step.while_().before(), &step.while_().body()})
      if (Result<void> checked = checkHostCalls(*inner, kernels); !checked)
        return checked;
  }
  return {};
}

Result<std::shared_ptr<Session::Impl>> Session::Impl::create(const Artifact &artifact, const Device &device,
                                                             const SessionOptions &options,
                                                             const HostKernels &hostKernels) {
  Result<std::string> target = chooseTarget(artifact, device.properties(), options.target);
  if (!target)
    return target.error();
  const plan::Plan &plan = artifact.impl()->plans.at(*target);
  auto entryBytes = [&](const std::string &entry) -> std::optional<uint64_t> {
    const auto &entries = artifact.impl()->zip->entries();
    auto found = entries.find(entry);
    return found == entries.end() ? std::nullopt : std::optional<uint64_t>(found->second.bytes.size());
  };
  if (Result<void> checked = checkPlan(plan, entryBytes); !checked)
    return checked.error();
  if (Result<void> checked = checkHostCalls(plan.body(), hostKernels); !checked)
    return checked.error();
  std::shared_ptr<Impl> impl(new Impl(artifact, device, options, hostKernels, *target));
  Result<std::shared_ptr<const LoadedModel>> model = device.impl()->load(artifact, *target);
  if (!model)
    return model.error();
  impl->model = *model;
  return impl;
}

Session::Impl::Impl(const Artifact &artifact, const Device &device, const SessionOptions &options,
                    const HostKernels &hostKernels, std::string target)
    : target(std::move(target)), inputs(artifact.inputs()), outputs(artifact.outputs()), artifact(artifact),
      device(device), options(options), hostKernels(hostKernels),
      program(artifact.impl()->plans.at(this->target)) {}

Session::Impl::~Impl() {
  ContextScope scope(*device.impl()->driver, device.impl()->context);
  idle.clear();
}

Result<std::unique_ptr<RunContext>> Session::Impl::takeContext() {
  {
    std::lock_guard lock(mutex);
    if (!idle.empty()) {
      std::unique_ptr<RunContext> context = std::move(idle.back());
      idle.pop_back();
      return context;
    }
  }
  return RunContext::create(device.impl()->driver, static_cast<uint64_t>(options.dynamicMemoryCap));
}

std::shared_ptr<const MemoryPlan> Session::Impl::memoryPlan(const std::vector<int64_t> &symbols) {
  std::lock_guard lock(mutex);
  if (memoryPlans.size() >= mostMemoryPlans && !memoryPlans.count(symbols))
    memoryPlans.clear();
  std::shared_ptr<const MemoryPlan> &known = memoryPlans[symbols];
  if (!known)
    known = std::make_shared<MemoryPlan>(program.planMemory(symbols));
  totals.arenaBytes = std::max(totals.arenaBytes, known->arenaBytes);
  return known;
}

RunControl Session::Impl::control(const std::atomic<bool> &interrupted) {
  RunControl control;
  if (double seconds = timeLimit; seconds > 0)
    control.deadline =
        std::chrono::steady_clock::now() + std::chrono::duration_cast<std::chrono::steady_clock::duration>(
                                               std::chrono::duration<double>(seconds));
  control.interrupted = &interrupted;
  control.afterLaunch = options.afterLaunch;
  if (options.profile)
    control.onLaunch = [this](const plan::Launch &launch, const WorkCounts &work) { note(launch, work); };
  return control;
}

void Session::Impl::note(const plan::Launch &launch, const WorkCounts &work) {
  const DeviceProperties &properties = device.properties();
  const DeviceEnergy *facts = findDeviceEnergy(properties.name, properties.major, properties.minor);
  Prediction prediction = facts ? predict(work, *facts) : Prediction();
  std::lock_guard lock(mutex);
  KernelProfile &profile = profiles[&launch];
  ++profile.launches;
  profile.dramBytes += work.dramBytes.value();
  profile.flops += work.totalFlops().value();
  profile.seconds += prediction.time.value();
  profile.joules += prediction.energy.value();
}

void Session::Impl::interrupt() {
  std::lock_guard lock(mutex);
  for (std::atomic<bool> *interrupted : running)
    *interrupted = true;
}

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

Result<void> Session::Impl::run(const std::map<std::string, TensorView> &tensors,
                                const TakeOutputs &takeOutputs) {
  Result<Binding> binding = bindInputs(plan(), inputs, tensors);
  if (!binding)
    return binding.error();
  std::shared_ptr<const MemoryPlan> memory = memoryPlan(binding->symbols);
  ContextScope scope(*device.impl()->driver, device.impl()->context);
  Result<std::unique_ptr<RunContext>> context = takeContext();
  if (!context)
    return context.error();
  uint64_t allocationsBefore = (*context)->driverAllocations();

  std::atomic<bool> interrupted{false};
  {
    std::lock_guard lock(mutex);
    running.insert(&interrupted);
  }
  Result<void> done;
  uint64_t launches, bytesCopied;
  {
    RunControl limits = control(interrupted);
    KernelLimit kernelLimit(*device.impl()->driver, limits);
    Executor executor(program, *model, hostKernels, **context, limits);
    done = executor.run(*binding, *memory);
    if (done)
      done = takeOutputs(executor);
    // Also after an error: the caller's memory must not be read or written once this returns.
    Result<void> finished = executor.finish();
    if (done)
      done = finished;
    launches = executor.launches;
    bytesCopied = executor.bytesCopied;
  }

  std::lock_guard lock(mutex);
  running.erase(&interrupted);
  ++totals.runs;
  totals.launches += launches;
  totals.bytesCopied += bytesCopied;
  totals.deviceAllocations += (*context)->driverAllocations() - allocationsBefore;
  idle.push_back(std::move(*context));
  return done;
}

Counters Session::Impl::counters() const {
  std::lock_guard lock(mutex);
  return totals;
}

// One row for the launches of one kernel for the same nodes, at the place of the first.
static void addProfile(std::vector<KernelProfile> &rows, const KernelProfile &more) {
  auto isSame = [&](const KernelProfile &row) {
    return row.kernel == more.kernel && row.nodes == more.nodes;
  };
  auto found = std::find_if(rows.begin(), rows.end(), isSame);
  if (found == rows.end()) {
    rows.push_back(more);
    return;
  }
  found->launches += more.launches;
  found->flops += more.flops;
  found->dramBytes += more.dramBytes;
  found->seconds += more.seconds;
  found->joules += more.joules;
}

static void gatherProfiles(const plan::Plan &plan, const ProgramBlock &steps,
                           const std::map<const plan::Launch *, KernelProfile> &profiles,
                           std::vector<KernelProfile> &rows) {
  for (const ProgramStep &step : steps) {
    auto found = step.step->has_launch() ? profiles.find(&step.step->launch()) : profiles.end();
    if (found != profiles.end()) {
      const plan::Launch &launch = *found->first;
      const plan::Kernel &kernel = plan.kernels(static_cast<int>(launch.kernel()));
      KernelProfile profile = found->second;
      profile.kernel = kernel.name();
      profile.family = launch.cost().family();
      const auto &nodes = launch.nodes().empty() ? kernel.nodes() : launch.nodes();
      profile.nodes.assign(nodes.begin(), nodes.end());
      addProfile(rows, profile);
    }
    gatherProfiles(plan, step.first, profiles, rows);
    gatherProfiles(plan, step.second, profiles, rows);
  }
}

std::vector<KernelProfile> Session::Impl::profile() const {
  std::lock_guard lock(mutex);
  std::vector<KernelProfile> rows;
  gatherProfiles(plan(), program.body(), profiles, rows);
  return rows;
}

const std::vector<TensorSpec> &Session::inputs() const { return shared->inputs; }
const std::vector<TensorSpec> &Session::outputs() const { return shared->outputs; }
const std::string &Session::target() const { return shared->target; }
void Session::setTimeLimit(double seconds) { shared->timeLimit = seconds; }
void Session::interrupt() { shared->interrupt(); }
Counters Session::counters() const { return shared->counters(); }
std::vector<KernelProfile> Session::profile() const { return shared->profile(); }

Result<std::map<std::string, Tensor>> Session::run(const std::map<std::string, TensorView> &inputs) {
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
  if (Result<void> done = shared->run(inputs, takeAll); !done)
    return done.error();
  return results;
}

Result<std::map<std::string, std::vector<int64_t>>>
Session::run(const std::map<std::string, TensorView> &inputs,
             const std::map<std::string, TensorBuffer> &outputs) {
  for (const auto &[name, buffer] : outputs)
    if (std::none_of(shared->outputs.begin(), shared->outputs.end(),
                     [&, &name = name](const TensorSpec &spec) { return spec.name == name; }))
      return Error{ErrorCode::OutputUnusable, fmt::format("the model has no output \"{}\"", name), ""};
  std::map<std::string, std::vector<int64_t>> shapes;
  auto takeNamed = [&](Executor &executor) -> Result<void> {
    for (size_t i = 0; i < shared->outputs.size(); ++i) {
      const std::string &name = shared->outputs[i].name;
      Result<std::vector<int64_t>> shape = executor.outputShape(static_cast<int>(i));
      if (!shape)
        return shape.error();
      shapes[name] = *shape;
      if (auto found = outputs.find(name); found != outputs.end())
        if (Result<void> copied = executor.copyOutput(static_cast<int>(i), found->second); !copied)
          return copied;
    }
    return {};
  };
  if (Result<void> done = shared->run(inputs, takeNamed); !done)
    return done.error();
  return shapes;
}

} // namespace joule
