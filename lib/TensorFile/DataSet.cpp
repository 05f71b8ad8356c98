// Numbered files, numbered folders.
#include "lib/TensorFile/DataSet.h"

#include "lib/TensorFile/TensorFile.h"

#include <filesystem>
#include <fmt/format.h>

namespace joule {

namespace fs = std::filesystem;

static bool isThere(const fs::path &path) {
  std::error_code code;
  return fs::exists(path, code);
}

Result<std::vector<std::string>> findDataSets(const std::string &folder) {
  if (isThere(fs::path(folder) / "output_0.pb"))
    return std::vector<std::string>{folder};
  std::vector<std::string> folders;
  for (int i = 0;; ++i) {
    fs::path candidate = fs::path(folder) / fmt::format("test_data_set_{}", i);
    if (!isThere(candidate / "output_0.pb"))
      break;
    folders.push_back(candidate.string());
  }
  if (folders.empty())
    return Error{ErrorCode::FileUnreadable,
                 fmt::format("\"{}\" holds neither output_0.pb nor test_data_set_0/output_0.pb", folder), ""};
  return folders;
}

/// The tensors of kind_0.pb, kind_1.pb and so on.
static Result<std::vector<Tensor>> readNumbered(const std::string &folder, const char *kind) {
  std::vector<Tensor> tensors;
  for (int i = 0;; ++i) {
    fs::path path = fs::path(folder) / fmt::format("{}_{}.pb", kind, i);
    if (!isThere(path))
      return tensors;
    Result<NamedTensor> tensor = readTensorProto(path.string());
    if (!tensor)
      return tensor.error();
    tensors.push_back(std::move(tensor->tensor));
  }
}

Result<DataSet> readDataSet(const std::string &folder) {
  DataSet set{folder, {}, {}};
  for (auto [kind, tensors] : {std::pair("input", &set.inputs), std::pair("output", &set.outputs)}) {
    Result<std::vector<Tensor>> read = readNumbered(folder, kind);
    if (!read)
      return read.error();
    *tensors = std::move(*read);
  }
  return set;
}

} // namespace joule
