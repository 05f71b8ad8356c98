// Arrays, textures and surfaces as the device sees them: how texels lie in memory, the objects that name them, and
// what a fetch gives. Filtering is the CUDA programming guide's: weights are multiples of 1/256. What the guide leaves
// open: a weight is rounded to the nearest multiple, and the weighted sum is rounded once, to f32.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <shared_mutex>
#include <vector>

namespace joule::vgpu {

enum class TexelKind : uint8_t { Unsigned, Signed, Float };

struct TexelFormat {
  TexelKind kind = TexelKind::Unsigned;
  uint8_t bits = 8; // of a channel: 8, 16, 32
  uint8_t channels = 1;
  bool normalised = false; // integers always read as [0, 1] or [-1, 1]

  unsigned channelBytes() const { return bits / 8; }
  unsigned bytes() const { return channelBytes() * channels; }
};

/// A grid of texels. Where a dimension is missing its size is 1; layers and the faces of cubes count as depth.
struct ImageLevel {
  uint64_t address = 0;
  uint32_t width = 1, height = 1, depth = 1;
  uint64_t rowBytes = 0, sliceBytes = 0;

  uint64_t end() const { return address + sliceBytes * depth; }
};

struct Image {
  TexelFormat format;
  uint8_t dimensions = 1; // of a layer
  bool layered = false, cube = false, linear = false;
  std::vector<ImageLevel> levels;

  unsigned layers() const { return (layered || cube) ? levels[0].depth / (cube ? 6 : 1) : 0; }
};

enum class AddressMode : uint8_t { Wrap, Clamp, Mirror, Border };

struct Sampler {
  AddressMode modes[3] = {AddressMode::Clamp, AddressMode::Clamp, AddressMode::Clamp};
  bool linear = false, linearBetweenLevels = false;
  bool normalisedCoordinates = false;
  bool readsIntegers = false; // integers stay what they are
  bool srgb = false, seamless = false;
  float bias = 0, leastLevel = 0, mostLevel = 0;
  uint32_t border[4] = {}; // the bits of floats, or of integers where these are read
};

/// What a handle names: a texture, a surface, or a sampler alone.
struct ImageObject {
  enum Kind : uint8_t { Texture, Surface, SamplerOnly } kind = Texture;
  Image image;
  Sampler sampler;
};

/// The handles of a device. A kernel holds them as plain numbers, so every use looks them up.
class ImageTable {
public:
  /// Null: a reference to which nothing is bound yet.
  uint64_t add(std::shared_ptr<const ImageObject> object);
  /// False if there is no such handle.
  bool set(uint64_t handle, std::shared_ptr<const ImageObject> object);
  bool remove(uint64_t handle);
  /// Null if the handle was not given out, is removed, or its memory is gone.
  std::shared_ptr<const ImageObject> find(uint64_t handle) const;
  /// Memory goes: objects that look at it name nothing from here on.
  void forget(uint64_t low, uint64_t high);

  /// Handles stand in a window of their own, apart from addresses.
  static bool isHandle(uint64_t value) { return value >> 56 == 5; }

private:
  mutable std::shared_mutex mutex;
  std::map<uint64_t, std::shared_ptr<const ImageObject>> objects;
  uint64_t next = (5ull << 56) + 1;
};

/// The texels that a fetch reads, for counters.
struct TouchedTexels {
  uint64_t addresses[64];
  unsigned count = 0;
};

struct FetchPoint {
  double at[3] = {}; // coordinates as the instruction gives them
  int32_t offsets[3] = {};
  int64_t layer = 0;
};

/// The four channels: floats as their bits, or integers.
struct Texel {
  uint32_t channels[4] = {};
};

class Fetcher {
public:
  Fetcher(const Image &image, const Sampler &sampler, TouchedTexels *touched)
      : image(image), sampler(sampler), touched(touched) {}

  /// By the sampler's rules, at a level of detail.
  Texel sample(const FetchPoint &point, double level) const;
  /// The level of detail that the sampler takes for `level`.
  double settledLevel(double level) const;
  /// The level of detail of these derivatives, two vectors along the axes.
  double levelOf(const double dx[3], const double dy[3]) const;
  /// One texel by its integer coordinates; zeros outside.
  Texel load(const int32_t at[3], int64_t layer, int64_t level) const;
  /// One channel of the four texels that linear filtering would mix, from the lower left counter-clockwise.
  Texel gather(const FetchPoint &point, unsigned channel) const;
  /// Are results floats, not integers?
  bool givesFloats() const;

private:
  struct Value {
    double channels[4];
  };
  struct Taps {
    int64_t index[2];
    double weight[2];
    unsigned count;
  };
  Value filtered(const FetchPoint &point, size_t level) const;
  FetchPoint onFace(const FetchPoint &point) const;
  double position(const FetchPoint &point, unsigned axis, size_t level) const;
  Taps taps(double position, bool linear) const;
  AddressMode modeOf(unsigned axis) const;
  Texel texel(size_t level, const int64_t at[3], int64_t slice) const;
  Texel texelOfCube(size_t level, int64_t x, int64_t y, int64_t slice) const;
  Texel read(const ImageLevel &level, uint64_t x, uint64_t y, uint64_t z) const;
  Texel borderTexel() const;
  int64_t sliceOf(const FetchPoint &point) const;
  bool filtersLinearly() const { return sampler.linear && givesFloats() && !image.linear; }

  const Image &image;
  const Sampler &sampler;
  TouchedTexels *touched;
};

/// A value in the form that the image stores: sust.p.
void storeChannel(const TexelFormat &format, uint32_t bits, uint8_t *to);

} // namespace joule::vgpu
