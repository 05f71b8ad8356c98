// Which op of a group its kernel is built around.
#include "dialects/Nn/KernelRoot.h"
#include "dialects/Nn/MatrixProduct.h"
#include "dialects/Nn/RowShape.h"

using namespace mlir;
using namespace joule::nn;

/// Whether each result element of all that depends on `op` needs the element of `op` at the same position
/// alone.
static bool isFollowedByElement(Operation *op) {
  return llvm::all_of(op->getUsers(), [](Operation *user) {
    if (isa<YieldOp>(user))
      return true;
    bool keepsPosition = isPointwise(user) || isa<CastOp, BitcastOp, ReshapeOp>(user);
    return keepsPosition && isFollowedByElement(user);
  });
}

Operation *joule::nn::findKernelRoot(Block &body) {
  for (Operation &op : llvm::reverse(body))
    if (MatrixProduct::of(&op) || RowShape::of(&op))
      return isFollowedByElement(&op) ? &op : nullptr;
  return nullptr;
}
