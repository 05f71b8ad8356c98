// nn-to-tile: write each kernel as the work of its threads.
#include "dialects/Nn/NnDialect.h"
#include "dialects/Tile/TileDialect.h"
#include "passes/NnToTile/Emitter.h"
#include "passes/NnToTile/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace joule {
#define GEN_PASS_DEF_NNTOTILE
#include "passes/NnToTile/Passes.h.inc"
} // namespace joule

using namespace mlir;
using namespace joule;

namespace {

/// Adds the body that will hold the threads' work, behind the old one. Its arguments stand where the old ones
/// do.
Block &addBody(tile::KernelOp kernel, nn::YieldOp yield) {
  Block &old = kernel.getBody().front(), &body = kernel.getBody().emplaceBlock();
  auto add = [&](Type type, Location loc) {
    if (auto tensor = dyn_cast<RankedTensorType>(type))
      type = tile::BufferType::get(type.getContext(), tensor.getElementType());
    body.addArgument(type, loc);
  };
  for (BlockArgument argument : old.getArguments())
    add(argument.getType(), argument.getLoc());
  for (Value result : yield.getOutputs())
    add(result.getType(), result.getLoc());
  return body;
}

/// Sizes of the old body's tensors as values of the grid region.
class GridSizes {
public:
  GridSizes(OpBuilder &builder, Block &oldBody, Block &grid) : builder(builder) {
    unsigned next = 0;
    for (BlockArgument argument : oldBody.getArguments())
      if (argument.getType().isIndex())
        mapping.map(argument, grid.getArgument(next++));
  }

  /// Null where it depends on data.
  Value size(Value tensor, unsigned dim) {
    FailureOr<SmallVector<OpFoldResult>> sizes = nn::sizesOf(tensor);
    if (failed(sizes))
      return {};
    if (auto constant = dyn_cast<Attribute>((*sizes)[dim]))
      return builder.create<arith::ConstantIndexOp>(tensor.getLoc(), cast<IntegerAttr>(constant).getInt());
    return copy(cast<Value>((*sizes)[dim]));
  }

private:
  OpBuilder &builder;
  IRMapping mapping;

  Value copy(Value old) {
    if (Value known = mapping.lookupOrNull(old))
      return known;
    Operation *op = old.getDefiningOp();
    if (!op || op->getNumRegions() != 0 || !isMemoryEffectFree(op))
      return {};
    for (Value operand : op->getOperands())
      if (isa<ShapedType>(operand.getType()) || !copy(operand))
        return {};
    builder.clone(*op, mapping);
    return mapping.lookup(old);
  }
};

class KernelLowering {
public:
  explicit KernelLowering(tile::KernelOp kernel)
      : kernel(kernel), builder(kernel.getContext()), yield(cast<nn::YieldOp>(oldBody().getTerminator())) {}

  LogicalResult run() {
    if (failed(check()))
      return failure();
    if (failed(writeGrid()) || failed(writeBody()))
      return failure();
    int64_t threads = kernel.getScheduleAttr().getThreads();
    kernel.setBlockAttr(builder.getDenseI64ArrayAttr({threads, 1, 1}));
    kernel.removeInputSizesAttr();
    return success();
  }

private:
  tile::KernelOp kernel;
  OpBuilder builder;
  nn::YieldOp yield;
  const KernelFamily *family = nullptr;

  Block &oldBody() { return kernel.getBody().front(); }

  LogicalResult check() {
    tile::ScheduleAttr schedule = kernel.getScheduleAttr();
    if (!schedule)
      return kernel.emitOpError() << "has no schedule";
    family = findFamily(schedule.getFamily());
    if (!family)
      return kernel.emitOpError() << "has a schedule of the unknown family '" << schedule.getFamily() << "'";
    if (schedule.getThreads() < 1 || schedule.getThreads() > 1024)
      return kernel.emitOpError() << "has a schedule of " << schedule.getThreads()
                                  << " threads, not 1 to 1024";
    if (yield.getOutputs().empty())
      return kernel.emitOpError() << "has no result";
    return success();
  }

  LogicalResult writeBody() {
    Block &old = oldBody(), &body = addBody(kernel, yield);
    builder.setInsertionPointToEnd(&body);
    KernelElements elements(builder, body);
    KernelWriter writer{kernel,
                        kernel.getScheduleAttr(),
                        kernel.getLoc(),
                        builder,
                        elements,
                        SmallVector<Value>(yield.getOutputs()),
                        llvm::to_vector_of<Value>(body.getArguments().drop_front(old.getNumArguments()))};
    if (failed(family->emit(writer)) || elements.hasFailed()) {
      body.erase();
      return failure();
    }
    builder.setInsertionPointToEnd(&body);
    builder.create<tile::ReturnOp>(kernel.getLoc());
    old.erase();
    return success();
  }

  LogicalResult writeGrid() {
    Block &grid = kernel.getGrid().empty() ? kernel.getGrid().emplaceBlock() : kernel.getGrid().front();
    grid.clear();
    grid.eraseArguments(0, grid.getNumArguments());
    for (BlockArgument argument : oldBody().getArguments())
      if (argument.getType().isIndex())
        grid.addArgument(argument.getType(), argument.getLoc());
    builder.setInsertionPointToEnd(&grid);
    GridSizes sizes(builder, oldBody(), grid);
    bool known = true;
    GridWriter writer{kernel,
                      kernel.getScheduleAttr(),
                      kernel.getLoc(),
                      builder,
                      yield.getOutputs(),
                      [&](Value tensor, unsigned dim) {
                        Value size = sizes.size(tensor, dim);
                        known &= static_cast<bool>(size);
                        return size ? size : builder.create<arith::ConstantIndexOp>(tensor.getLoc(), 0);
                      }};
    FailureOr<std::array<Value, 3>> blocks = family->grid(writer);
    if (failed(blocks))
      return failure();
    if (!known)
      return kernel.emitOpError() << "has a result whose sizes do not follow from its index arguments";
    builder.create<tile::GridOp>(kernel.getLoc(), (*blocks)[0], (*blocks)[1], (*blocks)[2]);
    return success();
  }
};

struct NnToTile : joule::impl::NnToTileBase<NnToTile> {
  void runOnOperation() override {
    for (auto kernel : getOperation().getOps<tile::KernelOp>()) {
      // A kernel that has been written already ends in tile.return.
      if (!isa<nn::YieldOp>(kernel.getBody().front().getTerminator()))
        continue;
      if (failed(KernelLowering(kernel).run()))
        signalPassFailure();
    }
  }
};

} // namespace
