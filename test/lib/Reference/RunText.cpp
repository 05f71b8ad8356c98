#include "test/lib/Reference/RunText.h"

#include "dialects/Nn/NnDialect.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Parser/Parser.h"

using namespace mlir;

namespace joule::reference {

std::string print(const Buffer &buffer) {
  std::string text = std::string(nameOf(buffer.type)) + " " + toString(buffer.shape) + ":";
  for (int64_t i = 0; i < buffer.count(); ++i) {
    char number[40];
    if (isFloat(buffer.type))
      std::snprintf(number, sizeof number, " %g", buffer.number(i));
    else
      std::snprintf(number, sizeof number, " %lld", static_cast<long long>(buffer.integer(i)));
    text += number;
  }
  return text;
}

std::string run(const std::string &function, ArrayRef<Buffer> inputs, WeightStore &weights) {
  MLIRContext context;
  context.loadDialect<nn::NnDialect, arith::ArithDialect, func::FuncDialect, math::MathDialect,
                      scf::SCFDialect, tensor::TensorDialect>();
  std::string error;
  ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
    if (error.empty())
      error = "error: " + diagnostic.str();
  });
  auto module = parseSourceString<ModuleOp>("func.func @main" + function, &context);
  if (!module)
    return error;
  auto results = interpret(module->lookupSymbol<func::FuncOp>("main"), inputs, weights);
  if (failed(results))
    return error;
  std::string text;
  for (const Buffer &result : *results)
    text += (text.empty() ? "" : "\n") + print(result);
  return text;
}

std::string run(const std::string &function, ArrayRef<Buffer> inputs) {
  WeightStore weights;
  return run(function, inputs, weights);
}

Buffer floats(const Shape &shape, const std::vector<double> &values) {
  return makeFloats(ElementType::Float32, shape, values);
}

Buffer integers(const Shape &shape, const std::vector<int64_t> &values) {
  return makeIntegers(ElementType::Int64, shape, values);
}

} // namespace joule::reference
