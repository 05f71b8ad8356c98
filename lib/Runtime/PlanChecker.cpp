// Walks the plan once, carrying the set of registers that are set.
#include "lib/Runtime/PlanChecker.h"

#include "joule/Tensor.h"
#include "lib/Runtime/StepRegisters.h"

#include <fmt/format.h>
#include <set>
#include <vector>

namespace joule {

// More registers than any model needs; fewer than would exhaust memory.
constexpr uint32_t mostRegisters = 1u << 22;
constexpr uint64_t mostThreads = 1024;

namespace {

enum class Setter : uint8_t { None, Constant, Step, Move };

struct Defined {
  std::vector<bool> indices, buffers;
};

class Checker {
public:
  Checker(const plan::Plan &plan,
          const std::function<std::optional<uint64_t>(const std::string &)> &entryBytes)
      : plan(plan), entryBytes(entryBytes) {}

  Result<void> run() {
    if (plan.version() != 1)
      return broken(fmt::format("it has version {}", plan.version()));
    if (plan.index_registers() > mostRegisters || plan.buffer_registers() > mostRegisters)
      return broken("it has too many registers");
    defined.indices.resize(plan.index_registers());
    defined.buffers.resize(plan.buffer_registers());
    setters.resize(plan.buffer_registers(), Setter::None);
    for (auto part : {&Checker::symbols, &Checker::inputs, &Checker::weights, &Checker::kernels,
                      &Checker::body, &Checker::outputs})
      if (Result<void> checked = (this->*part)(); !checked)
        return checked;
    return {};
  }

private:
  Error broken(const std::string &what) const {
    std::string place = steps == 0 ? "" : fmt::format("step {}: ", steps);
    return {ErrorCode::PlanInvalid, "the plan is invalid: " + place + what, ""};
  }

  Result<void> symbols() {
    std::set<std::string> names;
    for (const plan::Symbol &symbol : plan.symbols()) {
      if (symbol.index() >= plan.index_registers())
        return broken(fmt::format("symbol \"{}\" has no register", symbol.name()));
      if (symbol.name().empty() || !names.insert(symbol.name()).second || defined.indices[symbol.index()])
        return broken(fmt::format("symbol \"{}\" is declared twice", symbol.name()));
      defined.indices[symbol.index()] = true;
      symbolRegisters.insert(symbol.index());
    }
    return {};
  }

  Result<void> constantBuffer(uint32_t buffer, const std::string &what) {
    if (buffer >= plan.buffer_registers())
      return broken(fmt::format("{} has no register", what));
    if (setters[buffer] != Setter::None)
      return broken(fmt::format("{} shares its register", what));
    setters[buffer] = Setter::Constant;
    defined.buffers[buffer] = true;
    return {};
  }

  Result<void> inputs() {
    std::set<std::string> names;
    std::set<uint32_t> bound;
    for (const plan::Tensor &input : plan.inputs()) {
      if (!names.insert(input.name()).second)
        return broken(fmt::format("input \"{}\" is declared twice", input.name()));
      if (bitsOf(static_cast<ElementType>(input.type())) == 0)
        return broken(fmt::format("input \"{}\" has no element type of fixed size", input.name()));
      for (const plan::Index &size : input.dims()) {
        bool isSymbol = size.kind_case() == plan::Index::kIndex && symbolRegisters.count(size.index());
        if (!isSymbol && (size.kind_case() != plan::Index::kConstant || size.constant() < 0))
          return broken(
              fmt::format("input \"{}\" has a size that is neither a number nor a symbol", input.name()));
        if (isSymbol)
          bound.insert(size.index());
      }
      if (Result<void> checked = constantBuffer(input.buffer(), fmt::format("input \"{}\"", input.name()));
          !checked)
        return checked;
    }
    for (const plan::Symbol &symbol : plan.symbols())
      if (!bound.count(symbol.index()))
        return broken(fmt::format("symbol \"{}\" is no size of any input", symbol.name()));
    return {};
  }

  Result<void> weights() {
    for (const plan::Weight &weight : plan.weights()) {
      std::optional<uint64_t> bytes = entryBytes(weight.entry());
      if (!bytes)
        return Error{ErrorCode::EntryMissing,
                     fmt::format("the artifact lacks \"{}\", which its plan names", weight.entry()), ""};
      if (weight.offset() > *bytes || weight.bytes() > *bytes - weight.offset())
        return broken(fmt::format("a weight reaches outside \"{}\"", weight.entry()));
      if (Result<void> checked =
              constantBuffer(weight.buffer(), fmt::format("weight \"{}\"", weight.entry()));
          !checked)
        return checked;
    }
    return {};
  }

  Result<void> kernels() {
    for (const plan::Kernel &kernel : plan.kernels()) {
      if (kernel.name().empty() || kernel.name().find('\0') != std::string::npos)
        return broken("a kernel has no name");
      if (kernel.ptx().empty() && kernel.cubin().empty())
        return broken(fmt::format("kernel {} has no code", kernel.name()));
      for (const std::string *entry : {&kernel.ptx(), &kernel.cubin()})
        if (!entry->empty() && !entryBytes(*entry))
          return Error{ErrorCode::EntryMissing,
                       fmt::format("the artifact lacks \"{}\", which its plan names", *entry), ""};
    }
    return {};
  }

  Result<void> body() {
    if (Result<void> declared = declareSetters(plan.body()); !declared)
      return declared;
    steps = 0;
    return block(plan.body());
  }

  // Before anything is checked in order: who sets each buffer register, in the whole plan.
  Result<void> declareSetters(const plan::Block &block) {
    for (const plan::Step &step : block.steps()) {
      ++steps;
      StepRegisters registers = registersOf(step);
      for (uint32_t buffer : registers.bufferResults)
        if (buffer >= plan.buffer_registers())
          return broken(fmt::format("there is no buffer register {}", buffer));
        else if (setters[buffer] != Setter::None)
          return broken(fmt::format("buffer register {} is set in a second place", buffer));
        else
          setters[buffer] = Setter::Step;
      for (uint32_t buffer : registers.bufferMoves)
        if (buffer >= plan.buffer_registers())
          return broken(fmt::format("there is no buffer register {}", buffer));
        else if (setters[buffer] != Setter::None && setters[buffer] != Setter::Move)
          return broken(fmt::format("buffer register {} is set in a second place", buffer));
        else
          setters[buffer] = Setter::Move;
      for (const plan::Block *inner : innerBlocks(step))
        if (Result<void> declared = declareSetters(*inner); !declared)
          return declared;
    }
    return {};
  }

  Result<void> block(const plan::Block &block) {
    for (const plan::Step &step : block.steps()) {
      ++steps;
      if (Result<void> checked = this->step(step); !checked)
        return checked;
    }
    return {};
  }

  Result<void> index(IndexOperand operand) {
    if (!operand || operand->kind_case() == plan::Index::KIND_NOT_SET)
      return broken("an operand is missing");
    if (operand->kind_case() == plan::Index::kConstant)
      return {};
    if (operand->index() >= plan.index_registers())
      return broken(fmt::format("there is no index register {}", operand->index()));
    if (!defined.indices[operand->index()])
      return broken(fmt::format("index register {} is read before it is set", operand->index()));
    return {};
  }

  Result<void> step(const plan::Step &step) {
    StepRegisters registers = registersOf(step);
    for (IndexOperand operand : registers.operands)
      if (Result<void> checked = index(operand); !checked)
        return checked;
    for (IndexOperand operand : registers.optional)
      if (Result<void> checked = operand ? index(operand) : Result<void>(); !checked)
        return checked;
    for (uint32_t buffer : registers.bufferUses)
      if (buffer >= plan.buffer_registers())
        return broken(fmt::format("there is no buffer register {}", buffer));
      else if (!defined.buffers[buffer])
        return broken(fmt::format("buffer register {} is used before it is set", buffer));
    if (Result<void> checked = details(step); !checked)
      return checked;
    for (uint32_t index : registers.indexResults)
      if (index >= plan.index_registers())
        return broken(fmt::format("there is no index register {}", index));
      else if (symbolRegisters.count(index))
        return broken(fmt::format("index register {} holds a symbol and is set again", index));
      else
        defined.indices[index] = true;
    for (const std::vector<uint32_t> *buffers : {&registers.bufferResults, &registers.bufferMoves})
      for (uint32_t buffer : *buffers)
        defined.buffers[buffer] = true;
    return {};
  }

  Result<void> details(const plan::Step &step) {
    switch (step.kind_case()) {
    case plan::Step::kEval:
      if (!plan::Eval::Op_IsValid(step.eval().op()))
        return broken("an arithmetic operation does not exist");
      return {};
    case plan::Step::kLaunch:
      return launch(step.launch());
    case plan::Step::kCopy:
      return writable(step.copy().destination());
    case plan::Step::kFill:
      if (step.fill().value() > 255)
        return broken("a fill's value is more than a byte");
      return writable(step.fill().buffer());
    case plan::Step::kReadScalar:
      return scalarType(step.read_scalar().type());
    case plan::Step::kWriteScalars:
      if (Result<void> checked = scalarType(step.write_scalars().type()); !checked)
        return checked;
      return writable(step.write_scalars().buffer());
    case plan::Step::kHostCall:
      return hostCall(step.host_call());
    case plan::Step::kIf:
      return branches(step.if_());
    case plan::Step::kWhile:
      return loop(step.while_());
    case plan::Step::KIND_NOT_SET:
      return broken("it is of a kind that this Joule does not know");
    default:
      return {};
    }
  }

  Result<void> writable(uint32_t buffer) {
    if (setters[buffer] == Setter::Constant)
      return broken(fmt::format("it writes buffer register {}, an input or a weight", buffer));
    return {};
  }

  Result<void> scalarType(uint32_t type) {
    switch (static_cast<ElementType>(type)) {
    case ElementType::UInt8:
    case ElementType::Int8:
    case ElementType::UInt16:
    case ElementType::Int16:
    case ElementType::UInt32:
    case ElementType::Int32:
    case ElementType::UInt64:
    case ElementType::Int64:
    case ElementType::Bool:
      return {};
    default:
      return broken(
          fmt::format("a scalar has type {}, not a whole number's", nameOf(static_cast<ElementType>(type))));
    }
  }

  Result<void> launch(const plan::Launch &launch) {
    if (launch.kernel() >= static_cast<uint32_t>(plan.kernels_size()))
      return broken(fmt::format("there is no kernel {}", launch.kernel()));
    if (launch.grid_size() != 3 || launch.block_size() != 3)
      return broken("a launch needs three sizes of grid and of block");
    uint64_t threads = 1;
    for (uint32_t size : launch.block()) {
      if (size == 0 || size > mostThreads)
        return broken(fmt::format("a block has size {}", size));
      threads *= size;
    }
    if (threads > mostThreads)
      return broken(fmt::format("a block has {} threads", threads));
    for (const plan::Argument &argument : launch.arguments())
      if (!plan::Argument::Kind_IsValid(argument.kind()))
        return broken("an argument is of a kind that does not exist");
    for (uint32_t buffer : launch.writes())
      if (Result<void> checked = writable(buffer); !checked)
        return checked;
    return {};
  }

  Result<void> hostCall(const plan::HostCall &call) {
    for (const auto *tensors : {&call.inputs(), &call.results()})
      for (const plan::HostTensor &tensor : *tensors)
        if (bitsOf(static_cast<ElementType>(tensor.type())) == 0)
          return broken(
              fmt::format("host call {} has a tensor without an element type of fixed size", call.name()));
    return {};
  }

  Result<void> branches(const plan::If &branch) {
    Defined before = defined;
    if (Result<void> checked = block(branch.then()); !checked)
      return checked;
    Defined afterThen = std::exchange(defined, before);
    if (Result<void> checked = block(branch.otherwise()); !checked)
      return checked;
    for (auto [mine, other] :
         {std::pair(&defined.indices, &afterThen.indices), {&defined.buffers, &afterThen.buffers}})
      for (size_t i = 0; i < mine->size(); ++i)
        (*mine)[i] = (*mine)[i] && (*other)[i];
    return {};
  }

  Result<void> loop(const plan::While &loop) {
    if (Result<void> checked = block(loop.before()); !checked)
      return checked;
    if (Result<void> checked = index(loop.has_condition() ? &loop.condition() : nullptr); !checked)
      return checked;
    Defined afterBefore = defined;
    if (Result<void> checked = block(loop.body()); !checked)
      return checked;
    defined = afterBefore;
    return {};
  }

  Result<void> outputs() {
    std::set<std::string> names;
    steps = 0;
    for (const plan::Tensor &output : plan.outputs()) {
      if (!names.insert(output.name()).second)
        return broken(fmt::format("output \"{}\" is declared twice", output.name()));
      if (bitsOf(static_cast<ElementType>(output.type())) == 0)
        return broken(fmt::format("output \"{}\" has no element type of fixed size", output.name()));
      for (const plan::Index &size : output.dims())
        if (Result<void> checked = index(&size); !checked)
          return checked;
      if (output.buffer() >= plan.buffer_registers() || !defined.buffers[output.buffer()])
        return broken(fmt::format("output \"{}\" is never set", output.name()));
    }
    return {};
  }

  const plan::Plan &plan;
  const std::function<std::optional<uint64_t>(const std::string &)> &entryBytes;
  std::set<uint32_t> symbolRegisters;
  std::vector<Setter> setters; // by buffer register
  Defined defined;
  uint64_t steps = 0; // the step being checked, from 1; 0 outside the body
};

} // namespace

Result<void> checkPlan(const plan::Plan &plan,
                       const std::function<std::optional<uint64_t>(const std::string &)> &entryBytes) {
  return Checker(plan, entryBytes).run();
}

} // namespace joule
