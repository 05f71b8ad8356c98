// Looks before it reads.
#include "lib/TensorFile/ReadWhole.h"

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <sstream>

namespace joule {

Result<std::string> readWhole(const std::string &path) {
  auto unreadable = [&](const char *why) {
    return Error{ErrorCode::FileUnreadable, fmt::format("cannot read \"{}\": {}", path, why), ""};
  };
  std::ifstream stream(path, std::ios::binary);
  if (!stream)
    return unreadable(std::strerror(errno));
  std::error_code code;
  if (!std::filesystem::is_regular_file(path, code))
    return unreadable("it is not a regular file");
  std::ostringstream bytes;
  bytes << stream.rdbuf();
  // Nothing at all to read sets the failure of the other stream.
  if (stream.bad() || bytes.bad())
    return unreadable(std::strerror(errno));
  return bytes.str();
}

} // namespace joule
