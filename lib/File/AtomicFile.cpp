// Temporary file, sync, rename.
#include "lib/File/AtomicFile.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

namespace joule {

// Only a regular file may be replaced: a rename over a device or a folder destroys what the user did not
// mean.
static Result<void> checkReplaceable(const std::string &path) {
  struct stat status;
  if (stat(path.c_str(), &status) != 0)
    return {};
  if (!S_ISREG(status.st_mode))
    return Error{ErrorCode::FileUnwritable, fmt::format("\"{}\" is not a regular file", path), ""};
  return {};
}

Result<AtomicFile> AtomicFile::begin(const std::string &path) {
  // A link keeps pointing where it did: what it points to is replaced.
  std::error_code code;
  std::filesystem::path target = path;
  if (std::filesystem::is_symlink(target, code))
    target = std::filesystem::weakly_canonical(target, code);
  if (target.filename().empty())
    return Error{ErrorCode::FileUnwritable, fmt::format("\"{}\" is not a file's name", path), ""};
  if (Result<void> replaceable = checkReplaceable(target); !replaceable)
    return replaceable.error();

  std::string temporary =
      randomName((target.parent_path() / ("." + target.filename().string() + ".")).string());
  AtomicFile file(target.string(), temporary);
  file.descriptor = open(temporary.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (file.descriptor < 0)
    return Error{ErrorCode::FileUnwritable,
                 fmt::format("cannot write \"{}\": {}", path, std::strerror(errno)), ""};
  return file;
}

AtomicFile::AtomicFile(std::string target, std::string temporary)
    : target(std::move(target)), temporary(std::move(temporary)), pending(this->temporary) {}

AtomicFile::AtomicFile(AtomicFile &&other) noexcept
    : target(std::move(other.target)), temporary(std::move(other.temporary)),
      pending(std::move(other.pending)), descriptor(std::exchange(other.descriptor, -1)) {}

AtomicFile::~AtomicFile() {
  if (descriptor < 0)
    return;
  close(descriptor);
  unlink(temporary.c_str());
}

Error AtomicFile::failure(const char *what) const {
  return {ErrorCode::FileUnwritable, fmt::format("cannot {} \"{}\": {}", what, target, std::strerror(errno)),
          ""};
}

Result<void> AtomicFile::writeAt(uint64_t offset, const void *bytes, size_t size) {
  auto *next = static_cast<const char *>(bytes);
  while (size > 0) {
    ssize_t written = pwrite(descriptor, next, size, static_cast<off_t>(offset));
    if (written < 0 && errno == EINTR)
      continue;
    if (written <= 0)
      return failure("write");
    next += written;
    offset += static_cast<uint64_t>(written);
    size -= static_cast<size_t>(written);
  }
  return {};
}

Result<void> AtomicFile::truncate(uint64_t size) {
  if (ftruncate(descriptor, static_cast<off_t>(size)) != 0)
    return failure("truncate");
  return {};
}

Result<void> AtomicFile::commit() {
  // A temporary file is private; the finished one has what the user's mask allows.
  mode_t mask = umask(0);
  umask(mask);
  if (fchmod(descriptor, 0666 & ~mask) != 0 || fsync(descriptor) != 0)
    return failure("write");
  if (Result<void> replaceable = checkReplaceable(target); !replaceable)
    return replaceable;
  if (rename(temporary.c_str(), target.c_str()) != 0)
    return failure("replace");
  close(std::exchange(descriptor, -1));
  return {};
}

Result<void> writeWholeFile(const std::string &path, std::string_view bytes) {
  Result<AtomicFile> file = AtomicFile::begin(path);
  if (!file)
    return file.error();
  if (Result<void> written = file->writeAt(0, bytes.data(), bytes.size()); !written)
    return written;
  return file->commit();
}

} // namespace joule
