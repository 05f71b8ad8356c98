// Constants of two GPUs with their sources.
//
// [vendor] data sheet, [measured] published measurements at that clock, [fit] fitted on published
// measurements, [estimate] none found.
#include "lib/Energy/DeviceEnergy.h"

#include <algorithm>
#include <cctype>

namespace joule {

Engine engineOf(ElementType matrixType) {
  switch (matrixType) {
  case ElementType::Float32:
    return Engine::MatrixTf32;
  case ElementType::Float16:
  case ElementType::BFloat16:
    return Engine::MatrixFp16;
  case ElementType::Float8E4M3FN:
  case ElementType::Float8E4M3FNUZ:
  case ElementType::Float8E5M2:
  case ElementType::Float8E5M2FNUZ:
    return Engine::MatrixFp8;
  case ElementType::Int8:
  case ElementType::UInt8:
    return Engine::MatrixInt8;
  default:
    return Engine::Cores;
  }
}

// 0 at the knee and below, 1 at the highest clock.
static double aboveKnee(const DeviceEnergy &device, Hertz clock) {
  double share = (clock - device.kneeClock) / (device.highestClock - device.kneeClock);
  return std::clamp(share, 0.0, 1.0);
}

Volts DeviceEnergy::voltage(Hertz clock) const {
  return lowestVoltage + (highestVoltage - lowestVoltage) * aboveKnee(*this, clock);
}

double DeviceEnergy::dynamicFactor(Hertz clock) const {
  double ratio = voltage(clock) / voltage(referenceClock);
  return ratio * ratio;
}

Watts DeviceEnergy::idle(Hertz clock) const {
  return idleLow + (idleHigh - idleLow) * aboveKnee(*this, clock);
}

const DeviceEnergy &a100() {
  static const DeviceEnergy device = [] {
    DeviceEnergy d;
    d.name = "A100-SXM4-80GB";
    d.major = 8;
    d.multiprocessors = 108;                                         // [vendor]
    d.lowestClock = megahertz(210);                                  // [vendor]
    d.kneeClock = megahertz(1110);                                   // [measured]
    d.highestClock = d.referenceClock = megahertz(1410);             // [vendor]
    d.lowestVoltage = Volts(0.744), d.highestVoltage = Volts(0.919); // [measured]
    d.idleLow = Watts(60.3), d.idleHigh = Watts(82.3);               // [measured]
    d.powerCap = Watts(400);                                         // [vendor]
    d.dramBandwidth = BytesPerSecond(1.759e12);                      // [measured], of 2.039e12 [vendor]
    d.perDramByte = picojoulesPerByte(118);                          // [fit] on HBM2, within 7 %
    d.perLaunch = microseconds(3.6);                                 // [fit]
    d.engines[int(Engine::Cores)] = {FlopsPerSecond(19.5e12),
                                     picojoulesPerFlop(5.2)}; // [vendor], [fit] at 1410 MHz, 4.9 to 5.5
    // 0.71 pJ at 900 MHz [fit, within 20 %], brought to 1410 MHz by the square of the voltages: 1.53 times.
    // Halved or doubled with the operands' width [estimate, from a ratio of 4 : 2 : 1 measured on a sibling
    // of the H100].
    d.engines[int(Engine::MatrixFp16)] = {FlopsPerSecond(312e12), picojoulesPerFlop(1.08)};
    d.engines[int(Engine::MatrixTf32)] = {FlopsPerSecond(156e12), picojoulesPerFlop(2.17)};
    d.engines[int(Engine::MatrixInt8)] = {FlopsPerSecond(624e12), picojoulesPerFlop(0.54)};
    return d;
  }();
  return device;
}

const DeviceEnergy &h100() {
  static const DeviceEnergy device = [] {
    DeviceEnergy d;
    d.name = "H100-SXM5-80GB";
    d.major = 9;
    d.multiprocessors = 132;                             // [vendor]
    d.lowestClock = megahertz(345);                      // [vendor]
    d.kneeClock = megahertz(1125);                       // [estimate] from where idle power begins to rise
    d.highestClock = d.referenceClock = megahertz(1980); // [vendor]
    // No voltages are published. The ratio is that of the A100, whose idle power rises alike [estimate].
    d.lowestVoltage = Volts(0.75), d.highestVoltage = Volts(0.93);
    d.idleLow = Watts(76), d.idleHigh = Watts(120); // [measured]
    d.powerCap = Watts(700);                        // [vendor]
    d.dramBandwidth = BytesPerSecond(2.9e12);       // [estimate] 86 % of 3.352e12 [vendor], as on the A100
    d.perDramByte = picojoulesPerByte(116);         // [fit] on the H200's HBM3e, 108 to 124
    d.perLaunch = microseconds(3.6);                // [fit]
    d.engines[int(Engine::Cores)] = {FlopsPerSecond(67e12),
                                     picojoulesPerFlop(5.4)}; // [vendor], [fit] on the H200 at 1980 MHz
    // 0.82 pJ at 1830 MHz [fit, within 20 %], brought to 1980 MHz: 1.08 times. Other widths as for the A100.
    d.engines[int(Engine::MatrixFp16)] = {FlopsPerSecond(989e12), picojoulesPerFlop(0.885)};
    d.engines[int(Engine::MatrixTf32)] = {FlopsPerSecond(495e12), picojoulesPerFlop(1.77)};
    d.engines[int(Engine::MatrixFp8)] = {FlopsPerSecond(1979e12), picojoulesPerFlop(0.44)};
    d.engines[int(Engine::MatrixInt8)] = {FlopsPerSecond(1979e12), picojoulesPerFlop(0.44)};
    return d;
  }();
  return device;
}

const DeviceEnergy *findDeviceEnergy(const std::string &name, int major, int minor) {
  std::string lower = name;
  for (char &c : lower)
    c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  if (lower.find("a100") != std::string::npos)
    return &a100();
  if (lower.find("h100") != std::string::npos)
    return &h100();
  for (const DeviceEnergy *device : {&a100(), &h100()})
    if (device->major == major && device->minor == minor)
      return device;
  return nullptr;
}

} // namespace joule
