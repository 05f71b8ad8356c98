// A walk over a serialised ONNX model that leaves its big tensors where they are.
#pragma once

#include "llvm/ADT/StringRef.h"

#include <string>

namespace joule {

/// Where a tensor's `raw_data` stands in the model's bytes.
struct RawSpan {
  uint64_t offset, length;
};

/// Copies the serialised ModelProto `model` to `copy` without its tensors' bytes: the payload of each
/// `TensorProto.raw_data` is replaced by the 16 bytes of a RawSpan that says where it stood. So protobuf parses a small
/// message, however big the model is. Returns a message where `model` is damaged, else an empty string.
std::string copyWithoutRawData(llvm::StringRef model, std::string &copy);

/// The span that `raw_data` of a tensor of such a copy holds.
RawSpan decodeRawSpan(const std::string &rawData);

/// How deep subgraphs may nest. Bounds every recursion over a model.
constexpr int maxSubgraphDepth = 100;

} // namespace joule
