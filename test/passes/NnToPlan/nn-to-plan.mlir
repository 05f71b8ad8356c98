// RUN: joule-opt %s --nn-to-plan | FileCheck %s

// A call becomes an allocation and a launch, guarded where a size is not known yet; the grid is the kernel's own expression of the host's sizes.
// CHECK-LABEL: func @main(%arg0: !plan.buffer
// CHECK:         %[[N:.*]] = nn.symbol "n"
// CHECK:         plan.check %{{.*}}, "a tensor has 2^31 elements or more, which is not supported"
// CHECK:         %[[Y:.*]] = plan.alloc
// CHECK:         %[[G:.*]] = arith.ceildivui %[[N]]
// CHECK:         plan.launch @negate grid(%[[G]],
// CHECK-SAME:      (%arg0, %[[N]], %[[Y]]) results = 1
// CHECK:         plan.output "y" %[[Y]] type = tensor<?xf32> onnx_type = 1 sizes(%[[N]])
func.func @main(%x: tensor<?xf32> {nn.name = "x", nn.type = 1, nn.dims = ["n"]})
    -> (tensor<?xf32> {nn.name = "y", nn.type = 1}) {
  %n = nn.symbol "n"
  %y = plan.call @negate(%x, %n) sizes(%n) flops(%n) : (tensor<?xf32>, index) -> tensor<?xf32>
  return %y : tensor<?xf32>
}

tile.kernel @negate nodes = ["n"] block = [256, 1, 1] body {
^bb0(%x: !tile.buffer<f32>, %n: index, %y: !tile.buffer<f32>):
  %i = gpu.global_id x
  %v = tile.load %x[%i] : !tile.buffer<f32>
  %m = arith.negf %v : f32
  tile.store %m, %y[%i] : !tile.buffer<f32>
  tile.return
} grid {
^bb0(%n: index):
  %c1 = arith.constant 1 : index
  %c256 = arith.constant 256 : index
  %b = arith.ceildivui %n, %c256 : index
  tile.grid %b, %c1, %c1
}
