// NVIDIA A100, 80 GB, SXM.
module attributes {
  device.gpu = #device.gpu<"a100-sxm-80", {
    capability = #device.fact<8.0, "", spec, within 0.0, "CUDA programming guide">,
    multiprocessors = #device.fact<108.0, "", spec, within 0.0, "published by the maker">,
    lowest_clock = #device.fact<210.0, "MHz", spec, within 0.0, "published by the maker">,
    base_clock = #device.fact<1275.0, "MHz", spec, within 0.0, "published by the maker">,
    highest_clock = #device.fact<1410.0, "MHz", spec, within 0.0, "published by the maker">,
    clock_step = #device.fact<15.0, "MHz", spec, within 0.0, "published by the maker">,
    memory_clock = #device.fact<1593.0, "MHz", spec, within 0.0, "as NVML reports it; general knowledge">,
    power_cap = #device.fact<400.0, "W", spec, within 0.0, "published by the maker">,
    lowest_power_cap = #device.fact<100.0, "W", estimate, within 0.2, "the least limit that the driver lets one set; general knowledge">,
    memory_capacity = #device.fact<80.0, "GiB", spec, within 0.0, "published by the maker">,
    dram_bandwidth_spec = #device.fact<2039.0, "GB/s", spec, within 0.0, "published by the maker">,
    dram_bandwidth = #device.fact<1759.0, "GB/s", measured, within 0.02, "gpu-benches, bandwidth against working set">,
    l2_capacity = #device.fact<40.0, "MB", spec, within 0.0, "published by the maker">,
    l2_effective = #device.fact<26.0, "MB", measured, within 0.25, "gpu-benches, bandwidth against working set">,
    l2_bandwidth = #device.fact<5430.0, "GB/s", measured, within 0.1, "gpu-benches, bandwidth against working set">,
    shared_bandwidth = #device.fact<19000.0, "GB/s", measured, within 0.05, "gpu-benches, bandwidth against working set">,
    shared_capacity = #device.fact<164.0, "kB", spec, within 0.0, "CUDA programming guide">,
    l2_latency = #device.fact<261.5, "cycle", measured, within 0.15, "pointer chase, arXiv 2402.13499">,
    dram_latency = #device.fact<466.3, "cycle", measured, within 0.15, "pointer chase, arXiv 2402.13499">,
    shared_latency = #device.fact<29.0, "cycle", measured, within 0.15, "pointer chase, arXiv 2402.13499">,
    launch_time = #device.fact<3.6, "us", fit, within 0.3, "cuBLASLt times of small products, stream order">,
    core_rate = #device.fact<19.5, "Tflop/s", spec, within 0.0, "published by the maker, dense">,
    fp64_rate = #device.fact<9.7, "Tflop/s", spec, within 0.0, "published by the maker, dense">,
    tf32_rate = #device.fact<156.0, "Tflop/s", spec, within 0.0, "published by the maker, dense">,
    fp16_rate = #device.fact<312.0, "Tflop/s", spec, within 0.0, "published by the maker, dense">,
    int8_rate = #device.fact<624.0, "Tflop/s", spec, within 0.0, "published by the maker, dense">,
    sensor_watched = #device.fact<0.25, "", measured, within 0.1, "GPU_Power_Benchmark, SC 2024 (MIT), the 40 GB board: 25 of each 100 ms">
  }>,
  device.energy = #device.energy<"a100-sxm-80", {
    reference_clock = #device.fact<1410.0, "MHz", spec, within 0.0, "the clock that the energies below are given for">,
    knee_clock = #device.fact<1110.0, "MHz", measured, within 0.1, "EnergAIzer artifact, ISPASS 2026">,
    core_voltage = #device.curve<[210.0, 270.0, 330.0, 390.0, 450.0, 510.0, 570.0, 630.0, 690.0, 750.0, 810.0, 870.0, 930.0, 990.0, 1050.0, 1110.0, 1170.0, 1230.0, 1290.0, 1350.0, 1410.0], [0.7438, 0.7438, 0.7438, 0.7438, 0.7438, 0.7438, 0.7438, 0.7438, 0.7438, 0.7438, 0.7438, 0.7438, 0.7438, 0.7438, 0.7438, 0.7438, 0.7688, 0.8, 0.8375, 0.8688, 0.9188], "V", measured, within 0.01, "EnergAIzer artifact, ISPASS 2026 (MIT), one board">,
    idle_power = #device.curve<[210.0, 270.0, 330.0, 390.0, 450.0, 510.0, 570.0, 630.0, 690.0, 750.0, 810.0, 870.0, 930.0, 990.0, 1050.0, 1110.0, 1170.0, 1230.0, 1290.0, 1350.0, 1410.0], [60.28, 60.56, 60.56, 60.88, 60.88, 60.88, 61.15, 61.75, 62.08, 62.4, 63.0, 63.28, 63.6, 64.2, 64.52, 65.12, 67.52, 69.89, 73.29, 76.52, 82.29], "W", measured, within 0.2, "EnergAIzer artifact, ISPASS 2026 (MIT), one board">,
    per_core_flop = #device.fact<5.2, "pJ/flop", fit, within 0.06, "roofline runs on eight A100 SXM of 40 GB, gpu-benches">,
    per_tf32_flop = #device.fact<2.16, "pJ/flop", estimate, within 0.4, "follows from per_fp16_flop by operand width, 4 : 2 : 1 as on an H800">,
    per_fp16_flop = #device.fact<1.08, "pJ/flop", fit, within 0.2, "0.71 pJ at 900 MHz on an A100 PCIe, brought to 1410 MHz by the square of the voltages">,
    per_int8_flop = #device.fact<0.54, "pJ/flop", estimate, within 0.4, "follows from per_fp16_flop by operand width, 4 : 2 : 1 as on an H800">,
    per_dram_byte = #device.fact<118.0, "pJ/B", fit, within 0.07, "roofline runs on eight A100 SXM of 40 GB, gpu-benches: the whole path">
  }>
} {
}
