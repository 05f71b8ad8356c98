// A file that appears under its name whole or not at all.
#pragma once

#include "joule/Error.h"
#include "lib/File/PendingPath.h"

#include <cstdint>
#include <string>
#include <string_view>

namespace joule {

/// Writes to a temporary file in the target's folder; commit() renames it over the target, which must be a
/// regular file or nothing. Destroyed before that, it leaves no trace.
class AtomicFile {
public:
  static Result<AtomicFile> begin(const std::string &path);
  AtomicFile(AtomicFile &&other) noexcept;
  AtomicFile &operator=(AtomicFile &&) = delete;
  ~AtomicFile();

  Result<void> writeAt(uint64_t offset, const void *bytes, size_t size);
  Result<void> truncate(uint64_t size);
  Result<void> commit();

private:
  AtomicFile(std::string target, std::string temporary);
  Error failure(const char *what) const;

  std::string target;
  std::string temporary;
  PendingPath pending;
  int descriptor = -1;
};

/// Writes all of `bytes` to a file as AtomicFile does. Error: FileUnwritable.
Result<void> writeWholeFile(const std::string &path, std::string_view bytes);

} // namespace joule
