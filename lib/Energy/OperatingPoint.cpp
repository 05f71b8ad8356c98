// Choices among clocks.
#include "lib/Energy/OperatingPoint.h"

#include "lib/Energy/LeastSquares.h"

#include <algorithm>

namespace joule {

static double score(const OperatingPoint &point, Objective objective) {
  switch (objective) {
  case Objective::Latency:
    return point.time.value();
  case Objective::Energy:
    return point.energy.value();
  case Objective::EnergyDelay:
    return (point.energy * point.time).value();
  case Objective::EnergyDelaySquared:
    return (point.energy * point.time * point.time).value();
  }
  return 0;
}

static const OperatingPoint &quickest(const std::vector<OperatingPoint> &points) {
  return *std::min_element(points.begin(), points.end(),
                           [](const auto &a, const auto &b) { return a.time < b.time; });
}

const OperatingPoint &choose(const std::vector<OperatingPoint> &points, Objective objective,
                             double slowdown) {
  Seconds limit = quickest(points).time * (1 + slowdown);
  const OperatingPoint *best = nullptr;
  for (const OperatingPoint &point : points)
    if (objective != Objective::Energy || point.time <= limit)
      if (!best || score(point, objective) < score(*best, objective))
        best = &point;
  return *best;
}

std::vector<OperatingPoint> paretoFront(std::vector<OperatingPoint> points) {
  std::sort(points.begin(), points.end(), [](const auto &a, const auto &b) {
    return a.time < b.time || (a.time == b.time && a.energy < b.energy);
  });
  std::vector<OperatingPoint> front;
  for (const OperatingPoint &point : points)
    if (front.empty() || point.energy < front.back().energy)
      front.push_back(point);
  return front;
}

static OperatingPoint pointAt(const std::vector<WorkCounts> &kernels, const DeviceEnergy &device, Hertz clock) {
  OperatingPoint point;
  point.clock = clock;
  for (const WorkCounts &kernel : kernels) {
    Prediction prediction = predict(kernel, device, clock);
    point.time += prediction.time;
    point.energy += prediction.energy;
  }
  return point;
}

std::vector<OperatingPoint> operatingPoints(const std::vector<WorkCounts> &kernels,
                                            const DeviceEnergy &device) {
  std::vector<OperatingPoint> points;
  for (Hertz clock = device.highestClock; clock >= device.lowestClock; clock = clock - device.clockStep)
    points.push_back(pointAt(kernels, device, clock));
  return points;
}

std::vector<OperatingPoint> pointsUnderCaps(const std::vector<WorkCounts> &kernels, const DeviceEnergy &device) {
  std::vector<OperatingPoint> points;
  constexpr int steps = 20;
  DeviceEnergy capped = device;
  for (int i = 1; i <= steps && device.lowestPowerCap.value() > 0; ++i) {
    capped.powerCap = device.powerCap - (double(i) / steps) * (device.powerCap - device.lowestPowerCap);
    points.push_back(pointAt(kernels, capped, device.highestClock));
    points.back().cap = capped.powerCap;
  }
  return points;
}

std::vector<Duty> dutyAt(const std::vector<OperatingPoint> &points, const DeviceEnergy &device,
                         Seconds interval, bool dropsToIdle) {
  std::vector<Duty> duties;
  for (const OperatingPoint &point : points)
    if (point.time <= interval) {
      Watts waiting = device.idle(dropsToIdle ? device.lowestClock : point.clock);
      duties.push_back({point, point.energy + waiting * (interval - point.time)});
    }
  std::sort(duties.begin(), duties.end(),
            [](const Duty &a, const Duty &b) { return a.perRequest < b.perRequest; });
  return duties;
}

//===- From a few runs
//-----------------------------------------------------------------------------------------------

ClockResponse::ClockResponse(const std::vector<OperatingPoint> &runs, const DeviceEnergy &device)
    : device(device) {
  hasMemoryAxis = std::any_of(runs.begin(), runs.end(), [&](const OperatingPoint &run) {
    return run.memoryClockShare != runs[0].memoryClockShare;
  });
  Matrix timeRows, energyRows;
  std::vector<double> timesWanted, energiesWanted;
  for (const OperatingPoint &run : runs) {
    std::vector<double> time = timeTerms(run.clock, run.memoryClockShare);
    std::vector<double> energy = energyTerms(run.clock, run.memoryClockShare, run.time);
    for (double &term : time)
      term /= run.time.value();
    for (double &term : energy)
      term /= run.energy.value();
    timeRows.push_back(time);
    energyRows.push_back(energy);
    timesWanted.push_back(1);
    energiesWanted.push_back(1 - (run.time * device.idle(run.clock)) / run.energy);
  }
  timeConstants = fitNonNegative(timeRows, timesWanted, 0, std::vector<double>(timeRows[0].size()));
  energyConstants = fitNonNegative(energyRows, energiesWanted, 0, std::vector<double>(energyRows[0].size()));
}

static double dot(const std::vector<double> &a, const std::vector<double> &b) {
  double sum = 0;
  for (size_t i = 0; i < a.size(); ++i)
    sum += a[i] * b[i];
  return sum;
}

std::vector<double> ClockResponse::timeTerms(Hertz clock, double memoryClockShare) const {
  std::vector<double> terms = {device.highestClock / clock, 1};
  if (hasMemoryAxis)
    terms.push_back(1 / memoryClockShare);
  return terms;
}

std::vector<double> ClockResponse::energyTerms(Hertz clock, double memoryClockShare, Seconds time) const {
  double seconds = time.value();
  if (!hasMemoryAxis)
    return {device.dynamicFactor(clock), 1};
  double busy = clock / device.highestClock * device.dynamicFactor(clock);
  return {1, seconds, seconds * busy, seconds * memoryClockShare};
}

Seconds ClockResponse::time(Hertz clock, double memoryClockShare) const {
  return Seconds(dot(timeTerms(clock, memoryClockShare), timeConstants));
}

Joules ClockResponse::energy(Hertz clock, double memoryClockShare, Seconds time) const {
  return time * device.idle(clock) + Joules(dot(energyTerms(clock, memoryClockShare, time), energyConstants));
}

} // namespace joule
