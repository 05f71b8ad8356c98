// NVIDIA L4, 24 GB.
module attributes {
  device.gpu = #device.gpu<"l4", {
    capability = #device.fact<8.9, "", spec, within 0.0, "CUDA programming guide">,
    multiprocessors = #device.fact<58.0, "", spec, within 0.0, "published by the maker">,
    lowest_clock = #device.fact<210.0, "MHz", spec, within 0.0, "published by the maker">,
    base_clock = #device.fact<795.0, "MHz", spec, within 0.0, "published by the maker">,
    highest_clock = #device.fact<2040.0, "MHz", spec, within 0.0, "published by the maker">,
    clock_step = #device.fact<15.0, "MHz", spec, within 0.0, "published by the maker">,
    memory_clock = #device.fact<6251.0, "MHz", spec, within 0.0, "as NVML reports it; general knowledge">,
    power_cap = #device.fact<72.0, "W", spec, within 0.0, "published by the maker">,
    lowest_power_cap = #device.fact<40.0, "W", estimate, within 0.2, "the least limit that the driver lets one set; general knowledge">,
    memory_capacity = #device.fact<24.0, "GiB", spec, within 0.0, "published by the maker">,
    dram_bandwidth_spec = #device.fact<300.0, "GB/s", spec, within 0.0, "published by the maker">,
    dram_bandwidth = #device.fact<258.0, "GB/s", estimate, within 0.08, "0.86 of the specified bandwidth, as kernels reach on an A100">,
    l2_capacity = #device.fact<48.0, "MB", spec, within 0.0, "published by the maker">,
    shared_capacity = #device.fact<100.0, "kB", spec, within 0.0, "CUDA programming guide">,
    l2_latency = #device.fact<261.5, "cycle", estimate, within 0.4, "as on the A100: pointer chase, arXiv 2402.13499">,
    dram_latency = #device.fact<466.3, "cycle", estimate, within 0.4, "as on the A100: pointer chase, arXiv 2402.13499">,
    shared_latency = #device.fact<29.0, "cycle", estimate, within 0.4, "as on the A100: pointer chase, arXiv 2402.13499">,
    launch_time = #device.fact<3.6, "us", estimate, within 0.5, "as on A100 and H100">,
    core_rate = #device.fact<30.3, "Tflop/s", spec, within 0.0, "published by the maker, dense">,
    fp64_rate = #device.fact<0.47, "Tflop/s", spec, within 0.0, "published by the maker, dense">,
    tf32_rate = #device.fact<60.0, "Tflop/s", spec, within 0.0, "published by the maker, dense">,
    fp16_rate = #device.fact<121.0, "Tflop/s", spec, within 0.0, "published by the maker, dense">,
    fp8_rate = #device.fact<242.0, "Tflop/s", spec, within 0.0, "published by the maker, dense">,
    int8_rate = #device.fact<242.0, "Tflop/s", spec, within 0.0, "published by the maker, dense">
  }>,
  device.energy = #device.energy<"l4", {
    reference_clock = #device.fact<2040.0, "MHz", spec, within 0.0, "the clock that the energies below are given for">,
    knee_clock = #device.fact<1224.0, "MHz", estimate, within 0.12, "knees lie at 0.57 to 0.80 of the highest clock on six GPUs with data">,
    core_voltage = #device.curve<[1224.0, 2040.0], [0.7, 0.875], "V", estimate, within 0.1, "flat to the knee, then 1.25 times that at the highest clock, as on the A100 (1.24 to 1.29)">,
    idle_power = #device.curve<[1224.0, 2040.0], [16.6, 24.8], "W", measured, within 0.2, "published reading; grows as V to the 1.8">,
    per_core_flop = #device.fact<5.0, "pJ/flop", estimate, within 0.3, "as on A40 and H200, by process">,
    per_tf32_flop = #device.fact<1.6, "pJ/flop", estimate, within 0.4, "follows from per_fp16_flop by operand width, 4 : 2 : 1 as on an H800">,
    per_fp16_flop = #device.fact<0.8, "pJ/flop", estimate, within 0.4, "as on the H100, by process">,
    per_fp8_flop = #device.fact<0.4, "pJ/flop", estimate, within 0.4, "follows from per_fp16_flop by operand width, 4 : 2 : 1 as on an H800">,
    per_int8_flop = #device.fact<0.4, "pJ/flop", estimate, within 0.4, "follows from per_fp16_flop by operand width, 4 : 2 : 1 as on an H800">,
    per_dram_byte = #device.fact<101.0, "pJ/B", estimate, within 0.2, "as on the A40, the same memory">
  }>
} {
}
