// The table of host kernels: the reference's, on the tensors of a call.
#include "lib/Runtime/HostKernels.h"

#include "lib/Reference/Kernels/Kernels.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace joule {

using Json = nlohmann::json;
using reference::Buffer;

namespace {
using Buffers = std::vector<Buffer>;

/// The part of a host kernel that is its own.
using Compute = Result<Buffers> (*)(const Buffers &inputs, const Json &attributes);
} // namespace

static Error refuse(const std::string &why) { return Error{ErrorCode::HostKernelFailed, why, ""}; }

/// A setting that is absent is false.
static bool isSet(const Json &attributes, const char *name) {
  auto setting = attributes.find(name);
  return setting != attributes.end() && setting->is_boolean() && setting->get<bool>();
}

//===- The kernels -------------------------------------------------------------------------------------------

static Result<Buffers> nonZero(const Buffers &inputs, const Json &) {
  return Buffers{reference::nonZero(inputs[0])};
}

static Result<Buffers> unique(const Buffers &inputs, const Json &attributes) {
  if (inputs[0].shape.empty())
    return refuse("a tensor of rank 0 has no slices");
  reference::Unique found =
      reference::unique(inputs[0].withSign(isSet(attributes, "unsigned_input")), isSet(attributes, "sorted"));
  return Buffers{found.first, found.inverse};
}

static Result<Buffers> nonMaxSuppression(const Buffers &inputs, const Json &attributes) {
  if (inputs[0].shape.size() != 3 || inputs[1].shape.size() != 3)
    return refuse("boxes or scores are not of rank 3");
  for (size_t i = 2; i < inputs.size(); ++i)
    if (inputs[i].count() != 1)
      return refuse(fmt::format("operand {} is not one number", i));
  reference::SuppressionOptions options;
  options.mostPerClass = inputs[2].integer();
  options.overlapThreshold = inputs[3].number();
  if (inputs.size() > 4)
    options.scoreThreshold = inputs[4].number();
  options.centerPoint = isSet(attributes, "center_point");
  reference::Result<Buffer> chosen = reference::suppressOverlaps(inputs[0], inputs[1], options);
  if (!chosen)
    return refuse(chosen.error());
  return Buffers{*chosen};
}

//===- The call ----------------------------------------------------------------------------------------------

/// The operand as the reference takes it, without a copy. Strings and complex numbers no kernel takes.
static Result<Buffer> operandOf(const TensorView &view) {
  bool isNumber =
      reference::isFloat(view.type) || reference::isInteger(view.type) || view.type == ElementType::Bool;
  if (!isNumber || bytesOf(view.type, view.shape) != static_cast<int64_t>(view.bytes))
    return refuse(
        fmt::format("an operand is {} {} in {} bytes", nameOf(view.type), toString(view.shape), view.bytes));
  return Buffer(view.type, view.shape, reference::Bytes(nullptr, view.data, view.bytes));
}

static Tensor tensorOf(const Buffer &buffer) {
  const uint8_t *begin = buffer.bytes.data();
  return {buffer.type, buffer.shape, std::vector<uint8_t>(begin, begin + buffer.bytes.size())};
}

/// Wraps `compute`, which takes `fewest` to `most` operands.
static HostKernel kernel(Compute compute, size_t fewest, size_t most) {
  return [=](const std::vector<TensorView> &views, const std::string &text) -> Result<std::vector<Tensor>> {
    if (views.size() < fewest || views.size() > most)
      return refuse(fmt::format("{} operands are given", views.size()));
    Json attributes = Json::parse(text.empty() ? "{}" : text, nullptr, /*allow_exceptions=*/false);
    if (!attributes.is_object())
      return refuse("the settings are not a JSON object");
    Buffers inputs;
    for (const TensorView &view : views) {
      Result<Buffer> operand = operandOf(view);
      if (!operand)
        return operand.error();
      inputs.push_back(std::move(*operand));
    }
    Result<Buffers> results = compute(inputs, attributes);
    if (!results)
      return results.error();
    std::vector<Tensor> tensors;
    for (const Buffer &result : *results)
      tensors.push_back(tensorOf(result));
    return tensors;
  };
}

const HostKernels &standardHostKernels() {
  static const HostKernels kernels = {
      {"nonzero", kernel(nonZero, 1, 1)},
      {"unique", kernel(unique, 1, 1)},
      {"non_max_suppression", kernel(nonMaxSuppression, 4, 5)},
  };
  return kernels;
}

} // namespace joule
