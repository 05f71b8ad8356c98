// Recurrent layers: the part of each step that depends on the input alone becomes one matrix product over all steps.
#include "passes/OnnxToNn/Maths.h"
#include "passes/OnnxToNn/Tables.h"

using namespace mlir;
using namespace joule;
using namespace joule::translate;

namespace {

enum Input { X, W, R, B, Lengths, InitialH, InitialC, Peepholes };

/// A recurrent node's sizes and attributes.
struct Layer {
  Index steps, batch;
  int64_t directions, hidden, gates;
  bool batchFirst;
  SmallVector<StringRef> activations;
  SmallVector<float> alphas, betas; // one for each activation; the default where they end before
};

/// An activation, and which coefficients it takes.
struct Activation {
  const char *name;
  bool alpha = false, beta = false;
};

const Activation knownActivations[] = {
    {"Affine", true, true},      {"Elu", true},  {"HardSigmoid", true, true}, {"LeakyRelu", true}, {"Relu"},
    {"ScaledTanh", true, true}, {"Sigmoid"},    {"Softplus"},                {"Softsign"},        {"Tanh"},
    {"ThresholdedRelu", true},
};

/// `count` consecutive entries from `offset` along `dim`.
Value slice(Node &node, Value value, ArrayRef<Index> sizes, int64_t dim, int64_t offset, int64_t count) {
  Sizes part(sizes);
  part[dim] = node.math.constant(count);
  SmallVector<int64_t> offsets(sizes.size(), 0), strides(sizes.size(), 1);
  offsets[dim] = offset;
  return node.builder.create<nn::SliceOp>(node.type(part, getElementTypeOrSelf(value)), value, ValueRange(),
                                          node.dynamic(part), offsets, strides);
}

class RecurrentTranslation {
public:
  RecurrentTranslation(Node &node, int64_t gates, ArrayRef<StringRef> defaults) : node(node), defaults(defaults) {
    layer.gates = gates;
  }

  LogicalResult run() {
    if (failed(read()))
      return failure();
    for (int64_t direction = 0; direction < layer.directions; ++direction)
      runDirection(direction);
    return yield();
  }

private:
  LogicalResult read() {
    if (failed(node.wantFloat(X)) || failed(node.wantRank(X, 3, 3)) || failed(node.wantRank(W, 3, 3)) ||
        failed(node.wantRank(R, 3, 3)))
      return failure();
    StringRef direction = node.string("direction", "forward");
    if (direction != "forward" && direction != "reverse" && direction != "bidirectional")
      return node.error() << "has direction \"" << direction << "\"";
    layer.directions = direction == "bidirectional" ? 2 : 1;
    onlyReverse = direction == "reverse";
    std::optional<int64_t> hidden = node.input(R).knownSize(2);
    if (!hidden || !node.input(W).knownSize(2))
      return node.unsupported() << "has weights of unknown size, which is not supported";
    if (*hidden == 0 || node.integer("hidden_size", *hidden) != *hidden)
      return node.error() << "has a hidden_size of " << node.integer("hidden_size", *hidden) << " and weights for "
                          << *hidden << " units";
    layer.hidden = *hidden;
    if (node.input(R).knownSize(1) != layer.gates * *hidden || node.input(W).knownSize(1) != layer.gates * *hidden ||
        node.input(W).knownSize(0) != layer.directions || node.input(R).knownSize(0) != layer.directions)
      return node.error() << "has weights whose sizes do not fit " << *hidden << " hidden units in "
                          << layer.directions << " directions";
    layer.batchFirst = node.flag("layout");
    layer.steps = node.input(X).sizes[layer.batchFirst ? 1 : 0];
    layer.batch = node.input(X).sizes[layer.batchFirst ? 0 : 1];
    if (failed(requireSizes()))
      return failure();
    return readActivations();
  }

  /// Of what a run gives in sizes of its own: the weights' inputs, the bias, the states, the peepholes.
  LogicalResult requireSizes() {
    IndexMath &math = node.math;
    Index directions = math.constant(layer.directions), hidden = math.constant(layer.hidden);
    Sizes state = {directions, layer.batch, hidden};
    if (layer.batchFirst)
      std::swap(state[0], state[1]);
    const std::pair<int64_t, Sizes> wanted[] = {
        {W, {directions, math.constant(layer.gates * layer.hidden), node.input(X).sizes[2]}},
        {B, {directions, math.constant(2 * layer.gates * layer.hidden)}},
        {InitialH, state},
        {InitialC, state},
        {Lengths, {layer.batch}},
        {Peepholes, {directions, math.constant(3 * layer.hidden)}}};
    for (const auto &[input, sizes] : wanted) {
      if (!node.has(input))
        continue;
      Tensor &given = node.input(input);
      if (failed(node.wantRank(input, int64_t(sizes.size()), int64_t(sizes.size()))))
        return failure();
      for (auto [size, fits] : llvm::zip(given.sizes, sizes))
        if (failed(node.requireEqual(size, fits, "has as input " + Twine(input) + " and in its other inputs")))
          return failure();
    }
    return success();
  }

  LogicalResult readActivations() {
    if (auto list = dyn_cast_or_null<ArrayAttr>(node.op.getNodeAttributes().get("activations")))
      for (auto name : list.getAsRange<StringAttr>())
        layer.activations.push_back(name.getValue());
    if (layer.activations.empty())
      for (int64_t direction = 0; direction < layer.directions; ++direction)
        layer.activations.append(defaults.begin(), defaults.end());
    if (layer.activations.size() != defaults.size() * layer.directions)
      return node.error() << "has " << layer.activations.size() << " activations where "
                          << defaults.size() * layer.directions << " are wanted";
    for (StringRef name : layer.activations)
      if (!find(name))
        return node.error() << "has an unknown activation \"" << name << "\"";
    layer.alphas = coefficients("activation_alpha", &Activation::alpha);
    layer.betas = coefficients("activation_beta", &Activation::beta);
    return success();
  }

  static const Activation *find(StringRef name) {
    const auto *found = llvm::find_if(knownActivations, [&](const Activation &each) { return name == each.name; });
    return found == std::end(knownActivations) ? nullptr : found;
  }

  /// The numbers of attribute `name`, which go, in order, to the activations that take one, as one for each activation.
  SmallVector<float> coefficients(StringRef name, bool Activation::*takes) {
    SmallVector<double> given = node.reals(name);
    SmallVector<float> each;
    const double *next = given.begin();
    for (StringRef activation : layer.activations) {
      bool wants = find(activation)->*takes;
      if (wants && next == given.end())
        break;
      each.push_back(wants ? float(*next++) : 0);
    }
    return each;
  }

  /// One direction of an input whose first dimension are directions, without that dimension.
  Value ofDirection(int64_t input, int64_t direction) {
    Tensor &tensor = node.input(input);
    Sizes one(tensor.sizes);
    one[0] = node.math.constant(1);
    Value part = layer.directions == 1 ? node.value(input) : slice(node, node.value(input), tensor.sizes, 0, direction, 1);
    return node.reshape(part, one, ArrayRef<Index>(one).drop_front());
  }

  /// The initial state `[batch, hidden]`, zero where none is given.
  Value initialState(int64_t input, int64_t direction) {
    Sizes state = {layer.batch, node.math.constant(layer.hidden)};
    if (!node.has(input))
      return node.splat(0.0, element(), state);
    Tensor &given = node.input(input);
    int64_t dim = layer.batchFirst ? 1 : 0;
    Sizes one(given.sizes);
    one[dim] = node.math.constant(1);
    Value part = layer.directions == 1 ? node.value(input) : slice(node, node.value(input), given.sizes, dim, direction, 1);
    return node.reshape(part, one, state);
  }

  Type element() { return node.input(X).element; }

  /// `x W^T` for all steps at once: `[steps, batch, gates * hidden]`.
  Value inputGates(int64_t direction) {
    Sizes sizes = {layer.steps, layer.batch, node.math.constant(layer.gates * layer.hidden)};
    SmallVector<int64_t> x = layer.batchFirst ? SmallVector<int64_t>{1, 0, 2} : SmallVector<int64_t>{0, 1, 2};
    return node.builder.create<nn::ContractOp>(node.type(sizes, element()), node.value(X), ofDirection(W, direction), x,
                                               ArrayRef<int64_t>{3, 2}, ArrayRef<int64_t>{0, 1, 3}, false, false,
                                               nn::PrecisionAttr());
  }

  Value addVector(Value gates, Value vector) {
    Index count = node.math.constant(layer.gates * layer.hidden);
    Sizes sizes = {layer.steps, layer.batch, count};
    return Maths(node, sizes, node.input(X).dataType).add(gates, node.broadcastInDim(vector, {count}, sizes, {2}));
  }

  /// The input's or the recurrence's half of the bias.
  Value bias(int64_t direction, bool recurrent) {
    int64_t count = layer.gates * layer.hidden;
    return slice(node, ofDirection(B, direction), {node.math.constant(2 * count)}, 0, recurrent ? count : 0, count);
  }

  DenseF32ArrayAttr ofDirection(ArrayRef<float> coefficients, int64_t direction) {
    size_t each = defaults.size();
    return node.builder.getDenseF32ArrayAttr(
        coefficients.take_front((direction + 1) * each).drop_front(std::min(direction * each, coefficients.size())));
  }

  void runDirection(int64_t direction) {
    Value gates = inputGates(direction);
    bool isGru = layer.gates == 3;
    if (node.has(B)) {
      gates = addVector(gates, bias(direction, false));
      gates = addVector(gates, isGru ? gruBias(direction) : bias(direction, true));
    }
    SmallVector<Attribute> names;
    for (StringRef name : ArrayRef(layer.activations).slice(direction * defaults.size(), defaults.size()))
      names.push_back(node.builder.getStringAttr(name));
    ArrayAttr activations = node.builder.getArrayAttr(names);
    Value recurrence = ofDirection(R, direction), h = initialState(InitialH, direction);
    Value lengths = node.has(Lengths) ? node.value(Lengths) : Value();
    auto sequence = node.type({layer.steps, layer.batch, node.math.constant(layer.hidden)}, element());
    auto last = node.type({layer.batch, node.math.constant(layer.hidden)}, element());
    auto clip = node.builder.getF32FloatAttr(node.real("clip", 0.0));
    UnitAttr reverse = onlyReverse || direction == 1 ? node.builder.getUnitAttr() : UnitAttr();
    auto flag = [&](StringRef name) { return node.flag(name) ? node.builder.getUnitAttr() : UnitAttr(); };
    auto alphas = ofDirection(layer.alphas, direction), betas = ofDirection(layer.betas, direction);
    Operation *op;
    if (layer.gates == 4)
      op = node.builder.create<nn::LstmOp>(sequence, last, last, gates, recurrence, h, initialState(InitialC, direction),
                                           node.has(Peepholes) ? ofDirection(Peepholes, direction) : Value(), lengths,
                                           activations, alphas, betas, clip, flag("input_forget"), reverse);
    else if (isGru)
      op = node.builder.create<nn::GruOp>(sequence, last, gates, recurrence, lastRecurrentBias(direction), h, lengths,
                                          activations, alphas, betas, clip, flag("linear_before_reset"), reverse);
    else
      op = node.builder.create<nn::RnnOp>(sequence, last, gates, recurrence, h, lengths, activations, alphas, betas,
                                          clip, reverse);
    for (Value result : op->getResults())
      results[cast<OpResult>(result).getResultNumber()].push_back(result);
  }

  /// The recurrent biases of all gates but the last, which the cell adds itself.
  Value gruBias(int64_t direction) {
    Index count = node.math.constant(3 * layer.hidden);
    Value whole = bias(direction, true);
    Value two = slice(node, whole, {count}, 0, 0, 2 * layer.hidden);
    Value none = node.splat(0.0, element(), {node.math.constant(layer.hidden)});
    return node.builder.create<nn::ConcatOp>(node.type({count}, element()), ValueRange{two, none}, ValueRange(), 0);
  }

  Value lastRecurrentBias(int64_t direction) {
    Index hidden = node.math.constant(layer.hidden);
    if (!node.has(B))
      return node.splat(0.0, element(), {hidden});
    return slice(node, bias(direction, true), {node.math.constant(3 * layer.hidden)}, 0, 2 * layer.hidden, layer.hidden);
  }

  /// The directions' results of sizes `each`, joined along a new dimension `dim`, then permuted.
  Tensor join(ArrayRef<Value> parts, Sizes each, int64_t dim, ArrayRef<int64_t> permutation) {
    Sizes one(each), all;
    one.insert(one.begin() + dim, node.math.constant(1));
    all = one;
    all[dim] = node.math.constant(layer.directions);
    SmallVector<Value> widened;
    for (Value part : parts)
      widened.push_back(node.reshape(part, each, one));
    Value whole = widened.front();
    if (widened.size() > 1)
      whole = node.builder.create<nn::ConcatOp>(node.type(all, element()), widened, node.dynamic(all), dim);
    Sizes sizes;
    for (int64_t from : permutation)
      sizes.push_back(all[from]);
    return node.tensor(node.transpose(whole, permutation), sizes, node.input(X).dataType);
  }

  LogicalResult yield() {
    Index hidden = node.math.constant(layer.hidden);
    Sizes sequence = {layer.steps, layer.batch, hidden}, last = {layer.batch, hidden};
    bool batchFirst = layer.batchFirst;
    SmallVector<Tensor> tensors = {
        join(results[0], sequence, 1, batchFirst ? ArrayRef<int64_t>{2, 0, 1, 3} : ArrayRef<int64_t>{0, 1, 2, 3})};
    for (int64_t result = 1; result < (layer.gates == 4 ? 3 : 2); ++result)
      tensors.push_back(join(results[result], last, 0, batchFirst ? ArrayRef<int64_t>{1, 0, 2} : ArrayRef<int64_t>{0, 1, 2}));
    return node.yield(tensors);
  }

  Node &node;
  ArrayRef<StringRef> defaults;
  Layer layer;
  bool onlyReverse = false;
  SmallVector<Value> results[3];
};

LogicalResult translateLstm(Node &node) {
  return RecurrentTranslation(node, 4, {"Sigmoid", "Tanh", "Tanh"}).run();
}
LogicalResult translateGru(Node &node) { return RecurrentTranslation(node, 3, {"Sigmoid", "Tanh"}).run(); }
LogicalResult translateRnn(Node &node) { return RecurrentTranslation(node, 1, {"Tanh"}).run(); }

} // namespace

ArrayRef<Row> joule::translate::recurrentRows() {
  static const Row rows[] = {
      {"", "LSTM", 1, 3, 8, translateLstm},
      {"", "GRU", 1, 3, 6, translateGru},
      {"", "RNN", 1, 3, 6, translateRnn},
  };
  return rows;
}
