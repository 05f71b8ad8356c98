// A scale that f32 rounded stands for the ratio of the sizes, and a single result has a coordinate of its own.
// RUN: joule verify %s
func.func @main(%x: tensor<17x2xf32> {nn.dims = [17, 2], nn.name = "x", nn.type = 1 : i64}) -> (tensor<25x2xf32> {nn.name = "a", nn.type = 1 : i64}, tensor<17x1xf32> {nn.name = "b", nn.type = 1 : i64}) {
  %up = nn.constant dense<[1.470588235, 1.0]> : tensor<2xf32> -> tensor<2xf32>
  %a = nn.resize nearest %x, %up coordinate = align_corners nearest = ceil : (tensor<17x2xf32>, tensor<2xf32>) -> tensor<25x2xf32>
  %down = nn.constant dense<[1.0, 0.5]> : tensor<2xf32> -> tensor<2xf32>
  %b = nn.resize cubic %x, %down coordinate = pytorch_half_pixel nearest = ceil : (tensor<17x2xf32>, tensor<2xf32>) -> tensor<17x1xf32>
  return %a, %b : tensor<25x2xf32>, tensor<17x1xf32>
}
