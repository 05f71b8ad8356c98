// Operators that sample images at computed points.
#include "passes/OnnxToNn/Sampler.h"
#include "passes/OnnxToNn/Tables.h"

#include "dialects/Onnx/ElementTypes.h"

using namespace mlir;
using namespace joule;
using namespace joule::translate;

namespace {

using joule::translate::Tensor; // not the API's

/// The number of each row, for every point.
Value batchOf(Node &node, ArrayRef<Index> points) { return node.iota(0, points, node.builder.getI64Type()); }

/// Plane `number` along the last dimension of `value`, a tensor `[sizes…, count]`, as `[sizes…]`.
Value lastPart(Node &node, Value value, ArrayRef<Index> sizes, int64_t number) {
  Sizes offsets(sizes.size(), node.math.constant(0)), one(sizes);
  offsets.push_back(node.math.constant(number));
  one.push_back(node.math.constant(1));
  Value part = node.slice(value, offsets, one, SmallVector<int64_t>(one.size(), 1));
  return node.reshape(part, one, sizes);
}

//===- GridSample ----------------------------------------------------------------------------------------------------

FailureOr<Outside> paddingMode(Node &node) {
  StringRef mode = node.string("padding_mode", "zeros");
  if (mode == "zeros")
    return Outside::Zero;
  if (mode == "border")
    return Outside::Border;
  if (mode == "reflection")
    return Outside::Reflection;
  return node.error() << "has padding_mode \"" << mode << "\"";
}

/// From -1 to 1, the whole width: between the centres of the outermost pixels, or between their outer edges.
Value denormalize(Node &node, Sampler &sampler, Value coordinate, ArrayRef<Index> points, Index size) {
  Maths m(node, points, sampler.coordinateType());
  Value one = m.constant(1), half = m.constant(0.5), extent = sampler.extent(size);
  if (sampler.alignCorners)
    return m.mul(m.mul(m.add(coordinate, one), half), m.sub(extent, one));
  return m.mul(m.sub(m.mul(m.add(coordinate, one), extent), one), half);
}

LogicalResult translateGridSample(Node &node) {
  Tensor image = node.input(0), &grid = node.input(1);
  if (!image.isBool() && failed(node.wantNumber(0)))
    return failure();
  if (failed(node.wantFloat(1)) || failed(node.wantRank(0, 3)) || failed(node.wantRank(1, image.rank(), image.rank())))
    return failure();
  int64_t dims = image.rank() - 2;
  FailureOr<Outside> outside = paddingMode(node);
  if (failed(outside) || failed(node.requireEqual(image.sizes[0], grid.sizes[0], "has batches of")) ||
      failed(node.requireEqual(grid.sizes.back(), node.math.constant(dims), "wants a coordinate per dimension, has")))
    return failure();
  StringRef mode = node.string("mode", "linear");
  bool isNearest = mode == "nearest", isCubic = mode == "cubic" || mode == "bicubic";
  if (!isNearest && !isCubic && mode != "linear" && mode != "bilinear")
    return node.error() << "has mode \"" << mode << "\"";

  Sizes places(ArrayRef(grid.sizes).slice(1, dims));
  Sizes points = {image.sizes[0], node.math.product(node.loc, places)}, tuples = points;
  tuples.push_back(node.math.constant(dims));
  image.value = node.value(0);
  Sampler sampler(node, image, points, batchOf(node, points), *outside);
  sampler.alignCorners = node.flag("align_corners");
  Value list = node.reshape(node.value(1), grid.sizes, tuples);
  SmallVector<Value> coordinates;
  for (int64_t dim = 0; dim < dims; ++dim) {
    // The grid names the last dimension first.
    Value given = node.convert(lastPart(node, list, points, dims - 1 - dim), grid.dataType, sampler.coordinateType());
    coordinates.push_back(denormalize(node, sampler, given, points, image.sizes[2 + dim]));
  }
  Value sampled = isNearest ? sampler.nearest(coordinates)
                  : isCubic ? sampler.cubic(coordinates)
                            : sampler.linear(coordinates);
  Sizes sizes = {image.sizes[0], image.sizes[1]}, flat = {points[0], image.sizes[1], points[1]};
  sizes.append(places);
  Value result = node.reshape(node.transpose(sampler.finish(sampled), {0, 2, 1}), flat, sizes);
  return node.yield(result, sizes, image.dataType);
}

//===- AffineGrid ----------------------------------------------------------------------------------------------------

/// The coordinate of each place along `dim`, from -1 to 1.
Value placesAlong(Node &node, ArrayRef<Index> sizes, int64_t dim, int dataType, bool alignCorners) {
  Maths m(node, sizes, dataType);
  Value number = node.iota(dim, sizes, m.element);
  Value count = node.broadcast(node.indexScalar(sizes[dim], dataType), {}, sizes);
  Value one = m.constant(1), two = m.constant(2);
  if (!alignCorners)
    return m.sub(m.div(m.add(m.mul(two, number), one), count), one);
  // A single place stands in the middle.
  Value last = m.sub(count, one);
  return m.select(m.equal(last, m.constant(0)), m.constant(0), m.sub(m.div(m.mul(two, number), last), one));
}

/// grid[n, place, i] = sum over j of theta[n, i, j] * place_j + theta[n, i, dims].
LogicalResult translateAffineGrid(Node &node) {
  Tensor &theta = node.input(0);
  FailureOr<SmallVector<Index>> size = node.indices(1);
  if (failed(node.wantFloat(0)) || failed(node.wantRank(0, 3, 3)) || failed(size))
    return failure();
  int64_t dims = int64_t(size->size()) - 2;
  if (dims < 1)
    return node.error() << "wants a size of 3 numbers or more but it has " << size->size();
  IndexMath &math = node.math;
  if (failed(node.requireEqual((*size)[0], theta.sizes[0], "has batches of")) ||
      failed(node.requireEqual(theta.sizes[1], math.constant(dims), "wants a row of theta per dimension, has")) ||
      failed(node.requireEqual(theta.sizes[2], math.constant(dims + 1), "wants columns of theta, has")))
    return failure();
  Sizes sizes = {theta.sizes[0]};
  sizes.append(size->begin() + 2, size->end());
  sizes.push_back(math.constant(dims));
  Sizes rows = {theta.sizes[0], math.constant(dims)};
  Maths m(node, sizes, theta.dataType);
  Value matrix = node.reshape(node.value(0), theta.sizes, {theta.sizes[0], rows[1], math.constant(dims + 1)});
  auto column = [&](int64_t number) {
    return node.broadcastInDim(lastPart(node, matrix, rows, number), rows, sizes, {0, dims + 1});
  };
  Value sum = column(dims);
  for (int64_t dim = 0; dim < dims; ++dim) {
    // The first coordinate is the one along the last dimension.
    Value place = placesAlong(node, sizes, dims - dim, theta.dataType, node.flag("align_corners"));
    sum = m.add(m.mul(column(dim), place), sum);
  }
  return node.yield(sum, sizes, theta.dataType);
}

} // namespace

ArrayRef<Row> joule::translate::gridRows() {
  static const Row rows[] = {
      {"", "AffineGrid", 20, 2, 2, translateAffineGrid},
      {"", "GridSample", 16, 2, 2, translateGridSample},
  };
  return rows;
}
