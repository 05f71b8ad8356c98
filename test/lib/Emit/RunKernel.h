/// Runs a function of the nn level twice: by the reference, and as one kernel on the virtual GPU.
#pragma once

#include "lib/Reference/Kernels/Buffer.h"
#include "test/lib/Emit/RunPtx.h"

#include <string>
#include <vector>

namespace joule::test {

using reference::Buffer;

struct KernelRun {
  /// Empty, or what went wrong.
  std::string error;
  std::vector<Buffer> results;
  /// What was counted of all blocks and by countSample(), where it was asked for; and the schedule that the kernel had.
  PtxCounts counts = {}, sampled = {};
  std::string schedule = "";
};

/// Compiles `func.func @main` followed by `function` as one kernel and runs it on `inputs`. `nn.symbol`s are
/// bound by the inputs' shapes. `schedule` is a schedule attribute's text, or empty for the default.
KernelRun runKernel(const std::string &function, const std::vector<Buffer> &inputs,
                    const std::string &schedule = "", bool count = false);

/// What the reference says of it.
KernelRun runReference(const std::string &function, const std::vector<Buffer> &inputs);

/// Runs both; empty where they agree: floats to `relative` of the greater magnitude or `absolute`, everything
/// else exactly. Otherwise the first difference.
std::string compare(const std::string &function, const std::vector<Buffer> &inputs, double relative = 0,
                    double absolute = 0, const std::string &schedule = "");

/// Inputs for `function`, the same on every call: floats in steps of 1/8 between -4 and 4, integers between
/// -4 and 4, booleans. A dynamic size is that of its symbol in `symbols`.
std::vector<Buffer> makeInputs(const std::string &function,
                               const std::vector<std::pair<std::string, int64_t>> &symbols = {});

} // namespace joule::test
