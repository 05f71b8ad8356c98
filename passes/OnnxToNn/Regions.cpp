// Operators that sample images in regions, or around displaced places.
#include "passes/OnnxToNn/Contract.h"
#include "passes/OnnxToNn/Sampler.h"
#include "passes/OnnxToNn/Tables.h"
#include "passes/OnnxToNn/Window.h"

#include "dialects/Onnx/ElementTypes.h"

using namespace mlir;
using namespace joule;
using namespace joule::translate;

namespace {

using joule::translate::Tensor; // not the API's

//===- RoiAlign ------------------------------------------------------------------------------------------------------

/// Each region is divided into bins, in which samples are taken at regular places.
class RoiAlign {
public:
  explicit RoiAlign(Node &node) : node(node), math(node.math), image(node.input(0)) {}

  LogicalResult run() {
    if (failed(read()))
      return failure();
    Side rows, columns;
    if (failed(place(1, height, image.sizes[2], rows)) || failed(place(0, width, image.sizes[3], columns)))
      return failure();
    // Region, bin and sample along the height, then along the width.
    Sizes grid = {regions, height, rows.samples, width, columns.samples};
    Sizes points = {regions, math.product(node.loc, ArrayRef(grid).drop_front())};
    auto all = [&](Value value, const Side &side, ArrayRef<int64_t> dims) {
      Value spread = node.broadcastInDim(value, {regions, side.bins, side.samples}, grid, dims);
      return node.reshape(spread, grid, points);
    };
    Value batch = node.convert(node.value(2), node.input(2).dataType, Int64);
    batch = node.broadcastInDim(batch, {regions}, points, {0});
    image.value = node.value(0);
    Sampler sampler(node, image, points, batch, Outside::Border);
    SmallVector<Value> coordinates = {all(rows.coordinate, rows, {0, 1, 2}), all(columns.coordinate, columns, {0, 3, 4})};
    Value sampled = isMax ? sampler.linearMax(coordinates) : sampler.linear(coordinates);
    Sizes full = grid, list = {points[0], points[1], image.sizes[1]};
    full.push_back(image.sizes[1]);
    return pool(sampler, node.reshape(sampled, list, full), grid, full, rows, columns);
  }

private:
  /// The samples along one side of the regions: `[regions, bins, samples]` tensors.
  struct Side {
    Index bins, samples;
    Value coordinate, isInside, isSample; ///< inside the image; below the number of samples of this region
    Value count;                          ///< `[regions]`, in the coordinates' type
  };

  LogicalResult read() {
    if (failed(node.wantFloat(0)) || failed(node.wantSameElement(0, 1)) || failed(node.wantRank(0, 4, 4)) ||
        failed(node.wantRank(1, 2, 2)) || failed(node.wantRank(2, 1, 1)))
      return failure();
    if (!node.input(2).isInteger())
      return node.error() << "wants integers that say each region's batch";
    regions = node.input(1).sizes[0];
    if (failed(node.requireEqual(regions, node.input(2).sizes[0], "has regions and batches of")) ||
        failed(node.requireEqual(node.input(1).sizes[1], math.constant(4), "wants regions of 4 numbers, has")))
      return failure();
    type = image.dataType == Double ? Double : Float;
    StringRef mode = node.string("mode", "avg");
    if (mode != "avg" && mode != "max")
      return node.error() << "has mode \"" << mode << "\"";
    isMax = mode == "max";
    isHalfPixel = node.string("coordinate_transformation_mode", "half_pixel") == "half_pixel" && node.version() >= 16;
    int64_t rows = node.integer("output_height", 1), columns = node.integer("output_width", 1);
    ratio = node.integer("sampling_ratio", 0);
    if (rows < 1 || columns < 1 || ratio < 0)
      return node.error() << "has " << rows << " times " << columns << " bins of " << ratio << " samples";
    height = math.constant(rows);
    width = math.constant(columns);
    return success();
  }

  /// Number `column` of each region, in pixels.
  Value corner(int64_t column) {
    Maths m(node, sizesOfRegions(), type);
    Value part = node.slice(node.value(1), {math.constant(0), math.constant(column)}, {regions, math.constant(1)}, {1, 1});
    Value number = node.convert(node.reshape(part, {regions, math.constant(1)}, {regions}), image.dataType, type);
    return m.sub(m.mul(number, m.constant(node.real("spatial_scale", 1))), m.constant(isHalfPixel ? 0.5 : 0));
  }

  Sizes sizesOfRegions() { return {regions}; }

  /// Finds the samples along the side whose ends are numbers `first` and `first + 2` of a region.
  LogicalResult place(int64_t first, Index bins, Index extent, Side &side) {
    Sizes list = sizesOfRegions();
    Maths m(node, list, type);
    Value start = corner(first), length = m.sub(corner(first + 2), start);
    if (!isHalfPixel)
      length = m.max(length, m.constant(1));
    Value bin = m.div(length, node.broadcast(node.indexScalar(bins, type), {}, list));
    side.bins = bins;
    if (ratio > 0) {
      side.samples = math.constant(ratio);
      side.count = m.constant(double(ratio));
    } else {
      // As many as there are pixels: the region that has most decides how many places there are for them.
      side.count = m.max(node.builder.create<math::CeilOp>(bin), m.constant(0));
      Value most = node.reduce(nn::Combiner::Max, side.count, {0});
      Maths one(node, {}, type);
      Tensor whole = node.tensor(node.convert(one.max(most, one.constant(0)), type, Int64), {}, Int64);
      side.samples = node.translator.readElements(node.loc, whole)->front();
      math.assumeNonNegative(cast<Value>(side.samples));
    }
    Sizes sizes = {regions, bins, side.samples};
    Maths s(node, sizes, type);
    auto spread = [&](Value value) { return node.broadcastInDim(value, list, sizes, {0}); };
    Value number = node.iota(1, sizes, s.element), sample = node.iota(2, sizes, s.element);
    Value within = s.div(s.mul(s.add(sample, s.constant(0.5)), spread(bin)), spread(side.count));
    Value coordinate = s.add(s.add(spread(start), s.mul(number, spread(bin))), within);
    Value size = node.broadcast(node.indexScalar(extent, type), {}, sizes);
    side.isInside = node.builder.create<arith::AndIOp>(s.lessEqual(s.constant(-1), coordinate),
                                                       s.lessEqual(coordinate, size));
    side.isSample = s.less(sample, spread(side.count));
    side.coordinate = s.max(s.constant(0), s.min(coordinate, s.sub(size, s.constant(1))));
    return success();
  }

  /// Combines the samples of each bin. Those beyond the image are 0.
  LogicalResult pool(Sampler &sampler, Value sampled, ArrayRef<Index> grid, ArrayRef<Index> full, const Side &rows,
                     const Side &columns) {
    auto both = [&](Value a, Value b) {
      Value wideA = node.broadcastInDim(a, {regions, rows.bins, rows.samples}, grid, {0, 1, 2});
      Value wideB = node.broadcastInDim(b, {regions, columns.bins, columns.samples}, grid, {0, 3, 4});
      return node.broadcastInDim(node.builder.create<arith::AndIOp>(wideA, wideB), grid, full, {0, 1, 2, 3, 4});
    };
    Maths m(node, full, type);
    Value isSample = both(rows.isSample, columns.isSample);
    Value value = m.select(both(rows.isInside, columns.isInside), sampled, m.constant(0));
    Sizes bins = {regions, height, width, image.sizes[1]};
    Maths b(node, bins, type);
    Sizes list = sizesOfRegions();
    Maths r(node, list, type);
    Value count = node.broadcastInDim(r.mul(rows.count, columns.count), list, bins, {0});
    double least = -std::numeric_limits<double>::infinity();
    Value padded = m.select(isSample, value, m.constant(isMax ? least : 0));
    Value result = node.reduce(isMax ? nn::Combiner::Max : nn::Combiner::Sum, padded, {2, 4});
    result = isMax ? b.select(b.equal(count, b.constant(0)), b.constant(0), result)
                   : b.div(result, b.max(count, b.constant(1)));
    Sizes sizes = {regions, image.sizes[1], height, width};
    return node.yield(node.transpose(sampler.finish(result), {0, 3, 1, 2}), sizes, image.dataType);
  }

  Node &node;
  IndexMath &math;
  Tensor image;
  Index regions, height, width;
  int type = Float;
  int64_t ratio = 0;
  bool isMax = false, isHalfPixel = false;
};

LogicalResult translateRoiAlign(Node &node) { return RoiAlign(node).run(); }

//===- DeformConv ----------------------------------------------------------------------------------------------------

/// A convolution whose window's elements are each displaced; between pixels the input is interpolated.
class DeformConv {
public:
  explicit DeformConv(Node &node) : node(node), math(node.math), x(node.input(0)), filter(node.input(1)) {}

  LogicalResult run() {
    if (failed(read()))
      return failure();
    // The groups of channels that share their offsets are images of their own.
    Index perGroup = math.floorDiv(node.loc, x.sizes[1], offsetGroups);
    Tensor image = node.tensor({}, {images, perGroup}, x.dataType);
    image.sizes.append(x.sizes.begin() + 2, x.sizes.end());
    image.value = node.reshape(node.value(0), x.sizes, image.sizes);
    Sizes points = {images, math.mul(node.loc, elements, places)};
    Value batch = node.iota(0, points, node.builder.getI64Type());
    Sampler sampler(node, image, points, batch, Outside::Zero);
    SmallVector<Value> coordinates;
    for (int64_t dim = 0; dim < dims; ++dim)
      coordinates.push_back(coordinate(sampler, points, dim));
    Sizes sampledSizes = {images, points[1], perGroup};
    Value sampled = sampler.linear(coordinates);
    if (node.has(4)) {
      int type = sampler.coordinateType();
      Value mask = node.convert(node.reshape(node.value(4), node.input(4).sizes, points), x.dataType, type);
      sampled = Maths(node, sampledSizes, type).mul(sampled, node.broadcastInDim(mask, points, sampledSizes, {0, 1}));
    }
    return product(sampler.finish(sampled), perGroup);
  }

private:
  LogicalResult read() {
    dims = x.rank() - 2;
    if (failed(node.wantFloat(0)) || failed(node.wantSameElement(0, 1)) || failed(node.wantSameElement(0, 2)) ||
        failed(node.wantRank(0, 3)) || failed(node.wantRank(1, x.rank(), x.rank())) ||
        failed(node.wantRank(2, x.rank(), x.rank())))
      return failure();
    SmallVector<int64_t> kernel;
    for (int64_t dim = 0; dim < dims; ++dim) {
      std::optional<int64_t> size = filter.knownSize(2 + dim);
      if (!size)
        return node.unsupported() << "has a weight whose window only a run knows, which is not supported";
      kernel.push_back(*size);
    }
    FailureOr<Window> placed = readWindow(node, dims, kernel);
    if (failed(placed) || failed(placeWindow(node, *placed, ArrayRef(x.sizes).drop_front(2))))
      return failure();
    window = *placed;
    groups = node.integer("group", 1);
    int64_t offsetGroupCount = node.integer("offset_group", 1);
    if (groups < 1 || offsetGroupCount < 1)
      return node.error() << "has " << groups << " groups and " << offsetGroupCount << " groups of offsets";
    offsetGroups = math.constant(offsetGroupCount);
    images = math.mul(node.loc, x.sizes[0], offsetGroups);
    elements = math.constant(ShapedType::getNumElements(kernel));
    places = math.product(node.loc, window.outputs);
    return checkSizes();
  }

  LogicalResult checkSizes() {
    Index perImage = math.mul(node.loc, offsetGroups, elements), count = math.constant(groups);
    Index inner = math.floorDiv(node.loc, x.sizes[1], offsetGroups);
    Tensor &offsets = node.input(2);
    if (failed(node.requireEqual(x.sizes[1], math.mul(node.loc, filter.sizes[1], count), "has channels of")) ||
        failed(node.requireEqual(x.sizes[1], math.mul(node.loc, inner, offsetGroups), "divides channels of")) ||
        failed(node.requireEqual(offsets.sizes[1], math.mul(node.loc, perImage, math.constant(dims)), "has offsets of")))
      return failure();
    Index perGroup = math.floorDiv(node.loc, filter.sizes[0], count);
    if (failed(node.requireEqual(filter.sizes[0], math.mul(node.loc, perGroup, count), "divides filters of")))
      return failure();
    for (int64_t input : {2, 4}) {
      if (!node.has(input))
        continue;
      Tensor &tensor = node.input(input);
      if (failed(node.wantRank(input, x.rank(), x.rank())) || failed(node.wantSameElement(0, input)) ||
          failed(node.requireEqual(tensor.sizes[0], x.sizes[0], "has batches of")))
        return failure();
      for (int64_t dim = 0; dim < dims; ++dim)
        if (failed(node.requireEqual(tensor.sizes[2 + dim], window.outputs[dim], "gives and is displaced in sizes of")))
          return failure();
    }
    if (node.has(4) && failed(node.requireEqual(node.input(4).sizes[1], perImage, "has masks of")))
      return failure();
    if (!node.has(3))
      return success();
    if (failed(node.wantRank(3, 1, 1)) || failed(node.wantSameElement(0, 3)))
      return failure();
    return node.requireEqual(node.input(3).sizes[0], filter.sizes[0], "has a bias and filters of");
  }

  /// Where each element of each window lies along `dim`, displaced.
  Value coordinate(Sampler &sampler, ArrayRef<Index> points, int64_t dim) {
    int type = sampler.coordinateType();
    Sizes grid;
    for (int64_t size : window.size)
      grid.push_back(math.constant(size));
    grid.append(window.outputs);
    Maths g(node, grid, type);
    Value element = node.iota(dim, grid, g.element), place = node.iota(dims + dim, grid, g.element);
    Value low = node.broadcast(node.indexScalar(window.low[dim], type), {}, grid);
    Value regular = g.sub(g.add(g.mul(element, g.constant(double(window.dilations[dim]))),
                                g.mul(place, g.constant(double(window.strides[dim])))),
                          low);
    Tensor &offsets = node.input(2);
    Sizes split = {images, elements, math.constant(dims), places}, part = split;
    part[2] = math.constant(1);
    Sizes start(4, math.constant(0));
    start[2] = math.constant(dim);
    Value all = node.reshape(node.value(2), offsets.sizes, split);
    Value offset = node.reshape(node.slice(all, start, part, {1, 1, 1, 1}), part, points);
    Maths m(node, points, type);
    Value flat = node.reshape(regular, grid, {points[1]});
    return m.add(node.broadcastInDim(flat, {points[1]}, points, {1}), node.convert(offset, x.dataType, type));
  }

  /// The filters times what the windows hold, and the bias.
  LogicalResult product(Value sampled, Index perOffsetGroup) {
    Index count = math.constant(groups), batches = x.sizes[0];
    Index inputs = filter.sizes[1], outputs = math.floorDiv(node.loc, filter.sizes[0], count);
    Sizes taken = {images, math.mul(node.loc, elements, places), perOffsetGroup};
    Sizes apart = {images, elements, places, perOffsetGroup}, inOrder = {images, perOffsetGroup, elements, places};
    Sizes columns = {batches, count, inputs, elements, places};
    Value windows = node.transpose(node.reshape(sampled, taken, apart), {0, 3, 1, 2});
    enum : int64_t { Batch, Group, Channel, Element, Place, Filter };
    Operand rhs = {node.reshape(windows, inOrder, columns), columns, {Batch, Group, Channel, Element, Place}, x.dataType};
    Sizes filters = {count, outputs, inputs, elements};
    Operand lhs = {node.reshape(node.value(1), filter.sizes, filters), filters, {Group, Filter, Channel, Element}, x.dataType};
    Value result = contract(node, lhs, rhs, {Batch, Group, Filter, Place}, x.dataType);
    Sizes sizes = {batches, filter.sizes[0]};
    sizes.append(window.outputs);
    result = node.reshape(result, {batches, count, outputs, places}, sizes);
    if (node.has(3))
      result = Maths(node, sizes, x.dataType).add(result, node.broadcastInDim(node.value(3), {filter.sizes[0]}, sizes, {1}));
    return node.yield(result, sizes, x.dataType);
  }

  Node &node;
  IndexMath &math;
  Tensor x, filter;
  Window window;
  int64_t dims = 0, groups = 1;
  Index offsetGroups, images, elements, places;
};

LogicalResult translateDeformConv(Node &node) { return DeformConv(node).run(); }

} // namespace

ArrayRef<Row> joule::translate::regionRows() {
  static const Row rows[] = {
      {"", "DeformConv", 19, 3, 5, translateDeformConv},
      {"", "RoiAlign", 10, 3, 3, translateRoiAlign},
  };
  return rows;
}
