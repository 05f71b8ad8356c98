// Prints ONNX models as modules of the onnx level, for joule-opt to go on with.
#include "lib/Import/Import.h"

#include "mlir/Support/FileUtilities.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/SourceMgr.h"

using namespace mlir;

int main(int argc, char **argv) {
  llvm::InitLLVM init(argc, argv);
  llvm::cl::opt<std::string> path(llvm::cl::Positional, llvm::cl::Required, llvm::cl::desc("MODEL.onnx"));
  llvm::cl::opt<bool> locations("locations", llvm::cl::desc("Print the nodes' names"));
  llvm::cl::ParseCommandLineOptions(argc, argv,
                                    "Prints an ONNX model as a module of the onnx level.\n"
                                    "Example: joule-import model.onnx | joule-opt --onnx-to-nn\n");
  MLIRContext context;
  llvm::SourceMgr sources;
  SourceMgrDiagnosticHandler handler(sources, &context);
  OwningOpRef<ModuleOp> module = joule::importOnnx(context, path);
  if (!module)
    return 1;
  OpPrintingFlags flags;
  flags.enableDebugInfo(locations);
  module->print(llvm::outs(), flags);
  llvm::outs() << '\n';
}
