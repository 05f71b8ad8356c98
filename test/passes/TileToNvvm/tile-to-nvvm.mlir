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

// All shared memory of a kernel is one array.
// CHECK-LABEL: gpu.module @small_shared
// CHECK-SAME:    tile.static_shared_bytes = 384
// CHECK:         llvm.mlir.global internal @small_shared_shared() {addr_space = 3 : i32, alignment = 128 : i64} : !llvm.array<384 x i8>
tile.kernel @small_shared nodes = [] block = [32, 1, 1] body {
^bb0(%x: !tile.buffer<f32>):
  %a = tile.alloc 33 : !tile.buffer<f32, shared>
  %b = tile.alloc 1 : !tile.buffer<f64, shared>
  %i = gpu.thread_id x
  %v = tile.load %x[%i] : !tile.buffer<f32>
  tile.store %v, %a[%i] : !tile.buffer<f32, shared>
  tile.return
}

// More than a kernel may declare is left to the launch.
// CHECK-LABEL: gpu.module @large_shared
// CHECK-SAME:    tile.dynamic_shared_bytes = 65536
// CHECK:         llvm.mlir.global external @large_shared_shared()
tile.kernel @large_shared nodes = [] block = [32, 1, 1] body {
^bb0(%x: !tile.buffer<f32>):
  %a = tile.alloc 16384 : !tile.buffer<f32, shared>
  %i = gpu.thread_id x
  %v = tile.load %x[%i] : !tile.buffer<f32>
  tile.store %v, %a[%i] : !tile.buffer<f32, shared>
  gpu.barrier
  %w = tile.load %a[%i] : !tile.buffer<f32, shared>
  %c = arith.constant 1 : i32
  %c32 = arith.constant 32 : i32
  %s, %p = gpu.shuffle xor %w, %c, %c32 : f32
  tile.store %s, %x[%i] : !tile.buffer<f32>
  tile.return
}
