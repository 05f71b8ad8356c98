// Turns MLIR's diagnostics into the API's errors.
#pragma once

#include "joule/Error.h"

#include "mlir/IR/Diagnostics.h"

#include <vector>

namespace joule {

/// Collects the errors that a context reports while it lives.
class DiagnosticCollector {
public:
  explicit DiagnosticCollector(mlir::MLIRContext &context);

  /// The first error, with its notes, under `code`; a generic one where a pass failed without a word.
  Error error(ErrorCode code) const;

  const std::vector<Error> &errors() const { return collected; }

private:
  std::vector<Error> collected;
  mlir::ScopedDiagnosticHandler handler;
};

} // namespace joule
