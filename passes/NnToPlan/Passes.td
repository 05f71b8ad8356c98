// From values to buffers: the host program.
#ifndef JOULE_PASSES_NNTOPLAN_TD
#define JOULE_PASSES_NNTOPLAN_TD

include "mlir/Pass/PassBase.td"

def NnToPlan : Pass<"nn-to-plan", "::mlir::ModuleOp"> {
  let summary = "Turn the main function into the host's program";
  let description = [{
    Rewrites `@main` in one forward walk: a tensor becomes a buffer, a call of a kernel becomes allocations and a
    launch whose grid is the kernel's `grid` region, a reshape becomes the same buffer, a scalar that the host needs is
    read back, host integers that the device needs are written, and results are named by `plan.output`.

    ```mlir
    %y = plan.call @relu(%x) flops(%f) : (tensor<8xf32>) -> tensor<8xf32>
    // becomes
    %y = plan.alloc %c32
    plan.launch @relu grid(%c1, %c1, %c1) (%x, %y) results = 1 cost(…) : …
    ```

    Needs: `nn` after `nn-outline-kernels`, kernels after `nn-to-tile`. Leaves: `plan`.
  }];
  let dependentDialects = ["::joule::plan::PlanDialect", "::mlir::arith::ArithDialect", "::mlir::scf::SCFDialect"];
}

#endif
