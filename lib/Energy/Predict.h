// Time and energy of counted work: a roofline, the launches, and the energy model.
#pragma once

#include "lib/Energy/EnergyModel.h"

namespace joule {

/// Where a number comes from.
enum class Source { Measured, Counted, Modelled };
const char *nameOf(Source source);

/// What the time is spent on most.
enum class Bound { Launch, Memory, Compute };
const char *nameOf(Bound bound);

struct Prediction {
  Seconds time;
  Joules energy;                  ///< the sum of the three below
  Joules plusMinus; ///< two standard deviations of it: of the constants, and of a time that was not measured
  Joules atRest, memory,
      compute; ///< power at rest over the time, launches; bytes; operations and what feeds them
  EnergyParts parts;              ///< the same joules, by finer causes
  Bound bound = Bound::Launch;
  Hertz clock; ///< below the asked one where the power cap forces it
  Source source = Source::Modelled;

  Watts power() const { return time.value() > 0 ? energy / time : Watts(0); }
};

/// Predicts `work` as one kernel at a clock; clocks outside the device's range are brought into it.
///
///   time = launches · t_launch + max(compute / active share, DRAM bytes / bandwidth, L2 bytes / bandwidth(clock))
///   compute = max(Σ flops / peak(clock), instructions / issue rate(clock), shared bytes / rate(clock))
///
/// and the energy is EnergyModel's. If energy / time is above the cap, the clock drops until it is not.
Prediction predict(const WorkCounts &work, const DeviceEnergy &device, Hertz clock);

/// The same at the highest clock.
Prediction predict(const WorkCounts &work, const DeviceEnergy &device);

/// What no schedule goes below: the operations and bytes at the lowest voltage, and the power at rest there
/// over the time that a roofline without launches takes at the highest clock.
Joules energyFloor(const WorkCounts &work, const DeviceEnergy &device);

/// One kernel after another.
Prediction operator+(const Prediction &first, const Prediction &second);

} // namespace joule
