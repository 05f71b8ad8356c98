// What ODS cannot say about nn ops. Each check carries the number of the constraint in the op's
// documentation.
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

bool compatible(int64_t a, int64_t b) {
  return ShapedType::isDynamic(a) || ShapedType::isDynamic(b) || a == b;
}

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
  return op->emitOpError() << "joins element types " << getElementTypeOrSelf(a) << " and "
                           << getElementTypeOrSelf(b);
}

LogicalResult verifySameType(Operation *op, Value input, Value result) {
  if (failed(verifySameElementType(op, input.getType(), result.getType())))
    return failure();
  return verifyCompatibleShapes(op, typeOf(result).getShape(), typeOf(input).getShape());
}

LogicalResult verifyFloats(Operation *op, RankedTensorType type) {
  if (isa<FloatType>(type.getElementType()))
    return success();
  return op->emitOpError() << "wants floats but has " << type.getElementType();
}

LogicalResult verifyIndices(Operation *op, RankedTensorType type) {
  if (type.getElementType().isSignlessInteger())
    return success();
  return op->emitOpError() << "wants integers as indices but has " << type.getElementType();
}

/// The bits that an element takes in memory; 0 where the type says nothing about that.
int64_t storageBits(Type element) {
  if (auto complex = dyn_cast<ComplexType>(element))
    return 2 * storageBits(complex.getElementType());
  if (isa<F4E2M1Type>(element))
    return 4;
  if (isa<F8E8M0Type>(element))
    return 8;
  if (!element.isIntOrFloat())
    return 0;
  return element.isInteger(1) ? 8 : element.getIntOrFloatBitWidth();
}

SmallVector<int64_t> without(ArrayRef<int64_t> shape, ArrayRef<int64_t> axes) {
  SmallVector<int64_t> kept;
  for (auto [dim, size] : llvm::enumerate(shape))
    if (!llvm::is_contained(axes, static_cast<int64_t>(dim)))
      kept.push_back(size);
  return kept;
}

LogicalResult verifySameRank(Operation *op, RankedTensorType input, RankedTensorType result) {
  if (input.getRank() == result.getRank())
    return success();
  return op->emitOpError() << "has an input of rank " << input.getRank() << " and a result of rank "
                           << result.getRank();
}

/// One entry per spatial dimension in each list; those in `positive` are at least 1.
LogicalResult verifyWindow(Operation *op, RankedTensorType input, ArrayRef<int64_t> low,
                           ArrayRef<ArrayRef<int64_t>> positive) {
  size_t spatial = input.getRank() < 3 ? 0 : input.getRank() - 2;
  if (spatial == 0)
    return op->emitOpError() << "slides over a tensor of rank " << input.getRank()
                             << ", which has no spatial dimension";
  if (low.size() != spatial)
    return op->emitOpError() << "has " << low.size() << " paddings for " << spatial << " spatial dimensions";
  for (ArrayRef<int64_t> list : positive) {
    if (list.size() != spatial)
      return op->emitOpError() << "has a list of " << list.size() << " for " << spatial
                               << " spatial dimensions";
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

/// An operand or result of a recurrent cell has the gates' element type and the shape that they ask for.
LogicalResult verifyCellValue(Operation *op, StringRef name, Value value, Value gates,
                              ArrayRef<int64_t> wanted) {
  RankedTensorType type = typeOf(value);
  if (failed(verifySameElementType(op, gates.getType(), type)))
    return failure();
  if (succeeded(verifyCompatibleShape(type.getShape(), wanted)))
    return success();
  InFlightDiagnostic error = op->emitOpError() << "has " << name << " of shape [";
  llvm::interleaveComma(type.getShape(), error);
  error << "] where the recurrence asks for [";
  llvm::interleaveComma(wanted, error);
  return error << "]";
}

/// What the three recurrent cells share; `gates` is how many each has.
template <typename Op> LogicalResult verifyRecurrent(Op op, int64_t gates) {
  RankedTensorType gatesType = typeOf(op.getGates()), recurrence = typeOf(op.getRecurrence());
  if (gatesType.getRank() != 3 || recurrence.getRank() != 2 || !recurrence.hasStaticShape())
    return op.emitOpError() << "wants gates of rank 3 and a static recurrence of rank 2";
  int64_t hidden = recurrence.getDimSize(1), steps = gatesType.getDimSize(0), batch = gatesType.getDimSize(1);
  if (recurrence.getDimSize(0) != gates * hidden || !compatible(gatesType.getDimSize(2), gates * hidden))
    return op.emitOpError() << "has " << gatesType.getDimSize(2) << " gate values and "
                            << recurrence.getDimSize(0) << " recurrence rows for " << hidden
                            << " hidden units";
  if (Value lengths = op.getLengths();
      lengths && (typeOf(lengths).getRank() != 1 || !typeOf(lengths).getElementType().isSignlessInteger()))
    return op.emitOpError() << "has lengths of type " << lengths.getType();
  Value cells[] = {op.getHInitial(), op.getHLast()};
  for (Value value : cells)
    if (failed(verifyCellValue(op, "a state", value, op.getGates(), {batch, hidden})))
      return failure();
  if (failed(verifySameElementType(op, gatesType, recurrence)))
    return failure();
  return verifyCellValue(op, "a sequence", op.getHSequence(), op.getGates(), {steps, batch, hidden});
}

} // namespace

LogicalResult ConstantOp::verify() {
  RankedTensorType result = cast<RankedTensorType>(getResult().getType());
  int64_t bits = storageBits(result.getElementType());
  if (auto elements = dyn_cast<ElementsAttr>(getValue())) { // C1
    Type element = elements.getElementType();
    if (elements.getShapedType().getShape() == result.getShape() &&
        (element == result.getElementType() || storageBits(element) == bits))
      return success();
    return emitOpError() << "holds elements of type " << elements.getShapedType() << " for a result of "
                         << result;
  }
  auto weight = dyn_cast<WeightAttr>(getValue());
  if (!weight) // C1
    return emitOpError() << "holds neither elements nor a weight";
  uint64_t wanted = llvm::divideCeil(static_cast<uint64_t>(result.getNumElements()) * bits, 8);
  if (bits == 0 || weight.getLength() == wanted) // C2
    return success();
  return emitOpError() << "holds " << weight.getLength() << " bytes for " << result << ", which takes "
                       << wanted;
}

LogicalResult BroadcastOp::verify() {
  RankedTensorType input = typeOf(getInput()), result = typeOf(getResult());
  if (static_cast<int64_t>(getDimensions().size()) != input.getRank()) // C1
    return emitOpError() << "has " << getDimensions().size() << " dimensions for an input of rank "
                         << input.getRank();
  if (failed(verifyAxes(*this, getDimensions(), result))) // C1
    return failure();
  for (auto [size, dim] : llvm::zip(input.getShape(), getDimensions())) // C2
    if (size != 1 && !compatible(size, result.getDimSize(dim)))
      return emitOpError() << "repeats " << size << " elements along a dimension of "
                           << result.getDimSize(dim);
  if (failed(verifySameElementType(*this, input, result)))
    return failure();
  return verifySizes(*this, getResult(), getSizes()); // C3
}

LogicalResult ReshapeOp::verify() {
  RankedTensorType input = typeOf(getInput()), result = typeOf(getResult());
  if (input.hasStaticShape() && result.hasStaticShape() &&
      input.getNumElements() != result.getNumElements()) // C1
    return emitOpError() << "turns " << input.getNumElements() << " elements into "
                         << result.getNumElements();
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
    return emitOpError() << "has " << getOffsets().size() << " offsets for "
                         << countDynamic(getStaticOffsets()) << " dynamic ones";
  for (size_t dim = 0; dim < rank; ++dim) { // C3
    int64_t offset = getStaticOffsets()[dim], size = result.getDimSize(dim), from = input.getDimSize(dim);
    if (ShapedType::isDynamic(offset) || ShapedType::isDynamic(size) || ShapedType::isDynamic(from) ||
        size == 0)
      continue;
    int64_t last = offset + (size - 1) * getStrides()[dim];
    if (std::min(offset, last) < 0 || std::max(offset, last) >= from)
      return emitOpError() << "reads elements " << offset << " to " << last << " of " << from
                           << " along dimension " << dim;
  }
  if (failed(verifySameElementType(*this, input, result)))
    return failure();
  return verifySizes(*this, getResult(), getSizes()); // C2
}

LogicalResult PadOp::verify() {
  RankedTensorType input = typeOf(getInput()), value = typeOf(getValue());
  if (value.getRank() != 0 || value.getElementType() != input.getElementType()) // C1
    return emitOpError() << "pads " << input.getElementType() << " with " << value;
  if (static_cast<int64_t>(getLow().size()) != input.getRank() ||
      typeOf(getResult()).getRank() != input.getRank() ||
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
      if (dim != static_cast<int64_t>(getAxis()) &&
          !compatible(type.getDimSize(dim), result.getDimSize(dim))) // C2
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
  if (failed(verifyAxis(*this, getAxis(), input)) || failed(verifyIndices(*this, indices))) // C1
    return failure();
  if (result.getRank() != input.getRank() - 1 + indices.getRank()) // C1
    return emitOpError() << "takes slices of " << input << " at " << indices << " into " << result;
  if (failed(verifySameElementType(*this, input, result)))
    return failure();
  return verifySizes(*this, getResult(), getSizes()); // C2
}

LogicalResult GatherElementsOp::verify() {
  RankedTensorType input = typeOf(getInput()), indices = typeOf(getIndices());
  if (failed(verifyAxis(*this, getAxis(), input))) // C1
    return failure();
  if (indices.getRank() != input.getRank()) // C1
    return emitOpError() << "has an input of rank " << input.getRank() << " and indices of rank "
                         << indices.getRank();
  if (failed(verifyIndices(*this, indices)) ||
      failed(verifySameElementType(*this, input, getResult().getType()))) // C1
    return failure();
  return verifyCompatibleShapes(*this, typeOf(getResult()).getShape(), indices.getShape()); // C1
}

LogicalResult GatherNdOp::verify() {
  RankedTensorType input = typeOf(getInput()), indices = typeOf(getIndices()), result = typeOf(getResult());
  int64_t batch = getBatchDims();
  int64_t tuple = indices.getRank() == 0 ? ShapedType::kDynamic : indices.getShape().back();
  if (ShapedType::isDynamic(tuple) || batch < 0 || batch + tuple > input.getRank() ||
      batch >= indices.getRank() ||
      result.getRank() != indices.getRank() - 1 + input.getRank() - batch - tuple) // C1
    return emitOpError() << "takes slices of " << input << " at tuples " << indices << " into " << result;
  if (failed(verifyIndices(*this, indices)) || failed(verifySameElementType(*this, input, result))) // C1
    return failure();
  return verifySizes(*this, getResult(), getSizes()); // C2
}

LogicalResult ReduceOp::verify() {
  RankedTensorType input = typeOf(getInput());
  if (failed(verifyAxes(*this, getAxes(), input)) || // C1
      failed(verifySameElementType(*this, input, getResult().getType())))
    return failure();
  return verifyCompatibleShapes(*this, typeOf(getResult()).getShape(),
                                without(input.getShape(), getAxes())); // C2
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

LogicalResult SoftmaxOp::verify() { // C1
  return failed(verifyFloats(*this, typeOf(getInput()))) ? failure() : verifyAlongAxis(*this);
}

LogicalResult NormalizeOp::verify() {
  RankedTensorType input = typeOf(getInput());
  if (failed(verifyFloats(*this, input)) || failed(verifyAxes(*this, getAxes(), input))) // C1
    return failure();
  return verifySameType(*this, getInput(), getResult()); // C1
}

/// Labels are few: a bound keeps those that read IR from walking over a label of a billion.
constexpr int64_t maxLabel = 63;

/// One tensor of a contraction: one small label per dimension, none twice, each of one size in all tensors.
static LogicalResult verifyLabels(ContractOp op, RankedTensorType type, ArrayRef<int64_t> labels,
                                  bool isResult, llvm::SmallDenseMap<int64_t, int64_t> &sizes) {
  if (static_cast<int64_t>(labels.size()) != type.getRank()) // C1
    return op.emitOpError() << "has " << labels.size() << " labels for a tensor of rank " << type.getRank();
  for (auto [position, label] : llvm::enumerate(labels)) {
    if (label < 0 || label > maxLabel) // C1
      return op.emitOpError() << "has label " << label << ", which is not in 0 to " << maxLabel;
    if (llvm::is_contained(labels.take_front(position), label)) // C1
      return op.emitOpError() << "has label " << label << " twice in one tensor";
    int64_t size = type.getDimSize(position);
    auto [known, fresh] = sizes.try_emplace(label, size);
    if (fresh && isResult) // C1
      return op.emitOpError() << "has label " << label << " in its result alone";
    if (!compatible(known->second, size)) // C2
      return op.emitOpError() << "has sizes " << known->second << " and " << size << " for label " << label;
    if (ShapedType::isDynamic(known->second))
      known->second = size;
  }
  return success();
}

LogicalResult ContractOp::verify() {
  RankedTensorType lhs = typeOf(getLhs()), rhs = typeOf(getRhs()), result = typeOf(getResult());
  llvm::SmallDenseMap<int64_t, int64_t> sizes;
  if (failed(verifyLabels(*this, lhs, getLhsLabels(), /*isResult=*/false, sizes)) ||
      failed(verifyLabels(*this, rhs, getRhsLabels(), /*isResult=*/false, sizes)) ||
      failed(verifyLabels(*this, result, getOutLabels(), /*isResult=*/true, sizes)))
    return failure();
  return verifySameElementType(*this, lhs, rhs); // C3
}

LogicalResult ConvOp::verify() {
  RankedTensorType input = typeOf(getInput()), filter = typeOf(getFilter()), result = typeOf(getResult());
  if (input.getRank() != filter.getRank() || input.getRank() != result.getRank()) // C1
    return emitOpError() << "has an input of rank " << input.getRank() << ", a filter of rank "
                         << filter.getRank() << " and a result of rank " << result.getRank();
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
  if (failed(verifyWindow(*this, typeOf(getInput()), getLow(),
                          {getWindow(), getStrides(), getDilations()})) || // C1
      failed(verifySameRank(*this, typeOf(getInput()), typeOf(getResult()))) ||
      failed(verifySameElementType(*this, getInput().getType(), getResult().getType())))
    return failure();
  return verifySizes(*this, getResult(), getSizes()); // C2
}

LogicalResult PoolArgMaxOp::verify() {
  if (failed(verifyWindow(*this, typeOf(getInput()), getLow(),
                          {getWindow(), getStrides(), getDilations()})) || // C1
      failed(verifySameRank(*this, typeOf(getInput()), typeOf(getResult()))))
    return failure();
  if (!typeOf(getResult()).getElementType().isSignlessInteger()) // C1
    return emitOpError() << "gives integers";
  return verifySizes(*this, getResult(), getSizes()); // C2
}

LogicalResult ResizeOp::verify() {
  RankedTensorType input = typeOf(getInput()), scales = typeOf(getScales());
  if (scales.getRank() != 1 || !compatible(scales.getDimSize(0), input.getRank()) ||
      !scales.getElementType().isF32() || typeOf(getResult()).getRank() != input.getRank()) // C1
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
  if (!from.isIntOrFloat() || !to.isIntOrFloat() ||
      from.getIntOrFloatBitWidth() != to.getIntOrFloatBitWidth()) // C1
    return emitOpError() << "reads " << from << " as " << to << ", of another width";
  return verifyCompatibleShapes(*this, typeOf(getResult()).getShape(), typeOf(getInput()).getShape()); // C1
}

LogicalResult ScatterElementsOp::verify() {
  RankedTensorType input = typeOf(getInput()), indices = typeOf(getIndices()), updates = typeOf(getUpdates());
  if (failed(verifyAxis(*this, getAxis(), input))) // C1
    return failure();
  if (indices.getRank() != input.getRank() || updates.getRank() != input.getRank()) // C1
    return emitOpError() << "has an input of rank " << input.getRank() << ", indices of rank "
                         << indices.getRank() << " and updates of rank " << updates.getRank();
  if (failed(verifyIndices(*this, indices)) || failed(verifySameElementType(*this, input, updates))) // C1
    return failure();
  if (failed(verifyCompatibleShape(updates.getShape(), indices.getShape()))) // C1
    return emitOpError() << "has updates of type " << updates << " for indices of type " << indices;
  return verifySameType(*this, getInput(), getResult()); // C1
}

LogicalResult ScatterNdOp::verify() {
  RankedTensorType input = typeOf(getInput()), indices = typeOf(getIndices()), updates = typeOf(getUpdates());
  int64_t tuple = indices.getRank() == 0 ? ShapedType::kDynamic : indices.getShape().back();
  if (ShapedType::isDynamic(tuple) || tuple > input.getRank() ||
      updates.getRank() != indices.getRank() - 1 + input.getRank() - tuple) // C1
    return emitOpError() << "writes " << updates << " at tuples " << indices << " into " << input;
  if (failed(verifyIndices(*this, indices)) || failed(verifySameElementType(*this, input, updates))) // C1
    return failure();
  return verifySameType(*this, getInput(), getResult()); // C1
}

LogicalResult TopKOp::verify() {
  RankedTensorType input = typeOf(getInput()), values = typeOf(getValues());
  if (failed(verifyAxis(*this, getAxis(), input)) || // C1
      failed(verifySameElementType(*this, input, values)) || failed(verifySameRank(*this, input, values)) ||
      failed(verifyCompatibleShapes(*this, typeOf(getIndices()).getShape(), values.getShape())))
    return failure();
  SmallVector<int64_t> wanted(input.getShape());
  wanted[getAxis()] = values.getDimSize(getAxis());
  if (failed(verifyCompatibleShapes(*this, values.getShape(), wanted))) // C1
    return failure();
  if (!typeOf(getIndices()).getElementType().isInteger(64)) // C1
    return emitOpError() << "gives indices of i64";
  return verifySizes(*this, getValues(), getSizes()); // C2
}

LogicalResult TriangularizeOp::verify() {
  RankedTensorType input = typeOf(getInput());
  if (input.getRank() < 2 || !compatible(input.getShape().end()[-2], input.getShape().back())) // C1
    return emitOpError() << "wants square matrices but has " << input;
  if (!input.getElementType().isF32() && !input.getElementType().isF64()) // C2
    return emitOpError() << "wants f32 or f64 but has " << input.getElementType();
  return verifySameType(*this, getInput(), getResult()); // C3
}

LogicalResult LstmOp::verify() {
  if (failed(verifyRecurrent(*this, 4))) // C1
    return failure();
  int64_t hidden = typeOf(getRecurrence()).getDimSize(1), batch = typeOf(getGates()).getDimSize(1);
  Value cells[] = {getCInitial(), getCLast()};
  for (Value value : cells)
    if (failed(verifyCellValue(*this, "a cell state", value, getGates(), {batch, hidden}))) // C1
      return failure();
  if (!getPeepholes())
    return success();
  return verifyCellValue(*this, "peepholes", getPeepholes(), getGates(), {3 * hidden}); // C1
}

LogicalResult GruOp::verify() {
  if (failed(verifyRecurrent(*this, 3))) // C1
    return failure();
  int64_t hidden = typeOf(getRecurrence()).getDimSize(1);
  return verifyCellValue(*this, "a recurrent bias", getRecurrentBias(), getGates(), {hidden}); // C1
}

LogicalResult RnnOp::verify() { return verifyRecurrent(*this, 1); } // C1

LogicalResult NonZeroOp::verify() {
  RankedTensorType result = typeOf(getIndices());
  if (result.getRank() != 2 || result.getDimSize(0) != typeOf(getInput()).getRank() ||
      !result.isDynamicDim(1) || !result.getElementType().isInteger(64)) // C1
    return emitOpError() << "gives " << result << " for an input of rank " << typeOf(getInput()).getRank();
  return success();
}

LogicalResult joule::nn::verifyInputSizes(Operation *op, TypeRange arguments,
                                          std::optional<ArrayRef<int64_t>> inputSizes) {
  int64_t wanted = 0;
  for (Type type : arguments)
    if (auto tensor = dyn_cast<RankedTensorType>(type))
      wanted += tensor.getNumDynamicDims();
  ArrayRef<int64_t> numbers = inputSizes.value_or(ArrayRef<int64_t>());
  if (static_cast<int64_t>(numbers.size()) != wanted)
    return op->emitOpError() << "has " << numbers.size() << " input sizes for " << wanted
                             << " dynamic dimensions";
  for (int64_t number : numbers)
    if (number < 0 || number >= static_cast<int64_t>(arguments.size()) || !arguments[number].isIndex())
      return op->emitOpError() << "has input size " << number << ", which is no argument of type index";
  return success();
}

LogicalResult UniqueOp::verify() {
  RankedTensorType input = typeOf(getInput()), first = typeOf(getFirst()), inverse = typeOf(getInverse());
  if (input.getRank() == 0) // C1
    return emitOpError() << "has an input of rank 0";
  bool isList = first.getRank() == 1 && first.isDynamicDim(0) && first.getElementType().isInteger(64);
  if (!isList || inverse.getRank() != 1 || !compatible(inverse.getDimSize(0), input.getDimSize(0)) ||
      !inverse.getElementType().isInteger(64)) // C1
    return emitOpError() << "gives " << first << " and " << inverse << " for an input of type " << input;
  return success();
}

LogicalResult NonMaxSuppressionOp::verify() {
  RankedTensorType boxes = typeOf(getBoxes()), scores = typeOf(getScores()), selected = typeOf(getSelected());
  if (boxes.getRank() != 3 || scores.getRank() != 3 || !compatible(boxes.getDimSize(2), 4) ||
      !compatible(boxes.getDimSize(0), scores.getDimSize(0)) ||
      !compatible(boxes.getDimSize(1), scores.getDimSize(2)) || !isa<FloatType>(boxes.getElementType()) ||
      !isa<FloatType>(scores.getElementType())) // C1
    return emitOpError() << "has boxes of type " << boxes << " and scores of type " << scores;
  auto isOneElement = [](RankedTensorType type) { return type.hasStaticShape() && type.getNumElements() == 1; };
  RankedTensorType most = typeOf(getMaxBoxes());
  if (!isOneElement(most) || !most.getElementType().isInteger(64)) // C1
    return emitOpError() << "has a number of boxes of type " << most;
  for (Value threshold : {getIouThreshold(), getScoreThreshold()})
    if (threshold && (!isOneElement(typeOf(threshold)) || !isa<FloatType>(typeOf(threshold).getElementType()))) // C1
      return emitOpError() << "has a threshold of type " << typeOf(threshold);
  if (selected.getRank() != 2 || !selected.isDynamicDim(0) || selected.getDimSize(1) != 3 ||
      !selected.getElementType().isInteger(64)) // C1
    return emitOpError() << "gives " << selected;
  return success();
}

LogicalResult FusedOp::verify() {
  if (getBody().getArgumentTypes() != getInputs().getTypes()) // C1
    return emitOpError() << "has body arguments that differ from its operands";
  auto yield = cast<YieldOp>(getBody().front().getTerminator());
  if (yield.getOutputs().getTypes() != getOutputs().getTypes()) // C2
    return emitOpError() << "yields types that differ from its results";
  int64_t wanted = 0;
  for (Value output : getOutputs())
    wanted += typeOf(output).getNumDynamicDims();
  if (static_cast<int64_t>(getSizes().size()) != wanted) // C3
    return emitOpError() << "has " << getSizes().size() << " sizes for " << wanted << " dynamic dimensions";
  return verifyInputSizes(*this, getInputs().getTypes(), getInputSizes()); // C4
}
