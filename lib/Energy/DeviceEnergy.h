// What the energy model knows of a GPU: a device file's facts with their units as types.
#pragma once

#include "lib/Energy/DeviceFile.h"
#include "lib/Energy/Work.h"

#include <string>
#include <vector>

namespace joule {

/// How fast one engine is at the highest clock. 0: the GPU has no such engine.
struct EngineFacts {
  FlopsPerSecond peak;
  JoulesPerFlop perFlop; ///< at the reference clock
};

/// What work and waiting cost at the reference clock; EnergyModel.h has the formula.
struct EnergyCosts {
  Watts rest;            ///< leakage and all else that a busy board draws whatever its multiprocessors do
  Watts memory;          ///< of memory's clock
  Watts multiprocessors; ///< of all of them at work: clock tree, schedulers
  Watts occupancy;       ///< more of it, with every warp resident
  JoulesPerFlop flop[engineCount];
  Joules instruction[instructionClassCount]; ///< of one thread
  JoulesPerByte byte[memoryLevelCount];
};

/// A quantity over the clock: straight lines between the points, flat outside.
template <typename T> struct ClockCurve {
  std::vector<Hertz> clocks;
  std::vector<T> values;

  T at(Hertz clock) const {
    size_t next = 0;
    while (next < clocks.size() && clocks[next] < clock)
      ++next;
    if (next == 0 || next == clocks.size())
      return values[next == 0 ? 0 : next - 1];
    double share = (clock - clocks[next - 1]) / (clocks[next] - clocks[next - 1]);
    return values[next - 1] + share * (values[next] - values[next - 1]);
  }
};

struct DeviceEnergy {
  std::string name;
  int major = 0, minor = 0;
  int multiprocessors = 0;
  Hertz lowestClock, kneeClock, highestClock, referenceClock, clockStep;
  Hertz memoryClock; ///< 0: not known
  Watts powerCap, lowestPowerCap;
  ClockCurve<Volts> coreVoltage;
  ClockCurve<Watts> idlePower;
  BytesPerSecond dramBandwidthSpec;              ///< what the data sheet says
  BytesPerSecond dramBandwidth;                  ///< what kernels reach
  BytesPerSecond l2Bandwidth;                    ///< 0: not known
  Bytes l2Capacity, l2Effective, sharedCapacity; ///< effective: what holds data that all multiprocessors read
  Seconds perLaunch;                             ///< from one launch to the next in a stream
  EngineFacts engines[engineCount];
  EnergyCosts costs;
  DeviceFile file; ///< where all of it comes from, with sources

  const EngineFacts &engine(Engine which) const { return engines[static_cast<int>(which)]; }

  Volts voltage(Hertz clock) const { return coreVoltage.at(clock); }
  /// (V / V at the reference clock)²: what a dynamic energy is multiplied by.
  double dynamicFactor(Hertz clock) const;
  /// Power at rest with the clock raised.
  Watts idle(Hertz clock) const { return idlePower.at(clock); }
  bool canRunAt(Hertz clock) const { return clock >= lowestClock && clock <= highestClock; }
};

DeviceEnergy deviceEnergyOf(const DeviceFile &file);

/// The share of the device's multiprocessors that have something to do, above 0: there may be too few blocks for all.
double activeShareOf(const WorkCounts &work, const DeviceEnergy &device);

/// All devices whose files are built in, in a stable order.
const std::vector<DeviceEnergy> &knownDevices();

/// A built-in device by the name of its file ("a100-sxm-80"), the start of it ("a100"), or a slice of one
/// ("a100-sxm-80:3/7"). Error: DeviceFileUnknown.
Result<DeviceEnergy> deviceNamed(const std::string &name);

const DeviceEnergy &a100();
const DeviceEnergy &h100();

/// The built-in device that a driver's name ("NVIDIA H100 80GB HBM3") fits best, else the first of the same
/// compute capability; nullptr where there is neither.
const DeviceEnergy *findDeviceEnergy(const std::string &name, int major, int minor);

} // namespace joule
