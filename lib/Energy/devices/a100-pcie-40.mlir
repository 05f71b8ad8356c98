// NVIDIA A100, 40 GB, PCIe.
module attributes {
  device.gpu = #device.gpu<"a100-pcie-40", {
    capability = #device.fact<8.0, "", spec, within 0.0, "CUDA programming guide">,
    multiprocessors = #device.fact<108.0, "", spec, within 0.0, "published by the maker">,
    lowest_clock = #device.fact<210.0, "MHz", spec, within 0.0, "published by the maker">,
    base_clock = #device.fact<765.0, "MHz", spec, within 0.0, "published by the maker">,
    highest_clock = #device.fact<1410.0, "MHz", spec, within 0.0, "published by the maker">,
    clock_step = #device.fact<15.0, "MHz", spec, within 0.0, "published by the maker">,
    memory_clock = #device.fact<1215.0, "MHz", spec, within 0.0, "as NVML reports it; general knowledge">,
    power_cap = #device.fact<250.0, "W", spec, within 0.0, "published by the maker">,
    lowest_power_cap = #device.fact<150.0, "W", estimate, within 0.2, "the least limit that the driver lets one set; general knowledge">,
    memory_capacity = #device.fact<40.0, "GiB", spec, within 0.0, "published by the maker">,
    dram_bandwidth_spec = #device.fact<1555.0, "GB/s", spec, within 0.0, "published by the maker">,
    dram_bandwidth = #device.fact<1381.0, "GB/s", measured, within 0.02, "gpu-benches, bandwidth against working set, on the SXM board of the same memory">,
    l2_capacity = #device.fact<40.0, "MB", spec, within 0.0, "published by the maker">,
    l2_effective = #device.fact<26.0, "MB", measured, within 0.25, "bandwidth against working set, on the 80 GB card">,
    l2_bandwidth = #device.fact<5100.0, "GB/s", estimate, within 0.1, "5120 bytes a clock at 1410 MHz would be 7200; 5430 was measured on the 80 GB card">,
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
    sensor_gain = #device.fact<0.954, "", measured, within 0.02, "GPU_Power_Benchmark, SC 2024 (MIT) against a meter, one board">,
    sensor_offset = #device.fact<-1.2, "W", measured, within 0.1, "GPU_Power_Benchmark, SC 2024 (MIT) against a meter, one board">,
    sensor_watched = #device.fact<0.25, "", measured, within 0.1, "GPU_Power_Benchmark, SC 2024 (MIT): 25 of each 100 ms">
  }>,
  device.energy = #device.energy<"a100-pcie-40", {
    reference_clock = #device.fact<900.0, "MHz", spec, within 0.0, "the clock that the energies below are given for">,
    knee_clock = #device.fact<1020.0, "MHz", measured, within 0.1, "EnergAIzer artifact, ISPASS 2026">,
    core_voltage = #device.curve<[210.0, 270.0, 330.0, 390.0, 450.0, 510.0, 570.0, 630.0, 690.0, 750.0, 810.0, 870.0, 930.0, 990.0, 1050.0, 1110.0, 1170.0, 1230.0, 1290.0, 1350.0, 1410.0], [0.6938, 0.6938, 0.6938, 0.6938, 0.6938, 0.6938, 0.6938, 0.6938, 0.6938, 0.6938, 0.6938, 0.6938, 0.6938, 0.6938, 0.7062, 0.725, 0.75, 0.775, 0.8125, 0.8438, 0.8938], "V", measured, within 0.01, "EnergAIzer artifact, ISPASS 2026 (MIT), one board">,
    idle_power = #device.curve<[210.0, 270.0, 330.0, 390.0, 450.0, 510.0, 570.0, 630.0, 690.0, 750.0, 810.0, 870.0, 930.0, 990.0, 1050.0, 1110.0, 1170.0, 1230.0, 1290.0, 1350.0, 1410.0], [44.47, 44.68, 44.87, 44.97, 45.28, 45.28, 45.37, 45.76, 45.96, 46.35, 46.75, 47.26, 47.65, 47.95, 49.24, 50.62, 53.1, 55.09, 58.52, 61.51, 67.34], "W", measured, within 0.25, "EnergAIzer artifact, ISPASS 2026 (MIT), one board; another board lay 11.5 W lower">,
    rest_power = #device.fact<4.51, "W", fit, within 0.16, "57 networks at 900 MHz (EnergAIzer, ISPASS 2026); of families left out 95 % of rows lie within">,
    memory_power = #device.fact<4.51, "W", fit, within 0.16, "57 networks at 900 MHz (EnergAIzer, ISPASS 2026); of families left out 95 % of rows lie within">,
    multiprocessor_power = #device.fact<4.51, "W", fit, within 0.16, "57 networks at 900 MHz (EnergAIzer, ISPASS 2026); of families left out 95 % of rows lie within">,
    per_core_flop = #device.fact<3.1, "pJ/flop", fit, within 0.1, "5.2 pJ at 1410 MHz on eight SXM boards (gpu-benches), brought to 900 MHz by the square of the voltage">,
    per_tf32_flop = #device.fact<0.526, "pJ/flop", estimate, within 0.6, "follows from per_fp16_flop by operand width, 4 : 2 : 1 as on an H800">,
    per_fp16_flop = #device.fact<0.263, "pJ/flop", fit, within 0.16, "57 networks at 900 MHz (EnergAIzer, ISPASS 2026); of families left out 95 % of rows lie within">,
    per_int8_flop = #device.fact<0.1315, "pJ/flop", estimate, within 0.6, "follows from per_fp16_flop by operand width, 4 : 2 : 1 as on an H800">,
    per_dram_byte = #device.fact<78.0, "pJ/B", fit, within 0.16, "57 networks at 900 MHz (EnergAIzer, ISPASS 2026); of families left out 95 % of rows lie within">,
    per_l2_byte = #device.fact<37.5, "pJ/B", fit, within 0.16, "57 networks at 900 MHz (EnergAIzer, ISPASS 2026); of families left out 95 % of rows lie within">
  }>
} {
}
