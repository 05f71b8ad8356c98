// The attributes of a device file print as they are read.
// RUN: joule-opt %s | joule-opt | FileCheck %s

// CHECK: #device.fact<5.200000e+00, "pJ/flop", fit, within 6.000000e-02, "roofline runs on 8 boards">
module attributes {test.fact = #device.fact<5.2, "pJ/flop", fit, within 0.06, "roofline runs on 8 boards">} {}

// CHECK: #device.curve<[2.100000e+02, 1.410000e+03], [6.900000e-01, 8.900000e-01], "V", measured, within 1.000000e-02, "one board">
module attributes {test.curve = #device.curve<[210.0, 1410.0], [0.69, 0.89], "V", measured, within 0.01, "one board">} {}
