// RUN: joule-opt %s --expand-math | FileCheck %s

// CHECK-LABEL: func.func @exponential
// CHECK-NOT:     math.exp
// CHECK:         math.roundeven
// CHECK-COUNT-4: math.fma
func.func @exponential(%x: f32) -> f32 {
  %y = math.exp %x : f32
  return %y : f32
}

// What the hardware has stays.
// CHECK-LABEL: func.func @native
// CHECK:         math.sqrt
func.func @native(%x: f64) -> f64 {
  %y = math.sqrt %x : f64
  return %y : f64
}
