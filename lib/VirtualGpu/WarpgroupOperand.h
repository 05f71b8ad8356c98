// Where a matrix of wgmma lies in shared memory.
#pragma once

#include <cstdint>

namespace joule::vgpu {
namespace { // included by files that are compiled for several instruction sets

/// What a descriptor says: 16-byte chunks at strides that depend on the swizzle.
struct WarpgroupOperand {
  uint64_t start, leading, stride, base;
  int swizzle; // 0: none; 1, 2, 3: 32, 64, 128 bytes

  explicit WarpgroupOperand(uint64_t bits)
      : start((bits & 0x3fff) << 4), leading((bits >> 16 & 0x3fff) << 4), stride((bits >> 32 & 0x3fff) << 4),
        base(bits >> 49 & 7), swizzle(int(4 - (bits >> 62)) & 3) {}

  uint64_t place(uint64_t offset) const {
    uint64_t address = start + offset, line = (address >> 7) - base;
    return address ^ ((line & ((1u << swizzle) - 1)) << 4);
  }
  /// Chunk j along k of a row, where k runs along memory. A line has 2^swizzle chunks.
  uint64_t alongK(uint32_t row, uint32_t j) const { return place(offsetAlongK(row, j)); }
  uint64_t offsetAlongK(uint32_t row, uint32_t j) const {
    uint64_t inLine = j & ((1u << swizzle) - 1), line = j >> swizzle;
    return (uint64_t(row % 8) << (4 + swizzle)) + uint64_t(row / 8) * stride + inLine * 16 + line * leading;
  }
  /// Eight rows from 8 * c on at one k, where the rows run along memory.
  uint64_t alongRows(uint32_t c, uint32_t k) const {
    if (swizzle == 0)
      return place(uint64_t(c) * stride + uint64_t(k % 8) * 16 + uint64_t(k / 8) * leading);
    uint64_t inLine = c & ((1u << swizzle) - 1), line = c >> swizzle;
    return place(inLine * 16 + line * leading + (uint64_t(k % 8) << (4 + swizzle)) +
                 uint64_t(k / 8) * stride);
  }
};

} // namespace
} // namespace joule::vgpu
