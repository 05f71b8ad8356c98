// The tilings of a product and their time.
#include "lib/Energy/GemmTime.h"

#include "lib/Energy/LeastSquares.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace joule {

Bytes GemmShape::compulsoryBytes() const {
  return batch * ((rows * depth + columns * depth) * perOperand + rows * columns * perResult);
}

namespace {

/// One way to tile a product; what does not depend on the constants.
struct Tiling {
  double waves;     // of tiles over the multiprocessors
  Seconds tileTime; // of one tile at peak
  Bytes l2, dram, partial;
  double halvings; // of the largest tile's area down to this one's
  bool isSplit;
};

/// A product with its tilings.
struct Candidates {
  std::vector<Tiling> tilings;
  Flops flops;
  Bytes compulsory;
  Bytes l2Capacity;
};

// What the tiles that run at once read from DRAM: they lie in a near-square of rows x columns of tiles, and
// what such a square reads is read again by the next, as far as the smaller operand does not stay in the L2.
Bytes dramBytes(const GemmShape &s, const DeviceEnergy &device, double height, double width) {
  double down = std::ceil(s.rows / height), across = std::ceil(s.columns / width);
  double atOnce = std::min(down * across * s.batch, static_cast<double>(device.multiprocessors));
  double squareRows = std::min(std::max(std::sqrt(atOnce * width / height), 1.0), down);
  double squareColumns = std::min(atOnce / squareRows, across);
  squareRows = std::min(atOnce / squareColumns, down);
  double squares = std::max(down * across * s.batch / atOnce, 1.0);
  Bytes read = squares * (squareRows * height + squareColumns * width) * s.depth * s.perOperand;
  Bytes all = read + s.batch * s.rows * s.columns * s.perResult;
  Bytes smaller = s.batch * std::min(s.rows, s.columns) * s.depth * s.perOperand;
  double again = std::clamp(smaller / device.l2Effective, 0.0, 1.0);
  Bytes compulsory = s.compulsoryBytes();
  return std::max(compulsory, compulsory + again * (all - compulsory));
}

Tiling tile(const GemmShape &s, const DeviceEnergy &device, double height, double width, int split) {
  constexpr double depthStep = 64;
  FlopsPerSecond perMultiprocessor = device.engine(s.engine).peak / device.multiprocessors;
  double tiles = s.batch * std::ceil(s.rows / height) * std::ceil(s.columns / width) * split;
  double depth = std::ceil(s.depth / split / depthStep) * depthStep;
  Tiling tiling;
  tiling.waves = std::ceil(tiles / device.multiprocessors);
  tiling.tileTime = Flops(2 * height * width * depth) / perMultiprocessor;
  tiling.l2 = tiles * (height + width) * depth * s.perOperand;
  tiling.dram = dramBytes(s, device, height, width);
  tiling.halvings = std::log2(256 * 128 / (height * width));
  tiling.isSplit = split > 1;
  // Partial sums of four bytes are written and read once.
  tiling.partial = split > 1 ? Bytes(8 * split * s.batch * s.rows * s.columns) : Bytes(0);
  return tiling;
}

Candidates candidatesOf(const GemmShape &shape, const DeviceEnergy &device) {
  static constexpr double sizes[][2] = {{256, 128}, {128, 256}, {128, 128}, {128, 64},
                                        {64, 128},  {64, 64},   {256, 64},  {64, 256}};
  Candidates candidates{{}, shape.flops(), shape.compulsoryBytes(), device.l2Capacity};
  for (const auto &[height, width] : sizes)
    for (int split : {1, 2, 3, 4, 6, 8})
      candidates.tilings.push_back(tile(shape, device, height, width, split));
  return candidates;
}

double sixth(double x) { return x * x * x * x * x * x; }

Seconds timeOf(const Tiling &tiling, const Candidates &all, const GemmConstants &c) {
  double efficiency = c.efficiency * std::exp(-c.smallTile * tiling.halvings);
  Seconds body = tiling.waves * (tiling.tileTime / efficiency + c.fill);
  double miss = std::clamp(2 * (all.compulsory / (c.resident * all.l2Capacity) - 1), 0.0, 1.0);
  Seconds sustained = all.flops / c.sustained;
  sustained = sustained * (1 + c.warmLoss * (1 - std::exp(-(sustained / c.warmTime))));
  double sum = sixth(body.value()) + sixth((tiling.l2 / c.l2).value()) +
               sixth(miss * (tiling.dram / c.dram).value()) + sixth(sustained.value());
  Seconds time = c.launch + Seconds(std::cbrt(std::sqrt(sum)));
  return tiling.isSplit ? time + c.split + tiling.partial / c.l2 : time;
}

const Tiling &bestOf(const Candidates &candidates, const GemmConstants &constants) {
  return *std::min_element(candidates.tilings.begin(), candidates.tilings.end(),
                           [&](const auto &a, const auto &b) {
                             return timeOf(a, candidates, constants) < timeOf(b, candidates, constants);
                           });
}

std::vector<double> toNumbers(const GemmConstants &c) {
  return {c.launch.value(), c.fill.value(), c.split.value(),   c.efficiency,
          c.smallTile,      c.l2.value(),   c.dram.value(),    c.sustained.value(),
          c.resident,       c.warmLoss,     c.warmTime.value()};
}

GemmConstants fromNumbers(const std::vector<double> &n) {
  return {Seconds(n[0]),        Seconds(n[1]),        Seconds(n[2]),        n[3], n[4],
          BytesPerSecond(n[5]), BytesPerSecond(n[6]), FlopsPerSecond(n[7]), n[8], n[9],
          Seconds(n[10])};
}

} // namespace

GemmConstants usualConstants(const DeviceEnergy &device, Engine engine) {
  GemmConstants c;
  c.launch = device.perLaunch;
  c.fill = microseconds(1);
  c.split = microseconds(2);
  c.efficiency = 0.9;
  c.smallTile = 0.15;
  // What tiles get is some 4000 bytes a clock on every GPU with data.
  c.l2 = Bytes(4000) * device.highestClock;
  c.dram = device.dramBandwidth;
  c.sustained = 0.75 * device.engine(engine).peak;
  c.resident = 0.8;
  c.warmLoss = 0.1;
  c.warmTime = Seconds(1e-3);
  return c;
}

Seconds gemmTime(const GemmShape &shape, const DeviceEnergy &device, const GemmConstants &constants) {
  Candidates candidates = candidatesOf(shape, device);
  return timeOf(bestOf(candidates, constants), candidates, constants);
}

GemmConstants fitGemm(const std::vector<TimedGemm> &products, const DeviceEnergy &device) {
  std::vector<Candidates> candidates;
  for (const TimedGemm &product : products)
    candidates.push_back(candidatesOf(product.shape, device));
  auto residuals = [&](const std::vector<double> &numbers) {
    GemmConstants constants = fromNumbers(numbers);
    std::vector<double> residuals;
    for (size_t i = 0; i < products.size(); ++i)
      residuals.push_back(
          std::log(timeOf(bestOf(candidates[i], constants), candidates[i], constants) / products[i].time));
    return residuals;
  };
  return fromNumbers(
      fitLogarithms(residuals, toNumbers(usualConstants(device, products.at(0).shape.engine)), 0.05, 0.05));
}

Bytes gemmL2Bytes(const GemmShape &shape, const DeviceEnergy &device) {
  Candidates candidates = candidatesOf(shape, device);
  return bestOf(candidates, usualConstants(device, shape.engine)).l2;
}

} // namespace joule
