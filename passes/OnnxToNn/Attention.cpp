// Attention, and the rotation of its operands by position.
#include "passes/OnnxToNn/Contract.h"
#include "passes/OnnxToNn/Maths.h"
#include "passes/OnnxToNn/Tables.h"

#include "dialects/Onnx/ElementTypes.h"

#include <cmath>

using namespace mlir;
using namespace joule;
using namespace joule::translate;

namespace {

/// `first` and then `second` along `axis`.
Tensor concat(Node &node, const Tensor &first, const Tensor &second, int64_t axis) {
  Sizes sizes = first.sizes;
  sizes[axis] = node.math.add(node.loc, first.sizes[axis], second.sizes[axis]);
  Value value = node.builder.create<nn::ConcatOp>(node.type(sizes, first.element),
                                                  ValueRange{first.value, second.value}, node.dynamic(sizes), axis);
  return node.tensor(value, sizes, first.dataType);
}

Tensor withValue(Node &node, int64_t input) {
  Tensor tensor = node.input(input);
  tensor.value = node.value(input);
  return tensor;
}

//===- Attention -----------------------------------------------------------------------------------------------------

/// Queries `[B, H, S, D]`, keys `[B, K, T, D]`, values `[B, K, T, E]`; each of the K heads of keys serves H / K heads of
/// queries, which stay beside each other: nothing is repeated.
class Attention {
public:
  explicit Attention(Node &node) : node(node), math(node.math), loc(node.loc) {}

  LogicalResult translate();

private:
  LogicalResult readOperands();
  FailureOr<Tensor> splitHeads(Tensor tensor, StringRef heads);
  LogicalResult appendToPast(Tensor &present, int64_t past);
  Value product(const Tensor &left, ArrayRef<int64_t> leftLabels, const Tensor &right, ArrayRef<int64_t> rightLabels,
                ArrayRef<int64_t> out, ArrayRef<Index> outSizes);
  LogicalResult applyMask();
  void maskFuture();
  LogicalResult maskPadding();
  Value minusInfinity() { return Maths(node, scores.sizes, scores.dataType).constant(-INFINITY); }
  /// Keeps the scores where `kept` holds.
  void keep(Value kept) { scores.value = node.builder.create<arith::SelectOp>(kept, scores.value, minusInfinity()); }
  Tensor mergeHeads(Tensor tensor);

  Node &node;
  IndexMath &math;
  Location loc;
  Tensor query, key, value, scores;
  Index pastLength;
  Sizes grouped; // [B, K, H / K]
};

/// `[B, S, heads * D]` as `[B, heads, S, D]`.
FailureOr<Tensor> Attention::splitHeads(Tensor tensor, StringRef name) {
  int64_t count = node.integer(name, 0);
  if (count < 1)
    return node.error() << "on tensors of rank 3 needs " << name;
  Index heads = math.constant(count), width = math.floorDiv(loc, tensor.sizes[2], heads);
  if (failed(node.requireEqual(math.mul(loc, width, heads), tensor.sizes[2], "splits a width among heads of")))
    return failure();
  Sizes split = {tensor.sizes[0], tensor.sizes[1], heads, width};
  Sizes moved = {tensor.sizes[0], heads, tensor.sizes[1], width};
  Value parts = node.transpose(node.reshape(tensor.value, tensor.sizes, split), {0, 2, 1, 3});
  return node.tensor(parts, moved, tensor.dataType);
}

LogicalResult Attention::appendToPast(Tensor &present, int64_t past) {
  if (!node.has(past))
    return success();
  if (failed(node.wantRank(past, 4, 4)))
    return failure();
  Tensor before = withValue(node, past);
  if (before.dataType != present.dataType)
    return node.error() << "appends " << dataTypeName(present.dataType) << " to " << dataTypeName(before.dataType);
  for (int64_t dim : {0, 1, 3})
    if (failed(node.requireEqual(before.sizes[dim], present.sizes[dim], "appends to a past of")))
      return failure();
  present = concat(node, before, present, 2);
  return success();
}

LogicalResult Attention::readOperands() {
  int64_t rank = node.input(0).rank();
  for (int64_t input = 0; input < 3; ++input)
    if (failed(node.wantFloat(input)) || failed(node.wantRank(input, rank, rank)) ||
        failed(node.wantSameElement(0, input)))
      return failure();
  if (failed(node.wantRank(0, 3, 4)))
    return failure();
  query = withValue(node, 0);
  key = withValue(node, 1);
  value = withValue(node, 2);
  if (rank == 3) {
    FailureOr<Tensor> q = splitHeads(query, "q_num_heads"), k = splitHeads(key, "kv_num_heads");
    FailureOr<Tensor> v = splitHeads(value, "kv_num_heads");
    if (failed(q) || failed(k) || failed(v))
      return failure();
    query = *q;
    key = *k;
    value = *v;
  }
  pastLength = node.has(4) ? node.input(4).rank() == 4 ? node.input(4).sizes[2] : math.constant(0) : math.constant(0);
  if (failed(appendToPast(key, 4)) || failed(appendToPast(value, 5)))
    return failure();
  if (failed(node.requireEqual(query.sizes[0], key.sizes[0], "has batches of")) ||
      failed(node.requireEqual(key.sizes[0], value.sizes[0], "has batches of")) ||
      failed(node.requireEqual(key.sizes[1], value.sizes[1], "has heads of keys and values of")) ||
      failed(node.requireEqual(key.sizes[2], value.sizes[2], "has keys and values of")) ||
      failed(node.requireEqual(query.sizes[3], key.sizes[3], "has queries and keys of")))
    return failure();
  Index group = math.quotient(loc, {query.sizes[1]}, {key.sizes[1]});
  grouped = {query.sizes[0], key.sizes[1], group};
  return node.requireEqual(math.mul(loc, group, key.sizes[1]), query.sizes[1], "shares heads of keys among");
}

Value Attention::product(const Tensor &left, ArrayRef<int64_t> leftLabels, const Tensor &right,
                         ArrayRef<int64_t> rightLabels, ArrayRef<int64_t> out, ArrayRef<Index> outSizes) {
  Sizes split = grouped, product = grouped;
  split.append({left.sizes[2], left.sizes[3]});
  product.append({outSizes[2], outSizes[3]});
  Operand lhs = {node.reshape(left.value, left.sizes, split), split, SmallVector<int64_t>(leftLabels), left.dataType};
  Operand rhs = {right.value, right.sizes, SmallVector<int64_t>(rightLabels), right.dataType};
  return node.reshape(contract(node, lhs, rhs, out, left.dataType), product, outSizes);
}

/// A mask of bools says what is kept, one of numbers is added. It may end before the last key.
LogicalResult Attention::applyMask() {
  if (!node.has(3))
    return success();
  Tensor mask = withValue(node, 3);
  if (!mask.isBool() && failed(node.wantFloat(3)))
    return failure();
  if (failed(node.wantRank(3, 1, 4)))
    return failure();
  Index missing = math.sub(loc, scores.sizes[3], mask.sizes.back());
  if (!mask.knownSize(mask.rank() - 1) || *mask.knownSize(mask.rank() - 1) != 1 || IndexMath::known(scores.sizes[3])) {
    if (IndexMath::known(missing).value_or(0) < 0)
      return node.error() << "has a mask for " << *mask.knownSize(mask.rank() - 1) << " keys, more than there are";
    SmallVector<Index> low(mask.rank(), math.constant(0)), high = low;
    high.back() = missing;
    Value fill = mask.isBool() ? node.scalar(0, mask.element) : node.scalar(-INFINITY, mask.element);
    mask.value = node.pad(mask.value, fill, mask.sizes, low, high);
    mask.sizes.back() = scores.sizes[3];
  }
  FailureOr<Sizes> joined = node.broadcastSizes({&scores, &mask});
  if (failed(joined))
    return failure();
  for (auto [got, wanted] : llvm::zip(*joined, scores.sizes))
    if (IndexMath::known(got) && IndexMath::known(wanted) && !math.same(got, wanted))
      return node.error() << "has a mask of type " << mask.type() << " that is greater than its scores";
  Value spread = node.broadcast(mask.value, mask.sizes, scores.sizes);
  if (mask.isBool())
    keep(spread);
  else
    scores.value = node.builder.create<arith::AddFOp>(scores.value, node.convert(spread, mask.dataType, scores.dataType));
  return success();
}

/// A query sees the keys up to its own position, which the past shifts.
void Attention::maskFuture() {
  Maths m(node, scores.sizes, Int64);
  Value position = node.iota(2, scores.sizes, m.element), seen = node.iota(3, scores.sizes, m.element);
  Value shift = node.broadcast(node.indexScalar(pastLength, Int64), {}, scores.sizes);
  keep(m.lessEqual(seen, m.add(position, shift)));
}

/// The keys behind each batch's stated length are padding.
LogicalResult Attention::maskPadding() {
  if (!node.has(6))
    return success();
  Tensor &lengths = node.input(6);
  if (lengths.dataType != Int64 || lengths.rank() != 1)
    return node.error() << "wants one int64 length per batch but has " << lengths.type();
  if (failed(node.requireEqual(lengths.sizes[0], scores.sizes[0], "has lengths and batches of")))
    return failure();
  Maths m(node, scores.sizes, Int64);
  Value length = node.broadcastInDim(node.value(6), lengths.sizes, scores.sizes, {0});
  keep(m.less(node.iota(3, scores.sizes, m.element), length));
  return success();
}

Tensor Attention::mergeHeads(Tensor tensor) {
  if (node.input(0).rank() == 4)
    return tensor;
  Sizes moved = {tensor.sizes[0], tensor.sizes[2], tensor.sizes[1], tensor.sizes[3]};
  Sizes merged = {moved[0], moved[1], math.mul(loc, moved[2], moved[3])};
  Value value = node.reshape(node.transpose(tensor.value, {0, 2, 1, 3}), moved, merged);
  return node.tensor(value, merged, tensor.dataType);
}

LogicalResult Attention::translate() {
  if (failed(readOperands()))
    return failure();
  enum : int64_t { Batch, Head, Group, Query, Key, Width };
  Sizes sizes = {query.sizes[0], query.sizes[1], query.sizes[2], key.sizes[2]};
  auto width = query.knownSize(3);
  if (!width && !node.hasAttribute("scale"))
    return node.unsupported() << "has a head size that only a run knows, and no scale";
  double scale = node.real("scale", width ? 1 / std::sqrt(double(*width)) : 1), softcap = node.real("softcap", 0);
  Maths queries(node, query.sizes, query.dataType), m(node, sizes, query.dataType);
  query.value = queries.mul(query.value, queries.constant(scale));
  Value products = product(query, {Batch, Head, Group, Query, Width}, key, {Batch, Head, Key, Width},
                           {Batch, Head, Group, Query, Key}, sizes);
  if (softcap > 0)
    products = m.mul(m.tanh(m.div(products, m.constant(softcap))), m.constant(softcap));
  scores = node.tensor(products, sizes, query.dataType);
  if (failed(applyMask()))
    return failure();
  if (node.flag("is_causal"))
    maskFuture();
  if (failed(maskPadding()))
    return failure();

  int precision = int(node.integer("softmax_precision", query.dataType));
  if (!isa_and_nonnull<FloatType>(nnElementType(node.builder.getContext(), precision)))
    return node.error() << "has softmax_precision " << precision << ", which is no float";
  Value wide = node.convert(scores.value, scores.dataType, precision);
  Value weights = node.builder.create<nn::SoftmaxOp>(wide.getType(), wide, 3, /*log=*/false);
  Tensor probabilities = node.tensor(node.convert(weights, precision, query.dataType), sizes, query.dataType);
  Sizes outSizes = {sizes[0], sizes[1], sizes[2], value.sizes[3]};
  Value out = product(probabilities, {Batch, Head, Group, Query, Key}, value, {Batch, Head, Key, Width},
                      {Batch, Head, Group, Query, Width}, outSizes);
  int64_t mode = node.integer("qk_matmul_output_mode", 0);
  Tensor shown = mode == 2 ? scores : mode == 3 ? probabilities : node.tensor(products, sizes, query.dataType);
  return node.yield({mergeHeads(node.tensor(out, outSizes, query.dataType)), key, value, shown});
}

LogicalResult translateAttention(Node &node) { return Attention(node).translate(); }

//===- Rotary embedding ----------------------------------------------------------------------------------------------

/// A cache of cosines or sines for each batch and position: picked by the positions, or given so.
FailureOr<Tensor> cacheOf(Node &node, int64_t input) {
  Tensor cache = withValue(node, input);
  if (failed(node.wantSameElement(0, input)))
    return failure();
  if (!node.has(3)) {
    if (failed(node.wantRank(input, 3, 3)))
      return failure();
    return cache;
  }
  Tensor &positions = node.input(3);
  if (failed(node.wantRank(input, 2, 2)) || failed(node.wantRank(3, 2, 2)))
    return failure();
  if (positions.dataType != Int64 && positions.dataType != Int32)
    return node.error() << "wants integer positions but they are " << dataTypeName(positions.dataType);
  Sizes sizes = {positions.sizes[0], positions.sizes[1], cache.sizes[1]};
  Value picked = node.builder.create<nn::GatherOp>(node.type(sizes, cache.element), cache.value, node.value(3),
                                                   node.dynamic(sizes), 0);
  return node.tensor(picked, sizes, cache.dataType);
}

/// Turns pairs of elements of each head by an angle that its position gives.
LogicalResult translateRotaryEmbedding(Node &node) {
  if (failed(node.wantFloat(0)) || failed(node.wantRank(0, 3, 4)))
    return failure();
  Tensor x = withValue(node, 0);
  Sizes original = x.sizes;
  bool flat = x.rank() == 3;
  IndexMath &math = node.math;
  if (flat) {
    // [B, S, heads, D]; a tensor of rank 4 is [B, heads, S, D].
    int64_t heads = node.integer("num_heads", 0);
    auto hidden = x.knownSize(2);
    if (heads < 1 || !hidden || *hidden % heads != 0)
      return node.error() << "splits a width of " << hidden.value_or(0) << " among " << heads << " heads";
    Sizes split = {x.sizes[0], x.sizes[1], math.constant(heads), math.constant(*hidden / heads)};
    x = node.tensor(node.reshape(x.value, x.sizes, split), split, x.dataType);
  }
  auto width = x.knownSize(3);
  if (!width)
    return node.unsupported() << "has a head size that only a run knows, which is not supported";
  int64_t named = node.integer("rotary_embedding_dim", 0), turned = named ? named : *width, half = turned / 2;
  if (turned < 2 || turned % 2 != 0 || turned > *width)
    return node.error() << "turns " << turned << " of " << *width << " elements";
  FailureOr<Tensor> cosines = cacheOf(node, 1), sines = cacheOf(node, 2);
  if (failed(cosines) || failed(sines))
    return failure();

  Sizes sizes = x.sizes;
  sizes[3] = math.constant(half);
  SmallVector<int64_t> dims = {0, flat ? 1 : 2, 3};
  for (const Tensor *cache : {&*cosines, &*sines})
    for (auto [dim, size] : llvm::zip(dims, cache->sizes))
      if (failed(node.requireEqual(size, sizes[dim], "has a cache and an input of")))
        return failure();
  bool interleaved = node.flag("interleaved");
  auto part = [&](int64_t start, Index count, int64_t stride) {
    SmallVector<Index> offsets(3, math.constant(0));
    offsets.push_back(math.constant(start));
    Sizes partSizes = x.sizes;
    partSizes[3] = count;
    return node.tensor(node.slice(x.value, offsets, partSizes, {1, 1, 1, stride}), partSizes, x.dataType);
  };
  Value first = part(0, sizes[3], interleaved ? 2 : 1).value;
  Value second = part(interleaved ? 1 : half, sizes[3], interleaved ? 2 : 1).value;
  Value cosine = node.broadcastInDim(cosines->value, cosines->sizes, sizes, dims);
  Value sine = node.broadcastInDim(sines->value, sines->sizes, sizes, dims);
  Maths m(node, sizes, x.dataType);
  Tensor real = node.tensor(m.sub(m.mul(cosine, first), m.mul(sine, second)), sizes, x.dataType);
  Tensor imaginary = node.tensor(m.add(m.mul(sine, first), m.mul(cosine, second)), sizes, x.dataType);
  Tensor result;
  if (interleaved) {
    Sizes column = sizes, whole = sizes;
    column.push_back(math.constant(1));
    whole[3] = math.constant(turned);
    for (Tensor *each : {&real, &imaginary})
      *each = node.tensor(node.reshape(each->value, sizes, column), column, x.dataType);
    Tensor pairs = concat(node, real, imaginary, 4);
    result = node.tensor(node.reshape(pairs.value, pairs.sizes, whole), whole, x.dataType);
  } else {
    result = concat(node, real, imaginary, 3);
  }
  if (turned < *width)
    result = concat(node, result, part(turned, math.constant(*width - turned), 1), 3);
  return node.yield(node.reshape(result.value, result.sizes, original), original, x.dataType);
}

const Row rows[] = {
    {"", "Attention", 23, 3, 7, translateAttention},
    {"", "RotaryEmbedding", 23, 3, 4, translateRotaryEmbedding},
};

} // namespace

ArrayRef<Row> joule::translate::attentionRows() { return rows; }
