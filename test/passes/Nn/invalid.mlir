// RUN: joule-opt %s --nn-fuse-groups --split-input-file --verify-diagnostics

// What the contract of nn forbids is an error of this pass, too, which may be run alone.
func.func @sizes_that_nothing_tells(%x: tensor<?xf32>) -> tensor<?xf32> {
  // expected-error @below {{internal: nothing tells the sizes of a result of arith.negf}}
  %y = arith.negf %x : tensor<?xf32>
  return %y : tensor<?xf32>
}

// -----

func.func @sizes_that_nobody_can_count(%x: tensor<f32>) -> tensor<4611686018427387904x4xf32> {
  // expected-error @below {{internal: nn.broadcast makes a 'tensor<4611686018427387904x4xf32>', too large to count}}
  %y = nn.broadcast %x dimensions = [] : (tensor<f32>) -> tensor<4611686018427387904x4xf32>
  return %y : tensor<4611686018427387904x4xf32>
}
