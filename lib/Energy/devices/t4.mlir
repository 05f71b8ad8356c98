// NVIDIA T4, 16 GB.
module attributes {
  device.gpu = #device.gpu<"t4", {
    capability = #device.fact<7.5, "", spec, within 0.0, "CUDA programming guide">,
    multiprocessors = #device.fact<40.0, "", spec, within 0.0, "published by the maker">,
    lowest_clock = #device.fact<300.0, "MHz", spec, within 0.0, "published by the maker">,
    base_clock = #device.fact<585.0, "MHz", spec, within 0.0, "published by the maker">,
    highest_clock = #device.fact<1590.0, "MHz", spec, within 0.0, "published by the maker">,
    clock_step = #device.fact<15.0, "MHz", spec, within 0.0, "published by the maker">,
    memory_clock = #device.fact<5001.0, "MHz", spec, within 0.0, "as NVML reports it; general knowledge">,
    power_cap = #device.fact<70.0, "W", spec, within 0.0, "published by the maker">,
    lowest_power_cap = #device.fact<60.0, "W", estimate, within 0.2, "the least limit that the driver lets one set; general knowledge">,
    memory_capacity = #device.fact<16.0, "GiB", spec, within 0.0, "published by the maker">,
    dram_bandwidth_spec = #device.fact<320.0, "GB/s", spec, within 0.0, "published by the maker">,
    dram_bandwidth = #device.fact<275.2, "GB/s", estimate, within 0.08, "0.86 of the specified bandwidth, as kernels reach on an A100">,
    l2_capacity = #device.fact<4.0, "MB", spec, within 0.0, "published by the maker">,
    shared_capacity = #device.fact<64.0, "kB", spec, within 0.0, "CUDA programming guide">,
    launch_time = #device.fact<3.6, "us", estimate, within 0.5, "as on A100 and H100">,
    core_rate = #device.fact<8.1, "Tflop/s", spec, within 0.0, "published by the maker, dense">,
    fp64_rate = #device.fact<0.25, "Tflop/s", spec, within 0.0, "published by the maker, dense">,
    fp16_rate = #device.fact<65.0, "Tflop/s", spec, within 0.0, "published by the maker, dense">,
    int8_rate = #device.fact<130.0, "Tflop/s", spec, within 0.0, "published by the maker, dense">
  }>,
  device.energy = #device.energy<"t4", {
    reference_clock = #device.fact<1590.0, "MHz", spec, within 0.0, "the clock that the energies below are given for">,
    knee_clock = #device.fact<986.0, "MHz", estimate, within 0.15, "knees lie at 0.57 to 0.80 of the highest clock on six GPUs with data">,
    core_voltage = #device.curve<[986.0, 1590.0], [0.7, 0.875], "V", estimate, within 0.1, "flat to the knee, then 1.25 times that at the highest clock, as on the A100 (1.24 to 1.29)">,
    idle_power = #device.curve<[986.0, 1590.0], [9.5, 14.2], "W", estimate, within 0.3, "general knowledge">,
    per_core_flop = #device.fact<7.0, "pJ/flop", estimate, within 0.4, "between the 1080 Ti and the A40">,
    per_fp16_flop = #device.fact<1.8, "pJ/flop", estimate, within 0.4, "between V100 and A10">,
    per_int8_flop = #device.fact<0.9, "pJ/flop", estimate, within 0.4, "follows from per_fp16_flop by operand width, 4 : 2 : 1 as on an H800">,
    per_dram_byte = #device.fact<110.0, "pJ/B", estimate, within 0.2, "as on other GPUs">
  }>
} {
}
