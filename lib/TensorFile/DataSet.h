// The official test folders: inputs and the outputs that they must give.
#pragma once

#include "joule/Error.h"
#include "joule/Tensor.h"

#include <string>
#include <vector>

namespace joule {

/// A folder with input_0.pb, … and output_0.pb, … in the order of the model's inputs and outputs.
struct DataSet {
  std::string folder;
  std::vector<Tensor> inputs, outputs;
};

/// The folders of data sets: `folder` itself where it holds output_0.pb, else its test_data_set_N in their
/// order. Errors: FileUnreadable where there is none.
Result<std::vector<std::string>> findDataSets(const std::string &folder);

/// Errors: those of readTensorProto.
Result<DataSet> readDataSet(const std::string &folder);

} // namespace joule
