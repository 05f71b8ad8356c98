// Operators that move elements without calculating on them.
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
    others.push_back(math.select(loc, isInferred.back(), math.constant(1), size));
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
  if (failed(shape))
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
      auto a = IndexMath::known(sizes[dim]), b = IndexMath::known(size);
      if (a && b && *a != *b)
        return node.error() << "along axis " << *axis << " joins sizes " << *a << " and " << *b << " of dimension "
                            << dim;
      if (failed(node.require(node.math.compare(node.loc, arith::CmpIPredicate::eq, sizes[dim], size),
                              "joins sizes of dimension " + Twine(dim) + " that differ")))
        return failure();
    }
  Value result = node.builder.create<joule::nn::ConcatOp>(node.type(sizes, first.element), values,
                                                          node.dynamic(sizes), *axis);
  return node.yield(result, sizes, first.dataType);
}

const Row rows[] = {
    {"", "Concat", 1, 1, -1, translateConcat},
    {"", "Expand", 8, 2, 2, translateExpand},
    {"", "Flatten", 1, 1, 1, translateFlatten},
    {"", "Identity", 1, 1, 1, translateIdentity},
    {"", "Reshape", 1, 1, 2, translateReshape},
    {"", "Shape", 1, 1, 1, translateShape},
    {"", "Size", 1, 1, 1, translateSize},
    {"", "Squeeze", 1, 1, 2, translateSqueeze},
    {"", "Transpose", 1, 1, 1, translateTranspose},
    {"", "Unsqueeze", 1, 1, 2, translateUnsqueeze},
};

} // namespace

ArrayRef<Row> joule::translate::layoutRows() { return rows; }
