// Runs a plan's size arithmetic alone; what only a run knows stays unknown and makes unknown what follows
// from it.
#include "tools/joule/PlanWork.h"

#include "lib/Runtime/IndexMath.h"

#include <fmt/format.h>

namespace joule::cli {

namespace {

/// A plan that takes more steps than this is not listed further.
constexpr int64_t mostSteps = 10'000'000;

class Walk {
public:
  explicit Walk(const plan::Plan &plan) : plan(plan), registers(plan.index_registers()) {}

  Result<std::vector<LaunchWork>> run(const SymbolSizes &sizes) {
    for (const plan::Symbol &symbol : plan.symbols()) {
      auto size = sizes.find(symbol.name());
      if (size == sizes.end())
        return Error{
            ErrorCode::InputShape,
            fmt::format("the model's size \"{0}\" is not fixed; give it with --dim {0}=N", symbol.name()),
            ""};
      set(symbol.index(), size->second);
    }
    walk(plan.body());
    if (failure)
      return *failure;
    return std::move(launches);
  }

private:
  std::optional<int64_t> value(const plan::Index &index) const {
    if (index.kind_case() != plan::Index::kIndex)
      return index.constant();
    return index.index() < registers.size() ? registers[index.index()] : std::nullopt;
  }

  void set(uint32_t index, std::optional<int64_t> number) {
    if (index < registers.size())
      registers[index] = number;
  }

  void walk(const plan::Block &block) {
    for (const plan::Step &step : block.steps()) {
      if (failure || ++steps > mostSteps)
        return;
      walk(step);
    }
  }

  void walk(const plan::Step &step) {
    switch (step.kind_case()) {
    case plan::Step::kEval:
      return evaluate(step.eval());
    case plan::Step::kLaunch:
      return add(step.launch());
    case plan::Step::kReadScalar:
      return set(step.read_scalar().result(), std::nullopt);
    case plan::Step::kHostCall:
      for (const plan::HostTensor &result : step.host_call().results())
        for (const plan::Index &dim : result.dims())
          set(dim.index(), std::nullopt);
      return;
    case plan::Step::kMoveIndex:
      return set(step.move_index().result(), value(step.move_index().source()));
    case plan::Step::kIf:
      return branch(step.if_());
    case plan::Step::kWhile:
      return loop(step.while_());
    default:
      return;
    }
  }

  void evaluate(const plan::Eval &step) {
    std::optional<int64_t> lhs = value(step.lhs()), rhs = value(step.rhs()),
                           condition = value(step.condition());
    std::optional<int64_t> result;
    if (step.op() == plan::Eval::SELECT && condition) {
      result = *condition ? lhs : rhs;
    } else if (lhs && rhs && condition) {
      Evaluated computed = joule::evaluate(step.op(), {*lhs}, {*rhs}, {*condition});
      if (computed.fault == Fault::None)
        result = computed.value;
    }
    set(step.result(), result);
  }

  void branch(const plan::If &step) {
    std::optional<int64_t> condition = value(step.condition());
    if (condition)
      return walk(*condition ? step.then() : step.otherwise());
    ++uncertain;
    walk(step.then());
    walk(step.otherwise());
    forget(step.then());
    forget(step.otherwise());
    --uncertain;
  }

  void loop(const plan::While &step) {
    for (;;) {
      walk(step.before());
      // A turn counts, too: it may have no steps.
      if (failure || ++steps > mostSteps)
        return;
      std::optional<int64_t> condition = value(step.condition());
      if (!condition)
        break;
      if (!*condition)
        return;
      walk(step.body());
    }
    // How often the body runs is unknown from here on, and with it all that a pass sets.
    forget(step.body());
    forget(step.before());
    ++uncertain;
    walk(step.body());
    --uncertain;
  }

  /// Makes unknown what the steps of `block` set.
  void forget(const plan::Block &block) {
    for (const plan::Step &step : block.steps())
      forget(step);
  }

  void forget(const plan::Step &step) {
    switch (step.kind_case()) {
    case plan::Step::kEval:
      return set(step.eval().result(), std::nullopt);
    case plan::Step::kMoveIndex:
      return set(step.move_index().result(), std::nullopt);
    case plan::Step::kReadScalar:
    case plan::Step::kHostCall:
      return walk(step);
    case plan::Step::kIf:
      forget(step.if_().then());
      return forget(step.if_().otherwise());
    case plan::Step::kWhile:
      forget(step.while_().before());
      return forget(step.while_().body());
    default:
      return;
    }
  }

  void add(const plan::Launch &launch) {
    if (launch.kernel() >= static_cast<uint32_t>(plan.kernels_size())) {
      failure = Error{ErrorCode::PlanInvalid, "the plan launches a kernel that it does not list", ""};
      return;
    }
    LaunchWork row{&launch, &plan.kernels(static_cast<int>(launch.kernel())), work(launch.cost()), shape(launch)};
    for (const plan::Index &size : launch.grid())
      if (value(size) == 0)
        return; // an empty grid is no launch
    launches.push_back(row);
  }

  /// nothing, too, for what no driver would take
  std::optional<LaunchShape> shape(const plan::Launch &launch) const {
    LaunchShape shape;
    std::optional<int64_t> shared = launch.has_shared_bytes() ? value(launch.shared_bytes()) : 0;
    if (launch.grid_size() != 3 || launch.block_size() != 3 || !shared || *shared < 0 || *shared > INT32_MAX)
      return std::nullopt;
    shape.sharedBytes = static_cast<uint32_t>(*shared);
    for (int i = 0; i < 3; ++i) {
      std::optional<int64_t> size = value(launch.grid(i));
      if (!size || *size < 1 || *size > INT32_MAX)
        return std::nullopt;
      shape.grid[static_cast<size_t>(i)] = static_cast<uint32_t>(*size);
      shape.block[static_cast<size_t>(i)] = launch.block(i);
    }
    for (const plan::Argument &argument : launch.arguments()) {
      std::optional<int64_t> number = argument.kind() == plan::Argument::BUFFER ? 0 : value(argument.value());
      if (!number)
        return std::nullopt;
      shape.arguments.push_back(*number);
    }
    return shape;
  }

  std::optional<WorkCounts> work(const plan::Cost &cost) const {
    std::optional<int64_t> flops = value(cost.flops()), read = value(cost.bytes_read()),
                           written = value(cost.bytes_written());
    if (uncertain || !flops || !read || !written)
      return std::nullopt;
    WorkCounts counts;
    counts.flopsOf(engineOf(static_cast<ElementType>(cost.matrix_type()))) = Flops(static_cast<double>(*flops));
    counts.dramBytes = Bytes(static_cast<double>(*read) + static_cast<double>(*written));
    counts.launches = 1;
    return counts;
  }

  const plan::Plan &plan;
  std::vector<std::optional<int64_t>> registers;
  std::vector<LaunchWork> launches;
  std::optional<Error> failure;
  int uncertain = 0; // how many branches and loops around this step only a run decides
  int64_t steps = 0;
};

} // namespace

Result<std::vector<LaunchWork>> listLaunches(const plan::Plan &plan, const SymbolSizes &sizes) {
  return Walk(plan).run(sizes);
}

Prediction predict(const std::vector<LaunchWork> &launches, const DeviceEnergy &device) {
  Prediction total;
  total.clock = device.highestClock;
  for (const LaunchWork &row : launches)
    if (row.work)
      total = total + joule::predict(*row.work, device);
  return total;
}

} // namespace joule::cli
