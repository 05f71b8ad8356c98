// The pass onnx-to-nn: replaces the onnx function by its translation.
#include "passes/OnnxToNn/OnnxToNn.h"

#include "passes/OnnxToNn/Translator.h"

using namespace mlir;

namespace joule {
#define GEN_PASS_DEF_ONNXTONN
#include "passes/OnnxToNn/Passes.h.inc"
} // namespace joule

SmallVector<joule::onnx::NodeOp> joule::collectUnsupported(ModuleOp module) {
  SmallVector<onnx::NodeOp> unsupported;
  module.walk<WalkOrder::PreOrder>([&](onnx::NodeOp op) {
    if (!translate::findRow(op.getDomain(), op.getOpType(), op.getSinceVersion()))
      unsupported.push_back(op);
  });
  return unsupported;
}

namespace {

struct OnnxToNn : joule::impl::OnnxToNnBase<OnnxToNn> {
  void runOnOperation() override {
    auto source = getOperation().lookupSymbol<func::FuncOp>("main");
    if (!source) {
      getOperation().emitError() << "the module has no function @main";
      return signalPassFailure();
    }
    OpBuilder builder(source);
    auto target = builder.create<func::FuncOp>(source.getLoc(), "main", builder.getFunctionType({}, {}));
    bool translated = succeeded(joule::translate::Translator(source, target).translateFunction());
    source.erase();
    if (translated)
      return;
    // Half a translation is nothing that one may print or verify.
    target.erase();
    signalPassFailure();
  }
};

} // namespace
