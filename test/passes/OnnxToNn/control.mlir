// RUN: joule-opt %s --onnx-to-nn --verify-nn --split-input-file | FileCheck %s

// A branch that a run decides: sizes on which the branches differ are handed on beside the tensor.
// CHECK-LABEL: func @main
// CHECK:         %[[C:.*]] = tensor.extract
// CHECK:         %[[IF:.*]]:2 = scf.if %{{.*}} -> (tensor<?xf32>, index)
// CHECK:           nn.concat
// CHECK:         nn.reshape %[[IF]]#0 sizes(%[[IF]]#1) : (tensor<?xf32>) -> tensor<?xf32>
func.func @main(%c: tensor<i1> {onnx.name = "c", onnx.dims = []},
                %x: tensor<4xf32> {onnx.name = "x", onnx.dims = [4]}) -> (none {onnx.name = "y"}) {
  %y = onnx.node "If" version 16 (%c) graphs ["then_branch", "else_branch"] ({
    %t = onnx.node "Relu" version 14 (%x) : (tensor<4xf32>) -> none
    onnx.return %t : none
  }, {
    %e = onnx.node "Concat" version 13 (%x, %x) {axis = 0 : i64} : (tensor<4xf32>, tensor<4xf32>) -> none
    onnx.return %e : none
  }) : (tensor<i1>) -> none
  return %y : none
}

// -----

// A branch that is decided already is all that is left.
// CHECK-LABEL: func @main
// CHECK-NOT:     scf.if
// CHECK:         arith.maximumf
func.func @main(%x: tensor<4xf32> {onnx.name = "x", onnx.dims = [4]}) -> (none {onnx.name = "y"}) {
  %c = onnx.constant dense<true> : tensor<i1> -> tensor<i1>
  %y = onnx.node "If" version 16 (%c) graphs ["then_branch", "else_branch"] ({
    %t = onnx.node "Relu" version 14 (%x) : (tensor<4xf32>) -> none
    onnx.return %t : none
  }, {
    %e = onnx.node "Concat" version 13 (%x, %x) {axis = 0 : i64} : (tensor<4xf32>, tensor<4xf32>) -> none
    onnx.return %e : none
  }) : (tensor<i1>) -> none
  return %y : none
}

// -----

// What follows branches of unequal ranks is repeated in them, until it has one rank; then the walk goes on outside.
// CHECK-LABEL: func @main
// CHECK:         scf.if %{{.*}} -> (tensor<f32>)
// CHECK:           math.exp %{{.*}} : tensor<4xf32>
// CHECK:         } else {
// CHECK:           math.exp %{{.*}} : tensor<1x4xf32>
// CHECK:         }
// CHECK:         arith.maximumf
func.func @main(%c: tensor<i1> {onnx.name = "c", onnx.dims = []},
                %x: tensor<4xf32> {onnx.name = "x", onnx.dims = [4]}) -> (none {onnx.name = "y"}) {
  %zero = onnx.constant dense<0> : tensor<1xi64> -> tensor<1xi64>
  %y = onnx.node "If" version 16 (%c) graphs ["then_branch", "else_branch"] ({
    onnx.return %x : tensor<4xf32>
  }, {
    %e = onnx.node "Unsqueeze" version 13 (%x, %zero) : (tensor<4xf32>, tensor<1xi64>) -> none
    onnx.return %e : none
  }) : (tensor<i1>) -> none
  %exp = onnx.node "Exp" version 13 (%y) : (none) -> none
  %sum = onnx.node "ReduceMax" version 13 (%exp) {keepdims = 0 : i64} : (none) -> none
  %relu = onnx.node "Relu" version 14 (%sum) : (none) -> none
  return %relu : none
}

// -----

// A branch that contradicts itself ends the run that takes it.
// CHECK-LABEL: func @main
// CHECK:         scf.if
// CHECK:           %[[NEVER:.*]] = arith.constant false
// CHECK:           nn.assert %[[NEVER]], "Squeeze has axis 1 on a tensor of rank 1"
// CHECK:         } else {
func.func @main(%c: tensor<i1> {onnx.name = "c", onnx.dims = []},
                %x: tensor<4xf32> {onnx.name = "x", onnx.dims = [4]}) -> (none {onnx.name = "y"}) {
  %one = onnx.constant dense<1> : tensor<1xi64> -> tensor<1xi64>
  %y = onnx.node "If" version 16 (%c) graphs ["then_branch", "else_branch"] ({
    %t = onnx.node "Squeeze" version 13 (%x, %one) : (tensor<4xf32>, tensor<1xi64>) -> none
    onnx.return %t : none
  }, {
    %e = onnx.node "Relu" version 14 (%x) : (tensor<4xf32>) -> none
    onnx.return %e : none
  }) : (tensor<i1>) -> none
  return %y : none
}
