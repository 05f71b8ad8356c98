// Every op of the tile level is read, written and read again without a change.
// RUN: joule-opt %s > %t.1 && joule-opt %t.1 > %t.2 && diff %t.1 %t.2
// RUN: joule-opt %s --mlir-print-op-generic | joule-opt | diff %t.1 -
// RUN: FileCheck %s < %t.1

// A kernel as outlining makes it: an nn body, sizes as further arguments.
// CHECK-LABEL: tile.kernel @outlined
// CHECK-SAME:    nodes = ["relu_0", "add_1"]
// CHECK-SAME:    schedule = <family = "map", threads = 256, block = [1024], thread = [4]>
// CHECK-SAME:    input_sizes = [1]
// CHECK:         nn.yield %{{.*}} : tensor<?x64xf32>
tile.kernel @outlined nodes = ["relu_0", "add_1"]
    schedule = #tile.schedule<family = "map", threads = 256, block = [1024], thread = [4]> input_sizes = [1] body {
^bb0(%x: tensor<?x64xf32>, %n: index):
  %y = arith.addf %x, %x : tensor<?x64xf32>
  nn.yield %y : tensor<?x64xf32>
}

// The same kind of kernel as threads' work, with its grid for the host.
// CHECK-LABEL: tile.kernel @copy
// CHECK-SAME:    nodes = ["n"] block = [256, 1, 1] body
// CHECK:         %[[V:.*]] = tile.load %{{.*}}[%[[I:.*]]] : <f32>
// CHECK:         tile.store %[[V]], %{{.*}}[%[[I]]] : <f32>
// CHECK:         tile.return
// CHECK:       grid {
// CHECK:         tile.grid %{{.*}}, %{{.*}}, %{{.*}}
tile.kernel @copy nodes = ["n"] block = [256, 1, 1] body {
^bb0(%x: !tile.buffer<f32>, %n: index, %y: !tile.buffer<f32>):
  %i = gpu.global_id x
  %v = tile.load %x[%i] : !tile.buffer<f32>
  tile.store %v, %y[%i] : !tile.buffer<f32>
  tile.return
} grid {
^bb0(%n: index):
  %c1 = arith.constant 1 : index
  %c256 = arith.constant 256 : index
  %b = arith.ceildivui %n, %c256 : index
  tile.grid %b, %c1, %c1
}

// CHECK-LABEL: tile.kernel @shares
// CHECK:         tile.alloc 64 : <f16, shared>
tile.kernel @shares nodes = [] block = [64, 1, 1] body {
^bb0(%x: !tile.buffer<f16>):
  %s = tile.alloc 64 : !tile.buffer<f16, shared>
  %i = gpu.thread_id x
  %v = tile.load %x[%i] : !tile.buffer<f16>
  tile.store %v, %s[%i] : !tile.buffer<f16, shared>
  tile.return
}

// CHECK-LABEL: tile.kernel @tiles
// CHECK:         %[[V:.*]]:2 = tile.load_tile %[[S:.*]][%[[I:.*]], %[[J:.*]]] layout = <bits = [2, 3], bases = [12, 16, 1, 2, 4]> : <f32, shared> -> f32, f32
// CHECK:         tile.store_tile %[[V]]#0, %[[V]]#1 to %[[S]][%[[J]], %[[I]]] layout = <bits = [2, 3], bases = [8, 16, 1, 2, 4]> : <f32, shared>, f32, f32
tile.kernel @tiles nodes = [] block = [4, 1, 1] body {
^bb0:
  %s = tile.alloc 32 : !tile.buffer<f32, shared>
  %i = gpu.thread_id x
  %j = arith.constant 2 : index
  %v:2 = tile.load_tile %s[%i, %j] layout = <bits = [2, 3], bases = [12, 16, 1, 2, 4]> : !tile.buffer<f32, shared> -> f32, f32
  tile.store_tile %v#0, %v#1 to %s[%j, %i] layout = <bits = [2, 3], bases = [8, 16, 1, 2, 4]> : !tile.buffer<f32, shared>, f32, f32
  tile.return
}
