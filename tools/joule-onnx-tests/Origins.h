// Where a plan's results come from, and whether they may.
#pragma once

#include "lib/Artifact/plan.pb.h"
#include "onnx/onnx-ml.pb.h"
#include "tools/joule-onnx-tests/TestCase.h"

#include <string>

namespace joule::onnxtests {

/// Ptx where the plan launches a kernel; Host where it launches none but the host computes; Folded where
/// neither does.
Origin originOf(const plan::Plan &plan);

/// What the host computes and should not: it may answer what means a shape, and what has as many results as
/// the data says, but no arithmetic. Empty: nothing.
std::string computedOnHost(const plan::Plan &plan, const onnx::ModelProto &model);

} // namespace joule::onnxtests
