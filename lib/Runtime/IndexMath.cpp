// 64-bit two's complement, without undefined behaviour.
#include "lib/Runtime/IndexMath.h"

#include <algorithm>

namespace joule {

static bool divides(plan::Eval::Op op) {
  return op == plan::Eval::DIV || op == plan::Eval::REM || op == plan::Eval::FLOORDIV ||
         op == plan::Eval::CEILDIV || op == plan::Eval::MOD;
}

static int64_t wrapped(uint64_t value) { return static_cast<int64_t>(value); }

// `rhs` is not 0. INT64_MIN / -1 wraps around to itself.
static int64_t divide(plan::Eval::Op op, int64_t lhs, int64_t rhs) {
  int64_t quotient = rhs == -1 ? wrapped(0 - static_cast<uint64_t>(lhs)) : lhs / rhs;
  int64_t remainder = rhs == -1 ? 0 : lhs % rhs;
  bool inexact = remainder != 0;
  bool negative = (lhs < 0) != (rhs < 0);
  switch (op) {
  case plan::Eval::DIV:
    return quotient;
  case plan::Eval::REM:
    return remainder;
  case plan::Eval::FLOORDIV:
    return quotient - (inexact && negative);
  case plan::Eval::CEILDIV:
    return quotient + (inexact && !negative);
  default:
    return inexact && negative ? remainder + rhs : remainder;
  }
}

Result<int64_t> evaluate(plan::Eval::Op op, int64_t lhs, int64_t rhs, int64_t condition) {
  uint64_t l = static_cast<uint64_t>(lhs), r = static_cast<uint64_t>(rhs);
  if (divides(op)) {
    if (rhs == 0)
      return Error{ErrorCode::DivisionByZero, "the plan divides " + std::to_string(lhs) + " by zero", ""};
    return divide(op, lhs, rhs);
  }
  switch (op) {
  case plan::Eval::ADD:
    return wrapped(l + r);
  case plan::Eval::SUB:
    return wrapped(l - r);
  case plan::Eval::MUL:
    return wrapped(l * r);
  case plan::Eval::MIN:
    return std::min(lhs, rhs);
  case plan::Eval::MAX:
    return std::max(lhs, rhs);
  case plan::Eval::AND:
    return wrapped(l & r);
  case plan::Eval::OR:
    return wrapped(l | r);
  case plan::Eval::XOR:
    return wrapped(l ^ r);
  case plan::Eval::EQ:
    return lhs == rhs;
  case plan::Eval::NE:
    return lhs != rhs;
  case plan::Eval::LT:
    return lhs < rhs;
  case plan::Eval::LE:
    return lhs <= rhs;
  case plan::Eval::GT:
    return lhs > rhs;
  case plan::Eval::GE:
    return lhs >= rhs;
  case plan::Eval::SELECT:
    return condition != 0 ? lhs : rhs;
  default:
    return Error{ErrorCode::PlanInvalid, "the plan uses an arithmetic operation that does not exist", ""};
  }
}

} // namespace joule
