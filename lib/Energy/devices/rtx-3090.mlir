// NVIDIA GeForce RTX 3090, 24 GB.
module attributes {
  device.gpu = #device.gpu<"rtx-3090", {
    capability = #device.fact<8.6, "", spec, within 0.0, "CUDA programming guide">,
    multiprocessors = #device.fact<82.0, "", spec, within 0.0, "published by the maker; general knowledge">,
    lowest_clock = #device.fact<210.0, "MHz", spec, within 0.0, "published by the maker; general knowledge">,
    base_clock = #device.fact<1395.0, "MHz", spec, within 0.0, "published by the maker; general knowledge">,
    highest_clock = #device.fact<1695.0, "MHz", spec, within 0.0, "published by the maker; general knowledge">,
    clock_step = #device.fact<15.0, "MHz", spec, within 0.0, "published by the maker; general knowledge">,
    memory_clock = #device.fact<9751.0, "MHz", spec, within 0.0, "as NVML reports it; general knowledge">,
    power_cap = #device.fact<350.0, "W", spec, within 0.0, "published by the maker; general knowledge">,
    lowest_power_cap = #device.fact<136.0, "W", measured, within 0.05, "a GEMM under a cap of 100 W drew this">,
    memory_capacity = #device.fact<24.0, "GiB", spec, within 0.0, "published by the maker">,
    dram_bandwidth_spec = #device.fact<936.0, "GB/s", spec, within 0.0, "published by the maker; general knowledge">,
    dram_bandwidth = #device.fact<805.0, "GB/s", estimate, within 0.08, "0.86 of the specified bandwidth, as kernels reach on an A100">,
    l2_capacity = #device.fact<6.0, "MB", spec, within 0.0, "published by the maker; general knowledge">,
    shared_capacity = #device.fact<100.0, "kB", spec, within 0.0, "CUDA programming guide">,
    l2_latency = #device.fact<261.5, "cycle", estimate, within 0.4, "as on the A100: pointer chase, arXiv 2402.13499">,
    dram_latency = #device.fact<466.3, "cycle", estimate, within 0.4, "as on the A100: pointer chase, arXiv 2402.13499">,
    shared_latency = #device.fact<29.0, "cycle", estimate, within 0.4, "as on the A100: pointer chase, arXiv 2402.13499">,
    launch_time = #device.fact<3.6, "us", estimate, within 0.5, "as on A100 and H100">,
    core_rate = #device.fact<35.6, "Tflop/s", spec, within 0.0, "published by the maker; general knowledge, dense">,
    fp64_rate = #device.fact<0.556, "Tflop/s", spec, within 0.0, "published by the maker; general knowledge, dense">,
    tf32_rate = #device.fact<35.6, "Tflop/s", spec, within 0.0, "published by the maker; general knowledge, dense">,
    fp16_rate = #device.fact<71.0, "Tflop/s", spec, within 0.0, "published by the maker; general knowledge, dense">,
    int8_rate = #device.fact<284.0, "Tflop/s", spec, within 0.0, "published by the maker; general knowledge, dense">,
    sensor_gain = #device.fact<0.945, "", measured, within 0.02, "GPU_Power_Benchmark, SC 2024 (MIT) against a meter, one board">,
    sensor_offset = #device.fact<3.7, "W", measured, within 0.6, "GPU_Power_Benchmark, SC 2024 (MIT) against a meter, one board">,
    sensor_watched = #device.fact<1.0, "", measured, within 0.05, "GPU_Power_Benchmark, SC 2024 (MIT): all of each 100 ms">
  }>,
  device.energy = #device.energy<"rtx-3090", {
    reference_clock = #device.fact<1695.0, "MHz", spec, within 0.0, "the clock that the energies below are given for">,
    knee_clock = #device.fact<1161.0, "MHz", estimate, within 0.13, "knees lie at 0.57 to 0.80 of the highest clock on six GPUs with data">,
    core_voltage = #device.curve<[1161.0, 1695.0], [0.7, 0.875], "V", estimate, within 0.1, "flat to the knee, then 1.25 times that at the highest clock, as on the A100 (1.24 to 1.29)">,
    idle_power = #device.curve<[1161.0, 1695.0], [25.0, 37.4], "W", estimate, within 0.4, "general knowledge">,
    per_core_flop = #device.fact<6.1, "pJ/flop", fit, within 0.15, "roofline runs on eight A40, the same generation">,
    per_tf32_flop = #device.fact<4.28, "pJ/flop", estimate, within 0.4, "follows from per_fp16_flop by operand width, 4 : 2 : 1 as on an H800">,
    per_fp16_flop = #device.fact<2.14, "pJ/flop", measured, within 0.05, "matched-control runs, gpupower0701">,
    per_int8_flop = #device.fact<1.07, "pJ/flop", estimate, within 0.4, "follows from per_fp16_flop by operand width, 4 : 2 : 1 as on an H800">,
    per_dram_byte = #device.fact<199.6, "pJ/B", measured, within 0.03, "matched-control runs, gpupower0701: the read path">,
    per_l1_byte = #device.fact<6.8, "pJ/B", measured, within 0.2, "matched-control runs, gpupower0701">,
    per_shared_byte = #device.fact<5.7, "pJ/B", measured, within 0.35, "matched-control runs, gpupower0701">
  }>
} {
}
