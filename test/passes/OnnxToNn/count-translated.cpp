// Imports and translates each model that it is given, in one process: prints what fails and how many do not.
//
// An input of a node test stands for itself even where the operator wants it when compiling (axes, shapes). With
// `--bind`, an integer input whose test data lie beside the model is bound to that value.
#include "dialects/Onnx/ElementTypes.h"
#include "lib/Import/Import.h"
#include "lib/Import/Tensors.h"
#include "passes/OnnxToNn/OnnxToNn.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/Support/Path.h"

using namespace mlir;

namespace {

/// Binds the integer inputs of `module` to the values in `folder`'s first data set.
void bindInputs(ModuleOp module, StringRef folder) {
  auto main = module.lookupSymbol<func::FuncOp>("main");
  for (unsigned number = 0; number < main.getNumArguments(); ++number) {
    auto type = dyn_cast<RankedTensorType>(main.getArgument(number).getType());
    if (!type || !type.hasStaticShape() || type.getRank() > 1 || !isa<IntegerType>(type.getElementType()))
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

bool translates(StringRef path, bool bind, std::string &why) {
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
  PassManager passes(&context);
  passes.addPass(joule::createOnnxToNn());
  return succeeded(passes.run(*module));
}

} // namespace

int main(int argc, char **argv) {
  int failed = 0, total = 0;
  bool bind = argc > 1 && StringRef(argv[1]) == "--bind";
  for (int number = 1 + bind; number < argc; ++number, ++total) {
    std::string why;
    if (translates(argv[number], bind, why))
      continue;
    ++failed;
    llvm::outs() << llvm::sys::path::filename(llvm::sys::path::parent_path(argv[number])) << ": " << why << '\n';
  }
  llvm::outs() << total - failed << " of " << total << " models translate\n";
  return 0;
}
