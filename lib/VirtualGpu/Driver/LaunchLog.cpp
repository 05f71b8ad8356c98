// Counts, log lines and joules of launches.
#include "lib/VirtualGpu/Driver/LaunchLog.h"
#include "lib/Energy/DeviceEnergy.h"
#include "lib/Energy/Predict.h"
#include "lib/VirtualGpu/Driver/Functions.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <unistd.h>

namespace joule::vgpu {
namespace {

using Clock = std::chrono::steady_clock;

std::atomic<bool> metered{false};

double secondsBetween(Clock::time_point from, Clock::time_point to) {
  return std::chrono::duration<double>(to - from).count();
}

/// The virtual time of a device: what passes between launches, and what the model says that launches take.
struct Account {
  Clock::time_point began = Clock::now();
  double simulated = 0;        // seconds of the CPU spent on launches
  double busy = 0, memory = 0; // seconds that the model gives them; the part spent on memory
  double joules = 0;           // of launches
  double lastWatts = 0, lastMHz = 0;
  Clock::time_point lastEnd;
};

std::mutex accountMutex;
std::map<const Device *, Account> &accounts() {
  static auto *all = new std::map<const Device *, Account>;
  return *all;
}

const DeviceEnergy *factsOf(const Device &device) { return device.facts.energy; }

/// Each byte of the buffers that a kernel is given moves at most once to or from DRAM, if it is touched at
/// all.
double footprint(const KernelWork &work) {
  std::map<uint64_t, uint64_t> buffers;
  const std::vector<uint8_t> &block = work.request.parameters;
  for (size_t at = 0; at + 8 <= block.size(); at += 8) {
    uint64_t value, base;
    memcpy(&value, block.data() + at, sizeof value);
    Allocation allocation;
    if (lookUp(value, base, allocation))
      buffers[base] = allocation.bytes;
  }
  double bytes = 0;
  for (auto &[base, size] : buffers)
    bytes += double(size);
  return bytes;
}

using Class = InstructionClass;

double threadsOf(const Counters &counters, std::initializer_list<Class> classes) {
  double sum = 0;
  for (Class c : classes)
    sum += double(counters.threadInstructions[unsigned(c)]);
  return sum;
}

void putInstructions(const Counters &c, WorkCounts &work) {
  using Priced = joule::InstructionClass;
  work.instructionsOf(Priced::Fp32) =
      threadsOf(c, {Class::Fp32Fma, Class::Fp32Add, Class::Fp32Mul, Class::Fp32Other});
  work.instructionsOf(Priced::Fp64) = threadsOf(c, {Class::Fp64});
  work.instructionsOf(Priced::Integer) = threadsOf(c, {Class::Integer});
  work.instructionsOf(Priced::Special) = threadsOf(c, {Class::Special});
  work.instructionsOf(Priced::Any) = double(c.totalThreadInstructions());
  double cores =
      threadsOf(c, {Class::Fp32Fma, Class::Fp32Add, Class::Fp32Mul, Class::Fp32Other, Class::Fp64}) +
      threadsOf(c, {Class::Fp32Fma}) + 2 * threadsOf(c, {Class::Fp16});
  work.flopsOf(Engine::Cores) = Flops(cores + double(c.matrixFlops[unsigned(MatrixType::Fp64)]));
  work.flopsOf(Engine::MatrixFp16) = Flops(double(c.matrixFlops[unsigned(MatrixType::Fp16)]));
  work.flopsOf(Engine::MatrixTf32) = Flops(double(c.matrixFlops[unsigned(MatrixType::Tf32)]));
  work.flopsOf(Engine::MatrixFp8) = Flops(double(c.matrixFlops[unsigned(MatrixType::Fp8)]));
  work.flopsOf(Engine::MatrixInt8) = Flops(double(c.matrixFlops[unsigned(MatrixType::Int8)]));
}

WorkCounts workOf(const Device &device, const KernelWork &launched, const Counters &c) {
  constexpr double sectorBytes = 32;
  WorkCounts work;
  putInstructions(c, work);
  double sectors = sectorBytes * double(c.memory.globalLoadSectors + c.memory.globalStoreSectors);
  work.l1Bytes = Bytes(double(c.memory.globalLoadBytes + c.memory.globalStoreBytes));
  work.l2Bytes = Bytes(sectors);
  work.dramBytes = Bytes(std::min(sectors, footprint(launched)));
  work.sharedBytes = Bytes(double(c.memory.sharedLoadBytes + c.memory.sharedStoreBytes));
  work.launches = 1;
  const LaunchRequest &r = launched.request;
  double blocks = double(r.grid[0]) * r.grid[1] * r.grid[2];
  work.activeShare = std::min(1.0, blocks / device.facts.multiprocessors);
  double threads =
      double(r.block[0]) * r.block[1] * r.block[2] * std::ceil(blocks / device.facts.multiprocessors);
  work.occupancy = std::min(1.0, threads / device.facts.threadsPerMultiprocessor);
  return work;
}

std::string listOf(const uint32_t *values) {
  return "[" + std::to_string(values[0]) + "," + std::to_string(values[1]) + "," + std::to_string(values[2]) +
         "]";
}

void addField(std::string &line, const char *name, uint64_t value) {
  if (value)
    line += std::string(",\"") + name + "\":" + std::to_string(value);
}

std::string countsAsJson(const Counters &c) {
  std::string line;
  addField(line, "warp_instructions", c.totalWarpInstructions());
  addField(line, "thread_instructions", c.totalThreadInstructions());
  for (unsigned i = 0; i < Counters::classes; ++i)
    addField(line, (std::string("threads_") + nameOf(Class(i))).c_str(), c.threadInstructions[i]);
  for (unsigned t = 0; t < matrixTypes; ++t)
    addField(line, (std::string("matrix_flops_") + nameOf(MatrixType(t))).c_str(), c.matrixFlops[t]);
  addField(line, "global_load_bytes", c.memory.globalLoadBytes);
  addField(line, "global_store_bytes", c.memory.globalStoreBytes);
  addField(line, "global_load_sectors", c.memory.globalLoadSectors);
  addField(line, "global_store_sectors", c.memory.globalStoreSectors);
  addField(line, "shared_load_bytes", c.memory.sharedLoadBytes);
  addField(line, "shared_store_bytes", c.memory.sharedStoreBytes);
  addField(line, "shared_load_wavefronts", c.memory.sharedLoadWavefronts);
  addField(line, "shared_store_wavefronts", c.memory.sharedStoreWavefronts);
  addField(line, "local_bytes", c.memory.localBytes);
  return line;
}

std::string number(double value) {
  char text[32];
  snprintf(text, sizeof text, "%.6g", value);
  return text;
}

/// One write, so that lines of several processes do not mix.
void appendLine(const std::string &file, const std::string &line) {
  int descriptor = open(file.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
  bool isWritten = descriptor >= 0 && write(descriptor, line.data(), line.size()) == ssize_t(line.size());
  if (descriptor >= 0)
    close(descriptor);
  if (!isWritten)
    fail(CUDA_ERROR_UNKNOWN, "cannot write '" + file + "'");
}

} // namespace

bool isMetered() { return metered; }

void startMetering() {
  std::lock_guard lock(accountMutex);
  for (auto &device : driver().devices)
    accounts()[device.get()];
  metered = true;
}

LaunchTimer::LaunchTimer(Device &device, const KernelWork &work) : device(device), work(work) {}

void LaunchTimer::record(const Counters &counters) {
  {
    std::lock_guard lock(driver().mutex);
    driver().counters[work.function->name].add(counters);
  }
  const std::string &file = driver().settings.countFile;
  const DeviceEnergy *facts = file.empty() && !metered ? nullptr : factsOf(device);
  Prediction modelled;
  if (facts)
    modelled = predict(workOf(device, work, counters), *facts);
  if (metered)
    charge(modelled);
  if (file.empty())
    return;
  const LaunchRequest &r = work.request;
  std::string line = "{\"kernel\":\"" + work.function->name +
                     "\",\"device\":" + std::to_string(device.ordinal) + ",\"grid\":" + listOf(r.grid) +
                     ",\"block\":" + listOf(r.block) + countsAsJson(counters);
  addField(line, "dynamic_shared_bytes", r.dynamicShared);
  if (facts)
    line += ",\"modelled_us\":" + number(modelled.time.value() * 1e6) +
            ",\"modelled_uj\":" + number(modelled.energy.value() * 1e6);
  appendLine(file, line + "}\n");
}

void LaunchTimer::charge(const Prediction &modelled) {
  std::lock_guard lock(accountMutex);
  Account &account = accounts()[&device];
  account.lastEnd = Clock::now();
  account.simulated += secondsBetween(began, account.lastEnd);
  account.busy += modelled.time.value();
  if (modelled.bound == Bound::Memory)
    account.memory += modelled.time.value();
  account.joules += modelled.energy.value();
  account.lastWatts = modelled.power().value();
  account.lastMHz = modelled.clock.value() / 1e6;
}

EnergyReading readEnergy(Device &device) {
  EnergyReading reading;
  const DeviceEnergy *facts = factsOf(device);
  if (!facts)
    return reading;
  std::lock_guard lock(accountMutex);
  Account &account = accounts()[&device];
  Clock::time_point now = Clock::now();
  double resting = std::max(0.0, secondsBetween(account.began, now) - account.simulated);
  double idleWatts = facts->idle(facts->lowestClock).value();
  reading.joules = account.joules + idleWatts * resting;
  // Sensors show the last tenth of a second.
  constexpr double sensorWindow = 0.1;
  bool isBusy = account.busy > 0 && secondsBetween(account.lastEnd, now) < sensorWindow;
  reading.watts = isBusy ? account.lastWatts : idleWatts;
  reading.clockMHz = isBusy ? account.lastMHz : facts->lowestClock.value() / 1e6;
  reading.memoryClockMHz = facts->memoryClock.value() / 1e6;
  double elapsed = resting + account.busy;
  reading.busyShare = elapsed > 0 ? account.busy / elapsed : 0;
  reading.memoryShare = elapsed > 0 ? account.memory / elapsed : 0;
  reading.capWatts = facts->powerCap.value();
  reading.highestMHz = facts->highestClock.value() / 1e6;
  return reading;
}

} // namespace joule::vgpu
