// NVIDIA H200, 141 GB, SXM.
module attributes {
  device.gpu = #device.gpu<"h200", {
    capability = #device.fact<9.0, "", spec, within 0.0, "CUDA programming guide">,
    multiprocessors = #device.fact<132.0, "", spec, within 0.0, "published by the maker">,
    lowest_clock = #device.fact<345.0, "MHz", spec, within 0.0, "published by the maker">,
    highest_clock = #device.fact<1980.0, "MHz", spec, within 0.0, "published by the maker">,
    clock_step = #device.fact<15.0, "MHz", spec, within 0.0, "published by the maker">,
    memory_clock = #device.fact<3201.0, "MHz", spec, within 0.0, "as NVML reports it; general knowledge">,
    power_cap = #device.fact<700.0, "W", spec, within 0.0, "published by the maker">,
    lowest_power_cap = #device.fact<200.0, "W", estimate, within 0.2, "the least limit that the driver lets one set; general knowledge">,
    memory_capacity = #device.fact<141.0, "GiB", spec, within 0.0, "published by the maker">,
    dram_bandwidth_spec = #device.fact<4800.0, "GB/s", spec, within 0.0, "published by the maker">,
    dram_bandwidth = #device.fact<3888.0, "GB/s", measured, within 0.02, "gpu-benches, bandwidth against working set">,
    l2_capacity = #device.fact<50.0, "MB", spec, within 0.0, "published by the maker">,
    l2_effective = #device.fact<46.0, "MB", measured, within 0.25, "gpu-benches, bandwidth against working set">,
    l2_bandwidth = #device.fact<9800.0, "GB/s", measured, within 0.1, "gpu-benches, bandwidth against working set">,
    shared_capacity = #device.fact<228.0, "kB", spec, within 0.0, "CUDA programming guide">,
    l2_latency = #device.fact<263.0, "cycle", measured, within 0.15, "pointer chase, arXiv 2402.13499">,
    dram_latency = #device.fact<478.8, "cycle", measured, within 0.15, "pointer chase, arXiv 2402.13499">,
    shared_latency = #device.fact<29.0, "cycle", measured, within 0.15, "pointer chase, arXiv 2402.13499">,
    launch_time = #device.fact<3.6, "us", fit, within 0.3, "cuBLASLt times of small products, stream order">,
    core_rate = #device.fact<66.9, "Tflop/s", spec, within 0.0, "published by the maker, dense">,
    fp64_rate = #device.fact<33.5, "Tflop/s", spec, within 0.0, "published by the maker, dense">,
    tf32_rate = #device.fact<494.7, "Tflop/s", spec, within 0.0, "published by the maker, dense">,
    fp16_rate = #device.fact<989.4, "Tflop/s", spec, within 0.0, "published by the maker, dense">,
    fp8_rate = #device.fact<1978.9, "Tflop/s", spec, within 0.0, "published by the maker, dense">,
    int8_rate = #device.fact<1978.9, "Tflop/s", spec, within 0.0, "published by the maker, dense">,
    sensor_watched = #device.fact<0.24, "", estimate, within 0.3, "GPU_Power_Benchmark, SC 2024 (MIT), the H100 PCIe board: 24 of each 100 ms">
  }>,
  device.energy = #device.energy<"h200", {
    reference_clock = #device.fact<1980.0, "MHz", spec, within 0.0, "the clock that the energies below are given for">,
    knee_clock = #device.fact<1100.0, "MHz", estimate, within 0.14, "published FP64 DGEMM clock series">,
    core_voltage = #device.curve<[1100.0, 1410.0, 1980.0], [0.7, 0.854, 0.93], "V", estimate, within 0.1, "1.22 times the lowest at 1410 MHz follows from a published FP64 series; above it a guess">,
    idle_power = #device.curve<[600.0, 1100.0, 1980.0], [75.0, 78.0, 120.0], "W", estimate, within 0.15, "as on the H100; 104 W were read between runs with raised clocks">,
    per_core_flop = #device.fact<5.4, "pJ/flop", fit, within 0.05, "roofline runs at 1980 MHz">,
    per_tf32_flop = #device.fact<1.77, "pJ/flop", estimate, within 0.4, "follows from per_fp16_flop by operand width, 4 : 2 : 1 as on an H800">,
    per_fp16_flop = #device.fact<0.885, "pJ/flop", fit, within 0.25, "as on the H100">,
    per_fp8_flop = #device.fact<0.443, "pJ/flop", estimate, within 0.4, "follows from per_fp16_flop by operand width, 4 : 2 : 1 as on an H800">,
    per_int8_flop = #device.fact<0.443, "pJ/flop", estimate, within 0.4, "follows from per_fp16_flop by operand width, 4 : 2 : 1 as on an H800">,
    per_dram_byte = #device.fact<116.0, "pJ/B", fit, within 0.08, "roofline runs at 1980 MHz: the whole path">
  }>
} {
}
