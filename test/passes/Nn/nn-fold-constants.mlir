// RUN: joule-opt %s --nn-fold-constants="max-growth=16" --canonicalize | FileCheck %s

// CHECK-LABEL: func @chain
// CHECK-NEXT:    nn.constant dense<[-3.000000e+00, -4.000000e+00]>
// CHECK-NEXT:    return
func.func @chain() -> tensor<2xf32> {
  %a = nn.constant dense<[1.0, 2.0]> : tensor<2xf32> -> tensor<2xf32>
  %b = nn.constant dense<2.0> : tensor<f32> -> tensor<f32>
  %c = nn.broadcast %b dimensions = [] : (tensor<f32>) -> tensor<2xf32>
  %s = arith.addf %a, %c : tensor<2xf32>
  %n = arith.negf %s : tensor<2xf32>
  return %n : tensor<2xf32>
}

// Repeating a constant costs nothing in a kernel; its copies would cost memory.
// CHECK-LABEL: func @repeated
// CHECK:         nn.broadcast
func.func @repeated() -> tensor<8x8xf32> {
  %b = nn.constant dense<2.0> : tensor<f32> -> tensor<f32>
  %c = nn.broadcast %b dimensions = [] : (tensor<f32>) -> tensor<8x8xf32>
  return %c : tensor<8x8xf32>
}

// CHECK-LABEL: func @not_constant
// CHECK:         arith.addf
func.func @not_constant(%x: tensor<2xf32>) -> tensor<2xf32> {
  %a = nn.constant dense<[1.0, 2.0]> : tensor<2xf32> -> tensor<2xf32>
  %s = arith.addf %a, %x : tensor<2xf32>
  return %s : tensor<2xf32>
}
