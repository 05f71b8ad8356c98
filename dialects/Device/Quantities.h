// What a device file may state: each quantity's name, unit and sane range. Plain data, without MLIR, since
// both the verifier of the attributes and the reader of lib/Energy go by it.
#pragma once

#include <cstddef>
#include <string_view>

namespace joule::device {

struct Quantity {
  std::string_view name, unit;
  double lowest, highest; ///< a value outside is a slip of the pen or of the unit
  bool isRequired = false;
  bool isCurve = false; ///< over the multiprocessors' clock
};

constexpr std::string_view clockUnit = "MHz";

/// What #device.gpu may hold: the machine and its limits.
inline constexpr Quantity gpuQuantities[] = {
    {"capability", "", 3, 20, true},
    {"multiprocessors", "", 1, 1000, true},
    {"lowest_clock", "MHz", 1, 5000, true},
    {"base_clock", "MHz", 1, 5000},
    {"highest_clock", "MHz", 1, 5000, true},
    {"clock_step", "MHz", 0.1, 500, true},
    {"memory_clock", "MHz", 100, 30000},
    {"power_cap", "W", 1, 5000, true},
    {"lowest_power_cap", "W", 1, 5000},
    {"memory_capacity", "GiB", 0.5, 10000},
    {"dram_bandwidth_spec", "GB/s", 1, 100000, true},
    {"dram_bandwidth", "GB/s", 1, 100000, true},
    {"l2_capacity", "MB", 0.1, 2000, true},
    {"l2_effective", "MB", 0.1, 2000},
    {"l2_bandwidth", "GB/s", 10, 100000},
    {"shared_bandwidth", "GB/s", 10, 1000000},
    {"shared_capacity", "kB", 1, 2000, true},
    {"l2_latency", "cycle", 10, 5000},
    {"dram_latency", "cycle", 10, 5000},
    {"shared_latency", "cycle", 1, 500},
    {"launch_time", "us", 0.1, 1000, true},
    {"core_rate", "Tflop/s", 0.1, 10000, true},
    {"fp64_rate", "Tflop/s", 0.001, 10000},
    {"tf32_rate", "Tflop/s", 0.1, 100000},
    {"fp16_rate", "Tflop/s", 0.1, 100000},
    {"fp8_rate", "Tflop/s", 0.1, 100000},
    {"int8_rate", "Tflop/s", 0.1, 100000},
    {"sensor_gain", "", 0.5, 2},
    {"sensor_offset", "W", -100, 100},
    {"sensor_watched", "", 0.01, 1},
};

/// What #device.energy may hold: what work and waiting cost. Dynamic energies are those at the reference
/// clock.
inline constexpr Quantity energyQuantities[] = {
    {"reference_clock", "MHz", 1, 5000, true},
    {"knee_clock", "MHz", 1, 5000, true},
    {"core_voltage", "V", 0.3, 2, true, true},
    {"idle_power", "W", 0.1, 1000, true, true},
    {"prediction_error", "", 0.001,
     2}, // of 100 predictions 95 are within this share, at times that were measured
    {"rest_power", "W", 0, 1000},
    {"memory_power", "W", 0, 1000},
    {"multiprocessor_power", "W", 0, 1000},
    {"occupancy_power", "W", 0, 1000},
    {"per_core_flop", "pJ/flop", 0, 1000, true},
    {"per_tf32_flop", "pJ/flop", 0, 1000},
    {"per_fp16_flop", "pJ/flop", 0, 1000},
    {"per_fp8_flop", "pJ/flop", 0, 1000},
    {"per_int8_flop", "pJ/flop", 0, 1000},
    {"per_fp32_instruction", "pJ", 0, 10000},
    {"per_fp64_instruction", "pJ", 0, 10000},
    {"per_integer_instruction", "pJ", 0, 10000},
    {"per_special_instruction", "pJ", 0, 10000},
    {"per_instruction", "pJ", 0, 10000},
    {"per_dram_byte", "pJ/B", 0, 10000, true},
    {"per_l2_byte", "pJ/B", 0, 10000},
    {"per_l1_byte", "pJ/B", 0, 10000},
    {"per_shared_byte", "pJ/B", 0, 10000},
};

/// Quantities whose first may not be above the second, where both are given.
struct Order {
  std::string_view lower, upper, message;
};
inline constexpr Order gpuOrders[] = {
    {"lowest_clock", "highest_clock", "the lowest clock is above the highest"},
    {"base_clock", "highest_clock", "the base clock is above the highest"},
    {"lowest_power_cap", "power_cap", "the lowest power cap is above the board's own"},
    {"dram_bandwidth", "dram_bandwidth_spec", "the bandwidth that kernels reach is above the specified one"},
    {"l2_effective", "l2_capacity", "the effective L2 is larger than the L2"},
};

/// Whether it may not fall where the clock rises.
constexpr bool mustRise(const Quantity &quantity) { return quantity.name == "core_voltage"; }

/// The quantity of that name in one of the tables; nullptr: none.
template <size_t count>
constexpr const Quantity *findQuantity(const Quantity (&table)[count], std::string_view name) {
  for (const Quantity &quantity : table)
    if (quantity.name == name)
      return &quantity;
  return nullptr;
}

} // namespace joule::device
