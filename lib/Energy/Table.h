// Tables of measurements: CSV files whose columns carry units.
//
// A header names a column and its unit, "time[ms]" or "time_ms". Other names are mapped: "elapsed" is
// "time[ms]". Values may be missing, but for time and energy (or power).
#pragma once

#include "lib/Energy/EnergyModel.h"

#include <map>
#include <set>

namespace joule {

/// A CSV file as text: quoted cells may hold commas, "" stands for a quote.
struct CsvTable {
  std::vector<std::string> header;
  std::vector<std::vector<std::string>> rows; ///< each as long as the header

  /// The column of that name; -1: none.
  int column(const std::string &name) const;
};

/// Error: FileUnreadable, TableInvalid (a row of another length than the header).
Result<CsvTable> readCsv(const std::string &path);

struct TableOptions {
  std::map<std::string, std::string> columns; ///< a header as the file has it -> "name[unit]"
  std::set<std::string> ignored;              ///< headers that are passed over
  std::string groupBy;     ///< the header of the column that cross-validation leaves out by
  bool needsEnergy = true; ///< false: rows to predict
};

/// A row that is left out, and why.
struct OddRow {
  size_t row; ///< counted from 1, the header excepted
  std::string reason;
};

struct MeasuredTable {
  std::vector<Measurement> measurements;
  std::vector<OddRow> leftOut; ///< rows that no such GPU can have produced
};

/// Reads the measurements of a table on `device`. Error: TableInvalid: an unknown column or unit, a value
/// that is no number or below zero, a clock outside the device's range; all with row and column. Rows whose
/// rates exceed the device's peaks are left out and listed.
Result<MeasuredTable> readMeasurements(const CsvTable &table, const DeviceEnergy &device,
                                       const TableOptions &options);

/// The columns that may be given, one a line, with units and meaning.
std::string describeColumns();

/// Why no such GPU can have done this in the time; empty: it can.
std::string whyImpossible(const Measurement &measurement, const DeviceEnergy &device);

} // namespace joule
