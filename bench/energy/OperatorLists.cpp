// Turns operator lists into counts.
//
// The lists leave out or double what the framework really launches; three things are set right, for every
// network alike, by what the framework's sources do:
//  - a convolution is followed by a batch norm, a kernel of its own in eager mode, which the lists do not
//  have;
//  - a softmax in float32 of bfloat16 values converts in the same kernel, the lists count a conversion before
//  it;
//  - where scores are divided by a tensor, a mask is then selected by `where`, which the lists do not have.
#include "bench/energy/OperatorLists.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <regex>
#include <set>

namespace joule::bench {

using Operator = OperatorLists::Operator;

static bool startsWith(const std::string &text, const std::string &prefix) {
  return text.rfind(prefix, 0) == 0;
}

static bool isProduct(const Operator &op) {
  return startsWith(op.kind, "gemm") || startsWith(op.kind, "conv2d");
}

static double elementsOf(const Operator &op) {
  if (isProduct(op))
    return op.sizes.at("batch") * op.sizes.at("dimM") * op.sizes.at("dimN");
  return op.sizes.count("batch") ? op.sizes.at("batch") * op.sizes.at("dim") : op.sizes.at("dim");
}

static Operator elementwise(double count, const std::string &name, double elements) {
  return {count, "elementwise", name, {{"dim", elements}}};
}

static std::vector<Operator> complete(const std::vector<Operator> &list) {
  std::map<double, double> mixedSoftmaxes; // elements -> count
  std::set<double> dividedByTensor;
  for (const Operator &op : list) {
    if (op.kind == "softmax/fp32")
      mixedSoftmaxes[elementsOf(op)] += op.count;
    if (op.name == "unspecified_tensor")
      dividedByTensor.insert(elementsOf(op));
  }
  std::vector<Operator> result;
  for (Operator op : list) {
    if (op.name == "typecast_to_fp32" && mixedSoftmaxes.count(elementsOf(op)))
      op.count -= mixedSoftmaxes[elementsOf(op)];
    if (op.count > 0)
      result.push_back(op);
    if (startsWith(op.kind, "conv2d"))
      result.push_back(elementwise(op.count, "batch_norm", elementsOf(op)));
    if (startsWith(op.kind, "softmax") && dividedByTensor.count(elementsOf(op)))
      result.push_back(elementwise(op.count, "where", elementsOf(op)));
  }
  return result;
}

static Operator parse(double count, const std::string &kind, const std::string &parameters) {
  Operator op{count, kind, "", {}};
  nlohmann::json json = nlohmann::json::parse(parameters);
  for (const auto &[key, value] : json.items()) {
    if (value.is_number())
      op.sizes[key] = value.get<double>();
    else if (key == "op")
      op.name = value.get<std::string>();
  }
  return op;
}

OperatorLists::OperatorLists(const std::string &energyData) {
  Data table(energyData + "/energaizer_workload_ops.csv");
  for (size_t i = 0; i < table.size(); ++i)
    if (table.text(i, "subset") == "all")
      lists[table.text(i, "workload")].push_back(
          parse(table.number(i, "count"), table.text(i, "kind"), table.text(i, "params")));
  for (auto &[workload, list] : lists)
    list = complete(list);
}

std::string OperatorLists::workloadOf(const std::string &measuredName) const {
  std::string name = measuredName;
  for (const char *ending : {"_iter\\d+", "_freq\\d+", "_attn[a-z_]*"}) {
    name = std::regex_replace(name, std::regex(ending), "");
    if (lists.count(name))
      return name;
  }
  return "";
}

// Bytes of an element that a pointwise or row kernel moves.
static double bytesPerElement(const Operator &op) {
  if (startsWith(op.name, "typecast"))
    return 6;
  if (op.kind == "softmax/fp32")
    return 6; // bfloat16 in, float32 out
  if (op.kind != "elementwise")
    return 4;
  if (op.name == "where")
    return 5;
  return op.name == "pointwise_add" || op.name == "pointwise_mul" ? 6 : 4;
}

// Operations of an element, roughly: pointwise functions are some ten to twenty instructions.
static double flopsPerElement(const Operator &op) {
  static const std::map<std::string, double> functions = {{"gelu", 20}, {"tanh", 15}, {"silu", 10}};
  if (op.kind != "elementwise")
    return 8;
  auto found = functions.find(op.name);
  return found == functions.end() ? 2 : found->second;
}

// The share of a kernel's bytes that the L2 does not hold from the kernel before.
static double missShare(Bytes bytes, const DeviceEnergy &device) {
  return std::clamp(bytes / device.l2Effective - 0.5, 0.0, 1.0);
}

static SequenceStep productStep(const Operator &op, const DeviceEnergy &device) {
  double batch = op.sizes.at("batch"), m = op.sizes.at("dimM"), n = op.sizes.at("dimN"),
         k = op.sizes.at("dimK");
  SequenceStep step;
  step.count = op.count;
  step.isProduct = true;
  step.engine = op.kind.find("cuda") != std::string::npos ? Engine::Cores : Engine::MatrixFp16;
  step.flops = Flops(2 * batch * m * n * k);
  double read = startsWith(op.kind, "conv2d")
                    ? op.sizes.at("b") * op.sizes.at("c") * op.sizes.at("hw") * op.sizes.at("hw") + k * n
                    : batch * (m * k + k * n);
  Bytes compulsory(2 * (read + batch * m * n));
  double tiles = batch * std::ceil(m / 128) * std::ceil(n / 128);
  step.l2 = Bytes(2 * tiles * (std::min(m, 128.0) + std::min(n, 128.0)) * k + 2 * batch * m * n);
  step.dram = missShare(compulsory, device) * compulsory;
  return step;
}

std::vector<SequenceStep> OperatorLists::stepsOf(const std::string &workload,
                                                 const DeviceEnergy &device) const {
  std::vector<SequenceStep> steps;
  for (const Operator &op : lists.at(workload)) {
    if (isProduct(op)) {
      steps.push_back(productStep(op, device));
      continue;
    }
    SequenceStep step;
    step.count = op.count;
    step.engine = Engine::Cores;
    step.l2 = Bytes(elementsOf(op) * bytesPerElement(op));
    step.dram = missShare(step.l2, device) * step.l2;
    step.flops = Flops(elementsOf(op) * flopsPerElement(op));
    steps.push_back(step);
  }
  return steps;
}

WorkCounts countsOf(const std::vector<SequenceStep> &steps) {
  WorkCounts work;
  for (const SequenceStep &step : steps) {
    work.flopsOf(step.engine) += step.count * step.flops;
    work.dramBytes += step.count * step.dram;
    work.l2Bytes += step.count * step.l2;
    work.launches += step.count;
  }
  return work;
}

} // namespace joule::bench
