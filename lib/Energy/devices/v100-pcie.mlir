// NVIDIA V100, 16 GB, PCIe.
module attributes {
  device.gpu = #device.gpu<"v100-pcie", {
    capability = #device.fact<7.0, "", spec, within 0.0, "CUDA programming guide">,
    multiprocessors = #device.fact<80.0, "", spec, within 0.0, "published by the maker">,
    lowest_clock = #device.fact<135.0, "MHz", spec, within 0.0, "published by the maker">,
    base_clock = #device.fact<1230.0, "MHz", spec, within 0.0, "published by the maker">,
    highest_clock = #device.fact<1380.0, "MHz", spec, within 0.0, "published by the maker">,
    clock_step = #device.fact<7.5, "MHz", spec, within 0.0, "published by the maker">,
    memory_clock = #device.fact<877.0, "MHz", spec, within 0.0, "as NVML reports it; general knowledge">,
    power_cap = #device.fact<250.0, "W", spec, within 0.0, "published by the maker">,
    lowest_power_cap = #device.fact<100.0, "W", measured, within 0.01, "the lowest limit of the measured runs (Zeus)">,
    memory_capacity = #device.fact<16.0, "GiB", spec, within 0.0, "published by the maker">,
    dram_bandwidth_spec = #device.fact<900.0, "GB/s", spec, within 0.0, "published by the maker">,
    dram_bandwidth = #device.fact<814.0, "GB/s", measured, within 0.02, "gpu-benches, bandwidth against working set">,
    l2_capacity = #device.fact<6.0, "MB", spec, within 0.0, "published by the maker">,
    shared_bandwidth = #device.fact<13900.0, "GB/s", measured, within 0.05, "gpu-benches, bandwidth against working set">,
    shared_capacity = #device.fact<96.0, "kB", spec, within 0.0, "CUDA programming guide">,
    launch_time = #device.fact<3.6, "us", estimate, within 0.5, "as on A100 and H100">,
    core_rate = #device.fact<14.0, "Tflop/s", spec, within 0.0, "published by the maker, dense">,
    fp64_rate = #device.fact<7.0, "Tflop/s", spec, within 0.0, "published by the maker, dense">,
    fp16_rate = #device.fact<112.0, "Tflop/s", spec, within 0.0, "published by the maker, dense">,
    sensor_watched = #device.fact<0.53, "", measured, within 0.1, "GPU_Power_Benchmark, SC 2024 (MIT), the SXM2 board: 10.6 of each 20 ms">
  }>,
  device.energy = #device.energy<"v100-pcie", {
    reference_clock = #device.fact<1380.0, "MHz", spec, within 0.0, "the clock that the energies below are given for">,
    knee_clock = #device.fact<945.0, "MHz", estimate, within 0.16, "0.685 of the highest clock, the middle of what six GPUs show; a fit on kernels gives 1100">,
    core_voltage = #device.curve<[945.0, 1380.0], [0.7, 0.875], "V", estimate, within 0.1, "flat to the knee, then 1.25 times that at the highest clock, as on the A100 (1.24 to 1.29)">,
    idle_power = #device.curve<[945.0, 1380.0], [26.6, 39.7], "W", measured, within 0.1, "lowest reading at 405 MHz of a kernel on one multiprocessor, NV-DVFS; grows as V to the 1.8">,
    prediction_error = #device.fact<0.44, "", fit, within 0.2, "15 real kernels at ten clocks (NV-DVFS-Benchmark), unseen by the fit to microbenchmarks: 95 % of rows lie within">,
    multiprocessor_power = #device.fact<78.5, "W", fit, within 0.22, "103 microbenchmarks at ten clocks (NV-DVFS-Benchmark), operands that toggle little; of benchmarks left out 95 % of rows lie within">,
    occupancy_power = #device.fact<11.0, "W", fit, within 0.22, "103 microbenchmarks at ten clocks (NV-DVFS-Benchmark), operands that toggle little; of benchmarks left out 95 % of rows lie within">,
    per_core_flop = #device.fact<7.3, "pJ/flop", fit, within 0.22, "103 microbenchmarks at ten clocks (NV-DVFS-Benchmark), operands that toggle little; of benchmarks left out 95 % of rows lie within">,
    per_fp16_flop = #device.fact<2.0, "pJ/flop", estimate, within 0.4, "twice the A100">,
    per_fp32_instruction = #device.fact<14.6, "pJ", fit, within 0.22, "103 microbenchmarks at ten clocks (NV-DVFS-Benchmark), operands that toggle little; of benchmarks left out 95 % of rows lie within">,
    per_fp64_instruction = #device.fact<15.0, "pJ", fit, within 0.22, "103 microbenchmarks at ten clocks (NV-DVFS-Benchmark), operands that toggle little; of benchmarks left out 95 % of rows lie within">,
    per_dram_byte = #device.fact<35.3, "pJ/B", fit, within 0.22, "103 microbenchmarks at ten clocks (NV-DVFS-Benchmark), operands that toggle little; of benchmarks left out 95 % of rows lie within">
  }>
} {
}
