// GraphProto → the operations of the onnx level.
#include "lib/Import/GraphImporter.h"

#include "dialects/Onnx/ElementTypes.h"
#include "dialects/Onnx/OnnxDialect.h"
#include "lib/Import/NodeOrder.h"
#include "lib/Import/OperatorVersions.h"
#include "lib/Import/WireWalk.h"

#include "llvm/ADT/StringSet.h"

using namespace mlir;
using ::onnx::AttributeProto;
using ::onnx::FunctionProto;
using ::onnx::GraphProto;
using ::onnx::NodeProto;
using ::onnx::TypeProto;

namespace {

// What inlined functions may grow a model to: a file of a few lines can ask for 2^60 nodes.
constexpr int64_t maxNodes = 500'000;

/// The names that are visible at one place: those of a graph and of all around it.
struct Scope {
  Scope *outer = nullptr;
  llvm::StringMap<Value> values;
  /// Types that the graph states for its outputs.
  llvm::StringMap<Type> outputTypes;

  Value lookup(StringRef name) {
    for (Scope *scope = this; scope; scope = scope->outer)
      if (Value value = scope->values.lookup(name))
        return value;
    return {};
  }
};

struct Frame;

/// An attribute and where the names in it are to be looked up: a function's caller may pass it.
struct BoundAttribute {
  const AttributeProto *proto;
  Frame *frame;
  Scope *scope;
};

/// The function whose body is being inlined, or the model itself.
struct Frame {
  Frame *caller = nullptr;
  const FunctionProto *function = nullptr;
  llvm::StringMap<int64_t> opsets;
  llvm::StringMap<BoundAttribute> attributes;
  std::string path; // prefix of its nodes' names
};

/// `ai.onnx` is the empty domain's other name.
StringRef plainDomain(StringRef domain) { return domain == "ai.onnx" ? "" : domain; }

std::string functionKey(StringRef domain, StringRef name, StringRef overload) {
  return (plainDomain(domain) + "\n" + name + "\n" + overload).str();
}

class GraphImporter {
public:
  GraphImporter(const ::onnx::ModelProto &model, const joule::ModelBytes &bytes, Location loc)
      : model(model), bytes(bytes), loc(loc), builder(loc.getContext()) {}

  OwningOpRef<ModuleOp> import();

private:
  template <typename Imports> void readOpsets(const Imports &imports, Frame &frame);

  // Types.
  FailureOr<Type> typeOf(const TypeProto &type, StringRef name);
  FailureOr<Type> typeOfTensor(const TypeProto::Tensor &tensor, StringRef name);
  Attribute dimsOf(const ::onnx::ValueInfoProto &value);
  StringAttr freshSymbol(StringRef input, int dim);

  // Graphs.
  LogicalResult importMain(ModuleOp module);
  LogicalResult addInputs(const GraphProto &graph, Block &block, Scope &scope, bool isMain,
                          SmallVectorImpl<Attribute> &attributes);
  LogicalResult importGraph(const GraphProto &graph, Scope &scope, Frame &frame, SmallVectorImpl<Value> &outputs);
  LogicalResult importSubgraph(const GraphProto &graph, Scope &outer, Frame &frame, Region &region);
  LogicalResult importInitializers(const GraphProto &graph, Scope &scope);
  LogicalResult importNodes(const joule::NodeList &nodes, Scope &scope, Frame &frame);
  LogicalResult define(Scope &scope, StringRef name, Value value, Location loc);

  // Nodes.
  Location locationOf(const NodeProto &node, const Frame &frame);
  LogicalResult importNode(const NodeProto &node, Scope &scope, Frame &frame);
  LogicalResult importCall(const NodeProto &node, const FunctionProto &function, ArrayRef<Value> inputs,
                           Scope &scope, Frame &frame, Location loc);
  LogicalResult importConstant(const NodeProto &node, Scope &scope, Frame &frame, Location loc);
  LogicalResult importOperator(const NodeProto &node, ArrayRef<Value> inputs, Scope &scope, Frame &frame,
                               Location loc);
  FailureOr<int64_t> sinceVersion(const NodeProto &node, const Frame &frame, Location loc);
  FailureOr<SmallVector<BoundAttribute>> resolve(const NodeProto &node, Scope &scope, Frame &frame, Location loc,
                                                 SmallVectorImpl<StringRef> &names);
  FailureOr<Attribute> attributeOf(const AttributeProto &attribute, Location loc);
  Value absent();

  const ::onnx::ModelProto &model;
  const joule::ModelBytes &bytes;
  Location loc;
  OpBuilder builder;
  Block *mainBlock = nullptr;
  Value absentValue;
  llvm::StringMap<const FunctionProto *> functions;
  llvm::StringSet<> symbols;
  int64_t numNodes = 0;
};

//===- Types ---------------------------------------------------------------------------------------------------------

/// The type of value `name`; `none` where the model does not say it.
FailureOr<Type> GraphImporter::typeOf(const TypeProto &type, StringRef name) {
  auto wrap = [&](const TypeProto &element, auto make) -> FailureOr<Type> {
    FailureOr<Type> inner = typeOf(element, name);
    return failed(inner) ? inner : FailureOr<Type>(make(*inner));
  };
  switch (type.value_case()) {
  case TypeProto::kTensorType:
    return typeOfTensor(type.tensor_type(), name);
  case TypeProto::kSequenceType:
    return wrap(type.sequence_type().elem_type(), [](Type element) { return joule::onnx::SequenceType::get(element.getContext(), element); });
  case TypeProto::kOptionalType:
    return wrap(type.optional_type().elem_type(), [](Type element) { return joule::onnx::OptionalType::get(element.getContext(), element); });
  case TypeProto::VALUE_NOT_SET:
    return Type(builder.getNoneType());
  default:
    return emitError(loc) << "value '" << name << "' is a map, a sparse tensor or opaque, which is not supported";
  }
}

FailureOr<Type> GraphImporter::typeOfTensor(const TypeProto::Tensor &tensor, StringRef name) {
  if (tensor.elem_type() == 0)
    return Type(builder.getNoneType());
  Type element = joule::elementTypeOf(builder.getContext(), tensor.elem_type());
  if (!element)
    return emitError(loc) << "value '" << name << "' has element type " << tensor.elem_type()
                          << ", which ONNX does not define";
  if (!tensor.has_shape())
    return Type(UnrankedTensorType::get(element));
  SmallVector<int64_t> shape;
  for (const auto &dim : tensor.shape().dim())
    shape.push_back(dim.has_dim_value() && dim.dim_value() >= 0 ? dim.dim_value() : ShapedType::kDynamic);
  return Type(RankedTensorType::get(shape, element));
}

/// A name for a dimension that has none, so that nothing else is held to be equal to it.
StringAttr GraphImporter::freshSymbol(StringRef input, int dim) {
  std::string name = (input + "." + Twine(dim)).str();
  while (!symbols.insert(name).second)
    name += "_";
  return builder.getStringAttr(name);
}

/// The sizes that the model states for an input; null where it states no rank.
Attribute GraphImporter::dimsOf(const ::onnx::ValueInfoProto &value) {
  if (!value.type().has_tensor_type() || !value.type().tensor_type().has_shape())
    return {};
  SmallVector<Attribute> dims;
  for (auto [index, dim] : llvm::enumerate(value.type().tensor_type().shape().dim())) {
    if (dim.has_dim_value() && dim.dim_value() >= 0)
      dims.push_back(builder.getI64IntegerAttr(dim.dim_value()));
    else if (dim.has_dim_param() && !dim.dim_param().empty() && dim.dim_param() != "?")
      dims.push_back(builder.getStringAttr(dim.dim_param()));
    else
      dims.push_back(freshSymbol(value.name(), int(index)));
  }
  return builder.getArrayAttr(dims);
}

//===- Graphs --------------------------------------------------------------------------------------------------------

template <typename Imports> void GraphImporter::readOpsets(const Imports &imports, Frame &frame) {
  for (const ::onnx::OperatorSetIdProto &opset : imports)
    frame.opsets[plainDomain(opset.domain())] = opset.version();
}

OwningOpRef<ModuleOp> GraphImporter::import() {
  OwningOpRef<ModuleOp> module = ModuleOp::create(loc);
  for (const FunctionProto &function : model.functions())
    functions[functionKey(function.domain(), function.name(), function.overload())] = &function;
  for (const auto &input : model.graph().input())
    for (const auto &dim : input.type().tensor_type().shape().dim())
      symbols.insert(dim.dim_param());
  if (failed(importMain(*module)))
    return {};
  return module;
}

LogicalResult GraphImporter::importMain(ModuleOp module) {
  builder.setInsertionPointToEnd(module.getBody());
  auto function = builder.create<func::FuncOp>(loc, "main", builder.getFunctionType({}, {}));
  mainBlock = function.addEntryBlock();
  builder.setInsertionPointToStart(mainBlock);
  Scope scope;
  Frame frame;
  readOpsets(model.opset_import(), frame);
  if (frame.opsets.empty())
    frame.opsets[""] = 1;
  SmallVector<Attribute> argumentAttributes, resultAttributes;
  SmallVector<Value> outputs;
  if (failed(addInputs(model.graph(), *mainBlock, scope, /*isMain=*/true, argumentAttributes)) ||
      failed(importGraph(model.graph(), scope, frame, outputs)))
    return failure();
  builder.create<func::ReturnOp>(loc, outputs);
  for (const auto &output : model.graph().output())
    resultAttributes.push_back(
        builder.getDictionaryAttr(builder.getNamedAttr("onnx.name", builder.getStringAttr(output.name()))));
  function.setFunctionType(builder.getFunctionType(mainBlock->getArgumentTypes(), ValueRange(outputs).getTypes()));
  function.setAllArgAttrs(argumentAttributes);
  function.setAllResultAttrs(resultAttributes);
  return success();
}

/// Inputs that an initialiser of the same name gives a default are constants: nobody but the caller could override
/// them, and older models list every initialiser so.
LogicalResult GraphImporter::addInputs(const GraphProto &graph, Block &block, Scope &scope, bool isMain,
                                       SmallVectorImpl<Attribute> &attributes) {
  llvm::StringSet<> initialized;
  for (const auto &tensor : graph.initializer())
    initialized.insert(tensor.name());
  for (const auto &tensor : graph.sparse_initializer())
    initialized.insert(tensor.values().name());
  for (const auto &input : graph.input()) {
    if (initialized.contains(input.name()))
      continue;
    FailureOr<Type> type = typeOf(input.type(), input.name());
    if (failed(type))
      return failure();
    Location inputLoc = NameLoc::get(builder.getStringAttr(input.name()));
    if (isMain && isa<NoneType>(*type))
      return emitError(inputLoc) << "input '" << input.name() << "' has no type";
    if (failed(define(scope, input.name(), block.addArgument(*type, inputLoc), inputLoc)))
      return failure();
    NamedAttrList list;
    list.append("onnx.name", builder.getStringAttr(input.name()));
    if (Attribute dims = isMain ? dimsOf(input) : Attribute())
      list.append("onnx.dims", dims);
    attributes.push_back(list.getDictionary(builder.getContext()));
  }
  return success();
}

LogicalResult GraphImporter::define(Scope &scope, StringRef name, Value value, Location where) {
  if (name.empty() || scope.values.try_emplace(name, value).second)
    return success();
  InFlightDiagnostic error = emitError(where) << "value '" << name << "' is defined twice";
  error.attachNote(scope.values[name].getLoc()) << "it is defined here first";
  return error;
}

LogicalResult GraphImporter::importGraph(const GraphProto &graph, Scope &scope, Frame &frame,
                                         SmallVectorImpl<Value> &outputs) {
  for (const auto &output : graph.output()) {
    FailureOr<Type> type = typeOf(output.type(), output.name());
    if (failed(type))
      return failure();
    scope.outputTypes[output.name()] = *type;
  }
  if (failed(importInitializers(graph, scope)) || failed(importNodes(graph.node(), scope, frame)))
    return failure();
  for (const auto &output : graph.output()) {
    Value value = scope.lookup(output.name());
    if (!value)
      return emitError(loc) << "output '" << output.name() << "' of graph '" << graph.name() << "' is never defined";
    outputs.push_back(value);
  }
  return success();
}

LogicalResult GraphImporter::importSubgraph(const GraphProto &graph, Scope &outer, Frame &frame, Region &region) {
  OpBuilder::InsertionGuard guard(builder);
  Block &block = region.emplaceBlock();
  builder.setInsertionPointToStart(&block);
  Scope scope{&outer, {}, {}};
  SmallVector<Attribute> ignored;
  SmallVector<Value> outputs;
  if (failed(addInputs(graph, block, scope, /*isMain=*/false, ignored)) ||
      failed(importGraph(graph, scope, frame, outputs)))
    return failure();
  builder.create<joule::onnx::ReturnOp>(loc, outputs);
  return success();
}

LogicalResult GraphImporter::importInitializers(const GraphProto &graph, Scope &scope) {
  auto add = [&](StringRef name, auto read) -> LogicalResult {
    Location where = NameLoc::get(builder.getStringAttr(name));
    FailureOr<joule::TensorConstant> tensor = read(where);
    if (failed(tensor))
      return failure();
    return define(scope, name, builder.create<joule::onnx::ConstantOp>(where, tensor->type, tensor->value), where);
  };
  for (const auto &tensor : graph.initializer())
    if (failed(add(tensor.name(), [&](Location where) { return joule::readTensor(tensor, bytes, where); })))
      return failure();
  for (const auto &tensor : graph.sparse_initializer())
    if (failed(add(tensor.values().name(),
                   [&](Location where) { return joule::readSparseTensor(tensor, bytes, where); })))
      return failure();
  return success();
}

LogicalResult GraphImporter::importNodes(const joule::NodeList &nodes, Scope &scope, Frame &frame) {
  auto order = joule::orderNodes(nodes, [&](const NodeProto &node) {
    emitError(locationOf(node, frame)) << node.op_type() << " depends on its own result";
  });
  if (failed(order))
    return failure();
  for (const NodeProto *node : *order)
    if (failed(importNode(*node, scope, frame)))
      return failure();
  return success();
}

//===- Nodes ---------------------------------------------------------------------------------------------------------

/// The node's name, or its operator and first result; behind the name of each call that it was inlined from.
Location GraphImporter::locationOf(const NodeProto &node, const Frame &frame) {
  std::string name = node.name();
  if (name.empty())
    name = node.op_type() + " " + (node.output_size() ? node.output(0) : std::string());
  return NameLoc::get(builder.getStringAttr(frame.path + name));
}

Value GraphImporter::absent() {
  if (!absentValue)
    absentValue = OpBuilder(mainBlock, mainBlock->begin()).create<joule::onnx::AbsentOp>(loc, joule::onnx::AbsentType::get(builder.getContext()));
  return absentValue;
}

LogicalResult GraphImporter::importNode(const NodeProto &node, Scope &scope, Frame &frame) {
  Location where = locationOf(node, frame);
  if (++numNodes > maxNodes)
    return emitError(where) << "the model has more than " << maxNodes << " nodes once its functions are inlined";
  SmallVector<Value> inputs;
  for (const std::string &name : node.input()) {
    Value value = name.empty() ? absent() : scope.lookup(name);
    if (!value)
      return emitError(where) << node.op_type() << " reads '" << name << "', which nothing defines";
    inputs.push_back(value);
  }
  if (const FunctionProto *function =
          functions.lookup(functionKey(node.domain(), node.op_type(), node.overload())))
    return importCall(node, *function, inputs, scope, frame, where);
  if (node.op_type() == "Constant" && plainDomain(node.domain()).empty())
    return importConstant(node, scope, frame, where);
  return importOperator(node, inputs, scope, frame, where);
}

/// The node's attributes under their names; those that refer to a function's attribute are what the caller passed.
FailureOr<SmallVector<BoundAttribute>> GraphImporter::resolve(const NodeProto &node, Scope &scope, Frame &frame,
                                                              Location where, SmallVectorImpl<StringRef> &names) {
  SmallVector<BoundAttribute> bound;
  llvm::StringSet<> seen;
  for (const AttributeProto &attribute : node.attribute()) {
    if (!seen.insert(attribute.name()).second)
      return emitError(where) << node.op_type() << " has attribute '" << attribute.name() << "' twice";
    BoundAttribute entry = {&attribute, &frame, &scope};
    if (!attribute.ref_attr_name().empty()) {
      auto passed = frame.attributes.find(attribute.ref_attr_name());
      if (passed == frame.attributes.end())
        continue;
      entry = passed->second;
    }
    names.push_back(attribute.name());
    bound.push_back(entry);
  }
  return bound;
}

LogicalResult GraphImporter::importCall(const NodeProto &node, const FunctionProto &function, ArrayRef<Value> inputs,
                                        Scope &scope, Frame &frame, Location where) {
  int depth = 0;
  for (Frame *outer = &frame; outer; outer = outer->caller, ++depth)
    if (outer->function == &function || depth > joule::maxSubgraphDepth)
      return emitError(where) << "function " << function.name() << " calls itself, or calls nest too deep";
  if (int(inputs.size()) > function.input_size() || node.output_size() > function.output_size())
    return emitError(where) << "function " << function.name() << " has " << function.input_size() << " inputs and "
                            << function.output_size() << " outputs but is called with " << inputs.size() << " and "
                            << node.output_size();
  SmallVector<StringRef> names;
  auto attributes = resolve(node, scope, frame, where, names);
  if (failed(attributes))
    return failure();
  Frame callee;
  callee.caller = &frame;
  callee.function = &function;
  callee.path = cast<NameLoc>(where).getName().str() + "/";
  readOpsets(function.opset_import(), callee);
  for (const AttributeProto &fallback : function.attribute_proto())
    callee.attributes[fallback.name()] = {&fallback, &frame, &scope};
  for (auto [name, attribute] : llvm::zip(names, *attributes))
    callee.attributes[name] = attribute;
  Scope inner;
  for (auto [index, name] : llvm::enumerate(function.input()))
    if (failed(define(inner, name, index < inputs.size() ? inputs[index] : absent(), where)))
      return failure();
  if (failed(importNodes(function.node(), inner, callee)))
    return failure();
  for (auto [name, inside] : llvm::zip(node.output(), function.output())) {
    Value value = inner.lookup(inside);
    if (!value)
      return emitError(where) << "function " << function.name() << " never defines its output '" << inside << "'";
    if (failed(define(scope, name, value, where)))
      return failure();
  }
  return success();
}

LogicalResult GraphImporter::importConstant(const NodeProto &node, Scope &scope, Frame &frame, Location where) {
  SmallVector<StringRef> names;
  auto attributes = resolve(node, scope, frame, where, names);
  if (failed(attributes))
    return failure();
  if (attributes->size() != 1 || node.output_size() != 1)
    return emitError(where) << "Constant has " << attributes->size() << " values and " << node.output_size()
                            << " outputs where it wants one each";
  const AttributeProto &attribute = *attributes->front().proto;
  auto tensor = [&](ArrayRef<int64_t> shape, Type element) { return RankedTensorType::get(shape, element); };
  FailureOr<joule::TensorConstant> value = failure();
  if (attribute.has_t()) {
    value = joule::readTensor(attribute.t(), bytes, where);
  } else if (attribute.has_sparse_tensor()) {
    value = joule::readSparseTensor(attribute.sparse_tensor(), bytes, where);
  } else {
    StringRef name = names.front();
    RankedTensorType type;
    Attribute elements;
    if (name == "value_float" || name == "value_floats") {
      SmallVector<float> list(attribute.floats().begin(), attribute.floats().end());
      type = name == "value_float" ? tensor({}, builder.getF32Type()) : tensor(list.size(), builder.getF32Type());
      elements = name == "value_float" ? DenseElementsAttr::get(type, attribute.f())
                                       : DenseElementsAttr::get(type, ArrayRef<float>(list));
    } else if (name == "value_int" || name == "value_ints") {
      SmallVector<int64_t> list(attribute.ints().begin(), attribute.ints().end());
      type = name == "value_int" ? tensor({}, builder.getI64Type()) : tensor(list.size(), builder.getI64Type());
      elements = name == "value_int" ? DenseElementsAttr::get(type, attribute.i())
                                     : DenseElementsAttr::get(type, ArrayRef<int64_t>(list));
    } else if (name == "value_string" || name == "value_strings") {
      Type string = joule::onnx::StringType::get(builder.getContext());
      SmallVector<StringRef> list(attribute.strings().begin(), attribute.strings().end());
      if (name == "value_string")
        list.assign(1, attribute.s());
      type = name == "value_string" ? tensor({}, string) : tensor(list.size(), string);
      elements = DenseStringElementsAttr::get(type, list);
    } else {
      return emitError(where) << "Constant has attribute '" << name << "', which holds no value";
    }
    value = joule::TensorConstant{elements, type};
  }
  if (failed(value))
    return failure();
  Value constant = builder.create<joule::onnx::ConstantOp>(where, value->type, value->value);
  return define(scope, node.output(0), constant, where);
}

FailureOr<int64_t> GraphImporter::sinceVersion(const NodeProto &node, const Frame &frame, Location where) {
  StringRef domain = plainDomain(node.domain());
  auto opset = frame.opsets.find(domain);
  if (opset == frame.opsets.end())
    return emitError(where) << node.op_type() << " is of domain '" << (domain.empty() ? "ai.onnx" : domain)
                            << "', which the model does not import";
  int64_t version = joule::sinceVersion(domain, node.op_type(), opset->second);
  if (version == 0)
    return emitError(where) << "operator " << node.op_type() << " does not exist in operator set " << opset->second
                            << ", which the model imports";
  return version;
}

LogicalResult GraphImporter::importOperator(const NodeProto &node, ArrayRef<Value> inputs, Scope &scope, Frame &frame,
                                            Location where) {
  FailureOr<int64_t> version = sinceVersion(node, frame, where);
  SmallVector<StringRef> names;
  auto attributes = resolve(node, scope, frame, where, names);
  if (failed(version) || failed(attributes))
    return failure();
  NamedAttrList list;
  SmallVector<Attribute> graphNames;
  SmallVector<std::pair<const GraphProto *, BoundAttribute>> graphs;
  for (auto [name, attribute] : llvm::zip(names, *attributes)) {
    if (attribute.proto->has_g())
      graphs.push_back({&attribute.proto->g(), attribute});
    for (const GraphProto &graph : attribute.proto->graphs())
      graphs.push_back({&graph, attribute});
    while (graphNames.size() < graphs.size())
      graphNames.push_back(builder.getStringAttr(name));
    if (attribute.proto->has_g() || attribute.proto->graphs_size())
      continue;
    FailureOr<Attribute> value = attributeOf(*attribute.proto, where);
    if (failed(value))
      return failure();
    list.append(name, *value);
  }
  SmallVector<Type> types;
  for (const std::string &name : node.output()) {
    Type type = scope.outputTypes.lookup(name);
    types.push_back(name.empty() ? Type(joule::onnx::AbsentType::get(builder.getContext()))
                    : type       ? type
                                 : builder.getNoneType());
  }
  auto op = builder.create<joule::onnx::NodeOp>(
      where, types, builder.getStringAttr(node.op_type()), builder.getStringAttr(plainDomain(node.domain())),
      builder.getI64IntegerAttr(*version), list.getDictionary(builder.getContext()), builder.getArrayAttr(graphNames),
      inputs, unsigned(graphs.size()));
  for (auto [region, graph] : llvm::zip(op.getSubgraphs(), graphs))
    if (failed(importSubgraph(*graph.first, *graph.second.scope, *graph.second.frame, region)))
      return failure();
  for (auto [name, value] : llvm::zip(node.output(), op.getOutputs()))
    if (failed(define(scope, name, value, where)))
      return failure();
  return success();
}

/// The kind of value that an attribute holds: old models do not state it.
AttributeProto::AttributeType kindOf(const AttributeProto &attribute) {
  if (attribute.type() != AttributeProto::UNDEFINED)
    return attribute.type();
  return attribute.has_f()          ? AttributeProto::FLOAT
         : attribute.has_i()        ? AttributeProto::INT
         : attribute.has_s()        ? AttributeProto::STRING
         : attribute.has_t()        ? AttributeProto::TENSOR
         : attribute.floats_size()  ? AttributeProto::FLOATS
         : attribute.ints_size()    ? AttributeProto::INTS
         : attribute.strings_size() ? AttributeProto::STRINGS
                                    : AttributeProto::UNDEFINED;
}

FailureOr<Attribute> GraphImporter::attributeOf(const AttributeProto &attribute, Location where) {
  switch (kindOf(attribute)) {
  case AttributeProto::FLOAT:
    return Attribute(builder.getF32FloatAttr(attribute.f()));
  case AttributeProto::INT:
    return Attribute(builder.getI64IntegerAttr(attribute.i()));
  case AttributeProto::STRING:
    return Attribute(builder.getStringAttr(attribute.s()));
  case AttributeProto::FLOATS:
    return Attribute(builder.getDenseF32ArrayAttr(SmallVector<float>(attribute.floats().begin(), attribute.floats().end())));
  case AttributeProto::INTS:
    return Attribute(builder.getDenseI64ArrayAttr(SmallVector<int64_t>(attribute.ints().begin(), attribute.ints().end())));
  case AttributeProto::STRINGS: {
    SmallVector<Attribute> strings;
    for (const std::string &string : attribute.strings())
      strings.push_back(builder.getStringAttr(string));
    return Attribute(builder.getArrayAttr(strings));
  }
  case AttributeProto::TENSOR: {
    FailureOr<joule::TensorConstant> tensor = joule::readTensor(attribute.t(), bytes, where, /*dense=*/true);
    return failed(tensor) ? FailureOr<Attribute>(failure()) : FailureOr<Attribute>(tensor->value);
  }
  case AttributeProto::TYPE_PROTO: {
    FailureOr<Type> type = typeOf(attribute.tp(), attribute.name());
    return failed(type) ? FailureOr<Attribute>(failure()) : FailureOr<Attribute>(TypeAttr::get(*type));
  }
  default:
    return emitError(where) << "attribute '" << attribute.name() << "' is of a kind that is not supported";
  }
}

} // namespace

OwningOpRef<ModuleOp> joule::importModel(const ::onnx::ModelProto &model, const ModelBytes &bytes, Location loc) {
  return GraphImporter(model, bytes, loc).import();
}
