// Clocks and power caps to choose from: what work costs at each, predicted from counts or from two runs.
#pragma once

#include "lib/Energy/Predict.h"

#include <functional>

namespace joule {

/// A clock or a power cap, and what the work costs there.
struct OperatingPoint {
  Hertz clock; ///< the most that the board may run at
  double memoryClockShare = 1;
  Seconds time;
  Joules energy;
  Watts cap = {}; ///< 0: the board's own
};

enum class Objective { Latency, Energy, EnergyDelay, EnergyDelaySquared };

/// The point of least energy whose time is within (1 + slowdown) of the quickest, or the best of another
/// objective. `points` holds one at least.
const OperatingPoint &choose(const std::vector<OperatingPoint> &points, Objective objective,
                             double slowdown = 0);

/// The points that no other beats in both time and energy, the quickest first.
std::vector<OperatingPoint> paretoFront(std::vector<OperatingPoint> points);

/// Work of several kernels, one after another, at each clock of the device from its highest down in steps of
/// its own. The power cap may hold a kernel at a lower clock than the point says.
std::vector<OperatingPoint> operatingPoints(const std::vector<WorkCounts> &kernels,
                                            const DeviceEnergy &device);

/// The same under power caps from the board's own down to the lowest that it takes, at its highest clock: each
/// kernel runs as fast as the cap lets it. Empty where the device file says no lowest cap.
std::vector<OperatingPoint> pointsUnderCaps(const std::vector<WorkCounts> &kernels, const DeviceEnergy &device);

/// What an inference costs where one is asked for each `interval`, waiting included.
struct Duty {
  OperatingPoint point;
  Joules perRequest; ///< the work, and the wait until the next
};

/// The cheapest of the points that keep up, where the board waits at the clock it worked at (pacing) or can
/// drop to its lowest (racing to idle). Nothing keeps up: an empty list; the first is the cheapest.
std::vector<Duty> dutyAt(const std::vector<OperatingPoint> &points, const DeviceEnergy &device,
                         Seconds interval, bool dropsToIdle);

/// How time and energy answer to the clock, read off a few runs:
///
///   t = a / f + b            E = t · idle(f) + v · e1 + e2
///
/// and where the memory's clock m varies, too,
///
///   t = a / f + b + c / m    E = t · idle(f) + e1 + t · (p1 + f · v · p2 + m · p3)
///
/// f is the clock, v the square of the voltage.
class ClockResponse {
public:
  /// Needs two runs at unlike clocks; `m` is left out where the memory's clock is the same in all.
  ClockResponse(const std::vector<OperatingPoint> &runs, const DeviceEnergy &device);

  Seconds time(Hertz clock, double memoryClockShare) const;
  /// The energy where the time is known.
  Joules energy(Hertz clock, double memoryClockShare, Seconds time) const;

private:
  std::vector<double> timeTerms(Hertz clock, double memoryClockShare) const;
  std::vector<double> energyTerms(Hertz clock, double memoryClockShare, Seconds time) const;

  const DeviceEnergy &device;
  bool hasMemoryAxis;
  std::vector<double> timeConstants, energyConstants;
};

} // namespace joule
