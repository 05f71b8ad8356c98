// Every number read from the file is compared with the file's size before it is used.
#include "lib/Artifact/ZipReader.h"

#include "lib/Artifact/ZipFormat.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <vector>

namespace joule {

using namespace zip;

namespace {
// Little-endian numbers at an offset which the caller has checked.
struct Header {
  const char *base;

  template <typename T> T number(uint64_t offset) const {
    T value = 0;
    for (size_t i = 0; i < sizeof(T); ++i)
      value |= static_cast<T>(static_cast<T>(static_cast<uint8_t>(base[offset + i])) << (8 * i));
    return value;
  }
  uint16_t u16(uint64_t offset) const { return number<uint16_t>(offset); }
  uint32_t u32(uint64_t offset) const { return number<uint32_t>(offset); }
  uint64_t u64(uint64_t offset) const { return number<uint64_t>(offset); }
};
} // namespace

Result<std::shared_ptr<const ZipReader>> ZipReader::open(const std::string &path) {
  std::shared_ptr<ZipReader> reader(new ZipReader(path));
  if (Result<void> mapped = reader->map(); !mapped)
    return mapped.error();
  Result<Directory> directory = reader->findDirectory();
  if (!directory)
    return directory.error();
  if (Result<void> read = reader->readDirectory(*directory); !read)
    return read.error();
  return std::shared_ptr<const ZipReader>(std::move(reader));
}

ZipReader::~ZipReader() {
  if (base)
    munmap(const_cast<char *>(base), size);
}

Error ZipReader::damaged(const std::string &what) const {
  return {ErrorCode::ArtifactDamaged, fmt::format("\"{}\" is damaged: {}", file, what), ""};
}

Result<void> ZipReader::map() {
  int descriptor = ::open(file.c_str(), O_RDONLY | O_CLOEXEC);
  struct stat status;
  if (descriptor < 0 || fstat(descriptor, &status) != 0) {
    Error error{ErrorCode::FileUnreadable, fmt::format("cannot read \"{}\": {}", file, std::strerror(errno)),
                ""};
    if (descriptor >= 0)
      close(descriptor);
    return error;
  }
  if (!S_ISREG(status.st_mode)) {
    close(descriptor);
    return Error{ErrorCode::FileUnreadable, fmt::format("\"{}\" is not a regular file", file), ""};
  }
  size = static_cast<uint64_t>(status.st_size);
  if (size < endBytes) {
    close(descriptor);
    return damaged(fmt::format("its {} bytes are too few for an artifact", size));
  }
  void *memory = mmap(nullptr, size, PROT_READ, MAP_PRIVATE, descriptor, 0);
  close(descriptor);
  if (memory == MAP_FAILED)
    return Error{ErrorCode::FileUnreadable, fmt::format("cannot map \"{}\": {}", file, std::strerror(errno)),
                 ""};
  base = static_cast<const char *>(memory);
  return {};
}

Result<ZipReader::Directory> ZipReader::findDirectory() const {
  Header header{base};
  uint64_t end = size - endBytes;
  if (header.u32(end) != endSignature || header.u16(end + 20) != 0)
    return damaged("it does not end with a directory, so it is truncated or not an artifact");
  Directory directory{header.u32(end + 16), header.u32(end + 12), header.u16(end + 10)};
  uint64_t directoryEnd = end;
  bool large = directory.offset == escape32 || directory.size == escape32 || directory.count == escape16;
  if (large) {
    if (end < locatorBytes + end64Bytes || header.u32(end - locatorBytes) != locatorSignature)
      return damaged("the directory's 64-bit end is missing");
    uint64_t end64 = end - locatorBytes - end64Bytes;
    if (header.u64(end - locatorBytes + 8) != end64 || header.u32(end64) != end64Signature ||
        header.u64(end64 + 4) != end64Bytes - 12)
      return damaged("the directory's 64-bit end is malformed");
    directory = {header.u64(end64 + 48), header.u64(end64 + 40), header.u64(end64 + 32)};
    directoryEnd = end64;
  }
  if (directory.offset > directoryEnd || directory.size != directoryEnd - directory.offset)
    return damaged("the directory is not where the file's end says");
  if (directory.count > directory.size / centralBytes)
    return damaged("the directory has fewer entries than the file's end says");
  return directory;
}

// A name that every tool can unpack below one folder.
static bool isPlainName(std::string_view name) {
  if (name.empty() || name.front() == '/' || name.back() == '/')
    return false;
  for (char c : name)
    if (static_cast<uint8_t>(c) < 0x20 || c == '\\' || c == 0x7f)
      return false;
  std::string padded = "/" + std::string(name) + "/";
  return padded.find("/../") == std::string::npos && padded.find("/./") == std::string::npos &&
         padded.find("//") == std::string::npos;
}

// Reads the numbers that did not fit 32 bits: those of them that are escaped, in this order.
static bool readSizesRecord(Header header, uint64_t field, uint64_t fieldEnd,
                            std::initializer_list<uint64_t *> numbers) {
  for (uint64_t *number : numbers) {
    if (*number != escape32)
      continue;
    if (fieldEnd - field < 8)
      return false;
    *number = header.u64(field);
    field += 8;
  }
  return true;
}

Result<ZipReader::CentralEntry> ZipReader::readCentral(const Directory &directory, uint64_t at,
                                                       uint64_t index) const {
  Header header{base};
  uint64_t end = directory.offset + directory.size;
  if (end - at < centralBytes || header.u32(at) != centralSignature)
    return damaged(fmt::format("directory entry {} is malformed", index));
  uint64_t nameBytes = header.u16(at + 28), extraBytes = header.u16(at + 30),
           commentBytes = header.u16(at + 32);
  if (end - at - centralBytes < nameBytes + extraBytes + commentBytes)
    return damaged(fmt::format("directory entry {} is cut off", index));
  CentralEntry entry;
  entry.name = std::string_view(base + at + centralBytes, nameBytes);
  entry.crc = header.u32(at + 16);
  entry.local = header.u32(at + 42);
  entry.size = header.u32(at + 24);
  uint64_t stored = header.u32(at + 20);
  if (!isPlainName(entry.name))
    return damaged(fmt::format("directory entry {} has an unusable name", index));
  if (header.u16(at + 10) != 0 || (header.u16(at + 8) & ~utf8Flag) != 0)
    return damaged(
        fmt::format("the entry \"{}\" is compressed or encrypted, and artifacts never are", entry.name));

  uint64_t extra = at + centralBytes + nameBytes, extraEnd = extra + extraBytes;
  while (extraEnd - extra >= recordHeaderBytes) {
    uint64_t kind = header.u16(extra), length = header.u16(extra + 2), field = extra + recordHeaderBytes;
    bool isWhole = extraEnd - field >= length;
    if (!isWhole || (kind == sizesRecord &&
                     !readSizesRecord(header, field, field + length, {&entry.size, &stored, &entry.local})))
      return damaged(fmt::format("the entry \"{}\" has a malformed extra field", entry.name));
    extra = field + length;
  }
  if (stored != entry.size)
    return damaged(fmt::format("the entry \"{}\" has two sizes", entry.name));
  entry.next = extraEnd + commentBytes;
  return entry;
}

Result<ZipReader::Extent> ZipReader::readLocal(const Directory &directory, const CentralEntry &entry) const {
  Header header{base};
  uint64_t local = entry.local;
  if (local > directory.offset || directory.offset - local < localBytes ||
      header.u32(local) != localSignature)
    return damaged(fmt::format("the entry \"{}\" begins outside the file", entry.name));
  uint64_t headerBytes = localBytes + header.u16(local + 26) + header.u16(local + 28);
  if (directory.offset - local < headerBytes || directory.offset - local - headerBytes < entry.size)
    return damaged(fmt::format("the entry \"{}\" reaches outside the file", entry.name));
  if (std::string_view(base + local + localBytes, header.u16(local + 26)) != entry.name)
    return damaged(fmt::format("the entry \"{}\" has another name in its header", entry.name));
  if (header.u32(local + 14) != entry.crc)
    return damaged(fmt::format("the entry \"{}\" has two checksums", entry.name));
  return Extent{local, local + headerBytes, local + headerBytes + entry.size};
}

Result<void> ZipReader::readDirectory(const Directory &directory) {
  uint64_t at = directory.offset;
  std::vector<Extent> extents;
  for (uint64_t i = 0; i < directory.count; ++i) {
    Result<CentralEntry> entry = readCentral(directory, at, i);
    if (!entry)
      return entry.error();
    Result<Extent> extent = readLocal(directory, *entry);
    if (!extent)
      return extent.error();
    if (!table.emplace(entry->name, Entry{std::string_view(base + extent->data, entry->size), entry->crc})
             .second)
      return damaged(fmt::format("the entry \"{}\" stands twice", entry->name));
    extents.push_back(*extent);
    at = entry->next;
  }
  if (at != directory.offset + directory.size)
    return damaged("the directory has more entries than the file's end says");

  std::sort(extents.begin(), extents.end(),
            [](const Extent &a, const Extent &b) { return a.begin < b.begin; });
  for (size_t i = 1; i < extents.size(); ++i)
    if (extents[i].begin < extents[i - 1].end)
      return damaged("two entries overlap");
  return {};
}

Result<std::string_view> ZipReader::entry(const std::string &name) const {
  auto found = table.find(name);
  if (found == table.end())
    return Error{ErrorCode::EntryMissing, fmt::format("\"{}\" has no entry \"{}\"", file, name), ""};
  return found->second.bytes;
}

Result<std::string_view> ZipReader::verifiedEntry(const std::string &name) const {
  Result<std::string_view> bytes = entry(name);
  if (bytes && crc32(0, bytes->data(), bytes->size()) != table.at(name).crc)
    return damaged(fmt::format("the entry \"{}\" fails its checksum", name));
  return bytes;
}

} // namespace joule
