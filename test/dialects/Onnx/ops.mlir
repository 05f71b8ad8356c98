// Every op of the onnx level is read, written and read again without a change.
// RUN: joule-opt %s > %t.1 && joule-opt %t.1 > %t.2 && diff %t.1 %t.2
// RUN: joule-opt %s --mlir-print-op-generic | joule-opt | diff %t.1 -
// RUN: FileCheck %s < %t.1

// CHECK-LABEL: func.func @initialisers
// CHECK:         onnx.constant dense<1> : tensor<2xi64> -> tensor<2xi64>
// CHECK:         onnx.constant #onnx.weight<"m.onnx", 120, 64> -> tensor<4x4xf32>
func.func @initialisers() {
  %small = onnx.constant dense<1> : tensor<2xi64> -> tensor<2xi64>
  %large = onnx.constant #onnx.weight<"m.onnx", 120, 64> -> tensor<4x4xf32>
  onnx.return
}

// CHECK-LABEL: func.func @nodes
// CHECK:         %[[Y:.*]] = onnx.node "Gemm" version 13 (%{{.*}}, %{{.*}}, %{{.*}}) {alpha = 5.000000e-01 : f32}
// CHECK:         onnx.node "Thing" domain "com.example" version 1 () : () -> ()
// CHECK:         onnx.node "Relu" version 14 (%[[Y]]) : (tensor<8x4xf32>) -> tensor<8x4xf32>
func.func @nodes(%x: tensor<8x16xf32>, %w: tensor<16x4xf32>) -> tensor<8x4xf32> {
  %none = onnx.absent
  %y = onnx.node "Gemm" version 13 (%x, %w, %none) {alpha = 0.5 : f32}
      : (tensor<8x16xf32>, tensor<16x4xf32>, !onnx.absent) -> tensor<8x4xf32>
  onnx.node "Thing" domain "com.example" version 1 () : () -> ()
  %z = onnx.node "Relu" version 14 (%y) : (tensor<8x4xf32>) -> tensor<8x4xf32>
  onnx.return %z : tensor<8x4xf32>
}

// Each subgraph is a region with a name; its block arguments are its inputs.
// CHECK-LABEL: func.func @subgraphs
// CHECK:         onnx.node "If" version 16 (%{{.*}}) graphs ["then_branch", "else_branch"] ({
// CHECK:           onnx.return %{{.*}} : tensor<4xf32>
// CHECK:         onnx.node "Scan" version 16 (%{{.*}}) {num_scan_inputs = 1 : i64} graphs ["body"] ({
// CHECK:         ^bb0(%{{.*}}: tensor<4xf32>):
func.func @subgraphs(%which: tensor<i1>, %x: tensor<4xf32>, %rows: tensor<3x4xf32>) {
  %y = onnx.node "If" version 16 (%which) graphs ["then_branch", "else_branch"] ({
    onnx.return %x : tensor<4xf32>
  }, {
    %z = onnx.node "Neg" version 13 (%x) : (tensor<4xf32>) -> tensor<4xf32>
    onnx.return %z : tensor<4xf32>
  }) : (tensor<i1>) -> tensor<4xf32>
  %s = onnx.node "Scan" version 16 (%rows) {num_scan_inputs = 1 : i64} graphs ["body"] ({
  ^bb0(%row: tensor<4xf32>):
    onnx.return %row : tensor<4xf32>
  }) : (tensor<3x4xf32>) -> tensor<3x4xf32>
  onnx.return
}

// CHECK-LABEL: func.func @other_types
// CHECK-SAME:    !onnx.sequence<tensor<?xf32>>
// CHECK-SAME:    !onnx.optional<!onnx.sequence<tensor<4xi64>>>
// CHECK-SAME:    tensor<3x!onnx.string>
func.func @other_types(%a: !onnx.sequence<tensor<?xf32>>, %b: !onnx.optional<!onnx.sequence<tensor<4xi64>>>,
                       %c: tensor<3x!onnx.string>) {
  onnx.return
}
