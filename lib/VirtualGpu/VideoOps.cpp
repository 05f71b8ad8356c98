// Handlers of the video instructions: arithmetic on chosen bytes and halves of 32-bit registers.
#include "lib/VirtualGpu/Program.h"
#include "lib/VirtualGpu/VideoRule.h"

#include <algorithm>
#include <cstring>

namespace joule::vgpu {
namespace {

using u32 = uint32_t;
using Value = int64_t; // wide enough for every sum and product

template <class T> T *at(uint8_t *r, u32 offset) { return reinterpret_cast<T *>(r + offset); }

Value extend(uint64_t bits, unsigned width, bool isSigned) {
  unsigned shift = 64 - width;
  return isSigned ? Value(bits << shift) >> shift : Value(bits << shift >> shift);
}

struct Limits {
  Value low, high;
};
Limits limitsOf(unsigned width, bool isSigned) {
  return isSigned ? Limits{-(Value(1) << (width - 1)), (Value(1) << (width - 1)) - 1}
                  : Limits{0, (Value(1) << width) - 1};
}

bool holds(VideoCompare compare, Value a, Value b) {
  switch (compare) {
  case VideoCompare::Eq:
    return a == b;
  case VideoCompare::Ne:
    return a != b;
  case VideoCompare::Lt:
    return a < b;
  case VideoCompare::Le:
    return a <= b;
  case VideoCompare::Gt:
    return a > b;
  default:
    return a >= b;
  }
}

/// The shift's amount: taken modulo 32, or at most 32.
u32 amountOf(const VideoRule &rule, Value b) {
  u32 amount = u32(b);
  return rule.wraps ? amount & 31 : std::min(amount, 32u);
}

Value compute(const VideoRule &rule, Value a, Value b) {
  switch (rule.operation) {
  case VideoOperation::Add:
    return a + b;
  case VideoOperation::Sub:
    return a - b;
  case VideoOperation::AbsDiff:
    return a > b ? a - b : b - a;
  case VideoOperation::Min:
    return std::min(a, b);
  case VideoOperation::Max:
    return std::max(a, b);
  case VideoOperation::Average:
    return (a + b + (a + b >= 0)) >> 1;
  case VideoOperation::ShiftLeft:
    return Value(uint64_t(a) << amountOf(rule, b));
  case VideoOperation::ShiftRight:
    return a >> amountOf(rule, b);
  default:
    return holds(rule.compare, a, b);
  }
}

// --- one value: bytes or halves are chosen from each operand ---

Value choose(const VideoPart &part, u32 bits, bool isSigned) {
  return extend(bits >> part.shift, part.width, isSigned);
}

u32 combine(const VideoRule &rule, Value value, u32 c) {
  if (rule.saturates) {
    Limits limits = limitsOf(rule.result.width, rule.resultSigned);
    value = std::max(limits.low, std::min(limits.high, value));
  }
  Value other = extend(c, 32, rule.resultSigned);
  u32 mask = rule.result.width == 32 ? ~0u : ((1u << rule.result.width) - 1) << rule.result.shift;
  switch (rule.second) {
  case VideoSecond::Add:
    return u32(value) + c;
  case VideoSecond::Min:
    return u32(std::min(extend(u32(value), 32, rule.resultSigned), other));
  case VideoSecond::Max:
    return u32(std::max(extend(u32(value), 32, rule.resultSigned), other));
  case VideoSecond::Merge:
    return (u32(value) << rule.result.shift & mask) | (c & ~mask);
  default:
    return u32(value);
  }
}

u32 scalarOf(const VideoRule &rule, u32 a, u32 b, u32 c) {
  Value x = choose(rule.a[0], a, rule.aSigned), y = choose(rule.b[0], b, rule.bSigned);
  return combine(rule, compute(rule, x, y), c);
}

/// a * b + c, each perhaps negated, one more perhaps, and cut by a shift.
u32 multiplyAdd(const VideoRule &rule, u32 a, u32 b, u32 c) {
  Value product = choose(rule.a[0], a, rule.aSigned) * choose(rule.b[0], b, rule.bSigned);
  Value sum = (rule.negatesProduct ? -product : product) +
              (rule.negatesC ? -1 : 1) * extend(c, 32, rule.resultSigned) + (rule.plusOne ? 1 : 0);
  sum >>= rule.shift;
  if (rule.saturates) {
    Limits limits = limitsOf(32, rule.resultSigned);
    sum = std::max(limits.low, std::min(limits.high, sum));
  }
  return u32(sum);
}

// --- two halves or four bytes at once: the parts come from a and b side by side ---

u32 packedOf(const VideoRule &rule, u32 a, u32 b, u32 c) {
  uint64_t both = a | uint64_t(b) << 32;
  unsigned width = rule.result.width;
  u32 out = rule.second == VideoSecond::Add ? c : 0;
  for (unsigned i = 0; i < 32 / width; ++i) {
    u32 mask = u32(((1ull << width) - 1) << (i * width));
    if (!(rule.mask >> i & 1)) {
      out = rule.second == VideoSecond::Add ? out : out | (c & mask);
      continue;
    }
    Value x = extend(both >> rule.a[i].shift, width, rule.aSigned),
          y = extend(both >> rule.b[i].shift, width, rule.bSigned), value = compute(rule, x, y);
    if (rule.saturates) {
      Limits limits = limitsOf(width, rule.resultSigned);
      value = std::max(limits.low, std::min(limits.high, value));
    }
    if (rule.second == VideoSecond::Add)
      out += u32(extend(uint64_t(value), width, rule.resultSigned));
    else
      out |= u32(value) << (i * width) & mask;
  }
  return out;
}

Status video(const Op *op, uint8_t *r, Warp *w) {
  const auto &rule = *static_cast<const VideoRule *>(op->data);
  const u32 *a = at<u32>(r, op->a), *b = at<u32>(r, op->b), *c = at<u32>(r, op->c);
  auto run = rule.packed ? packedOf : rule.operation == VideoOperation::MultiplyAdd ? multiplyAdd : scalarOf;
  for (unsigned i = 0; i < warpSize; ++i)
    at<u32>(r, op->d)[i] = run(rule, a[i], b[i], c[i]);
  JOULE_TAIL return op[1].fn(op + 1, r, w);
}

const HandlerEntry entries[] = {{"video", video, "4"}};

} // namespace

HandlerTable handlersOfVideo() { return {entries, sizeof entries / sizeof entries[0]}; }

} // namespace joule::vgpu
