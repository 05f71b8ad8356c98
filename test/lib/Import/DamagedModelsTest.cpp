// Whatever stands in a file, importing it ends: with a module that verifies, or with an error.
#include "lib/Import/Import.h"

#include "mlir/IR/Verifier.h"

#include "onnx/onnx-ml.pb.h"

#include <gtest/gtest.h>

using namespace mlir;

namespace {

void addInput(onnx::GraphProto &graph, const std::string &name, int type) {
  auto *input = graph.add_input();
  input->set_name(name);
  auto *tensor = input->mutable_type()->mutable_tensor_type();
  tensor->set_elem_type(type);
  tensor->mutable_shape()->add_dim()->set_dim_param("n");
}

onnx::NodeProto &addNode(onnx::GraphProto &graph, const std::string &op, std::vector<std::string> inputs,
                         const std::string &output) {
  auto *node = graph.add_node();
  node->set_op_type(op);
  node->set_name(op + output);
  for (const std::string &input : inputs)
    node->add_input(input);
  node->add_output(output);
  return *node;
}

/// A model with some of everything: raw and typed tensors, a branch with a capture, a function, a sparse tensor.
std::string makeModel() {
  onnx::ModelProto model;
  model.set_ir_version(10);
  auto *opset = model.add_opset_import();
  opset->set_version(21);
  opset = model.add_opset_import();
  opset->set_domain("f");
  opset->set_version(1);
  onnx::GraphProto &graph = *model.mutable_graph();
  addInput(graph, "x", onnx::TensorProto::FLOAT);
  addInput(graph, "c", onnx::TensorProto::BOOL);
  auto *raw = graph.add_initializer();
  raw->set_name("raw");
  raw->set_data_type(onnx::TensorProto::FLOAT);
  raw->add_dims(3);
  raw->set_raw_data(std::string(12, 'a'));
  auto *typed = graph.add_initializer();
  typed->set_name("typed");
  typed->set_data_type(onnx::TensorProto::INT4);
  typed->add_dims(3);
  typed->add_int32_data(0x21);
  typed->add_int32_data(0x03);
  auto *sparse = graph.add_sparse_initializer();
  sparse->add_dims(4);
  sparse->mutable_values()->set_name("sparse");
  sparse->mutable_values()->set_data_type(onnx::TensorProto::FLOAT);
  sparse->mutable_values()->add_dims(1);
  sparse->mutable_values()->add_float_data(1);
  sparse->mutable_indices()->set_data_type(onnx::TensorProto::INT64);
  sparse->mutable_indices()->add_dims(1);
  sparse->mutable_indices()->add_int64_data(2);
  onnx::NodeProto &branch = addNode(graph, "If", {"c"}, "a");
  for (const char *name : {"then_branch", "else_branch"}) {
    auto *attribute = branch.add_attribute();
    attribute->set_name(name);
    attribute->set_type(onnx::AttributeProto::GRAPH);
    addNode(*attribute->mutable_g(), "Add", {"x", "raw"}, "i");
    attribute->mutable_g()->add_output()->set_name("i");
  }
  addNode(graph, "call", {"a"}, "y").set_domain("f");
  graph.add_output()->set_name("y");
  auto *function = model.add_functions();
  function->set_name("call");
  function->set_domain("f");
  function->add_input("p");
  function->add_output("q");
  *function->add_opset_import() = model.opset_import(0);
  auto *inner = function->add_node();
  inner->set_op_type("Relu");
  inner->add_input("p");
  inner->add_output("q");
  return model.SerializeAsString();
}

/// True where the bytes import; the import itself must not fail in any other way than by an error.
bool imports(StringRef bytes) {
  MLIRContext context(MLIRContext::Threading::DISABLED);
  int errors = 0;
  ScopedDiagnosticHandler handler(&context, [&](Diagnostic &) {
    ++errors;
    return success();
  });
  OwningOpRef<ModuleOp> module = joule::importOnnx(context, bytes, "memory", "");
  EXPECT_EQ(errors == 0, bool(module));
  if (module)
    EXPECT_TRUE(succeeded(verify(*module)));
  return bool(module);
}

TEST(DamagedModels, WholeModelImports) { EXPECT_TRUE(imports(makeModel())); }

TEST(DamagedModels, EveryPrefixEnds) {
  std::string model = makeModel();
  for (size_t length = 0; length < model.size(); ++length)
    imports(StringRef(model).take_front(length));
}

TEST(DamagedModels, EveryChangedByteEnds) {
  std::string model = makeModel();
  for (size_t at = 0; at < model.size(); ++at)
    for (unsigned char flip : {0xff, 0x80, 0x01, 0x08}) {
      std::string changed = model;
      changed[at] ^= flip;
      imports(changed);
    }
}

} // namespace
