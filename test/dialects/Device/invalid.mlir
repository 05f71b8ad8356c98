// One case per numbered constraint of the device attributes, named after it.
// RUN: joule-opt %s --split-input-file --verify-diagnostics

// fact_c1
// expected-error @below {{an uncertainty is a share between 0 and 2, not}}
module attributes {test.x = #device.fact<1.0, "W", fit, within 5.0, "somewhere">} {}

// -----

// fact_c1_source
// expected-error @below {{a number without a source}}
module attributes {test.x = #device.fact<1.0, "W", fit, within 0.1, "">} {}

// -----

// expected-error @below {{a number is spec, measured, fit or estimate, not 'guess'}}
module attributes {test.x = #device.fact<1.0, "W", guess, within 0.1, "somewhere">} {}

// -----

// curve_c2
// expected-error @below {{a curve with 2 clocks and 1 values}}
module attributes {test.x = #device.curve<[1.0, 2.0], [1.0], "W", fit, within 0.1, "somewhere">} {}

// -----

// curve_c2_order
// expected-error @below {{a curve whose clocks fall from}}
module attributes {test.x = #device.curve<[2.0, 1.0], [1.0, 1.0], "W", fit, within 0.1, "somewhere">} {}

// -----

// gpu_c1: an unknown name, a wrong unit, a value out of range, a curve for a number.
// expected-error @below {{no quantity is called 'multiprocesors'}}
module attributes {test.x = #device.gpu<"x", {multiprocesors = #device.fact<108.0, "", spec, within 0.0, "maker">}>} {}

// -----

// expected-error @below {{power_cap is given in 'mW', not in 'W'}}
module attributes {test.x = #device.gpu<"x", {power_cap = #device.fact<400.0, "mW", spec, within 0.0, "maker">}>} {}

// -----

// expected-error @below {{power_cap is -4.000000e+02 W, outside 1.000000e+00 to 5.000000e+03}}
module attributes {test.x = #device.gpu<"x", {power_cap = #device.fact<-400.0, "W", spec, within 0.0, "maker">}>} {}

// -----

// expected-error @below {{idle_power is no #device.curve}}
module attributes {test.x = #device.energy<"x", {idle_power = #device.fact<60.0, "W", spec, within 0.0, "maker">}>} {}

// -----

// gpu_c2
// expected-error @below {{a device without capability}}
module attributes {test.x = #device.gpu<"x", {power_cap = #device.fact<400.0, "W", spec, within 0.0, "maker">}>} {}

// -----

// energy_c1_rising
// expected-error @below {{core_voltage falls where the clock rises}}
module attributes {test.x = #device.energy<"x", {core_voltage = #device.curve<[1000.0, 2000.0], [0.9, 0.8], "V", fit, within 0.1, "somewhere">}>} {}

// -----

// energy_c2
// expected-error @below {{a device without reference_clock}}
module attributes {test.x = #device.energy<"x", {knee_clock = #device.fact<1000.0, "MHz", spec, within 0.0, "maker">}>} {}
