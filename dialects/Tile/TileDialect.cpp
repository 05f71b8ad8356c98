// Registers the tile dialect; checks what a kernel must hold.
#include "dialects/Tile/TileDialect.h"

#include "dialects/Nn/NnDialect.h"

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
  if (getBlock() && (getBlock()->size() != 3 || llvm::any_of(*getBlock(), [](int64_t size) { return size < 1; }))) // C2
    return emitOpError() << "has a block that is not three positive numbers";
  if (!getGrid().empty())
    return verifyGrid(*this); // C3
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
