// The formulas of Predict.h.
#include "lib/Energy/Predict.h"

#include <algorithm>
#include <cmath>

namespace joule {

const char *nameOf(Source source) {
  switch (source) {
  case Source::Measured:
    return "measured";
  case Source::Counted:
    return "counted";
  case Source::Modelled:
    return "modelled";
  }
  return "";
}

const char *nameOf(Bound bound) {
  switch (bound) {
  case Bound::Launch:
    return "launch";
  case Bound::Memory:
    return "memory";
  case Bound::Compute:
    return "compute";
  }
  return "";
}

// Work for an engine that the GPU lacks is done by its cores.
static const EngineFacts &engineFor(const DeviceEnergy &device, int engine) {
  const EngineFacts &facts = device.engines[engine];
  return facts.peak.value() > 0 ? facts : device.engine(Engine::Cores);
}

static Seconds computeTime(const WorkCounts &work, const DeviceEnergy &device, Hertz clock) {
  Seconds time;
  for (int i = 0; i < engineCount; ++i)
    time += work.flops[i] / engineFor(device, i).peak * (device.highestClock / clock);
  return time;
}

// What a matrix unit lacks, the cores spend.
static WorkCounts onEnginesOf(const DeviceEnergy &device, WorkCounts work) {
  for (int i = 0; i < engineCount; ++i)
    if (device.engines[i].peak.value() == 0) {
      work.flopsOf(Engine::Cores) += work.flops[i];
      work.flops[i] = Flops(0);
    }
  return work;
}

// A multiprocessor of every generation since Volta issues four instructions of 32 threads in a cycle, and moves
// 128 bytes of shared memory.
static Seconds onMultiprocessors(const WorkCounts &work, const DeviceEnergy &device, Hertz clock) {
  if (device.multiprocessors == 0)
    return Seconds(0);
  double issue = work.instructions[static_cast<int>(InstructionClass::Any)] / 128;
  double cycles = std::max(issue, work.sharedBytes.value() / 128) / device.multiprocessors;
  return Seconds(cycles / clock.value());
}

// Rooflines are 14 to 21 % off on networks, in the mean: two standard deviations.
constexpr double timeUncertainty = 0.4;

static Prediction predictAt(const WorkCounts &work, const DeviceEnergy &device, Hertz clock) {
  Seconds compute = std::max(computeTime(work, device, clock), onMultiprocessors(work, device, clock));
  // Multiprocessors without a block do nothing.
  compute = compute / activeShareOf(work, device);
  Seconds memory = work.dramBytes / device.dramBandwidth;
  if (device.l2Bandwidth.value() > 0)
    memory = std::max(memory, work.l2Bytes / device.l2Bandwidth * (device.highestClock / clock));
  Seconds launch = work.launches * device.perLaunch, busy = std::max(compute, memory);

  Prediction prediction;
  prediction.clock = clock;
  prediction.time = launch + busy;
  WorkCounts done = onEnginesOf(device, work);
  EnergyParts parts = energyOf(done, {prediction.time, clock}, device);
  Joules waiting = parts.atRest + parts.multiprocessors;
  prediction.plusMinus =
      Joules(std::hypot(uncertaintyOf(done, {prediction.time, clock}, device) * parts.total().value(),
                        timeUncertainty * waiting.value()));
  double launching = prediction.time.value() > 0 ? launch / prediction.time : 0;
  parts.launches = launching * waiting;
  parts.atRest = (1 - launching) * parts.atRest;
  parts.multiprocessors = (1 - launching) * parts.multiprocessors;
  prediction.parts = parts;
  prediction.atRest = parts.atRest + parts.launches;
  prediction.compute = parts.cores + parts.matrix + parts.shared + parts.multiprocessors;
  prediction.memory = parts.dram + parts.l2;
  prediction.energy = prediction.atRest + prediction.compute + prediction.memory;
  Bound busier = compute > memory ? Bound::Compute : Bound::Memory;
  prediction.bound = launch > busy ? Bound::Launch : busier;
  return prediction;
}

Prediction predict(const WorkCounts &work, const DeviceEnergy &device, Hertz clock) {
  clock = std::clamp(clock, device.lowestClock, device.highestClock);
  Prediction prediction = predictAt(work, device, clock);
  while (prediction.power() > device.powerCap && clock - device.clockStep >= device.lowestClock) {
    clock = clock - device.clockStep;
    prediction = predictAt(work, device, clock);
  }
  return prediction;
}

Prediction predict(const WorkCounts &work, const DeviceEnergy &device) {
  return predict(work, device, device.highestClock);
}

Joules energyFloor(const WorkCounts &work, const DeviceEnergy &device) {
  Seconds time =
      std::max(computeTime(work, device, device.highestClock), work.dramBytes / device.dramBandwidth);
  EnergyParts parts = energyOf(onEnginesOf(device, work), {time, device.kneeClock}, device);
  return parts.total() - parts.multiprocessors;
}

Prediction operator+(const Prediction &first, const Prediction &second) {
  Prediction sum = first.time >= second.time ? first : second;
  sum.time = first.time + second.time;
  sum.energy = first.energy + second.energy;
  sum.plusMinus = first.plusMinus + second.plusMinus;
  sum.atRest = first.atRest + second.atRest;
  sum.memory = first.memory + second.memory;
  sum.compute = first.compute + second.compute;
  sum.parts = first.parts;
  sum.parts += second.parts;
  return sum;
}

} // namespace joule
