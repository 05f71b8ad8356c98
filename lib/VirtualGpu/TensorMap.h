// The virtual GPU's own form of the 128 bytes that describe a tensor to the copy engine. Programs receive
// them from cuTensorMapEncode* and hand them to kernels; nobody else looks inside.
#pragma once

#include <cstddef>
#include <cstdint>

namespace joule::vgpu {

constexpr unsigned mostDimensions = 5;

struct TensorMap {
  uint64_t magic;
  uint64_t address;
  uint64_t strides[mostDimensions - 1]; // bytes, of all dimensions but the first
  uint32_t lastIndex[mostDimensions];   // sizes less one: they go up to 2^32
  uint16_t box[mostDimensions];
  int16_t lowerCorner[3], upperCorner[3]; // im2col, innermost first
  uint16_t channels, pixels;              // im2col
  uint8_t elementStrides[mostDimensions];
  uint8_t type; // CUtensorMapDataType
  uint8_t rank;
  uint8_t isIm2col;
  uint8_t swizzle; // 0 none, 1..3: 32, 64, 128 bytes
  uint8_t fillsNan;
  uint8_t reserved[22];

  static constexpr uint64_t theMagic = 0x70616d65'6c756f6aull;
};
static_assert(sizeof(TensorMap) == 128);

/// What cuTensorMapEncode* is told.
struct TensorMapRequest {
  uint32_t type, rank;
  uint64_t address;
  const uint64_t *sizes, *strides;
  const uint32_t *box, *elementStrides; // box: tiled only
  const int *lowerCorner, *upperCorner; // im2col only
  uint32_t channels, pixels;
  uint32_t interleave, swizzle, promotion, fill;
};

/// Null, or what is wrong with the request.
const char *encodeTiled(const TensorMapRequest &request, TensorMap &map);
const char *encodeIm2col(const TensorMapRequest &request, TensorMap &map);

/// Is this a map, and may the copy engine use it? Programs can change what was encoded.
bool isUsable(const TensorMap &map);
unsigned tensorElementBytes(unsigned type);
/// Bytes in shared memory of one copy.
uint64_t tensorBoxBytes(const TensorMap &map);

/// A run of elements along the first dimension. Those before `first` and from `end` on lie outside the
/// tensor.
struct TensorRow {
  uint64_t inShared; // offset of element 0, before swizzling
  uint64_t inGlobal; // the address where element 0 would lie
  uint32_t first, end, count;
};

/// Visits the rows of the box that starts at `start`; `offsets` shift the pixels of an im2col copy.
class TensorRows {
public:
  TensorRows(const TensorMap &map, const int32_t *start, const uint16_t *offsets);
  bool next(TensorRow &row);

private:
  void advanceTile();
  void advancePixel();
  const TensorMap &map;
  int64_t start[mostDimensions], at[mostDimensions];
  uint16_t offsets[3] = {};
  uint64_t rowBytes, done = 0, total;
};

/// Where the byte at shared address `address` goes.
uint64_t swizzled(unsigned swizzle, uint64_t address);

} // namespace joule::vgpu
