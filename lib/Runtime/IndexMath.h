// The arithmetic of Eval steps.
#pragma once

#include "joule/Error.h"
#include "lib/Artifact/plan.pb.h"

#include <cstdint>

namespace joule {

/// What an Eval's result is not fit for.
enum class Fault : uint8_t {
  None,
  Overflow, ///< it wrapped around: no size or offset, though data may wrap
  Division, ///< it was divided by zero: nothing
};

struct Evaluated {
  int64_t value = 0;
  Fault fault = Fault::None;
};

/// lhs op rhs, with the faults of the operands that count: Select takes those of one side. A plan computes both sides
/// before it selects, so a fault is an error only where something else reads it.
Evaluated evaluate(plan::Eval::Op op, Evaluated lhs, Evaluated rhs, Evaluated condition);

/// The error for reading a value with a fault.
Error errorOf(Fault fault);

} // namespace joule
