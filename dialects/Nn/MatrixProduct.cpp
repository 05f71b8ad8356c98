// Contractions and convolutions seen as matrix products.
#include "dialects/Nn/MatrixProduct.h"
#include "dialects/Nn/RowShape.h"

using namespace mlir;
using namespace joule::nn;

int64_t Extent::staticSize() const {
  auto type = cast<RankedTensorType>(tensor.getType());
  int64_t size = 1;
  for (unsigned number = 0; number < count; ++number) {
    if (type.isDynamicDim(dim + number))
      return ShapedType::kDynamic;
    size *= type.getDimSize(dim + number);
  }
  return size / divisor;
}

int64_t MatrixProduct::staticSize(ArrayRef<Extent> extents) {
  int64_t product = 1;
  for (const Extent &extent : extents) {
    int64_t size = extent.staticSize();
    if (ShapedType::isDynamic(size))
      return ShapedType::kDynamic;
    product *= size;
  }
  return product;
}

int64_t MatrixProduct::staticBatches() const {
  int64_t size = staticSize(batches);
  return ShapedType::isDynamic(size) ? size : size * groups;
}

bool MatrixProduct::isAlongDepth(bool isLeft) const {
  std::optional<unsigned> inner = contiguousDim(isLeft ? left : right);
  auto isLong = [](const Extent &extent) { return extent.staticSize() != 1; };
  auto found = llvm::find_if(llvm::reverse(depth), isLong);
  if (!inner || found == depth.rend())
    return false;
  unsigned innermost = depth.rend() - found - 1;
  if (auto contract = dyn_cast<ContractOp>(op)) {
    ArrayRef<int64_t> labels = isLeft != swapped ? contract.getLhsLabels() : contract.getRhsLabels();
    return labels[*inner] == depthLabels[innermost];
  }
  // The depth of a convolution starts with dimension 1 of the filter; neighbours of the input along a spatial
  // dimension belong to different columns.
  return *inner == innermost + 1 && (isLeft || innermost == 0);
}

/// Appends dimension `dim` of `tensor`, to the last extent where that ends just before it.
static void append(SmallVector<Extent> &extents, Value tensor, unsigned dim) {
  if (!extents.empty() && extents.back().dim + extents.back().count == dim)
    ++extents.back().count;
  else
    extents.push_back({tensor, dim});
}

static MatrixProduct ofContract(ContractOp op) {
  MatrixProduct product;
  product.op = op;
  product.left = op.getLhs();
  product.right = op.getRhs();
  ArrayRef<int64_t> left = op.getLhsLabels(), right = op.getRhsLabels(), out = op.getOutLabels();
  // The innermost label that is not a batch decides which operand has the columns.
  for (int64_t label : llvm::reverse(out)) {
    bool inLeft = llvm::is_contained(left, label), inRight = llvm::is_contained(right, label);
    if (inLeft == inRight)
      continue;
    if (inLeft) {
      std::swap(product.left, product.right);
      std::swap(left, right);
      product.swapped = true;
    }
    break;
  }
  for (auto [dim, label] : llvm::enumerate(out)) {
    bool inLeft = llvm::is_contained(left, label), inRight = llvm::is_contained(right, label);
    append(inLeft && inRight ? product.batches
           : inLeft          ? product.rows
                             : product.columns,
           op.getResult(), dim);
  }
  // In the order of an operand that has them innermost, so that its loads are of neighbours.
  bool leftIsDeep = !left.empty() && !llvm::is_contained(out, left.back());
  SmallVector<int64_t> &seen = product.depthLabels;
  auto collect = [&](Value tensor, ArrayRef<int64_t> labels) {
    for (auto [dim, label] : llvm::enumerate(labels)) {
      if (llvm::is_contained(out, label) || llvm::is_contained(seen, label))
        continue;
      seen.push_back(label);
      product.depth.push_back({tensor, static_cast<unsigned>(dim)});
    }
  };
  collect(leftIsDeep ? product.left : product.right, leftIsDeep ? left : right);
  collect(leftIsDeep ? product.right : product.left, leftIsDeep ? right : left);
  return product;
}

static MatrixProduct ofConv(ConvOp op) {
  MatrixProduct product;
  unsigned rank = cast<RankedTensorType>(op.getType()).getRank();
  product.op = op;
  product.left = op.getFilter();
  product.right = op.getInput();
  product.swapped = true;
  product.groups = op.getGroups();
  product.rows = {{op.getResult(), 1, 1, product.groups}};
  product.columns = {{op.getResult(), 0}, {op.getResult(), 2, rank - 2}};
  for (unsigned dim = 1; dim < rank; ++dim)
    product.depth.push_back({op.getFilter(), dim});
  return product;
}

std::optional<MatrixProduct> MatrixProduct::of(Operation *op) {
  if (auto contract = dyn_cast<ContractOp>(op))
    return ofContract(contract);
  if (auto conv = dyn_cast<ConvOp>(op))
    return ofConv(conv);
  return std::nullopt;
}
