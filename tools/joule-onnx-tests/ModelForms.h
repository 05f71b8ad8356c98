// The forms in which a test's model is handed to the compiler.
#pragma once

#include "onnx/onnx-ml.pb.h"
#include "tools/joule-onnx-tests/TestCase.h"

#include <string>

namespace joule::onnxtests {

/// Error: FileUnreadable.
Result<onnx::ModelProto> readModel(const std::string &path);
/// Error: FileUnwritable.
Result<void> writeModel(const onnx::ModelProto &model, const std::string &path);

/// What about the model's inputs and outputs keeps it from being run on tensors of numbers; empty: nothing.
std::string whyNotTensors(const onnx::ModelProto &model);

/// The names of the inputs that a run is given; older models list constants too.
std::vector<std::string> inputNames(const onnx::ModelProto &model);

/// The model draws random numbers: those of a data set are another generator's.
bool drawsNumbers(const onnx::ModelProto &model);

/// Forgets the sizes of the inputs; each becomes a symbol of its own. A list of integers keeps its length,
/// since that may decide a rank, as in Reshape, and ranks are always known.
void forgetSizes(onnx::ModelProto &model);

/// Makes constants of the inputs, with the values of the data set in `folder`. Error: FileUnreadable.
Result<void> fixInputs(onnx::ModelProto &model, const std::string &folder);

} // namespace joule::onnxtests
