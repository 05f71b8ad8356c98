// The passes that turn nn into better nn, and group it into future kernels.
#ifndef JOULE_PASSES_NN_TD
#define JOULE_PASSES_NN_TD

include "mlir/Pass/PassBase.td"

def VerifyNn : Pass<"verify-nn", "::mlir::ModuleOp"> {
  let summary = "Check what every pass on nn relies on";
  let description = [{
    The contract of the level, checked after onnx-to-nn and after every pass that rewrites it; the list stands at the
    top of VerifyNn.cpp. A violation is an internal error that names the ONNX node.

    ```mlir
    %y = onnx.node "Relu" version 14 (%x) : …
    // error: internal: onnx.node is left at the nn level
    ```

    Needs: `nn`. Leaves: `nn`.
  }];
}

def CanonicalizeNn : Pass<"canonicalize-nn", "::mlir::ModuleOp"> {
  let summary = "Canonicalize without losing the sizes of tensors";
  let description = [{
    Upstream's `canonicalize`, but where that would fold an op to a constant of a type with dynamic sizes, which no one
    could find any more, a scalar is repeated to the sizes that the op's result had.

    ```mlir
    %y = arith.subi %x, %x : tensor<?xi32>
    // becomes
    %zero = nn.constant dense<0> : tensor<i32> -> tensor<i32>
    %y = nn.broadcast %zero sizes(%n) dimensions = [] : (tensor<i32>) -> tensor<?xi32>
    ```

    Needs: `nn`. Leaves: `nn`.
  }];
  let dependentDialects = ["::joule::nn::NnDialect"];
}

def FoldConstants : Pass<"nn-fold-constants", "::mlir::func::FuncOp"> {
  let summary = "Compute what depends on constants alone";
  let description = [{
    Evaluates tensor ops whose operands are all constants with the reference kernels. Small results become elements, others
    a blob of the compiler's weight store. A result more than twice as large as its operands is left alone, if it is
    not small: repeating a value costs nothing inside a kernel, but its copies cost memory.

    ```mlir
    %c = nn.constant dense<[1.0, 2.0]> : tensor<2xf32> -> tensor<2xf32>
    %y = arith.negf %c : tensor<2xf32>
    // becomes
    %y = nn.constant dense<[-1.0, -2.0]> : tensor<2xf32> -> tensor<2xf32>
    ```

    Needs: `nn`. Leaves: `nn`.
  }];
  let options = [Option<"maxGrowth", "max-growth", "uint64_t", /*default=*/"65536",
                        "Bytes up to which a result may be larger than its operands">];
}

def FuseGroups : Pass<"nn-fuse-groups", "::mlir::func::FuncOp"> {
  let summary = "Group the ops that will share a kernel";
  let description = [{
    Wraps every op that computes on the device in an `nn.fused`. A contraction, convolution, window or reduction is the
    root of a group and takes the pointwise ops that follow it as long as nothing else reads the value between. A
    pointwise op that one group alone reads joins it. Broadcasts, reshapes, transposes, slices, casts and small
    constants cost nothing inside a kernel, so each group that reads one gets its own.

    ```mlir
    %y = nn.contract %x, %w …
    %z = arith.maximumf %y, %zero
    // becomes
    %z = nn.fused (%x, %w : …) -> (…) {
      %y = nn.contract …
      %z = arith.maximumf …
      nn.yield %z
    }
    ```

    Needs: `nn`. Leaves: `nn` in which tensor ops stand only inside `nn.fused`, apart from constants, reshapes that
    alias a value, and ops that the host answers.
  }];
  let dependentDialects = ["::joule::nn::NnDialect"];
}

def OutlineKernels : Pass<"nn-outline-kernels", "::mlir::ModuleOp"> {
  let summary = "Give each group a kernel, equal groups the same one";
  let description = [{
    Moves the body of each `nn.fused` into a `tile.kernel` and calls it. Groups with equal bodies share a kernel.

    ```mlir
    %z = nn.fused (%x : …) -> (…) { … }
    // becomes
    %z = plan.call @k0_add(%x) : …
    ```

    Needs: `nn` after `nn-fuse-groups`. Leaves: `nn` in which tensor ops stand only inside `tile.kernel`.
  }];
  let dependentDialects = ["::joule::tile::TileDialect", "::joule::plan::PlanDialect"];
}

#endif
