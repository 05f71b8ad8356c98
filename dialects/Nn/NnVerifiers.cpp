// What ODS cannot say about nn ops. Each check carries the number of the constraint in the op's documentation.
#include "dialects/Nn/NnDialect.h"

using namespace mlir;
using namespace joule::nn;

namespace {

RankedTensorType typeOf(Value value) { return cast<RankedTensorType>(value.getType()); }

/// One `sizes` operand per dynamic dimension of `result`.
LogicalResult verifySizes(Operation *op, Value result, ValueRange sizes) {
  int64_t wanted = typeOf(result).getNumDynamicDims();
  if (static_cast<int64_t>(sizes.size()) == wanted)
    return success();
  return op->emitOpError() << "has " << sizes.size() << " sizes for " << wanted << " dynamic dimensions";
}

LogicalResult verifyAxis(Operation *op, int64_t axis, RankedTensorType type) {
  if (axis >= 0 && axis < type.getRank())
    return success();
  return op->emitOpError() << "has axis " << axis << " on a tensor of rank " << type.getRank();
}

/// Strictly ascending and below the rank.
LogicalResult verifyAxes(Operation *op, ArrayRef<int64_t> axes, RankedTensorType type) {
  for (auto [position, axis] : llvm::enumerate(axes)) {
    if (failed(verifyAxis(op, axis, type)))
      return failure();
    if (position > 0 && axes[position - 1] >= axis)
      return op->emitOpError() << "has axes that do not ascend";
  }
  return success();
}

bool compatible(int64_t a, int64_t b) { return ShapedType::isDynamic(a) || ShapedType::isDynamic(b) || a == b; }

LogicalResult verifyCompatibleShapes(Operation *op, ArrayRef<int64_t> got, ArrayRef<int64_t> wanted) {
  if (got.size() == wanted.size() && llvm::all_of(llvm::zip(got, wanted), [](auto pair) {
        return compatible(std::get<0>(pair), std::get<1>(pair));
      }))
    return success();
  InFlightDiagnostic error = op->emitOpError() << "has a result of shape [";
  llvm::interleaveComma(got, error);
  error << "] where its operands ask for [";
  llvm::interleaveComma(wanted, error);
  return error << "]";
}

LogicalResult verifySameElementType(Operation *op, Type a, Type b) {
  if (getElementTypeOrSelf(a) == getElementTypeOrSelf(b))
    return success();
  return op->emitOpError() << "joins element types " << getElementTypeOrSelf(a) << " and " << getElementTypeOrSelf(b);
}

LogicalResult verifySameType(Operation *op, Value input, Value result) {
  if (failed(verifySameElementType(op, input.getType(), result.getType())))
    return failure();
  return verifyCompatibleShapes(op, typeOf(result).getShape(), typeOf(input).getShape());
}

SmallVector<int64_t> without(ArrayRef<int64_t> shape, ArrayRef<int64_t> axes) {
  SmallVector<int64_t> kept;
  for (auto [dim, size] : llvm::enumerate(shape))
    if (!llvm::is_contained(axes, static_cast<int64_t>(dim)))
      kept.push_back(size);
  return kept;
}

/// One entry per spatial dimension in each list; those in `positive` are at least 1.
LogicalResult verifyWindow(Operation *op, RankedTensorType input, ArrayRef<int64_t> low,
                           ArrayRef<ArrayRef<int64_t>> positive) {
  size_t spatial = input.getRank() < 3 ? 0 : input.getRank() - 2;
  if (spatial == 0)
    return op->emitOpError() << "slides over a tensor of rank " << input.getRank() << ", which has no spatial dimension";
  if (low.size() != spatial)
    return op->emitOpError() << "has " << low.size() << " paddings for " << spatial << " spatial dimensions";
  for (ArrayRef<int64_t> list : positive) {
    if (list.size() != spatial)
      return op->emitOpError() << "has a list of " << list.size() << " for " << spatial << " spatial dimensions";
    if (llvm::any_of(list, [](int64_t value) { return value < 1; }))
      return op->emitOpError() << "has a window size, stride or dilation below 1";
  }
  return success();
}

int64_t countDynamic(ArrayRef<int64_t> values) { return llvm::count_if(values, ShapedType::isDynamic); }

/// True where `axis` of an op that drops it, or walks along it, fits.
template <typename Op> LogicalResult verifyAlongAxis(Op op) {
  if (failed(verifyAxis(op, op.getAxis(), typeOf(op.getInput()))))
    return failure();
  return verifySameType(op, op.getInput(), op.getResult());
}

template <typename Op> LogicalResult verifyRecurrent(Op op, int64_t gates) {
  auto gatesType = typeOf(op.getGates()), recurrence = typeOf(op.getRecurrence()), initial = typeOf(op.getHInitial());
  if (gatesType.getRank() != 3 || recurrence.getRank() != 2 || initial.getRank() != 2)
    return op.emitOpError() << "wants gates of rank 3, recurrence and initial state of rank 2";
  int64_t hidden = recurrence.getDimSize(1);
  if (recurrence.getDimSize(0) != gates * hidden || !compatible(gatesType.getDimSize(2), gates * hidden))
    return op.emitOpError() << "has " << gatesType.getDimSize(2) << " gate values and " << recurrence.getDimSize(0)
                            << " recurrence rows for " << hidden << " hidden units";
  return success();
}

} // namespace

LogicalResult ConstantOp::verify() {
  if (isa<ElementsAttr, WeightAttr>(getValue()))
    return success();
  return emitOpError() << "holds neither elements nor a weight";
}

LogicalResult BroadcastOp::verify() {
  RankedTensorType input = typeOf(getInput()), result = typeOf(getResult());
  if (static_cast<int64_t>(getDimensions().size()) != input.getRank()) // C1
    return emitOpError() << "has " << getDimensions().size() << " dimensions for an input of rank " << input.getRank();
  if (failed(verifyAxes(*this, getDimensions(), result))) // C1
    return failure();
  for (auto [size, dim] : llvm::zip(input.getShape(), getDimensions())) // C2
    if (size != 1 && !compatible(size, result.getDimSize(dim)))
      return emitOpError() << "repeats " << size << " elements along a dimension of " << result.getDimSize(dim);
  if (failed(verifySameElementType(*this, input, result)))
    return failure();
  return verifySizes(*this, getResult(), getSizes()); // C3
}

LogicalResult ReshapeOp::verify() {
  RankedTensorType input = typeOf(getInput()), result = typeOf(getResult());
  if (input.hasStaticShape() && result.hasStaticShape() && input.getNumElements() != result.getNumElements()) // C1
    return emitOpError() << "turns " << input.getNumElements() << " elements into " << result.getNumElements();
  if (failed(verifySameElementType(*this, input, result)))
    return failure();
  return verifySizes(*this, getResult(), getSizes()); // C2
}

LogicalResult TransposeOp::verify() {
  RankedTensorType input = typeOf(getInput()), result = typeOf(getResult());
  SmallVector<int64_t> sorted(getPermutation());
  llvm::sort(sorted);
  if (sorted != llvm::to_vector(llvm::seq<int64_t>(0, input.getRank()))) // C1
    return emitOpError() << "has no permutation of " << input.getRank() << " dimensions";
  SmallVector<int64_t> wanted;
  for (int64_t dim : getPermutation())
    wanted.push_back(input.getDimSize(dim));
  if (failed(verifySameElementType(*this, input, result)))
    return failure();
  return verifyCompatibleShapes(*this, result.getShape(), wanted); // C2
}

LogicalResult SliceOp::verify() {
  RankedTensorType input = typeOf(getInput()), result = typeOf(getResult());
  size_t rank = input.getRank();
  if (getStaticOffsets().size() != rank || getStrides().size() != rank ||
      static_cast<size_t>(result.getRank()) != rank || llvm::is_contained(getStrides(), 0)) // C1
    return emitOpError() << "wants one offset and one stride that is not 0 per dimension of the input";
  if (countDynamic(getStaticOffsets()) != static_cast<int64_t>(getOffsets().size())) // C2
    return emitOpError() << "has " << getOffsets().size() << " offsets for " << countDynamic(getStaticOffsets())
                         << " dynamic ones";
  for (size_t dim = 0; dim < rank; ++dim) { // C3
    int64_t offset = getStaticOffsets()[dim], size = result.getDimSize(dim), from = input.getDimSize(dim);
    if (ShapedType::isDynamic(offset) || ShapedType::isDynamic(size) || ShapedType::isDynamic(from) || size == 0)
      continue;
    int64_t last = offset + (size - 1) * getStrides()[dim];
    if (std::min(offset, last) < 0 || std::max(offset, last) >= from)
      return emitOpError() << "reads elements " << offset << " to " << last << " of " << from << " along dimension "
                           << dim;
  }
  if (failed(verifySameElementType(*this, input, result)))
    return failure();
  return verifySizes(*this, getResult(), getSizes()); // C2
}

LogicalResult PadOp::verify() {
  RankedTensorType input = typeOf(getInput()), value = typeOf(getValue());
  if (value.getRank() != 0 || value.getElementType() != input.getElementType()) // C1
    return emitOpError() << "pads " << input.getElementType() << " with " << value;
  if (static_cast<int64_t>(getLow().size()) != input.getRank() || typeOf(getResult()).getRank() != input.getRank() ||
      countDynamic(getLow()) != static_cast<int64_t>(getLows().size())) // C2
    return emitOpError() << "wants one low padding per dimension of the input";
  if (failed(verifySameElementType(*this, input, getResult().getType())))
    return failure();
  return verifySizes(*this, getResult(), getSizes()); // C2
}

LogicalResult ConcatOp::verify() {
  RankedTensorType result = typeOf(getResult());
  if (getInputs().empty()) // C1
    return emitOpError() << "joins no tensors";
  if (failed(verifyAxis(*this, getAxis(), result))) // C1
    return failure();
  int64_t along = 0;
  for (Value input : getInputs()) {
    RankedTensorType type = typeOf(input);
    if (type.getRank() != result.getRank()) // C1
      return emitOpError() << "joins tensors of rank " << type.getRank() << " and " << result.getRank();
    if (failed(verifySameElementType(*this, type, result))) // C1
      return failure();
    for (int64_t dim = 0; dim < result.getRank(); ++dim)
      if (dim != static_cast<int64_t>(getAxis()) && !compatible(type.getDimSize(dim), result.getDimSize(dim))) // C2
        return emitOpError() << "joins sizes " << type.getDimSize(dim) << " and " << result.getDimSize(dim)
                             << " along dimension " << dim;
    along = ShapedType::isDynamic(along) || type.isDynamicDim(getAxis()) ? ShapedType::kDynamic
                                                                         : along + type.getDimSize(getAxis());
  }
  if (!compatible(along, result.getDimSize(getAxis()))) // C2
    return emitOpError() << "joins " << along << " slices into " << result.getDimSize(getAxis());
  return verifySizes(*this, getResult(), getSizes()); // C3
}

LogicalResult IotaOp::verify() {
  if (failed(verifyAxis(*this, getDimension(), typeOf(getResult())))) // C1
    return failure();
  return verifySizes(*this, getResult(), getSizes()); // C2
}

LogicalResult GatherOp::verify() {
  RankedTensorType input = typeOf(getInput()), indices = typeOf(getIndices()), result = typeOf(getResult());
  if (failed(verifyAxis(*this, getAxis(), input))) // C1
    return failure();
  if (!indices.getElementType().isSignlessInteger() || result.getRank() != input.getRank() - 1 + indices.getRank())
    return emitOpError() << "takes slices of " << input << " at " << indices << " into " << result; // C1
  if (failed(verifySameElementType(*this, input, result)))
    return failure();
  return verifySizes(*this, getResult(), getSizes()); // C2
}

LogicalResult GatherElementsOp::verify() {
  RankedTensorType input = typeOf(getInput()), indices = typeOf(getIndices());
  if (failed(verifyAxis(*this, getAxis(), input))) // C1
    return failure();
  if (indices.getRank() != input.getRank()) // C1
    return emitOpError() << "has an input of rank " << input.getRank() << " and indices of rank " << indices.getRank();
  if (failed(verifySameElementType(*this, input, getResult().getType())))
    return failure();
  return verifyCompatibleShapes(*this, typeOf(getResult()).getShape(), indices.getShape()); // C1
}

LogicalResult GatherNdOp::verify() {
  RankedTensorType input = typeOf(getInput()), indices = typeOf(getIndices()), result = typeOf(getResult());
  int64_t batch = getBatchDims();
  int64_t tuple = indices.getRank() == 0 ? ShapedType::kDynamic : indices.getShape().back();
  if (ShapedType::isDynamic(tuple) || batch < 0 || batch + tuple > input.getRank() || batch >= indices.getRank() ||
      result.getRank() != indices.getRank() - 1 + input.getRank() - batch - tuple) // C1
    return emitOpError() << "takes slices of " << input << " at tuples " << indices << " into " << result;
  if (failed(verifySameElementType(*this, input, result)))
    return failure();
  return verifySizes(*this, getResult(), getSizes()); // C2
}

LogicalResult ReduceOp::verify() {
  RankedTensorType input = typeOf(getInput());
  if (failed(verifyAxes(*this, getAxes(), input)) || // C1
      failed(verifySameElementType(*this, input, getResult().getType())))
    return failure();
  return verifyCompatibleShapes(*this, typeOf(getResult()).getShape(), without(input.getShape(), getAxes())); // C2
}

LogicalResult ArgReduceOp::verify() {
  RankedTensorType input = typeOf(getInput());
  if (failed(verifyAxis(*this, getAxis(), input))) // C1
    return failure();
  if (getCombiner() == Combiner::Sum || getCombiner() == Combiner::Product) // C1
    return emitOpError() << "wants a max or a min";
  if (!typeOf(getResult()).getElementType().isSignlessInteger()) // C2
    return emitOpError() << "gives integers";
  return verifyCompatibleShapes(*this, typeOf(getResult()).getShape(),
                                without(input.getShape(), {static_cast<int64_t>(getAxis())})); // C2
}

LogicalResult CumulateOp::verify() { return verifyAlongAxis(*this); } // C1

LogicalResult SoftmaxOp::verify() { return verifyAlongAxis(*this); } // C1

LogicalResult NormalizeOp::verify() {
  if (failed(verifyAxes(*this, getAxes(), typeOf(getInput())))) // C1
    return failure();
  return verifySameType(*this, getInput(), getResult()); // C1
}

LogicalResult ContractOp::verify() {
  RankedTensorType types[] = {typeOf(getLhs()), typeOf(getRhs()), typeOf(getResult())};
  ArrayRef<int64_t> labels[] = {getLhsLabels(), getRhsLabels(), getOutLabels()};
  llvm::SmallDenseMap<int64_t, int64_t> sizes;
  for (auto [type, list] : llvm::zip(types, labels)) {
    if (static_cast<int64_t>(list.size()) != type.getRank()) // C1
      return emitOpError() << "has " << list.size() << " labels for a tensor of rank " << type.getRank();
    llvm::SmallDenseSet<int64_t> seen;
    for (auto [label, size] : llvm::zip(list, type.getShape())) {
      if (!seen.insert(label).second) // C1
        return emitOpError() << "has label " << label << " twice in one tensor";
      auto [known, fresh] = sizes.try_emplace(label, size);
      if (fresh && list.data() == getOutLabels().data()) // C1
        return emitOpError() << "has label " << label << " in its result alone";
      if (!compatible(known->second, size)) // C2
        return emitOpError() << "has sizes " << known->second << " and " << size << " for label " << label;
      if (ShapedType::isDynamic(known->second))
        known->second = size;
    }
  }
  return verifySameElementType(*this, types[0], types[1]); // C3
}

LogicalResult ConvOp::verify() {
  RankedTensorType input = typeOf(getInput()), filter = typeOf(getFilter()), result = typeOf(getResult());
  if (input.getRank() != filter.getRank() || input.getRank() != result.getRank()) // C1
    return emitOpError() << "has an input of rank " << input.getRank() << ", a filter of rank " << filter.getRank()
                         << " and a result of rank " << result.getRank();
  if (failed(verifyWindow(*this, input, getLow(), {getStrides(), getDilations(), getInputDilations()}))) // C1
    return failure();
  int64_t groups = getGroups();
  if (groups < 1 || (!filter.isDynamicDim(0) && filter.getDimSize(0) % groups != 0)) // C2
    return emitOpError() << "has " << filter.getDimSize(0) << " filters in " << groups << " groups";
  if (!filter.isDynamicDim(1) && !compatible(input.getDimSize(1), filter.getDimSize(1) * groups)) // C2
    return emitOpError() << "has " << input.getDimSize(1) << " input channels but filters for "
                         << filter.getDimSize(1) * groups;
  return verifySizes(*this, getResult(), getSizes()); // C3
}

LogicalResult PoolOp::verify() {
  if (failed(verifyWindow(*this, typeOf(getInput()), getLow(), {getWindow(), getStrides(), getDilations()})) || // C1
      failed(verifySameElementType(*this, getInput().getType(), getResult().getType())))
    return failure();
  return verifySizes(*this, getResult(), getSizes()); // C2
}

LogicalResult PoolArgMaxOp::verify() {
  if (failed(verifyWindow(*this, typeOf(getInput()), getLow(), {getWindow(), getStrides(), getDilations()}))) // C1
    return failure();
  if (!typeOf(getResult()).getElementType().isSignlessInteger()) // C1
    return emitOpError() << "gives integers";
  return verifySizes(*this, getResult(), getSizes()); // C2
}

LogicalResult ResizeOp::verify() {
  RankedTensorType input = typeOf(getInput()), scales = typeOf(getScales());
  if (scales.getRank() != 1 || !compatible(scales.getDimSize(0), input.getRank()) ||
      typeOf(getResult()).getRank() != input.getRank()) // C1
    return emitOpError() << "has scales of type " << scales << " for an input of rank " << input.getRank();
  if (failed(verifySameElementType(*this, input, getResult().getType()))) // C1
    return failure();
  return verifySizes(*this, getResult(), getSizes()); // C2
}

LogicalResult CastOp::verify() { // C1
  return verifyCompatibleShapes(*this, typeOf(getResult()).getShape(), typeOf(getInput()).getShape());
}

LogicalResult BitcastOp::verify() {
  Type from = typeOf(getInput()).getElementType(), to = typeOf(getResult()).getElementType();
  if (!from.isIntOrFloat() || !to.isIntOrFloat() || from.getIntOrFloatBitWidth() != to.getIntOrFloatBitWidth()) // C1
    return emitOpError() << "reads " << from << " as " << to << ", of another width";
  return verifyCompatibleShapes(*this, typeOf(getResult()).getShape(), typeOf(getInput()).getShape()); // C1
}

LogicalResult ScatterElementsOp::verify() {
  RankedTensorType input = typeOf(getInput()), indices = typeOf(getIndices()), updates = typeOf(getUpdates());
  if (failed(verifyAxis(*this, getAxis(), input))) // C1
    return failure();
  if (indices.getRank() != input.getRank() || updates.getRank() != input.getRank()) // C1
    return emitOpError() << "has an input of rank " << input.getRank() << " and indices of rank " << indices.getRank();
  if (failed(verifySameElementType(*this, input, updates)))
    return failure();
  return verifySameType(*this, getInput(), getResult()); // C1
}

LogicalResult ScatterNdOp::verify() {
  RankedTensorType input = typeOf(getInput()), indices = typeOf(getIndices()), updates = typeOf(getUpdates());
  int64_t tuple = indices.getRank() == 0 ? ShapedType::kDynamic : indices.getShape().back();
  if (ShapedType::isDynamic(tuple) || tuple > input.getRank() ||
      updates.getRank() != indices.getRank() - 1 + input.getRank() - tuple) // C1
    return emitOpError() << "writes " << updates << " at tuples " << indices << " into " << input;
  if (failed(verifySameElementType(*this, input, updates)))
    return failure();
  return verifySameType(*this, getInput(), getResult()); // C1
}

LogicalResult TopKOp::verify() {
  RankedTensorType input = typeOf(getInput());
  if (failed(verifyAxis(*this, getAxis(), input)) || // C1
      failed(verifyCompatibleShapes(*this, typeOf(getIndices()).getShape(), typeOf(getValues()).getShape())))
    return failure();
  if (!typeOf(getIndices()).getElementType().isInteger(64)) // C1
    return emitOpError() << "gives indices of i64";
  return verifySizes(*this, getValues(), getSizes()); // C2
}

LogicalResult LstmOp::verify() { return verifyRecurrent(*this, 4); } // C1
LogicalResult GruOp::verify() { return verifyRecurrent(*this, 3); }  // C1
LogicalResult RnnOp::verify() { return verifyRecurrent(*this, 1); }  // C1

LogicalResult NonZeroOp::verify() {
  RankedTensorType result = typeOf(getIndices());
  if (result.getRank() != 2 || result.getDimSize(0) != typeOf(getInput()).getRank() || !result.isDynamicDim(1) ||
      !result.getElementType().isInteger(64)) // C1
    return emitOpError() << "gives " << result << " for an input of rank " << typeOf(getInput()).getRank();
  return success();
}

LogicalResult FusedOp::verify() {
  if (getBody().getArgumentTypes() != getInputs().getTypes())
    return emitOpError() << "has body arguments that differ from its operands";
  auto yield = cast<YieldOp>(getBody().front().getTerminator());
  if (yield.getOutputs().getTypes() != getOutputs().getTypes())
    return emitOpError() << "yields types that differ from its results";
  int64_t wanted = 0;
  for (Value output : getOutputs())
    wanted += typeOf(output).getNumDynamicDims();
  if (static_cast<int64_t>(getSizes().size()) != wanted)
    return emitOpError() << "has " << getSizes().size() << " sizes for " << wanted << " dynamic dimensions";
  return success();
}
