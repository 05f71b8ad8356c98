// What the plan ops refuse: a call or a launch that does not fit its kernel.
// RUN: joule-opt %s --split-input-file --verify-diagnostics

func.func @call_without_kernel(%x: tensor<4xf32>, %n: index) {
  // expected-error @below {{'plan.call' op names no kernel @relu}}
  %y = plan.call @relu(%x) flops(%n) : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

tile.kernel @relu nodes = ["relu_0"] body {
^bb0(%x: tensor<4xf32>):
  nn.yield %x : tensor<4xf32>
}

func.func @call_with_too_much(%x: tensor<4xf32>, %n: index) {
  // expected-error @below {{'plan.call' op has 2 arguments for kernel @relu, which takes 1}}
  %y = plan.call @relu(%x, %x) flops(%n) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @launch_without_kernel(%n: index) {
  // expected-error @below {{'plan.launch' op names no kernel @relu}}
  plan.launch @relu grid(%n, %n, %n) (%n) results = 0 cost(%n, %n, %n) : index
  return
}

// -----

tile.kernel @relu nodes = ["relu_0"] body {
^bb0(%x: !tile.buffer<f32>):
  tile.return
} grid {
^bb0:
  %c1 = arith.constant 1 : index
  tile.grid %c1, %c1, %c1
}

func.func @launch_with_too_much(%n: index) {
  // expected-error @below {{'plan.launch' op has 2 arguments for kernel @relu, which takes 1}}
  plan.launch @relu grid(%n, %n, %n) (%n, %n) results = 0 cost(%n, %n, %n) : index, index
  return
}
