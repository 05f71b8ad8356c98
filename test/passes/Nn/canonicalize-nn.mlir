// RUN: joule-opt %s --canonicalize-nn | FileCheck %s

// What folds to a constant keeps the sizes it had.
// CHECK-LABEL: func @keeps_sizes
// CHECK-DAG:     %[[N:.*]] = nn.symbol "n"
// CHECK-DAG:     %[[ZERO:.*]] = nn.constant dense<0>
// CHECK:         %[[Y:.*]] = nn.broadcast %[[ZERO]] sizes(%[[N]]) dimensions = [] : (tensor<i32>) -> tensor<?x3xi32>
// CHECK:         return %[[Y]]
func.func @keeps_sizes(%x: tensor<?x3xi32> {nn.dims = ["n", 3]}) -> tensor<?x3xi32> {
  %n = nn.symbol "n"
  %y = arith.subi %x, %x : tensor<?x3xi32>
  return %y : tensor<?x3xi32>
}

// So does what folds after it.
// CHECK-LABEL: func @keeps_sizes_of_a_chain
// CHECK:         nn.broadcast {{.*}} -> tensor<?xi1>
// CHECK-NOT:     arith.constant
func.func @keeps_sizes_of_a_chain(%x: tensor<?xi32> {nn.dims = ["n"]}) -> tensor<?xi1> {
  %n = nn.symbol "n"
  %y = arith.xori %x, %x : tensor<?xi32>
  %z = arith.cmpi eq, %y, %y : tensor<?xi32>
  return %z : tensor<?xi1>
}

// The rest is as upstream has it.
// CHECK-LABEL: func @folds_static
// CHECK:         %[[C:.*]] = arith.constant dense<0> : tensor<3xi32>
// CHECK-NEXT:    return %[[C]]
func.func @folds_static(%x: tensor<3xi32>) -> tensor<3xi32> {
  %y = arith.subi %x, %x : tensor<3xi32>
  return %y : tensor<3xi32>
}
