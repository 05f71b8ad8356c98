// Import and MLIR's parser; what both give has a main function that the passes can rely on.
#include "lib/Compiler/ReadProgram.h"

#include "dialects/Nn/NnDialect.h"
#include "lib/Import/Import.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Parser/Parser.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/SourceMgr.h"

using namespace mlir;
using namespace joule;

static LogicalResult checkMain(ModuleOp module) {
  auto main = module.lookupSymbol<func::FuncOp>("main");
  if (!main || main.isDeclaration())
    return module.emitError() << "the module has no function called main";
  for (Type type : llvm::concat<const Type>(main.getArgumentTypes(), main.getResultTypes()))
    if (!isa<RankedTensorType>(type))
      return main.emitError() << "main takes and gives ranked tensors, not " << type;
  if (!main.getBody().hasOneBlock())
    return main.emitError() << "main has more than one block";
  return success();
}

/// Weights that a compilation made are nowhere but in that compilation.
static LogicalResult checkWeights(ModuleOp module) {
  WalkResult walk = module.walk([](nn::ConstantOp constant) {
    auto weight = dyn_cast<nn::WeightAttr>(constant.getValue());
    if (!weight || !weight.getBlob().starts_with("@"))
      return WalkResult::advance();
    constant.emitError() << "the weights \"" << weight.getBlob() << "\" were left out where this module was written";
    return WalkResult::interrupt();
  });
  return failure(walk.wasInterrupted());
}

static OwningOpRef<ModuleOp> readNn(MLIRContext &context, StringRef path) {
  auto file = llvm::MemoryBuffer::getFile(path, /*IsText=*/true);
  if (!file) {
    emitError(FileLineColLoc::get(&context, path, 0, 0)) << "the file cannot be opened: " << file.getError().message();
    return {};
  }
  llvm::SourceMgr sources;
  sources.AddNewSourceBuffer(std::move(*file), llvm::SMLoc());
  OwningOpRef<ModuleOp> module = parseSourceFile<ModuleOp>(sources, &context);
  if (module && (failed(checkMain(*module)) || failed(checkWeights(*module))))
    module = nullptr;
  return module;
}

Program joule::readProgram(MLIRContext &context, StringRef path, ArrayRef<std::string> alsoOutputs) {
  if (!path.ends_with(".mlir"))
    return {importOnnx(context, path, alsoOutputs), false};
  if (alsoOutputs.empty())
    return {readNn(context, path), true};
  emitError(FileLineColLoc::get(&context, path, 0, 0)) << "a module has no value called '" << alsoOutputs[0] << "'";
  return {};
}
