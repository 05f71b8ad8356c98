// RUN: joule-opt %s --tile-to-nvvm | FileCheck %s

// CHECK-LABEL: gpu.module @copy
// CHECK:         llvm.func @copy(%{{.*}}: !llvm.ptr<1> {llvm.align = 16 : i64}, %{{.*}}: i64, %{{.*}}: !llvm.ptr<1>
// CHECK-SAME:      nvvm.kernel, nvvm.maxntid = array<i32: 128, 1, 1>
// CHECK:           nvvm.read.ptx.sreg.ctaid.x
// CHECK:           llvm.load %{{.*}} : !llvm.ptr<1> -> f32
tile.kernel @copy nodes = ["n"] block = [128, 1, 1] body {
^bb0(%x: !tile.buffer<f32>, %n: index, %y: !tile.buffer<f32>):
  %i = gpu.global_id x
  %v = tile.load %x[%i] : !tile.buffer<f32>
  tile.store %v, %y[%i] : !tile.buffer<f32>
  tile.return
}

// A boolean is a byte.
// CHECK-LABEL: gpu.module @boolean
// CHECK:         %[[B:.*]] = llvm.load %{{.*}} -> i8
// CHECK:         llvm.icmp "ne" %[[B]]
// CHECK:         llvm.zext %{{.*}} : i1 to i8
tile.kernel @boolean nodes = ["n"] block = [32, 1, 1] body {
^bb0(%x: !tile.buffer<i1>, %y: !tile.buffer<i1>):
  %i = gpu.thread_id x
  %v = tile.load %x[%i] : !tile.buffer<i1>
  tile.store %v, %y[%i] : !tile.buffer<i1>
  tile.return
}
