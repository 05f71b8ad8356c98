// The map family: a thread computes some elements of each result, every one on its own.
//
//   block b, thread t, n elements a thread:  elements (b * threads + t) * n … + n
//
// Consecutive elements of one thread become one wide access where the memory allows. This form exists for
// every element definition; a reduction in it runs serially in its thread.
#include "passes/NnToTile/Families.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace joule;

namespace {

/// As scheduled, but whole bytes where elements are narrower: a byte has one writer.
int64_t elementsPerThread(tile::ScheduleAttr schedule, ValueRange results) {
  int64_t count = schedule.getThread().empty() ? 1 : schedule.getThread().front();
  for (Value result : results) {
    unsigned bits = tile::bitsInMemory(cast<RankedTensorType>(result.getType()).getElementType());
    if (bits < 8)
      count = llvm::alignTo(count, 8 / bits);
  }
  return count;
}

/// Whether `count` elements from a multiple of `count` on lie in one row of `tensor`, as its type shows.
bool stayInRow(Value tensor, int64_t count) {
  auto type = cast<RankedTensorType>(tensor.getType());
  return type.getRank() > 0 && !type.isDynamicDim(type.getRank() - 1) && type.getShape().back() % count == 0;
}

/// The elements `first … first + count`, all within the result.
void writeElements(KernelWriter &writer, Value first, int64_t count) {
  nn::ElementBuilder code = writer.code();
  Value result = writer.results.front();
  bool inRow = stayInRow(result, count);
  SmallVector<Value> start = writer.elements.coordinates(result, first), positions;
  SmallVector<SmallVector<Value>> values;
  for (int64_t number = 0; number < count; ++number) {
    Value position = code.add(first, number);
    SmallVector<Value> indices = start;
    if (number > 0 && inRow) {
      indices.back() = code.add(indices.back(), number);
      writer.elements.relate(result, indices, position);
    } else if (number > 0) {
      indices = writer.elements.coordinates(result, position);
    }
    positions.push_back(position);
    values.push_back(writer.computeResults(indices, position));
  }
  for (auto [stored, position] : llvm::zip(values, positions))
    writer.storeResults(stored, position);
}

} // namespace

LogicalResult joule::emitMap(KernelWriter &writer) {
  nn::ElementBuilder code = writer.code();
  int64_t threads = writer.schedule.getThreads(),
          perThread = elementsPerThread(writer.schedule, writer.results);
  Value total = code.index(1);
  auto type = cast<RankedTensorType>(writer.results.front().getType());
  for (int64_t dim = 0; dim < type.getRank(); ++dim)
    total = code.mul(total, writer.elements.size(writer.results.front(), dim));
  Value first = code.mul(code.add(code.mul(writer.blockId(), threads), writer.threadId()), perThread);

  auto guard = [&](Value condition, function_ref<void()> inside, function_ref<void()> outside) {
    code.choose(
        condition, {}, [&] { return inside(), SmallVector<Value>(); },
        [&] { return outside(), SmallVector<Value>(); });
  };
  auto isBelow = [&](Value position) {
    return code.make<arith::CmpIOp>(arith::CmpIPredicate::ult, position, total);
  };
  auto singly = [&] {
    code.loops(code.index(perThread), {}, [&](ValueRange at, ValueRange) {
      Value position = code.add(first, at.front());
      guard(
          isBelow(position), [&] { writeElements(writer, position, 1); }, [] {});
      return SmallVector<Value>();
    });
  };
  bool isWhole = type.hasStaticShape() && type.getNumElements() % perThread == 0;
  auto together = [&] { writeElements(writer, first, perThread); };
  if (isWhole)
    guard(isBelow(first), together, [] {});
  else if (perThread == 1)
    singly();
  else
    guard(isBelow(code.add(first, perThread - 1)), together, singly);
  return success();
}

FailureOr<std::array<Value, 3>> joule::gridOfMap(GridWriter &writer) {
  int64_t perBlock = writer.schedule.getThreads() * elementsPerThread(writer.schedule, writer.results);
  Value blocks = writer.builder.createOrFold<arith::CeilDivUIOp>(
      writer.loc, writer.count(writer.results.front()), writer.index(perBlock));
  return std::array<Value, 3>{blocks, writer.index(1), writer.index(1)};
}
