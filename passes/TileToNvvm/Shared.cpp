// The shared memory of a kernel.
#include "passes/TileToNvvm/Shared.h"
#include "passes/TileToNvvm/Memory.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

using namespace mlir;
using namespace joule;

namespace {

const unsigned sharedMemory = NVVM::NVVMMemorySpace::kSharedMemorySpace;
const int64_t alignment = 128, mostDeclared = 48 * 1024;

int64_t bytesOf(tile::AllocOp alloc) {
  int64_t bits = tile::bitsInMemory(cast<tile::BufferType>(alloc.getType()).getElement());
  return llvm::divideCeil(alloc.getCount() * bits, 8);
}

/// The array itself. An internal one of no size would let LLVM drop the stores into it, so that what the
/// launch adds is external.
LLVM::GlobalOp createArray(func::FuncOp function, int64_t bytes) {
  auto module = function->getParentOfType<gpu::GPUModuleOp>();
  OpBuilder builder = OpBuilder::atBlockBegin(module.getBody());
  bool isDeclared = bytes <= mostDeclared;
  auto type = LLVM::LLVMArrayType::get(builder.getI8Type(), isDeclared ? bytes : 0);
  module->setAttr(isDeclared ? staticSharedBytes : dynamicSharedBytes, builder.getI64IntegerAttr(bytes));
  return builder.create<LLVM::GlobalOp>(function.getLoc(), type, /*isConstant=*/false,
                                        isDeclared ? LLVM::Linkage::Internal : LLVM::Linkage::External,
                                        function.getName().str() + "_shared", Attribute(), alignment,
                                        sharedMemory);
}

} // namespace

void joule::lowerSharedMemory(func::FuncOp function, IRMapping &pointers) {
  SmallVector<std::pair<tile::AllocOp, int64_t>> places;
  int64_t bytes = 0;
  function.walk([&](tile::AllocOp alloc) {
    places.emplace_back(alloc, bytes);
    bytes += llvm::alignTo(bytesOf(alloc), alignment);
  });
  if (places.empty())
    return;
  LLVM::GlobalOp array = createArray(function, bytes);
  OpBuilder builder = OpBuilder::atBlockBegin(&function.getBody().front());
  Location loc = function.getLoc();
  Value start = builder.create<LLVM::AddressOfOp>(loc, array);
  for (auto [alloc, offset] : places) {
    Value pointer = builder.create<LLVM::GEPOp>(loc, start.getType(), builder.getI8Type(), start,
                                                ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(offset)});
    pointers.map(alloc.getResult(), pointer);
  }
}
