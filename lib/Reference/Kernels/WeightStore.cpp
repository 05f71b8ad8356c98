// Mapping weight files, and keeping blobs.
#include "lib/Reference/Kernels/WeightStore.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace joule::reference {

Result<Bytes> WeightStore::find(std::string_view blob, uint64_t offset, uint64_t length) {
  std::lock_guard<std::mutex> lock(mutex);
  Result<Bytes> whole = wholeBlob(std::string(blob));
  if (!whole)
    return whole;
  if (offset > whole->size() || length > whole->size() - offset)
    return Failure{"weights lie at bytes " + std::to_string(offset) + " to " +
                   std::to_string(offset + length) + " of \"" + std::string(blob) + "\", which has " +
                   std::to_string(whole->size())};
  auto owner = std::make_shared<Bytes>(*whole);
  return Bytes(owner, owner->data() + offset, length);
}

std::string WeightStore::add(Bytes bytes) {
  std::lock_guard<std::mutex> lock(mutex);
  blobs.push_back(std::move(bytes));
  return "@" + std::to_string(blobs.size() - 1);
}

std::vector<Bytes> WeightStore::added() {
  std::lock_guard<std::mutex> lock(mutex);
  return {blobs.begin(), blobs.end()};
}

Result<Bytes> WeightStore::wholeBlob(const std::string &blob) {
  if (blob.rfind('@', 0) == 0) {
    for (size_t number = 0; number < blobs.size(); ++number)
      if (blob == "@" + std::to_string(number))
        return blobs[number];
    return Failure{"no blob is called \"" + blob + "\""};
  }
  auto known = files.find(blob);
  if (known != files.end())
    return known->second;
  Result<Bytes> mapped = mapFile(blob.rfind('/', 0) == 0 || folder.empty() ? blob : folder + "/" + blob);
  if (mapped)
    files.emplace(blob, *mapped);
  return mapped;
}

static Failure unreadable(const std::string &path) {
  return Failure{"cannot read \"" + path + "\": " + std::strerror(errno)};
}

Result<Bytes> WeightStore::mapFile(const std::string &path) {
  int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  struct stat status;
  if (file < 0)
    return unreadable(path);
  if (::fstat(file, &status) != 0 || !S_ISREG(status.st_mode)) {
    errno = S_ISREG(status.st_mode) ? errno : EINVAL;
    ::close(file);
    return unreadable(path);
  }
  size_t size = status.st_size;
  if (size == 0) {
    ::close(file);
    return Bytes();
  }
  void *mapped = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file, 0);
  ::close(file);
  if (mapped == MAP_FAILED)
    return unreadable(path);
  return Bytes(std::shared_ptr<void>(mapped, [size](void *at) { ::munmap(at, size); }), mapped, size);
}

} // namespace joule::reference
