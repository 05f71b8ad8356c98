// NVIDIA GeForce GTX 1080 Ti, 11 GB.
module attributes {
  device.gpu = #device.gpu<"gtx-1080-ti", {
    capability = #device.fact<6.1, "", spec, within 0.0, "CUDA programming guide">,
    multiprocessors = #device.fact<28.0, "", spec, within 0.0, "published by the maker; general knowledge">,
    lowest_clock = #device.fact<139.0, "MHz", spec, within 0.0, "published by the maker; general knowledge">,
    base_clock = #device.fact<1480.0, "MHz", spec, within 0.0, "published by the maker; general knowledge">,
    highest_clock = #device.fact<2000.0, "MHz", measured, within 0.01, "as set on the measured board (GPU-DVFS-Job-Schedule)">,
    clock_step = #device.fact<12.5, "MHz", measured, within 0.01, "as set on the measured board (GPU-DVFS-Job-Schedule)">,
    memory_clock = #device.fact<5500.0, "MHz", spec, within 0.0, "as NVML reports it; general knowledge">,
    power_cap = #device.fact<300.0, "W", measured, within 0.02, "the highest reading of the measured board (GPU-DVFS-Job-Schedule)">,
    memory_capacity = #device.fact<11.0, "GiB", spec, within 0.0, "published by the maker">,
    dram_bandwidth_spec = #device.fact<484.0, "GB/s", spec, within 0.0, "published by the maker; general knowledge">,
    dram_bandwidth = #device.fact<416.2, "GB/s", estimate, within 0.08, "0.86 of the specified bandwidth, as kernels reach on an A100">,
    l2_capacity = #device.fact<2.75, "MB", spec, within 0.0, "published by the maker; general knowledge">,
    shared_capacity = #device.fact<96.0, "kB", spec, within 0.0, "CUDA programming guide">,
    launch_time = #device.fact<3.6, "us", estimate, within 0.5, "as on A100 and H100">,
    core_rate = #device.fact<14.3, "Tflop/s", spec, within 0.0, "published by the maker; general knowledge, dense">,
    fp64_rate = #device.fact<0.448, "Tflop/s", spec, within 0.0, "published by the maker; general knowledge, dense">,
    sensor_gain = #device.fact<0.999, "", measured, within 0.02, "GPU_Power_Benchmark, SC 2024 (MIT) against a meter, one board">,
    sensor_offset = #device.fact<-0.3, "W", measured, within 0.2, "GPU_Power_Benchmark, SC 2024 (MIT) against a meter, one board">,
    sensor_watched = #device.fact<0.47, "", measured, within 0.2, "GPU_Power_Benchmark, SC 2024 (MIT): 9.3 of each 20 ms">
  }>,
  device.energy = #device.energy<"gtx-1080-ti", {
    reference_clock = #device.fact<2000.0, "MHz", spec, within 0.0, "the clock that the energies below are given for">,
    knee_clock = #device.fact<2000.0, "MHz", fit, within 0.1, "readings at 1600 to 2000 MHz (GPU-DVFS-Job-Schedule) show no rise of the voltage">,
    core_voltage = #device.curve<[139.0, 2000.0], [1.0, 1.0], "V", fit, within 0.1, "readings at 1600 to 2000 MHz (GPU-DVFS-Job-Schedule) show no rise of the voltage; the level is a guess">,
    idle_power = #device.curve<[139.0, 2000.0], [10.0, 10.0], "W", estimate, within 0.5, "general knowledge">,
    prediction_error = #device.fact<0.28, "", fit, within 0.2, "30 kernels at 20 clocks (GPU-DVFS-Job-Schedule): 95 % of rows of benchmarks left out lie within">,
    rest_power = #device.fact<32.3, "W", fit, within 0.23, "hardware counters of 30 kernels at 20 clocks (GPU-DVFS-Job-Schedule); of benchmarks left out 95 % of rows lie within">,
    memory_power = #device.fact<38.6, "W", fit, within 0.23, "hardware counters of 30 kernels at 20 clocks (GPU-DVFS-Job-Schedule); of benchmarks left out 95 % of rows lie within">,
    multiprocessor_power = #device.fact<28.8, "W", fit, within 0.23, "hardware counters of 30 kernels at 20 clocks (GPU-DVFS-Job-Schedule); of benchmarks left out 95 % of rows lie within">,
    per_core_flop = #device.fact<8.2, "pJ/flop", fit, within 0.3, "16.4 pJ per float32 instruction, hardware counters of 30 kernels (GPU-DVFS-Job-Schedule)">,
    per_fp32_instruction = #device.fact<14.2, "pJ", fit, within 0.23, "hardware counters of 30 kernels at 20 clocks (GPU-DVFS-Job-Schedule); of benchmarks left out 95 % of rows lie within">,
    per_fp64_instruction = #device.fact<366.0, "pJ", fit, within 0.23, "hardware counters of 30 kernels at 20 clocks (GPU-DVFS-Job-Schedule); of benchmarks left out 95 % of rows lie within">,
    per_integer_instruction = #device.fact<16.6, "pJ", fit, within 0.23, "hardware counters of 30 kernels at 20 clocks (GPU-DVFS-Job-Schedule); of benchmarks left out 95 % of rows lie within">,
    per_instruction = #device.fact<11.0, "pJ", fit, within 0.23, "hardware counters of 30 kernels at 20 clocks (GPU-DVFS-Job-Schedule); of benchmarks left out 95 % of rows lie within">,
    per_dram_byte = #device.fact<111.7, "pJ/B", fit, within 0.23, "hardware counters of 30 kernels at 20 clocks (GPU-DVFS-Job-Schedule); of benchmarks left out 95 % of rows lie within">,
    per_l2_byte = #device.fact<1.74, "pJ/B", fit, within 0.23, "hardware counters of 30 kernels at 20 clocks (GPU-DVFS-Job-Schedule); of benchmarks left out 95 % of rows lie within">,
    per_l1_byte = #device.fact<27.3, "pJ/B", fit, within 0.23, "hardware counters of 30 kernels at 20 clocks (GPU-DVFS-Job-Schedule); of benchmarks left out 95 % of rows lie within">,
    per_shared_byte = #device.fact<7.22, "pJ/B", fit, within 0.23, "hardware counters of 30 kernels at 20 clocks (GPU-DVFS-Job-Schedule); of benchmarks left out 95 % of rows lie within">
  }>
} {
}
