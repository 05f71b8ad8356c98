// RUN: joule-opt %s --onnx-to-nn --split-input-file --verify-diagnostics

// What is no fault of the model is an error when compiling, in a branch too.
func.func @main(%c: tensor<i1> {onnx.name = "c", onnx.dims = []},
                %x: tensor<4xf32> {onnx.name = "x", onnx.dims = [4]}) -> (none {onnx.name = "y"}) {
  %y = onnx.node "If" version 16 (%c) graphs ["then_branch", "else_branch"] ({
    // expected-error @below {{operator Unheard (version 1) is not supported}}
    %t = onnx.node "Unheard" version 1 (%x) : (tensor<4xf32>) -> none
    onnx.return %t : none
  }, {
    %e = onnx.node "Relu" version 14 (%x) : (tensor<4xf32>) -> none
    onnx.return %e : none
  }) : (tensor<i1>) -> none
  return %y : none
}

// -----

// A node that contradicts itself in both branches does so whatever the run decides.
func.func @main(%c: tensor<i1> {onnx.name = "c", onnx.dims = []},
                %x: tensor<4xf32> {onnx.name = "x", onnx.dims = [4]}) -> (none {onnx.name = "y"}) {
  %one = onnx.constant dense<1> : tensor<1xi64> -> tensor<1xi64>
  %y = onnx.node "If" version 16 (%c) graphs ["then_branch", "else_branch"] ({
    // expected-error @below {{Squeeze has axis 1 on a tensor of rank 1}}
    %t = onnx.node "Squeeze" version 13 (%x, %one) : (tensor<4xf32>, tensor<1xi64>) -> none
    onnx.return %t : none
  }, {
    %e = onnx.node "Flatten" version 13 (%x) {axis = 5 : i64} : (tensor<4xf32>) -> none
    onnx.return %e : none
  }) : (tensor<i1>) -> none
  return %y : none
}

// -----

// An output has one rank.
// expected-error @below {{is of rank 1 or 2, as a run decides, which is not supported}}
func.func @main(%c: tensor<i1> {onnx.name = "c", onnx.dims = []},
                %x: tensor<4xf32> {onnx.name = "x", onnx.dims = [4]}) -> (none {onnx.name = "y"}) {
  %one = onnx.constant dense<1> : tensor<1xi64> -> tensor<1xi64>
  %y = onnx.node "If" version 16 (%c) graphs ["then_branch", "else_branch"] ({
    %t = onnx.node "Relu" version 14 (%x) : (tensor<4xf32>) -> none
    onnx.return %t : none
  }, {
    %e = onnx.node "Unsqueeze" version 13 (%x, %one) : (tensor<4xf32>, tensor<1xi64>) -> none
    onnx.return %e : none
  }) : (tensor<i1>) -> none
  return %y : none
}
