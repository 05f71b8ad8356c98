// Reads what ZipWriter writes, from a file that may be damaged or hostile.
#pragma once

#include "joule/Error.h"

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>

namespace joule {

/// A mapped ZIP file. open() checks every header, so that entry() can hand out memory without further doubt;
/// the data itself is checked by verify(). Immutable and safe to share between threads.
class ZipReader {
public:
  struct Entry {
    std::string_view bytes;
    uint32_t crc = 0;
  };

  static Result<std::shared_ptr<const ZipReader>> open(const std::string &path);
  ZipReader(const ZipReader &) = delete;
  ~ZipReader();

  const std::map<std::string, Entry> &entries() const { return table; }

  /// The bytes of an entry, where it exists.
  Result<std::string_view> entry(const std::string &name) const;

  /// The bytes of an entry, after its checksum is compared.
  Result<std::string_view> verifiedEntry(const std::string &name) const;

  const std::string &path() const { return file; }

private:
  struct Directory {
    uint64_t offset = 0;
    uint64_t size = 0;
    uint64_t count = 0;
  };

  // An entry as the directory describes it.
  struct CentralEntry {
    std::string_view name;
    uint64_t size = 0;
    uint64_t local = 0; // offset of the local header
    uint64_t next = 0;  // offset of the next entry in the directory
    uint32_t crc = 0;
  };

  // What an entry occupies in the file, header and data.
  struct Extent {
    uint64_t begin = 0, data = 0, end = 0;
  };

  explicit ZipReader(std::string path) : file(std::move(path)) {}
  Result<void> map();
  Result<Directory> findDirectory() const;
  Result<void> readDirectory(const Directory &directory);
  Result<CentralEntry> readCentral(const Directory &directory, uint64_t at, uint64_t index) const;
  Result<Extent> readLocal(const Directory &directory, const CentralEntry &entry) const;
  Error damaged(const std::string &what) const;

  std::string file;
  const char *base = nullptr;
  uint64_t size = 0;
  std::map<std::string, Entry> table;
};

} // namespace joule
