// NVIDIA Jetson AGX Orin, 64 GB; power is that of the module.
module attributes {
  device.gpu = #device.gpu<"orin-agx", {
    capability = #device.fact<8.7, "", spec, within 0.0, "CUDA programming guide">,
    multiprocessors = #device.fact<16.0, "", spec, within 0.0, "published by the maker">,
    lowest_clock = #device.fact<114.75, "MHz", spec, within 0.0, "published by the maker">,
    highest_clock = #device.fact<1300.0, "MHz", spec, within 0.0, "published by the maker">,
    clock_step = #device.fact<102.0, "MHz", spec, within 0.0, "published by the maker">,
    memory_clock = #device.fact<3200.0, "MHz", spec, within 0.0, "as NVML reports it; general knowledge">,
    power_cap = #device.fact<60.0, "W", spec, within 0.0, "published by the maker">,
    memory_capacity = #device.fact<64.0, "GiB", spec, within 0.0, "published by the maker">,
    dram_bandwidth_spec = #device.fact<204.8, "GB/s", spec, within 0.0, "published by the maker">,
    dram_bandwidth = #device.fact<176.1, "GB/s", estimate, within 0.08, "0.86 of the specified bandwidth, as kernels reach on an A100">,
    l2_capacity = #device.fact<4.0, "MB", spec, within 0.0, "published by the maker">,
    shared_capacity = #device.fact<164.0, "kB", spec, within 0.0, "CUDA programming guide">,
    l2_latency = #device.fact<261.5, "cycle", estimate, within 0.4, "as on the A100: pointer chase, arXiv 2402.13499">,
    dram_latency = #device.fact<466.3, "cycle", estimate, within 0.4, "as on the A100: pointer chase, arXiv 2402.13499">,
    shared_latency = #device.fact<29.0, "cycle", estimate, within 0.4, "as on the A100: pointer chase, arXiv 2402.13499">,
    launch_time = #device.fact<3.6, "us", estimate, within 0.5, "as on A100 and H100">,
    core_rate = #device.fact<5.3, "Tflop/s", spec, within 0.0, "published by the maker, dense">,
    tf32_rate = #device.fact<21.2, "Tflop/s", spec, within 0.0, "published by the maker, dense">,
    fp16_rate = #device.fact<42.5, "Tflop/s", spec, within 0.0, "published by the maker, dense">,
    int8_rate = #device.fact<85.0, "Tflop/s", spec, within 0.0, "published by the maker, dense">
  }>,
  device.energy = #device.energy<"orin-agx", {
    reference_clock = #device.fact<1300.0, "MHz", spec, within 0.0, "the clock that the energies below are given for">,
    knee_clock = #device.fact<650.0, "MHz", estimate, within 0.23, "knees lie at 0.57 to 0.80 of the highest clock on six GPUs with data">,
    core_voltage = #device.curve<[650.0, 1300.0], [0.7, 0.875], "V", estimate, within 0.1, "flat to the knee, then 1.25 times that at the highest clock, as on the A100 (1.24 to 1.29)">,
    idle_power = #device.curve<[650.0, 1300.0], [6.3, 9.4], "W", measured, within 0.2, "published reading of the whole module">,
    per_core_flop = #device.fact<5.2, "pJ/flop", estimate, within 0.4, "as on the A100, by process">,
    per_tf32_flop = #device.fact<2.2, "pJ/flop", estimate, within 0.4, "follows from per_fp16_flop by operand width, 4 : 2 : 1 as on an H800">,
    per_fp16_flop = #device.fact<1.1, "pJ/flop", estimate, within 0.4, "as on the A100">,
    per_int8_flop = #device.fact<0.55, "pJ/flop", estimate, within 0.4, "follows from per_fp16_flop by operand width, 4 : 2 : 1 as on an H800">,
    per_dram_byte = #device.fact<90.0, "pJ/B", estimate, within 0.4, "device 32 pJ and a path as on the A100">
  }>
} {
}
