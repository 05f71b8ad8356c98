/// Walking index tuples, moving elements of any type, and sharing work between threads.
#pragma once

#include "lib/Reference/Kernels/Elements.h"
#include "lib/Reference/Kernels/Kernels.h"

#include <algorithm>
#include <cstring>
#include <thread>

namespace joule::reference {

/// Calls `visit(index)` for every index tuple of `shape`, in row-major order. `index` is a const Shape &.
template <typename Visit> void forEachIndex(const Shape &shape, Visit &&visit) {
  if (countOf(shape) == 0)
    return;
  Shape index(shape.size(), 0);
  while (true) {
    visit(static_cast<const Shape &>(index));
    size_t dim = shape.size();
    while (dim > 0 && ++index[dim - 1] == shape[dim - 1])
      index[--dim] = 0;
    if (dim == 0)
      return;
  }
}

/// The row-major position of `index`, given strides.
inline int64_t positionOf(const Shape &index, const Shape &strides) {
  int64_t position = 0;
  for (size_t dim = 0; dim < index.size(); ++dim)
    position += index[dim] * strides[dim];
  return position;
}

/// Calls `visit(position)` in row-major order of `shape` with the position of each index tuple under
/// `strides`.
template <typename Visit>
void forEachPosition(const Shape &shape, const Shape &strides, int64_t offset, Visit &&visit) {
  if (shape.empty())
    return visit(offset);
  Shape outer(shape.begin(), shape.end() - 1);
  forEachIndex(outer, [&](const Shape &index) {
    int64_t position = offset + positionOf(index, strides);
    for (int64_t i = 0; i < shape.back(); ++i, position += strides.back())
      visit(position);
  });
}

/// All positions that forEachPosition visits.
inline std::vector<int64_t> positions(const Shape &shape, const Shape &strides) {
  std::vector<int64_t> all;
  all.reserve(countOf(shape));
  forEachPosition(shape, strides, 0, [&](int64_t position) { all.push_back(position); });
  return all;
}

/// The entries of `list` at `places`.
inline Dims pickDims(const Dims &list, const Dims &places) {
  Dims picked;
  for (int64_t place : places)
    picked.push_back(list[place]);
  return picked;
}

/// The numbers below `rank` that are not in `axes`, ascending.
inline Dims otherAxes(int64_t rank, const Dims &axes) {
  Dims others;
  for (int64_t dim = 0; dim < rank; ++dim)
    if (std::find(axes.begin(), axes.end(), dim) == axes.end())
      others.push_back(dim);
  return others;
}

/// A writer of elements of any one type, for operations that only move them. Elements narrower than a byte
/// are spread out while the operation lasts.
class Mover {
public:
  /// Makes a result of `shape` with `type`.
  Mover(ElementType type, const Shape &shape) : result(type, shape) {
    unsigned bits = bitsOf(type);
    width = std::max(1u, bits / 8);
    if (bits < 8 && type != ElementType::String)
      result.bytes = Bytes(result.count());
    if (type == ElementType::String)
      strings = const_cast<std::string *>(result.strings->data());
  }

  /// Copies element `from` of `source` (spread out, of the result's type) to element `to`.
  void copy(int64_t to, const Buffer &source, int64_t from) { copyRun(to, source, from, 1); }

  /// Copies `count` elements that follow each other in both.
  void copyRun(int64_t to, const Buffer &source, int64_t from, int64_t count) {
    if (strings)
      std::copy_n(source.strings->begin() + from, count, strings + to);
    else if (count == 1)
      copyOne(result.bytes.mutableData() + to * width, source.bytes.data() + from * width);
    else
      std::memcpy(result.bytes.mutableData() + to * width, source.bytes.data() + from * width, count * width);
  }

  /// The finished tensor.
  Buffer take() { return gatherBits(result); }

private:
  void copyOne(uint8_t *to, const uint8_t *from) {
    switch (width) { // copies of a known size need no call
    case 1:
      *to = *from;
      return;
    case 2:
      std::memcpy(to, from, 2);
      return;
    case 4:
      std::memcpy(to, from, 4);
      return;
    case 8:
      std::memcpy(to, from, 8);
      return;
    default:
      std::memcpy(to, from, width);
    }
  }

  Buffer result;
  unsigned width;
  std::string *strings = nullptr;
};

/// Runs `work(i)` for every i below `count`, on all cores where `cost`, a rough number of steps, is worth it.
template <typename Work> void inParallel(int64_t count, int64_t cost, Work &&work) {
  int64_t threads = std::min<int64_t>(count, std::max(1u, std::thread::hardware_concurrency()));
  if (cost < (1 << 18) || threads < 2) {
    for (int64_t i = 0; i < count; ++i)
      work(i);
    return;
  }
  std::vector<std::thread> pool;
  for (int64_t t = 0; t < threads; ++t)
    pool.emplace_back([=, &work] {
      for (int64_t i = count * t / threads; i < count * (t + 1) / threads; ++i)
        work(i);
    });
  for (std::thread &thread : pool)
    thread.join();
}

} // namespace joule::reference
