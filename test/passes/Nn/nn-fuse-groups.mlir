// RUN: joule-opt %s --nn-fuse-groups | FileCheck %s

// A contraction takes the pointwise ops behind it; the broadcast of the bias is cloned into its kernel.
// CHECK-LABEL: func @epilogue
// CHECK:         nn.fused
// CHECK:           nn.contract
// CHECK:           nn.broadcast
// CHECK:           arith.addf
// CHECK:           nn.yield
// CHECK-NOT:     nn.fused
// CHECK:         return
func.func @epilogue(%x: tensor<8x16xf32>, %w: tensor<16x4xf32>, %b: tensor<4xf32>) -> tensor<8x4xf32> {
  %y = nn.contract %x, %w lhs = [0, 2] rhs = [2, 1] out = [0, 1]
      : (tensor<8x16xf32>, tensor<16x4xf32>) -> tensor<8x4xf32>
  %c = nn.broadcast %b dimensions = [1] : (tensor<4xf32>) -> tensor<8x4xf32>
  %s = arith.addf %y, %c : tensor<8x4xf32>
  return %s : tensor<8x4xf32>
}

// A product that is read twice on the way to one value stays in the kernel.
// CHECK-LABEL: func @diamond
// CHECK:         nn.fused
// CHECK:           nn.contract
// CHECK-NEXT:      math.exp
// CHECK-NEXT:      arith.addf
// CHECK-NEXT:      nn.yield
// CHECK-NOT:     nn.fused
func.func @diamond(%x: tensor<8x16xf32>, %w: tensor<16x4xf32>) -> tensor<8x4xf32> {
  %y = nn.contract %x, %w lhs = [0, 2] rhs = [2, 1] out = [0, 1]
      : (tensor<8x16xf32>, tensor<16x4xf32>) -> tensor<8x4xf32>
  %e = math.exp %y : tensor<8x4xf32>
  %s = arith.addf %y, %e : tensor<8x4xf32>
  return %s : tensor<8x4xf32>
}

// One that is wanted itself goes through memory.
// CHECK-LABEL: func @read_twice
// CHECK:         nn.fused
// CHECK:           nn.contract
// CHECK-NEXT:      nn.yield
// CHECK:         nn.fused
// CHECK:           math.exp
// CHECK:           arith.addf
func.func @read_twice(%x: tensor<8x16xf32>, %w: tensor<16x4xf32>) -> (tensor<8x4xf32>, tensor<8x4xf32>) {
  %y = nn.contract %x, %w lhs = [0, 2] rhs = [2, 1] out = [0, 1]
      : (tensor<8x16xf32>, tensor<16x4xf32>) -> tensor<8x4xf32>
  %e = math.exp %y : tensor<8x4xf32>
  %s = arith.addf %y, %e : tensor<8x4xf32>
  return %y, %s : tensor<8x4xf32>, tensor<8x4xf32>
}

// A contraction reads each operand element many times, so no arithmetic stands before it; a transpose may.
// CHECK-LABEL: func @no_prologue
// CHECK:         nn.fused
// CHECK:           math.exp
// CHECK-NEXT:      nn.yield
// CHECK:         nn.fused
// CHECK:           nn.transpose
// CHECK-NEXT:      nn.contract
func.func @no_prologue(%x: tensor<16x8xf32>, %w: tensor<16x4xf32>) -> tensor<8x4xf32> {
  %e = math.exp %x : tensor<16x8xf32>
  %t = nn.transpose %e permutation = [1, 0] : (tensor<16x8xf32>) -> tensor<8x16xf32>
  %y = nn.contract %t, %w lhs = [0, 2] rhs = [2, 1] out = [0, 1]
      : (tensor<8x16xf32>, tensor<16x4xf32>) -> tensor<8x4xf32>
  return %y : tensor<8x4xf32>
}

// A reshape of something in memory is the same memory.
// CHECK-LABEL: func @alias
// CHECK-NOT:     nn.fused
// CHECK:         nn.reshape
func.func @alias(%x: tensor<8x4xf32>) -> tensor<32xf32> {
  %r = nn.reshape %x : (tensor<8x4xf32>) -> tensor<32xf32>
  return %r : tensor<32xf32>
}

// Sizes are arguments of the group, and input_sizes says which.
// CHECK-LABEL: func @dynamic
// CHECK:         %[[N:.*]] = nn.symbol "n"
// CHECK:         nn.fused(%{{.*}}, %[[N]] : tensor<?xf32>, index) sizes(%[[N]]) input_sizes = [1]
func.func @dynamic(%x: tensor<?xf32> {nn.dims = ["n"]}) -> tensor<?xf32> {
  %n = nn.symbol "n"
  %y = arith.negf %x : tensor<?xf32>
  return %y : tensor<?xf32>
}

// What an alias names must be in memory.
// CHECK-LABEL: func @alias_of_movement
// CHECK:         %[[T:.*]] = nn.fused
// CHECK:           nn.transpose
// CHECK:         nn.reshape %[[T]]
func.func @alias_of_movement(%x: tensor<8x4xf32>) -> tensor<32xf32> {
  %t = nn.transpose %x permutation = [1, 0] : (tensor<8x4xf32>) -> tensor<4x8xf32>
  %r = nn.reshape %t : (tensor<4x8xf32>) -> tensor<32xf32>
  return %r : tensor<32xf32>
}

// An integer of the host reaches a kernel as an index.
// CHECK-LABEL: func @host_integer
// CHECK:         %[[I:.*]] = arith.index_cast %{{.*}} : i64 to index
// CHECK:         nn.fused(%{{.*}}, %[[I]] : tensor<2xi64>, index)
// CHECK:           arith.index_cast %{{.*}} : index to i64
func.func @host_integer(%x: tensor<2xi64>, %n: i64) -> tensor<2xi64> {
  %t = tensor.from_elements %n, %n : tensor<2xi64>
  %s = arith.addi %x, %t : tensor<2xi64>
  return %s : tensor<2xi64>
}
