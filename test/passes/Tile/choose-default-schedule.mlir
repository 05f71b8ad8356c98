// RUN: joule-opt %s --choose-default-schedule | FileCheck %s

// CHECK-LABEL: tile.kernel @lacks_one
// CHECK-SAME:    schedule = <family = "map", threads = 256, thread = [1]>
tile.kernel @lacks_one nodes = ["n"] body {
^bb0(%x: tensor<8xf32>):
  nn.yield %x : tensor<8xf32>
}

// What the user or the tuner wrote stays.
// CHECK-LABEL: tile.kernel @has_one
// CHECK-SAME:    threads = 64
tile.kernel @has_one nodes = ["n"] schedule = <family = "map", threads = 64> body {
^bb0(%x: tensor<8xf32>):
  nn.yield %x : tensor<8xf32>
}

// An op with a kernel of its own decides the family.
// CHECK-LABEL: tile.kernel @special
// CHECK-SAME:    family = "scatter_elements"
tile.kernel @special nodes = ["n"] body {
^bb0(%x: tensor<8xf32>, %i: tensor<3xi64>, %u: tensor<3xf32>):
  %s = nn.scatter_elements add %x, %i, %u axis = 0 : (tensor<8xf32>, tensor<3xi64>, tensor<3xf32>) -> tensor<8xf32>
  nn.yield %s : tensor<8xf32>
}

// CHECK-LABEL: tile.kernel @huge
// CHECK-SAME:    index_bits = 64
tile.kernel @huge nodes = ["n"] body {
^bb0(%x: tensor<65536x65536xi8>):
  nn.yield %x : tensor<65536x65536xi8>
}

// Where there is enough to do, a thread takes what one wide access holds.
// CHECK-LABEL: tile.kernel @wide
// CHECK-SAME:    thread = [8]
tile.kernel @wide nodes = ["n"] body {
^bb0(%x: tensor<4096x4096xf16>):
  %y = arith.negf %x : tensor<4096x4096xf16>
  nn.yield %y : tensor<4096x4096xf16>
}

// Rows that are summed take several threads each.
// CHECK-LABEL: tile.kernel @sums
// CHECK-SAME:    family = "row", threads = 256, block = [1, 256], thread = [8]
tile.kernel @sums nodes = ["n"] body {
^bb0(%x: tensor<4096x4096xf16>):
  %y = nn.reduce sum %x axes = [1] : (tensor<4096x4096xf16>) -> tensor<4096xf16>
  nn.yield %y : tensor<4096xf16>
}

// A product gets tiles.
// CHECK-LABEL: tile.kernel @product
// CHECK-SAME:    family = "contract", threads = {{[0-9]+}}, block = [{{[0-9, ]+}}], thread = [{{[0-9, ]+}}]
tile.kernel @product nodes = ["n"] body {
^bb0(%x: tensor<512x512xf32>, %w: tensor<512x512xf32>):
  %y = nn.contract %x, %w lhs = [0, 2] rhs = [2, 1] out = [0, 1]
      : (tensor<512x512xf32>, tensor<512x512xf32>) -> tensor<512x512xf32>
  nn.yield %y : tensor<512x512xf32>
}

// A vector times a matrix gets threads that share lines.
// CHECK-LABEL: tile.kernel @vector
// CHECK-SAME:    family = "dot"
tile.kernel @vector nodes = ["n"] body {
^bb0(%x: tensor<1x512xf32>, %w: tensor<512x512xf32>):
  %y = nn.contract %x, %w lhs = [0, 2] rhs = [2, 1] out = [0, 1]
      : (tensor<1x512xf32>, tensor<512x512xf32>) -> tensor<1x512xf32>
  nn.yield %y : tensor<1x512xf32>
}
