// From fused groups to kernels.
#ifndef JOULE_NN_TO_TILE_PASSES_TD
#define JOULE_NN_TO_TILE_PASSES_TD

include "mlir/Pass/PassBase.td"

def NnToTile : Pass<"nn-to-tile", "::mlir::ModuleOp"> {
  let summary = "Write each kernel as the work of its threads";
  let description = [{
    Replaces the nn body of every `tile.kernel` by loads, scalar code and stores, as its schedule's family says, and
    writes its grid: how many blocks a launch has, as a function of the kernel's index arguments. Sets `block`.

    ```mlir
    tile.kernel @negate nodes = ["n"] schedule = #tile.schedule<family = "map", threads = 128> body {
    ^bb0(%x: tensor<1000xf32>):
      %y = arith.negf %x : tensor<1000xf32>
      nn.yield %y : tensor<1000xf32>
    }
    // becomes
    tile.kernel @negate nodes = ["n"] schedule = #tile.schedule<family = "map", threads = 128> block = [128, 1, 1] body {
    ^bb0(%x: !tile.buffer<f32>, %y: !tile.buffer<f32>):
      %i = … // block * 128 + thread
      scf.if … {
        %e = tile.load %x[%i] : !tile.buffer<f32>
        %n = arith.negf %e : f32
        tile.store %n, %y[%i] : !tile.buffer<f32>
      }
      tile.return
    } grid {
      %c8 = arith.constant 8 : index
      %c1 = arith.constant 1 : index
      tile.grid %c8, %c1, %c1
    }
    ```

    Needs: `tile.kernel`s with nn bodies and schedules. Leaves: `tile.kernel`s without nn ops.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::gpu::GPUDialect", "::mlir::math::MathDialect",
                           "::mlir::scf::SCFDialect", "::joule::tile::TileDialect"];
}

#endif
