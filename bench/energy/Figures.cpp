// What the suites share.
#include "bench/energy/Figures.h"

#include <cmath>
#include <cstdlib>
#include <fmt/format.h>
#include <map>

namespace joule::bench {

[[noreturn]] static void stop(const std::string &message) {
  fmt::print(stderr, "energy: error: {}\n", message);
  std::exit(1);
}

Data::Data(const std::string &path) : path(path) {
  Result<CsvTable> read = readCsv(path);
  if (!read)
    stop(read.error().message);
  table = *read;
}

const std::string &Data::text(size_t row, const std::string &column) const {
  int index = table.column(column);
  if (index < 0)
    stop(fmt::format("{} has no column '{}'", path, column));
  return table.rows.at(row)[index];
}

double Data::number(size_t row, const std::string &column) const {
  const std::string &cell = text(row, column);
  char *end = nullptr;
  double value = std::strtod(cell.c_str(), &end);
  if (cell.empty() || *end != 0)
    stop(fmt::format("{}: row {}: {} is '{}', which is no number", path, row + 1, column, cell));
  return value;
}

DeviceEnergy bareDevice(const std::string &name) {
  Result<DeviceEnergy> device = deviceNamed(name);
  if (!device)
    stop(device.error().message);
  device->costs = {};
  return *device;
}

std::vector<double> valuesOf(const std::vector<Joules> &energies) {
  std::vector<double> values;
  for (Joules energy : energies)
    values.push_back(energy.value());
  return values;
}

std::vector<double> energiesOf(const std::vector<Measurement> &measurements) {
  std::vector<double> values;
  for (const Measurement &measurement : measurements)
    values.push_back(measurement.energy.value());
  return values;
}

double meanError(const std::vector<double> &predicted, const std::vector<double> &measured) {
  double sum = 0;
  for (size_t i = 0; i < predicted.size(); ++i)
    sum += std::abs(predicted[i] / measured[i] - 1);
  return 100 * sum / static_cast<double>(predicted.size());
}

std::string errorsByGroup(const std::vector<double> &predicted, const std::vector<double> &measured,
                          const std::vector<std::string> &groups) {
  std::map<std::string, std::pair<std::vector<double>, std::vector<double>>> split;
  for (size_t i = 0; i < groups.size(); ++i) {
    split[groups[i]].first.push_back(predicted[i]);
    split[groups[i]].second.push_back(measured[i]);
  }
  std::string text;
  for (const auto &[group, values] : split)
    text +=
        fmt::format("{}{} {:.1f}", text.empty() ? "" : ", ", group, meanError(values.first, values.second));
  return text;
}

} // namespace joule::bench
