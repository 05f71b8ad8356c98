// The nn operations: their attributes handed to the kernels.
#include "lib/Reference/Evaluate/Evaluate.h"

#include "dialects/Nn/NnDialect.h"
#include "lib/Reference/Evaluate/EvaluateUpstream.h"
#include "lib/Reference/Kernels/Kernels.h"

using namespace mlir;

namespace joule::reference {

namespace {

using Results = Result<SmallVector<Buffer>>;

/// Finds the buffer of an operand, and what is made of operands.
class Operands {
public:
  Operands(Operation *op, ArrayRef<Buffer> buffers) : op(op), buffers(buffers) {}

  const Buffer &operator[](Value operand) const {
    return buffers[llvm::find(op->getOperands(), operand) - op->operand_begin()];
  }

  /// An optional operand; null where it is absent.
  const Buffer *optional(Value operand) const { return operand ? &(*this)[operand] : nullptr; }

  std::vector<Buffer> all(ValueRange operands) const {
    std::vector<Buffer> found;
    for (Value operand : operands)
      found.push_back((*this)[operand]);
    return found;
  }

  /// `numbers` with those that are not known at compile time filled in from `dynamic`, in order.
  Dims mixed(ArrayRef<int64_t> numbers, ValueRange dynamic) const {
    Dims filled;
    for (int64_t number : numbers) {
      bool isDynamic = ShapedType::isDynamic(number);
      filled.push_back(isDynamic ? (*this)[dynamic.front()].integer() : number);
      dynamic = dynamic.drop_front(isDynamic);
    }
    return filled;
  }

  /// The shape of a result whose dynamic sizes are `sizes`.
  Shape shape(Value result, ValueRange sizes) const {
    return mixed(cast<RankedTensorType>(result.getType()).getShape(), sizes);
  }

private:
  Operation *op;
  ArrayRef<Buffer> buffers;
};

} // namespace

static ElementType typeOf(Value value) { return elementTypeOf(getElementTypeOrSelf(value.getType())); }

static Dims dims(ArrayRef<int64_t> numbers) { return numbers.vec(); }

static Precision precisionOf(std::optional<nn::PrecisionAttr> attribute) {
  Precision precision;
  if (!attribute || !*attribute)
    return precision;
  precision.computeTf32 = isa<FloatTF32Type>(attribute->getCompute());
  if (!precision.computeTf32)
    precision.compute = elementTypeOf(attribute->getCompute());
  precision.accumulate = elementTypeOf(attribute->getAccumulate());
  return precision;
}

/// The window of a pooling.
template <typename Op> static Window windowOf(Op op) {
  return {dims(op.getWindow()), dims(op.getStrides()), dims(op.getLow()), dims(op.getDilations()), {}};
}

static Combiner combinerOf(nn::Combiner combiner) { return static_cast<Combiner>(combiner); }

//===- One function per operation ----------------------------------------------------------------------------

static Result<Buffer> evaluate(nn::ConstantOp op, const Operands &) {
  if (!isa<DenseElementsAttr>(op.getValue()))
    return Failure{"the bytes of a weight are not at hand here"};
  return bufferOf(op.getValue());
}

static Result<Buffer> evaluate(nn::BroadcastOp op, const Operands &operands) {
  return broadcast(operands[op.getInput()], dims(op.getDimensions()),
                   operands.shape(op.getResult(), op.getSizes()));
}

static Result<Buffer> evaluate(nn::ReshapeOp op, const Operands &operands) {
  return reshape(operands[op.getInput()], operands.shape(op.getResult(), op.getSizes()));
}

static Result<Buffer> evaluate(nn::TransposeOp op, const Operands &operands) {
  return transpose(operands[op.getInput()], dims(op.getPermutation()));
}

static Result<Buffer> evaluate(nn::SliceOp op, const Operands &operands) {
  return slice(operands[op.getInput()], operands.mixed(op.getStaticOffsets(), op.getOffsets()),
               dims(op.getStrides()), operands.shape(op.getResult(), op.getSizes()));
}

static Result<Buffer> evaluate(nn::PadOp op, const Operands &operands) {
  return pad(operands[op.getInput()], operands[op.getValue()], operands.mixed(op.getLow(), op.getLows()),
             static_cast<PadMode>(op.getMode()), operands.shape(op.getResult(), op.getSizes()));
}

static Result<Buffer> evaluate(nn::ConcatOp op, const Operands &operands) {
  return concat(operands.all(op.getInputs()), op.getAxis(), operands.shape(op.getResult(), op.getSizes()));
}

static Result<Buffer> evaluate(nn::IotaOp op, const Operands &operands) {
  return iota(typeOf(op.getResult()), op.getDimension(), operands.shape(op.getResult(), op.getSizes()));
}

static Result<Buffer> evaluate(nn::GatherOp op, const Operands &operands) {
  return gather(operands[op.getInput()], operands[op.getIndices()], op.getAxis());
}

static Result<Buffer> evaluate(nn::GatherElementsOp op, const Operands &operands) {
  return gatherElements(operands[op.getInput()], operands[op.getIndices()], op.getAxis());
}

static Result<Buffer> evaluate(nn::GatherNdOp op, const Operands &operands) {
  return gatherNd(operands[op.getInput()], operands[op.getIndices()], op.getBatchDims());
}

static Result<Buffer> evaluate(nn::ReduceOp op, const Operands &operands) {
  return reduce(combinerOf(op.getCombiner()), operands[op.getInput()], dims(op.getAxes()),
                precisionOf(op.getPrecision()));
}

static Result<Buffer> evaluate(nn::ArgReduceOp op, const Operands &operands) {
  return argReduce(combinerOf(op.getCombiner()), operands[op.getInput()], op.getAxis(), op.getSelectLast(),
                   typeOf(op.getResult()));
}

static Result<Buffer> evaluate(nn::CumulateOp op, const Operands &operands) {
  return cumulate(combinerOf(op.getCombiner()), operands[op.getInput()], op.getAxis(), op.getExclusive(),
                  op.getReverse());
}

static Result<Buffer> evaluate(nn::SoftmaxOp op, const Operands &operands) {
  return softmax(operands[op.getInput()], op.getAxis(), op.getLog());
}

static Result<Buffer> evaluate(nn::NormalizeOp op, const Operands &operands) {
  return normalize(operands[op.getInput()], dims(op.getAxes()), op.getEpsilon().convertToDouble(),
                   op.getRms());
}

static Result<Buffer> evaluate(nn::ContractOp op, const Operands &operands) {
  return contract(operands[op.getLhs()].withSign(op.getUnsignedLhs()),
                  operands[op.getRhs()].withSign(op.getUnsignedRhs()), dims(op.getLhsLabels()),
                  dims(op.getRhsLabels()), dims(op.getOutLabels()), typeOf(op.getResult()),
                  precisionOf(op.getPrecision()));
}

static Result<Buffer> evaluate(nn::ConvOp op, const Operands &operands) {
  Window window{
      {}, dims(op.getStrides()), dims(op.getLow()), dims(op.getDilations()), dims(op.getInputDilations())};
  return conv(operands[op.getInput()].withSign(op.getUnsignedInput()),
              operands[op.getFilter()].withSign(op.getUnsignedFilter()), window, op.getGroups(),
              typeOf(op.getResult()), operands.shape(op.getResult(), op.getSizes()),
              precisionOf(op.getPrecision()));
}

static Result<Buffer> evaluate(nn::CastOp op, const Operands &operands) {
  ElementType type = typeOf(op.getResult());
  Buffer result =
      castTo(operands[op.getInput()].withSign(op.getUnsignedInput()), withSign(type, op.getUnsignedResult()),
             {op.getSaturate(), static_cast<PowerRounding>(op.getRounding())});
  return result.as(type);
}

static Result<Buffer> evaluate(nn::BitcastOp op, const Operands &operands) {
  return bitcast(operands[op.getInput()], typeOf(op.getResult()));
}

static Result<Buffer> evaluate(nn::PoolOp op, const Operands &operands) {
  return pool(combinerOf(op.getCombiner()), operands[op.getInput()], windowOf(op),
              operands.shape(op.getResult(), op.getSizes()));
}

static Result<Buffer> evaluate(nn::PoolArgMaxOp op, const Operands &operands) {
  return poolArgMax(operands[op.getInput()].withSign(op.getUnsignedInput()), windowOf(op),
                    op.getColumnMajor(), typeOf(op.getResult()),
                    operands.shape(op.getResult(), op.getSizes()));
}

static Result<Buffer> evaluate(nn::ResizeOp op, const Operands &operands) {
  ResizeOptions options;
  options.sample = static_cast<SampleMode>(op.getSample());
  options.coordinate = static_cast<CoordinateMode>(op.getCoordinate());
  options.nearest = static_cast<NearestMode>(op.getNearest());
  options.cubicA = op.getCubicA().convertToDouble();
  options.extrapolation = op.getExtrapolation().convertToDouble();
  options.excludeOutside = op.getExcludeOutside();
  options.antialias = op.getAntialias();
  Result<Buffer> result =
      resize(operands[op.getInput()].withSign(op.getUnsignedInput()), operands[op.getScales()],
             operands.optional(op.getRoi()), options, operands.shape(op.getResult(), op.getSizes()));
  if (!result)
    return result;
  return result->withSign(false);
}

static Result<Buffer> evaluate(nn::ScatterElementsOp op, const Operands &operands) {
  return scatterElements(static_cast<Update>(op.getUpdate()), operands[op.getInput()],
                         operands[op.getIndices()], operands[op.getUpdates()], op.getAxis());
}

static Result<Buffer> evaluate(nn::ScatterNdOp op, const Operands &operands) {
  return scatterNd(static_cast<Update>(op.getUpdate()), operands[op.getInput()], operands[op.getIndices()],
                   operands[op.getUpdates()]);
}

static Result<Buffer> evaluate(nn::TriangularizeOp op, const Operands &operands) {
  return triangularize(operands[op.getInput()]);
}

//===- Operations with several results -----------------------------------------------------------------------

static Results evaluate(nn::TopKOp op, const Operands &operands) {
  Shape shape = operands.shape(op.getValues(), op.getSizes());
  Result<TopK> found = topK(operands[op.getInput()].withSign(op.getUnsignedInput()), op.getAxis(),
                            shape[op.getAxis()], op.getSmallest());
  if (!found)
    return Failure{found.error()};
  return SmallVector<Buffer>{found->values.withSign(false), found->indices};
}

template <typename Op> static RecurrentOptions recurrentOptions(Op op) {
  RecurrentOptions options;
  for (Attribute name : op.getActivations())
    options.activations.push_back(cast<StringAttr>(name).str());
  options.alphas = op.getAlphas().vec();
  options.betas = op.getBetas().vec();
  options.clip = op.getClip().convertToDouble();
  options.reverse = op.getReverse();
  return options;
}

static Results statesOf(Result<Recurrent> states, bool hasCell) {
  if (!states)
    return Failure{states.error()};
  SmallVector<Buffer> results = {states->hSequence, states->hLast};
  if (hasCell)
    results.push_back(states->cLast);
  return results;
}

static Results evaluate(nn::LstmOp op, const Operands &operands) {
  return statesOf(lstm(operands[op.getGates()], operands[op.getRecurrence()], operands[op.getHInitial()],
                       operands[op.getCInitial()], operands.optional(op.getPeepholes()),
                       operands.optional(op.getLengths()), recurrentOptions(op), op.getInputForget()),
                  /*hasCell=*/true);
}

static Results evaluate(nn::GruOp op, const Operands &operands) {
  return statesOf(gru(operands[op.getGates()], operands[op.getRecurrence()], operands[op.getRecurrentBias()],
                      operands[op.getHInitial()], operands.optional(op.getLengths()), recurrentOptions(op),
                      op.getLinearBeforeReset()),
                  /*hasCell=*/false);
}

static Results evaluate(nn::RnnOp op, const Operands &operands) {
  return statesOf(rnn(operands[op.getGates()], operands[op.getRecurrence()], operands[op.getHInitial()],
                      operands.optional(op.getLengths()), recurrentOptions(op)),
                  /*hasCell=*/false);
}

static Results evaluate(nn::NonZeroOp op, const Operands &operands) {
  Buffer found = nonZero(operands[op.getInput()]);
  return SmallVector<Buffer>{found, scalar(ElementType::Int64, found.shape[1])};
}

static Results evaluate(nn::UniqueOp op, const Operands &operands) {
  Unique found = unique(operands[op.getInput()].withSign(op.getUnsignedInput()), op.getSorted());
  return SmallVector<Buffer>{found.first, found.inverse, scalar(ElementType::Int64, found.first.shape[0])};
}

static Results evaluate(nn::NonMaxSuppressionOp op, const Operands &operands) {
  SuppressionOptions options;
  options.mostPerClass = operands[op.getMaxBoxes()].integer();
  options.overlapThreshold = operands[op.getIouThreshold()].number();
  if (const Buffer *threshold = operands.optional(op.getScoreThreshold()))
    options.scoreThreshold = threshold->number();
  options.centerPoint = op.getCenterPoint();
  Result<Buffer> found = suppressOverlaps(operands[op.getBoxes()], operands[op.getScores()], options);
  if (!found)
    return Failure{found.error()};
  return SmallVector<Buffer>{*found, scalar(ElementType::Int64, found->shape[0])};
}

//===- All operations ----------------------------------------------------------------------------------------

static Results listOf(Results results) { return results; }

static Results listOf(Result<Buffer> result) {
  if (!result)
    return Failure{result.error()};
  return SmallVector<Buffer>{std::move(*result)};
}

/// Calls `use` with `op` as its own class, where it has an `evaluate` above.
template <typename Use> static bool withNnOp(Operation *op, Use &&use) {
  return TypeSwitch<Operation *, bool>(op)
      .Case<nn::ConstantOp, nn::BroadcastOp, nn::ReshapeOp, nn::TransposeOp, nn::SliceOp, nn::PadOp,
            nn::ConcatOp, nn::IotaOp, nn::GatherOp, nn::GatherElementsOp, nn::GatherNdOp, nn::ReduceOp,
            nn::ArgReduceOp, nn::CumulateOp, nn::SoftmaxOp, nn::NormalizeOp, nn::ContractOp, nn::ConvOp,
            nn::CastOp, nn::BitcastOp, nn::PoolOp, nn::PoolArgMaxOp, nn::ResizeOp, nn::ScatterElementsOp,
            nn::ScatterNdOp, nn::TopKOp, nn::TriangularizeOp, nn::LstmOp, nn::GruOp, nn::RnnOp, nn::NonZeroOp,
            nn::UniqueOp, nn::NonMaxSuppressionOp>([&](auto op) {
        use(op);
        return true;
      })
      .Default([](Operation *) { return false; });
}

bool canEvaluate(Operation *op) {
  return isUpstream(op) || withNnOp(op, [](auto) {});
}

/// Values that no buffer holds end here, so that kernels meet known element types only.
static std::string unknownType(Operation *op) {
  for (Type type :
       llvm::concat<Type>(llvm::to_vector(op->getOperandTypes()), llvm::to_vector(op->getResultTypes())))
    if (elementTypeOf(getElementTypeOrSelf(type)) == ElementType::Undefined) {
      std::string text;
      llvm::raw_string_ostream(text) << "has no reference for values of type " << type;
      return text;
    }
  return "";
}

/// A result that contradicts its type would mislead what follows.
static std::string wrongResult(Operation *op, ArrayRef<Buffer> results) {
  for (auto [result, buffer] : llvm::zip(op->getResults(), results)) {
    auto type = dyn_cast<RankedTensorType>(result.getType());
    if (type && failed(verifyCompatibleShape(type.getShape(), buffer.shape)))
      return "gives a tensor of shape " + toString(buffer.shape) + ", which is not what its type says";
  }
  return "";
}

Results evaluate(Operation *op, ArrayRef<Buffer> buffers) {
  if (std::string error = unknownType(op); !error.empty())
    return Failure{error};
  Results results = Failure{"has no reference"};
  if (isUpstream(op))
    results = evaluateUpstream(op, buffers);
  else
    withNnOp(op, [&](auto nnOp) { results = listOf(evaluate(nnOp, Operands(op, buffers))); });
  if (results)
    if (std::string error = wrongResult(op, *results); !error.empty())
      return Failure{error};
  return results;
}

} // namespace joule::reference
