// compile-and-run MODEL.onnx [SYMBOL=SIZE...]: compiles a model in this process, runs it once on numbers
// counted up from 0, prints the outputs, and what each kernel is expected to cost.
#include "joule/Compiler.h"
#include "joule/Session.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>

using namespace joule;

/// The value, or the end of the program with the error's code and sentence.
template <typename T> static T orExit(Result<T> result) {
  if (result)
    return std::move(*result);
  std::fprintf(stderr, "%s\n", result.error().toString().c_str());
  std::exit(1);
}

/// A tensor for an input: its symbols have the given sizes, its elements are 0, 1, 2, …
static Tensor makeInput(const TensorSpec &spec, const std::map<std::string, int64_t> &sizes) {
  Tensor tensor;
  tensor.type = spec.type;
  for (const Dimension &dimension : spec.shape) {
    auto given = sizes.find(dimension.symbol);
    tensor.shape.push_back(dimension.size >= 0 ? dimension.size : given != sizes.end() ? given->second : 1);
  }
  tensor.bytes.resize(static_cast<size_t>(bytesOf(tensor.type, tensor.shape)));
  if (tensor.type == ElementType::Float32)
    for (size_t i = 0; i < tensor.bytes.size() / sizeof(float); ++i) {
      auto value = static_cast<float>(i);
      std::memcpy(tensor.bytes.data() + i * sizeof(float), &value, sizeof(float));
    }
  return tensor;
}

static void print(const std::string &name, const Tensor &tensor) {
  std::printf("%s: %s %s", name.c_str(), nameOf(tensor.type), toString(tensor.shape).c_str());
  for (size_t i = 0; tensor.type == ElementType::Float32 && i < tensor.bytes.size() / sizeof(float) && i < 8;
       ++i) {
    float value;
    std::memcpy(&value, tensor.bytes.data() + i * sizeof(float), sizeof(float));
    std::printf(" %g", static_cast<double>(value));
  }
  std::printf("\n");
}

int main(int argc, char **argv) {
  if (argc < 2)
    return std::fprintf(stderr, "usage: compile-and-run MODEL.onnx [SYMBOL=SIZE...]\n"), 2;
  std::map<std::string, int64_t> sizes;
  for (int i = 2; i < argc; ++i)
    if (const char *equals = std::strchr(argv[i], '='))
      sizes[std::string(argv[i], static_cast<size_t>(equals - argv[i]))] = std::atoll(equals + 1);

  // The device says what to compile for. "cuda" is the first real GPU.
  Device device = orExit(Device::open("virtual:a100"));
  CompileOptions options;
  options.targets = {device.properties().architecture()};
  options.assemble = false; // the virtual GPU runs PTX
  Artifact artifact = orExit(compileInMemory(argv[1], options));

  SessionOptions sessionOptions;
  sessionOptions.profile = true;
  Session session = orExit(Session::create(artifact, device, sessionOptions));

  std::map<std::string, Tensor> inputs;
  std::map<std::string, TensorView> views;
  for (const TensorSpec &spec : session.inputs()) {
    inputs[spec.name] = makeInput(spec, sizes);
    views[spec.name] = inputs[spec.name].view();
  }
  for (const auto &[name, tensor] : orExit(session.run(views)))
    print(name, tensor);

  for (const KernelProfile &row : session.profile()) {
    std::printf("%s: %.3g us, %.3g uJ modelled for", row.kernel.c_str(), row.seconds * 1e6, row.joules * 1e6);
    for (const std::string &node : row.nodes)
      std::printf(" %s", node.c_str());
    std::printf("\n");
  }
}
