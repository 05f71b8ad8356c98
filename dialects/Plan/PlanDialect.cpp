// Registers the plan dialect; a launch names a kernel that exists and fits.
#include "dialects/Plan/PlanDialect.h"

#include "dialects/Tile/TileDialect.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

#include "dialects/Plan/PlanDialect.cpp.inc"

#define GET_TYPEDEF_CLASSES
#include "dialects/Plan/PlanTypes.cpp.inc"

#define GET_OP_CLASSES
#include "dialects/Plan/PlanOps.cpp.inc"

void joule::plan::PlanDialect::initialize() {
  addTypes<
#define GET_TYPEDEF_LIST
#include "dialects/Plan/PlanTypes.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "dialects/Plan/PlanOps.cpp.inc"
      >();
}

/// The kernel that `op` names takes `count` arguments.
static LogicalResult verifyKernel(Operation *op, FlatSymbolRefAttr name, size_t count, SymbolTableCollection &symbols) {
  auto kernel = symbols.lookupNearestSymbolFrom<joule::tile::KernelOp>(op, name);
  if (!kernel)
    return op->emitOpError() << "names no kernel " << name;
  if (kernel.getBody().getNumArguments() != count)
    return op->emitOpError() << "has " << count << " arguments for kernel " << name << ", which takes "
                             << kernel.getBody().getNumArguments();
  return success();
}

LogicalResult joule::plan::CallOp::verifySymbolUses(SymbolTableCollection &symbols) {
  auto kernel = symbols.lookupNearestSymbolFrom<joule::tile::KernelOp>(*this, getKernelAttr());
  // nn-to-tile appends a buffer per result to the kernel's arguments.
  bool lowered = kernel && !kernel.getGrid().empty();
  return verifyKernel(*this, getKernelAttr(), getInputs().size() + (lowered ? getOutputs().size() : 0), symbols);
}

LogicalResult joule::plan::LaunchOp::verifySymbolUses(SymbolTableCollection &symbols) {
  return verifyKernel(*this, getKernelAttr(), getArguments().size(), symbols);
}
