// A sum over no products is zero; its schedule once walked runs of no elements.
// RUN: joule verify %s
func.func @main(%x: tensor<3x0xf32> {nn.dims = [3, 0], nn.name = "x", nn.type = 1 : i64}, %w: tensor<0x5xf32> {nn.dims = [0, 5], nn.name = "w", nn.type = 1 : i64}) -> (tensor<3x5xf32> {nn.name = "y", nn.type = 1 : i64}) {
  %y = nn.contract %x, %w lhs = [0, 2] rhs = [2, 1] out = [0, 1] : (tensor<3x0xf32>, tensor<0x5xf32>) -> tensor<3x5xf32>
  return %y : tensor<3x5xf32>
}
