// Edits models as protobuf messages.
#include "tools/joule-onnx-tests/ModelForms.h"

#include <fmt/format.h>
#include <fstream>
#include <set>

namespace joule::onnxtests {

template <typename Message> static Result<Message> readMessage(const std::string &path) {
  Message message;
  std::ifstream stream(path, std::ios::binary);
  if (!stream || !message.ParseFromIstream(&stream))
    return Error{ErrorCode::FileUnreadable, fmt::format("cannot read \"{}\"", path), ""};
  return message;
}

Result<onnx::ModelProto> readModel(const std::string &path) { return readMessage<onnx::ModelProto>(path); }

Result<void> writeModel(const onnx::ModelProto &model, const std::string &path) {
  std::ofstream stream(path, std::ios::binary);
  if (!stream || !model.SerializeToOstream(&stream) || !stream.flush())
    return Error{ErrorCode::FileUnwritable, fmt::format("cannot write \"{}\"", path), ""};
  return {};
}

static std::string whyNotTensor(const onnx::ValueInfoProto &value) {
  switch (value.type().value_case()) {
  case onnx::TypeProto::kTensorType:
    return value.type().tensor_type().elem_type() == onnx::TensorProto::STRING ? "a tensor of strings" : "";
  case onnx::TypeProto::kSequenceType:
    return "a sequence";
  case onnx::TypeProto::kOptionalType:
    return "an optional";
  case onnx::TypeProto::kMapType:
    return "a map";
  case onnx::TypeProto::kSparseTensorType:
    return "a sparse tensor";
  default:
    return "of no known type";
  }
}

std::string whyNotTensors(const onnx::ModelProto &model) {
  for (const onnx::ValueInfoProto &input : model.graph().input())
    if (std::string why = whyNotTensor(input); !why.empty())
      return fmt::format("the input \"{}\" is {}", input.name(), why);
  for (const onnx::ValueInfoProto &output : model.graph().output())
    if (std::string why = whyNotTensor(output); !why.empty())
      return fmt::format("the output \"{}\" is {}", output.name(), why);
  return "";
}

std::vector<std::string> inputNames(const onnx::ModelProto &model) {
  std::set<std::string> constants;
  for (const onnx::TensorProto &constant : model.graph().initializer())
    constants.insert(constant.name());
  std::vector<std::string> names;
  for (const onnx::ValueInfoProto &input : model.graph().input())
    if (!constants.count(input.name()))
      names.push_back(input.name());
  return names;
}

bool drawsNumbers(const onnx::ModelProto &model) {
  static const std::set<std::string> generators = {"Bernoulli",    "Multinomial",      "RandomNormal", "RandomNormalLike",
                                                   "RandomUniform", "RandomUniformLike"};
  for (const onnx::NodeProto &node : model.graph().node())
    // Since version 12 a third input says whether something is dropped.
    if (generators.count(node.op_type()) || (node.op_type() == "Dropout" && node.input_size() == 3))
      return true;
  return false;
}

void forgetSizes(onnx::ModelProto &model) {
  onnx::GraphProto &graph = *model.mutable_graph();
  int symbols = 0;
  for (onnx::ValueInfoProto &input : *graph.mutable_input()) {
    onnx::TypeProto::Tensor &type = *input.mutable_type()->mutable_tensor_type();
    bool isInteger =
        type.elem_type() == onnx::TensorProto::INT64 || type.elem_type() == onnx::TensorProto::INT32;
    if (isInteger && type.shape().dim_size() == 1)
      continue;
    for (onnx::TensorShapeProto::Dimension &dim : *type.mutable_shape()->mutable_dim())
      dim.set_dim_param(fmt::format("size{}", symbols++));
  }
  // What these say would give the sizes away.
  graph.clear_value_info();
  for (onnx::ValueInfoProto &output : *graph.mutable_output())
    output.mutable_type()->mutable_tensor_type()->clear_shape();
}

Result<void> fixInputs(onnx::ModelProto &model, const std::string &folder) {
  onnx::GraphProto &graph = *model.mutable_graph();
  int position = 0;
  for (const std::string &name : inputNames(model)) {
    auto tensor = readMessage<onnx::TensorProto>(fmt::format("{}/input_{}.pb", folder, position++));
    if (!tensor)
      return tensor.error();
    tensor->set_name(name);
    *graph.add_initializer() = *tensor;
  }
  graph.clear_input();
  return {};
}

} // namespace joule::onnxtests
