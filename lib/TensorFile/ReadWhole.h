// A file's bytes.
#pragma once

#include "joule/Error.h"

#include <string>

namespace joule {

/// The bytes of a regular file: a folder has none, and a device may have no end. Error: FileUnreadable.
Result<std::string> readWhole(const std::string &path);

} // namespace joule
