// Registers the nn dialect and defines its types, attributes and interfaces.
#include "dialects/Nn/NnDialect.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

#include "dialects/Nn/NnDialect.cpp.inc"
#include "dialects/Nn/NnEnums.cpp.inc"
#include "dialects/Nn/NnInterfaces.cpp.inc"

#define GET_TYPEDEF_CLASSES
#include "dialects/Nn/NnTypes.cpp.inc"

#define GET_ATTRDEF_CLASSES
#include "dialects/Nn/NnAttributes.cpp.inc"

void joule::nn::NnDialect::initialize() {
  addTypes<
#define GET_TYPEDEF_LIST
#include "dialects/Nn/NnTypes.cpp.inc"
      >();
  addAttributes<
#define GET_ATTRDEF_LIST
#include "dialects/Nn/NnAttributes.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "dialects/Nn/NnOps.cpp.inc"
      >();
}

Type joule::nn::defaultAccumulateType(Type type) {
  if (isa<FloatType>(type) && type.getIntOrFloatBitWidth() < 32)
    return Float32Type::get(type.getContext());
  return type;
}

static void collectNames(Location loc, llvm::SetVector<StringAttr> &names) {
  if (auto fused = dyn_cast<FusedLoc>(loc)) {
    for (Location part : fused.getLocations())
      collectNames(part, names);
  } else if (auto name = dyn_cast<NameLoc>(loc)) {
    names.insert(name.getName());
  }
}

SmallVector<StringAttr> joule::nn::nodeNames(Location loc) {
  llvm::SetVector<StringAttr> names;
  collectNames(loc, names);
  return names.takeVector();
}

namespace {

using Sizes = SmallVector<OpFoldResult>;

/// Constants of `type`'s static sizes, and `dynamic` in order for the others.
FailureOr<Sizes> mergeSizes(ShapedType type, ValueRange dynamic) {
  if (static_cast<int64_t>(dynamic.size()) < type.getNumDynamicDims())
    return failure();
  Builder builder(type.getContext());
  return getMixedValues(type.getShape(), dynamic, builder);
}

/// The `nn.symbol` called `name` at the entry of the function around `value`.
Value findSymbol(func::FuncOp function, StringRef name) {
  for (auto symbol : function.getBody().front().getOps<joule::nn::SymbolOp>())
    if (symbol.getName() == name)
      return symbol;
  return {};
}

/// The sizes of a group's or kernel's argument: `input_sizes` numbers the body argument of each dynamic dimension.
FailureOr<Sizes> sizesOfGroupArgument(BlockArgument argument, ArrayRef<int64_t> inputSizes) {
  for (BlockArgument before : argument.getOwner()->getArguments().take_front(argument.getArgNumber()))
    if (auto type = dyn_cast<RankedTensorType>(before.getType()))
      inputSizes = inputSizes.drop_front(type.getNumDynamicDims());
  auto type = cast<RankedTensorType>(argument.getType());
  SmallVector<Value> dynamic;
  for (int64_t number : inputSizes.take_front(type.getNumDynamicDims()))
    dynamic.push_back(argument.getOwner()->getArgument(number));
  return mergeSizes(type, dynamic);
}

FailureOr<Sizes> sizesOfArgument(BlockArgument argument) {
  auto type = cast<RankedTensorType>(argument.getType());
  Operation *parent = argument.getOwner()->getParentOp();
  if (type.hasStaticShape())
    return mergeSizes(type, {});
  if (auto inputSizes = parent->getAttrOfType<DenseI64ArrayAttr>("input_sizes"))
    return sizesOfGroupArgument(argument, inputSizes);
  auto function = dyn_cast<func::FuncOp>(parent);
  if (!function)
    return failure();
  auto dims = function.getArgAttrOfType<ArrayAttr>(argument.getArgNumber(), "nn.dims");
  if (!dims)
    return failure();
  SmallVector<Value> dynamic;
  for (auto [dim, size] : llvm::zip(dims, type.getShape())) {
    if (!ShapedType::isDynamic(size))
      continue;
    Value symbol = findSymbol(function, cast<StringAttr>(dim).getValue());
    if (!symbol)
      return failure();
    dynamic.push_back(symbol);
  }
  return mergeSizes(type, dynamic);
}

/// `sizes` without the dimensions `axes`.
Sizes dropAxes(const Sizes &sizes, ArrayRef<int64_t> axes) {
  Sizes kept;
  for (auto [dim, size] : llvm::enumerate(sizes))
    if (!llvm::is_contained(axes, static_cast<int64_t>(dim)))
      kept.push_back(size);
  return kept;
}

FailureOr<Sizes> sizesOfContract(joule::nn::ContractOp op) {
  FailureOr<Sizes> lhs = joule::nn::sizesOf(op.getLhs()), rhs = joule::nn::sizesOf(op.getRhs());
  if (failed(lhs) || failed(rhs))
    return failure();
  Sizes sizes;
  for (int64_t label : op.getOutLabels()) {
    const auto *left = llvm::find(op.getLhsLabels(), label);
    sizes.push_back(left != op.getLhsLabels().end()
                        ? (*lhs)[left - op.getLhsLabels().begin()]
                        : (*rhs)[llvm::find(op.getRhsLabels(), label) - op.getRhsLabels().begin()]);
  }
  return sizes;
}

} // namespace

FailureOr<Sizes> joule::nn::sizesOf(Value tensor) {
  auto type = cast<RankedTensorType>(tensor.getType());
  if (type.hasStaticShape())
    return mergeSizes(type, {});
  if (auto argument = dyn_cast<BlockArgument>(tensor))
    return sizesOfArgument(argument);
  Operation *op = tensor.getDefiningOp();
  if (isPointwise(op)) {
    // A select may have a scalar condition, and an operand may know a size that the result's type does not.
    Value sized;
    for (Value operand : op->getOperands())
      if (auto shaped = dyn_cast<RankedTensorType>(operand.getType());
          shaped && (!sized || shaped.getShape() == type.getShape()))
        sized = operand;
    if (!sized)
      return failure();
    return sizesOf(sized);
  }
  return TypeSwitch<Operation *, FailureOr<Sizes>>(op)
      .Case<BroadcastOp, ReshapeOp, SliceOp, PadOp, ConcatOp, IotaOp, GatherOp, GatherNdOp, ConvOp, PoolOp,
            PoolArgMaxOp, ResizeOp, TopKOp>([&](auto op) { return mergeSizes(type, op.getSizes()); })
      .Case([&](TransposeOp op) -> FailureOr<Sizes> {
        FailureOr<Sizes> input = sizesOf(op.getInput());
        if (failed(input))
          return failure();
        Sizes sizes;
        for (int64_t dim : op.getPermutation())
          sizes.push_back((*input)[dim]);
        return sizes;
      })
      .Case([&](ReduceOp op) -> FailureOr<Sizes> {
        FailureOr<Sizes> input = sizesOf(op.getInput());
        if (failed(input))
          return failure();
        return dropAxes(*input, op.getAxes());
      })
      .Case([&](ArgReduceOp op) -> FailureOr<Sizes> {
        FailureOr<Sizes> input = sizesOf(op.getInput());
        if (failed(input))
          return failure();
        return dropAxes(*input, {static_cast<int64_t>(op.getAxis())});
      })
      .Case([&](ContractOp op) { return sizesOfContract(op); })
      .Case([&](GatherElementsOp op) { return sizesOf(op.getIndices()); })
      .Case<CumulateOp, SoftmaxOp, NormalizeOp, CastOp, BitcastOp, ScatterElementsOp, ScatterNdOp, TriangularizeOp>(
          [&](auto op) { return sizesOf(op.getInput()); })
      .Case<LstmOp, GruOp, RnnOp>([&](auto op) -> FailureOr<Sizes> {
        FailureOr<Sizes> gates = sizesOf(op.getGates()), hidden = sizesOf(op.getHInitial());
        if (failed(gates) || failed(hidden))
          return failure();
        if (tensor != op.getHSequence())
          return hidden;
        return Sizes{(*gates)[0], (*gates)[1], (*hidden)[1]};
      })
      .Case([&](NonZeroOp op) { return mergeSizes(type, op.getCount()); })
      .Case([&](NonMaxSuppressionOp op) { return mergeSizes(type, op.getCount()); })
      .Case([&](UniqueOp op) -> FailureOr<Sizes> {
        if (tensor == op.getFirst())
          return mergeSizes(type, op.getCount());
        FailureOr<Sizes> input = sizesOf(op.getInput());
        if (failed(input))
          return failure();
        return Sizes{input->front()};
      })
      .Case([&](GroupInterface op) -> FailureOr<Sizes> {
        ValueRange sizes = op.getSizes();
        for (Value output : op->getResults()) {
          auto outputType = cast<RankedTensorType>(output.getType());
          if (output == tensor)
            return mergeSizes(outputType, sizes.take_front(outputType.getNumDynamicDims()));
          sizes = sizes.drop_front(outputType.getNumDynamicDims());
        }
        return failure();
      })
      .Case([&](tensor::CastOp op) -> FailureOr<Sizes> { return sizesOf(op.getSource()); })
      .Default([](Operation *) -> FailureOr<Sizes> { return failure(); });
}
