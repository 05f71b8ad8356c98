// Operators that move elements without calculating on them.
#include "passes/OnnxToNn/Maths.h"
#include "passes/OnnxToNn/RunSizes.h"
#include "passes/OnnxToNn/Tables.h"

#include "dialects/Onnx/ElementTypes.h"

using namespace mlir;
using namespace joule::translate;

namespace {

/// The same elements under other sizes.
LogicalResult yieldReshaped(Node &node, Sizes sizes) {
  Tensor &x = node.input(0);
  return node.yield(node.reshape(node.value(0), x.sizes, sizes), sizes, x.dataType);
}

LogicalResult translateIdentity(Node &node) { return node.yield({node.input(0)}); }

//===- Shapes --------------------------------------------------------------------------------------------------------

LogicalResult translateShape(Node &node) {
  Tensor &x = node.input(0);
  auto clamp = [&](int64_t at) { return std::clamp<int64_t>(at < 0 ? at + x.rank() : at, 0, x.rank()); };
  int64_t start = clamp(node.integer("start", 0)), end = clamp(node.integer("end", x.rank()));
  SmallVector<Index> sizes;
  for (int64_t dim = start; dim < end; ++dim)
    sizes.push_back(x.sizes[dim]);
  int64_t count = sizes.size();
  return node.yield({node.hostTensor(std::move(sizes), {count}, Int64)});
}

LogicalResult translateSize(Node &node) {
  return node.yield({node.hostTensor({node.math.product(node.loc, node.input(0).sizes)}, {}, Int64)});
}

//===- Reshapes ------------------------------------------------------------------------------------------------------

/// What Reshape's list asks for: 0 copies a size, -1 stands for what is left. Entries that only a run brings are told
/// apart there.
FailureOr<Sizes> reshapedSizes(Node &node, const Tensor &x, ArrayRef<Index> list) {
  IndexMath &math = node.math;
  Location loc = node.loc;
  bool allowZero = node.flag("allowzero");
  auto is = [&](Index value, int64_t number) {
    return math.compare(loc, arith::CmpIPredicate::eq, value, math.constant(number));
  };
  Sizes sizes, others; // `others` has 1 where the size is left to be found
  SmallVector<Index> isInferred;
  for (auto [dim, entry] : llvm::enumerate(list)) {
    Index size = entry;
    auto known = IndexMath::known(entry);
    if (known && *known < -1)
      return node.error() << "asks for size " << *known;
    bool maybeZero = known ? *known == 0 : !math.isNonNegative(entry);
    if (maybeZero && !allowZero) {
      if (known && int64_t(dim) >= x.rank())
        return node.error() << "copies size " << dim << " of a tensor of rank " << x.rank();
      if (int64_t(dim) < x.rank())
        size = math.select(loc, is(entry, 0), x.sizes[dim], entry);
    }
    isInferred.push_back(is(entry, -1));
    sizes.push_back(size);
    Index other = math.select(loc, isInferred.back(), math.constant(1), size);
    // Data may hold a zero, which is no divisor; where it stands beside a -1 the numbers of elements differ.
    if (!known && !math.isNonNegative(entry))
      other = math.max(loc, other, math.constant(1));
    others.push_back(other);
  }
  bool anyInferred = llvm::any_of(isInferred, [](Index holds) { return IndexMath::known(holds) != 0; });
  if (llvm::count_if(isInferred, [](Index holds) { return IndexMath::known(holds) == 1; }) > 1)
    return node.error() << "asks for more than one size of -1";
  if (!anyInferred)
    return sizes;
  auto rest = IndexMath::known(math.product(loc, others));
  if (rest == 0)
    return node.error() << "asks for a size of -1 beside one of 0";
  Index inferred = math.quotient(loc, x.sizes, others);
  for (auto [size, holds] : llvm::zip(sizes, isInferred))
    size = math.select(loc, holds, inferred, size);
  return sizes;
}

LogicalResult translateReshape(Node &node) {
  Tensor &x = node.input(0);
  FailureOr<SmallVector<Index>> list = failure();
  if (node.version() < 5) {
    list = SmallVector<Index>();
    for (int64_t size : node.integers("shape"))
      list->push_back(node.math.constant(size));
  } else if (node.has(1)) {
    list = node.indices(1);
  } else {
    return node.error() << "lacks the shape";
  }
  if (failed(list))
    return failure();
  FailureOr<Sizes> sizes = reshapedSizes(node, x, *list);
  if (failed(sizes))
    return failure();
  if (node.math.sameProduct(x.sizes, *sizes))
    return yieldReshaped(node, *sizes);
  if (failed(requireSizes(node, *sizes)))
    return failure();
  Index before = node.math.product(node.loc, x.sizes), after = node.math.product(node.loc, *sizes);
  if (IndexMath::known(before) && IndexMath::known(after) && !node.math.same(before, after))
    return node.error() << "turns " << x.type() << " into " << node.type(*sizes, x.element)
                        << ", which has another number of elements";
  if (failed(node.require(node.math.compare(node.loc, arith::CmpIPredicate::eq, before, after),
                          "changes the number of elements")))
    return failure();
  return yieldReshaped(node, *sizes);
}

LogicalResult translateFlatten(Node &node) {
  Tensor &x = node.input(0);
  int64_t axis = node.integer("axis", 1);
  if (axis < -x.rank() || axis > x.rank())
    return node.error() << "has axis " << axis << " on a tensor of rank " << x.rank();
  axis = axis < 0 ? axis + x.rank() : axis;
  ArrayRef<Index> sizes(x.sizes);
  return yieldReshaped(node, {node.math.product(node.loc, sizes.take_front(axis)),
                              node.math.product(node.loc, sizes.drop_front(axis))});
}

/// A Squeeze without axes drops what has size 1: a size that only a run knows must not be it, or the rank would change.
LogicalResult requireStays(Node &node, int64_t dim) {
  Index stays = node.math.compare(node.loc, arith::CmpIPredicate::ne, node.input(0).sizes[dim], node.math.constant(1));
  return node.require(stays, "has no axes and an axis " + Twine(dim) +
                                 " that only a run finds to have size 1, which is not supported");
}

LogicalResult translateSqueeze(Node &node) {
  Tensor &x = node.input(0);
  auto list = node.listInput("axes", 1);
  if (failed(list))
    return failure();
  SmallVector<int64_t> axes;
  if (*list) {
    auto normal = node.normalizeAxes(**list, x.rank());
    if (failed(normal))
      return failure();
    axes = *normal;
  } else {
    for (int64_t dim = 0; dim < x.rank(); ++dim)
      if (x.knownSize(dim) == 1)
        axes.push_back(dim);
      else if (failed(requireStays(node, dim)))
        return failure();
  }
  Sizes sizes;
  for (int64_t dim = 0; dim < x.rank(); ++dim) {
    if (!llvm::is_contained(axes, dim)) {
      sizes.push_back(x.sizes[dim]);
      continue;
    }
    Index isOne = node.math.compare(node.loc, arith::CmpIPredicate::eq, x.sizes[dim], node.math.constant(1));
    if (failed(node.require(isOne, "drops axis " + Twine(dim) + ", whose size is not 1")))
      return failure();
  }
  return yieldReshaped(node, sizes);
}

LogicalResult translateUnsqueeze(Node &node) {
  Tensor &x = node.input(0);
  auto list = node.listInput("axes", 1);
  if (failed(list))
    return failure();
  if (!*list)
    return node.error() << "lacks its axes";
  int64_t rank = x.rank() + (*list)->size();
  auto axes = node.normalizeAxes(**list, rank);
  if (failed(axes))
    return failure();
  if (axes->size() != (*list)->size())
    return node.error() << "names an axis twice";
  Sizes sizes = x.sizes;
  for (int64_t axis : *axes)
    sizes.insert(sizes.begin() + axis, node.math.constant(1));
  return yieldReshaped(node, sizes);
}

LogicalResult translateTranspose(Node &node) {
  Tensor &x = node.input(0);
  SmallVector<int64_t> all = llvm::to_vector(llvm::seq<int64_t>(0, x.rank()));
  SmallVector<int64_t> permutation = node.integers("perm", llvm::to_vector(llvm::reverse(all))), sorted = permutation;
  llvm::sort(sorted);
  if (sorted != all)
    return node.error() << "has a perm that does not permute " << x.rank() << " dimensions";
  Sizes sizes;
  for (int64_t dim : permutation)
    sizes.push_back(x.sizes[dim]);
  return node.yield(node.transpose(node.value(0), permutation), sizes, x.dataType);
}

LogicalResult translateExpand(Node &node) {
  Tensor &x = node.input(0), target;
  auto shape = node.indices(1);
  if (failed(shape) || failed(requireSizes(node, *shape)))
    return failure();
  target.sizes = *shape;
  FailureOr<Sizes> sizes = node.broadcastSizes({&x, &target});
  if (failed(sizes))
    return failure();
  return node.yield(node.broadcast(node.value(0), x.sizes, *sizes), *sizes, x.dataType);
}

//===- Parts ---------------------------------------------------------------------------------------------------------

LogicalResult translateConcat(Node &node) {
  Tensor &first = node.input(0);
  // Version 1 has a default.
  if (node.version() >= 4 && !node.hasAttribute("axis"))
    return node.error() << "lacks its axis";
  FailureOr<int64_t> axis = node.axis("axis", 1, first.rank());
  if (failed(axis))
    return failure();
  Sizes sizes = first.sizes;
  sizes[*axis] = node.math.constant(0);
  SmallVector<Value> values;
  for (int64_t input = 0; input < node.numInputs(); ++input) {
    if (!node.has(input))
      return node.error() << "lacks input " << input;
    Tensor &x = node.input(input);
    if (failed(node.wantSameElement(0, input)) || failed(node.wantRank(input, first.rank(), first.rank())))
      return failure();
    sizes[*axis] = node.math.add(node.loc, sizes[*axis], x.sizes[*axis]);
    for (int64_t dim = 0; dim < x.rank(); ++dim) {
      if (dim == *axis)
        continue;
      if (!IndexMath::known(sizes[dim]))
        sizes[dim] = IndexMath::known(x.sizes[dim]) ? x.sizes[dim] : sizes[dim];
    }
    values.push_back(node.value(input));
  }
  for (int64_t input = 0; input < node.numInputs(); ++input)
    for (int64_t dim = 0; dim < first.rank(); ++dim) {
      if (dim == *axis)
        continue;
      Index size = node.input(input).sizes[dim];
      if (failed(node.requireEqual(sizes[dim], size, "along another axis joins")))
        return failure();
    }
  Value result = node.builder.create<joule::nn::ConcatOp>(node.type(sizes, first.element), values,
                                                          node.dynamic(sizes), *axis);
  return node.yield(result, sizes, first.dataType);
}

/// Start, end and step along a dimension of `size`, as numpy slices: the first element and how many there are.
struct Range {
  Index offset, size;
};

Range sliceRange(Node &node, Index start, Index end, int64_t step, Index size) {
  IndexMath &math = node.math;
  Location loc = node.loc;
  Index zero = math.constant(0), last = math.sub(loc, size, math.constant(1));
  // Exporters write "to the end" as the greatest integer they have.
  constexpr int64_t far = std::numeric_limits<int32_t>::max();
  auto fromEnd = [&](Index at) {
    if (auto known = IndexMath::known(at))
      return *known < 0 ? math.add(loc, size, math.constant(std::max(*known, -far - 1))) : at;
    Index isNegative = math.compare(loc, arith::CmpIPredicate::slt, at, zero);
    return math.select(loc, isNegative, math.add(loc, at, size), at);
  };
  auto isFar = [&](Index at) { return !IndexMath::known(size) && IndexMath::known(at).value_or(0) >= far; };
  auto isFarBack = [&](Index at) { return !IndexMath::known(size) && IndexMath::known(at).value_or(0) <= -far; };
  if (step > 0) {
    Index from = isFarBack(start) ? zero : math.max(loc, fromEnd(start), zero);
    Index to = isFar(end) ? size : math.min(loc, fromEnd(end), size);
    // A start behind the end leaves nothing, wherever it is.
    Index length = math.max(loc, math.sub(loc, to, from), zero);
    return {from, math.ceilDiv(loc, length, math.constant(step))};
  }
  Index from = isFar(start) ? last : math.min(loc, fromEnd(start), last);
  Index to = isFarBack(end) ? math.constant(-1) : math.max(loc, fromEnd(end), math.constant(-1));
  Index length = math.max(loc, math.sub(loc, from, to), zero);
  return {from, math.ceilDiv(loc, length, math.constant(-step))};
}

/// Elements along `axis` a step apart that only a run knows; `sizes` become the result's.
Value sliceByStep(Node &node, Value value, Sizes &sizes, int64_t axis, Index start, Index end, Index step) {
  IndexMath &math = node.math;
  Location loc = node.loc;
  Range up = sliceRange(node, start, end, 1, sizes[axis]), down = sliceRange(node, start, end, -1, sizes[axis]);
  Index isUp = math.compare(loc, arith::CmpIPredicate::sgt, step, math.constant(0));
  Index first = math.select(loc, isUp, up.offset, down.offset), length = math.select(loc, isUp, up.size, down.size);
  Index width = math.max(loc, math.max(loc, step, math.sub(loc, math.constant(0), step)), math.constant(1));
  Sizes list = {math.ceilDiv(loc, length, width)};
  sizes[axis] = list[0];
  Maths m(node, list, Int64);
  auto everywhere = [&](Index number) { return node.broadcast(node.indexScalar(number, Int64), {}, list); };
  Value position = m.add(everywhere(first), m.mul(node.iota(0, list, m.element), everywhere(step)));
  return node.builder.create<joule::nn::GatherOp>(node.type(sizes, getElementTypeOrSelf(value)), value, position,
                                                  node.dynamic(sizes), axis);
}

/// Starts, ends, axes and steps are attributes in version 1, inputs later.
LogicalResult translateSlice(Node &node) {
  Tensor &x = node.input(0);
  SmallVector<Index> starts, ends;
  auto asIndices = [&](ArrayRef<int64_t> list) {
    SmallVector<Index> indices;
    for (int64_t each : list)
      indices.push_back(node.math.constant(each));
    return indices;
  };
  if (node.version() < 10) {
    starts = asIndices(node.integers("starts"));
    ends = asIndices(node.integers("ends"));
  } else {
    if (!node.has(1) || !node.has(2))
      return node.error() << "lacks its starts or ends";
    auto first = node.indices(1), second = node.indices(2);
    if (failed(first) || failed(second))
      return failure();
    starts = *first;
    ends = *second;
  }
  auto axesList = node.listInput("axes", 3);
  FailureOr<SmallVector<Index>> stepsList = SmallVector<Index>(starts.size(), node.math.constant(1));
  if (node.has(4))
    stepsList = node.indices(4);
  if (failed(axesList) || failed(stepsList))
    return failure();
  SmallVector<int64_t> axes = axesList->value_or(llvm::to_vector(llvm::seq<int64_t>(0, starts.size())));
  SmallVector<Index> steps = *stepsList;
  if (starts.size() != ends.size() || starts.size() != axes.size() || starts.size() != steps.size())
    return node.error() << "has " << starts.size() << " starts, " << ends.size() << " ends, " << axes.size()
                        << " axes and " << steps.size() << " steps";
  SmallVector<Index> offsets(x.rank(), node.math.constant(0));
  Sizes sizes = x.sizes;
  SmallVector<int64_t> strides(x.rank(), 1);
  SmallVector<std::tuple<int64_t, Index, Index, Index>> byStep;
  for (auto [start, end, axis, step] : llvm::zip(starts, ends, axes, steps)) {
    FailureOr<int64_t> dim = node.normalizeAxis(axis, x.rank());
    if (failed(dim))
      return failure();
    auto known = IndexMath::known(step);
    if (!known) {
      byStep.push_back({*dim, start, end, step});
      continue;
    }
    if (*known == 0 || *known == std::numeric_limits<int64_t>::min())
      return node.error() << "has step " << *known;
    Range range = sliceRange(node, start, end, *known, x.sizes[*dim]);
    offsets[*dim] = range.offset;
    sizes[*dim] = range.size;
    strides[*dim] = *known;
  }
  Value result = node.slice(node.value(0), offsets, sizes, strides);
  for (auto &[axis, start, end, step] : byStep) {
    Index isStep = node.math.compare(node.loc, arith::CmpIPredicate::ne, step, node.math.constant(0));
    if (failed(node.require(isStep, "has a step of 0")))
      return failure();
    result = sliceByStep(node, result, sizes, axis, start, end, step);
  }
  return node.yield(result, sizes, x.dataType);
}

/// The lengths of Split's parts: given, or as even as they can be.
FailureOr<SmallVector<Index>> splitLengths(Node &node, Index size) {
  int64_t parts = node.numResults();
  if (node.hasAttribute("split") || node.has(1)) {
    auto lengths = FailureOr<SmallVector<Index>>(SmallVector<Index>());
    if (node.hasAttribute("split"))
      for (int64_t length : node.integers("split"))
        lengths->push_back(node.math.constant(length));
    else
      lengths = node.indices(1);
    if (succeeded(lengths) && int64_t(lengths->size()) != parts)
      return node.error() << "names " << lengths->size() << " lengths for " << parts << " results";
    return lengths;
  }
  if (node.version() >= 18 && node.integer("num_outputs", 0) != parts)
    return node.error() << "asks for " << node.integer("num_outputs", 0) << " parts but has " << parts << " results";
  Index length = node.math.ceilDiv(node.loc, size, node.math.constant(parts));
  Index before = node.math.mul(node.loc, length, node.math.constant(parts - 1));
  SmallVector<Index> lengths(parts, length);
  lengths.back() = node.math.sub(node.loc, size, before);
  if (node.version() < 18 && failed(node.requireEqual(length, lengths.back(), "makes parts of")))
    return failure();
  return lengths;
}

LogicalResult translateSplit(Node &node) {
  Tensor &x = node.input(0);
  FailureOr<int64_t> axis = node.axis("axis", 0, x.rank());
  if (failed(axis))
    return failure();
  FailureOr<SmallVector<Index>> lengths = splitLengths(node, x.sizes[*axis]);
  if (failed(lengths))
    return failure();
  Index total = node.math.constant(0);
  for (Index length : *lengths) {
    if (IndexMath::known(length).value_or(0) < 0)
      return node.error() << "makes a part of " << *IndexMath::known(length) << " elements";
    total = node.math.add(node.loc, total, length);
  }
  if (failed(requireSizes(node, *lengths)) || failed(node.requireEqual(total, x.sizes[*axis], "divides among its parts")))
    return failure();
  SmallVector<Tensor> parts;
  SmallVector<Index> offsets(x.rank(), node.math.constant(0));
  Value value = node.value(0);
  for (Index length : *lengths) {
    Sizes sizes = x.sizes;
    sizes[*axis] = length;
    Value part = node.slice(value, offsets, sizes, SmallVector<int64_t>(x.rank(), 1));
    parts.push_back(node.tensor(part, sizes, x.dataType));
    offsets[*axis] = node.math.add(node.loc, offsets[*axis], length);
  }
  return node.yield(parts);
}

//===- Repetition ----------------------------------------------------------------------------------------------------

LogicalResult translateTile(Node &node) {
  Tensor &x = node.input(0);
  FailureOr<SmallVector<Index>> repeats = node.indices(1);
  if (failed(repeats))
    return failure();
  if (int64_t(repeats->size()) != x.rank())
    return node.error() << "has " << repeats->size() << " repeats for a tensor of rank " << x.rank();
  // Each dimension becomes two: how often, and what.
  Sizes split, repeated, sizes;
  for (auto [repeat, size] : llvm::zip(*repeats, x.sizes)) {
    if (IndexMath::known(repeat).value_or(0) < 0)
      return node.error() << "repeats " << *IndexMath::known(repeat) << " times";
    split.append({node.math.constant(1), size});
    repeated.append({repeat, size});
    sizes.push_back(node.math.mul(node.loc, repeat, size));
  }
  if (failed(requireSizes(node, *repeats)))
    return failure();
  Value value = node.broadcast(node.reshape(node.value(0), x.sizes, split), split, repeated);
  return node.yield(node.reshape(value, repeated, sizes), sizes, x.dataType);
}

FailureOr<joule::nn::PadMode> padMode(Node &node) {
  StringRef mode = node.string("mode", "constant");
  auto known = joule::nn::symbolizePadMode(mode);
  if (!known)
    return node.error() << "has mode '" << mode << "', which ONNX does not define";
  return *known;
}

/// Paddings are starts, then ends, of all axes or those of the input `axes`.
LogicalResult translatePad(Node &node) {
  Tensor &x = node.input(0);
  FailureOr<joule::nn::PadMode> mode = padMode(node);
  FailureOr<SmallVector<Index>> pads = SmallVector<Index>();
  if (node.version() < 11)
    for (int64_t pad : node.integers(node.version() < 2 ? "paddings" : "pads"))
      pads->push_back(node.math.constant(pad));
  else if (node.has(1))
    pads = node.indices(1);
  auto list = node.version() >= 18 ? node.listInput("axes", 3) : FailureOr<std::optional<SmallVector<int64_t>>>(std::nullopt);
  if (failed(mode) || failed(pads) || failed(list))
    return failure();
  SmallVector<int64_t> axes = list->value_or(llvm::to_vector(llvm::seq<int64_t>(0, x.rank())));
  if (pads->size() != 2 * axes.size())
    return node.error() << "has " << pads->size() << " paddings for " << axes.size() << " axes";
  SmallVector<Index> low(x.rank(), node.math.constant(0)), high = low;
  for (auto [position, axis] : llvm::enumerate(axes)) {
    FailureOr<int64_t> dim = node.normalizeAxis(axis, x.rank());
    if (failed(dim))
      return failure();
    low[*dim] = (*pads)[position];
    high[*dim] = (*pads)[position + axes.size()];
  }
  Sizes sizes;
  for (auto [size, before, after] : llvm::zip(x.sizes, low, high)) {
    sizes.push_back(node.math.add(node.loc, node.math.add(node.loc, size, before), after));
    if (IndexMath::known(sizes.back()).value_or(0) < 0)
      return node.error() << "crops a dimension to " << *IndexMath::known(sizes.back()) << " elements";
    if (*mode != joule::nn::PadMode::Constant && IndexMath::known(size) == 0 && IndexMath::known(sizes.back()) != 0)
      return node.error() << "repeats the elements of an empty dimension";
  }
  if (failed(requireSizes(node, sizes)))
    return failure();
  Value fill;
  if (node.version() >= 11 && node.has(2)) {
    if (failed(node.wantSameElement(0, 2)))
      return failure();
    Tensor &value = node.input(2);
    if (node.type(value.sizes, value.element).getRank() > 1 || (value.rank() == 1 && value.knownSize(0) != 1))
      return node.error() << "pads with " << value.type() << ", which is not one value";
    fill = node.reshape(node.value(2), value.sizes, {});
  } else if (x.element.isIntOrFloat()) {
    fill = node.scalar(node.real("value", 0), x.element);
  } else {
    return node.unsupported() << "of " << joule::dataTypeName(x.dataType) << " is not supported";
  }
  return node.yield(node.pad(node.value(0), fill, x.sizes, low, high, *mode), sizes, x.dataType);
}

//===- Blocks --------------------------------------------------------------------------------------------------------

/// Checks that x is an image; gives its sizes and the block size.
FailureOr<int64_t> blockSize(Node &node) {
  int64_t block = node.integer("blocksize", 0);
  if (failed(node.wantRank(0, 4, 4)))
    return failure();
  if (block < 1)
    return node.error() << "has a block size of " << block;
  return block;
}

LogicalResult translateDepthToSpace(Node &node) {
  Tensor &x = node.input(0);
  FailureOr<int64_t> size = blockSize(node);
  StringRef mode = node.string("mode", "DCR");
  if (failed(size))
    return failure();
  if (mode != "DCR" && mode != "CRD")
    return node.error() << "has mode '" << mode << "', which ONNX does not define";
  Index block = node.math.constant(*size), area = node.math.constant(*size * *size);
  Index depth = node.math.floorDiv(node.loc, x.sizes[1], area);
  if (failed(node.requireEqual(node.math.mul(node.loc, depth, area), x.sizes[1], "divides the channels into blocks:")))
    return failure();
  bool depthLast = mode == "DCR";
  Sizes split = {x.sizes[0], depthLast ? block : depth, block, depthLast ? depth : block, x.sizes[2], x.sizes[3]};
  SmallVector<int64_t> permutation = depthLast ? SmallVector<int64_t>{0, 3, 4, 1, 5, 2}
                                               : SmallVector<int64_t>{0, 1, 4, 2, 5, 3};
  Sizes moved;
  for (int64_t dim : permutation)
    moved.push_back(split[dim]);
  Sizes sizes = {x.sizes[0], depth, node.math.mul(node.loc, x.sizes[2], block),
                 node.math.mul(node.loc, x.sizes[3], block)};
  Value value = node.transpose(node.reshape(node.value(0), x.sizes, split), permutation);
  return node.yield(node.reshape(value, moved, sizes), sizes, x.dataType);
}

LogicalResult translateSpaceToDepth(Node &node) {
  Tensor &x = node.input(0);
  FailureOr<int64_t> size = blockSize(node);
  if (failed(size))
    return failure();
  Index block = node.math.constant(*size);
  Index height = node.math.floorDiv(node.loc, x.sizes[2], block), width = node.math.floorDiv(node.loc, x.sizes[3], block);
  if (failed(node.requireEqual(node.math.mul(node.loc, height, block), x.sizes[2], "divides the height into blocks:")) ||
      failed(node.requireEqual(node.math.mul(node.loc, width, block), x.sizes[3], "divides the width into blocks:")))
    return failure();
  Sizes split = {x.sizes[0], x.sizes[1], height, block, width, block};
  SmallVector<int64_t> permutation = {0, 3, 5, 1, 2, 4};
  Sizes moved;
  for (int64_t dim : permutation)
    moved.push_back(split[dim]);
  Sizes sizes = {x.sizes[0], node.math.mul(node.loc, x.sizes[1], node.math.constant(*size * *size)), height, width};
  Value value = node.transpose(node.reshape(node.value(0), x.sizes, split), permutation);
  return node.yield(node.reshape(value, moved, sizes), sizes, x.dataType);
}

const Row rows[] = {
    {"", "Concat", 1, 1, -1, translateConcat},
    {"", "DepthToSpace", 1, 1, 1, translateDepthToSpace},
    {"", "Expand", 8, 2, 2, translateExpand},
    {"", "Flatten", 1, 1, 1, translateFlatten},
    {"", "Identity", 1, 1, 1, translateIdentity},
    {"", "Pad", 1, 1, 1, translatePad},
    {"", "Pad", 11, 2, 4, translatePad, Axes::Ordered, 3},
    {"", "Reshape", 1, 1, 1, translateReshape},
    {"", "Reshape", 5, 2, 2, translateReshape},
    {"", "Shape", 1, 1, 1, translateShape},
    {"", "Size", 1, 1, 1, translateSize},
    {"", "Slice", 1, 1, 1, translateSlice},
    {"", "Slice", 10, 3, 5, translateSlice, Axes::Ordered, 3},
    {"", "SpaceToDepth", 1, 1, 1, translateSpaceToDepth},
    {"", "Split", 1, 1, 2, translateSplit},
    {"", "Squeeze", 1, 1, 2, translateSqueeze, Axes::Any},
    {"", "Tile", 6, 2, 2, translateTile},
    {"", "Transpose", 1, 1, 1, translateTranspose},
    {"", "Unsqueeze", 1, 1, 1, translateUnsqueeze},
    {"", "Unsqueeze", 13, 2, 2, translateUnsqueeze, Axes::OfResult},
};

} // namespace

ArrayRef<Row> joule::translate::layoutRows() { return rows; }
