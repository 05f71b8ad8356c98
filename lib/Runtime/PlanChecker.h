// Refuses a plan that breaks the rules of plans, before anything of it runs.
#pragma once

#include "joule/Error.h"
#include "lib/Artifact/plan.pb.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

namespace joule {

/// What holds of a plan that passes:
///
/// - Register numbers are below the plan's counts; kernels exist; enumerations have known values.
/// - A register is set before it is read, on every way there. What one branch of an If sets is unset after it
///   unless the other branch sets it too; what a While's body sets is unset after it.
/// - A buffer register is set in one place only, by an input, a weight, an Alloc or a HostCall; or else by
/// any
///   number of MoveBuffers.
/// - A While's `body` and its second `before` see what the first `before` has set.
/// - An input's sizes are constants or symbols, and every symbol is a size of some input.
/// - No step writes a register that holds an input or a weight. (One that may hold it after a MoveBuffer is
///   checked when the step runs.)
/// - Weights and kernels name entries that the artifact has; a weight lies within its entry.
///
/// `entryBytes` gives the size of an artifact's entry, nullopt where there is none.
Result<void> checkPlan(const plan::Plan &plan,
                       const std::function<std::optional<uint64_t>(const std::string &)> &entryBytes);

} // namespace joule
