// tile-to-nvvm: turn each kernel into a function of the GPU.
#include "dialects/Nn/SmallFloats.h"
#include "dialects/Tile/TileDialect.h"
#include "passes/TileToNvvm/Memory.h"
#include "passes/TileToNvvm/Passes.h"
#include "passes/TileToNvvm/Shared.h"

#include "mlir/Conversion/ArithToLLVM/ArithToLLVM.h"
#include "mlir/Conversion/ControlFlowToLLVM/ControlFlowToLLVM.h"
#include "mlir/Conversion/FuncToLLVM/ConvertFuncToLLVM.h"
#include "mlir/Conversion/LLVMCommon/ConversionTarget.h"
#include "mlir/Conversion/LLVMCommon/TypeConverter.h"
#include "mlir/Conversion/MathToLLVM/MathToLLVM.h"
#include "mlir/Conversion/SCFToControlFlow/SCFToControlFlow.h"
#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

namespace joule {
#define GEN_PASS_DEF_TILETONVVM
#include "passes/TileToNvvm/Passes.h.inc"
} // namespace joule

using namespace mlir;
using namespace joule;

namespace {

const unsigned globalMemory = NVVM::NVVMMemorySpace::kGlobalMemorySpace;

Type parameterType(Type type) {
  if (isa<tile::BufferType>(type))
    return LLVM::LLVMPointerType::get(type.getContext(), globalMemory);
  return type.isIndex() ? IntegerType::get(type.getContext(), 64) : type;
}

/// The empty function that `kernel` becomes, in a module of its own.
func::FuncOp createFunction(tile::KernelOp kernel, OpBuilder &builder) {
  Location loc = kernel.getLoc();
  auto module = builder.create<gpu::GPUModuleOp>(loc, kernel.getSymName());
  builder.setInsertionPointToStart(module.getBody());
  SmallVector<Type> types = llvm::map_to_vector(kernel.getBody().getArgumentTypes(), parameterType);
  auto function = builder.create<func::FuncOp>(loc, kernel.getSymName(), builder.getFunctionType(types, {}));
  function->setAttr(NVVM::NVVMDialect::getKernelFuncAttrName(), builder.getUnitAttr());
  SmallVector<int32_t> block(kernel.getBlock()->begin(), kernel.getBlock()->end());
  function->setAttr(NVVM::NVVMDialect::getMaxntidAttrName(), builder.getDenseI32ArrayAttr(block));
  // Every buffer starts on a boundary of at least 16 bytes, which lets accesses be wide.
  for (auto [number, type] : llvm::enumerate(types))
    if (isa<LLVM::LLVMPointerType>(type))
      function.setArgAttr(number, LLVM::LLVMDialect::getAlignAttrName(), builder.getI64IntegerAttr(16));
  return function;
}

/// Moves the kernel's body into `function`, its arguments replaced by the function's.
void moveBody(tile::KernelOp kernel, func::FuncOp function, OpBuilder &builder) {
  Block *entry = function.addEntryBlock(), &body = kernel.getBody().front();
  builder.setInsertionPointToStart(entry);
  IRMapping pointers;
  for (auto [old, parameter] : llvm::zip(body.getArguments(), entry->getArguments())) {
    if (isa<tile::BufferType>(old.getType()))
      pointers.map(old, parameter);
    else
      old.replaceAllUsesWith(builder.create<arith::IndexCastOp>(kernel.getLoc(), old.getType(), parameter));
  }
  entry->getOperations().splice(entry->end(), body.getOperations());
  lowerSharedMemory(function, pointers);
  lowerTileAccesses(function, pointers);
  lowerAccesses(function, pointers);
  Operation *end = entry->getTerminator();
  builder.setInsertionPoint(end);
  builder.create<func::ReturnOp>(end->getLoc());
  end->erase();
}

/// The special register of `dimension`, as an index.
template <typename X, typename Y, typename Z>
Value readRegister(OpBuilder &builder, Location loc, gpu::Dimension dimension) {
  Type i32 = builder.getI32Type();
  Value value = dimension == gpu::Dimension::x   ? builder.create<X>(loc, i32).getResult()
                : dimension == gpu::Dimension::y ? builder.create<Y>(loc, i32).getResult()
                                                 : builder.create<Z>(loc, i32).getResult();
  return builder.create<arith::IndexCastUIOp>(loc, builder.getIndexType(), value);
}

Value threadId(OpBuilder &builder, Location loc, gpu::Dimension dimension) {
  return readRegister<NVVM::ThreadIdXOp, NVVM::ThreadIdYOp, NVVM::ThreadIdZOp>(builder, loc, dimension);
}
Value blockId(OpBuilder &builder, Location loc, gpu::Dimension dimension) {
  return readRegister<NVVM::BlockIdXOp, NVVM::BlockIdYOp, NVVM::BlockIdZOp>(builder, loc, dimension);
}

/// A shuffle of one 32-bit value within the first `width` lanes' groups.
void lowerShuffle(gpu::ShuffleOp shuffle, OpBuilder &builder) {
  Location loc = shuffle.getLoc();
  auto constant = [&](int64_t value) {
    return builder.create<arith::ConstantIntOp>(loc, value, 32).getResult();
  };
  bool isUp = shuffle.getMode() == gpu::ShuffleMode::UP;
  // The segment's mask in the upper bits; the last lane reachable in the lower ones.
  Value segments = builder.create<arith::SubIOp>(loc, constant(32), shuffle.getWidth());
  Value clamp = builder.create<arith::ShLIOp>(loc, segments, constant(8));
  if (!isUp)
    clamp = builder.create<arith::OrIOp>(loc, clamp, constant(31));
  const NVVM::ShflKind kinds[] = {NVVM::ShflKind::bfly, NVVM::ShflKind::up, NVVM::ShflKind::down,
                                  NVVM::ShflKind::idx};
  Type value = shuffle.getValue().getType();
  auto pair = LLVM::LLVMStructType::getLiteral(builder.getContext(), {value, builder.getI1Type()});
  Value both =
      builder.create<NVVM::ShflOp>(loc, pair, constant(-1), shuffle.getValue(), shuffle.getOffset(), clamp,
                                   kinds[static_cast<unsigned>(shuffle.getMode())], builder.getUnitAttr());
  shuffle.replaceAllUsesWith(ValueRange{builder.create<LLVM::ExtractValueOp>(loc, both, 0),
                                        builder.create<LLVM::ExtractValueOp>(loc, both, 1)});
}

/// Thread and block numbers, barriers and shuffles. Written here because upstream's patterns for them come
/// with others that turn mathematics into library calls.
LogicalResult lowerGpuOps(func::FuncOp function, ArrayRef<int64_t> block) {
  WalkResult result = function.walk([&](Operation *op) {
    if (!isa_and_nonnull<gpu::GPUDialect>(op->getDialect()))
      return WalkResult::advance();
    OpBuilder builder(op);
    Location loc = op->getLoc();
    auto size = [&](gpu::Dimension dimension) -> Value {
      return builder.create<arith::ConstantIndexOp>(loc, block[static_cast<unsigned>(dimension)]);
    };
    if (auto id = dyn_cast<gpu::ThreadIdOp>(op)) {
      id.replaceAllUsesWith(threadId(builder, loc, id.getDimension()));
    } else if (auto id = dyn_cast<gpu::BlockIdOp>(op)) {
      id.replaceAllUsesWith(blockId(builder, loc, id.getDimension()));
    } else if (auto id = dyn_cast<gpu::BlockDimOp>(op)) {
      id.replaceAllUsesWith(size(id.getDimension()));
    } else if (auto id = dyn_cast<gpu::GridDimOp>(op)) {
      id.replaceAllUsesWith(readRegister<NVVM::GridDimXOp, NVVM::GridDimYOp, NVVM::GridDimZOp>(
          builder, loc, id.getDimension()));
    } else if (auto id = dyn_cast<gpu::GlobalIdOp>(op)) {
      Value start = builder.create<arith::MulIOp>(loc, blockId(builder, loc, id.getDimension()),
                                                  size(id.getDimension()));
      Value at = builder.create<arith::AddIOp>(loc, start, threadId(builder, loc, id.getDimension()));
      id.replaceAllUsesWith(at);
    } else if (isa<gpu::BarrierOp>(op)) {
      builder.create<NVVM::Barrier0Op>(loc);
    } else if (auto shuffle = dyn_cast<gpu::ShuffleOp>(op)) {
      lowerShuffle(shuffle, builder);
    } else {
      op->emitOpError() << "has no lowering to a kernel's instructions";
      return WalkResult::interrupt();
    }
    op->erase();
    return WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}

/// Index arithmetic does not overflow: the schedule's width suffices, as the host sees to. Saying so lets
/// addresses of neighbouring elements be seen as such.
void markIndexArithmetic(func::FuncOp function) {
  auto noWrap = arith::IntegerOverflowFlagsAttr::get(function.getContext(), arith::IntegerOverflowFlags::nsw);
  function.walk([&](Operation *op) {
    if (isa<arith::AddIOp, arith::SubIOp, arith::MulIOp>(op) && op->getResult(0).getType().isIndex())
      op->setAttr("overflowFlags", noWrap);
  });
}

LogicalResult lowerLoops(func::FuncOp function) {
  RewritePatternSet patterns(function.getContext());
  populateSCFToControlFlowConversionPatterns(patterns);
  ConversionTarget target(*function.getContext());
  target.addIllegalDialect<scf::SCFDialect>();
  target.markUnknownOpDynamicallyLegal([](Operation *) { return true; });
  return applyPartialConversion(function, target, std::move(patterns));
}

LogicalResult lowerToLlvm(gpu::GPUModuleOp module, int64_t indexBits) {
  MLIRContext *context = module.getContext();
  LowerToLLVMOptions options(context);
  options.overrideIndexBitwidth(indexBits);
  LLVMTypeConverter converter(context, options);
  converter.addConversion([](nn::F4E2M1Type type) -> Type { return nn::bitsTypeOf(type); });
  converter.addConversion([](nn::F8E8M0Type type) -> Type { return nn::bitsTypeOf(type); });
  RewritePatternSet patterns(context);
  arith::populateCeilFloorDivExpandOpsPatterns(patterns);
  arith::populateArithToLLVMConversionPatterns(converter, patterns);
  cf::populateControlFlowToLLVMConversionPatterns(converter, patterns);
  populateMathToLLVMConversionPatterns(converter, patterns, /*approximateLog1p=*/false);
  populateFuncToLLVMConversionPatterns(converter, patterns);
  LLVMConversionTarget target(*context);
  target.addLegalDialect<NVVM::NVVMDialect>();
  target.addLegalOp<gpu::GPUModuleOp, gpu::ModuleEndOp, UnrealizedConversionCastOp>();
  return applyFullConversion(module, target, std::move(patterns));
}

/// Casts there and back between a type and what it became cancel.
LogicalResult removeCasts(gpu::GPUModuleOp module) {
  SmallVector<UnrealizedConversionCastOp> casts;
  module.walk([&](UnrealizedConversionCastOp cast) { casts.push_back(cast); });
  for (UnrealizedConversionCastOp cast : casts) {
    Value source = cast.getOperand(0);
    auto before = source.getDefiningOp<UnrealizedConversionCastOp>();
    while (source.getType() != cast.getType(0) && before) {
      source = before.getOperand(0);
      before = source.getDefiningOp<UnrealizedConversionCastOp>();
    }
    if (source.getType() == cast.getType(0))
      cast.getResult(0).replaceAllUsesWith(source);
  }
  for (UnrealizedConversionCastOp cast : llvm::reverse(casts)) {
    if (!cast.use_empty())
      return cast.emitError() << "internal: a value was left between two types";
    cast.erase();
  }
  return success();
}

struct TileToNvvm : joule::impl::TileToNvvmBase<TileToNvvm> {
  void runOnOperation() override {
    for (auto kernel : llvm::make_early_inc_range(getOperation().getOps<tile::KernelOp>()))
      if (failed(lower(kernel)))
        return signalPassFailure();
  }

  LogicalResult lower(tile::KernelOp kernel) {
    if (!kernel.getBlock() || !isa<tile::ReturnOp>(kernel.getBody().front().getTerminator()))
      return kernel.emitOpError() << "has not been written as the work of threads";
    std::optional<tile::ScheduleAttr> schedule = kernel.getSchedule();
    int64_t indexBits = schedule ? schedule->getIndexBits() : 64;
    SmallVector<int64_t> block(*kernel.getBlock());
    OpBuilder builder(kernel);
    func::FuncOp function = createFunction(kernel, builder);
    moveBody(kernel, function, builder);
    kernel.erase();
    if (failed(lowerGpuOps(function, block)))
      return failure();
    markIndexArithmetic(function);
    auto module = function->getParentOfType<gpu::GPUModuleOp>();
    if (failed(lowerLoops(function)) || failed(lowerToLlvm(module, indexBits)))
      return failure();
    return removeCasts(module);
  }
};

} // namespace
