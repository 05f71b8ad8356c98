// Registers the tile dialect; checks what a kernel must hold.
#include "dialects/Tile/TileDialect.h"

#include "dialects/Nn/NnDialect.h"
#include "dialects/Nn/SmallFloats.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

#include "dialects/Tile/TileDialect.cpp.inc"

#define GET_TYPEDEF_CLASSES
#include "dialects/Tile/TileTypes.cpp.inc"

#define GET_ATTRDEF_CLASSES
#include "dialects/Tile/TileAttributes.cpp.inc"

#define GET_OP_CLASSES
#include "dialects/Tile/TileOps.cpp.inc"

void joule::tile::TileDialect::initialize() {
  addTypes<
#define GET_TYPEDEF_LIST
#include "dialects/Tile/TileTypes.cpp.inc"
      >();
  addAttributes<
#define GET_ATTRDEF_LIST
#include "dialects/Tile/TileAttributes.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "dialects/Tile/TileOps.cpp.inc"
      >();
}

/// The host's part of a kernel: an `index` per `index` argument of the body, and `tile.grid` at the end.
static LogicalResult verifyGrid(joule::tile::KernelOp op) {
  int64_t indices = llvm::count_if(op.getBody().getArgumentTypes(), [](Type type) { return type.isIndex(); });
  Block &grid = op.getGrid().front();
  if (static_cast<int64_t>(grid.getNumArguments()) != indices ||
      !llvm::all_of(grid.getArgumentTypes(), [](Type type) { return type.isIndex(); }))
    return op.emitOpError() << "has a grid of " << grid.getNumArguments() << " arguments for " << indices
                            << " index arguments of its body";
  if (grid.empty() || !isa<joule::tile::GridOp>(grid.back()))
    return op.emitOpError() << "has a grid that does not end in tile.grid";
  return success();
}

LogicalResult joule::tile::KernelOp::verify() {
  if (getBlock() &&
      (getBlock()->size() != 3 || llvm::any_of(*getBlock(), [](int64_t size) { return size < 1; }))) // C2
    return emitOpError() << "has a block that is not three positive numbers";
  if (!getGrid().empty())
    return verifyGrid(*this);                                                        // C3
  return nn::verifyInputSizes(*this, getBody().getArgumentTypes(), getInputSizes()); // C1
}

LogicalResult joule::tile::AllocOp::verify() {
  if (cast<BufferType>(getType()).getShared())
    return success();
  return emitOpError() << "takes shared memory but gives " << getType();
}

Type joule::tile::BufferType::parse(AsmParser &parser) {
  Type element;
  if (parser.parseLess() || parser.parseType(element))
    return {};
  bool shared = succeeded(parser.parseOptionalComma());
  if ((shared && parser.parseKeyword("shared")) || parser.parseGreater())
    return {};
  return get(parser.getContext(), element, shared);
}

void joule::tile::BufferType::print(AsmPrinter &printer) const {
  printer << "<" << getElement() << (getShared() ? ", shared>" : ">");
}

// A schedule prints as `<family = "map", threads = 256, block = [64, 64], thread = [4], index_bits = 64>`;
// all but the first two may be absent.

Attribute joule::tile::ScheduleAttr::parse(AsmParser &parser, Type) {
  std::string family;
  int64_t threads = 0, indexBits = 32;
  SmallVector<int64_t> block, thread;
  auto parseList = [&](SmallVector<int64_t> &list) {
    return parser.parseCommaSeparatedList(AsmParser::Delimiter::Square,
                                          [&] { return parser.parseInteger(list.emplace_back()); });
  };
  auto parseOption = [&]() -> ParseResult {
    StringRef name;
    llvm::SMLoc loc = parser.getCurrentLocation();
    if (parser.parseKeyword(&name) || parser.parseEqual())
      return failure();
    if (name == "block")
      return parseList(block);
    if (name == "thread")
      return parseList(thread);
    if (name == "index_bits")
      return parser.parseInteger(indexBits);
    return parser.emitError(loc) << "a schedule has no '" << name << "'";
  };
  if (parser.parseLess() || parser.parseKeyword("family") || parser.parseEqual() ||
      parser.parseString(&family) || parser.parseComma() || parser.parseKeyword("threads") ||
      parser.parseEqual() || parser.parseInteger(threads))
    return {};
  while (succeeded(parser.parseOptionalComma()))
    if (parseOption())
      return {};
  if (parser.parseGreater())
    return {};
  return get(parser.getContext(), family, threads, block, thread, indexBits);
}

void joule::tile::ScheduleAttr::print(AsmPrinter &printer) const {
  printer << "<family = \"" << getFamily() << "\", threads = " << getThreads();
  auto printList = [&](StringRef name, ArrayRef<int64_t> list) {
    if (list.empty())
      return;
    printer << ", " << name << " = [";
    llvm::interleaveComma(list, printer);
    printer << "]";
  };
  printList("block", getBlock());
  printList("thread", getThread());
  if (getIndexBits() != 32)
    printer << ", index_bits = " << getIndexBits();
  printer << ">";
}

unsigned joule::tile::bitsInMemory(Type type) {
  if (type.isInteger(1))
    return 8;
  if (auto complex = dyn_cast<ComplexType>(type))
    return 2 * bitsInMemory(complex.getElementType());
  return nn::isSmallFloat(type) ? nn::bitsTypeOf(type).getWidth() : type.getIntOrFloatBitWidth();
}
