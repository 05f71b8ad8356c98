// An operand may know a size that its neighbour, and the result's type, do not.
// RUN: joule verify %s --dim n=3 --input x=random:1:2 --input w=random:1:2
func.func @main(%x: tensor<?xf32> {nn.dims = ["n"], nn.name = "x", nn.type = 1 : i64}, %w: tensor<3xf32> {nn.dims = [3], nn.name = "w", nn.type = 1 : i64}) -> (tensor<?xf32> {nn.name = "y", nn.type = 1 : i64}) {
  %n = nn.symbol "n"
  %a = "arith.divf"(%x, %w) <{fastmath = #arith.fastmath<none>}> : (tensor<?xf32>, tensor<3xf32>) -> tensor<?xf32>
  %y = nn.softmax %a axis = 0 : (tensor<?xf32>) -> tensor<?xf32>
  return %y : tensor<?xf32>
}
