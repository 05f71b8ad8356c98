// Walks a plan's steps.
#include "tools/joule-onnx-tests/Origins.h"

#include <fmt/format.h>
#include <functional>
#include <set>

namespace joule::onnxtests {

using Visitor = std::function<void(const plan::Step &)>;

/// All steps, those inside branches and loops too.
static void visit(const plan::Block &block, const Visitor &visitor) {
  for (const plan::Step &step : block.steps()) {
    visitor(step);
    if (step.has_if_()) {
      visit(step.if_().then(), visitor);
      visit(step.if_().otherwise(), visitor);
    }
    if (step.has_while_()) {
      visit(step.while_().before(), visitor);
      visit(step.while_().body(), visitor);
    }
  }
}

Origin originOf(const plan::Plan &plan) {
  bool launches = false, computes = false;
  visit(plan.body(), [&](const plan::Step &step) {
    launches |= step.has_launch();
    // A size that the host reads decides where a copy goes, not what it holds.
    computes |= step.has_host_call() || step.has_write_scalars();
  });
  if (launches)
    return Origin::Ptx;
  return computes ? Origin::Host : Origin::Folded;
}

/// Operators that say something of shapes, control what runs, or whose results have sizes that follow from
/// data.
static bool mayRunOnHost(const std::string &operatorName) {
  static const std::set<std::string> names = {
      "Shape", "Size",    "Constant", "ConstantOfShape", "Identity",         "If",
      "Loop",  "NonZero", "Unique",   "Compress",        "NonMaxSuppression"};
  return names.count(operatorName) != 0;
}

std::string computedOnHost(const plan::Plan &plan, const onnx::ModelProto &model) {
  std::string culprit;
  visit(plan.body(), [&](const plan::Step &step) {
    static const std::set<std::string> names = {"nonzero", "unique", "compress", "non_max_suppression"};
    if (step.has_host_call() && !names.count(step.host_call().name()))
      culprit = fmt::format("{} is called on the host", step.host_call().name());
  });
  if (!culprit.empty() || originOf(plan) != Origin::Host)
    return culprit;
  for (const onnx::NodeProto &node : model.graph().node())
    if (!mayRunOnHost(node.op_type()))
      return fmt::format("{} is computed on the host", node.op_type());
  return "";
}

} // namespace joule::onnxtests
