// Lays out headers, data and directory as ZipFormat.h draws them.
#include "lib/Artifact/ZipWriter.h"

#include "lib/Artifact/ZipFormat.h"

#include <cassert>
#include <fmt/format.h>

namespace joule {

using namespace zip;

namespace {
// Appends little-endian numbers.
struct Bytes {
  std::string text;

  template <typename T> Bytes &number(T value, size_t size) {
    for (size_t i = 0; i < size; ++i)
      text.push_back(static_cast<char>(static_cast<uint64_t>(value) >> (8 * i)));
    return *this;
  }
  Bytes &u16(uint64_t value) { return number(value, 2); }
  Bytes &u32(uint64_t value) { return number(value, 4); }
  Bytes &u64(uint64_t value) { return number(value, 8); }
};
} // namespace

constexpr uint64_t sizesRecordBytes = 20; // kind, length, two sizes

Result<ZipWriter> ZipWriter::begin(const std::string &path, uint64_t escapeAbove) {
  Result<AtomicFile> file = AtomicFile::begin(path);
  if (!file)
    return file.error();
  return ZipWriter(std::move(*file), escapeAbove);
}

void ZipWriter::beginEntry(size_t nameBytes) {
  openNameBytes = nameBytes;
  open = {};
  open.header = end;
  // Room for the 64-bit sizes is kept always, since the size is not known yet.
  uint64_t least = end + localBytes + nameBytes + sizesRecordBytes + recordHeaderBytes;
  open.data = (least + alignment - 1) / alignment * alignment;
}

Result<void> ZipWriter::write(const void *bytes, size_t size) {
  open.crc = crc32(open.crc, bytes, size);
  uint64_t at = open.data + open.size;
  open.size += size;
  return file.writeAt(at, bytes, size);
}

Result<void> ZipWriter::endEntry(const std::string &name) {
  assert(name.size() == openNameBytes && "the header's room was made for another name");
  if (!names.insert(name).second)
    return Error{ErrorCode::EntryRepeated, fmt::format("the entry \"{}\" is written twice", name), ""};
  open.name = name;
  std::string header = localHeader(open);
  if (Result<void> written = file.writeAt(open.header, header.data(), header.size()); !written)
    return written;
  end = open.data + open.size;
  entries.push_back(open);
  return {};
}

Result<void> ZipWriter::dropEntry() { return file.truncate(end); }

Result<void> ZipWriter::addEntry(const std::string &name, std::string_view bytes) {
  beginEntry(name.size());
  if (Result<void> written = write(bytes.data(), bytes.size()); !written)
    return written;
  return endEntry(name);
}

std::string ZipWriter::localHeader(const Entry &entry) const {
  uint64_t extraBytes = entry.data - entry.header - localBytes - entry.name.size();
  bool large = entry.size > escapeAbove;
  uint64_t size = large ? escape32 : entry.size;
  Bytes out;
  out.u32(localSignature).u16(large ? 45 : 20).u16(utf8Flag).u16(0).u16(0).u16(fixedDate);
  out.u32(entry.crc).u32(size).u32(size).u16(entry.name.size()).u16(extraBytes);
  out.text += entry.name;
  if (large) {
    out.u16(sizesRecord).u16(16).u64(entry.size).u64(entry.size);
    extraBytes -= sizesRecordBytes;
  }
  out.u16(paddingRecord).u16(extraBytes - recordHeaderBytes);
  out.text.append(extraBytes - recordHeaderBytes, '\0');
  return out.text;
}

std::string ZipWriter::centralHeader(const Entry &entry) const {
  bool largeSize = entry.size > escapeAbove;
  bool farHeader = entry.header > escapeAbove;
  Bytes extra;
  if (largeSize || farHeader) {
    extra.u16(sizesRecord).u16((largeSize ? 16 : 0) + (farHeader ? 8 : 0));
    if (largeSize)
      extra.u64(entry.size).u64(entry.size);
    if (farHeader)
      extra.u64(entry.header);
  }
  uint64_t size = largeSize ? escape32 : entry.size;
  uint64_t version = extra.text.empty() ? 20 : 45;
  Bytes out;
  out.u32(centralSignature).u16(version).u16(version).u16(utf8Flag).u16(0).u16(0).u16(fixedDate);
  out.u32(entry.crc).u32(size).u32(size).u16(entry.name.size()).u16(extra.text.size());
  out.u16(0).u16(0).u16(0).u32(0).u32(farHeader ? escape32 : entry.header);
  return out.text + entry.name + extra.text;
}

std::string ZipWriter::endOfDirectory(uint64_t offset, uint64_t size) const {
  uint64_t count = entries.size();
  bool large = offset > escapeAbove || size > escapeAbove || count >= escape16;
  Bytes out;
  if (large) {
    out.u32(end64Signature).u64(end64Bytes - 12).u16(45).u16(45).u32(0).u32(0);
    out.u64(count).u64(count).u64(size).u64(offset);
    out.u32(locatorSignature).u32(0).u64(offset + size).u32(1);
  }
  uint64_t shortCount = large ? escape16 : count;
  out.u32(endSignature).u16(0).u16(0).u16(shortCount).u16(shortCount);
  out.u32(large ? escape32 : size).u32(large ? escape32 : offset).u16(0);
  return out.text;
}

Result<void> ZipWriter::finish() {
  std::string directory;
  for (const Entry &entry : entries)
    directory += centralHeader(entry);
  directory += endOfDirectory(end, directory.size());
  if (Result<void> written = file.writeAt(end, directory.data(), directory.size()); !written)
    return written;
  // What a dropped entry left behind must not follow the directory.
  if (Result<void> cut = file.truncate(end + directory.size()); !cut)
    return cut;
  return file.commit();
}

} // namespace joule
