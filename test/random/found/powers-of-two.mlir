// Casts to powers of two round up, down or to the nearest; kernels once knew the nearest alone.
// RUN: joule verify %s --input x=random:0:4
func.func @main(%x: tensor<40xf32> {nn.dims = [40], nn.name = "x", nn.type = 1 : i64}) -> (tensor<40x!nn.f8e8m0> {nn.name = "u", nn.type = 24 : i64}, tensor<40x!nn.f8e8m0> {nn.name = "d", nn.type = 24 : i64}, tensor<40x!nn.f8e8m0> {nn.name = "n", nn.type = 24 : i64}, tensor<40x!nn.f8e8m0> {nn.name = "t", nn.type = 24 : i64}) {
  %u = nn.cast %x rounding = up : (tensor<40xf32>) -> tensor<40x!nn.f8e8m0>
  %d = nn.cast %x rounding = down : (tensor<40xf32>) -> tensor<40x!nn.f8e8m0>
  %n = nn.cast %x rounding = nearest : (tensor<40xf32>) -> tensor<40x!nn.f8e8m0>
  %scale = nn.constant dense<1.4693679e-39> : tensor<f32> -> tensor<f32>
  %scales = nn.broadcast %scale dimensions = [] : (tensor<f32>) -> tensor<40xf32>
  %tiny = arith.mulf %x, %scales : tensor<40xf32>
  %t = nn.cast %tiny rounding = up : (tensor<40xf32>) -> tensor<40x!nn.f8e8m0>
  return %u, %d, %n, %t : tensor<40x!nn.f8e8m0>, tensor<40x!nn.f8e8m0>, tensor<40x!nn.f8e8m0>, tensor<40x!nn.f8e8m0>
}
