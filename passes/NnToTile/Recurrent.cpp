// The families of recurrent cells: a block runs one sequence of the batch from its first step to its last. Its threads share
// the hidden units; the state lies in shared memory, twice, so that a step reads one copy while it writes the other.
#include "passes/NnToTile/Families.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace joule;

namespace {

/// The parts that the three cells have in common, whatever the op.
struct Cell {
  Operation *op;
  Value gates, recurrence, hInitial, cInitial, peepholes, lengths, recurrentBias;
  Value sequence, hLast, cLast;
  ArrayAttr activations;
  ArrayRef<float> alphas, betas;
  float clip = 0;
  bool reverse = false, inputForget = false, linearBeforeReset = false;
};

template <typename Op> Cell common(Op op) {
  Cell cell;
  cell.op = op;
  cell.gates = op.getGates();
  cell.recurrence = op.getRecurrence();
  cell.hInitial = op.getHInitial();
  cell.lengths = op.getLengths();
  cell.sequence = op.getHSequence();
  cell.hLast = op.getHLast();
  cell.activations = op.getActivations();
  cell.alphas = op.getAlphas();
  cell.betas = op.getBetas();
  cell.clip = op.getClip().convertToFloat();
  cell.reverse = op.getReverse();
  return cell;
}

std::optional<Cell> cellOf(Operation *op) {
  if (auto lstm = dyn_cast_or_null<nn::LstmOp>(op)) {
    Cell cell = common(lstm);
    cell.cInitial = lstm.getCInitial();
    cell.peepholes = lstm.getPeepholes();
    cell.cLast = lstm.getCLast();
    cell.inputForget = lstm.getInputForget();
    return cell;
  }
  if (auto gru = dyn_cast_or_null<nn::GruOp>(op)) {
    Cell cell = common(gru);
    cell.recurrentBias = gru.getRecurrentBias();
    cell.linearBeforeReset = gru.getLinearBeforeReset();
    return cell;
  }
  if (auto rnn = dyn_cast_or_null<nn::RnnOp>(op))
    return common(rnn);
  return std::nullopt;
}

class RecurrentEmitter {
public:
  RecurrentEmitter(KernelWriter &writer, Cell cell)
      : writer(writer), cell(cell), code(writer.code()), builder(writer.builder), loc(writer.loc) {}

  LogicalResult run() {
    auto recurrence = cast<RankedTensorType>(cell.recurrence.getType());
    hidden = recurrence.getDimSize(1);
    stored = recurrence.getElementType();
    type = nn::computeTypeOf(stored);
    for (auto name : cell.activations.getAsRange<StringAttr>())
      if (!isKnown(name.getValue()))
        return cell.op->emitError() << "activation \"" << name.getValue() << "\" is not supported";
    state = shared(2 * hidden);
    if (cell.cInitial)
      memory = shared(hidden);
    if (isGru()) {
      reset = shared(hidden);
      update = shared(hidden);
    }
    batch = writer.blockId();
    steps = writer.elements.size(cell.gates, 0);
    length = steps;
    if (cell.lengths)
      length = code.make<arith::IndexCastOp>(builder.getIndexType(), writer.elements.element(cell.lengths, batch));
    start();
    walk();
    finish();
    return success();
  }

private:
  bool isGru() { return isa<nn::GruOp>(cell.op); }
  bool isLstm() { return isa<nn::LstmOp>(cell.op); }

  Value shared(int64_t count) {
    return builder.create<tile::AllocOp>(loc, tile::BufferType::get(builder.getContext(), type, true), count);
  }
  Value load(Value buffer, Value index) { return builder.create<tile::LoadOp>(loc, type, buffer, index); }
  void store(Value value, Value buffer, Value index) { builder.create<tile::StoreOp>(loc, value, buffer, index); }
  void barrier() { builder.create<gpu::BarrierOp>(loc); }

  /// An element of an operand in the type of the computation.
  Value element(Value tensor, ValueRange indices) {
    return nn::castNumber(code, writer.elements.element(tensor, indices), type);
  }

  Value number(double value) { return code.number(type, value); }
  Value add(Value a, Value b) { return code.make<arith::AddFOp>(a, b); }
  Value sub(Value a, Value b) { return code.make<arith::SubFOp>(a, b); }
  Value mul(Value a, Value b) { return code.make<arith::MulFOp>(a, b); }
  Value div(Value a, Value b) { return code.make<arith::DivFOp>(a, b); }
  Value select(arith::CmpFPredicate predicate, Value a, Value b, Value yes, Value no) {
    return code.select(code.make<arith::CmpFOp>(predicate, a, b), yes, no);
  }

  /// Writes an element of a result, if it is one.
  void give(Value result, ValueRange indices, Value value) {
    for (auto [each, buffer] : llvm::zip(writer.results, writer.buffers))
      if (each == result)
        builder.create<tile::StoreOp>(loc, nn::castNumber(code, value, stored), buffer,
                                      writer.elements.position(result, indices));
  }

  /// Runs `body` for every unit that this thread has.
  void forUnits(llvm::function_ref<void(Value unit)> body) {
    int64_t threads = writer.schedule.getThreads();
    Value thread = writer.threadId();
    code.loops(code.index(llvm::divideCeil(hidden, threads)), {}, [&](ValueRange turn, ValueRange) {
      Value unit = code.add(code.mul(turn.front(), threads), thread);
      onlyIf(code, code.make<arith::CmpIOp>(arith::CmpIPredicate::ult, unit, code.index(hidden)), [&] { body(unit); });
      return SmallVector<Value>();
    });
  }

  //===- Activations ---------------------------------------------------------------------------------------------------

  static bool isKnown(StringRef name) {
    return llvm::is_contained({"Sigmoid", "Tanh", "Relu", "Affine", "LeakyRelu", "ThresholdedRelu", "ScaledTanh",
                               "HardSigmoid", "Elu", "Softsign", "Softplus"},
                              name);
  }

  /// The coefficient of activation `number`: its own, or the default where the list ends before.
  double coefficient(ArrayRef<float> given, unsigned number, double fallback) {
    return number < given.size() ? given[number] : fallback;
  }

  Value sigmoid(Value x) { return div(number(1), add(number(1), code.make<math::ExpOp>(code.make<arith::NegFOp>(x)))); }
  Value atLeast(Value x, Value least) { return code.make<arith::MaximumFOp>(x, least); }

  Value activate(unsigned which, Value x) {
    StringRef name = cast<StringAttr>(cell.activations[which]).getValue();
    auto alpha = [&](double fallback) { return number(coefficient(cell.alphas, which, fallback)); };
    auto beta = [&](double fallback) { return number(coefficient(cell.betas, which, fallback)); };
    Value zero = number(0);
    if (name == "Sigmoid")
      return sigmoid(x);
    if (name == "Tanh")
      return code.make<math::TanhOp>(x);
    if (name == "Relu")
      return atLeast(x, zero);
    if (name == "Affine")
      return add(mul(alpha(1), x), beta(0));
    if (name == "LeakyRelu")
      return select(arith::CmpFPredicate::OLT, x, zero, mul(alpha(0.01), x), x);
    if (name == "ThresholdedRelu")
      return select(arith::CmpFPredicate::OGT, x, alpha(1), x, zero);
    if (name == "ScaledTanh")
      return mul(alpha(1), code.make<math::TanhOp>(mul(beta(1), x)));
    if (name == "HardSigmoid")
      return code.make<arith::MinimumFOp>(atLeast(add(mul(alpha(0.2), x), beta(0.5)), zero), number(1));
    if (name == "Elu")
      return select(arith::CmpFPredicate::OLT, x, zero, mul(alpha(1), code.make<math::ExpM1Op>(x)), x);
    if (name == "Softsign")
      return div(x, add(number(1), code.make<math::AbsFOp>(x)));
    return add(atLeast(x, zero), code.make<math::Log1pOp>(code.make<math::ExpOp>(
                                     code.make<arith::NegFOp>(code.make<math::AbsFOp>(x))))); // Softplus
  }

  Value clip(Value x) {
    if (cell.clip <= 0)
      return x;
    return code.make<arith::MinimumFOp>(atLeast(x, number(-cell.clip)), number(cell.clip));
  }

  //===- Steps ---------------------------------------------------------------------------------------------------------

  void start() {
    forUnits([&](Value unit) {
      store(element(cell.hInitial, {batch, unit}), state, unit);
      if (memory)
        store(element(cell.cInitial, {batch, unit}), memory, unit);
    });
    barrier();
  }

  /// `vector[0 … hidden) . recurrence[row]`, the vector from `from` on in shared memory.
  Value dot(Value vector, Value from, Value row) {
    return code.loops(code.index(hidden), number(0), [&](ValueRange at, ValueRange sum) {
      Value weight = element(cell.recurrence, {row, at.front()});
      return SmallVector<Value>{code.make<math::FmaOp>(load(vector, code.add(from, at.front())), weight, sum.front())};
    })[0];
  }

  Value row(int64_t gate, Value unit) { return code.add(unit, gate * hidden); }

  /// The pre-activation of a gate.
  Value gate(int64_t number, Value unit) {
    Value input = element(cell.gates, {time, batch, row(number, unit)});
    return add(input, dot(state, current, row(number, unit)));
  }

  Value peephole(int64_t number, Value unit, Value c) {
    if (!cell.peepholes)
      return this->number(0);
    return mul(element(cell.peepholes, row(number, unit)), c);
  }

  /// One step of a unit; gives its new state.
  Value stepLstm(Value unit) {
    // ONNX's order of gates is i, o, f, c; that of peepholes i, o, f.
    Value c = load(memory, unit);
    Value i = activate(0, clip(add(gate(0, unit), peephole(0, unit, c))));
    Value f = cell.inputForget ? sub(number(1), i) : activate(0, clip(add(gate(2, unit), peephole(2, unit, c))));
    Value fresh = activate(1, clip(gate(3, unit)));
    Value next = add(mul(f, c), mul(i, fresh));
    Value o = activate(0, clip(add(gate(1, unit), peephole(1, unit, next))));
    store(next, memory, unit);
    return mul(o, activate(2, next));
  }

  /// The update and reset gates of all units, before any state changes.
  void prepareGru() {
    forUnits([&](Value unit) {
      store(activate(0, clip(gate(0, unit))), update, unit);
      Value r = activate(0, clip(gate(1, unit)));
      store(cell.linearBeforeReset ? r : mul(r, load(state, code.add(current, unit))), reset, unit);
    });
    barrier();
  }

  Value stepGru(Value unit) {
    Value input = element(cell.gates, {time, batch, row(2, unit)}), bias = element(cell.recurrentBias, unit);
    Value fresh;
    if (cell.linearBeforeReset)
      fresh = add(input, mul(load(reset, unit), add(dot(state, current, row(2, unit)), bias)));
    else
      fresh = add(add(input, dot(reset, code.index(0), row(2, unit))), bias);
    Value z = load(update, unit), n = activate(1, clip(fresh));
    return add(mul(sub(number(1), z), n), mul(z, load(state, code.add(current, unit))));
  }

  /// A loop over the steps; each thread goes through all of them, so that barriers meet.
  void walk() {
    code.loops(steps, {}, [&](ValueRange step, ValueRange) {
      Value parity = code.rem(step.front(), code.index(2));
      current = code.mul(parity, hidden);
      Value next = code.sub(code.index(hidden), current);
      Value isActive = code.make<arith::CmpIOp>(arith::CmpIPredicate::slt, step.front(), length);
      // Past the end of a sequence, the time that the step writes its zero to; inside, the time it reads.
      Value inside = cell.reverse ? code.sub(code.sub(length, 1), step.front()) : step.front();
      time = code.select(isActive, inside, step.front());
      if (isGru())
        prepareGru();
      forUnits([&](Value unit) {
        Value old = load(state, code.add(current, unit));
        Value value = code.choose(
            isActive, type,
            [&] {
              Value fresh = isLstm() ? stepLstm(unit) : isGru() ? stepGru(unit) : activate(0, clip(gate(0, unit)));
              return SmallVector<Value>{fresh};
            },
            [&] { return SmallVector<Value>{old}; })[0];
        store(value, state, code.add(next, unit));
        give(cell.sequence, {time, batch, unit}, code.select(isActive, value, number(0)));
      });
      barrier();
      return SmallVector<Value>();
    });
  }

  void finish() {
    Value last = code.mul(code.rem(steps, code.index(2)), hidden);
    forUnits([&](Value unit) {
      give(cell.hLast, {batch, unit}, load(state, code.add(last, unit)));
      if (memory)
        give(cell.cLast, {batch, unit}, load(memory, unit));
    });
  }

  KernelWriter &writer;
  Cell cell;
  nn::ElementBuilder code;
  OpBuilder &builder;
  Location loc;
  int64_t hidden = 0;
  Type stored, type;
  Value state, memory, reset, update; ///< in shared memory
  Value batch, steps, length, time;
  Value current; ///< where the state of this step begins
};

} // namespace

LogicalResult joule::emitRecurrent(KernelWriter &writer) {
  std::optional<Cell> cell = cellOf(writer.results[0].getDefiningOp());
  if (!cell)
    return failure();
  return RecurrentEmitter(writer, *cell).run();
}

FailureOr<std::array<Value, 3>> joule::gridOfRecurrent(GridWriter &writer) {
  std::optional<Cell> cell = cellOf(writer.results[0].getDefiningOp());
  if (!cell)
    return writer.kernel.emitOpError() << "has a schedule for a recurrent cell but yields something else";
  return std::array<Value, 3>{writer.size(cell->sequence, 1), writer.index(1), writer.index(1)};
}
