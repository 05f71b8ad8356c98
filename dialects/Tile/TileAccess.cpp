// What holds for accesses to tiles in shared memory.
#include "dialects/Tile/TileDialect.h"

using namespace mlir;
using namespace joule::tile;

/// The rules that loads and stores have in common.
static LogicalResult verifyAccess(Operation *op, BufferType buffer, LayoutAttr layout, size_t indices,
                                  TypeRange elements) {
  if (indices != layout.getBits().size()) // C1
    return op->emitOpError() << "has " << indices << " indices for a layout of " << layout.getBits().size()
                             << " dimensions";
  Type type = buffer.getElement();
  if (!buffer.getShared() || !type.isIntOrFloat() || type.getIntOrFloatBitWidth() < 8) // C1
    return op->emitOpError() << "takes a shared buffer of numbers of at least a byte, not " << buffer;
  for (Type element : elements)
    if (element != type) // C1
      return op->emitOpError() << "moves a " << element << " but the buffer holds " << type;
  if (elements.size() == 1 || layout.keepsRuns(elements.size()))
    return success();
  return op->emitOpError() << "moves " << elements.size()
                           << " elements at once, which do not lie together"; // C2
}

LogicalResult LoadTileOp::verify() {
  return verifyAccess(*this, getBuffer().getType(), getLayout(), getIndices().size(), getResultTypes());
}

LogicalResult StoreTileOp::verify() {
  return verifyAccess(*this, getBuffer().getType(), getLayout(), getIndices().size(), getValues().getTypes());
}
