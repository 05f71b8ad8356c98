// One case per numbered constraint of the tile ops, named after it.
// RUN: joule-opt %s --split-input-file --verify-diagnostics

// expected-error @below {{'tile.kernel' op has 0 input sizes for 1 dynamic dimensions}}
tile.kernel @kernel_c1 nodes = ["n"] body {
^bb0(%x: tensor<?xf32>, %n: index):
  nn.yield %x : tensor<?xf32>
}

// -----

// expected-error @below {{'tile.kernel' op has input size 7, which is no argument of type index}}
tile.kernel @kernel_c1_number nodes = ["n"] input_sizes = [7] body {
^bb0(%x: tensor<?xf32>, %n: index):
  nn.yield %x : tensor<?xf32>
}

// -----

// expected-error @below {{'tile.kernel' op has a block that is not three positive numbers}}
tile.kernel @kernel_c2 nodes = ["n"] block = [256, 1] body {
^bb0(%x: !tile.buffer<f32>):
  tile.return
}

// -----

// expected-error @below {{'tile.kernel' op has a block that is not three positive numbers}}
tile.kernel @kernel_c2_zero nodes = ["n"] block = [0, 1, 1] body {
^bb0(%x: !tile.buffer<f32>):
  tile.return
}

// -----

// expected-error @below {{'tile.kernel' op has a grid of 0 arguments for 1 index arguments of its body}}
tile.kernel @kernel_c3 nodes = ["n"] body {
^bb0(%x: !tile.buffer<f32>, %n: index):
  tile.return
} grid {
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
}

// -----

// expected-error @below {{'tile.kernel' op has a grid that does not end in tile.grid}}
tile.kernel @kernel_c3_end nodes = ["n"] body {
^bb0(%x: !tile.buffer<f32>, %n: index):
  tile.return
} grid {
^bb0(%n: index):
  tile.return
}

// -----

tile.kernel @alloc_global nodes = [] body {
^bb0:
  // expected-error @below {{'tile.alloc' op takes shared memory but gives '!tile.buffer<f32>'}}
  %s = tile.alloc 64 : !tile.buffer<f32>
  tile.return
}

// -----

// expected-error @below {{has 4 bases for 5 bits}}
#layout_c1 = #tile.layout<bits = [2, 3], bases = [8, 16, 1, 2]>

// -----

// expected-error @below {{gives different elements one address}}
#layout_c2 = #tile.layout<bits = [2, 3], bases = [8, 16, 1, 2, 3]>

// -----

tile.kernel @load_tile_c1 nodes = [] body {
^bb0(%i: index):
  %s = tile.alloc 8 : !tile.buffer<f32, shared>
  // expected-error @below {{'tile.load_tile' op has 1 indices for a layout of 2 dimensions}}
  %v = tile.load_tile %s[%i] layout = <bits = [1, 2], bases = [4, 1, 2]> : !tile.buffer<f32, shared> -> f32
  tile.return
}

// -----

tile.kernel @load_tile_c1_memory nodes = [] body {
^bb0(%i: index, %x: !tile.buffer<f32>):
  // expected-error @below {{'tile.load_tile' op takes a shared buffer of numbers of at least a byte, not '!tile.buffer<f32>'}}
  %v = tile.load_tile %x[%i, %i] layout = <bits = [1, 2], bases = [4, 1, 2]> : !tile.buffer<f32> -> f32
  tile.return
}

// -----

tile.kernel @load_tile_c2 nodes = [] body {
^bb0(%i: index):
  %s = tile.alloc 8 : !tile.buffer<f32, shared>
  // expected-error @below {{'tile.load_tile' op moves 4 elements at once, which do not lie together}}
  %v:4 = tile.load_tile %s[%i, %i] layout = <bits = [1, 2], bases = [6, 1, 2]> : !tile.buffer<f32, shared> -> f32, f32, f32, f32
  tile.return
}

// -----

tile.kernel @store_tile_c1 nodes = [] body {
^bb0(%i: index, %v: f16):
  %s = tile.alloc 8 : !tile.buffer<f32, shared>
  // expected-error @below {{'tile.store_tile' op moves a 'f16' but the buffer holds 'f32'}}
  tile.store_tile %v to %s[%i, %i] layout = <bits = [1, 2], bases = [4, 1, 2]> : !tile.buffer<f32, shared>, f16
  tile.return
}

// -----

tile.kernel @store_tile_c2 nodes = [] body {
^bb0(%i: index, %v: f32):
  %s = tile.alloc 8 : !tile.buffer<f32, shared>
  // expected-error @below {{'tile.store_tile' op moves 3 elements at once, which do not lie together}}
  tile.store_tile %v, %v, %v to %s[%i, %i] layout = <bits = [1, 2], bases = [4, 1, 2]> : !tile.buffer<f32, shared>, f32, f32, f32
  tile.return
}
