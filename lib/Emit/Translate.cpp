// From a kernel to LLVM IR.
#include "lib/Emit/EmitPtx.h"
#include "passes/TileToNvvm/Passes.h"
#include "passes/TileToNvvm/Shared.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/GPU/GPUToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/NVVM/NVVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"

using namespace mlir;
using namespace joule;

TranslatedKernel::TranslatedKernel() = default;
TranslatedKernel::TranslatedKernel(TranslatedKernel &&) = default;
TranslatedKernel::~TranslatedKernel() {
  // The module lives in the context.
  module.reset();
}

void joule::prepareForEmission(MLIRContext &context) {
  DialectRegistry registry;
  registerBuiltinDialectTranslation(registry);
  registerGPUDialectTranslation(registry);
  registerLLVMDialectTranslation(registry);
  registerNVVMDialectTranslation(registry);
  context.appendDialectRegistry(registry);
  context.loadDialect<gpu::GPUDialect, LLVM::LLVMDialect, NVVM::NVVMDialect>();
}

namespace {

KernelShape shapeOf(tile::KernelOp kernel) {
  KernelShape shape;
  shape.name = kernel.getSymName().str();
  if (std::optional<ArrayRef<int64_t>> block = kernel.getBlock())
    llvm::copy(*block, shape.block.begin());
  return shape;
}

} // namespace

FailureOr<TranslatedKernel> joule::translateKernel(tile::KernelOp kernel) {
  MLIRContext *context = kernel.getContext();
  OwningOpRef<ModuleOp> module = ModuleOp::create(kernel.getLoc());
  module->push_back(kernel->clone());
  PassManager passes(context, ModuleOp::getOperationName());
  passes.enableVerifier(false);
  passes.addPass(createExpandMath());
  passes.addPass(createTileToNvvm());
  if (failed(passes.run(*module)))
    return failure();

  TranslatedKernel result;
  result.shape = shapeOf(kernel);
  result.context = std::make_unique<llvm::LLVMContext>();
  auto gpuModule = *module->getOps<gpu::GPUModuleOp>().begin();
  auto bytes = [&](StringRef name) {
    auto attribute = gpuModule->getAttrOfType<IntegerAttr>(name);
    return attribute ? attribute.getInt() : 0;
  };
  result.shape.staticSharedBytes = bytes(staticSharedBytes);
  result.shape.dynamicSharedBytes = bytes(dynamicSharedBytes);
  result.module = translateModuleToLLVMIR(gpuModule, *result.context, kernel.getSymName());
  if (!result.module)
    return kernel.emitOpError() << "internal: was not translated to LLVM IR";
  return result;
}
