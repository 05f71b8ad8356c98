// NVIDIA GeForce RTX 4090, 24 GB.
module attributes {
  device.gpu = #device.gpu<"rtx-4090", {
    capability = #device.fact<8.9, "", spec, within 0.0, "CUDA programming guide">,
    multiprocessors = #device.fact<128.0, "", spec, within 0.0, "published by the maker">,
    lowest_clock = #device.fact<210.0, "MHz", spec, within 0.0, "published by the maker">,
    base_clock = #device.fact<2235.0, "MHz", spec, within 0.0, "published by the maker">,
    highest_clock = #device.fact<2520.0, "MHz", spec, within 0.0, "published by the maker">,
    clock_step = #device.fact<15.0, "MHz", spec, within 0.0, "published by the maker">,
    memory_clock = #device.fact<10501.0, "MHz", spec, within 0.0, "as NVML reports it; general knowledge">,
    power_cap = #device.fact<450.0, "W", spec, within 0.0, "published by the maker">,
    lowest_power_cap = #device.fact<150.0, "W", estimate, within 0.2, "the least limit that the driver lets one set; general knowledge">,
    memory_capacity = #device.fact<24.0, "GiB", spec, within 0.0, "published by the maker">,
    dram_bandwidth_spec = #device.fact<1008.0, "GB/s", spec, within 0.0, "published by the maker">,
    dram_bandwidth = #device.fact<866.9, "GB/s", estimate, within 0.08, "0.86 of the specified bandwidth, as kernels reach on an A100">,
    l2_capacity = #device.fact<72.0, "MB", spec, within 0.0, "published by the maker">,
    shared_capacity = #device.fact<100.0, "kB", spec, within 0.0, "CUDA programming guide">,
    l2_latency = #device.fact<261.5, "cycle", estimate, within 0.4, "as on the A100: pointer chase, arXiv 2402.13499">,
    dram_latency = #device.fact<466.3, "cycle", estimate, within 0.4, "as on the A100: pointer chase, arXiv 2402.13499">,
    shared_latency = #device.fact<29.0, "cycle", estimate, within 0.4, "as on the A100: pointer chase, arXiv 2402.13499">,
    launch_time = #device.fact<3.6, "us", estimate, within 0.5, "as on A100 and H100">,
    core_rate = #device.fact<82.6, "Tflop/s", spec, within 0.0, "published by the maker, dense">,
    fp64_rate = #device.fact<1.3, "Tflop/s", spec, within 0.0, "published by the maker, dense">,
    tf32_rate = #device.fact<82.6, "Tflop/s", spec, within 0.0, "published by the maker, dense">,
    fp16_rate = #device.fact<165.2, "Tflop/s", spec, within 0.0, "published by the maker, dense">,
    fp8_rate = #device.fact<330.3, "Tflop/s", spec, within 0.0, "published by the maker, dense">,
    int8_rate = #device.fact<660.6, "Tflop/s", spec, within 0.0, "published by the maker, dense">,
    sensor_gain = #device.fact<1.047, "", measured, within 0.02, "GPU_Power_Benchmark, SC 2024 (MIT) against a meter, one board">,
    sensor_offset = #device.fact<-22.8, "W", measured, within 0.1, "GPU_Power_Benchmark, SC 2024 (MIT) against a meter, one board">,
    sensor_watched = #device.fact<1.0, "", measured, within 0.05, "GPU_Power_Benchmark, SC 2024 (MIT): all of each 100 ms">
  }>,
  device.energy = #device.energy<"rtx-4090", {
    reference_clock = #device.fact<2520.0, "MHz", spec, within 0.0, "the clock that the energies below are given for">,
    knee_clock = #device.fact<1512.0, "MHz", estimate, within 0.099, "knees lie at 0.57 to 0.80 of the highest clock on six GPUs with data">,
    core_voltage = #device.curve<[1512.0, 2520.0], [0.7, 0.875], "V", estimate, within 0.1, "flat to the knee, then 1.25 times that at the highest clock, as on the A100 (1.24 to 1.29)">,
    idle_power = #device.curve<[1512.0, 2520.0], [20.0, 29.9], "W", estimate, within 0.4, "general knowledge">,
    per_core_flop = #device.fact<5.0, "pJ/flop", estimate, within 0.3, "as on A40 and H200, by process">,
    per_tf32_flop = #device.fact<1.8, "pJ/flop", estimate, within 0.4, "follows from per_fp16_flop by operand width, 4 : 2 : 1 as on an H800">,
    per_fp16_flop = #device.fact<0.9, "pJ/flop", estimate, within 0.4, "as on the H100, by process">,
    per_fp8_flop = #device.fact<0.45, "pJ/flop", estimate, within 0.4, "follows from per_fp16_flop by operand width, 4 : 2 : 1 as on an H800">,
    per_int8_flop = #device.fact<0.45, "pJ/flop", estimate, within 0.4, "follows from per_fp16_flop by operand width, 4 : 2 : 1 as on an H800">,
    per_dram_byte = #device.fact<150.0, "pJ/B", estimate, within 0.3, "between GDDR6 on the A40 and GDDR6X on the RTX 3090">
  }>
} {
}
