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

SmallVector<Value> KernelWriter::computeResults(ValueRange indices, Value position) {
  SmallVector<Value> values;
  for (Value result : results) {
    SmallVector<Value> at(indices);
    if (!haveSameSizes(result, results.front()))
      at = elements.coordinates(result, position);
    values.push_back(elements.element(result, at));
  }
  return values;
}

void KernelWriter::storeResults(ValueRange values, Value position) {
  for (auto [value, buffer] : llvm::zip(values, buffers))
    builder.create<tile::StoreOp>(loc, value, buffer, position);
}

Value GridWriter::count(Value tensor) {
  Value count = index(1);
  for (int64_t dim = 0; dim < cast<RankedTensorType>(tensor.getType()).getRank(); ++dim)
    count = builder.createOrFold<arith::MulIOp>(loc, count, size(tensor, dim));
  return count;
}
