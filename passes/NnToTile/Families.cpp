// The table of kernel families, and what they share.
#include "passes/NnToTile/Families.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace joule;

const KernelFamily *joule::findFamily(StringRef name) {
  static const KernelFamily families[] = {
      {"contract", emitContract, gridOfContract},
      {"dot", emitDot, gridOfDot},
      {"map", emitMap, gridOfMap},
      {"scatter_elements", emitScatterElements, gridOfScatterElements},
      {"scatter_nd", emitScatterNd, gridOfScatterNd},
      {"top_k", emitTopK, gridOfTopK},
      {"triangularize", emitTriangularize, gridOfTriangularize},
      {"lstm", emitRecurrent, gridOfRecurrent},
      {"gru", emitRecurrent, gridOfRecurrent},
      {"rnn", emitRecurrent, gridOfRecurrent},
      {"row", emitRow, gridOfRow},
  };
  const auto *found =
      llvm::find_if(families, [&](const KernelFamily &family) { return family.name == name; });
  return found == std::end(families) ? nullptr : found;
}

SmallVector<Value> joule::takeApart(nn::ElementBuilder &code, Value flat, ArrayRef<Value> sizes) {
  SmallVector<Value> result(sizes.size());
  unsigned outermost =
      llvm::find_if(sizes, [](Value size) { return !matchPattern(size, m_One()); }) - sizes.begin();
  for (unsigned number = sizes.size(); number-- > 0;) {
    if (matchPattern(sizes[number], m_One())) {
      result[number] = code.index(0);
    } else if (number == outermost) {
      result[number] = flat;
    } else {
      result[number] = code.rem(flat, sizes[number]);
      flat = code.div(flat, sizes[number]);
    }
  }
  return result;
}

bool joule::haveSameSizes(Value a, Value b) {
  FailureOr<SmallVector<OpFoldResult>> sizesOfA = nn::sizesOf(a), sizesOfB = nn::sizesOf(b);
  return succeeded(sizesOfA) && succeeded(sizesOfB) && *sizesOfA == *sizesOfB;
}

SmallVector<Value> KernelWriter::computeResults(ValueRange indices, Value position) {
  SmallVector<Value> values;
  for (Value result : results) {
    SmallVector<Value> at(indices);
    if (!haveSameSizes(result, results.front()))
      at = elements.coordinates(result, position);
    values.push_back(elements.element(result, at));
  }
  return values;
}

void KernelWriter::storeResults(ValueRange values, Value position) {
  for (auto [value, buffer] : llvm::zip(values, buffers))
    builder.create<tile::StoreOp>(loc, value, buffer, position);
}

Value GridWriter::count(Value tensor) {
  Value count = index(1);
  for (int64_t dim = 0; dim < cast<RankedTensorType>(tensor.getType()).getRank(); ++dim)
    count = builder.createOrFold<arith::MulIOp>(loc, count, size(tensor, dim));
  return count;
}

void joule::onlyIf(nn::ElementBuilder &code, Value condition, llvm::function_ref<void()> inside) {
  code.choose(
      condition, {}, [&] { return inside(), SmallVector<Value>(); }, [] { return SmallVector<Value>(); });
}

void joule::forThread(KernelWriter &writer, Value count, llvm::function_ref<void(Value thread)> body) {
  nn::ElementBuilder code = writer.code();
  Value thread = code.add(code.mul(writer.blockId(), writer.schedule.getThreads()), writer.threadId());
  onlyIf(code, code.make<arith::CmpIOp>(arith::CmpIPredicate::ult, thread, count), [&] { body(thread); });
}

std::array<Value, 3> joule::gridOfThreads(GridWriter &writer, ArrayRef<unsigned> dims) {
  Value threads = writer.index(1);
  for (unsigned dim : dims)
    threads =
        writer.builder.createOrFold<arith::MulIOp>(writer.loc, threads, writer.size(writer.results[0], dim));
  Value blocks = writer.builder.createOrFold<arith::CeilDivUIOp>(writer.loc, threads,
                                                                 writer.index(writer.schedule.getThreads()));
  return std::array<Value, 3>{blocks, writer.index(1), writer.index(1)};
}
