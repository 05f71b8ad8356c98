// NVIDIA H100, 80 GB, PCIe.
module attributes {
  device.gpu = #device.gpu<"h100-pcie", {
    capability = #device.fact<9.0, "", spec, within 0.0, "CUDA programming guide">,
    multiprocessors = #device.fact<114.0, "", spec, within 0.0, "published by the maker">,
    lowest_clock = #device.fact<210.0, "MHz", spec, within 0.0, "published by the maker">,
    base_clock = #device.fact<1095.0, "MHz", spec, within 0.0, "published by the maker">,
    highest_clock = #device.fact<1755.0, "MHz", spec, within 0.0, "published by the maker">,
    clock_step = #device.fact<15.0, "MHz", spec, within 0.0, "published by the maker">,
    memory_clock = #device.fact<1593.0, "MHz", spec, within 0.0, "as NVML reports it; general knowledge">,
    power_cap = #device.fact<350.0, "W", spec, within 0.0, "published by the maker">,
    lowest_power_cap = #device.fact<200.0, "W", estimate, within 0.2, "the least limit that the driver lets one set; general knowledge">,
    memory_capacity = #device.fact<80.0, "GiB", spec, within 0.0, "published by the maker">,
    dram_bandwidth_spec = #device.fact<2039.0, "GB/s", spec, within 0.0, "published by the maker">,
    dram_bandwidth = #device.fact<1988.0, "GB/s", measured, within 0.02, "gpu-benches, bandwidth against working set">,
    l2_capacity = #device.fact<50.0, "MB", spec, within 0.0, "published by the maker">,
    l2_effective = #device.fact<40.0, "MB", measured, within 0.25, "gpu-benches, bandwidth against working set">,
    l2_bandwidth = #device.fact<6950.0, "GB/s", measured, within 0.1, "gpu-benches, bandwidth against working set">,
    shared_bandwidth = #device.fact<25000.0, "GB/s", measured, within 0.05, "gpu-benches, bandwidth against working set">,
    shared_capacity = #device.fact<228.0, "kB", spec, within 0.0, "CUDA programming guide">,
    l2_latency = #device.fact<263.0, "cycle", measured, within 0.15, "pointer chase, arXiv 2402.13499">,
    dram_latency = #device.fact<478.8, "cycle", measured, within 0.15, "pointer chase, arXiv 2402.13499">,
    shared_latency = #device.fact<29.0, "cycle", measured, within 0.15, "pointer chase, arXiv 2402.13499">,
    launch_time = #device.fact<3.6, "us", fit, within 0.3, "cuBLASLt times of small products, stream order">,
    core_rate = #device.fact<51.2, "Tflop/s", spec, within 0.0, "published by the maker, dense">,
    fp64_rate = #device.fact<25.6, "Tflop/s", spec, within 0.0, "published by the maker, dense">,
    tf32_rate = #device.fact<378.0, "Tflop/s", spec, within 0.0, "published by the maker, dense">,
    fp16_rate = #device.fact<756.0, "Tflop/s", spec, within 0.0, "published by the maker, dense">,
    fp8_rate = #device.fact<1513.0, "Tflop/s", spec, within 0.0, "published by the maker, dense">,
    int8_rate = #device.fact<1513.0, "Tflop/s", spec, within 0.0, "published by the maker, dense">,
    sensor_watched = #device.fact<0.24, "", measured, within 0.1, "GPU_Power_Benchmark, SC 2024 (MIT): 24 of each 100 ms">
  }>,
  device.energy = #device.energy<"h100-pcie", {
    reference_clock = #device.fact<1755.0, "MHz", spec, within 0.0, "the clock that the energies below are given for">,
    knee_clock = #device.fact<1123.0, "MHz", estimate, within 0.13, "knees lie at 0.57 to 0.80 of the highest clock on six GPUs with data">,
    core_voltage = #device.curve<[1123.0, 1755.0], [0.7, 0.875], "V", estimate, within 0.1, "flat to the knee, then 1.25 times that at the highest clock, as on the A100 (1.24 to 1.29)">,
    idle_power = #device.curve<[1123.0, 1755.0], [48.0, 71.7], "W", estimate, within 0.3, "between A100 PCIe and H100 SXM">,
    per_core_flop = #device.fact<5.2, "pJ/flop", estimate, within 0.15, "as on the H200">,
    per_tf32_flop = #device.fact<1.6, "pJ/flop", estimate, within 0.4, "follows from per_fp16_flop by operand width, 4 : 2 : 1 as on an H800">,
    per_fp16_flop = #device.fact<0.8, "pJ/flop", estimate, within 0.3, "as on the H100 SXM, at the lower clock">,
    per_fp8_flop = #device.fact<0.4, "pJ/flop", estimate, within 0.4, "follows from per_fp16_flop by operand width, 4 : 2 : 1 as on an H800">,
    per_int8_flop = #device.fact<0.4, "pJ/flop", estimate, within 0.4, "follows from per_fp16_flop by operand width, 4 : 2 : 1 as on an H800">,
    per_dram_byte = #device.fact<117.0, "pJ/B", estimate, within 0.15, "as on A100 and H200">
  }>
} {
}
