// Reads images between their pixels.
#pragma once

#include "passes/OnnxToNn/Maths.h"

namespace joule::translate {

/// What stands beyond an image's border.
enum class Outside { Zero, Border, Reflection };

/// Samples an input `[N, C, spatial…]` at points, a tensor `[R, P]` of them: each has a batch and a coordinate along each
/// spatial dimension, in pixels. Gives `[R, P, C]`.
class Sampler {
public:
  Sampler(Node &node, const Tensor &image, Sizes points, Value batch, Outside outside);

  /// Coordinates, and what is between pixels, are of this type: f64 where the image is, else f32.
  int coordinateType() const { return weightType; }
  /// Where a reflection turns: half a pixel beyond the outermost, or on it.
  bool alignCorners = false;

  Value nearest(llvm::ArrayRef<Value> coordinates);
  /// Weighs the pixels around; a weight along a dimension follows from the distance.
  Value linear(llvm::ArrayRef<Value> coordinates);
  Value cubic(llvm::ArrayRef<Value> coordinates);
  /// The greatest of the pixels around, each times its weight.
  Value linearMax(llvm::ArrayRef<Value> coordinates);

  /// `size` as a tensor of coordinates.
  Value extent(Index size);
  /// The result of the type of the image's elements.
  Value finish(Value sampled);

private:
  using Taps = SmallVector<std::pair<Value, Value>>; // positions (int64) and weights
  Value reflect(Value coordinate, Index size);
  Value pixel(llvm::ArrayRef<Value> positions);
  Value weigh(llvm::ArrayRef<Taps> taps, bool greatest = false);
  Value along(Value points);
  Taps linearTaps(Value coordinate);
  Taps cubicTaps(Value coordinate);

  Node &node;
  int dataType, weightType;
  Sizes points, spatial, results;
  Value batch, rows;
  Outside outside;
};

} // namespace joule::translate
