// One case per numbered constraint of the onnx ops, named after it; then what the parser refuses.
// RUN: joule-opt %s --split-input-file --verify-diagnostics

func.func @node_c1(%which: tensor<i1>) {
  // expected-error @below {{'onnx.node' op names 2 graphs but holds 1}}
  onnx.node "If" version 16 (%which) graphs ["then_branch", "else_branch"] ({
    onnx.return
  }) : (tensor<i1>) -> ()
  onnx.return
}

// -----

func.func @parser_wants_a_version(%x: tensor<4xf32>) {
  // expected-error @below {{expected 'version'}}
  %y = onnx.node "Relu" (%x) : (tensor<4xf32>) -> tensor<4xf32>
  onnx.return
}

// -----

func.func @parser_counts_types(%x: tensor<4xf32>) {
  // expected-error @below {{1 operands present, but expected 2}}
  %y = onnx.node "Relu" version 14 (%x) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  onnx.return
}

// -----

func.func @parser_wants_a_name(%x: tensor<4xf32>) {
  // expected-error @below {{custom op 'onnx.node' invalid kind of attribute specified}}
  %y = onnx.node 4 version 14 (%x) : (tensor<4xf32>) -> tensor<4xf32>
  onnx.return
}
