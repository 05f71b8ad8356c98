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

int64_t elementsPerThread(tile::ScheduleAttr schedule) {
  return schedule.getThread().empty() ? 1 : schedule.getThread().front();
}

/// The elements `first … first + count`, all within the result.
void storeElements(KernelWriter &writer, Value first, int64_t count) {
  nn::ElementBuilder code = writer.code();
  for (int64_t number = 0; number < count; ++number) {
    Value position = code.add(first, number);
    writer.storeResults(writer.elements.coordinates(writer.results.front(), position), position);
  }
}

} // namespace

LogicalResult joule::emitMap(KernelWriter &writer) {
  nn::ElementBuilder code = writer.code();
  int64_t threads = writer.schedule.getThreads(), perThread = elementsPerThread(writer.schedule);
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
    for (int64_t number = 0; number < perThread; ++number) {
      Value position = code.add(first, number);
      guard(
          isBelow(position), [&] { storeElements(writer, position, 1); }, [] {});
    }
  };
  if (perThread == 1)
    singly();
  else
    guard(
        isBelow(code.add(first, perThread - 1)), [&] { storeElements(writer, first, perThread); }, singly);
  return success();
}

FailureOr<std::array<Value, 3>> joule::gridOfMap(GridWriter &writer) {
  int64_t perBlock = writer.schedule.getThreads() * elementsPerThread(writer.schedule);
  Value blocks = writer.builder.createOrFold<arith::CeilDivUIOp>(
      writer.loc, writer.count(writer.results.front()), writer.index(perBlock));
  return std::array<Value, 3>{blocks, writer.index(1), writer.index(1)};
}
