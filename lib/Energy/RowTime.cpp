// The time of kernels that move rows.
#include "lib/Energy/RowTime.h"

#include "lib/Energy/LeastSquares.h"

#include <algorithm>
#include <cmath>

namespace joule {

RowConstants usualConstants(const DeviceEnergy &device, RowFamily family) {
  RowConstants constants;
  // A kernel alone in a stream: launch, ramp and tail.
  constants.launch = family == RowFamily::Map ? microseconds(5) : microseconds(15);
  constants.bandwidth = 0.86 * device.dramBandwidthSpec;
  constants.longestKept = family == RowFamily::Norm ? 3500 : 9000;
  return constants;
}

// The share of a block's thread slots that a row fills: four elements a thread and round, as many threads as
// the power of two below suffices for, at most 1024.
static double filledShare(double length) {
  double quads = std::max(length / 4, 32.0);
  double threads = std::min(1024.0, std::exp2(std::floor(std::log2(quads))));
  return quads / (std::ceil(quads / threads) * threads);
}

Seconds rowTime(const RowShape &shape, const RowConstants &constants) {
  Bytes bytes = shape.compulsoryBytes();
  if (shape.family == RowFamily::Map)
    return constants.launch + bytes / constants.bandwidth;
  // The part of a row that is not kept is read a second time. A norm keeps a whole row or, a little longer,
  // none.
  double onset = shape.family == RowFamily::Norm ? 0.25 : 1;
  double again = std::clamp((shape.length / constants.longestKept - 1) / onset, 0.0, 1.0);
  bytes += again * shape.rows * shape.length * shape.perElement;
  return constants.launch +
         bytes / (std::pow(filledShare(shape.length), constants.waste) * constants.bandwidth);
}

RowConstants fitRows(const std::vector<TimedRow> &kernels, const DeviceEnergy &device) {
  auto fromNumbers = [](const std::vector<double> &n) {
    return RowConstants{Seconds(n[0]), BytesPerSecond(n[1]), n[2], n[3]};
  };
  auto residuals = [&](const std::vector<double> &numbers) {
    std::vector<double> residuals;
    for (const TimedRow &kernel : kernels)
      residuals.push_back(std::log(rowTime(kernel.shape, fromNumbers(numbers)) / kernel.time));
    return residuals;
  };
  RowConstants start = usualConstants(device, kernels.at(0).shape.family);
  return fromNumbers(fitLogarithms(
      residuals, {start.launch.value(), start.bandwidth.value(), start.longestKept, start.waste}, 0.05,
      0.05));
}

} // namespace joule
