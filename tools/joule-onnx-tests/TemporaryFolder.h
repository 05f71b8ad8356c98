// A private folder that goes with the object.
#pragma once

#include "joule/Error.h"

#include <filesystem>
#include <string>

namespace joule::cli {

class TemporaryFolder {
public:
  /// Makes an empty folder that only this user can read, where temporary files go. Error: FileUnwritable.
  static Result<TemporaryFolder> make();
  TemporaryFolder(TemporaryFolder &&other) noexcept;
  TemporaryFolder &operator=(TemporaryFolder &&) = delete;
  ~TemporaryFolder();

  /// The path of a file in it.
  std::string operator/(const std::string &name) const { return (folder / name).string(); }

private:
  explicit TemporaryFolder(std::filesystem::path folder) : folder(std::move(folder)) {}
  std::filesystem::path folder; // empty once moved from
};

} // namespace joule::cli
