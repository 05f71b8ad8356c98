// Turns the main function into the host's program: one forward walk that maps tensors to buffers.
#include "passes/NnToPlan/Passes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/SymbolTable.h"
#include "llvm/ADT/TypeSwitch.h"

namespace joule {
#define GEN_PASS_DEF_NNTOPLAN
#include "passes/NnToPlan/Passes.h.inc"
} // namespace joule

using namespace mlir;
using namespace joule;

namespace {

bool isTensor(Type type) { return isa<RankedTensorType>(type); }

class Planner {
public:
  Planner(ModuleOp module, func::FuncOp function)
      : symbols(module), function(function), builder(function.getContext()) {}

  LogicalResult run() {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPoint(function);
    SmallVector<Type> inputs(function.getNumArguments(), bufferType());
    auto planned = builder.create<func::FuncOp>(function.getLoc(), function.getName(),
                                                builder.getFunctionType(inputs, {}));
    if (ArrayAttr attributes = function.getAllArgAttrs())
      planned.setAllArgAttrs(attributes.getValue());
    for (auto [number, type] : llvm::enumerate(function.getArgumentTypes()))
      planned.setArgAttr(number, "plan.tensor", TypeAttr::get(type));
    Block *entry = planned.addEntryBlock();
    mapping.map(function.getArguments(), entry->getArguments());
    builder.setInsertionPointToStart(entry);
    for (Operation &op : function.getBody().front())
      if (failed(translate(&op)))
        return failure();
    function.erase();
    return success();
  }

private:
  Type bufferType() { return plan::BufferType::get(builder.getContext()); }
  Value constant(Location loc, int64_t value) { return builder.createOrFold<arith::ConstantIndexOp>(loc, value); }
  Value times(Location loc, Value lhs, Value rhs) { return builder.createOrFold<arith::MulIOp>(loc, lhs, rhs); }

  /// `size` of the old function as an index of the new one.
  Value lookup(Location loc, OpFoldResult size) {
    if (auto attribute = dyn_cast<Attribute>(size))
      return constant(loc, cast<IntegerAttr>(attribute).getInt());
    return mapping.lookup(cast<Value>(size));
  }

  /// The bytes of `tensor`, a value of the old function.
  FailureOr<Value> bytesOf(Value tensor) {
    Location loc = tensor.getLoc();
    FailureOr<SmallVector<OpFoldResult>> sizes = nn::sizesOf(tensor);
    if (failed(sizes))
      return emitError(loc) << "internal: nn-to-plan found a tensor whose size nothing tells";
    Value count = constant(loc, 1);
    for (OpFoldResult size : *sizes)
      count = times(loc, count, lookup(loc, size));
    int64_t bits = tile::bitsInMemory(getElementTypeOrSelf(tensor));
    if (bits >= 8)
      return times(loc, count, constant(loc, bits / 8));
    return builder.createOrFold<arith::CeilDivUIOp>(loc, times(loc, count, constant(loc, bits)), constant(loc, 8));
  }

  FailureOr<Value> allocate(Value tensor) {
    FailureOr<Value> bytes = bytesOf(tensor);
    if (failed(bytes))
      return failure();
    return builder.create<plan::AllocOp>(tensor.getLoc(), bufferType(), *bytes).getResult();
  }

  LogicalResult translate(Operation *op) {
    return TypeSwitch<Operation *, LogicalResult>(op)
        .Case([&](plan::CallOp call) { return translateCall(call); })
        .Case([&](nn::ConstantOp constant) {
          mapping.map(constant.getResult(), builder.create<plan::WeightOp>(op->getLoc(), bufferType(), constant.getValue(),
                                                                           TypeAttr::get(constant.getType())));
          return success();
        })
        .Case<nn::ReshapeOp>([&](auto alias) {
          mapping.map(alias.getResult(), mapping.lookup(alias.getInput()));
          return success();
        })
        .Case([&](tensor::CastOp cast) {
          mapping.map(cast.getResult(), mapping.lookup(cast.getSource()));
          return success();
        })
        .Case([&](tensor::FromElementsOp op) { return translateFromElements(op); })
        .Case([&](tensor::ExtractOp op) { return translateExtract(op); })
        .Case([&](nn::NonZeroOp op) { return translateHostCall(op, "nonzero"); })
        .Case([&](nn::UniqueOp op) { return translateHostCall(op, "unique"); })
        .Case([&](nn::NonMaxSuppressionOp op) { return translateHostCall(op, "non_max_suppression"); })
        .Case([&](nn::AssertOp op) {
          builder.create<plan::CheckOp>(op.getLoc(), mapping.lookup(op.getCondition()), op.getMessageAttr());
          return success();
        })
        .Case([&](func::ReturnOp op) { return translateReturn(op); })
        .Case<scf::IfOp, scf::WhileOp, scf::ForOp>([&](auto op) { return translateRegions(op); })
        .Case<scf::YieldOp, scf::ConditionOp>([&](auto op) {
          builder.clone(*op, mapping);
          return success();
        })
        .Default([&](Operation *op) -> LogicalResult {
          if (llvm::any_of(op->getOperandTypes(), isTensor) || llvm::any_of(op->getResultTypes(), isTensor))
            return op->emitError() << "internal: nn-to-plan knows no host form of " << op->getName();
          builder.clone(*op, mapping);
          return success();
        });
  }

  /// Kernels count elements in 32 bits unless their schedule says otherwise: a tensor whose size only a run knows must
  /// have fewer. Once per tensor.
  LogicalResult guardCount(tile::KernelOp kernel, Value tensor) {
    const int64_t limit = int64_t(1) << 31;
    bool wide = kernel.getSchedule() && kernel.getSchedule()->getIndexBits() == 64;
    if (wide || cast<RankedTensorType>(tensor.getType()).hasStaticShape() || !guarded.insert(tensor).second)
      return success();
    FailureOr<Value> bytes = bytesOf(tensor);
    if (failed(bytes))
      return failure();
    Location loc = tensor.getLoc();
    int64_t most = limit * std::max<int64_t>(tile::bitsInMemory(getElementTypeOrSelf(tensor)) / 8, 1);
    Value fits = builder.create<arith::CmpIOp>(loc, arith::CmpIPredicate::slt, *bytes, constant(loc, most));
    builder.create<plan::CheckOp>(loc, fits, builder.getStringAttr("a tensor has 2^31 elements or more, which is not supported"));
    return success();
  }

  LogicalResult translateCall(plan::CallOp call) {
    Location loc = call.getLoc();
    auto kernel = symbols.lookup<tile::KernelOp>(call.getKernel());
    for (Value input : call.getInputs())
      if (isTensor(input.getType()) && failed(guardCount(kernel, input)))
        return failure();
    for (Value output : call.getOutputs())
      if (failed(guardCount(kernel, output)))
        return failure();
    SmallVector<Value> arguments, indices;
    Value read = constant(loc, 0), written = constant(loc, 0);
    for (Value input : call.getInputs()) {
      arguments.push_back(mapping.lookup(input));
      if (!isTensor(input.getType())) {
        indices.push_back(arguments.back());
        continue;
      }
      FailureOr<Value> bytes = bytesOf(input);
      if (failed(bytes))
        return failure();
      read = builder.createOrFold<arith::AddIOp>(loc, read, *bytes);
    }
    for (Value output : call.getOutputs()) {
      FailureOr<Value> buffer = allocate(output);
      if (failed(buffer))
        return failure();
      written = builder.createOrFold<arith::AddIOp>(loc, written, cast<plan::AllocOp>(buffer->getDefiningOp()).getBytes());
      mapping.map(output, *buffer);
      arguments.push_back(*buffer);
    }
    if (kernel.getGrid().empty())
      return kernel.emitError() << "internal: nn-to-plan found a kernel without a grid";
    SmallVector<Value, 3> grid = inlineGrid(kernel, indices);
    builder.create<plan::LaunchOp>(loc, call.getKernelAttr(), grid[0], grid[1], grid[2], arguments,
                                   mapping.lookup(call.getFlops()), read, written,
                                   builder.getI64IntegerAttr(call.getNumResults()));
    return success();
  }

  SmallVector<Value, 3> inlineGrid(tile::KernelOp kernel, ValueRange indices) {
    IRMapping inner;
    Block &block = kernel.getGrid().front();
    inner.map(block.getArguments(), indices);
    for (Operation &op : block.without_terminator()) {
      Operation *copy = builder.clone(op, inner);
      SmallVector<Value> folded;
      if (succeeded(builder.tryFold(copy, folded)) && !folded.empty()) {
        inner.map(op.getResults(), folded);
        copy->erase();
      }
    }
    auto grid = cast<tile::GridOp>(block.getTerminator());
    return {inner.lookup(grid.getX()), inner.lookup(grid.getY()), inner.lookup(grid.getZ())};
  }

  /// `value`, a host integer of any type, as an index.
  Value asIndex(Value value) {
    if (value.getType().isIndex())
      return value;
    if (auto cast = value.getDefiningOp<arith::IndexCastOp>())
      return cast.getIn();
    if (value.getType().isInteger(1))
      return builder.createOrFold<arith::IndexCastUIOp>(value.getLoc(), builder.getIndexType(), value);
    return builder.createOrFold<arith::IndexCastOp>(value.getLoc(), builder.getIndexType(), value);
  }

  LogicalResult translateFromElements(tensor::FromElementsOp op) {
    Type element = op.getType().getElementType();
    if (!isa<IntegerType>(element))
      return op.emitError() << "internal: nn-to-plan cannot write host values of type " << element;
    FailureOr<Value> buffer = allocate(op.getResult());
    if (failed(buffer))
      return failure();
    SmallVector<Value> values;
    for (Value value : op.getElements())
      values.push_back(asIndex(mapping.lookup(value)));
    builder.create<plan::WriteScalarsOp>(op.getLoc(), *buffer, values, TypeAttr::get(element));
    mapping.map(op.getResult(), *buffer);
    return success();
  }

  LogicalResult translateExtract(tensor::ExtractOp op) {
    Location loc = op.getLoc();
    Type element = op.getType();
    if (!isa<IntegerType>(element))
      return op.emitError() << "internal: nn-to-plan cannot read a host value of type " << element;
    FailureOr<SmallVector<OpFoldResult>> sizes = nn::sizesOf(op.getTensor());
    if (failed(sizes))
      return op.emitError() << "internal: nn-to-plan found a tensor whose size nothing tells";
    Value position = constant(loc, 0);
    for (auto [index, size] : llvm::zip(op.getIndices(), *sizes))
      position = builder.createOrFold<arith::AddIOp>(loc, times(loc, position, lookup(loc, size)), mapping.lookup(index));
    Value offset = times(loc, position, constant(loc, tile::bitsInMemory(element) / 8));
    Value read = builder.create<plan::ReadScalarOp>(loc, builder.getIndexType(), mapping.lookup(op.getTensor()), offset,
                                                    TypeAttr::get(element));
    Value result = element.isInteger(1)
                       ? builder.create<arith::CmpIOp>(loc, arith::CmpIPredicate::ne, read, constant(loc, 0)).getResult()
                       : builder.create<arith::IndexCastOp>(loc, element, read).getResult();
    mapping.map(op.getResult(), result);
    return success();
  }

  /// A call of the host kernel `callee` on the op's tensors, with its attributes as settings. The op's index results are
  /// the first of its tensors' dynamic sizes; the call gives all of them.
  LogicalResult translateHostCall(Operation *op, StringRef callee) {
    SmallVector<Value> inputs, sizes;
    SmallVector<Attribute> inputTypes, resultTypes;
    for (Value tensor : op->getOperands()) {
      inputs.push_back(mapping.lookup(tensor));
      inputTypes.push_back(TypeAttr::get(tensor.getType()));
      FailureOr<SmallVector<OpFoldResult>> known = nn::sizesOf(tensor);
      if (failed(known))
        return op->emitError() << "internal: nn-to-plan found a tensor whose size nothing tells";
      for (OpFoldResult size : *known)
        if (isa<Value>(size))
          sizes.push_back(lookup(op->getLoc(), size));
    }
    SmallVector<Type> types;
    int64_t numSizes = 0;
    for (Type type : op->getResultTypes())
      if (auto tensor = dyn_cast<RankedTensorType>(type)) {
        resultTypes.push_back(TypeAttr::get(type));
        types.push_back(bufferType());
        numSizes += tensor.getNumDynamicDims();
      }
    types.append(numSizes, builder.getIndexType());
    auto call = builder.create<plan::HostCallOp>(op->getLoc(), types, builder.getStringAttr(callee), inputs, sizes,
                                                 builder.getArrayAttr(inputTypes), builder.getArrayAttr(resultTypes),
                                                 op->getAttrDictionary());
    mapping.map(op->getResults(), call.getOutputs().take_front(op->getNumResults()));
    return success();
  }

  LogicalResult translateReturn(func::ReturnOp op) {
    for (auto [number, value] : llvm::enumerate(op.getOperands())) {
      auto type = cast<RankedTensorType>(value.getType());
      FailureOr<SmallVector<OpFoldResult>> sizes = nn::sizesOf(value);
      if (failed(sizes))
        return op.emitError() << "internal: nn-to-plan found an output whose size nothing tells";
      SmallVector<Value> dynamic;
      for (auto [size, known] : llvm::zip(*sizes, type.getShape()))
        if (ShapedType::isDynamic(known))
          dynamic.push_back(lookup(op.getLoc(), size));
      auto name = function.getResultAttrOfType<StringAttr>(number, "nn.name");
      auto onnxType = function.getResultAttrOfType<IntegerAttr>(number, "nn.type");
      if (!name || !onnxType)
        return function.emitError() << "internal: nn-to-plan found a result without a name or type";
      builder.create<plan::OutputOp>(op.getLoc(), name, mapping.lookup(value), TypeAttr::get(type),
                                     builder.getI64IntegerAttr(onnxType.getInt()), dynamic);
    }
    builder.create<func::ReturnOp>(op.getLoc());
    return success();
  }

  Type planned(Type type) { return isTensor(type) ? bufferType() : type; }

  /// Rebuilds a control-flow op with buffers for tensors.
  LogicalResult translateRegions(Operation *op) {
    OperationState state(op->getLoc(), op->getName());
    for (Value operand : op->getOperands())
      state.operands.push_back(mapping.lookup(operand));
    for (Type type : op->getResultTypes())
      state.types.push_back(planned(type));
    state.attributes = op->getDiscardableAttrDictionary();
    for (unsigned region = 0; region < op->getNumRegions(); ++region)
      state.addRegion();
    Operation *copy = builder.create(state);
    for (auto [from, to] : llvm::zip(op->getRegions(), copy->getRegions()))
      if (failed(translateRegion(from, to)))
        return failure();
    mapping.map(op->getResults(), copy->getResults());
    return success();
  }

  LogicalResult translateRegion(Region &from, Region &to) {
    if (from.empty())
      return success();
    OpBuilder::InsertionGuard guard(builder);
    Block *block = builder.createBlock(&to);
    for (BlockArgument argument : from.getArguments())
      mapping.map(argument, block->addArgument(planned(argument.getType()), argument.getLoc()));
    builder.setInsertionPointToStart(block);
    for (Operation &op : from.front())
      if (failed(translate(&op)))
        return failure();
    return success();
  }

  SymbolTable symbols;
  func::FuncOp function;
  OpBuilder builder;
  IRMapping mapping;
  DenseSet<Value> guarded; ///< tensors whose number of elements is checked
};

struct NnToPlan : joule::impl::NnToPlanBase<NnToPlan> {
  void runOnOperation() override {
    auto function = getOperation().lookupSymbol<func::FuncOp>("main");
    if (!function) {
      getOperation().emitError() << "internal: nn-to-plan found no main function";
      return signalPassFailure();
    }
    if (failed(Planner(getOperation(), function).run()))
      signalPassFailure();
  }
};

} // namespace
