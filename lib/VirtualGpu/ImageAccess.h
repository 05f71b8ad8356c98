// What an instruction asks of a texture or a surface, as the decoder tells the handler.
#pragma once

#include "lib/VirtualGpu/Program.h"

#include <string>

namespace joule::vgpu {

enum ImageQuery : uint8_t {
  queryWidth,
  queryHeight,
  queryDepth,
  queryArraySize,
  queryLevels,
  queryChannelType,
  queryChannelOrder,
  queryNormalised,
  queryFilter,
  queryModeX,
  queryModeY,
  queryModeZ,
  querySamples,
  queryMemoryLayout
};

/// Operands are places in the frame.
struct ImageAccess {
  enum Kind : uint8_t { Sample, Gather, Load, Store, StoreFormatted, Reduce, Query } kind = Sample;
  uint8_t dimensions = 1; // of a layer
  bool layered = false, cube = false;
  bool wholeCoordinates = false; // integers
  enum Level : uint8_t { None, Given, Derived } level = None;
  enum Outside : uint8_t { Trap, Clamp, Zero } outside = Trap;
  bool countsTexels = false; // the first coordinate of a surface: not bytes
  uint8_t channel = 0;       // of Gather
  uint8_t reduction = 0;     // scalar::Atomic
  ImageQuery query = queryWidth;
  uint8_t count = 0; // elements of data
  uint8_t type = 0;  // ptx::Type of data
  uint8_t elementBytes = 4, registerBytes = 4;
  uint32_t object = noRegister, sampler = noRegister, layer = noRegister, lod = noRegister;
  uint32_t coordinates[3] = {};
  uint32_t offsets[3] = {noRegister, noRegister, noRegister};
  uint32_t dx[3] = {noRegister, noRegister, noRegister}, dy[3] = {noRegister, noRegister, noRegister};
  uint32_t data[4] = {};
};

HandlerTable handlersOfImages();

// --- called by the handler ---

class ImageTable;
/// The handles of textures and surfaces on the device that the warp runs on.
const ImageTable &imagesOf(const Warp *w);
/// As raiseFault, in words of its own.
void raiseImageFault(Warp *w, const Op *op, FaultKind kind, const std::string &what, unsigned lane);

} // namespace joule::vgpu
