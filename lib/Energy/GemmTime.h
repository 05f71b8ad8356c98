// How long a matrix product takes: the best of several tilings, each bound by its slowest part.
//
//   t = launch + (tiles in waves^6 + L2^6 + DRAM^6 + sustained rate^6)^(1/6) + split
//
// A wave is as many tiles as there are multiprocessors. A wave that is partly filled takes as long as a full
// one. Operands that fit the L2 stay there from one run to the next. Long products warm the board up to its
// power cap and then run slower than short ones.
#pragma once

#include "lib/Energy/DeviceEnergy.h"

#include <vector>

namespace joule {

struct GemmShape {
  double rows = 0, columns = 0, depth = 0, batch = 1;
  Engine engine = Engine::MatrixFp16;
  Bytes perOperand{2}, perResult{2}; ///< of one element

  Flops flops() const { return Flops(2 * batch * rows * columns * depth); }
  /// What must move at least.
  Bytes compulsoryBytes() const;
};

/// The constants of a device and an engine.
struct GemmConstants {
  Seconds launch, fill, split; ///< of a kernel; to fill a tile's pipeline and write it out; of a second pass
  double efficiency = 1;       ///< of the largest tile, as a share of the peak
  double smallTile = 0;        ///< by what power of e a tile loses efficiency with each halving of its area
  BytesPerSecond l2, dram;
  FlopsPerSecond sustained; ///< at best over a short product
  double resident = 1;      ///< share of the L2 that keeps operands from run to run
  double warmLoss = 0;      ///< by how much long products are slower
  Seconds warmTime;         ///< how long until they are
};

/// What to start a fit from: data sheets and rules of thumb.
GemmConstants usualConstants(const DeviceEnergy &device, Engine engine);

Seconds gemmTime(const GemmShape &shape, const DeviceEnergy &device, const GemmConstants &constants);

struct TimedGemm {
  GemmShape shape;
  Seconds time;
};

/// The constants that predict the times with the least relative error.
GemmConstants fitGemm(const std::vector<TimedGemm> &products, const DeviceEnergy &device);

/// What L2 must deliver in the tiling that gemmTime() chooses.
Bytes gemmL2Bytes(const GemmShape &shape, const DeviceEnergy &device);

} // namespace joule
