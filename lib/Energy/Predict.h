// Time and energy of counted work: a roofline, the launches, and power at rest.
#pragma once

#include "lib/Energy/DeviceEnergy.h"

namespace joule {

/// Work of one kernel or of a whole run.
struct WorkCounts {
  Flops flops[engineCount]; ///< by Engine
  Bytes dramBytes;          ///< read and written
  double launches = 0;

  Flops &flopsOf(Engine engine) { return flops[static_cast<int>(engine)]; }
  /// Of all engines.
  Flops totalFlops() const;
  WorkCounts &operator+=(const WorkCounts &other);
};

/// Where a number comes from.
enum class Source { Measured, Counted, Modelled };
const char *nameOf(Source source);

/// What the time is spent on most.
enum class Bound { Launch, Memory, Compute };
const char *nameOf(Bound bound);

struct Prediction {
  Seconds time;
  Joules energy;                  ///< the sum of the three below
  Joules atRest, memory, compute; ///< power at rest over the time; bytes; operations
  Bound bound = Bound::Launch;
  Hertz clock; ///< below the asked one where the power cap forces it
  Source source = Source::Modelled;

  Watts power() const { return time.value() > 0 ? energy / time : Watts(0); }
};

/// Predicts `work` as one kernel at a clock; clocks outside the device's range are brought into it.
///
///   time   = launches · t_launch + max(Σ flops / peak(clock), bytes / bandwidth)
///   energy = time · P_idle(clock) + dynamicFactor(clock) · Σ flops · e + bytes · e_dram
///
/// If energy / time is above the cap, the clock drops until it is not. Memory's energy is not scaled with the
/// voltage, since most of it is spent off the chip. What the model leaves out: caches, partly filled waves,
/// and the values of operands.
Prediction predict(const WorkCounts &work, const DeviceEnergy &device, Hertz clock);

/// The same at the highest clock.
Prediction predict(const WorkCounts &work, const DeviceEnergy &device);

/// One kernel after another.
Prediction operator+(const Prediction &first, const Prediction &second);

} // namespace joule
