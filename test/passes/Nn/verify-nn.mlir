// RUN: joule-opt %s --verify-nn --split-input-file --verify-diagnostics

func.func @main(%x: tensor<8xf32> {nn.name = "x", nn.type = 1}) -> (tensor<8xf32> {nn.name = "y", nn.type = 1}) {
  // expected-error @below {{internal: onnx.node is left at the nn level}}
  %y = onnx.node "Relu" version 14 (%x) : (tensor<8xf32>) -> tensor<8xf32>
  return %y : tensor<8xf32>
}

// -----

// expected-error @below {{internal: argument 0 has no name or no type}}
func.func @main(%x: tensor<8xf32>) -> (tensor<8xf32> {nn.name = "y", nn.type = 1}) {
  return %x : tensor<8xf32>
}

// -----

func.func @main(%x: tensor<?xf32> {nn.name = "x", nn.type = 1}) -> (tensor<?xf32> {nn.name = "y", nn.type = 1}) {
  // expected-error @below {{internal: nothing tells the sizes of a result of arith.negf}}
  %y = arith.negf %x : tensor<?xf32>
  return %y : tensor<?xf32>
}
