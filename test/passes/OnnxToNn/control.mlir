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
