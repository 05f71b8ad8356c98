// In which versions of an operator set each operator changed.
#pragma once

#include "llvm/ADT/StringRef.h"

namespace joule {

/// The greatest version of operator `name` of `domain` that is not above `opset`: 0 where the operator is younger than
/// that, `opset` itself where the operator is not one of ONNX's own.
int64_t sinceVersion(llvm::StringRef domain, llvm::StringRef name, int64_t opset);

} // namespace joule
