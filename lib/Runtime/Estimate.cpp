// Sums the launches' costs.
#include "lib/Runtime/Estimate.h"

#include "joule/Tensor.h"

#include <algorithm>

namespace joule {

WorkCounts workOf(const plan::Launch &launch, const std::function<int64_t(const plan::Index &)> &value) {
  const plan::Cost &cost = launch.cost();
  // A cost is a hint: one below zero is no reason to fail.
  auto amount = [&](const plan::Index &index) {
    return static_cast<double>(std::max<int64_t>(value(index), 0));
  };
  WorkCounts work;
  work.flopsOf(engineOf(static_cast<ElementType>(cost.matrix_type()))) = Flops(amount(cost.flops()));
  work.dramBytes = Bytes(amount(cost.bytes_read()) + amount(cost.bytes_written()));
  work.launches = 1;
  return work;
}

namespace {

class Estimator {
public:
  Estimator(const DeviceEnergy &device, std::vector<std::optional<int64_t>> registers)
      : device(device), registers(std::move(registers)) {}

  PlanEstimate block(const ProgramBlock &steps) {
    PlanEstimate sum;
    for (const ProgramStep &step : steps) {
      if (step.step->has_launch()) {
        append(sum, launch(step.step->launch()));
      } else if (step.step->has_if_()) {
        PlanEstimate first = block(step.first), second = block(step.second);
        append(sum, first.total.energy >= second.total.energy ? first : second);
        sum.isWhole &= first.isWhole && second.isWhole;
      } else if (step.step->has_while_()) {
        append(sum, block(step.first));
        append(sum, block(step.second));
        sum.isWhole = false;
      }
    }
    return sum;
  }

private:
  PlanEstimate launch(const plan::Launch &launch) {
    PlanEstimate single;
    auto value = [&](const plan::Index &index) {
      std::optional<int64_t> known = valueOf(index, registers);
      single.isWhole &= known.has_value();
      return known.value_or(0);
    };
    single.work = workOf(launch, value);
    single.total = predict(single.work, device);
    single.launches.push_back({&launch, single.work, single.total});
    return single;
  }

  static void append(PlanEstimate &sum, const PlanEstimate &more) {
    sum.total = sum.launches.empty()    ? more.total
                : more.launches.empty() ? sum.total
                                        : sum.total + more.total;
    sum.launches.insert(sum.launches.end(), more.launches.begin(), more.launches.end());
    sum.work += more.work;
    sum.isWhole &= more.isWhole;
  }

  const DeviceEnergy &device;
  std::vector<std::optional<int64_t>> registers;
};

} // namespace

PlanEstimate estimate(const Program &program, const std::vector<int64_t> &symbols,
                      const DeviceEnergy &device) {
  return Estimator(device, program.knownIndices(symbols)).block(program.body());
}

} // namespace joule
