// Prints the PTX of every kernel in a file, for tests: schedules and writes the kernels that are not yet
// written.
#include "dialects/Nn/NnDialect.h"
#include "dialects/Tile/TileDialect.h"
#include "lib/Emit/EmitPtx.h"
#include "passes/NnToTile/Passes.h"
#include "passes/Tile/Passes.h"

#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/Support/SourceMgr.h"

#include <ctime>

using namespace mlir;

namespace {

LogicalResult writeKernels(ModuleOp module) {
  PassManager passes(module.getContext());
  passes.addPass(joule::createChooseDefaultSchedule());
  passes.addPass(joule::createNnToTile());
  return passes.run(module);
}

} // namespace

/// Usage: emit-kernels FILE TARGET [--time]
int main(int argc, char **argv) {
  if (argc < 3) {
    llvm::errs() << "usage: emit-kernels FILE TARGET [--time]\n";
    return 2;
  }
  bool withTime = argc > 3 && StringRef(argv[3]) == "--time";
  DialectRegistry registry;
  registry.insert<joule::nn::NnDialect, joule::tile::TileDialect, arith::ArithDialect, math::MathDialect,
                  scf::SCFDialect, tensor::TensorDialect>();
  MLIRContext context(registry);
  joule::prepareForEmission(context);
  llvm::SourceMgr sources;
  SourceMgrDiagnosticHandler diagnostics(sources, &context);
  OwningOpRef<ModuleOp> module = parseSourceFile<ModuleOp>(argv[1], sources, &context);
  if (!module || failed(writeKernels(*module)))
    return 1;
  for (auto kernel : module->getOps<joule::tile::KernelOp>()) {
    std::clock_t start = std::clock();
    FailureOr<joule::KernelCode> code = joule::emitPtx(kernel, argv[2]);
    if (failed(code))
      return 1;
    double took = 1e3 * static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
    if (withTime)
      llvm::errs() << code->shape.name << ": " << static_cast<int64_t>(took) << " ms of processor time\n";
    llvm::outs() << code->ptx;
  }
  return 0;
}
