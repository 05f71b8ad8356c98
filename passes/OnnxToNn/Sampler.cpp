// Reads images between their pixels.
#include "passes/OnnxToNn/Sampler.h"

using namespace mlir;
using namespace joule;
using namespace joule::translate;

Sampler::Sampler(Node &node, const Tensor &image, Sizes points, Value batch, Outside outside)
    : node(node), dataType(image.dataType), weightType(image.dataType == Double ? Double : Float),
      points(std::move(points)), spatial(ArrayRef(image.sizes).drop_front(2)), batch(batch), outside(outside) {
  results = this->points;
  results.push_back(image.sizes[1]);
  // One row of channels per pixel, of all images behind each other.
  Sizes flat = {image.sizes[0], image.sizes[1], node.math.product(node.loc, spatial)};
  Sizes list = {node.math.mul(node.loc, flat[0], flat[2]), flat[1]};
  Value channelsLast = node.transpose(node.reshape(image.value, image.sizes, flat), {0, 2, 1});
  rows = node.reshape(channelsLast, {flat[0], flat[2], flat[1]}, list);
}

Value Sampler::extent(Index size) { return node.broadcast(node.indexScalar(size, weightType), {}, points); }

/// Numbers of the points for every channel.
Value Sampler::along(Value value) { return node.broadcastInDim(value, points, results, {0, 1}); }

/// The coordinate folded back at the borders as often as it takes.
Value Sampler::reflect(Value coordinate, Index size) {
  Maths m(node, points, weightType);
  Value low = m.constant(alignCorners ? 0 : -0.5);
  Value range = m.sub(extent(size), m.constant(alignCorners ? 1 : 0));
  // The distance from the lower border, on a way that goes there and back.
  Value distance = m.absf(m.sub(coordinate, low));
  Value whole = node.builder.create<math::FloorOp>(m.div(distance, range));
  Value rest = m.sub(distance, m.mul(whole, range));
  Value half = m.mul(whole, m.constant(0.5));
  Value isEven = m.equal(half, node.builder.create<math::FloorOp>(half));
  Value folded = m.add(low, m.select(isEven, rest, m.sub(range, rest)));
  Value high = m.add(low, range);
  Value isInside = node.builder.create<arith::AndIOp>(m.lessEqual(low, coordinate), m.lessEqual(coordinate, high));
  return m.select(isInside, coordinate, folded);
}

/// The pixel at whole positions, which may be outside.
Value Sampler::pixel(ArrayRef<Value> positions) {
  Maths m(node, points, Int64);
  Value index = batch, isInside;
  for (auto [position, size] : llvm::zip(positions, spatial)) {
    Value at = position;
    if (outside == Outside::Reflection)
      at = node.convert(reflect(node.convert(at, Int64, weightType), size), weightType, Int64);
    Value count = node.broadcast(node.indexScalar(size, Int64), {}, points);
    Value inside = m.max(m.constant(0), m.min(at, m.sub(count, m.constant(1))));
    Value isHere = m.equal(inside, at);
    isInside = isInside ? node.builder.create<arith::AndIOp>(isInside, isHere).getResult() : isHere;
    index = m.add(m.mul(index, count), inside);
  }
  Value read = node.builder.create<nn::GatherOp>(node.type(results, nnElementType(node.builder.getContext(), dataType)),
                                                 rows, index, node.dynamic(results), 0);
  if (outside != Outside::Zero)
    return read;
  Maths values(node, results, dataType);
  return values.select(along(isInside), read, values.constant(0));
}

Value Sampler::nearest(ArrayRef<Value> coordinates) {
  SmallVector<Value> positions;
  for (Value coordinate : coordinates)
    positions.push_back(node.convert(node.builder.create<math::RoundEvenOp>(coordinate), weightType, Int64));
  return pixel(positions);
}

Sampler::Taps Sampler::linearTaps(Value coordinate) {
  Maths m(node, points, weightType), whole(node, points, Int64);
  Value floor = node.builder.create<math::FloorOp>(coordinate);
  Value fraction = m.sub(coordinate, floor);
  Value position = node.convert(floor, weightType, Int64);
  return {{position, m.sub(m.constant(1), fraction)}, {whole.add(position, whole.constant(1)), fraction}};
}

/// Cubic convolution with a = -0.75.
Sampler::Taps Sampler::cubicTaps(Value coordinate) {
  constexpr double a = -0.75;
  Maths m(node, points, weightType), whole(node, points, Int64);
  Value floor = node.builder.create<math::FloorOp>(coordinate);
  Value fraction = m.sub(coordinate, floor);
  Value position = node.convert(floor, weightType, Int64);
  auto near = [&](Value t) {
    Value inner = m.sub(m.mul(m.constant(a + 2), t), m.constant(a + 3));
    return m.add(m.mul(m.mul(inner, t), t), m.constant(1));
  };
  auto far = [&](Value t) {
    Value inner = m.add(m.mul(m.sub(m.mul(m.constant(a), t), m.constant(5 * a)), t), m.constant(8 * a));
    return m.sub(m.mul(inner, t), m.constant(4 * a));
  };
  Value rest = m.sub(m.constant(1), fraction);
  Value weights[] = {far(m.add(fraction, m.constant(1))), near(fraction), near(rest), far(m.add(rest, m.constant(1)))};
  Taps taps;
  for (auto [offset, weight] : llvm::enumerate(weights))
    taps.push_back({whole.add(position, whole.constant(double(offset) - 1)), weight});
  return taps;
}

/// The sum over all combinations of taps, or the greatest of them.
Value Sampler::weigh(ArrayRef<Taps> taps, bool greatest) {
  Maths m(node, points, weightType), values(node, results, weightType);
  size_t combinations = 1;
  for (const Taps &each : taps)
    combinations *= each.size();
  Value sum;
  for (size_t number = 0; number < combinations; ++number) {
    SmallVector<Value> positions;
    Value weight;
    size_t rest = number;
    for (const Taps &each : taps) {
      const auto &[position, part] = each[rest % each.size()];
      rest /= each.size();
      positions.push_back(position);
      weight = weight ? m.mul(weight, part) : part;
    }
    Value term = values.mul(node.convert(pixel(positions), dataType, weightType), along(weight));
    sum = !sum ? term : greatest ? values.max(sum, term) : values.add(sum, term);
  }
  return sum;
}

Value Sampler::linear(ArrayRef<Value> coordinates) {
  return weigh(llvm::map_to_vector(coordinates, [&](Value coordinate) { return linearTaps(coordinate); }));
}

Value Sampler::cubic(ArrayRef<Value> coordinates) {
  return weigh(llvm::map_to_vector(coordinates, [&](Value coordinate) { return cubicTaps(coordinate); }));
}

Value Sampler::linearMax(ArrayRef<Value> coordinates) {
  return weigh(llvm::map_to_vector(coordinates, [&](Value coordinate) { return linearTaps(coordinate); }), true);
}

Value Sampler::finish(Value sampled) {
  Type element = getElementTypeOrSelf(sampled);
  return element == nnElementType(node.builder.getContext(), dataType) ? sampled
                                                                       : node.convert(sampled, weightType, dataType);
}
