// From kernels to instructions.
#ifndef JOULE_TILE_TO_NVVM_PASSES_TD
#define JOULE_TILE_TO_NVVM_PASSES_TD

include "mlir/Pass/PassBase.td"

def ExpandMath : Pass<"expand-math"> {
  let summary = "Compute mathematical functions by arithmetic";
  let description = [{
    Replaces the scalar functions that the hardware lacks by arithmetic, so that none of them ends as a call into a
    library that is not there. Each expansion states its error in units in the last place; all treat infinities, NaN,
    zeros of either sign and subnormals as C does.

    ```mlir
    %y = math.exp %x : f32
    // becomes
    %n = math.roundeven … ; %r = math.fma … ; a polynomial in %r, scaled by 2^%n
    ```

    Needs: kernels of scalar code. Leaves: of `math` only what one instruction or a short sequence of the code
    generator's own computes exactly (abs, floor, ceil, trunc, round, roundeven, sqrt, fma, copysign, bit counts).
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::math::MathDialect", "::mlir::scf::SCFDialect"];
}

def TileToNvvm : Pass<"tile-to-nvvm", "::mlir::ModuleOp"> {
  let summary = "Turn each kernel into a function of the GPU";
  let description = [{
    Every `tile.kernel` becomes a `gpu.module` of its name that holds one `llvm.func`: a pointer into global memory per
    buffer, an i64 per index, `nvvm.kernel` and the block's size as attributes. `index` becomes an integer of the
    schedule's width.

    ```mlir
    tile.kernel @copy … block = [256, 1, 1] body {
    ^bb0(%x: !tile.buffer<f32>, %n: index, %y: !tile.buffer<f32>): …
    // becomes
    gpu.module @copy {
      llvm.func @copy(%x: !llvm.ptr<1>, %n: i64, %y: !llvm.ptr<1>)
          attributes {nvvm.kernel, nvvm.maxntid = array<i32: 256, 1, 1>} …
    ```

    Needs: kernels after `nn-to-tile` and `expand-math`. Leaves: `gpu.module`s of llvm and nvvm ops.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::cf::ControlFlowDialect", "::mlir::func::FuncDialect",
                           "::mlir::gpu::GPUDialect", "::mlir::LLVM::LLVMDialect", "::mlir::NVVM::NVVMDialect"];
}

#endif
