// Turns the facts of device files into typed ones, and finds devices by name.
#include "lib/Energy/DeviceEnergy.h"

#include <algorithm>
#include <cassert>
#include <cctype>
#include <cmath>
#include <fmt/format.h>

namespace joule {

double activeShareOf(const WorkCounts &work, const DeviceEnergy &device) {
  double share = work.activeShare;
  if (work.blocks > 0 && device.multiprocessors > 0)
    share = std::min(share, work.blocks / device.multiprocessors);
  return std::max(share, 1e-6);
}

double DeviceEnergy::dynamicFactor(Hertz clock) const {
  double ratio = voltage(clock) / voltage(referenceClock);
  return ratio * ratio;
}

//===- From facts
//----------------------------------------------------------------------------------------------------

// 0 where the file does not say.
static double valueOf(const DeviceFile &file, const std::string &name) {
  const Fact *fact = file.find(name);
  return fact ? fact->values[0] : 0;
}

static Hertz clockOf(const DeviceFile &file, const std::string &name) {
  return megahertz(valueOf(file, name));
}

static BytesPerSecond bandwidthOf(const DeviceFile &file, const std::string &name) {
  return BytesPerSecond(valueOf(file, name) * 1e9);
}

template <typename T> static ClockCurve<T> curveOf(const DeviceFile &file, const std::string &name) {
  ClockCurve<T> curve;
  const Fact *fact = file.find(name);
  for (double clock : fact->clocks)
    curve.clocks.push_back(megahertz(clock));
  for (double value : fact->values)
    curve.values.push_back(T(value));
  return curve;
}

static EnergyCosts costsOf(const DeviceFile &file) {
  EnergyCosts costs;
  costs.rest = Watts(valueOf(file, "rest_power"));
  costs.memory = Watts(valueOf(file, "memory_power"));
  costs.multiprocessors = Watts(valueOf(file, "multiprocessor_power"));
  costs.occupancy = Watts(valueOf(file, "occupancy_power"));
  for (int i = 0; i < engineCount; ++i)
    costs.flop[i] =
        picojoulesPerFlop(valueOf(file, fmt::format("per_{}_flop", nameOf(static_cast<Engine>(i)))));
  const char *const instructions[instructionClassCount] = {"per_fp32_instruction", "per_fp64_instruction",
                                                           "per_integer_instruction",
                                                           "per_special_instruction", "per_instruction"};
  for (int i = 0; i < instructionClassCount; ++i)
    costs.instruction[i] = picojoules(valueOf(file, instructions[i]));
  const char *const bytes[memoryLevelCount] = {"per_dram_byte", "per_l2_byte", "per_l1_byte",
                                               "per_shared_byte"};
  for (int i = 0; i < memoryLevelCount; ++i)
    costs.byte[i] = picojoulesPerByte(valueOf(file, bytes[i]));
  return costs;
}

DeviceEnergy deviceEnergyOf(const DeviceFile &file) {
  DeviceEnergy device;
  device.name = file.name;
  double capability = valueOf(file, "capability");
  device.major = static_cast<int>(capability);
  device.minor = static_cast<int>(std::lround(10 * (capability - device.major)));
  device.multiprocessors = static_cast<int>(valueOf(file, "multiprocessors"));
  device.lowestClock = clockOf(file, "lowest_clock");
  device.kneeClock = clockOf(file, "knee_clock");
  device.highestClock = clockOf(file, "highest_clock");
  device.referenceClock = clockOf(file, "reference_clock");
  device.clockStep = clockOf(file, "clock_step");
  device.memoryClock = clockOf(file, "memory_clock");
  device.powerCap = Watts(valueOf(file, "power_cap"));
  device.lowestPowerCap = Watts(valueOf(file, "lowest_power_cap"));
  device.coreVoltage = curveOf<Volts>(file, "core_voltage");
  device.idlePower = curveOf<Watts>(file, "idle_power");
  device.dramBandwidthSpec = bandwidthOf(file, "dram_bandwidth_spec");
  device.dramBandwidth = bandwidthOf(file, "dram_bandwidth");
  device.l2Bandwidth = bandwidthOf(file, "l2_bandwidth");
  device.l2Capacity = Bytes(valueOf(file, "l2_capacity") * 1e6);
  device.l2Effective =
      file.find("l2_effective") ? Bytes(valueOf(file, "l2_effective") * 1e6) : device.l2Capacity;
  device.sharedCapacity = Bytes(valueOf(file, "shared_capacity") * 1e3);
  device.perLaunch = microseconds(valueOf(file, "launch_time"));
  device.costs = costsOf(file);
  for (int i = 0; i < engineCount; ++i) {
    std::string rate = fmt::format("{}_rate", nameOf(static_cast<Engine>(i)));
    device.engines[i] = {FlopsPerSecond(valueOf(file, rate) * 1e12), device.costs.flop[i]};
  }
  device.file = file;
  return device;
}

//===- Those that are built in
//---------------------------------------------------------------------------------------

static const char *const builtInFiles[][2] = {
#include "lib/Energy/DeviceFiles.inc"
};

const std::vector<DeviceEnergy> &knownDevices() {
  static const std::vector<DeviceEnergy> devices = [] {
    std::vector<DeviceEnergy> devices;
    for (const auto &[name, text] : builtInFiles) {
      Result<DeviceFile> file = readDeviceFile(text, name);
      assert(file && "a built-in device file is damaged");
      devices.push_back(deviceEnergyOf(*file));
    }
    return devices;
  }();
  return devices;
}

static const DeviceEnergy *findByFileName(const std::string &name) {
  for (const DeviceEnergy &device : knownDevices())
    if (device.name == name)
      return &device;
  for (const DeviceEnergy &device : knownDevices())
    if (device.name.rfind(name + "-", 0) == 0)
      return &device;
  return nullptr;
}

static Error unknown(const std::string &name) {
  std::string names;
  for (const DeviceEnergy &device : knownDevices())
    names += (names.empty() ? "" : ", ") + device.name;
  return Error{ErrorCode::DeviceFileUnknown,
               fmt::format("no device is called '{}'; there are {}", name, names), ""};
}

Result<DeviceEnergy> deviceNamed(const std::string &name) {
  size_t colon = name.find(':');
  const DeviceEnergy *device = findByFileName(name.substr(0, colon));
  if (!device)
    return unknown(name);
  if (colon == std::string::npos)
    return *device;
  int slices = 0, of = 0, length = 0;
  std::string slice = name.substr(colon + 1);
  if (std::sscanf(slice.c_str(), "%d/%d%n", &slices, &of, &length) != 2 ||
      static_cast<size_t>(length) != slice.size())
    return Error{ErrorCode::DeviceFileUnknown, fmt::format("'{}' is no slice like 3/7", slice), ""};
  Result<DeviceFile> part = sliceOf(device->file, slices, of);
  if (!part)
    return part.error();
  return deviceEnergyOf(*part);
}

const DeviceEnergy &a100() { return *findByFileName("a100-sxm-80"); }
const DeviceEnergy &h100() { return *findByFileName("h100-sxm"); }

// "NVIDIA A100-SXM4-80GB" is {nvidia, a100, sxm, 4, 80, gb}: letters that hang together with the digits of a
// model's name stay, those before and after other digits do not.
static std::vector<std::string> wordsOf(const std::string &name) {
  std::vector<std::string> words;
  std::string word;
  for (char c : name + " ") {
    bool isWord = std::isalnum(static_cast<unsigned char>(c));
    if (isWord)
      word += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    else if (!word.empty())
      words.push_back(std::move(word)), word.clear();
  }
  return words;
}

// How many words of a file's name ("a100", "sxm", "80") stand in a driver's name; 0 where the model does not.
static int likeness(const std::vector<std::string> &fileWords, const std::vector<std::string> &words) {
  auto isModel = [&](const std::string &word) { return word == fileWords[0]; };
  if (std::none_of(words.begin(), words.end(), isModel))
    return 0;
  int found = 1;
  for (size_t i = 1; i < fileWords.size(); ++i)
    found += std::any_of(words.begin(), words.end(),
                         [&](const std::string &word) { return word.rfind(fileWords[i], 0) == 0; });
  return found;
}

const DeviceEnergy *findDeviceEnergy(const std::string &name, int major, int minor) {
  std::vector<std::string> words = wordsOf(name);
  const DeviceEnergy *best = nullptr;
  int most = 0;
  for (const DeviceEnergy &device : knownDevices())
    if (int like = likeness(wordsOf(device.name), words); like > most)
      best = &device, most = like;
  if (best)
    return best;
  for (const DeviceEnergy &device : knownDevices())
    if (device.major == major && device.minor == minor)
      return &device;
  return nullptr;
}

} // namespace joule
