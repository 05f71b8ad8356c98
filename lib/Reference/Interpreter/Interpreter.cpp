// Walks a function of the nn level operation by operation.
#include "lib/Reference/Interpreter/Interpreter.h"

#include "dialects/Nn/NnDialect.h"
#include "lib/Reference/Evaluate/Evaluate.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;

namespace joule::reference {

namespace {

using Results = FailureOr<SmallVector<Buffer>>;

class Interpreter {
public:
  Interpreter(WeightStore &weights, Observer observe) : weights(weights), observe(std::move(observe)) {}

  /// Binds the sizes that the dimensions of the arguments are called by.
  LogicalResult bindSymbols(func::FuncOp function, ArrayRef<Buffer> inputs);

  /// Runs a block and gives what its terminator hands on.
  Results runBlock(Block &block, ArrayRef<Buffer> arguments);

private:
  Results runOp(Operation *op);
  Results runIf(scf::IfOp op);
  Results runFor(scf::ForOp op);
  Results runWhile(scf::WhileOp op);
  Results runConstant(nn::ConstantOp op);
  Results runSymbol(nn::SymbolOp op);
  Results runAssert(nn::AssertOp op);
  Results runSimple(Operation *op);

  SmallVector<Buffer> operandsOf(ValueRange operands);
  const llvm::SmallVector<Value> &lastUsesAt(Operation *op);

  WeightStore &weights;
  Observer observe;
  DenseMap<Value, Buffer> values;
  llvm::StringMap<int64_t> symbols;
  /// The values of each block that was run that nobody needs after an operation of it.
  DenseMap<Block *, DenseMap<Operation *, SmallVector<Value>>> lastUses;
};

} // namespace

LogicalResult Interpreter::bindSymbols(func::FuncOp function, ArrayRef<Buffer> inputs) {
  for (auto [number, input] : llvm::enumerate(inputs)) {
    auto names = function.getArgAttrOfType<ArrayAttr>(number, "nn.dims");
    if (!names)
      continue;
    for (auto [dim, size] : llvm::zip(names, input.shape)) {
      auto name = dyn_cast<StringAttr>(dim);
      if (!name || name.empty())
        continue;
      auto [known, fresh] = symbols.try_emplace(name.getValue(), size);
      if (!fresh && known->second != size)
        return function.emitError() << "size " << name << " is both " << known->second << " and " << size;
    }
  }
  return success();
}

SmallVector<Buffer> Interpreter::operandsOf(ValueRange operands) {
  return llvm::to_vector(llvm::map_range(operands, [&](Value operand) { return values.at(operand); }));
}

/// For each value of `block`, the operation of it after which nobody needs the value.
static DenseMap<Operation *, SmallVector<Value>> findLastUses(Block &block) {
  DenseMap<Operation *, SmallVector<Value>> found;
  auto note = [&](Value value, Operation *last) {
    for (Operation *user : value.getUsers())
      if (Operation *here = block.findAncestorOpInBlock(*user); !last || last->isBeforeInBlock(here))
        last = here;
    if (last)
      found[last].push_back(value);
  };
  for (Value argument : block.getArguments())
    note(argument, nullptr);
  for (Operation &op : block)
    for (Value result : op.getResults())
      note(result, &op);
  return found;
}

const SmallVector<Value> &Interpreter::lastUsesAt(Operation *op) {
  auto [uses, fresh] = lastUses.try_emplace(op->getBlock());
  if (fresh)
    uses->second = findLastUses(*op->getBlock());
  return uses->second[op];
}

Results Interpreter::runBlock(Block &block, ArrayRef<Buffer> arguments) {
  for (auto [argument, value] : llvm::zip_equal(block.getArguments(), arguments))
    values[argument] = value;
  for (Operation &op : block) {
    if (op.hasTrait<OpTrait::IsTerminator>())
      return operandsOf(op.getOperands());
    Results results = runOp(&op);
    if (failed(results))
      return failure();
    if (observe)
      observe(&op, *results);
    for (auto [result, value] : llvm::zip_equal(op.getResults(), *results))
      values[result] = std::move(value);
    for (Value unused : lastUsesAt(&op))
      values.erase(unused);
  }
  return block.getParentOp()->emitError() << "ends without a terminator";
}

Results Interpreter::runOp(Operation *op) {
  return TypeSwitch<Operation *, Results>(op)
      .Case([&](scf::IfOp op) { return runIf(op); })
      .Case([&](scf::ForOp op) { return runFor(op); })
      .Case([&](scf::WhileOp op) { return runWhile(op); })
      .Case([&](nn::FusedOp op) { return runBlock(op.getBody().front(), operandsOf(op.getInputs())); })
      .Case([&](nn::ConstantOp op) { return runConstant(op); })
      .Case([&](nn::SymbolOp op) { return runSymbol(op); })
      .Case([&](nn::AssertOp op) { return runAssert(op); })
      .Default([&](Operation *op) { return runSimple(op); });
}

Results Interpreter::runIf(scf::IfOp op) {
  Region &chosen = values.at(op.getCondition()).integer() ? op.getThenRegion() : op.getElseRegion();
  return chosen.empty() ? SmallVector<Buffer>() : runBlock(chosen.front(), {});
}

Results Interpreter::runFor(scf::ForOp op) {
  int64_t low = values.at(op.getLowerBound()).integer(), high = values.at(op.getUpperBound()).integer();
  int64_t step = values.at(op.getStep()).integer();
  if (step <= 0)
    return op.emitError() << "steps by " << step;
  ElementType type = elementTypeOf(op.getInductionVar().getType());
  Results carried = operandsOf(op.getInitArgs());
  for (int64_t i = low; i < high && succeeded(carried); i += step) {
    carried->insert(carried->begin(), scalar(type, i));
    carried = runBlock(*op.getBody(), *carried);
  }
  return carried;
}

Results Interpreter::runWhile(scf::WhileOp op) {
  Results carried = operandsOf(op.getInits());
  while (true) {
    Results condition = runBlock(*op.getBeforeBody(), *carried);
    if (failed(condition))
      return failure();
    bool goesOn = condition->front().integer();
    condition->erase(condition->begin());
    if (!goesOn)
      return condition;
    carried = runBlock(*op.getAfterBody(), *condition);
    if (failed(carried))
      return failure();
  }
}

Results Interpreter::runConstant(nn::ConstantOp op) {
  Result<Buffer> value = bufferOf(op.getValue(), cast<RankedTensorType>(op.getType()), weights);
  if (!value)
    return op.emitError() << value.error();
  return SmallVector<Buffer>{*value};
}

Results Interpreter::runSymbol(nn::SymbolOp op) {
  auto size = symbols.find(op.getName());
  if (size == symbols.end())
    return op.emitError() << "no input has a size called \"" << op.getName() << "\"";
  return SmallVector<Buffer>{scalar(ElementType::Int64, size->second)};
}

Results Interpreter::runAssert(nn::AssertOp op) {
  if (values.at(op.getCondition()).integer())
    return SmallVector<Buffer>();
  return op.emitError() << op.getMessage();
}

Results Interpreter::runSimple(Operation *op) {
  Result<SmallVector<Buffer>> results = evaluate(op, operandsOf(op->getOperands()));
  if (!results)
    return op->emitOpError() << results.error();
  return std::move(*results);
}

/// An input must have the element type of its argument, but for signs, and a shape that fits.
static LogicalResult checkInput(func::FuncOp function, unsigned number, const Buffer &input) {
  auto type = dyn_cast<RankedTensorType>(function.getArgument(number).getType());
  if (!type)
    return function.emitError() << "input " << number << " is no tensor";
  ElementType wanted = elementTypeOf(type.getElementType());
  if (input.type == ElementType::Undefined || withSign(input.type, false) != withSign(wanted, false))
    return function.emitError() << "input " << number << " has elements of type " << nameOf(input.type)
                                << " for " << nameOf(wanted);
  if (failed(verifyCompatibleShape(type.getShape(), input.shape)))
    return function.emitError() << "input " << number << " has shape " << toString(input.shape) << " for "
                                << type;
  return success();
}

Results interpret(func::FuncOp function, ArrayRef<Buffer> inputs, WeightStore &weights, Observer observe) {
  if (function.isExternal())
    return function.emitError() << "has no body to run";
  if (inputs.size() != function.getNumArguments())
    return function.emitError() << "takes " << function.getNumArguments() << " inputs, not " << inputs.size();
  SmallVector<Buffer> arguments;
  for (auto [number, input] : llvm::enumerate(inputs)) {
    if (failed(checkInput(function, number, input)))
      return failure();
    arguments.push_back(input.withSign(false));
  }
  Interpreter interpreter(weights, std::move(observe));
  if (failed(interpreter.bindSymbols(function, arguments)))
    return failure();
  return interpreter.runBlock(function.getBody().front(), arguments);
}

} // namespace joule::reference
