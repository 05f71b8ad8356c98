// The contract of the nn level:
//
//   1. No op of another level is left: only nn, arith, math, scf, tensor and func.
//   2. Every tensor is ranked, and its dynamic sizes are known as index values (nn::sizesOf). What control
//   flow hands on is
//      read through an nn.reshape that knows them.
//   3. Integers are signless.
//   4. No static size is negative, and no tensor has more bytes than 63 bits count.
//   5. The main function's arguments and results carry a name and an ONNX type.
#include "passes/Nn/Passes.h"

#include "dialects/Nn/TensorLimits.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/BuiltinDialect.h"

namespace joule {
#define GEN_PASS_DEF_VERIFYNN
#include "passes/Nn/Passes.h.inc"
} // namespace joule

using namespace mlir;
using namespace joule;

namespace {

LogicalResult verifyLevel(Operation *op) { // 1
  if (isa_and_nonnull<nn::NnDialect, arith::ArithDialect, math::MathDialect, scf::SCFDialect,
                      tensor::TensorDialect, func::FuncDialect, BuiltinDialect>(op->getDialect()))
    return success();
  return op->emitError() << "internal: " << op->getName() << " is left at the nn level";
}

LogicalResult verifyValue(Operation *op, Value value) {
  if (isa<UnrankedTensorType>(value.getType())) // 2
    return op->emitError() << "internal: " << op->getName() << " makes a tensor of unknown rank";
  auto type = dyn_cast<RankedTensorType>(value.getType());
  if (!type)
    return success();
  if (!nn::isCountable(type)) // 4
    return op->emitError() << "internal: " << op->getName() << " makes a " << type << ", too large to count";
  if (auto integer = dyn_cast<IntegerType>(type.getElementType()); integer && !integer.isSignless()) // 3
    return op->emitError() << "internal: " << op->getName() << " makes integers of type " << integer;
  if (!isa<scf::SCFDialect>(op->getDialect()) && failed(nn::sizesOf(value))) // 2
    return op->emitError() << "internal: nothing tells the sizes of a result of " << op->getName();
  return success();
}

LogicalResult verifySignature(func::FuncOp function) { // 2, 5
  for (BlockArgument argument : function.getArguments())
    if (isa<RankedTensorType>(argument.getType()) && failed(nn::sizesOf(argument)))
      return function.emitError() << "internal: nothing tells the sizes of argument " << argument.getArgNumber();
  for (unsigned number = 0; number < function.getNumArguments(); ++number)
    if (!function.getArgAttr(number, "nn.name") || !function.getArgAttr(number, "nn.type"))
      return function.emitError() << "internal: argument " << number << " has no name or no type";
  for (unsigned number = 0; number < function.getNumResults(); ++number)
    if (!function.getResultAttr(number, "nn.name") || !function.getResultAttr(number, "nn.type"))
      return function.emitError() << "internal: result " << number << " has no name or no type";
  return success();
}

LogicalResult verifyOp(Operation *op) {
  if (failed(verifyLevel(op)))
    return failure();
  for (Value result : op->getResults())
    if (failed(verifyValue(op, result)))
      return failure();
  if (auto function = dyn_cast<func::FuncOp>(op); function && function.getName() == "main")
    return verifySignature(function);
  return success();
}

} // namespace

LogicalResult joule::verifyNn(Operation *root) {
  WalkResult result = root->walk([](Operation *op) {
    if (isa<ModuleOp>(op))
      return WalkResult::advance();
    return failed(verifyOp(op)) ? WalkResult::interrupt() : WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}

namespace {

struct VerifyNn : joule::impl::VerifyNnBase<VerifyNn> {
  void runOnOperation() override {
    if (failed(verifyNn(getOperation())))
      signalPassFailure();
  }
};

} // namespace
