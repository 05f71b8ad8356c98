// Writes a ZIP file whose entries are stored and aligned, so that they can be mapped.
#pragma once

#include "lib/File/AtomicFile.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

namespace joule {

/// The same entries in the same order give the same bytes: times are fixed. An entry's name and size may be
/// decided after its bytes are written, which lets content be hashed while it is copied.
class ZipWriter {
public:
  /// `escapeAbove` is the largest number written in 32 bits; tests lower it to see the 64-bit forms.
  static Result<ZipWriter> begin(const std::string &path, uint64_t escapeAbove = 0xfffffffe);

  Result<void> addEntry(const std::string &name, std::string_view bytes);

  /// Opens an entry whose name will have `nameBytes` bytes. write() follows, then endEntry() or dropEntry().
  void beginEntry(size_t nameBytes);
  Result<void> write(const void *bytes, size_t size);
  Result<void> endEntry(const std::string &name);
  Result<void> dropEntry();

  /// Writes the directory and puts the file in its place.
  Result<void> finish();

private:
  struct Entry {
    std::string name;
    uint64_t header = 0; // offset of the local header
    uint64_t data = 0;   // offset of the first byte
    uint64_t size = 0;
    uint32_t crc = 0;
  };

  ZipWriter(AtomicFile file, uint64_t escapeAbove) : file(std::move(file)), escapeAbove(escapeAbove) {}
  std::string localHeader(const Entry &entry) const;
  std::string centralHeader(const Entry &entry) const;
  std::string endOfDirectory(uint64_t offset, uint64_t size) const;

  AtomicFile file;
  uint64_t escapeAbove;
  uint64_t end = 0; // offset of the next header
  Entry open;
  size_t openNameBytes = 0;
  std::vector<Entry> entries;
  std::unordered_set<std::string> names;
};

} // namespace joule
