// Textures and surfaces on the engine: kernels of cuda/textures.cu against the programming guide's formulas, written
// out here once more and in another way: coordinates are moved into the image before texels are chosen.
#include "test/lib/VirtualGpu/Harness.h"

#include <cmath>
#include <fstream>
#include <limits>
#include <sstream>

using namespace joule::vgpu;
using namespace joule::vgpu::test;

namespace {

std::string texturesPtx() {
  std::ifstream file(std::string(JOULE_VGPU_CUDA) + "/textures.ptx");
  EXPECT_TRUE(file);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

struct Four {
  float v[4];
  bool operator==(const Four &o) const { return memcmp(v, o.v, sizeof v) == 0; }
};
std::ostream &operator<<(std::ostream &out, const Four &f) {
  return out << "(" << f.v[0] << ", " << f.v[1] << ", " << f.v[2] << ", " << f.v[3] << ")";
}

struct Size {
  uint32_t width = 1, height = 1, depth = 1;
};

/// An image of f32 texels, and what the guide says of it.
struct FloatImage {
  Size size;
  unsigned channels = 4;
  std::vector<float> values;

  FloatImage(Size size, unsigned channels) : size(size), channels(channels) {
    for (size_t i = 0; i < size_t(size.width) * size.height * size.depth * channels; ++i)
      values.push_back(float(int(i * 37 % 101) - 50) / 8);
  }
  float at(int64_t x, int64_t y, int64_t z, unsigned c) const {
    return values[((size_t(z) * size.height + size_t(y)) * size.width + size_t(x)) * channels + c];
  }
};

struct Guide {
  AddressMode mode;
  bool linear, normalised;

  /// The coordinate in texels, moved into the image where the mode does that.
  long double moved(float x, uint32_t n) const {
    long double at = x, size = n;
    if (normalised) {
      if (mode == AddressMode::Wrap)
        at = at - floorl(at);
      if (mode == AddressMode::Mirror)
        at = fmodl(floorl(at), 2) == 0 ? at - floorl(at) : 1 - (at - floorl(at));
      at *= size;
    }
    return at;
  }
  /// The texel of an index, which filtering may take beyond the edge by one; false: the border.
  bool texel(int64_t i, uint32_t n, int64_t &out) const {
    bool inside = i >= 0 && i < int64_t(n);
    out = i;
    if (inside)
      return true;
    if (mode == AddressMode::Border)
      return false;
    if (mode == AddressMode::Wrap && normalised)
      out = i < 0 ? n - 1 : 0;
    else
      out = i < 0 ? 0 : n - 1; // the mirror image of what lies beyond the edge lies before it
    return true;
  }

  float value(const FloatImage &image, unsigned dimensions, const float *p, unsigned c, int64_t layer) const {
    const uint32_t sizes[3] = {image.size.width, image.size.height, image.size.depth};
    long double sum = 0;
    for (unsigned corner = 0; corner < (linear ? 1u << dimensions : 1u); ++corner) {
      long double weight = 1;
      int64_t index[3] = {0, 0, layer};
      bool isBorder = false;
      for (unsigned axis = 0; axis < dimensions; ++axis) {
        long double at = moved(p[axis], sizes[axis]) - (linear ? 0.5L : 0.L);
        int64_t first = int64_t(floorl(at));
        long double alpha = roundl((at - floorl(at)) * 256) / 256;
        bool upper = corner >> axis & 1;
        if (linear)
          weight *= upper ? alpha : 1 - alpha;
        isBorder |= !texel(first + upper, sizes[axis], index[axis]);
      }
      sum += weight * (isBorder ? 0 : (long double)image.at(index[0], index[1], index[2], c));
    }
    return float(sum);
  }
};

struct Bound {
  uint64_t handle;
  std::shared_ptr<ImageObject> object;
};

class TextureTest : public testing::Test {
protected:
  Device device{texturesPtx()};

  /// A texture of `texels`, row by row and slice by slice.
  template <class T>
  std::shared_ptr<ImageObject> make(const std::vector<T> &texels, TexelFormat format, Size size, unsigned dimensions) {
    auto object = std::make_shared<ImageObject>();
    object->image.format = format;
    object->image.dimensions = uint8_t(dimensions);
    uint64_t row = uint64_t(size.width) * format.bytes();
    object->image.levels.push_back(
        {device.upload(texels), size.width, size.height, size.depth, row, row * size.height});
    return object;
  }
  std::shared_ptr<ImageObject> make(const FloatImage &image, unsigned dimensions) {
    return make(image.values, {TexelKind::Float, 32, uint8_t(image.channels)}, image.size, dimensions);
  }
  uint64_t add(std::shared_ptr<ImageObject> object) { return device.memory.images().add(std::move(object)); }

  template <class T = Four>
  std::vector<T> look(const std::string &kernel, uint64_t texture, const std::vector<Four> &points, size_t each = 1) {
    Device::Shape shape;
    shape.block[0] = 64, shape.grid[0] = uint32_t(points.size() + 63) / 64;
    uint64_t out = device.upload(std::vector<T>(points.size() * each));
    device.run(kernel, shape, texture, device.upload(points), out, int(points.size()));
    return device.download<T>(out, points.size() * each);
  }

  /// Points in and around an image, on edges and between.
  static std::vector<Four> points(const Size &size, bool normalised) {
    std::vector<Four> all;
    for (int i = 0; i < 150; ++i) {
      auto at = [&](uint32_t n, int k) {
        float x = float((i * k + 5 * k) % 97) / 97 * 3.2f - 1.1f; // from -1.1 to 2.1 images
        x = i % 5 == 0 ? std::floor(x * float(n)) / float(n) : x;
        return normalised ? x : x * float(n);
      };
      all.push_back({{at(size.width, 31), at(size.height, 17), at(size.depth, 7), 0}});
    }
    return all;
  }
};

TEST_F(TextureTest, EveryFilterAndAddressModeInEveryDimension) {
  const char *const kernels[] = {"sample1d", "sample2d", "sample3d"};
  const Size sizes[] = {{11, 1, 1}, {8, 5, 1}, {5, 4, 3}};
  for (unsigned dimensions = 1; dimensions <= 3; ++dimensions)
    for (AddressMode mode : {AddressMode::Wrap, AddressMode::Clamp, AddressMode::Mirror, AddressMode::Border})
      for (bool linear : {false, true})
        for (bool normalised : {false, true}) {
          FloatImage image(sizes[dimensions - 1], 4);
          auto object = make(image, dimensions);
          object->sampler.linear = linear;
          object->sampler.normalisedCoordinates = normalised;
          for (AddressMode &m : object->sampler.modes)
            m = mode;
          std::vector<Four> at = points(image.size, normalised);
          std::vector<Four> got = look(kernels[dimensions - 1], add(object), at);
          Guide guide{mode, linear, normalised};
          for (size_t i = 0; i < at.size(); ++i)
            for (unsigned c = 0; c < 4; ++c)
              ASSERT_EQ(got[i].v[c], guide.value(image, dimensions, at[i].v, c, 0))
                  << dimensions << "D, mode " << int(mode) << (linear ? ", linear" : ", point")
                  << (normalised ? ", normalised" : "") << ", channel " << c << " at " << at[i];
        }
}

TEST_F(TextureTest, AWeightIsAMultipleOfOne256th) {
  auto object = make(FloatImage({2, 1, 1}, 1), 1);
  object->sampler.linear = true;
  float *texels = reinterpret_cast<float *>(object->image.levels[0].address);
  texels[0] = 0, texels[1] = 256;
  std::vector<Four> got = look("sample1d", add(object), {{{0.5f}}, {{0.5f + 1.f / 256}}, {{0.5f + 1.49f / 256}},
                                                         {{0.5f + 1.51f / 256}}, {{0.5f + 255.6f / 256}}, {{1.5f}}});
  const float want[] = {0, 1, 1, 2, 256, 256};
  for (int i = 0; i < 6; ++i)
    EXPECT_EQ(got[i].v[0], want[i]) << i;
}

TEST_F(TextureTest, LayersAreNotMixed) {
  for (unsigned dimensions : {1u, 2u}) {
    Size size{6, dimensions == 1 ? 1u : 4u, 3};
    FloatImage image(size, 2);
    auto object = make(image, dimensions);
    object->image.layered = true;
    object->sampler.linear = true;
    std::vector<Four> at = points({size.width, size.height, 1}, false);
    for (size_t i = 0; i < at.size(); ++i)
      at[i].v[3] = float(i % 5); // two of them behind the last
    std::vector<Four> got = look(dimensions == 1 ? "sample1d_layered" : "sample2d_layered", add(object), at);
    Guide guide{AddressMode::Clamp, true, false};
    for (size_t i = 0; i < at.size(); ++i)
      for (unsigned c = 0; c < 4; ++c)
        ASSERT_EQ(got[i].v[c], c < 2 ? guide.value(image, dimensions, at[i].v, c, std::min<int64_t>(i % 5, 2)) : c == 3)
            << dimensions << "D at " << at[i];
  }
}

/// The guide's table of faces, as it stands there: face, s and t for the longest of x, y and z.
void faceOf(const float *p, int &face, double &s, double &t) {
  double x = p[0], y = p[1], z = p[2], m;
  if (std::fabs(x) >= std::fabs(y) && std::fabs(x) >= std::fabs(z))
    face = x >= 0 ? 0 : 1, m = std::fabs(x), s = x >= 0 ? -z : z, t = -y;
  else if (std::fabs(y) >= std::fabs(z))
    face = y >= 0 ? 2 : 3, m = std::fabs(y), s = x, t = y >= 0 ? z : -z;
  else
    face = z >= 0 ? 4 : 5, m = std::fabs(z), s = z >= 0 ? x : -x, t = -y;
  s = (s / m + 1) / 2, t = (t / m + 1) / 2;
}

std::vector<Four> directions() {
  std::vector<Four> all;
  for (int i = 0; i < 200; ++i)
    all.push_back({{float(i * 37 % 41 - 20) / 16 + 0.01f, float(i * 53 % 43 - 21) / 16 + 0.003f,
                    float(i * 71 % 47 - 23) / 16 + 0.007f, float(i % 2)}});
  return all;
}

TEST_F(TextureTest, CubesHaveSixFaces) {
  FloatImage image({4, 4, 12}, 4);
  std::vector<Four> at = directions();
  for (bool layered : {false, true}) {
    auto object = make(image, 2);
    object->image.cube = true;
    object->image.layered = layered;
    object->sampler.normalisedCoordinates = true;
    if (!layered)
      object->image.levels[0].depth = 6;
    std::vector<Four> got = look(layered ? "sample_cube_layered" : "sample_cube", add(object), at);
    for (size_t i = 0; i < at.size(); ++i) {
      int face;
      double s, t;
      faceOf(at[i].v, face, s, t);
      int64_t x = std::min<int64_t>(3, int64_t(s * 4)), y = std::min<int64_t>(3, int64_t(t * 4));
      int64_t slice = face + (layered ? 6 * int64_t(at[i].v[3]) : 0);
      for (unsigned c = 0; c < 4; ++c)
        ASSERT_EQ(got[i].v[c], image.at(x, y, slice, c)) << at[i];
    }
  }
}

// A function that is linear in space, sampled at the texels' centres, has no seam: with one it would jump by a texel.
TEST_F(TextureTest, ASeamlessCubeGoesOnBeyondItsEdges) {
  constexpr int n = 32;
  FloatImage image({n, n, 6}, 1);
  auto normal = [](int face, double s, double t, double *d) {
    const double table[6][3] = {{1, -t, -s}, {-1, -t, s}, {s, 1, t}, {s, -1, -t}, {s, -t, 1}, {-s, -t, -1}};
    double length = std::sqrt(1 + s * s + t * t);
    for (int i = 0; i < 3; ++i)
      d[i] = table[face][i] / length;
  };
  for (int face = 0; face < 6; ++face)
    for (int y = 0; y < n; ++y)
      for (int x = 0; x < n; ++x) {
        double d[3];
        normal(face, (x + 0.5) / n * 2 - 1, (y + 0.5) / n * 2 - 1, d);
        image.values[size_t((face * n + y) * n + x)] = float(d[0] + 2 * d[1] + 3 * d[2]);
      }
  auto object = make(image, 2);
  object->image.cube = true;
  object->sampler.normalisedCoordinates = object->sampler.linear = object->sampler.seamless = true;
  std::vector<Four> at = {{{1, 1, 0.3f}}, {{1, 0.999f, 0.3f}}, {{-1, 0.2f, 1}}, {{0.1f, -1, 1}}, {{1, 1, 1}}, {{-1, -1, -1}}};
  for (const Four &p : directions())
    at.push_back(p);
  std::vector<Four> got = look("sample_cube", add(object), at);
  for (size_t i = 0; i < at.size(); ++i) {
    const float *p = at[i].v;
    double length = std::sqrt(double(p[0]) * p[0] + double(p[1]) * p[1] + double(p[2]) * p[2]);
    ASSERT_NEAR(got[i].v[0], (p[0] + 2 * p[1] + 3 * p[2]) / length, 0.03) << at[i];
  }
}

TEST_F(TextureTest, LevelsOfDetail) {
  FloatImage levels[3] = {FloatImage({8, 8, 1}, 1), FloatImage({4, 4, 1}, 1), FloatImage({2, 2, 1}, 1)};
  for (int l = 0; l < 3; ++l)
    levels[l].values.assign(levels[l].values.size(), float(100 * l));
  auto object = make(levels[0], 2);
  for (int l = 1; l < 3; ++l)
    object->image.levels.push_back(make(levels[l], 2)->image.levels[0]);
  object->sampler.normalisedCoordinates = true;
  object->sampler.mostLevel = 10;
  std::vector<Four> at;
  for (float lod : {-1.f, 0.f, 0.4f, 0.6f, 1.f, 1.25f, 1.999f, 2.f, 7.f})
    at.push_back({{0.3f, 0.6f, 0, lod}});
  auto expect = [&](std::vector<float> want) {
    std::vector<Four> got = look("sample2d_level", add(std::make_shared<ImageObject>(*object)), at);
    for (size_t i = 0; i < at.size(); ++i)
      EXPECT_EQ(got[i].v[0], want[i]) << "level " << at[i].v[3];
  };
  expect({0, 0, 0, 100, 100, 100, 200, 200, 200});
  object->sampler.linearBetweenLevels = true; // weights of levels have 8 bits too
  expect({0, 0, 100 * 102.f / 256, 100 * 154.f / 256, 100, 125, 200, 200, 200});
  object->sampler.bias = 0.25f, object->sampler.leastLevel = 0.5f, object->sampler.mostLevel = 1.5f;
  expect({50, 50, 100 * 166.f / 256, 100 * 218.f / 256, 125, 150, 150, 150, 150});
  // The longer of two derivatives, in texels: 2 of 8 columns, 4 of 8 rows.
  object->sampler.bias = 0, object->sampler.leastLevel = 0, object->sampler.mostLevel = 10;
  at = {{{0.5f, 0.5f, 1 / 8.f, 1 / 8.f}}, {{0.5f, 0.5f, 2 / 8.f, 1 / 8.f}}, {{0.5f, 0.5f, 0, 4 / 8.f}}};
  std::vector<Four> got = look("sample2d_gradient", add(object), at);
  EXPECT_EQ(got[0].v[0], 0);
  EXPECT_EQ(got[1].v[0], 100);
  EXPECT_EQ(got[2].v[0], 200);
}

TEST_F(TextureTest, GatherTakesOneChannelOfFourTexels) {
  FloatImage image({4, 3, 1}, 4);
  std::vector<Four> got = look("gather", add(make(image, 2)), {{{2, 1}}, {{0.2f, 2.9f}}}, 4);
  for (unsigned c = 0; c < 4; ++c) {
    EXPECT_EQ(got[c], (Four{{image.at(1, 1, 0, c), image.at(2, 1, 0, c), image.at(2, 0, 0, c), image.at(1, 0, 0, c)}}));
    float corner = image.at(0, 2, 0, c);
    EXPECT_EQ(got[4 + c], (Four{{corner, corner, corner, corner}}));
  }
}

// --- types ---

template <class T, class Out>
void expectFetched(TextureTest &, Device &device, const std::string &kernel, std::shared_ptr<ImageObject> object,
                   const std::vector<T> &texels, unsigned channels, Out (*value)(T), Out one, int before) {
  struct Result {
    Out v[4];
  };
  int n = int(texels.size() / channels) + 2 * before;
  uint64_t out = device.upload(std::vector<Result>(size_t(n)));
  device.run(kernel, {}, device.memory.images().add(std::move(object)), out, n);
  auto got = device.download<Result>(out, size_t(n));
  for (int i = 0; i < n; ++i)
    for (unsigned c = 0; c < 4; ++c) {
      int at = i - before;
      bool inside = at >= 0 && at * int(channels) < int(texels.size());
      Out want = !inside ? Out(0) : c < channels ? value(texels[size_t(at) * channels + c]) : c == 3 ? one : Out(0);
      ASSERT_EQ(got[size_t(i)].v[c], want) << kernel << ", " << channels << " channels of " << sizeof(T) << " bytes, texel "
                                           << at << ", channel " << c;
    }
}

template <class T> std::vector<T> someTexels(unsigned channels) {
  std::vector<T> all;
  for (unsigned i = 0; i < 12 * channels; ++i)
    all.push_back(T(i * 2654435761u >> 3));
  all[0] = std::numeric_limits<T>::min(), all[1] = std::numeric_limits<T>::max();
  return all;
}

TEST_F(TextureTest, EveryTypeAndNumberOfChannels) {
  auto integers = [&](auto zero) {
    using T = decltype(zero);
    using Wide = std::conditional_t<std::is_signed_v<T>, int, unsigned>;
    for (unsigned channels : {1u, 2u, 4u}) {
      std::vector<T> texels = someTexels<T>(channels);
      TexelKind kind = std::is_signed_v<T> ? TexelKind::Signed : TexelKind::Unsigned;
      auto object = make(texels, {kind, uint8_t(8 * sizeof(T)), uint8_t(channels)}, {12, 1, 1}, 1);
      object->sampler.readsIntegers = true;
      bool isSigned = std::is_signed_v<T>; // the kernel for signed ones starts four texels before the first
      expectFetched<T, Wide>(*this, device, isSigned ? "fetch" : "fetch_unsigned", object, texels, channels,
                             [](T x) { return Wide(x); }, 1, isSigned ? 4 : 0);
      if (sizeof(T) == 4)
        continue;
      auto asFloat = std::make_shared<ImageObject>(*object);
      asFloat->sampler.readsIntegers = false;
      expectFetched<T, float>(*this, device, "fetch_float", asFloat, texels, channels,
                              [](T x) { return std::max(float(x) / float(std::numeric_limits<T>::max()), -1.f); }, 1.f, 0);
    }
  };
  integers(uint8_t());
  integers(uint16_t());
  integers(uint32_t());
  integers(int8_t());
  integers(int16_t());
  integers(int32_t());
  for (unsigned channels : {1u, 2u, 4u}) {
    std::vector<float> floats(12 * channels);
    std::vector<uint16_t> halves(12 * channels);
    for (size_t i = 0; i < halves.size(); ++i) // 2^-3 to 2^3, exactly
      floats[i] = float(1 << i % 7) / 8, halves[i] = uint16_t((12 + i % 7) << 10);
    expectFetched<float, float>(*this, device, "fetch_float",
                                make(floats, {TexelKind::Float, 32, uint8_t(channels)}, {12, 1, 1}, 1), floats, channels,
                                [](float x) { return x; }, 1.f, 0);
    expectFetched<uint16_t, float>(*this, device, "fetch_float",
                                   make(halves, {TexelKind::Float, 16, uint8_t(channels)}, {12, 1, 1}, 1), halves,
                                   channels, [](uint16_t h) { return std::ldexp(1.f, (h >> 10) - 15); }, 1.f, 0);
  }
}

TEST_F(TextureTest, TheBorderHasAColour) {
  auto object = make(FloatImage({4, 4, 1}, 4), 2);
  for (AddressMode &mode : object->sampler.modes)
    mode = AddressMode::Border;
  const float colour[4] = {1, 2, 3, 4};
  memcpy(object->sampler.border, colour, sizeof colour);
  EXPECT_EQ(look("sample2d", add(object), {{{-1, 2}}})[0], (Four{{1, 2, 3, 4}}));
}

TEST_F(TextureTest, LanesThatDoNotLookKeepTheirValues) {
  FloatImage image({4, 4, 1}, 1);
  uint64_t texture = add(make(image, 2)), out = device.upload(std::vector<float>(32));
  device.run("resident", {}, texture, out);
  std::vector<float> got = device.download<float>(out, 32);
  for (int i = 0; i < 32; ++i)
    EXPECT_EQ(got[size_t(i)], i % 3 == 1 ? image.at(1, 0, 0, 0) : -2);
}

// --- surfaces ---

class SurfaceTest : public TextureTest {
protected:
  std::shared_ptr<ImageObject> surface(Size size, unsigned bytes, unsigned dimensions) {
    TexelFormat format{TexelKind::Unsigned, uint8_t(bytes > 4 ? 2 * bytes : 8), uint8_t(std::min(bytes, 4u))};
    auto object = make(std::vector<uint8_t>(size_t(size.width) * size.height * size.depth * bytes), format, size, dimensions);
    object->kind = ImageObject::Surface;
    return object;
  }
};

TEST_F(SurfaceTest, ReadsAndWritesOfEveryWidth) {
  const std::pair<const char *, unsigned> types[] = {{"u8", 1}, {"s16", 2}, {"f32", 4}, {"u64", 8}, {"u8x4", 4}, {"f32x4", 16}};
  for (auto [name, bytes] : types)
    for (const char *mode : {"turn_", "turn_clamp_", "turn_zero_"}) {
      auto in = surface({6, 6, 1}, bytes, 2), out = surface({6, 6, 1}, bytes, 2);
      auto *from = reinterpret_cast<uint8_t *>(in->image.levels[0].address);
      auto *to = reinterpret_cast<const uint8_t *>(out->image.levels[0].address);
      for (unsigned i = 0; i < 36 * bytes; ++i)
        from[i] = uint8_t(i * 7 + 1);
      bool traps = std::string(mode) == "turn_", clamps = std::string(mode) == "turn_clamp_";
      int dx = traps ? 0 : 2;
      Device::Shape shape;
      shape.block[0] = 6, shape.block[1] = 6;
      device.run(mode + std::string(name), shape, add(in), add(out), dx);
      for (unsigned y = 0; y < 6; ++y)
        for (unsigned x = 0; x < 6; ++x)
          for (unsigned k = 0; k < bytes; ++k) {
            unsigned source = x + unsigned(dx);
            uint8_t want = source < 6 || clamps ? from[(y * 6 + std::min(source, 5u)) * bytes + k] : 0;
            ASSERT_EQ(to[(x * 6 + y) * bytes + k], want) << mode << name << " " << x << " " << y;
          }
    }
}

TEST_F(SurfaceTest, LinesVolumesLayersAndCubes) {
  auto line = surface({4, 1, 1}, 4, 1), volume = surface({4, 4, 6}, 4, 3), layers = surface({4, 4, 6}, 4, 2),
       cube = surface({4, 4, 6}, 4, 2);
  layers->image.layered = true;
  cube->image.cube = true;
  Device::Shape shape;
  shape.block[0] = 4, shape.block[1] = 4, shape.block[2] = 6;
  device.run("fill_volume", shape, add(line), add(volume), add(layers), add(cube));
  for (auto &object : {volume, layers, cube})
    for (int i = 0; i < 96; ++i)
      ASSERT_EQ(reinterpret_cast<const int *>(object->image.levels[0].address)[i], 100 * (i / 16) + 10 * (i / 4 % 4) + i % 4);
  for (int i = 0; i < 4; ++i)
    EXPECT_EQ(reinterpret_cast<const int *>(line->image.levels[0].address)[i], i);
}

// --- what goes wrong ---

TEST_F(SurfaceTest, FaultsSayWhatIsWrong) {
  auto in = surface({6, 6, 1}, 4, 2);
  uint64_t handle = add(in), points = device.upload(std::vector<Four>(1)), out = device.upload(std::vector<Four>(1));
  Device::Shape shape;
  shape.block[0] = 6, shape.block[1] = 6;
  LaunchResult result = device.launch("turn_f32", shape, handle, handle, 1);
  EXPECT_EQ(result.fault, FaultKind::Trap);
  EXPECT_NE(result.message.find("coordinate 24, which lies outside the surface"), std::string::npos) << result.message;
  EXPECT_EQ(device.launch("sample2d", {}, handle, points, out, 1).fault, FaultKind::IllegalAddress); // a surface is no texture
  uint64_t texture = add(make(FloatImage({4, 4, 1}, 4), 2));
  EXPECT_EQ(device.launch("sample2d", {}, texture, points, out, 1).fault, FaultKind::None);
  EXPECT_EQ(device.launch("sample3d", {}, texture, points, out, 1).fault, FaultKind::IllegalAddress);
  EXPECT_EQ(device.launch("sample2d_layered", {}, texture, points, out, 1).fault, FaultKind::IllegalAddress);
  device.memory.images().remove(texture);
  result = device.launch("sample2d", {}, texture, points, out, 1);
  EXPECT_EQ(result.fault, FaultKind::IllegalAddress);
  EXPECT_NE(result.message.find("no texture or surface"), std::string::npos) << result.message;
  // Memory that was freed under a texture.
  auto object = make(FloatImage({4, 4, 1}, 4), 2);
  uint64_t stale = add(object);
  device.memory.release(object->image.levels[0].address);
  EXPECT_EQ(device.launch("sample2d", {}, stale, points, out, 1).fault, FaultKind::IllegalAddress);
  EXPECT_EQ(device.launch("sample2d", {}, points, points, out, 1).fault, FaultKind::IllegalAddress); // an address is no handle
  EXPECT_EQ(device.launch("sample2d", {}, uint64_t(0), points, out, 1).fault, FaultKind::IllegalAddress);
}

// --- forms that nvcc 13 does not write ---

/// A kernel that stores four words: of `body`, in %r0 to %r3.
struct Written {
  Device device;
  explicit Written(const std::string &declarations, const std::string &body)
      : device(".version 8.3\n.target sm_90\n.address_size 64\n" + declarations +
               "\n.visible .entry k(.param .u64 object, .param .u64 out)\n{\n.reg .pred %p;\n.reg .b16 %h<4>;\n.reg .b32 %r<8>;\n"
               ".reg .f32 %f<8>;\n.reg .b64 %rd<4>;\nld.param.u64 %rd0, [object];\nld.param.u64 %rd1, [out];\n"
               "mov.u32 %r0, 0;\nmov.u32 %r1, 0;\nmov.u32 %r2, 0;\nmov.u32 %r3, 0;\n" +
               body + "\nst.global.v4.u32 [%rd1], {%r0, %r1, %r2, %r3};\nret;\n}\n") {}

  std::vector<uint32_t> run(uint64_t object) {
    uint64_t out = device.upload(std::vector<uint32_t>(4));
    Device::Shape shape;
    shape.block[0] = 1;
    device.run("k", shape, object, out);
    return device.download<uint32_t>(out, 4);
  }
  std::shared_ptr<ImageObject> image(TexelFormat format, const std::vector<uint32_t> &texels, Size size,
                                     unsigned dimensions, bool isSurface = false) {
    auto object = std::make_shared<ImageObject>();
    object->kind = isSurface ? ImageObject::Surface : ImageObject::Texture;
    object->image.format = format;
    object->image.dimensions = uint8_t(dimensions);
    object->sampler.readsIntegers = true;
    uint64_t row = uint64_t(size.width) * format.bytes();
    object->image.levels.push_back({device.upload(texels), size.width, size.height, size.depth, row, row * size.height});
    return object;
  }
  uint64_t add(std::shared_ptr<ImageObject> object) { return device.memory.images().add(std::move(object)); }
};

const TexelFormat word{TexelKind::Unsigned, 32, 1}, words{TexelKind::Unsigned, 32, 4};
using Words = std::vector<uint32_t>;

TEST(TextureForms, ReferencesOfModules) {
  for (const char *name : {"[table, {%r4}]", "[%rd2, {%r4}]"}) { // by name, and by address
    Written w(".global .texref table;", "mov.u64 %rd2, table;\nmov.u32 %r4, 1;\ntex.1d.v4.u32.s32 {%r0, %r1, %r2, %r3}, " +
                                            std::string(name) + ";");
    uint64_t out = w.device.upload(Words(4));
    Device::Shape one;
    one.block[0] = 1;
    EXPECT_EQ(w.device.launch("k", one, uint64_t(0), out).fault, FaultKind::IllegalAddress); // nothing is bound
    uint64_t handle = w.device.module.imageReference("table", ptx::Opaque::Texture);
    EXPECT_EQ(w.device.module.imageReference("table", ptx::Opaque::Surface), 0u);
    ASSERT_TRUE(w.device.memory.images().set(handle, w.image(words, {1, 2, 3, 4, 5, 6, 7, 8}, {2, 1, 1}, 1)));
    EXPECT_EQ(w.run(0), (Words{5, 6, 7, 8}));
  }
  Written s(".global .surfref target;", "mov.u32 %r4, 4;\nmov.u32 %r5, 77;\nsust.b.1d.b32.trap [target, {%r4}], {%r5};\n"
                                        "suld.b.1d.v2.b32.trap {%r0, %r1}, [target, {%r6}];\n");
  s.device.memory.images().set(s.device.module.imageReference("target", ptx::Opaque::Surface),
                               s.image(word, {11, 12}, {2, 1, 1}, 1, true));
  EXPECT_EQ(s.run(0), (Words{11, 77, 0, 0}));
}

TEST(TextureForms, SamplersOfTheirOwn) {
  Written w(".global .samplerref smooth = { filter_mode = linear, addr_mode_0 = wrap, force_unnormalized_coords = 1 };\n"
            ".global .samplerref sharp = { filter_mode = nearest, addr_mode_0 = wrap };",
            "mov.f32 %f0, 0f3F800000;\ntex.1d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [%rd0, smooth, {%f0}];\nmov.b32 %r0, %f1;\n"
            "mov.f32 %f0, 0f3FA00000;\ntex.1d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [%rd0, sharp, {%f0}];\nmov.b32 %r1, %f1;\n"
            "txq.filter_mode.b32 %r2, [smooth];\ntxq.addr_mode_0.b32 %r3, [sharp];");
  const float texels[4] = {1, 2, 4, 8};
  Words bits(4);
  memcpy(bits.data(), texels, sizeof texels);
  // Between the first two; then at 1.25 of an image, which is the second of four texels.
  EXPECT_EQ(w.run(w.add(w.image({TexelKind::Float, 32, 1}, bits, {4, 1, 1}, 1))),
            (Words{bitsAs<uint32_t>(1.5f), bitsAs<uint32_t>(2.f), 1, 0}));
}

TEST(TextureForms, HalvesOffsetsAndQuestions) {
  Words bits = {bitsAs<uint32_t>(1.5f), bitsAs<uint32_t>(-2.f), bitsAs<uint32_t>(0.25f), bitsAs<uint32_t>(4.f)};
  Written h("", "mov.u32 %r4, 0;\ntex.1d.v4.f16.s32 {%h0, %h1, %h2, %h3}, [%rd0, {%r4}];\nmov.b32 %r0, {%h0, %h1};\n"
                "mov.b32 %r1, {%h2, %h3};\ntex.1d.v2.f16x2.s32 {%r2, %r3}, [%rd0, {%r4}];");
  EXPECT_EQ(h.run(h.add(h.image({TexelKind::Float, 32, 4}, bits, {1, 1, 1}, 1))),
            (Words{0xc0003e00, 0x44003400, 0xc0003e00, 0x44003400}));
  Written o("", "mov.u32 %r4, 1;\nmov.u32 %r5, 1;\nmov.u32 %r6, -1;\nmov.u32 %r7, 1;\n"
                "tex.2d.v4.u32.s32 {%r0, _, _, %r3}, [%rd0, {%r4, %r5}], {%r6, %r7};");
  EXPECT_EQ(o.run(o.add(o.image(word, {0, 1, 2, 3, 4, 5, 6, 7, 8}, {3, 3, 1}, 2))), (Words{6, 0, 0, 1}));
  Written q("", "txq.width.b32 %r0, [%rd0];\ntxq.height.b32 %r1, [%rd0];\ntxq.channel_order.b32 %r2, [%rd0];\n"
                "txq.num_mipmap_levels.b32 %r3, [%rd0];");
  EXPECT_EQ(q.run(q.add(q.image(word, Words(12), {4, 3, 1}, 2))), (Words{4, 3, 0x10b0, 1}));
  Written s("", "suq.width.b32 %r0, [%rd0];\nsuq.depth.b32 %r1, [%rd0];\nsuq.channel_data_type.b32 %r2, [%rd0];\n"
                "suq.array_size.b32 %r3, [%rd0];");
  EXPECT_EQ(s.run(s.add(s.image(word, Words(12), {2, 2, 3}, 3, true))), (Words{2, 3, 0x10dc, 0}));
}

TEST(TextureForms, FormattedStoresAndReductions) {
  Written p("", "mov.u32 %r4, 1;\nmov.u32 %r5, 300;\nmov.u32 %r6, -5;\n"
                "sust.p.1d.v2.b32.trap [%rd0, {%r4}], {%r5, %r6};\nsuld.b.1d.b32.trap {%r0}, [%rd0, {%r7}];");
  // The second texel of two bytes: more than a signed byte holds, and -5.
  EXPECT_EQ(p.run(p.add(p.image({TexelKind::Signed, 8, 2}, {0x11223344}, {2, 1, 1}, 1, true))),
            (Words{0xfb7f3344, 0, 0, 0}));
  Written r("", "mov.u32 %r4, 4;\nmov.u32 %r5, 1;\nmov.u32 %r6, -3;\nsured.b.add.1d.u32.trap [%rd0, {%r4}], %r5;\n"
                "sured.p.min.1d.b32.trap [%rd0, {%r5}], %r6;\nsured.b.or.1d.b32.zero [%rd0, {%r6}], %r6;\n"
                "suld.b.1d.v2.b32.trap {%r0, %r1}, [%rd0, {%r7}];");
  EXPECT_EQ(r.run(r.add(r.image({TexelKind::Signed, 32, 1}, {5, 9}, {2, 1, 1}, 1, true))), (Words{5, 0xfffffffd, 0, 0}));
}

TEST(TextureForms, WhatNothingCreatesIsNamed) {
  Written w("", "mov.u32 %r4, 0;\ntex.2dms.v4.u32.s32 {%r0, %r1, %r2, %r3}, [%rd0, {%r4, %r4, %r4, %r4}];");
  uint64_t out = w.device.upload(Words(4));
  LaunchResult result = w.device.launch("k", {}, uint64_t(0), out);
  EXPECT_EQ(result.fault, FaultKind::IllegalInstruction);
  EXPECT_NE(result.message.find("several samples"), std::string::npos) << result.message;
}

TEST_F(TextureTest, TexelsAreCounted) {
  FloatImage image({64, 1, 1}, 1);
  auto object = make(image, 1);
  std::vector<Four> at;
  for (int i = 0; i < 32; ++i)
    at.push_back({{float(i) + 0.5f}});
  Device::Shape shape;
  shape.count = true;
  uint64_t texture = add(object), out = device.upload(std::vector<Four>(32)), points = device.upload(at);
  LaunchResult result = device.launch("sample1d", shape, texture, points, out, 32);
  // The points' first words stand 16 bytes apart; 32 texels of 4 bytes are 4 sectors.
  EXPECT_EQ(result.counters.memory.globalLoadSectors, 32u / 2 + 4u);
  EXPECT_EQ(result.counters.memory.globalLoadBytes, 32u * 4 + 32u * 4);
}

} // namespace
