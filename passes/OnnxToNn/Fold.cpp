// Operators that put parts of images together, or take them apart.
#include "passes/OnnxToNn/Maths.h"
#include "passes/OnnxToNn/RunSizes.h"
#include "passes/OnnxToNn/Tables.h"

using namespace mlir;
using namespace joule;
using namespace joule::translate;

namespace {

/// `value` or 0.
Index positive(Node &node, Index value) { return node.math.max(node.loc, value, node.math.constant(0)); }

LogicalResult translateCenterCropPad(Node &node) {
  Tensor &x = node.input(0);
  FailureOr<SmallVector<Index>> shape = node.indices(1);
  if (failed(shape) || failed(node.wantRank(0, 1)))
    return failure();
  if (!x.element.isIntOrFloat())
    return node.unsupported() << "of " << x.type() << " is not supported";
  SmallVector<int64_t> axes = node.integers("axes", llvm::to_vector(llvm::seq<int64_t>(0, x.rank())));
  if (axes.size() != shape->size())
    return node.error() << "has " << shape->size() << " sizes for " << axes.size() << " axes";
  IndexMath &math = node.math;
  Location loc = node.loc;
  Index zero = math.constant(0), two = math.constant(2);
  Sizes offsets(x.rank(), zero), kept = x.sizes, low(x.rank(), zero), high(x.rank(), zero), sizes = x.sizes;
  for (auto [given, size] : llvm::zip(axes, *shape)) {
    FailureOr<int64_t> axis = node.normalizeAxis(given, x.rank());
    if (failed(axis))
      return failure();
    if (IndexMath::known(size).value_or(0) < 0)
      return node.error() << "has a size of " << *IndexMath::known(size);
    offsets[*axis] = math.floorDiv(loc, positive(node, math.sub(loc, x.sizes[*axis], size)), two);
    kept[*axis] = math.min(loc, x.sizes[*axis], size);
    Index missing = math.sub(loc, size, kept[*axis]);
    low[*axis] = math.floorDiv(loc, missing, two);
    high[*axis] = math.sub(loc, missing, low[*axis]);
    sizes[*axis] = size;
  }
  if (failed(requireSizes(node, *shape)))
    return failure();
  Value middle = node.slice(node.value(0), offsets, kept, SmallVector<int64_t>(x.rank(), 1));
  Value padded = node.pad(middle, node.scalar(0, x.element), kept, low, high);
  return node.yield(padded, sizes, x.dataType);
}

//===- Col2Im --------------------------------------------------------------------------------------------------------

/// The places of blocks over an image, along each dimension.
struct Blocks {
  Sizes image, block, counts;
  SmallVector<int64_t> dilations, low, high, strides;
};

FailureOr<Blocks> readBlocks(Node &node) {
  FailureOr<SmallVector<Index>> image = node.indices(1), block = node.indices(2);
  if (failed(image) || failed(block))
    return failure();
  size_t dims = image->size();
  SmallVector<int64_t> ones(dims, 1), pads = node.integers("pads", SmallVector<int64_t>(2 * dims, 0));
  Blocks blocks{Sizes(*image), Sizes(*block), {}, node.integers("dilations", ones), {}, {}, node.integers("strides", ones)};
  if (dims == 0 || block->size() != dims || blocks.dilations.size() != dims || blocks.strides.size() != dims ||
      pads.size() != 2 * dims)
    return node.error() << "has blocks, dilations, strides or pads for another number of dimensions than " << dims;
  for (size_t dim = 0; dim < dims; ++dim) {
    if (blocks.dilations[dim] < 1 || blocks.strides[dim] < 1)
      return node.error() << "has a stride or dilation below 1";
    blocks.low.push_back(pads[dim]);
    blocks.high.push_back(pads[dims + dim]);
    // (image + pads - dilation * (block - 1) - 1) / stride + 1
    IndexMath &math = node.math;
    Index one = math.constant(1);
    Index reach = math.mul(node.loc, math.constant(blocks.dilations[dim]), math.sub(node.loc, blocks.block[dim], one));
    Index room = math.sub(node.loc, math.add(node.loc, blocks.image[dim], math.constant(pads[dim] + pads[dims + dim])),
                          math.add(node.loc, reach, one));
    Index count = math.add(node.loc, math.floorDiv(node.loc, room, math.constant(blocks.strides[dim])), one);
    blocks.counts.push_back(positive(node, count));
  }
  return blocks;
}

/// Adds up, for each place of the image, what every block that covers it holds there: element `k` of a block lies at
/// `place = k * dilation + number * stride - pad`, so `number` follows from the place and `k`, if there is one.
LogicalResult translateCol2Im(Node &node) {
  Tensor &x = node.input(0);
  FailureOr<Blocks> read = readBlocks(node);
  if (failed(read) || failed(node.wantNumber(0)) || failed(node.wantRank(0, 3, 3)))
    return failure();
  Blocks &blocks = *read;
  IndexMath &math = node.math;
  Location loc = node.loc;
  Index blockElements = math.product(loc, blocks.block), places = math.product(loc, blocks.image);
  Index count = math.product(loc, blocks.counts);
  if (failed(node.requireEqual(x.sizes[2], count, "has blocks in numbers of")))
    return failure();
  Index channels = math.floorDiv(loc, x.sizes[1], blockElements);
  if (failed(node.requireEqual(x.sizes[1], math.mul(loc, channels, blockElements), "has rows of blocks of")))
    return failure();

  // For every element of a block (first) and place of the image (second).
  size_t dims = blocks.image.size();
  Sizes grid = blocks.block, pairs = {blockElements, places};
  grid.append(blocks.image);
  Maths m(node, grid, Int64);
  Value element = m.constant(0), number = m.constant(0), fits;
  auto size = [&](Index index) { return node.broadcast(node.indexScalar(index, Int64), {}, grid); };
  for (size_t dim = 0; dim < dims; ++dim) {
    Value k = node.iota(dim, grid, m.element), place = node.iota(dims + dim, grid, m.element);
    Value distance = m.sub(m.add(place, m.constant(blocks.low[dim])), m.mul(k, m.constant(blocks.dilations[dim])));
    Value stride = m.constant(blocks.strides[dim]);
    Value at = m.div(distance, stride);
    Value isThere = node.builder.create<arith::AndIOp>(m.lessEqual(m.constant(0), distance),
                                                       m.less(at, size(blocks.counts[dim])));
    isThere = node.builder.create<arith::AndIOp>(isThere, m.equal(m.mul(at, stride), distance));
    fits = fits ? node.builder.create<arith::AndIOp>(fits, isThere).getResult() : isThere;
    element = m.add(m.mul(element, size(blocks.block[dim])), k);
    number = m.add(m.mul(number, size(blocks.counts[dim])), at);
  }
  Value index = m.select(fits, m.add(m.mul(element, size(count)), number), m.constant(0));

  Sizes rows = {math.mul(loc, x.sizes[0], channels), math.mul(loc, blockElements, count)};
  Sizes parts = {rows[0], blockElements, places}, sums = {rows[0], places};
  Value list = node.reshape(node.value(0), x.sizes, rows);
  Value taken = node.builder.create<nn::GatherOp>(node.type(parts, x.element), list, node.reshape(index, grid, pairs),
                                                  node.dynamic(parts), 1);
  Maths values(node, parts, x.dataType);
  Value covered = node.broadcastInDim(node.reshape(fits, grid, pairs), pairs, parts, {1, 2});
  Value sum = node.reduce(nn::Combiner::Sum, values.select(covered, taken, values.constant(0)), {1});
  Sizes sizes = {x.sizes[0], channels};
  sizes.append(blocks.image);
  return node.yield(node.reshape(sum, sums, sizes), sizes, x.dataType);
}

//===- MaxUnpool -----------------------------------------------------------------------------------------------------

/// Puts each value where MaxPool found it, and zeros between; more zeros behind where the result is stated to be larger.
LogicalResult translateMaxUnpool(Node &node) {
  Tensor &x = node.input(0), &indices = node.input(1);
  SmallVector<int64_t> kernel = node.integers("kernel_shape");
  int64_t dims = x.rank() - 2;
  if (failed(node.wantFloat(0)) || failed(node.wantRank(0, 3)) || failed(node.wantRank(1, x.rank(), x.rank())))
    return failure();
  if (indices.dataType != Int64)
    return node.error() << "wants int64 indices";
  SmallVector<int64_t> strides = node.integers("strides", SmallVector<int64_t>(dims, 1));
  SmallVector<int64_t> pads = node.integers("pads", SmallVector<int64_t>(2 * dims, 0));
  if (int64_t(kernel.size()) != dims || int64_t(strides.size()) != dims || int64_t(pads.size()) != 2 * dims)
    return node.error() << "has a kernel_shape, strides or pads for another number of dimensions than " << dims;
  for (int64_t dim = 0; dim < x.rank(); ++dim)
    if (failed(node.requireEqual(x.sizes[dim], indices.sizes[dim], "has values and indices of")))
      return failure();
  IndexMath &math = node.math;
  Location loc = node.loc;
  Sizes sizes = {x.sizes[0], x.sizes[1]};
  for (int64_t dim = 0; dim < dims; ++dim) {
    Index steps = math.mul(loc, math.sub(loc, x.sizes[2 + dim], math.constant(1)), math.constant(strides[dim]));
    sizes.push_back(math.add(loc, steps, math.constant(kernel[dim] - pads[dim] - pads[dims + dim])));
  }
  Sizes all = {math.product(loc, sizes)}, list = {math.product(loc, x.sizes)};
  Value result = node.builder.create<nn::ScatterElementsOp>(
      node.type(all, x.element), nn::Update::Replace, node.splat(0, x.element, all),
      node.reshape(node.value(1), x.sizes, list), node.reshape(node.value(0), x.sizes, list), 0);
  result = node.reshape(result, all, sizes);
  if (!node.has(2))
    return node.yield(result, sizes, x.dataType);
  FailureOr<SmallVector<Index>> stated = node.indices(2);
  if (failed(stated))
    return failure();
  if (int64_t(stated->size()) != x.rank())
    return node.error() << "states " << stated->size() << " sizes for rank " << x.rank();
  Sizes low(x.rank(), math.constant(0)), high;
  for (auto [size, wanted] : llvm::zip(sizes, *stated)) {
    high.push_back(math.sub(loc, wanted, size));
    Index fits = math.compare(loc, arith::CmpIPredicate::sge, high.back(), math.constant(0));
    if (failed(node.require(fits, "states sizes that are less than what it unpools to")))
      return failure();
  }
  return node.yield(node.pad(result, node.scalar(0, x.element), sizes, low, high), Sizes(*stated), x.dataType);
}

} // namespace

ArrayRef<Row> joule::translate::foldRows() {
  static const Row rows[] = {
      {"", "CenterCropPad", 18, 2, 2, translateCenterCropPad},
      {"", "Col2Im", 18, 3, 3, translateCol2Im},
      {"", "MaxUnpool", 9, 2, 3, translateMaxUnpool},
  };
  return rows;
}
