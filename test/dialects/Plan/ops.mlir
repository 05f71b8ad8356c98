// Every op of the plan level is read, written and read again without a change.
// RUN: joule-opt %s > %t.1 && joule-opt %t.1 > %t.2 && diff %t.1 %t.2
// RUN: joule-opt %s --mlir-print-op-generic | joule-opt | diff %t.1 -
// RUN: FileCheck %s < %t.1

tile.kernel @relu nodes = ["relu_0"] input_sizes = [1] body {
^bb0(%x: tensor<?xf32>, %n: index):
  nn.yield %x : tensor<?xf32>
}

tile.kernel @lowered nodes = ["relu_0"] block = [256, 1, 1] body {
^bb0(%x: !tile.buffer<f32>, %n: index, %y: !tile.buffer<f32>):
  tile.return
} grid {
^bb0(%n: index):
  tile.grid %n, %n, %n
}

// Before buffers exist, and when the kernel is already threads' work.
// CHECK-LABEL: func.func @calls
// CHECK:         plan.call @relu(%{{.*}}, %{{.*}}) sizes(%{{.*}}) flops(%{{.*}}) : (tensor<?xf32>, index) -> tensor<?xf32>
// CHECK:         plan.call @lowered(%{{.*}}, %{{.*}}) sizes(%{{.*}}) flops(%{{.*}}) : (tensor<?xf32>, index) -> tensor<?xf32>
func.func @calls(%x: tensor<?xf32>, %n: index) {
  %y = plan.call @relu(%x, %n) sizes(%n) flops(%n) : (tensor<?xf32>, index) -> tensor<?xf32>
  %z = plan.call @lowered(%x, %n) sizes(%n) flops(%n) : (tensor<?xf32>, index) -> tensor<?xf32>
  return
}

// CHECK-LABEL: func.func @host_program
// CHECK:         plan.weight dense<1.000000e+00> : tensor<4xf32> type = tensor<4xf32>
// CHECK:         plan.weight #nn.weight<"m.onnx", 120, 64> type = tensor<4x4xf32>
// CHECK:         %[[A:.*]] = plan.alloc
// CHECK:         plan.launch @lowered grid(%{{.*}}, %{{.*}}, %{{.*}}) (%[[A]], %{{.*}}, %{{.*}}) results = 1 cost(
// CHECK-SAME:      : !plan.buffer, index, !plan.buffer
// CHECK:         plan.read_scalar %[[A]][%{{.*}}] element = i64
// CHECK:         plan.write_scalars %[[A]], %{{.*}}, %{{.*}} element = i64
// CHECK:         plan.write_scalars %[[A]] element = i64
// CHECK:         plan.copy %[[A]] to %{{.*}} bytes %{{.*}}
// CHECK:         plan.host_call "nonzero"(%[[A]]) types = [tensor<8x4xf32>] -> [tensor<2x?xi64>] : !plan.buffer, index
// CHECK:         plan.host_call "nonzero"(%[[A]]) sizes(%{{.*}}) types = [tensor<?xf32>] -> [tensor<1x?xi64>]
// CHECK-SAME:      settings = {order = "row"}
// CHECK:         plan.check %{{.*}}, "inputs a and b differ in size along axis 1"
// CHECK:         plan.output "y" %[[A]] type = tensor<?xf32> onnx_type = 1 sizes(%{{.*}})
// CHECK:         plan.output "z" %[[A]] type = tensor<4xf32> onnx_type = 1
func.func @host_program(%bytes: index, %same: i1) {
  %c1 = arith.constant 1 : index
  %small = plan.weight dense<1.0> : tensor<4xf32> type = tensor<4xf32>
  %large = plan.weight #nn.weight<"m.onnx", 120, 64> type = tensor<4x4xf32>
  %a = plan.alloc %bytes
  %b = plan.alloc %bytes
  plan.launch @lowered grid(%c1, %c1, %c1) (%a, %bytes, %b) results = 1 cost(%c1, %bytes, %bytes)
      : !plan.buffer, index, !plan.buffer
  %n = plan.read_scalar %a[%c1] element = i64
  plan.write_scalars %a, %n, %c1 element = i64
  plan.write_scalars %a element = i64
  plan.copy %a to %b bytes %n
  %i, %count = plan.host_call "nonzero" (%a) types = [tensor<8x4xf32>] -> [tensor<2x?xi64>] : !plan.buffer, index
  %j, %more = plan.host_call "nonzero" (%a) sizes(%n) types = [tensor<?xf32>] -> [tensor<1x?xi64>]
      settings = {order = "row"} : !plan.buffer, index
  plan.check %same, "inputs a and b differ in size along axis 1"
  plan.output "y" %a type = tensor<?xf32> onnx_type = 1 sizes(%n)
  plan.output "z" %a type = tensor<4xf32> onnx_type = 1
  return
}
