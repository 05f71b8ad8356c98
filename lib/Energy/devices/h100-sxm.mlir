// NVIDIA H100, 80 GB, SXM.
module attributes {
  device.gpu = #device.gpu<"h100-sxm", {
    capability = #device.fact<9.0, "", spec, within 0.0, "CUDA programming guide">,
    multiprocessors = #device.fact<132.0, "", spec, within 0.0, "published by the maker">,
    lowest_clock = #device.fact<345.0, "MHz", spec, within 0.0, "published by the maker">,
    highest_clock = #device.fact<1980.0, "MHz", spec, within 0.0, "published by the maker">,
    clock_step = #device.fact<15.0, "MHz", spec, within 0.0, "published by the maker">,
    memory_clock = #device.fact<2619.0, "MHz", spec, within 0.0, "as NVML reports it; general knowledge">,
    power_cap = #device.fact<700.0, "W", spec, within 0.0, "published by the maker">,
    lowest_power_cap = #device.fact<200.0, "W", estimate, within 0.2, "the least limit that the driver lets one set; general knowledge">,
    memory_capacity = #device.fact<80.0, "GiB", spec, within 0.0, "published by the maker">,
    dram_bandwidth_spec = #device.fact<3352.0, "GB/s", spec, within 0.0, "published by the maker">,
    dram_bandwidth = #device.fact<2882.7, "GB/s", estimate, within 0.08, "0.86 of the specified bandwidth, as kernels reach on an A100">,
    l2_capacity = #device.fact<50.0, "MB", spec, within 0.0, "published by the maker">,
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
    sensor_watched = #device.fact<0.24, "", estimate, within 0.3, "GPU_Power_Benchmark, SC 2024 (MIT), the PCIe board: 24 of each 100 ms">
  }>,
  device.energy = #device.energy<"h100-sxm", {
    reference_clock = #device.fact<1980.0, "MHz", spec, within 0.0, "the clock that the energies below are given for">,
    knee_clock = #device.fact<1125.0, "MHz", measured, within 0.1, "EnergAIzer artifact, ISPASS 2026">,
    core_voltage = #device.curve<[1125.0, 1980.0], [0.7, 0.875], "V", estimate, within 0.1, "flat to the knee, then 1.25 times that at the highest clock, as on the A100 (1.24 to 1.29)">,
    idle_power = #device.curve<[345.0, 405.0, 465.0, 525.0, 585.0, 645.0, 705.0, 765.0, 825.0, 885.0, 945.0, 1005.0, 1065.0, 1125.0, 1185.0, 1245.0, 1305.0, 1365.0, 1425.0, 1485.0, 1545.0, 1605.0, 1665.0, 1725.0, 1785.0, 1845.0, 1905.0, 1965.0, 1980.0], [117.21, 72.43, 72.25, 72.14, 72.16, 72.36, 72.59, 72.65, 73.06, 73.33, 73.97, 74.29, 74.78, 75.44, 77.69, 79.5, 82.42, 86.35, 90.35, 95.75, 101.21, 104.1, 108.43, 111.55, 115.62, 118.89, 120.13, 120.11, 120.14], "W", measured, within 0.15, "EnergAIzer artifact, ISPASS 2026 (MIT), one board">,
    per_core_flop = #device.fact<5.4, "pJ/flop", fit, within 0.05, "roofline runs on an H200 at 1980 MHz">,
    per_tf32_flop = #device.fact<1.77, "pJ/flop", estimate, within 0.4, "follows from per_fp16_flop by operand width, 4 : 2 : 1 as on an H800">,
    per_fp16_flop = #device.fact<0.885, "pJ/flop", fit, within 0.2, "0.82 pJ at 1830 MHz in networks, brought to 1980 MHz">,
    per_fp8_flop = #device.fact<0.443, "pJ/flop", estimate, within 0.4, "follows from per_fp16_flop by operand width, 4 : 2 : 1 as on an H800">,
    per_int8_flop = #device.fact<0.443, "pJ/flop", estimate, within 0.4, "follows from per_fp16_flop by operand width, 4 : 2 : 1 as on an H800">,
    per_dram_byte = #device.fact<116.0, "pJ/B", fit, within 0.08, "roofline runs on an H200: the whole path">
  }>
} {
}
