// Losses: what inference runs to measure a model.
#include "passes/OnnxToNn/Maths.h"
#include "passes/OnnxToNn/Tables.h"

using namespace mlir;
using namespace joule;
using namespace joule::translate;

namespace {

/// Checks that scores `[N, C, …]`, labels `[N, …]` and weights `[C]` fit.
LogicalResult checkLoss(Node &node) {
  Tensor &scores = node.input(0), &labels = node.input(1);
  if (failed(node.wantFloat(0)) || failed(node.wantRank(0, 2)) ||
      failed(node.wantRank(1, scores.rank() - 1, scores.rank() - 1)))
    return failure();
  if (labels.dataType != Int32 && labels.dataType != Int64)
    return node.error() << "wants int32 or int64 labels but they are " << labels.element;
  for (int64_t dim = 0; dim < labels.rank(); ++dim)
    if (failed(node.requireEqual(labels.sizes[dim], scores.sizes[dim ? dim + 1 : 0], "has scores and labels of")))
      return failure();
  if (!node.has(2))
    return success();
  if (failed(node.wantRank(2, 1, 1)) || failed(node.wantSameElement(0, 2)))
    return failure();
  return node.requireEqual(node.input(2).sizes[0], scores.sizes[1], "has weights and classes of");
}

/// The loss of `logs`, the logarithms of probabilities: the negated entry that the label names, times its weight. An
/// ignored label has weight 0; the mean is over weights.
FailureOr<Tensor> lossOf(Node &node, Value logs) {
  Tensor &scores = node.input(0), &labels = node.input(1);
  StringRef reduction = node.string("reduction", "mean");
  if (reduction != "mean" && reduction != "sum" && reduction != "none")
    return node.error() << "has reduction '" << reduction << "', which ONNX does not define";
  Maths integers(node, labels.sizes, labels.dataType), m(node, labels.sizes, scores.dataType);
  Value label = node.value(1), isIgnored;
  if (node.hasAttribute("ignore_index")) {
    isIgnored = integers.equal(label, integers.constant(double(node.integer("ignore_index", 0))));
    label = integers.select(isIgnored, integers.constant(0), label);
  }
  Sizes column = labels.sizes;
  column.insert(column.begin() + 1, node.math.constant(1));
  Value picked = node.builder.create<nn::GatherElementsOp>(node.type(column, scores.element), logs,
                                                           node.reshape(label, labels.sizes, column), 1);
  Value weight = m.constant(1);
  if (node.has(2))
    weight = node.builder.create<nn::GatherOp>(node.type(labels.sizes, scores.element), node.value(2), label,
                                               node.dynamic(labels.sizes), 0);
  if (isIgnored)
    weight = m.select(isIgnored, m.constant(0), weight);
  Value loss = m.negate(m.mul(node.reshape(picked, column, labels.sizes), weight));
  if (reduction == "none")
    return node.tensor(loss, labels.sizes, scores.dataType);
  SmallVector<int64_t> axes = llvm::to_vector(llvm::seq<int64_t>(0, labels.rank()));
  Value total = node.reduce(nn::Combiner::Sum, loss, axes);
  if (reduction == "mean")
    total = Maths(node, {}, scores.dataType).div(total, node.reduce(nn::Combiner::Sum, weight, axes));
  return node.tensor(total, {}, scores.dataType);
}

LogicalResult translateNegativeLogLikelihood(Node &node) {
  if (failed(checkLoss(node)))
    return failure();
  FailureOr<Tensor> loss = lossOf(node, node.value(0));
  return failed(loss) ? failure() : node.yield({*loss});
}

LogicalResult translateSoftmaxCrossEntropy(Node &node) {
  if (failed(checkLoss(node)))
    return failure();
  Tensor &scores = node.input(0);
  Value logs = node.builder.create<nn::SoftmaxOp>(scores.type(), node.value(0), 1, /*log=*/true);
  FailureOr<Tensor> loss = lossOf(node, logs);
  if (failed(loss))
    return failure();
  return node.yield({*loss, node.tensor(logs, scores.sizes, scores.dataType)});
}

const Row rows[] = {
    {"", "NegativeLogLikelihoodLoss", 12, 2, 3, translateNegativeLogLikelihood},
    {"", "SoftmaxCrossEntropyLoss", 12, 2, 3, translateSoftmaxCrossEntropy},
};

} // namespace

ArrayRef<Row> joule::translate::lossRows() { return rows; }
