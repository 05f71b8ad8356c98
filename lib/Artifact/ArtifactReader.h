// What an open artifact holds in memory: the mapping and the parsed plans.
#pragma once

#include "joule/Artifact.h"
#include "lib/Artifact/Manifest.h"
#include "lib/Artifact/ZipReader.h"
#include "lib/Artifact/plan.pb.h"

namespace joule {

class Artifact::Impl {
public:
  std::shared_ptr<const ZipReader> zip;
  Manifest manifest;
  std::map<std::string, plan::Plan> plans; // by target
  std::vector<TensorSpec> inputs, outputs;
};

/// What a plan says of its inputs or outputs; an output's size that is no symbol is unknown.
std::vector<TensorSpec> specsOf(const plan::Plan &plan,
                                const google::protobuf::RepeatedPtrField<plan::Tensor> &tensors);

} // namespace joule
