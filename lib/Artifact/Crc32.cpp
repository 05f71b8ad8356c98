// CRC-32 eight bytes at a time: table k holds the effect of a byte that k zero bytes follow.
#include "lib/Artifact/ZipFormat.h"

#include <array>
#include <cstring>

namespace joule::zip {

using Tables = std::array<std::array<uint32_t, 256>, 8>;

static constexpr Tables makeTables() {
  Tables tables{};
  for (uint32_t byte = 0; byte < 256; ++byte) {
    uint32_t crc = byte;
    for (int bit = 0; bit < 8; ++bit)
      crc = (crc >> 1) ^ (crc & 1 ? 0xedb88320u : 0);
    tables[0][byte] = crc;
  }
  for (size_t k = 1; k < 8; ++k)
    for (uint32_t byte = 0; byte < 256; ++byte)
      tables[k][byte] = (tables[k - 1][byte] >> 8) ^ tables[0][tables[k - 1][byte] & 0xff];
  return tables;
}

static constexpr Tables tables = makeTables();

uint32_t crc32(uint32_t crc, const void *bytes, size_t size) {
  auto *next = static_cast<const uint8_t *>(bytes);
  crc = ~crc;
  for (; size >= 8; size -= 8, next += 8) {
    uint32_t low, high;
    std::memcpy(&low, next, 4);
    std::memcpy(&high, next + 4, 4);
    low ^= crc;
    crc = tables[7][low & 0xff] ^ tables[6][low >> 8 & 0xff] ^ tables[5][low >> 16 & 0xff] ^
          tables[4][low >> 24] ^ tables[3][high & 0xff] ^ tables[2][high >> 8 & 0xff] ^
          tables[1][high >> 16 & 0xff] ^ tables[0][high >> 24];
  }
  for (; size > 0; --size)
    crc = (crc >> 8) ^ tables[0][(crc ^ *next++) & 0xff];
  return ~crc;
}

} // namespace joule::zip
