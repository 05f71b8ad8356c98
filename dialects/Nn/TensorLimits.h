// How large a tensor may be.
#pragma once

#include "mlir/IR/BuiltinTypes.h"
#include "llvm/Support/MathExtras.h"

namespace joule::nn {

/// True where no static size is negative, and their product, even of those beside a zero, leaves room in 63 bits for the
/// bytes of each element: so whatever counts elements or bytes need not fear to wrap around.
inline bool isCountable(mlir::RankedTensorType type) {
  constexpr int64_t room = 64;
  int64_t product = room;
  for (int64_t size : type.getShape())
    if (!mlir::ShapedType::isDynamic(size) &&
        (size < 0 || llvm::MulOverflow(product, std::max<int64_t>(size, 1), product)))
      return false;
  return true;
}

} // namespace joule::nn
