// The triangularize family: a block has one matrix, which it copies to the result and works on there. In each
// step all threads look for the pivot alike, so that none need tell the others; they share the elements of
// the rows that change places, then those right of and below the pivot. What is left below the diagonal is
// read no more and becomes 0 in the end.
#include "passes/NnToTile/Families.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace joule;

namespace {

/// The number of dimensions that only number the matrices.
int64_t batchRankOf(nn::TriangularizeOp op) {
  return cast<RankedTensorType>(op.getInput().getType()).getRank() - 2;
}

class TriangularizeEmitter {
public:
  TriangularizeEmitter(KernelWriter &writer, nn::TriangularizeOp op)
      : writer(writer), op(op), code(writer.code()), builder(writer.builder), loc(writer.loc),
        type(cast<RankedTensorType>(op.getInput().getType()).getElementType()) {}

  void run() {
    int64_t batchRank = batchRankOf(op);
    SmallVector<Value> sizes;
    for (int64_t dim = 0; dim < batchRank; ++dim)
      sizes.push_back(writer.elements.size(op.getInput(), dim));
    batch = takeApart(code, writer.blockId(), sizes);
    size = writer.elements.size(op.getInput(), batchRank);
    copy();
    code.loops(size, {}, [&](ValueRange step, ValueRange) {
      Value k = step.front(), pivot = findPivot(k);
      barrier();
      exchange(k, pivot);
      barrier();
      eliminate(k);
      barrier();
      return SmallVector<Value>();
    });
    clear();
  }

private:
  void barrier() { builder.create<gpu::BarrierOp>(loc); }

  SmallVector<Value> at(Value row, Value column) {
    SmallVector<Value> indices(batch);
    indices.append({row, column});
    return indices;
  }
  Value load(Value row, Value column) {
    return builder.create<tile::LoadOp>(loc, type, writer.buffers[0],
                                        writer.elements.position(op.getResult(), at(row, column)));
  }
  void store(Value value, Value row, Value column) {
    builder.create<tile::StoreOp>(loc, value, writer.buffers[0],
                                  writer.elements.position(op.getResult(), at(row, column)));
  }

  Value compare(arith::CmpIPredicate predicate, Value a, Value b) {
    return code.make<arith::CmpIOp>(predicate, a, b);
  }

  /// Runs `body` for every place of `sizes` that this thread has. All threads go through as many turns.
  void share(ArrayRef<Value> sizes, llvm::function_ref<void(ArrayRef<Value> place)> body) {
    int64_t threads = writer.schedule.getThreads();
    Value count = code.index(1), thread = writer.threadId();
    for (Value size : sizes)
      count = code.mul(count, size);
    code.loops(code.div(code.add(count, threads - 1), code.index(threads)), {},
               [&](ValueRange turn, ValueRange) {
                 Value flat = code.add(code.mul(turn.front(), threads), thread);
                 onlyIf(code, compare(arith::CmpIPredicate::ult, flat, count),
                        [&] { body(takeApart(code, flat, sizes)); });
                 return SmallVector<Value>();
               });
  }

  void copy() {
    share({size, size}, [&](ArrayRef<Value> place) {
      store(writer.elements.element(op.getInput(), at(place[0], place[1])), place[0], place[1]);
    });
    barrier();
  }

  /// The row, `k` or below, with the greatest magnitude in column `k`.
  Value findPivot(Value k) {
    Value less = code.number(type, -1);
    return code.loops(code.sub(size, k), {less, k}, [&](ValueRange below, ValueRange best) {
      Value row = code.add(k, below.front());
      Value magnitude = code.make<math::AbsFOp>(load(row, k));
      Value improves = nn::isMoreExtreme(code, nn::Combiner::Max, magnitude, best[0]);
      return SmallVector<Value>{code.select(improves, magnitude, best[0]),
                                code.select(improves, row, best[1])};
    })[1];
  }

  void exchange(Value k, Value pivot) {
    onlyIf(code, compare(arith::CmpIPredicate::ne, k, pivot), [&] {
      share({code.sub(size, k)}, [&](ArrayRef<Value> place) {
        Value column = code.add(k, place[0]);
        Value upper = load(k, column), lower = load(pivot, column);
        store(lower, k, column);
        store(code.make<arith::NegFOp>(upper), pivot, column);
      });
    });
  }

  void eliminate(Value k) {
    Value first = code.add(k, 1), left = code.sub(size, first);
    share({left, left}, [&](ArrayRef<Value> place) {
      Value row = code.add(first, place[0]), column = code.add(first, place[1]);
      Value pivot = load(k, k), zero = code.number(type, 0);
      Value isZero = code.make<arith::CmpFOp>(arith::CmpFPredicate::OEQ, pivot, zero);
      Value quotient = code.select(isZero, zero, code.make<arith::DivFOp>(load(row, k), pivot));
      Value minus = code.make<arith::NegFOp>(quotient);
      store(code.make<math::FmaOp>(minus, load(k, column), load(row, column)), row, column);
    });
  }

  void clear() {
    share({size, size}, [&](ArrayRef<Value> place) {
      onlyIf(code, compare(arith::CmpIPredicate::ugt, place[0], place[1]),
             [&] { store(code.number(type, 0), place[0], place[1]); });
    });
  }

  KernelWriter &writer;
  nn::TriangularizeOp op;
  nn::ElementBuilder code;
  OpBuilder &builder;
  Location loc;
  Type type;
  SmallVector<Value> batch; ///< the indices of this block's matrix
  Value size;               ///< its number of rows
};

} // namespace

LogicalResult joule::emitTriangularize(KernelWriter &writer) {
  auto op = ownOp<nn::TriangularizeOp>(writer.kernel, writer.results);
  if (!op)
    return failure();
  TriangularizeEmitter(writer, op).run();
  return success();
}

FailureOr<std::array<Value, 3>> joule::gridOfTriangularize(GridWriter &writer) {
  auto op = ownOp<nn::TriangularizeOp>(writer.kernel, writer.results);
  if (!op)
    return failure();
  Value blocks = writer.index(1);
  for (int64_t dim = 0; dim < batchRankOf(op); ++dim)
    blocks = writer.builder.createOrFold<arith::MulIOp>(writer.loc, blocks, writer.size(op.getInput(), dim));
  return std::array<Value, 3>{blocks, writer.index(1), writer.index(1)};
}
