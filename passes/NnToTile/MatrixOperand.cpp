// How the kernels of a matrix product reach its operands and results.
#include "passes/NnToTile/MatrixOperand.h"

#include "dialects/Nn/RowShape.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace joule;
using nn::Extent;
using nn::MatrixProduct;

Value joule::runsOf(nn::ElementBuilder code, Value count, int64_t size) {
  return code.div(code.add(count, size - 1), code.index(size));
}

//===- ExtentIndex
//---------------------------------------------------------------------------------------------------

Value joule::countOnHost(GridWriter &writer, ArrayRef<Extent> extents) {
  Value count = writer.index(1);
  for (const Extent &extent : extents) {
    for (unsigned number = 0; number < extent.count; ++number)
      count = writer.builder.createOrFold<arith::MulIOp>(writer.loc, count,
                                                         writer.size(extent.tensor, extent.dim + number));
    if (extent.divisor != 1)
      count = writer.builder.createOrFold<arith::DivUIOp>(writer.loc, count, writer.index(extent.divisor));
  }
  return count;
}

ExtentIndex::ExtentIndex(KernelWriter &writer, ArrayRef<Extent> extents) : writer(writer), list(extents) {
  nn::ElementBuilder code = writer.code();
  total = code.index(1);
  for (const Extent &extent : list) {
    Value size = code.index(1);
    for (unsigned number = 0; number < extent.count; ++number)
      size = code.mul(size, writer.elements.size(extent.tensor, extent.dim + number));
    size = code.div(size, code.index(extent.divisor));
    sizes.push_back(size);
    total = code.mul(total, size);
  }
}

SmallVector<Value> ExtentIndex::split(Value flat, int64_t offset, int64_t run) {
  nn::ElementBuilder code = writer.code();
  if (list.empty())
    return {};
  int64_t last = list.back().staticSize();
  bool within = list.size() == 1 || (!ShapedType::isDynamic(last) && last % run == 0);
  SmallVector<Value> result = takeApart(code, within ? flat : code.add(flat, offset), sizes);
  if (within && offset != 0)
    result.back() = code.add(result.back(), offset);
  return result;
}

//===- DepthWalk
//-----------------------------------------------------------------------------------------------------

DepthWalk::DepthWalk(KernelWriter &writer, const MatrixProduct &product, int64_t step)
    : writer(writer), all(writer, product.depth),
      others(writer, ArrayRef<Extent>(product.depth).drop_front(product.depth.empty() ? 0 : 1)), step(step),
      staticDepth(MatrixProduct::staticSize(product.depth)) {
  auto isLong = [](const Extent &extent) { return extent.staticSize() != 1; };
  if (llvm::count_if(product.depth, isLong) == 1)
    moving = llvm::find_if(product.depth, isLong) - product.depth.begin();
  if (product.depth.size() < 2)
    return;
  int64_t first = product.depth.front().staticSize();
  uniform = !ShapedType::isDynamic(first) && first % step == 0 && !matchPattern(others.count(), m_One());
  if (uniform)
    moving = 0;
}

Value DepthWalk::steps() { return runsOf(writer.code(), all.count(), step); }

SmallVector<Value> DepthWalk::at(Value number, Value local, int64_t offset) {
  nn::ElementBuilder code = writer.code();
  if (!uniform)
    return all.split(code.add(code.add(code.mul(number, step), local), offset));
  Value block = code.div(number, others.count());
  SmallVector<Value> result = {code.add(code.add(code.mul(block, step), local), offset)};
  result.append(others.split(code.rem(number, others.count())));
  return result;
}

Value DepthWalk::exists(Value number, Value local, int64_t offset) {
  if (uniform || (!ShapedType::isDynamic(staticDepth) && staticDepth % step == 0))
    return {};
  nn::ElementBuilder code = writer.code();
  Value flat = code.add(code.add(code.mul(number, step), local), offset);
  return code.make<arith::CmpIOp>(arith::CmpIPredicate::ult, flat, all.count());
}

bool DepthWalk::keepsRuns(int64_t run) const {
  return !ShapedType::isDynamic(staticDepth) && staticDepth % run == 0;
}

//===- MatrixOperand
//-------------------------------------------------------------------------------------------------

static Type elementOf(Value value) { return cast<RankedTensorType>(value.getType()).getElementType(); }

static std::optional<nn::PrecisionAttr> precisionOf(Operation *op) {
  if (auto contract = dyn_cast<nn::ContractOp>(op))
    return contract.getPrecision();
  return cast<nn::ConvOp>(op).getPrecision();
}

MatrixOperand::MatrixOperand(KernelWriter &writer, const MatrixProduct &product, bool isLeft)
    : writer(writer), product(product), tensor(isLeft ? product.left : product.right),
      lineIndex(writer, isLeft ? product.rows : product.columns), batchIndex(writer, product.batches) {
  std::optional<nn::PrecisionAttr> precision = precisionOf(product.op);
  accumulate =
      precision ? precision->getAccumulate() : nn::defaultAccumulateType(elementOf(product.op->getResult(0)));
  Type stated = precision ? precision->getCompute() : elementOf(tensor);
  compute = isa<FloatType>(stated) ? stated : accumulate;
  int64_t rank = cast<RankedTensorType>(tensor.getType()).getRank();
  resultDim.assign(rank, -1);
  depthExtent.assign(rank, -1);
  if (auto contract = dyn_cast<nn::ContractOp>(product.op))
    setUpContract(contract, isLeft != product.swapped);
  else
    setUpConv(cast<nn::ConvOp>(product.op), isLeft);
  findContiguous(isLeft);
}

void MatrixOperand::setUpContract(nn::ContractOp op, bool isFirst) {
  isUnsigned = isFirst ? op.getUnsignedLhs() : op.getUnsignedRhs();
  for (auto [dim, label] : llvm::enumerate(isFirst ? op.getLhsLabels() : op.getRhsLabels())) {
    if (auto found = llvm::find(op.getOutLabels(), label); found != op.getOutLabels().end())
      resultDim[dim] = found - op.getOutLabels().begin();
    if (auto *found = llvm::find(product.depthLabels, label); found != product.depthLabels.end())
      depthExtent[dim] = found - product.depthLabels.begin();
  }
}

void MatrixOperand::setUpConv(nn::ConvOp op, bool isLeft) {
  isUnsigned = isLeft ? op.getUnsignedFilter() : op.getUnsignedInput();
  for (unsigned dim = 1; dim < depthExtent.size(); ++dim) {
    depthExtent[dim] = dim - 1;
    resultDim[dim] = isLeft || dim == 1 ? -1 : dim;
  }
  resultDim[0] = isLeft ? 1 : 0;
  if (!isLeft)
    conv = op;
}

void MatrixOperand::findContiguous(bool isLeft) {
  alongDepth = product.isAlongDepth(isLeft);
  std::optional<unsigned> inner = nn::contiguousDim(tensor);
  if (!inner)
    return;
  auto isLong = [](const Extent &extent) { return extent.staticSize() != 1; };
  auto line = llvm::find_if(llvm::reverse(lineIndex.extents()), isLong);
  if (line != lineIndex.extents().rend())
    alongLines = resultDim[*inner] == static_cast<int64_t>(line->dim + line->count) - 1;
}

/// Whether indices along `dim` may lie outside, or between the elements that a dilation spreads apart.
bool MatrixOperand::isWindowed(unsigned dim) {
  if (!conv || dim < 2)
    return false;
  unsigned spatial = dim - 2;
  if (conv.getLow()[spatial] != 0 || conv.getInputDilations()[spatial] != 1)
    return true;
  auto sizeOf = [&](Value value) { return cast<RankedTensorType>(value.getType()).getDimSize(dim); };
  int64_t size = sizeOf(tensor), out = sizeOf(conv.getResult()), window = sizeOf(conv.getFilter());
  if (ShapedType::isDynamic(size) || ShapedType::isDynamic(out) || ShapedType::isDynamic(window))
    return true;
  return (out - 1) * conv.getStrides()[spatial] + (window - 1) * conv.getDilations()[spatial] >= size;
}

bool MatrixOperand::hasWindow() {
  for (unsigned dim = 2; dim < resultDim.size(); ++dim)
    if (isWindowed(dim))
      return true;
  return false;
}

/// Whether each result element of the convolution comes from the input elements at its own place.
bool MatrixOperand::isPointwise() {
  auto input = cast<RankedTensorType>(tensor.getType()), result = cast<RankedTensorType>(conv.getType());
  auto filter = cast<RankedTensorType>(conv.getFilter().getType());
  for (unsigned dim = 2; dim < resultDim.size(); ++dim)
    if (isWindowed(dim) || conv.getStrides()[dim - 2] != 1 || filter.getDimSize(dim) != 1 ||
        input.getDimSize(dim) != result.getDimSize(dim))
      return false;
  return true;
}

/// How far neighbours along `dim` of the row-major tensor are apart.
Value MatrixOperand::stride(unsigned dim) {
  nn::ElementBuilder code = writer.code();
  Value stride = code.index(1);
  for (unsigned inner = resultDim.size() - 1; inner > dim; --inner)
    stride = code.mul(stride, writer.elements.size(tensor, inner));
  return stride;
}

void MatrixOperand::addTerm(Part &part, unsigned dim, Value term, bool withPosition) {
  nn::ElementBuilder code = writer.code();
  part.at[dim] = part.at[dim] ? code.add(part.at[dim], term) : term;
  if (withPosition && part.position)
    part.position = code.add(part.position, code.mul(term, stride(dim)));
}

/// Adds what `coordinate` along an extent of the result contributes.
void MatrixOperand::addSpan(Part &part, const Extent &extent, Value coordinate) {
  nn::ElementBuilder code = writer.code();
  SmallVector<Value> sizes;
  for (unsigned number = 0; number < extent.count; ++number)
    sizes.push_back(writer.elements.size(extent.tensor, extent.dim + number));
  SmallVector<Value> single =
      extent.count == 1 ? SmallVector<Value>{coordinate} : takeApart(code, coordinate, sizes);
  // Dimensions that stand in the tensor as they do in the result are one long dimension of it.
  const int64_t *first = llvm::find(resultDim, static_cast<int64_t>(extent.dim));
  bool together = first != resultDim.end() && (!conv || extent.dim < 2 || isPointwise());
  for (unsigned number = 0; together && number < extent.count; ++number)
    together = first + number < resultDim.end() && first[number] == static_cast<int64_t>(extent.dim + number);
  if (together && part.position)
    part.position =
        code.add(part.position, code.mul(coordinate, stride(first - resultDim.begin() + extent.count - 1)));
  for (auto [number, term] : llvm::enumerate(single)) {
    const int64_t *found = llvm::find(resultDim, static_cast<int64_t>(extent.dim + number));
    if (found == resultDim.end())
      continue;
    unsigned dim = found - resultDim.begin();
    if (conv && dim >= 2)
      term = code.sub(code.mul(term, conv.getStrides()[dim - 2]), conv.getLow()[dim - 2]);
    addTerm(part, dim, term, !together);
  }
}

MatrixOperand::Part MatrixOperand::line(Value batch, Value line, int64_t offset, int64_t run) {
  nn::ElementBuilder code = writer.code();
  Part part{SmallVector<Value>(resultDim.size()), code.index(0), {}};
  if (conv && llvm::any_of(conv.getInputDilations(), [](int64_t dilation) { return dilation != 1; }))
    part.position = {};
  for (auto [extent, coordinate] : llvm::zip(batchIndex.extents(), batchIndex.split(batch)))
    addSpan(part, extent, coordinate);
  for (auto [extent, coordinate] : llvm::zip(lineIndex.extents(), lineIndex.split(line, offset, run)))
    addSpan(part, extent, coordinate);
  if (product.groups != 1) {
    // The filters, or the channels, of the group that the batch is.
    Value perGroup = conv ? writer.elements.size(conv.getFilter(), 1) : lineIndex.count();
    addTerm(part, conv ? 1 : 0, code.mul(batch, perGroup), true);
  }
  return part;
}

MatrixOperand::Part MatrixOperand::depth(ArrayRef<Value> coordinates) {
  nn::ElementBuilder code = writer.code();
  Part part{SmallVector<Value>(resultDim.size()), code.index(0), {}};
  for (auto [dim, extent] : llvm::enumerate(depthExtent)) {
    if (extent < 0)
      continue;
    Value term = coordinates[extent];
    if (conv && dim >= 2)
      term = code.mul(term, conv.getDilations()[dim - 2]);
    addTerm(part, dim, term, true);
  }
  return part;
}

MatrixOperand::Part MatrixOperand::deeper(const Part &depth, unsigned extent, int64_t further) {
  Part part = depth;
  for (auto [dim, own] : llvm::enumerate(depthExtent))
    if (own == static_cast<int64_t>(extent)) {
      nn::ElementBuilder code = writer.code();
      int64_t dilation = conv && dim >= 2 ? conv.getDilations()[dim - 2] : 1;
      addTerm(part, dim, code.index(further * dilation), /*withPosition=*/false);
      Value distance = code.mul(stride(dim), further * dilation);
      part.further = part.further ? code.add(part.further, distance) : distance;
    }
  return part;
}

Value MatrixOperand::index(const Part &line, const Part &depth, unsigned dim) {
  nn::ElementBuilder code = writer.code();
  if (!line.at[dim] || !depth.at[dim])
    return line.at[dim] ? line.at[dim] : depth.at[dim] ? depth.at[dim] : code.index(0);
  return code.add(line.at[dim], depth.at[dim]);
}

Value MatrixOperand::inside(const Part &line, const Part &depth) {
  nn::ElementBuilder code = writer.code();
  Value all;
  auto require = [&](Value condition) { all = all ? code.both(all, condition) : condition; };
  for (unsigned dim = 2; dim < resultDim.size(); ++dim) {
    if (!isWindowed(dim))
      continue;
    Value at = index(line, depth, dim), size = writer.elements.size(tensor, dim);
    int64_t dilation = conv.getInputDilations()[dim - 2];
    if (dilation == 1) {
      require(code.isInside(at, size));
      continue;
    }
    require(code.make<arith::CmpIOp>(arith::CmpIPredicate::sge, at, code.index(0)));
    Value spread = code.index(dilation);
    require(code.make<arith::CmpIOp>(arith::CmpIPredicate::eq, code.rem(at, spread), code.index(0)));
    require(code.isInside(code.div(at, spread), size));
  }
  return all;
}

Value MatrixOperand::element(const Part &line, const Part &depth) {
  nn::ElementBuilder code = writer.code();
  SmallVector<Value> indices;
  for (unsigned dim = 0; dim < resultDim.size(); ++dim) {
    Value at = index(line, depth, dim);
    bool isSpread = conv && dim >= 2 && conv.getInputDilations()[dim - 2] != 1;
    indices.push_back(isSpread ? code.div(at, code.index(conv.getInputDilations()[dim - 2])) : at);
  }
  if (line.position) {
    Value position = code.add(line.position, depth.position);
    writer.elements.relate(tensor, indices, depth.further ? code.add(position, depth.further) : position);
  }
  Value value = writer.elements.element(tensor, indices);
  nn::CastRule rule;
  rule.unsignedInput = isUnsigned;
  return castNumber(code, castNumber(code, value, compute, rule), accumulate);
}

//===- MatrixResult
//--------------------------------------------------------------------------------------------------

MatrixResult::MatrixResult(KernelWriter &writer, const MatrixProduct &product)
    : writer(writer), product(product), root(product.op->getResult(0)), rows(writer, product.rows),
      columns(writer, product.columns), batches(writer, product.batches) {
  nn::ElementBuilder code = writer.code();
  int64_t rank = cast<RankedTensorType>(root.getType()).getRank();
  strides.resize(rank);
  Value stride = code.index(1);
  for (int64_t dim = rank - 1; dim >= 0; --dim) {
    strides[dim] = stride;
    stride = code.mul(stride, writer.elements.size(root, dim));
  }
  writer.elements.provide(root, [this](ValueRange) { return current; });
}

MatrixOperand::Part MatrixResult::part(ExtentIndex &extents, ArrayRef<Value> coordinates) {
  nn::ElementBuilder code = writer.code();
  MatrixOperand::Part part{SmallVector<Value>(strides.size()), code.index(0), {}};
  for (auto [extent, coordinate] : llvm::zip(extents.extents(), coordinates)) {
    part.position = code.add(part.position, code.mul(coordinate, strides[extent.dim + extent.count - 1]));
    SmallVector<Value> sizes;
    for (unsigned number = 0; number < extent.count; ++number)
      sizes.push_back(writer.elements.size(root, extent.dim + number));
    SmallVector<Value> single =
        extent.count == 1 ? SmallVector<Value>{coordinate} : takeApart(code, coordinate, sizes);
    llvm::copy(single, part.at.begin() + extent.dim);
  }
  return part;
}

MatrixOperand::Part MatrixResult::batch(Value batch) {
  nn::ElementBuilder code = writer.code();
  MatrixOperand::Part part = this->part(batches, batches.split(batch));
  if (product.groups != 1) {
    Value first = code.mul(batch, rows.count());
    part.at[1] = first;
    part.position = code.add(part.position, code.mul(first, strides[1]));
  }
  return part;
}

MatrixOperand::Part MatrixResult::row(Value row) { return part(rows, rows.split(row)); }

MatrixOperand::Part MatrixResult::column(Value column, int64_t offset, int64_t run) {
  return part(columns, columns.split(column, offset, run));
}

static Value totalPosition(nn::ElementBuilder code, ArrayRef<const MatrixOperand::Part *> parts) {
  Value position = code.index(0);
  for (const MatrixOperand::Part *part : parts)
    position = code.add(position, part->position);
  return position;
}

SmallVector<Value> MatrixResult::finish(ArrayRef<const MatrixOperand::Part *> parts, Value sum) {
  nn::ElementBuilder code = writer.code();
  SmallVector<Value> indices(strides.size());
  for (Value &index : indices) {
    index = {};
    for (const MatrixOperand::Part *part : parts)
      if (Value term = part->at[&index - indices.data()])
        index = index ? code.add(index, term) : term;
  }
  Value position = totalPosition(code, parts);
  writer.elements.relate(root, indices, position);
  current = castNumber(code, sum, elementOf(root));
  Value front = writer.results.front();
  return writer.computeResults(
      haveSameSizes(front, root) ? indices : writer.elements.coordinates(front, position), position);
}

void MatrixResult::store(ArrayRef<const MatrixOperand::Part *> parts, ValueRange values) {
  writer.storeResults(values, totalPosition(writer.code(), parts));
}
