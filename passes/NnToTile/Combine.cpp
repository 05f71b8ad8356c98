// Threads that combine what each of them has.
#include "passes/NnToTile/Combine.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace joule;

namespace {

const int64_t warpSize = 32;

/// Moves a value of any type to the thread whose number in the warp differs in the bits of `lanes`.
Value shuffle(nn::ElementBuilder &code, Value value, int64_t lanes) {
  OpBuilder &builder = code.builder;
  Type type = value.getType(), i32 = builder.getI32Type(), i64 = builder.getI64Type();
  auto move = [&](Value word) {
    return builder
        .create<gpu::ShuffleOp>(code.loc, word, static_cast<int32_t>(lanes), static_cast<int32_t>(warpSize),
                                gpu::ShuffleMode::XOR)
        .getShuffleResult();
  };
  if (type.isIndex())
    return code.make<arith::IndexCastOp>(type,
                                         shuffle(code, code.make<arith::IndexCastOp>(i64, value), lanes));
  unsigned width = type.getIntOrFloatBitWidth();
  if (width == 32)
    return move(value);
  auto bits = builder.getIntegerType(width);
  Value word = type == bits ? value : code.make<arith::BitcastOp>(bits, value);
  if (width < 32) {
    word = code.make<arith::TruncIOp>(bits, move(code.make<arith::ExtUIOp>(i32, word)));
  } else {
    Value half = code.number(i64, 32);
    Value low = move(code.make<arith::TruncIOp>(i32, word));
    Value high = move(code.make<arith::TruncIOp>(i32, code.make<arith::ShRUIOp>(word, half)));
    word = code.make<arith::OrIOp>(code.make<arith::ShLIOp>(code.make<arith::ExtUIOp>(i64, high), half),
                                   code.make<arith::ExtUIOp>(i64, low));
  }
  return type == bits ? word : code.make<arith::BitcastOp>(type, word);
}

} // namespace

ThreadLines::ThreadLines(KernelWriter &writer, int64_t lines, int64_t sharing, bool along)
    : writer(writer), lines(lines), sharing(sharing), along(along) {
  nn::ElementBuilder code = writer.code();
  Value thread = writer.threadId();
  Value inner = code.index(along ? sharing : lines);
  ownPart = along ? code.rem(thread, inner) : code.div(thread, inner);
  ownLine = along ? code.div(thread, inner) : code.rem(thread, inner);
}

ThreadLines::Values ThreadLines::combine(Values values, Combine join) {
  nn::ElementBuilder code = writer.code();
  int64_t others = sharing;
  if (along) {
    int64_t lanes = std::min(sharing, warpSize);
    for (int64_t distance = lanes / 2; distance > 0; distance /= 2) {
      Values moved = llvm::map_to_vector(values, [&](Value value) { return shuffle(code, value, distance); });
      values = join(values, moved);
    }
    others = sharing / lanes;
  }
  return others == 1 ? values : combineGroups(values, others, join);
}

/// Combines through shared memory what `groups` parts of each row have: warps, or single threads.
ThreadLines::Values ThreadLines::combineGroups(ArrayRef<Value> values, int64_t groups, Combine join) {
  nn::ElementBuilder code = writer.code();
  Value group = along ? code.div(ownPart, code.index(warpSize)) : ownPart;
  auto place = [&](Value group) { return code.add(code.mul(group, lines), ownLine); };
  Values memory;
  for (Value value : values) {
    // Truth values and indices have no place of their own in shared memory.
    Type type = value.getType().isIndex() ? Type(code.builder.getI64Type()) : value.getType();
    auto buffer = tile::BufferType::get(code.builder.getContext(), type, /*shared=*/true);
    memory.push_back(code.builder.create<tile::AllocOp>(code.loc, buffer, groups * lines));
    Value stored = type == value.getType() ? value : code.make<arith::IndexCastOp>(type, value);
    // All lanes of a warp hold the same; that they all store it does no harm, but one does.
    Value isFirst = along ? code.make<arith::CmpIOp>(arith::CmpIPredicate::eq,
                                                     code.rem(ownPart, code.index(warpSize)), code.index(0))
                          : code.number(code.builder.getI1Type(), 1);
    code.choose(
        isFirst, {},
        [&]() -> Values {
          code.builder.create<tile::StoreOp>(code.loc, stored, memory.back(), place(group));
          return {};
        },
        [] { return Values(); });
  }
  code.builder.create<gpu::BarrierOp>(code.loc);
  Values result;
  for (int64_t number = 0; number < groups; ++number) {
    Values next;
    for (auto [buffer, value] : llvm::zip(memory, values)) {
      Type type = cast<tile::BufferType>(buffer.getType()).getElement();
      Value loaded = code.builder.create<tile::LoadOp>(code.loc, type, buffer, place(code.index(number)));
      next.push_back(type == value.getType() ? loaded
                                             : code.make<arith::IndexCastOp>(value.getType(), loaded));
    }
    result = number == 0 ? next : join(result, next);
  }
  return result;
}
