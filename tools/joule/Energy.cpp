// `joule energy`: device files, the fit of their constants to measurements, and predictions of tables.
#include "lib/Energy/Predict.h"
#include "lib/Energy/Table.h"
#include "lib/File/AtomicFile.h"
#include "tools/joule/Command.h"
#include "tools/joule/EnergyFrontier.h"
#include "tools/joule/Units.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <iterator>
#include <set>

namespace joule::cli {

using Json = nlohmann::ordered_json;

namespace {

struct Options {
  std::string device, table, output, groupBy = "group", source;
  std::vector<std::string> columns, ignored;
  double pull = 0.05;
  bool fitVoltage = false;
  bool json = false;
};

} // namespace

Result<DeviceEnergy> openDevice(const std::string &nameOrFile) {
  bool isFile = std::filesystem::path(nameOrFile).extension() == ".mlir" ||
                std::filesystem::is_regular_file(nameOrFile);
  if (!isFile)
    return deviceNamed(nameOrFile);
  std::ifstream stream(nameOrFile, std::ios::binary);
  std::string text((std::istreambuf_iterator<char>(stream)), std::istreambuf_iterator<char>());
  if (!stream || stream.bad())
    return Error{ErrorCode::FileUnreadable, fmt::format("cannot read \"{}\"", nameOrFile), ""};
  Result<DeviceFile> file = readDeviceFile(text, nameOrFile);
  if (!file)
    return file.error();
  return deviceEnergyOf(*file);
}

//===- devices
//-------------------------------------------------------------------------------------------------------

static Json describe(const Fact &fact) {
  Json json = {{"unit", fact.unit},
               {"kind", nameOf(fact.kind)},
               {"uncertainty", fact.uncertainty},
               {"source", fact.source}};
  if (fact.clocks.empty())
    json["value"] = fact.values[0];
  else
    json["clocksMHz"] = fact.clocks, json["values"] = fact.values;
  return json;
}

static Json describe(const DeviceFile &file) {
  Json json = {{"name", file.name}, {"comment", file.comment}};
  for (const auto *facts : {&file.gpu, &file.energy})
    for (const auto &[name, fact] : *facts)
      json["facts"][name] = describe(fact);
  return json;
}

static void printFacts(const std::map<std::string, Fact> &facts) {
  for (const auto &[name, fact] : facts) {
    std::string value = fmt::format("{:.6g}", fact.values[0]);
    if (!fact.clocks.empty())
      value = fmt::format("{:.4g} to {:.4g}", *std::min_element(fact.values.begin(), fact.values.end()),
                          *std::max_element(fact.values.begin(), fact.values.end()));
    std::string spread = fact.uncertainty > 0 ? fmt::format("+-{:.0f} %", 100 * fact.uncertainty) : "";
    fmt::print("  {:<24} {:>16} {:<8} {:<8} {:<9} {}\n", name, value, fact.unit, spread, nameOf(fact.kind),
               fact.source);
  }
}

static ExitCode showDevices(const Options &options) {
  std::vector<DeviceEnergy> devices = knownDevices();
  if (!options.device.empty()) {
    Result<DeviceEnergy> device = openDevice(options.device);
    if (!device)
      return fail(device.error(), options.json);
    devices = {*device};
  }
  Json json = Json::array();
  for (const DeviceEnergy &device : devices) {
    if (options.json) {
      json.push_back(describe(device.file));
    } else if (options.device.empty()) {
      fmt::print("{:<14} {}\n", device.name, device.file.comment);
    } else {
      fmt::print("{}: {}\n", device.name, device.file.comment);
      printFacts(device.file.gpu);
      printFacts(device.file.energy);
    }
  }
  if (options.json)
    print(json);
  return Succeeded;
}

//===- tables
//--------------------------------------------------------------------------------------------------------

// "time_ms=time[ms]" as two parts.
static std::map<std::string, std::string> parseColumns(const std::vector<std::string> &texts) {
  std::map<std::string, std::string> columns;
  for (const std::string &text : texts) {
    size_t equals = text.find('=');
    columns[text.substr(0, equals)] = text.substr(equals + 1);
  }
  return columns;
}

static Result<MeasuredTable> readTable(const Options &options, const DeviceEnergy &device, bool needsEnergy) {
  Result<CsvTable> csv = readCsv(options.table);
  if (!csv)
    return csv.error();
  TableOptions reading;
  reading.columns = parseColumns(options.columns);
  reading.ignored = {options.ignored.begin(), options.ignored.end()};
  reading.groupBy = csv->column(options.groupBy) >= 0 || options.groupBy != "group" ? options.groupBy : "";
  reading.needsEnergy = needsEnergy;
  Result<MeasuredTable> table = readMeasurements(*csv, device, reading);
  if (table)
    for (const OddRow &odd : table->leftOut)
      fmt::print(stderr, "joule: row {} is left out: {}\n", odd.row, odd.reason);
  return table;
}

static void addTable(CLI::App &app, Options &options) {
  app.add_option("TABLE", options.table, "A CSV file; its header names columns and units, as in time[ms]")
      ->required();
  app.add_option("--column", options.columns,
                 "HEADER=NAME[UNIT]: take a column of another name as a known one")
      ->allow_extra_args(false)
      ->check([](const std::string &text) -> std::string {
        size_t equals = text.find('=');
        bool isPair = equals != std::string::npos && equals != 0;
        return isPair ? "" : "wants HEADER=NAME[UNIT], not \"" + text + "\"";
      });
  app.add_option("--ignore", options.ignored, "A column to pass over")->allow_extra_args(false);
  app.add_option("--group-by", options.groupBy, "The column whose groups cross-validation leaves out")
      ->capture_default_str();
  addJson(app, options.json);
}

static std::string columnsFooter(const std::string &example) {
  return "columns:\n" + describeColumns() + "example: " + example;
}

//===- fit
//-----------------------------------------------------------------------------------------------------------

/// The mean of predicted / measured - 1 of each group, with its rows.
static std::map<std::string, std::pair<double, int>>
biasByGroup(const std::vector<Joules> &predicted, const std::vector<Measurement> &measurements) {
  std::map<std::string, std::pair<double, int>> groups;
  for (size_t i = 0; i < predicted.size(); ++i) {
    auto &[sum, count] = groups[measurements[i].group];
    sum += predicted[i] / measurements[i].energy - 1;
    ++count;
  }
  for (auto &[group, bias] : groups)
    bias.first /= bias.second;
  return groups;
}

static void printFit(const Json &json, const EnergyFit &fit, const DeviceFile &file) {
  fmt::print(
      "{} rows in {} groups; error {:.1f} % on the rows, {:.1f} % on groups left out ({:.1f} % for 95 of 100 "
      "rows)\n",
      json["rows"].get<int>(), json["groups"].size(), 100 * json["error"].get<double>(),
      100 * json["crossValidatedError"].get<double>(), 100 * json["within95"].get<double>());
  fmt::print("constant power has {:.1f} %: skill {:.2f}\n", 100 * json["constantPowerError"].get<double>(),
             json["skill"].get<double>());
  for (const std::string &name : fit.used) {
    const Fact &fact = file.energy.at(name);
    fmt::print("  {:<24} {:>10.4g} {}\n", name, fact.values[0], fact.unit);
  }
  fmt::print("mean of predicted / measured - 1 by group that was left out:\n");
  for (const Json &group : json["groups"])
    fmt::print("  {:<32} {:>7.1f} % of {} rows\n", group["name"].get<std::string>(),
               100 * group["bias"].get<double>(), group["rows"].get<int>());
}

// As texts in device files are: without what would need an escape.
static std::string plain(std::string text) {
  for (char &c : text)
    if (c == '"' || c == '\\' || std::iscntrl(static_cast<unsigned char>(c)))
      c = '_';
  return text;
}

static void setVoltage(DeviceFile &file, const DeviceEnergy &device, const std::string &source) {
  Fact curve{{}, {}, "V", FactKind::Fit, 0.1, source};
  for (Hertz clock : device.coreVoltage.clocks)
    curve.clocks.push_back(clock.value() / 1e6);
  for (Volts volts : device.coreVoltage.values)
    curve.values.push_back(std::round(1e4 * volts.value()) / 1e4);
  file.energy["core_voltage"] = curve;
  file.energy["knee_clock"] = Fact{{}, {device.kneeClock.value() / 1e6}, "MHz", FactKind::Fit, 0.1, source};
}

static ExitCode fitTable(const Options &options) {
  Result<DeviceEnergy> device = openDevice(options.device);
  if (!device)
    return fail(device.error(), options.json);
  Result<MeasuredTable> table = readTable(options, *device, true);
  if (!table)
    return fail(table.error(), options.json);
  const std::vector<Measurement> &rows = table->measurements;
  std::set<std::string> groups;
  for (const Measurement &row : rows)
    groups.insert(row.group);
  if (groups.size() < 2)
    return fail({ErrorCode::FitImpossible,
                 fmt::format("{} rows in {} groups: two groups are the least", rows.size(), groups.size()),
                 ""},
                options.json);
  FitOptions fitting{options.pull, device->costs};
  if (options.fitVoltage)
    *device = withFittedVoltage(rows, *device, fitting);
  std::vector<Joules> unseen = crossValidate(rows, *device, fitting);
  EnergyFit fit = fitEnergy(rows, *device, fitting);
  DeviceEnergy fitted = *device;
  fitted.costs = fit.costs;
  std::vector<Joules> seen;
  for (const Measurement &row : rows)
    seen.push_back(energyOf(row.work, row.conditions, fitted).total());
  double error = meanRelativeError(unseen, rows), null = meanRelativeError(constantPower(rows), rows);
  double cover = coverOf(unseen, rows);
  std::string source =
      plain(options.source.empty() ? "fit to " + std::filesystem::path(options.table).filename().string()
                                   : options.source);
  DeviceFile file = withCosts(device->file, fit, source, cover);
  if (options.fitVoltage)
    setVoltage(file, *device, source);
  Json json = {{"rows", rows.size()},
               {"leftOut", table->leftOut.size()},
               {"error", meanRelativeError(seen, rows)},
               {"crossValidatedError", error},
               {"within95", cover},
               {"constantPowerError", null},
               {"skill", null > 0 ? 1 - error / null : 0}};
  for (const auto &[name, bias] : biasByGroup(unseen, rows))
    json["groups"].push_back({{"name", name}, {"bias", bias.first}, {"rows", bias.second}});
  if (!options.output.empty()) {
    file.name = plain(std::filesystem::path(options.output).stem().string());
    // Measurements of another thing than the columns say may give constants that no device has.
    if (Result<DeviceFile> again = readDeviceFile(file.toString(), options.output); !again)
      return fail(
          {ErrorCode::FitImpossible, "the fit gives what no device has: " + again.error().message, ""},
          options.json);
    if (Result<void> written = writeWholeFile(options.output, file.toString()); !written)
      return fail(written.error(), options.json);
  }
  if (options.json)
    print(json);
  else
    printFit(json, fit, file);
  return Succeeded;
}

//===- predict
//-------------------------------------------------------------------------------------------------------

// The energy in the given time; where none is given, the time is predicted, too.
static Prediction priceOf(const Measurement &row, const DeviceEnergy &device) {
  if (row.conditions.time.value() <= 0)
    return joule::predict(row.work, device, row.conditions.clock);
  Prediction prediction;
  prediction.time = row.conditions.time;
  prediction.energy = energyOf(row.work, row.conditions, device).total();
  prediction.plusMinus = uncertaintyOf(row.work, row.conditions, device) * prediction.energy;
  return prediction;
}

static ExitCode predictTable(const Options &options) {
  Result<DeviceEnergy> device = openDevice(options.device);
  if (!device)
    return fail(device.error(), options.json);
  Result<MeasuredTable> table = readTable(options, *device, false);
  if (!table)
    return fail(table.error(), options.json);
  double error = 0;
  int measured = 0;
  Json list = Json::array();
  for (const Measurement &row : table->measurements) {
    Prediction price = priceOf(row, *device);
    Json json = {{"row", row.row},
                 {"joules", price.energy.value()},
                 {"plusMinus", price.plusMinus.value()},
                 {"watts", price.power().value()},
                 {"seconds", price.time.value()},
                 {"source", nameOf(price.source)}};
    if (row.energy.value() > 0) {
      json["measuredJoules"] = row.energy.value();
      error += std::abs(price.energy / row.energy - 1), ++measured;
    }
    list.push_back(json);
  }
  Json json = {{"device", device->name}, {"rows", list}};
  if (measured > 0)
    json["error"] = error / measured;
  if (options.json) {
    print(json);
    return Succeeded;
  }
  fmt::print("row,time[s],energy[J],plus_minus[J],power[W]{}\n", measured ? ",measured[J]" : "");
  for (const Json &row : list)
    fmt::print("{},{:.6g},{:.6g},{:.2g},{:.5g}{}\n", row["row"].get<int>(), row["seconds"].get<double>(),
               row["joules"].get<double>(), row["plusMinus"].get<double>(), row["watts"].get<double>(),
               !measured                        ? ""
               : row.contains("measuredJoules") ? fmt::format(",{:.6g}", row["measuredJoules"].get<double>())
                                                : ",");
  if (measured > 0)
    fmt::print(stderr, "joule: mean error {:.1f} % over {} measured rows\n", 100 * error / measured,
               measured);
  return Succeeded;
}

//===- The command
//---------------------------------------------------------------------------------------------------

Command addEnergy(CLI::App &parent) {
  auto options = std::make_shared<Options>();
  CLI::App *app = addSubcommand(parent, "energy", "Device files, and the model of time and energy",
                                "joule energy devices a100-sxm-80");
  app->require_subcommand(1);

  CLI::App *devices = addSubcommand(*app, "devices", "Show what is known of GPUs, with sources",
                                    "joule energy devices a100-sxm-80:3/7");
  devices->add_option("NAME", options->device,
                      "A device's name, a slice of one (NAME:3/7), or a device file");
  addJson(*devices, options->json);

  CLI::App *fit = app->add_subcommand("fit", "Fit a device's constants to measurements and say how well");
  fit->footer(columnsFooter("joule energy fit runs.csv --device a100-sxm-80 --group-by model -o mine.mlir"));
  addTable(*fit, *options);
  fit->add_option("--device", options->device, "The device file to start from: a name or a file")->required();
  fit->add_option("-o,--output", options->output, "Write the device file with the fitted constants");
  fit->add_option("--source", options->source, "What the fitted constants name as their source");
  fit->add_flag("--fit-voltage", options->fitVoltage,
                "Fit the curve of the voltage, too, to all rows; clocks must differ");
  fit->add_option("--pull", options->pull, "How hard constants are pulled to the device's, 0 to 1")
      ->check(CLI::Range(0.0, 1.0))
      ->capture_default_str();

  CLI::App *predict = app->add_subcommand("predict", "Predict the energy of a table's rows");
  predict->footer(columnsFooter("joule energy predict runs.csv --device mine.mlir"));
  addTable(*predict, *options);
  predict->add_option("--device", options->device, "A device's name or a device file")->required();

  Command frontier = addEnergyFrontier(*app);
  return {app, [=] {
            if (devices->parsed())
              return showDevices(*options);
            if (fit->parsed())
              return fitTable(*options);
            return predict->parsed() ? predictTable(*options) : frontier.run();
          }};
}

} // namespace joule::cli
