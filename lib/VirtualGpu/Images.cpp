// Handles, and fetching by the programming guide's formulas.
#include "lib/VirtualGpu/Images.h"
#include "lib/VirtualGpu/Ptx.h"
#include "lib/VirtualGpu/Scalar.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <mutex>

namespace joule::vgpu {

// --- handles ---

uint64_t ImageTable::add(std::shared_ptr<const ImageObject> object) {
  std::unique_lock lock(mutex);
  objects[next] = std::move(object);
  return next++;
}

bool ImageTable::set(uint64_t handle, std::shared_ptr<const ImageObject> object) {
  std::unique_lock lock(mutex);
  auto it = objects.find(handle);
  if (it == objects.end())
    return false;
  it->second = std::move(object);
  return true;
}

bool ImageTable::remove(uint64_t handle) {
  std::unique_lock lock(mutex);
  return objects.erase(handle) != 0;
}

std::shared_ptr<const ImageObject> ImageTable::find(uint64_t handle) const {
  std::shared_lock lock(mutex);
  auto it = objects.find(handle);
  return it == objects.end() ? nullptr : it->second;
}

void ImageTable::forget(uint64_t low, uint64_t high) {
  std::unique_lock lock(mutex);
  for (auto &[handle, object] : objects) {
    bool isGone = false;
    for (size_t i = 0; object && i < object->image.levels.size(); ++i)
      isGone |= object->image.levels[i].address < high && object->image.levels[i].end() > low;
    if (isGone)
      object = nullptr;
  }
}

// --- one texel ---

namespace {

float floatOf(uint32_t bits) {
  float x;
  memcpy(&x, &bits, sizeof x);
  return x;
}
uint32_t bitsOf(float x) {
  uint32_t bits;
  memcpy(&bits, &x, sizeof bits);
  return bits;
}

uint32_t convert(ptx::Type to, ptx::Type from, uint32_t bits) {
  scalar::Rule rule;
  rule.to = uint8_t(to), rule.from = uint8_t(from);
  return uint32_t(scalar::convert(scalar::pack(rule), bits));
}

/// The stored bits of a channel, with its sign.
int64_t storedInteger(const TexelFormat &format, const uint8_t *from) {
  uint32_t raw = 0;
  memcpy(&raw, from, format.channelBytes());
  unsigned unused = 64 - format.bits;
  return format.kind == TexelKind::Signed ? int64_t(uint64_t(raw) << unused) >> unused : int64_t(raw);
}

/// Integers of 8 and 16 bits as [0, 1] or [-1, 1].
float normalised(const TexelFormat &format, int64_t value) {
  bool isSigned = format.kind == TexelKind::Signed;
  float largest = float((int64_t(1) << (format.bits - isSigned)) - 1);
  return std::max(float(value) / largest, -1.f);
}

float linearOfSrgb(float x) { return x <= 0.04045f ? x / 12.92f : std::pow((x + 0.055f) / 1.055f, 2.4f); }

/// A number as an index: what is too large for any texture stays too large.
int64_t indexOf(double x) {
  constexpr double far = double(1ull << 40);
  return std::isnan(x) ? 0 : int64_t(std::floor(std::min(std::max(x, -far), far)));
}

/// A fraction as a weight with 8 bits behind the point; 1 is one of them.
double weightOf(double fraction) { return std::floor(fraction * 256 + 0.5) / 256; }

int64_t modulo(int64_t i, int64_t n) { return (i % n + n) % n; }

/// The index that an index outside means; -1 for the border.
int64_t placed(int64_t i, int64_t n, AddressMode mode) {
  if (i >= 0 && i < n)
    return i;
  switch (mode) {
  case AddressMode::Wrap:
    return modulo(i, n);
  case AddressMode::Mirror:
    i = modulo(i, 2 * n);
    return i < n ? i : 2 * n - 1 - i;
  case AddressMode::Clamp:
    return i < 0 ? 0 : n - 1;
  case AddressMode::Border:
    return -1;
  }
  return -1;
}

} // namespace

bool Fetcher::givesFloats() const {
  const TexelFormat &format = image.format;
  return format.kind == TexelKind::Float || format.normalised ||
         (!sampler.readsIntegers && format.bits < 32);
}

Texel Fetcher::read(const ImageLevel &level, uint64_t x, uint64_t y, uint64_t z) const {
  const TexelFormat &format = image.format;
  uint64_t address = level.address + z * level.sliceBytes + y * level.rowBytes + x * format.bytes();
  if (touched && touched->count < std::size(touched->addresses))
    touched->addresses[touched->count++] = address;
  const auto *from = reinterpret_cast<const uint8_t *>(address);
  Texel texel;
  texel.channels[3] = givesFloats() ? bitsOf(1) : 1; // a channel that is not stored: 0, the last 1
  for (unsigned c = 0; c < format.channels; ++c, from += format.channelBytes()) {
    uint32_t raw = uint32_t(storedInteger(format, from));
    if (format.kind == TexelKind::Float)
      texel.channels[c] = format.bits == 16 ? convert(ptx::Type::F32, ptx::Type::F16, raw) : raw;
    else if (!givesFloats())
      texel.channels[c] = raw;
    else {
      float value = normalised(format, storedInteger(format, from));
      texel.channels[c] = bitsOf(sampler.srgb && c < 3 ? linearOfSrgb(value) : value);
    }
  }
  return texel;
}

Texel Fetcher::borderTexel() const {
  Texel texel;
  memcpy(texel.channels, sampler.border, sizeof texel.channels);
  return texel;
}

AddressMode Fetcher::modeOf(unsigned axis) const {
  if (image.cube)
    return AddressMode::Clamp;
  AddressMode mode = sampler.modes[axis];
  bool repeats = mode == AddressMode::Wrap || mode == AddressMode::Mirror;
  return repeats && !sampler.normalisedCoordinates ? AddressMode::Clamp : mode;
}

Texel Fetcher::texel(size_t level, const int64_t at[3], int64_t slice) const {
  const ImageLevel &l = image.levels[level];
  if (image.cube && sampler.seamless)
    return texelOfCube(level, at[0], at[1], slice);
  const int64_t sizes[3] = {l.width, l.height, l.depth};
  int64_t index[3] = {0, 0, slice};
  for (unsigned axis = 0; axis < image.dimensions; ++axis)
    if ((index[axis] = placed(at[axis], sizes[axis], modeOf(axis))) < 0)
      return borderTexel();
  return read(l, uint64_t(index[0]), uint64_t(index[1]), uint64_t(index[2]));
}

// --- cubes ---

namespace {

struct FacePoint {
  unsigned face;
  double s, t; // from -1 to 1
};

/// The face that a direction meets, and where.
FacePoint faceOf(double x, double y, double z) {
  double ax = std::fabs(x), ay = std::fabs(y), az = std::fabs(z);
  if (ax >= ay && ax >= az)
    return ax == 0 ? FacePoint{0, 0, 0} : FacePoint{x < 0, (x < 0 ? z : -z) / ax, -y / ax};
  if (ay >= az)
    return {2u + (y < 0), x / ay, (y < 0 ? -z : z) / ay};
  return {4u + (z < 0), (z < 0 ? -x : x) / az, -y / az};
}

/// The direction of a place on a face's plane, also beyond its edge.
void directionOf(const FacePoint &p, double &x, double &y, double &z) {
  double sign = p.face % 2 ? -1 : 1;
  switch (p.face / 2) {
  case 0:
    x = sign, y = -p.t, z = -sign * p.s;
    return;
  case 1:
    x = p.s, y = sign, z = sign * p.t;
    return;
  default:
    x = sign * p.s, y = -p.t, z = sign;
  }
}

} // namespace

/// Beyond an edge the neighbour face goes on; at a corner, where three faces meet, their mean stands for the fourth.
Texel Fetcher::texelOfCube(size_t level, int64_t x, int64_t y, int64_t slice) const {
  const ImageLevel &l = image.levels[level];
  int64_t n = l.width, nearX = placed(x, n, AddressMode::Clamp), nearY = placed(y, n, AddressMode::Clamp);
  if (x == nearX && y == nearY)
    return read(l, uint64_t(x), uint64_t(y), uint64_t(slice));
  if (x != nearX && y != nearY) {
    Texel parts[3] = {texelOfCube(level, nearX, nearY, slice), texelOfCube(level, x, nearY, slice),
                      texelOfCube(level, nearX, y, slice)};
    if (!givesFloats())
      return parts[0];
    for (unsigned c = 0; c < 4; ++c)
      parts[0].channels[c] = bitsOf(float((double(floatOf(parts[0].channels[c])) + floatOf(parts[1].channels[c]) +
                                           floatOf(parts[2].channels[c])) /
                                          3));
    return parts[0];
  }
  double dx, dy, dz;
  directionOf({unsigned(slice % 6), (2 * double(x) + 1) / double(n) - 1, (2 * double(y) + 1) / double(n) - 1}, dx, dy,
              dz);
  FacePoint p = faceOf(dx, dy, dz);
  auto texelAt = [n](double s) { return uint64_t(placed(indexOf((s + 1) / 2 * double(n)), n, AddressMode::Clamp)); };
  return read(l, texelAt(p.s), texelAt(p.t), uint64_t(slice / 6 * 6 + p.face));
}

FetchPoint Fetcher::onFace(const FetchPoint &point) const {
  if (!image.cube)
    return point;
  FacePoint p = faceOf(point.at[0], point.at[1], point.at[2]);
  FetchPoint onIt;
  onIt.at[0] = (p.s + 1) / 2, onIt.at[1] = (p.t + 1) / 2;
  onIt.layer = placed(point.layer, image.layers(), AddressMode::Clamp) * 6 + p.face;
  return onIt;
}

// --- a fetch ---

int64_t Fetcher::sliceOf(const FetchPoint &point) const {
  bool hasSlices = image.layered || image.cube;
  return hasSlices ? placed(point.layer, image.levels[0].depth, AddressMode::Clamp) : 0;
}

double Fetcher::position(const FetchPoint &point, unsigned axis, size_t level) const {
  const ImageLevel &l = image.levels[level];
  const uint32_t sizes[3] = {l.width, l.height, l.depth};
  if (!sampler.normalisedCoordinates && !image.cube)
    return point.at[axis] + point.offsets[axis];
  double at = point.at[axis];
  if (modeOf(axis) == AddressMode::Mirror && std::isfinite(at)) {
    double whole = std::floor(at);
    at = std::fmod(whole, 2) == 0 ? at - whole : 1 - (at - whole);
  }
  return at * sizes[axis] + point.offsets[axis];
}

Fetcher::Taps Fetcher::taps(double position, bool linear) const {
  if (!linear)
    return {{indexOf(position), 0}, {1, 0}, 1};
  double shifted = position - 0.5, whole = std::floor(shifted);
  double weight = std::isfinite(shifted) ? weightOf(shifted - whole) : 0;
  int64_t index = indexOf(shifted);
  return {{index, index + 1}, {1 - weight, weight}, 2};
}

Fetcher::Value Fetcher::filtered(const FetchPoint &point, size_t level) const {
  Taps along[3] = {{{0, 0}, {1, 0}, 1}, {{0, 0}, {1, 0}, 1}, {{0, 0}, {1, 0}, 1}};
  for (unsigned axis = 0; axis < image.dimensions; ++axis)
    along[axis] = taps(position(point, axis, level), true);
  Value sum = {};
  for (unsigned k = 0; k < along[2].count; ++k)
    for (unsigned j = 0; j < along[1].count; ++j)
      for (unsigned i = 0; i < along[0].count; ++i) {
        double weight = along[0].weight[i] * along[1].weight[j] * along[2].weight[k];
        if (weight == 0)
          continue; // an infinity there does not spread
        int64_t at[3] = {along[0].index[i], along[1].index[j], along[2].index[k]};
        Texel one = texel(level, at, sliceOf(point));
        for (unsigned c = 0; c < 4; ++c)
          sum.channels[c] += weight * double(floatOf(one.channels[c]));
      }
  return sum;
}

double Fetcher::settledLevel(double level) const {
  double biased = level + double(sampler.bias);
  if (std::isnan(biased))
    biased = 0;
  biased = std::min(std::max(biased, double(sampler.leastLevel)), double(sampler.mostLevel));
  return std::min(std::max(biased, 0.), double(image.levels.size() - 1));
}

double Fetcher::levelOf(const double dx[3], const double dy[3]) const {
  const ImageLevel &l = image.levels[0];
  const double sizes[3] = {double(l.width), double(l.height), double(l.depth)};
  double across = 0, down = 0;
  for (unsigned axis = 0; axis < image.dimensions; ++axis) {
    double scale = sampler.normalisedCoordinates ? sizes[axis] : 1;
    across += dx[axis] * scale * dx[axis] * scale;
    down += dy[axis] * scale * dy[axis] * scale;
  }
  double longest = std::max(across, down);
  return longest > 0 ? std::log2(longest) / 2 : -1000;
}

Texel Fetcher::sample(const FetchPoint &given, double level) const {
  FetchPoint point = onFace(given);
  double settled = settledLevel(level);
  bool between = sampler.linearBetweenLevels && givesFloats();
  double weight = between ? weightOf(settled - std::floor(settled)) : 0;
  auto nearest = size_t(between ? std::floor(settled) : std::floor(settled + 0.5));
  Texel result;
  auto at = [&](size_t which) {
    if (filtersLinearly())
      return filtered(point, which);
    int64_t index[3] = {};
    for (unsigned axis = 0; axis < image.dimensions; ++axis)
      index[axis] = indexOf(position(point, axis, which));
    result = texel(which, index, sliceOf(point));
    Value value = {};
    for (unsigned c = 0; c < 4; ++c)
      value.channels[c] = double(floatOf(result.channels[c]));
    return value;
  };
  Value value = at(nearest);
  if (!filtersLinearly() && weight == 0)
    return result;
  if (weight > 0) {
    Value next = at(std::min(nearest + 1, image.levels.size() - 1));
    for (unsigned c = 0; c < 4; ++c)
      value.channels[c] = (1 - weight) * value.channels[c] + weight * next.channels[c];
  }
  for (unsigned c = 0; c < 4; ++c)
    result.channels[c] = bitsOf(float(value.channels[c]));
  return result;
}

Texel Fetcher::load(const int32_t at[3], int64_t layer, int64_t level) const {
  const ImageLevel &l = image.levels[size_t(std::clamp<int64_t>(level, 0, int64_t(image.levels.size()) - 1))];
  const int64_t sizes[3] = {l.width, l.height, l.depth};
  FetchPoint point;
  point.layer = layer;
  int64_t index[3] = {0, 0, sliceOf(point)};
  for (unsigned axis = 0; axis < image.dimensions; ++axis) {
    if (at[axis] < 0 || at[axis] >= sizes[axis])
      return {};
    index[axis] = at[axis];
  }
  return read(l, uint64_t(index[0]), uint64_t(index[1]), uint64_t(index[2]));
}

Texel Fetcher::gather(const FetchPoint &given, unsigned channel) const {
  FetchPoint point = onFace(given);
  Taps x = taps(position(point, 0, 0), true), y = taps(position(point, 1, 0), true);
  const unsigned order[4][2] = {{0, 1}, {1, 1}, {1, 0}, {0, 0}};
  Texel result;
  for (unsigned i = 0; i < 4; ++i) {
    int64_t at[3] = {x.index[order[i][0]], y.index[order[i][1]], 0};
    result.channels[i] = texel(0, at, sliceOf(point)).channels[channel];
  }
  return result;
}

// --- storing ---

void storeChannel(const TexelFormat &format, uint32_t bits, uint8_t *to) {
  uint32_t stored = bits;
  if (format.kind == TexelKind::Float) {
    if (format.bits == 16)
      stored = convert(ptx::Type::F16, ptx::Type::F32, bits);
  } else if (format.kind == TexelKind::Unsigned && format.bits < 32) {
    stored = std::min(bits, (1u << format.bits) - 1);
  } else if (format.kind == TexelKind::Signed && format.bits < 32) {
    int32_t most = (1 << (format.bits - 1)) - 1;
    stored = uint32_t(std::clamp(int32_t(bits), -most - 1, most));
  }
  memcpy(to, &stored, format.channelBytes());
}

} // namespace joule::vgpu
