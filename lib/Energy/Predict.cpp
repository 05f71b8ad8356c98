// The formulas of Predict.h.
#include "lib/Energy/Predict.h"

#include <algorithm>

namespace joule {

// A step of the clocks that these GPUs offer.
static constexpr Hertz clockStep = megahertz(15);

WorkCounts &WorkCounts::operator+=(const WorkCounts &other) {
  for (int i = 0; i < engineCount; ++i)
    flops[i] += other.flops[i];
  dramBytes += other.dramBytes;
  launches += other.launches;
  return *this;
}

Flops WorkCounts::totalFlops() const {
  Flops sum;
  for (Flops some : flops)
    sum += some;
  return sum;
}

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

static Prediction predictAt(const WorkCounts &work, const DeviceEnergy &device, Hertz clock) {
  Seconds computeTime;
  Joules computeEnergy;
  for (int i = 0; i < engineCount; ++i) {
    const EngineFacts &facts = engineFor(device, i);
    computeTime += work.flops[i] / facts.peak * (device.highestClock / clock);
    computeEnergy += work.flops[i] * facts.perFlop;
  }
  Seconds memoryTime = work.dramBytes / device.dramBandwidth;
  Seconds launchTime = work.launches * device.perLaunch;

  Prediction prediction;
  prediction.clock = clock;
  prediction.time = launchTime + std::max(computeTime, memoryTime);
  prediction.atRest = prediction.time * device.idle(clock);
  prediction.compute = computeEnergy * device.dynamicFactor(clock);
  prediction.memory = work.dramBytes * device.perDramByte;
  prediction.energy = prediction.atRest + prediction.compute + prediction.memory;
  Bound busier = computeTime > memoryTime ? Bound::Compute : Bound::Memory;
  prediction.bound = launchTime > std::max(computeTime, memoryTime) ? Bound::Launch : busier;
  return prediction;
}

Prediction predict(const WorkCounts &work, const DeviceEnergy &device, Hertz clock) {
  clock = std::clamp(clock, device.lowestClock, device.highestClock);
  Prediction prediction = predictAt(work, device, clock);
  while (prediction.power() > device.powerCap && clock - clockStep >= device.lowestClock) {
    clock = clock - clockStep;
    prediction = predictAt(work, device, clock);
  }
  return prediction;
}

Prediction predict(const WorkCounts &work, const DeviceEnergy &device) {
  return predict(work, device, device.highestClock);
}

Prediction operator+(const Prediction &first, const Prediction &second) {
  Prediction sum = first.time >= second.time ? first : second;
  sum.time = first.time + second.time;
  sum.energy = first.energy + second.energy;
  sum.atRest = first.atRest + second.atRest;
  sum.memory = first.memory + second.memory;
  sum.compute = first.compute + second.compute;
  return sum;
}

} // namespace joule
