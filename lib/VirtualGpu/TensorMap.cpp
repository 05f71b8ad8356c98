// Encoding tensor maps and walking the boxes they describe.
#include "lib/VirtualGpu/TensorMap.h"

#include <algorithm>
#include <cstring>

namespace joule::vgpu {
namespace {

constexpr uint8_t typeBytes[] = {1, 2, 4, 4, 8, 8, 2, 4, 8, 2, 4, 4, 4};
constexpr unsigned numTypes = sizeof typeBytes;

bool isFloatType(unsigned type) { return type >= 6; }

const char *checkCommon(const TensorMapRequest &r) {
  if (r.type >= numTypes)
    return "this type of elements is not supported by tensor maps of sm_90";
  if (r.rank < 1 || r.rank > mostDimensions)
    return "a tensor map has 1 to 5 dimensions";
  if (r.interleave != 0)
    return "interleaved tensor maps are not supported";
  if (r.swizzle > 3)
    return "this swizzle is not supported by tensor maps of sm_90";
  if (r.fill > 1 || (r.fill == 1 && !isFloatType(r.type)))
    return "only floating-point tensors are filled with NaN";
  if (r.promotion > 3)
    return "no such L2 promotion";
  if (!r.address || r.address % 16)
    return "the tensor's address must be a multiple of 16";
  if (!r.sizes || !r.elementStrides || (r.rank > 1 && !r.strides))
    return "null pointer";
  for (unsigned i = 0; i < r.rank; ++i)
    if (r.sizes[i] == 0 || r.sizes[i] > 1ull << 32)
      return "a size of the tensor must be from 1 to 2^32";
  for (unsigned i = 0; i + 1 < r.rank; ++i)
    if (r.strides[i] % 16 || r.strides[i] >= 1ull << 40)
      return "a stride of the tensor must be a multiple of 16 below 2^40";
  for (unsigned i = 0; i < r.rank; ++i)
    if (r.elementStrides[i] < 1 || r.elementStrides[i] > 8)
      return "an element stride must be from 1 to 8";
  return nullptr;
}

const char *checkRow(const TensorMapRequest &r, uint64_t rowBytes) {
  if (rowBytes % 16)
    return "the box's first dimension must be a multiple of 16 bytes";
  if (r.swizzle && rowBytes > 16u << r.swizzle)
    return "the box's first dimension is longer than the swizzle";
  return nullptr;
}

void fillCommon(const TensorMapRequest &r, TensorMap &map) {
  memset(&map, 0, sizeof map);
  map.magic = TensorMap::theMagic;
  map.address = r.address;
  map.rank = uint8_t(r.rank);
  map.type = uint8_t(r.type);
  map.swizzle = uint8_t(r.swizzle);
  map.fillsNan = uint8_t(r.fill);
  for (unsigned i = 0; i < r.rank; ++i) {
    map.lastIndex[i] = uint32_t(r.sizes[i] - 1);
    map.elementStrides[i] = uint8_t(i == 0 ? 1 : r.elementStrides[i]); // the first has none
  }
  for (unsigned i = 0; i + 1 < r.rank; ++i)
    map.strides[i] = r.strides[i];
}

uint64_t steps(const TensorMap &map, unsigned i) {
  return (map.box[i] + map.elementStrides[i] - 1u) / map.elementStrides[i];
}

} // namespace

bool isUsable(const TensorMap &map) {
  bool known = map.magic == TensorMap::theMagic && map.rank >= 1 && map.rank <= mostDimensions &&
               map.type < numTypes && map.swizzle <= 3 && (!map.isIm2col || map.rank >= 3);
  if (!known)
    return false;
  uint64_t rowBytes = uint64_t(map.isIm2col ? map.channels : map.box[0]) * tensorElementBytes(map.type);
  bool sized = rowBytes && rowBytes % 16 == 0 && (!map.swizzle || rowBytes <= 16u << map.swizzle) &&
               (!map.isIm2col || map.pixels);
  for (unsigned i = 0; i < map.rank; ++i)
    sized &= map.elementStrides[i] >= 1 && (map.isIm2col || (map.box[i] >= 1 && map.box[i] <= 256));
  return sized;
}

unsigned tensorElementBytes(unsigned type) { return type < numTypes ? typeBytes[type] : 1; }

const char *encodeTiled(const TensorMapRequest &r, TensorMap &map) {
  if (const char *problem = checkCommon(r))
    return problem;
  if (!r.box)
    return "null pointer";
  for (unsigned i = 0; i < r.rank; ++i)
    if (r.box[i] < 1 || r.box[i] > 256)
      return "a size of the box must be from 1 to 256";
  if (const char *problem = checkRow(r, uint64_t(r.box[0]) * tensorElementBytes(r.type)))
    return problem;
  fillCommon(r, map);
  for (unsigned i = 0; i < r.rank; ++i)
    map.box[i] = uint16_t(r.box[i]);
  return nullptr;
}

const char *encodeIm2col(const TensorMapRequest &r, TensorMap &map) {
  if (const char *problem = checkCommon(r))
    return problem;
  if (r.rank < 3)
    return "an im2col tensor map has 3 to 5 dimensions";
  if (!r.lowerCorner || !r.upperCorner)
    return "null pointer";
  int limit = r.rank == 3 ? 1 << 15 : r.rank == 4 ? 1 << 7 : 1 << 4;
  for (unsigned i = 0; i + 2 < r.rank; ++i)
    if (r.lowerCorner[i] < -limit || r.lowerCorner[i] >= limit || r.upperCorner[i] < -limit ||
        r.upperCorner[i] >= limit)
      return "a corner of the pixel box is out of range";
  if (r.channels < 1 || r.channels > 256 || r.pixels < 1 || r.pixels > 1024)
    return "an im2col box has up to 256 channels and 1024 pixels";
  if (const char *problem = checkRow(r, uint64_t(r.channels) * tensorElementBytes(r.type)))
    return problem;
  fillCommon(r, map);
  map.isIm2col = 1;
  map.channels = uint16_t(r.channels);
  map.pixels = uint16_t(r.pixels);
  for (unsigned i = 0; i + 2 < r.rank; ++i) {
    map.lowerCorner[i] = int16_t(r.lowerCorner[i]);
    map.upperCorner[i] = int16_t(r.upperCorner[i]);
  }
  return nullptr;
}

uint64_t tensorBoxBytes(const TensorMap &map) {
  if (map.isIm2col)
    return uint64_t(map.channels) * map.pixels * tensorElementBytes(map.type);
  uint64_t bytes = uint64_t(map.box[0]) * tensorElementBytes(map.type);
  for (unsigned i = 1; i < map.rank; ++i)
    bytes *= steps(map, i);
  return bytes;
}

TensorRows::TensorRows(const TensorMap &map, const int32_t *first, const uint16_t *shift) : map(map) {
  for (unsigned i = 0; i < map.rank; ++i)
    start[i] = at[i] = first[i];
  for (unsigned i = 0; shift && i + 2 < map.rank; ++i)
    offsets[i] = shift[i];
  rowBytes = uint64_t(map.isIm2col ? map.channels : map.box[0]) * tensorElementBytes(map.type);
  total = tensorBoxBytes(map) / (rowBytes ? rowBytes : 1);
}

bool TensorRows::next(TensorRow &row) {
  if (done == total)
    return false;
  row.inShared = done * rowBytes;
  row.count = uint32_t(rowBytes / tensorElementBytes(map.type));
  bool inside = true;
  row.inGlobal = map.address + uint64_t(at[0]) * tensorElementBytes(map.type);
  for (unsigned i = 1; i < map.rank; ++i) {
    bool isPixel = map.isIm2col && i + 1 < map.rank;
    int64_t index = at[i] + (isPixel ? offsets[i - 1] : 0);
    inside &= index >= 0 && index <= int64_t(map.lastIndex[i]);
    row.inGlobal += uint64_t(index) * map.strides[i - 1];
  }
  int64_t size = int64_t(map.lastIndex[0]) + 1;
  row.first = uint32_t(std::clamp<int64_t>(-at[0], 0, row.count));
  row.end = uint32_t(std::clamp<int64_t>(size - at[0], row.first, row.count));
  if (!inside)
    row.first = row.end = 0;
  ++done;
  map.isIm2col ? advancePixel() : advanceTile();
  return true;
}

void TensorRows::advanceTile() {
  for (unsigned i = 1; i < map.rank; ++i) {
    at[i] += map.elementStrides[i];
    if (at[i] < start[i] + int64_t(map.box[i]))
      return;
    at[i] = start[i];
  }
}

/// Pixels follow each other inside the bounding box, line by line and image by image.
void TensorRows::advancePixel() {
  for (unsigned i = 1; i + 1 < map.rank; ++i) {
    at[i] += map.elementStrides[i];
    if (at[i] <= int64_t(map.lastIndex[i]) + map.upperCorner[i - 1])
      return;
    at[i] = map.lowerCorner[i - 1];
  }
  ++at[map.rank - 1];
}

/// Chunks of 16 bytes change places with those of other rows, so that columns fall into different banks.
uint64_t swizzled(unsigned swizzle, uint64_t address) {
  return address ^ ((address >> 7 & ((1u << swizzle) - 1)) << 4);
}

} // namespace joule::vgpu
