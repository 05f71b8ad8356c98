// Import, translation to nn, the interpreter: the compiler's own beginning, and then nothing of it.
#include "lib/Compiler/RunReference.h"

#include "dialects/Nn/NnDialect.h"
#include "dialects/Onnx/OnnxDialect.h"
#include "lib/Compiler/Diagnostics.h"
#include "lib/Compiler/ReadProgram.h"
#include "lib/Reference/Interpreter/Interpreter.h"
#include "passes/Nn/Passes.h"
#include "passes/OnnxToNn/OnnxToNn.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Pass/PassManager.h"

using namespace mlir;
using namespace joule;

using reference::Buffer;

/// The ONNX type of an argument or a result; nn's own types know no sign.
static ElementType onnxType(DictionaryAttr attributes) {
  auto type = attributes.getAs<IntegerAttr>("nn.type");
  return type ? static_cast<ElementType>(type.getInt()) : ElementType::Undefined;
}

static std::string nameIn(DictionaryAttr attributes) { return attributes.getAs<StringAttr>("nn.name").str(); }

static Tensor toTensor(const Buffer &buffer, ElementType type) {
  const uint8_t *begin = buffer.bytes.data();
  return {type, buffer.shape, {begin, begin + buffer.bytes.size()}};
}

/// The function's inputs in its order, which the bytes of `tensors` hold.
static Result<SmallVector<Buffer>> takeInputs(func::FuncOp function,
                                              const std::map<std::string, Tensor> &tensors) {
  SmallVector<Buffer> inputs;
  for (unsigned i = 0; i < function.getNumArguments(); ++i) {
    std::string name = nameIn(function.getArgAttrDict(i));
    auto tensor = tensors.find(name);
    if (tensor == tensors.end())
      return Error{ErrorCode::InputMissing, "the input \"" + name + "\" is not given", ""};
    const Tensor &given = tensor->second;
    if (given.type != onnxType(function.getArgAttrDict(i)))
      return Error{ErrorCode::InputType, "the input \"" + name + "\" is of type " + nameOf(given.type), ""};
    inputs.push_back(
        Buffer(given.type, given.shape, reference::Bytes(nullptr, given.bytes.data(), given.bytes.size()))
            .withSign(/*isUnsigned=*/false));
  }
  return inputs;
}

Result<std::map<std::string, Tensor>> joule::runReference(const std::string &model,
                                                          const std::map<std::string, Tensor> &inputs) {
  MLIRContext context(MLIRContext::Threading::DISABLED);
  context.loadDialect<onnx::OnnxDialect, nn::NnDialect, arith::ArithDialect, math::MathDialect,
                      scf::SCFDialect, func::FuncDialect, tensor::TensorDialect>();
  DiagnosticCollector diagnostics(context);
  Program program = readProgram(context, model);
  OwningOpRef<ModuleOp> &module = program.module;
  if (!module)
    return diagnostics.error(ErrorCode::ImportFailed);
  PassManager pm(&context);
  if (!program.isNn)
    pm.addPass(createOnnxToNn());
  pm.addPass(createVerifyNn());
  if (failed(pm.run(*module)))
    return diagnostics.error(ErrorCode::CompileFailed);

  auto function = module->lookupSymbol<func::FuncOp>("main");
  Result<SmallVector<Buffer>> taken = takeInputs(function, inputs);
  if (!taken)
    return taken.error();
  reference::WeightStore weights;
  FailureOr<SmallVector<Buffer>> results = reference::interpret(function, *taken, weights);
  if (failed(results))
    return diagnostics.error(ErrorCode::CompileFailed);
  std::map<std::string, Tensor> outputs;
  for (auto [number, buffer] : llvm::enumerate(*results)) {
    DictionaryAttr attributes = function.getResultAttrDict(number);
    outputs[nameIn(attributes)] = toTensor(buffer, onnxType(attributes));
  }
  return outputs;
}
