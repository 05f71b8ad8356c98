// One case per numbered constraint of the nn ops, named after it.
// RUN: joule-opt %s --split-input-file --verify-diagnostics

func.func @constant_c1() {
  // expected-error @below {{'nn.constant' op holds elements of type 'tensor<2xi64>' for a result of 'tensor<2xf32>'}}
  %0 = nn.constant dense<[1, 2]> : tensor<2xi64> -> tensor<2xf32>
  return
}

// -----

func.func @constant_c1_kind() {
  // expected-error @below {{'nn.constant' op holds neither elements nor a weight}}
  %0 = nn.constant "two" -> tensor<2xf32>
  return
}

// -----

func.func @constant_c2() {
  // expected-error @below {{'nn.constant' op holds 63 bytes for 'tensor<4x4xf32>', which takes 64}}
  %0 = nn.constant #nn.weight<"m.onnx", 120, 63> -> tensor<4x4xf32>
  return
}

// -----

func.func @broadcast_c1(%x: tensor<64xf32>) {
  // expected-error @below {{'nn.broadcast' op has 0 dimensions for an input of rank 1}}
  %0 = nn.broadcast %x dimensions = [] : (tensor<64xf32>) -> tensor<8x64xf32>
  return
}

// -----

func.func @broadcast_c1_order(%x: tensor<8x64xf32>) {
  // expected-error @below {{'nn.broadcast' op has axes that do not ascend}}
  %0 = nn.broadcast %x dimensions = [1, 0] : (tensor<8x64xf32>) -> tensor<64x8xf32>
  return
}

// -----

func.func @broadcast_c1_rank(%x: tensor<64xf32>) {
  // expected-error @below {{'nn.broadcast' op has axis 2 on a tensor of rank 2}}
  %0 = nn.broadcast %x dimensions = [2] : (tensor<64xf32>) -> tensor<8x64xf32>
  return
}

// -----

func.func @broadcast_c2(%x: tensor<64xf32>) {
  // expected-error @below {{'nn.broadcast' op repeats 64 elements along a dimension of 8}}
  %0 = nn.broadcast %x dimensions = [0] : (tensor<64xf32>) -> tensor<8x64xf32>
  return
}

// -----

func.func @broadcast_c3(%x: tensor<64xf32>) {
  // expected-error @below {{'nn.broadcast' op has 0 sizes for 1 dynamic dimensions}}
  %0 = nn.broadcast %x dimensions = [1] : (tensor<64xf32>) -> tensor<?x64xf32>
  return
}

// -----

func.func @broadcast_type(%x: tensor<64xf32>) {
  // expected-error @below {{'nn.broadcast' op joins element types 'f32' and 'f16'}}
  %0 = nn.broadcast %x dimensions = [1] : (tensor<64xf32>) -> tensor<8x64xf16>
  return
}

// -----

func.func @reshape_c1(%x: tensor<8x64xf32>) {
  // expected-error @below {{'nn.reshape' op turns 512 elements into 511}}
  %0 = nn.reshape %x : (tensor<8x64xf32>) -> tensor<511xf32>
  return
}

// -----

func.func @reshape_c2(%x: tensor<8x64xf32>, %n: index) {
  // expected-error @below {{'nn.reshape' op has 2 sizes for 1 dynamic dimensions}}
  %0 = nn.reshape %x sizes(%n, %n) : (tensor<8x64xf32>) -> tensor<?xf32>
  return
}

// -----

func.func @transpose_c1(%x: tensor<8x64xf32>) {
  // expected-error @below {{'nn.transpose' op has no permutation of 2 dimensions}}
  %0 = nn.transpose %x permutation = [1, 1] : (tensor<8x64xf32>) -> tensor<64x64xf32>
  return
}

// -----

func.func @transpose_c2(%x: tensor<8x64xf32>) {
  // expected-error @below {{'nn.transpose' op has a result of shape [8, 64] where its operands ask for [64, 8]}}
  %0 = nn.transpose %x permutation = [1, 0] : (tensor<8x64xf32>) -> tensor<8x64xf32>
  return
}

// -----

func.func @slice_c1(%x: tensor<8x64xf32>) {
  // expected-error @below {{'nn.slice' op wants one offset and one stride that is not 0 per dimension of the input}}
  %0 = nn.slice %x offsets = [0, 0] strides = [1, 0] : (tensor<8x64xf32>) -> tensor<8x64xf32>
  return
}

// -----

func.func @slice_c1_rank(%x: tensor<8x64xf32>) {
  // expected-error @below {{'nn.slice' op wants one offset and one stride that is not 0 per dimension of the input}}
  %0 = nn.slice %x offsets = [0] strides = [1] : (tensor<8x64xf32>) -> tensor<8x64xf32>
  return
}

// -----

func.func @slice_c2(%x: tensor<8x64xf32>) {
  // expected-error @below {{'nn.slice' op has 0 sizes for 1 dynamic dimensions}}
  %0 = nn.slice %x offsets = [0, 0] strides = [1, 1] : (tensor<8x64xf32>) -> tensor<?x64xf32>
  return
}

// -----

func.func @slice_c2_offsets(%x: tensor<8x64xf32>, %n: index) {
  // expected-error @below {{'nn.slice' op has 1 offsets for 0 dynamic ones}}
  %0 = "nn.slice"(%x, %n) {operandSegmentSizes = array<i32: 1, 1, 0>, static_offsets = array<i64: 0, 0>, strides = array<i64: 1, 1>}
      : (tensor<8x64xf32>, index) -> tensor<8x64xf32>
  return
}

// -----

func.func @slice_c3(%x: tensor<8x64xf32>) {
  // expected-error @below {{'nn.slice' op reads elements 2 to 64 of 64 along dimension 1}}
  %0 = nn.slice %x offsets = [0, 2] strides = [1, 2] : (tensor<8x64xf32>) -> tensor<8x32xf32>
  return
}

// -----

func.func @slice_c3_backwards(%x: tensor<8x64xf32>) {
  // expected-error @below {{'nn.slice' op reads elements 3 to -1 of 64 along dimension 1}}
  %0 = nn.slice %x offsets = [0, 3] strides = [1, -1] : (tensor<8x64xf32>) -> tensor<8x5xf32>
  return
}

// -----

func.func @pad_c1(%x: tensor<8x64xf32>, %v: tensor<f16>) {
  // expected-error @below {{'nn.pad' op pads 'f32' with 'tensor<f16>'}}
  %0 = nn.pad %x, %v low = [0, 1] mode = constant : (tensor<8x64xf32>, tensor<f16>) -> tensor<8x66xf32>
  return
}

// -----

func.func @pad_c1_rank(%x: tensor<8x64xf32>, %v: tensor<1xf32>) {
  // expected-error @below {{'nn.pad' op pads 'f32' with 'tensor<1xf32>'}}
  %0 = nn.pad %x, %v low = [0, 1] mode = constant : (tensor<8x64xf32>, tensor<1xf32>) -> tensor<8x66xf32>
  return
}

// -----

func.func @pad_c2(%x: tensor<8x64xf32>, %v: tensor<f32>) {
  // expected-error @below {{'nn.pad' op wants one low padding per dimension of the input}}
  %0 = nn.pad %x, %v low = [1] mode = constant : (tensor<8x64xf32>, tensor<f32>) -> tensor<8x66xf32>
  return
}

// -----

func.func @pad_c2_sizes(%x: tensor<8x64xf32>, %v: tensor<f32>) {
  // expected-error @below {{'nn.pad' op has 0 sizes for 1 dynamic dimensions}}
  %0 = nn.pad %x, %v low = [0, 1] mode = edge : (tensor<8x64xf32>, tensor<f32>) -> tensor<8x?xf32>
  return
}

// -----

func.func @concat_c1() {
  // expected-error @below {{'nn.concat' op joins no tensors}}
  %0 = "nn.concat"() {axis = 0 : i64, operandSegmentSizes = array<i32: 0, 0>} : () -> tensor<8xf32>
  return
}

// -----

func.func @concat_c1_axis(%x: tensor<8xf32>) {
  // expected-error @below {{'nn.concat' op has axis 1 on a tensor of rank 1}}
  %0 = nn.concat %x axis = 1 : (tensor<8xf32>) -> tensor<8xf32>
  return
}

// -----

func.func @concat_c1_rank(%x: tensor<8xf32>) {
  // expected-error @below {{'nn.concat' op joins tensors of rank 1 and 2}}
  %0 = nn.concat %x axis = 1 : (tensor<8xf32>) -> tensor<8x1xf32>
  return
}

// -----

func.func @concat_c1_type(%x: tensor<8xf32>) {
  // expected-error @below {{'nn.concat' op joins element types 'f32' and 'f16'}}
  %0 = nn.concat %x axis = 0 : (tensor<8xf32>) -> tensor<8xf16>
  return
}

// -----

func.func @concat_c2(%x: tensor<8x3xf32>) {
  // expected-error @below {{'nn.concat' op joins 6 slices into 7}}
  %0 = nn.concat %x, %x axis = 1 : (tensor<8x3xf32>, tensor<8x3xf32>) -> tensor<8x7xf32>
  return
}

// -----

func.func @concat_c2_off_axis(%x: tensor<8x3xf32>, %y: tensor<7x3xf32>) {
  // expected-error @below {{'nn.concat' op joins sizes 7 and 8 along dimension 0}}
  %0 = nn.concat %x, %y axis = 1 : (tensor<8x3xf32>, tensor<7x3xf32>) -> tensor<8x6xf32>
  return
}

// -----

func.func @concat_c3(%x: tensor<?xf32>) {
  // expected-error @below {{'nn.concat' op has 0 sizes for 1 dynamic dimensions}}
  %0 = nn.concat %x, %x axis = 0 : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
  return
}

// -----

func.func @iota_c1() {
  // expected-error @below {{'nn.iota' op has axis 1 on a tensor of rank 1}}
  %0 = nn.iota dimension = 1 : tensor<8xi64>
  return
}

// -----

func.func @iota_c2() {
  // expected-error @below {{'nn.iota' op has 0 sizes for 1 dynamic dimensions}}
  %0 = nn.iota dimension = 0 : tensor<?xi64>
  return
}

// -----

func.func @gather_c1(%x: tensor<8x16xf32>, %i: tensor<3xi64>) {
  // expected-error @below {{'nn.gather' op has axis 2 on a tensor of rank 2}}
  %0 = nn.gather %x, %i axis = 2 : (tensor<8x16xf32>, tensor<3xi64>) -> tensor<3x16xf32>
  return
}

// -----

func.func @gather_c1_indices(%x: tensor<8x16xf32>, %i: tensor<3xf32>) {
  // expected-error @below {{'nn.gather' op wants integers as indices but has 'f32'}}
  %0 = nn.gather %x, %i axis = 0 : (tensor<8x16xf32>, tensor<3xf32>) -> tensor<3x16xf32>
  return
}

// -----

func.func @gather_c1_rank(%x: tensor<8x16xf32>, %i: tensor<3xi64>) {
  // expected-error @below {{'nn.gather' op takes slices of 'tensor<8x16xf32>' at 'tensor<3xi64>' into 'tensor<3xf32>'}}
  %0 = nn.gather %x, %i axis = 0 : (tensor<8x16xf32>, tensor<3xi64>) -> tensor<3xf32>
  return
}

// -----

func.func @gather_c2(%x: tensor<8x16xf32>, %i: tensor<?xi64>) {
  // expected-error @below {{'nn.gather' op has 0 sizes for 1 dynamic dimensions}}
  %0 = nn.gather %x, %i axis = 0 : (tensor<8x16xf32>, tensor<?xi64>) -> tensor<?x16xf32>
  return
}

// -----

func.func @gather_elements_c1(%x: tensor<8x16xf32>, %i: tensor<8xi64>) {
  // expected-error @below {{'nn.gather_elements' op has an input of rank 2 and indices of rank 1}}
  %0 = nn.gather_elements %x, %i axis = 1 : (tensor<8x16xf32>, tensor<8xi64>) -> tensor<8xf32>
  return
}

// -----

func.func @gather_elements_c1_shape(%x: tensor<8x16xf32>, %i: tensor<8x2xi64>) {
  // expected-error @below {{'nn.gather_elements' op has a result of shape [8, 3] where its operands ask for [8, 2]}}
  %0 = nn.gather_elements %x, %i axis = 1 : (tensor<8x16xf32>, tensor<8x2xi64>) -> tensor<8x3xf32>
  return
}

// -----

func.func @gather_elements_c1_indices(%x: tensor<8x16xf32>, %i: tensor<8x2xf32>) {
  // expected-error @below {{'nn.gather_elements' op wants integers as indices but has 'f32'}}
  %0 = nn.gather_elements %x, %i axis = 1 : (tensor<8x16xf32>, tensor<8x2xf32>) -> tensor<8x2xf32>
  return
}

// -----

func.func @gather_nd_c1(%x: tensor<8x16xf32>, %i: tensor<3x3xi64>) {
  // expected-error @below {{'nn.gather_nd' op takes slices of 'tensor<8x16xf32>' at tuples 'tensor<3x3xi64>' into 'tensor<3xf32>'}}
  %0 = nn.gather_nd %x, %i batch_dims = 0 : (tensor<8x16xf32>, tensor<3x3xi64>) -> tensor<3xf32>
  return
}

// -----

func.func @gather_nd_c1_dynamic(%x: tensor<8x16xf32>, %i: tensor<3x?xi64>) {
  // expected-error @below {{'nn.gather_nd' op takes slices of 'tensor<8x16xf32>' at tuples 'tensor<3x?xi64>' into 'tensor<3xf32>'}}
  %0 = nn.gather_nd %x, %i batch_dims = 0 : (tensor<8x16xf32>, tensor<3x?xi64>) -> tensor<3xf32>
  return
}

// -----

func.func @gather_nd_c1_indices(%x: tensor<8x16xf32>, %i: tensor<3x2xf32>) {
  // expected-error @below {{'nn.gather_nd' op wants integers as indices but has 'f32'}}
  %0 = nn.gather_nd %x, %i batch_dims = 0 : (tensor<8x16xf32>, tensor<3x2xf32>) -> tensor<3xf32>
  return
}

// -----

func.func @gather_nd_c2(%x: tensor<8x16xf32>, %i: tensor<?x2xi64>) {
  // expected-error @below {{'nn.gather_nd' op has 0 sizes for 1 dynamic dimensions}}
  %0 = nn.gather_nd %x, %i batch_dims = 0 : (tensor<8x16xf32>, tensor<?x2xi64>) -> tensor<?xf32>
  return
}

// -----

func.func @reduce_c1(%x: tensor<8x64xf32>) {
  // expected-error @below {{'nn.reduce' op has axis -1 on a tensor of rank 2}}
  %0 = nn.reduce sum %x axes = [-1] : (tensor<8x64xf32>) -> tensor<8xf32>
  return
}

// -----

func.func @reduce_c1_order(%x: tensor<8x64xf32>) {
  // expected-error @below {{'nn.reduce' op has axes that do not ascend}}
  %0 = nn.reduce sum %x axes = [1, 1] : (tensor<8x64xf32>) -> tensor<f32>
  return
}

// -----

func.func @reduce_c2(%x: tensor<8x64xf32>) {
  // expected-error @below {{'nn.reduce' op has a result of shape [64] where its operands ask for [8]}}
  %0 = nn.reduce sum %x axes = [1] : (tensor<8x64xf32>) -> tensor<64xf32>
  return
}

// -----

func.func @reduce_c2_type(%x: tensor<8x64xf32>) {
  // expected-error @below {{'nn.reduce' op joins element types 'f32' and 'f64'}}
  %0 = nn.reduce sum %x axes = [1] : (tensor<8x64xf32>) -> tensor<8xf64>
  return
}

// -----

func.func @arg_reduce_c1(%x: tensor<8x64xf32>) {
  // expected-error @below {{'nn.arg_reduce' op wants a max or a min}}
  %0 = nn.arg_reduce sum %x axis = 1 : (tensor<8x64xf32>) -> tensor<8xi64>
  return
}

// -----

func.func @arg_reduce_c1_axis(%x: tensor<8x64xf32>) {
  // expected-error @below {{'nn.arg_reduce' op has axis 2 on a tensor of rank 2}}
  %0 = nn.arg_reduce max %x axis = 2 : (tensor<8x64xf32>) -> tensor<8xi64>
  return
}

// -----

func.func @arg_reduce_c2(%x: tensor<8x64xf32>) {
  // expected-error @below {{'nn.arg_reduce' op gives integers}}
  %0 = nn.arg_reduce max %x axis = 1 : (tensor<8x64xf32>) -> tensor<8xf32>
  return
}

// -----

func.func @arg_reduce_c2_shape(%x: tensor<8x64xf32>) {
  // expected-error @below {{'nn.arg_reduce' op has a result of shape [64] where its operands ask for [8]}}
  %0 = nn.arg_reduce max %x axis = 1 : (tensor<8x64xf32>) -> tensor<64xi64>
  return
}

// -----

func.func @cumulate_c1(%x: tensor<8xf32>) {
  // expected-error @below {{'nn.cumulate' op has axis 1 on a tensor of rank 1}}
  %0 = nn.cumulate sum %x axis = 1 : (tensor<8xf32>) -> tensor<8xf32>
  return
}

// -----

func.func @cumulate_c1_type(%x: tensor<8xf32>) {
  // expected-error @below {{'nn.cumulate' op joins element types 'f32' and 'f64'}}
  %0 = nn.cumulate sum %x axis = 0 : (tensor<8xf32>) -> tensor<8xf64>
  return
}

// -----

func.func @softmax_c1(%x: tensor<8xf32>) {
  // expected-error @below {{'nn.softmax' op has axis 1 on a tensor of rank 1}}
  %0 = nn.softmax %x axis = 1 : (tensor<8xf32>) -> tensor<8xf32>
  return
}

// -----

func.func @softmax_c1_floats(%x: tensor<8xi32>) {
  // expected-error @below {{'nn.softmax' op wants floats but has 'i32'}}
  %0 = nn.softmax %x axis = 0 : (tensor<8xi32>) -> tensor<8xi32>
  return
}

// -----

func.func @normalize_c1(%x: tensor<8x64xf32>) {
  // expected-error @below {{'nn.normalize' op has axes that do not ascend}}
  %0 = nn.normalize %x axes = [1, 0] epsilon = 0.5 : (tensor<8x64xf32>) -> tensor<8x64xf32>
  return
}

// -----

func.func @normalize_c1_floats(%x: tensor<8x64xi32>) {
  // expected-error @below {{'nn.normalize' op wants floats but has 'i32'}}
  %0 = nn.normalize %x axes = [1] epsilon = 0.5 : (tensor<8x64xi32>) -> tensor<8x64xi32>
  return
}

// -----

func.func @contract_c1(%x: tensor<8x16xf32>, %w: tensor<16x4xf32>) {
  // expected-error @below {{'nn.contract' op has 1 labels for a tensor of rank 2}}
  %0 = nn.contract %x, %w lhs = [0] rhs = [2, 1] out = [0, 1]
      : (tensor<8x16xf32>, tensor<16x4xf32>) -> tensor<8x4xf32>
  return
}

// -----

func.func @contract_c1_twice(%x: tensor<8x16xf32>, %w: tensor<16x4xf32>) {
  // expected-error @below {{'nn.contract' op has label 0 twice in one tensor}}
  %0 = nn.contract %x, %w lhs = [0, 0] rhs = [2, 1] out = [0, 1]
      : (tensor<8x16xf32>, tensor<16x4xf32>) -> tensor<8x4xf32>
  return
}

// -----

func.func @contract_c1_result_alone(%x: tensor<8x16xf32>, %w: tensor<16x4xf32>) {
  // expected-error @below {{'nn.contract' op has label 3 in its result alone}}
  %0 = nn.contract %x, %w lhs = [0, 2] rhs = [2, 1] out = [0, 3]
      : (tensor<8x16xf32>, tensor<16x4xf32>) -> tensor<8x4xf32>
  return
}

// -----

func.func @contract_c1_large(%x: tensor<8x16xf32>, %w: tensor<16x4xf32>) {
  // expected-error @below {{'nn.contract' op has label 64, which is not in 0 to 63}}
  %0 = nn.contract %x, %w lhs = [0, 64] rhs = [64, 1] out = [0, 1]
      : (tensor<8x16xf32>, tensor<16x4xf32>) -> tensor<8x4xf32>
  return
}

// -----

func.func @contract_c2(%x: tensor<8x15xf32>, %w: tensor<16x4xf32>) {
  // expected-error @below {{'nn.contract' op has sizes 15 and 16 for label 2}}
  %0 = nn.contract %x, %w lhs = [0, 2] rhs = [2, 1] out = [0, 1]
      : (tensor<8x15xf32>, tensor<16x4xf32>) -> tensor<8x4xf32>
  return
}

// -----

func.func @contract_c3(%x: tensor<8x16xf32>, %w: tensor<16x4xf16>) {
  // expected-error @below {{'nn.contract' op joins element types 'f32' and 'f16'}}
  %0 = nn.contract %x, %w lhs = [0, 2] rhs = [2, 1] out = [0, 1]
      : (tensor<8x16xf32>, tensor<16x4xf16>) -> tensor<8x4xf32>
  return
}

// -----

func.func @conv_c1(%x: tensor<1x3x8x8xf32>, %f: tensor<4x3x3xf32>) {
  // expected-error @below {{'nn.conv' op has an input of rank 4, a filter of rank 3 and a result of rank 4}}
  %0 = nn.conv %x, %f strides = [2, 2] low = [1, 1] dilations = [1, 1] input_dilations = [1, 1] groups = 1
      : (tensor<1x3x8x8xf32>, tensor<4x3x3xf32>) -> tensor<1x4x4x4xf32>
  return
}

// -----

func.func @conv_c1_flat(%x: tensor<1x3xf32>, %f: tensor<4x3xf32>) {
  // expected-error @below {{'nn.conv' op slides over a tensor of rank 2, which has no spatial dimension}}
  %0 = nn.conv %x, %f strides = [2, 2] low = [1, 1] dilations = [1, 1] input_dilations = [1, 1] groups = 1
      : (tensor<1x3xf32>, tensor<4x3xf32>) -> tensor<1x4xf32>
  return
}

// -----

func.func @conv_c1_low(%x: tensor<1x3x8x8xf32>, %f: tensor<4x3x3x3xf32>) {
  // expected-error @below {{'nn.conv' op has 1 paddings for 2 spatial dimensions}}
  %0 = nn.conv %x, %f strides = [2, 2] low = [1] dilations = [1, 1] input_dilations = [1, 1] groups = 1
      : (tensor<1x3x8x8xf32>, tensor<4x3x3x3xf32>) -> tensor<1x4x4x4xf32>
  return
}

// -----

func.func @conv_c1_strides(%x: tensor<1x3x8x8xf32>, %f: tensor<4x3x3x3xf32>) {
  // expected-error @below {{'nn.conv' op has a list of 3 for 2 spatial dimensions}}
  %0 = nn.conv %x, %f strides = [2, 2, 2] low = [1, 1] dilations = [1, 1] input_dilations = [1, 1] groups = 1
      : (tensor<1x3x8x8xf32>, tensor<4x3x3x3xf32>) -> tensor<1x4x4x4xf32>
  return
}

// -----

func.func @conv_c1_zero(%x: tensor<1x3x8x8xf32>, %f: tensor<4x3x3x3xf32>) {
  // expected-error @below {{'nn.conv' op has a window size, stride or dilation below 1}}
  %0 = nn.conv %x, %f strides = [2, 0] low = [1, 1] dilations = [1, 1] input_dilations = [1, 1] groups = 1
      : (tensor<1x3x8x8xf32>, tensor<4x3x3x3xf32>) -> tensor<1x4x4x4xf32>
  return
}

// -----

func.func @conv_c2(%x: tensor<1x4x8x8xf32>, %f: tensor<4x3x3x3xf32>) {
  // expected-error @below {{'nn.conv' op has 4 input channels but filters for 3}}
  %0 = nn.conv %x, %f strides = [2, 2] low = [1, 1] dilations = [1, 1] input_dilations = [1, 1] groups = 1
      : (tensor<1x4x8x8xf32>, tensor<4x3x3x3xf32>) -> tensor<1x4x4x4xf32>
  return
}

// -----

func.func @conv_c2_groups(%x: tensor<1x9x8x8xf32>, %f: tensor<4x3x3x3xf32>) {
  // expected-error @below {{'nn.conv' op has 4 filters in 3 groups}}
  %0 = nn.conv %x, %f strides = [2, 2] low = [1, 1] dilations = [1, 1] input_dilations = [1, 1] groups = 3
      : (tensor<1x9x8x8xf32>, tensor<4x3x3x3xf32>) -> tensor<1x4x4x4xf32>
  return
}

// -----

func.func @conv_c3(%x: tensor<1x3x?x8xf32>, %f: tensor<4x3x3x3xf32>) {
  // expected-error @below {{'nn.conv' op has 0 sizes for 1 dynamic dimensions}}
  %0 = nn.conv %x, %f strides = [2, 2] low = [1, 1] dilations = [1, 1] input_dilations = [1, 1] groups = 1
      : (tensor<1x3x?x8xf32>, tensor<4x3x3x3xf32>) -> tensor<1x4x?x4xf32>
  return
}

// -----

func.func @pool_c1(%x: tensor<1x3x8x8xf32>) {
  // expected-error @below {{'nn.pool' op has a list of 1 for 2 spatial dimensions}}
  %0 = nn.pool max %x window = [2] strides = [2, 2] low = [0, 0] dilations = [1, 1]
      : (tensor<1x3x8x8xf32>) -> tensor<1x3x4x4xf32>
  return
}

// -----

func.func @pool_c1_zero(%x: tensor<1x3x8x8xf32>) {
  // expected-error @below {{'nn.pool' op has a window size, stride or dilation below 1}}
  %0 = nn.pool max %x window = [2, 0] strides = [2, 2] low = [0, 0] dilations = [1, 1]
      : (tensor<1x3x8x8xf32>) -> tensor<1x3x4x4xf32>
  return
}

// -----

func.func @pool_c1_rank(%x: tensor<1x3x8x8xf32>) {
  // expected-error @below {{'nn.pool' op has an input of rank 4 and a result of rank 3}}
  %0 = nn.pool max %x window = [2, 2] strides = [2, 2] low = [0, 0] dilations = [1, 1]
      : (tensor<1x3x8x8xf32>) -> tensor<1x3x4xf32>
  return
}

// -----

func.func @pool_c1_type(%x: tensor<1x3x8x8xf32>) {
  // expected-error @below {{'nn.pool' op joins element types 'f32' and 'f16'}}
  %0 = nn.pool max %x window = [2, 2] strides = [2, 2] low = [0, 0] dilations = [1, 1]
      : (tensor<1x3x8x8xf32>) -> tensor<1x3x4x4xf16>
  return
}

// -----

func.func @pool_c2(%x: tensor<1x3x8x8xf32>) {
  // expected-error @below {{'nn.pool' op has 0 sizes for 1 dynamic dimensions}}
  %0 = nn.pool max %x window = [2, 2] strides = [2, 2] low = [0, 0] dilations = [1, 1]
      : (tensor<1x3x8x8xf32>) -> tensor<1x3x?x4xf32>
  return
}

// -----

func.func @pool_arg_max_c1(%x: tensor<1x3x8x8xf32>) {
  // expected-error @below {{'nn.pool_arg_max' op has a list of 1 for 2 spatial dimensions}}
  %0 = nn.pool_arg_max %x window = [2] strides = [2, 2] low = [0, 0] dilations = [1, 1]
      : (tensor<1x3x8x8xf32>) -> tensor<1x3x4x4xi64>
  return
}

// -----

func.func @pool_arg_max_c1_type(%x: tensor<1x3x8x8xf32>) {
  // expected-error @below {{'nn.pool_arg_max' op gives integers}}
  %0 = nn.pool_arg_max %x window = [2, 2] strides = [2, 2] low = [0, 0] dilations = [1, 1]
      : (tensor<1x3x8x8xf32>) -> tensor<1x3x4x4xf32>
  return
}

// -----

func.func @pool_arg_max_c2(%x: tensor<1x3x8x8xf32>) {
  // expected-error @below {{'nn.pool_arg_max' op has 0 sizes for 1 dynamic dimensions}}
  %0 = nn.pool_arg_max %x window = [2, 2] strides = [2, 2] low = [0, 0] dilations = [1, 1]
      : (tensor<1x3x8x8xf32>) -> tensor<1x3x?x4xi64>
  return
}

// -----

func.func @resize_c1(%x: tensor<1x1x2x2xf32>, %s: tensor<3xf32>) {
  // expected-error @below {{'nn.resize' op has scales of type 'tensor<3xf32>' for an input of rank 4}}
  %0 = nn.resize linear %x, %s coordinate = half_pixel nearest = floor
      : (tensor<1x1x2x2xf32>, tensor<3xf32>) -> tensor<1x1x4x4xf32>
  return
}

// -----

func.func @resize_c1_type(%x: tensor<1x1x2x2xf32>, %s: tensor<4xf64>) {
  // expected-error @below {{'nn.resize' op has scales of type 'tensor<4xf64>' for an input of rank 4}}
  %0 = nn.resize linear %x, %s coordinate = half_pixel nearest = floor
      : (tensor<1x1x2x2xf32>, tensor<4xf64>) -> tensor<1x1x4x4xf32>
  return
}

// -----

func.func @resize_c2(%x: tensor<1x1x2x2xf32>, %s: tensor<4xf32>) {
  // expected-error @below {{'nn.resize' op has 0 sizes for 1 dynamic dimensions}}
  %0 = nn.resize linear %x, %s coordinate = half_pixel nearest = floor
      : (tensor<1x1x2x2xf32>, tensor<4xf32>) -> tensor<1x1x?x4xf32>
  return
}

// -----

func.func @cast_c1(%x: tensor<8xf32>) {
  // expected-error @below {{'nn.cast' op has a result of shape [7] where its operands ask for [8]}}
  %0 = nn.cast %x : (tensor<8xf32>) -> tensor<7xi32>
  return
}

// -----

func.func @bitcast_c1(%x: tensor<8xf32>) {
  // expected-error @below {{'nn.bitcast' op reads 'f32' as 'i16', of another width}}
  %0 = nn.bitcast %x : (tensor<8xf32>) -> tensor<8xi16>
  return
}

// -----

func.func @bitcast_c1_shape(%x: tensor<8xf32>) {
  // expected-error @below {{'nn.bitcast' op has a result of shape [4] where its operands ask for [8]}}
  %0 = nn.bitcast %x : (tensor<8xf32>) -> tensor<4xi32>
  return
}

// -----

func.func @scatter_elements_c1(%x: tensor<8xf32>, %i: tensor<3xi64>, %u: tensor<3xf32>) {
  // expected-error @below {{'nn.scatter_elements' op has axis 1 on a tensor of rank 1}}
  %0 = nn.scatter_elements add %x, %i, %u axis = 1
      : (tensor<8xf32>, tensor<3xi64>, tensor<3xf32>) -> tensor<8xf32>
  return
}

// -----

func.func @scatter_elements_c1_rank(%x: tensor<8xf32>, %i: tensor<3x1xi64>, %u: tensor<3xf32>) {
  // expected-error @below {{'nn.scatter_elements' op has an input of rank 1, indices of rank 2 and updates of rank 1}}
  %0 = nn.scatter_elements add %x, %i, %u axis = 0
      : (tensor<8xf32>, tensor<3x1xi64>, tensor<3xf32>) -> tensor<8xf32>
  return
}

// -----

func.func @scatter_elements_c1_indices(%x: tensor<8xf32>, %i: tensor<3xf32>, %u: tensor<3xf32>) {
  // expected-error @below {{'nn.scatter_elements' op wants integers as indices but has 'f32'}}
  %0 = nn.scatter_elements add %x, %i, %u axis = 0
      : (tensor<8xf32>, tensor<3xf32>, tensor<3xf32>) -> tensor<8xf32>
  return
}

// -----

func.func @scatter_elements_c1_updates(%x: tensor<8xf32>, %i: tensor<3xi64>, %u: tensor<4xf32>) {
  // expected-error @below {{'nn.scatter_elements' op has updates of type 'tensor<4xf32>' for indices of type 'tensor<3xi64>'}}
  %0 = nn.scatter_elements add %x, %i, %u axis = 0
      : (tensor<8xf32>, tensor<3xi64>, tensor<4xf32>) -> tensor<8xf32>
  return
}

// -----

func.func @scatter_elements_c1_result(%x: tensor<8xf32>, %i: tensor<3xi64>, %u: tensor<3xf32>) {
  // expected-error @below {{'nn.scatter_elements' op has a result of shape [7] where its operands ask for [8]}}
  %0 = nn.scatter_elements add %x, %i, %u axis = 0
      : (tensor<8xf32>, tensor<3xi64>, tensor<3xf32>) -> tensor<7xf32>
  return
}

// -----

func.func @scatter_nd_c1(%x: tensor<8x4xf32>, %i: tensor<3x1xi64>, %u: tensor<3xf32>) {
  // expected-error @below {{'nn.scatter_nd' op writes 'tensor<3xf32>' at tuples 'tensor<3x1xi64>' into 'tensor<8x4xf32>'}}
  %0 = nn.scatter_nd replace %x, %i, %u
      : (tensor<8x4xf32>, tensor<3x1xi64>, tensor<3xf32>) -> tensor<8x4xf32>
  return
}

// -----

func.func @scatter_nd_c1_indices(%x: tensor<8x4xf32>, %i: tensor<3x1xf32>, %u: tensor<3x4xf32>) {
  // expected-error @below {{'nn.scatter_nd' op wants integers as indices but has 'f32'}}
  %0 = nn.scatter_nd replace %x, %i, %u
      : (tensor<8x4xf32>, tensor<3x1xf32>, tensor<3x4xf32>) -> tensor<8x4xf32>
  return
}

// -----

func.func @scatter_nd_c1_result(%x: tensor<8x4xf32>, %i: tensor<3x1xi64>, %u: tensor<3x4xf32>) {
  // expected-error @below {{'nn.scatter_nd' op has a result of shape [8, 5] where its operands ask for [8, 4]}}
  %0 = nn.scatter_nd replace %x, %i, %u
      : (tensor<8x4xf32>, tensor<3x1xi64>, tensor<3x4xf32>) -> tensor<8x5xf32>
  return
}

// -----

func.func @top_k_c1(%x: tensor<8x64xf32>) {
  // expected-error @below {{'nn.top_k' op has axis 2 on a tensor of rank 2}}
  %0, %1 = nn.top_k %x axis = 2 : (tensor<8x64xf32>) -> (tensor<8x5xf32>, tensor<8x5xi64>)
  return
}

// -----

func.func @top_k_c1_shapes(%x: tensor<8x64xf32>) {
  // expected-error @below {{'nn.top_k' op has a result of shape [8, 4] where its operands ask for [8, 5]}}
  %0, %1 = nn.top_k %x axis = 1 : (tensor<8x64xf32>) -> (tensor<8x5xf32>, tensor<8x4xi64>)
  return
}

// -----

func.func @top_k_c1_off_axis(%x: tensor<8x64xf32>) {
  // expected-error @below {{'nn.top_k' op has a result of shape [7, 5] where its operands ask for [8, 5]}}
  %0, %1 = nn.top_k %x axis = 1 : (tensor<8x64xf32>) -> (tensor<7x5xf32>, tensor<7x5xi64>)
  return
}

// -----

func.func @top_k_c1_indices(%x: tensor<8x64xf32>) {
  // expected-error @below {{'nn.top_k' op gives indices of i64}}
  %0, %1 = nn.top_k %x axis = 1 : (tensor<8x64xf32>) -> (tensor<8x5xf32>, tensor<8x5xi32>)
  return
}

// -----

func.func @top_k_c1_type(%x: tensor<8x64xf32>) {
  // expected-error @below {{'nn.top_k' op joins element types 'f32' and 'f64'}}
  %0, %1 = nn.top_k %x axis = 1 : (tensor<8x64xf32>) -> (tensor<8x5xf64>, tensor<8x5xi64>)
  return
}

// -----

func.func @top_k_c2(%x: tensor<8x64xf32>) {
  // expected-error @below {{'nn.top_k' op has 0 sizes for 1 dynamic dimensions}}
  %0, %1 = nn.top_k %x axis = 1 : (tensor<8x64xf32>) -> (tensor<8x?xf32>, tensor<8x?xi64>)
  return
}

// -----

func.func @triangularize_c1(%x: tensor<8x4x5xf32>) {
  // expected-error @below {{'nn.triangularize' op wants square matrices but has 'tensor<8x4x5xf32>'}}
  %0 = nn.triangularize %x : (tensor<8x4x5xf32>) -> tensor<8x4x5xf32>
  return
}

// -----

func.func @triangularize_c1_rank(%x: tensor<4xf32>) {
  // expected-error @below {{'nn.triangularize' op wants square matrices but has 'tensor<4xf32>'}}
  %0 = nn.triangularize %x : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @triangularize_c2(%x: tensor<4x4xf16>) {
  // expected-error @below {{'nn.triangularize' op wants f32 or f64 but has 'f16'}}
  %0 = nn.triangularize %x : (tensor<4x4xf16>) -> tensor<4x4xf16>
  return
}

// -----

func.func @triangularize_c3(%x: tensor<4x4xf32>) {
  // expected-error @below {{'nn.triangularize' op has a result of shape [4, 5] where its operands ask for [4, 4]}}
  %0 = nn.triangularize %x : (tensor<4x4xf32>) -> tensor<4x5xf32>
  return
}

// -----

func.func @triangularize_c3_type(%x: tensor<4x4xf32>) {
  // expected-error @below {{'nn.triangularize' op joins element types 'f32' and 'f64'}}
  %0 = nn.triangularize %x : (tensor<4x4xf32>) -> tensor<4x4xf64>
  return
}

// -----

func.func @lstm_c1(%g: tensor<5x16xf32>, %r: tensor<16x4xf32>, %h: tensor<1x4xf32>, %c: tensor<1x4xf32>) {
  // expected-error @below {{'nn.lstm' op wants gates of rank 3 and a static recurrence of rank 2}}
  %0:3 = nn.lstm %g, %r init %h, %c activations = ["Sigmoid", "Tanh", "Tanh"]
      : (tensor<5x16xf32>, tensor<16x4xf32>, tensor<1x4xf32>, tensor<1x4xf32>) -> (tensor<5x1x4xf32>, tensor<1x4xf32>, tensor<1x4xf32>)
  return
}

// -----

func.func @lstm_c1_gates(%g: tensor<5x1x12xf32>, %r: tensor<16x4xf32>, %h: tensor<1x4xf32>, %c: tensor<1x4xf32>) {
  // expected-error @below {{'nn.lstm' op has 12 gate values and 16 recurrence rows for 4 hidden units}}
  %0:3 = nn.lstm %g, %r init %h, %c activations = ["Sigmoid", "Tanh", "Tanh"]
      : (tensor<5x1x12xf32>, tensor<16x4xf32>, tensor<1x4xf32>, tensor<1x4xf32>) -> (tensor<5x1x4xf32>, tensor<1x4xf32>, tensor<1x4xf32>)
  return
}

// -----

func.func @lstm_c1_state(%g: tensor<5x1x16xf32>, %r: tensor<16x4xf32>, %h: tensor<2x4xf32>, %c: tensor<1x4xf32>) {
  // expected-error @below {{'nn.lstm' op has a state of shape [2, 4] where the recurrence asks for [1, 4]}}
  %0:3 = nn.lstm %g, %r init %h, %c activations = ["Sigmoid", "Tanh", "Tanh"]
      : (tensor<5x1x16xf32>, tensor<16x4xf32>, tensor<2x4xf32>, tensor<1x4xf32>) -> (tensor<5x1x4xf32>, tensor<1x4xf32>, tensor<1x4xf32>)
  return
}

// -----

func.func @lstm_c1_cell(%g: tensor<5x1x16xf32>, %r: tensor<16x4xf32>, %h: tensor<1x4xf32>, %c: tensor<1x5xf32>) {
  // expected-error @below {{'nn.lstm' op has a cell state of shape [1, 5] where the recurrence asks for [1, 4]}}
  %0:3 = nn.lstm %g, %r init %h, %c activations = ["Sigmoid", "Tanh", "Tanh"]
      : (tensor<5x1x16xf32>, tensor<16x4xf32>, tensor<1x4xf32>, tensor<1x5xf32>) -> (tensor<5x1x4xf32>, tensor<1x4xf32>, tensor<1x4xf32>)
  return
}

// -----

func.func @lstm_c1_peepholes(%g: tensor<5x1x16xf32>, %r: tensor<16x4xf32>, %h: tensor<1x4xf32>, %c: tensor<1x4xf32>, %p: tensor<4xf32>) {
  // expected-error @below {{'nn.lstm' op has peepholes of shape [4] where the recurrence asks for [12]}}
  %0:3 = nn.lstm %g, %r init %h, %c peepholes %p activations = ["Sigmoid", "Tanh", "Tanh"]
      : (tensor<5x1x16xf32>, tensor<16x4xf32>, tensor<1x4xf32>, tensor<1x4xf32>, tensor<4xf32>) -> (tensor<5x1x4xf32>, tensor<1x4xf32>, tensor<1x4xf32>)
  return
}

// -----

func.func @lstm_c1_type(%g: tensor<5x1x16xf32>, %r: tensor<16x4xf64>, %h: tensor<1x4xf32>, %c: tensor<1x4xf32>) {
  // expected-error @below {{'nn.lstm' op joins element types 'f32' and 'f64'}}
  %0:3 = nn.lstm %g, %r init %h, %c activations = ["Sigmoid", "Tanh", "Tanh"]
      : (tensor<5x1x16xf32>, tensor<16x4xf64>, tensor<1x4xf32>, tensor<1x4xf32>) -> (tensor<5x1x4xf32>, tensor<1x4xf32>, tensor<1x4xf32>)
  return
}

// -----

func.func @lstm_c1_lengths(%g: tensor<5x1x16xf32>, %r: tensor<16x4xf32>, %h: tensor<1x4xf32>, %c: tensor<1x4xf32>, %l: tensor<1xf32>) {
  // expected-error @below {{'nn.lstm' op has lengths of type 'tensor<1xf32>'}}
  %0:3 = nn.lstm %g, %r init %h, %c lengths %l activations = ["Sigmoid", "Tanh", "Tanh"]
      : (tensor<5x1x16xf32>, tensor<16x4xf32>, tensor<1x4xf32>, tensor<1x4xf32>, tensor<1xf32>) -> (tensor<5x1x4xf32>, tensor<1x4xf32>, tensor<1x4xf32>)
  return
}

// -----

func.func @gru_c1(%g: tensor<5x1x12xf32>, %r: tensor<12x4xf32>, %b: tensor<12xf32>, %h: tensor<1x4xf32>) {
  // expected-error @below {{'nn.gru' op has a recurrent bias of shape [12] where the recurrence asks for [4]}}
  %0:2 = nn.gru %g, %r, %b init %h activations = ["Sigmoid", "Tanh"]
      : (tensor<5x1x12xf32>, tensor<12x4xf32>, tensor<12xf32>, tensor<1x4xf32>) -> (tensor<5x1x4xf32>, tensor<1x4xf32>)
  return
}

// -----

func.func @rnn_c1(%g: tensor<5x1x8xf32>, %r: tensor<4x4xf32>, %h: tensor<1x4xf32>) {
  // expected-error @below {{'nn.rnn' op has 8 gate values and 4 recurrence rows for 4 hidden units}}
  %0:2 = nn.rnn %g, %r init %h activations = ["Tanh"]
      : (tensor<5x1x8xf32>, tensor<4x4xf32>, tensor<1x4xf32>) -> (tensor<5x1x4xf32>, tensor<1x4xf32>)
  return
}

// -----

func.func @nonzero_c1(%x: tensor<8x4xf32>) {
  // expected-error @below {{'nn.nonzero' op gives 'tensor<3x?xi64>' for an input of rank 2}}
  %0, %1 = nn.nonzero %x : (tensor<8x4xf32>) -> tensor<3x?xi64>
  return
}

// -----

func.func @unique_c1(%x: tensor<f32>) {
  // expected-error @below {{'nn.unique' op has an input of rank 0}}
  %0, %1, %2 = nn.unique %x : (tensor<f32>) -> (tensor<?xi64>, tensor<1xi64>)
  return
}

// -----

func.func @unique_c1(%x: tensor<8x4xf32>) {
  // expected-error @below {{'nn.unique' op gives 'tensor<?xi64>' and 'tensor<4xi64>' for an input of type 'tensor<8x4xf32>'}}
  %0, %1, %2 = nn.unique %x : (tensor<8x4xf32>) -> (tensor<?xi64>, tensor<4xi64>)
  return
}

// -----

func.func @non_max_suppression_c1(%b: tensor<1x8x4xf32>, %s: tensor<1x2x7xf32>, %m: tensor<i64>, %t: tensor<f32>) {
  // expected-error @below {{'nn.non_max_suppression' op has boxes of type 'tensor<1x8x4xf32>' and scores of type 'tensor<1x2x7xf32>'}}
  %0, %1 = nn.non_max_suppression %b, %s max %m iou %t
      : (tensor<1x8x4xf32>, tensor<1x2x7xf32>, tensor<i64>, tensor<f32>) -> tensor<?x3xi64>
  return
}

// -----

func.func @non_max_suppression_c1(%b: tensor<1x8x4xf32>, %s: tensor<1x2x8xf32>, %m: tensor<?xi64>, %t: tensor<f32>) {
  // expected-error @below {{'nn.non_max_suppression' op has a number of boxes of type 'tensor<?xi64>'}}
  %0, %1 = nn.non_max_suppression %b, %s max %m iou %t
      : (tensor<1x8x4xf32>, tensor<1x2x8xf32>, tensor<?xi64>, tensor<f32>) -> tensor<?x3xi64>
  return
}

// -----

func.func @non_max_suppression_c1(%b: tensor<1x8x4xf32>, %s: tensor<1x2x8xf32>, %m: tensor<i64>, %t: tensor<i64>) {
  // expected-error @below {{'nn.non_max_suppression' op has a threshold of type 'tensor<i64>'}}
  %0, %1 = nn.non_max_suppression %b, %s max %m iou %t
      : (tensor<1x8x4xf32>, tensor<1x2x8xf32>, tensor<i64>, tensor<i64>) -> tensor<?x3xi64>
  return
}

// -----

func.func @non_max_suppression_c1(%b: tensor<1x8x4xf32>, %s: tensor<1x2x8xf32>, %m: tensor<i64>, %t: tensor<f32>) {
  // expected-error @below {{'nn.non_max_suppression' op gives 'tensor<?x2xi64>'}}
  %0, %1 = nn.non_max_suppression %b, %s max %m iou %t
      : (tensor<1x8x4xf32>, tensor<1x2x8xf32>, tensor<i64>, tensor<f32>) -> tensor<?x2xi64>
  return
}

// -----

func.func @fused_c1(%x: tensor<8xf32>, %d: tensor<?xf32>, %n: index) {
  // expected-error @below {{'nn.fused' op has body arguments that differ from its operands}}
  %0 = nn.fused (%x : tensor<8xf32>) -> (tensor<8xf32>) {
  ^bb0(%a: tensor<8xf32>, %b: tensor<8xf32>):
    nn.yield %a : tensor<8xf32>
  }
  return
}

// -----

func.func @fused_c2(%x: tensor<8xf32>, %d: tensor<?xf32>, %n: index) {
  // expected-error @below {{'nn.fused' op yields types that differ from its results}}
  %0 = nn.fused (%x : tensor<8xf32>) -> (tensor<8xf32>) {
  ^bb0(%a: tensor<8xf32>):
    nn.yield %a, %a : tensor<8xf32>, tensor<8xf32>
  }
  return
}

// -----

func.func @fused_c3(%x: tensor<8xf32>, %d: tensor<?xf32>, %n: index) {
  // expected-error @below {{'nn.fused' op has 0 sizes for 1 dynamic dimensions}}
  %0 = nn.fused (%d, %n : tensor<?xf32>, index) input_sizes = [1] -> (tensor<?xf32>) {
  ^bb0(%a: tensor<?xf32>, %b: index):
    nn.yield %a : tensor<?xf32>
  }
  return
}

// -----

func.func @fused_c4(%x: tensor<8xf32>, %d: tensor<?xf32>, %n: index) {
  // expected-error @below {{'nn.fused' op has 0 input sizes for 1 dynamic dimensions}}
  %0 = nn.fused (%d, %n : tensor<?xf32>, index) sizes(%n) -> (tensor<?xf32>) {
  ^bb0(%a: tensor<?xf32>, %b: index):
    nn.yield %a : tensor<?xf32>
  }
  return
}

// -----

func.func @fused_c4_number(%x: tensor<8xf32>, %d: tensor<?xf32>, %n: index) {
  // expected-error @below {{'nn.fused' op has input size 0, which is no argument of type index}}
  %0 = nn.fused (%d, %n : tensor<?xf32>, index) sizes(%n) input_sizes = [0] -> (tensor<?xf32>) {
  ^bb0(%a: tensor<?xf32>, %b: index):
    nn.yield %a : tensor<?xf32>
  }
  return
}
