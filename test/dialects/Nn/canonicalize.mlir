// RUN: joule-opt %s --canonicalize | FileCheck %s

// CHECK-LABEL: func @movement_that_moves_nothing
// CHECK-NEXT:    return %arg0
func.func @movement_that_moves_nothing(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %zero = nn.constant dense<0.0> : tensor<f32> -> tensor<f32>
  %0 = nn.broadcast %x dimensions = [0, 1] : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %1 = nn.reshape %0 : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %2 = nn.transpose %1 permutation = [0, 1] : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %3 = nn.slice %2 offsets = [0, 0] strides = [1, 1] : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %4 = nn.pad %3, %zero low = [0, 0] mode = constant : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
  %5 = nn.concat %4 axis = 0 : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %6 = nn.cast %5 : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return %6 : tensor<2x3xf32>
}

// CHECK-LABEL: func @chains
// CHECK:         nn.transpose %arg0 permutation = [2, 0, 1]
// CHECK:         nn.reshape
// CHECK-NOT:     nn.
// CHECK:         return
func.func @chains(%x: tensor<2x3x4xf32>) -> tensor<24xf32> {
  %0 = nn.transpose %x permutation = [1, 2, 0] : (tensor<2x3x4xf32>) -> tensor<3x4x2xf32>
  %1 = nn.transpose %0 permutation = [1, 2, 0] : (tensor<3x4x2xf32>) -> tensor<4x2x3xf32>
  %2 = nn.reshape %1 : (tensor<4x2x3xf32>) -> tensor<8x3xf32>
  %3 = nn.reshape %2 : (tensor<8x3xf32>) -> tensor<24xf32>
  return %3 : tensor<24xf32>
}

// A saturating cast between signed and unsigned clamps, so it stays.
// CHECK-LABEL: func @clamping_cast
// CHECK:         nn.cast
func.func @clamping_cast(%x: tensor<4xi8>) -> tensor<4xi8> {
  %0 = nn.cast %x saturate unsigned_result : (tensor<4xi8>) -> tensor<4xi8>
  return %0 : tensor<4xi8>
}

// CHECK-LABEL: func @convolution_takes_padding
// CHECK-NOT:     nn.pad
// CHECK:         nn.conv %arg0, %arg1 strides = [1, 1] low = [1, 2]
func.func @convolution_takes_padding(%x: tensor<1x3x8x8xf32>, %f: tensor<4x3x3x3xf32>) -> tensor<1x4x8x10xf32> {
  %zero = nn.constant dense<0.0> : tensor<f32> -> tensor<f32>
  %p = nn.pad %x, %zero low = [0, 0, 1, 2] mode = constant
      : (tensor<1x3x8x8xf32>, tensor<f32>) -> tensor<1x3x10x12xf32>
  %y = nn.conv %p, %f strides = [1, 1] low = [0, 0] dilations = [1, 1] input_dilations = [1, 1] groups = 1
      : (tensor<1x3x10x12xf32>, tensor<4x3x3x3xf32>) -> tensor<1x4x8x10xf32>
  return %y : tensor<1x4x8x10xf32>
}
