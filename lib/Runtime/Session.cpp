// The public Session: chooses a target, loads it, lends contexts to runs and adds up what they did.
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

RunControl Session::Impl::control(const RunOptions &options, const std::atomic<bool> &interrupted) {
  RunControl control;
  control.stream = static_cast<CUstream>(options.stream);
  if (double seconds = timeLimit; seconds > 0)
    control.deadline =
        std::chrono::steady_clock::now() + std::chrono::duration_cast<std::chrono::steady_clock::duration>(
                                               std::chrono::duration<double>(seconds));
  control.interrupted = &interrupted;
  control.launches = &launches;
  control.afterLaunch = this->options.afterLaunch;
  if (this->options.profile) {
    const DeviceProperties &properties = device.properties();
    const DeviceEnergy *facts = findDeviceEnergy(properties.name, properties.major, properties.minor);
    control.onLaunch = [this, facts](const plan::Launch &launch, const WorkCounts &work) { note(launch, work, facts); };
  }
  return control;
}

void Session::Impl::note(const plan::Launch &launch, const WorkCounts &work, const DeviceEnergy *facts) {
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

void Session::Impl::begin(std::atomic<bool> &interrupted) {
  std::lock_guard lock(mutex);
  running.insert(&interrupted);
}

void Session::Impl::end(std::atomic<bool> &interrupted, const Counters &run, std::unique_ptr<RunContext> context) {
  std::lock_guard lock(mutex);
  running.erase(&interrupted);
  ++totals.runs;
  totals.bytesCopied += run.bytesCopied;
  totals.deviceAllocations += run.deviceAllocations;
  idle.push_back(std::move(context));
}

Counters Session::Impl::counters() const {
  std::lock_guard lock(mutex);
  Counters now = totals;
  now.launches = launches;
  return now;
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
      profile.nodes.assign(launch.nodes().begin(), launch.nodes().end());
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

} // namespace joule
