// Measures joules: the energy counter and the power reading of NVML, and what they can be trusted for.
#pragma once

#include "joule/Error.h"
#include "lib/Energy/DeviceEnergy.h"

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace joule {

/// How a kind of board's sensor errs: it reads gain * power + offset, and looks a share `watched` of the time.
struct SensorTraits {
  double gain = 1;
  Watts offset;
  bool isCalibrated = false; ///< gain and offset were measured against a meter
  double watched = 0;        ///< 0: not known
};
SensorTraits sensorTraitsOf(const DeviceEnergy &device);

/// What a board runs at.
struct BoardState {
  Hertz clock;    ///< of the multiprocessors; 0: not known
  Watts powerCap; ///< 0: not known
  std::vector<std::string> limits; ///< what holds the clock down: "power cap", "heat", ...
};

/// What a board's sensors say, as NVML gives it. Tests and virtual devices give their own.
struct PowerSensor {
  std::function<Result<Joules>()> energy; ///< since the driver was loaded; counts in millijoules
  std::function<Result<Watts>()> power;   ///< now, or over the last second: boards differ
  std::function<Seconds()> now;           ///< a clock that never goes back
  std::function<BoardState()> state = nullptr;
  bool isVirtual = false;                 ///< modelled: nothing it says is called measured
  SensorTraits traits = {};               ///< readings are corrected by it
};

/// The functions of a library with NVML's interface by their names; null: it has none of that name.
using NvmlFunctions = std::function<void *(const char *)>;

/// Those of "libnvidia-ml.so.1", say. Error: DriverMissing.
Result<NvmlFunctions> openNvmlLibrary(const std::string &library);

/// The sensor of the device at a PCI bus id ("0000:17:00.0", as CUDA gives it: NVML counts devices in another order);
/// that of the virtual GPU says that it is virtual. Errors: DriverMissing, DriverFailed, DeviceUnknown.
Result<PowerSensor> openNvml(const NvmlFunctions &functions, const std::string &busId);

/// A reading with its uncertainty, two standard deviations.
struct MeterReading {
  Joules energy;
  Seconds time;
  double uncertainty = 0; ///< of the energy, as a share
  bool isMeasured = true; ///< false: a virtual device's

  Watts power() const { return energy / time; }
};

/// What a reading over `window` is good to (two standard deviations): the sensor's gain, boards that look
/// only a part of the time, a counter that lags by up to a tenth of a second at either edge, repeatability,
/// temperature.
double meterUncertainty(Seconds window, const SensorTraits &traits);

/// Shorter windows read up to 15 % low: the counter lags and boards warm up.
constexpr Seconds shortestWindow(5);

/// Measures what runs between start() and stop(). Errors: those of the sensor; CheckFailed where the window
/// was shorter than shortestWindow.
class Meter {
public:
  virtual ~Meter() = default;
  virtual Result<void> start() = 0;
  virtual Result<MeterReading> stop() = 0;
};

/// By the difference of the energy counter.
std::unique_ptr<Meter> makeCounterMeter(PowerSensor sensor);

/// By the power, read every `interval` by a thread and integrated over time.
std::unique_ptr<Meter> makeSamplingMeter(PowerSensor sensor, Seconds interval);

/// A power at a time.
struct PowerSample {
  Seconds time;
  Watts power;
};

/// The energy between the first and the last sample, straight lines between them.
Joules integrate(const std::vector<PowerSample> &samples);

/// A compared with B.
struct Comparison {
  double ratio = 1;       ///< energy of A over that of B
  double uncertainty = 0; ///< of the ratio, two standard deviations, from the spread of the rounds
};

/// Measures A and B in the order A B B A, `rounds` times, so that a drift of temperature falls on both alike.
/// Each of them must run for shortestWindow at least. `idle` is subtracted from both. Errors: those of the
/// meter.
Result<Comparison> compareInterleaved(Meter &meter, const std::function<void()> &a,
                                      const std::function<void()> &b, int rounds, Watts idle);

} // namespace joule
