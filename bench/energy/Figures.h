// The figures that measure the model of time and energy against published measurements.
#pragma once

#include "lib/Energy/Table.h"

#include <string>
#include <vector>

namespace joule::bench {

/// One line of the table: a number of ours beside what is known and what is wanted.
struct Figure {
  std::string what;
  std::string known; ///< the best published, or what a simple model gives
  double must = 0, aim = 0;
  double ours = 0;
  std::string unit = "%";
  bool isLowerBetter = true;
  std::string split; ///< what the model had not seen

  bool meets(double bound) const { return isLowerBetter ? ours <= bound : ours >= bound; }
};

/// What a suite found: figures, and lines on where the error sits.
struct Findings {
  std::vector<Figure> figures;
  std::vector<std::string> notes;
};

/// A CSV file with typed access. A missing file or column ends the program with a message: these tables are
/// given.
class Data {
public:
  explicit Data(const std::string &path);

  size_t size() const { return table.rows.size(); }
  const std::string &text(size_t row, const std::string &column) const;
  double number(size_t row, const std::string &column) const;

private:
  std::string path;
  CsvTable table;
};

/// A built-in device without fitted costs, so that no table is predicted from itself.
DeviceEnergy bareDevice(const std::string &name);

/// Energies in joules, as the functions below take them.
std::vector<double> valuesOf(const std::vector<Joules> &energies);
std::vector<double> energiesOf(const std::vector<Measurement> &measurements);

/// |predicted / measured - 1| in percent, averaged.
double meanError(const std::vector<double> &predicted, const std::vector<double> &measured);

/// "bert 4.1, gpt2 3.2": the mean errors of groups, in percent.
std::string errorsByGroup(const std::vector<double> &predicted, const std::vector<double> &measured,
                          const std::vector<std::string> &groups);

Findings measureNetworks(const std::string &energyData); ///< energies of whole networks
Findings measureCounters(const std::string &energyData); ///< energies of kernels from hardware counters
Findings measureClocks(const std::string &energyData);   ///< clocks: voltage law, ranking, decisions
Findings measureKernels(const std::string &codegenData); ///< times of products and row kernels

} // namespace joule::bench
