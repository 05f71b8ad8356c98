// Matrix products in all their forms, and determinants.
#include "passes/OnnxToNn/Contract.h"
#include "passes/OnnxToNn/Maths.h"
#include "passes/OnnxToNn/Tables.h"

#include "dialects/Onnx/ElementTypes.h"

using namespace mlir;
using namespace joule::translate;

Value joule::translate::contract(Node &node, const Operand &lhs, const Operand &rhs, ArrayRef<int64_t> out, int resultType) {
  Sizes sizes;
  for (int64_t label : out) {
    const auto *left = llvm::find(lhs.labels, label);
    sizes.push_back(left != lhs.labels.end() ? lhs.sizes[left - lhs.labels.begin()]
                                             : rhs.sizes[llvm::find(rhs.labels, label) - rhs.labels.begin()]);
  }
  RankedTensorType type = node.type(sizes, nnElementType(node.builder.getContext(), resultType));
  auto op = node.builder.create<joule::nn::ContractOp>(type, lhs.value, rhs.value, lhs.labels, rhs.labels, out,
                                                          isUnsignedType(lhs.dataType), isUnsignedType(rhs.dataType),
                                                          joule::nn::PrecisionAttr());
  return op;
}

FailureOr<Tensor> joule::translate::matmul(Node &node, const Tensor &left, Value leftValue, const Tensor &right, Value rightValue,
                         int resultType) {
  if (left.rank() == 0 || right.rank() == 0)
    return node.error() << "multiplies a scalar, which is no matrix";
  bool leftVector = left.rank() == 1, rightVector = right.rank() == 1;
  Index k = left.sizes.back(), otherK = right.sizes[rightVector ? 0 : right.rank() - 2];
  if (failed(node.requireEqual(k, otherK, "sums over")))
    return failure();
  Tensor leftBatch, rightBatch;
  leftBatch.sizes = Sizes(ArrayRef(left.sizes).drop_back(leftVector ? 1 : 2));
  rightBatch.sizes = Sizes(ArrayRef(right.sizes).drop_back(rightVector ? 1 : 2));
  FailureOr<Sizes> batch = node.broadcastSizes({&leftBatch, &rightBatch});
  if (failed(batch))
    return failure();

  // Labels: batch dimensions 0 … b-1, then m, n, k. A batch dimension of size 1 in one operand alone is left out of it.
  int64_t b = batch->size(), m = b, n = b + 1, sum = b + 2;
  auto operand = [&](const Tensor &tensor, Value value, bool isVector, ArrayRef<int64_t> matrix) {
    Operand result = {value, {}, {}, tensor.dataType};
    int64_t own = tensor.rank() - (isVector ? 1 : 2), lead = b - own;
    Sizes full;
    for (int64_t dim = 0; dim < own; ++dim) {
      Index size = tensor.sizes[dim], wanted = (*batch)[lead + dim];
      bool repeated = IndexMath::known(size) == 1 && IndexMath::known(wanted) != 1;
      if (repeated)
        continue;
      full.push_back(size);
      result.sizes.push_back(wanted);
      result.labels.push_back(lead + dim);
    }
    for (int64_t label : matrix)
      result.labels.push_back(label);
    for (Index size : ArrayRef(tensor.sizes).take_back(isVector ? 1 : 2)) {
      full.push_back(size);
      result.sizes.push_back(size);
    }
    result.value = node.broadcast(node.reshape(value, tensor.sizes, full), full, result.sizes);
    return result;
  };
  auto rows = [&](ArrayRef<int64_t> labels, bool isVector) { return labels.take_back(isVector ? 1 : 2); };
  Operand lhs = operand(left, leftValue, leftVector, rows({m, sum}, leftVector));
  Operand rhs = operand(right, rightValue, rightVector, rightVector ? ArrayRef<int64_t>(sum) : ArrayRef<int64_t>({sum, n}));
  SmallVector<int64_t> out = llvm::to_vector(llvm::seq<int64_t>(0, b));
  Sizes sizes = *batch;
  if (!leftVector) {
    out.push_back(m);
    sizes.push_back(left.sizes[left.rank() - 2]);
  }
  if (!rightVector) {
    out.push_back(n);
    sizes.push_back(right.sizes.back());
  }
  // Batch dimensions that both operands lack are of size 1.
  SmallVector<int64_t> kept;
  Sizes keptSizes;
  for (auto [label, size] : llvm::zip(out, sizes))
    if (llvm::is_contained(lhs.labels, label) || llvm::is_contained(rhs.labels, label)) {
      kept.push_back(label);
      keptSizes.push_back(size);
    }
  Value product = contract(node, lhs, rhs, kept, resultType);
  return node.tensor(node.reshape(product, keptSizes, sizes), sizes, resultType);
}

namespace {

LogicalResult translateMatMul(Node &node) {
  if (failed(node.wantNumber(0)) || failed(node.wantSameElement(0, 1)))
    return failure();
  Tensor &a = node.input(0), &b = node.input(1);
  FailureOr<Tensor> product = matmul(node, a, node.value(0), b, node.value(1), a.dataType);
  return failed(product) ? failure() : node.yield({*product});
}

/// alpha * A' * B' + beta * C
LogicalResult translateGemm(Node &node) {
  if (failed(node.wantNumber(0)) || failed(node.wantSameElement(0, 1)) || failed(node.wantRank(0, 2, 2)) ||
      failed(node.wantRank(1, 2, 2)))
    return failure();
  Tensor &a = node.input(0), &b = node.input(1);
  bool transA = node.flag("transA"), transB = node.flag("transB");
  if (failed(node.requireEqual(a.sizes[transA ? 0 : 1], b.sizes[transB ? 1 : 0], "sums over")))
    return failure();
  enum : int64_t { M, N, K };
  auto labels = [](int64_t row, int64_t column, bool transposed) {
    return transposed ? SmallVector<int64_t>{column, row} : SmallVector<int64_t>{row, column};
  };
  Operand lhs = {node.value(0), a.sizes, labels(M, K, transA), a.dataType};
  Operand rhs = {node.value(1), b.sizes, labels(K, N, transB), b.dataType};
  Sizes sizes = {a.sizes[transA ? 1 : 0], b.sizes[transB ? 0 : 1]};
  Maths maths(node, sizes, a.dataType);
  Value result = contract(node, lhs, rhs, {M, N}, a.dataType);
  double alpha = node.real("alpha", 1), beta = node.real("beta", 1);
  if (alpha != 1)
    result = maths.mul(result, maths.constant(alpha));
  if (!node.has(2) || beta == 0)
    return node.yield(result, sizes, a.dataType);
  Tensor &c = node.input(2);
  Tensor product = node.tensor(result, sizes, a.dataType);
  FailureOr<Sizes> joined = node.broadcastSizes({&product, &c});
  if (failed(joined) || failed(node.wantSameElement(0, 2)))
    return failure();
  for (auto [got, wanted] : llvm::zip_longest(*joined, sizes))
    if (!got || !wanted || (IndexMath::known(*got) && IndexMath::known(*wanted) && !node.math.same(*got, *wanted)))
      return node.error() << "adds a tensor of shape " << c.type() << ", which is greater than the product";
  Value addend = node.broadcast(node.value(2), c.sizes, sizes);
  if (beta != 1)
    addend = maths.mul(addend, maths.constant(beta));
  return node.yield(maths.add(result, addend), sizes, a.dataType);
}

//===- Determinants --------------------------------------------------------------------------------------------------

/// The product of the diagonals of triangular matrices.
LogicalResult translateDet(Node &node) {
  Tensor &x = node.input(0);
  if (failed(node.wantFloat(0)) || failed(node.wantRank(0, 2)))
    return failure();
  int64_t last = x.rank() - 1;
  if (failed(node.requireEqual(x.sizes[last - 1], x.sizes[last], "has rows and columns of")))
    return failure();
  int dataType = x.dataType == Double ? Double : Float;
  Value value = node.convert(node.value(0), x.dataType, dataType);
  Value triangles = node.builder.create<joule::nn::TriangularizeOp>(value.getType(), value);
  Sizes column = x.sizes;
  column[last] = node.math.constant(1);
  Value places = node.iota(last - 1, column, node.builder.getI64Type());
  Type element = nnElementType(node.builder.getContext(), dataType);
  Value diagonal = node.builder.create<joule::nn::GatherElementsOp>(node.type(column, element), triangles, places, last);
  Value product = node.reduce(joule::nn::Combiner::Product, diagonal, {last - 1, last});
  return node.yield(node.convert(product, dataType, x.dataType), Sizes(ArrayRef(x.sizes).drop_back(2)), x.dataType);
}

const Row rows[] = {
    {"", "Det", 11, 1, 1, translateDet},
    {"", "Gemm", 1, 2, 3, translateGemm},
    {"", "MatMul", 1, 2, 2, translateMatMul},
};

} // namespace

ArrayRef<Row> joule::translate::contractRows() { return rows; }
