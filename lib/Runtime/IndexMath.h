// The arithmetic of Eval steps.
#pragma once

#include "joule/Error.h"
#include "lib/Artifact/plan.pb.h"

#include <cstdint>

namespace joule {

/// lhs op rhs, wrapping around on overflow; an error where it divides by zero.
Result<int64_t> evaluate(plan::Eval::Op op, int64_t lhs, int64_t rhs, int64_t condition);

} // namespace joule
