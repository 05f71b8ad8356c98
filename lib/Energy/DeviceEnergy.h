// What the energy model knows of a GPU.
#pragma once

#include "joule/Tensor.h"
#include "lib/Energy/Units.h"

#include <optional>
#include <string>

namespace joule {

/// What does arithmetic: plain cores (float32 and all else that is no matrix unit's), or the matrix units by
/// the type of their operands.
enum class Engine { Cores, MatrixTf32, MatrixFp16, MatrixFp8, MatrixInt8 };
constexpr int engineCount = 5;

/// The engine of a plan's Cost.matrix_type; Undefined: the cores.
Engine engineOf(ElementType matrixType);

/// How fast one engine is at the highest clock, and what one operation costs there. A multiply-add is two.
struct EngineFacts {
  FlopsPerSecond peak;   ///< 0: the GPU has no such engine
  JoulesPerFlop perFlop; ///< at the reference clock
};

/// Facts at a reference clock. Voltage is taken as flat up to the knee and linear from there to the highest
/// clock; dynamic energy goes with its square.
struct DeviceEnergy {
  std::string name;
  int major = 0, minor = 0;
  int multiprocessors = 0;
  Hertz lowestClock, kneeClock, highestClock, referenceClock;
  Volts lowestVoltage, highestVoltage; ///< at or below the knee and at the highest clock
  Watts idleLow, idleHigh;             ///< at the knee or below, and at the highest clock
  Watts powerCap;
  BytesPerSecond dramBandwidth; ///< what kernels reach, not what the data sheet says
  JoulesPerByte perDramByte;    ///< the whole way: device, caches, interconnect
  Seconds perLaunch;            ///< from one launch to the next in a stream
  EngineFacts engines[engineCount];

  const EngineFacts &engine(Engine which) const { return engines[static_cast<int>(which)]; }

  /// At a clock.
  Volts voltage(Hertz clock) const;
  /// (V / V at the reference clock)²: what a dynamic energy is multiplied by.
  double dynamicFactor(Hertz clock) const;
  /// Power at rest with the clock raised.
  Watts idle(Hertz clock) const;
};

const DeviceEnergy &a100();
const DeviceEnergy &h100();

/// The facts of the GPU whose name contains one that is known ("NVIDIA H100 80GB HBM3"), else of the same
/// compute capability; nullptr where neither is known.
const DeviceEnergy *findDeviceEnergy(const std::string &name, int major, int minor);

} // namespace joule
