// Scan: a body that goes along an axis of its inputs, with states, and collects its outputs.
#include "passes/OnnxToNn/Iteration.h"
#include "passes/OnnxToNn/Tables.h"

using namespace mlir;
using namespace joule;
using namespace joule::translate;

namespace {

class ScanTranslation {
public:
  explicit ScanTranslation(Node &node) : node(node) {}

  LogicalResult run() {
    if (failed(readNode()))
      return failure();
    if (hasBatches)
      return runBatches();
    if (failed(readAxes()))
      return failure();
    FailureOr<SmallVector<Tensor>> results = scan(states, inputs);
    if (failed(results))
      return failure();
    for (int64_t number = 0; number < numOutputs; ++number)
      if (failed(moveAxis((*results)[states.size() + number], number)))
        return failure();
    return node.yield(*results);
  }

private:
  /// Version 8 has lengths as its first input, and batches along the first dimension of all others.
  LogicalResult readNode() {
    FailureOr<Block *> graph = subgraph(node, "body");
    if (failed(graph))
      return failure();
    body = *graph;
    hasBatches = node.version() < 9;
    if (hasBatches && node.has(0))
      return node.unsupported() << "has sequences of different lengths, which is not supported";
    int64_t first = hasBatches ? 1 : 0, numInputs = node.integer("num_scan_inputs", 0);
    int64_t numStates = node.numInputs() - first - numInputs;
    if (numInputs < 1 || numStates < 0)
      return node.error() << "scans " << numInputs << " of its " << node.numInputs() - first << " inputs";
    if (int64_t(body->getNumArguments()) != numStates + numInputs)
      return node.error() << "has a body with " << body->getNumArguments() << " inputs where "
                          << numStates + numInputs << " are wanted";
    numOutputs = int64_t(body->getTerminator()->getNumOperands()) - numStates;
    if (numOutputs < 0)
      return node.error() << "has a body with too few outputs";
    for (int64_t number = 0; number < numStates + numInputs; ++number) {
      Tensor &input = node.input(first + number);
      if (failed(wantTensor(node, input)))
        return failure();
      (number < numStates ? states : inputs).push_back(&input);
    }
    return readDirections();
  }

  FailureOr<SmallVector<bool>> directions(StringRef name, int64_t count) {
    SmallVector<int64_t> given = node.integers(name, SmallVector<int64_t>(count, 0));
    if (int64_t(given.size()) != count || llvm::any_of(given, [](int64_t each) { return each != 0 && each != 1; }))
      return node.error() << "wants " << count << " times 0 or 1 as " << name;
    return SmallVector<bool>(given.begin(), given.end());
  }

  LogicalResult readDirections() {
    auto in = directions(hasBatches ? "directions" : "scan_input_directions", inputs.size());
    auto out = directions("scan_output_directions", numOutputs);
    if (failed(in) || failed(out))
      return failure();
    backwards = *in;
    prepends = *out;
    axes.assign(inputs.size(), 0);
    return success();
  }

  LogicalResult readAxes() {
    axes = node.integers("scan_input_axes", axes);
    if (axes.size() != inputs.size())
      return node.error() << "has " << axes.size() << " axes for " << inputs.size() << " inputs";
    for (auto [axis, input] : llvm::zip(axes, inputs)) {
      FailureOr<int64_t> normal = node.normalizeAxis(axis, input->rank());
      if (failed(normal))
        return failure();
      axis = *normal;
    }
    return success();
  }

  /// What the body reads of `input` at `position` along `axis`.
  Tensor part(Tensor &input, int64_t axis, Index position) {
    Sizes offsets(input.rank(), node.math.constant(0)), sizes = input.sizes, rest = input.sizes;
    offsets[axis] = position;
    sizes[axis] = node.math.constant(1);
    rest.erase(rest.begin() + axis);
    Value whole = node.translator.materialize(node.loc, input);
    Value slice = node.slice(whole, offsets, sizes, SmallVector<int64_t>(input.rank(), 1));
    return node.tensor(node.reshape(slice, sizes, rest), rest, input.dataType);
  }

  /// The states after the last iteration, then the outputs, collected along their first dimension.
  FailureOr<SmallVector<Tensor>> scan(ArrayRef<Tensor *> states, ArrayRef<Tensor *> inputs) {
    Index count = inputs.front()->sizes[axes.front()];
    for (auto [axis, input] : llvm::zip(axes, inputs))
      if (failed(node.requireEqual(count, input->sizes[axis], "scans inputs of")))
        return failure();
    Iteration iteration(node);
    iteration.limit = count;
    iteration.start = node.math.constant(1);
    iteration.initial.assign(states.begin(), states.end());
    iteration.prepends = prepends;
    llvm::append_range(iteration.statedTypes, llvm::drop_begin(body->getTerminator()->getOperandTypes(), states.size()));
    iteration.body = [&](Value number, Value alive, ArrayRef<Tensor> carried) -> FailureOr<Iteration::Step> {
      SmallVector<Tensor> arguments(carried);
      Index last = node.math.sub(node.loc, count, node.math.constant(1));
      for (auto [axis, input, fromEnd] : llvm::zip(axes, inputs, backwards))
        arguments.push_back(part(*input, axis, fromEnd ? node.math.sub(node.loc, last, number) : Index(number)));
      auto results = node.translator.translateBlock(node.loc, *body, arguments);
      if (failed(results))
        return failure();
      return Iteration::Step{node.math.constant(1), *results};
    };
    return iteration.run();
  }

  /// The outputs were collected along their first dimension; an attribute may name another.
  LogicalResult moveAxis(Tensor &output, int64_t number) {
    SmallVector<int64_t> given = node.integers("scan_output_axes", SmallVector<int64_t>(numOutputs, 0));
    if (int64_t(given.size()) != numOutputs)
      return node.error() << "has " << given.size() << " axes for " << numOutputs << " outputs";
    FailureOr<int64_t> axis = node.normalizeAxis(given[number], output.rank());
    if (failed(axis))
      return failure();
    SmallVector<int64_t> permutation;
    for (int64_t dim = 1; dim < output.rank(); ++dim)
      permutation.push_back(dim);
    permutation.insert(permutation.begin() + *axis, 0);
    Sizes sizes;
    for (int64_t dim : permutation)
      sizes.push_back(output.sizes[dim]);
    output = node.tensor(node.transpose(output.value, permutation), sizes, output.dataType);
    return success();
  }

  /// One scan for each batch, collected.
  LogicalResult runBatches() {
    SmallVector<Tensor *> all(states);
    llvm::append_range(all, inputs);
    Index count = all.front()->rank() ? all.front()->sizes[0] : node.math.constant(0);
    for (auto [number, tensor] : llvm::enumerate(all)) {
      int64_t least = number < states.size() ? 1 : 2;
      if (tensor->rank() < least)
        return node.error() << "has a tensor of rank " << tensor->rank() << " where it wants rank " << least
                            << " or more";
      if (failed(node.requireEqual(count, tensor->sizes[0], "has batches of")))
        return failure();
    }
    Iteration batches(node);
    batches.limit = count;
    batches.start = node.math.constant(1);
    batches.prepends.assign(states.size() + numOutputs, false);
    batches.statedTypes.assign(states.size() + numOutputs, node.builder.getNoneType());
    batches.body = [&](Value batch, Value alive, ArrayRef<Tensor> carried) -> FailureOr<Iteration::Step> {
      std::deque<Tensor> parts;
      SmallVector<Tensor *> pointers;
      for (Tensor *tensor : all)
        pointers.push_back(&parts.emplace_back(part(*tensor, 0, Index(batch))));
      auto results = scan(ArrayRef(pointers).take_front(states.size()), ArrayRef(pointers).drop_front(states.size()));
      if (failed(results))
        return failure();
      Iteration::Step step{node.math.constant(1), {}};
      for (Tensor &result : *results)
        step.tensors.push_back(node.translator.keep(result));
      return step;
    };
    FailureOr<SmallVector<Tensor>> results = batches.run();
    return failed(results) ? failure() : node.yield(*results);
  }

  Node &node;
  Block *body = nullptr;
  bool hasBatches = false;
  int64_t numOutputs = 0;
  SmallVector<Tensor *> states, inputs;
  SmallVector<int64_t> axes;
  SmallVector<bool> backwards, prepends;
};

LogicalResult translateScan(Node &node) { return ScanTranslation(node).run(); }

} // namespace

ArrayRef<Row> joule::translate::scanRows() {
  static const Row rows[] = {
      {"", "Scan", 8, 0, -1, translateScan},
      {"", "Scan", 9, 1, -1, translateScan},
  };
  return rows;
}
