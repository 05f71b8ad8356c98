// Loads and stores of a kernel's buffers as accesses through pointers.
#include "passes/TileToNvvm/Memory.h"
#include "dialects/Nn/SmallFloats.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace joule;

namespace {

/// How an element lies in memory: its own type, or the integer that holds its bits.
Type storedType(Type element) {
  if (element.isInteger(1))
    return IntegerType::get(element.getContext(), 8);
  if (nn::isSmallFloat(element))
    return nn::bitsTypeOf(element);
  return element;
}

/// One access: where it is, and how its element lies there.
struct Access {
  OpBuilder builder;
  Location loc;
  Value pointer;
  Value index;
  Type element;

  Access(Operation *op, Value pointer, Value index, Type element)
      : builder(op), loc(op->getLoc()), pointer(pointer), element(element) {
    // A constant summand becomes part of the instruction. Positions are signed for its sake: part of a sum
    // may be negative.
    auto sum = index.getDefiningOp<arith::AddIOp>();
    std::optional<int64_t> constant = sum ? getConstantIntValue(sum.getRhs()) : std::nullopt;
    if (constant && !isPacked()) {
      this->pointer = address(storedType(element), widen(sum.getLhs()));
      index = builder.create<arith::ConstantIndexOp>(loc, *constant);
    }
    this->index = widen(index);
  }

  Value widen(Value index) {
    return builder.createOrFold<arith::IndexCastOp>(loc, builder.getI64Type(), index);
  }

  Type byte() { return builder.getI8Type(); }
  Value constant(Type type, int64_t value) {
    return builder.create<arith::ConstantOp>(loc, builder.getIntegerAttr(type, value));
  }

  Value address(Type type, Value at) {
    return builder.create<LLVM::GEPOp>(loc, pointer.getType(), type, pointer, ValueRange{at},
                                       /*inbounds=*/true);
  }

  // A packed element: its byte, and how far it is shifted there.
  unsigned width() { return tile::bitsInMemory(element); }
  bool isPacked() { return width() < 8; }
  Value byteAddress() {
    unsigned perByteLog2 = llvm::Log2_32(8 / width());
    return address(byte(),
                   builder.create<arith::ShRUIOp>(loc, index, constant(index.getType(), perByteLog2)));
  }
  Value shift() {
    Value within = builder.create<arith::AndIOp>(loc, index, constant(index.getType(), 8 / width() - 1));
    within = builder.create<arith::TruncIOp>(loc, byte(), within);
    return builder.create<arith::MulIOp>(loc, within, constant(byte(), width()));
  }

  Value loadBits() {
    Type type = storedType(element);
    if (!isPacked())
      return builder.create<LLVM::LoadOp>(loc, type, address(type, index));
    Value all = builder.create<LLVM::LoadOp>(loc, byte(), byteAddress());
    return builder.create<arith::TruncIOp>(loc, type, builder.create<arith::ShRUIOp>(loc, all, shift()));
  }

  void storeBits(Value bits) {
    if (!isPacked()) {
      builder.create<LLVM::StoreOp>(loc, bits, address(bits.getType(), index));
      return;
    }
    // One thread writes all elements of a byte, so that reading the others first is safe.
    Value where = byteAddress(), by = shift();
    Value old = builder.create<LLVM::LoadOp>(loc, byte(), where);
    Value mask = builder.create<arith::ShLIOp>(loc, constant(byte(), (1 << width()) - 1), by);
    Value others = builder.create<arith::XOrIOp>(loc, mask, constant(byte(), -1));
    Value kept = builder.create<arith::AndIOp>(loc, old, others);
    Value placed = builder.create<arith::ShLIOp>(loc, builder.create<arith::ExtUIOp>(loc, byte(), bits), by);
    builder.create<LLVM::StoreOp>(loc, builder.create<arith::OrIOp>(loc, kept, placed), where);
  }

  Value fromBits(Value bits) {
    if (element.isInteger(1))
      return builder.create<arith::CmpIOp>(loc, arith::CmpIPredicate::ne, bits, constant(byte(), 0));
    return convert(bits, element);
  }

  Value toBits(Value value) {
    if (element.isInteger(1))
      return builder.create<arith::ExtUIOp>(loc, byte(), value);
    return convert(value, storedType(element));
  }

  Value convert(Value value, Type type) {
    if (value.getType() == type)
      return value;
    if (value.getType().isIntOrFloat() && type.isIntOrFloat())
      return builder.createOrFold<arith::BitcastOp>(loc, type, value);
    return builder.create<UnrealizedConversionCastOp>(loc, type, value).getResult(0);
  }
};

} // namespace

void joule::lowerAccesses(Operation *function, const IRMapping &pointers) {
  function->walk([&](tile::LoadOp load) {
    Access access(load, pointers.lookup(load.getBuffer()), load.getIndex(), load.getType());
    load.replaceAllUsesWith(access.fromBits(access.loadBits()));
    load.erase();
  });
  function->walk([&](tile::StoreOp store) {
    Access access(store, pointers.lookup(store.getBuffer()), store.getIndex(), store.getValue().getType());
    access.storeBits(access.toBits(store.getValue()));
    store.erase();
  });
  function->walk([](tile::AllocOp alloc) { alloc.erase(); });
}
