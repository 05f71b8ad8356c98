// RUN: joule-opt %s --onnx-to-nn --split-input-file | FileCheck %s

// Operands are brought to one shape by explicit broadcasts; a size has a symbol.
// CHECK-LABEL: func @main
// CHECK-SAME:    %[[X:.*]]: tensor<?x4xf32> {nn.dims = ["n", 4], nn.name = "x", nn.type = 1 : i64}
// CHECK-SAME:    %[[B:.*]]: tensor<4xf32>
// CHECK:         %[[N:.*]] = nn.symbol "n"
// CHECK:         %[[WIDE:.*]] = nn.broadcast %[[B]] sizes(%[[N]]) dimensions = [1]
// CHECK:         arith.addf %[[X]], %[[WIDE]] : tensor<?x4xf32>
func.func @main(%x: tensor<?x4xf32> {onnx.name = "x", onnx.dims = ["n", 4]},
                %b: tensor<4xf32> {onnx.name = "b", onnx.dims = [4]}) -> (none {onnx.name = "y"}) {
  %y = onnx.node "Add" version 14 (%x, %b) : (tensor<?x4xf32>, tensor<4xf32>) -> none
  return %y : none
}

// -----

// Shape arithmetic leaves nothing behind but the size that it finds.
// CHECK-LABEL: func @main
// CHECK:         %[[N:.*]] = nn.symbol "n"
// CHECK-NOT:     arith
// CHECK:         nn.reshape %{{.*}} sizes(%[[N]]) : (tensor<?x2x3xf32>) -> tensor<?x6xf32>
func.func @main(%x: tensor<?x2x3xf32> {onnx.name = "x", onnx.dims = ["n", 2, 3]}) -> (none {onnx.name = "y"}) {
  %zero = onnx.constant dense<0> : tensor<i64> -> tensor<i64>
  %rest = onnx.constant dense<-1> : tensor<1xi64> -> tensor<1xi64>
  %axes = onnx.constant dense<0> : tensor<1xi64> -> tensor<1xi64>
  %shape = onnx.node "Shape" version 15 (%x) : (tensor<?x2x3xf32>) -> none
  %n = onnx.node "Gather" version 13 (%shape, %zero) {axis = 0 : i64} : (none, tensor<i64>) -> none
  %n1 = onnx.node "Unsqueeze" version 13 (%n, %axes) : (none, tensor<1xi64>) -> none
  %target = onnx.node "Concat" version 13 (%n1, %rest) {axis = 0 : i64} : (none, tensor<1xi64>) -> none
  %y = onnx.node "Reshape" version 14 (%x, %target) : (tensor<?x2x3xf32>, none) -> none
  return %y : none
}

// -----

// A matrix product names its sum; weights stay where they are.
// CHECK-LABEL: func @main
// CHECK:         %[[W:.*]] = nn.constant #nn.weight<"m.onnx", 64, 2048> -> tensor<16x32xf32>
// CHECK:         nn.contract %{{.*}}, %[[W]] lhs = [0, 1, 3] rhs = [3, 2] out = [0, 1, 2]
func.func @main(%x: tensor<2x8x16xf32> {onnx.name = "x", onnx.dims = [2, 8, 16]}) -> (none {onnx.name = "y"}) {
  %w = onnx.constant #onnx.weight<"m.onnx", 64, 2048> -> tensor<16x32xf32>
  %y = onnx.node "MatMul" version 13 (%x, %w) : (tensor<2x8x16xf32>, tensor<16x32xf32>) -> none
  return %y : none
}
