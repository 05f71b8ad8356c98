// Writes the host program as a plan: values become registers, regions become blocks.
#include "lib/Compiler/WritePlan.h"

#include "dialects/Nn/NnDialect.h"
#include "dialects/Tile/TileDialect.h"
#include "lib/Compiler/OnnxTypes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"

using namespace mlir;
using namespace joule;

namespace {

using Eval = plan::Eval;

bool isBuffer(Value value) { return isa<plan::BufferType>(value.getType()); }

class PlanWriter {
public:
  PlanWriter(func::FuncOp function, StoreWeight store, SmallVectorImpl<std::string> &kernels)
      : function(function), store(store), kernels(kernels) {}

  FailureOr<plan::Plan> run() {
    result.set_version(1);
    for (auto symbol : function.getBody().front().getOps<nn::SymbolOp>())
      indexOf[symbol.getResult()] = symbolRegister(symbol.getName());
    for (BlockArgument argument : function.getArguments())
      if (failed(writeInput(argument)))
        return failure();
    if (failed(writeBlock(function.getBody().front(), *result.mutable_body())))
      return failure();
    result.set_index_registers(indexRegisters);
    result.set_buffer_registers(bufferRegisters);
    return std::move(result);
  }

private:
  //===- Registers -----------------------------------------------------------------------------------------------------

  uint32_t symbolRegister(StringRef name) {
    auto [found, fresh] = symbols.try_emplace(name, indexRegisters);
    if (fresh) {
      plan::Symbol *symbol = result.add_symbols();
      symbol->set_name(name.str());
      symbol->set_index(indexRegisters++);
    }
    return found->second;
  }

  uint32_t defineIndex(Value value) { return indexOf[value] = indexRegisters++; }
  uint32_t defineBuffer(Value value) { return bufferOf[value] = bufferRegisters++; }

  plan::Index constant(int64_t value) {
    plan::Index index;
    index.set_constant(value);
    return index;
  }

  plan::Index indexRegister(uint32_t number) {
    plan::Index index;
    index.set_index(number);
    return index;
  }

  /// `value`, of any integer type, as a constant or a register. Host integers are 64 bits wide.
  plan::Index index(Value value) {
    APInt known;
    if (matchPattern(value, m_ConstantInt(&known)))
      return constant(value.getType().isInteger(1) ? known.getZExtValue() : known.getSExtValue());
    return indexRegister(indexOf.lookup(value));
  }

  uint32_t buffer(Value value) { return bufferOf.lookup(value); }

  //===- Inputs and outputs --------------------------------------------------------------------------------------------

  LogicalResult writeInput(BlockArgument argument) {
    unsigned number = argument.getArgNumber();
    auto name = function.getArgAttrOfType<StringAttr>(number, "nn.name");
    auto type = function.getArgAttrOfType<IntegerAttr>(number, "nn.type");
    auto tensor = cast<RankedTensorType>(function.getArgAttrOfType<TypeAttr>(number, "plan.tensor").getValue());
    auto dims = function.getArgAttrOfType<ArrayAttr>(number, "nn.dims");
    if (!name || !type || (!dims && !tensor.hasStaticShape()))
      return function.emitError() << "internal: input " << number << " lacks a name, a type or sizes";
    plan::Tensor *input = result.add_inputs();
    input->set_name(name.str());
    input->set_type(type.getInt());
    input->set_buffer(defineBuffer(argument));
    for (int64_t dim = 0; dim < tensor.getRank(); ++dim)
      *input->add_dims() = tensor.isDynamicDim(dim)
                               ? indexRegister(symbolRegister(cast<StringAttr>(dims[dim]).getValue()))
                               : constant(tensor.getDimSize(dim));
    return success();
  }

  template <typename Add> void writeDims(RankedTensorType type, ValueRange dynamic, Add add) {
    for (int64_t size : type.getShape()) {
      *add() = ShapedType::isDynamic(size) ? index(dynamic.front()) : constant(size);
      if (ShapedType::isDynamic(size))
        dynamic = dynamic.drop_front();
    }
  }

  void writeOutput(plan::OutputOp op) {
    plan::Tensor *output = result.add_outputs();
    output->set_name(op.getName().str());
    output->set_type(op.getOnnxType());
    output->set_buffer(buffer(op.getBuffer()));
    writeDims(cast<RankedTensorType>(op.getTensor()), op.getSizes(), [&] { return output->add_dims(); });
  }

  //===- Steps ---------------------------------------------------------------------------------------------------------

  LogicalResult writeBlock(Block &ops, plan::Block &block) {
    for (Operation &op : ops)
      if (failed(write(&op, block)))
        return failure();
    return success();
  }

  LogicalResult write(Operation *op, plan::Block &block) {
    return TypeSwitch<Operation *, LogicalResult>(op)
        .Case([&](plan::WeightOp weight) { return writeWeight(weight); })
        .Case([&](plan::AllocOp alloc) {
          plan::Alloc *step = block.add_steps()->mutable_alloc();
          step->set_buffer(defineBuffer(alloc));
          *step->mutable_bytes() = index(alloc.getBytes());
          step->set_counted(escapes(alloc));
          return success();
        })
        .Case([&](plan::LaunchOp launch) { return writeLaunch(launch, *block.add_steps()->mutable_launch()); })
        .Case([&](plan::CopyOp copy) {
          plan::Copy *step = block.add_steps()->mutable_copy();
          step->set_source(buffer(copy.getSource()));
          step->set_destination(buffer(copy.getDestination()));
          *step->mutable_bytes() = index(copy.getBytes());
          return success();
        })
        .Case([&](plan::ReadScalarOp read) {
          plan::ReadScalar *step = block.add_steps()->mutable_read_scalar();
          step->set_buffer(buffer(read.getBuffer()));
          *step->mutable_offset() = index(read.getOffset());
          step->set_type(onnxTypeOf(read.getElement()));
          step->set_result(defineIndex(read));
          return success();
        })
        .Case([&](plan::WriteScalarsOp scalars) {
          plan::WriteScalars *step = block.add_steps()->mutable_write_scalars();
          step->set_buffer(buffer(scalars.getBuffer()));
          step->set_type(onnxTypeOf(scalars.getElement()));
          for (Value value : scalars.getValues())
            *step->add_values() = index(value);
          return success();
        })
        .Case([&](plan::HostCallOp call) { return writeHostCall(call, *block.add_steps()->mutable_host_call()); })
        .Case([&](plan::CheckOp check) {
          plan::Check *step = block.add_steps()->mutable_check();
          *step->mutable_condition() = index(check.getCondition());
          step->set_message(check.getMessage().str());
          SmallVector<StringAttr> nodes = nn::nodeNames(check.getLoc());
          step->set_node(nodes.empty() ? "" : nodes.front().str());
          return success();
        })
        .Case([&](plan::OutputOp output) {
          writeOutput(output);
          return success();
        })
        .Case([&](scf::IfOp op) { return writeIf(op, block); })
        .Case([&](scf::WhileOp op) { return writeWhile(op, block); })
        .Case([&](scf::ForOp op) { return writeFor(op, block); })
        .Case<nn::SymbolOp, arith::ConstantOp, func::ReturnOp, scf::YieldOp, scf::ConditionOp>(
            [](auto) { return success(); })
        .Default([&](Operation *op) { return writeArithmetic(op, block); });
  }

  LogicalResult writeWeight(plan::WeightOp op) {
    auto type = cast<ShapedType>(op.getTensor());
    FailureOr<std::string> entry = store(op.getValue(), type);
    if (failed(entry))
      return op.emitError() << "internal: a constant of type " << type << " could not be stored";
    plan::Weight *weight = result.add_weights();
    weight->set_buffer(defineBuffer(op));
    weight->set_entry(*entry);
    weight->set_bytes(storedBytes(type));
    return success();
  }

  /// True where the buffer lives on under another name: a branch or a loop hands it on.
  bool escapes(plan::AllocOp op) {
    return llvm::any_of(op->getUsers(), [](Operation *user) {
      return isa<scf::YieldOp, scf::ConditionOp, scf::WhileOp, scf::ForOp>(user);
    });
  }

  LogicalResult writeLaunch(plan::LaunchOp op, plan::Launch &step) {
    auto [found, fresh] = kernelOf.try_emplace(op.getKernel(), kernels.size());
    if (fresh)
      kernels.push_back(op.getKernel().str());
    step.set_kernel(found->second);
    auto kernel = SymbolTable::lookupNearestSymbolFrom<tile::KernelOp>(op, op.getKernelAttr());
    for (Value size : {op.getGridX(), op.getGridY(), op.getGridZ()})
      *step.add_grid() = index(size);
    for (int64_t size : kernel.getBlockAttr().asArrayRef())
      step.add_block(size);
    *step.mutable_shared_bytes() = constant(0);
    size_t firstResult = op.getArguments().size() - op.getResults();
    for (auto [position, argument] : llvm::enumerate(op.getArguments())) {
      plan::Argument *entry = step.add_arguments();
      if (isBuffer(argument)) {
        entry->set_kind(plan::Argument::BUFFER);
        entry->set_buffer(buffer(argument));
        position < firstResult ? step.add_reads(buffer(argument)) : step.add_writes(buffer(argument));
      } else {
        entry->set_kind(plan::Argument::I64);
        *entry->mutable_value() = index(argument);
      }
    }
    for (StringAttr node : nn::nodeNames(op.getLoc()))
      step.add_nodes(node.str());
    plan::Cost *cost = step.mutable_cost();
    *cost->mutable_flops() = index(op.getFlops());
    *cost->mutable_bytes_read() = index(op.getBytesRead());
    *cost->mutable_bytes_written() = index(op.getBytesWritten());
    if (auto schedule = kernel.getScheduleAttr())
      cost->set_family(schedule.getFamily().str());
    return success();
  }

  /// Flags and integers as a JSON object; the ops that the host runs have no other attributes.
  static std::string settingsOf(DictionaryAttr settings) {
    llvm::json::Object object;
    for (NamedAttribute setting : settings) {
      if (isa<UnitAttr>(setting.getValue()))
        object[setting.getName().str()] = true;
      else if (auto number = dyn_cast<IntegerAttr>(setting.getValue()))
        object[setting.getName().str()] = number.getInt();
    }
    return llvm::formatv("{0}", llvm::json::Value(std::move(object))).str();
  }

  LogicalResult writeHostCall(plan::HostCallOp op, plan::HostCall &step) {
    step.set_name(op.getCallee().str());
    step.set_attributes(settingsOf(op.getSettings()));
    SmallVector<StringAttr> nodes = nn::nodeNames(op.getLoc());
    step.set_node(nodes.empty() ? "" : nodes.front().str());
    ValueRange sizes = op.getSizes();
    for (auto [input, attribute] : llvm::zip(op.getInputs(), op.getInputTypes().getAsValueRange<TypeAttr>())) {
      auto type = cast<RankedTensorType>(attribute);
      plan::HostTensor *tensor = step.add_inputs();
      tensor->set_buffer(buffer(input));
      tensor->set_type(onnxTypeOf(type.getElementType()));
      writeDims(type, sizes, [&] { return tensor->add_dims(); });
      sizes = sizes.drop_front(type.getNumDynamicDims());
    }
    SmallVector<Value> buffers, indices;
    for (Value output : op.getOutputs())
      (isBuffer(output) ? buffers : indices).push_back(output);
    for (Value value : indices)
      defineIndex(value);
    ValueRange remaining(indices);
    for (auto [output, attribute] : llvm::zip(buffers, op.getResultTypes().getAsValueRange<TypeAttr>())) {
      auto type = cast<RankedTensorType>(attribute);
      plan::HostTensor *tensor = step.add_results();
      tensor->set_buffer(defineBuffer(output));
      tensor->set_type(onnxTypeOf(type.getElementType()));
      writeDims(type, remaining, [&] { return tensor->add_dims(); });
      remaining = remaining.drop_front(type.getNumDynamicDims());
    }
    return success();
  }

  //===- Arithmetic ----------------------------------------------------------------------------------------------------

  static std::optional<Eval::Op> comparison(arith::CmpIPredicate predicate) {
    switch (predicate) {
    case arith::CmpIPredicate::eq:
      return Eval::EQ;
    case arith::CmpIPredicate::ne:
      return Eval::NE;
    case arith::CmpIPredicate::slt:
    case arith::CmpIPredicate::ult:
      return Eval::LT;
    case arith::CmpIPredicate::sle:
    case arith::CmpIPredicate::ule:
      return Eval::LE;
    case arith::CmpIPredicate::sgt:
    case arith::CmpIPredicate::ugt:
      return Eval::GT;
    case arith::CmpIPredicate::sge:
    case arith::CmpIPredicate::uge:
      return Eval::GE;
    }
    return std::nullopt;
  }

  /// Host integers are sizes and offsets: the unsigned forms apply to values that are not negative.
  static std::optional<Eval::Op> operation(Operation *op) {
    return TypeSwitch<Operation *, std::optional<Eval::Op>>(op)
        .Case<arith::AddIOp>([](auto) { return Eval::ADD; })
        .Case<arith::SubIOp>([](auto) { return Eval::SUB; })
        .Case<arith::MulIOp>([](auto) { return Eval::MUL; })
        .Case<arith::DivSIOp, arith::DivUIOp>([](auto) { return Eval::DIV; })
        .Case<arith::RemSIOp, arith::RemUIOp>([](auto) { return Eval::REM; })
        .Case<arith::FloorDivSIOp>([](auto) { return Eval::FLOORDIV; })
        .Case<arith::CeilDivSIOp, arith::CeilDivUIOp>([](auto) { return Eval::CEILDIV; })
        .Case<arith::MinSIOp, arith::MinUIOp>([](auto) { return Eval::MIN; })
        .Case<arith::MaxSIOp, arith::MaxUIOp>([](auto) { return Eval::MAX; })
        .Case<arith::AndIOp>([](auto) { return Eval::AND; })
        .Case<arith::OrIOp>([](auto) { return Eval::OR; })
        .Case<arith::XOrIOp>([](auto) { return Eval::XOR; })
        .Case([](arith::CmpIOp op) { return comparison(op.getPredicate()); })
        .Default([](Operation *) { return std::nullopt; });
  }

  LogicalResult writeArithmetic(Operation *op, plan::Block &block) {
    if (isa<arith::IndexCastOp, arith::IndexCastUIOp, arith::ExtSIOp, arith::ExtUIOp, arith::TruncIOp>(op)) {
      APInt known;
      if (!matchPattern(op->getOperand(0), m_ConstantInt(&known))) {
        indexOf[op->getResult(0)] = indexOf.lookup(op->getOperand(0));
        return success();
      }
      plan::MoveIndex *move = block.add_steps()->mutable_move_index();
      *move->mutable_source() = index(op->getOperand(0));
      move->set_result(defineIndex(op->getResult(0)));
      return success();
    }
    if (auto select = dyn_cast<arith::SelectOp>(op)) {
      if (isBuffer(select.getResult()))
        return op->emitError() << "internal: a buffer is selected outside control flow";
      Eval *eval = block.add_steps()->mutable_eval();
      eval->set_op(Eval::SELECT);
      *eval->mutable_condition() = index(select.getCondition());
      *eval->mutable_lhs() = index(select.getTrueValue());
      *eval->mutable_rhs() = index(select.getFalseValue());
      eval->set_result(defineIndex(select));
      return success();
    }
    std::optional<Eval::Op> kind = operation(op);
    if (!kind)
      return op->emitError() << "internal: the plan has no form of " << op->getName();
    Eval *eval = block.add_steps()->mutable_eval();
    eval->set_op(*kind);
    *eval->mutable_lhs() = index(op->getOperand(0));
    *eval->mutable_rhs() = index(op->getOperand(1));
    eval->set_result(defineIndex(op->getResult(0)));
    return success();
  }

  //===- Control flow --------------------------------------------------------------------------------------------------

  void define(Value value) { isBuffer(value) ? defineBuffer(value) : defineIndex(value); }

  void move(Value from, uint32_t to, plan::Block &block) {
    if (isBuffer(from)) {
      plan::MoveBuffer *step = block.add_steps()->mutable_move_buffer();
      step->set_result(to);
      step->set_source(buffer(from));
    } else {
      plan::MoveIndex *step = block.add_steps()->mutable_move_index();
      step->set_result(to);
      *step->mutable_source() = index(from);
    }
  }

  /// Sets the registers of `to` to the values of `from` as if at once: through fresh registers, since a loop may swap.
  void moveAll(ValueRange from, ValueRange to, plan::Block &block) {
    SmallVector<uint32_t> between;
    for (Value value : from) {
      between.push_back(isBuffer(value) ? bufferRegisters++ : indexRegisters++);
      move(value, between.back(), block);
    }
    for (auto [value, source] : llvm::zip(to, between)) {
      if (isBuffer(value)) {
        plan::MoveBuffer *step = block.add_steps()->mutable_move_buffer();
        step->set_result(buffer(value));
        step->set_source(source);
      } else {
        plan::MoveIndex *step = block.add_steps()->mutable_move_index();
        step->set_result(indexOf.lookup(value));
        *step->mutable_source() = indexRegister(source);
      }
    }
  }

  LogicalResult writeBranch(Region &region, ValueRange results, plan::Block &block) {
    if (region.empty())
      return success();
    if (failed(writeBlock(region.front(), block)))
      return failure();
    for (auto [from, to] : llvm::zip(region.front().getTerminator()->getOperands(), results))
      move(from, isBuffer(to) ? buffer(to) : indexOf.lookup(to), block);
    return success();
  }

  LogicalResult writeIf(scf::IfOp op, plan::Block &block) {
    for (Value value : op.getResults())
      define(value);
    plan::If *step = block.add_steps()->mutable_if_();
    *step->mutable_condition() = index(op.getCondition());
    if (failed(writeBranch(op.getThenRegion(), op.getResults(), *step->mutable_then())))
      return failure();
    return writeBranch(op.getElseRegion(), op.getResults(), *step->mutable_otherwise());
  }

  LogicalResult writeWhile(scf::WhileOp op, plan::Block &block) {
    for (Value value : op.getBeforeArguments())
      define(value);
    moveAll(op.getInits(), op.getBeforeArguments(), block);
    // The condition's operands become the arguments of the body, and, when the loop ends, its results.
    for (auto [argument, value] : llvm::zip(op.getAfterArguments(), op.getResults())) {
      define(argument);
      isBuffer(value) ? bufferOf[value] = bufferOf.lookup(argument) : indexOf[value] = indexOf.lookup(argument);
    }
    plan::While *step = block.add_steps()->mutable_while_();
    if (failed(writeBlock(*op.getBeforeBody(), *step->mutable_before())))
      return failure();
    auto condition = cast<scf::ConditionOp>(op.getBeforeBody()->getTerminator());
    *step->mutable_condition() = index(condition.getCondition());
    moveAll(condition.getArgs(), op.getAfterArguments(), *step->mutable_before());
    if (failed(writeBlock(*op.getAfterBody(), *step->mutable_body())))
      return failure();
    moveAll(op.getYieldOp().getOperands(), op.getBeforeArguments(), *step->mutable_body());
    return success();
  }

  LogicalResult writeFor(scf::ForOp op, plan::Block &block) {
    uint32_t counter = defineIndex(op.getInductionVar());
    for (auto [argument, value] : llvm::zip(op.getRegionIterArgs(), op.getResults())) {
      define(argument);
      isBuffer(value) ? bufferOf[value] = bufferOf.lookup(argument) : indexOf[value] = indexOf.lookup(argument);
    }
    move(op.getLowerBound(), counter, block);
    moveAll(op.getInitArgs(), op.getRegionIterArgs(), block);
    plan::While *step = block.add_steps()->mutable_while_();
    Eval *test = step->mutable_before()->add_steps()->mutable_eval();
    test->set_op(Eval::LT);
    *test->mutable_lhs() = indexRegister(counter);
    *test->mutable_rhs() = index(op.getUpperBound());
    test->set_result(indexRegisters);
    *step->mutable_condition() = indexRegister(indexRegisters++);
    if (failed(writeBlock(*op.getBody(), *step->mutable_body())))
      return failure();
    moveAll(op.getBody()->getTerminator()->getOperands(), op.getRegionIterArgs(), *step->mutable_body());
    Eval *advance = step->mutable_body()->add_steps()->mutable_eval();
    advance->set_op(Eval::ADD);
    *advance->mutable_lhs() = indexRegister(counter);
    *advance->mutable_rhs() = index(op.getStep());
    advance->set_result(counter);
    return success();
  }

  func::FuncOp function;
  StoreWeight store;
  SmallVectorImpl<std::string> &kernels;
  plan::Plan result;
  llvm::StringMap<uint32_t> symbols;
  llvm::StringMap<uint32_t> kernelOf;
  DenseMap<Value, uint32_t> indexOf, bufferOf;
  uint32_t indexRegisters = 0, bufferRegisters = 0;
};

} // namespace

FailureOr<plan::Plan> joule::writePlan(func::FuncOp function, StoreWeight store,
                                       SmallVectorImpl<std::string> &kernels) {
  return PlanWriter(function, store, kernels).run();
}
