// Einsum: sums of products, written with letters.
#include "passes/OnnxToNn/Contract.h"
#include "passes/OnnxToNn/Maths.h"
#include "passes/OnnxToNn/Tables.h"

#include "dialects/Onnx/ElementTypes.h"

#include "llvm/ADT/SmallSet.h"

using namespace mlir;
using namespace joule;
using namespace joule::translate;

namespace {

// While the equation is read a letter is its own label; the dimensions that `...` stands for are labelled from here,
// the last one first. Later labels are numbered from 0.
constexpr int64_t firstEllipsisLabel = 256;

/// An equation with its letters as labels.
struct Equation {
  SmallVector<SmallVector<int64_t>> inputs;
  SmallVector<int64_t> output;
  llvm::SmallSet<int64_t, 4> ellipsis; // the labels of what `...` stands for
};

/// The labels of one term; `...` becomes as many as are left of `rank`, or `widest` in the output, whose rank is free.
FailureOr<SmallVector<int64_t>> readTerm(Node &node, StringRef term, std::optional<int64_t> rank, int64_t widest) {
  SmallVector<int64_t> labels;
  int64_t letters = llvm::count_if(term, [](char c) { return llvm::isAlpha(c); });
  for (size_t at = 0; at < term.size(); ++at) {
    if (llvm::isAlpha(term[at])) {
      labels.push_back(term[at]);
    } else if (term.substr(at).starts_with("...")) {
      for (int64_t left = rank ? *rank - letters : widest; left > 0; --left)
        labels.push_back(firstEllipsisLabel + left - 1);
      at += 2;
    } else {
      return node.error() << "has an equation with '" << term << "', which is no list of letters";
    }
  }
  if (rank && int64_t(labels.size()) != *rank)
    return node.error() << "has " << labels.size() << " letters in '" << term << "' for a tensor of rank " << *rank;
  return labels;
}

/// Where the equation names no output: `...`, then the letters that stand once, in order.
SmallVector<int64_t> impliedOutput(const Equation &equation, int64_t widest) {
  std::map<int64_t, int> counts;
  for (const auto &labels : equation.inputs)
    for (int64_t label : labels)
      ++counts[label];
  SmallVector<int64_t> output;
  for (int64_t left = widest; left > 0; --left)
    output.push_back(firstEllipsisLabel + left - 1);
  for (auto [label, count] : counts)
    if (count == 1 && label < firstEllipsisLabel)
      output.push_back(label);
  return output;
}

FailureOr<Equation> readEquation(Node &node) {
  std::string text = node.string("equation", "").str();
  llvm::erase_if(text, [](char c) { return c == ' '; });
  auto [left, right] = StringRef(text).split("->");
  SmallVector<StringRef> terms;
  left.split(terms, ',');
  if (int64_t(terms.size()) != node.numInputs())
    return node.error() << "has " << terms.size() << " terms for " << node.numInputs() << " inputs";
  Equation equation;
  int64_t widest = 0;
  for (auto [input, term] : llvm::enumerate(terms)) {
    int64_t rank = node.input(input).rank();
    auto labels = readTerm(node, term, rank, 0);
    if (failed(labels))
      return failure();
    widest = std::max<int64_t>(widest, llvm::count_if(*labels, [](int64_t l) { return l >= firstEllipsisLabel; }));
    equation.inputs.push_back(*labels);
  }
  if (!StringRef(text).contains("->")) {
    equation.output = impliedOutput(equation, widest);
    return equation;
  }
  auto output = readTerm(node, right, std::nullopt, widest);
  if (failed(output))
    return failure();
  equation.output = *output;
  for (int64_t label : *output) {
    bool known = llvm::any_of(equation.inputs, [&](const auto &labels) { return llvm::is_contained(labels, label); });
    if (!known || llvm::count(*output, label) > 1)
      return node.error() << "has an output '" << right << "' with a letter that stands twice or in no input";
  }
  return equation;
}

/// Removes dimension `second` by keeping the elements where its index is that of `first`.
LogicalResult takeDiagonal(Node &node, Operand &operand, int64_t first, int64_t second) {
  auto size = IndexMath::known(operand.sizes[first]);
  if (failed(node.requireEqual(operand.sizes[first], operand.sizes[second], "takes the diagonal of sizes")))
    return failure();
  if (!size)
    return node.unsupported() << "takes a diagonal whose size only a run knows, which is not supported";
  // Both dimensions go last and become one, of which every (n + 1)-th element is on the diagonal.
  SmallVector<int64_t> permutation, labels;
  Sizes outer;
  for (int64_t dim = 0; dim < int64_t(operand.sizes.size()); ++dim)
    if (dim != first && dim != second) {
      permutation.push_back(dim);
      outer.push_back(operand.sizes[dim]);
      labels.push_back(operand.labels[dim]);
    }
  permutation.append({first, second});
  labels.push_back(operand.labels[first]);
  Sizes moved = outer, flat = outer, diagonal = outer;
  moved.append({operand.sizes[first], operand.sizes[second]});
  flat.push_back(node.math.constant(*size * *size));
  diagonal.push_back(operand.sizes[first]);
  SmallVector<int64_t> strides(outer.size(), 1);
  strides.push_back(*size + 1);
  Value value = node.reshape(node.transpose(operand.value, permutation), moved, flat);
  operand = {node.slice(value, SmallVector<Index>(flat.size(), node.math.constant(0)), diagonal, strides), diagonal,
             labels, operand.dataType};
  return success();
}

LogicalResult takeDiagonals(Node &node, Operand &operand) {
  for (size_t second = 1; second < operand.labels.size();) {
    auto *first = llvm::find(operand.labels, operand.labels[second]);
    int64_t position = first - operand.labels.begin();
    if (position == int64_t(second)) {
      ++second;
      continue;
    }
    if (failed(takeDiagonal(node, operand, position, second)))
      return failure();
    second = 1;
  }
  return success();
}

/// Sums over the labels of `operand` for which `keep` says no.
void sumOut(Node &node, Operand &operand, llvm::function_ref<bool(int64_t)> keep) {
  SmallVector<int64_t> axes, labels;
  Sizes sizes;
  for (auto [dim, label] : llvm::enumerate(operand.labels)) {
    if (!keep(label)) {
      axes.push_back(dim);
      continue;
    }
    labels.push_back(label);
    sizes.push_back(operand.sizes[dim]);
  }
  if (!axes.empty())
    operand = {node.reduce(nn::Combiner::Sum, operand.value, axes), sizes, labels, operand.dataType};
}

/// What two dimensions of the ellipsis are together: one may turn out in a run to be repeated to the other.
FailureOr<Index> joinSizes(Node &node, Index a, Index b) {
  Tensor one, other;
  one.sizes = {a};
  other.sizes = {b};
  FailureOr<Sizes> joined = node.broadcastSizes({&one, &other});
  return failed(joined) ? FailureOr<Index>(failure()) : joined->front();
}

/// Repeats the dimensions of size 1 that meet greater ones of their label elsewhere.
LogicalResult broadcastLabels(Node &node, const Equation &equation, SmallVector<Operand> &operands) {
  std::map<int64_t, Index> sizes;
  for (Operand &operand : operands)
    for (auto [label, size] : llvm::zip(operand.labels, operand.sizes)) {
      auto [known, fresh] = sizes.try_emplace(label, size);
      if (fresh || IndexMath::known(size) == 1)
        continue;
      if (IndexMath::known(known->second) == 1) {
        known->second = size;
      } else if (equation.ellipsis.contains(label)) {
        FailureOr<Index> joined = joinSizes(node, known->second, size);
        if (failed(joined))
          return failure();
        known->second = *joined;
      } else if (failed(node.requireEqual(known->second, size, "gives one letter"))) {
        return failure();
      }
    }
  for (Operand &operand : operands) {
    Sizes wanted;
    for (int64_t label : operand.labels)
      wanted.push_back(sizes[label]);
    operand.value = node.broadcast(operand.value, operand.sizes, wanted);
    operand.sizes = wanted;
  }
  return success();
}

/// Numbers the labels from 0 on; false where there are more than a contraction takes.
bool numberLabels(Equation &equation) {
  std::map<int64_t, int64_t> numbers;
  for (auto &labels : equation.inputs)
    for (int64_t &label : labels) {
      int64_t number = numbers.try_emplace(label, numbers.size()).first->second;
      if (label >= firstEllipsisLabel)
        equation.ellipsis.insert(number);
      label = number;
    }
  for (int64_t &label : equation.output)
    label = numbers[label];
  return numbers.size() <= 64;
}

LogicalResult translateEinsum(Node &node) {
  FailureOr<Equation> equation = readEquation(node);
  if (failed(equation))
    return failure();
  if (!numberLabels(*equation))
    return node.error() << "has more than 64 letters";
  SmallVector<Operand> operands;
  for (auto [input, labels] : llvm::enumerate(equation->inputs)) {
    if (!node.has(input))
      return node.error() << "lacks input " << input;
    if (failed(node.wantNumber(input)) || failed(node.wantSameElement(0, input)))
      return failure();
    Tensor &x = node.input(input);
    operands.push_back({node.value(input), x.sizes, labels, x.dataType});
    if (failed(takeDiagonals(node, operands.back())))
      return failure();
  }
  if (failed(broadcastLabels(node, *equation, operands)))
    return failure();
  // From left to right; a label is summed as soon as nothing later needs it.
  Operand result = operands.front();
  for (size_t next = 1; next < operands.size(); ++next) {
    Operand &other = operands[next];
    Operand product = {{}, {}, {}, result.dataType};
    for (const Operand *side : {&result, &other})
      for (auto [label, size] : llvm::zip(side->labels, side->sizes)) {
        bool needed = llvm::is_contained(equation->output, label) ||
                      llvm::any_of(ArrayRef(operands).drop_front(next + 1), [&label = label](const Operand &later) {
                        return llvm::is_contained(later.labels, label);
                      });
        if (!needed || llvm::is_contained(product.labels, label))
          continue;
        product.labels.push_back(label);
        product.sizes.push_back(size);
      }
    product.value = contract(node, result, other, product.labels, result.dataType);
    result = product;
  }
  sumOut(node, result, [&](int64_t label) { return llvm::is_contained(equation->output, label); });
  SmallVector<int64_t> permutation;
  Sizes sizes;
  for (int64_t label : equation->output) {
    int64_t dim = llvm::find(result.labels, label) - result.labels.begin();
    permutation.push_back(dim);
    sizes.push_back(result.sizes[dim]);
  }
  return node.yield(node.transpose(result.value, permutation), sizes, result.dataType);
}

const Row rows[] = {
    {"", "Einsum", 12, 1, -1, translateEinsum},
};

} // namespace

ArrayRef<Row> joule::translate::einsumRows() { return rows; }
