// Schedules of work on rows.
#include "passes/Tile/RowSchedule.h"

using namespace mlir;
using namespace joule;

namespace {

const int64_t threads = 256, warp = 32;

/// What sizes that only a run knows are taken to be.
const int64_t assumedRows = 4096, assumedLength = 1024;

int64_t known(int64_t size, int64_t assumed) { return ShapedType::isDynamic(size) ? assumed : size; }

int64_t powerOfTwo(int64_t atLeast) {
  return static_cast<int64_t>(llvm::PowerOf2Ceil(std::max<int64_t>(atLeast, 1)));
}

/// Rows along memory: neighbouring threads share a row.
int64_t sharingAlong(int64_t rows, int64_t length) {
  // Eight elements a thread keep several loads in flight; a warp combines without shared memory.
  int64_t sharing = std::min(powerOfTwo(llvm::divideCeil(length, 8)), warp);
  const int64_t mostOfWarp = 32 * warp, rowsThatFillAGpu = 1024;
  if (length > mostOfWarp || (length > 4 * warp && rows < rowsThatFillAGpu))
    sharing = std::min(powerOfTwo(llvm::divideCeil(length, 8)), threads);
  return sharing;
}

/// Rows across memory: neighbouring threads have neighbouring rows, and as many as fill a GPU suffice.
int64_t sharingAcross(int64_t rows, int64_t length) {
  int64_t sharing = 1;
  while (sharing < threads / warp && rows * sharing < 65536 && length >= 16 * sharing)
    sharing *= 2;
  return sharing;
}

/// How many neighbours a thread takes at once: what a wide access holds where all rows start at a multiple of
/// it.
int64_t runOf(const nn::RowShape &shape, int64_t sharing) {
  int64_t rank = cast<RankedTensorType>(shape.input.getType()).getRank(), length = shape.staticLength();
  bool trailing = !shape.axes.empty() && shape.axes.front() == rank - static_cast<int64_t>(shape.axes.size());
  if (!shape.isAlongMemory() || !trailing || ShapedType::isDynamic(length))
    return 1;
  int64_t bits = tile::bitsInMemory(cast<RankedTensorType>(shape.input.getType()).getElementType());
  int64_t run = std::clamp<int64_t>(128 / std::max<int64_t>(bits, 8), 1, 8);
  while (run > 1 && (length % run != 0 || length < sharing * run))
    run /= 2;
  return run;
}

} // namespace

tile::ScheduleAttr joule::chooseRowSchedule(const nn::RowShape &shape, int64_t indexBits) {
  int64_t rows = known(shape.staticRows(), assumedRows), length = known(shape.staticLength(), assumedLength);
  int64_t sharing = shape.isAlongMemory() ? sharingAlong(rows, length) : sharingAcross(rows, length);
  return tile::ScheduleAttr::get(shape.op->getContext(), "row", threads, {threads / sharing, sharing},
                                 {runOf(shape, sharing)}, indexBits);
}
