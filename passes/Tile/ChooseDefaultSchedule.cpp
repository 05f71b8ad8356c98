// choose-default-schedule: give every kernel a schedule it lacks.
#include "dialects/Nn/NnDialect.h"
#include "dialects/Tile/TileDialect.h"
#include "passes/Tile/Passes.h"

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

/// The family of the op that needs a kernel of its own, "map" where there is none.
StringRef familyOf(tile::KernelOp kernel) {
  for (Operation &op : kernel.getBody().front())
    if (isa<nn::KernelDefinition>(op))
      return op.getName().stripDialect();
  return "map";
}

struct ChooseDefaultSchedule : joule::impl::ChooseDefaultScheduleBase<ChooseDefaultSchedule> {
  void runOnOperation() override {
    for (auto kernel : getOperation().getOps<tile::KernelOp>()) {
      if (kernel.getSchedule())
        continue;
      const int64_t threads = 256, perThread = 1;
      kernel.setScheduleAttr(tile::ScheduleAttr::get(&getContext(), familyOf(kernel), threads, /*block=*/{},
                                                     /*thread=*/{perThread}, indexBitsOf(kernel)));
    }
  }
};

} // namespace
