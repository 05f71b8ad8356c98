// How long kernels take that are bound by memory: pointwise ones, and those that reduce rows.
//
//   t = launch + bytes / bandwidth
//
// A row that does not fit the registers of its block is read again, and a block whose threads do not divide a
// row wastes a part of its last round.
#pragma once

#include "lib/Energy/DeviceEnergy.h"

#include <vector>

namespace joule {

enum class RowFamily { Map, Softmax, Norm };

struct RowShape {
  RowFamily family = RowFamily::Map;
  double rows = 0, length = 0;
  int operands = 1; ///< that are read, of the result's shape
  Bytes perElement{4};

  Bytes compulsoryBytes() const { return (operands + 1) * rows * length * perElement; }
};

/// The constants of one family on a device.
struct RowConstants {
  Seconds launch;
  BytesPerSecond bandwidth;
  double longestKept = 8192; ///< elements of a row that are kept for the second pass
  double waste = 0.3;        ///< how much of a last round's idle threads shows in the time, 0 to 1
};

RowConstants usualConstants(const DeviceEnergy &device, RowFamily family);

Seconds rowTime(const RowShape &shape, const RowConstants &constants);

struct TimedRow {
  RowShape shape;
  Seconds time;
};

/// The constants of one family that predict the times with the least relative error.
RowConstants fitRows(const std::vector<TimedRow> &kernels, const DeviceEnergy &device);

} // namespace joule
