// What a command writes never replaces what it reads.
#pragma once

#include <CLI/CLI.hpp>
#include <filesystem>
#include <string>

namespace joule::cli {

/// Throws where the file that `option` writes is `source`, which would be lost.
inline void refuseToReplace(const std::string &option, const std::string &file, const std::string &source) {
  std::error_code ignored; // one of the two does not exist
  if (std::filesystem::equivalent(file, source, ignored))
    throw CLI::ValidationError(option, "\"" + file + "\" is what is read, and would be lost");
}

} // namespace joule::cli
