// How long a host takes to run kernels one after another: a network in a framework that launches every
// operator.
//
//   t = (host^8 + device^8)^(1/8),  host = calls · perCall
//   device = Σ launch + max(compute / efficiency, DRAM bytes / bandwidth, L2 bytes / bandwidth)
//
// The host runs ahead of the device, so the slower of the two decides.
#pragma once

#include "lib/Energy/DeviceEnergy.h"

#include <vector>

namespace joule {

/// The same kernel so and so often.
struct SequenceStep {
  double count = 1;
  bool isProduct = false; ///< on matrix units; otherwise bound by memory
  Flops flops;            ///< of one, those of tiles that are partly filled included
  Engine engine = Engine::MatrixFp16;
  Bytes dram, l2; ///< of one
};

struct SequenceConstants {
  Seconds perCall, launch;
  double efficiency = 0.8;
  BytesPerSecond products, others, l2;
};

SequenceConstants usualSequence(const DeviceEnergy &device, Hertz clock);

/// The time at a clock; the constants hold at `reference`.
Seconds sequenceTime(const std::vector<SequenceStep> &steps, const DeviceEnergy &device,
                     const SequenceConstants &constants, Hertz reference, Hertz clock);

struct TimedSequence {
  std::vector<SequenceStep> steps;
  Seconds time;
};

/// The constants that predict the times with the least relative error, all at one clock.
SequenceConstants fitSequence(const std::vector<TimedSequence> &sequences, const DeviceEnergy &device,
                              Hertz clock);

} // namespace joule
