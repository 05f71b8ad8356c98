// Any bytes as a model: importing them ends.
#include "lib/Import/Import.h"

#include "mlir/IR/Verifier.h"

using namespace mlir;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  MLIRContext context(MLIRContext::Threading::DISABLED);
  ScopedDiagnosticHandler handler(&context, [](Diagnostic &) { return success(); });
  StringRef bytes(reinterpret_cast<const char *>(data), size);
  OwningOpRef<ModuleOp> module = joule::importOnnx(context, bytes, "memory", "/nowhere");
  if (module && failed(verify(*module)))
    abort();
  return 0;
}
