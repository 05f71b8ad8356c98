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
