// Made by mkdtemp, which nobody can race for a name.
#include "tools/joule-onnx-tests/TemporaryFolder.h"

#include <cerrno>
#include <cstring>
#include <stdlib.h>

namespace joule::cli {

Result<TemporaryFolder> TemporaryFolder::make() {
  std::error_code code;
  std::filesystem::path parent = std::filesystem::temp_directory_path(code);
  if (code)
    return Error{ErrorCode::FileUnwritable, "there is no folder for temporary files: " + code.message(), ""};
  std::string pattern = (parent / "joule-XXXXXX").string();
  if (!mkdtemp(pattern.data()))
    return Error{ErrorCode::FileUnwritable,
                 "cannot make a folder in " + parent.string() + ": " + std::strerror(errno), ""};
  return TemporaryFolder(pattern);
}

TemporaryFolder::TemporaryFolder(TemporaryFolder &&other) noexcept : folder(std::move(other.folder)) {
  other.folder.clear();
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code code;
  if (!folder.empty())
    std::filesystem::remove_all(folder, code);
}

} // namespace joule::cli
