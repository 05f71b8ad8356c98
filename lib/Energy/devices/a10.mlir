// NVIDIA A10, 24 GB.
module attributes {
  device.gpu = #device.gpu<"a10", {
    capability = #device.fact<8.6, "", spec, within 0.0, "CUDA programming guide">,
    multiprocessors = #device.fact<72.0, "", spec, within 0.0, "published by the maker">,
    lowest_clock = #device.fact<210.0, "MHz", spec, within 0.0, "published by the maker">,
    base_clock = #device.fact<885.0, "MHz", spec, within 0.0, "published by the maker">,
    highest_clock = #device.fact<1695.0, "MHz", spec, within 0.0, "published by the maker">,
    clock_step = #device.fact<15.0, "MHz", spec, within 0.0, "published by the maker">,
    memory_clock = #device.fact<6251.0, "MHz", spec, within 0.0, "as NVML reports it; general knowledge">,
    power_cap = #device.fact<150.0, "W", spec, within 0.0, "published by the maker">,
    memory_capacity = #device.fact<24.0, "GiB", spec, within 0.0, "published by the maker">,
    dram_bandwidth_spec = #device.fact<600.0, "GB/s", spec, within 0.0, "published by the maker">,
    dram_bandwidth = #device.fact<516.0, "GB/s", estimate, within 0.08, "0.86 of the specified bandwidth, as kernels reach on an A100">,
    l2_capacity = #device.fact<6.0, "MB", spec, within 0.0, "published by the maker">,
    shared_capacity = #device.fact<100.0, "kB", spec, within 0.0, "CUDA programming guide">,
    l2_latency = #device.fact<261.5, "cycle", estimate, within 0.4, "as on the A100: pointer chase, arXiv 2402.13499">,
    dram_latency = #device.fact<466.3, "cycle", estimate, within 0.4, "as on the A100: pointer chase, arXiv 2402.13499">,
    shared_latency = #device.fact<29.0, "cycle", estimate, within 0.4, "as on the A100: pointer chase, arXiv 2402.13499">,
    launch_time = #device.fact<3.6, "us", estimate, within 0.5, "as on A100 and H100">,
    core_rate = #device.fact<31.2, "Tflop/s", spec, within 0.0, "published by the maker, dense">,
    fp64_rate = #device.fact<0.49, "Tflop/s", spec, within 0.0, "published by the maker, dense">,
    tf32_rate = #device.fact<62.5, "Tflop/s", spec, within 0.0, "published by the maker, dense">,
    fp16_rate = #device.fact<125.0, "Tflop/s", spec, within 0.0, "published by the maker, dense">,
    int8_rate = #device.fact<250.0, "Tflop/s", spec, within 0.0, "published by the maker, dense">
  }>,
  device.energy = #device.energy<"a10", {
    reference_clock = #device.fact<1695.0, "MHz", spec, within 0.0, "the clock that the energies below are given for">,
    knee_clock = #device.fact<1051.0, "MHz", estimate, within 0.14, "knees lie at 0.57 to 0.80 of the highest clock on six GPUs with data">,
    core_voltage = #device.curve<[1051.0, 1695.0], [0.7, 0.875], "V", estimate, within 0.1, "flat to the knee, then 1.25 times that at the highest clock, as on the A100 (1.24 to 1.29)">,
    idle_power = #device.curve<[1051.0, 1695.0], [20.0, 29.9], "W", estimate, within 0.4, "general knowledge; 50 W were fitted for a busy board">,
    prediction_error = #device.fact<0.1, "", fit, within 0.2, "69 networks at 900 MHz (EnergAIzer, ISPASS 2026): 95 % of rows of families left out lie within">,
    rest_power = #device.fact<17.5, "W", fit, within 0.08, "69 networks at 900 MHz (EnergAIzer, ISPASS 2026); of families left out 95 % of rows lie within">,
    memory_power = #device.fact<11.7, "W", fit, within 0.08, "69 networks at 900 MHz (EnergAIzer, ISPASS 2026); of families left out 95 % of rows lie within">,
    multiprocessor_power = #device.fact<34.4, "W", fit, within 0.08, "69 networks at 900 MHz (EnergAIzer, ISPASS 2026); of families left out 95 % of rows lie within">,
    per_core_flop = #device.fact<6.1, "pJ/flop", fit, within 0.1, "roofline runs on eight A40, gpu-benches">,
    per_tf32_flop = #device.fact<2.0, "pJ/flop", estimate, within 0.6, "follows from per_fp16_flop by operand width, 4 : 2 : 1 as on an H800">,
    per_fp16_flop = #device.fact<1.0, "pJ/flop", fit, within 0.08, "69 networks at 900 MHz (EnergAIzer, ISPASS 2026); of families left out 95 % of rows lie within">,
    per_int8_flop = #device.fact<0.5, "pJ/flop", estimate, within 0.6, "follows from per_fp16_flop by operand width, 4 : 2 : 1 as on an H800">,
    per_dram_byte = #device.fact<130.7, "pJ/B", fit, within 0.08, "69 networks at 900 MHz (EnergAIzer, ISPASS 2026); of families left out 95 % of rows lie within">,
    per_l2_byte = #device.fact<52.9, "pJ/B", fit, within 0.08, "69 networks at 900 MHz (EnergAIzer, ISPASS 2026); of families left out 95 % of rows lie within">
  }>
} {
}
