// Counts the arithmetic of a group from its ops and their sizes.
#include "passes/Nn/CountWork.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace joule;

namespace {

class WorkCounter {
public:
  WorkCounter(OpBuilder &builder, nn::FusedOp fused) : builder(builder), loc(fused.getLoc()), fused(fused) {}

  Value total() {
    Value sum = constant(0);
    for (Operation &op : fused.getBody().front().without_terminator())
      if (Value flops = flopsOf(&op))
        sum = builder.createOrFold<arith::AddIOp>(loc, sum, flops);
    return sum;
  }

private:
  Value constant(int64_t value) { return builder.create<arith::ConstantIndexOp>(loc, value); }

  /// A size in the body, as the host sees it.
  Value outside(OpFoldResult size) {
    if (auto attribute = dyn_cast<Attribute>(size))
      return constant(cast<IntegerAttr>(attribute).getInt());
    Value value = cast<Value>(size);
    if (auto argument = dyn_cast<BlockArgument>(value))
      return fused.getInputs()[argument.getArgNumber()];
    if (std::optional<int64_t> known = getConstantIntValue(value))
      return constant(*known);
    return value;
  }

  Value times(Value lhs, Value rhs) { return builder.createOrFold<arith::MulIOp>(loc, lhs, rhs); }

  /// The product of the sizes of `tensor` along the dimensions that `keep` accepts.
  Value count(Value tensor, llvm::function_ref<bool(int64_t)> keep = [](int64_t) { return true; }) {
    FailureOr<SmallVector<OpFoldResult>> sizes = nn::sizesOf(tensor);
    Value product = constant(1);
    if (failed(sizes))
      return product;
    for (auto [dim, size] : llvm::enumerate(*sizes))
      if (keep(dim))
        product = times(product, outside(size));
    return product;
  }

  /// Null for ops that only move data.
  Value flopsOf(Operation *op) {
    return TypeSwitch<Operation *, Value>(op)
        .Case([&](nn::ContractOp op) {
          Value summed = count(op.getLhs(), [&](int64_t dim) {
            return !llvm::is_contained(op.getOutLabels(), op.getLhsLabels()[dim]);
          });
          return times(constant(2), times(count(op.getResult()), summed));
        })
        .Case([&](nn::ConvOp op) {
          Value perElement = count(op.getFilter(), [](int64_t dim) { return dim > 0; });
          return times(constant(2), times(count(op.getResult()), perElement));
        })
        .Case([&](nn::PoolOp op) {
          int64_t window = 1;
          for (int64_t size : op.getWindow())
            window *= size;
          return times(constant(window), count(op.getResult()));
        })
        .Case<nn::ReduceOp, nn::ArgReduceOp, nn::CumulateOp>([&](auto op) { return count(op.getInput()); })
        .Case<nn::SoftmaxOp, nn::NormalizeOp>([&](auto op) { return times(constant(5), count(op.getInput())); })
        .Case([&](nn::TriangularizeOp op) {
          // 2 / 3 n^3 each.
          int64_t last = cast<RankedTensorType>(op.getInput().getType()).getRank() - 1;
          Value rows = count(op.getInput(), [&](int64_t dim) { return dim == last; });
          Value thrice = times(constant(2), times(count(op.getInput()), rows));
          return builder.createOrFold<arith::DivUIOp>(loc, thrice, constant(3));
        })
        .Case<nn::LstmOp, nn::GruOp, nn::RnnOp>([&](auto op) {
          Value steps = count(op.getGates(), [](int64_t dim) { return dim < 2; });
          return times(constant(2), times(steps, count(op.getRecurrence())));
        })
        .Default([&](Operation *op) {
          bool computes = nn::isPointwise(op) && op->getNumResults() == 1 &&
                          isa<RankedTensorType>(op->getResult(0).getType());
          return computes ? count(op->getResult(0)) : Value();
        });
  }

  OpBuilder &builder;
  Location loc;
  nn::FusedOp fused;
};

} // namespace

Value joule::countFlops(OpBuilder &builder, nn::FusedOp fused) { return WorkCounter(builder, fused).total(); }
