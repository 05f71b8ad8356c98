// NVIDIA L40S, 48 GB.
module attributes {
  device.gpu = #device.gpu<"l40s", {
    capability = #device.fact<8.9, "", spec, within 0.0, "CUDA programming guide">,
    multiprocessors = #device.fact<142.0, "", spec, within 0.0, "published by the maker">,
    lowest_clock = #device.fact<210.0, "MHz", spec, within 0.0, "published by the maker">,
    base_clock = #device.fact<1110.0, "MHz", spec, within 0.0, "published by the maker">,
    highest_clock = #device.fact<2520.0, "MHz", spec, within 0.0, "published by the maker">,
    clock_step = #device.fact<15.0, "MHz", spec, within 0.0, "published by the maker">,
    memory_clock = #device.fact<9001.0, "MHz", spec, within 0.0, "as NVML reports it; general knowledge">,
    power_cap = #device.fact<350.0, "W", spec, within 0.0, "published by the maker">,
    lowest_power_cap = #device.fact<100.0, "W", estimate, within 0.2, "the least limit that the driver lets one set; general knowledge">,
    memory_capacity = #device.fact<48.0, "GiB", spec, within 0.0, "published by the maker">,
    dram_bandwidth_spec = #device.fact<864.0, "GB/s", spec, within 0.0, "published by the maker">,
    dram_bandwidth = #device.fact<816.0, "GB/s", measured, within 0.02, "gpu-benches, bandwidth against working set">,
    l2_capacity = #device.fact<96.0, "MB", spec, within 0.0, "published by the maker">,
    l2_effective = #device.fact<95.0, "MB", measured, within 0.25, "gpu-benches, bandwidth against working set">,
    l2_bandwidth = #device.fact<5200.0, "GB/s", measured, within 0.1, "gpu-benches, bandwidth against working set">,
    shared_bandwidth = #device.fact<22600.0, "GB/s", measured, within 0.05, "gpu-benches, bandwidth against working set">,
    shared_capacity = #device.fact<100.0, "kB", spec, within 0.0, "CUDA programming guide">,
    l2_latency = #device.fact<261.5, "cycle", estimate, within 0.4, "as on the A100: pointer chase, arXiv 2402.13499">,
    dram_latency = #device.fact<466.3, "cycle", estimate, within 0.4, "as on the A100: pointer chase, arXiv 2402.13499">,
    shared_latency = #device.fact<29.0, "cycle", estimate, within 0.4, "as on the A100: pointer chase, arXiv 2402.13499">,
    launch_time = #device.fact<3.6, "us", estimate, within 0.5, "as on A100 and H100">,
    core_rate = #device.fact<91.6, "Tflop/s", spec, within 0.0, "published by the maker, dense">,
    fp64_rate = #device.fact<1.4, "Tflop/s", spec, within 0.0, "published by the maker, dense">,
    tf32_rate = #device.fact<183.0, "Tflop/s", spec, within 0.0, "published by the maker, dense">,
    fp16_rate = #device.fact<362.0, "Tflop/s", spec, within 0.0, "published by the maker, dense">,
    fp8_rate = #device.fact<733.0, "Tflop/s", spec, within 0.0, "published by the maker, dense">,
    int8_rate = #device.fact<733.0, "Tflop/s", spec, within 0.0, "published by the maker, dense">
  }>,
  device.energy = #device.energy<"l40s", {
    reference_clock = #device.fact<2520.0, "MHz", spec, within 0.0, "the clock that the energies below are given for">,
    knee_clock = #device.fact<1512.0, "MHz", estimate, within 0.099, "knees lie at 0.57 to 0.80 of the highest clock on six GPUs with data">,
    core_voltage = #device.curve<[1512.0, 2520.0], [0.7, 0.875], "V", estimate, within 0.1, "flat to the knee, then 1.25 times that at the highest clock, as on the A100 (1.24 to 1.29)">,
    idle_power = #device.curve<[1512.0, 2520.0], [36.9, 55.1], "W", measured, within 0.2, "published reading of an L40; grows as V to the 1.8">,
    multiprocessor_power = #device.fact<73.0, "W", fit, within 0.2, "roofline runs on an L40 at 2520 MHz, gpu-benches">,
    per_core_flop = #device.fact<6.1, "pJ/flop", fit, within 0.15, "roofline runs on an L40 at 2520 MHz, gpu-benches">,
    per_tf32_flop = #device.fact<1.6, "pJ/flop", estimate, within 0.4, "follows from per_fp16_flop by operand width, 4 : 2 : 1 as on an H800">,
    per_fp16_flop = #device.fact<0.8, "pJ/flop", estimate, within 0.4, "as on the H100, by process">,
    per_fp8_flop = #device.fact<0.4, "pJ/flop", estimate, within 0.4, "follows from per_fp16_flop by operand width, 4 : 2 : 1 as on an H800">,
    per_int8_flop = #device.fact<0.4, "pJ/flop", estimate, within 0.4, "follows from per_fp16_flop by operand width, 4 : 2 : 1 as on an H800">,
    per_dram_byte = #device.fact<100.0, "pJ/B", fit, within 0.15, "roofline runs on an L40 at 2520 MHz, gpu-benches: the whole path">
  }>
} {
}
