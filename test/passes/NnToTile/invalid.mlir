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

// -----

// expected-error @below {{'tile.kernel' op has a schedule for a matrix product but holds none that its results follow element by element}}
tile.kernel @no_product nodes = ["n"] schedule = <family = "contract", threads = 64, block = [64, 64, 16], thread = [8, 8]> body {
^bb0(%x: tensor<8xf32>):
  nn.yield %x : tensor<8xf32>
}

// -----

// expected-error @below {{'tile.kernel' op has a schedule whose numbers are not all powers of two}}
tile.kernel @odd_tiles nodes = ["n"] schedule = <family = "contract", threads = 64, block = [48, 64, 16], thread = [8, 8]> body {
^bb0(%x: tensor<8x8xf32>):
  %y = nn.contract %x, %x lhs = [0, 2] rhs = [2, 1] out = [0, 1] : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  nn.yield %y : tensor<8x8xf32>
}

// -----

// expected-error @below {{'tile.kernel' op has a schedule for rows but holds no reduction that its results follow element by element}}
tile.kernel @reduction_broadcast nodes = ["n"] schedule = <family = "row", threads = 64, block = [2, 32], thread = [1]> body {
^bb0(%x: tensor<8x8xf32>):
  %s = nn.reduce sum %x axes = [1] : (tensor<8x8xf32>) -> tensor<8xf32>
  %y = nn.broadcast %s dimensions = [0] : (tensor<8xf32>) -> tensor<8x8xf32>
  nn.yield %y : tensor<8x8xf32>
}

// -----

// expected-error @below {{'tile.kernel' op has a schedule whose block is not rows and the threads that share one}}
tile.kernel @rows_of_other_threads nodes = ["n"] schedule = <family = "row", threads = 64, block = [2, 16], thread = [1]> body {
^bb0(%x: tensor<8x8xf32>):
  %s = nn.reduce sum %x axes = [1] : (tensor<8x8xf32>) -> tensor<8xf32>
  nn.yield %s : tensor<8xf32>
}

// -----

// expected-error @below {{'tile.kernel' op has a schedule for a matrix product of few rows or columns but holds none}}
tile.kernel @many_lines nodes = ["n"] schedule = <family = "dot", threads = 64, block = [2, 32], thread = [1, 1]> body {
^bb0(%x: tensor<80x80xf32>):
  %y = nn.contract %x, %x lhs = [0, 2] rhs = [2, 1] out = [0, 1] : (tensor<80x80xf32>, tensor<80x80xf32>) -> tensor<80x80xf32>
  nn.yield %y : tensor<80x80xf32>
}

// -----

// expected-error @below {{'tile.kernel' op has a schedule for nn.top_k but yields something else}}
tile.kernel @behind_own_kernel nodes = ["n"] schedule = <family = "top_k", threads = 256> body {
^bb0(%x: tensor<8xf32>):
  %v, %i = nn.top_k %x axis = 0 : (tensor<8xf32>) -> (tensor<5xf32>, tensor<5xi64>)
  %y = arith.negf %v : tensor<5xf32>
  nn.yield %y : tensor<5xf32>
}

// -----

// expected-error @below {{'tile.kernel' op has a schedule for a recurrent cell but yields something else}}
tile.kernel @no_cell nodes = ["n"] schedule = <family = "gru", threads = 32> body {
^bb0(%x: tensor<8xf32>):
  nn.yield %x : tensor<8xf32>
}
