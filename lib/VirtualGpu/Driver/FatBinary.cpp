// Fat binaries: a header, then entries of PTX or machine code, each with a header of its own. The format is
// not published; what is used here was read off files that nvcc 13 writes.
#include "lib/VirtualGpu/Driver/FatBinary.h"
#include "lib/VirtualGpu/Driver/State.h"

#include <cstring>
#include <zstd.h>

namespace joule::vgpu {
namespace {

constexpr uint32_t fatMagic = 0xBA55ED50, wrapperMagic = 0x466243B1, elfMagic = 0x464C457F;
constexpr uint16_t kindPtx = 1;
constexpr uint64_t flagLz4 = 0x2000, flagZstd = 0x8000;
constexpr uint64_t mostBytes = 1ull << 31; // of a text, and of a whole fat binary

struct FatHeader {
  uint32_t magic;
  uint16_t version, headerSize;
  uint64_t size; // of all entries
};

struct EntryHeader {
  uint16_t kind, version;
  uint32_t headerSize;
  uint64_t size; // of what follows the header, padded
  uint32_t compressedSize, reserved0;
  uint16_t minor, major;
  uint32_t architecture;
  uint64_t reserved1, flags, reserved2, plainSize;
};
static_assert(sizeof(EntryHeader) == 64);

struct Wrapper {
  uint32_t magic, version;
  const void *data;
};

[[noreturn]] void damaged(const char *what) {
  fail(CUDA_ERROR_INVALID_IMAGE, std::string("the fat binary is damaged: ") + what);
}

std::string plainText(const EntryHeader &header, const char *data) {
  if (!(header.flags & (flagLz4 | flagZstd)))
    return std::string(data, strnlen(data, header.size));
  if (header.compressedSize > header.size || header.plainSize > mostBytes)
    damaged("sizes do not fit");
  std::string packed(data, header.compressedSize ? header.compressedSize : header.size);
  std::string text;
  if (header.flags & flagLz4) {
    if (!decompressLz4(packed, header.plainSize, text))
      damaged("LZ4 cannot read an entry");
  } else {
    text.resize(header.plainSize);
    size_t got = ZSTD_decompress(text.data(), text.size(), packed.data(), packed.size());
    if (ZSTD_isError(got) || got != text.size())
      damaged("zstd cannot read an entry");
  }
  return text.substr(0, strnlen(text.data(), text.size()));
}

/// The best text of the entries in `bytes`.
std::string ptxOfEntries(const char *bytes, uint64_t size, const DeviceFacts &device) {
  unsigned capability = unsigned(device.major * 10 + device.minor), best = 0;
  std::string text;
  unsigned entries = 0;
  for (uint64_t at = 0; at + sizeof(EntryHeader) <= size; ++entries) {
    EntryHeader header;
    memcpy(&header, bytes + at, sizeof header);
    if (header.headerSize < sizeof header || header.headerSize > size - at ||
        header.size > size - at - header.headerSize)
      damaged("an entry leaves it");
    const char *data = bytes + at + header.headerSize;
    if (header.kind == kindPtx && header.architecture <= capability && header.architecture >= best) {
      text = plainText(header, data);
      best = header.architecture;
    }
    at += header.headerSize + header.size;
  }
  if (!best)
    fail(CUDA_ERROR_NO_BINARY_FOR_GPU, "none of the fat binary's " + std::to_string(entries) +
                                           " entries is PTX for sm_" + std::to_string(capability) +
                                           " or older; the virtual device runs PTX only");
  return text;
}

[[noreturn]] void refuseMachineCode() {
  fail(CUDA_ERROR_NO_BINARY_FOR_GPU, "the image holds machine code only; the virtual device runs PTX");
}

template <class T> T read(const void *from) {
  T value;
  memcpy(&value, from, sizeof value);
  return value;
}

/// A text that is shorter than a magic number has a zero there.
bool startsWith(const void *image, uint32_t magic) {
  const char *bytes = static_cast<const char *>(image);
  for (int i = 0; i < 4; ++i)
    if (uint8_t(bytes[i]) != uint8_t(magic >> (8 * i)))
      return false;
  return true;
}

} // namespace

std::string ptxOfImage(const void *image, const DeviceFacts &device) {
  if (startsWith(image, wrapperMagic)) {
    const void *data = read<Wrapper>(image).data;
    want(data && startsWith(data, fatMagic), "the fat binary's wrapper holds none");
    return ptxOfImage(data, device);
  }
  if (startsWith(image, elfMagic))
    refuseMachineCode();
  if (!startsWith(image, fatMagic))
    return static_cast<const char *>(image);
  auto header = read<FatHeader>(image);
  if (header.headerSize < sizeof header || header.size > mostBytes)
    damaged("its header makes no sense");
  return ptxOfEntries(static_cast<const char *>(image) + header.headerSize, header.size, device);
}

std::string ptxOfFile(const std::string &bytes, const DeviceFacts &device) {
  if (bytes.size() < 4 || startsWith(bytes.data(), wrapperMagic))
    fail(CUDA_ERROR_INVALID_IMAGE, "the file is no image of a module");
  if (startsWith(bytes.data(), elfMagic))
    refuseMachineCode();
  if (!startsWith(bytes.data(), fatMagic))
    return bytes.substr(0, strnlen(bytes.data(), bytes.size()));
  if (bytes.size() < sizeof(FatHeader))
    damaged("it ends in its header");
  auto header = read<FatHeader>(bytes.data());
  if (header.headerSize < sizeof header || header.headerSize > bytes.size() ||
      header.size > bytes.size() - header.headerSize)
    damaged("it ends too early");
  return ptxOfEntries(bytes.data() + header.headerSize, header.size, device);
}

bool decompressLz4(const std::string &from, size_t size, std::string &to) {
  size_t at = 0;
  to.clear();
  to.reserve(size);
  // 15 means that bytes follow, each to be added, as long as they are 255.
  auto length = [&](size_t start, size_t &sum) {
    sum = start;
    for (uint8_t more = 255; start == 15 && more == 255; sum += more) {
      if (at >= from.size())
        return false;
      more = uint8_t(from[at++]);
    }
    return true;
  };
  while (at < from.size()) {
    uint8_t token = uint8_t(from[at++]);
    size_t literals, copied;
    if (!length(token >> 4, literals) || literals > from.size() - at || literals > size - to.size())
      return false;
    to.append(from, at, literals);
    at += literals;
    if (at == from.size())
      break;
    if (from.size() - at < 2)
      return false;
    size_t distance = uint8_t(from[at]) | size_t(uint8_t(from[at + 1])) << 8;
    at += 2;
    if (!length(token & 15, copied) || distance == 0 || distance > to.size() || copied + 4 > size - to.size())
      return false;
    for (size_t i = 0; i < copied + 4; ++i)
      to += to[to.size() - distance];
  }
  return to.size() == size;
}

} // namespace joule::vgpu
