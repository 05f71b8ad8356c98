// The forward walk from onnx to nn: what is known of each value, and when it becomes an nn value.
#include "passes/OnnxToNn/Translator.h"

#include "dialects/Nn/TensorLimits.h"
#include "dialects/Onnx/ElementTypes.h"
#include "lib/Reference/Evaluate/Evaluate.h"
#include "passes/OnnxToNn/BlockWalk.h"
#include "passes/OnnxToNn/Cases.h"
#include "passes/OnnxToNn/ConstantValue.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"

#include <cmath>

using namespace mlir;
using namespace joule::translate;

namespace {

// Shape arithmetic is on few elements; beyond this a tensor is data.
constexpr int64_t maxHostElements = 4096;
// Integers up to here are exact in every float that shapes are calculated in.
constexpr double maxExactFloat = 1 << 20;

} // namespace

Attribute joule::translate::nnConstant(Attribute value) {
  if (auto weight = dyn_cast<joule::onnx::WeightAttr>(value))
    return joule::nn::WeightAttr::get(value.getContext(), weight.getFile(), weight.getOffset(), weight.getLength());
  auto elements = dyn_cast<DenseElementsAttr>(value);
  auto integer = elements ? dyn_cast<IntegerType>(elements.getElementType()) : IntegerType();
  if (!integer || integer.isSignless())
    return value;
  auto signless = IntegerType::get(value.getContext(), integer.getWidth());
  if (elements.getNumElements() == 0)
    return DenseElementsAttr::get(elements.getType().clone(signless), ArrayRef<Attribute>());
  return elements.bitcast(signless);
}

bool joule::translate::isUnsignedType(int dataType) {
  return llvm::is_contained({UInt8, UInt16, UInt32, UInt64, UInt4, UInt2, Bool}, dataType);
}

Type joule::translate::nnElementType(MLIRContext *context, int dataType) {
  Type type = elementTypeOf(context, dataType);
  auto integer = dyn_cast_or_null<IntegerType>(type);
  return integer ? IntegerType::get(context, integer.getWidth()) : type;
}

bool Tensor::isUnsigned() const { return isUnsignedType(dataType); }

RankedTensorType Tensor::type() const {
  SmallVector<int64_t> shape;
  for (Index size : sizes) {
    std::optional<int64_t> known = getConstantIntValue(size);
    // MLIR's sign for an unknown size is also what 2^63 wraps around to; both are beyond what is let pass.
    if (known == ShapedType::kDynamic)
      known = std::numeric_limits<int64_t>::max();
    shape.push_back(known.value_or(ShapedType::kDynamic));
  }
  return RankedTensorType::get(shape, element);
}

Translator::Translator(func::FuncOp source, func::FuncOp target)
    : builder(target.getContext()), math(builder), source(source), target(target) {}

Translator::~Translator() {
  for (Operation *op : discarded)
    op->erase();
}

//===- The function --------------------------------------------------------------------------------------------------

/// The size that the run binds to `name`.
Value Translator::symbol(StringRef name) {
  Value &value = symbols[name];
  if (!value) {
    value = builder.create<nn::SymbolOp>(target.getLoc(), builder.getIndexType(), name);
    math.assumeNonNegative(value);
    lastEntryOp = value.getDefiningOp();
  }
  return value;
}

/// Each input becomes an argument that says its ONNX name, type and sizes. An input with `onnx.value` is that constant;
/// its argument stays, for the caller's sake.
LogicalResult Translator::addArgument(unsigned number, SmallVectorImpl<DictionaryAttr> &attributes) {
  BlockArgument argument = source.getArgument(number);
  auto name = source.getArgAttrOfType<StringAttr>(number, "onnx.name");
  auto dims = source.getArgAttrOfType<ArrayAttr>(number, "onnx.dims");
  auto type = dyn_cast<TensorType>(argument.getType());
  if (!type)
    return emitError(argument.getLoc()) << "input " << name << " is of type " << argument.getType()
                                        << ", which is not supported";
  if (!dims)
    return emitError(argument.getLoc()) << "input " << name << " has no shape";
  Tensor tensor;
  tensor.dataType = dataTypeOf(type.getElementType());
  tensor.element = nnElementType(builder.getContext(), tensor.dataType);
  for (Attribute dim : dims)
    tensor.sizes.push_back(isa<IntegerAttr>(dim) ? Index(builder.getIndexAttr(cast<IntegerAttr>(dim).getInt()))
                                                 : Index(symbol(cast<StringAttr>(dim).getValue())));
  if (!nn::isCountable(tensor.type()))
    return emitError(argument.getLoc()) << "input " << name << " is " << tensor.type()
                                        << ", whose bytes are too many to count";
  tensor.value = target.getBody().front().addArgument(tensor.type(), argument.getLoc());
  if (Attribute value = source.getArgAttr(number, "onnx.value"))
    tensor.constant = nnConstant(value);
  NamedAttrList list;
  list.append("nn.name", name);
  list.append("nn.type", builder.getI64IntegerAttr(tensor.dataType));
  list.append("nn.dims", dims);
  attributes.push_back(list.getDictionary(builder.getContext()));
  if (tensor.constant)
    tensor.value = {};
  define(argument, std::move(tensor));
  return success();
}

/// What the ways of a walk are, as the error says it that they do not meet.
static InFlightDiagnostic dontMeet(Location loc, const Tensor &a, const Tensor &b) {
  InFlightDiagnostic diagnostic = emitError(loc);
  if (a.dataType != b.dataType)
    diagnostic << "is of different element types, as a run decides, which is not supported";
  else
    diagnostic << "is of rank " << a.rank() << " or " << b.rank() << ", as a run decides, which is not supported";
  return diagnostic;
}

/// Brings the ways of a walk together at the end of its block.
static FailureOr<SmallVector<Tensor *>> meetAtEnd(Translator &translator, Location loc, Path &path) {
  SmallVector<Path *> live;
  path.collectLive(live);
  for (Path *way : ArrayRef(live).drop_front())
    for (auto [a, b] : llvm::zip(live.front()->results, way->results))
      if (!sameKind(*a, *b))
        return dontMeet(loc, *a, *b);
  OpBuilder::InsertionGuard guard(translator.builder);
  return meet(translator, path, [](Path &way) { return way.results; });
}

/// A way on which an output has another rank than the model states ends the run.
FailureOr<SmallVector<Tensor *>> Translator::translateOutputs() {
  FailureOr<Path> path = BlockWalk(*this, source.getBody().front()).run();
  if (failed(path))
    return failure();
  SmallVector<Path *> live;
  path->collectLive(live);
  for (Path *way : live)
    for (auto [number, tensor] : llvm::enumerate(way->results)) {
      auto stated = dyn_cast<RankedTensorType>(source.getResultTypes()[number]);
      if (!path->fork || way->contradiction || !stated || tensor->dataType == Absent || stated.getRank() == tensor->rank())
        continue;
      std::string name = source.getResultAttrOfType<StringAttr>(number, "onnx.name").str();
      endInContradiction(*this, *way, source.getLoc(),
                         llvm::formatv("output {0} is of rank {1} where the model states {2}", name, tensor->rank(),
                                       stated.getRank()));
    }
  if (const auto *end = path->deadEnd())
    return contradiction(end->first) << end->second;
  return meetAtEnd(*this, source.getLoc(), *path);
}

LogicalResult Translator::translateFunction() {
  Block *entry = &target.getBody().emplaceBlock();
  builder.setInsertionPointToStart(entry);
  SmallVector<DictionaryAttr> argumentAttributes, resultAttributes;
  for (unsigned number = 0; number < source.getNumArguments(); ++number)
    if (failed(addArgument(number, argumentAttributes)))
      return failure();
  auto outputs = translateOutputs();
  if (failed(outputs))
    return failure();
  SmallVector<Value> results;
  for (auto [number, output] : llvm::enumerate(*outputs)) {
    auto name = source.getResultAttrOfType<StringAttr>(number, "onnx.name");
    if (output->dataType == Absent)
      return emitError(source.getLoc()) << "output " << name << " is no tensor, which is not supported";
    results.push_back(materialize(source.getLoc(), *output));
    NamedAttrList list;
    list.append("nn.name", name);
    list.append("nn.type", builder.getI64IntegerAttr(output->dataType));
    resultAttributes.push_back(list.getDictionary(builder.getContext()));
  }
  builder.create<func::ReturnOp>(source.getLoc(), results);
  target.setFunctionType(builder.getFunctionType(entry->getArgumentTypes(), ValueRange(results).getTypes()));
  target.setAllArgAttrs(argumentAttributes);
  target.setAllResultAttrs(resultAttributes);
  return success();
}

//===- Nodes ---------------------------------------------------------------------------------------------------------

void Translator::define(Value onnxValue, Tensor tensor) { known[onnxValue] = keep(std::move(tensor)); }

Tensor *Translator::keep(Tensor tensor) {
  pool.push_back(std::move(tensor));
  return &pool.back();
}

InFlightDiagnostic Translator::contradiction(Location loc) {
  ++contradictions;
  return emitError(loc);
}

FailureOr<SmallVector<Tensor *>> Translator::translateBlock(Location loc, Block &block, ArrayRef<Tensor> arguments) {
  for (auto [argument, tensor] : llvm::zip(block.getArguments(), arguments))
    define(argument, tensor);
  FailureOr<Path> path = BlockWalk(*this, block).run();
  if (failed(path))
    return failure();
  return meetAtEnd(*this, loc, *path);
}

LogicalResult Translator::translateOperation(Operation &op) {
  if (auto constant = dyn_cast<onnx::ConstantOp>(op))
    define(constant, constantTensor(constant));
  else if (isa<onnx::AbsentOp>(op))
    define(op.getResult(0), Tensor());
  else
    return translateNode(cast<onnx::NodeOp>(op));
  return success();
}

Tensor Translator::constantTensor(onnx::ConstantOp op) {
  auto type = cast<RankedTensorType>(op.getType());
  Tensor tensor;
  tensor.dataType = dataTypeOf(type.getElementType());
  tensor.element = nnElementType(builder.getContext(), tensor.dataType);
  for (int64_t size : type.getShape())
    tensor.sizes.push_back(builder.getIndexAttr(size));
  tensor.constant = nnConstant(op.getValue());
  return tensor;
}

/// All that the operator needs are there.
static LogicalResult checkInputs(Node &node, const Row &row) {
  int64_t given = node.numInputs();
  if (given < row.leastInputs || (row.mostInputs >= 0 && given > row.mostInputs))
    return node.error() << "has " << given << " inputs where it takes " << row.leastInputs << " to " << row.mostInputs;
  for (int64_t input = 0; input < row.leastInputs; ++input)
    if (!node.has(input))
      return node.error() << "lacks input " << input;
  return success();
}

LogicalResult Translator::translateNode(onnx::NodeOp op) {
  for (Value input : op.getInputs())
    if (lookup(input).poisoned)
      return failure();
  Node node(*this, op);
  const Row *row = findRow(op.getDomain(), op.getOpType(), op.getSinceVersion());
  if (row && failed(checkInputs(node, *row)))
    return failure();
  if (foldOnHost(node))
    return node.wantFlags();
  if (!row) {
    StringRef domain = op.getDomain();
    return emitError(op.getLoc()) << "operator " << (domain.empty() ? "" : (domain + ".").str()) << op.getOpType()
                                  << " (version " << op.getSinceVersion() << ") is not supported";
  }
  return translateWithRow(node, *row);
}

LogicalResult Translator::translateWithRow(Node &node, const Row &row) {
  auto point = builder.getInsertionPoint();
  Operation *last = point == builder.getInsertionBlock()->begin() ? nullptr : &*std::prev(point);
  OpBuilder::InsertionGuard guard(builder);
  bool byChoice = hasAxesOfTheRun(node, row);
  if (failed(byChoice ? translateEachChoice(node, row) : row.translate(node)) || failed(node.wantFlags()))
    return failure();
  return verifyOpsAfter(node, last);
}

/// A net under the translations: what they ought to have checked, and did not, is still said at the node.
LogicalResult Translator::verifyOpsAfter(Node &node, Operation *last) {
  Block &block = *node.builder.getInsertionBlock();
  auto first = last ? std::next(last->getIterator()) : block.begin();
  for (Operation &op : llvm::make_range(first, node.builder.getInsertionPoint()))
    for (Type type : op.getResultTypes())
      if (auto tensor = dyn_cast<RankedTensorType>(type); tensor && !nn::isCountable(tensor))
        return node.error() << "makes a " << type << ", whose bytes are too many to count";
  std::string complaint;
  {
    ScopedDiagnosticHandler handler(builder.getContext(), [&](Diagnostic &diagnostic) {
      complaint = diagnostic.str();
      return success();
    });
    auto op = first;
    // A fork has no end of its branches yet.
    auto isFork = [&](Operation &op) { return pendingFork && pendingFork->draft == &op; };
    while (op != node.builder.getInsertionPoint() && (isFork(*op) || succeeded(op->getName().verifyInvariants(&*op))))
      ++op;
    if (op == node.builder.getInsertionPoint())
      return success();
  }
  return node.error() << "has operands that do not fit together: " << complaint;
}

//===- Values --------------------------------------------------------------------------------------------------------

/// A value serves where the builder stands if its region is that place's or lies around it: the walk only ever appends.
bool Translator::isVisible(Value value) {
  return value.getParentRegion()->isAncestor(builder.getInsertionBlock()->getParent());
}

Value Translator::materialize(Location loc, Tensor &tensor) {
  if (tensor.value && isVisible(tensor.value))
    return tensor.value;
  assert((tensor.constant || tensor.elements) && "a value of an inner region is not known outside");
  tensor.value = tensor.constant ? constant(tensor.constant, tensor.type()) : fromElements(loc, tensor);
  return tensor.value;
}

Value Translator::constant(Attribute value, RankedTensorType type) {
  Value &known = constants[{value, type}];
  if (known)
    return known;
  OpBuilder::InsertionGuard guard(builder);
  if (lastEntryOp)
    builder.setInsertionPointAfter(lastEntryOp);
  else
    builder.setInsertionPointToStart(&target.getBody().front());
  known = builder.create<nn::ConstantOp>(target.getLoc(), type, value);
  lastEntryOp = known.getDefiningOp();
  return known;
}

/// The attribute of `number` as an element of type `element`.
static TypedAttr elementAttribute(Type element, int64_t number) {
  if (auto type = dyn_cast<FloatType>(element)) {
    APFloat value = APFloat(double(number));
    bool inexact;
    value.convert(type.getFloatSemantics(), APFloat::rmNearestTiesToEven, &inexact);
    return FloatAttr::get(type, value);
  }
  return IntegerAttr::get(element, APInt(64, number, true).sextOrTrunc(element.getIntOrFloatBitWidth()));
}

Value Translator::fromElements(Location loc, const Tensor &tensor) {
  RankedTensorType type = tensor.type();
  if (llvm::all_of(*tensor.elements, [](Index index) { return IndexMath::known(index).has_value(); })) {
    SmallVector<Attribute> attributes;
    for (Index index : *tensor.elements)
      attributes.push_back(elementAttribute(tensor.element, *IndexMath::known(index)));
    return constant(DenseElementsAttr::get(type, attributes), type);
  }
  SmallVector<Value> values;
  for (Index index : *tensor.elements) {
    if (auto number = IndexMath::known(index)) {
      values.push_back(builder.create<arith::ConstantOp>(loc, elementAttribute(tensor.element, *number)));
      continue;
    }
    bool isFloat = isa<FloatType>(tensor.element);
    Type integer = isFloat ? builder.getI64Type() : tensor.element;
    Value value = builder.create<arith::IndexCastOp>(loc, integer, cast<Value>(index));
    values.push_back(isFloat ? builder.create<arith::SIToFPOp>(loc, tensor.element, value) : value);
  }
  return builder.create<tensor::FromElementsOp>(loc, type, values);
}

/// The integers of constant elements; none where an element is no small integer.
static std::optional<SmallVector<Index>> decode(Builder &builder, DenseElementsAttr elements, bool isUnsigned) {
  SmallVector<Index> decoded;
  if (isa<IntegerType>(elements.getElementType())) {
    for (APInt value : elements.getValues<APInt>())
      decoded.push_back(builder.getIndexAttr(isUnsigned ? int64_t(value.getZExtValue()) : value.getSExtValue()));
    return decoded;
  }
  if (!isa<FloatType>(elements.getElementType()))
    return std::nullopt;
  for (APFloat value : elements.getValues<APFloat>()) {
    bool inexact;
    value.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven, &inexact);
    double number = value.convertToDouble();
    if (!value.isInteger() || value.isNegZero() || std::abs(number) > maxExactFloat)
      return std::nullopt;
    decoded.push_back(builder.getIndexAttr(int64_t(number)));
  }
  return decoded;
}

/// Turns a small tensor that constants decide into a constant; one try is enough.
void Translator::evaluateConstant(Tensor &tensor) {
  tensor.followsFromConstants = false;
  RankedTensorType type = tensor.type();
  if (tensor.constant || !tensor.value || !type.hasStaticShape() || type.getNumElements() > maxHostElements)
    return;
  std::optional<reference::Buffer> buffer = constantValue(tensor.value);
  DenseElementsAttr elements = buffer ? reference::denseAttribute(*buffer, type) : DenseElementsAttr();
  if (!elements)
    return;
  tensor.constant = elements;
  tensor.value = {};
}

SmallVector<Index> *Translator::hostElements(Tensor &tensor) {
  // Elements that were read in an inner region are not known outside of it.
  bool hidden = tensor.elements && llvm::any_of(*tensor.elements, [&](Index element) {
    auto value = dyn_cast<Value>(element);
    return value && !isVisible(value);
  });
  if (hidden)
    tensor.elements.reset();
  if (!tensor.elements && tensor.followsFromConstants)
    evaluateConstant(tensor);
  if (!tensor.elements && tensor.dataType != Absent && tensor.element.isSignlessInteger() &&
      llvm::is_contained(tensor.type().getShape(), 0))
    tensor.elements.emplace();
  if (!tensor.elements && tensor.constant)
    if (auto elements = dyn_cast<DenseElementsAttr>(tensor.constant))
      if (elements.getNumElements() <= maxHostElements && elements.getElementType() == tensor.element)
        tensor.elements = decode(builder, elements, tensor.isUnsigned());
  return tensor.elements ? &*tensor.elements : nullptr;
}

SmallVector<Index> *Translator::readElements(Location loc, Tensor &tensor) {
  if (SmallVector<Index> *elements = hostElements(tensor))
    return elements;
  RankedTensorType type = tensor.type();
  if (tensor.constant || !type.getElementType().isSignlessInteger() || !type.hasStaticShape() ||
      type.getNumElements() > maxHostElements || type.getRank() > 1)
    return nullptr;
  Value value = materialize(loc, tensor);
  SmallVector<Index> elements;
  for (int64_t number = 0; number < type.getNumElements(); ++number) {
    SmallVector<Value> at;
    if (type.getRank() == 1)
      at.push_back(builder.create<arith::ConstantIndexOp>(loc, number));
    Value element = builder.create<tensor::ExtractOp>(loc, value, at);
    elements.push_back(tensor.isUnsigned()
                           ? builder.create<arith::IndexCastUIOp>(loc, builder.getIndexType(), element).getResult()
                           : builder.create<arith::IndexCastOp>(loc, builder.getIndexType(), element).getResult());
  }
  tensor.elements = std::move(elements);
  return &*tensor.elements;
}
