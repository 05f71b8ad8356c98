// RUN: joule-opt %s --onnx-to-nn --split-input-file --verify-diagnostics | FileCheck %s

// Nodes that a model should not have, and inputs that they should: one clear error each.

func.func @main(%x: tensor<2x2xf32> {onnx.name = "x", onnx.dims = [2, 2]}) -> (none {onnx.name = "y"}) {
  // expected-error @below {{ArgMax has keepdims = 7, which is neither 0 nor 1}}
  %y = onnx.node "ArgMax" version 13 (%x) {keepdims = 7 : i64} : (tensor<2x2xf32>) -> none
  return %y : none
}

// -----

func.func @main(%x: tensor<4xf32> {onnx.name = "x", onnx.dims = [4]}) -> (none {onnx.name = "y"}) {
  // expected-error @below {{TopK has 1 inputs where it takes 2 to 2}}
  %y, %i = onnx.node "TopK" version 11 (%x) : (tensor<4xf32>) -> (none, none)
  return %y : none
}

// -----

func.func @main(%x: tensor<4xf32> {onnx.name = "x", onnx.dims = [4]}) -> (none {onnx.name = "y"}) {
  %no = onnx.absent
  // expected-error @below {{Min lacks input 1}}
  %y = onnx.node "Min" version 13 (%x, %no) : (tensor<4xf32>, !onnx.absent) -> none
  return %y : none
}

// -----

// What folds on the host is checked, too.
func.func @main(%x: tensor<4xf32> {onnx.name = "x", onnx.dims = [4]}) -> (none {onnx.name = "y"}) {
  %no = onnx.absent
  %i = onnx.constant dense<0> : tensor<1xi64> -> tensor<1xi64>
  // expected-error @below {{Gather lacks input 0}}
  %y = onnx.node "Gather" version 13 (%no, %i) : (!onnx.absent, tensor<1xi64>) -> none
  return %y : none
}

// -----

func.func @main(%x: tensor<2xf32> {onnx.name = "x", onnx.dims = [2]},
                %c: tensor<5xi1> {onnx.name = "c", onnx.dims = [5]}) -> (none {onnx.name = "y"}) {
  // expected-error @below {{Compress has more conditions than slices}}
  %y = onnx.node "Compress" version 11 (%x, %c) : (tensor<2xf32>, tensor<5xi1>) -> none
  return %y : none
}

// -----

func.func @main(%x: tensor<1x1x1x5xf32> {onnx.name = "x", onnx.dims = [1, 1, 1, 5]}) -> (none {onnx.name = "y"}) {
  // expected-error @below {{AveragePool has a window of 2 elements over a dimension of 1}}
  %y = onnx.node "AveragePool" version 19 (%x) {kernel_shape = array<i64: 2, 2>, strides = array<i64: 2, 2>} : (tensor<1x1x1x5xf32>) -> none
  return %y : none
}

// -----

func.func @main(%x: tensor<1x1x2x2xf32> {onnx.name = "x", onnx.dims = [1, 1, 2, 2]}, %n: tensor<i64> {onnx.name = "n", onnx.dims = []}) -> (none {onnx.name = "y"}) {
  %no = onnx.absent
  // expected-error @below {{Resize has 1 sizes for 4 axes}}
  %y = onnx.node "Resize" version 19 (%x, %no, %no, %n) : (tensor<1x1x2x2xf32>, !onnx.absent, !onnx.absent, tensor<i64>) -> none
  return %y : none
}

// -----

// A threshold that is a fraction stays one among integers.
// CHECK-LABEL: func @main
// CHECK:         nn.cast %{{.*}} : (tensor<5xi8>) -> tensor<5xf64>
// CHECK:         arith.cmpf
func.func @main(%x: tensor<5xui8> {onnx.name = "x", onnx.dims = [5]}) -> (none {onnx.name = "y"}) {
  %y = onnx.node "Shrink" version 9 (%x) {lambd = 1.5 : f32} : (tensor<5xui8>) -> none
  return %y : none
}

// -----

// A parameter whose length a run decides is one for all, or one for each.
// CHECK-LABEL: func @main
// CHECK:         nn.assert %{{.*}}, "MatMulInteger has parameters for sizes that differ"
func.func @main(%a: tensor<4x3xui8> {onnx.name = "a", onnx.dims = [4, 3]}, %b: tensor<3x2xui8> {onnx.name = "b", onnx.dims = [3, 2]},
                %z: tensor<?xui8> {onnx.name = "z", onnx.dims = ["n"]}) -> (none {onnx.name = "y"}) {
  %y = onnx.node "MatMulInteger" version 10 (%a, %b, %z) : (tensor<4x3xui8>, tensor<3x2xui8>, tensor<?xui8>) -> none
  return %y : none
}
