// Schedules of matrix products.
#include "passes/Tile/ProductSchedule.h"

using namespace mlir;
using namespace joule;

namespace {

struct Candidate {
  int64_t rows, columns, depth, threadRows, threadColumns, slices;

  int64_t threads() const { return rows / threadRows * (columns / threadColumns) * slices; }
};

/// From the largest tiles, which read shared memory least, to small ones for products that fill no GPU with
/// large ones.
const Candidate candidates[] = {
    {128, 128, 16, 8, 8, 1}, {128, 64, 16, 8, 8, 1}, {64, 128, 16, 8, 8, 1}, {64, 64, 16, 8, 8, 1},
    {64, 64, 32, 8, 8, 2},   {64, 64, 32, 8, 8, 4},  {32, 128, 16, 8, 8, 1}, {128, 32, 16, 8, 8, 1},
    {32, 64, 32, 8, 4, 2},   {64, 32, 32, 4, 8, 2},  {32, 64, 32, 8, 8, 4},  {64, 32, 32, 8, 8, 4},
    {32, 32, 32, 4, 4, 1},   {32, 32, 32, 4, 4, 4},  {16, 64, 32, 4, 4, 2},  {64, 16, 32, 4, 4, 2},
    {16, 128, 16, 4, 8, 2},  {128, 16, 16, 8, 4, 2}, {16, 16, 64, 4, 4, 8},
};

/// What a size that only a run knows is taken to be.
const int64_t assumedSize = 256;

int64_t known(int64_t size) { return ShapedType::isDynamic(size) ? assumedSize : size; }

struct Sizes {
  int64_t batches, rows, columns, depth;
};

/// Cycles until the product is done, roughly.
double costOf(const Candidate &candidate, const Sizes &sizes, int64_t multiprocessors) {
  int64_t blocks = sizes.batches * llvm::divideCeil(sizes.rows, candidate.rows) *
                   llvm::divideCeil(sizes.columns, candidate.columns);
  double depth = static_cast<double>(llvm::alignTo(std::max<int64_t>(sizes.depth, 1), candidate.depth));
  double held = static_cast<double>(candidate.threadRows * candidate.threadColumns);
  // Of a thread: per place along the depth its products and the loads for them; its share of filling the
  // strips, an address, a load and a store per element; at the end additions of slices and what follows the
  // product.
  double perPlace = held + (candidate.threadRows + candidate.threadColumns) / 4.0;
  double filling = 2.5 * static_cast<double>(candidate.rows + candidate.columns) / candidate.threads();
  const double perResult = 8;
  double perThread = depth / candidate.slices * perPlace + depth * filling +
                     held * (perResult + 2.0 * (candidate.slices - 1));
  // Four schedulers issue one warp's instruction each per cycle. With fewer than two warps each they wait.
  double warps = candidate.threads() / 32.0,
         rounds = static_cast<double>(llvm::divideCeil(blocks, multiprocessors));
  double resident = warps * std::min(rounds, 4.0), waiting = resident < 8 ? 1.5 : 1;
  double time = rounds * perThread * std::max(1.0, warps / 4) * waiting;
  // Work costs energy whether or not there is time for it.
  double work = blocks * perThread * warps / (4.0 * multiprocessors);
  return time + work / 2;
}

/// Products with few rows or columns: each line of the operand that has many is read once, by as many threads
/// as fill a GPU.
tile::ScheduleAttr chooseForLines(const nn::MatrixProduct &product, const Sizes &sizes,
                                  int64_t multiprocessors, int64_t indexBits) {
  bool manyColumns = sizes.rows <= sizes.columns;
  int64_t lines = manyColumns ? sizes.columns : sizes.rows, few = std::min(sizes.rows, sizes.columns);
  bool alongDepth = product.isAlongDepth(/*isLeft=*/!manyColumns);
  const int64_t threads = 256, warp = 32, threadsThatFillAGpu = multiprocessors * 1024;
  int64_t sharing = 1, mostSharing = alongDepth ? threads : threads / warp;
  // Sixteen elements a thread keep loads in flight; where lines are few, more threads share one.
  while (sharing < mostSharing && sizes.depth >= 32 * sharing &&
         (sharing < (alongDepth ? warp : 1) || sizes.batches * lines * sharing < threadsThatFillAGpu))
    sharing *= 2;
  int64_t perBlock = std::clamp<int64_t>(llvm::PowerOf2Ceil(lines), alongDepth ? 1 : warp, threads / sharing);
  while (perBlock * sharing < warp)
    perBlock *= 2;
  // Runs of a wide access where the depth keeps them together; several, as far as the depth goes.
  int64_t run = alongDepth && sizes.depth % 4 == 0 && sizes.depth >= 4 * sharing ? 4 : 1;
  int64_t runs = std::clamp<int64_t>(llvm::divideCeil(sizes.depth, sharing * run), 1,
                                     few > 4    ? 4
                                     : run == 4 ? 4
                                                : 8);
  // A window that is walked at once needs no loop, and its places are constants.
  const int64_t mostAtOnce = 32;
  if (sharing == 1 && sizes.depth <= mostAtOnce)
    runs = std::max<int64_t>(llvm::divideCeil(sizes.depth, run), 1);
  return tile::ScheduleAttr::get(product.op->getContext(), "dot", perBlock * sharing, {perBlock, sharing},
                                 {run, runs}, indexBits);
}

} // namespace

tile::ScheduleAttr joule::chooseProductSchedule(const nn::MatrixProduct &product, int64_t multiprocessors,
                                                int64_t indexBits) {
  Sizes sizes{ShapedType::isDynamic(product.staticBatches()) ? 1 : product.staticBatches(),
              known(nn::MatrixProduct::staticSize(product.rows)),
              known(nn::MatrixProduct::staticSize(product.columns)),
              known(nn::MatrixProduct::staticSize(product.depth))};
  const int64_t mostOfFew = 8;
  int64_t rows = nn::MatrixProduct::staticSize(product.rows),
          columns = nn::MatrixProduct::staticSize(product.columns);
  auto isFew = [&](int64_t size) { return !ShapedType::isDynamic(size) && size <= mostOfFew; };
  if (isFew(rows) || isFew(columns))
    return chooseForLines(product, sizes, multiprocessors, indexBits);
  // Wide numbers take two registers each.
  Type type = cast<RankedTensorType>(product.op->getResult(0).getType()).getElementType();
  bool isWide = type.isIntOrFloat() && type.getIntOrFloatBitWidth() == 64;
  const Candidate *best = nullptr;
  double least = 0;
  for (const Candidate &candidate : candidates) {
    if (isWide && candidate.threadRows * candidate.threadColumns > 16)
      continue;
    double cost = costOf(candidate, sizes, multiprocessors);
    if (!best || cost < least) {
      best = &candidate;
      least = cost;
    }
  }
  return tile::ScheduleAttr::get(product.op->getContext(), "contract", best->threads(),
                                 {best->rows, best->columns, best->depth},
                                 {best->threadRows, best->threadColumns}, indexBits);
}
