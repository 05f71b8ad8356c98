// RUN: joule-opt %s --nn-outline-kernels | FileCheck %s

// Equal groups share a kernel, whatever their nodes are called.
// CHECK-LABEL: func @shares
// CHECK:         plan.call @[[K:k0_negf]]
// CHECK:         plan.call @[[K]]
// CHECK:         plan.call @k1_absf
// CHECK:       tile.kernel @[[K]]
// CHECK:         arith.negf
// CHECK:       tile.kernel @k1_absf
func.func @shares(%x: tensor<8xf32>) -> tensor<8xf32> {
  %a = nn.fused (%x : tensor<8xf32>) -> (tensor<8xf32>) {
  ^bb0(%0: tensor<8xf32>):
    %1 = arith.negf %0 : tensor<8xf32>
    nn.yield %1 : tensor<8xf32>
  }
  %b = nn.fused (%a : tensor<8xf32>) -> (tensor<8xf32>) {
  ^bb0(%0: tensor<8xf32>):
    %1 = arith.negf %0 : tensor<8xf32>
    nn.yield %1 : tensor<8xf32>
  }
  %c = nn.fused (%b : tensor<8xf32>) -> (tensor<8xf32>) {
  ^bb0(%0: tensor<8xf32>):
    %1 = math.absf %0 : tensor<8xf32>
    nn.yield %1 : tensor<8xf32>
  }
  return %c : tensor<8xf32>
}
