// RUN: joule-opt %s | joule-opt | FileCheck %s
// RUN: joule-opt %s --mlir-print-op-generic | joule-opt | FileCheck %s

// CHECK-LABEL: func.func @symbol
// CHECK:         %[[N:.*]] = nn.symbol "batch"
func.func @symbol() -> index {
  %n = nn.symbol "batch"
  return %n : index
}
