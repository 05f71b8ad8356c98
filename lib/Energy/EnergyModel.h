// The energy of counted work in a given time, and the fit of its constants.
//
//   E = t · [ idle(f) + rest · v^0.9 + memory · m ]                                         waiting
//     + t · active · (multiprocessors + occupancy · o) · (f/f0) · v                         clock tree,
//     schedulers
//     + v · toggle · [ Σ flops · e + Σ instructions · e + L2, L1 and shared bytes · e ]     on the chip
//     + toggle · DRAM bytes · e                                                             off the chip
//
// f is the clock, v = (V(f)/V(f0))², m the memory's clock over its usual one, o the occupancy. Leakage grows
// with V^1.8, hence v^0.9.
#pragma once

#include "lib/Energy/DeviceEnergy.h"

#include <string>
#include <vector>

namespace joule {

/// When and how fast work ran.
struct Conditions {
  Seconds time;
  Hertz clock;
  double memoryClockShare = 1; ///< the memory's clock over the one it usually has
};

/// Joules by what they are spent on.
struct EnergyParts {
  Joules atRest, launches, multiprocessors, matrix, cores, shared, l2,
      dram; ///< launches: what the time between costs

  Joules total() const { return atRest + launches + multiprocessors + matrix + cores + shared + l2 + dram; }
  EnergyParts &operator+=(const EnergyParts &other);
};

/// A cause's name and the part that holds it.
struct EnergyCause {
  const char *name;
  Joules EnergyParts::*part;
};

/// All causes; their parts sum to the total.
const std::vector<EnergyCause> &energyCauses();

EnergyParts energyOf(const WorkCounts &work, const Conditions &conditions, const DeviceEnergy &device);

/// The uncertainty of energyOf() as a share, two standard deviations: `prediction_error` of the device file,
/// a third where that is missing, and for joules of costs that are estimates no less than those may be off
/// by.
double uncertaintyOf(const WorkCounts &work, const Conditions &conditions, const DeviceEnergy &device);

/// Work that ran, and the energy it took.
struct Measurement {
  std::string group; ///< what cross-validation leaves out together
  size_t row = 0;    ///< of the table, for messages
  WorkCounts work;
  Conditions conditions;
  Joules energy;
};

struct EnergyFit {
  EnergyCosts costs;
  std::vector<std::string> used; ///< the facts that the measurements decide, by their names in device files
};

/// How a fit is made.
struct FitOptions {
  /// How hard a constant is pulled to `prior` (as a share of what its column can explain).
  double pull = 0.05;
  EnergyCosts prior;
};

/// The constants that predict the measurements' energies with the least relative error, none below zero.
/// Costs that no measurement shows keep the device's value.
EnergyFit fitEnergy(const std::vector<Measurement> &measurements, const DeviceEnergy &device,
                    const FitOptions &options = {});

/// What each measurement's energy is predicted to be by a fit on the other groups. Needs two groups.
std::vector<Joules> crossValidate(const std::vector<Measurement> &measurements, const DeviceEnergy &device,
                                  const FitOptions &options = {});

/// The device with the voltage curve (flat to a knee, then a line) under which a fit explains the
/// measurements best. Their clocks must differ; where the table says little, so does the curve.
DeviceEnergy withFittedVoltage(const std::vector<Measurement> &measurements, const DeviceEnergy &device,
                               const FitOptions &options = {});

/// The file's facts with fitted costs in the place of its own; `source` and `uncertainty`, what predictions
/// are off by, go with them.
DeviceFile withCosts(DeviceFile file, const EnergyFit &fit, const std::string &source, double uncertainty);

/// |predicted / measured - 1|, averaged.
double meanRelativeError(const std::vector<Joules> &predicted, const std::vector<Measurement> &measurements);

/// The share of a prediction that it is off by in at most 5 of 100 cases, to judge by these. Needs one
/// measurement.
double coverOf(const std::vector<Joules> &predicted, const std::vector<Measurement> &measurements);

/// The null model of a group that was left out: the other groups' median power, whatever the work.
std::vector<Joules> constantPower(const std::vector<Measurement> &measurements);

} // namespace joule
