// The row family: reductions, and what needs a reduction of its row for each element (softmax,
// normalisation).
//
// A row is all elements along the axes. `block[1]` threads share one, `block[0]` rows a block. Where rows lie
// along memory, neighbouring threads hold neighbouring elements, `thread[0]` of them at a time; where they
// lie across it, neighbouring threads hold neighbouring rows:
//
//      rows along memory                    rows across memory
//      row 0:  t0 t0 t1 t1 t2 t2 t3 t3      row:   0   1   2   3
//              t0 t0 t1 t1 t2 t2 t3 t3             t0  t1  t2  t3
//      row 1:  t4 t4 t5 t5 t6 t6 t7 t7             t4  t5  t6  t7
//
// A row whose length is known and moderate is read once and stays in registers; others are read again for
// each pass. The threads of a row combine what they have by shuffles and, across warps, through shared
// memory.
#include "dialects/Nn/KernelRoot.h"
#include "dialects/Nn/RowShape.h"
#include "passes/NnToTile/Combine.h"
#include "passes/NnToTile/Families.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace joule;

namespace {

/// More elements than this of a row are not held in registers.
const int64_t mostHeld = 32;

const int64_t warpSize = 32;

Type elementOf(Value value) { return cast<RankedTensorType>(value.getType()).getElementType(); }

std::optional<nn::RowShape> findRows(Value result) {
  Operation *root = nn::findKernelRoot(*result.getParentBlock());
  return root ? nn::RowShape::of(root) : std::nullopt;
}

using Values = ThreadLines::Values;
using Combine = ThreadLines::Combine;

class RowKernel {
public:
  RowKernel(KernelWriter &writer, const nn::RowShape &shape)
      : writer(writer), code(writer.code()), shape(shape), root(shape.op), input(shape.input),
        rowsPerBlock(writer.schedule.getBlock()[0]), sharing(writer.schedule.getBlock()[1]),
        run(writer.schedule.getThread()[0]), threads(writer, rowsPerBlock, sharing, shape.isAlongMemory()) {}

  LogicalResult write() {
    findPlace();
    writer.elements.provide(root->getResult(0), [this](ValueRange) { return current; });
    llvm::TypeSwitch<Operation *>(root)
        .Case([&](nn::ReduceOp op) { write(op); })
        .Case([&](nn::ArgReduceOp op) { write(op); })
        .Case([&](nn::SoftmaxOp op) { write(op); })
        .Case([&](nn::NormalizeOp op) { write(op); });
    return success();
  }

private:
  KernelWriter &writer;
  nn::ElementBuilder code;
  nn::RowShape shape;
  Operation *root;
  Value input;
  int64_t rowsPerBlock, sharing, run;
  ThreadLines threads;

  /// Sizes of the dimensions off the axes, and along them.
  Values keptSizes, axisSizes;
  Value length, row, rowExists;
  bool trailing = false;
  std::optional<int64_t> staticLength;
  Values held;
  /// The root's element that is being stored.
  Value current;

  void findPlace() {
    int64_t rank = cast<RankedTensorType>(input.getType()).getRank();
    Value rows = code.index(1);
    length = code.index(1);
    for (int64_t dim = 0; dim < rank; ++dim) {
      Value size = writer.elements.size(input, dim);
      (shape.isAxis(dim) ? axisSizes : keptSizes).push_back(size);
      (shape.isAxis(dim) ? length : rows) = code.mul(shape.isAxis(dim) ? length : rows, size);
    }
    staticLength = getConstantIntValue(length);
    trailing = shape.axes.empty() || shape.axes.front() == rank - static_cast<int64_t>(shape.axes.size());
    row = code.add(code.mul(writer.blockId(), rowsPerBlock), threads.line());
    rowExists = code.make<arith::CmpIOp>(arith::CmpIPredicate::ult, row, rows);
    // Threads beyond the last row work on it too: all must take part in shuffles and barriers.
    row = code.make<arith::MinSIOp>(row, code.sub(rows, 1));
  }

  /// The indices of element `at` of the row.
  Values indices(Value at) {
    Values kept = takeApart(code, row, keptSizes), moving = takeApart(code, at, axisSizes), all;
    auto *nextKept = kept.begin(), *nextMoving = moving.begin();
    int64_t rank = kept.size() + moving.size();
    for (int64_t dim = 0; dim < rank; ++dim)
      all.push_back(shape.isAxis(dim) ? *nextMoving++ : *nextKept++);
    if (trailing)
      writer.elements.relate(input, all, code.add(code.mul(row, length), at));
    return all;
  }

  // A thread's elements come in steps of `run` neighbours.
  Value steps() { return code.div(code.add(length, sharing * run - 1), code.index(sharing * run)); }
  Value first(Value step) { return code.add(code.mul(step, sharing * run), code.mul(threads.part(), run)); }
  /// Whether a step's elements exist: null if they always do.
  Value exists(Value first) {
    if (staticLength && *staticLength % (sharing * run) == 0)
      return {};
    return code.make<arith::CmpIOp>(arith::CmpIPredicate::ult, first, length);
  }
  bool isHeld() { return staticLength && llvm::divideCeil(*staticLength, sharing) <= mostHeld; }
  int64_t heldSteps() { return llvm::divideCeil(*staticLength, sharing * run); }

  /// Runs `inside` for the step that starts at `first`, or gives `otherwise` where there are no elements.
  Values guarded(Value condition, function_ref<Values()> inside, ArrayRef<Value> otherwise) {
    if (!condition)
      return inside();
    SmallVector<Type> types = llvm::map_to_vector(otherwise, [](Value value) { return value.getType(); });
    return code.choose(condition, types, inside, [&] { return Values(otherwise); });
  }

  Values loadStep(Value first, Type type) {
    Values values;
    for (int64_t number = 0; number < run; ++number)
      values.push_back(
          castNumber(code, writer.elements.element(input, indices(code.add(first, number))), type));
    return values;
  }

  /// Brings the row into registers where it is held.
  void load(Type type) {
    if (!isHeld())
      return;
    for (int64_t step = 0; step < heldSteps(); ++step) {
      Value start = first(code.index(step));
      Values zeros(run, code.number(type, 0));
      llvm::append_range(held, guarded(
                                   exists(start), [&] { return loadStep(start, type); }, zeros));
    }
  }

  /// What all elements of the row give together, known to all of its threads: `map` of each, joined by
  /// `combine`.
  Values reduce(Type type, ArrayRef<Value> neutral, function_ref<Values(Value x, Value at)> map,
                Combine combine) {
    Values sums(neutral);
    auto add = [&](ArrayRef<Value> sums, Value x, Value at) { return combine(sums, map(x, at)); };
    if (isHeld()) {
      for (int64_t step = 0; step < heldSteps(); ++step) {
        Value start = first(code.index(step));
        sums = guarded(
            exists(start),
            [&] {
              Values inner(sums);
              for (int64_t number = 0; number < run; ++number)
                inner = add(inner, held[step * run + number], code.add(start, number));
              return inner;
            },
            sums);
      }
    } else {
      sums = code.loops(steps(), neutral, [&](ValueRange step, ValueRange sums) {
        Value start = first(step.front());
        return guarded(
            exists(start),
            [&] {
              Values inner(sums);
              for (auto [number, x] : llvm::enumerate(loadStep(start, type)))
                inner = add(inner, x, code.add(start, number));
              return inner;
            },
            Values(sums));
      });
    }
    return threads.combine(sums, combine);
  }

  /// Stores the row's one result.
  void storeRow(Value value) {
    Value isFirst = code.make<arith::CmpIOp>(arith::CmpIPredicate::eq, threads.part(), code.index(0));
    code.choose(
        code.both(isFirst, rowExists), {},
        [&]() -> Values {
          current = castNumber(code, value, elementOf(root->getResult(0)));
          Values indices = takeApart(code, row, keptSizes);
          writer.elements.relate(root->getResult(0), indices, row);
          writer.storeResults(results(indices, row), row);
          return {};
        },
        [] { return Values(); });
  }

  /// The kernel's results where the root's element is `current`.
  Values results(ValueRange indices, Value position) {
    Value front = writer.results.front();
    return writer.computeResults(haveSameSizes(front, root->getResult(0))
                                     ? Values(indices)
                                     : writer.elements.coordinates(front, position),
                                 position);
  }

  /// Stores `map` of every element of the row.
  void storeElements(Type type, function_ref<Value(Value x)> map) {
    auto storeStep = [&](Value start, function_ref<Values()> elements) {
      Value condition = rowExists;
      if (Value inside = exists(start))
        condition = code.both(inside, condition);
      code.choose(
          condition, {},
          [&]() -> Values {
            SmallVector<Values> values;
            Values positions;
            for (auto [number, x] : llvm::enumerate(elements())) {
              current = castNumber(code, map(x), elementOf(root->getResult(0)));
              Values at = indices(code.add(start, number));
              positions.push_back(writer.elements.position(root->getResult(0), at));
              values.push_back(results(at, positions.back()));
            }
            for (auto [value, position] : llvm::zip(values, positions))
              writer.storeResults(value, position);
            return {};
          },
          [] { return Values(); });
    };
    if (isHeld()) {
      for (int64_t step = 0; step < heldSteps(); ++step)
        storeStep(first(code.index(step)),
                  [&] { return Values(ArrayRef<Value>(held).slice(step * run, run)); });
      return;
    }
    code.loops(steps(), ValueRange(), [&](ValueRange step, ValueRange) {
      Value start = first(step.front());
      storeStep(start, [&] { return loadStep(start, type); });
      return Values();
    });
  }

  Value reduceOne(nn::Combiner combiner, Type type, function_ref<Value(Value)> map) {
    return reduce(
               type, code.neutral(combiner, type), [&](Value x, Value) { return Values{map(x)}; },
               [&](ArrayRef<Value> a, ArrayRef<Value> b) {
                 return Values{code.combine(combiner, a[0], b[0])};
               })
        .front();
  }

  void write(nn::ReduceOp op) {
    std::optional<nn::PrecisionAttr> precision = op.getPrecision();
    Type type = precision ? precision->getAccumulate() : nn::defaultAccumulateType(elementOf(input));
    load(type);
    storeRow(reduceOne(op.getCombiner(), type, [](Value x) { return x; }));
  }

  void write(nn::ArgReduceOp op) {
    Type type = nn::computeTypeOf(elementOf(input));
    load(type);
    // Threads without an element hold one that none comes after, at a place that is never wrong.
    Values neutral = {code.neutral(op.getCombiner(), type), code.index(0)};
    Values best = reduce(
        type, neutral,
        [&](Value x, Value at) {
          return Values{x, at};
        },
        [&](ArrayRef<Value> a, ArrayRef<Value> b) {
          Value more = nn::isMoreExtreme(code, op.getCombiner(), b[0], a[0]);
          Value less = nn::isMoreExtreme(code, op.getCombiner(), a[0], b[0]);
          auto order = op.getSelectLast() ? arith::CmpIPredicate::sgt : arith::CmpIPredicate::slt;
          Value preferred = code.make<arith::CmpIOp>(order, b[1], a[1]);
          Value no = code.number(code.builder.getI1Type(), 0);
          Value wins = code.either(more, code.select(less, no, preferred));
          return Values{code.select(wins, b[0], a[0]), code.select(wins, b[1], a[1])};
        });
    storeRow(code.make<arith::IndexCastOp>(elementOf(op.getResult()), best[1]));
  }

  void write(nn::SoftmaxOp op) {
    Type type = nn::computeTypeOf(elementOf(input));
    load(type);
    Value greatest = reduceOne(nn::Combiner::Max, type, [](Value x) { return x; });
    auto shifted = [&](Value x) { return code.make<arith::SubFOp>(x, greatest); };
    auto power = [&](Value x) { return code.make<math::ExpOp>(shifted(x)); };
    bool once = isHeld() && !op.getLog();
    if (once)
      for (Value &x : held)
        x = power(x);
    Value sum = reduceOne(nn::Combiner::Sum, type, [&](Value x) { return once ? x : power(x); });
    if (op.getLog()) {
      Value logarithm = code.make<math::LogOp>(sum);
      storeElements(type, [&](Value x) { return code.make<arith::SubFOp>(shifted(x), logarithm); });
      return;
    }
    Value inverse = code.make<arith::DivFOp>(code.number(type, 1), sum);
    storeElements(type, [&](Value x) { return code.make<arith::MulFOp>(once ? x : power(x), inverse); });
  }

  void write(nn::NormalizeOp op) {
    Type type = nn::computeTypeOf(elementOf(input));
    load(type);
    Value count =
        code.make<arith::SIToFPOp>(type, code.make<arith::IndexCastOp>(code.builder.getI64Type(), length));
    auto mean = [&](function_ref<Value(Value)> map) {
      return code.make<arith::DivFOp>(reduceOne(nn::Combiner::Sum, type, map), count);
    };
    // Centre first, then squares: exact where the mean is large beside the deviation.
    Value centre = op.getRms() ? Value() : mean([](Value x) { return x; });
    auto centred = [&](Value x) { return centre ? code.make<arith::SubFOp>(x, centre) : x; };
    if (isHeld())
      for (Value &x : held)
        x = centred(x);
    auto difference = [&](Value x) { return isHeld() ? x : centred(x); };
    Value variance = mean([&](Value x) { return code.make<arith::MulFOp>(difference(x), difference(x)); });
    Value epsilon = code.number(type, op.getEpsilon().convertToDouble());
    Value deviation = code.make<math::SqrtOp>(code.make<arith::AddFOp>(variance, epsilon));
    Value inverse = code.make<arith::DivFOp>(code.number(type, 1), deviation);
    storeElements(type, [&](Value x) { return code.make<arith::MulFOp>(difference(x), inverse); });
  }
};

LogicalResult checkSchedule(tile::KernelOp kernel, tile::ScheduleAttr schedule) {
  ArrayRef<int64_t> block = schedule.getBlock(), thread = schedule.getThread();
  if (block.size() != 2 || thread.size() != 1 || block[0] < 1 || block[1] < 1 || thread[0] < 1 ||
      block[0] * block[1] != schedule.getThreads())
    return kernel.emitOpError() << "has a schedule whose block is not rows and the threads that share one";
  if (!llvm::isPowerOf2_64(block[1]) || (block[1] < warpSize && schedule.getThreads() % warpSize != 0))
    return kernel.emitOpError()
           << "has a schedule whose rows are not shared by a power of two of threads in whole warps";
  return success();
}

} // namespace

LogicalResult joule::emitRow(KernelWriter &writer) {
  return RowKernel(writer, *findRows(writer.results.front())).write();
}

FailureOr<std::array<Value, 3>> joule::gridOfRow(GridWriter &writer) {
  std::optional<nn::RowShape> shape = findRows(writer.results.front());
  if (!shape)
    return writer.kernel.emitOpError()
           << "has a schedule for rows but holds no reduction that its results follow element by element";
  if (failed(checkSchedule(writer.kernel, writer.schedule)))
    return failure();
  Value rows = writer.index(1);
  for (int64_t dim = 0; dim < cast<RankedTensorType>(shape->input.getType()).getRank(); ++dim)
    if (!shape->isAxis(dim))
      rows = writer.builder.createOrFold<arith::MulIOp>(writer.loc, rows, writer.size(shape->input, dim));
  Value blocks = writer.builder.createOrFold<arith::CeilDivUIOp>(writer.loc, rows,
                                                                 writer.index(writer.schedule.getBlock()[0]));
  return std::array<Value, 3>{blocks, writer.index(1), writer.index(1)};
}
