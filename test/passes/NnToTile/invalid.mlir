// RUN: joule-opt %s --nn-to-tile --split-input-file --verify-diagnostics

// expected-error @below {{'tile.kernel' op has no schedule}}
tile.kernel @no_schedule nodes = ["n"] body {
^bb0(%x: tensor<8xf32>):
  nn.yield %x : tensor<8xf32>
}

// -----

// expected-error @below {{'tile.kernel' op has a schedule of the unknown family 'weave'}}
tile.kernel @unknown_family nodes = ["n"] schedule = <family = "weave", threads = 32> body {
^bb0(%x: tensor<8xf32>):
  nn.yield %x : tensor<8xf32>
}

// -----

tile.kernel @special_inside nodes = ["n"] schedule = <family = "map", threads = 32> body {
^bb0(%x: tensor<8xf32>, %i: tensor<3xi64>, %u: tensor<3xf32>):
  // expected-error @below {{'nn.scatter_elements' op cannot stand inside a kernel of this family}}
  %s = nn.scatter_elements add %x, %i, %u axis = 0 : (tensor<8xf32>, tensor<3xi64>, tensor<3xf32>) -> tensor<8xf32>
  nn.yield %s : tensor<8xf32>
}
