// What is kept of every launch: its counts by kernel, a line in JOULE_VGPU_COUNT's file, and its energy.
#pragma once

#include "lib/Energy/Predict.h"
#include "lib/VirtualGpu/Driver/Work.h"

namespace joule::vgpu {

/// Whether somebody reads joules, so that launches must be counted.
bool isMetered();
/// From here on they are.
void startMetering();

/// Around one launch on a device.
class LaunchTimer {
public:
  LaunchTimer(Device &device, const KernelWork &work);
  /// What the launch did.
  void record(const Counters &counters);

private:
  void charge(const Prediction &modelled);

  Device &device;
  const KernelWork &work;
  std::chrono::steady_clock::time_point began = std::chrono::steady_clock::now();
};

/// What a device's sensors would show. Modelled: the device file's energy model on counted work. A launch
/// takes the device as long as the model says, however long the CPU took; between launches the device rests.
struct EnergyReading {
  double joules = 0, watts = 0;
  double clockMHz = 0, memoryClockMHz = 0;
  double busyShare = 0, memoryShare = 0; ///< of the time since somebody began to measure
  double capWatts = 0, highestMHz = 0;
};
EnergyReading readEnergy(Device &device);

} // namespace joule::vgpu
