// Gives each group a kernel; equal groups share one.
#include "passes/Nn/CountWork.h"
#include "passes/Nn/Passes.h"

#include "mlir/IR/AsmState.h"
#include "mlir/IR/SymbolTable.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/raw_ostream.h"

namespace joule {
#define GEN_PASS_DEF_OUTLINEKERNELS
#include "passes/Nn/Passes.h.inc"
} // namespace joule

using namespace mlir;
using namespace joule;

namespace {

/// A kernel's name says what it does: its ops that do most, at most three.
std::string nameOf(nn::FusedOp fused) {
  llvm::SmallSetVector<StringRef, 4> parts;
  for (Operation &op : fused.getBody().front().without_terminator())
    if (isa<nn::ContractOp, nn::ConvOp, nn::PoolOp, nn::ReduceOp, nn::SoftmaxOp, nn::NormalizeOp, nn::KernelDefinition>(op))
      parts.insert(op.getName().stripDialect());
  for (Operation &op : llvm::reverse(fused.getBody().front().without_terminator()))
    if (parts.size() < 3 && op.getNumResults() == 1 && isa<RankedTensorType>(op.getResult(0).getType()) &&
        !isa<nn::ConstantOp, nn::BroadcastOp, nn::ReshapeOp>(op))
      parts.insert(op.getName().stripDialect());
  if (parts.empty())
    parts.insert("copy");
  return llvm::join(llvm::ArrayRef(parts.getArrayRef()).take_front(3), "_");
}

/// The body as text without locations: equal texts are equal kernels.
std::string textOf(nn::FusedOp fused) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  OpPrintingFlags flags;
  flags.useLocalScope().printGenericOpForm();
  for (BlockArgument argument : fused.getBody().getArguments())
    stream << argument.getType() << ";";
  if (auto sizes = fused.getInputSizesAttr())
    stream << sizes;
  // Values print by number, so the order of ops is part of the text.
  AsmState state(fused, flags);
  for (Operation &op : fused.getBody().front()) {
    op.print(stream, state);
    stream << "\n";
  }
  return text;
}

struct OutlineKernels : joule::impl::OutlineKernelsBase<OutlineKernels> {
  void runOnOperation() override {
    SmallVector<nn::FusedOp> groups;
    getOperation().walk([&](nn::FusedOp fused) { groups.push_back(fused); });
    for (nn::FusedOp fused : groups)
      outline(fused);
  }

  void outline(nn::FusedOp fused) {
    SmallVector<StringAttr> nodes = nn::nodeNames(fused.getLoc());
    SmallVector<Attribute> nodeList(nodes.begin(), nodes.end());

    OpBuilder builder(fused);
    Value flops = countFlops(builder, fused);
    tile::KernelOp &kernel = kernels[textOf(fused)];
    if (!kernel) {
      OpBuilder atEnd = OpBuilder::atBlockEnd(getOperation().getBody());
      std::string name = "k" + std::to_string(count++) + "_" + nameOf(fused);
      kernel = atEnd.create<tile::KernelOp>(fused.getLoc(), name, builder.getArrayAttr(nodeList),
                                            tile::ScheduleAttr(), DenseI64ArrayAttr(), fused.getInputSizesAttr());
      kernel.getBody().takeBody(fused.getBody());
    }
    auto call = builder.create<plan::CallOp>(fused.getLoc(), fused.getResultTypes(),
                                             FlatSymbolRefAttr::get(kernel.getSymNameAttr()), fused.getInputs(),
                                             fused.getSizes(), flops);
    fused.replaceAllUsesWith(call.getOutputs());
    fused.erase();
  }

  llvm::StringMap<tile::KernelOp> kernels;
  int count = 0;
};

} // namespace
