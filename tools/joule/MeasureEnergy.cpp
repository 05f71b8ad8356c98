// Opens the sensors of the device that a session runs on, and repeats the session's run between two readings.
#include "tools/joule/MeasureEnergy.h"

#include "lib/Energy/Meter.h"
#include "lib/Runtime/DeviceState.h"
#include "tools/joule/Inputs.h"
#include "tools/joule/PlanCost.h"
#include "tools/joule/Units.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace joule::cli {

using Json = nlohmann::ordered_json;

/// Boards take up a new power reading every 20 to 100 ms.
constexpr Seconds samplingInterval(0.02);

static Result<NvmlFunctions> sensorsOf(const Driver &driver) {
  if (driver.isVirtual)
    return NvmlFunctions(driver.virtualFunction);
  return openNvmlLibrary("libnvidia-ml.so.1");
}

static Result<PowerSensor> sensorOf(const Device &device, const DeviceEnergy *facts) {
  Result<NvmlFunctions> functions = sensorsOf(*device.impl()->driver);
  if (!functions)
    return functions.error();
  Result<std::string> busId = device.impl()->busId();
  if (!busId)
    return busId.error();
  Result<PowerSensor> sensor = openNvml(*functions, *busId);
  if (sensor && facts && !sensor->isVirtual)
    sensor->traits = sensorTraitsOf(*facts);
  return sensor;
}

Result<Json> measureEnergy(Loaded &loaded, const std::map<std::string, Tensor> &inputs,
                           const EnergyWindow &window, const std::vector<LaunchWork> &launches) {
  const DeviceProperties &device = loaded.device.properties();
  const DeviceEnergy *facts = findDeviceEnergy(device.name, device.major, device.minor);
  Result<PowerSensor> sensor = sensorOf(loaded.device, facts);
  if (!sensor)
    return sensor.error();
  bool counts = bool(sensor->energy()); // boards before Volta have no counter
  std::unique_ptr<Meter> meter =
      counts ? makeCounterMeter(*sensor) : makeSamplingMeter(*sensor, samplingInterval);
  if (Result<void> started = meter->start(); !started)
    return started.error();
  size_t runs = 0;
  for (Seconds end = sensor->now() + Seconds(window.seconds); sensor->now() < end; ++runs)
    if (Result<std::map<std::string, Tensor>> outputs = loaded.session.run(viewsOf(inputs)); !outputs)
      return outputs.error();
  BoardState state = sensor->state();
  Result<MeterReading> reading = meter->stop();
  if (!reading)
    return reading.error();

  Joules energy = reading->energy / static_cast<double>(runs);
  Json json = {{"seconds", reading->time.value() / static_cast<double>(runs)},
               {"joules", energy.value()},
               {"plusMinus", reading->uncertainty},
               {"source", reading->isMeasured ? "measured" : "modelled"},
               {"sensor", counts ? "energy counter" : "power readings"},
               {"isCalibrated", sensor->traits.isCalibrated},
               {"windowSeconds", reading->time.value()},
               {"runs", runs},
               {"watts", reading->power().value()},
               {"operands", window.operands}};
  if (state.clock > Hertz(0))
    json["clockMHz"] = state.clock.value() / 1e6;
  if (state.powerCap > Watts(0))
    json["powerCapWatts"] = state.powerCap.value();
  json["clockHeldDownBy"] = state.limits;
  WorkCounts work = workOf(launches);
  json["flopsPerJoule"] = work.totalFlops().value() / energy.value();
  if (facts)
    json["timesTheFloor"] = energy / energyFloor(work, *facts);
  return json;
}

void printMeasured(const Json &measured) {
  bool isMeasured = measured["source"] == "measured";
  fmt::print("one inference, {} and {} +- {:.0f} % of the whole board ({} by the {}{}, {} runs in {:.1f} s; {}, {}{}",
             withPrefix(measured["seconds"], "s"), withPrefix(measured["joules"], "J"),
             100 * measured["plusMinus"].get<double>(), measured["source"].get<std::string>(),
             isMeasured ? "" : "virtual ", measured["sensor"].get<std::string>(), measured["runs"].get<size_t>(),
             measured["windowSeconds"].get<double>(), withPrefix(measured["watts"], "W"),
             withPrefix(measured["flopsPerJoule"], "FLOPS/W"),
             isMeasured ? "" : "; at rest while this CPU computes");
  if (measured.contains("timesTheFloor"))
    fmt::print(", {:.2f} times the least possible", measured["timesTheFloor"].get<double>());
  if (measured.contains("clockMHz"))
    fmt::print("; at {:.0f} MHz", measured["clockMHz"].get<double>());
  if (measured.contains("powerCapWatts"))
    fmt::print(" under {:.0f} W", measured["powerCapWatts"].get<double>());
  if (auto limits = measured["clockHeldDownBy"].get<std::vector<std::string>>(); !limits.empty())
    fmt::print(", held down by {}", fmt::join(limits, ", "));
  fmt::print(", {} operands)\n", measured["operands"].get<std::string>());
}

} // namespace joule::cli
