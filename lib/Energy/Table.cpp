// Columns, units and the checks of rows.
#include "lib/Energy/Table.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <fmt/format.h>
#include <fstream>
#include <functional>
#include <iterator>
#include <optional>

namespace joule {

//===- CSV
//-----------------------------------------------------------------------------------------------------------

int CsvTable::column(const std::string &name) const {
  for (size_t i = 0; i < header.size(); ++i)
    if (header[i] == name)
      return static_cast<int>(i);
  return -1;
}

/// Takes a text apart into rows of cells.
class CsvReader {
public:
  CsvReader(const std::string &text, size_t at, char separator) : text(text), at(at), separator(separator) {}

  bool atEnd() const { return at >= text.size(); }
  /// Whether the last cell opened a quote that nothing closes.
  bool isOpen() const { return inQuotes; }

  /// The cells up to the line's end: "\n", "\r\n" or "\r". A quoted cell may hold line breaks; spaces around
  /// one that is not quoted are not part of it.
  std::vector<std::string> row() {
    std::vector<std::string> cells;
    do
      cells.push_back(cell());
    while (!atEnd() && text[at++] == separator);
    if (!atEnd() && text[at - 1] == '\r' && text[at] == '\n')
      ++at;
    return cells;
  }

private:
  std::string cell() {
    std::string cell;
    bool wasQuoted = false;
    for (; !atEnd(); ++at) {
      char c = text[at];
      if (inQuotes && c == '"' && at + 1 < text.size() && text[at + 1] == '"')
        cell += text[++at];
      else if (c == '"')
        inQuotes = !inQuotes, wasQuoted = true;
      else if (!inQuotes && (c == separator || c == '\n' || c == '\r'))
        break;
      else
        cell += c;
    }
    if (wasQuoted)
      return cell;
    size_t begin = cell.find_first_not_of(" \t"), end = cell.find_last_not_of(" \t");
    return begin == std::string::npos ? "" : cell.substr(begin, end + 1 - begin);
  }

  const std::string &text;
  size_t at;
  char separator;
  bool inQuotes = false;
};

// A comma, or what some spreadsheets write instead of it: a header that has no comma tells.
static char separatorOf(const std::string &text) {
  std::string header = text.substr(0, text.find('\n'));
  for (char separator : {',', ';', '\t'})
    if (header.find(separator) != std::string::npos)
      return separator;
  return ',';
}

Result<CsvTable> readCsv(const std::string &path) {
  std::ifstream file(path, std::ios::binary);
  std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  if (!file || file.bad())
    return Error{ErrorCode::FileUnreadable, fmt::format("cannot read {}", path), ""};
  const std::string byteOrderMark = "\xef\xbb\xbf";
  size_t at = text.compare(0, byteOrderMark.size(), byteOrderMark) == 0 ? byteOrderMark.size() : 0;
  if (at == text.size())
    return Error{ErrorCode::TableInvalid, fmt::format("{} is empty", path), ""};
  CsvTable table;
  CsvReader reader(text, at, separatorOf(text));
  table.header = reader.row();
  while (!reader.atEnd()) {
    std::vector<std::string> row = reader.row();
    if (reader.isOpen())
      return Error{ErrorCode::TableInvalid,
                   fmt::format("{}: row {} opens a quote that nothing closes", path, table.rows.size() + 1),
                   ""};
    if (row.size() == 1 && row[0].empty())
      continue; // an empty line
    if (row.size() != table.header.size())
      return Error{ErrorCode::TableInvalid,
                   fmt::format("{}: row {} has {} cells, the header has {}", path, table.rows.size() + 1,
                               row.size(), table.header.size()),
                   ""};
    table.rows.push_back(std::move(row));
  }
  return table;
}

//===- Columns
//-------------------------------------------------------------------------------------------------------

namespace {

/// A row while it is read.
struct Row {
  std::optional<Seconds> time;
  std::optional<Joules> energy;
  std::optional<Watts> power;
  std::optional<Hertz> clock, memoryClock;
  WorkCounts work;
  double coreActivity = 0, fp64Activity = 0, matrixActivity = 0, dramActivity = 0;
};

struct Column {
  std::string name, unit, meaning;
  std::function<void(Row &, double)> set;
  bool isShare = false; ///< at most 1
};

void addWork(std::vector<Column> &columns) {
  for (int i = 0; i < engineCount; ++i)
    columns.push_back({fmt::format("{}_flops", nameOf(static_cast<Engine>(i))), "flop",
                       i == 0 ? "operations of plain cores" : "operations of matrix units, by operands",
                       [i](Row &row, double value) { row.work.flops[i] = Flops(value); }});
  const char *const classes[instructionClassCount] = {"fp32_", "fp64_", "integer_", "special_", ""};
  for (int i = 0; i < instructionClassCount; ++i)
    columns.push_back({fmt::format("{}instructions", classes[i]), "", "summed over threads",
                       [i](Row &row, double value) { row.work.instructions[i] = value; }});
  const char *const levels[memoryLevelCount] = {"dram", "l2", "l1", "shared"};
  for (int i = 0; i < memoryLevelCount; ++i)
    columns.push_back(
        {fmt::format("{}_bytes", levels[i]), "B", "read and written",
         [i](Row &row, double value) { row.work.bytesOf(static_cast<MemoryLevel>(i)) = Bytes(value); }});
}

void addShares(std::vector<Column> &columns) {
  auto add = [&](const char *name, const char *meaning, std::function<void(Row &, double)> set) {
    columns.push_back({name, "", meaning, std::move(set), true});
  };
  add("multiprocessor_activity", "share of time and multiprocessors at work, 0 to 1",
      [](Row &row, double value) { row.work.activeShare = value; });
  add("occupancy", "resident warps over the most that fit, 0 to 1",
      [](Row &row, double value) { row.work.occupancy = value; });
  add("toggle", "how much operands change: 1 random, 0.8 few values, 0.6 zeros",
      [](Row &row, double value) { row.work.toggle = value; });
  add("core_activity", "share of the float32 cores' peak, 0 to 1",
      [](Row &row, double value) { row.coreActivity = value; });
  add("fp64_activity", "share of the float64 cores' peak, 0 to 1",
      [](Row &row, double value) { row.fp64Activity = value; });
  add("matrix_activity", "share of the matrix units' float16 peak, 0 to 1",
      [](Row &row, double value) { row.matrixActivity = value; });
  add("dram_activity", "share of the specified DRAM bandwidth, 0 to 1",
      [](Row &row, double value) { row.dramActivity = value; });
}

const std::vector<Column> &columns() {
  static const std::vector<Column> columns = [] {
    std::vector<Column> columns = {
        {"time", "s", "how long it ran", [](Row &row, double value) { row.time = Seconds(value); }},
        {"energy", "J", "what it took", [](Row &row, double value) { row.energy = Joules(value); }},
        {"power", "W", "its mean power, in the place of energy",
         [](Row &row, double value) { row.power = Watts(value); }},
        {"clock", "Hz", "of the multiprocessors; missing: the highest",
         [](Row &row, double value) { row.clock = Hertz(value); }},
        {"memory_clock", "Hz", "missing: the usual",
         [](Row &row, double value) { row.memoryClock = Hertz(value); }},
    };
    addWork(columns);
    columns.push_back(
        {"launches", "", "kernel launches", [](Row &row, double value) { row.work.launches = value; }});
    addShares(columns);
    return columns;
  }();
  return columns;
}

/// What the numbers of a column are multiplied by to be in `wanted`: "ms" -> "s" is 1e-3. nullopt: not that
/// unit.
std::optional<double> scaleOf(const std::string &unit, const std::string &wanted) {
  static const std::map<std::string, double> prefixes = {
      {"f", 1e-15}, {"p", 1e-12}, {"n", 1e-9}, {"u", 1e-6}, {"µ", 1e-6}, {"m", 1e-3},
      {"", 1},      {"k", 1e3},   {"M", 1e6},  {"G", 1e9},  {"T", 1e12}, {"P", 1e15}};
  static const std::map<std::string, double> powersOfTwo = {
      {"Ki", 0x1p10}, {"Mi", 0x1p20}, {"Gi", 0x1p30}, {"Ti", 0x1p40}};
  struct Spelling {
    std::string unit, text;
    double scale;
  };
  static const std::vector<Spelling> others = {{"flop", "FLOP", 1}, {"J", "Wh", 3600}};
  if (wanted.empty() && unit == "%")
    return 0.01;
  auto scaled = [&](const std::string &text, const auto &powers) -> std::optional<double> {
    if (unit.size() < text.size() || unit.compare(unit.size() - text.size(), text.size(), text) != 0)
      return std::nullopt;
    auto power = powers.find(unit.substr(0, unit.size() - text.size()));
    return power == powers.end() ? std::nullopt : std::optional<double>(power->second);
  };
  for (const Spelling &other : others)
    if (auto scale = other.unit == wanted ? scaled(other.text, prefixes) : std::nullopt)
      return *scale * other.scale;
  if (auto scale = wanted == "B" ? scaled(wanted, powersOfTwo) : std::nullopt)
    return scale;
  return scaled(wanted, prefixes);
}

/// A column of the file: which one it is and how its numbers are scaled; `column` is nullptr where it is
/// ignored.
struct Reading {
  const Column *column = nullptr;
  double scale = 1;
};

Error invalid(std::string message) { return Error{ErrorCode::TableInvalid, std::move(message), ""}; }

// "time (ms)" and "time [ms]" are time[ms], and so is "time_ms", where both parts are known.
std::string withBrackets(std::string header) {
  if (size_t open = header.rfind('('); open != std::string::npos && header.back() == ')')
    header[open] = '[', header.back() = ']';
  if (size_t space = header.find(" ["); space != std::string::npos)
    header.erase(space, 1);
  size_t line = header.rfind('_');
  if (line == std::string::npos || header.find('[') != std::string::npos)
    return header;
  std::string name = header.substr(0, line), unit = header.substr(line + 1);
  for (const Column &column : columns())
    if (column.name == name && !column.unit.empty() && scaleOf(unit, column.unit))
      return name + "[" + unit + "]";
  return header;
}

Result<Reading> understand(const std::string &header, const TableOptions &options) {
  auto mapped = options.columns.find(header);
  std::string text = withBrackets(mapped == options.columns.end() ? header : mapped->second);
  size_t bracket = text.find('[');
  std::string name = text.substr(0, bracket);
  auto found =
      std::find_if(columns().begin(), columns().end(), [&](const Column &c) { return c.name == name; });
  if (found == columns().end())
    return invalid(fmt::format("column '{}' is unknown; map it to a known one, or ignore it", header));
  if (bracket == std::string::npos && found->unit.empty())
    return Reading{&*found, 1};
  if (bracket == std::string::npos || text.back() != ']')
    return invalid(fmt::format("column '{}' lacks its unit, as in {}[{}]", header, name, found->unit));
  std::string unit = text.substr(bracket + 1, text.size() - bracket - 2);
  std::optional<double> scale = scaleOf(unit, found->unit);
  if (!scale)
    return invalid(fmt::format("column '{}' is in '{}', which is no unit of {} ({})", header, unit, name,
                               found->unit.empty() ? "a count or a share" : found->unit));
  return Reading{&*found, *scale};
}

Result<std::vector<Reading>> understandHeader(const CsvTable &table, const TableOptions &options) {
  for (const auto &[from, to] : options.columns)
    if (table.column(from) < 0)
      return invalid(fmt::format("there is no column '{}' to take as {}", from, to));
  if (!options.groupBy.empty() && table.column(options.groupBy) < 0)
    return invalid(fmt::format("there is no column '{}' to group by", options.groupBy));
  for (const std::string &header : options.ignored)
    if (table.column(header) < 0)
      return invalid(fmt::format("there is no column '{}' to ignore", header));
  std::vector<Reading> readings;
  for (const std::string &header : table.header) {
    if (!options.ignored.count(header) && std::count(table.header.begin(), table.header.end(), header) > 1)
      return invalid(fmt::format("column '{}' is given twice", header));
    bool isText = header == options.groupBy && !options.columns.count(header);
    if (isText || options.ignored.count(header)) {
      readings.emplace_back();
      continue;
    }
    Result<Reading> reading = understand(header, options);
    if (!reading)
      return reading.error();
    for (size_t i = 0; i < readings.size(); ++i)
      if (readings[i].column == reading->column)
        return invalid(fmt::format("columns '{}' and '{}' both give {}", table.header[i], header,
                                   reading->column->name));
    readings.push_back(*reading);
  }
  return readings;
}

/// Ratios become counts: a share of the peak over the time.
void countActivities(Row &row, const DeviceEnergy &device, const Conditions &conditions) {
  double clock = conditions.clock / device.highestClock;
  // A multiply-add is one instruction and two operations.
  row.work.instructionsOf(InstructionClass::Fp32) +=
      row.coreActivity * (conditions.time * device.engine(Engine::Cores).peak).value() / 2 * clock;
  const Fact *fp64 = device.file.find("fp64_rate");
  if (fp64)
    row.work.instructionsOf(InstructionClass::Fp64) +=
        row.fp64Activity * conditions.time.value() * fp64->values[0] * 1e12 / 2 * clock;
  row.work.flopsOf(Engine::MatrixFp16) +=
      row.matrixActivity * clock * (conditions.time * device.engine(Engine::MatrixFp16).peak);
  row.work.dramBytes += row.dramActivity * (conditions.time * device.dramBandwidthSpec);
}

Result<Measurement> finish(Row row, size_t number, const DeviceEnergy &device, const TableOptions &options) {
  Measurement measurement;
  measurement.row = number;
  bool hasTime = row.time && row.time->value() > 0;
  if (!hasTime && options.needsEnergy)
    return invalid(fmt::format("row {} has no time", number));
  measurement.conditions.time = hasTime ? *row.time : Seconds(0);
  measurement.conditions.clock = row.clock.value_or(device.highestClock);
  if (!device.canRunAt(measurement.conditions.clock))
    return invalid(fmt::format("row {} ran at {} MHz, {} runs at {} to {} MHz", number,
                               measurement.conditions.clock.value() / 1e6, device.name,
                               device.lowestClock.value() / 1e6, device.highestClock.value() / 1e6));
  if (row.memoryClock && device.memoryClock.value() > 0) {
    double share = *row.memoryClock / device.memoryClock;
    // From the clock of a board at rest to an overclocked one; tools also report it doubled or in other
    // units.
    if (share < 0.02 || share > 1.4)
      return invalid(fmt::format("row {}: the memory's clock is {} MHz, that of {} is {} MHz", number,
                                 row.memoryClock->value() / 1e6, device.name,
                                 device.memoryClock.value() / 1e6));
    measurement.conditions.memoryClockShare = share;
  }
  for (int i = 0; i < engineCount; ++i)
    if (row.work.flops[i].value() > 0 && device.engines[i].peak.value() == 0)
      return invalid(fmt::format("row {} has {}_flops, and {} has no such unit", number,
                                 nameOf(static_cast<Engine>(i)), device.name));
  if (row.energy || row.power)
    measurement.energy = row.energy ? *row.energy : *row.power * measurement.conditions.time;
  if (options.needsEnergy && measurement.energy.value() <= 0)
    return invalid(fmt::format("row {} has no energy", number));
  countActivities(row, device, measurement.conditions);
  measurement.work = row.work;
  return measurement;
}

Result<Row> readCells(const CsvTable &table, size_t index, const std::vector<Reading> &readings) {
  Row row;
  for (size_t i = 0; i < readings.size(); ++i) {
    const std::string &cell = table.rows[index][i];
    if (!readings[i].column || cell.empty())
      continue;
    char *end = nullptr;
    double value = std::strtod(cell.c_str(), &end);
    bool isHexadecimal = cell.find_first_of("xX") != std::string::npos;
    if (end != cell.c_str() + cell.size() || isHexadecimal || !std::isfinite(value))
      return invalid(fmt::format("row {}: {} is '{}', which is no number", index + 1, table.header[i], cell));
    if (value < 0)
      return invalid(fmt::format("row {}: {} is {}, below zero", index + 1, table.header[i], cell));
    value *= readings[i].scale;
    // Counters of activity are read with some error.
    if (readings[i].column->isShare && value > 1.01)
      return invalid(fmt::format("row {}: {} is {}, a share above 1", index + 1, table.header[i], cell));
    readings[i].column->set(row, value);
  }
  return row;
}

// Energy and power that do not belong together tell of a unit that is not what the header says.
std::string whyContradictory(const Row &row) {
  if (!row.energy || !row.power || !row.time || row.time->value() <= 0)
    return "";
  double ratio = *row.energy / (*row.power * *row.time);
  return ratio > 0.67 && ratio < 1.5
             ? ""
             : fmt::format("{:.4g} J, but {:.4g} W over {:.4g} s", row.energy->value(), row.power->value(),
                           row.time->value());
}

} // namespace

std::string describeColumns() {
  std::string text;
  for (const Column &column : columns())
    text += fmt::format("  {:<28} {}\n", column.name + (column.unit.empty() ? "" : "[" + column.unit + "]"),
                        column.meaning);
  return text;
}

std::string whyImpossible(const Measurement &measurement, const DeviceEnergy &device) {
  Seconds time = measurement.conditions.time;
  double clock = measurement.conditions.clock / device.highestClock;
  if (time.value() <= 0)
    return ""; // no time was measured
  for (int i = 0; i < engineCount; ++i) {
    FlopsPerSecond peak = clock * device.engines[i].peak, rate = measurement.work.flops[i] / time;
    // Clocks are read with some error, and boards may boost a little.
    if (peak.value() > 0 && rate > 1.05 * peak)
      return fmt::format("{:.3g} Tflop/s of {} at {:.0f} MHz, {:.1f} times the peak", rate.value() / 1e12,
                         nameOf(static_cast<Engine>(i)), measurement.conditions.clock.value() / 1e6,
                         rate / peak);
  }
  BytesPerSecond rate = measurement.work.dramBytes / time;
  if (rate > 1.05 * device.dramBandwidthSpec)
    return fmt::format("{:.4g} GB/s of DRAM, {:.1f} times the peak", rate.value() / 1e9,
                       rate / device.dramBandwidthSpec);
  // Boards differ, and short runs may pass the cap: far off means another unit, or something else that was
  // measured.
  Watts power = measurement.energy / time, rest = device.idle(device.lowestClock);
  if (power.value() > 0 && (power < 0.5 * rest || power > 2 * device.powerCap))
    return fmt::format("{:.3g} W of mean power; the board rests at {:.0f} W and is capped at {:.0f} W",
                       power.value(), rest.value(), device.powerCap.value());
  return "";
}

Result<MeasuredTable> readMeasurements(const CsvTable &table, const DeviceEnergy &device,
                                       const TableOptions &options) {
  Result<std::vector<Reading>> readings = understandHeader(table, options);
  if (!readings)
    return readings.error();
  int group = table.column(options.groupBy);
  MeasuredTable result;
  for (size_t i = 0; i < table.rows.size(); ++i) {
    Result<Row> row = readCells(table, i, *readings);
    if (!row)
      return row.error();
    Result<Measurement> measurement = finish(*row, i + 1, device, options);
    if (!measurement)
      return measurement.error();
    measurement->group = group < 0 ? fmt::format("row {}", i + 1) : table.rows[i][group];
    std::string reason = whyContradictory(*row);
    if (reason.empty())
      reason = whyImpossible(*measurement, device);
    if (reason.empty())
      result.measurements.push_back(*measurement);
    else
      result.leftOut.push_back({i + 1, reason});
  }
  return result;
}

} // namespace joule
