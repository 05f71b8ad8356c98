// The dot family: matrix products with few rows or few columns. The products of a vector with a matrix are of
// this sort, and depthwise convolutions, whose groups have one filter each.
//
// The operand with many lines is read once, so that nothing is gained by bringing it into shared memory. A
// line of it is shared by `block[1]` threads, `block[0]` lines a block. Where lines lie along memory,
// neighbouring threads share one; where they lie across it, neighbouring threads have neighbouring lines. Per
// step a thread takes `thread[1]` runs of `thread[0]` neighbours along the depth, and multiplies each element
// with that of every line of the other operand.
#include "dialects/Nn/KernelRoot.h"
#include "passes/NnToTile/Combine.h"
#include "passes/NnToTile/Families.h"
#include "passes/NnToTile/MatrixOperand.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace joule;
using nn::MatrixProduct;
using Part = MatrixOperand::Part;

namespace {

struct Division {
  int64_t lines, sharing, run, runs;

  static FailureOr<Division> of(tile::KernelOp kernel, tile::ScheduleAttr schedule) {
    ArrayRef<int64_t> block = schedule.getBlock(), thread = schedule.getThread();
    if (block.size() != 2 || thread.size() != 2 || block[0] * block[1] != schedule.getThreads() ||
        thread[0] < 1 || thread[1] < 1)
      return kernel.emitOpError()
             << "has a schedule whose block is not lines and the threads that share one, or whose "
                "thread is not elements of a run and runs";
    if (block[0] < 1 || block[1] < 1 || !llvm::isPowerOf2_64(block[0]) || !llvm::isPowerOf2_64(block[1]) ||
        schedule.getThreads() % 32 != 0)
      return kernel.emitOpError()
             << "has a schedule whose lines are not shared by a power of two of threads in whole warps";
    return Division{block[0], block[1], thread[0], thread[1]};
  }
};

/// Whether the columns are the many lines, and how many lines the other operand has; none if both have many.
struct Sides {
  bool manyColumns;
  int64_t few;

  static std::optional<Sides> of(const MatrixProduct &product) {
    int64_t rows = MatrixProduct::staticSize(product.rows),
            columns = MatrixProduct::staticSize(product.columns);
    const int64_t most = 16;
    auto isFew = [&](int64_t size) { return !ShapedType::isDynamic(size) && size <= most; };
    if (isFew(rows) && (!isFew(columns) || rows <= columns))
      return Sides{true, rows};
    if (isFew(columns))
      return Sides{false, columns};
    return std::nullopt;
  }
};

class DotKernel {
public:
  DotKernel(KernelWriter &writer, const MatrixProduct &product, const Division &division, const Sides &sides)
      : writer(writer), code(writer.code()), product(product), division(division), sides(sides),
        walk(writer, product, division.sharing * division.run * division.runs),
        many(writer, product, /*isLeft=*/!sides.manyColumns),
        few(writer, product, /*isLeft=*/sides.manyColumns), result(writer, product),
        threads(writer, division.lines, division.sharing, many.isAlongDepth()) {}

  void write() {
    findPlace();
    Values sums(sides.few, code.number(many.type(), 0));
    sums = code.loops(walk.steps(), sums, [&](ValueRange at, ValueRange sums) {
      Values added(sums);
      for (int64_t number = 0; number < division.runs; ++number)
        added = addRun(at.front(), number, added);
      return added;
    });
    sums = threads.combine(sums, [&](ArrayRef<Value> a, ArrayRef<Value> b) {
      Values both;
      for (auto [x, y] : llvm::zip(a, b))
        both.push_back(code.combine(nn::Combiner::Sum, x, y));
      return both;
    });
    Value isFirst = code.make<arith::CmpIOp>(arith::CmpIPredicate::eq, threads.part(), code.index(0));
    onlyIf(code, code.both(isFirst, exists), [&] { store(sums); });
  }

private:
  using Values = SmallVector<Value>;

  KernelWriter &writer;
  nn::ElementBuilder code;
  const MatrixProduct &product;
  Division division;
  Sides sides;
  DepthWalk walk;
  MatrixOperand many, few;
  MatrixResult result;
  ThreadLines threads;
  Value batch, line, exists;
  Part ownLine;
  SmallVector<Part> otherLines;

  void findPlace() {
    Value blocks = runsOf(code, many.lines(), division.lines), block = writer.blockId();
    bool batched = product.staticBatches() != 1;
    batch = batched ? code.div(block, blocks) : code.index(0);
    block = batched ? code.rem(block, blocks) : block;
    line = code.add(code.mul(block, division.lines), threads.line());
    exists = code.make<arith::CmpIOp>(arith::CmpIPredicate::ult, line, many.lines());
    // Threads beyond the last line work on it too: all must take part in shuffles and barriers.
    line = code.make<arith::MinSIOp>(line, code.sub(many.lines(), 1));
    ownLine = many.line(batch, line);
    for (int64_t other = 0; other < sides.few; ++other)
      otherLines.push_back(few.line(batch, code.index(other)));
  }

  Value whenBoth(Value a, Value b) { return a && b ? code.both(a, b) : a ? a : b; }

  Values onlyWhere(Value condition, ArrayRef<Value> otherwise, function_ref<Values()> inside) {
    if (!condition)
      return inside();
    SmallVector<Type> types(otherwise.size(), many.type());
    return code.choose(condition, types, inside, [&] { return Values(otherwise); });
  }

  /// The part of a place of this thread's, `further` along the depth from its first.
  Part place(MatrixOperand &operand, Value step, int64_t further) {
    Value local = code.mul(threads.part(), division.run);
    if (!walk.movingExtent())
      return operand.depth(walk.at(step, local, further));
    Part first = operand.depth(walk.at(step, local, 0));
    return further == 0 ? first : operand.deeper(first, *walk.movingExtent(), further);
  }

  /// Adds the products of run `number` of a step.
  Values addRun(Value step, int64_t number, Values sums) {
    Value local = code.mul(threads.part(), division.run);
    int64_t first = number * division.sharing * division.run;
    // Elements of one condition are loaded behind one branch.
    bool together =
        walk.isUniform() || (walk.keepsRuns(division.run) && !many.hasWindow() && !few.hasWindow());
    for (int64_t start = 0; start < division.run; start += together ? division.run : 1) {
      int64_t count = together ? division.run : 1;
      Value inside = many.inside(ownLine, place(many, step, first + start));
      inside = whenBoth(walk.exists(step, local, first + start), inside);
      sums = onlyWhere(inside, sums, [&] {
        Values added(sums), elements;
        for (int64_t offset = 0; offset < count; ++offset)
          elements.push_back(many.element(ownLine, place(many, step, first + start + offset)));
        for (auto [offset, element] : llvm::enumerate(elements))
          added = addProducts(element, place(few, step, first + start + offset), added);
        return added;
      });
    }
    return sums;
  }

  /// Adds the products of one element with those of the other operand's lines.
  Values addProducts(Value element, const Part &depth, Values sums) {
    for (auto [other, sum] : llvm::zip(otherLines, sums)) {
      Value inside = few.inside(other, depth);
      sum = onlyWhere(inside, sum, [&, &other = other, &sum = sum] {
              return Values{addProduct(element, few.element(other, depth), sum)};
            }).front();
    }
    return sums;
  }

  Value addProduct(Value a, Value b, Value sum) {
    if (isa<FloatType>(sum.getType()))
      return code.make<math::FmaOp>(a, b, sum);
    return code.add(sum, code.mul(a, b));
  }

  void store(ArrayRef<Value> sums) {
    Part batchPart = result.batch(batch);
    Part own = sides.manyColumns ? result.column(line) : result.row(line);
    SmallVector<Part> others;
    SmallVector<Values> values;
    for (auto [other, sum] : llvm::enumerate(sums)) {
      Value at = code.index(other);
      others.push_back(sides.manyColumns ? result.row(at) : result.column(at));
      values.push_back(result.finish({&batchPart, &own, &others.back()}, sum));
    }
    for (auto [other, value] : llvm::zip(others, values))
      result.store({&batchPart, &own, &other}, value);
  }
};

std::optional<MatrixProduct> findProduct(Value result) {
  Operation *root = nn::findKernelRoot(*result.getParentBlock());
  return root ? MatrixProduct::of(root) : std::nullopt;
}

} // namespace

LogicalResult joule::emitDot(KernelWriter &writer) {
  std::optional<MatrixProduct> product = findProduct(writer.results.front());
  FailureOr<Division> division = Division::of(writer.kernel, writer.schedule);
  if (failed(division))
    return failure();
  DotKernel(writer, *product, *division, *Sides::of(*product)).write();
  return success();
}

FailureOr<std::array<Value, 3>> joule::gridOfDot(GridWriter &writer) {
  std::optional<MatrixProduct> product = findProduct(writer.results.front());
  std::optional<Sides> sides = product ? Sides::of(*product) : std::nullopt;
  FailureOr<Division> division = Division::of(writer.kernel, writer.schedule);
  if (failed(division))
    return failure();
  if (!sides)
    return writer.kernel.emitOpError()
           << "has a schedule for a matrix product of few rows or columns but holds none";
  Value lines = countOnHost(writer, sides->manyColumns ? product->columns : product->rows);
  Value blocks =
      writer.builder.createOrFold<arith::CeilDivUIOp>(writer.loc, lines, writer.index(division->lines));
  Value batches = writer.builder.createOrFold<arith::MulIOp>(
      writer.loc, countOnHost(writer, product->batches), writer.index(product->groups));
  Value all = writer.builder.createOrFold<arith::MulIOp>(writer.loc, batches, blocks);
  return std::array<Value, 3>{all, writer.index(1), writer.index(1)};
}
