// A folder that a test may fill and that goes with it.
#pragma once

#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdlib.h>
#include <string>

namespace joule::test {

class TemporaryFolder {
public:
  TemporaryFolder() {
    std::string pattern = (std::filesystem::temp_directory_path() / "joule-test-XXXXXX").string();
    folder = mkdtemp(pattern.data());
  }
  TemporaryFolder(const TemporaryFolder &) = delete;
  ~TemporaryFolder() {
    std::error_code code;
    std::filesystem::remove_all(folder, code);
  }

  std::string operator/(const std::string &name) const { return (folder / name).string(); }

  size_t files() const {
    auto begin = std::filesystem::directory_iterator(folder);
    return static_cast<size_t>(std::distance(begin, std::filesystem::directory_iterator()));
  }

private:
  std::filesystem::path folder;
};

inline std::string readFile(const std::string &path) {
  std::ifstream file(path, std::ios::binary);
  return std::string(std::istreambuf_iterator<char>(file), {});
}

inline void writeFile(const std::string &path, const std::string &bytes) {
  std::ofstream(path, std::ios::binary) << bytes;
}

} // namespace joule::test
