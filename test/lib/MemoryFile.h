// Bytes as a file without a place on a disk, for code that wants a path.
#pragma once

#include <string>
#include <sys/mman.h>
#include <unistd.h>

namespace joule::test {

class MemoryFile {
public:
  MemoryFile(const void *bytes, size_t size) : descriptor(memfd_create("test", MFD_CLOEXEC)) {
    if (descriptor < 0 || write(descriptor, bytes, size) != static_cast<ssize_t>(size))
      abort();
  }
  MemoryFile(const MemoryFile &) = delete;
  ~MemoryFile() { close(descriptor); }

  std::string path() const { return "/proc/self/fd/" + std::to_string(descriptor); }

private:
  int descriptor;
};

} // namespace joule::test
