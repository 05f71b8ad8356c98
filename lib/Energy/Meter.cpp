// NVML's functions, found at run time, and the two meters on them.
#include "lib/Energy/Meter.h"

#include <atomic>
#include <chrono>
#include <cmath>
#include <dlfcn.h>
#include <fmt/format.h>
#include <mutex>
#include <thread>

namespace joule {

//===- NVML
//----------------------------------------------------------------------------------------------------------

namespace {

// The few functions of NVML that are used; 0 is its success.
using InitFunction = int (*)();
using HandleFunction = int (*)(const char *, void **);
using EnergyFunction = int (*)(void *, unsigned long long *);
using NumberFunction = int (*)(void *, unsigned *);
using ClockFunction = int (*)(void *, int, unsigned *);
using ReasonsFunction = int (*)(void *, unsigned long long *);

Error sensorFailed(const char *function, int status) {
  return {ErrorCode::DriverFailed, fmt::format("{} failed with status {}", function, status), ""};
}

Seconds steadyNow() {
  return Seconds(std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count());
}

} // namespace

SensorTraits sensorTraitsOf(const DeviceEnergy &device) {
  SensorTraits traits;
  auto value = [&](const char *name, double otherwise) {
    const Fact *fact = device.file.find(name);
    return fact ? fact->values[0] : otherwise;
  };
  traits.gain = value("sensor_gain", 1);
  traits.offset = Watts(value("sensor_offset", 0));
  traits.isCalibrated = device.file.find("sensor_gain") != nullptr;
  traits.watched = value("sensor_watched", 0);
  return traits;
}

Result<NvmlFunctions> openNvmlLibrary(const std::string &library) {
  // Stays open for the life of the process, as drivers do.
  void *opened = dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!opened)
    return Error{ErrorCode::DriverMissing, fmt::format("cannot open {}", library), ""};
  return NvmlFunctions([opened](const char *name) { return dlsym(opened, name); });
}

static std::vector<std::string> limitsOf(unsigned long long reasons) {
  // nvmlClocksThrottleReasons, as NVML's documentation numbers them.
  const std::pair<unsigned long long, const char *> known[] = {
      {0x2, "clocks that were set"}, {0x4, "power cap"}, {0x8, "slowdown by the board"},
      {0x20, "heat"},                {0x40, "heat"},     {0x80, "power brake"}};
  std::vector<std::string> limits;
  for (auto [bit, name] : known)
    if (reasons & bit && (limits.empty() || limits.back() != name))
      limits.push_back(name);
  return limits;
}

Result<PowerSensor> openNvml(const NvmlFunctions &functions, const std::string &busId) {
  auto init = reinterpret_cast<InitFunction>(functions("nvmlInit_v2"));
  auto handleOf = reinterpret_cast<HandleFunction>(functions("nvmlDeviceGetHandleByPciBusId_v2"));
  auto energy = reinterpret_cast<EnergyFunction>(functions("nvmlDeviceGetTotalEnergyConsumption"));
  auto power = reinterpret_cast<NumberFunction>(functions("nvmlDeviceGetPowerUsage"));
  auto clockOf = reinterpret_cast<ClockFunction>(functions("nvmlDeviceGetClockInfo"));
  auto capOf = reinterpret_cast<NumberFunction>(functions("nvmlDeviceGetEnforcedPowerLimit"));
  auto reasonsOf = reinterpret_cast<ReasonsFunction>(functions("nvmlDeviceGetCurrentClocksThrottleReasons"));
  if (!init || !handleOf || !energy || !power)
    return Error{ErrorCode::DriverMissing, "the sensors' library lacks functions of NVML", ""};
  if (int status = init())
    return sensorFailed("nvmlInit", status);
  void *handle = nullptr;
  if (handleOf(busId.c_str(), &handle))
    return Error{ErrorCode::DeviceUnknown, fmt::format("NVML has no device at {}", busId), ""};
  PowerSensor sensor;
  sensor.energy = [energy, handle]() -> Result<Joules> {
    unsigned long long millijoules = 0;
    if (int status = energy(handle, &millijoules))
      return sensorFailed("nvmlDeviceGetTotalEnergyConsumption", status);
    return Joules(static_cast<double>(millijoules) / 1e3);
  };
  sensor.power = [power, handle]() -> Result<Watts> {
    unsigned milliwatts = 0;
    if (int status = power(handle, &milliwatts))
      return sensorFailed("nvmlDeviceGetPowerUsage", status);
    return Watts(milliwatts / 1e3);
  };
  sensor.now = steadyNow;
  sensor.state = [clockOf, capOf, reasonsOf, handle] {
    BoardState state;
    unsigned number = 0;
    unsigned long long reasons = 0;
    constexpr int multiprocessors = 1; // NVML_CLOCK_SM
    if (clockOf && clockOf(handle, multiprocessors, &number) == 0)
      state.clock = megahertz(number);
    if (capOf && capOf(handle, &number) == 0)
      state.powerCap = Watts(number / 1e3);
    if (reasonsOf && reasonsOf(handle, &reasons) == 0)
      state.limits = limitsOf(reasons);
    return state;
  };
  sensor.isVirtual = functions("jouleVgpuIdentity") || functions("joule_vgpu_identity");
  return sensor;
}

//===- Readings
//------------------------------------------------------------------------------------------------------

double meterUncertainty(Seconds window, const SensorTraits &traits) {
  constexpr double repeatability = 0.01, temperature = 0.02;
  double gain = traits.isCalibrated ? 0.02 : 0.05, partTime = traits.watched >= 0.95 ? 0 : 0.015;
  double edge = 0.1 / window.value();
  return std::sqrt(gain * gain + partTime * partTime + repeatability * repeatability +
                   temperature * temperature + edge * edge);
}

Joules integrate(const std::vector<PowerSample> &samples) {
  Joules sum;
  for (size_t i = 1; i < samples.size(); ++i)
    sum += (samples[i].time - samples[i - 1].time) * ((samples[i].power + samples[i - 1].power) / 2);
  return sum;
}

static Result<MeterReading> reading(Joules energy, Seconds time, const PowerSensor &sensor) {
  if (time < shortestWindow)
    return Error{ErrorCode::CheckFailed,
                 fmt::format("a window of {:.2f} s is too short to measure joules; {:.0f} s are the least",
                             time.value(), shortestWindow.value()),
                 ""};
  const SensorTraits &traits = sensor.traits;
  Joules corrected = (energy - traits.offset * time) / traits.gain;
  return MeterReading{corrected, time, meterUncertainty(time, traits), !sensor.isVirtual};
}

namespace {

class CounterMeter : public Meter {
public:
  explicit CounterMeter(PowerSensor sensor) : sensor(std::move(sensor)) {}

  Result<void> start() override {
    Result<Joules> energy = sensor.energy();
    if (!energy)
      return energy.error();
    before = *energy;
    began = sensor.now();
    return {};
  }

  Result<MeterReading> stop() override {
    Seconds time = sensor.now() - began;
    Result<Joules> energy = sensor.energy();
    if (!energy)
      return energy.error();
    return reading(*energy - before, time, sensor);
  }

private:
  PowerSensor sensor;
  Joules before;
  Seconds began;
};

class SamplingMeter : public Meter {
public:
  SamplingMeter(PowerSensor sensor, Seconds interval) : sensor(std::move(sensor)), interval(interval) {}
  ~SamplingMeter() override { halt(); }

  Result<void> start() override {
    halt();
    samples.clear();
    failure.reset();
    if (!sample())
      return *failure;
    isRunning = true;
    sampler = std::thread([this] {
      while (isRunning && sample())
        std::this_thread::sleep_for(std::chrono::duration<double>(interval.value()));
    });
    return {};
  }

  Result<MeterReading> stop() override {
    halt();
    if (failure || !sample())
      return *failure;
    return reading(integrate(samples), samples.back().time - samples.front().time, sensor);
  }

private:
  void halt() {
    isRunning = false;
    if (sampler.joinable())
      sampler.join();
  }

  bool sample() {
    Result<Watts> power = sensor.power();
    if (!power) {
      failure = power.error();
      return false;
    }
    samples.push_back({sensor.now(), *power});
    return true;
  }

  PowerSensor sensor;
  Seconds interval;
  std::thread sampler;
  std::atomic<bool> isRunning{false};
  std::vector<PowerSample> samples; // the thread's while it runs
  std::optional<Error> failure;
};

} // namespace

std::unique_ptr<Meter> makeCounterMeter(PowerSensor sensor) {
  return std::make_unique<CounterMeter>(std::move(sensor));
}

std::unique_ptr<Meter> makeSamplingMeter(PowerSensor sensor, Seconds interval) {
  return std::make_unique<SamplingMeter>(std::move(sensor), interval);
}

//===- A against B
//---------------------------------------------------------------------------------------------------

static Result<Joules> measure(Meter &meter, const std::function<void()> &run, Watts idle) {
  if (Result<void> started = meter.start(); !started)
    return started.error();
  run();
  Result<MeterReading> read = meter.stop();
  if (!read)
    return read.error();
  return read->energy - idle * read->time;
}

Result<Comparison> compareInterleaved(Meter &meter, const std::function<void()> &a,
                                      const std::function<void()> &b, int rounds, Watts idle) {
  std::vector<double> ratios;
  for (int round = 0; round < rounds; ++round) {
    Joules sumA, sumB;
    for (bool isA : {true, false, false, true}) {
      Result<Joules> energy = measure(meter, isA ? a : b, idle);
      if (!energy)
        return energy.error();
      (isA ? sumA : sumB) += *energy;
    }
    ratios.push_back(sumA / sumB);
  }
  double mean = 0, spread = 0;
  for (double ratio : ratios)
    mean += ratio / static_cast<double>(ratios.size());
  for (double ratio : ratios)
    spread += (ratio - mean) * (ratio - mean);
  // Of one round nothing is known but what repeated readings show: 1 %.
  size_t count = ratios.size();
  double deviation = count > 1 ? std::sqrt(spread / static_cast<double>(count * (count - 1))) : 0.01;
  return Comparison{mean, 2 * deviation};
}

} // namespace joule
