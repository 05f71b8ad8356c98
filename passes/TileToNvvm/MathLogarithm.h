// What logarithms and powers share.
#pragma once

#include "passes/TileToNvvm/ExpandMath.h"

namespace joule {

/// x = (1 + f) 2^e with 1 + f within sqrt(2) of 1, for positive finite x.
struct LogSplit {
  mlir::Value f;
  mlir::Value e;
};
LogSplit splitForLog(Real &r, mlir::Value x);

/// e^(high + low), `low` far below `high`.
mlir::Value expandExpOfSum(Real &r, mlir::Value high, mlir::Value low);

} // namespace joule
