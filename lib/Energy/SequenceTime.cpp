// The time of kernels in a row.
#include "lib/Energy/SequenceTime.h"

#include "lib/Energy/LeastSquares.h"

#include <algorithm>
#include <cmath>

namespace joule {

SequenceConstants usualSequence(const DeviceEnergy &device, Hertz clock) {
  SequenceConstants constants;
  constants.perCall = microseconds(30);
  constants.launch = microseconds(2);
  constants.products = constants.others = device.dramBandwidth;
  // Some 3000 bytes a clock, less than tiles alone get.
  constants.l2 = Bytes(3000) * clock;
  return constants;
}

Seconds sequenceTime(const std::vector<SequenceStep> &steps, const DeviceEnergy &device,
                     const SequenceConstants &constants, Hertz reference, Hertz clock) {
  double slower = reference / clock, calls = 0;
  Seconds busy;
  for (const SequenceStep &step : steps) {
    FlopsPerSecond peak = clock / device.highestClock * device.engine(step.engine).peak;
    Seconds compute = step.isProduct ? step.flops / peak / constants.efficiency : Seconds(0);
    Seconds dram = step.dram / (step.isProduct ? constants.products : constants.others);
    Seconds l2 = step.l2 / constants.l2 * slower;
    busy += step.count * (constants.launch + std::max({compute, dram, l2}));
    calls += step.count;
  }
  Seconds host = calls * constants.perCall;
  Seconds longer = std::max(host, busy);
  return longer * std::pow(1 + std::pow(std::min(host, busy) / longer, 8), 0.125);
}

SequenceConstants fitSequence(const std::vector<TimedSequence> &sequences, const DeviceEnergy &device,
                              Hertz clock) {
  auto fromNumbers = [](const std::vector<double> &n) {
    return SequenceConstants{Seconds(n[0]),        Seconds(n[1]),        n[2],
                             BytesPerSecond(n[3]), BytesPerSecond(n[4]), BytesPerSecond(n[5])};
  };
  auto residuals = [&](const std::vector<double> &numbers) {
    std::vector<double> residuals;
    for (const TimedSequence &sequence : sequences)
      residuals.push_back(
          std::log(sequenceTime(sequence.steps, device, fromNumbers(numbers), clock, clock) / sequence.time));
    return residuals;
  };
  SequenceConstants start = usualSequence(device, clock);
  return fromNumbers(fitLogarithms(residuals,
                                   {start.perCall.value(), start.launch.value(), start.efficiency,
                                    start.products.value(), start.others.value(), start.l2.value()},
                                   0.3, 0.1));
}

} // namespace joule
