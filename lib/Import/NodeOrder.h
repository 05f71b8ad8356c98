// The order in which a graph's nodes can run.
#pragma once

#include "mlir/Support/LLVM.h"

#include "onnx/onnx-ml.pb.h"

namespace joule {

using NodeList = google::protobuf::RepeatedPtrField<::onnx::NodeProto>;

/// Orders nodes so that each stands after those whose results it reads, in its subgraphs too; nodes that stand right
/// already keep their place. Where that is impossible, `onCycle` is told a node that reads its own result.
mlir::FailureOr<llvm::SmallVector<const ::onnx::NodeProto *>>
orderNodes(const NodeList &nodes, llvm::function_ref<void(const ::onnx::NodeProto &)> onCycle);

} // namespace joule
