// Every op of the nn level is read, written and read again without a change.
// RUN: joule-opt %s > %t.1 && joule-opt %t.1 > %t.2 && diff %t.1 %t.2
// RUN: joule-opt %s --mlir-print-op-generic | joule-opt | diff %t.1 -
// RUN: FileCheck %s < %t.1

// CHECK-LABEL: func.func @values_from_outside
// CHECK:         nn.symbol "batch"
// CHECK:         nn.constant dense<[1, 2]> : tensor<2xi64> -> tensor<2xi64>
// CHECK:         nn.constant #nn.weight<"m.onnx", 120, 64> -> tensor<4x4xf32>
// CHECK:         nn.assert %{{.*}}, "inputs a and b differ in size along axis 1"
func.func @values_from_outside(%same: i1) -> (index, tensor<2xi64>, tensor<4x4xf32>) {
  %batch = nn.symbol "batch"
  %small = nn.constant dense<[1, 2]> : tensor<2xi64> -> tensor<2xi64>
  %large = nn.constant #nn.weight<"m.onnx", 120, 64> -> tensor<4x4xf32>
  nn.assert %same, "inputs a and b differ in size along axis 1"
  return %batch, %small, %large : index, tensor<2xi64>, tensor<4x4xf32>
}

// CHECK-LABEL: func.func @small_types
// CHECK-SAME:    tensor<8x!nn.f4e2m1>, %{{.*}}: tensor<2x!nn.f8e8m0>
func.func @small_types(%x: tensor<8x!nn.f4e2m1>, %scale: tensor<2x!nn.f8e8m0>) {
  return
}

// CHECK-LABEL: func.func @broadcast
// CHECK:         nn.broadcast %{{.*}} dimensions = [1] : (tensor<64xf32>) -> tensor<8x64xf32>
// CHECK:         nn.broadcast %{{.*}} sizes(%{{.*}}) dimensions = [1] : (tensor<64xf32>) -> tensor<?x64xf32>
// CHECK:         nn.broadcast %{{.*}} dimensions = [] : (tensor<f32>) -> tensor<8x64xf32>
func.func @broadcast(%bias: tensor<64xf32>, %scalar: tensor<f32>, %n: index) {
  %0 = nn.broadcast %bias dimensions = [1] : (tensor<64xf32>) -> tensor<8x64xf32>
  %1 = nn.broadcast %bias sizes(%n) dimensions = [1] : (tensor<64xf32>) -> tensor<?x64xf32>
  %2 = nn.broadcast %scalar dimensions = [] : (tensor<f32>) -> tensor<8x64xf32>
  return
}

// CHECK-LABEL: func.func @layout
// CHECK:         nn.reshape %{{.*}} : (tensor<8x64xf32>) -> tensor<512xf32>
// CHECK:         nn.reshape %{{.*}} sizes(%{{.*}}) : (tensor<?x64xf32>) -> tensor<?xf32>
// CHECK:         nn.transpose %{{.*}} permutation = [1, 0] : (tensor<8x64xf32>) -> tensor<64x8xf32>
// CHECK:         nn.slice %{{.*}} offsets = [2, 0] strides = [1, 2] : (tensor<8x64xf32>) -> tensor<4x32xf32>
// CHECK:         nn.slice %{{.*}} sizes(%{{.*}}) offsets = [%{{.*}}, 63] strides = [1, -1]
// CHECK:         nn.pad %{{.*}}, %{{.*}} low = [0, 1] mode = constant
// CHECK:         nn.pad %{{.*}}, %{{.*}} sizes(%{{.*}}) low = [%{{.*}}, 1] mode = reflect
// CHECK:         nn.concat %{{.*}}, %{{.*}} axis = 0 : (tensor<8x64xf32>, tensor<8x64xf32>) -> tensor<16x64xf32>
// CHECK:         nn.concat %{{.*}}, %{{.*}} sizes(%{{.*}}) axis = 0 : (tensor<8x64xf32>, tensor<?x64xf32>) -> tensor<?x64xf32>
// CHECK:         nn.iota dimension = 0 : tensor<8xi64>
// CHECK:         nn.iota sizes(%{{.*}}) dimension = 0 : tensor<?xi64>
func.func @layout(%x: tensor<8x64xf32>, %d: tensor<?x64xf32>, %zero: tensor<f32>, %n: index) {
  %0 = nn.reshape %x : (tensor<8x64xf32>) -> tensor<512xf32>
  %1 = nn.reshape %d sizes(%n) : (tensor<?x64xf32>) -> tensor<?xf32>
  %2 = nn.transpose %x permutation = [1, 0] : (tensor<8x64xf32>) -> tensor<64x8xf32>
  %3 = nn.slice %x offsets = [2, 0] strides = [1, 2] : (tensor<8x64xf32>) -> tensor<4x32xf32>
  %4 = nn.slice %d sizes(%n) offsets = [%n, 63] strides = [1, -1]
      : (tensor<?x64xf32>) -> tensor<?x64xf32>
  %5 = nn.pad %x, %zero low = [0, 1] mode = constant : (tensor<8x64xf32>, tensor<f32>) -> tensor<8x66xf32>
  %6 = nn.pad %d, %zero sizes(%n) low = [%n, 1] mode = reflect
      : (tensor<?x64xf32>, tensor<f32>) -> tensor<?x66xf32>
  %7 = nn.concat %x, %x axis = 0 : (tensor<8x64xf32>, tensor<8x64xf32>) -> tensor<16x64xf32>
  %8 = nn.concat %x, %d sizes(%n) axis = 0 : (tensor<8x64xf32>, tensor<?x64xf32>) -> tensor<?x64xf32>
  %9 = nn.iota dimension = 0 : tensor<8xi64>
  %10 = nn.iota sizes(%n) dimension = 0 : tensor<?xi64>
  return
}

// CHECK-LABEL: func.func @gathers
// CHECK:         nn.gather %{{.*}}, %{{.*}} axis = 0 : (tensor<8x16xf32>, tensor<3xi64>) -> tensor<3x16xf32>
// CHECK:         nn.gather %{{.*}}, %{{.*}} sizes(%{{.*}}) axis = 0
// CHECK:         nn.gather_elements %{{.*}}, %{{.*}} axis = 1
// CHECK:         nn.gather_nd %{{.*}}, %{{.*}} batch_dims = 0 : (tensor<8x16xf32>, tensor<3x2xi64>) -> tensor<3xf32>
func.func @gathers(%x: tensor<8x16xf32>, %rows: tensor<3xi64>, %some: tensor<?xi64>, %places: tensor<8x2xi64>,
                   %tuples: tensor<3x2xi64>, %n: index) {
  %0 = nn.gather %x, %rows axis = 0 : (tensor<8x16xf32>, tensor<3xi64>) -> tensor<3x16xf32>
  %1 = nn.gather %x, %some sizes(%n) axis = 0 : (tensor<8x16xf32>, tensor<?xi64>) -> tensor<?x16xf32>
  %2 = nn.gather_elements %x, %places axis = 1 : (tensor<8x16xf32>, tensor<8x2xi64>) -> tensor<8x2xf32>
  %3 = nn.gather_nd %x, %tuples batch_dims = 0 : (tensor<8x16xf32>, tensor<3x2xi64>) -> tensor<3xf32>
  return
}

// CHECK-LABEL: func.func @reductions
// CHECK:         nn.reduce sum %{{.*}} axes = [1] : (tensor<8x64xf32>) -> tensor<8xf32>
// CHECK:         nn.reduce umax %{{.*}} axes = [0, 1] {precision = #nn.precision<compute = f32, accumulate = f64>}
// CHECK:         nn.arg_reduce max %{{.*}} axis = 1 : (tensor<8x64xf32>) -> tensor<8xi64>
// CHECK:         nn.arg_reduce min %{{.*}} axis = 1 last : (tensor<8x64xf32>) -> tensor<8xi64>
// CHECK:         nn.cumulate sum %{{.*}} axis = 0 : (tensor<8x64xf32>) -> tensor<8x64xf32>
// CHECK:         nn.cumulate product %{{.*}} axis = 0 exclusive reverse
// CHECK:         nn.softmax %{{.*}} axis = 1 : (tensor<8x64xf32>) -> tensor<8x64xf32>
// CHECK:         nn.softmax %{{.*}} axis = 1 log
// CHECK:         nn.normalize %{{.*}} axes = [1] epsilon = 5.000000e-01 : (tensor<8x64xf32>) -> tensor<8x64xf32>
// CHECK:         nn.normalize %{{.*}} axes = [1] epsilon = 5.000000e-01 rms
func.func @reductions(%x: tensor<8x64xf32>) {
  %0 = nn.reduce sum %x axes = [1] : (tensor<8x64xf32>) -> tensor<8xf32>
  %1 = nn.reduce umax %x axes = [0, 1] {precision = #nn.precision<compute = f32, accumulate = f64>}
      : (tensor<8x64xf32>) -> tensor<f32>
  %2 = nn.arg_reduce max %x axis = 1 : (tensor<8x64xf32>) -> tensor<8xi64>
  %3 = nn.arg_reduce min %x axis = 1 last : (tensor<8x64xf32>) -> tensor<8xi64>
  %4 = nn.cumulate sum %x axis = 0 : (tensor<8x64xf32>) -> tensor<8x64xf32>
  %5 = nn.cumulate product %x axis = 0 exclusive reverse : (tensor<8x64xf32>) -> tensor<8x64xf32>
  %6 = nn.softmax %x axis = 1 : (tensor<8x64xf32>) -> tensor<8x64xf32>
  %7 = nn.softmax %x axis = 1 log : (tensor<8x64xf32>) -> tensor<8x64xf32>
  %8 = nn.normalize %x axes = [1] epsilon = 0.5 : (tensor<8x64xf32>) -> tensor<8x64xf32>
  %9 = nn.normalize %x axes = [1] epsilon = 0.5 rms : (tensor<8x64xf32>) -> tensor<8x64xf32>
  return
}

// CHECK-LABEL: func.func @contractions
// CHECK:         nn.contract %{{.*}}, %{{.*}} lhs = [0, 2] rhs = [2, 1] out = [0, 1] :
// CHECK:         nn.contract %{{.*}}, %{{.*}} lhs = [0, 2] rhs = [2, 1] out = [0, 1] {unsigned_lhs}
// Both lists of labels may be one: a product element by element, or a row of dot products.
// CHECK:         nn.contract %{{.*}}, %{{.*}} lhs = [0, 1] rhs = [0, 1] out = [0, 1]
// CHECK:         nn.conv %{{.*}}, %{{.*}} strides = [2, 2] low = [1, 1] dilations = [1, 1] input_dilations = [1, 1] groups = 1
// CHECK:         nn.conv %{{.*}}, %{{.*}} sizes(%{{.*}}, %{{.*}}) strides
func.func @contractions(%a: tensor<8x16xf32>, %b: tensor<16x4xf32>, %ai: tensor<8x16xi8>, %bi: tensor<16x4xi8>,
                        %image: tensor<1x3x8x8xf32>, %images: tensor<1x3x?x?xf32>, %f: tensor<4x3x3x3xf32>, %n: index) {
  %0 = nn.contract %a, %b lhs = [0, 2] rhs = [2, 1] out = [0, 1]
      : (tensor<8x16xf32>, tensor<16x4xf32>) -> tensor<8x4xf32>
  %1 = nn.contract %ai, %bi lhs = [0, 2] rhs = [2, 1] out = [0, 1] {unsigned_lhs}
      : (tensor<8x16xi8>, tensor<16x4xi8>) -> tensor<8x4xi32>
  %product = nn.contract %a, %a lhs = [0, 1] rhs = [0, 1] out = [0, 1]
      : (tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<8x16xf32>
  %2 = nn.conv %image, %f strides = [2, 2] low = [1, 1] dilations = [1, 1] input_dilations = [1, 1] groups = 1
      : (tensor<1x3x8x8xf32>, tensor<4x3x3x3xf32>) -> tensor<1x4x4x4xf32>
  %3 = nn.conv %images, %f sizes(%n, %n) strides = [2, 2] low = [1, 1] dilations = [1, 1] input_dilations = [1, 1]
      groups = 1 : (tensor<1x3x?x?xf32>, tensor<4x3x3x3xf32>) -> tensor<1x4x?x?xf32>
  return
}

// CHECK-LABEL: func.func @windows
// CHECK:         nn.pool max %{{.*}} window = [2, 2] strides = [2, 2] low = [0, 0] dilations = [1, 1]
// CHECK:         nn.pool_arg_max %{{.*}} window = [2, 2] strides = [2, 2] low = [0, 0] dilations = [1, 1] :
// CHECK:         nn.pool_arg_max %{{.*}} window = [2, 2] strides = [2, 2] low = [0, 0] dilations = [1, 1] column_major :
// CHECK:         nn.resize linear %{{.*}}, %{{.*}} coordinate = half_pixel nearest = floor :
// CHECK:         nn.resize cubic %{{.*}}, %{{.*}} roi %{{.*}} coordinate = tf_crop_and_resize nearest = round_prefer_ceil
// CHECK-SAME:      {antialias, cubic_a = -5.000000e-01 : f32}
func.func @windows(%x: tensor<1x3x8x8xf32>, %scales: tensor<4xf32>, %roi: tensor<8xf32>) {
  %0 = nn.pool max %x window = [2, 2] strides = [2, 2] low = [0, 0] dilations = [1, 1]
      : (tensor<1x3x8x8xf32>) -> tensor<1x3x4x4xf32>
  %1 = nn.pool_arg_max %x window = [2, 2] strides = [2, 2] low = [0, 0] dilations = [1, 1]
      : (tensor<1x3x8x8xf32>) -> tensor<1x3x4x4xi64>
  %2 = nn.pool_arg_max %x window = [2, 2] strides = [2, 2] low = [0, 0] dilations = [1, 1] column_major
      : (tensor<1x3x8x8xf32>) -> tensor<1x3x4x4xi64>
  %3 = nn.resize linear %x, %scales coordinate = half_pixel nearest = floor
      : (tensor<1x3x8x8xf32>, tensor<4xf32>) -> tensor<1x3x16x16xf32>
  %4 = nn.resize cubic %x, %scales roi %roi coordinate = tf_crop_and_resize nearest = round_prefer_ceil
      {antialias, cubic_a = -0.5 : f32} : (tensor<1x3x8x8xf32>, tensor<4xf32>, tensor<8xf32>) -> tensor<1x3x4x4xf32>
  return
}

// CHECK-LABEL: func.func @conversions
// CHECK:         nn.cast %{{.*}} : (tensor<8xf32>) -> tensor<8xi1>
// CHECK:         nn.cast %{{.*}} saturate unsigned_result : (tensor<8xf32>) -> tensor<8xi8>
// CHECK:         nn.bitcast %{{.*}} : (tensor<8xf32>) -> tensor<8xi32>
func.func @conversions(%x: tensor<8xf32>) {
  %0 = nn.cast %x : (tensor<8xf32>) -> tensor<8xi1>
  %1 = nn.cast %x saturate unsigned_result : (tensor<8xf32>) -> tensor<8xi8>
  %2 = nn.bitcast %x : (tensor<8xf32>) -> tensor<8xi32>
  return
}

// CHECK-LABEL: func.func @scatters
// CHECK:         nn.scatter_elements add %{{.*}}, %{{.*}}, %{{.*}} axis = 0
// CHECK:         nn.scatter_nd replace %{{.*}}, %{{.*}}, %{{.*}} :
func.func @scatters(%x: tensor<8x4xf32>, %places: tensor<3x4xi64>, %rows: tensor<3x1xi64>, %u: tensor<3x4xf32>) {
  %0 = nn.scatter_elements add %x, %places, %u axis = 0
      : (tensor<8x4xf32>, tensor<3x4xi64>, tensor<3x4xf32>) -> tensor<8x4xf32>
  %1 = nn.scatter_nd replace %x, %rows, %u
      : (tensor<8x4xf32>, tensor<3x1xi64>, tensor<3x4xf32>) -> tensor<8x4xf32>
  return
}

// CHECK-LABEL: func.func @sorts
// CHECK:         nn.top_k %{{.*}} axis = 1 : (tensor<8x64xf32>) -> (tensor<8x5xf32>, tensor<8x5xi64>)
// CHECK:         nn.top_k %{{.*}} sizes(%{{.*}}) axis = 1 smallest :
// CHECK:         nn.nonzero %{{.*}} : (tensor<8x64xf32>) -> tensor<2x?xi64>
// CHECK:         nn.unique %{{.*}} sorted unsigned : (tensor<8x64xf32>) -> (tensor<?xi64>, tensor<8xi64>)
// CHECK:         nn.unique %{{.*}} : (tensor<8x64xf32>) -> (tensor<?xi64>, tensor<8xi64>)
func.func @sorts(%x: tensor<8x64xf32>, %k: index) {
  %0, %1 = nn.top_k %x axis = 1 : (tensor<8x64xf32>) -> (tensor<8x5xf32>, tensor<8x5xi64>)
  %2, %3 = nn.top_k %x sizes(%k) axis = 1 smallest : (tensor<8x64xf32>) -> (tensor<8x?xf32>, tensor<8x?xi64>)
  %4, %5 = nn.nonzero %x : (tensor<8x64xf32>) -> tensor<2x?xi64>
  %6, %7, %8 = nn.unique %x sorted unsigned : (tensor<8x64xf32>) -> (tensor<?xi64>, tensor<8xi64>)
  %9, %10, %11 = nn.unique %x : (tensor<8x64xf32>) -> (tensor<?xi64>, tensor<8xi64>)
  return
}

// CHECK-LABEL: func.func @eliminations
// CHECK:         nn.triangularize %{{.*}} : (tensor<8x4x4xf32>) -> tensor<8x4x4xf32>
// CHECK:         nn.triangularize %{{.*}} : (tensor<?x?xf64>) -> tensor<?x?xf64>
func.func @eliminations(%x: tensor<8x4x4xf32>, %y: tensor<?x?xf64>) {
  %0 = nn.triangularize %x : (tensor<8x4x4xf32>) -> tensor<8x4x4xf32>
  %1 = nn.triangularize %y : (tensor<?x?xf64>) -> tensor<?x?xf64>
  return
}

// CHECK-LABEL: func.func @boxes
// CHECK:         nn.non_max_suppression %{{.*}}, %{{.*}} max %{{.*}} iou %{{.*}} : (tensor<1x8x4xf32>, tensor<1x2x8xf32>, tensor<i64>, tensor<f32>) -> tensor<?x3xi64>
// CHECK:         nn.non_max_suppression %{{.*}}, %{{.*}} max %{{.*}} iou %{{.*}} score %{{.*}} center_point :
func.func @boxes(%boxes: tensor<1x8x4xf32>, %scores: tensor<1x2x8xf32>, %most: tensor<i64>, %t: tensor<f32>) {
  %0, %1 = nn.non_max_suppression %boxes, %scores max %most iou %t
      : (tensor<1x8x4xf32>, tensor<1x2x8xf32>, tensor<i64>, tensor<f32>) -> tensor<?x3xi64>
  %2, %3 = nn.non_max_suppression %boxes, %scores max %most iou %t score %t center_point
      : (tensor<1x8x4xf32>, tensor<1x2x8xf32>, tensor<i64>, tensor<f32>, tensor<f32>) -> tensor<?x3xi64>
  return
}

// CHECK-LABEL: func.func @recurrent_cells
// CHECK:         nn.lstm %{{.*}}, %{{.*}} init %{{.*}}, %{{.*}} activations = ["Sigmoid", "Tanh", "Tanh"] :
// CHECK:         nn.lstm %{{.*}}, %{{.*}} init %{{.*}}, %{{.*}} peepholes %{{.*}} lengths %{{.*}} activations = {{.*}} reverse {clip = 5.000000e-01 : f32}
// CHECK:         nn.gru %{{.*}}, %{{.*}}, %{{.*}} init %{{.*}} activations = ["Sigmoid", "Tanh"]
// CHECK:         nn.rnn %{{.*}}, %{{.*}} init %{{.*}} activations = ["Tanh"]
func.func @recurrent_cells(%g4: tensor<5x1x16xf32>, %r4: tensor<16x4xf32>, %g3: tensor<5x1x12xf32>,
                           %r3: tensor<12x4xf32>, %b3: tensor<4xf32>, %g1: tensor<5x1x4xf32>, %r1: tensor<4x4xf32>,
                           %h: tensor<1x4xf32>, %p: tensor<12xf32>, %lengths: tensor<1xi32>) {
  %0:3 = nn.lstm %g4, %r4 init %h, %h activations = ["Sigmoid", "Tanh", "Tanh"]
      : (tensor<5x1x16xf32>, tensor<16x4xf32>, tensor<1x4xf32>, tensor<1x4xf32>)
      -> (tensor<5x1x4xf32>, tensor<1x4xf32>, tensor<1x4xf32>)
  %1:3 = nn.lstm %g4, %r4 init %h, %h peepholes %p lengths %lengths activations = ["Sigmoid", "Tanh", "Tanh"] reverse
      {clip = 0.5 : f32}
      : (tensor<5x1x16xf32>, tensor<16x4xf32>, tensor<1x4xf32>, tensor<1x4xf32>, tensor<12xf32>, tensor<1xi32>)
      -> (tensor<5x1x4xf32>, tensor<1x4xf32>, tensor<1x4xf32>)
  %2:2 = nn.gru %g3, %r3, %b3 init %h activations = ["Sigmoid", "Tanh"]
      : (tensor<5x1x12xf32>, tensor<12x4xf32>, tensor<4xf32>, tensor<1x4xf32>)
      -> (tensor<5x1x4xf32>, tensor<1x4xf32>)
  %3:2 = nn.rnn %g1, %r1 init %h activations = ["Tanh"]
      : (tensor<5x1x4xf32>, tensor<4x4xf32>, tensor<1x4xf32>) -> (tensor<5x1x4xf32>, tensor<1x4xf32>)
  return
}

// CHECK-LABEL: func.func @groups
// CHECK:         nn.fused(%{{.*}}, %{{.*}} : tensor<8x64xf32>, tensor<8x64xf32>) -> (tensor<8x64xf32>) {
// CHECK:           nn.yield %{{.*}} : tensor<8x64xf32>
// CHECK:         nn.fused(%{{.*}}, %{{.*}} : tensor<?x64xf32>, index) sizes(%{{.*}}) input_sizes = [1] -> (tensor<?x64xf32>)
func.func @groups(%x: tensor<8x64xf32>, %d: tensor<?x64xf32>, %n: index) {
  %0 = nn.fused (%x, %x : tensor<8x64xf32>, tensor<8x64xf32>) -> (tensor<8x64xf32>) {
  ^bb0(%a: tensor<8x64xf32>, %b: tensor<8x64xf32>):
    %sum = arith.addf %a, %b : tensor<8x64xf32>
    nn.yield %sum : tensor<8x64xf32>
  }
  %1 = nn.fused (%d, %n : tensor<?x64xf32>, index) sizes(%n) input_sizes = [1] -> (tensor<?x64xf32>) {
  ^bb0(%a: tensor<?x64xf32>, %size: index):
    %sum = arith.addf %a, %a : tensor<?x64xf32>
    nn.yield %sum : tensor<?x64xf32>
  }
  return
}
