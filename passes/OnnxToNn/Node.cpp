// How a translation reads its node and answers.
#include "passes/OnnxToNn/Translator.h"

#include "dialects/Onnx/ElementTypes.h"

using namespace mlir;
using namespace joule::translate;

Node::Node(Translator &translator, onnx::NodeOp op)
    : translator(translator), op(op), loc(op.getLoc()), math(translator.math),
      builder(op.getLoc(), translator.builder) {}

InFlightDiagnostic Node::error() {
  InFlightDiagnostic diagnostic = translator.contradiction(loc);
  diagnostic << op.getOpType() << " ";
  return diagnostic;
}

InFlightDiagnostic Node::unsupported() {
  InFlightDiagnostic diagnostic = emitError(loc);
  diagnostic << op.getOpType() << " ";
  return diagnostic;
}

//===- Inputs and attributes -----------------------------------------------------------------------------------------

bool Node::has(int64_t number) { return number < numInputs() && input(number).dataType != Absent; }
Tensor &Node::input(int64_t number) { return translator.lookup(op.getInputs()[number]); }
Value Node::value(int64_t number) { return translator.materialize(loc, input(number)); }
bool Node::wants(int64_t result) {
  return result < numResults() && !isa<onnx::AbsentType>(op.getOutputs()[result].getType());
}

int64_t Node::integer(StringRef name, int64_t fallback) {
  auto attribute = op.getNodeAttributes().getAs<IntegerAttr>(name);
  return attribute ? attribute.getInt() : fallback;
}

bool Node::flag(StringRef name, bool fallback) {
  int64_t value = integer(name, fallback);
  if (value != 0 && value != 1)
    strangeFlag = name;
  return value != 0;
}

double Node::real(StringRef name, double fallback) {
  auto attribute = op.getNodeAttributes().getAs<FloatAttr>(name);
  return attribute ? attribute.getValueAsDouble() : fallback;
}

StringRef Node::string(StringRef name, StringRef fallback) {
  auto attribute = op.getNodeAttributes().getAs<StringAttr>(name);
  return attribute ? attribute.getValue() : fallback;
}

SmallVector<int64_t> Node::integers(StringRef name, ArrayRef<int64_t> fallback) {
  auto attribute = op.getNodeAttributes().getAs<DenseI64ArrayAttr>(name);
  return SmallVector<int64_t>(attribute ? attribute.asArrayRef() : fallback);
}

SmallVector<double> Node::reals(StringRef name) {
  auto attribute = op.getNodeAttributes().getAs<DenseF32ArrayAttr>(name);
  return attribute ? SmallVector<double>(attribute.asArrayRef()) : SmallVector<double>();
}

FailureOr<SmallVector<int64_t>> Node::constantIntegers(int64_t number) {
  SmallVector<Index> *elements = translator.hostElements(input(number));
  SmallVector<int64_t> constants;
  if (elements)
    for (Index element : *elements)
      if (auto value = IndexMath::known(element))
        constants.push_back(*value);
  if (elements && constants.size() == elements->size())
    return constants;
  return unsupported() << "needs input " << number << " when compiling, but only a run brings it";
}

FailureOr<SmallVector<Index>> Node::indices(int64_t number) {
  if (SmallVector<Index> *elements = translator.readElements(loc, input(number)))
    return *elements;
  return unsupported() << "wants few integers, as many as are known when compiling, as input " << number << " but it is "
                 << input(number).type();
}

FailureOr<std::optional<SmallVector<int64_t>>> Node::listInput(StringRef name, int64_t number) {
  std::optional<SmallVector<int64_t>> none;
  if (hasAttribute(name))
    return std::optional(integers(name));
  if (!has(number))
    return none;
  auto list = constantIntegers(number);
  if (failed(list))
    return failure();
  return std::optional(*list);
}

//===- Checks --------------------------------------------------------------------------------------------------------

FailureOr<int64_t> Node::normalizeAxis(int64_t axis, int64_t rank) {
  if (axis >= -rank && axis < rank)
    return axis < 0 ? axis + rank : axis;
  return error() << "has axis " << axis << " on a tensor of rank " << rank;
}

FailureOr<int64_t> Node::axis(StringRef name, int64_t fallback, int64_t rank) {
  return normalizeAxis(integer(name, fallback), rank);
}

FailureOr<SmallVector<int64_t>> Node::normalizeAxes(ArrayRef<int64_t> axes, int64_t rank) {
  SmallVector<int64_t> normal;
  for (int64_t axis : axes) {
    FailureOr<int64_t> one = normalizeAxis(axis, rank);
    if (failed(one))
      return failure();
    normal.push_back(*one);
  }
  llvm::sort(normal);
  normal.erase(std::unique(normal.begin(), normal.end()), normal.end());
  return normal;
}

LogicalResult Node::wantFloat(int64_t number) {
  if (input(number).isFloat())
    return success();
  return error() << "wants floats as input " << number << " but it is " << dataTypeName(input(number).dataType);
}

LogicalResult Node::wantNumber(int64_t number) {
  if (input(number).isFloat() || input(number).isInteger())
    return success();
  return error() << "wants numbers as input " << number << " but it is " << dataTypeName(input(number).dataType);
}

LogicalResult Node::wantBool(int64_t number) {
  if (input(number).isBool())
    return success();
  return error() << "wants bools as input " << number << " but it is " << dataTypeName(input(number).dataType);
}

LogicalResult Node::wantRank(int64_t number, int64_t least, int64_t most) {
  int64_t rank = input(number).rank();
  if (rank >= least && (most < 0 || rank <= most))
    return success();
  InFlightDiagnostic diagnostic = error() << "has a tensor of rank " << rank << " as input " << number
                                          << " where it wants rank " << least;
  if (most < 0)
    diagnostic << " or more";
  else if (most > least)
    diagnostic << " to " << most;
  return diagnostic;
}

LogicalResult Node::wantSameElement(int64_t a, int64_t b) {
  if (input(a).dataType == input(b).dataType)
    return success();
  return error() << "joins " << dataTypeName(input(a).dataType) << " and " << dataTypeName(input(b).dataType);
}

LogicalResult Node::wantFlags() {
  if (strangeFlag.empty())
    return success();
  return error() << "has " << strangeFlag << " = " << integer(strangeFlag, 0) << ", which is neither 0 nor 1";
}

//===- Building ------------------------------------------------------------------------------------------------------

RankedTensorType Node::type(ArrayRef<Index> sizes, Type element) {
  Tensor tensor;
  tensor.sizes.assign(sizes.begin(), sizes.end());
  tensor.element = element;
  return tensor.type();
}

SmallVector<Value> Node::dynamic(ArrayRef<Index> sizes) {
  SmallVector<Value> values;
  for (Index size : sizes)
    if (!IndexMath::known(size))
      values.push_back(cast<Value>(size));
  return values;
}

static std::string shapeText(ArrayRef<Index> sizes) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  stream << "[";
  llvm::interleaveComma(sizes, stream, [&](Index size) {
    if (auto known = IndexMath::known(size))
      stream << *known;
    else
      stream << "?";
  });
  stream << "]";
  return text;
}

FailureOr<Sizes> Node::broadcastSizes(ArrayRef<Tensor *> tensors) {
  size_t rank = 0;
  for (Tensor *tensor : tensors)
    rank = std::max(rank, tensor->sizes.size());
  Sizes result(rank, math.constant(1));
  for (Tensor *tensor : tensors)
    for (size_t dim = rank - tensor->sizes.size(), i = 0; dim < rank; ++dim, ++i) {
      Index size = tensor->sizes[i], &joined = result[dim];
      auto known = IndexMath::known(size), joinedKnown = IndexMath::known(joined);
      if (known == 1 || math.same(size, joined))
        continue;
      if (joinedKnown == 1) {
        joined = size;
      } else if (known && joinedKnown) {
        InFlightDiagnostic diagnostic = error() << "joins shapes that do not fit:";
        for (Tensor *each : tensors)
          diagnostic << " " << shapeText(each->sizes);
        return diagnostic;
      } else if (known) {
        joined = size; // the run's size is this or 1
      } else if (!joinedKnown) {
        Index isOne = math.compare(loc, arith::CmpIPredicate::eq, joined, math.constant(1));
        joined = math.select(loc, isOne, size, joined);
      }
    }
  return result;
}

Value Node::broadcast(Value value, ArrayRef<Index> from, ArrayRef<Index> to) {
  return broadcastInDim(value, from, to,
                        llvm::to_vector(llvm::seq<int64_t>(int64_t(to.size()) - int64_t(from.size()), to.size())));
}

FailureOr<Value> Node::broadcastInput(int64_t number, ArrayRef<Index> to) {
  Tensor &from = input(number);
  bool fits = from.rank() <= int64_t(to.size());
  for (int64_t dim = 0; fits && dim < from.rank(); ++dim) {
    auto size = from.knownSize(dim), wanted = IndexMath::known(to[to.size() - from.rank() + dim]);
    fits = !size || *size == 1 || !wanted || *size == *wanted;
  }
  if (!fits)
    return error() << "cannot repeat input " << number << " of shape " << shapeText(from.sizes) << " to "
                   << shapeText(to);
  return broadcast(value(number), from.sizes, to);
}

void Node::requireFit(Index size, Index wanted) {
  auto known = IndexMath::known(size);
  if (known == 1 || (known && IndexMath::known(wanted)) || math.same(size, wanted))
    return; // those that are known have been looked at
  Index isOne = math.compare(loc, arith::CmpIPredicate::eq, size, math.constant(1));
  Index isWanted = math.compare(loc, arith::CmpIPredicate::eq, size, wanted);
  (void)require(math.select(loc, isOne, isOne, isWanted), "joins shapes that do not fit"); // cannot be known to be 0
}

Value Node::broadcastInDim(Value value, ArrayRef<Index> from, ArrayRef<Index> to, ArrayRef<int64_t> dims) {
  bool same = from.size() == to.size() && llvm::all_of(llvm::zip(from, to), [&](auto pair) {
                return math.same(std::get<0>(pair), std::get<1>(pair));
              });
  if (same)
    return value;
  for (auto [size, dim] : llvm::zip(from, dims))
    requireFit(size, to[dim]);
  return builder.create<nn::BroadcastOp>(type(to, getElementTypeOrSelf(value)), value, dynamic(to), dims);
}

Value Node::scalar(double number, Type element) {
  auto type = RankedTensorType::get({}, element);
  Attribute attribute;
  if (auto floatType = dyn_cast<FloatType>(element)) {
    APFloat value(number);
    bool inexact;
    value.convert(floatType.getFloatSemantics(), APFloat::rmNearestTiesToEven, &inexact);
    attribute = FloatAttr::get(element, value);
  } else {
    attribute = IntegerAttr::get(element, APInt(64, int64_t(number), true).sextOrTrunc(element.getIntOrFloatBitWidth()));
  }
  return translator.constant(DenseElementsAttr::get(type, attribute), type);
}

Value Node::splat(double number, Type element, ArrayRef<Index> sizes) {
  return broadcast(scalar(number, element), {}, sizes);
}

Value Node::splat(APInt number, Type element, ArrayRef<Index> sizes) {
  auto type = RankedTensorType::get({}, element);
  return broadcast(translator.constant(DenseElementsAttr::get(type, number), type), {}, sizes);
}

Value Node::reshape(Value value, ArrayRef<Index> from, ArrayRef<Index> to) {
  bool same = from.size() == to.size() && llvm::all_of(llvm::zip(from, to), [&](auto pair) {
                return math.same(std::get<0>(pair), std::get<1>(pair));
              });
  if (same)
    return value;
  return builder.create<nn::ReshapeOp>(type(to, getElementTypeOrSelf(value)), value, dynamic(to));
}

Value Node::transpose(Value value, ArrayRef<int64_t> permutation) {
  if (llvm::is_sorted(permutation))
    return value;
  auto from = cast<RankedTensorType>(value.getType());
  SmallVector<int64_t> shape;
  for (int64_t dim : permutation)
    shape.push_back(from.getDimSize(dim));
  return builder.create<nn::TransposeOp>(RankedTensorType::get(shape, from.getElementType()), value, permutation);
}

/// Splits sizes or offsets into constants, kDynamic among them, and the values that stand for those.
static std::pair<SmallVector<int64_t>, SmallVector<Value>> splitIndices(ArrayRef<Index> indices) {
  SmallVector<int64_t> constants;
  SmallVector<Value> values;
  for (Index index : indices) {
    constants.push_back(IndexMath::known(index).value_or(ShapedType::kDynamic));
    if (!IndexMath::known(index))
      values.push_back(cast<Value>(index));
  }
  return {constants, values};
}

Value Node::slice(Value value, ArrayRef<Index> offsets, ArrayRef<Index> sizes, ArrayRef<int64_t> strides) {
  auto [constants, values] = splitIndices(offsets);
  return builder.create<nn::SliceOp>(type(sizes, getElementTypeOrSelf(value)), value, values, dynamic(sizes), constants,
                                     strides);
}

Value Node::pad(Value value, Value fill, ArrayRef<Index> from, ArrayRef<Index> low, ArrayRef<Index> high,
                nn::PadMode mode) {
  Sizes sizes;
  bool padded = false;
  for (auto [size, before, after] : llvm::zip(from, low, high)) {
    sizes.push_back(math.add(loc, math.add(loc, size, before), after));
    padded |= IndexMath::known(before) != 0 || IndexMath::known(after) != 0;
  }
  if (!padded)
    return value;
  auto [constants, values] = splitIndices(low);
  return builder.create<nn::PadOp>(type(sizes, getElementTypeOrSelf(value)), value, fill, values, dynamic(sizes),
                                   constants, mode);
}

Value Node::iota(int64_t dim, ArrayRef<Index> sizes, Type element) {
  return builder.create<nn::IotaOp>(type(sizes, element), dynamic(sizes), dim);
}

Value Node::indexScalar(Index number, int dataType) {
  Tensor tensor = hostTensor({number}, {}, dataType);
  return translator.materialize(loc, tensor);
}

Value Node::reduce(nn::Combiner combiner, Value value, ArrayRef<int64_t> axes) {
  auto from = cast<RankedTensorType>(value.getType());
  SmallVector<int64_t> shape;
  for (int64_t dim = 0; dim < from.getRank(); ++dim)
    if (!llvm::is_contained(axes, dim))
      shape.push_back(from.getDimSize(dim));
  return builder.create<nn::ReduceOp>(RankedTensorType::get(shape, from.getElementType()), combiner, value, axes,
                                      nn::PrecisionAttr());
}

Value Node::convert(Value value, int fromType, int toType, bool saturate) {
  if (fromType == toType)
    return value;
  auto from = cast<RankedTensorType>(value.getType());
  auto to = from.clone(nnElementType(builder.getContext(), toType));
  auto op = builder.create<nn::CastOp>(to, value);
  op.setSaturate(saturate);
  op.setUnsignedInput(isUnsignedType(fromType));
  op.setUnsignedResult(isUnsignedType(toType));
  return op;
}

LogicalResult Node::require(Index condition, const Twine &message) {
  if (auto known = IndexMath::known(condition))
    return *known ? LogicalResult(success()) : LogicalResult(error() << message);
  Value zero = math.materialize(loc, math.constant(0));
  Value holds = builder.create<arith::CmpIOp>(arith::CmpIPredicate::ne, cast<Value>(condition), zero);
  builder.create<nn::AssertOp>(holds, builder.getStringAttr(op.getOpType() + " " + message));
  return success();
}

LogicalResult Node::requireEqual(Index a, Index b, const Twine &what) {
  auto x = IndexMath::known(a), y = IndexMath::known(b);
  if (x && y && *x != *y)
    return error() << what << " " << *x << " and " << *y << ", which differ";
  return require(math.compare(loc, arith::CmpIPredicate::eq, a, b), what + " sizes that differ");
}

//===- Results -------------------------------------------------------------------------------------------------------

Tensor Node::tensor(Value value, Sizes sizes, int dataType) {
  Tensor tensor;
  tensor.dataType = dataType;
  tensor.element = nnElementType(builder.getContext(), dataType);
  tensor.sizes = std::move(sizes);
  tensor.value = value;
  return tensor;
}

Tensor Node::hostTensor(SmallVector<Index> elements, ArrayRef<int64_t> shape, int dataType) {
  Sizes sizes;
  for (int64_t size : shape)
    sizes.push_back(math.constant(size));
  Tensor result = tensor({}, std::move(sizes), dataType);
  result.elements = std::move(elements);
  return result;
}

LogicalResult Node::yield(Value value, Sizes sizes, int dataType) {
  return yield({tensor(value, std::move(sizes), dataType)});
}

LogicalResult Node::yield(ArrayRef<Tensor> results) {
  if (numResults() > int64_t(results.size()))
    return error() << "gives " << results.size() << " results where " << numResults() << " are asked for";
  bool followsFromConstants = numInputs() > 0 && op.getSubgraphs().empty();
  for (int64_t number = 0; number < numInputs(); ++number) {
    Tensor &x = input(number);
    bool isKnown = x.elements && llvm::all_of(*x.elements, [](Index each) { return IndexMath::known(each).has_value(); });
    followsFromConstants &= x.dataType == Absent || x.constant || isKnown || x.followsFromConstants;
  }
  for (auto [output, result] : llvm::zip(op.getOutputs(), results)) {
    Tensor tensor = result;
    tensor.followsFromConstants = followsFromConstants;
    translator.define(output, tensor);
  }
  return success();
}
