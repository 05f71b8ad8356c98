// The pass that gives a model its meaning.
#ifndef JOULE_ONNX_TO_NN_PASSES_TD
#define JOULE_ONNX_TO_NN_PASSES_TD

include "mlir/Pass/PassBase.td"

def OnnxToNn : Pass<"onnx-to-nn", "::mlir::ModuleOp"> {
  let summary = "Translate an ONNX graph into tensor operations by value";
  let description = [{
    Walks `@main` once, forwards: infers each value's element type and sizes, calculates what the host can, and writes
    the node down as nn operations. Sizes that only a run knows become `nn.symbol`; shape arithmetic becomes `arith` on
    `index`. All nodes that cannot be translated are reported in one run.

    ```mlir
    func.func @main(%x: tensor<?x4xf32> {onnx.name = "x", onnx.dims = ["n", 4]}) -> (none {onnx.name = "y"}) {
      %y = onnx.node "Relu" version 14 (%x) : (tensor<?x4xf32>) -> none
      return %y : none
    }
    // becomes
    func.func @main(%x: tensor<?x4xf32> {nn.name = "x", nn.type = 1, nn.dims = ["n", 4]})
        -> (tensor<?x4xf32> {nn.name = "y", nn.type = 1}) {
      %n = nn.symbol "n"
      %zero = nn.constant dense<0.0> : tensor<f32> -> tensor<f32>
      %zeros = nn.broadcast %zero sizes(%n) dimensions = [] : (tensor<f32>) -> tensor<?x4xf32>
      %y = arith.maximumf %x, %zeros : tensor<?x4xf32>
      return %y : tensor<?x4xf32>
    }
    ```

    Needs: `onnx`, as lib/Import leaves it. Leaves: `nn`.
  }];
  let dependentDialects = ["::joule::nn::NnDialect", "::joule::onnx::OnnxDialect"];
}

#endif
