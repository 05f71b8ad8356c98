// Energies of kernels from hardware counters.
#include "bench/energy/Figures.h"

#include <fmt/format.h>
#include <set>

namespace joule::bench {

//===- GTX 1080 Ti: transactions and instructions
//--------------------------------------------------------------------

static Measurement readPascal(const Data &table, size_t row, const DeviceEnergy &device) {
  auto number = [&](const char *column) { return table.number(row, column); };
  Measurement m;
  m.group = table.text(row, "benchmark");
  m.row = row + 1;
  m.conditions = {Seconds(number("time_ms") / 1e3), megahertz(number("core_MHz")),
                  megahertz(number("mem_MHz")) / device.memoryClock};
  m.energy = Joules(number("energy_mJ") / 1e3);
  m.work.activeShare = number("sm_activity");
  // A sector is 32 bytes; a transaction of shared memory serves 32 threads of 4 bytes.
  m.work.dramBytes = Bytes(32 * (number("dram_read_transactions") + number("dram_write_transactions")));
  m.work.l1Bytes = Bytes(32 * number("tex_cache_transactions"));
  m.work.sharedBytes =
      Bytes(128 * (number("shared_load_transactions") + number("shared_store_transactions")));
  m.work.instructionsOf(InstructionClass::Fp32) = number("inst_fp_32");
  m.work.instructionsOf(InstructionClass::Fp64) = number("inst_fp_64");
  m.work.instructionsOf(InstructionClass::Integer) = number("inst_integer");
  m.work.instructionsOf(InstructionClass::Any) = 32 * number("inst_executed");
  return m;
}

static void measurePascal(const std::string &energyData, Findings &findings) {
  DeviceEnergy device = bareDevice("gtx-1080-ti");
  Data table(energyData + "/gtx1080ti_dvfs_counters_measured.csv");
  std::vector<Measurement> measurements;
  std::vector<std::string> groups;
  for (size_t i = 0; i < table.size(); ++i) {
    measurements.push_back(readPascal(table, i, device));
    groups.push_back(measurements.back().group);
  }
  std::vector<Joules> unseen = crossValidate(measurements, device);
  std::vector<double> predicted = valuesOf(unseen);
  std::vector<double> measured = energiesOf(measurements);
  findings.figures.push_back({"energy from counters, GTX 1080 Ti", "10.7", 9.5, 7,
                              meanError(predicted, measured), "%", true,
                              fmt::format("leave one of {} benchmarks out",
                                          std::set<std::string>(groups.begin(), groups.end()).size())});
  findings.notes.push_back(fmt::format("GTX 1080 Ti by benchmark, %: {}; 95 of 100 rows within {:.0f} %",
                                       errorsByGroup(predicted, measured, groups),
                                       100 * coverOf(unseen, measurements)));
}

//===- V100: activities
//----------------------------------------------------------------------------------------------

static CsvTable tableOf(const std::string &path) {
  Result<CsvTable> table = readCsv(path);
  if (!table) {
    fmt::print(stderr, "energy: error: {}\n", table.error().message);
    std::exit(1);
  }
  return *table;
}

static void measureVolta(const std::string &energyData, Findings &findings) {
  DeviceEnergy device = bareDevice("v100-pcie");
  CsvTable table = tableOf(energyData + "/nvdvfs_v100_measured.csv");
  TableOptions options;
  options.columns = {
      {"core_MHz", "clock[MHz]"},           {"time_ms", "time[ms]"},    {"power_W", "power[W]"},
      {"SMACT", "multiprocessor_activity"}, {"SMOCC", "occupancy"},     {"TENSO", "matrix_activity"},
      {"FP64A", "fp64_activity"},           {"FP32A", "core_activity"}, {"DRAMA", "dram_activity"}};
  options.ignored = {"gpu", "benchmark", "arg", "kernel", "mem_MHz", "FP16A", "energy_mJ", "source"};
  options.groupBy = "set";
  Result<MeasuredTable> read = readMeasurements(table, device, options);
  if (!read) {
    fmt::print(stderr, "energy: error: {}\n", read.error().message);
    std::exit(1);
  }
  std::vector<Measurement> small, real;
  for (Measurement &m : read->measurements) {
    // Benchmarks of single units work on constants and few values, between zeros (0.6) and random values (1).
    if (m.group != "real")
      m.work.toggle = 0.8;
    (m.group == "real" ? real : small).push_back(m);
  }
  device.costs = fitEnergy(small, device).costs;
  std::vector<Joules> unseen;
  std::vector<std::string> names;
  for (Measurement &m : real) {
    unseen.push_back(energyOf(m.work, m.conditions, device).total());
    m.group = table.rows[m.row - 1][table.column("benchmark")];
    names.push_back(m.group);
  }
  std::vector<double> predicted = valuesOf(unseen), measured = energiesOf(real);
  findings.figures.push_back({"power from activities, V100, real kernels", "22.7", 15, 10,
                              meanError(predicted, measured), "%", true,
                              fmt::format("fitted on {} rows of microbenchmarks", small.size())});
  findings.notes.push_back(fmt::format(
      "V100 by kernel, %: {}; 95 of 100 rows within {:.0f} %; {} impossible rows left out",
      errorsByGroup(predicted, measured, names), 100 * coverOf(unseen, real), read->leftOut.size()));
}

Findings measureCounters(const std::string &energyData) {
  Findings findings;
  measurePascal(energyData, findings);
  measureVolta(energyData, findings);
  return findings;
}

} // namespace joule::bench
