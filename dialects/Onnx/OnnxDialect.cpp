// Registers the onnx dialect; defines how a node is written down and what it must hold.
#include "dialects/Onnx/OnnxDialect.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

#include "dialects/Onnx/OnnxDialect.cpp.inc"

#define GET_TYPEDEF_CLASSES
#include "dialects/Onnx/OnnxTypes.cpp.inc"

#define GET_ATTRDEF_CLASSES
#include "dialects/Onnx/OnnxAttributes.cpp.inc"

#define GET_OP_CLASSES
#include "dialects/Onnx/OnnxOps.cpp.inc"

void joule::onnx::OnnxDialect::initialize() {
  addTypes<
#define GET_TYPEDEF_LIST
#include "dialects/Onnx/OnnxTypes.cpp.inc"
      >();
  addAttributes<
#define GET_ATTRDEF_LIST
#include "dialects/Onnx/OnnxAttributes.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "dialects/Onnx/OnnxOps.cpp.inc"
      >();
}

LogicalResult joule::onnx::NodeOp::verify() {
  if (getGraphs().size() == getSubgraphs().size())
    return success();
  return emitOpError() << "names " << getGraphs().size() << " graphs but holds " << getSubgraphs().size();
}

// onnx.node "Gemm" domain "com.x" version 13 (%x, %w) {alpha = 0.5 : f32} graphs ["body"] ({…}) : (…) -> …
void joule::onnx::NodeOp::print(OpAsmPrinter &printer) {
  printer << ' ' << getOpTypeAttr();
  if (!getDomain().empty())
    printer << " domain " << getDomainAttr();
  printer << " version " << getSinceVersion() << " (" << getInputs() << ")";
  if (!getNodeAttributes().empty())
    printer << ' ' << getNodeAttributesAttr();
  if (!getSubgraphs().empty()) {
    printer << " graphs " << getGraphsAttr() << " (";
    llvm::interleaveComma(getSubgraphs(), printer, [&](Region &region) { printer.printRegion(region); });
    printer << ")";
  }
  printer.printOptionalAttrDictWithKeyword((*this)->getDiscardableAttrDictionary().getValue());
  printer << " : ";
  printer.printFunctionalType(*this);
}

ParseResult joule::onnx::NodeOp::parse(OpAsmParser &parser, OperationState &state) {
  Builder &builder = parser.getBuilder();
  auto &properties = state.getOrAddProperties<Properties>();
  StringAttr name, domain = builder.getStringAttr("");
  int64_t version = 0;
  SmallVector<OpAsmParser::UnresolvedOperand> inputs;
  DictionaryAttr attributes = builder.getDictionaryAttr({});
  ArrayAttr graphs = builder.getArrayAttr({});
  if (parser.parseAttribute(name))
    return failure();
  if (succeeded(parser.parseOptionalKeyword("domain")) && parser.parseAttribute(domain))
    return failure();
  if (parser.parseKeyword("version") || parser.parseInteger(version) ||
      parser.parseOperandList(inputs, OpAsmParser::Delimiter::Paren))
    return failure();
  NamedAttrList list;
  if (parser.parseOptionalAttrDict(list))
    return failure();
  attributes = list.getDictionary(parser.getContext());
  if (succeeded(parser.parseOptionalKeyword("graphs"))) {
    if (parser.parseAttribute(graphs) || parser.parseLParen())
      return failure();
    if (parser.parseCommaSeparatedList([&] { return parser.parseRegion(*state.addRegion()); }) ||
        parser.parseRParen())
      return failure();
  }
  FunctionType type;
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseOptionalAttrDictWithKeyword(state.attributes) || parser.parseColonType(type) ||
      parser.resolveOperands(inputs, type.getInputs(), loc, state.operands))
    return failure();
  state.addTypes(type.getResults());
  properties.op_type = name;
  properties.domain = domain;
  properties.since_version = builder.getI64IntegerAttr(version);
  properties.node_attributes = attributes;
  properties.graphs = graphs;
  return success();
}
