// Imports and translates each model that it is given, in one process: prints what fails and how many do not.
//
// An input of a node test stands for itself even where the operator wants it when compiling (axes, shapes). With
// `--bind`, an integer input whose test data lie beside the model is bound to that value. With
// `--run`, the translation is interpreted on those data and its results are compared with theirs.
#include "dialects/Onnx/ElementTypes.h"
#include "dialects/Onnx/OnnxDialect.h"
#include "lib/Import/Import.h"
#include "lib/Import/Tensors.h"
#include "lib/Reference/Interpreter/Interpreter.h"
#include "passes/OnnxToNn/OnnxToNn.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/Support/Path.h"

#include <cmath>

using namespace mlir;
using joule::reference::Buffer;
using joule::reference::Shape;

namespace {

/// Binds the integer inputs of `module` to the values in `folder`'s first data set.
void bindInputs(ModuleOp module, StringRef folder) {
  auto main = module.lookupSymbol<func::FuncOp>("main");
  for (unsigned number = 0; number < main.getNumArguments(); ++number) {
    auto type = dyn_cast<RankedTensorType>(main.getArgument(number).getType());
    auto name = main.getArgAttrOfType<StringAttr>(number, "onnx.name");
    bool isList = type && type.hasStaticShape() && type.getRank() <= 1;
    if (!isList || (!isa<IntegerType>(type.getElementType()) && name != "scales" && name != "roi"))
      continue;
    std::string path = (folder + "/test_data_set_0/input_" + Twine(number) + ".pb").str();
    auto file = llvm::MemoryBuffer::getFile(path);
    onnx::TensorProto tensor;
    if (!file || !tensor.ParseFromString((*file)->getBuffer().str()))
      continue;
    auto constant = joule::readLoneTensor(tensor, main.getLoc());
    if (succeeded(constant))
      main.setArgAttr(number, "onnx.value", constant->value);
  }
}

FailureOr<onnx::TensorProto> readTensor(const std::string &path) {
  auto file = llvm::MemoryBuffer::getFile(path);
  onnx::TensorProto tensor;
  if (!file || !tensor.ParseFromString((*file)->getBuffer().str()))
    return failure();
  return tensor;
}

/// A tensor of the test data; none where its bytes are neither raw nor one per entry.
std::optional<Buffer> bufferOf(const onnx::TensorProto &tensor) {
  Buffer buffer(joule::ElementType(tensor.data_type()), Shape(tensor.dims().begin(), tensor.dims().end()));
  if (!tensor.has_raw_data() && tensor.int32_data_size() == int64_t(buffer.bytes.size())) {
    std::copy(tensor.int32_data().begin(), tensor.int32_data().end(), buffer.bytes.mutableData());
    return buffer;
  }
  if (tensor.raw_data().size() != buffer.bytes.size())
    return std::nullopt;
  std::memcpy(buffer.bytes.mutableData(), tensor.raw_data().data(), tensor.raw_data().size());
  return buffer;
}

/// What is wrong with `got` where `wanted` was expected; empty where nothing is.
std::string compare(const Buffer &got, const Buffer &wanted, bool isRandom) {
  if (got.shape != wanted.shape)
    return "shape " + joule::toString(got.shape) + " instead of " + joule::toString(wanted.shape);
  if (isRandom)
    return "";
  bool narrow = joule::bitsOf(wanted.type) < 32 && joule::reference::isFloat(wanted.type);
  for (int64_t i = 0; i < wanted.count(); ++i) {
    double a = got.withSign(joule::reference::isUnsigned(wanted.type)).number(i), b = wanted.number(i);
    double tolerance = (narrow ? 2e-2 : 1e-3) * std::abs(b) + (narrow ? 1e-2 : 1e-5);
    if (a == b || (std::isnan(a) && std::isnan(b)) || std::abs(a - b) <= tolerance)
      continue;
    return "element " + std::to_string(i) + " is " + std::to_string(a) + " instead of " + std::to_string(b);
  }
  return "";
}

/// Interprets the translated module on the first data set beside the model.
bool computes(ModuleOp module, StringRef folder, bool isRandom, std::string &why) {
  auto main = module.lookupSymbol<func::FuncOp>("main");
  std::vector<Buffer> inputs;
  std::string data = (folder + "/test_data_set_0/").str();
  for (unsigned number = 0; number < main.getNumArguments(); ++number) {
    auto tensor = readTensor(data + "input_" + std::to_string(number) + ".pb");
    auto buffer = succeeded(tensor) ? bufferOf(*tensor) : std::nullopt;
    if (!buffer)
      return why = "no data for input " + std::to_string(number), false;
    inputs.push_back(*buffer);
  }
  joule::reference::WeightStore weights;
  auto results = interpret(main, inputs, weights);
  if (failed(results))
    return false;
  for (auto [number, result] : llvm::enumerate(*results)) {
    auto tensor = readTensor(data + "output_" + std::to_string(number) + ".pb");
    auto wanted = succeeded(tensor) ? bufferOf(*tensor) : std::nullopt;
    if (!wanted)
      return why = "no data for output " + std::to_string(number), false;
    why = compare(result, *wanted, isRandom);
    if (!why.empty())
      return why = "output " + std::to_string(number) + ": " + why, false;
  }
  return true;
}

/// The test's numbers are another generator's.
bool drawsNumbers(ModuleOp module) {
  return module
      .walk([](joule::onnx::NodeOp node) {
        StringRef name = node.getOpType();
        bool draws = name.starts_with("Random") || name == "Bernoulli" || name == "Multinomial" ||
                     (name == "Dropout" && node.getInputs().size() == 3);
        return draws ? WalkResult::interrupt() : WalkResult::advance();
      })
      .wasInterrupted();
}

bool translates(StringRef path, bool bind, bool run, std::string &why) {
  MLIRContext context;
  ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
    if (why.empty())
      why = diagnostic.str();
    return success();
  });
  OwningOpRef<ModuleOp> module = joule::importOnnx(context, path);
  if (!module)
    return false;
  if (bind)
    bindInputs(*module, llvm::sys::path::parent_path(path));
  bool isRandom = drawsNumbers(*module);
  PassManager passes(&context);
  passes.addPass(joule::createOnnxToNn());
  return succeeded(passes.run(*module)) && (!run || computes(*module, llvm::sys::path::parent_path(path), isRandom, why));
}

} // namespace

int main(int argc, char **argv) {
  int failed = 0, total = 0;
  bool bind = false, run = false;
  for (int number = 1; number < argc; ++number) {
    StringRef argument = argv[number];
    bind |= argument == "--bind";
    run |= argument == "--run";
    if (argument.starts_with("--"))
      continue;
    ++total;
    std::string why;
    if (translates(argument, bind, run, why))
      continue;
    ++failed;
    llvm::outs() << llvm::sys::path::filename(llvm::sys::path::parent_path(argument)) << ": " << why << '\n';
    llvm::outs().flush();
  }
  llvm::outs() << total - failed << " of " << total << " models " << (run ? "compute" : "translate") << '\n';
  return 0;
}
