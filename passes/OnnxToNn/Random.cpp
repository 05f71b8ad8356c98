// Operators that draw random numbers.
//
// The generator is SplitMix64, which needs no state: number `i` of the stream with key `k` is `mix(k + (i + 1) * step)`.
// A node's key follows from its seed, else from its name, and from the iterations it stands in. So a run draws the numbers
// that it drew before: results can be repeated, on every device and by the reference. ONNX promises no particular numbers.
#include "passes/OnnxToNn/Maths.h"
#include "passes/OnnxToNn/Tables.h"

#include "dialects/Onnx/ElementTypes.h"

#include "llvm/Support/xxhash.h"

using namespace mlir;
using namespace joule;
using namespace joule::translate;

namespace {

using joule::translate::Tensor; // not the API's

constexpr uint64_t step = 0x9E3779B97F4A7C15;
constexpr double pi = 3.14159265358979323846;

/// Draws numbers for one node.
class Stream {
public:
  explicit Stream(Node &node) : node(node), integer(node.builder.getI64Type()) {
    key = number(seed(), {});
    for (Index iteration : node.translator.iterations)
      key = mix(add(key, multiply(node.indexScalar(iteration, Int64), number(step, {}))), {});
  }

  /// Even numbers in [0, 1), of `type` (f32 or f64), with all bits that it holds.
  Value uniform(ArrayRef<Index> sizes, int type, uint64_t offset = 0, uint64_t stride = 1) {
    Value counter = number(offset + 1, sizes), flat = number(0, sizes);
    // The position in row-major order.
    for (int64_t dim = 0; dim < int64_t(sizes.size()); ++dim) {
      Value size = node.broadcast(node.indexScalar(sizes[dim], Int64), {}, sizes);
      flat = add(multiply(flat, size), node.iota(dim, sizes, integer));
    }
    counter = add(counter, multiply(flat, number(stride, sizes)));
    Value start = node.broadcast(key, {}, sizes);
    Value bits = mix(add(start, multiply(counter, number(step, sizes))), sizes);
    unsigned kept = type == Double ? 53 : 24;
    Value high = shift(bits, 64 - kept, sizes);
    Maths m(node, sizes, type);
    return m.mul(node.convert(high, Int64, type), m.constant(std::ldexp(1.0, -int(kept))));
  }

  /// Numbers with mean 0 and variance 1, by the method of Box and Muller.
  Value normal(ArrayRef<Index> sizes, int type) {
    Maths m(node, sizes, type);
    // From (0, 1], which has a logarithm.
    Value first = m.sub(m.constant(1), uniform(sizes, type, 0, 2)), second = uniform(sizes, type, 1, 2);
    Value radius = m.sqrt(m.mul(m.constant(-2), node.builder.create<math::LogOp>(first)));
    return m.mul(radius, node.builder.create<math::CosOp>(m.mul(second, m.constant(2 * pi))));
  }

private:
  uint64_t seed() {
    if (node.hasAttribute("seed"))
      return llvm::bit_cast<uint64_t>(node.real("seed", 0));
    std::string name;
    llvm::raw_string_ostream stream(name);
    stream << node.op.getOpType() << node.loc;
    return llvm::xxh3_64bits(name);
  }

  Value number(uint64_t value, ArrayRef<Index> sizes) { return node.splat(APInt(64, value), integer, sizes); }
  Value add(Value a, Value b) { return node.builder.create<arith::AddIOp>(a, b); }
  Value multiply(Value a, Value b) { return node.builder.create<arith::MulIOp>(a, b); }
  Value shift(Value value, unsigned bits, ArrayRef<Index> sizes) {
    return node.builder.create<arith::ShRUIOp>(value, number(bits, sizes));
  }
  Value fold(Value value, unsigned bits, ArrayRef<Index> sizes) {
    return node.builder.create<arith::XOrIOp>(value, shift(value, bits, sizes));
  }
  Value mix(Value value, ArrayRef<Index> sizes) {
    value = multiply(fold(value, 30, sizes), number(0xBF58476D1CE4E5B9, sizes));
    value = multiply(fold(value, 27, sizes), number(0x94D049BB133111EB, sizes));
    return fold(value, 31, sizes);
  }

  Node &node;
  Type integer;
  Value key;
};

int calculationType(int dataType) { return dataType == Double ? Double : Float; }

/// The element type that attribute "dtype" names; `fallback` where it names none.
FailureOr<int> resultType(Node &node, int fallback, bool wantsFloat) {
  int dataType = int(node.integer("dtype", fallback));
  Type element = nnElementType(node.builder.getContext(), dataType);
  if (!element || !element.isIntOrFloat() || (wantsFloat && !isa<FloatType>(element)))
    return node.error() << "gives " << dataTypeName(dataType) << ", which its numbers are not";
  return dataType;
}

LogicalResult yieldUniform(Node &node, Sizes sizes, int fallback) {
  FailureOr<int> dataType = resultType(node, fallback, true);
  if (failed(dataType))
    return failure();
  int type = calculationType(*dataType);
  double low = node.real("low", 0), high = node.real("high", 1);
  Maths m(node, sizes, type);
  Value result = m.add(m.mul(Stream(node).uniform(sizes, type), m.constant(high - low)), m.constant(low));
  return node.yield(node.convert(result, type, *dataType), sizes, *dataType);
}

LogicalResult yieldNormal(Node &node, Sizes sizes, int fallback) {
  FailureOr<int> dataType = resultType(node, fallback, true);
  if (failed(dataType))
    return failure();
  int type = calculationType(*dataType);
  Maths m(node, sizes, type);
  Value scaled = m.mul(Stream(node).normal(sizes, type), m.constant(node.real("scale", 1)));
  return node.yield(node.convert(m.add(scaled, m.constant(node.real("mean", 0))), type, *dataType), sizes, *dataType);
}

using Yield = LogicalResult (*)(Node &, Sizes, int);

template <Yield yield> LogicalResult translateOfShape(Node &node) {
  Sizes sizes;
  for (int64_t size : node.integers("shape")) {
    if (size < 0)
      return node.error() << "makes a dimension of " << size << " elements";
    sizes.push_back(node.math.constant(size));
  }
  return yield(node, sizes, Float);
}

template <Yield yield> LogicalResult translateLike(Node &node) {
  Tensor &x = node.input(0);
  return yield(node, x.sizes, x.isFloat() ? x.dataType : Float);
}

/// 1 with the probability that the input says.
LogicalResult translateBernoulli(Node &node) {
  Tensor &x = node.input(0);
  FailureOr<int> dataType = resultType(node, x.dataType, false);
  if (failed(node.wantFloat(0)) || failed(dataType))
    return failure();
  int type = calculationType(x.dataType);
  Maths m(node, x.sizes, type);
  Value isOne = m.less(Stream(node).uniform(x.sizes, type), node.convert(node.value(0), x.dataType, type));
  return node.yield(node.convert(isOne, Bool, *dataType), x.sizes, *dataType);
}

/// Draws classes with probabilities whose logarithms the input states, up to a constant: the greatest of them after
/// noise of Gumbel's distribution has been added.
LogicalResult translateMultinomial(Node &node) {
  Tensor &x = node.input(0);
  int dataType = int(node.integer("dtype", Int32));
  if (failed(node.wantFloat(0)) || failed(node.wantRank(0, 2, 2)))
    return failure();
  if (dataType != Int32 && dataType != Int64)
    return node.error() << "gives " << dataTypeName(dataType) << ", which counts no classes";
  int64_t samples = node.integer("sample_size", 1);
  if (samples < 1)
    return node.error() << "draws " << samples << " samples";
  Sizes sizes = {x.sizes[0], node.math.constant(samples)}, all = sizes;
  all.push_back(x.sizes[1]);
  int type = calculationType(x.dataType);
  Maths m(node, all, type);
  auto log = [&](Value value) { return node.builder.create<math::LogOp>(value); };
  Value even = m.sub(m.constant(1), Stream(node).uniform(all, type));
  // Not 1, whose logarithm is 0 and has none.
  even = m.min(even, m.constant(type == Double ? 1 - std::ldexp(1.0, -53) : 1 - std::ldexp(1.0, -24)));
  Value noise = m.negate(log(m.negate(log(even))));
  Value stated = node.broadcastInDim(node.convert(node.value(0), x.dataType, type), x.sizes, all, {0, 2});
  Value chosen = node.builder.create<nn::ArgReduceOp>(node.type(sizes, node.builder.getI64Type()), nn::Combiner::Max,
                                                      m.add(stated, noise), 2, false);
  return node.yield(node.convert(chosen, Int64, dataType), sizes, dataType);
}

//===- Dropout -------------------------------------------------------------------------------------------------------

/// As inference sees it: nothing is dropped.
LogicalResult keepAll(Node &node) {
  Tensor &x = node.input(0);
  int maskType = node.version() < 10 ? x.dataType : int(Bool);
  SmallVector<Tensor> results = {x};
  if (node.wants(1))
    results.push_back(node.tensor(node.splat(1, nnElementType(node.builder.getContext(), maskType), x.sizes), x.sizes,
                                  maskType));
  return node.yield(results);
}

/// An input of one element as a tensor of `sizes`.
FailureOr<Value> everywhere(Node &node, int64_t input, ArrayRef<Index> sizes) {
  Tensor &tensor = node.input(input);
  if (tensor.rank() > 1 || (tensor.rank() == 1 && tensor.knownSize(0) != 1))
    return node.error() << "has a " << tensor.type() << " as input " << input << " where it wants one number";
  return node.broadcast(node.reshape(node.value(input), tensor.sizes, {}), {}, sizes);
}

/// In training each element is dropped with the probability `ratio`; what stays grows, so that the mean does.
LogicalResult translateDropout(Node &node) {
  Tensor x = node.input(0);
  bool mayTrain = node.version() >= 12 && node.has(2);
  if (mayTrain)
    if (SmallVector<Index> *training = node.translator.hostElements(node.input(2)))
      mayTrain = training->size() != 1 || IndexMath::known(training->front()) != 0;
  if (!mayTrain)
    return keepAll(node);
  if (failed(node.wantFloat(0)) || failed(node.wantBool(2)) || (node.has(1) && failed(node.wantFloat(1))))
    return failure();
  int type = calculationType(x.dataType);
  Maths m(node, x.sizes, type);
  FailureOr<Value> isTraining = everywhere(node, 2, x.sizes), ratio = m.constant(0.5);
  if (node.has(1)) {
    ratio = everywhere(node, 1, x.sizes);
    if (succeeded(ratio))
      ratio = node.convert(*ratio, node.input(1).dataType, type);
  }
  if (failed(isTraining) || failed(ratio))
    return failure();
  Value isDropped = m.less(Stream(node).uniform(x.sizes, type), *ratio);
  isDropped = node.builder.create<arith::AndIOp>(isDropped, *isTraining);
  Value value = node.convert(node.value(0), x.dataType, type);
  Value grown = m.div(value, m.sub(m.constant(1), *ratio));
  Value result = m.select(isDropped, m.constant(0), m.select(*isTraining, grown, value));
  Maths bools(node, x.sizes, Bool);
  Value kept = node.builder.create<arith::XOrIOp>(isDropped, bools.constant(1));
  return node.yield({node.tensor(node.convert(result, type, x.dataType), x.sizes, x.dataType),
                     node.tensor(kept, x.sizes, Bool)});
}

} // namespace

ArrayRef<Row> joule::translate::randomRows() {
  static const Row rows[] = {
      {"", "Bernoulli", 15, 1, 1, translateBernoulli},
      {"", "Dropout", 1, 1, 3, translateDropout},
      {"", "Multinomial", 7, 1, 1, translateMultinomial},
      {"", "RandomNormal", 1, 0, 0, translateOfShape<yieldNormal>},
      {"", "RandomNormalLike", 1, 1, 1, translateLike<yieldNormal>},
      {"", "RandomUniform", 1, 0, 0, translateOfShape<yieldUniform>},
      {"", "RandomUniformLike", 1, 1, 1, translateLike<yieldUniform>},
  };
  return rows;
}
