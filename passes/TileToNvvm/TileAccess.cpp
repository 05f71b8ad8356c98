// Accesses to the elements of a tile as accesses through pointers.
#include "passes/TileToNvvm/Memory.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

#include <map>

using namespace mlir;
using namespace joule;

namespace {

/// An access's address, built from its indices by the tile's layout: summands that are values, and a constant
/// one.
///
/// Bits of an index that move by the same distance move together. Contributions that may meet in a bit are
/// joined by XOR, which leaves summands that meet nowhere. An index that is the XOR of a value and a constant
/// is taken apart: the map is linear. So of all that varies within an unrolled loop only constants remain,
/// which memory instructions take.
class Address {
public:
  Address(OpBuilder &builder, Location loc, tile::LayoutAttr layout, ValueRange indices)
      : builder(builder), loc(loc) {
    for (auto [dim, index] : llvm::enumerate(indices))
      addIndex(layout.basesOf(dim), index);
    joinCrossing();
  }

  /// The summands that are values, those first that change in the fewest loops: their sum can be kept.
  SmallVector<Value> values() {
    std::multimap<unsigned, Value> byDepth;
    for (const Sum &sum : sums)
      byDepth.emplace(depthOf(sum.value), sum.value);
    return llvm::to_vector(llvm::make_second_range(byDepth));
  }

  int64_t offset() { return constant; }

private:
  /// A value and the address bits that it may set.
  struct Sum {
    Value value;
    int64_t bits = 0;
  };

  OpBuilder &builder;
  Location loc;
  SmallVector<Sum> sums;
  int64_t constant = 0;

  Value index(int64_t value) { return builder.create<arith::ConstantIndexOp>(loc, value); }
  Value flip(Value a, Value b) { return builder.createOrFold<arith::XOrIOp>(loc, a, b); }

  static unsigned depthOf(Value value) {
    unsigned depth = 0;
    for (Operation *around = value.getParentRegion()->getParentOp(); around; around = around->getParentOp())
      ++depth;
    return depth;
  }

  void addIndex(ArrayRef<int64_t> bases, Value value) {
    if (std::optional<int64_t> known = getConstantIntValue(value)) {
      for (auto [bit, base] : llvm::enumerate(bases))
        if ((*known >> bit) & 1)
          constant ^= base;
      return;
    }
    auto both = value.getDefiningOp<arith::XOrIOp>();
    if (both && getConstantIntValue(both.getRhs())) {
      addIndex(bases, both.getLhs());
      addIndex(bases, both.getRhs());
      return;
    }
    addVariable(bases, value);
  }

  void addVariable(ArrayRef<int64_t> bases, Value value) {
    // For each distance, the bits that move by it.
    llvm::MapVector<int64_t, int64_t> moves;
    for (auto [bit, base] : llvm::enumerate(bases))
      for (int64_t target = 0; base >> target; ++target)
        if ((base >> target) & 1)
          moves[target - static_cast<int64_t>(bit)] |= int64_t(1) << bit;
    int64_t all = (int64_t(1) << bases.size()) - 1;
    for (auto [distance, bits] : moves) {
      Value part = value;
      if (bits != all)
        part = builder.createOrFold<arith::AndIOp>(loc, part, index(bits));
      if (distance > 0)
        part = builder.createOrFold<arith::MulIOp>(loc, part, index(int64_t(1) << distance));
      else if (distance < 0)
        part = builder.createOrFold<arith::ShRUIOp>(loc, part, index(-distance));
      sums.push_back({part, distance > 0 ? bits << distance : bits >> -distance});
    }
  }

  /// Joins what may meet in a bit, constants too.
  void joinCrossing() {
    SmallVector<Sum> joined;
    for (Sum next : sums) {
      auto *met = llvm::find_if(joined, [&](const Sum &sum) { return sum.bits & next.bits; });
      while (met != joined.end()) {
        next = {flip(met->value, next.value), met->bits | next.bits};
        joined.erase(met);
        met = llvm::find_if(joined, [&](const Sum &sum) { return sum.bits & next.bits; });
      }
      joined.push_back(next);
    }
    for (Sum &sum : joined)
      if (int64_t flipped = constant & sum.bits) {
        sum.value = flip(sum.value, index(flipped));
        constant &= ~flipped;
      }
    sums = joined;
  }
};

/// One access: a run of elements from an address on.
struct Access {
  OpBuilder builder;
  Location loc;
  Type element;
  Value address;

  Access(Operation *op, Type element, tile::LayoutAttr layout, ValueRange indices, Value pointer)
      : builder(op), loc(op->getLoc()), element(element), address(pointer) {
    Address place(builder, loc, layout, indices);
    for (Value value : place.values())
      step(builder.create<arith::IndexCastOp>(loc, builder.getI64Type(), value));
    if (int64_t offset = place.offset())
      step(builder.create<arith::ConstantIntOp>(loc, offset, 64));
  }

  void step(Value by) {
    address = builder.create<LLVM::GEPOp>(loc, address.getType(), element, address, ValueRange{by},
                                          /*inbounds=*/true);
  }

  Value number(unsigned number) {
    return builder.create<LLVM::ConstantOp>(loc, builder.getI32Type(), number);
  }
  unsigned bytes(unsigned count) { return element.getIntOrFloatBitWidth() / 8 * count; }

  SmallVector<Value> load(unsigned count) {
    Type type = count == 1 ? element : VectorType::get(count, element);
    Value all = builder.create<LLVM::LoadOp>(loc, type, address, bytes(count));
    if (count == 1)
      return {all};
    SmallVector<Value> values;
    for (unsigned at = 0; at < count; ++at)
      values.push_back(builder.create<LLVM::ExtractElementOp>(loc, all, number(at)));
    return values;
  }

  void store(ValueRange values) {
    Value all = values.front();
    if (values.size() != 1)
      all = builder.create<LLVM::UndefOp>(loc, VectorType::get(values.size(), element));
    for (unsigned at = 0; at < values.size() && values.size() != 1; ++at)
      all = builder.create<LLVM::InsertElementOp>(loc, all, values[at], number(at));
    builder.create<LLVM::StoreOp>(loc, all, address, bytes(values.size()));
  }
};

} // namespace

void joule::lowerTileAccesses(Operation *function, const IRMapping &pointers) {
  function->walk([&](tile::LoadTileOp load) {
    Access access(load, load.getBuffer().getType().getElement(), load.getLayout(), load.getIndices(),
                  pointers.lookup(load.getBuffer()));
    load.replaceAllUsesWith(access.load(load.getNumResults()));
    load.erase();
  });
  function->walk([&](tile::StoreTileOp store) {
    Access access(store, store.getBuffer().getType().getElement(), store.getLayout(), store.getIndices(),
                  pointers.lookup(store.getBuffer()));
    access.store(store.getValues());
    store.erase();
  });
}
