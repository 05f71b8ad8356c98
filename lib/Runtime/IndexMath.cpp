// 64-bit two's complement, without undefined behaviour.
#include "lib/Runtime/IndexMath.h"

#include <algorithm>
#include <limits>

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

static Evaluated arithmetic(plan::Eval::Op op, int64_t lhs, int64_t rhs) {
  Evaluated result;
  bool wraps = false;
  switch (op) {
  case plan::Eval::ADD:
    wraps = __builtin_add_overflow(lhs, rhs, &result.value);
    break;
  case plan::Eval::SUB:
    wraps = __builtin_sub_overflow(lhs, rhs, &result.value);
    break;
  default:
    wraps = __builtin_mul_overflow(lhs, rhs, &result.value);
  }
  result.fault = wraps ? Fault::Overflow : Fault::None;
  return result;
}

static int64_t compareOrCombine(plan::Eval::Op op, int64_t lhs, int64_t rhs) {
  switch (op) {
  case plan::Eval::MIN:
    return std::min(lhs, rhs);
  case plan::Eval::MAX:
    return std::max(lhs, rhs);
  case plan::Eval::AND:
    return lhs & rhs;
  case plan::Eval::OR:
    return lhs | rhs;
  case plan::Eval::XOR:
    return lhs ^ rhs;
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
  default:
    return lhs >= rhs;
  }
}

static Evaluated binary(plan::Eval::Op op, int64_t lhs, int64_t rhs) {
  if (divides(op)) {
    if (rhs == 0)
      return {0, Fault::Division};
    bool wraps = rhs == -1 && lhs == std::numeric_limits<int64_t>::min();
    return {divide(op, lhs, rhs), wraps ? Fault::Overflow : Fault::None};
  }
  if (op == plan::Eval::ADD || op == plan::Eval::SUB || op == plan::Eval::MUL)
    return arithmetic(op, lhs, rhs);
  return {compareOrCombine(op, lhs, rhs), Fault::None};
}

Evaluated evaluate(plan::Eval::Op op, Evaluated lhs, Evaluated rhs, Evaluated condition) {
  if (op == plan::Eval::SELECT) {
    Evaluated result = condition.value != 0 ? lhs : rhs;
    result.fault = std::max(result.fault, condition.fault);
    return result;
  }
  Evaluated result = binary(op, lhs.value, rhs.value);
  result.fault = std::max({result.fault, lhs.fault, rhs.fault});
  return result;
}

Error errorOf(Fault fault) {
  if (fault == Fault::Division)
    return {ErrorCode::DivisionByZero, "a size of this run would be divided by zero", ""};
  return {ErrorCode::SizeOverflow, "a size of this run goes beyond 63 bits", ""};
}

} // namespace joule
