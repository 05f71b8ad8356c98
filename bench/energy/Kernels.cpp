// Times: matrix products of a vendor's library, and row and pointwise kernels of a framework.
#include "bench/energy/Figures.h"
#include "lib/Energy/GemmTime.h"
#include "lib/Energy/RowTime.h"

#include <fmt/format.h>
#include <functional>
#include <set>

namespace joule::bench {

static constexpr int folds = 5;

/// The fold of each row: rows of one group fall together, groups in turn, in the order of their names.
static std::vector<int> foldsOf(const std::vector<std::string> &groups) {
  std::set<std::string> sorted(groups.begin(), groups.end());
  std::vector<int> result;
  for (const std::string &group : groups)
    result.push_back(static_cast<int>(std::distance(sorted.begin(), sorted.find(group))) % folds);
  return result;
}

/// Predicts every row from a fit on the other folds.
template <typename Timed, typename Fit, typename Time>
static std::vector<double> predictUnseen(const std::vector<Timed> &rows, const std::vector<int> &fold,
                                         Fit fit, Time time) {
  std::vector<double> predicted(rows.size());
  for (int left = 0; left < folds; ++left) {
    std::vector<Timed> others;
    for (size_t i = 0; i < rows.size(); ++i)
      if (fold[i] != left)
        others.push_back(rows[i]);
    auto constants = fit(others);
    for (size_t i = 0; i < rows.size(); ++i)
      if (fold[i] == left)
        predicted[i] = time(rows[i].shape, constants).value();
  }
  return predicted;
}

//===- Products
//------------------------------------------------------------------------------------------------------

namespace {

/// One GPU and type of the table of products.
struct GemmSet {
  std::string gpu, device, types;
  Engine engine;
  double operandBytes, resultBytes;
  double dramBandwidth; ///< GB/s
  std::string known;
};

} // namespace

static Figure measureGemms(const Data &table, const GemmSet &set, std::vector<std::string> &notes) {
  DeviceEnergy device = bareDevice(set.device);
  device.dramBandwidth = BytesPerSecond(set.dramBandwidth * 1e9);
  std::vector<TimedGemm> rows;
  std::vector<std::string> groups;
  size_t impossible = 0;
  for (size_t i = 0; i < table.size(); ++i) {
    if (table.text(i, "gpu") != set.gpu || table.text(i, "types") != set.types)
      continue;
    GemmShape shape;
    shape.rows = table.number(i, "M"), shape.columns = table.number(i, "N"),
    shape.depth = table.number(i, "K");
    shape.engine = set.engine;
    shape.perOperand = Bytes(set.operandBytes), shape.perResult = Bytes(set.resultBytes);
    Seconds time = microseconds(table.number(i, "dense_us"));
    if (shape.flops() / time > device.engine(set.engine).peak) {
      ++impossible;
      continue;
    }
    rows.push_back({shape, time});
    groups.push_back(table.text(i, "N") + "x" + table.text(i, "K"));
  }
  std::vector<double> predicted = predictUnseen(
      rows, foldsOf(groups), [&](const auto &others) { return fitGemm(others, device); },
      [&](const GemmShape &shape, const GemmConstants &constants) {
        return gemmTime(shape, device, constants);
      });
  std::vector<double> measured;
  std::vector<std::string> heights;
  for (const TimedGemm &row : rows) {
    measured.push_back(row.time.value());
    heights.push_back(row.shape.rows <= 128 ? "M <= 128" : row.shape.rows <= 1024 ? "M <= 1024" : "M > 1024");
  }
  notes.push_back(fmt::format("GEMM {} {} by rows, %: {}; {} rows above peak left out", set.device, set.types,
                              errorsByGroup(predicted, measured, heights), impossible));
  return {fmt::format("GEMM time, {} {} ({} rows)", set.device, set.types, rows.size()),
          set.known,
          9,
          6,
          meanError(predicted, measured),
          "%",
          true,
          "shapes N x K in 5 folds"};
}

//===- Rows
//----------------------------------------------------------------------------------------------------------

static RowShape rowShapeOf(const Data &table, size_t row) {
  const std::string &op = table.text(row, "op");
  RowShape shape;
  shape.family = op == "softmax" ? RowFamily::Softmax : op == "ln" ? RowFamily::Norm : RowFamily::Map;
  static const std::set<std::string> twoOperands = {"add", "mul", "div", "pow"};
  shape.operands = twoOperands.count(op) ? 2 : 1;
  shape.rows = table.number(row, "B_or_rows"), shape.length = table.number(row, "M_or_hidden");
  return shape;
}

static Figure measureRows(const Data &table, const std::string &gpu, const std::string &name,
                          std::vector<std::string> &notes) {
  DeviceEnergy device = bareDevice(name);
  if (gpu == "A100 80GB PCIe")
    device.dramBandwidthSpec = BytesPerSecond(1935e9); // a little below the SXM board's
  std::vector<double> predicted, measured;
  std::vector<std::string> ops;
  size_t impossible = 0;
  for (RowFamily family : {RowFamily::Map, RowFamily::Softmax, RowFamily::Norm}) {
    std::vector<TimedRow> rows;
    std::vector<std::string> groups, names;
    for (size_t i = 0; i < table.size(); ++i) {
      const std::string &op = table.text(i, "op");
      if (table.text(i, "gpu") != gpu || op == "linear" || op == "bmm")
        continue;
      TimedRow row{rowShapeOf(table, i), microseconds(table.number(i, "latency_us"))};
      if (row.shape.family != family)
        continue;
      if (row.shape.compulsoryBytes() / row.time > device.dramBandwidthSpec) {
        ++impossible;
        continue;
      }
      rows.push_back(row);
      names.push_back(op);
      groups.push_back(table.text(i, "M_or_hidden"));
    }
    std::vector<double> some = predictUnseen(
        rows, foldsOf(groups), [&](const auto &others) { return fitRows(others, device); }, rowTime);
    predicted.insert(predicted.end(), some.begin(), some.end());
    for (const TimedRow &row : rows)
      measured.push_back(row.time.value());
    ops.insert(ops.end(), names.begin(), names.end());
  }
  notes.push_back(fmt::format("row and map kernels, {}, %: {}; {} rows above the DRAM peak left out", gpu,
                              errorsByGroup(predicted, measured, ops), impossible));
  return {fmt::format("row and map kernel time, {} ({} rows)", gpu, measured.size()),
          "-",
          15,
          8,
          meanError(predicted, measured),
          "%",
          true,
          "row lengths in 5 folds"};
}

Findings measureKernels(const std::string &folder) {
  Findings findings;
  Data gemms(folder + "/measured_gemm_cublaslt_cusparselt.csv");
  const GemmSet sets[] = {
      {"A100 80GB PCIe", "a100-sxm-80", "FP16", Engine::MatrixFp16, 2, 2, 1700, "11.0 (in-sample)"},
      {"H100 PCIe", "h100-pcie", "BF16", Engine::MatrixFp16, 2, 2, 1900, "11.5 (in-sample)"},
      {"A100 80GB PCIe", "a100-sxm-80", "INT8", Engine::MatrixInt8, 1, 4, 1700, "11.9 (in-sample)"}};
  for (const GemmSet &set : sets)
    findings.figures.push_back(measureGemms(gemms, set, findings.notes));
  Data rows(folder + "/measured_fp32_ops_neusight.csv");
  findings.figures.push_back(measureRows(rows, "A100 80GB PCIe", "a100-sxm-80", findings.notes));
  findings.figures.push_back(measureRows(rows, "A100-PCIE-40GB", "a100-pcie-40", findings.notes));
  findings.figures.push_back(measureRows(rows, "L4", "l4", findings.notes));
  return findings;
}

} // namespace joule::bench
