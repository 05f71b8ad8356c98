// The table of kernel families, and what they share.
#include "passes/NnToTile/Families.h"

using namespace mlir;
using namespace joule;

const KernelFamily *joule::findFamily(StringRef name) {
  static const KernelFamily families[] = {
      {"map", emitMap, gridOfMap},
  };
  const auto *found =
      llvm::find_if(families, [&](const KernelFamily &family) { return family.name == name; });
  return found == std::end(families) ? nullptr : found;
}

/// Whether two tensors have the same sizes by constants and SSA values.
static bool haveSameSizes(Value a, Value b) {
  FailureOr<SmallVector<OpFoldResult>> sizesOfA = nn::sizesOf(a), sizesOfB = nn::sizesOf(b);
  return succeeded(sizesOfA) && succeeded(sizesOfB) && *sizesOfA == *sizesOfB;
}

void KernelWriter::storeResults(ValueRange indices, Value position) {
  // All loads stand before all stores: a result may share its memory with an operand of the same index.
  SmallVector<Value> values;
  for (Value result : results) {
    bool sameShape = haveSameSizes(result, results.front());
    values.push_back(elements.element(result, sameShape ? SmallVector<Value>(indices)
                                                        : elements.coordinates(result, position)));
  }
  for (auto [value, buffer] : llvm::zip(values, buffers))
    builder.create<tile::StoreOp>(loc, value, buffer, position);
}

Value GridWriter::count(Value tensor) {
  Value count = index(1);
  for (int64_t dim = 0; dim < cast<RankedTensorType>(tensor.getType()).getRank(); ++dim)
    count = builder.createOrFold<arith::MulIOp>(loc, count, size(tensor, dim));
  return count;
}
