// Passes on kernels: their schedules.
#ifndef JOULE_TILE_PASSES_TD
#define JOULE_TILE_PASSES_TD

include "mlir/Pass/PassBase.td"

def ChooseDefaultSchedule : Pass<"choose-default-schedule", "::mlir::ModuleOp"> {
  let summary = "Give every kernel a schedule it lacks";
  let description = [{
    Sets `schedule` on each kernel that has none. A schedule that the user or the tuner wrote is left alone. An op with
    a kernel of its own decides the family. Contractions and convolutions are `contract`, in the tiles that a count of
    instructions finds best for a GPU of so many multiprocessors, or `dot` where they have few rows or columns.
    Reductions, softmax and normalisation are `row`, with the threads that a row of that length keeps busy. Everything
    else is `map`. Index arithmetic takes 64 bits where a static tensor has 2^31 elements or more.

    ```mlir
    tile.kernel @negate nodes = ["n"] body { …
    // becomes
    tile.kernel @negate nodes = ["n"] schedule = #tile.schedule<family = "map", threads = 256, thread = [1]> body { …
    ```

    Needs: `tile.kernel`s with nn bodies. Leaves: the same, each with a schedule.
  }];
  let dependentDialects = ["::joule::tile::TileDialect"];
  let options = [Option<"multiprocessors", "multiprocessors", "int64_t", /*default=*/"108",
                        "Multiprocessors of the GPU, which a kernel's blocks are to keep busy">];
}

#endif
