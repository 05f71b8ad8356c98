// expand-math: compute mathematical functions by arithmetic.
#include "passes/TileToNvvm/ExpandMath.h"
#include "passes/TileToNvvm/Passes.h"

namespace joule {
#define GEN_PASS_DEF_EXPANDMATH
#include "passes/TileToNvvm/Passes.h.inc"
} // namespace joule

using namespace mlir;
using namespace joule;

namespace {

struct ExpandMath : joule::impl::ExpandMathBase<ExpandMath> {
  void runOnOperation() override {
    // Expansions may use other functions, which are then expanded in turn.
    SmallVector<Operation *> pending;
    auto collect = [&](Operation *root) {
      root->walk([&](Operation *op) {
        if (findExpansion(op))
          pending.push_back(op);
      });
    };
    collect(getOperation());
    while (!pending.empty()) {
      Operation *op = pending.pop_back_val();
      Operation *before = op->getPrevNode();
      OpBuilder builder(op);
      Value result = findExpansion(op)(builder, op);
      if (!result) {
        op->emitOpError() << "on " << op->getResult(0).getType() << " has no expansion";
        return signalPassFailure();
      }
      for (Operation *made = before ? before->getNextNode() : &op->getBlock()->front(); made != op;
           made = made->getNextNode())
        collect(made);
      op->getResult(0).replaceAllUsesWith(result);
      op->erase();
    }
  }
};

} // namespace
