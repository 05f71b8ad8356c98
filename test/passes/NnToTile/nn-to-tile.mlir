// RUN: joule-opt %s --choose-default-schedule --nn-to-tile --cse | FileCheck %s
// RUN: emit-kernels %s sm_80 | FileCheck %s --check-prefix=PTX

// A thread per element, guarded; the grid is known.
// CHECK-LABEL: tile.kernel @negate
// CHECK-SAME:    block = [256, 1, 1]
// CHECK:       ^bb0(%[[X:.*]]: !tile.buffer<f32>, %[[Y:.*]]: !tile.buffer<f32>):
// CHECK:         arith.cmpi ult
// CHECK:         scf.if
// CHECK:         %[[E:.*]] = tile.load %[[X]][%[[AT:.*]]]
// CHECK:         %[[N:.*]] = arith.negf %[[E]] : f32
// CHECK:         tile.store %[[N]], %[[Y]][%[[AT]]]
// CHECK:       grid {
// CHECK:         tile.grid %c4
// PTX-LABEL: .visible .entry negate(
// PTX-NOT:     call
tile.kernel @negate nodes = ["n"] body {
^bb0(%x: tensor<1000xf32>):
  %y = arith.negf %x : tensor<1000xf32>
  nn.yield %y : tensor<1000xf32>
}

// Elements of a tensor seen through a reshape and back are at the same position: no division remains.
// CHECK-LABEL: tile.kernel @reshapes
// CHECK-NOT:     arith.divui
tile.kernel @reshapes nodes = ["n"] input_sizes = [1] body {
^bb0(%x: tensor<?xf32>, %n: index, %m: index):
  %r = nn.reshape %x sizes(%m) : (tensor<?xf32>) -> tensor<4x?xf32>
  %a = math.absf %r : tensor<4x?xf32>
  %y = nn.reshape %a sizes(%n) : (tensor<4x?xf32>) -> tensor<?xf32>
  nn.yield %y : tensor<?xf32>
}

// Narrow floats are computed in f32 and rounded.
// CHECK-LABEL: tile.kernel @narrow
// CHECK:         arith.extf
// CHECK:         arith.addf {{.*}} : f32
// CHECK:         arith.truncf
tile.kernel @narrow nodes = ["n"] body {
^bb0(%x: tensor<8xbf16>, %y: tensor<8xbf16>):
  %z = arith.addf %x, %y : tensor<8xbf16>
  nn.yield %z : tensor<8xbf16>
}

// A row's maximum and sum stand in front of the loop over that row, not in it.
// CHECK-LABEL: tile.kernel @softmax_inside
// CHECK-COUNT-3: scf.for
// CHECK-NOT:     scf.for
tile.kernel @softmax_inside nodes = ["n"] schedule = <family = "map", threads = 256> body {
^bb0(%x: tensor<8x64xf32>):
  %s = nn.softmax %x axis = 1 : (tensor<8x64xf32>) -> tensor<8x64xf32>
  %m = nn.reduce max %s axes = [1] : (tensor<8x64xf32>) -> tensor<8xf32>
  nn.yield %m : tensor<8xf32>
}

// A chain of diamonds stays linear.
// CHECK-LABEL: tile.kernel @diamonds
// CHECK-COUNT-4: arith.addf
// CHECK-NOT:     arith.addf
tile.kernel @diamonds nodes = ["n"] body {
^bb0(%x: tensor<8xf32>):
  %a = arith.addf %x, %x : tensor<8xf32>
  %b = arith.addf %a, %a : tensor<8xf32>
  %c = arith.addf %b, %b : tensor<8xf32>
  %d = arith.addf %c, %c : tensor<8xf32>
  nn.yield %d : tensor<8xf32>
}

// Where sizes are dynamic, the grid computes them from the kernel's index arguments.
// CHECK-LABEL: tile.kernel @dynamic
// CHECK:       grid {
// CHECK-NEXT:  ^bb0(%[[N:.*]]: index):
// CHECK:         arith.muli {{.*}}%[[N]]
// CHECK:         arith.ceildivui
tile.kernel @dynamic nodes = ["n"] input_sizes = [1] body {
^bb0(%x: tensor<?x3xf32>, %n: index):
  %t = nn.transpose %x permutation = [1, 0] : (tensor<?x3xf32>) -> tensor<3x?xf32>
  nn.yield %t : tensor<3x?xf32>
}
