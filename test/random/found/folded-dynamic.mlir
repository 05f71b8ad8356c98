// What folds to a constant of a dynamic type still has a size.
// RUN: joule verify %s --dim n=3
// RUN: joule verify %s --dim n=0
func.func @main(%x: tensor<?xi32> {nn.dims = ["n"], nn.name = "x", nn.type = 6 : i64}) -> (tensor<?xi32> {nn.name = "y", nn.type = 6 : i64}) {
  %n = nn.symbol "n"
  %y = arith.subi %x, %x : tensor<?xi32>
  return %y : tensor<?xi32>
}
