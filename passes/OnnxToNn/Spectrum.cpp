// Fourier transforms, as matrix products, and what belongs to them.
#include "passes/OnnxToNn/Contract.h"
#include "passes/OnnxToNn/Maths.h"
#include "passes/OnnxToNn/RunSizes.h"
#include "passes/OnnxToNn/Tables.h"

#include "dialects/Onnx/ElementTypes.h"

#include <cmath>

using namespace mlir;
using namespace joule;
using namespace joule::translate;

namespace {

using joule::translate::Tensor; // not the API's

constexpr double pi = 3.14159265358979323846;

/// Transforms are calculated in f64 where the data is, else in f32.
int calculationType(int dataType) { return dataType == Double ? Double : Float; }

/// An input of one integer, as a host value.
FailureOr<Index> oneInteger(Node &node, int64_t input) {
  FailureOr<SmallVector<Index>> number = node.indices(input);
  if (failed(number))
    return failure();
  if (number->size() != 1)
    return node.error() << "wants one number as input " << input << " but it has " << number->size();
  return number->front();
}

/// sin(2 pi number / (4 count)) for integers. Folded into a quarter turn, which is exact, so that what ought to be zero is.
Value sineOfQuarters(Node &node, ArrayRef<Index> sizes, Value number, Value count, int type) {
  Maths whole(node, sizes, Int64), m(node, sizes, type);
  Value two = whole.constant(2), half = whole.mul(two, count);
  Value turned = whole.rem(number, whole.mul(two, half));
  Value isLow = whole.less(turned, half);
  Value first = whole.select(isLow, turned, whole.sub(turned, half));
  Value quarter = whole.min(first, whole.sub(half, first));
  Value part = m.div(node.convert(quarter, Int64, type), node.convert(count, Int64, type));
  Value sine = node.builder.create<math::SinOp>(m.mul(part, m.constant(pi / 2)));
  return m.select(isLow, sine, m.negate(sine));
}

/// cos and sin of 2 pi j k / length, as `[rows, columns]`. The product is reduced before it becomes a float, which would
/// not hold it.
std::pair<Value, Value> waves(Node &node, Index rows, Index columns, Index length, int type) {
  Sizes sizes = {rows, columns};
  Maths whole(node, sizes, Int64);
  Value count = node.broadcast(node.indexScalar(length, Int64), {}, sizes);
  Value turn = whole.rem(whole.mul(node.iota(0, sizes, whole.element), node.iota(1, sizes, whole.element)), count);
  Value quarters = whole.mul(turn, whole.constant(4));
  return {sineOfQuarters(node, sizes, whole.add(quarters, count), count, type),
          sineOfQuarters(node, sizes, quarters, count, type)};
}

/// A transform along the middle dimension of complex numbers `[A, n, B]`; the imaginary part may be missing.
struct Transform {
  Node &node;
  int type;
  Index length, bins;   ///< of the transform, and how many are calculated
  bool inverse = false; ///< divides by the length
  bool real = false;    ///< the input is one half of a spectrum that is symmetric, the result has no imaginary part

  Value times(Value numbers, ArrayRef<Index> sizes, Value matrix, Index rows) {
    Operand lhs = {numbers, Sizes(sizes), {0, 1, 2}, type}, rhs = {matrix, {rows, bins}, {1, 3}, type};
    return contract(node, lhs, rhs, {0, 3, 2}, type);
  }

  /// Of half a spectrum, all but the first and the middle one stand for two.
  Value doubled(Value matrix, Index rows) {
    Sizes sizes = {rows, bins};
    Maths whole(node, sizes, Int64), m(node, sizes, type);
    Value row = node.iota(0, sizes, whole.element);
    Value count = node.broadcast(node.indexScalar(length, Int64), {}, sizes);
    Value alone = node.builder.create<arith::OrIOp>(whole.equal(row, whole.constant(0)),
                                                    whole.equal(whole.add(row, row), count));
    return m.mul(matrix, m.select(alone, m.constant(1), m.constant(2)));
  }

  /// The result's parts, `[A, bins, B]`.
  std::pair<Value, Value> run(Value re, Value im, Sizes sizes) {
    // Of a longer signal the beginning is taken; what a shorter one lacks is zero.
    Index half = node.math.add(node.loc, node.math.floorDiv(node.loc, length, node.math.constant(2)), node.math.constant(1));
    Index rows = node.math.min(node.loc, sizes[1], real ? half : length);
    Sizes zeros(3, node.math.constant(0)), kept = {sizes[0], rows, sizes[2]}, result = {sizes[0], bins, sizes[2]};
    auto cut = [&](Value part) { return node.slice(part, zeros, kept, {1, 1, 1}); };
    auto [cosine, sine] = waves(node, rows, bins, length, type);
    if (real) {
      cosine = doubled(cosine, rows);
      sine = doubled(sine, rows);
    }
    Maths m(node, result, type);
    re = cut(re);
    Value outRe = times(re, kept, cosine, rows), outIm = times(re, kept, sine, rows);
    if (!inverse)
      outIm = m.negate(outIm);
    if (im) {
      im = cut(im);
      Value crossRe = times(im, kept, sine, rows), crossIm = times(im, kept, cosine, rows);
      outRe = inverse ? m.sub(outRe, crossRe) : m.add(outRe, crossRe);
      outIm = m.add(outIm, crossIm);
    }
    if (!inverse)
      return {outRe, outIm};
    Value count = node.broadcast(node.indexScalar(length, type), {}, result);
    return {m.div(outRe, count), m.div(outIm, count)};
  }
};

/// The real part, or the imaginary one, of numbers `[sizes…, parts]`, in the type of the calculation.
Value partOf(Node &node, const Tensor &x, Value value, int64_t number) {
  Sizes offsets(x.rank(), node.math.constant(0)), one = x.sizes, rest(ArrayRef(x.sizes).drop_back());
  offsets.back() = node.math.constant(number);
  one.back() = node.math.constant(1);
  Value part = node.reshape(node.slice(value, offsets, one, SmallVector<int64_t>(x.rank(), 1)), one, rest);
  return node.convert(part, x.dataType, calculationType(x.dataType));
}

/// The parts as the last dimension of one tensor `[sizes…, parts]`.
Tensor joinParts(Node &node, ArrayRef<Value> parts, Sizes sizes, int dataType) {
  Sizes single = sizes, all = sizes;
  single.push_back(node.math.constant(1));
  all.push_back(node.math.constant(parts.size()));
  SmallVector<Value> converted;
  for (Value part : parts)
    converted.push_back(node.reshape(node.convert(part, calculationType(dataType), dataType), sizes, single));
  if (converted.size() == 1)
    return node.tensor(converted.front(), all, dataType);
  Type element = nnElementType(node.builder.getContext(), dataType);
  Value joined = node.builder.create<nn::ConcatOp>(node.type(all, element), converted, node.dynamic(all), sizes.size());
  return node.tensor(joined, all, dataType);
}

/// Whether the numbers are real or complex, as their last dimension says.
FailureOr<int64_t> countParts(Node &node, const Tensor &x) {
  std::optional<int64_t> parts = x.knownSize(x.rank() - 1);
  if (!parts)
    return node.unsupported() << "does not know when compiling whether its numbers are complex, which is not supported";
  if (*parts != 1 && *parts != 2)
    return node.error() << "has numbers of " << *parts << " parts";
  return *parts;
}

FailureOr<int64_t> transformAxis(Node &node, const Tensor &x) {
  int64_t axis = node.version() < 20 ? node.integer("axis", 1) : -2;
  if (node.version() >= 20 && node.has(2)) {
    auto given = node.constantIntegers(2);
    if (failed(given))
      return failure();
    if (given->size() != 1)
      return node.error() << "has " << given->size() << " axes, and wants one";
    axis = given->front();
  }
  FailureOr<int64_t> normal = node.normalizeAxis(axis, x.rank());
  if (succeeded(normal) && *normal == x.rank() - 1)
    return node.error() << "goes along the parts of its numbers";
  return normal;
}

LogicalResult translateDft(Node &node) {
  Tensor &x = node.input(0);
  if (failed(node.wantFloat(0)) || failed(node.wantRank(0, 2)))
    return failure();
  FailureOr<int64_t> parts = countParts(node, x), axis = transformAxis(node, x);
  if (failed(parts) || failed(axis))
    return failure();
  bool inverse = node.flag("inverse"), onesided = node.flag("onesided"), real = inverse && onesided;
  IndexMath &math = node.math;
  Location loc = node.loc;
  Index one = math.constant(1), two = math.constant(2);
  Index length = real ? math.mul(loc, two, math.sub(loc, x.sizes[*axis], one)) : x.sizes[*axis];
  if (node.has(1)) {
    FailureOr<Index> given = oneInteger(node, 1);
    if (failed(given))
      return failure();
    length = *given;
  }
  if (IndexMath::known(length).value_or(1) < 1)
    return node.error() << "has a length of " << *IndexMath::known(length);
  if (failed(node.require(math.compare(loc, arith::CmpIPredicate::sge, length, one), "has a length below 1")))
    return failure();
  Index bins = onesided && !inverse ? math.add(loc, math.floorDiv(loc, length, two), one) : length;
  Sizes numbers(ArrayRef(x.sizes).drop_back()), sizes = numbers;
  sizes[*axis] = bins;
  Sizes flat = {math.product(loc, ArrayRef(numbers).take_front(*axis)), numbers[*axis],
                math.product(loc, ArrayRef(numbers).drop_front(*axis + 1))};
  Sizes result = {flat[0], bins, flat[2]};
  auto part = [&](int64_t number) { return node.reshape(partOf(node, x, node.value(0), number), numbers, flat); };
  Transform transform{node, calculationType(x.dataType), length, bins, inverse, real};
  auto [re, im] = transform.run(part(0), *parts == 2 ? part(1) : Value(), flat);
  SmallVector<Value> results = {node.reshape(re, result, sizes)};
  if (!real)
    results.push_back(node.reshape(im, result, sizes));
  return node.yield({joinParts(node, results, sizes, x.dataType)});
}

/// Frames of the signal, each times the window and transformed.
LogicalResult translateStft(Node &node) {
  Tensor &x = node.input(0);
  if (failed(node.wantFloat(0)) || failed(node.wantRank(0, 3, 3)))
    return failure();
  FailureOr<int64_t> parts = countParts(node, x);
  FailureOr<Index> step = oneInteger(node, 1);
  if (failed(parts) || failed(step))
    return failure();
  IndexMath &math = node.math;
  Location loc = node.loc;
  Index length = node.has(2) ? node.input(2).sizes.front() : x.sizes[1];
  if (node.has(3)) {
    FailureOr<Index> given = oneInteger(node, 3);
    if (failed(given))
      return failure();
    length = *given;
  }
  if (node.has(2) && (failed(node.wantRank(2, 1, 1)) || failed(node.wantSameElement(0, 2)) ||
                      failed(node.requireEqual(node.input(2).sizes[0], length, "has frames and a window of"))))
    return failure();
  Index one = math.constant(1);
  auto atLeastOne = [&](Index number) { return math.compare(loc, arith::CmpIPredicate::sge, number, one); };
  if (failed(node.require(atLeastOne(*step), "has a step below 1")) ||
      failed(node.require(atLeastOne(length), "has frames without elements")) ||
      failed(node.require(math.compare(loc, arith::CmpIPredicate::sge, x.sizes[1], length), "has frames longer than the signal")))
    return failure();
  Index frames = math.add(loc, math.floorDiv(loc, math.sub(loc, x.sizes[1], length), *step), one);
  bool onesided = node.flag("onesided", true);
  Index bins = onesided ? math.add(loc, math.floorDiv(loc, length, math.constant(2)), one) : length;

  int type = calculationType(x.dataType);
  Sizes positions = {frames, length}, cut = {x.sizes[0], frames, length}, signal = {x.sizes[0], x.sizes[1]};
  Sizes flat = {math.mul(loc, x.sizes[0], frames), length, one};
  Maths whole(node, positions, Int64);
  Value position = whole.add(whole.mul(node.iota(0, positions, whole.element),
                                       node.broadcast(node.indexScalar(*step, Int64), {}, positions)),
                             node.iota(1, positions, whole.element));
  Maths m(node, cut, type);
  auto part = [&](int64_t number) {
    Value numbers = partOf(node, x, node.value(0), number);
    Value taken = node.builder.create<nn::GatherOp>(node.type(cut, m.element), numbers, position, node.dynamic(cut), 1);
    if (node.has(2))
      taken = m.mul(taken, node.broadcastInDim(node.convert(node.value(2), x.dataType, type), {length}, cut, {2}));
    return node.reshape(taken, cut, flat);
  };
  Transform transform{node, type, length, bins};
  auto [re, im] = transform.run(part(0), *parts == 2 ? part(1) : Value(), flat);
  Sizes result = {flat[0], bins, one}, sizes = {x.sizes[0], frames, bins};
  return node.yield({joinParts(node, {node.reshape(re, result, sizes), node.reshape(im, result, sizes)}, sizes, x.dataType)});
}

//===- Windows -------------------------------------------------------------------------------------------------------

/// factors[0] - factors[1] cos(t) + factors[2] cos(2 t), where t goes round once.
LogicalResult translateCosineWindow(Node &node, ArrayRef<double> factors) {
  FailureOr<Index> size = oneInteger(node, 0);
  if (failed(size))
    return failure();
  if (IndexMath::known(*size).value_or(0) < 0)
    return node.error() << "has a size of " << *IndexMath::known(*size);
  if (failed(requireSizes(node, {*size})))
    return failure();
  int dataType = int(node.integer("output_datatype", Float)), type = calculationType(dataType);
  Type element = nnElementType(node.builder.getContext(), dataType);
  if (!element || !element.isIntOrFloat())
    return node.unsupported() << "of " << dataTypeName(dataType) << " is not supported";
  Sizes sizes = {*size};
  Maths m(node, sizes, type);
  Value count = node.broadcast(node.indexScalar(*size, type), {}, sizes);
  if (!node.flag("periodic", true))
    count = m.sub(count, m.constant(1));
  Value result = m.constant(factors[0]), turn = m.div(node.iota(0, sizes, m.element), count);
  for (auto [number, factor] : llvm::enumerate(factors.drop_front())) {
    Value angle = m.mul(turn, m.constant(2 * pi * double(number + 1)));
    Value term = m.mul(node.builder.create<math::CosOp>(angle), m.constant(factor));
    result = number % 2 ? m.add(result, term) : m.sub(result, term);
  }
  return node.yield(node.convert(result, type, dataType), sizes, dataType);
}

LogicalResult translateHannWindow(Node &node) { return translateCosineWindow(node, {0.5, 0.5}); }
LogicalResult translateHammingWindow(Node &node) { return translateCosineWindow(node, {25.0 / 46, 21.0 / 46}); }
LogicalResult translateBlackmanWindow(Node &node) { return translateCosineWindow(node, {0.42, 0.5, 0.08}); }

/// The bins of the spectrum at which mel bands begin, culminate and end; a band weighs what lies between in two ramps.
LogicalResult translateMelWeightMatrix(Node &node) {
  FailureOr<Index> bands = oneInteger(node, 0), length = oneInteger(node, 1);
  if (failed(bands) || failed(length) || failed(requireSizes(node, {*bands, *length})))
    return failure();
  auto scalar = [&](int64_t input) { return node.convert(node.reshape(node.value(input), node.input(input).sizes, {}), node.input(input).dataType, Double); };
  for (int64_t input : {2, 3, 4})
    if (failed(node.wantNumber(input)) || failed(node.wantRank(input, 0, 0)))
      return failure();
  int dataType = int(node.integer("output_datatype", Float));
  Type element = nnElementType(node.builder.getContext(), dataType);
  if (!element || !element.isIntOrFloat())
    return node.unsupported() << "of " << dataTypeName(dataType) << " is not supported";
  IndexMath &math = node.math;
  Location loc = node.loc;

  Sizes edges = {math.add(loc, *bands, math.constant(2))};
  Maths m(node, edges, Double);
  auto everywhere = [&](Value number) { return node.broadcast(number, {}, edges); };
  constexpr double scale = 2595, corner = 700;
  auto mel = [&](Value hertz) {
    Value ratio = m.add(m.constant(1), m.div(everywhere(hertz), m.constant(corner)));
    return m.mul(m.constant(scale / std::log(10.0)), node.builder.create<math::LogOp>(ratio));
  };
  Value low = mel(scalar(3)), high = mel(scalar(4));
  Value step = m.div(m.sub(high, low), node.broadcast(node.indexScalar(edges[0], Double), {}, edges));
  Value at = m.add(m.mul(node.iota(0, edges, m.element), step), low);
  Value hertz = m.mul(m.constant(corner), m.sub(m.exp(m.mul(at, m.constant(std::log(10.0) / scale))), m.constant(1)));
  Index next = math.add(loc, *length, math.constant(1));
  Value bin = m.div(m.mul(node.broadcast(node.indexScalar(next, Double), {}, edges), hertz), everywhere(scalar(2)));
  bin = node.builder.create<math::FloorOp>(bin);

  Sizes sizes = {math.add(loc, math.floorDiv(loc, *length, math.constant(2)), math.constant(1)), *bands};
  Maths w(node, sizes, Double);
  auto edge = [&](int64_t offset) {
    Value part = node.slice(bin, {math.constant(offset)}, {*bands}, {1});
    return node.broadcastInDim(part, {*bands}, sizes, {1});
  };
  auto both = [&](Value a, Value b) { return node.builder.create<arith::AndIOp>(a, b).getResult(); };
  Value left = edge(0), center = edge(1), right = edge(2), row = node.iota(0, sizes, w.element), zero = w.constant(0);
  Value rising = w.select(both(w.lessEqual(left, row), w.lessEqual(row, center)),
                          w.div(w.sub(row, left), w.sub(center, left)), zero);
  Value single = w.select(w.equal(row, center), w.constant(1), zero);
  Value falls = both(w.lessEqual(center, row), w.less(row, right));
  Value result = w.select(falls, w.div(w.sub(right, row), w.sub(right, center)),
                          w.select(w.equal(left, center), single, rising));
  return node.yield(node.convert(result, Double, dataType), sizes, dataType);
}

} // namespace

ArrayRef<Row> joule::translate::spectrumRows() {
  static const Row rows[] = {
      {"", "BlackmanWindow", 17, 1, 1, translateBlackmanWindow},
      {"", "DFT", 17, 1, 3, translateDft, Axes::Any, 2},
      {"", "HammingWindow", 17, 1, 1, translateHammingWindow},
      {"", "HannWindow", 17, 1, 1, translateHannWindow},
      {"", "MelWeightMatrix", 17, 5, 5, translateMelWeightMatrix},
      {"", "STFT", 17, 2, 4, translateStft},
  };
  return rows;
}
