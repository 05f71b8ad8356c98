// choose-default-schedule: give every kernel a schedule it lacks.
#include "dialects/Nn/KernelRoot.h"
#include "dialects/Nn/NnDialect.h"
#include "dialects/Tile/TileDialect.h"
#include "passes/Tile/Passes.h"
#include "passes/Tile/ProductSchedule.h"
#include "passes/Tile/RowSchedule.h"

#include "mlir/Dialect/Math/IR/Math.h"

namespace joule {
#define GEN_PASS_DEF_CHOOSEDEFAULTSCHEDULE
#include "passes/Tile/Passes.h.inc"
} // namespace joule

using namespace mlir;
using namespace joule;

namespace {

bool isHuge(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor && tensor.hasStaticShape() && tensor.getNumElements() >= (int64_t(1) << 31);
}

/// 64 where 32 bits cannot count a static tensor's elements; for dynamic ones the host guards.
int64_t indexBitsOf(tile::KernelOp kernel) {
  WalkResult found = kernel.getBody().walk([](Operation *op) {
    return llvm::any_of(op->getResultTypes(), isHuge) || llvm::any_of(op->getOperandTypes(), isHuge)
               ? WalkResult::interrupt()
               : WalkResult::advance();
  });
  return found.wasInterrupted() ? 64 : 32;
}

/// Elements narrower than a byte are stored by one thread per byte, which the map family alone sees to.
bool isPacked(Type type) { return tile::bitsInMemory(cast<RankedTensorType>(type).getElementType()) < 8; }

/// The schedule of a matrix product or of rows, null where the kernel has neither or the map family does as
/// well.
tile::ScheduleAttr scheduleOfRoot(tile::KernelOp kernel, int64_t multiprocessors) {
  Block &body = kernel.getBody().front();
  if (llvm::any_of(body.getTerminator()->getOperandTypes(), isPacked))
    return {};
  Operation *root = nn::findKernelRoot(body);
  if (!root)
    return {};
  if (auto product = nn::MatrixProduct::of(root))
    return chooseProductSchedule(*product, multiprocessors, indexBitsOf(kernel));
  return chooseRowSchedule(*nn::RowShape::of(root), indexBitsOf(kernel));
}

/// The family of the op that needs a kernel of its own, "map" where there is none.
StringRef familyOf(tile::KernelOp kernel) {
  for (Operation &op : kernel.getBody().front())
    if (isa<nn::KernelDefinition>(op))
      return op.getName().stripDialect();
  return "map";
}

bool isPointwiseOrConstant(Operation &op) {
  return nn::isPointwise(&op) ||
         isa<nn::ConstantOp, nn::CastOp, nn::BitcastOp, nn::BroadcastOp, nn::YieldOp>(op);
}

/// How many consecutive elements a thread of a `map` computes: as many as one wide access holds, where that
/// neither repeats costly code nor leaves too few blocks to fill a GPU.
int64_t elementsPerThread(tile::KernelOp kernel, int64_t threads) {
  Block &body = kernel.getBody().front();
  if (!llvm::all_of(body, isPointwiseOrConstant) || body.getTerminator()->getNumOperands() == 0)
    return 1;
  const int64_t widestAccess = 16, mostFunctions = 16, enoughBlocks = 256;
  auto result = cast<RankedTensorType>(body.getTerminator()->getOperand(0).getType());
  int64_t bytes = 1;
  for (Type type : body.getArgumentTypes())
    if (auto tensor = dyn_cast<RankedTensorType>(type))
      bytes = std::max<int64_t>(bytes, tile::bitsInMemory(tensor.getElementType()) / 8);
  int64_t functions =
      llvm::count_if(body, [](Operation &op) { return isa<math::MathDialect>(op.getDialect()); });
  int64_t count = widestAccess / bytes;
  auto isTooMuch = [&] {
    return count * functions > mostFunctions ||
           (result.hasStaticShape() && result.getNumElements() < enoughBlocks * threads * count);
  };
  while (count > 1 && isTooMuch())
    count /= 2;
  return count;
}

struct ChooseDefaultSchedule : joule::impl::ChooseDefaultScheduleBase<ChooseDefaultSchedule> {
  using ChooseDefaultScheduleBase::ChooseDefaultScheduleBase;

  void runOnOperation() override {
    for (auto kernel : getOperation().getOps<tile::KernelOp>()) {
      if (kernel.getSchedule())
        continue;
      const int64_t threads = 256;
      if (tile::ScheduleAttr schedule = scheduleOfRoot(kernel, multiprocessors)) {
        kernel.setScheduleAttr(schedule);
        continue;
      }
      kernel.setScheduleAttr(tile::ScheduleAttr::get(&getContext(), familyOf(kernel), threads, /*block=*/{},
                                                     elementsPerThread(kernel, threads),
                                                     indexBitsOf(kernel)));
    }
  }
};

} // namespace
